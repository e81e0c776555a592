"""Weights of kernels: the ways to the optimum, against slow ones and against hand values."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.monitor import Monitor
from mercer.solvers.mkl.closed import ClosedForm, closed_form
from mercer.solvers.mkl.level import LevelMethod, onto_simplex
from mercer.solvers.mkl.problem import Evaluation, Search, dual_norm
from mercer.solvers.mkl.simple import SimpleMKL, direction, dropped, longest, moved

WAYS = {"simple": SimpleMKL, "level": LevelMethod, "lp": ClosedForm}


class Ridge:
    """J(d) = 1/2 y' (I + sum_m d_m K_m)**-1 y, whose solutions are in closed form."""

    def __init__(self, count=6, n=25, seed=0):
        random = np.random.default_rng(seed)
        factors = [random.normal(size=(n, 1 + m % 3)) for m in range(count)]
        self.K = np.array([F @ F.T / np.trace(F @ F.T) * n for F in factors])
        self.y = factors[1][:, 0] + 0.5 * factors[4][:, 0] + 0.1 * random.normal(size=n)
        self.calls = self.measured = 0

    def __call__(self, weights):
        self.calls += 1
        assert (weights >= 0).all()
        K = np.tensordot(weights, self.K, 1)
        a = np.linalg.solve(np.eye(len(K)) + K, self.y)
        value = float(self.y @ a) / 2
        return Evaluation(
            weights=weights, primal=value, dual=value, solution=a, measure=self.measure
        )

    def measure(self, a):
        self.measured += 1
        return np.einsum("i,mij,j->m", a, self.K, a)

    def line(self, start, along):
        return PlainLine(self, start, along)


class PlainLine:
    """J on a line, every evaluation by itself."""

    def __init__(self, oracle, start, along):
        self.oracle, self.start, self.along = oracle, start, along

    def at(self, step, weights):
        assert np.allclose(weights, self.start + step * self.along, atol=1e-7)
        return self.oracle(weights)

    def slope(self, found):
        K = np.tensordot(self.along, self.oracle.K, 1)
        return -float(found.solution @ K @ found.solution) / 2


def search(oracle, p=1.0, tol=1e-6, max_iter=500, **rest):
    count = len(oracle.K)
    return Search(
        oracle=oracle, count=count, p=p, tol=tol, max_iter=max_iter, monitor=Monitor(), **rest
    )


def slow(oracle, p=1.0):
    """The least J by a general method, from several starts."""
    count, found = len(oracle.K), []
    for seed in range(3):
        start = np.random.default_rng(seed).dirichlet(np.ones(count))
        start = start / (start**p).sum() ** (1 / p)
        condition = {"type": "ineq", "fun": lambda d: 1 - (np.abs(d) ** p).sum()}
        solved = minimize(
            lambda d: oracle(np.maximum(d, 0)).primal,
            start,
            jac=lambda d: oracle(np.maximum(d, 0)).slopes,
            bounds=[(0, 1)] * count,
            constraints=[condition],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        found.append(solved.fun)
    return min(found)


@pytest.mark.parametrize("way", ["simple", "level"])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_on_the_simplex(way, seed):
    oracle = Ridge(seed=seed)
    made = search(oracle)
    assert WAYS[way](made).run() == "converged"
    wanted = slow(oracle)
    assert made.best.primal == pytest.approx(wanted, rel=1e-6)
    assert made.best.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert made.bound <= wanted * (1 + 1e-9)
    assert made.gap <= 1e-6 * made.best.primal


@pytest.mark.parametrize("p", [1.1, 1.5, 2.0, 4.0])
def test_the_closed_form_has_the_optimum_of_its_norm(p):
    oracle = Ridge(seed=1)
    made = search(oracle, p=p)
    assert ClosedForm(made).run() == "converged"
    assert made.best.primal == pytest.approx(slow(oracle, p), rel=1e-6)
    assert (made.best.weights**p).sum() == pytest.approx(1.0, abs=1e-9)


def test_all_ways_agree_as_p_goes_to_one():
    oracle = Ridge(seed=2)
    best = []
    for way, p in (("simple", 1.0), ("level", 1.0), ("lp", 1.001)):
        made = search(oracle, p=p, tol=1e-5)
        assert WAYS[way](made).run() == "converged"
        best.append(made.best.primal)
    assert best == pytest.approx([best[0]] * 3, rel=2e-3)


def test_the_objective_never_rises():
    made = search(Ridge(count=12, seed=3))
    SimpleMKL(made).run()
    values = [step.objective for step in made.history]
    assert all(after <= before + 1e-12 for before, after in itertools.pairwise(values))
    gaps = [step.gap for step in made.history]
    assert gaps == sorted(gaps, reverse=True)


@pytest.mark.parametrize("seed", range(12))
def test_a_line_search_goes_on_until_it_gains(seed):
    # Some first trials are far beyond the best step: ending there would be the end of all.
    oracle = Ridge(count=20, n=40, seed=seed)
    oracle.K *= np.logspace(-3, 3, 20)[:, None, None]
    made = search(oracle, tol=1e-3, max_iter=50)
    assert SimpleMKL(made).run() != "stagnated"
    values = [step.objective for step in made.history]
    assert values[-1] < values[0]


def test_the_level_method_needs_few_evaluations():
    few, many = Ridge(count=60, n=80, seed=4), Ridge(count=60, n=80, seed=4)
    LevelMethod(search(few, tol=1e-4)).run()
    SimpleMKL(search(many, tol=1e-4)).run()
    assert few.calls < many.calls


# --- hand values ------------------------------------------------------------------------------


def test_the_direction_of_the_lecture():
    weights, slopes = np.array([0.5, 0.3, 0.2, 0.0]), np.array([-1.0, -2.0, -0.5, -0.4])
    # top is the first; the last one is 0 and its slope is above that of the top: it stays.
    assert direction(weights, slopes) == pytest.approx([-0.5, 1.0, -0.5, 0.0])
    assert direction(weights, slopes) @ slopes < 0
    # where its slope is below, it may rise
    assert direction(weights, np.array([-1.0, -2.0, -0.5, -3.0]))[3] == pytest.approx(2.0)


def test_the_update_keeps_the_sum():
    # With the minus of the printed update, D = (-.3, .5, -.2) would leave the simplex.
    along = np.array([-0.3, 0.5, -0.2])
    step, last = longest(np.array([0.2, 0.5, 0.3]), along)
    assert (step, last) == (pytest.approx(2 / 3), 0)
    left = dropped(along, np.array([True, False, False]), top=1)
    assert left == pytest.approx([0.0, 0.2, -0.2])
    assert along.tolist() == [-0.3, 0.5, -0.2]


def test_weights_on_a_line_stay_on_the_simplex():
    line = PlainLine(None, np.array([0.3, 0.5, 0.2 - 1e-10, 1e-10]), np.array([-0.3, 0.4, -0.1, 0]))
    assert moved(line, 0.5) == pytest.approx([0.15, 0.7, 0.15, 0.0], abs=1e-9)
    assert moved(line, 0.5)[3] == 0.0
    found = moved(line, 1.0, zero=0)
    assert found[0] == 0.0
    assert found.sum() == 1.0


def test_a_step_ends_where_the_top_itself_is_dropped():
    # From equal weights the first is the top; it is worth nothing, so that it reaches 0 first.
    oracle = Ridge()
    oracle.K[0] /= 1e6
    made = search(oracle)
    assert SimpleMKL(made).run() == "converged"
    assert made.history[1].weights[0] == 0.0
    assert all(step.weights.sum() == pytest.approx(1.0) for step in made.history)


def test_forms_are_asked_for_at_accepted_weights_only():
    oracle = Ridge(count=12, seed=3)
    made = search(oracle)
    SimpleMKL(made).run()
    assert oracle.calls == made.solves
    assert oracle.measured == len(made.history) < made.solves


def test_projections_and_norms():
    assert onto_simplex(np.array([0.2, 0.3, 0.5])) == pytest.approx([0.2, 0.3, 0.5])
    assert onto_simplex(np.array([2.0, 0.0])).tolist() == [1.0, 0.0]
    assert onto_simplex(np.array([0.6, 0.6, -1.0])) == pytest.approx([0.5, 0.5, 0.0])
    assert dual_norm(np.array([3.0, 4.0]), 1.0) == 4.0
    assert dual_norm(np.array([3.0, 4.0]), 2.0) == pytest.approx(5.0)
    assert dual_norm(np.zeros(2), 2.0) == 0.0


def test_the_closed_form_by_hand():
    # |f_1|**2 = 4, |f_2|**2 = 1: with p = 1 weights as the norms, 2 to 1
    found = closed_form(np.array([1.0, 1.0]), np.array([4.0, 1.0]), 1.0)
    assert found == pytest.approx([2 / 3, 1 / 3])
    assert closed_form(np.array([0.5, 0.5]), np.zeros(2), 1.0).tolist() == [0.5, 0.5]


# --- ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_steps_may_run_out(way):
    made = search(Ridge(), tol=1e-12, max_iter=1)
    assert WAYS[way](made).run() == "iteration limit"
    assert made.history


@pytest.mark.parametrize("way", WAYS)
def test_a_stop_keeps_the_best(way):
    told = []
    made = search(Ridge(), tol=1e-12)
    made.monitor.callback = lambda record: told.append(record) or len(told) == 2
    assert made.ended(WAYS[way](made).run) == "cancelled"
    assert made.best is not None
    assert {"objective", "gap", "solves", "fraction"} <= set(told[0])
