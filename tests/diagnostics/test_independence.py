"""Tests by permutation: against double loops, all permutations, and what must be found or not."""

import itertools

import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse

from mercer import hsic_test, mmd_test
from mercer.checks import InputError, InputTypeError, MemoryLimitError
from mercer.diagnostics import independence
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Categorical,
    Constant,
    FunctionKernel,
    Gaussian,
    Linear,
    Polynomial,
    SetIntersection,
    Sigmoid,
    Spectrum,
)

random = np.random.default_rng(17)
X, Y = random.normal(size=(12, 2)), random.normal(size=(9, 2)) + 0.5
WORDS = ["abab", "baba", "abba", "aab", "bab", "aabb", "bbb", "abb"]


def bell(x, y):
    return oracles.gaussian(x, y, *[0.7] * len(x))


def common(x, y):
    return oracles.spectrum(x, y, 2)


# --- the discrepancy --------------------------------------------------------------------------


def discrepancy(K, first, unbiased):
    """MMD**2 by sums over pairs; first: the positions of the first sample."""
    second = [i for i in range(len(K)) if i not in set(first)]

    def mean(left, right, own):
        pairs = [K[i][j] for i in left for j in right if own or i != j]
        return sum(pairs) / len(pairs)

    within = mean(first, first, not unbiased) + mean(second, second, not unbiased)
    return within - 2 * mean(first, second, True)


def test_three_and_two_numbers_by_hand():
    # Means 2 and 5: biased, the square of their difference.
    found = mmd_test([[1.0], [2.0], [3.0]], [[4.0], [6.0]], Linear(), unbiased=False)
    assert found.statistic == pytest.approx(9.0, rel=1e-14)
    # Unbiased: (1*2 + 1*3 + 2*3) / 3 + 4*6 - 2 * 2 * 5.
    found = mmd_test([[1.0], [2.0], [3.0]], [[4.0], [6.0]], Linear())
    assert found.statistic == pytest.approx(11 / 3 + 24 - 20, rel=1e-13)


@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize(
    ("kernel", "function", "first", "second"),
    [
        (Gaussian(0.7), bell, X, Y),
        (Spectrum(2), common, WORDS[:5], WORDS[5:]),
        (SetIntersection(), lambda x, y: float(len(x & y)), [{1, 2}, {2}, {3}], [{1}, {1, 2, 3}]),
    ],
    ids=["rows", "strings", "sets"],
)
def test_the_discrepancy_is_its_double_sum(kernel, function, first, second, unbiased):
    K = oracles.gram(function, [*first, *second])
    wanted = discrepancy(K, range(len(first)), unbiased)
    found = mmd_test(first, second, kernel, n_permutations=5, unbiased=unbiased)
    assert found.statistic == pytest.approx(wanted, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize("sizes", [(3, 3), (2, 4)])
def test_the_null_is_that_of_all_splits(sizes, unbiased):
    n, N = sizes[0], sum(sizes)
    points = random.normal(size=(N, 2))
    points[:n] += 0.8
    K = oracles.gram(bell, points)
    splits = itertools.combinations(range(N), n)
    every = np.array([discrepancy(K, split, unbiased) for split in splits])
    found = mmd_test(points[:n], points[n:], Gaussian(0.7), n_permutations=3000, unbiased=unbiased)
    gaps = np.abs(found.null[:, None] - every[None])
    assert gaps.min(axis=1).max() < 1e-13  # nothing else comes up
    assert gaps.min(axis=0).max() < 1e-13  # and all of them do
    exact = np.mean(every >= every[0] - 1e-13)  # the first split is the data as they are
    assert abs(found.p_value - exact) < 4 * np.sqrt(exact * (1 - exact) / 3000)


def test_single_precision_counts_equal_splits():
    # With two points each there are three statistics, each from the split and its mirror image.
    points = random.normal(size=(4, 3)).astype(np.float32)
    found = mmd_test(points[:2], points[2:], Gaussian(0.3), n_permutations=600)
    assert len(np.unique(np.round(found.null, 5))) == 3
    assert found.p_value > 0.25


def test_samples_of_one_law_are_not_told_apart():
    values = []  # the draws of the data and of the permutations have nothing in common
    for seed in range(600):
        draws = np.random.default_rng(seed)
        first, second = draws.normal(size=(12, 2)), draws.normal(size=(9, 2))
        values.append(
            mmd_test(first, second, n_permutations=79, random_state=10_000 + seed).p_value
        )
    values = np.array(values)
    for level in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9):
        spread = np.sqrt(level * (1 - level) / 600)
        assert abs(np.mean(values <= level) - level) < 3 * spread


def test_different_laws_are_told_apart():
    first, second = random.normal(size=(60, 2)), 2.5 * random.normal(size=(50, 2))
    found = mmd_test(first, second, n_permutations=199)
    assert found.p_value == 1 / 200
    assert found.statistic > found.threshold == np.sort(found.null)[int(np.ceil(0.95 * 198))]
    # Their means are the same, and the linear kernel sees nothing else.
    assert mmd_test(first - first.mean(0), second - second.mean(0), Linear()).p_value == 1.0
    assert found.null_mean == pytest.approx(found.null.mean())
    assert found.null_deviation == pytest.approx(found.null.std())
    assert "p = 0.005" in str(found)


def test_strings_of_two_kinds_are_told_apart():
    words = ["".join(random.choice(list("ab" if i < 15 else "bc"), 6)) for i in range(30)]
    assert mmd_test(words[:15], words[15:], Spectrum(2), n_permutations=99).p_value == 0.01
    assert mmd_test(words[:15:2], words[1:15:2], Spectrum(2), n_permutations=99).p_value > 0.05


def test_every_container_gives_the_same_discrepancy():
    wanted = mmd_test(X, Y, Gaussian(), n_permutations=50, random_state=3)
    K = Gaussian().resolve(np.concatenate([X, Y]))(np.concatenate([X, Y]))
    frames = [pd.DataFrame(one, columns=["a", "b"]) for one in (X, Y)]
    for first, second, kernel in (
        (X.tolist(), Y.tolist(), None),
        (scipy.sparse.csr_matrix(X), scipy.sparse.csr_matrix(Y), Gaussian()),
        (RowBlocks.split(X, 5), RowBlocks.split(Y, 5), Gaussian()),
        (X, RowBlocks.split(Y, 5), Gaussian()),
        (*frames, Gaussian()),
        (*frames, Gaussian().on(["a", "b"])),
        (K[:12], K[12:], "precomputed"),
    ):
        found = mmd_test(first, second, kernel, n_permutations=50, random_state=3)
        assert found.statistic == pytest.approx(wanted.statistic, rel=1e-10)
        assert np.allclose(found.null, wanted.null, rtol=1e-9, atol=1e-12)
        assert found.p_value == wanted.p_value


@pytest.mark.parametrize("limit", [9000, 20_000, "1MB"])
def test_the_memory_limit_does_not_change_the_test(limit):
    wanted = mmd_test(X, Y, Gaussian(0.5), n_permutations=80)
    found = mmd_test(X, Y, Gaussian(0.5), n_permutations=80, memory_limit=limit)
    assert np.allclose(found.null, wanted.null, rtol=1e-11, atol=1e-14)
    assert found.p_value == wanted.p_value
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-12)


# --- the criterion ----------------------------------------------------------------------------


def criterion(K, L):
    """HSIC as in Gretton's expansion, by sums over pairs and triples."""
    n = len(K)
    pairs = sum(K[i][j] * L[i][j] for i in range(n) for j in range(n)) / n**2
    apart = sum(map(sum, K)) * sum(map(sum, L)) / n**4
    shared = sum(sum(K[i]) * sum(L[i]) for i in range(n)) / n**3
    return pairs + apart - 2 * shared


def test_three_pairs_by_hand():
    # Linear kernels: the square of the covariance, which is (2 + 0 + 4) / 3 - 1 * 5 / 3 = 1 / 3.
    found = hsic_test([[1.0], [0.0], [2.0]], [[2.0], [1.0], [2.0]], Linear(), Linear())
    assert found.statistic == pytest.approx(1 / 9, rel=1e-13)


@pytest.fixture(params=["factors", "entries"])
def way(request, monkeypatch):
    """Both ways to permute; the factors of so few points are all of K and L."""
    monkeypatch.setattr(independence, "NOTHING", {"factors": 1e-12, "entries": -1.0}[request.param])
    return request.param


@pytest.mark.parametrize(
    ("kernel", "function", "points"),
    [
        (Gaussian(0.7), bell, X[:8]),
        (Spectrum(2), common, WORDS),
        (Polynomial(2), lambda x, y: oracles.polynomial(x, y, 2, 1.0, 1.0), X[:8]),
    ],
    ids=["bells", "strings", "polynomials"],
)
def test_the_criterion_is_its_sums(kernel, function, points, way):
    other = Y[:8, :1]
    K, L = oracles.gram(function, points), oracles.gram(bell, other)
    found = hsic_test(points, other, kernel, Gaussian(0.7), n_permutations=20)
    assert found.statistic == pytest.approx(criterion(K, L), rel=1e-10)
    assert ("factors" in found.method) == (way == "factors")
    # Nothing depends on which of the two is permuted.
    turned = hsic_test(other, points, Gaussian(0.7), kernel, n_permutations=20)
    assert turned.statistic == pytest.approx(found.statistic, rel=1e-10)


def test_the_null_is_that_of_all_orders(way):
    K, L = oracles.gram(bell, X[:4]), oracles.gram(bell, Y[:4])
    orders = [list(order) for order in itertools.permutations(range(4))]
    every = np.array([criterion(K, L[np.ix_(order, order)]) for order in orders])
    found = hsic_test(X[:4], Y[:4], Gaussian(0.7), Gaussian(0.7), n_permutations=3000)
    gaps = np.abs(found.null[:, None] - every[None])
    assert gaps.min(axis=1).max() < 1e-13
    assert gaps.min(axis=0).max() < 1e-13
    exact = np.mean(every >= every[0] - 1e-13)
    assert abs(found.p_value - exact) < 4 * np.sqrt(exact * (1 - exact) / 3000)


def test_both_ways_are_the_same_test(monkeypatch):
    pairs = random.normal(size=(150, 2))
    wanted = hsic_test(pairs[:, :1], pairs[:, 1:], n_permutations=99)
    assert "all of it; " in wanted.method
    monkeypatch.setattr(independence, "NOTHING", -1.0)
    monkeypatch.setattr(independence, "BUFFER", 1000)
    found = hsic_test(pairs[:, :1], pairs[:, 1:], n_permutations=99)
    assert found.method == "every entry of K and L"
    assert np.allclose(found.null, wanted.null, rtol=1e-9)
    assert found.p_value == wanted.p_value


def test_what_is_not_mercer_has_no_factor():
    # Fewer columns than points explain the diagonal of tanh(x.y), but not the rest of it.
    found = hsic_test(X, X**2, Sigmoid(1.0, 0.0), Linear(), n_permutations=9)
    assert found.method == "every entry of K and L"
    K, L = oracles.gram(lambda x, y: np.tanh(oracles.dot(x, y)), X), (X**2) @ (X**2).T
    assert found.statistic == pytest.approx(criterion(K, L), rel=1e-11)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_seed_of_the_data_may_be_that_of_the_test(seed):
    draws = np.random.default_rng(seed)
    pairs = draws.normal(size=(300, 4))
    found = mmd_test(pairs[:, :2], pairs[:, 2:], n_permutations=99, random_state=seed)
    order = np.random.default_rng(seed).permutation(300)
    first = independence._generator("test", seed).permutation(300)
    assert not np.array_equal(order, first)
    assert found.p_value > 0.01


@pytest.mark.parametrize("lossy", [False, True])
def test_independent_pairs_pass(lossy, monkeypatch):
    if lossy:  # factors that leave most of K and L out make a weaker test, not a wrong one
        monkeypatch.setattr(independence, "RANK", 3)
        monkeypatch.setattr(independence, "DENSE", 0)
    values = []
    for seed in range(200):
        draws = np.random.default_rng(seed)
        pairs = draws.normal(size=(15, 4))
        found = hsic_test(pairs[:, :2], pairs[:, 2:], n_permutations=79, random_state=10_000 + seed)
        values.append(found.p_value)
        assert ("all but 0." in found.method) == lossy
    for level in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9):
        spread = np.sqrt(level * (1 - level) / 200)
        assert abs(np.mean(np.array(values) <= level) - level) < 3 * spread


def test_lossy_factors_keep_the_statistic(monkeypatch):
    wanted = hsic_test(X, X[:, ::-1] ** 2, n_permutations=9)
    monkeypatch.setattr(independence, "RANK", 3)
    monkeypatch.setattr(independence, "DENSE", 0)
    found = hsic_test(X, X[:, ::-1] ** 2, n_permutations=9)
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-12)
    assert "3 columns, all but 0." in found.method


def test_dependence_without_correlation_is_found():
    x = np.concatenate([random.normal(size=50), np.zeros(1)])
    x = np.concatenate([x, -x])[:, None]  # symmetric: x and x**2 are not correlated
    found = hsic_test(x, x**2, n_permutations=199)
    assert found.p_value == 1 / 200
    assert hsic_test(x, x**2, Linear(), Linear(), n_permutations=199).p_value == 1.0


def test_words_and_tables():
    words = ["".join(random.choice(list("ab" if i % 2 else "bc"), 6)) for i in range(40)]
    table = pd.DataFrame({"side": ["left", "right"] * 20, "size": random.normal(size=40)})
    side = Categorical(1.0).on("side")
    assert hsic_test(words, table, Spectrum(2), side, n_permutations=99).p_value == 0.01
    size = Gaussian().on("size")
    assert hsic_test(words, table, Spectrum(2), size, n_permutations=99).p_value > 0.05


def test_every_container_gives_the_same_criterion():
    other = X[:, :1] ** 2
    wanted = hsic_test(X, other, n_permutations=30)
    gaussian = Gaussian().resolve(X)
    for points, kernel in (
        (X.tolist(), None),
        (scipy.sparse.csr_array(X), Gaussian()),
        (RowBlocks.split(X, 5), Gaussian()),
        (gaussian(X), "precomputed"),
        (X, FunctionKernel(lambda A, B: gaussian(A, B))),
    ):
        found = hsic_test(points, other, kernel, n_permutations=30)
        assert found.statistic == pytest.approx(wanted.statistic, rel=1e-10)
        assert found.p_value == wanted.p_value
    small = hsic_test(X, other, n_permutations=30, memory_limit=10_000)
    assert small.statistic == pytest.approx(wanted.statistic, rel=1e-12)
    single = hsic_test(X.astype(np.float32), other, n_permutations=30)
    assert single.statistic == pytest.approx(wanted.statistic, rel=1e-4)


# --- seeds, refusals --------------------------------------------------------------------------


@pytest.mark.parametrize("test", [mmd_test, hsic_test])
def test_the_same_seed_is_the_same_test(test):
    first, second = X[:9], Y
    plain = test(first, second, n_permutations=30)
    assert np.array_equal(plain.null, test(first, second, n_permutations=30).null)
    for seed in (5, np.random.RandomState(5), np.random.default_rng(5)):
        found = test(first, second, n_permutations=30, random_state=seed)
        assert not np.array_equal(found.null, plain.null)
        assert found.statistic == plain.statistic
    again = test(first, second, n_permutations=30, random_state=np.random.default_rng(5))
    assert np.array_equal(found.null, again.null)
    with pytest.raises(AttributeError):
        plain.p_value = 0.0


def test_a_kernel_that_sees_nothing_finds_nothing():
    assert mmd_test(X, Y, Constant(2.0), n_permutations=9).p_value == 1.0
    assert hsic_test(X[:9], Y, Constant(2.0), n_permutations=9).p_value == 1.0
    zero = hsic_test(X[:9], Y, 0.0 * Linear() + Constant(0.0), n_permutations=9)
    assert (zero.p_value, zero.statistic) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("first", "second", "options", "told"),
    [
        (X[:1], Y, {}, "X must have at least two points; got 1"),
        (X, Y[:0], {}, "Y must have at least two points; got 0"),
        (X, Y, {"n_permutations": 0}, "n_permutations must be a whole number at least 1; got 0"),
        (X, Y, {"random_state": -1}, "random_state must be a whole number at least 0; got -1"),
        (X, Y, {"memory_limit": "lots"}, "memory_limit must be"),
    ],
)
@pytest.mark.parametrize("test", [mmd_test, hsic_test])
def test_bad_input(test, first, second, options, told):
    with pytest.raises(InputError, match=f"{test.__name__}: {told}"):
        test(first, second, **options)


def test_bad_pairs():
    with pytest.raises(
        InputError, match=r"mmd_test: X and Y must have the same columns; got 2 .*1"
    ):
        mmd_test(X, Y[:, :1])
    frames = pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(Y, columns=["a", "c"])
    with pytest.raises(InputError, match="the same columns; got a, b and a, c"):
        mmd_test(*frames, Gaussian(1.0).on("a"))
    with pytest.raises(InputError, match=r"each of the 21 points .*shapes \(12, 2\) and \(9, 2\)"):
        mmd_test(X, Y, "precomputed")
    with pytest.raises(
        InputError, match="hsic_test: X and Y must have as many points; got 12 and 9"
    ):
        hsic_test(X, Y)
    with pytest.raises(InputError, match=r"hsic_test: Y must be square .*shape \(12, 2\)"):
        hsic_test(X, X, None, "precomputed")
    with pytest.raises(InputError, match="Did you mean 'rbf'"):
        mmd_test(X, Y, "rdf")
    with pytest.raises(InputTypeError, match="random_state must be a whole number"):
        mmd_test(X, Y, random_state="seed")
    with pytest.raises(InputError, match="NaN in row 0, column 1"):
        hsic_test(np.where([[False, True]], np.nan, X), X)
    with pytest.raises(MemoryLimitError, match="Raise memory_limit to"):
        mmd_test(X, Y, Gaussian(1.0), memory_limit=500)
