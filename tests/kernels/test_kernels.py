"""Every kernel against a slow double loop, and against values worked out by hand."""

import math
from functools import partial

import numpy as np
import oracles
import pytest
import samples
import scipy.sparse
from numpy.testing import assert_allclose

from mercer import check_kernel
from mercer.checks import InputError, InputTypeError, KernelError
from mercer.inputs import Objects
from mercer.kernels import (
    Categorical,
    Chi2,
    Constant,
    ExpDot,
    Exponential,
    FunctionKernel,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    LpNorm,
    Matern,
    NormalizedIntersection,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    SetIntersection,
    Sigmoid,
    Spectrum,
    SumPower,
    Tanimoto,
)

ROWS = samples.rows(9, 3)
LEVELS = samples.levels()
COUNTS = samples.counts()
HISTOGRAMS = samples.histograms()
SETS = samples.sets()
STRINGS = samples.strings()
TOKENS = [["to", "be", "or"], ("not", "to", "be"), [], ["be"], [1, 1, 1, "be"]]
BYTES = [b"abab", b"baba", b""]


def radial(shape, *lengths):
    """The pair function of a kernel of the scaled distance."""
    return lambda x, y: shape(oracles.scaled_distance(x, y, *lengths))


CASES = [
    (Constant(2.5), ROWS, lambda x, y: 2.5),
    (Linear(), ROWS, oracles.dot),
    (Polynomial(), ROWS, partial(oracles.polynomial, degree=3, gamma=1.0, coef0=1.0)),
    (Polynomial(1, 0.5, 0.0), ROWS, partial(oracles.polynomial, degree=1, gamma=0.5, coef0=0.0)),
    (Polynomial(4, 0.3, 2.0), ROWS, partial(oracles.polynomial, degree=4, gamma=0.3, coef0=2.0)),
    (ExpDot(), ROWS, partial(oracles.exp_dot, gamma=1.0)),
    (ExpDot(0.2), ROWS, partial(oracles.exp_dot, gamma=0.2)),
    (Sigmoid(), ROWS, partial(oracles.sigmoid, gamma=1.0, coef0=0.0)),
    (Sigmoid(0.5, -1.0), ROWS, partial(oracles.sigmoid, gamma=0.5, coef0=-1.0)),
    (Gaussian(0.7), ROWS, lambda x, y: oracles.gaussian(x, y, 0.7, 0.7, 0.7)),
    (Gaussian([0.5, 0.0, 2.0]), ROWS, lambda x, y: oracles.gaussian(x, y, 0.5, 0.0, 2.0)),
    (Gaussian(sigma=2.0), ROWS, lambda x, y: oracles.gaussian(x, y, 0.125, 0.125, 0.125)),
    (Laplacian(0.7), ROWS, lambda x, y: oracles.laplacian(x, y, 0.7, 0.7, 0.7)),
    (Laplacian((0.5, 0.0, 2.0)), ROWS, lambda x, y: oracles.laplacian(x, y, 0.5, 0.0, 2.0)),
    (Exponential(2.0), ROWS, radial(lambda r: math.exp(-r), 2.0, 2.0, 2.0)),
    (Exponential([1.0, 2.0, 3.0]), ROWS, radial(lambda r: math.exp(-r), 1.0, 2.0, 3.0)),
    (LpNorm(), ROWS, partial(oracles.lp_norm, p=1.0, q=1.0)),
    (LpNorm(1.5, 0.8, 2.0), ROWS, partial(oracles.lp_norm, p=1.5, q=0.8, lengths=(2.0, 2.0, 2.0))),
    (LpNorm(2.0, 1.2), ROWS, partial(oracles.lp_norm, p=2.0, q=1.2)),
    (
        LpNorm(0.6, 0.6, [1.0, 2.0, 3.0]),
        ROWS,
        partial(oracles.lp_norm, p=0.6, q=0.6, lengths=(1.0, 2.0, 3.0)),
    ),
    (SumPower(), ROWS, partial(oracles.sum_power, q=1.0, power=2, constant=0.0)),
    (SumPower(1.4, 3, 0.3), ROWS, partial(oracles.sum_power, q=1.4, power=3, constant=0.3)),
    (
        SumPower(2.0, 1, 0.1, [1.0, 2.0, 3.0]),
        ROWS,
        partial(oracles.sum_power, q=2.0, power=1, constant=0.1, lengths=(1.0, 2.0, 3.0)),
    ),
    (Matern(0.5, 2.0), ROWS, radial(lambda r: math.exp(-r), 2.0, 2.0, 2.0)),
    (Matern(), ROWS, radial(partial(oracles.matern, nu=1.5), 1.0, 1.0, 1.0)),
    (Matern(2.5, [1.0, 2.0, 3.0]), ROWS, radial(partial(oracles.matern, nu=2.5), 1.0, 2.0, 3.0)),
    (Matern(0.3), ROWS, radial(partial(oracles.matern, nu=0.3), 1.0, 1.0, 1.0)),
    (Matern(3.7, 0.5), ROWS, radial(partial(oracles.matern, nu=3.7), 0.5, 0.5, 0.5)),
    (Matern(40.0), ROWS, radial(partial(oracles.matern, nu=40.0), 1.0, 1.0, 1.0)),
    (
        RationalQuadratic(),
        ROWS,
        radial(partial(oracles.rational_quadratic, alpha=1.0), 1.0, 1.0, 1.0),
    ),
    (
        RationalQuadratic(0.4, (1.0, 2.0, 0.5)),
        ROWS,
        radial(partial(oracles.rational_quadratic, alpha=0.4), 1.0, 2.0, 0.5),
    ),
    (Periodic(), ROWS, lambda x, y: oracles.periodic(x, y, 1.0, 1.0, 1.0, 1.0)),
    (Periodic((0.5, 2.0, 3.0), 1.5), ROWS, lambda x, y: oracles.periodic(x, y, 1.5, 0.5, 2.0, 3.0)),
    (Categorical(), LEVELS, lambda x, y: oracles.categorical(x, y, 1.0, 1.0, 1.0)),
    (Categorical([0.5, 0.0, 2.0]), LEVELS, lambda x, y: oracles.categorical(x, y, 0.5, 0.0, 2.0)),
    (Intersection(), COUNTS, oracles.intersection),
    (Intersection(), HISTOGRAMS, oracles.intersection),
    (NormalizedIntersection(), COUNTS, oracles.normalized_intersection),
    (NormalizedIntersection(), HISTOGRAMS, oracles.normalized_intersection),
    (Chi2(), COUNTS, partial(oracles.chi2, gamma=1.0)),
    (Chi2(0.3), HISTOGRAMS, partial(oracles.chi2, gamma=0.3)),
    (Tanimoto(), COUNTS, oracles.ruzicka),
    (Tanimoto(), HISTOGRAMS, oracles.ruzicka),
    (Tanimoto(), HISTOGRAMS / 1000, oracles.ruzicka),
    (Tanimoto(), SETS, oracles.tanimoto),
    (SetIntersection(), SETS, oracles.common),
    (Spectrum(1), STRINGS, partial(oracles.spectrum, n=1)),
    (Spectrum(2), STRINGS, partial(oracles.spectrum, n=2)),
    (Spectrum(3, blended=True), STRINGS, partial(oracles.blended_spectrum, n=3)),
    (Spectrum(50, blended=True), STRINGS, partial(oracles.blended_spectrum, n=50)),
    (Spectrum(2), TOKENS, partial(oracles.spectrum, n=2)),
    (Spectrum(2, blended=True), TOKENS, partial(oracles.blended_spectrum, n=2)),
    (Spectrum(2), BYTES, partial(oracles.spectrum, n=2)),
    (FunctionKernel(samples.row_product), ROWS, oracles.dot),
    (FunctionKernel(oracles.dot, pairwise=True), ROWS, oracles.dot),
    (FunctionKernel(oracles.common, pairwise=True), SETS, oracles.common),
]

every_case = pytest.mark.parametrize(
    ("kernel", "X", "pair"), CASES, ids=[repr(kernel) for kernel, *_ in CASES]
)


@every_case
def test_gram_is_the_double_loop(kernel, X, pair):
    Y = X[2:5]
    assert_allclose(kernel(X), oracles.gram(pair, X), rtol=1e-12, atol=1e-13)
    assert_allclose(kernel(X, Y), oracles.gram(pair, X, Y), rtol=1e-12, atol=1e-13)
    assert_allclose(kernel(Y, X), oracles.gram(pair, Y, X), rtol=1e-12, atol=1e-13)


@every_case
def test_definition_is_the_double_loop(kernel, X, pair):
    Y = X[2:5]
    assert_allclose(kernel.formula(X), oracles.gram(pair, X), rtol=1e-12, atol=1e-13)
    assert_allclose(kernel.formula(X, Y), oracles.gram(pair, X, Y), rtol=1e-12, atol=1e-13)
    assert kernel.pair(X[0], X[1]) == pytest.approx(pair(X[0], X[1]), rel=1e-12, abs=1e-13)


@every_case
def test_diagonal_and_distance_are_the_double_loop(kernel, X, pair):
    assert_allclose(kernel.diag(X), [pair(x, x) for x in X], rtol=1e-12, atol=1e-13)
    if kernel.name == "Sigmoid":
        return  # not Mercer, so it has no distance
    wanted = oracles.gram(oracles.distance(pair), X, X[2:5])
    # A distance near 0 is the root of a rounding error.
    assert_allclose(kernel.distance(X, X[2:5]), wanted, rtol=1e-10, atol=1e-6)
    assert_allclose(kernel.distance(X[2:5], X, squared=True), wanted.T**2, rtol=1e-10, atol=1e-12)
    assert_allclose(np.diag(kernel.distance(X)), 0.0, atol=0.0)


@every_case
def test_cosine_form_is_the_double_loop(kernel, X, pair):
    if kernel.diag(X).min() < 0:
        with pytest.raises(ValueError, match=r"Normalized: k\(x, x\) must not be negative; got -"):
            kernel.normalized()(X)
        return
    wanted = oracles.gram(oracles.cosine(pair), X)
    assert_allclose(kernel.normalized()(X), wanted, rtol=1e-12, atol=1e-13)
    assert_allclose(kernel.normalized().diag(X), np.diag(wanted), rtol=1e-12, atol=1e-13)


def test_bessel_oracle_is_right():
    """K_1/2(z) = sqrt(pi / (2 z)) exp(-z), and K_3/2(z) = K_1/2(z) (1 + 1/z)."""
    for z in (0.01, 1.0, 30.0):
        half = math.sqrt(math.pi / (2.0 * z)) * math.exp(-z)
        assert oracles.bessel_k(0.5, z) == pytest.approx(half, rel=1e-13)
        assert oracles.bessel_k(1.5, z) == pytest.approx(half * (1.0 + 1.0 / z), rel=1e-13)


# --- values worked out by hand ------------------------------------------------------------------

X1, X2 = (1.0, 2.0, 0.0, 3.0), (2.0, 1.0, 1.0, 0.0)
A, B = {1, 2, 3}, {2, 3, 4, 5}


@pytest.mark.parametrize(
    ("kernel", "x", "y", "wanted"),
    [
        (Linear(), (1, 2), (3, -1), 1),
        (Polynomial(2), (1, 2), (3, -1), 4),
        (Polynomial(3, gamma=2.0, coef0=0.5), (1, 2), (3, -1), 2.5**3),
        (Gaussian(0.5), (0, 0), (1, 1), math.exp(-1)),
        (Gaussian(sigma=1.0), (0, 0), (1, 1), math.exp(-1)),
        (Laplacian(0.5), (0, 0), (1, -1), math.exp(-1)),
        (Exponential(2.5), (0, 0), (3, 4), math.exp(-2)),
        (LpNorm(0.5, 0.5, 2.0), (0, 0), (2, 2), math.exp(-2)),
        (LpNorm(1.5, 0.75), (0, 0), (1, 4), math.exp(-3)),
        (SumPower(1.0, 2, 0.0), (0, 0), (0, math.log(2)), 0.5625),
        (SumPower(2.0, 1, 0.5, 2.0), (0,), (2,), 0.5 + 0.5 / math.e),
        (Matern(0.5), (0, 0), (3, 4), math.exp(-5)),
        (Matern(1.5, math.sqrt(3)), (0,), (1,), 2 / math.e),
        (Matern(2.5, math.sqrt(5)), (0,), (1,), (7 / 3) / math.e),
        (RationalQuadratic(1.0), (0,), (2,), 1 / 3),
        (Periodic(4.0), (0,), (1,), math.exp(-1)),
        (Periodic(4.0), (1,), (401,), 1),
        (Intersection(), X1, X2, 2),
        (Intersection().normalized(), X1, X2, 0.408248290463863),
        (NormalizedIntersection(), X1, X2, math.sqrt(2)),
        (Tanimoto(), X1, X2, 0.25),
        (Chi2(3.0), (1, 0, 2), (2, 0, 0), math.exp(-7)),
        (Categorical(0.5), (1, 2, 3), (1, 3, 2), math.exp(-1)),
        (SetIntersection(), A, B, 2),
        (SetIntersection().normalized(), A, B, 0.5773502691896258),
        (Tanimoto(), A, B, 0.4),
        (Tanimoto(), set(), set(), 0),
        (SetIntersection().normalized(), set(), A, 0),
        (Spectrum(2), "abab", "baba", 4),
        (Spectrum(2), "abab", "abab", 5),
        (Spectrum(2).normalized(), "abab", "baba", 0.8),
        (Spectrum(2, blended=True), "abab", "baba", 12),
        (Spectrum(2, blended=True), "abab", "abab", 13),
        (Spectrum(3), "statistics", "computation", 2),
        (Spectrum(3), "statistics", "statistics", 8),
        (Spectrum(3), "computation", "computation", 9),
        (Spectrum(2), "a", "a", 0),
        (Spectrum(1), "ab", ["a", "b"], 2),  # a string is the sequence of its characters
    ],
)
def test_hand_values(kernel, x, y, wanted):
    assert kernel([x], [y])[0, 0] == pytest.approx(wanted, rel=1e-14)
    assert kernel([y], [x])[0, 0] == pytest.approx(wanted, rel=1e-14)
    assert kernel.pair(x, y) == pytest.approx(wanted, rel=1e-14)


def test_three_normalised_histogram_intersections_differ():
    """L1-normalised first, cosine, and min over max: 5/12, 2/sqrt(24), 1/4."""
    shares = Intersection().of(lambda X: X / X.sum(axis=1, keepdims=True))
    assert shares([X1], [X2])[0, 0] == pytest.approx(5 / 12, rel=1e-15)


def test_squared_city_block_distance_is_not_mercer():
    """Lecture B1: exp(-||x-y||_1**2 / 4) on five points has the eigenvalue -0.1006."""
    cross = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=float)
    slip = FunctionKernel(lambda x, y: math.exp(-0.25 * np.abs(x - y).sum() ** 2), pairwise=True)
    found = check_kernel(slip, cross)
    a, b = math.exp(-0.25), math.exp(-1)
    by_hand = 1 + 1.5 * b - math.sqrt(2.25 * b**2 + 4 * a**2)
    assert found.min_eigenvalue == pytest.approx(by_hand, abs=1e-14)
    assert found.min_eigenvalue == pytest.approx(-0.1006, abs=5e-5)
    assert not found.is_psd
    assert found.witness @ slip(cross) @ found.witness == pytest.approx(by_hand, abs=1e-14)
    assert check_kernel(Laplacian(0.25), cross).is_psd


def test_overlap_of_sets_is_not_mercer():
    """|A & B| / min(|A|, |B|) on {0}, {1}, {0, 1} has the eigenvalue 1 - sqrt(2)."""
    overlap = FunctionKernel(lambda a, b: len(a & b) / min(len(a), len(b)), pairwise=True)
    points = [{0}, {1}, {0, 1}]
    assert check_kernel(overlap, points).min_eigenvalue == pytest.approx(1 - math.sqrt(2))
    for mercer in (SetIntersection(), SetIntersection().normalized(), Tanimoto()):
        assert check_kernel(mercer, points).is_psd


def test_sigmoid_says_where_it_is_not_mercer():
    """Lecture E2: tanh(x.y - 1) on (0), (1), (2) has k(0, 0) = tanh(-1) < 0."""
    points = [[0.0], [1.0], [2.0]]
    found = check_kernel(Sigmoid(1.0, -1.0), points)
    assert not found.is_psd
    assert found.min_eigenvalue <= math.tanh(-1)
    assert "not a Mercer kernel" in str(found)
    assert check_kernel(Sigmoid(0.1, 1.0), [[0.0]]).is_psd


def test_distance_in_feature_space():
    """Lectures B10 and E1: of the plain space for Linear, sqrt(2 - 2k) on the unit sphere."""
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert_allclose(Linear().distance(X), [[0, 5], [5, 0]])
    assert_allclose(Linear().distance(X, squared=True), [[0, 25], [25, 0]])
    assert_allclose(Gaussian(0.1).distance(X)[0, 1], math.sqrt(2 - 2 * math.exp(-2.5)))
    assert_allclose(SetIntersection().distance([A], [B]), [[math.sqrt(3 - 4 + 4)]])


def test_matern_at_its_limits():
    points = np.array([[0.0], [1e-200], [1e-9], [1e3], [1e200]])
    for nu in (0.1, 0.8, 7.3, 40.0):
        K = Matern(nu).formula(points)
        assert_allclose(np.diag(K), 1.0, atol=0.0)
        assert np.all((K >= 0) & (K <= 1 + 1e-14))
        assert_allclose(K[0, 4], 0.0, atol=0.0)
    # 1 - Gamma(1-nu)/Gamma(1+nu) (s/2)**(2 nu) + …: for a small nu, 1e-9 is far from 0
    s = math.sqrt(0.2) * 1e-9
    near = 1 - math.gamma(0.9) / math.gamma(1.1) * (s / 2) ** 0.2
    assert Matern(0.1).pair([0.0], [1e-9]) == pytest.approx(near, rel=1e-3)
    assert Matern(0.1).pair([0.0], [1e-9]) == pytest.approx(oracles.matern(1e-9, 0.1), rel=1e-12)


def test_periodic_keeps_its_digits_after_many_turns():
    assert Periodic(0.5).pair([0.125], [1e6 + 0.125]) == 1.0


def test_a_precomputed_matrix_is_its_own_kernel():
    K = Gaussian(0.5).formula(ROWS)
    assert_allclose(Precomputed()(K), K, atol=0)
    assert_allclose((2 * Precomputed() + 1)(K), 2 * K + 1, rtol=1e-15)
    assert_allclose(Precomputed().distance(K), Gaussian(0.5).distance(ROWS), rtol=1e-12, atol=1e-7)
    assert_allclose((4 * Precomputed()).normalized()(K), K, rtol=1e-14)
    assert_allclose(Precomputed()(K[:2], K), K[:2], atol=0)  # new rows by training columns
    assert Precomputed()(K.astype(np.float32)).dtype == np.float32
    with pytest.raises(InputError, match=r"k\(x, x\) is known for training points only"):
        Precomputed().normalized()(K[:2], K)
    with pytest.raises(
        InputError, match=r"one column for each of the 9 training points; got shape"
    ):
        Precomputed()(K[:2, :3], K)


# --- points that a kernel refuses ---------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", [Intersection(), NormalizedIntersection(), Chi2(), Tanimoto()], ids=repr
)
def test_negative_entries_are_refused(kernel):
    X = [[1.0, 0.0], [0.5, -2.0]]
    must = rf"{kernel.name}: X must have no negative entries.*got -2 in row 1, column '?1'?"
    for expression in (kernel, kernel + 1, 2 * kernel.normalized(), kernel.on([1, 0]).on([1, 0])):
        for use in (expression, expression.formula, expression.diag):
            with pytest.raises(InputError, match=must):
                use(X)
    sparse = scipy.sparse.csr_array(X)
    for part, points in ((kernel.on([1]), X), (kernel, sparse), (kernel.on([-1]), sparse)):
        with pytest.raises(InputError, match=must):
            part(points)
    assert_allclose(kernel.on([0])(X), kernel([[1.0], [0.5]]))


@pytest.mark.parametrize(
    ("kernel", "X", "error", "match"),
    [
        (SetIntersection(), [{1}, None], InputTypeError, "SetIntersection.*got None.*index 1"),
        (SetIntersection(), [{1}, [1]], InputTypeError, r"set or frozenset.*got \[1\].*index 1"),
        (SetIntersection(), np.ones((2, 2)), InputTypeError, "SetIntersection: X must be sets"),
        (Spectrum(2), ["ab", 3], InputTypeError, "Spectrum.*string.*got 3 .int. at index 1"),
        (Spectrum(2), "abab", InputTypeError, "Spectrum.*sequence of strings.*one string"),
        (Spectrum(2), [[{"unhashable"}]], InputTypeError, "Spectrum.*hashable tokens.*index 0"),
        (Spectrum(2), ["ab", [(1, [2])]], InputTypeError, "Spectrum.*hashable tokens.*index 1"),
        (Linear(), ["ab", "cd"], InputTypeError, "Linear: X must be rows of numbers"),
        (Linear(), [1.0, 2.0], InputError, "Linear: X must be 2-D"),
        (Linear(), Objects(["a"]), KernelError, "this statistic takes rows of numbers; got a seq"),
        (Precomputed(), [1.0, 2.0], InputError, "Precomputed: X must be 2-D, one row per point"),
    ],
)
def test_wrong_points_are_refused(kernel, X, error, match):
    for use in (kernel, kernel.formula, kernel.diag):
        with pytest.raises(error, match=match):
            use(X)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0), Laplacian(1.0), Categorical()])
def test_widths_must_agree(kernel):
    for use in (kernel, kernel.formula, kernel.distance):
        with pytest.raises(InputError, match="X and Y must have the same columns; got 3 and 2"):
            use(ROWS, ROWS[:, :2])


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Intersection(), Periodic()], ids=repr)
def test_no_points_and_no_columns(kernel):
    assert kernel(np.empty((0, 3))).shape == (0, 0)
    assert kernel(np.empty((0, 3)), np.ones((2, 3))).shape == (0, 2)
    assert kernel.diag(np.empty((0, 3))).shape == (0,)
    empty_sum = 0.0 if kernel.name in ("Linear", "Intersection") else 1.0
    assert_allclose(kernel(np.empty((2, 0))), np.full((2, 2), empty_sum))


def test_no_objects():
    assert Spectrum(2)([]).shape == (0, 0)
    assert Tanimoto()([]).shape == (0, 0)
    assert SetIntersection()([{1}], []).shape == (1, 0)
