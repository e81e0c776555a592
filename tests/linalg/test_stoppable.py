"""Dense factorisations in models and solvers: right in parts, and stopped between any two parts."""

import time
import warnings

import numpy as np
import pytest
from scipy.linalg.lapack import dpstrf
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelPCA, KernelRidgeCV, monitor
from mercer.grams import prepare
from mercer.kernels import Gaussian, Precomputed
from mercer.linalg import cholesky, divide, eigen
from mercer.linalg.cholesky import negative_eigenvalue, pivoted_cholesky
from mercer.linalg.eigen import eigh_of_each
from mercer.monitor import Monitor, Stopped
from mercer.solvers import DenseEigen, Krylov, RidgePath, RidgeProblem
from mercer.solvers.eigen import centred, krylov
from mercer.solvers.ridge import path

random = np.random.default_rng(3)
N = 120
X = random.normal(size=(N, 4))
K = Gaussian(0.3).formula(X, X)


@pytest.fixture
def all_in_parts(monkeypatch):
    """Matrices of every size are taken apart as large ones are."""
    monkeypatch.setattr(eigen, "SMALL", 0)
    monkeypatch.setattr(eigen, "FEW", 0)
    monkeypatch.setattr(krylov, "SMALL", 0)
    monkeypatch.setattr(divide, "LEAF", 20)
    for room in (cholesky, centred, path):
        monkeypatch.setattr(room, "TILE", 32)


class Counting(Monitor):
    """Cancels itself when it is asked for the n-th time, and counts how often it was asked."""

    def __init__(self, after=0):
        super().__init__()
        self.after, self.asked = after, 0

    def stop_reason(self):
        self.asked += 1
        if self.asked == self.after:
            self.cancel()
        return super().stop_reason()


def stops(run):
    """How often a computation asks; it must end at the very moment when it is told to."""
    watched = Counting()
    run(watched)
    for after in np.unique(np.linspace(1, watched.asked, 12).astype(int)).tolist():
        told = Counting(after)
        with pytest.raises(Stopped):
            run(told)
        assert told.asked == after
    return watched.asked


# --- Cholesky factors ----------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [0, 1, 40, 63, 64, 65, N])
def test_pivots_are_those_of_lapack(rank):
    A = random.normal(size=(N, rank))
    A = A @ A.T
    least = 1e-9 * max(np.diagonal(A).max(), 1e-300)
    order, lower = pivoted_cholesky(A, least, Monitor())
    wanted, places, found, _ = (
        dpstrf(A, tol=least, lower=1) if rank else (A, np.arange(N) + 1, 0, 0)
    )
    assert len(order) == found == rank
    np.testing.assert_array_equal(order, places[:rank] - 1)
    np.testing.assert_allclose(lower, np.tril(wanted[:rank, :rank]), atol=1e-8)
    np.testing.assert_allclose(lower @ lower.T, A[np.ix_(order, order)], atol=1e-8)


def test_pivots_can_be_stopped():
    assert stops(lambda monitor: pivoted_cholesky(np.eye(300), 0.0, monitor)) >= 4


@pytest.mark.parametrize("lowest", [-2.0, -0.5, 0.0, 3.0])
@pytest.mark.parametrize("parts", [False, True])
def test_a_negative_eigenvalue_is_found(lowest, parts, request):
    if parts:
        request.getfixturevalue("all_in_parts")
    Q = np.linalg.qr(random.normal(size=(N, N)))[0]
    A = (Q * np.append(np.linspace(4, 9, N - 1), lowest)) @ Q.T
    A = (A + A.T) / 2
    before = A.copy()
    assert negative_eigenvalue(A, 1e-6, Monitor()) == pytest.approx(min(lowest, 0.0), abs=1e-12)
    assert negative_eigenvalue(A, 1.0, Monitor()) == pytest.approx(-2.0 if lowest == -2 else 0.0)
    np.testing.assert_array_equal(A, before)


def test_the_search_for_a_negative_eigenvalue_can_be_stopped(all_in_parts):
    A = np.diag(np.append(np.ones(N - 1), -1.0))
    assert stops(lambda monitor: negative_eigenvalue(A, 0.1, monitor)) > N


# --- ridge regression along a path -----------------------------------------------------------


@pytest.mark.parametrize("lowest", [0.1, -0.1])
def test_large_systems_of_held_out_points(lowest, all_in_parts):
    Q = np.linalg.qr(random.normal(size=(N, N)))[0]
    A = (Q * np.append(np.linspace(4, 9, N - 1), lowest)) @ Q.T
    right = random.normal(size=(N, 2))
    found = path._solve(np.asfortranarray(np.tril(A)), right)
    np.testing.assert_allclose(A @ found, right, atol=1e-11)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("least", [0.0, 100.0])  # 100: most of K may be left out
def test_a_path_is_the_same_in_parts_and_can_be_stopped(intercept, least, request):
    problem = RidgeProblem(
        targets=random.normal(size=(N, 1)), alpha=np.ones(1), weight=None, intercept=intercept
    )
    wanted = RidgePath.of_gram(K.copy(), problem, least).leave_one_out(200.0)
    request.getfixturevalue("all_in_parts")
    found = RidgePath.of_gram(K.copy(), problem, least, Monitor()).leave_one_out(200.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)
    assert stops(lambda monitor: RidgePath.of_gram(K.copy(), problem, least, monitor)) > 20


# --- principal components ------------------------------------------------------------------------


def gram(monitor):
    return prepare(Precomputed(), K).gram(monitor=monitor)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_dense_solver_is_the_same_in_parts(weighted, request):
    roots = np.sqrt(random.uniform(0.5, 2.0, size=N)) if weighted else np.ones(N)
    wanted = DenseEigen().solve(gram(Monitor()), roots, 9, Monitor())
    request.getfixturevalue("all_in_parts")
    found = DenseEigen().solve(gram(Monitor()), roots, 9, Monitor())
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-12)
    assert found.residual <= 1e-13
    cosines = np.abs((found.vectors * wanted.vectors).sum(axis=0))
    np.testing.assert_allclose(cosines, 1.0, rtol=1e-9)


def test_the_dense_solver_stops_wherever_it_is(all_in_parts):
    def solve(monitor):
        return DenseEigen().solve(gram(Monitor()), np.ones(N), 9, monitor)

    watched = Counting()
    assert solve(watched).status == "exact"
    assert watched.asked > N  # at every column of the reduction, and more
    for after in range(1, watched.asked + 1, 7):
        told = Counting(after)
        found = solve(told)
        assert (found.status, told.asked) == ("cancelled", after)
        assert not found.values.any()


@pytest.mark.parametrize("tol", [1e-6, 1e-13])  # the smaller one needs triangular factors
def test_passes_stop_wherever_they_are(tol, all_in_parts, monkeypatch):
    monkeypatch.setattr(krylov, "WORK", 1)

    def solve(monitor):
        return Krylov(tol=tol, max_iter=40, seed=0, room=48).solve(
            gram(monitor), np.ones(N), 4, monitor
        )

    watched = Counting()
    wanted = solve(watched)
    assert wanted.residual <= 1e-6
    seen = set()
    for after in np.unique(np.linspace(1, watched.asked, 60).astype(int)).tolist():
        found = solve(Counting(after))
        seen.add((found.status, bool(found.values.any())))
        assert found.vectors.shape == found.products.shape == (N, 4)
        assert np.isfinite(found.values).all()
        if found.values.any() and found.residual < 1e-6:
            np.testing.assert_allclose(found.values, wanted.values, rtol=1e-5)
    assert seen >= {("cancelled", False), ("cancelled", True)}


class Ticks:
    """A clock that goes by how often it is asked."""

    def __init__(self):
        self.start, self.passed = time.monotonic(), 0.0

    def monotonic(self):
        self.passed += 1e-3
        return self.start + self.passed


@pytest.mark.parametrize("seconds", [0.05, 0.1])
def test_a_time_limit_ends_the_dense_solver(seconds, all_in_parts, monkeypatch):
    clock = Ticks()
    monkeypatch.setattr(monitor, "time", clock)
    model = KernelPCA(3, kernel=Gaussian(0.3), eigen_solver="dense", time_limit=seconds)
    with pytest.warns(ConvergenceWarning, match=r"\(time limit, .*Raise time_limit"):
        model.fit(X)
    assert model.certificate_.status == "time limit"
    assert clock.passed < seconds + 0.02  # a few questions more, and no step of the reduction
    clock.start, clock.passed = time.monotonic(), 0.0
    model.set_params(time_limit=60.0).fit(X)
    assert model.certificate_.status == "exact"
    assert clock.passed > 0.12


def test_a_time_limit_ends_a_search_within_a_decomposition(all_in_parts, monkeypatch):
    clock = Ticks()
    monkeypatch.setattr(monitor, "time", clock)
    model = KernelRidgeCV(kernel=Gaussian(0.3), time_limit=0.1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, X[:, 0])
    assert any("0 of" in str(one.message) and "time limit" in str(one.message) for one in caught)


# --- parts of the Krylov solver ------------------------------------------------------------------


@pytest.mark.parametrize("work", [1, 1e9])
@pytest.mark.parametrize("dependent", [False, True])
def test_triangular_factors_in_parts(work, dependent, monkeypatch):
    monkeypatch.setattr(krylov, "WORK", work)
    W = random.normal(size=(200, 70)) * 10.0 ** -np.linspace(0, 12, 70)
    if dependent:
        W[:, 40] = W[:, 3] + 1e-13 * W[:, 40]
    Q, R = krylov._triangular(W)
    np.testing.assert_allclose(Q.T @ Q, np.eye(70), atol=1e-13)
    np.testing.assert_array_equal(R, np.triu(R))
    np.testing.assert_allclose(Q @ R, W, atol=1e-13)


def test_singular_vectors_of_large_matrices(monkeypatch):
    R = np.triu(random.normal(size=(60, 60)))
    wanted = np.linalg.svd(R)
    monkeypatch.setattr(krylov, "SMALL", 0)
    left, sizes = krylov._left_singular(R)
    np.testing.assert_allclose(sizes, wanted[1], atol=1e-12)
    counts = sizes > 1e-3  # the smallest is nothing but rounding
    assert 50 < counts.sum() < 60
    np.testing.assert_allclose(left[:, counts].T @ left[:, counts], np.eye(counts.sum()), atol=1e-9)
    np.testing.assert_allclose(np.abs((left * wanted[0]).sum(axis=0))[counts], 1.0, atol=1e-9)


# --- kernels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("small", [0, 800])
def test_matrices_of_one_size(small, monkeypatch):
    monkeypatch.setattr("mercer.linalg.eigen.SMALL", small)
    A = random.normal(size=(3, 20, 20))
    A = A + A.transpose(0, 2, 1)
    values, vectors = eigh_of_each(A)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A), atol=1e-12)
    np.testing.assert_allclose(A @ vectors, vectors * values[:, None], atol=1e-12)
    assert eigh_of_each(np.zeros((0, 5, 5)))[1].shape == (0, 5, 5)
