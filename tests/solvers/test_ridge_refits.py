"""Factors of K + alpha I: in single precision where that is enough, else in double."""

import numpy as np
import pytest

from mercer.linalg.cholesky import DenseCholesky, NotPositiveDefinite, TileCholesky
from mercer.monitor import Monitor, Stopped
from mercer.solvers.ridge import refits
from mercer.solvers.ridge.refits import factored

random = np.random.default_rng(0)
N = 60
A = random.normal(size=(N, N))
A = A @ A.T / N
RIGHT = random.normal(size=(N, 2))


def dtype_of(factor):
    return factor.factor.dtype if isinstance(factor, DenseCholesky) else factor.dtype


@pytest.mark.parametrize("in_one_piece", [N, N - 1], ids=["dense", "tiles"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equations_are_solved_in_the_precision_of_the_matrix(dtype, in_one_piece, monkeypatch):
    monkeypatch.setattr(refits, "IN_ONE_PIECE", in_one_piece)
    factor, solved = factored(A.astype(dtype), 0.5, RIGHT, Monitor())
    assert isinstance(factor, DenseCholesky if in_one_piece == N else TileCholesky)
    assert dtype_of(factor) == dtype
    assert solved.dtype == np.float64
    wanted = np.linalg.solve(A + 0.5 * np.eye(N), RIGHT)
    np.testing.assert_allclose(solved, wanted, atol=1e-4 if dtype == np.float32 else 1e-12)


def test_single_precision_that_is_not_enough_falls_back_to_double():
    values = np.geomspace(1e-9, 1.0, N)
    turn = np.linalg.qr(random.normal(size=(N, N)))[0]
    hard = ((turn * values) @ turn.T).astype(np.float32)
    alpha = 1e-7  # about the rounding of single precision
    factor, solved = factored(hard, alpha, RIGHT, Monitor())
    assert dtype_of(factor) == np.float64
    left = RIGHT - hard.astype(float) @ solved - alpha * solved
    assert np.linalg.norm(left) < 1e-6 * np.linalg.norm(RIGHT)


def test_a_matrix_without_a_factor_in_either_says_so():
    with pytest.raises(NotPositiveDefinite):
        factored(-A.astype(np.float32), 1e-3, RIGHT, Monitor())


def test_it_can_be_stopped():
    monitor = Monitor()
    monitor.cancel()
    with pytest.raises(Stopped):
        factored(A, 0.5, RIGHT, monitor)
