"""Scores against scikit-learn, and their intervals against what is known of them."""

import numpy as np
import pytest
from sklearn import metrics

from mercer.report.measure.scores import (
    ACCURACY,
    AREA,
    BALANCED,
    BY_NAME,
    LOG_LOSS,
    MAE,
    R2,
    RMSE,
    Draws,
    difference_of,
    interval,
    loss_of,
    measures_of,
    scores_of,
)

RANDOM = np.random.default_rng(0)
CODES = RANDOM.integers(0, 3, 400)
CHANCES = RANDOM.dirichlet(np.ones(3), 400) + 0.5 * np.eye(3)[CODES]
CHANCES /= CHANCES.sum(axis=1, keepdims=True)
TRUTH = RANDOM.normal(size=(400, 2)) * [1.0, 5.0]
VALUES = TRUTH + RANDOM.normal(size=(400, 2))


def test_scores_are_those_of_scikit_learn():
    given = CHANCES.argmax(axis=1)
    expected = {
        LOG_LOSS: metrics.log_loss(CODES, CHANCES),
        ACCURACY: metrics.accuracy_score(CODES, given),
        BALANCED: metrics.balanced_accuracy_score(CODES, given),
    }
    for name, value in expected.items():
        assert BY_NAME[name].of(CODES, CHANCES) == pytest.approx(value)
    assert BY_NAME[R2].of(TRUTH, VALUES) == pytest.approx(metrics.r2_score(TRUTH, VALUES))
    square = metrics.mean_squared_error(TRUTH, VALUES)
    assert BY_NAME[RMSE].of(TRUTH, VALUES) == pytest.approx(np.sqrt(square))
    assert loss_of(BY_NAME[RMSE], TRUTH, VALUES) == pytest.approx(square)
    assert loss_of(BY_NAME[ACCURACY], CODES, CHANCES) == pytest.approx(1 - expected[ACCURACY])
    absolute = metrics.mean_absolute_error(TRUTH, VALUES)
    assert BY_NAME[MAE].of(TRUTH, VALUES) == pytest.approx(absolute)


def test_two_classes_have_an_area():
    codes, chance = CODES % 2, CHANCES[:, :1]
    values = np.hstack([1 - chance, chance])
    draws = Draws.of(len(codes), None, 0)
    found = {one.name: one for one in scores_of(measures_of(True, True), codes, values, draws)}
    assert found[AREA].value == pytest.approx(metrics.roc_auc_score(codes, chance[:, 0]))
    without = scores_of(measures_of(True, False), codes, values, draws)
    assert [one.name for one in without] == [ACCURACY, BALANCED]


def test_the_interval_of_a_mean_is_that_of_its_deviation():
    errors = np.abs(TRUTH[:, :1] - VALUES[:, :1])
    draws = Draws.of(400, None, 3)
    low, high = interval(draws.scores(BY_NAME[MAE], TRUTH[:, :1], VALUES[:, :1]))
    middle, reach = errors.mean(), 1.96 * errors.std() / 20.0
    assert low == pytest.approx(middle - reach, abs=0.3 * reach)
    assert high == pytest.approx(middle + reach, abs=0.3 * reach)


def test_rows_of_a_group_are_drawn_together():
    hits = np.repeat(RANDOM.integers(0, 2, 40), 10)  # ten copies of each of forty
    values, groups = np.eye(2)[hits], np.repeat(np.arange(40), 10)
    truth = np.ones(400, dtype=int)
    alone = np.diff(interval(Draws.of(400, None, 0).scores(BY_NAME[ACCURACY], truth, values)))
    together = np.diff(interval(Draws.of(400, groups, 0).scores(BY_NAME[ACCURACY], truth, values)))
    assert together / alone == pytest.approx(np.sqrt(10), rel=0.25)


def test_a_difference_is_drawn_in_pairs():
    others = VALUES + 0.01  # nearly the same: their difference is much surer than either
    draws = Draws.of(400, None, 0)
    found = difference_of(BY_NAME[RMSE], TRUTH, VALUES, others, draws)
    expected = BY_NAME[RMSE].of(TRUTH, VALUES) - BY_NAME[RMSE].of(TRUTH, others)
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high
    alone = np.ptp(interval(draws.scores(BY_NAME[RMSE], TRUTH, VALUES)))
    assert found.high - found.low < 0.05 * alone


def test_folds_are_scored_one_by_one():
    folds = np.arange(400) % 4
    draws = Draws.of(400, None, 0)
    found = scores_of(measures_of(False, False), TRUTH, VALUES, draws, folds)[0]
    expected = [BY_NAME[RMSE].of(TRUTH[folds == k], VALUES[folds == k]) for k in range(4)]
    assert found.folds == pytest.approx(expected)


def test_one_row_has_a_score():
    draws = Draws.of(1, None, 0)
    found = scores_of(measures_of(True, False), np.array([1]), np.array([[0.2, 0.8]]), draws)
    assert found[0].value == found[0].low == found[0].high == 1.0
