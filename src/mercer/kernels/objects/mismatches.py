"""The mismatch kernel of strings, which counts substrings that differ at a few places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product
from math import comb, factorial
from typing import Any

import numpy as np

from ... import checks
from ...checks import Array, InputError, InputTypeError, sentence, show
from ...inputs import SEQUENCES, Input
from ..base import Basis, Kernel
from ..pairs import Pairs
from .counted import CountKernel, Table, distinct
from .strings import room_after, table_of_windows, token_hashes
from .tokens import Sequences, sequences, token_codes

_TOO_MANY = 4  # times more neighbours than choices of places: these are the better features
_MOST = 100_000  # features per substring
_AT_ONCE = 1 << 25  # neighbours of substrings listed together


@dataclass(frozen=True, repr=False)
class Mismatch(Kernel):
    """The mismatch kernel, which counts substrings of k tokens up to m differences.

    k(s, t) = sum_v n_v(s) n_v(t) over all words v of k tokens of the alphabet, where n_v(s) is how
    many substrings of s of length k differ from v at m places at most [1]_. With a large alphabet,
    pairs of substrings are counted by the places where they agree, which takes the same work for
    every alphabet; there is no explicit feature map then.

    Parameters
    ----------
    k : int
        Length of the substrings, from 1 to 64.
    m : int
        Number of places that may differ, from 0 to k.
    alphabet : str or tuple
        All tokens that may occur; other tokens are refused. The kernel depends on how many there
        are.

    References
    ----------
    .. [1] C. Leslie, E. Eskin, A. Cohen, J. Weston, W. S. Noble, "Mismatch string kernels for
       discriminative protein classification", Bioinformatics, 2004.

    Examples
    --------
    >>> from mercer.kernels import Mismatch
    >>> Mismatch(3, 1, alphabet="ACGT")(["ACG", "ACT", "TTT"])
    array([[10.,  4.,  0.],
           [ 4., 10.,  2.],
           [ 0.,  2., 10.]])
    """

    domain = SEQUENCES
    is_native = True

    k: int
    m: int
    alphabet: str | tuple[Hashable, ...]

    def __post_init__(self) -> None:
        k = checks.whole("Mismatch", "k", self.k, least=1, most=64)
        m = checks.whole("Mismatch", "m", self.m, least=0, most=k)
        self._set(k=k, m=m, alphabet=_alphabet(self.alphabet))
        neighbours, choices = self._widths()
        each = neighbours if self.has_map() else choices
        if each > _MOST:
            must = f"k and m must be small enough for {_MOST} features per substring"
            raise InputError(sentence("Mismatch", must, f"{each} with k={k}, m={m}"))

    def profile(self, pairs: Pairs) -> Any:
        if self.has_map():
            return pairs.pairwise(self._neighbours())
        total: Any = 0.0
        for gaps, weight in enumerate(_gap_weights(self.k, self.m, len(self.alphabet))):
            total = total + weight * pairs.pairwise(_Gapped(self.k, gaps, self.alphabet))
        return total

    def _neighbours(self) -> _Neighbours:
        return _Neighbours(self.k, self.m, self.alphabet)

    def _widths(self) -> tuple[int, int]:
        """Return how many neighbours a substring has, and how many choices of places count."""
        neighbours = _count_neighbours(self.k, self.m, len(self.alphabet))
        return neighbours, sum(comb(self.k, i) for i in range(min(2 * self.m, self.k) + 1))

    def has_map(self) -> bool:
        neighbours, choices = self._widths()
        return neighbours <= _TOO_MANY * choices

    def _basis(self, points: Input) -> Basis | None:
        return self._neighbours()._basis(points) if self.has_map() else None

    def expand(self, points: Input, basis: Basis) -> Any:
        return self._neighbours().expand(points, basis)


def _alphabet(given: Any) -> str | tuple[Hashable, ...]:
    """Return the alphabet, as a string where every token is a character."""
    must = "alphabet must be a string, or a tuple of different strings or whole numbers"
    advice = "List all tokens that occur, for example alphabet='ACGT'."
    if not isinstance(given, str | bytes | list | tuple) or len(given) == 0:
        raise InputTypeError(sentence("Mismatch", must, show(given), advice))
    tokens = tuple(given)
    for token in tokens:
        if isinstance(token, bool) or not isinstance(token, str | int):
            raise InputTypeError(sentence("Mismatch", must, show(token), advice))
    twice = [token for token, count in Counter(tokens).items() if count > 1]
    if twice:
        raise InputError(sentence("Mismatch", must, f"{show(twice[0])} twice", advice))
    if all(isinstance(token, str) and len(token) == 1 for token in tokens):
        return "".join(tokens)
    return tokens


def _count_neighbours(k: int, m: int, size: int) -> int:
    return sum(comb(k, i) * (size - 1) ** i for i in range(m + 1))


def _gap_weights(k: int, m: int, size: int) -> list[int]:
    """Return a_i with k(s, t) = sum_i a_i C_i(s, t), C_i = pairs of substrings that agree on k - i
    places, counted once for each choice of places.

    I_d words are within m of both of two substrings that differ at d places; M_d pairs of
    substrings do, k(s, t) = sum_d I_d M_d, and C_i = sum_d binomial(k - d, i - d) M_d is inverted.
    """
    most = min(2 * m, k)
    shared = [_shared_neighbours(k, m, size, d) for d in range(most + 1)]
    return [
        sum((-1) ** (d - i) * comb(k - i, d - i) * shared[d] for d in range(i, most + 1))
        for i in range(most + 1)
    ]


def _shared_neighbours(k: int, m: int, size: int, d: int) -> int:
    """Return how many words are within m of two words of k tokens that differ at d places.

    Such a word differs from both at i of the other places; of the d it has j like the first, l like
    the second.
    """
    total = 0
    for j in range(d + 1):
        for other in range(d - j + 1):
            neither = d - j - other
            ways = factorial(d) // (factorial(j) * factorial(other) * factorial(neither))
            most = m - d + min(j, other)
            rest = sum(comb(k - d, i) * (size - 1) ** i for i in range(min(most, k - d) + 1))
            total += ways * (size - 2) ** neither * rest
    return total


@dataclass(frozen=True, repr=False)
class _Gapped(CountKernel):
    """Counts what substrings of length k have on each choice of k - gaps of their places."""

    domain = SEQUENCES

    k: int
    gaps: int
    alphabet: str | tuple[Hashable, ...]

    def __repr__(self) -> str:
        return f"{self.k - self.gaps} of {self.k} places"

    def choices(self) -> list[tuple[int, ...]]:
        return list(combinations(range(self.k), self.k - self.gaps))

    def counts(self, x: Any) -> Mapping[Hashable, float]:
        tokens = tuple(x)
        _places(sequences([x]), [x], self.alphabet)
        return Counter(
            (choice, tuple(tokens[i + j] for j in choice))
            for i in range(len(tokens) - self.k + 1)
            for choice in self.choices()
        )

    def tabulate(self, items: Sequence[Any]) -> Table:
        text, choices = sequences(items), self.choices()
        _places(text, items, self.alphabet)
        hashes = [token_hashes(text.codes[j:], j) for j in range(self.k)]
        ids = np.zeros((len(text.codes), len(choices)), dtype=np.uint64)
        for column, choice in enumerate(choices):
            for j in choice:
                ids[: len(hashes[j]), column] += hashes[j]
        return table_of_windows(text, np.full(len(choices), self.k), ids)


@dataclass(frozen=True, repr=False)
class _Neighbours(CountKernel):
    """Counts the words that differ from substrings of length k at m places at most."""

    domain = SEQUENCES

    k: int
    m: int
    alphabet: str | tuple[Hashable, ...]

    def counts(self, x: Any) -> Mapping[Hashable, float]:
        tokens = tuple(x)
        _places(sequences([x]), [x], self.alphabet)
        found: Counter[Hashable] = Counter()
        for i in range(len(tokens) - self.k + 1):
            near = {tokens[i : i + self.k]}
            for _ in range(self.m):
                near |= {
                    (*word[:j], token, *word[j + 1 :])
                    for word in near
                    for j in range(self.k)
                    for token in self.alphabet
                }
            found.update(near)
        return found

    def tabulate(self, items: Sequence[Any]) -> Table:
        text = sequences(items)
        places = _places(text, items, self.alphabet)
        codes = token_codes(self.alphabet)
        hashes = np.stack([token_hashes(codes, j) for j in range(self.k)])
        ids = np.zeros(len(places), dtype=np.uint64)
        for j in range(self.k):
            ids[: max(len(ids) - j, 0)] += hashes[j][places[j:]]
        table = table_of_windows(text, np.array([self.k]), ids[:, None])
        # The neighbours of each different substring are computed once.
        starts = np.flatnonzero(room_after(text) >= self.k)
        different, first = np.unique(ids[starts], return_index=True)
        words = places[starts[first][:, None] + np.arange(self.k)]
        # Their neighbours may be many more than the sequences have in the end.
        step = max(1, _AT_ONCE // _count_neighbours(self.k, self.m, len(self.alphabet)))
        return reduce(
            _sum_of_tables,
            (
                self._spread(table, words[at : at + step], different[at : at + step], hashes)
                for at in range(0, max(len(different), 1), step)
            ),
        )

    def _spread(self, table: Table, words: Array, ids: Array, hashes: Array) -> Table:
        """Return how often objects with counts of substrings have the neighbours of these."""
        near = self._near(words, ids, hashes)
        spread = Table.of(np.arange(len(ids) + 1) * near.shape[1], near.ravel())
        columns = distinct(spread.ids)
        rows = table.rows(ids) @ spread.rows(columns)
        rows.sort_indices()
        return Table(rows.indptr.astype(np.int64), columns[rows.indices], rows.data)

    def _near(self, words: Array, ids: Array, hashes: Array) -> Array:
        """Return the ids of all neighbours of each word, a row of places in the alphabet."""
        size, found = len(self.alphabet), []
        for changed in range(self.m + 1 if size > 1 else 1):  # no other token, no neighbour
            for choice in combinations(range(self.k), changed):
                for shifts in product(range(1, size), repeat=changed):
                    near = ids.copy()
                    for j, shift in zip(choice, shifts, strict=True):
                        near += hashes[j][(words[:, j] + shift) % size] - hashes[j][words[:, j]]
                    found.append(near)
        return np.stack(found, axis=1)


def _sum_of_tables(one: Table, other: Table) -> Table:
    """Return the sums of two counts of the same objects."""
    objects = np.arange(len(one))
    owners = [np.repeat(objects, np.diff(table.ends)) for table in (one, other)]
    order = np.argsort(np.concatenate(owners), kind="stable")
    ids = np.concatenate([one.ids, other.ids])[order]
    return Table.of(one.ends + other.ends, ids, np.concatenate([one.values, other.values])[order])


def _places(text: Sequences, items: Sequence[Any], alphabet: Sequence[Hashable]) -> Array:
    """Return the place of each token in the alphabet; refuse a token that is not there."""
    codes = token_codes(alphabet)
    order = np.argsort(codes)
    at = np.minimum(np.searchsorted(codes[order], text.codes), len(codes) - 1)
    places: Array = order[at]
    wrong = np.flatnonzero(codes[places] != text.codes)
    if len(wrong):
        index = int(np.searchsorted(text.ends, wrong[0], side="right")) - 1
        position = int(wrong[0] - text.ends[index])
        raise InputError(
            sentence(
                "Mismatch",
                f"every token must be in the alphabet {show(alphabet)}",
                f"{show(items[index][position])} at position {position} of item {index}",
                "List all tokens in alphabet=…, or drop the others first.",
            )
        )
    return places
