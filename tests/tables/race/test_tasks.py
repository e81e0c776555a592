"""Losses, links and units of what is to be predicted, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import log_loss

from mercer.tables.race.tasks import (
    CHANCES,
    FLOOR,
    LEAST_CHANCE,
    LOG,
    PLAIN,
    ClassTask,
    NumberTask,
    class_chances,
    readings,
)

RANDOM = np.random.default_rng(0)
CODES = np.array([0, 2, 1, 0, 2, 2])
PROBABILITIES = RANDOM.dirichlet(np.ones(3), 6)
WEIGHT = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
ROWS = np.arange(6)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_loss_of_classes_is_the_log_loss(weight):
    task = ClassTask(codes=CODES, count=3, weight=weight)
    found = task.loss(task.evidence(PROBABILITIES, ROWS), ROWS)
    assert np.isclose(found, log_loss(CODES, PROBABILITIES, sample_weight=weight))
    some = np.array([5, 1, 0])
    own = None if weight is None else weight[some]
    found = task.loss(task.evidence(PROBABILITIES[some], some), some)
    wanted = log_loss(CODES[some], PROBABILITIES[some], sample_weight=own, labels=[0, 1, 2])
    assert np.isclose(found, wanted)


def test_a_class_that_was_ruled_out_costs_a_finite_loss():
    task = ClassTask(codes=np.array([0, 1]), count=2)
    sure = np.array([[1.0, 0.0], [1.0, 0.0]])
    rows = np.arange(2)
    assert np.isclose(task.loss(task.evidence(sure, rows), rows), -np.log(LEAST_CHANCE) / 2)


def test_evidence_is_linear_in_values():
    others = RANDOM.dirichlet(np.ones(3), 6)
    tasks = [ClassTask(codes=CODES, count=3), NumberTask(y=RANDOM.normal(size=(6, 3)))]
    for task in tasks:
        mixed = task.evidence(0.3 * PROBABILITIES + 0.7 * others, ROWS)
        parts = 0.3 * task.evidence(PROBABILITIES, ROWS) + 0.7 * task.evidence(others, ROWS)
        np.testing.assert_allclose(mixed, parts, rtol=1e-14)


def test_targets_and_slopes_of_classes():
    two = ClassTask(codes=np.array([0, 1, 1]), count=2)
    assert two.targets(PLAIN).tolist() == [[-1.0], [1.0], [1.0]]
    three = ClassTask(codes=CODES, count=3)
    assert three.targets(PLAIN)[1].tolist() == [-1.0, -1.0, 1.0]
    scores, rows = RANDOM.normal(size=(400, 1)), np.arange(400)
    codes = (RANDOM.random(400) < 1 / (1 + np.exp(-3 * scores[:, 0]))).astype(int)
    task = ClassTask(codes=codes, count=2)
    slope = task.link(scores, rows, PLAIN)
    best = task.loss(task.evidence(task.values(scores, slope, PLAIN), rows), rows)
    for other in (0.9 * slope, 1.1 * slope):
        values = task.values(scores, other, PLAIN)
        assert task.loss(task.evidence(values, rows), rows) > best


def test_shares_and_means_are_the_best_constants():
    task = ClassTask(codes=CODES, count=3, weight=WEIGHT)
    np.testing.assert_allclose(task.constant(ROWS), [[2.0 / 8.5, 0.5 / 8.5, 6.0 / 8.5]])
    numbers = NumberTask(y=np.array([[1.0], [4.0]]), weight=np.array([3.0, 1.0]))
    np.testing.assert_allclose(numbers.constant(np.arange(2)), [[1.75]])


def test_the_loss_of_numbers_is_in_units_of_the_variance():
    y = np.column_stack([RANDOM.normal(size=50), 1000 * RANDOM.normal(size=50) + 7])
    task, rows = NumberTask(y=y), np.arange(50)
    assert np.isclose(task.loss(np.broadcast_to(y.mean(axis=0), y.shape), rows), 1.0)
    found = task.loss(y + np.array([0.5 * y[:, 0].std(), 0.0]), rows)
    assert np.isclose(found, 0.125)


def test_values_stay_within_what_y_has_been():
    y = np.array([[1.0], [2.0], [6.0]])
    task = NumberTask(y=y)
    values = task.values(np.array([[-100.0], [0.0], [100.0]]), 1.0, PLAIN)
    np.testing.assert_allclose(values[:, 0], [1.0, 3.0, 6.0])
    np.testing.assert_allclose(task.values(task.targets(PLAIN), 1.0, PLAIN), y)


def test_logarithms_are_tried_where_y_is_positive_with_a_long_tail():
    long = np.exp(2 * RANDOM.normal(size=(200, 1)))
    assert NumberTask(y=long).kinds == (PLAIN, LOG)
    assert NumberTask(y=-long).kinds == (PLAIN,)
    assert NumberTask(y=RANDOM.random((200, 1)) + 1).kinds == (PLAIN,)
    assert NumberTask(y=np.hstack([long, long])).kinds == (PLAIN,)


def test_the_factor_of_logarithms_is_that_of_least_squares():
    y, rows = np.exp(2 * RANDOM.normal(size=(200, 1))), np.arange(200)
    weight = RANDOM.random(200) + 0.1
    task = NumberTask(y=y, weight=weight)
    np.testing.assert_allclose(task.values(task.targets(LOG), 1.0, LOG), y, rtol=1e-10)
    scores = task.targets(LOG) * 0.5
    f = task.values(scores, 1.0, LOG)[:, 0]
    wanted = np.linalg.lstsq(np.sqrt(weight)[:, None] * f[:, None], np.sqrt(weight) * y[:, 0])[0]
    assert np.isclose(task.link(scores, rows, LOG), wanted[0])
    assert task.link(scores, rows, PLAIN) == 1.0


def test_some_rows_keep_the_units_of_all():
    y = np.exp(2 * RANDOM.normal(size=(200, 1)))
    task = NumberTask(y=y, weight=np.arange(1.0, 201.0))
    some = task.take(np.array([3, 8]))
    assert len(some) == 2
    assert some.units is task.units
    assert some.kinds == task.kinds
    assert some.weight.tolist() == [4.0, 9.0]


def test_a_loss_of_the_user_sees_values_truth_and_weights_of_the_rows():
    seen = []

    def score(values, truth, weight):
        seen.append((values, truth, weight))
        return 7.0

    task = ClassTask(codes=CODES, count=3, weight=WEIGHT, score=score).take(np.array([4, 2, 1]))
    rows = np.array([2, 0])
    assert task.loss(task.evidence(PROBABILITIES[:2], rows), rows) == 7.0
    values, truth, weight = seen[0]
    assert np.array_equal(values, PROBABILITIES[:2])
    assert truth.tolist() == [2, 2]
    assert weight.tolist() == [2.0, 3.0]


def test_scores_of_a_ridge_model_are_read_as_chances():
    task = ClassTask(codes=np.array([0, 1, 2, 0]), count=3)
    chances = np.array([[0.7, 0.3, 0.0], [0.4, 0.6, 0.0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    found = task.values(2 * chances - 1, 1.0, CHANCES)
    bent = FLOOR * np.log1p(np.exp(chances / FLOOR))
    np.testing.assert_allclose(found, bent / bent.sum(axis=1, keepdims=True))
    assert (np.abs(found - chances) < 0.15).all()
    assert readings(task, PLAIN, is_ridge=True) == (PLAIN, CHANCES)
    assert readings(task, CHANCES, is_ridge=False) == (PLAIN,)
    assert readings(replace(task, count=2), PLAIN, is_ridge=True) == (PLAIN,)
    assert readings(NumberTask(y=chances[:, :1]), LOG, is_ridge=True) == (LOG,)


def test_scores_far_below_stay_finite_chances():
    found = class_chances(np.array([[-1e6, 1.0, -1e6], [-1e6, -1e6, -1e6]]), 3.0, CHANCES)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found[1], 1 / 3)


def test_the_better_reading_is_taken():
    """Chances that a ridge model states are better than exponentials of its scores."""
    random = np.random.default_rng(0)
    chances = random.dirichlet([0.3] * 6, size=4000)
    codes = np.array([random.choice(6, p=one) for one in chances])
    task, rows = ClassTask(codes=codes, count=6), np.arange(4000)
    losses = {}
    for kind in (PLAIN, CHANCES):
        link = task.link(2 * chances - 1, rows, kind)
        losses[kind] = task.loss(
            task.evidence(task.values(2 * chances - 1, link, kind), rows), rows
        )
    assert losses[CHANCES] < losses[PLAIN]
