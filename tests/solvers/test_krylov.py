"""The largest eigenvalues of a centred Gram matrix, against NumPy's of the matrix itself."""

import numpy as np
import pytest
from numpy.linalg import eigh, norm

from mercer.grams import prepare
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed
from mercer.monitor import Monitor, Stopped
from mercer.solvers import DenseEigen, Krylov
from mercer.solvers.eigen import krylov
from mercer.solvers.eigen.centred import Centred

N = 150


def centred(K, weight=None):
    """S C K C' S with C = I - 1 w' / W, written out."""
    n = len(K)
    w = np.ones(n) if weight is None else weight
    C = np.eye(n) - np.outer(np.ones(n), w) / w.sum()
    return np.sqrt(w)[:, None] * (C @ K @ C.T) * np.sqrt(w)


def matrix(spectrum, seed=0, mean=0.0):
    """A matrix whose centred form has these eigenvalues, with a mean on top of it."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(N, len(spectrum)))
    vectors -= vectors.mean(axis=0)
    Q = np.linalg.qr(vectors)[0]
    K = Q @ np.diag(spectrum) @ Q.T + mean
    return (K + K.T) / 2


def gram(K, monitor=None):
    return prepare(Precomputed(), K).gram(monitor=monitor)


def solve(K, count, weight=None, monitor=None, **settings):
    given = {"tol": 1e-6, "max_iter": 200, "seed": 0, "room": 10 * (count + 10)} | settings
    roots = np.ones(len(K)) if weight is None else np.sqrt(weight)
    monitor = monitor or Monitor()
    return Krylov(**given).solve(gram(K, monitor), roots, count, monitor)


SPECTRA = {
    "rapid decay": 0.5 ** np.arange(60.0),
    "slow decay": 1.0 / (1 + np.arange(140.0)) ** 0.5,
    "flat": np.linspace(2.0, 1.0, 140),
    "repeated": np.repeat([5.0, 3.0, 2.0, 1.0], [3, 30, 2, 100]),
    "clustered": np.concatenate([1 + 1e-9 * np.arange(8), np.full(100, 0.1)]),
    "all the same": np.ones(149),
    "low rank": np.array([3.0, 2.0, 1.0]),
    "one": np.array([7.0]),
}


@pytest.mark.parametrize("tol", [1e-6, 1e-11])
@pytest.mark.parametrize("mean", [0.0, 1e3])
@pytest.mark.parametrize("name", SPECTRA)
def test_any_spectrum(name, mean, tol):
    K, count = matrix(SPECTRA[name], mean=mean), 6
    A = centred(K)
    wanted = eigh(A)[0][::-1][:count]
    found = solve(K, count, tol=tol)
    assert found.status == "converged"
    assert found.residual <= tol
    # The second-order bound of a value needs a gap; its residual is a bound without one.
    assert np.allclose(found.values, wanted, rtol=0, atol=max(tol, 1e-11) * wanted[0])
    U = found.vectors
    assert np.allclose(U.T @ U, np.eye(count), rtol=0, atol=1e-10)
    assert np.allclose(U.sum(axis=0), 0, atol=1e-10)
    independent = norm(A @ U - U * found.values, axis=0) / found.values[0]
    rounding = 1e-16 * norm(K) / found.values[0]
    assert np.allclose(independent, found.residuals, rtol=1e-3, atol=1e-13 + rounding)
    assert np.allclose(found.products, K @ U, rtol=0, atol=1e-10 * norm(K))
    assert np.allclose(found.means, K.mean(axis=1), rtol=1e-12, atol=1e-12)
    assert found.trace == pytest.approx(np.trace(A), rel=1e-9)


def test_the_subspace_is_that_of_the_definition():
    K = matrix(SPECTRA["rapid decay"])
    wanted = eigh(centred(K))[1][:, ::-1][:, :6]
    found = solve(K, 6, tol=1e-10).vectors
    assert np.allclose(wanted @ wanted.T, found @ found.T, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["slow decay", "flat", "rapid decay"])
def test_little_room_means_more_passes_and_the_same_result(name):
    K, passes = matrix(SPECTRA[name]), []
    wanted = eigh(centred(K))[0][::-1][:4]
    for room in (3 * 14, 10 * 14):
        found = solve(K, 4, room=room)
        assert found.status == "converged"
        assert found.residual <= 1e-6
        assert np.allclose(found.values, wanted, rtol=0, atol=1e-6 * wanted[0])
        passes.append(found.iterations)
    assert passes[0] >= passes[1]
    assert name != "flat" or passes[0] > passes[1]


@pytest.mark.parametrize("way", ["dense", "krylov"])
def test_weights_are_repetitions(way):
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 3))
    weight = random.integers(1, 4, 60).astype(float)
    K = Gaussian(0.3)(X)
    again = np.repeat(np.arange(60), weight.astype(int))
    wanted = eigh(centred(K[np.ix_(again, again)]))[0][::-1][:5]
    if way == "dense":
        found = DenseEigen().solve(gram(K), np.sqrt(weight), 5, Monitor())
    else:
        found = solve(K, 5, weight, tol=1e-9)
    assert np.allclose(found.values, wanted, rtol=1e-8)
    A = centred(K, weight)
    assert np.allclose(A @ found.vectors, found.vectors * found.values, atol=1e-7)
    assert np.allclose(Centred(gram(K), np.sqrt(weight)).dense(), A, rtol=0, atol=1e-12)
    assert found.trace == pytest.approx(np.trace(A), rel=1e-10)
    assert np.allclose(found.means, K @ weight / weight.sum(), rtol=1e-12)


@pytest.mark.parametrize("count", [1, 5, N])
def test_dense_is_numpy(count):
    K = matrix(SPECTRA["slow decay"], mean=3.0)
    found = DenseEigen().solve(gram(K), np.ones(N), count, Monitor())
    wanted, vectors = eigh(centred(K))
    assert found.status == "exact"
    assert np.allclose(found.values, wanted[::-1][:count], rtol=0, atol=1e-12)
    assert found.residual < 1e-13
    same = np.abs(np.einsum("ij,ij->j", found.vectors, vectors[:, ::-1][:, :count]))
    assert np.allclose(same[:139], 1, rtol=1e-6)
    assert np.allclose(found.vectors.T @ found.vectors, np.eye(count), atol=1e-12)
    assert found.lowest == 0.0


def test_values_that_are_all_the_same_are_all_found():
    # For about every tenth of these LAPACK's quickest method returns fewer than it was asked for.
    for seed in range(50):
        Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(100, 98)))[0]
        K = 0.739 * Q @ Q.T
        found = DenseEigen().solve(gram((K + K.T) / 2), np.ones(100), 11, Monitor())
        assert np.allclose(found.values, np.full(11, 0.739), rtol=1e-12)
        assert found.residual < 1e-12
        assert np.allclose(found.vectors.T @ found.vectors, np.eye(11), atol=1e-10)


def test_the_order_is_that_of_the_values():
    spectrum = np.concatenate([np.ones(3), -np.linspace(0.1, 2, 120)])
    found = DenseEigen().solve(gram(matrix(spectrum)), np.ones(N), N, Monitor())
    assert (np.diff(found.values) <= 0).all()
    assert np.allclose(found.values, eigh(centred(matrix(spectrum)))[0][::-1], atol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(0.1), Linear(), Polynomial(2)], ids=repr)
@pytest.mark.parametrize("store", [True, False, None])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_kind_of_gram(kernel, store, dtype):
    X = (np.random.default_rng(2).normal(size=(700, 4)) + 1).astype(dtype)
    K = prepare(kernel, X).gram(store=store)
    wanted = eigh(centred(K.dense().astype(float)))[0][::-1][:4]
    found = Krylov(tol=1e-6, max_iter=100, seed=0, room=140).solve(K, np.ones(700), 4, Monitor())
    assert found.status == "converged"
    assert found.residual <= 1e-6
    assert np.allclose(found.values, wanted, rtol=0, atol=2e-6 * wanted[0])


def test_negative_eigenvalues_are_seen():
    spectrum = np.concatenate([0.9 ** np.arange(50.0), [-0.4]])
    for found in (
        solve(matrix(spectrum), 3),
        DenseEigen().solve(gram(matrix(spectrum)), np.ones(N), 3, Monitor()),
    ):
        assert np.allclose(found.values, [1, 0.9, 0.81], atol=1e-6)
        assert found.lowest == pytest.approx(-0.4, rel=1e-3)
    assert solve(matrix(0.9 ** np.arange(50.0)), 3).lowest > -1e-12
    mostly = np.concatenate([-np.ones(120), [1e-3]])
    assert solve(matrix(mostly), 1).values == pytest.approx([1e-3], rel=1e-5)
    below = DenseEigen().solve(gram(-np.eye(N)), np.ones(N), 3, Monitor())
    assert np.allclose(below.values, [0, -1, -1])
    assert below.lowest == pytest.approx(-1)


@pytest.mark.parametrize("K", [np.zeros((N, N)), np.full((N, N), 4.0)], ids=["0", "4"])
def test_nothing_but_a_mean(K):
    for found in (solve(K, 3), DenseEigen().solve(gram(K), np.ones(N), 3, Monitor())):
        assert found.status in ("converged", "exact")
        assert (found.values <= found.zero).all()
        assert found.residual == 0


def test_a_part_that_the_guess_has_missed_is_found(monkeypatch):
    # Two blocks without anything in common; the guess knows the columns of the first alone.
    K = np.zeros((N, N))
    K[:100, :100] = Gaussian(0.2)(np.random.default_rng(3).normal(size=(100, 2)))
    K[100:, 100:] = 3 * Gaussian(0.2)(np.random.default_rng(4).normal(size=(50, 2)))
    whole = krylov.partial_cholesky

    def blind(G, rank, random, roots):
        first = np.zeros((N, N))
        first[:100, :100] = K[:100, :100]
        return whole(gram(first), rank, random, roots)

    monkeypatch.setattr(krylov, "partial_cholesky", blind)
    found = solve(K, 8)
    wanted = eigh(centred(K))[0][::-1][:8]
    assert found.status == "converged"
    assert np.allclose(found.values, wanted, rtol=0, atol=1e-6 * wanted[0])


def test_the_same_seed_gives_the_same_bits():
    K = matrix(SPECTRA["slow decay"])
    first, second, other = (solve(K, 4, seed=seed) for seed in (5, 5, 6))
    assert np.array_equal(first.vectors, second.vectors)
    assert not np.array_equal(first.vectors, other.vectors)
    assert np.allclose(first.values, other.values, atol=1e-6)


# --- stopped ----------------------------------------------------------------------------------


def test_few_passes_are_measured_too():
    K = matrix(SPECTRA["flat"])
    found = solve(K, 4, max_iter=2)
    assert found.status == "iteration limit"
    assert found.iterations == 3  # one more, to measure
    A = centred(K)
    left = norm(A @ found.vectors - found.vectors * found.values, axis=0) / found.values[0]
    assert np.allclose(left, found.residuals, rtol=1e-6)
    assert left.max() > 1e-6


def test_stopped_after_a_pass_what_is_known_is_told():
    K, told = matrix(SPECTRA["flat"], mean=2.0), []

    def callback(record):
        told.append(record)
        return len(told) == 2

    found = solve(K, 4, monitor=Monitor(callback=callback))
    assert found.status == "cancelled"
    assert [record["iteration"] for record in told] == [1, 2]
    assert 0 < told[0]["fraction"] <= told[1]["fraction"] < 1
    A = centred(K)
    left = norm(A @ found.vectors - found.vectors * found.values, axis=0) / found.values[0]
    assert np.allclose(left, found.residuals, rtol=1e-6)  # the basis knows without a product
    assert np.allclose(found.means, K.mean(axis=1), rtol=1e-12)
    assert np.allclose(found.products, K @ found.vectors, atol=3 * left.max())


def test_stopped_while_it_is_measured(monkeypatch):
    def products(A, V):
        raise Stopped("time limit")

    K = matrix(SPECTRA["rapid decay"])
    wanted = solve(K, 4)
    monkeypatch.setattr(Centred, "products", products)
    found = solve(K, 4)
    assert (found.status, found.iterations) == ("time limit", wanted.iterations - 1)
    assert found.residual <= 1e-6
    assert np.allclose(found.values, wanted.values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("way", ["dense", "krylov"])
def test_stopped_at_once_there_is_nothing(way):
    monitor = Monitor()
    monitor.cancel()
    K = matrix(SPECTRA["flat"])
    if way == "dense":
        found = DenseEigen().solve(gram(K, monitor), np.ones(N), 4, monitor)
    else:
        found = solve(K, 4, monitor=monitor)
    assert found.status == "cancelled"
    assert not found.values.any()
    assert np.isnan(found.residuals).all()


def test_an_accuracy_beyond_rounding_is_not_claimed():
    X = np.random.default_rng(5).normal(size=(400, 3)).astype(np.float32)
    K = prepare(Gaussian(0.1), X).gram(store=True)
    found = Krylov(tol=1e-12, max_iter=100, seed=0, room=140).solve(K, np.ones(400), 4, Monitor())
    assert found.status == "stagnated"
    assert 1e-12 < found.residual < 1e-6


def test_the_basis_fits_what_it_may_have():
    block = Krylov.block(10_000, 50)
    assert block == 64
    assert Krylov.room_within(10_000, 50, np.inf) == 10 * block
    assert Krylov.room_within(10_000, 50, 0) == 3 * block
    between = Krylov.bytes(10_000, 200, 5 * 224)
    assert Krylov.room_within(10_000, 200, between) == 5 * 224
