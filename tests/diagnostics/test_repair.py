"""Repair, centring and alignment of Gram matrices."""

import numpy as np
import pytest
import scipy.optimize

from mercer import alignment, center, repair
from mercer.checks import InputError, InputTypeError
from mercer.kernels import Gaussian, Linear, Polynomial, Spectrum

random = np.random.default_rng(8)
METHODS = ("clip", "flip", "shift", "nearest")


def indefinite(n=12, seed=1):
    """A symmetric matrix with a unit diagonal and negative eigenvalues."""
    A = np.random.default_rng(seed).uniform(-1, 1, size=(n, n))
    K = (A + A.T) / 2
    np.fill_diagonal(K, 1.0)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    return K


# --- repair ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_result_is_positive_and_the_input_untouched(method):
    K = indefinite()
    before = K.copy()
    fixed = repair(K, method)
    assert np.array_equal(K, before)
    values = np.linalg.eigvalsh(fixed.matrix)
    assert values[0] >= -1e-12 * values[-1]
    assert np.array_equal(fixed.matrix, fixed.matrix.T)
    assert np.array_equal(np.asarray(fixed), fixed.matrix)
    assert np.asarray(fixed, dtype=np.float32).dtype == np.float32
    assert fixed.method == method


@pytest.mark.parametrize("method", METHODS)
def test_amounts(method):
    K = indefinite()
    fixed = repair(K, method)
    values = np.linalg.eigvalsh(K)
    assert fixed.change == pytest.approx(np.linalg.norm(fixed.matrix - K), rel=1e-12)
    assert fixed.relative_change == pytest.approx(fixed.change / np.linalg.norm(K), rel=1e-12)
    assert fixed.min_eigenvalue == pytest.approx(values[0], rel=1e-10)
    assert fixed.n_negative == (values < 0).sum() > 0


def test_what_each_method_does_to_the_eigenvalues():
    K = indefinite()
    values, vectors = np.linalg.eigh(K)
    negative = values[values < 0]
    for method, wanted in (("clip", np.maximum(values, 0)), ("flip", np.abs(values))):
        assert np.allclose(repair(K, method).matrix, (vectors * wanted) @ vectors.T, atol=1e-12)
    assert repair(K).change == pytest.approx(np.sqrt((negative**2).sum()), rel=1e-10)
    assert repair(K, "flip").change == pytest.approx(2 * repair(K).change, rel=1e-10)
    shifted = repair(K, "shift").matrix
    off = ~np.eye(12, dtype=bool)
    assert np.array_equal(shifted[off], K[off])
    assert np.allclose(np.diag(shifted), 1 - values[0], rtol=1e-13)


def test_clip_is_the_nearest_of_all():
    K = indefinite()
    changes = {method: repair(K, method).change for method in METHODS}
    assert changes["clip"] <= changes["nearest"] <= changes["shift"]
    for seed in range(5):
        A = np.random.default_rng(seed).normal(size=(12, 12))
        other = repair(K).matrix + 1e-2 * A @ A.T
        assert np.linalg.norm(other - K) > changes["clip"]


@pytest.mark.parametrize("seed", range(3))
def test_nearest_keeps_the_diagonal_and_is_the_optimum(seed):
    A = np.random.default_rng(seed).uniform(-1, 1, size=(3, 3))
    K = (A + A.T) / 2 + 0.2 * (1 - np.eye(3)) * np.sign(A + A.T)
    np.fill_diagonal(K, [1.0, 2.0, 0.5])
    K[0, 1] = K[1, 0] = 1.6 * (-1) ** seed
    assert np.linalg.eigvalsh(K)[0] < -0.05
    fixed = repair(K, "nearest")
    assert np.array_equal(np.diag(fixed.matrix), [1.0, 2.0, 0.5])
    best = np.inf
    # Every positive semi-definite matrix with this diagonal is G'G with columns of these lengths.
    for start in range(6):
        angles = np.random.default_rng(start).normal(size=9)

        def distance(flat):
            G = flat.reshape(3, 3)
            G = G / np.linalg.norm(G, axis=0) * np.sqrt([1.0, 2.0, 0.5])
            return ((G.T @ G - K) ** 2).sum()

        best = min(best, scipy.optimize.minimize(distance, angles, tol=1e-12).fun)
    assert fixed.change**2 == pytest.approx(best, rel=1e-6)
    assert fixed.change < repair(K, "shift").change


def test_nearest_correlation_matrix_of_the_literature():
    # Higham (2002), section 5: the tridiagonal matrix of ones.
    K = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    wanted = [[1.0, 0.7607, 0.1573], [0.7607, 1.0, 0.7607], [0.1573, 0.7607, 1.0]]
    assert np.allclose(repair(K, "nearest").matrix, wanted, atol=5e-5)


def test_nearest_with_a_zero_on_the_diagonal():
    fixed = repair([[0.0, 1.0], [1.0, 1.0]], "nearest").matrix
    assert fixed.tolist() == [[0.0, 0.0], [0.0, 1.0]]
    with pytest.raises(InputError, match=r"must not be negative; got K\[0, 0\] = -1.*\"clip\""):
        repair([[-1.0, 0.0], [0.0, 1.0]], "nearest")


@pytest.mark.parametrize("method", METHODS)
def test_a_good_matrix_stays_as_it_is(method):
    G = random.normal(size=(6, 6))
    K = G @ G.T
    K = (K + K.T) / 2
    fixed = repair(K, method)
    assert np.array_equal(fixed.matrix, K)
    assert fixed.matrix is not K
    assert fixed.change == fixed.relative_change == fixed.n_negative == 0


def test_an_asymmetric_matrix_is_symmetrised_first():
    K = np.array([[2.0, 1.0], [0.0, 2.0]])
    fixed = repair(K)
    assert fixed.matrix.tolist() == [[2.0, 0.5], [0.5, 2.0]]
    assert fixed.change == pytest.approx(np.sqrt(0.5), rel=1e-14)


def test_repair_says_what_must_hold():
    with pytest.raises(InputError, match=r"repair: method must be one of .* Did you mean 'clip'"):
        repair(np.eye(2), "clp")
    with pytest.raises(InputError, match="repair: K must be square"):
        repair(np.ones((2, 3)))
    with pytest.raises(
        InputError, match="repair: K must have finite numbers only; got NaN in row 1"
    ):
        repair([[1.0, 0.0], [np.nan, 1.0]])
    with pytest.raises(InputTypeError, match="repair: K must be a matrix of real numbers"):
        repair([["a"]])
    assert repair(np.empty((0, 0))).change == 0.0


# --- centring ----------------------------------------------------------------------------------


def test_centring_is_centring_of_the_features():
    X = random.normal(size=(20, 3))
    F = Polynomial(2).features(X)
    F = F - F.mean(axis=0)
    assert np.allclose(center(Polynomial(2)(X)), F @ F.T, atol=1e-12)
    K = Gaussian(0.5)(X)
    H = np.eye(20) - np.ones((20, 20)) / 20
    assert np.allclose(center(K), H @ K @ H, atol=1e-14)
    assert np.abs(center(K).sum(axis=0)).max() < 1e-13
    assert np.allclose(center(center(K)), center(K), atol=1e-14)
    assert np.array_equal(K, Gaussian(0.5)(X))
    single = center(K.astype(np.float32))
    assert np.abs(single - center(K)).max() < 1e-6
    with pytest.raises(InputError, match="center: K must be square"):
        center(np.ones((2, 3)))


# --- alignment ---------------------------------------------------------------------------------

Y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
THREE = np.array(["a", "b", "c", "a", "b", "c"])


def test_alignment_is_one_for_the_target_itself():
    assert alignment(np.outer(Y, Y), Y) == pytest.approx(1.0, rel=1e-14)
    assert alignment(np.outer(Y, Y), Y, centered=False) == pytest.approx(1.0, rel=1e-14)
    same = (THREE[:, None] == THREE[None]).astype(float)
    assert alignment(same, THREE) == pytest.approx(1.0, rel=1e-14)
    numbers = np.array([0.5, 1.25, -3.0, 0.1, 2.0, 7.5])
    assert alignment(np.outer(numbers, numbers), numbers) == pytest.approx(1.0, rel=1e-14)
    K = random.normal(size=(6, 6))
    assert alignment(K, K) == pytest.approx(1.0, rel=1e-14)


def test_alignment_by_its_definition():
    X = random.normal(size=(6, 2))
    K = Gaussian(0.3)(X)
    for L, y in ((np.outer(Y, Y), Y), ((THREE[:, None] == THREE[None]).astype(float), THREE)):
        plain = (K * L).sum() / np.linalg.norm(K) / np.linalg.norm(L)
        assert alignment(K, y, centered=False) == pytest.approx(plain, rel=1e-13)
        H = np.eye(6) - 1 / 6
        Kc, Lc = H @ K @ H, H @ L @ H
        centred = (Kc * Lc).sum() / np.linalg.norm(Kc) / np.linalg.norm(Lc)
        assert alignment(K, y) == pytest.approx(centred, rel=1e-12)
        assert alignment(Gaussian(0.3), y, X) == pytest.approx(centred, rel=1e-12)


def test_alignment_does_not_see_scale_order_or_names():
    K = Gaussian(0.3)(random.normal(size=(6, 2)))
    wanted = alignment(K, Y)
    assert alignment(1e-6 * K, Y) == pytest.approx(wanted, rel=1e-12)
    assert alignment(K + 5.0, Y) == pytest.approx(wanted, rel=1e-12)  # an offset is centred away
    order = np.array([5, 0, 3, 1, 4, 2])
    assert alignment(K[np.ix_(order, order)], Y[order]) == pytest.approx(wanted, rel=1e-12)
    for labels in (-Y, Y > 0, np.where(Y > 0, "yes", "no"), (3 + Y).astype(int), Y * 2.5):
        assert alignment(K, labels) == pytest.approx(wanted, rel=1e-12)
    assert alignment(-K, Y) == pytest.approx(-wanted, rel=1e-12)


def test_a_better_kernel_is_better_aligned():
    X = np.concatenate([random.normal(size=(20, 2)) - 2, random.normal(size=(20, 2)) + 2])
    y = np.repeat([0, 1], 20)
    assert alignment(Linear(), y, X) > alignment(Gaussian(100.0), y, X)
    assert alignment(Spectrum(1), [0, 0, 1], ["aa", "ab", "cc"]) > 0.5


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            (np.eye(3), [1, 2]),
            r"y must be 3 labels or numbers, or an 3 x 3 matrix; got shape \(2,\)",
        ),
        ((np.eye(3), None), "y must be 3 labels"),
        ((np.eye(3), [0.5, np.nan, 1.0]), "y must be finite; got nan at index 1"),
        ((np.eye(3), [1j, 2.0, 3.0]), "y must be 3 numbers"),
        ((np.eye(3), [1, 1, 1]), "neither matrix may vanish; got a constant kernel or target"),
        ((np.ones((3, 3)), [1, 2, 1]), "neither matrix may vanish"),
        ((np.ones((2, 3)), [1, 2]), "K must be square"),
        ((Gaussian(), [1, 2, 3]), "a kernel needs points X"),
        ((np.eye(3), [1, 2, 3], np.eye(3)), "with points X comes a kernel"),
        ((np.eye(2), [[1.0, np.inf], [0.0, 1.0]]), "y must have finite numbers only"),
    ],
)
def test_alignment_says_what_must_hold(arguments, told):
    with pytest.raises(InputError, match=told):
        alignment(*arguments)
