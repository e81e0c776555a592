"""Kernel ridge regression on any kind of input, and with scikit-learn's kernel names."""

import numpy as np
import oracles
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn import kernel_ridge
from sklearn.base import clone

from mercer import KernelRidge
from mercer.checks import InputError
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, SetIntersection, Spectrum

random = np.random.default_rng(3)
N = 40
X, NEW = random.normal(size=(N, 3)), random.normal(size=(11, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1]


def predicted(kernel, points, new, **parameters):
    return KernelRidge(0.2, kernel=kernel, **parameters).fit(points, y[: len(points)]).predict(new)


# --- inputs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True], ids=["through zero", "offset"])
@pytest.mark.parametrize(
    "kernel", [Gaussian(0.4), Linear(), Polynomial(2), Laplacian(0.3)], ids=repr
)
def test_every_container_gives_the_same_model(kernel, intercept):
    sparse = X * (np.abs(X) > 0.5)
    wanted = KernelRidge(0.2, kernel=kernel, fit_intercept=intercept).fit(sparse, y)
    values, deviation = wanted.predict(NEW, return_std=True)
    for points, new in (
        (sparse.tolist(), NEW.tolist()),
        (scipy.sparse.csr_matrix(sparse), scipy.sparse.csr_array(NEW)),
        (scipy.sparse.csr_array(sparse), NEW),
        (np.asfortranarray(sparse), NEW[:, ::-1].copy()[:, ::-1]),
        (pd.DataFrame(sparse, columns=list("abc")), pd.DataFrame(NEW, columns=list("abc"))),
        (RowBlocks.split(sparse, 16), RowBlocks.split(NEW, 4)),
    ):
        model = clone(wanted).set_params(n_centers=N).fit(points, y)
        found, spread = model.predict(new, return_std=True)
        assert np.allclose(found, values, rtol=0, atol=1e-8)
        assert np.allclose(spread, deviation, rtol=1e-5)


def test_points_in_blocks_are_never_put_together():
    blocks = RowBlocks.split(X, 16)
    model = KernelRidge(0.2, kernel=Gaussian(0.4), n_centers=12).fit(blocks, y)
    assert model.certificate_.plan.startswith("Nyström with 12 centres")
    assert model.certificate_.plan.endswith("the points arrive in blocks")
    assert len(model.support_) == 12
    cross, own = (
        oracles.gram(gaussian, X, X[model.support_]),
        oracles.gram(gaussian, X[model.support_]),
    )
    t, _ = oracles.centred_ridge(cross, own, y, 0.2)
    wanted = oracles.gram(gaussian, NEW, X[model.support_]) @ t[:, 0]
    assert np.allclose(model.predict(NEW), wanted, rtol=0, atol=1e-8)
    primal = KernelRidge(0.2, kernel=Linear()).fit(blocks, y)
    assert primal.certificate_.solver == "primal"
    assert np.allclose(primal.predict(NEW), predicted(Linear(), X, NEW), rtol=0, atol=1e-12)


def gaussian(x, z):
    return oracles.gaussian(x, z, 0.4, 0.4, 0.4)


@pytest.mark.parametrize("solver", ["auto", "cg", "nystrom"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_precomputed_gram_is_the_kernel(solver, dtype):
    K, cross = oracles.gram(gaussian, X).astype(dtype), oracles.gram(gaussian, NEW, X).astype(dtype)
    options = {"solver": solver, "n_centers": N, "tol": 1e-6}
    wanted = predicted(Gaussian(0.4), X, NEW, **options)
    found = predicted("precomputed", K, cross, **options)
    assert np.allclose(found, wanted, rtol=0, atol=1e-5)
    # As many new points as training points: their rows are new ones.
    other = oracles.gram(gaussian, X[::-1] + 0.1, X)
    model = KernelRidge(0.2, kernel="precomputed").fit(oracles.gram(gaussian, X), y)
    assert np.allclose(model.predict(other), predicted(Gaussian(0.4), X, X[::-1] + 0.1), atol=1e-8)


FRAME = {"a": X[:, 0], "b": X[:, 1], "word": ["".join("ab"[int(v > 0)] for v in x) for x in X]}
ROWS = np.column_stack([FRAME["a"], FRAME["b"]])


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_data_frames(library):
    frame = library.DataFrame(FRAME)
    model = KernelRidge(0.2, kernel=Gaussian(0.4)).fit(frame[["a", "b"]], y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert np.allclose(model.predict(frame[["a", "b"]]), predicted(Gaussian(0.4), ROWS, ROWS))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["a", "b"]].rename({"b": "c"}) if library is pl else frame[["a"]])
    mixed = KernelRidge(0.2, kernel=Gaussian(0.4).on(["a", "b"]) + Spectrum(2).on("word"))
    K = Gaussian(0.4)(ROWS) + oracles.gram(lambda u, v: oracles.spectrum(u, v, 2), FRAME["word"])
    a, _ = oracles.ridge(K, y, 0.2)
    assert np.allclose(mixed.fit(frame, y).predict(frame), K @ a[:, 0], rtol=0, atol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "cg", "nystrom"])
def test_strings_and_sets(solver):
    words = ["".join(random.choice(list("abc"), 6)) for _ in range(30)]
    sets = [set(word) for word in words]
    for kernel, points, formula in (
        (Spectrum(2), words, lambda u, v: oracles.spectrum(u, v, 2)),
        (SetIntersection(), sets, oracles.common),
    ):
        K, cross = (
            oracles.gram(formula, points[:20]),
            oracles.gram(formula, points[20:], points[:20]),
        )
        a, b = oracles.ridge(K, y[:20], 0.2, intercept=True)
        model = KernelRidge(
            0.2, kernel=kernel, fit_intercept=True, solver=solver, n_centers=20, tol=1e-10
        ).fit(points[:20], y[:20])
        assert np.allclose(model.predict(points[20:]), cross @ a[:, 0] + b, rtol=0, atol=1e-7)


def test_functions_are_kernels():
    found = predicted(lambda A, B: (1 + A @ B.T) ** 2, X, NEW)
    assert np.allclose(found, predicted(Polynomial(2, 1.0, 1.0), X, NEW), rtol=0, atol=1e-9)


# --- scikit-learn's names ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "linear"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 0.3},
        {"kernel": "poly", "degree": 2, "coef0": 0.5, "gamma": 0.7},
        {"kernel": "polynomial"},
        {"kernel": "laplacian", "gamma": 0.3},
        {"kernel": "cosine"},
        {"kernel": "chi2", "gamma": 0.3},
    ],
)
def test_names_and_parameters_are_those_of_scikit_learn(parameters):
    points, new = np.abs(X), np.abs(NEW)
    targets, weight = np.column_stack([y, y**2]), random.uniform(0.5, 2.0, size=N)
    ours = KernelRidge([0.2, 3.0], **parameters).fit(points, targets, weight)
    theirs = kernel_ridge.KernelRidge(alpha=[0.2, 3.0], **parameters).fit(points, targets, weight)
    assert np.allclose(ours.predict(new), theirs.predict(new), rtol=0, atol=1e-7)


def test_gamma_alone_is_that_of_the_gaussian():
    assert KernelRidge(gamma=0.1).fit(X, y).kernel_ == Gaussian(0.1)
    assert KernelRidge().fit(X, y).kernel_ == Gaussian(1 / (3 * X.var()))
    for extra in ({"gamma": 0.1}, {"degree": 2}, {"coef0": 0.5}):
        name = next(iter(extra))
        with pytest.raises(
            InputError, match=rf"KernelRidge: {name} must be left out .* got kernel=Lin"
        ):
            KernelRidge(kernel=Linear(), **extra).fit(X, y)
