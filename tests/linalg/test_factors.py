"""The algebra behind ridge regression: Cholesky factors in tiles, conjugate gradients."""

import numpy as np
import pytest

from mercer.linalg.cg import Patience, TooSlow
from mercer.linalg.cholesky import DenseCholesky
from mercer.monitor import Monitor, Stopped
from mercer.solvers import (
    LowRankPreconditioner,
    NotPositiveDefinite,
    System,
    TileCholesky,
    conjugate_gradients,
)

random = np.random.default_rng(8)


def positive(n, seed=0):
    """A well conditioned matrix."""
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A @ A.T / n + np.eye(n)


def bands(A, tile):
    for start in range(0, len(A), tile):
        rows = slice(start, min(start + tile, len(A)))
        yield rows, A[rows, : rows.stop]


# --- factors in tiles -------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 15, 16, 17, 25])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_factor_in_tiles_is_that_of_numpy(n, dtype):
    A, B = positive(n), np.random.default_rng(1).normal(size=(n, 3))
    factor = TileCholesky(bands(A, 8), dtype, Monitor())
    eps = 50 * np.finfo(dtype).eps
    half = np.linalg.solve(np.linalg.cholesky(A), B)
    assert np.allclose(factor.half_solve(B), half, rtol=eps, atol=eps)
    assert np.allclose(factor.solve(B), np.linalg.solve(A, B), rtol=eps, atol=eps)
    assert np.allclose(factor.inverse_diagonal(), np.diag(np.linalg.inv(A)), rtol=eps)
    assert factor.solve(B).dtype == dtype


@pytest.mark.parametrize("place", [0, 9, 24])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_has_no_factor_says_so(place, dtype):
    A = positive(25)
    A[place, place] = -1.0
    with pytest.raises(NotPositiveDefinite):
        TileCholesky(bands(A, 8), dtype, Monitor())


def test_factors_stop_and_report():
    told = []
    monitor = Monitor(progress=lambda what, done: told.append((what, done)))
    factor = TileCholesky(bands(positive(25), 8), np.float64, monitor)
    factor.inverse_diagonal()
    for what in ("Cholesky", "inverse"):
        fractions = [done for name, done in told if name == what]
        assert fractions == sorted(fractions)
        assert len(fractions) == 4
        assert fractions[-1] == 1.0
    monitor.cancel()
    for work in (factor.inverse_diagonal, lambda: factor.solve(np.ones((25, 1)))):
        with pytest.raises(Stopped):
            work()


# --- factors in one piece ---------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 17])
@pytest.mark.parametrize("shift", [0.0, 0.3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_factor_in_one_piece_is_that_of_numpy(n, shift, dtype):
    A, B = positive(n), np.random.default_rng(1).normal(size=(n, 3))
    kept, shifted = A.copy(), A + shift * np.eye(n)
    factor = DenseCholesky(A, dtype, shift)
    eps = 50 * np.finfo(dtype).eps
    assert np.allclose(factor.factor, np.linalg.cholesky(shifted), rtol=eps, atol=eps)
    assert np.allclose(factor.solve(B), np.linalg.solve(shifted, B), rtol=eps, atol=eps)
    assert np.allclose(factor.inverse_diagonal(), np.diag(np.linalg.inv(shifted)), rtol=eps)
    assert factor.solve(B).dtype == dtype
    assert np.array_equal(A, kept)


def test_what_has_no_factor_in_one_piece_says_so():
    A = positive(9)
    A[4, 4] = -1.0
    with pytest.raises(NotPositiveDefinite):
        DenseCholesky(A, np.float64, 0.0)


# --- conjugate gradients ----------------------------------------------------------------------


def system(alpha, right, tol=1e-12, precondition=lambda R: R):
    return System(
        alpha=alpha,
        right=right,
        targets=tol * np.linalg.norm(right, axis=0),
        precondition=precondition,
    )


def test_systems_with_their_own_alpha_are_solved_together():
    A, B = positive(30) * 5, random.normal(size=(30, 5))
    widths = []

    def apply(V):
        widths.append(V.shape[1])
        return A @ V

    systems = [system(100.0, B[:, :2]), system(0.1, B[:, 2:4]), system(7.0, B[:, 4:])]
    iterations, status = conjugate_gradients(apply, systems, 100, Monitor())
    assert status == "converged"
    assert iterations == len(widths)
    for one in systems:
        wanted = np.linalg.solve(A + one.alpha * np.eye(30), one.right)
        assert np.allclose(one.X, wanted, rtol=0, atol=1e-10)
        assert np.all(one.norms() <= one.targets)
    # What is solved takes no more part in the products.
    assert widths[0] == 5
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 5


def test_dependent_and_zero_right_sides():
    A, b = positive(30), random.normal(size=(30, 2))
    right = np.column_stack([b, b @ [[2.0], [-1.0]], np.zeros(30), b[:, 0]])
    one = system(0.5, right)
    iterations, status = conjugate_gradients(lambda V: A @ V, [one], 100, Monitor())
    assert status == "converged"
    assert iterations > 0
    assert np.allclose(one.X, np.linalg.solve(A + 0.5 * np.eye(30), right), rtol=0, atol=1e-10)
    nothing = system(0.5, np.zeros((30, 2)))
    assert conjugate_gradients(lambda V: A @ V, [nothing], 100, Monitor()) == (0, "converged")
    assert not nothing.X.any()


def test_a_block_needs_fewer_iterations_than_its_columns_alone():
    values = np.linspace(1.0, 300.0, 60)
    B = random.normal(size=(60, 6))
    together, _ = conjugate_gradients(
        lambda V: values[:, None] * V, [system(0.0, B)], 100, Monitor()
    )
    alone, _ = conjugate_gradients(
        lambda V: values[:, None] * V, [system(0.0, B[:, :1])], 100, Monitor()
    )
    assert together <= 11  # 60 dimensions, 6 at a time
    assert alone > 2 * together


def test_the_callback_hears_of_every_iteration_in_order():
    A, told = positive(30) * 5, []
    one = system(0.1, random.normal(size=(30, 2)))
    iterations, _ = conjugate_gradients(lambda V: A @ V, [one], 100, Monitor(callback=told.append))
    assert [record["iteration"] for record in told] == list(range(1, iterations + 1))
    assert told[-1]["residual"] <= 1e-12 < told[0]["residual"] < 1
    more = []
    conjugate_gradients(lambda V: A @ V, [one], 12, Monitor(callback=more.append), done=10)
    assert [record["iteration"] for record in more] == [11, 12]


def test_it_gives_up_where_another_way_costs_less():
    values, b = np.logspace(0, 6, 200), np.ones((200, 1))

    def run(alternative):
        patience = Patience(1e-12, alternative)
        one = system(0.0, b)
        try:
            ended = conjugate_gradients(
                lambda V: values[:, None] * V, [one], 5000, Monitor(), patience=patience
            )
        except TooSlow:
            return len(patience.lowest)
        assert ended[1] == "converged"
        return ended[0]

    whole = run(np.inf)
    assert whole > 100
    assert run(2 * whole) == whole  # the other way costs more
    assert run(16) == 8  # judged after the first few iterations
    assert 20 <= run(80) <= 40  # after a quarter of what the other way costs


def test_it_does_not_give_up_what_is_nearly_done():
    patience = Patience(1e-6, 20.0)
    assert not any(patience.is_over(10.0**-k) for k in np.linspace(0, 6, 20))
    stuck = Patience(1e-6, 10.0)
    assert [stuck.is_over(0.5) for _ in range(9)] == [False] * 7 + [True] * 2


def test_it_ends_when_told_to():
    A, B = positive(30) * 5, random.normal(size=(30, 2))
    one = system(0.1, B)
    assert conjugate_gradients(lambda V: A @ V, [one], 3, Monitor()) == (3, "iteration limit")
    residual = B - A @ one.X - 0.1 * one.X
    assert np.allclose(one.norms(), np.linalg.norm(residual, axis=0), rtol=1e-8)
    assert 0 < one.norms().max() < np.linalg.norm(B)
    enough, _ = conjugate_gradients(lambda V: A @ V, [system(0.1, B)], 100, Monitor())
    again = system(0.1, B)
    assert conjugate_gradients(lambda V: A @ V, [again], enough, Monitor()) == (enough, "converged")
    stop = Monitor(callback=lambda record: record["iteration"] == 2)
    assert conjugate_gradients(lambda V: A @ V, [one], 9, stop) == (2, "cancelled")
    monitor = Monitor()

    def apply(V):
        monitor.poll()
        return A @ V

    monitor.cancel()
    assert conjugate_gradients(apply, [one], 9, monitor) == (0, "cancelled")
    assert not one.X.any()
    with pytest.raises(NotPositiveDefinite):
        conjugate_gradients(lambda V: -A @ V, [one], 9, Monitor())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_preconditioner_is_the_inverse_of_its_matrix(dtype):
    T, R = random.normal(size=(4, 20)), random.normal(size=(20, 3))
    bands = [(rows, T.T[rows].astype(dtype)) for rows in (slice(0, 13), slice(13, 20))]
    for alpha in (0.5, 30.0):
        wanted = np.linalg.solve(T.T @ T + alpha * np.eye(20), R)
        found = LowRankPreconditioner(bands, 4, dtype, Monitor()).at(alpha)(R)
        assert np.allclose(found, wanted, rtol=0, atol=100 * np.finfo(dtype).eps / alpha)
        empty = LowRankPreconditioner([], 0, dtype, Monitor()).at(alpha)
        assert np.allclose(empty(R), R / alpha, rtol=1e-12)
