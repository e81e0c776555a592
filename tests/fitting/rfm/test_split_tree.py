"""Trees that divide many rows: where they split, how rows are shared, what cannot be divided."""

import numpy as np
import pytest

from mercer.fitting.rfm.recursion import Recursion, Sample
from mercer.fitting.rfm.tree import LEAST_SIDE, TEMPERATURES, Grower, Tree, leading, threshold_of
from mercer.kernels import Gaussian
from mercer.monitor import Monitor

random = np.random.default_rng(6)
N = 900
X = random.normal(size=(N, 3))
SAMPLE = Sample(X=X, targets=np.sin(3 * X[:, 1:2]))


def grower(diagonal=True, **given):
    recursion = Recursion(
        kernel=Gaussian(1.0), width=1.0, alpha=0.1, diagonal=diagonal, gradient_rows=200
    )
    usual = {"usual": np.eye(3)[0], "leaf_rows": 200, "overlap": 0.0, "monitor": Monitor()}
    return Grower(recursion=recursion, **usual | given)


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("overlap", [0.0, 0.1, 0.5])
def test_leaves_are_small_and_hold_every_row(diagonal, overlap):
    tree, leaves = grower(diagonal, overlap=overlap).grow(SAMPLE)
    assert len(leaves) == tree.n_leaves == len(tree.thresholds) + 1
    assert max(map(len, leaves)) <= 200
    together = np.concatenate(leaves)
    assert np.array_equal(np.unique(together), np.arange(N))
    assert (len(together) == N) == (overlap == 0)
    for rows in leaves:
        assert np.array_equal(rows, np.unique(rows))


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_shares_have_sum_1(temperature):
    tree, _ = grower().grow(SAMPLE)
    shares = tree.shares(X, temperature)
    assert shares.shape == (N, tree.n_leaves)
    assert shares.min() >= 0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_hard_shares_lead_rows_to_the_leaves_they_were_in():
    tree, leaves = grower().grow(SAMPLE)
    shares = tree.shares(X, 0.0)
    assert set(np.unique(shares)) == {0.0, 1.0}
    for number, rows in enumerate(leaves):
        assert np.array_equal(np.flatnonzero(shares[:, number]), rows)


def test_shares_by_hand():
    tree = Tree(
        directions=np.array([[1.0, 0.0], [0.0, 1.0]]),
        thresholds=np.array([0.0, 2.0]),
        spreads=np.array([1.0, 4.0]),
        children=np.array([[-1, 1], [-2, -3]]),
    )
    far = 1 / (1 + np.exp(-np.array([[-1.0, (0 - 2) / 4], [3.0, (6 - 2) / 4]]) / 0.5))
    right, up = far.T
    wanted = np.column_stack([1 - right, right * (1 - up), right * up])
    np.testing.assert_allclose(tree.shares(np.array([[-1.0, 0.0], [3.0, 6.0]]), 0.5), wanted)


def test_the_overlap_is_about_the_threshold():
    tree, leaves = grower(leaf_rows=600, overlap=0.2).grow(SAMPLE)
    both = np.intersect1d(*leaves)
    assert len(both) == pytest.approx(0.2 * N, abs=2)
    far = np.abs(X @ tree.directions[0] - tree.thresholds[0])
    assert far[both].max() <= np.sort(far)[int(0.25 * N)]


def test_splits_are_along_what_changes_most():
    tree, _ = grower().grow(SAMPLE)
    assert tree.directions[0].tolist() == [0.0, 1.0, 0.0]
    hidden = np.array([3.0, 0.0, 4.0]) / 5
    slanted = Sample(X=X, targets=np.sin(2 * X @ hidden)[:, None])
    tree, _ = grower(diagonal=False).grow(slanted)
    assert abs(tree.directions[0] @ hidden) > 0.98


def test_one_leaf_has_everything():
    tree, leaves = grower(leaf_rows=N).grow(SAMPLE)
    assert tree.n_leaves == len(leaves) == 1
    assert np.array_equal(tree.shares(X, 0.5), np.ones((N, 1)))


def test_rows_that_cannot_be_told_apart_are_divided_at_random_and_share():
    alike = np.ones((500, 3))
    tree, leaves = grower().grow(Sample(X=alike, targets=random.normal(size=(500, 1))))
    assert len(leaves) == 4
    assert not tree.directions.any()
    for temperature in (0.0, 1.0):
        assert np.array_equal(tree.shares(alike[:2], temperature), np.full((2, 4), 0.25))


def test_a_column_of_two_values_is_split_between_them():
    few = X.copy()
    few[:, 1] = np.arange(N) % 10 < 7  # its median is its largest value
    tree, leaves = grower(leaf_rows=700, overlap=0.1).grow(Sample(X=few, targets=few[:, 1:2] * 5))
    assert tree.directions.tolist() == [[0.0, 1.0, 0.0]]
    assert tree.thresholds.tolist() == [0.0]
    assert np.array_equal(tree.shares(few, 0.0)[:, 1], few[:, 1])
    assert [len(rows) for rows in leaves] == [270 + 45, 630 + 45]


def test_a_rare_value_is_not_split_off():
    rare = np.zeros((500, 3))
    rare[:3] = 5.0
    tree, leaves = grower().grow(Sample(X=rare, targets=rare[:, :1]))
    assert max(map(len, leaves)) <= 200
    assert not tree.directions.any()


def test_thresholds_by_hand():
    assert threshold_of(np.arange(10.0)) == 4.5
    assert threshold_of(np.array([0.0] * 3 + [1.0] * 7)) == 0.0
    assert threshold_of(np.array([0.0] * 7 + [1.0] * 3)) == 0.0
    assert threshold_of(np.ones(9)) is None
    assert threshold_of(np.r_[0.0, np.ones(99)]) is None
    least = int(LEAST_SIDE * 100)
    assert threshold_of(np.r_[np.zeros(least), np.ones(100 - least)]) == 0.0


def test_directions_by_hand():
    assert leading(np.array([1.0, 3.0, 2.0])).tolist() == [0.0, 1.0, 0.0]
    np.testing.assert_allclose(leading(np.outer([0.6, -0.8], [0.6, -0.8])), [-0.6, 0.8])


def test_time_that_is_up_leaves_the_usual_direction():
    monitor = Monitor()
    monitor.cancel()
    tree, leaves = grower(monitor=monitor).grow(SAMPLE)
    assert max(map(len, leaves)) <= 200
    assert (tree.directions == np.eye(3)[0]).all()
