"""Kernel ridge regression in scikit-learn's hands: its checks, searches, seeds, refusals."""

import copy
import os
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

from mercer import KernelRidge, num_threads, set_num_threads
from mercer.checks import InputError, InputTypeError, KernelError, MemoryLimitError
from mercer.kernels import Gaussian, Laplacian, Linear

random = np.random.default_rng(3)
N = 40
X, NEW = random.normal(size=(N, 3)), random.normal(size=(11, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1]


# --- scikit-learn's contract ------------------------------------------------------------------

CHECKED = [
    KernelRidge(),
    KernelRidge(kernel="linear", fit_intercept=True),
    KernelRidge(kernel=Laplacian(0.3), solver="cg", fit_intercept=True),
    KernelRidge(1e4, kernel="precomputed"),  # the checks hand in matrices that are not Mercer
]


@estimator_checks.parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_copies_predict_the_same():
    for solver, kernel in (("primal", Linear()), ("cholesky", None), ("nystrom", None)):
        model = KernelRidge(0.2, kernel=kernel, solver=solver, fit_intercept=True).fit(X, y)
        kept = pickle.dumps(model)
        again = pickle.loads(kept)
        for one, other in zip(
            *(m.predict(NEW, return_std=True) for m in (model, again)), strict=True
        ):
            assert np.array_equal(one, other)
        assert len(pickle.dumps(model)) < 1.1 * len(kept)  # factors are made again, not kept
        assert clone(model).get_params() == model.get_params()


def test_searches_and_pipelines():
    model = make_pipeline(StandardScaler(), KernelRidge(kernel=Gaussian(1.0)))
    grid = {"kernelridge__alpha": [0.01, 100.0], "kernelridge__kernel__gamma": [0.3, 300.0]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"kernelridge__alpha": 0.01, "kernelridge__kernel__gamma": 0.3}
    assert search.best_estimator_[-1].kernel == Gaussian(0.3)
    wanted = cross_val_score(KernelRidge(0.2, kernel=Gaussian(0.4)), X, y, cv=3)
    scores = cross_val_score(KernelRidge(0.2, kernel="precomputed"), Gaussian(0.4)(X), y, cv=3)
    assert np.allclose(scores, wanted, rtol=1e-8)


# --- the same again ---------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["cholesky", "cg", "nystrom"])
def test_the_same_seed_gives_the_same_model(solver):
    options = {"kernel": Gaussian(0.4), "solver": solver, "n_centers": 15}
    for seed in (None, 4, np.random.RandomState(4), np.random.default_rng(4)):
        states = [copy.deepcopy(seed) for _ in range(2)]
        models = [KernelRidge(0.2, random_state=state, **options).fit(X, y) for state in states]
        assert np.array_equal(models[0].dual_coef_, models[1].dual_coef_)
    if solver == "nystrom":
        models = [KernelRidge(0.2, random_state=seed, **options).fit(X, y) for seed in (4, 5)]
        assert set(models[0].support_) != set(models[1].support_)


def test_threads_are_set_for_the_fit_alone():
    before = num_threads()
    seen = set()

    def kernel(A, B):
        seen.add(num_threads())
        return A @ B.T

    try:
        set_num_threads(3)
        known = hasattr(os, "sched_getaffinity")
        every = [(-1, len(os.sched_getaffinity(0)))] if known else []
        for jobs, used in [(1, 1), (2, 2), (None, 3), *every]:
            seen.clear()
            KernelRidge(0.2, kernel=kernel, n_jobs=jobs).fit(X, y)
            assert seen == {used}
            assert num_threads() == 3
        with pytest.raises(InputError, match=r"KernelRidge: n_jobs must be .* least 1 .*; got 0"):
            KernelRidge(n_jobs=0).fit(X, y)
        with pytest.raises(KernelError):
            KernelRidge(0.2, kernel=lambda A, B: A, n_jobs=1).fit(X, y)
        assert num_threads() == 3
    finally:
        set_num_threads(before)
    options = {"kernel": Gaussian(0.4), "solver": "cg", "tol": 1e-10}
    found = [KernelRidge(0.2, n_jobs=jobs, **options).fit(X, y).predict(NEW) for jobs in (1, 2)]
    assert np.allclose(*found, rtol=0, atol=1e-9)


# --- refused ----------------------------------------------------------------------------------


def spoiled(values, place, value):
    values = np.array(values)
    values[place] = value
    return values


WRONG = [
    (
        {},
        spoiled(X, (7, 1), np.nan),
        y,
        "X must have finite .* got NaN in row 7, column 1",
    ),
    (
        {},
        spoiled(X, (7, 1), np.inf),
        y,
        "X must have finite .* got inf.* in row 7, column 1",
    ),
    ({}, X, spoiled(y, 3, np.nan), "y must have finite numbers only; got NaN in row 3"),
    ({}, X, spoiled(y, 3, -np.inf), "y must have finite numbers only; got .*inf.* in row 3"),
    ({}, X, y[:-1], r"y must have one row for each of the 40 points; got shape \(39,\)"),
    ({}, X, np.zeros((N, 2, 2)), r"y must have one row .*; got shape \(40, 2, 2\)"),
    ({}, X, ["a"] * N, "y must hold real numbers; got dtype <U1"),
    ({}, X, None, "requires y to be passed, but the target y is None"),
    ({}, X[:, 0], y, "X must be 2-D"),
    ({}, X[:0], y[:0], "at least one point; got 0 sample"),
    ({"alpha": -1}, X, y, "alpha must be a finite number at least 0; got -1"),
    ({"alpha": np.nan}, X, y, "alpha must be a finite number at least 0; got nan"),
    ({"alpha": "1"}, X, y, "alpha must be a finite number at least 0; got '1'"),
    ({"alpha": [1.0, -2.0]}, X, np.column_stack([y, y]), "alpha must be at least 0; got -2"),
    ({"alpha": [1.0, 2.0]}, X, y, r"alpha must have shape \(1,\); got shape \(2,\)"),
    ({"solver": "svd"}, X, y, "solver must be one of 'auto', 'primal'.* got 'svd'"),
    ({"solver": "choleski"}, X, y, "got 'choleski'. Did you mean 'cholesky'"),
    ({"n_centers": 0}, X, y, "n_centers must be a whole number at least 1; got 0"),
    ({"n_centers": 2.5}, X, y, "n_centers must be a whole number at least 1; got 2.5"),
    ({"tol": 0}, X, y, "tol must be a finite number above 0; got 0"),
    ({"max_iter": 0}, X, y, "max_iter must be a whole number at least 1; got 0"),
    ({"time_limit": -1}, X, y, "time_limit must be a finite number above 0; got -1"),
    ({"memory_limit": "lots"}, X, y, "memory_limit must be"),
    ({"random_state": -1}, X, y, "random_state must be a whole number at least 0; got -1"),
    ({"kernel": "rdf"}, X, y, "got 'rdf'. Did you mean 'rbf'"),
    ({"kernel": "precomputed"}, X, y, r"must be square to fit, .* got shape \(40, 3\)"),
    (
        {"kernel": "precomputed"},
        spoiled(X @ X.T, (4, 9), 50),
        y,
        r"symmetric; got K\[4, 9\] = 50 but",
    ),
    (
        {"kernel": Gaussian(1.0), "solver": "primal"},
        X,
        y,
        "finite feature map; got Gaussian.* Use solver",
    ),
]


@pytest.mark.parametrize(("parameters", "points", "targets", "told"), WRONG)
def test_bad_input(parameters, points, targets, told):
    with pytest.raises(ValueError, match=told) as caught:
        KernelRidge(**parameters).fit(points, targets)
    assert str(caught.value).startswith("KernelRidge")


def test_wrong_types_are_type_errors():
    for parameters in ({"alpha": "1"}, {"n_centers": 2.5}, {"kernel": Gaussian}):
        with pytest.raises(InputTypeError):
            KernelRidge(**parameters).fit(X, y)
    with pytest.raises(TypeError, match="y must hold real numbers"):
        KernelRidge().fit(X, ["a"] * N)


@pytest.mark.parametrize(
    ("weight", "told"),
    [
        (
            np.zeros(N),
            "sample_weight must be above 0 for at least one .* got all weights zero",
        ),
        (np.arange(N) - 3.0, "sample_weight must be at least 0; got -3 at index 0"),
        (np.ones(3), r"sample_weight must have shape \(40,\); got shape \(3,\)"),
        (spoiled(np.ones(N), 2, np.nan), "sample_weight must be finite; got nan at index 2"),
    ],
)
def test_bad_weights(weight, told):
    with pytest.raises(InputError, match=f"KernelRidge: {told}"):
        KernelRidge().fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("solver", ["cholesky", "auto"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_singular_matrix_names_the_alpha_that_works(solver, dtype):
    twice = np.vstack([X, X]).astype(dtype)
    targets = np.append(y, y + 1)
    with pytest.raises(InputError) as caught:
        KernelRidge(0, kernel=Gaussian(0.4), solver=solver).fit(twice, targets)
    told = str(caught.value)
    assert told.startswith("KernelRidge: K + alpha I must be positive definite; got alpha = 0 and")
    named = float(re.search(r"smallest alpha that works here is about ([\d.e+-]+)\.$", told)[1])
    model = KernelRidge(named, kernel=Gaussian(0.4), solver=solver, tol=1e-2).fit(twice, targets)
    assert np.allclose(model.predict(X.astype(dtype)), y + 0.5, atol=0.1)


def test_of_many_points_a_refusal_looks_at_no_eigenvalues(monkeypatch):
    monkeypatch.setattr("mercer.fitting.ridge.choice.EXPLAINED", 10)
    twice, targets = np.vstack([X, X]), np.append(y, y + 1)
    told = "K + alpha I must be positive definite; got alpha = 0. Raise alpha"
    with pytest.raises(InputError, match=re.escape(told)):
        KernelRidge(0, kernel=Gaussian(0.4), solver="cholesky").fit(twice, targets)


def test_predictions_check_their_points():
    model = KernelRidge().fit(X, y)
    for new, told in (
        (NEW[:, :2], "X has 2 features, but KernelRidge is expecting 3"),
        (spoiled(NEW, (1, 0), np.nan), "NaN in row 1, column 0"),
        (NEW[0], "X must be 2-D"),
    ):
        with pytest.raises(ValueError, match=told):
            model.predict(new)


def test_a_limit_that_cannot_hold():
    many = random.normal(size=(1500, 3))
    told = "a Cholesky factor of 1500 points must fit memory_limit; it needs .* the limit is 5.0 MB"
    with pytest.raises(MemoryLimitError, match=f"KernelRidge: {told}.*solver='auto'"):
        KernelRidge(solver="cholesky", memory_limit="5MB").fit(many, many[:, 0])
    told = "conjugate gradients on 1500 points must fit memory_limit; they need more than"
    with pytest.raises(MemoryLimitError, match=f"KernelRidge: {told} .* limit is 100.0 kB"):
        KernelRidge(solver="cg", memory_limit="100kB").fit(many, many[:, 0])
