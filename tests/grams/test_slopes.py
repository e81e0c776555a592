"""Derivatives of kernels by points and by parameters, against central differences."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import samples
import scipy.sparse

from mercer import KernelError, gram
from mercer.grams.sides import Side, View
from mercer.grams.slopes import parameters
from mercer.grams.slopes.parameters import ParameterSlopes
from mercer.grams.slopes.points import PointSlopes
from mercer.grams.slopes.written import Slopes
from mercer.inputs import Matrix
from mercer.kernels import (
    ABSOLUTE,
    ROWS,
    SQUARED,
    Categorical,
    Chi2,
    Constant,
    ExpDot,
    Exponential,
    Gaussian,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    LpNorm,
    Matern,
    NormalizedIntersection,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Spectrum,
    SumPower,
)
from mercer.monitor import Monitor, Stopped

random = np.random.default_rng(3)
X = random.normal(size=(7, 3))
Z = random.normal(size=(9, 3))
C = random.normal(size=(9, 2))


@dataclass(frozen=True, repr=False)
class Cauchy(Kernel):
    """A kernel of a user: no more than its profile."""

    domain = ROWS
    gamma: float = 1.0

    def profile(self, pairs):
        return 1.0 / (1.0 + pairs.sum(SQUARED, self.gamma))


class Tilt:
    """A function of points that knows its gradient."""

    def __call__(self, rows):
        return 1.0 + rows[:, 0] ** 2

    def gradient(self, rows):
        found = np.zeros(rows.shape)
        found[:, 0] = 2.0 * rows[:, 0]
        return found


def first_column(rows):
    return rows[:, 0]


class Squares:
    """A map of points that knows the chain rule."""

    def __call__(self, rows):
        return rows**2

    def pullback(self, rows, slopes):
        return 2.0 * rows * slopes


KERNELS = [
    Linear(),
    Polynomial(2),
    Polynomial(3, 0.5, 0.0),
    Polynomial(1, 2.0, 1.0),
    ExpDot(0.5),
    Sigmoid(0.5, -0.3),
    Gaussian(0.7),
    Gaussian((1.0, 0.0, 2.0)),
    Laplacian(0.6),
    Laplacian((1.0, 0.0, 2.0)),
    Matern(0.5, 1.3),
    Matern(1.5, 0.8),
    Matern(2.5, (1.0, 2.0, 0.5)),
    Matern(0.8, 1.1),
    Matern(3.0, 1.1),
    Exponential(1.3),
    Exponential((1.0, 2.0, 0.5)),
    LpNorm(1.0, 0.6, 1.3),
    LpNorm(1.5, 1.5, (1.0, 2.0, 0.5)),
    LpNorm(1.5, 1.2, 1.3),
    LpNorm(2.0, 1.3, 1.3),
    SumPower(),
    SumPower(1.0, 3, 0.2, 1.7),
    SumPower(1.6, 2, 0.1, (1.0, 2.0, 0.5)),
    SumPower(2.0, 1),
    RationalQuadratic(),
    RationalQuadratic(0.3, 1.7),
    RationalQuadratic(2.0, (1.0, 2.0, 0.5)),
    Periodic(2.0, 1.5),
    Periodic((1.0, 2.0, 0.5), 2.0),
    Constant(2.0),
    Cauchy(0.4),
    Gaussian(0.5) + Linear(),
    2.0 * Gaussian(0.5) + 0.3 * Polynomial(2) + 1.5,
    Gaussian(0.5) * Polynomial(2),
    Gaussian((0.3, 0.1, 0.2)) * Laplacian(0.4) * Linear(),
    (Gaussian(0.5) + 1) ** 3,
    (0.2 * Linear()).exp(),
    (Gaussian(0.4) + 0.1 * Linear()).exp(),
    Polynomial(2).normalized(),
    Linear().normalized(),
    (Gaussian(0.3) + Linear()).normalized(),
    (Linear() + 1).normalized().normalized(),
    (Polynomial(2).normalized() + Gaussian(0.2)) * Linear(),
    Gaussian(0.5).on([0, 2]),
    Gaussian(0.5).on([0]) * Linear().on([1, 2]) + Laplacian(0.3).on(2),
    (Gaussian(0.5).on([1]) + Linear()).normalized().on([2, 0, 1]),
    Polynomial(2).on([0, 1]).normalized(),
    Gaussian(0.5).rescaled(Tilt()),
    Linear().rescaled(Tilt()).normalized(),
    Gaussian(0.5).of(Squares()),
    Laplacian(0.5).metric([1.0, 0.0, 0.3]),
    (Laplacian(0.5) + Linear()).metric([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]]),
    (Gaussian(0.5) + Linear()).of(Squares()).on([1, 2]) + Periodic(3.0).on([0]),
    Gaussian(0.1) + Gaussian(1.0) + Matern(0.5) + Matern(1.5) + RationalQuadratic(),
]


def by_points(kernel, points, others=Z, coefficients=C):
    return PointSlopes(kernel, View(Side(Matrix(others))), coefficients).at(
        Matrix(points), Monitor()
    )


def central(f, x, step=1e-5):
    return (f(x + step) - f(x - step)) / (2 * step)


def by_differences(kernel, points, others=Z, coefficients=C):
    found = np.empty((*points.shape, coefficients.shape[1]))
    for c in range(points.shape[1]):
        move = np.zeros(points.shape[1])
        move[c] = 1.0

        def f(t, move=move):
            return kernel.formula(points + t * move, others) @ coefficients

        found[:, c] = central(f, 0.0)
    return found


def close(found, wanted, rtol=1e-6):
    assert np.abs(found - wanted).max() <= rtol * max(np.abs(wanted).max(), 1e-3)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_gradient_by_points_is_that_of_differences(kernel):
    close(by_points(kernel, X), by_differences(kernel, X))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_native_and_numpy_derivatives_agree(kernel, monkeypatch):
    native = by_points(kernel, X)
    monkeypatch.setattr(Slopes, "_made", lambda self, view: None)
    close(by_points(kernel, X), native, 1e-11)


def test_gradient_of_histograms_by_chi2():
    counts = 0.1 + samples.histograms()
    weights = np.ones((len(counts), 1))
    points = counts + 0.05 * random.random(counts.shape)
    close(
        by_points(Chi2(0.3), points, counts, weights),
        by_differences(Chi2(0.3), points, counts, weights),
    )


@pytest.mark.parametrize(
    "kernel", [LpNorm(0.7, 0.5, 1.3), LpNorm(1.0, 0.5), SumPower(0.7, 2, 0.1, 2.0)], ids=repr
)
def test_gradients_of_powers_below_1(kernel):
    """Of columns that lie apart: where they meet, these kernels are too steep for differences."""
    points, others = np.round(X) + 0.25, np.round(Z) - 0.25
    close(by_points(kernel, points, others), by_differences(kernel, points, others))


@pytest.mark.parametrize(("kernel", "name"), [(LpNorm(1.5), "p"), (LpNorm(1.5), "q")])
def test_exponents_have_no_derivative(kernel, name):
    with pytest.raises(KernelError, match="its derivative by the parameters asked for must be"):
        ParameterSlopes(kernel, [name], Matrix(X))
    for scale in (2.0, (1.0, 2.0, 3.0)):
        with pytest.raises(KernelError, match="its derivative by the parameters asked for must be"):
            ParameterSlopes(SumPower(length_scale=scale), ["length_scale"], Matrix(X))


@pytest.mark.parametrize(
    "kernel",
    [
        Exponential(),
        LpNorm(1.0, 0.5),
        LpNorm(1.5, 1.0),
        LpNorm(0.5, 0.3),
        SumPower(0.5),
        Matern(0.5),
        Matern(0.3),
        Matern(1.5),
        Matern(0.8),
        Laplacian(0.5),
        Gaussian(1.0),
    ],
    ids=repr,
)
def test_a_point_itself_adds_nothing(kernel):
    others = np.vstack([X[2], Z])
    with_it = np.vstack([np.ones(2), C])
    found = by_points(kernel, X[2:3], others, with_it)
    assert np.array_equal(found, by_points(kernel, X[2:3], others, with_it))
    close(found, by_points(kernel, X[2:3]), 1e-10)


def test_an_offset_of_the_points_costs_few_digits():
    for kernel in (Gaussian(0.7), Matern(2.5), Laplacian(0.5)):
        close(by_points(kernel, X + 1000.0, Z + 1000.0), by_points(kernel, X), 1e-9)


def test_single_precision_points_are_taken_in_double():
    points, others = X.astype(np.float32), Z.astype(np.float32)
    for kernel in (Gaussian(0.7), Matern(0.5), Polynomial(2).normalized(), Laplacian(1.0)):
        close(
            by_points(kernel, points, others), by_differences(kernel, points.astype(float), others)
        )


def test_sparse_points():
    dense = samples.counts(40, 30)
    many = scipy.sparse.csr_array(dense)
    weights = random.normal(size=(40, 1))
    for kernel in (Gaussian(0.1), Linear() + 1, Laplacian(0.2), Polynomial(2).normalized()):
        wanted = by_points(kernel, dense + 0.0, dense, weights)
        close(by_points(kernel, many, many, weights), wanted, 1e-10)


def test_bands_of_rows_change_nothing(monkeypatch):
    import mercer.grams.slopes.points as module

    whole = by_points(KERNELS[25], X)
    monkeypatch.setattr(module, "AT_ONCE", 40)
    close(by_points(KERNELS[25], X), whole, 1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_mixed_functions_have_the_mixed_gradient(kernel):
    shares = np.random.default_rng(3).normal(size=(len(X), C.shape[1]))
    slopes = PointSlopes(kernel, View(Side(Matrix(Z))), C)
    wanted = np.einsum("idc,ic->id", by_points(kernel, X), shares)
    close(slopes.mixed(Matrix(X), shares, Monitor()), wanted, 1e-12)


def test_single_precision_is_near():
    slopes = PointSlopes(Gaussian(0.5), View(Side(Matrix(Z))), C, np.float32)
    found = slopes.at(Matrix(X.astype(np.float32)), Monitor())
    close(found, by_points(Gaussian(0.5), X), 1e-5)


def test_many_outputs_and_a_stop():
    slopes = PointSlopes(Gaussian(1.0), View(Side(Matrix(Z))), C)
    assert slopes.at(Matrix(X[:0]), Monitor()).shape == (0, 3, 2)
    watch = Monitor()
    watch.cancel()
    with pytest.raises(Stopped):
        slopes.at(Matrix(X), watch)


@dataclass(frozen=True, repr=False)
class Kinked(Kernel):
    """A kernel of a user with a kink."""

    domain = ROWS

    def profile(self, pairs):
        return np.maximum(1.0 - pairs.sum(ABSOLUTE), 0.0)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Intersection(), "Intersection.*kinks"),
        (Gaussian(1.0) + NormalizedIntersection(), "kinks"),
        (Categorical(1.0), "mismatch count"),
        (Gaussian(1.0).of(np.sqrt), "pullback"),
        (Gaussian(1.0).rescaled(first_column), "gradient"),
        (Kinked(), "at least has no derivative"),
    ],
    ids=repr,
)
def test_what_has_no_gradient_is_named(kernel, message):
    with pytest.raises(KernelError, match=message):
        by_points(kernel, np.abs(X), np.abs(Z))


# --- by parameters -----------------------------------------------------------------------------


def number_of(value):
    return np.atleast_1d(np.asarray(value, dtype=float))


def by_parameters(kernel, names, points, G, others=None):
    """<G, dK/dp> of K(points, points), or of K(points, others)."""
    found = ParameterSlopes(kernel, names, Matrix(points))
    right = View(Side(Matrix(points if others is None else others)))
    left = right if others is None else View(Side(Matrix(points), right.side))
    return found.products(left, right, G, Monitor())


def parameter_differences(kernel, name, points, G, others=None):
    value = kernel.get_params()[name]
    found = []
    for place in range(len(number_of(value))):

        def f(t, place=place):
            moved = number_of(value).copy()
            moved[place] += t
            new = tuple(moved) if isinstance(value, tuple) else float(moved[0])
            changed = kernel.replace(**{name: new})
            return float(np.vdot(G, changed.formula(points, others)))

        found.append(central(f, 0.0))
    return np.array(found)


PARAMETERS = [
    (Gaussian(0.7), ["gamma"]),
    (Gaussian((1.0, 0.4, 2.0)), ["gamma"]),
    (Laplacian(0.6), ["gamma"]),
    (Laplacian((1.0, 0.4, 2.0)), ["gamma"]),
    (Matern(0.5, 1.3), ["length_scale"]),
    (Matern(1.5, (1.0, 2.0, 0.5)), ["length_scale"]),
    (Matern(0.8, 1.1), ["length_scale"]),
    (Matern(3.0, (1.0, 2.0, 0.5)), ["length_scale"]),
    (Exponential(1.3), ["length_scale"]),
    (Exponential((1.0, 2.0, 0.5)), ["length_scale"]),
    (LpNorm(1.0, 1.0, 1.3), ["length_scale"]),
    (LpNorm(1.5, 1.2, 1.3), ["length_scale"]),
    (LpNorm(1.5, 1.0, (1.0, 2.0, 0.5)), ["length_scale"]),
    (LpNorm(2.0, 1.3, (1.0, 2.0, 0.5)), ["length_scale"]),
    (SumPower(1.3, 3, 0.2), ["constant"]),
    (Laplacian(0.6).metric([1.0, 0.3, 2.0]), ["gamma"]),
    (Gaussian((1.0, 0.4, 2.0)).metric(np.ones((3, 3)) + np.eye(3)), ["gamma"]),
    (RationalQuadratic(0.3, 1.7), ["alpha", "length_scale"]),
    (RationalQuadratic(2.0, (1.0, 2.0, 0.5)), ["alpha", "length_scale"]),
    (Periodic(2.0, 1.5), ["length_scale", "period"]),
    (Periodic((1.0, 2.0, 0.5), 2.0), ["period"]),
    (Polynomial(3, 0.5, 0.7), ["gamma", "coef0"]),
    (ExpDot(0.5), ["gamma"]),
    (Sigmoid(0.5, -0.3), ["gamma", "coef0"]),
    (Constant(2.0) * Linear(), ["k1__c"]),
    (Cauchy(0.4), ["gamma"]),
    (Gaussian(0.5) + Linear(), ["k1__gamma", "k1__coef", "k2__coef"]),
    (
        2.0 * Gaussian(0.5) + 0.3 * Polynomial(2) + 1.5,
        ["k1__gamma", "k1__coef", "k2__coef", "k2__coef0", "k3__c"],
    ),
    (Gaussian((0.3, 0.1, 0.2)) * RationalQuadratic(0.5), ["k1__gamma", "k2__alpha", "k1__coef"]),
    (Gaussian((0.3, 0.1, 0.2)) + Gaussian((0.3, 0.1, 0.2)) * 2, ["k1__gamma", "k2__gamma"]),
    ((Gaussian(0.5) + 1) ** 3, ["k1__gamma"]),
    ((0.2 * Linear()).exp(), ["coef"]),
    (Polynomial(2, 0.5, 0.3).normalized(), ["gamma", "coef0"]),
    ((Gaussian((0.3, 0.1, 0.2)) + Linear()).normalized(), ["k1__gamma", "k2__coef"]),
    ((Polynomial(2, 0.5).normalized() + 1).normalized() * Gaussian(1.0), ["k1__k1__gamma"]),
    (Gaussian((0.5, 0.2)).on([0, 2]) + Laplacian(0.3).on([1]), ["k1__gamma", "k2__gamma"]),
    (Gaussian((0.5, 0.2, 1.0)).of(Squares()), ["gamma"]),
    (Gaussian(0.5).rescaled(Tilt()), ["gamma"]),
]


@pytest.mark.parametrize(("kernel", "names"), PARAMETERS, ids=repr)
def test_derivatives_by_parameters_are_those_of_differences(kernel, names, monkeypatch):
    root = random.normal(size=(len(X), len(X)))
    G = root + root.T
    found = by_parameters(kernel, names, X, G)
    for name in names:
        close(number_of(found[name]), parameter_differences(kernel, name, X, G), 2e-6)
    monkeypatch.setattr(Slopes, "_made", lambda self, view: None)
    again = by_parameters(kernel, names, X, G)
    for name in names:
        close(number_of(again[name]), number_of(found[name]), 1e-10)


@pytest.mark.parametrize(("kernel", "names"), PARAMETERS, ids=repr)
def test_derivatives_of_a_matrix_between_different_points(kernel, names, monkeypatch):
    G = random.normal(size=(len(X), len(Z)))
    found = by_parameters(kernel, names, X, G, Z)
    for name in names:
        close(number_of(found[name]), parameter_differences(kernel, name, X, G, Z), 2e-6)
    monkeypatch.setattr(parameters, "AT_ONCE", 60)  # bands of a few rows
    monkeypatch.setattr(parameters, "IN_CACHE", 20)
    again = by_parameters(kernel, names, X, G, Z)
    for name in names:
        close(number_of(again[name]), number_of(found[name]), 1e-10)


def test_an_offset_of_different_points_costs_few_digits():
    G = random.normal(size=(len(X), len(Z)))
    kernel = Gaussian((1.0, 0.4, 2.0))
    near = by_parameters(kernel, ["gamma"], X, G, Z)["gamma"]
    close(by_parameters(kernel, ["gamma"], X + 1000.0, G, Z + 1000.0)["gamma"], near, 1e-9)


def test_a_matrix_between_sparse_points():
    dense = samples.counts(12, 8)
    G = random.normal(size=(12, 5))
    for kernel in (Gaussian((0.1,) * 8), Laplacian((0.2,) * 8), Polynomial(2, 0.1).normalized()):
        wanted = by_parameters(kernel, ["gamma"], dense, G, dense[:5])
        many = scipy.sparse.csr_array(dense)
        found = by_parameters(kernel, ["gamma"], many, G, many[:5])
        close(number_of(found["gamma"]), number_of(wanted["gamma"]), 1e-10)


def test_categories_have_a_weight_per_column():
    levels = samples.levels()
    G = np.ones((len(levels), len(levels)))
    kernel = Categorical((1.0, 0.5, 2.0))
    found = by_parameters(kernel, ["gamma"], levels, G)["gamma"]
    close(found, parameter_differences(kernel, "gamma", levels, G), 2e-6)


def test_kernels_of_objects_beside_those_of_numbers():
    import pandas

    from mercer.inputs import as_input

    frame = pandas.DataFrame(samples.frame_columns())
    kernel = Spectrum(2).on("dna") * Gaussian((0.1, 0.2)).on(["age", "dose"])
    points = as_input(frame, kernel.domain, "test")
    G = np.ones((len(frame), len(frame)))
    slopes = ParameterSlopes(kernel, ["k2__gamma", "k1__coef"], points)
    view = View(Side(points))
    found = slopes.products(view, view, G, Monitor())
    assert found["k1__coef"] == pytest.approx(float(np.asarray(gram(kernel, frame)).sum()))
    for place in range(2):

        def f(t, place=place):
            gamma = [0.1, 0.2]
            gamma[place] += t
            return float(np.asarray(gram(kernel.replace(k2__gamma=tuple(gamma)), frame)).sum())

        assert found["k2__gamma"][place] == pytest.approx(central(f, 0.0, 1e-6), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("kernel", "name", "message"),
    [
        (Gaussian(1.0), "gama", "gamma"),
        (Polynomial(2), "degree", "real number"),
        (Matern(1.5), "nu", "derivative by the parameters"),
        (Matern(0.8), "nu", "derivative by the parameters"),
        (Gaussian(1.0) + Linear(), "k1", "real number"),
    ],
)
def test_what_is_no_parameter_to_differentiate_by(kernel, name, message):
    with pytest.raises(KernelError, match=message):
        by_parameters(kernel, [name], X, np.eye(len(X)))


def test_words_are_settled_first():
    with pytest.raises(KernelError, match="resolve"):
        by_parameters(Gaussian(), ["gamma"], X, np.eye(len(X)))


def test_no_warning_is_left_by_a_root_of_zero():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = by_parameters(Matern(0.8), ["length_scale"], X[[0, 0, 1]], np.ones((3, 3)))
    assert np.isfinite(found["length_scale"])
