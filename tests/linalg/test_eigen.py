"""Eigenvalues that can be stopped, against LAPACK's and against the definition."""

import numpy as np
import pytest
import scipy.linalg

from mercer.checks import InputError
from mercer.linalg import divide as division
from mercer.linalg import eigen, tridiagonal
from mercer.linalg.divide import divide
from mercer.linalg.secular import Secular
from mercer.linalg.tridiagonal import Tridiagonal
from mercer.monitor import Monitor, Stopped

RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def always_ours(monkeypatch):
    """Small matrices too, none of them by inverse iteration, and several unions of halves."""
    monkeypatch.setattr(eigen, "SMALL", 0)
    monkeypatch.setattr(eigen, "FEW", 0)
    monkeypatch.setattr(division, "LEAF", 20)


def with_values(values):
    Q = np.linalg.qr(RANDOM.normal(size=(len(values),) * 2))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


def gaussian(n, columns):
    X = RANDOM.normal(size=(n, columns))
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1) / columns)


def from_diagonals(diagonal, beside):
    return np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)


def symmetric(n):
    A = RANDOM.normal(size=(n, n))
    return A + A.T


N = 150
MATRICES = {
    "one": np.array([[3.0]]),
    "two": symmetric(2),
    "three": symmetric(3),
    "leaf": symmetric(20),
    "leaf and one": symmetric(21),
    "random": symmetric(N),
    "several levels": symmetric(300),
    "graded": with_values(10.0 ** -np.linspace(0, 30, N)),
    "geometric, both signs": with_values(np.repeat([1, -1], N // 2) * 0.8 ** np.arange(N)),
    "repeated": with_values(np.repeat([5.0, 3.0, -1.0], N // 3)),
    "clustered": with_values(1 + 1e-12 * np.arange(N)),
    "low rank": with_values(np.arange(N) * (np.arange(N) < 5)),
    "zero": np.zeros((N, N)),
    "identity": np.eye(N),
    "diagonal": np.diag(RANDOM.normal(size=N)),
    "ones": np.ones((N, N)),
    "blocks": scipy.linalg.block_diag(symmetric(70), np.zeros((10, 10)), symmetric(70)),
    "Gaussian, two columns": gaussian(N, 2),
    "Gaussian, twenty columns": gaussian(N, 20),
    "huge": 1e200 * symmetric(N),
    "tiny": 1e-200 * symmetric(N),
    "second difference": from_diagonals(2 * np.ones(N), -np.ones(N - 1)),
    "Wilkinson": from_diagonals(np.abs(np.arange(N) - N / 2), np.ones(N - 1)),
    "glued": from_diagonals(
        np.tile(np.abs(np.arange(50) - 25.0), 3), np.where(np.arange(N - 1) % 50 == 49, 1e-8, 1.0)
    ),
    "arrow": from_diagonals(np.ones(N), np.zeros(N - 1)) + np.outer(np.eye(N)[0], np.ones(N))
    + np.outer(np.ones(N), np.eye(N)[0]),
}  # fmt: skip


def assert_decomposes(A, values, vectors):
    """A V = V D, V'V = I and LAPACK's values, all to a few roundings."""
    n, count = vectors.shape
    size = max(np.abs(A).sum(axis=0).max(), np.finfo(float).tiny)
    wanted = scipy.linalg.eigvalsh(A)[n - count :]
    assert np.all(np.diff(values) >= -1e-15 * size)
    assert np.abs(values - wanted).max(initial=0) <= 1e-14 * n * size
    assert np.abs(A @ vectors - vectors * values).max(initial=0) <= 1e-14 * n * size
    assert np.abs(vectors.T @ vectors - np.eye(count)).max(initial=0) <= 1e-14 * n


@pytest.mark.parametrize("name", MATRICES)
def test_any_matrix_is_decomposed(name):
    A = MATRICES[name]
    before = A.copy()
    assert_decomposes(A, *eigen.eigh(A))
    np.testing.assert_array_equal(A, before)


@pytest.mark.parametrize("few", [0, 10**9])
@pytest.mark.parametrize("name", MATRICES)
def test_the_largest_are_the_last_of_all(name, few, monkeypatch):
    monkeypatch.setattr(eigen, "FEW", few)
    A = MATRICES[name]
    count = (len(A) + 2) // 3
    values, vectors = eigen.eigh(A, count=count)
    assert vectors.shape == (len(A), count)
    assert_decomposes(A, values, vectors)


@pytest.mark.parametrize("name", MATRICES)
def test_the_extremes(name):
    A = MATRICES[name]
    wanted = scipy.linalg.eigvalsh(A)[[0, -1]]
    size = max(np.abs(A).sum(axis=0).max(), np.finfo(float).tiny)
    assert eigen.extreme_eigenvalues(A) == pytest.approx(tuple(wanted), rel=0, abs=1e-13 * size)


@pytest.mark.parametrize("count", [None, 40, 0])
def test_small_matrices_go_to_lapack(count, monkeypatch):
    monkeypatch.setattr(eigen, "SMALL", N)
    monkeypatch.setattr(eigen, "Tridiagonal", None)
    for name in ("random", "repeated", "zero"):
        A = MATRICES[name]
        assert_decomposes(A, *eigen.eigh(A, count=count))
        assert eigen.extreme_eigenvalues(A)[0] == pytest.approx(np.linalg.eigvalsh(A)[0])


def test_nothing_has_no_eigenvalues():
    values, vectors = eigen.eigh(np.zeros((0, 0)))
    assert values.shape == (0,)
    assert vectors.shape == (0, 0)


def test_orders_and_precisions():
    A = MATRICES["random"]
    wanted = eigen.eigh(A)
    for given in (np.asfortranarray(A), np.repeat(A, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(eigen.eigh(given)[1], wanted[1])
    single = A.astype(np.float32)
    values, vectors = eigen.eigh(single)
    assert values.dtype == vectors.dtype == np.float64
    assert_decomposes(single.astype(np.float64), values, vectors)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_may_be_used_as_room(order):
    A = np.array(MATRICES["random"], order=order)
    assert_decomposes(MATRICES["random"], *eigen.eigh(A, overwrite=True))
    assert not np.array_equal(A, MATRICES["random"])


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("small", [0, 1000])
@pytest.mark.parametrize("function", [eigen.eigh, eigen.extreme_eigenvalues])
def test_numbers_that_are_none_are_refused(function, small, value, monkeypatch):
    monkeypatch.setattr(eigen, "SMALL", small)
    A = symmetric(100)
    A[40, 30] = A[30, 40] = value
    with np.errstate(invalid="ignore"), pytest.raises(InputError, match="must be finite"):
        function(A)


# --- the parts -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 33, 100])
@pytest.mark.parametrize("update", [1.0, 2e9])
def test_three_diagonals_are_similar(n, update, monkeypatch):
    monkeypatch.setattr(tridiagonal, "UPDATE", update)  # 1.0: the narrowest panels
    A = symmetric(n)
    T = Tridiagonal(A, Monitor())
    Q = T.turn(np.eye(n))
    np.testing.assert_allclose(Q.T @ Q, np.eye(n), atol=1e-13)
    np.testing.assert_allclose(Q @ from_diagonals(T.diagonal, T.beside) @ Q.T, A, atol=1e-12)


def test_vectors_are_turned_back_in_parts(monkeypatch):
    T = Tridiagonal(symmetric(60), Monitor())
    wanted = T.turn(np.eye(60))
    monkeypatch.setattr(tridiagonal, "TOGETHER", 7)
    np.testing.assert_allclose(T.turn(np.eye(60)), wanted, atol=1e-14)


@pytest.mark.parametrize("rho", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("least", [1.0, 1e-7, 1e-14])
def test_the_secular_equation(rho, least):
    d = np.sort(RANDOM.normal(size=90))
    z = RANDOM.choice([-1, 1], 90) * np.exp(RANDOM.uniform(np.log(least), 0, size=90))
    z /= np.linalg.norm(z)
    found = Secular(d, z, rho, Monitor())
    A = np.diag(d) + rho * np.outer(z, z)
    values, vectors = found.values, found.vectors(np.arange(90)).T
    size = np.abs(d).max() + rho
    assert np.all(values[:-1] <= d[1:])
    assert np.all(values >= d)
    assert np.abs(A @ vectors - vectors * values).max() <= 1e-14 * size
    assert np.abs(vectors.T @ vectors - np.eye(90)).max() <= 1e-13


def test_a_secular_equation_of_one_pole():
    assert Secular(np.array([2.0]), np.array([0.5]), 3.0, Monitor()).values == pytest.approx(2.75)


# --- stopping ----------------------------------------------------------------------------------


class Counting(Monitor):
    """Cancels itself when it is asked for the n-th time, and counts how often it was asked."""

    def __init__(self, after):
        super().__init__()
        self.after, self.asked = after, 0

    def stop_reason(self):
        self.asked += 1
        if self.asked == self.after:
            self.cancel()
        return super().stop_reason()


STAGES = {
    "three diagonals": lambda monitor: Tridiagonal(MATRICES["several levels"], monitor),
    "divide": lambda monitor: divide(RANDOM.normal(size=300), np.ones(299), 300, monitor),
    "turn": lambda monitor: _turn(Tridiagonal(MATRICES["several levels"], Monitor()), monitor),
    "eigh": lambda monitor: eigen.eigh(MATRICES["several levels"], monitor),
    "extremes": lambda monitor: eigen.extreme_eigenvalues(MATRICES["several levels"], monitor),
}


def _turn(reduced, monitor):
    reduced.monitor = monitor
    return reduced.turn(np.eye(300))


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_stops_when_it_is_asked_to(stage):
    watched = Counting(after=0)
    STAGES[stage](watched)
    assert watched.asked >= 5
    for after in (1, 3, watched.asked):
        monitor = Counting(after)
        with pytest.raises(Stopped, match="cancelled"):
            STAGES[stage](monitor)
        assert monitor.asked == after


def test_progress_is_told():
    told = []
    eigen.eigh(MATRICES["random"], Monitor(progress=lambda what, share: told.append(share)))
    assert told == sorted(told)
    assert told[-1] == 1.0
