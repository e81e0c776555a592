"""Quadratic problems in a box against a slow solver, in one block and in many."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer import _native
from mercer.monitor import Monitor
from mercer.solvers import BoxProblem, BoxSizes, BoxSolver, DenseRows, RowStore
from mercer.solvers.box.active_set import ActiveSet
from mercer.solvers.box.machines import (
    classification,
    filled,
    nu_classification,
    nu_regression,
    one_class,
    regression,
)

pytestmark = pytest.mark.native

random = np.random.default_rng(31)
EVER = 2**62


def positive(n, rank=None, seed=0):
    """A matrix without negative eigenvalues, with entries of about 1."""
    A = np.random.default_rng(seed).normal(size=(n, rank or n + 5))
    return A @ A.T / A.shape[1]


def problems(n, seed=0):
    """One problem of every kind, with bounds of their own."""
    draw = np.random.default_rng(seed)
    sign = np.where(np.arange(n) % 2, 1.0, -1.0)
    target, bounds = 3 * draw.normal(size=n), draw.uniform(0.5, 2.0, size=n)
    return {
        "classes": classification(sign, bounds, True),
        "classes through zero": classification(sign, bounds, False),
        "tube": regression(target, bounds, 0.4, True),
        "tube through zero": regression(target, bounds, 0.4, False),
        "no tube": regression(target, bounds, 0.0, True),
        "classes nu": nu_classification(sign, bounds, 0.4),
        "tube nu": nu_regression(target, bounds, 0.3),
        "region": one_class(bounds, 0.3),
    }


KINDS = list(problems(4))


def slow(K, problem):
    """Return the optimum by SciPy's sequential quadratic programming on positive parts p - q."""
    n = len(K)

    def value(z):
        b = z[:n] - z[n:]
        return b @ K @ b / 2 + problem.linear @ b + problem.kink * z.sum()

    def slope(z):
        g = K @ (z[:n] - z[n:]) + problem.linear
        return np.concatenate([g, -g]) + problem.kink

    start = np.concatenate([np.maximum(problem.start, 0), np.maximum(-problem.start, 0)])
    rows = []
    if problem.split:
        rows = [np.repeat([1.0, 0.0], n), np.repeat([0.0, 1.0], n)]
    elif problem.offset:
        rows = [np.repeat([1.0, -1.0], n)]
    conditions = [
        {"type": "eq", "fun": lambda z, r=r: r @ (z - start), "jac": lambda z, r=r: r} for r in rows
    ]
    limits = [(0, u) for u in problem.upper] + [(0, -u) for u in problem.lower]
    options = {"maxiter": 2000, "ftol": 1e-16}
    found = minimize(
        value,
        start,
        jac=slope,
        bounds=limits,
        constraints=conditions,
        method="SLSQP",
        options=options,
    )
    return found.x[:n] - found.x[n:], found.fun


BLOCKS = BoxSizes(whole=30, block=20)  # 8 variables of a block are new


def solved(K, problem, tol=1e-9, rows=None, max_iter=EVER, monitor=None, sizes=None):
    rows = rows or DenseRows(np.ascontiguousarray(K))
    return BoxSolver(rows, tol, max_iter, monitor or Monitor(), sizes=sizes).solve(problem)


def assert_feasible(problem, b, tol=1e-9):
    assert np.all(b >= problem.lower)
    assert np.all(b <= problem.upper)
    if problem.offset:
        assert b.sum() == pytest.approx(problem.start.sum(), abs=tol)
    if problem.split:
        above, wanted = np.maximum(b, 0).sum(), np.maximum(problem.start, 0).sum()
        assert above == pytest.approx(wanted, abs=tol)


# --- the optimum ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_every_problem_has_the_optimum_of_a_slow_solver(kind, seed):
    n = 14 + seed
    K, problem = positive(n, seed=seed), problems(n, seed)[kind]
    b, value = slow(K, problem)
    found = solved(K, problem)
    assert_feasible(problem, found.b)
    assert found.objective <= value + 1e-8
    assert found.objective == pytest.approx(value, abs=1e-6)
    assert np.allclose(found.b, b, rtol=0, atol=1e-3)
    assert np.allclose(found.g, K @ found.b + problem.linear, rtol=0, atol=1e-12)
    assert found.status == "converged"
    assert found.violation <= 1e-9
    assert found.iterations > 0


@pytest.mark.parametrize("kind", KINDS)
def test_small_problems_are_solved_to_the_last_digits(kind):
    K, problem = positive(40), problems(40)[kind]
    found = solved(K, problem, tol=1e-2)
    assert found.status == "converged"
    assert found.violation <= 1e-12
    assert_feasible(problem, found.b, 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_rough_tolerance_is_cheap_even_where_the_last_digits_are_not(kind):
    K, problem = positive(40, 3) + 1e-6 * np.eye(40), problems(40)[kind]
    found = solved(K, problem, tol=1e-2)
    assert found.status == "converged"
    assert found.iterations <= 10_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rank", [1, 3])
def test_singular_matrices(kind, rank):
    K, problem = positive(16, rank), problems(16)[kind]
    found = solved(K, problem, tol=1e-7)
    assert found.status == "converged"
    assert_feasible(problem, found.b)
    assert found.objective == pytest.approx(slow(K, problem)[1], abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("room", [150, 24])
def test_blocks_find_the_optimum_of_the_whole(kind, dtype, room):
    n = 150
    K, problem = positive(n, 20).astype(dtype) + 0.1 * np.eye(n, dtype=dtype), problems(n)[kind]
    fetched = []

    def fill(wanted, out):
        fetched.extend(wanted.tolist())
        out[:] = K[wanted]

    rows = RowStore(fill, n, n, room, dtype)
    found = solved(K, problem, 1e-6, rows, sizes=BLOCKS)
    wanted = solved(K, problem, 1e-9)
    assert found.status == wanted.status == "converged"
    assert found.violation <= 1e-6
    assert_feasible(problem, found.b)
    g = K.astype(float) @ found.b + problem.linear
    assert np.abs(found.g - g).max() <= 1e-9
    assert found.objective == pytest.approx(wanted.objective, abs=1e-4)
    assert np.abs(found.b - wanted.b).max() <= 1e-4
    assert rows.computed == len(fetched)
    assert (room == 150) == (len(set(fetched)) == len(fetched))


def test_a_part_of_a_matrix_is_a_matrix():
    K, chosen = positive(60), random.permutation(60)[:25]
    problem = problems(25)["classes"]
    wanted = solved(K[np.ix_(chosen, chosen)], problem)
    found = solved(K, problem, rows=DenseRows(K, chosen))
    assert np.allclose(found.b, wanted.b, rtol=0, atol=1e-10)


@pytest.mark.parametrize("n", range(1, 20))
def test_few_variables(n):
    K = positive(n)
    for problem in problems(n).values():
        found = solved(K, problem, 1e-8)
        assert found.status == "converged"
        assert np.all(found.b >= problem.lower)
        assert np.all(found.b <= problem.upper)


@pytest.mark.parametrize("n", range(4, 10))
@pytest.mark.parametrize("nu", [0.05, 0.2, 0.4])
def test_starts_keep_their_sums(n, nu):
    bounds, y = random.uniform(0.5, 2.0, size=n), random.normal(size=n)
    for weight in (np.ones(n), bounds):
        start = nu_regression(y, weight, nu).start
        assert np.all(np.abs(start) <= weight)
        assert start.sum() == pytest.approx(0, abs=1e-12)
        assert one_class(weight, nu).start.sum() == pytest.approx(nu * weight.sum())


def test_filled_puts_the_first_at_their_bounds():
    assert filled(np.array([1.0, 2.0, 3.0]), 2.5).tolist() == [1.0, 1.5, 0.0]
    assert filled(np.array([1.0, 2.0]), 0.0).tolist() == [0.0, 0.0]


# --- ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [25, 80])
def test_steps_may_run_out(n):
    K, problem = positive(n, 10), problems(n)["classes"]
    full = solved(K, problem, 1e-6, sizes=BLOCKS)
    for most in (1, 5, 15):
        found = solved(K, problem, 1e-6, max_iter=most, sizes=BLOCKS)
        assert found.iterations == most < full.iterations
        assert found.status == "iteration limit"
        assert full.objective < found.objective < 0
        assert_feasible(problem, found.b)
        assert np.allclose(found.g, K @ found.b + problem.linear, rtol=0, atol=1e-12)


def test_a_callback_ends_blocks():
    K, problem = positive(80, 10), problems(80)["tube"]
    told = []

    def callback(record):
        told.append(record)
        return len(told) == 3

    found = solved(K, problem, 1e-6, monitor=Monitor(callback=callback), sizes=BLOCKS)
    assert found.status == "cancelled"
    assert len(told) == 3
    assert [record["iterations"] for record in told] == sorted(r["iterations"] for r in told)
    assert all(0 <= record["fraction"] <= 1 for record in told)
    assert found.violation == pytest.approx(told[-1]["violation"])
    assert np.allclose(found.g, K @ found.b + problem.linear, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [25, 80])
def test_a_stop_leaves_what_there_is(n):
    K = positive(n, 10)
    for problem in problems(n).values():
        monitor = Monitor()
        monitor.cancel()
        found = solved(K, problem, 1e-6, monitor=monitor, sizes=BLOCKS)
        assert found.status == ("converged" if found.violation <= 1e-6 else "cancelled")
        assert_feasible(problem, found.b)
        assert np.allclose(found.g, K @ found.b + problem.linear, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [20, 80])
def test_what_has_no_optimum_says_so(n):
    half = positive(n // 2)
    K = np.block([[half, half], [half, half]])
    y = np.repeat([-1.0, 1.0], n // 2)
    for offset in (True, False):
        problem = classification(y, np.full(n, np.inf), offset)
        if offset:
            assert solved(K, problem, 1e-6, sizes=BLOCKS).status == "unbounded"
    zero = BoxProblem(
        linear=-y,
        lower=-np.full(n, np.inf),
        upper=np.full(n, np.inf),
        start=np.zeros(n),
        offset=False,
    )
    assert solved(0 * K, zero, 1e-6).status == "unbounded"


@pytest.mark.parametrize("rank", [6, 40])
def test_an_active_set_finds_every_optimum_from_any_start(rank):
    K = positive(40, rank)
    for problem in problems(40).values():
        g = K @ problem.start + problem.linear
        b = ActiveSet(K, problem, problem.start, g.copy(), Monitor()).run()
        assert_feasible(problem, b)
        assert problem.violation(b, K @ b + problem.linear) <= 1e-10


def test_native_steps_refuse_places_that_do_not_exist():
    K, three = positive(3), np.arange(3)
    zeros, ones = np.zeros(3), np.ones(3)

    def run(slots, columns):
        block = _native.BlockSolver64()
        sides = (-ones, ones, 0.0, True, False, zeros.copy(), ones.copy())
        return block.solve(K, slots, columns, 0, *sides, 1e-3, 10, None)

    for slots, columns in ((three + 1, three), (three - 1, three), (three, three + 1)):
        with pytest.raises(ValueError, match=r"smo: a (slot|column) must"):
            run(slots, columns)
    with pytest.raises(ValueError, match="slot must be one of the rows"):
        _native.add_rows(K, np.array([3]), np.ones(1), three, zeros)
    with pytest.raises(ValueError, match="column must exist"):
        _native.add_rows(K, np.array([2]), np.ones(1), three + 1, zeros)


def test_rows_are_added_in_runs_of_columns():
    K = positive(40)
    columns = np.r_[30:40, 3:5, 9]
    slots, weights = np.array([7, 2]), np.array([2.0, -0.5])
    g = np.ones(len(columns))
    _native.add_rows(K, slots, weights, columns, g)
    assert np.allclose(g, 1 + weights @ K[np.ix_(slots, columns)], rtol=1e-14, atol=0)
