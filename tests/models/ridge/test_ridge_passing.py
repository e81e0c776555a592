"""Searches over kernels and alphas for points in blocks."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from mercer import KernelRidgeClassifierCV, KernelRidgeCV
from mercer.features import RandomFourier
from mercer.grams.maps.passing import KeptRows
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Polynomial
from mercer.monitor import Monitor
from mercer.solvers import RidgeProblem
from mercer.solvers.ridge.passing import PassingPath

random = np.random.default_rng(0)
X = random.normal(size=(300, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * random.normal(size=len(X))
BOTH = np.column_stack([Y, X[:, 2] ** 2])
CLASSES = np.digitize(Y, [-0.5, 0.5])
WEIGHT = random.uniform(0.1, 2.0, len(X))
WEIGHT[[3, *range(90, 180)]] = 0  # one block has none
BLOCKS = RowBlocks.split(X, 90)
ALPHAS = [1e-3, 0.1, 10.0]
RANDOM = RandomFourier(Gaussian(0.3), 40, random_state=0)
FOLDS = [None, 4, KFold(3, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0)]


def search(cv, **options):
    return KernelRidgeCV(ALPHAS, approximation=RANDOM, cv=cv, **options)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
@pytest.mark.parametrize("offset", [False, True], ids=["", "offset"])
@pytest.mark.parametrize("cv", FOLDS, ids=str)
def test_scores_are_those_of_rows(cv, offset, weight):
    model = search(cv, fit_intercept=offset)
    there = model.fit(BLOCKS, BOTH, weight)
    scores, errors = (there.cv_results_[k] for k in ("mean_test_score", "mean_squared_error"))
    predicted = there.predict(X)
    here = model.fit(X, BOTH, weight)
    assert np.allclose(scores, here.cv_results_["mean_test_score"], rtol=0, atol=1e-10)
    assert np.allclose(errors, here.cv_results_["mean_squared_error"], rtol=1e-9)
    assert np.allclose(predicted, here.predict(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
@pytest.mark.parametrize("cv", [None, 3])
def test_classes_and_their_chances(cv, scoring):
    model = KernelRidgeClassifierCV(
        [0.01, 1.0], approximation=RANDOM, cv=cv, scoring=scoring, class_weight="balanced"
    )
    there = model.fit(BLOCKS, CLASSES).cv_results_["mean_test_score"]
    here = model.fit(X, CLASSES).cv_results_["mean_test_score"]
    assert np.allclose(there, here, rtol=0, atol=1e-10)


def test_several_kernels_and_few_centres():
    kernels = [Polynomial(2), Gaussian(0.3)]
    model = KernelRidgeCV(ALPHAS, kernel=kernels, n_centers=50, cv=3).fit(BLOCKS, Y)
    assert model.kernel_ == Gaussian(0.3)
    assert len(model.cv_results_["params"]) == 6
    assert len(model._prepared) == 50


# --- the errors themselves ---------------------------------------------------------------------

Z = random.normal(size=(60, 5))
TARGETS = random.normal(size=(60, 2))
WEIGHTS = random.uniform(0.5, 2.0, 60)
ROOT = np.linalg.cholesky(np.cov(random.normal(size=(5, 40))))  # the penalty is not the identity


def path(at_once=3):
    bands = [(slice(0, 25), Z[:25]), (slice(25, 60), Z[25:])]
    problem = RidgeProblem(
        targets=TARGETS, alpha=np.zeros(2), weight=WEIGHTS, intercept=True, copies=np.ones(60)
    )
    return PassingPath(
        Z=KeptRows(bands),
        problem=problem,
        lower=ROOT,
        alphas=ALPHAS,
        at_once=at_once,
        monitor=Monitor(),
    )


def slow_errors(alpha, rows, of):
    """Return y - f of points by the model of some rows, the obvious way."""
    A, w = np.column_stack([Z[rows], np.ones(len(rows))]), WEIGHTS[rows]
    penalty = np.zeros((6, 6))
    penalty[:5, :5] = alpha * ROOT @ ROOT.T
    t = np.linalg.solve(A.T @ (w[:, None] * A) + penalty, A.T @ (w[:, None] * TARGETS[rows]))
    return TARGETS[of] - np.column_stack([Z[of], np.ones(len(of))]) @ t


@pytest.mark.parametrize("at_once", [1, 3])
def test_folds_against_fits_without_them(at_once):
    found, folds = path(at_once), [np.arange(20), np.arange(10, 50, 3)]  # which overlap
    parts = [found.part(rows) for rows in folds]
    for alpha in [*ALPHAS, 0.5]:  # one that was not announced, too
        for part, rows in zip(parts, folds, strict=True):
            rest = np.setdiff1d(np.arange(60), rows)
            wanted = slow_errors(alpha, rest, rows)
            assert np.allclose(found.hold_out(alpha, part), wanted, atol=1e-10)


def test_single_points_against_fits_without_them():
    everything, found = np.arange(60), path()
    for alpha in ALPHAS:
        wanted = [slow_errors(alpha, np.delete(everything, i), [i])[0] for i in everything]
        assert np.allclose(found.leave_one_out(alpha), wanted, atol=1e-10)


def test_single_points_of_the_rest_against_fits_without_both():
    found, held = path(), np.arange(10, 50, 3)
    rest, errors = found.leave_one_out_of_rest(0.1, found.part(held))
    assert np.array_equal(rest, np.setdiff1d(np.arange(60), held))
    wanted = [slow_errors(0.1, np.setdiff1d(rest, [i]), [i])[0] for i in rest]
    assert np.allclose(errors, wanted, atol=1e-10)
