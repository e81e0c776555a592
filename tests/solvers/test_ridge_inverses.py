"""Criteria of Nyström models: against refits, against all of K, and their derivatives."""

import numpy as np
import pytest

from mercer.kernels import Gaussian
from mercer.linalg.cholesky import NotPositiveDefinite
from mercer.monitor import Monitor, Stopped
from mercer.solvers import RidgeProblem
from mercer.solvers.ridge import inverses
from mercer.solvers.ridge.criteria import Evidence, LeaveOneOut, LogisticLoss, SquaredError
from mercer.solvers.ridge.inverses import NystromInverse, WholeInverse

random = np.random.default_rng(7)
N = 40
X = random.normal(size=(N, 2))
CENTRES = np.arange(0, N, 4)
KERNEL = Gaussian(3.0)
NUMBERS = np.column_stack([np.sin(X[:, 0]) + 1.0, X[:, 1] ** 2])
SIGNS = np.where(X[:, :1] + 0.3 * random.normal(size=(N, 1)) > 0, 1.0, -1.0)
CRITERIA = [
    (LeaveOneOut(SquaredError()), NUMBERS),
    (LeaveOneOut(LogisticLoss()), SIGNS),
    (Evidence(), NUMBERS),
]
WEIGHTS = [
    (None, None),
    (random.integers(1, 4, N).astype(float), None),
    (random.uniform(0.2, 3.0, N), np.ones(N)),
]
criteria = pytest.mark.parametrize(("criterion", "targets"), CRITERIA)
weightings = pytest.mark.parametrize("weights", WEIGHTS, ids=["none", "samples", "classes"])
intercepts = pytest.mark.parametrize("intercept", [False, True])


def matrices(centres=CENTRES):
    return KERNEL.formula(X, X[centres]), KERNEL.formula(X[centres])


def problem_of(targets, weights, intercept, alpha=0.3):
    weight, copies = weights
    alphas = np.full(targets.shape[1], alpha)
    return RidgeProblem(
        targets=targets, alpha=alphas, weight=weight, intercept=intercept, copies=copies
    )


def judge(criterion, cross, own, problem, slope=True):
    inverse = NystromInverse(cross.copy(), own.copy(), problem, Monitor())
    return criterion.judge(inverse, problem, slope)


def refitted(cross, own, weight, intercept, alpha=0.3):
    """Values of all points by the Nyström model of weighted points: plain normal equations."""
    features = np.hstack([cross, np.ones((N, 1))]) if intercept else cross
    penalty = np.zeros((features.shape[1],) * 2)
    penalty[: len(own), : len(own)] = own
    weighted = features.T * weight
    return features @ np.linalg.solve(weighted @ features + alpha * penalty, weighted @ NUMBERS)


@intercepts
@weightings
def test_values_left_out_are_those_of_refits(weights, intercept):
    problem = problem_of(NUMBERS, weights, intercept)
    found = judge(LeaveOneOut(SquaredError()), *matrices(), problem)
    weight = np.ones(N) if weights[0] is None else weights[0]
    for i in range(N):
        left = weight.copy()
        left[i] *= 1 - problem.left_out[i, 0]
        wanted = refitted(*matrices(), left, intercept)[i]
        assert found.left_out[i] == pytest.approx(wanted, abs=1e-6)


@intercepts
@weightings
@criteria
def test_with_all_points_as_centres_nothing_is_lost(criterion, targets, weights, intercept):
    problem = problem_of(targets, weights, intercept)
    K = KERNEL.formula(X)
    whole = criterion.judge(WholeInverse(K.copy(), problem, Monitor()), problem, True)
    found = judge(criterion, K, K, problem)
    assert found.value == pytest.approx(whole.value, rel=1e-7)
    assert found.by_alpha == pytest.approx(whole.by_alpha, rel=1e-6)
    assert np.allclose(found.left_out, whole.left_out, rtol=0, atol=1e-7)
    move = random.normal(size=(N, 5))
    move = KERNEL.formula(X) * (move @ move.T)
    by_cross, by_own = found.by_kernel
    slope = np.vdot(by_cross, move) + np.vdot(by_own, move)
    assert slope == pytest.approx(np.vdot(whole.by_kernel[0], move), rel=1e-5)


@intercepts
@weightings
@criteria
def test_derivatives_are_those_of_differences(criterion, targets, weights, intercept):
    cross, own = matrices()

    def value(t, of_cross, of_own, of_alpha=0.0):
        problem = problem_of(targets, weights, intercept, 0.3 + t * of_alpha)
        return judge(criterion, cross + t * of_cross, own + t * of_own, problem, False).value

    found = judge(criterion, cross, own, problem_of(targets, weights, intercept))
    by_cross, by_own = found.by_kernel
    assert np.allclose(by_own, by_own.T)
    moves = random.normal(size=cross.shape), random.normal(size=own.shape)
    moves = moves[0], moves[1] + moves[1].T
    for a, b, c in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]:
        step = a * moves[0], b * moves[1], c
        wanted = (value(1e-6, *step) - value(-1e-6, *step)) / 2e-6
        slope = np.vdot(by_cross, step[0]) + np.vdot(by_own, step[1]) + found.by_alpha * c
        assert slope == pytest.approx(wanted, rel=1e-5, abs=1e-8)


def test_bands_change_nothing(monkeypatch):
    problem = problem_of(NUMBERS, WEIGHTS[1], True)
    whole = judge(CRITERIA[0][0], *matrices(), problem)
    monkeypatch.setattr(inverses, "BAND", 1.0)
    monkeypatch.setattr(inverses, "LEAST_BAND", 7)
    parts = judge(CRITERIA[0][0], *matrices(), problem)
    assert parts.value == pytest.approx(whole.value, rel=1e-12)
    for a, b in zip(parts.by_kernel, whole.by_kernel, strict=True):
        assert np.allclose(a, b, rtol=1e-9, atol=1e-12)


def test_equal_centres_do_no_harm():
    centres = np.append(CENTRES, CENTRES)
    for criterion, targets in CRITERIA:
        problem = problem_of(targets, WEIGHTS[0], True)
        once, twice = (judge(criterion, *matrices(c), problem) for c in (CENTRES, centres))
        assert twice.value == pytest.approx(once.value, rel=1e-7)
        assert np.isfinite(twice.by_kernel[0]).all()


@pytest.mark.parametrize("alpha", [0.0, 1e-15])
def test_an_alpha_that_rounding_hides_is_refused(alpha):
    with pytest.raises(NotPositiveDefinite):
        judge(CRITERIA[0][0], *matrices(), problem_of(NUMBERS, WEIGHTS[0], True, alpha))


def test_a_matrix_of_centres_without_a_factor():
    cross, own = matrices()
    with pytest.raises(NotPositiveDefinite):
        judge(CRITERIA[0][0], cross, -own, problem_of(NUMBERS, WEIGHTS[0], True))


def test_it_can_be_stopped():
    watch = Monitor()
    watch.cancel()
    problem = problem_of(NUMBERS, WEIGHTS[0], True)
    with pytest.raises(Stopped):
        NystromInverse(*matrices(), problem, watch)
