"""Exact feature maps: the lectures' maps, sums side by side, products by tensor, new points."""

import math

import numpy as np
import pandas
import pytest
import samples
import scipy.sparse
from numpy.testing import assert_allclose

from mercer.checks import KernelError
from mercer.kernels import (
    Categorical,
    Constant,
    ExpDot,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Polynomial,
    SetIntersection,
    Sigmoid,
    Spectrum,
    Tanimoto,
)

ROWS = samples.rows(7, 3)
STRINGS = ["abab", "baba", "", "abc", "bbbb", "cab"]
SETS = [{1, 2}, {2, 3}, set(), {"a"}, {1, "a"}]


def dense(features):
    return features.toarray() if scipy.sparse.issparse(features) else features


# --- maps by hand ---------------------------------------------------------------------------------


def test_two_maps_of_one_quadratic_kernel():
    """Lecture B2: (1, sqrt(2) x, x (x) x) in R^(d*d+d+1), and (x, 1) (x) (x, 1)."""
    x, root = [[1.0, 2.0]], math.sqrt(2)
    one = Polynomial(2).features(x)
    assert_allclose(one, [[1, root, 2 * root, 1, 2, 2, 4]], rtol=1e-15)
    two = ((Linear() + 1) ** 2).features(x)
    assert_allclose(two, [[1, 2, 1, 2, 4, 2, 1, 2, 1]], rtol=1e-15)
    for kernel, width in ((Polynomial(2), 13), ((Linear() + 1) ** 2, 16)):
        phi = kernel.features(ROWS)
        assert phi.shape == (7, width)
        assert_allclose(phi @ phi.T, (ROWS @ ROWS.T + 1) ** 2, rtol=1e-12)


def test_the_squared_dot_product_has_the_products_of_coordinates():
    """Lecture C3: (u'v)**2 is the dot product of all u_i u_j."""
    for kernel in (Polynomial(2, coef0=0.0), Linear() ** 2, Linear() * Linear()):
        assert_allclose(kernel.features([[2.0, 3.0]]), [[4, 6, 6, 9]], rtol=1e-15)


def test_polynomial_map_has_a_block_for_every_power():
    """(2 x y + 3)**3 has the blocks sqrt(C(3,j) 3**(3-j) 2**j) x**j."""
    phi = Polynomial(3, gamma=2.0, coef0=3.0).features([[5.0]])
    by_hand = [math.sqrt(27), math.sqrt(54) * 5, math.sqrt(36) * 25, math.sqrt(8) * 125]
    assert_allclose(phi, [by_hand], rtol=1e-14)
    assert (phi @ phi.T)[0, 0] == pytest.approx((2 * 25 + 3) ** 3, rel=1e-14)


def test_simple_maps():
    assert_allclose(Constant(9.0).features(ROWS), np.full((7, 1), 3.0))
    assert_allclose(Linear().features(ROWS), ROWS)
    assert_allclose((4 * Linear()).features(ROWS), 2 * ROWS)
    assert_allclose((Linear() + 4).features([[5.0]]), [[5, 2]])
    assert_allclose((Linear().on([0]) * Linear().on([2, 1])).features([[2.0, 3, 5]]), [[10, 6]])
    assert_allclose(Linear().normalized().features([[3.0, 4.0], [0.0, 0.0]]), [[0.6, 0.8], [0, 0]])
    assert_allclose(Linear().of(samples.halved).features(ROWS), ROWS / 2)
    wanted = ROWS * samples.shrinking(ROWS)[:, None]
    assert_allclose(Linear().rescaled(samples.shrinking).features(ROWS), wanted)


def test_sets_have_a_column_an_element_and_strings_a_column_an_ngram():
    phi = SetIntersection().features([{"b", "a"}, {"c", "a"}])
    assert_allclose(phi.toarray(), [[1, 1, 0], [1, 0, 1]])
    phi = Spectrum(2).features(["abab", "bb"])
    assert_allclose(phi.toarray(), [[2, 1, 0], [0, 0, 1]])  # ab, ba, bb
    phi = Spectrum(2, blended=True).features(["aab"])
    assert_allclose(phi.toarray(), [[2, 1, 1, 1]])  # a, aa, ab, b
    assert phi.format == "csr"


# --- every map gives its kernel, for old and new points -------------------------------------------

CASES = [
    (Constant(2.0), ROWS),
    (Linear(), ROWS),
    (Polynomial(3, 0.5, 2.0), ROWS),
    (Polynomial(2, coef0=0.0), ROWS),
    (0.5 * Linear() + 2, ROWS),
    (0.0 * Linear() + 2, ROWS),
    (Linear() * Polynomial(2), ROWS),
    ((Linear() + 1) ** 3, ROWS),
    ((Linear() + Polynomial(2)) * (Linear() + 2) + 3, ROWS),
    (Linear().normalized() ** 2, ROWS),
    (Polynomial(2).normalized() + Linear(), ROWS),
    (Linear().rescaled(samples.shrinking) + Linear().of(samples.halved) ** 2, ROWS),
    (Linear().on([2]) * Linear().on([0, 1]) + Polynomial(2).on(1), ROWS),
    (Spectrum(2), STRINGS),
    (Spectrum(2) + Spectrum(3) + 1, STRINGS),
    (Spectrum(1) * Spectrum(2), STRINGS),
    ((Spectrum(1) + 1) ** 2, STRINGS),
    (Spectrum(2).normalized(), STRINGS),
    (0.5 * Spectrum(2, blended=True).normalized() + 2 * Spectrum(1), STRINGS),
    (SetIntersection().normalized() * 3 + SetIntersection() ** 2, SETS),
]
every_case = pytest.mark.parametrize(
    ("kernel", "X"), CASES, ids=[repr(kernel) for kernel, _ in CASES]
)


@every_case
def test_dot_products_of_features_are_the_kernel(kernel, X):
    assert kernel.has_map()
    phi = kernel.features(X)
    assert phi.shape == (len(X), kernel.basis(X).width)
    assert_allclose(dense(phi @ phi.T), kernel.formula(X), rtol=1e-12, atol=1e-12)


@every_case
def test_new_points_in_the_basis_of_old_ones(kernel, X):
    """What the new points alone have (a token, a set element) cannot meet an old point."""
    train, test = X[:3], X[3:]
    basis = kernel.basis(train)
    old, new = kernel.features(train, basis), kernel.features(test, basis)
    assert old.shape[1] == new.shape[1] == basis.width
    assert_allclose(dense(new @ old.T), kernel.formula(test, train), rtol=1e-12, atol=1e-12)
    one = kernel.features(test[:1], basis)
    assert_allclose(dense(one), dense(new)[:1], rtol=1e-14)


@pytest.mark.parametrize("kernel", [k for k, X in CASES if X is ROWS], ids=repr)
def test_sparse_rows_have_the_features_of_dense_rows(kernel):
    X = np.where(ROWS > 0, ROWS, 0.0)
    for make in (scipy.sparse.csr_array, scipy.sparse.csc_matrix):
        assert_allclose(dense(kernel.features(make(X))), dense(kernel.features(X)), rtol=1e-12)


def test_sparse_stays_sparse_and_dense_stays_dense():
    X = scipy.sparse.csr_array(samples.counts())
    for kernel in (Linear(), 2 * Linear(), Linear() + 1, Linear() ** 2, Linear().normalized()):
        assert scipy.sparse.issparse(kernel.features(X)), kernel
        assert isinstance(kernel.features(X.toarray()), np.ndarray), kernel
        assert not kernel.basis(X).is_sparse
    for kernel in (Spectrum(2), Spectrum(2) + 1, 2 * Spectrum(1).normalized() ** 2):
        assert scipy.sparse.issparse(kernel.features(STRINGS)), kernel
        assert kernel.basis(STRINGS).is_sparse


def test_features_are_a_copy():
    X = samples.rows()
    phi = Linear().features(X)
    phi[:] = 0
    assert X.any()


def test_features_of_a_mixed_frame():
    frame = pandas.DataFrame(samples.frame_columns())
    kernel = Spectrum(2).on("dna").normalized() + 0.1 * Linear().on(["age", "dose"])
    basis = kernel.basis(frame.iloc[:3])
    old, new = kernel.features(frame.iloc[:3], basis), kernel.features(frame.iloc[3:], basis)
    assert scipy.sparse.issparse(old)
    wanted = kernel.formula(frame.iloc[3:], frame.iloc[:3])
    assert_allclose((new @ old.T).toarray(), wanted, rtol=1e-12)


def test_no_points():
    assert Linear().features(np.empty((0, 3))).shape == (0, 3)
    assert (Linear() ** 2).features(np.empty((0, 3))).shape == (0, 9)
    basis = (Spectrum(2) ** 2).basis(["abc"])
    assert (Spectrum(2) ** 2).features([], basis).shape == (0, 4)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.0),
        Laplacian(1.0),
        ExpDot(1.0),
        Sigmoid(1.0),
        Categorical(),
        Intersection(),
        Tanimoto(),
        Linear().exp(),
        Linear() + Gaussian(1.0),
        Linear() * Gaussian(1.0),
        2 * Gaussian(1.0).normalized() ** 2,
        Gaussian(1.0).on([0]),
        Gaussian(1.0).of(abs).rescaled(samples.shrinking),
    ],
    ids=repr,
)
def test_a_kernel_without_a_finite_map_says_so(kernel):
    assert not kernel.has_map()
    assert kernel.basis(abs(ROWS)) is None
    with pytest.raises(KernelError, match=rf"{kernel.name}: features need a finite feature map"):
        kernel.features(abs(ROWS))
