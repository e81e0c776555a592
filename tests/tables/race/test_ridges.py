"""Honest scores of ridge models against models that are fitted again."""

import numpy as np
import pytest

from mercer import KernelRidge
from mercer.fitting.ridge.dense import dense_gram
from mercer.inputs import Matrix
from mercer.kernels import Gaussian
from mercer.monitor import Monitor
from mercer.tables.race.ridges import HoldoutScores, RidgeScores
from mercer.tables.race.splits import Splits, make_splits

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(24, 2)).astype(np.float32)
TARGETS = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])
WEIGHT = RANDOM.random(24) + 0.5
KERNEL, ALPHA = Gaussian(0.4), 0.3


def refitted(train, held, weight):
    model = KernelRidge(alpha=ALPHA, kernel=KERNEL, fit_intercept=True)
    own = None if weight is None else weight[train]
    return model.fit(X[train].astype(float), TARGETS[train], own).predict(X[held].astype(float))


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_each_row_is_left_out(weight):
    scores = RidgeScores(
        K=dense_gram(KERNEL, Matrix(X), Monitor()),
        targets=TARGETS,
        weight=weight,
        splits=make_splits(24, None, None, False, 0),
        monitor=Monitor(),
    ).at(ALPHA)
    for row in range(24):
        wanted = refitted(np.delete(np.arange(24), row), [row], weight)[0]
        np.testing.assert_allclose(scores[row], wanted, atol=2e-5)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_groups_are_left_out_together(weight):
    splits = make_splits(24, None, np.arange(24) % 5, False, 0)
    scores = RidgeScores(
        K=dense_gram(KERNEL, Matrix(X), Monitor()),
        targets=TARGETS,
        weight=weight,
        splits=splits,
        monitor=Monitor(),
    ).at(ALPHA)
    for train, held in splits.parts:
        np.testing.assert_allclose(scores[held], refitted(train, held, weight), atol=2e-5)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_rows_kept_aside(weight):
    train, held = np.arange(16), np.arange(16, 24)
    points = Matrix(X[train])
    scores = HoldoutScores(
        K=dense_gram(KERNEL, points, Monitor()),
        cross=dense_gram(KERNEL, points, Monitor(), Matrix(X[held])),
        targets=TARGETS[train],
        weight=None if weight is None else weight[train],
        monitor=Monitor(),
    ).at(ALPHA)
    np.testing.assert_allclose(scores, refitted(train, held, weight), atol=2e-5)


def test_a_matrix_without_a_factor_gives_no_scores():
    K = -np.eye(4, dtype=np.float32)
    common = {"targets": np.ones((4, 1)), "weight": None, "monitor": Monitor()}
    held = HoldoutScores(K=K, cross=K[:2], **common).at(1e-3)
    assert held.shape == (2, 1)
    assert np.isnan(held).all()
    alone = RidgeScores(K=K, splits=Splits.of_single_rows(4), **common).at(1e-3)
    assert np.isnan(alone).all()
