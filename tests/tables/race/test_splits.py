"""Who is judged by whom: shares of classes, groups, time, rows kept aside."""

import numpy as np
import pytest

from mercer.tables.race.splits import FOLDS, HELD_SHARE, WHOLE, Splits, make_splits

CODES = np.repeat([0, 1, 2], [60, 30, 10])


def partition(splits, n):
    """Whether all rows are held out once, by models that have not seen them."""
    held = np.concatenate([part for _, part in splits.parts])
    apart = all(not np.intersect1d(train, part).size for train, part in splits.parts)
    whole = all(len(train) + len(part) == n for train, part in splits.parts)
    return apart and whole and np.array_equal(np.sort(held), np.arange(n))


def test_folds_keep_the_shares_of_classes():
    splits = make_splits(100, CODES, None, False, 0)
    assert partition(splits, 100)
    assert splits.one_by_one
    assert len(splits.parts) == FOLDS
    for _, held in splits.parts:
        assert np.abs(np.bincount(CODES[held]) - [15, 7.5, 2.5]).max() <= 1
    assert np.array_equal(splits.rows, np.arange(100))


def test_numbers_take_plain_folds_of_a_seed():
    first, second = (make_splits(50, None, None, False, seed) for seed in (1, 1))
    assert partition(first, 50)
    for (_, one), (_, other) in zip(first.parts, second.parts, strict=True):
        assert np.array_equal(one, other)
    other = make_splits(50, None, None, False, 2)
    assert not np.array_equal(first.parts[0][1], other.parts[0][1])


@pytest.mark.parametrize("codes", [None, CODES])
def test_groups_are_never_divided(codes):
    groups = np.arange(100) % 13
    splits = make_splits(100, codes, groups, False, 0)
    assert partition(splits, 100)
    assert not splits.one_by_one
    for train, held in splits.parts:
        assert not set(groups[train]) & set(groups[held])


def test_few_groups_and_small_classes():
    two = make_splits(6, None, np.array([0, 0, 0, 1, 1, 1]), False, 0)
    assert len(two.parts) == 2
    small = make_splits(6, np.array([0, 0, 1, 1, 2, 2]), np.arange(6), False, 0)
    assert len(small.parts) == 2
    assert partition(small, 6)


def test_time_judges_the_last_fifth():
    ((train, held),) = make_splits(20, None, None, True, 0).parts
    assert np.array_equal(np.sort(train), np.arange(16))
    assert not np.array_equal(train, np.arange(16))  # their first rows are a sample
    assert np.array_equal(held, np.arange(16, 20))
    ((train, held),) = make_splits(3, None, None, True, 0).parts
    assert (sorted(train.tolist()), held.tolist()) == ([0, 1], [2])


@pytest.mark.parametrize("classes", [False, True])
def test_groups_are_kept_aside_of_many_rows(classes):
    n = WHOLE + 100
    groups, codes = np.arange(n) // 7, np.arange(n) % 3 if classes else None
    splits = make_splits(n, codes, groups, False, 0)
    ((train, held),) = splits.parts
    assert not set(groups[train]) & set(groups[held])
    assert abs(len(held) - HELD_SHARE * n) < 30
    assert not splits.one_by_one


def test_a_class_with_a_single_row():
    codes = np.array([0] * 5 + [1] * 4 + [2])
    assert partition(make_splits(10, codes, None, False, 0), 10)


def test_rows_are_kept_aside_of_many(recwarn):
    n = WHOLE + 100
    codes = (np.arange(n) % 10 == 0).astype(int)
    codes[:2] = 2
    splits = make_splits(n, codes, None, False, 0)
    ((train, held),) = splits.parts
    assert not splits.one_by_one
    assert np.array_equal(np.sort(np.concatenate([train, held])), np.arange(n))
    assert len(held) == HELD_SHARE * n
    assert abs((codes[held] == 1).mean() - 0.1) < 0.01
    assert not np.array_equal(train, np.sort(train))  # their first rows are a sample
    assert not recwarn.list
    assert len(make_splits(WHOLE, None, None, False, 0).parts) == FOLDS


def test_single_rows_leave_halves_to_learners():
    splits = Splits.of_single_rows(7)
    assert splits.one_by_one
    assert partition(splits, 7)
