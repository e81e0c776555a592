"""NaN in the data: refused with its row and column, or NaN out; never a finite number."""

import numpy as np
import pandas
import polars
import pytest
import samples
import scipy.sparse
import sklearn

from mercer.checks import InputError
from mercer.kernels import (
    Categorical,
    Chi2,
    Constant,
    ExpDot,
    Exponential,
    Fisher,
    FunctionKernel,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    LpNorm,
    Matern,
    NormalizedIntersection,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    SumPower,
    Tanimoto,
)
from mercer.kernels.base import registry

KERNELS = [
    Linear(),
    Polynomial(2),
    Polynomial(3, coef0=0.0),
    ExpDot(0.5),
    Sigmoid(0.5),
    Gaussian(0.5),
    Gaussian((1.0, 0.0, 2.0)),  # a missing entry counts even where its weight is 0
    Laplacian(0.5),
    Laplacian((1.0, 0.0, 2.0)),
    Matern(0.5),
    Matern(1.5),
    Matern(2.5),
    Matern(0.8),
    RationalQuadratic(),
    Exponential(),
    LpNorm(1.5),
    SumPower(),
    SumPower(1.5, 3, 0.2, (1.0, 2.0, 3.0)),
    Laplacian(0.5).metric([1.0, 0.0, 2.0]),
    Periodic(),
    Intersection(),
    NormalizedIntersection(),
    Chi2(),
    Categorical(),
    Tanimoto(),
    Fisher(samples.mixture()),
    FunctionKernel(samples.row_product),
    Linear().normalized(),
    Tanimoto().normalized(),
    2.0 * Linear() + 1,
    Gaussian(1.0) * Laplacian(1.0),
    Linear() ** 2,
    Gaussian(1.0).exp(),
    Gaussian(1.0).on([0, 1]),
    Linear().of(samples.halved),
    Gaussian(1.0).rescaled(samples.shrinking),
]
MISSING = 2  # the row with a NaN


def points():
    X = samples.histograms(6, 3)
    X[MISSING, 1] = np.nan
    return X


def pairs_with_it(shape, row=True, column=True):
    """Where a Gram matrix must be NaN."""
    wanted = np.zeros(shape, dtype=bool)
    wanted[MISSING] |= row
    wanted[:, MISSING] |= column
    return wanted


def assert_missing(found, wanted):
    """NaN for every pair that has it, and for no other."""
    assert np.array_equal(np.isnan(found), wanted)


def test_every_kernel_on_rows_is_here():
    """A new kernel on rows of numbers must join the list."""
    ours = [kind for kind in registry.values() if kind.__module__.startswith("mercer.")]
    takes_rows = {kind for kind in ours if "rows" in kind.domain}
    nodes = {
        type(node) for kernel in KERNELS for node, _ in kernel.walk(kernel.admit(np.ones((1, 3))))
    }
    structural = {kind for kind in takes_rows if kind.domain == Constant.domain}
    assert Constant in structural
    assert takes_rows - structural <= nodes


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: repr(kernel)[:60])
def test_nan_in_nan_out(kernel):
    X = points()
    with sklearn.config_context(assume_finite=True):
        for made in (X, X.astype(np.float32), scipy.sparse.csr_array(X)):
            assert_missing(kernel(made), pairs_with_it((6, 6)))
            assert_missing(kernel.distance(made), pairs_with_it((6, 6)))
            assert_missing(kernel.diag(made), np.arange(6) == MISSING)
        assert_missing(kernel.formula(X), pairs_with_it((6, 6)))
        assert_missing(kernel(X, X[3:]), pairs_with_it((6, 3), column=False))
        assert_missing(kernel(X[3:], X), pairs_with_it((3, 6), row=False))
        assert_missing(kernel(X[[MISSING]], X[3:]), np.full((1, 3), True))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: repr(kernel)[:60])
def test_nan_is_refused_with_its_place(kernel):
    X = points()
    for made in (X, scipy.sparse.csr_array(X), X.tolist()):
        uses = [kernel, kernel.diag, kernel.distance]
        uses += [] if kernel.defines("formula") else [kernel.formula]
        for use in uses:
            with pytest.raises(
                InputError, match=r"finite numbers only; got NaN in row 2, column 1"
            ):
                use(made)
    with pytest.raises(InputError, match="row 2, column 1"):
        kernel(samples.histograms(6, 3), X)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_with_its_place(value):
    X = samples.rows(5, 3)
    X[4, 0] = value
    with pytest.raises(InputError, match=r"Gaussian: .*; got infinity in row 4, column 0"):
        Gaussian(1.0)(X)


def test_opposite_infinities_do_not_cancel():
    X = samples.rows(5, 3)
    X[1, 2], X[3, 0] = np.inf, -np.inf
    with pytest.raises(InputError, match=r"infinity in row 1, column 2 \(2 such entries\)"):
        Linear()(X)


def test_large_finite_numbers_are_not_infinity():
    X = np.full((2, 2), 1.5e308)
    assert np.isfinite(Gaussian(1.0).formula(X)).all()


@pytest.mark.parametrize("library", [pandas, polars])
def test_a_missing_entry_of_a_frame_is_named_by_its_column(library):
    frame = library.DataFrame(
        {"age": [1.0, 2.0, None], "dose": [1, 2, 3], "colour": ["red", None, "blue"]}
    )
    for kernel, match in (
        (Gaussian(1.0).on("age"), "Gaussian: .*NaN in row 2, column 'age'"),
        (Gaussian(1.0).on(["dose", "age"]), "Gaussian: .*NaN in row 2, column 'age'"),
        (Categorical().on("colour"), "Categorical: .*missing one in row 1, column 'colour'"),
    ):
        with pytest.raises(InputError, match=match):
            kernel(frame)
        with sklearn.config_context(assume_finite=True):
            K = kernel(frame)
        row = 1 if "colour" in match else 2
        assert np.isnan(K[row]).all()
        assert np.isnan(K[:, row]).all()
    assert np.isfinite(Linear().on("dose")(frame)).all()


def test_constant_knows_no_missing_value():
    with sklearn.config_context(assume_finite=True):
        assert np.array_equal(Constant(2.0)(points()), np.full((6, 6), 2.0))


def test_a_precomputed_matrix_with_nan():
    K = np.eye(4)
    K[1, 3] = K[3, 1] = np.nan
    with pytest.raises(InputError, match="NaN in row 1, column 3"):
        Precomputed()(K)
    with sklearn.config_context(assume_finite=True):
        assert np.array_equal(Precomputed()(K), K, equal_nan=True)
