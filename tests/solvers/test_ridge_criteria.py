"""Leave-one-out errors and evidence in closed form: against refits, and their derivatives."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mercer import KernelRidge
from mercer.kernels import Gaussian
from mercer.linalg.cholesky import NotPositiveDefinite
from mercer.monitor import Monitor
from mercer.solvers import RidgeProblem
from mercer.solvers.ridge.criteria import Evidence, LeaveOneOut, LogisticLoss, SquaredError
from mercer.solvers.ridge.inverses import WholeInverse

random = np.random.default_rng(1)
X = random.normal(size=(25, 2))
K = Gaussian(0.8).formula(X)
NUMBERS = np.column_stack([np.sin(X[:, 0]) + 1.0, X[:, 1] ** 2])
SIGNS = np.where(X[:, :1] + 0.3 * random.normal(size=(25, 1)) > 0, 1.0, -1.0)
CRITERIA = [
    (LeaveOneOut(SquaredError()), NUMBERS),
    (LeaveOneOut(LogisticLoss()), SIGNS),
    (Evidence(), NUMBERS),
]


WEIGHTS = [
    (None, None),  # weight of each point, and how many samples it stands for
    (random.integers(1, 4, 25).astype(float), None),
    (random.uniform(0.2, 3.0, 25), np.ones(25)),
    (random.uniform(0.2, 3.0, 25), random.integers(1, 4, 25).astype(float)),
]


def judge(criterion, matrix, targets, intercept, alpha=0.3, slope=True, weights=(None, None)):
    problem = RidgeProblem(
        targets=targets,
        alpha=np.full(targets.shape[1], alpha),
        weight=weights[0],
        intercept=intercept,
        copies=weights[1],
    )
    inverse = WholeInverse(matrix.copy(), problem, Monitor())
    return criterion.judge(inverse, problem, slope)


@pytest.mark.parametrize("intercept", [False, True])
def test_values_left_out_are_those_of_refits(intercept):
    found = judge(LeaveOneOut(SquaredError()), K, NUMBERS, intercept)
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        model = KernelRidge(0.3, kernel=Gaussian(0.8), fit_intercept=intercept)
        model.fit(X[rest], NUMBERS[rest])
        assert model.predict(X[i : i + 1])[0] == pytest.approx(found.left_out[i], abs=1e-9)
    assert found.value == pytest.approx(np.mean((NUMBERS - found.left_out) ** 2))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("weight", "copies"), WEIGHTS[1:])
def test_values_left_out_of_weighted_points_are_those_of_refits(weight, copies, intercept):
    criterion = LeaveOneOut(SquaredError())
    found = judge(criterion, K, NUMBERS, intercept, weights=(weight, copies))
    samples = weight if copies is None else copies
    for i in range(len(X)):
        left = weight.copy()
        left[i] *= 1 - 1 / samples[i]  # one of its samples is gone
        model = KernelRidge(0.3, kernel=Gaussian(0.8), fit_intercept=intercept)
        model.fit(X, NUMBERS, sample_weight=left)
        assert model.predict(X[i : i + 1])[0] == pytest.approx(found.left_out[i], abs=1e-9)
    squares = (NUMBERS - found.left_out) ** 2
    assert found.value == pytest.approx(np.average(squares.mean(axis=1), weights=weight))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("criterion", "targets"), CRITERIA[:2], ids=["squared", "logistic"])
def test_weights_are_repeated_points(criterion, targets, intercept):
    weight = WEIGHTS[1][0]
    rows = np.repeat(np.arange(len(X)), weight.astype(int))
    weighted = judge(criterion, K, targets, intercept, weights=(weight, None))
    repeated = judge(criterion, K[np.ix_(rows, rows)], targets[rows], intercept)
    assert weighted.value == pytest.approx(repeated.value, rel=1e-9)
    assert weighted.by_alpha == pytest.approx(repeated.by_alpha, rel=1e-7)
    assert np.allclose(weighted.left_out[rows], repeated.left_out)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS, ids=["none", "samples", "classes", "both"])
@pytest.mark.parametrize(("criterion", "targets"), CRITERIA, ids=lambda c: type(c).__name__)
def test_the_derivative_by_every_entry_of_the_kernel_matrix(criterion, targets, weights, intercept):
    def value(matrix, alpha=0.3):
        return judge(criterion, matrix, targets, intercept, alpha, weights=weights).value

    found = judge(criterion, K, targets, intercept, weights=weights)
    (G,) = found.by_kernel
    assert np.allclose(G, G.T, rtol=0, atol=1e-15)
    for _ in range(5):
        move = random.normal(size=K.shape)
        move = move + move.T
        wanted = (value(K + 1e-6 * move) - value(K - 1e-6 * move)) / 2e-6
        assert np.vdot(G, move) == pytest.approx(wanted, rel=1e-5, abs=1e-8)
    wanted = (value(K, 0.3 + 1e-6) - value(K, 0.3 - 1e-6)) / 2e-6
    assert found.by_alpha == pytest.approx(wanted, rel=1e-5, abs=1e-8)


def test_without_a_derivative_the_value_is_the_same():
    for criterion, targets in CRITERIA:
        whole, value = (judge(criterion, K, targets, True, slope=slope) for slope in (True, False))
        assert value.by_kernel is None
        assert value.value == whole.value


def best_likelihood(A, y):
    """The largest log-likelihood of y with covariance s A, over many scales s."""
    scales = np.geomspace(1e-3, 1e3, 4001)
    constant = len(y) * np.log(2 * np.pi) + np.linalg.slogdet(A)[1]
    found = -(constant + len(y) * np.log(scales) + y @ np.linalg.solve(A, y) / scales) / 2
    assert found[7] == pytest.approx(multivariate_normal(cov=scales[7] * A).logpdf(y))
    return found.max()


def test_evidence_is_the_likelihood_at_its_best_scale():
    found = judge(Evidence(), K, NUMBERS[:, :1], intercept=False)
    y, A = NUMBERS[:, 0], K + 0.3 * np.eye(len(K))
    best = best_likelihood(A, y)
    assert -len(K) * found.value == pytest.approx(best, abs=1e-4)
    assert -len(K) * found.value >= best - 1e-9


def test_evidence_of_weighted_points_has_less_noise():
    weight = WEIGHTS[2][0]
    found = judge(Evidence(), K, NUMBERS[:, :1], intercept=False, weights=(weight, None))
    y, A = NUMBERS[:, 0], K + np.diag(0.3 / weight)
    best = best_likelihood(A, y)
    assert -len(K) * found.value == pytest.approx(best, abs=1e-4)


def test_weights_of_losses_are_repeated_points():
    weight = WEIGHTS[1][0]
    rows = np.repeat(np.arange(len(X)), weight.astype(int))
    values = SIGNS + random.normal(size=SIGNS.shape)
    for loss in (SquaredError(), LogisticLoss()):
        mean, slope = loss.of(SIGNS, values, weight)
        again, slopes = loss.of(SIGNS[rows], values[rows])
        assert mean == pytest.approx(again)
        assert np.allclose(slope[rows] / weight[rows, None], slopes)


def test_the_slope_of_the_logistic_loss_is_the_best():
    values = SIGNS + random.normal(size=SIGNS.shape)
    mean, _ = LogisticLoss().of(SIGNS, values)
    losses = [
        np.mean(np.logaddexp(0.0, -t * SIGNS * values)) for t in np.geomspace(1e-3, 1e3, 2001)
    ]
    assert mean == pytest.approx(min(losses), abs=1e-5)
    assert mean <= min(losses) + 1e-12
    assert LogisticLoss().of(SIGNS, -SIGNS)[0] == pytest.approx(np.log(2.0))
    assert LogisticLoss().of(SIGNS, 0.0 * SIGNS)[0] == pytest.approx(np.log(2.0))


def test_a_matrix_without_a_factor():
    with pytest.raises(NotPositiveDefinite):
        judge(LeaveOneOut(SquaredError()), np.diag([1.0, -1.0]), np.ones((2, 1)), False, alpha=0.0)
