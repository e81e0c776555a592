"""Kernels that compare two strings as a whole: common substrings, subsequences with gaps."""

from fractions import Fraction
from math import comb, sqrt

import numpy as np
import oracles_strings as oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mercer import SVC, gram
from mercer.checks import InputError, InputTypeError
from mercer.kernels import Spectrum, Subsequence, Substring, parse
from mercer.monitor import Monitor, Stopped

SCIENCE, WISDOM = "science is organized knowledge", "wisdom is organized life"
STRANGE = [
    "",
    "\x00",
    "\x00\x00",
    "a\x00a",
    "😀😁😀",
    "e\u0301e",
    "é",
    "\ud800\udc00",
    "\U00010000",
]
STRANGE += ["\U0010ffff\x00\U0010ffff", "日本語日本"]
KERNELS = [Substring(0.5), Subsequence(2, 0.5), Subsequence(3, 0.8, (0.5, 0.0, 2.0))]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def oracle(kernel):
    """The definition of a kernel, as a function of two sequences."""
    if isinstance(kernel, Substring):
        return lambda s, t: oracles.substring(s, t, kernel.decay)
    weights = kernel.weights or (0.0,) * (kernel.n - 1) + (1.0,)
    return lambda s, t: sum(
        weight * oracles.subsequence(s, t, p, kernel.decay)
        for p, weight in enumerate(weights, start=1)
        if weight
    )


def block(kernel, left, right):
    function = oracle(kernel)
    return np.array([[function(s, t) for t in right] for s in left], dtype=float)


def random_words(random, count, longest, letters="ab"):
    return [
        "".join(random.choice(list(letters), random.integers(longest + 1))) for _ in range(count)
    ]


# --- values by hand -------------------------------------------------------------------------------


def test_values_of_the_subsequence_kernel():
    kernel = Subsequence(2, 0.5)
    assert_allclose(kernel(["cat", "car"]), [[0.140625, 0.0625], [0.0625, 0.140625]], rtol=1e-15)
    assert kernel.normalized()(["cat", "car"])[0, 1] == pytest.approx(1 / 2.25, rel=1e-15)
    assert Subsequence(2, 0.5, (1, 1))(["cat"], ["car"])[0, 0] == 0.5625
    assert kernel(["gatta"], ["cata"])[0, 0] == 0.1953125
    assert kernel.pair("gatta", "cata") == 0.1953125


def test_cosines_of_two_sentences():
    wanted = (0.848679, 0.579814, 0.478455, 0.438871, 0.405745, 0.369156)
    for n, value in enumerate(wanted, start=1):
        kernel = Subsequence(n, 0.5).normalized()
        assert kernel([SCIENCE, WISDOM])[0, 1] == pytest.approx(value, abs=5e-7)
        assert kernel.formula([SCIENCE, WISDOM])[0, 1] == pytest.approx(value, abs=5e-7)


def test_values_of_the_substring_kernel():
    assert_array_equal(Substring(0.5)(["ab", "ba"]), [[1.25, 1.0], [1.0, 1.25]])
    # "aaa": a three times, aa twice, aaa once.
    assert Substring(0.5)(["aaa"])[0, 0] == 9 / 2 + 4 / 4 + 1 / 8
    assert Substring(2.0)(["ab"], ["abab"])[0, 0] == 2 * (2 + 2) + 4 * 2
    lengths = sum(0.5**p * Spectrum(p)([SCIENCE, WISDOM]) for p in range(1, 31))
    assert_allclose(Substring(0.5)([SCIENCE, WISDOM]), lengths, rtol=1e-14)


def test_one_token_is_the_product_of_counts():
    items = ["abab", "bbb", "", "c"]
    assert_allclose(Subsequence(1, 0.5)(items), 0.25 * Spectrum(1)(items), rtol=1e-15)
    assert_allclose(Subsequence(1, 1.0)(items), Spectrum(1)(items), rtol=1e-15)


def test_without_decay_subsequences_are_counted():
    assert Subsequence(3, 1.0)(["aaaaa"], ["aaaa"])[0, 0] == comb(5, 3) * comb(4, 3)
    assert Subsequence(7, 1.0)(["a" * 30], ["a" * 20])[0, 0] == comb(30, 7) * comb(20, 7)


# --- against everything written out ---------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8])
def test_subsequences_are_those_that_can_be_chosen(n, weighted):
    """For lengths that have a loop of their own and those that share one."""
    random = np.random.default_rng(n)
    weights = tuple(random.random(n)) if weighted else None
    kernel = Subsequence(n, 0.6, weights)
    left, right = random_words(random, 3, 9), random_words(random, 6, 9)
    left[0], right[1] = "ba" * 5, "ab" * 5  # longer than all others
    wanted = block(kernel, left, right)
    assert wanted.any()
    assert_allclose(kernel(left, right), wanted, rtol=1e-13)
    assert_allclose(kernel.formula(left, right), wanted, rtol=1e-13)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 64, 65, 131])
def test_any_number_of_sequences_goes_together(count):
    """Lanes that are empty, lanes of other lengths, and more columns than are taken at once."""
    random = np.random.default_rng(count)
    items = random_words(random, count, 7, "abc")
    for kernel in (Subsequence(2, 0.5), Subsequence(3, 0.7, (1.0, 0.5, 2.0))):
        row = kernel(["cabba"], items)
        assert_allclose(row, block(kernel, ["cabba"], items), rtol=1e-13)
        K = kernel(items)
        assert_allclose(K, kernel(items, list(items)), rtol=1e-14)
        assert_array_equal(K, K.T)


words = st.lists(st.text("abc😀", max_size=8), min_size=1, max_size=6)


@settings(max_examples=60)
@given(words, words, st.floats(0.05, 3.0))
def test_substrings_are_those_there_are(left, right, decay):
    kernel = Substring(decay)
    wanted = block(kernel, left, right)
    assert_allclose(kernel(left, right), wanted, rtol=1e-13)
    assert_allclose(kernel.formula(left, right), wanted, rtol=1e-13)
    assert_allclose(kernel(left + right)[: len(left), len(left) :], wanted, rtol=1e-13)


def fibonacci(length):
    text, last = "a", "b"
    while len(text) < length:
        text, last = text + last, text
    return text[:length]


@pytest.mark.parametrize("decay", [0.3, 1.0, 1.01])
def test_substrings_of_texts_that_repeat_themselves(decay):
    """Where automata split their states most, and where they have the most of them."""
    random = np.random.default_rng(0)
    items = ["a" * 30, "ab" * 15, "a" + "b" * 25, fibonacci(34), "aab" * 10 + "b", ""]
    items += ["".join(random.choice(list(letters), 30)) for letters in ("ab", "abcdefgh")]
    assert_allclose(Substring(decay)(items), block(Substring(decay), items, items), rtol=1e-13)
    K = Substring(decay).formula(items)
    assert_allclose(Substring(decay)(items), K, rtol=1e-13)


@every_kernel
@settings(max_examples=40)
@given(items=st.lists(st.text("abc", max_size=9), min_size=1, max_size=7), random=st.randoms())
def test_kernels_are_positive_and_take_any_order(kernel, items, random):
    K = kernel(items)
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-10 * max(1.0, values[-1])
    assert_allclose(kernel.diag(items), np.diag(K), rtol=1e-14)
    order = random.sample(range(len(items)), len(items))
    assert_allclose(kernel([items[i] for i in order]), K[np.ix_(order, order)], rtol=1e-14)
    assert_allclose(np.diag(kernel.normalized()(items)), np.diag(K) > 0, rtol=1e-15)
    backwards = [text[::-1] for text in items]
    assert_allclose(kernel(backwards), K, rtol=1e-13)


# --- what a sequence may be -----------------------------------------------------------------------


@every_kernel
def test_strange_characters_are_characters(kernel):
    assert_allclose(kernel(STRANGE), block(kernel, STRANGE, STRANGE), rtol=1e-14)
    assert_allclose(kernel.formula(STRANGE), block(kernel, STRANGE, STRANGE), rtol=1e-14)


@every_kernel
def test_sequences_of_any_tokens(kernel):
    items = [
        "abca",
        ["a", "b", "c", "a"],
        ("ab", "c", "a"),
        [97, 98, 99, 97],
        b"abca",
        [],
        [("a",)],
    ]
    wanted = block(kernel, items, items)
    assert_allclose(kernel(items), wanted, rtol=1e-14)
    assert_allclose(kernel.formula(items), wanted, rtol=1e-14)
    assert_array_equal(kernel(items)[0], kernel(items)[1])
    assert_array_equal(kernel(items)[3], kernel(items)[4])


@every_kernel
def test_short_and_empty_sequences(kernel):
    wanted = block(kernel, ["", "a", "ab"], ["", "ba", "aba", "abab"])
    assert not wanted[0].any()
    assert_allclose(kernel(["", "a", "ab"], ["", "ba", "aba", "abab"]), wanted, rtol=1e-15)
    assert_allclose(kernel.normalized()(["", "abab"]), [[0, 0], [0, 1]], rtol=1e-15)
    assert kernel([], ["a"]).shape == (0, 1)
    assert kernel(["a"], []).shape == (1, 0)
    assert not kernel.has_map()


def test_many_different_tokens():
    left, right = list(range(3000)), [*range(2000, 0, -1), *range(1000)]
    assert Substring(1.0)([left], [right])[0, 0] == 2000 + 999 + 1 + sum(range(1, 1000))
    # Two of them in order: a pair of the last 1000, or one that falls and one that rises after it.
    wanted = sum(j > i for i in right[:2000] for j in range(1000)) + comb(1000, 2)
    assert Subsequence(2, 1.0)([left], [right])[0, 0] == wanted


# --- long strings and extreme parameters ----------------------------------------------------------


@pytest.mark.parametrize(("decay", "n"), [(Fraction(1, 100), 6), (Fraction(1, 1000), 20)])
def test_small_decay_keeps_the_digits_of_cosines(decay, n):
    texts = s, t = [SCIENCE, "science as organised ledgers"]
    exact = {(a, b): oracles.exact_subsequence(a, b, n, decay) for a in texts for b in texts}
    kernel = Subsequence(n, float(decay))
    for i, a in enumerate(texts):
        for j, b in enumerate(texts):
            assert kernel(texts)[i, j] == pytest.approx(float(exact[a, b]), rel=1e-12, abs=0)
    cosine = float(exact[s, t] ** 2 / (exact[s, s] * exact[t, t]))
    assert kernel.normalized()(texts)[0, 1] == pytest.approx(sqrt(cosine), rel=1e-12)


def test_the_recursion_in_fractions_is_the_sum_over_choices():
    for n in (1, 2, 3):
        args = ("abcab", "bacab", n, Fraction(1, 3))
        assert oracles.exact_subsequence(*args) == oracles.subsequence(*args)


def test_gaps_too_long_for_a_number_count_nothing():
    text = "a" + "x" * 1100 + "b"
    K = Subsequence(2, 0.5)([text, "ab", "axb"])
    assert K[0, 1] == 0.0
    assert K[1, 2] == 0.5**5
    # In front of the gap and behind it: 1100 of them with x of their own.
    assert np.isfinite(K).all()
    assert K[0, 0] == pytest.approx(Subsequence(2, 0.5).pair(text, text), rel=1e-12)


def test_small_numbers_stay_small_numbers_for_everybody_else():
    """The loop takes numbers below the normal ones for zero, and leaves no trace of that."""
    tiny = np.array([5e-324, 1e-310])
    Subsequence(3, 0.5)([SCIENCE, WISDOM])
    assert_array_equal(tiny * 1.0, tiny)
    assert (tiny + tiny > tiny).all()


def test_numbers_too_large_are_infinite_and_nothing_else():
    text = "a" * 600
    assert Subsequence(300, 1.0)([text])[0, 0] == np.inf  # binomial(600, 300)**2
    assert Subsequence(300, 1.0, (1.0,) + (0.0,) * 299)([text])[0, 0] == 600.0**2
    assert Substring(1e3)([text])[0, 0] == np.inf
    assert_array_equal(Substring(1e3)([text, "ab"], ["b", ""]), [[0.0, 0.0], [1e3, 0.0]])


def test_substrings_of_long_texts():
    random = np.random.default_rng(1)
    text = "".join(random.choice(list("ab"), 20_000))
    # Each place of the text with itself: decay + decay**2 + ..., up to the place.
    whole = Substring(0.5)([text + "c"], ["c" + text])[0, 0]
    assert whole == pytest.approx(Substring(0.5)([text])[0, 0] + 0.5, rel=1e-12)
    short = Substring(0.5).pair(text[:300], text[-200:])
    assert Substring(0.5)([text[:300]], [text[-200:]])[0, 0] == pytest.approx(short, rel=1e-12)
    # Only "c" is common: the chain of suffixes is left at every token.
    assert Substring(0.5)([text + "c"], ["c" * 5000])[0, 0] == 2500.0


# --- parameters -----------------------------------------------------------------------------------


def test_wrong_parameters():
    for decay in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(
            InputError, match="Substring: decay must be a finite number at least 1e-300"
        ):
            Substring(decay)
    for decay in (0.0, 1.0001):
        with pytest.raises(InputError, match="above 0 and at most 1"):
            Subsequence(2, decay)
    for n in (0, 1001):
        with pytest.raises(InputError, match="n must be a whole number"):
            Subsequence(n, 0.5)
    with pytest.raises(InputError, match=r"decay\*\*\(2\*n\) must be at least 1e-300"):
        Subsequence(100, 0.01)
    assert Subsequence(75, 0.01).n == 75


def test_wrong_weights():
    with pytest.raises(InputError, match=r"weights must be 2 numbers .* got 3 of them"):
        Subsequence(2, 0.5, (1, 1, 1))
    with pytest.raises(InputError, match=r"weights\[1\] must be a finite number at least 0"):
        Subsequence(2, 0.5, (1, -1))
    for weights in (1.0, "ab", {1, 2}):
        with pytest.raises(InputTypeError, match="weights must be 2 numbers"):
            Subsequence(2, 0.5, weights)


def test_kernels_are_values():
    kernel = Subsequence(2, 0.5, np.array([1, 2]))
    assert kernel == Subsequence(2, 0.5, weights=[1.0, 2.0])
    assert hash(kernel) == hash(Subsequence(2, 0.5, (1, 2)))
    assert repr(kernel) == "Subsequence(2, 0.5, weights=(1.0, 2.0))"
    assert repr(Subsequence(2, 0.5)) == "Subsequence(2, 0.5)"
    assert parse(repr(kernel)) == kernel
    assert parse("Substring(0.5)") == Substring(0.5)


# --- in the library -------------------------------------------------------------------------------


def test_a_machine_learns_from_strings():
    texts = ["the cat sat", "a cat sat", "the cat", "dogs bark", "a dog barks", "dogs bite"]
    for kernel in (Subsequence(3, 0.5).normalized(), Substring(0.5).normalized()):
        fitted = SVC(kernel=kernel).fit(texts, [0, 0, 0, 1, 1, 1])
        assert_array_equal(fitted.predict(["my cat sat", "no dog bites", ""])[:2], [0, 1])


@every_kernel
def test_the_gram_tells_and_can_be_stopped(kernel):
    assert f"native: {kernel!r}" in str(gram(kernel, ["ab", "b"]).explain())
    cancelled = Monitor()
    cancelled.cancel()
    with pytest.raises(Stopped):
        gram(kernel, ["abc" * 10] * 50, monitor=cancelled).dense()
