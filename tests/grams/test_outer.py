"""Sums of outer products of gradients, against differences and against the definition."""

import numpy as np
import pytest
import scipy.sparse

import mercer.grams.slopes.points as points_module
from mercer import InputError, KernelError, prepare
from mercer.grams.sides import Side, View
from mercer.grams.slopes.outer import gradient_outer_product
from mercer.inputs import Matrix, Objects
from mercer.kernels import (
    Chi2,
    Exponential,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    LpNorm,
    Matern,
    Polynomial,
    RationalQuadratic,
    SumPower,
)
from mercer.monitor import Monitor, Stopped

random = np.random.default_rng(5)
Z = random.normal(size=(23, 4))
X = random.normal(size=(9, 4))
C = random.normal(size=(23, 3))
HALF = random.normal(size=(4, 4))
FULL = HALF @ HALF.T
WEIGHTS = [1.0, 0.0, 0.3, 2.0]

KERNELS = [
    Gaussian(0.3),
    Laplacian(0.4),
    Laplacian((0.4, 0.0, 0.1, 1.0)),
    Matern(0.5, 1.3),
    Matern(1.5, 1.3),
    RationalQuadratic(0.5),
    Exponential((1.0, 2.0, 0.5, 3.0)),
    LpNorm(1.5, 1.5, 1.3),
    LpNorm(1.5, 1.0, (1.0, 2.0, 0.5, 3.0)),
    LpNorm(1.0, 0.7).metric(FULL),
    SumPower(1.0, 2, 0.1, 1.5),
    SumPower(1.4, 3).metric(FULL),
    Polynomial(2),
    Linear(),
    Gaussian(0.3) + 0.5 * Laplacian(0.1),
    Gaussian(0.3) * Laplacian(0.1),
    Laplacian(0.4).metric(WEIGHTS),
    Laplacian(0.4).metric(FULL),
    Matern(0.5).metric(FULL),
    Gaussian(0.3).metric(FULL).metric(WEIGHTS),
    Gaussian(0.3).metric(WEIGHTS) + Linear(),
    Laplacian(0.5).on([2, 0]),
]


def view(points=Z):
    return View(Side(Matrix(points)))


def by_differences(kernel, points=X, others=Z, coefficients=C, step=1e-5):
    """The gradients of all functions, of shape (points, columns, functions)."""
    found = np.empty((*points.shape, coefficients.shape[1]))
    for c in range(points.shape[1]):
        move = np.zeros(points.shape[1])
        move[c] = step
        above = kernel.formula(points + move, others) @ coefficients
        below = kernel.formula(points - move, others) @ coefficients
        found[:, c] = (above - below) / (2 * step)
    return found


def summed(gradients, weights):
    """sum_i w_i sum_f g g', one by one."""
    total = np.zeros((gradients.shape[1], gradients.shape[1]))
    for one, weight in zip(gradients, weights, strict=True):
        for g in one.T:
            total += weight * np.outer(g, g)
    return total


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_it_is_the_sum_of_outer_products(kernel):
    weights = random.random(len(X))
    wanted = summed(by_differences(kernel), weights)
    found = gradient_outer_product(kernel, view(), C, Matrix(X), weights=weights)
    size = np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted, atol=1e-7 * size)
    assert np.array_equal(found, found.T)
    only = gradient_outer_product(kernel, view(), C, Matrix(X), weights=weights, diagonal=True)
    np.testing.assert_allclose(only, np.diag(found), atol=1e-12 * size)
    single = gradient_outer_product(kernel, view(), C, Matrix(X), weights=weights, dtype=np.float32)
    np.testing.assert_allclose(single, found, atol=1e-4 * size)


def test_one_function_and_no_weights():
    found = gradient_outer_product(Laplacian(0.4), view(), C[:, 0], Matrix(X))
    wanted = summed(by_differences(Laplacian(0.4), coefficients=C[:, :1]), np.ones(len(X)))
    np.testing.assert_allclose(found, wanted, atol=1e-7 * np.abs(wanted).max())


def test_by_hand():
    """f(x) = 2 exp(-|x_0| - |x_1|) has the gradient -f (sign x_0, sign x_1)."""
    found = gradient_outer_product(
        Laplacian(1.0), view(np.zeros((1, 2))), np.array([2.0]), Matrix([[1.0, -2.0]])
    )
    square = 4 * np.exp(-6.0)
    np.testing.assert_allclose(found, square * np.array([[1.0, -1.0], [-1.0, 1.0]]), rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "kernel",
    [
        Laplacian(0.4),
        Laplacian(0.4).metric(FULL),
        Matern(0.5),
        Exponential().metric(WEIGHTS),
        LpNorm(1.5, 1.0),
        LpNorm(1.5, 1.5).metric(FULL),
        LpNorm(0.7, 0.5),
        SumPower(),
        SumPower(0.6, 2, 0.1, 1.5),
    ],
    ids=repr,
)
def test_a_point_is_no_direction_of_itself(kernel, dtype):
    """At a kink the term of the point itself counts 0: the others alone decide."""
    found = gradient_outer_product(kernel, view(), C, Matrix(Z[:5]), dtype=dtype)
    wanted = 0.0
    for i in range(5):
        rest = np.arange(len(Z)) != i
        others = view(Z[rest])
        wanted = wanted + gradient_outer_product(kernel, others, C[rest], Matrix(Z[[i]]))
    assert np.isfinite(found).all()
    rounding = 1e-11 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(found, wanted, atol=rounding * np.abs(wanted).max())


def test_bands_change_nothing(monkeypatch):
    for kernel in (Laplacian(0.4).metric(FULL), Gaussian(0.3), Matern(0.5)):
        whole = gradient_outer_product(kernel, view(), C, Matrix(X))
        with monkeypatch.context() as patch:
            patch.setattr(points_module, "AT_ONCE", 100)
            parts = gradient_outer_product(kernel, view(), C, Matrix(X))
        np.testing.assert_allclose(parts, whole, atol=1e-13 * np.abs(whole).max())


def test_prepared_points_and_sparse_rows():
    kernel = Laplacian(0.4).metric(FULL)
    whole = gradient_outer_product(kernel, view(), C, Matrix(X))
    prepared = prepare(kernel, Z)
    found = gradient_outer_product(prepared.kernel, prepared, C, Matrix(X))
    np.testing.assert_array_equal(found, whole)
    some = view().take(np.arange(3, 15))
    np.testing.assert_allclose(
        gradient_outer_product(kernel, some, C[3:15], Matrix(X)),
        gradient_outer_product(kernel, view(Z[3:15]), C[3:15], Matrix(X)),
        rtol=1e-12,
    )
    rows, others = np.where(X > 0.5, X, 0.0), np.where(Z > 0.5, Z, 0.0)
    for one in (kernel, Gaussian(0.3), Linear(), Chi2(0.5), Laplacian(0.4).metric(WEIGHTS)):
        dense = gradient_outer_product(one, view(others), C, Matrix(rows))
        sparse = [Matrix(scipy.sparse.csr_array(some)) for some in (others, rows)]
        found = gradient_outer_product(one, View(Side(sparse[0])), C, sparse[1])
        np.testing.assert_allclose(found, dense, atol=1e-12 * np.abs(dense).max())


def test_it_stops():
    monitor = Monitor()
    monitor.cancel()
    with pytest.raises(Stopped):
        gradient_outer_product(Laplacian(0.4), view(), C, Matrix(X), monitor=monitor)


def test_nothing_is_zero():
    found = gradient_outer_product(Laplacian(0.4), view(), C, Matrix(X[:0]))
    np.testing.assert_array_equal(found, np.zeros((4, 4)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": Matrix(X[:, :2])}, "points must have 4 columns; got 2"),
        ({"points": Objects(["a"])}, "points must be rows of numbers"),
        ({"coefficients": C[:5]}, "a row for each of the 23 centres"),
        ({"coefficients": C[None]}, "a row for each of the 23 centres"),
        ({"weights": np.ones(3)}, "weights must be 9 numbers at least 0"),
        ({"weights": -np.ones(9)}, "weights must be 9 numbers at least 0"),
        ({"weights": np.full(9, np.nan)}, "weights must be 9 numbers at least 0"),
    ],
)
def test_bad_input(changes, message):
    given = {"coefficients": C, "points": Matrix(X)} | changes
    weights = given.pop("weights", None)
    with pytest.raises(InputError, match=message):
        gradient_outer_product(
            Laplacian(0.4), view(), given["coefficients"], given["points"], weights=weights
        )


def test_a_kernel_that_jumps_is_refused():
    with pytest.raises(KernelError, match="every part must have a derivative"):
        gradient_outer_product(Intersection(), view(np.abs(Z)), C, Matrix(np.abs(X)))
