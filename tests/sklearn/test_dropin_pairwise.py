"""Kernels and distances of all pairs of rows: scikit-learn's values from our engine."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.metrics.pairwise as theirs

import mercer.sklearn as ours

RANDOM = np.random.default_rng(0)
X, Z = RANDOM.uniform(size=(60, 5)), RANDOM.uniform(size=(40, 5))
CASES = [
    ("rbf_kernel", {}),
    ("rbf_kernel", {"gamma": 0.7}),
    ("laplacian_kernel", {}),
    ("laplacian_kernel", {"gamma": 0.3}),
    ("polynomial_kernel", {}),
    ("polynomial_kernel", {"degree": 2, "gamma": 0.5, "coef0": 0.0}),
    ("chi2_kernel", {}),
    ("chi2_kernel", {"gamma": 0.4}),
    ("euclidean_distances", {}),
    ("euclidean_distances", {"squared": True}),
    ("pairwise_kernels", {"metric": "rbf", "gamma": 0.7}),
    ("pairwise_kernels", {"metric": "poly", "degree": 2}),
    ("pairwise_kernels", {"metric": "laplacian", "nonsense": 3, "filter_params": True}),
]


def values(name, *points, **options):
    return getattr(theirs, name)(*points, **options), getattr(ours, name)(*points, **options)


@pytest.mark.parametrize("points", [(X,), (X, Z)], ids=["one", "two"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_values_are_scikit_learns(name, options, dtype, points, engine, fallbacks):
    points = [rows.astype(dtype) for rows in points]
    one, other = values(name, *points, **options)
    assert fallbacks() == []
    assert other.dtype == one.dtype
    exact = one.dtype == np.float64
    np.testing.assert_allclose(other, one, rtol=1e-11 if exact else 1e-5, atol=1e-7)
    if len(points) == 1 and name == "euclidean_distances":
        assert not np.diag(other).any()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rbf_kernel", {"gamma": 0.0}),
        ("polynomial_kernel", {"degree": 1.5}),
        ("polynomial_kernel", {"coef0": -1.0}),
        ("euclidean_distances", {"X_norm_squared": (X**2).sum(axis=1)}),
        ("pairwise_kernels", {"metric": "cosine"}),
        ("pairwise_kernels", {"metric": lambda x, y: float(x @ y)}),
    ],
)
def test_what_is_not_served(name, options, engine):
    one, other = values(name, X, Z, **options)
    np.testing.assert_array_equal(one, other)


def test_sparse_rows_and_frames(engine, fallbacks):
    frame = pd.DataFrame(X)
    np.testing.assert_allclose(ours.rbf_kernel(frame, Z), theirs.rbf_kernel(frame, Z), rtol=1e-12)
    assert fallbacks() == []
    sparse = sp.csr_array(X)
    np.testing.assert_array_equal(ours.rbf_kernel(sparse), theirs.rbf_kernel(sparse))
    assert "neither arrays nor frames" in fallbacks()[0]


def test_few_pairs_are_left_alone(fallbacks):
    np.testing.assert_array_equal(ours.rbf_kernel(X), theirs.rbf_kernel(X))
    assert "little to compute" in fallbacks()[0]
    ours.rbf_kernel(RANDOM.normal(size=(300, 4)))
    assert len(fallbacks()) == 1


@pytest.mark.parametrize(
    ("name", "points", "options"),
    [
        ("rbf_kernel", (X, Z[:, :3]), {}),
        ("rbf_kernel", (X[0],), {}),
        ("rbf_kernel", (X,), {"gamma": -1.0}),
        ("rbf_kernel", (X,), {"gamma": "wide"}),
        ("rbf_kernel", (np.full((3, 2), np.nan),), {}),
        ("chi2_kernel", (-X,), {}),
        ("polynomial_kernel", (X,), {"degree": 0}),
        ("pairwise_kernels", (X,), {"metric": "nonsense"}),
        ("euclidean_distances", (X,), {"X_norm_squared": np.ones(3)}),
    ],
)
def test_bad_input_gets_the_same_error(name, points, options, engine):
    with pytest.raises(Exception) as its:  # noqa: PT011
        getattr(theirs, name)(*points, **options)
    with pytest.raises(type(its.value)):
        getattr(ours, name)(*points, **options)
