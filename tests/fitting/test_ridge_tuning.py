"""The criterion of a ridge model as a function of parameters: its gradient, of all of K or few."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.fitting.ridge.tuning import Coordinate, RidgeObjective
from mercer.inputs import Matrix
from mercer.kernels import (
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
)
from mercer.solvers import RidgeProblem
from mercer.solvers.ridge.criteria import Evidence, LeaveOneOut, LogisticLoss, SquaredError

random = np.random.default_rng(4)
N = 60
X = random.normal(size=(N, 3))
y = np.sin(2 * X[:, 0]) + np.cos(X[:, 2]) + 0.05 * random.normal(size=N)
NUMBERS = np.column_stack([y, X[:, 1] ** 2])
SIGNS = np.where(y > 0, 1.0, -1.0)[:, None]
CENTRES = np.arange(0, N, 4)
CASES = [
    (Gaussian((0.5, 0.2, 0.1)), ["gamma"]),
    (Matern(2.5, (1.0, 2.0, 0.7)), ["length_scale"]),
    (
        2.0 * Gaussian((0.3, 0.1, 0.2)) + 0.5 * RationalQuadratic(0.7, 1.5) + Linear(),
        ["k1__gamma", "k1__coef", "k2__alpha", "k2__length_scale", "k3__coef"],
    ),
    (Periodic((2.0, 3.0, 5.0), 1.0), ["period", "length_scale"]),
    (Polynomial(2, 0.5, 0.7).normalized(), ["gamma", "coef0"]),
    (Laplacian((0.5, 0.2, 0.1)), ["gamma"]),
]
CRITERIA = {
    "squared": (LeaveOneOut(SquaredError()), NUMBERS),
    "logistic": (LeaveOneOut(LogisticLoss()), SIGNS),
    "evidence": (Evidence(), NUMBERS),
}


def objective(kernel, names, criterion="squared", intercept=True, **changes):
    judge, targets = CRITERIA[criterion]
    known = kernel.get_params()
    sizes = {name: np.size(known[name]) for name in names if isinstance(known[name], tuple)}
    made = RidgeObjective(
        points=Matrix(X),
        rows=np.arange(N),
        problem=RidgeProblem(targets=targets, alpha=np.ones(targets.shape[1]), intercept=intercept),
        kernel=kernel,
        coordinates=(
            Coordinate(name="alpha", low=1e-6, high=1e3),
            *(
                Coordinate(name=f"kernel__{name}", low=1e-6, high=1e3, size=sizes.get(name))
                for name in names
            ),
        ),
        criterion=judge,
    )
    place = np.concatenate([[0.3], *(np.atleast_1d(known[name]) for name in names)])
    return replace(made, **changes), np.log(place)


def differences(objective, place, step=1e-3):
    """The gradient from four values along each coordinate, exact to the fourth order."""

    def value(move):
        return objective.at(place + move, slope=False)[0]

    return np.array(
        [
            (8 * (value(e) - value(-e)) - (value(2 * e) - value(-2 * e))) / (12 * step)
            for e in step * np.eye(len(place))
        ]
    )


@pytest.mark.parametrize("centres", [None, CENTRES], ids=["whole", "few centres"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("kernel", "names"), CASES, ids=repr)
def test_the_gradient_is_that_of_differences(kernel, names, criterion, intercept, centres):
    made, place = objective(kernel, names, criterion, intercept, centres=centres)
    gradient = made.at(place)[1]
    wanted = differences(made, place)
    assert np.abs(gradient).max() > 1e-4
    assert np.abs(gradient - wanted).max() <= 1e-6 * np.abs(wanted).max()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("kernel", "names"), CASES, ids=repr)
def test_with_all_points_as_centres_nothing_is_lost(kernel, names, criterion, intercept):
    made, place = objective(kernel, names, criterion, intercept)
    value, gradient, left_out = made.at(place)
    again = replace(made, centres=np.arange(N)).at(place)
    assert again[0] == pytest.approx(value, rel=1e-7)
    assert np.abs(again[1] - gradient).max() <= 1e-6 * np.abs(gradient).max()
    assert np.allclose(again[2], left_out, rtol=0, atol=1e-6)


def test_single_precision_points_are_taken_in_double():
    kernel, names = CASES[0]
    for centres in (None, CENTRES):
        single, place = objective(
            kernel, names, points=Matrix(X.astype(np.float32)), centres=centres
        )
        double = replace(single, points=Matrix(X.astype(np.float32).astype(np.float64)))
        for a, b in zip(single.at(place), double.at(place), strict=True):
            assert np.allclose(a, b, rtol=1e-10, atol=1e-12)


def test_parts_have_their_weights():
    weight = random.uniform(0.5, 2.0, N)
    made, place = objective(*CASES[0], centres=CENTRES)
    weighted = replace(made, problem=replace(made.problem, weight=weight, copies=np.ones(N)))
    part = weighted.take(np.arange(10, 40))
    assert part.centres is None
    assert np.array_equal(part.rows, np.arange(10, 40))
    assert np.array_equal(part.problem.weight, weight[10:40])
    gradient, wanted = part.at(place)[1], differences(part, place)
    assert np.abs(gradient - wanted).max() <= 1e-6 * np.abs(wanted).max()


def test_a_kernel_that_fails_is_infinitely_bad():
    for centres in (None, CENTRES):
        made, _ = objective(*CASES[0], centres=centres)
        tiny = replace(made, coordinates=(replace(made.coordinates[0], low=1e-300),))
        value, gradient, _ = tiny.at(np.log([1e-200]))
        assert value == np.inf
        assert not gradient.any()
