"""Kernels that count short substrings: n-grams, and k-mers with mismatches."""

import math

import numpy as np
import oracles_strings as oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mercer import SVC
from mercer.checks import InputError, InputTypeError
from mercer.kernels import Mismatch, Spectrum, parse
from mercer.kernels.objects.mismatches import (
    _gap_weights,
    _Gapped,
    _Neighbours,
    _shared_neighbours,
)

pytestmark = pytest.mark.native

DNA, PROTEIN = "ACGT", "ACDEFGHIKLMNPQRSTVWY"
# Beyond the BMP, combining marks, a lone surrogate, NUL, the last code point there is.
STRANGE = ["", "\x00", "\x00\x00", "a\x00", "\x00a", "😀😁😀", "e\u0301e", "é", "\ud800\udc00"]
STRANGE += ["\U00010000", "\U0010ffff\U0010ffff\x00", "\udfff", "日本語日本"]


def psd(K):
    values = np.linalg.eigvalsh(K)
    return values[0] >= -1e-10 * max(1.0, values[-1])


# --- n-grams --------------------------------------------------------------------------------------


def test_values_of_the_spectrum():
    K = Spectrum(2)(["abab", "baba"])
    assert_array_equal(K, [[5, 4], [4, 5]])
    assert Spectrum(2).normalized()(["abab", "baba"])[0, 1] == pytest.approx(0.8, rel=1e-15)
    assert_array_equal(Spectrum(2, blended=True)(["abab", "baba"]), [[13, 12], [12, 13]])
    K = Spectrum(3)(["statistics", "computation"])  # tat, ati
    assert_array_equal(K, [[8, 2], [2, 9]])


texts = st.lists(st.text("ab\x00é😀", max_size=9), min_size=1, max_size=6)


@settings(max_examples=60)
@given(texts, texts, st.integers(1, 6), st.booleans())
def test_the_spectrum_counts_pairs_of_equal_ngrams(left, right, n, blended):
    kernel = Spectrum(n, blended)
    oracle = oracles.blended_spectrum if blended else oracles.spectrum
    wanted = np.array([[oracle(s, t, n) for t in right] for s in left], dtype=float)
    assert_array_equal(kernel(left, right), wanted)
    assert_array_equal(kernel.formula(left, right), wanted)
    K = kernel(left + right)
    assert_array_equal(K[: len(left), len(left) :], wanted)
    assert_array_equal(kernel.diag(left), np.diag(kernel(left)))
    phi = kernel.features(left + right)
    assert_array_equal((phi @ phi.T).toarray(), K)
    assert psd(K)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("blended", [False, True])
def test_strange_characters_are_characters(n, blended):
    kernel = Spectrum(n, blended)
    oracle = oracles.blended_spectrum if blended else oracles.spectrum
    wanted = [[oracle(s, t, n) for t in STRANGE] for s in STRANGE]
    assert_array_equal(kernel(STRANGE), wanted)
    assert_array_equal(kernel.formula(STRANGE), wanted)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("blended", [False, True])
def test_a_string_and_the_list_of_its_characters_are_one_sequence(n, blended):
    kernel = Spectrum(n, blended)
    strings = ["abcab", "ab", "", "😀b\x00a", "bcabca"]
    mixed = ["abcab", ["a", "b"], (), list("😀b\x00a"), tuple("bcabca")]
    K = kernel(strings)
    assert_array_equal(kernel(mixed), K)
    assert_array_equal(kernel.formula(mixed), K)
    assert_array_equal(kernel(strings, mixed), K)
    # An id is a matter of its n-gram alone: other objects of the collection do not change it.
    alone, among = kernel.tabulate(strings), kernel.tabulate([*strings, ["word", 1], b"ab"])
    assert_array_equal(among.ids[: len(alone.ids)], alone.ids)


def test_tokens_are_what_they_are():
    """Whole numbers, their texts, bytes, and words made of the same letters differ."""
    items = [["ab", "c"], ["a", "bc"], "abc", [97, 98, 99], b"abc", ["97", "98"], [("a",), "b"]]
    for n in (1, 2, 3):
        wanted = [[oracles.spectrum(s, t, n) for t in items] for s in items]
        assert_array_equal(Spectrum(n)(items), wanted)
        assert_array_equal(Spectrum(n).formula(items), wanted)
    assert_array_equal(Spectrum(2)([b"ab"], [[97, 98], "ab"]), [[1, 0]])


def test_short_and_empty_sequences_have_no_ngrams():
    for kernel in (Spectrum(4), Spectrum(10**9)):
        assert_array_equal(kernel(["ab", "", "a"], ["abc", "ab"]), np.zeros((3, 2)))
        assert_array_equal(kernel.normalized()(["ab", ""]), np.zeros((2, 2)))
    assert Spectrum(2)([], ["ab"]).shape == (0, 1)
    assert_array_equal(Spectrum(10**9, blended=True)(["ab"]), [[3]])


def test_columns_are_in_alphabetical_order_of_the_ngrams():
    phi = Spectrum(3, blended=True).features(["b\x00b", "aab"]).toarray()
    # \0, \0b, a, aa, aab, ab, b, b\0, b\0b
    assert_array_equal(phi, [[1, 1, 0, 0, 0, 0, 2, 1, 1], [0, 0, 2, 1, 1, 1, 1, 0, 0]])


def test_windows_do_not_reach_into_the_next_sequence():
    assert_array_equal(Spectrum(2)(["ab", "ba"], ["bb", "aa"]), np.zeros((2, 2)))
    assert_array_equal(Mismatch(2, 0, "ab")(["ab", "ba"], ["bb", "aa"]), np.zeros((2, 2)))


# --- mismatches -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alphabet", "wanted"), [("ab", (2, 3, 9, 10)), ("abcd", (2, 7, 17, 22))], ids=["2", "4"]
)
def test_values_of_the_mismatch_kernel(alphabet, wanted):
    kernel = Mismatch(2, 1, alphabet)
    pairs = [("ab", "ba"), ("ab", "ab"), ("aab", "abb"), ("aab", "aab")]
    for (s, t), value in zip(pairs, wanted, strict=True):
        assert kernel([s], [t])[0, 0] == value
        assert kernel.pair(s, t) == value
        assert oracles.mismatch(s, t, 2, 1, alphabet) == value


def test_words_near_two_words():
    """I_0 = 1 + k (s - 1), I_1 = s, I_2 = 2, else 0, for m = 1."""
    for k, s in ((3, 2), (5, 4), (7, 20)):
        found = [_shared_neighbours(k, 1, s, d) for d in range(4)]
        assert found == [1 + k * (s - 1), s, 2, 0]
        assert _gap_weights(k, 1, s) == [(k - 1) ** 2, s - 2 * k + 2, 2]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize(("k", "m"), [(1, 0), (1, 1), (2, 0), (2, 2), (3, 1), (3, 2), (4, 1)])
def test_both_ways_to_count_mismatches_are_the_definition(k, m, size):
    random = np.random.default_rng(100 * k + 10 * m + size)
    alphabet = "acgt"[:size]
    items = ["".join(random.choice(list(alphabet), length)) for length in (0, 1, 3, 4, 7, 9, 9)]
    wanted = np.array(
        [[oracles.mismatch(s, t, k, m, alphabet) for t in items] for s in items], dtype=float
    )
    for path in (_Neighbours(k, m, alphabet), Mismatch(k, m, alphabet)):
        assert_array_equal(path(items), wanted)
        assert_array_equal(path.formula(items), wanted)
    weights = _gap_weights(k, m, size)
    parts = [_Gapped(k, gaps, alphabet) for gaps in range(len(weights))]
    for values in ([part(items) for part in parts], [part.formula(items) for part in parts]):
        summed = sum(weight * value for weight, value in zip(weights, values, strict=True))
        assert_array_equal(summed, wanted)
    assert psd(wanted)


def test_many_tokens_are_counted_by_the_places_where_they_agree():
    kernel = Mismatch(3, 1, PROTEIN[:9])
    assert not Mismatch(5, 1, PROTEIN).has_map()
    assert Mismatch(5, 1, DNA).has_map()
    items = ["ACDEFGHIKA", "ACDAFGHI", "KKKKK", "", "AC", "IHGFEDCA"]
    wanted = [[oracles.mismatch(s, t, 3, 1, PROTEIN[:9]) for t in items] for s in items]
    wide = Mismatch(3, 1, PROTEIN + "".join(map(chr, range(1000, 1100))))
    assert not wide.has_map()
    assert wide.basis(items) is None
    assert_array_equal(kernel(items), wanted)
    # I_1 is the size of the alphabet, I_0 one more than k times that less one, I_2 = 2.
    grown = wide(items) - kernel(items)
    near = [_Gapped(3, gaps, PROTEIN)(items) for gaps in (0, 1)]
    equal, single = near[0], near[1] - 3 * near[0]
    assert_array_equal(grown, (len(wide.alphabet) - 9) * (3 * equal + single))


def test_mismatches_of_words_and_of_bytes():
    kernel = Mismatch(2, 1, ("the", "a", "cat", 7))
    items = [["the", "cat", "a"], ("a", "cat", 7, 7), [], ["cat"]]
    wanted = [[oracles.mismatch(s, t, 2, 1, kernel.alphabet) for t in items] for s in items]
    assert_array_equal(kernel(items), wanted)
    assert_array_equal(kernel.formula(items), wanted)
    by_number, by_letter = Mismatch(2, 1, b"ab"), Mismatch(2, 1, "ab")
    assert by_number.alphabet == (97, 98)
    assert_array_equal(by_number([b"aab", b"b"]), by_letter(["aab", "b"]))


def test_no_mismatch_is_the_spectrum():
    items = ["GATTACA", "TACATA", "", "ACG"]
    assert_array_equal(Mismatch(3, 0, DNA)(items), Spectrum(3)(items))


def test_the_map_of_mismatches_takes_new_points():
    train, test = ["GATTACA", "TACATA", "CC"], ["ACGT", "", "TTACT"]
    kernel = Mismatch(3, 1, DNA)
    basis = kernel.basis(train)
    product = kernel.features(test, basis) @ kernel.features(train, basis).T
    assert_array_equal(product.toarray(), kernel.formula(test, train))
    fitted = SVC(kernel=kernel.normalized()).fit(train, [0, 0, 1])
    assert fitted.predict(test).shape == (3,)


@settings(max_examples=40)
@given(st.lists(st.text("abc", max_size=8), min_size=1, max_size=7), st.randoms())
def test_mismatch_kernels_are_positive_and_take_any_order(items, random):
    for kernel in (Mismatch(3, 1, "abc"), Mismatch(2, 1, "abcdefghijklmnopqrstuvwxyz")):
        K = kernel(items)
        assert psd(K)
        assert_array_equal(kernel.diag(items), np.diag(K))
        order = random.sample(range(len(items)), len(items))
        assert_array_equal(kernel([items[i] for i in order]), K[np.ix_(order, order)])
        values = np.diag(kernel.normalized()(items))
        np.testing.assert_allclose(values, [len(x) >= kernel.k for x in items], rtol=1e-15)


def test_a_token_that_is_not_in_the_alphabet_is_named():
    for kernel in (Mismatch(2, 1, DNA), Mismatch(5, 1, PROTEIN)):
        for evaluate in (kernel, kernel.formula):
            with pytest.raises(InputError, match=r"'x' at position 2 of item [01]") as error:
                evaluate(["ACAC", "ACxC"])
        assert "every token must be in the alphabet" in str(error.value)
    with pytest.raises(InputError, match="'x' at position 2 of item 1"):
        Mismatch(2, 1, DNA)(["ACAC", "ACxC", "x"])
    with pytest.raises(InputError, match="65 at position 0 of item 0"):
        Mismatch(2, 1, DNA)([b"AC"])


def test_an_alphabet_is_a_value():
    kernel = Mismatch(2, 1, ["A", "C"])
    assert kernel == Mismatch(2, 1, alphabet="AC") == Mismatch(2, 1, ("A", "C"))
    assert repr(kernel) == "Mismatch(2, 1, 'AC')"
    words = Mismatch(2, 1, ("the", 'a"b', 3))
    assert parse(repr(words)) == words
    for text in ("A\x00", "é😀", "'\"\\"):
        assert parse(repr(Mismatch(1, 0, text))) == Mismatch(1, 0, text)


def test_neighbours_are_the_same_some_substrings_at_a_time(monkeypatch):
    texts = ["GATTACA", "", "ACGTACGTTT", "GAT", "TTTTTTTTTT"]
    kernel = Mismatch(4, 1, DNA)
    assert kernel.has_map()
    whole, features = kernel(texts), kernel.features(texts)
    for at_once in (1, 30):
        monkeypatch.setattr("mercer.kernels.objects.mismatches._AT_ONCE", at_once)
        assert_array_equal(kernel(texts), whole)
        assert (kernel.features(texts) != features).nnz == 0
    assert_array_equal(kernel(["", "A"]), np.zeros((2, 2)))


def test_an_alphabet_of_one_token_has_no_neighbours():
    kernel = Mismatch(64, 64, "A")  # and 2**64 choices of places, none of which is gone through
    assert_array_equal(kernel(["A" * 66, "A" * 64, "A"]), [[9, 3, 0], [3, 1, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    "alphabet", ["", (), 4, None, ("a", 1.5), ("a", True), {"a", "b"}], ids=range(7)
)
def test_an_alphabet_is_a_sequence_of_tokens(alphabet):
    with pytest.raises(InputTypeError, match="alphabet must be a string, or a tuple"):
        Mismatch(2, 1, alphabet)


def test_wrong_parameters():
    with pytest.raises(InputError, match="'A' twice"):
        Mismatch(2, 1, "ACA")
    for k, m in ((0, 0), (65, 1), (2, 3), (2, -1)):
        with pytest.raises(InputError, match=r"must be a whole number"):
            Mismatch(k, m, DNA)
    with pytest.raises(InputError, match="small enough for 100000 features per substring; got"):
        Mismatch(30, 5, DNA)
    with pytest.raises(InputError, match="small enough for 100000 features per substring; got"):
        Mismatch(30, 5, PROTEIN)
    for n in (0, -1):
        with pytest.raises(InputError, match="n must be a whole number at least 1"):
            Spectrum(n)
    with pytest.raises(InputTypeError, match="n must be a whole number"):
        Spectrum(2.0)
    with pytest.raises(InputTypeError, match="every item must be a string"):
        Spectrum(2)([3, 4])


def test_values_beyond_a_few_billion_are_exact():
    text = "a" * 40_000
    found = Mismatch(2, 1, "ab")([text])[0, 0]
    assert found == 39_999**2 * 3 > 2**32
    assert math.isqrt(int(Spectrum(1)([text])[0, 0])) == 40_000
