"""Kernel PCA and maps to few features under scikit-learn's names: its numbers from our engine."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.decomposition
import sklearn.kernel_approximation
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

import mercer.sklearn as ours
from mercer.sklearn import approximation, kernel_pca

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(260, 6)) * np.linspace(1.0, 2.0, 6)
X[:130] += 1.0
Z = RANDOM.normal(size=(40, 6))
PCA = [
    {"n_components": 3},
    {},
    {"kernel": "cosine", "n_components": 4},
    {"kernel": "poly", "degree": 2, "n_components": 7, "gamma": 0.2},
    {"kernel": "rbf", "gamma": 0.05, "n_components": 2},
    {"kernel": "rbf", "n_components": 5, "eigen_solver": "arpack"},
    {"kernel": "rbf", "n_components": 12},
    {"kernel": "rbf", "n_components": 12, "eigen_solver": "dense", "remove_zero_eig": True},
    {"kernel": "rbf", "n_components": 5, "random_state": 3},
    {"kernel": "sigmoid", "gamma": 1e-3, "n_components": 3},
    {"kernel": "rbf", "n_components": 4, "eigen_solver": "randomized", "iterated_power": 12},
    {"kernel": lambda x, y: float(x @ y), "n_components": 3},
]


def pair(module, name, options):
    return getattr(module, name)(**options), getattr(ours, name)(**options)


def fitted(options, points=X):
    return [model.fit(points) for model in pair(sklearn.decomposition, "KernelPCA", options)]


# --- kernel PCA -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", PCA)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_components_are_scikit_learns(options, dtype, engine):
    points, asked = X.astype(dtype), Z.astype(dtype)
    one, other = fitted({"random_state": 0, **options}, points)
    assert sorted(vars(one)) == sorted(vars(other))
    tolerance = 1e-7 if dtype == np.float64 else 2e-2
    for name in ("eigenvalues_", "eigenvectors_", "X_fit_"):
        mine, its = getattr(other, name), getattr(one, name)
        assert mine.shape == its.shape, name
        assert mine.dtype == its.dtype, name
        np.testing.assert_allclose(mine, its, rtol=tolerance, atol=tolerance, err_msg=name)
    assert other.gamma_ == one.gamma_
    centred = other._centerer.K_fit_rows_, other._centerer.K_fit_all_
    np.testing.assert_allclose(centred[0], one._centerer.K_fit_rows_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(centred[1], one._centerer.K_fit_all_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        other.transform(asked), one.transform(asked), rtol=tolerance, atol=tolerance
    )
    assert other.transform(asked).dtype == one.transform(asked).dtype
    found, expected = (model.fit_transform(points) for model in (other, one))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "options",
    [
        {"n_components": 3},
        {"kernel": "rbf", "n_components": 3},
        {"kernel": "rbf", "n_components": 9},
    ],
)
def test_the_engine_serves(options, engine, fallbacks, monkeypatch):
    calls = []
    for name in ("decomposed", "eigsh", "kernel_times"):
        own = getattr(kernel_pca, name)
        monkeypatch.setattr(
            kernel_pca,
            name,
            lambda *given, own=own, name=name, **more: calls.append(name) or own(*given, **more),
        )
    ours.KernelPCA(**options).fit(X).transform(np.tile(Z, (40, 1)))
    assert fallbacks() == []
    solver = "eigsh" if "kernel" in options else "decomposed"
    assert calls == [solver] + ["kernel_times"] * (options["n_components"] < kernel_pca.AT_ONCE)


def test_small_eigenvalues_need_the_whole_matrix(engine):
    points = np.hstack([X, 1e-6 * RANDOM.normal(size=(260, 2))])
    one, other = fitted({"n_components": 8}, points)
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-4)
    flat = np.hstack([X, X[:, :1]])  # of rank 6
    for options in ({}, {"n_components": 7}, {"n_components": 7, "remove_zero_eig": True}):
        one, other = fitted(options, flat)
        np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("count", [3, 12])
def test_preimages(count, engine):
    options = {"kernel": "rbf", "n_components": count, "fit_inverse_transform": True, "alpha": 0.1}
    one, other = fitted({"gamma": 0.05, **options})
    np.testing.assert_allclose(other.dual_coef_, one.dual_coef_, atol=1e-7)
    np.testing.assert_allclose(other.X_transformed_fit_, one.X_transformed_fit_, atol=1e-9)
    low = one.transform(Z)
    np.testing.assert_allclose(other.inverse_transform(low), one.inverse_transform(low), atol=1e-7)
    for model in (one, other):
        with pytest.raises(NotImplementedError, match="sparse"):
            model.fit(sp.csr_array(X))
    with pytest.raises(NotFittedError, match="fit_inverse_transform"):
        ours.KernelPCA().fit(X).inverse_transform(low)


def test_preimages_of_singular_systems(engine):
    options = {"n_components": 2, "fit_inverse_transform": True, "alpha": 0.0}
    with pytest.raises(np.linalg.LinAlgError):
        sklearn.decomposition.KernelPCA(**options).fit(X)
    with pytest.raises(np.linalg.LinAlgError):
        ours.KernelPCA(**options).fit(X)


def test_sparse_rows_precomputed_and_copies(engine):
    for container in (sp.csr_matrix, sp.csr_array):
        one, other = fitted({"n_components": 3, "kernel": "rbf"}, container(X))
        np.testing.assert_allclose(
            other.transform(container(Z)), one.transform(container(Z)), atol=1e-9
        )
    K = rbf_kernel(X)
    options = {"kernel": "precomputed", "n_components": 3, "copy_X": True}
    one, other = fitted(options, K.copy())
    np.testing.assert_allclose(other.transform(K[:9]), one.transform(K[:9]), atol=1e-10)
    given = K.copy()
    ours.KernelPCA(**{**options, "copy_X": False}).fit(given)
    assert not np.array_equal(given, K)  # centred in its place, as in scikit-learn


def test_arpack_says_that_it_did_not_converge(engine):
    options = {"kernel": "rbf", "n_components": 5, "eigen_solver": "arpack", "max_iter": 1}
    for model in pair(sklearn.decomposition, "KernelPCA", {"gamma": 5.0, **options}):
        with pytest.raises(ArpackNoConvergence):
            model.fit(X)


# --- maps to few features ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", [{}, {"gamma": "scale", "n_components": 37}])
def test_waves_are_scikit_learns(options, dtype, engine, fallbacks):
    points = X.astype(dtype)
    one, other = (
        model.set_params(random_state=0).fit(points)
        for model in pair(sklearn.kernel_approximation, "RBFSampler", options)
    )
    found, expected = other.transform(points), one.transform(points)
    assert fallbacks() == []
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, atol=1e-13 if dtype == np.float64 else 2e-6)
    assert sorted(vars(one)) == sorted(vars(other))


def test_waves_of_other_points(engine, fallbacks):
    one, other = (
        model.fit(X)
        for model in pair(sklearn.kernel_approximation, "RBFSampler", {"random_state": 0})
    )
    whole = RANDOM.integers(0, 5, (30, 6))
    np.testing.assert_allclose(other.transform(whole), one.transform(whole), atol=1e-13)
    single = X.astype(np.float32)
    assert other.transform(single).dtype == one.transform(single).dtype
    assert fallbacks() == []
    np.testing.assert_array_equal(other.transform(sp.csr_array(X)), one.transform(sp.csr_array(X)))
    assert "sparse" in fallbacks()[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "options",
    [
        {"gamma": 0.3},
        {"gamma": 1e-3},  # whose matrix has no factor
        {"kernel": "laplacian", "n_components": 80},
        {"kernel": "polynomial", "degree": 2, "n_components": 20},
        {"kernel": rbf_kernel, "kernel_params": {"gamma": 0.4}, "n_components": 70},
    ],
)
def test_bases_are_scikit_learns(options, dtype, engine):
    points = X.astype(dtype)
    if callable(options.get("kernel")):
        options = {
            **options,
            "kernel": lambda x, y, gamma: float(np.exp(-gamma * ((x - y) ** 2).sum())),
        }
    one, other = (
        model.set_params(random_state=0).fit(points)
        for model in pair(sklearn.kernel_approximation, "Nystroem", options)
    )
    np.testing.assert_array_equal(other.component_indices_, one.component_indices_)
    np.testing.assert_array_equal(other.components_, one.components_)
    assert other.normalization_.dtype == one.normalization_.dtype
    found, expected = other.transform(points), one.transform(points)
    assert found.dtype == expected.dtype
    exact = dtype == np.float64 and options.get("gamma") != 1e-3
    if exact:
        np.testing.assert_allclose(other.normalization_, one.normalization_, atol=1e-9)
        np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, rtol=2e-3, atol=2e-3)
    assert sorted(vars(one)) == sorted(vars(other))


def test_roots_by_eigenvectors_and_by_singular_ones(monkeypatch):
    K = rbf_kernel(X[:70], gamma=0.5)
    expected = approximation.inverse_root(K)
    np.testing.assert_allclose(expected @ K @ expected, np.eye(70), atol=1e-8)
    monkeypatch.setattr(approximation, "_is_well_conditioned", lambda K: False)
    np.testing.assert_allclose(approximation.inverse_root(K), expected, atol=1e-9)
    monkeypatch.undo()
    for other in (K[::-1], K[:, :60], rbf_kernel(X[:70], gamma=1e-9), np.zeros((3, 3))):
        assert not approximation._is_well_conditioned(other)


def test_a_large_basis_is_ours(fallbacks, monkeypatch):
    calls, own = [], approximation.inverse_root
    monkeypatch.setattr(approximation, "inverse_root", lambda K: calls.append(1) or own(K))
    ours.Nystroem(n_components=100).fit(X)
    assert calls == [1]
    assert not any("Nystroem" in text for text in fallbacks())
    ours.Nystroem(n_components=20).fit(X)
    assert "Nystroem: there is little to compute" in fallbacks()[-1]
    assert calls == [1]


def test_more_components_than_points_and_other_containers():
    for model in pair(sklearn.kernel_approximation, "Nystroem", {"n_components": 300}):
        with pytest.warns(UserWarning, match="n_components > n_samples"):
            model.fit(X)
    lists, sparse = X.tolist(), sp.csr_array(X)
    frame = pd.DataFrame(
        {f"c{i}": pd.arrays.SparseArray(column, fill_value=0.0) for i, column in enumerate(X.T)}
    )
    for points in (lists, sparse, frame):
        one, other = (
            model.fit(points)
            for model in pair(sklearn.kernel_approximation, "Nystroem", {"random_state": 0})
        )
        np.testing.assert_allclose(other.transform(points), one.transform(points), atol=1e-9)
