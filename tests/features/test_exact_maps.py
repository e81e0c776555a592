"""Maps without chance: that of the kernel itself, the series of the Gaussian, the staircases."""

from itertools import product
from math import comb, exp, factorial, sqrt

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from samples import graphs, sets, strings, trees
from scipy.special import gammainc

from mercer.checks import InputError, KernelError, MemoryLimitError
from mercer.features import AdditiveMap, ExplicitMap, GaussianTaylor
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Chi2,
    Gaussian,
    Intersection,
    Linear,
    NormalizedIntersection,
    Polynomial,
    SetIntersection,
    Spectrum,
    Subtree,
    WeisfeilerLehman,
)

random = np.random.default_rng(5)
X, NEW = random.normal(size=(25, 3)), random.normal(size=(7, 3))


# --- the map of the kernel ----------------------------------------------------------------------


def test_the_quadratic_map_of_the_lecture():
    found = ExplicitMap().fit([[0.0, 0.0]]).transform([[1.0, 2.0]])
    r = sqrt(2)
    assert np.allclose(found, [[1, r, 2 * r, 1, 2, 2, 4]])
    other = ExplicitMap((Linear() + 1) ** 2).fit([[0.0, 0.0]]).transform([[1.0, 2.0]])
    assert other.shape == (1, 9)
    assert np.isclose(other @ other.T, found @ found.T)


OBJECTS = {
    "strings": (Spectrum(2), strings()),
    "sum": (Spectrum(1) + 0.5 * Spectrum(2), strings()),
    "square": (Spectrum(1) ** 2, strings()),
    "cosine": (Spectrum(2).normalized(), strings()),
    "sets": (SetIntersection() + 1, sets()),
    "trees": (Subtree(), trees()),
    "graphs": (WeisfeilerLehman(2), graphs()),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_are_counted_in_sparse_rows(name):
    kernel, points = OBJECTS[name]
    phi = ExplicitMap(kernel).fit(points)
    F = phi.transform(points)
    assert scipy.sparse.issparse(F)
    assert F.shape[1] == phi.basis_.width == len(phi.get_feature_names_out())
    assert np.allclose((F @ F.T).toarray(), kernel.formula(points), rtol=1e-12, atol=1e-12)
    few = ExplicitMap(kernel).fit(points[:3])
    cross = (few.transform(points[:3]) @ few.transform(points[3:]).T).toarray()
    assert np.allclose(cross, kernel.formula(points[:3], points[3:]), rtol=1e-12, atol=1e-12)
    blocks = ExplicitMap(kernel).fit(RowBlocks([points[:2], points[2:]]))
    assert np.array_equal(blocks.transform(points).toarray(), F.toarray())


def test_sparse_rows_stay_sparse_where_the_map_does():
    rows = scipy.sparse.csr_array(np.maximum(X, 0))
    F = ExplicitMap(Linear()).fit(rows).transform(rows)
    assert scipy.sparse.issparse(F)
    assert F.nnz == rows.nnz
    assert isinstance(ExplicitMap(Linear()).fit(rows).transform(X), np.ndarray)
    assert isinstance(ExplicitMap(Polynomial(2)).fit(rows).transform(rows), np.ndarray)


def test_columns_of_tables():
    table = pd.DataFrame({"word": strings(), "age": np.arange(float(len(strings())))})
    kernel = Spectrum(2).on("word") + Linear().on(["age"])
    F = ExplicitMap(kernel).fit(table).transform(table)
    assert np.allclose((F @ F.T).toarray(), kernel.formula(table))


@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian(1.0) + Linear(), "precomputed"], ids=repr)
def test_kernels_without_a_map(kernel):
    told = r"ExplicitMap: the kernel must have a finite map; .*Use Nystrom\(kernel\)"
    with pytest.raises(KernelError, match=told):
        ExplicitMap(kernel).fit(X @ X.T)


def test_maps_that_are_too_wide():
    with pytest.raises(MemoryLimitError, match=r"ExplicitMap: .* 1 x 1111111 numbers"):
        ExplicitMap(Polynomial(6), memory_limit="1MB").fit(np.ones((2, 10)))


# --- the series of the Gaussian -----------------------------------------------------------------


def monomials(x, degree, gamma):
    """The features of a point from their formula, in any order."""
    found = []
    for a in product(range(degree + 1), repeat=len(x)):
        if sum(a) <= degree:
            size = (2 * gamma) ** sum(a) / np.prod([float(factorial(i)) for i in a])
            found.append(exp(-gamma * float(x @ x)) * sqrt(size) * np.prod(x ** np.array(a)))
    return np.sort(found)


def test_one_column_by_hand():
    # exp(-x**2 / 2) x**i / sqrt(i!) with gamma = 1/2, i = 0, 1, 2, 3.
    found = GaussianTaylor(3, gamma=0.5).fit([[2.0]]).transform([[2.0]])
    assert np.allclose(found, exp(-2.0) * np.array([[1, 2, 4 / sqrt(2), 8 / sqrt(6)]]))
    constant = GaussianTaylor(0, gamma=0.5).fit([[2.0]])
    assert np.allclose(constant.transform([[2.0]]), exp(-2.0))
    assert np.isclose(constant.truncation_bound_, 1 - exp(-4.0))


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_all_monomials_are_there_with_their_factors(degree):
    phi = GaussianTaylor(degree, gamma=0.3).fit(X)
    F = phi.transform(X[:5])
    assert F.shape == (5, comb(3 + degree, degree))
    for x, features in zip(X[:5], F, strict=True):
        assert np.allclose(np.sort(features), monomials(x, degree, 0.3), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("degree", [0, 1, 3, 8])
def test_products_are_the_series_and_the_bound_is_reached(degree):
    phi = GaussianTaylor(degree, gamma=0.2).fit(X)
    F, G = phi.transform(X), phi.transform(NEW)
    squares = [(A**2).sum(axis=1) for A in (X, NEW)]
    weight = np.exp(-0.2 * (squares[0][:, None] + squares[1]))
    series = sum((0.4 * X @ NEW.T) ** i / factorial(i) for i in range(degree + 1))
    assert np.allclose(F @ G.T, weight * series, rtol=1e-12, atol=1e-14)
    errors = np.abs(Gaussian(0.2).formula(X) - F @ F.T)
    assert np.isclose(errors.max(), phi.truncation_bound_, rtol=1e-6, atol=1e-14)
    far = int(squares[0].argmax())
    assert np.isclose(errors[far, far], errors.max(), rtol=1e-9)
    chance = 1 - sum(
        exp(-0.4 * squares[0].max()) * (0.4 * squares[0].max()) ** i / factorial(i)
        for i in range(degree + 1)
    )
    assert np.isclose(phi.truncation_bound_, chance, atol=1e-12)


def test_one_gamma_per_column_and_rules():
    gamma = (0.1, 0.0, 0.4)
    F = GaussianTaylor(20, gamma=gamma).fit(X).transform(X)
    assert np.allclose(F @ F.T, Gaussian(gamma).formula(X), rtol=0, atol=1e-7)
    for rule in ("scale", "auto"):
        assert GaussianTaylor(gamma=rule).fit(X).kernel_ == Gaussian(rule).resolve(X)
    blocks = GaussianTaylor(3).fit(RowBlocks.split(X, 6))
    whole = GaussianTaylor(3).fit(X)
    assert np.isclose(blocks.truncation_bound_, whole.truncation_bound_)
    assert np.allclose(blocks.transform(NEW), whole.transform(NEW))


def test_points_far_out_have_features_of_0():
    phi = GaussianTaylor(3, gamma=1.0).fit([[1e200, 0.0]])
    assert phi.truncation_bound_ == 1.0
    assert phi.transform([[1e200, 0.0], [1e308, 1e308]]).tolist() == [[0.0] * 10] * 2


def test_degrees_and_widths():
    for bad in (-1, 101, 1.5, True, None):
        with pytest.raises(InputError, match="GaussianTaylor: degree must be a whole number"):
            GaussianTaylor(bad).fit(X)
    with pytest.raises(InputError, match="GaussianTaylor: gamma must be a finite number above 0"):
        GaussianTaylor(gamma=0).fit(X)
    told = rf"degree 5 of 100 columns has {comb(105, 5)} of them, .*use fewer columns, or Nystrom"
    with pytest.raises(MemoryLimitError, match=told):
        GaussianTaylor(5, memory_limit="100MB").fit(np.ones((2, 100)))
    with pytest.raises(MemoryLimitError, match="features of a point must fit memory_limit"):
        GaussianTaylor(100).fit(np.ones((2, 784)))
    with pytest.raises(InputError, match="one parameter per column means 2 columns; got 3"):
        GaussianTaylor(2, gamma=[0.1, 0.2]).fit(X)


def test_the_bound_is_the_chance_of_a_poisson_variable():
    phi = GaussianTaylor(4, gamma=0.5).fit([[3.0, 0.0], [1.0, 1.0]])
    assert np.isclose(phi.truncation_bound_, gammainc(5, 9.0))


# --- staircases ---------------------------------------------------------------------------------

COUNTS = random.integers(0, 9, size=(40, 4)) * random.random(size=(40, 4))
OTHERS = random.integers(0, 9, size=(60, 4)) * random.random(size=(60, 4)) * 3


def test_a_staircase_by_hand():
    # Knots 0, 2, 4 and sqrt(2): 3 is one whole step and half of the second.
    phi = AdditiveMap(Intersection(), 2).fit([[4.0], [1.0]])
    assert phi.knots_.tolist() == [[0.0, 2.0, 4.0]]
    r = sqrt(2)
    assert np.allclose(
        phi.transform([[3.0], [1.0], [9.0], [0.0]]), [[r, r / 2], [r / 2, 0], [r, r], [0, 0]]
    )
    assert phi.error_bound_ == 0.5


@pytest.mark.parametrize("count", [1, 2, 5, 50])
@pytest.mark.parametrize(
    "kernel", [Intersection(), NormalizedIntersection(), 3 * Intersection()], ids=repr
)
def test_products_are_too_small_by_at_most_the_bound(kernel, count):
    phi = AdditiveMap(kernel, count).fit(COUNTS)
    F = phi.transform(COUNTS)
    for points in (COUNTS, OTHERS):
        left = kernel.formula(COUNTS, points) - F @ phi.transform(points).T
        assert left.min() > -1e-12
        assert left.max() <= phi.error_bound_ * (1 + 1e-12)


@pytest.mark.parametrize("kernel", [Intersection(), NormalizedIntersection()], ids=repr)
def test_the_bound_is_reached_in_the_middle_of_the_steps(kernel):
    phi = AdditiveMap(kernel, 3).fit([[1.0], [8.0]])
    low, high = phi.knots_[0, -2:]
    middle = [[(low + high) / 2]] if kernel == Intersection() else [[sqrt(low * high)]]
    f = phi.transform(middle)
    assert np.isclose(kernel.formula(middle) - f @ f.T, phi.error_bound_)


def test_a_knot_between_two_numbers_makes_it_exact():
    phi = AdditiveMap(Intersection(), 4).fit([[8.0]])  # knots 0, 2, 4, 6, 8
    f = phi.transform([[1.5], [3.0], [5.5], [8.0]])
    products = f @ f.T
    for i, j in ((0, 1), (0, 2), (1, 2), (2, 3), (0, 3)):
        assert np.isclose(products[i, j], [1.5, 3.0, 5.5][i])


def test_sparse_counts_and_empty_columns():
    rows = COUNTS * (random.random(size=COUNTS.shape) < 0.3)
    rows[:, 2] = 0.0
    for kernel in (Intersection(), NormalizedIntersection()):
        phi = AdditiveMap(kernel, 5).fit(scipy.sparse.csr_array(rows))
        found = phi.transform(scipy.sparse.csr_array(rows))
        assert scipy.sparse.issparse(found)
        assert found.nnz <= 5 * np.count_nonzero(rows)
        assert np.allclose(found.toarray(), AdditiveMap(kernel, 5).fit(rows).transform(rows))
        assert np.isfinite(phi.transform(OTHERS)).all()


def test_kernels_and_counts_that_cannot_be():
    told = r"AdditiveMap: the kernel must be Intersection\(\) or Norm.*got Chi2\(\)\. Nystrom\(ker"
    with pytest.raises(KernelError, match=told):
        AdditiveMap(Chi2()).fit(COUNTS)
    with pytest.raises(InputError, match=r"X must have no negative entries; got -1"):
        AdditiveMap().fit([[-1.0]])
    phi = AdditiveMap().fit(COUNTS)
    for new in (-COUNTS, scipy.sparse.csr_array(-COUNTS)):
        with pytest.raises(InputError, match="no negative entries"):
            phi.transform(new)
    with pytest.raises(InputError, match="n_components must be a whole number at least 1; got 0"):
        AdditiveMap(n_components=0).fit(COUNTS)
