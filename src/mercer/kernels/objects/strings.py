"""Kernels of strings and other sequences of tokens that count short substrings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import checks
from ...checks import Array
from ...inputs import SEQUENCES
from .counted import CountKernel, Table
from .tokens import Sequences, mix, sequences

_BITS = np.uint64(21)  # of a code point and one more: three of them fit 63 bits
_PACKED = 3
_HASHED = np.uint64(1 << 63)  # set in hashes, to tell them from packed n-grams
_STEP = 0x9E3779B97F4A7C15


@dataclass(frozen=True, repr=False)
class Spectrum(CountKernel):
    """The spectrum kernel, which counts common substrings of n tokens.

    k(s, t) = sum_u n_u(s) n_u(t) over all n-grams u, where n_u(s) is how often u occurs in s [1]_.
    A sequence may be a string, whose tokens are its characters, bytes, or a list or tuple of
    tokens.

    Parameters
    ----------
    n : int
        Length of the substrings, at least 1.
    blended : bool, default=False
        Whether to count the substrings of all lengths from 1 to n.

    References
    ----------
    .. [1] C. Leslie, E. Eskin, W. S. Noble, "The spectrum kernel: a string kernel for SVM protein
       classification", 2002.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(2)(["abab", "abc", "xyz"])
    array([[5., 2., 0.],
           [2., 2., 0.],
           [0., 0., 2.]])
    >>> Spectrum(2, blended=True)([["to", "be"], ["to", "do"]])
    array([[3., 1.],
           [1., 3.]])
    """

    domain = SEQUENCES

    n: int
    blended: bool = False

    def __post_init__(self) -> None:
        self._set(n=checks.whole("Spectrum", "n", self.n, least=1), blended=bool(self.blended))

    def counts(self, x: Any) -> Mapping[Hashable, float]:
        tokens = tuple(x)
        lengths = range(1 if self.blended else self.n, min(self.n, len(tokens)) + 1)
        return Counter(
            tokens[i : i + length] for length in lengths for i in range(len(tokens) - length + 1)
        )

    def tabulate(self, items: Sequence[Any]) -> Table:
        text = sequences(items)
        longest = min(self.n, int(np.diff(text.ends).max(initial=0)))
        lengths = range(1 if self.blended else self.n, longest + 1)
        ids = _ngram_ids(text.codes, lengths)
        return table_of_windows(text, np.array(lengths), ids)


def _ngram_ids(codes: Array, lengths: range) -> Array:
    """Return a row for each position, with a number for the n-gram of each length from there on.

    Up to three characters are kept as they are, so that numbers ascend as the n-grams do; else the
    number is a hash. Which of them it is depends on nothing but the n-gram.
    """
    longest = lengths[-1] if lengths else 0
    plain = codes < np.uint64((1 << 21) - 1)
    fits, packed, hashed = np.ones_like(plain), np.zeros_like(codes), np.zeros_like(codes)
    needs_hash = longest > _PACKED or not plain.all()
    ids = np.zeros((len(codes), len(lengths)), dtype=np.uint64)
    for offset in range(longest):
        there = slice(0, len(codes) - offset)  # where a window may start
        if offset < _PACKED:
            left = _BITS * np.uint64(_PACKED - 1 - offset)
            packed[there] |= (codes[offset:] + np.uint64(1)) << left
        fits[there] &= plain[offset:] if offset < _PACKED else False
        if needs_hash:
            hashed[there] += token_hashes(codes[offset:], offset)
        if offset + 1 in lengths:
            column = np.where(fits, packed, hashed | _HASHED) if needs_hash else packed
            ids[:, lengths.index(offset + 1)] = column
    return ids


def token_hashes(codes: Array, offset: int) -> Array:
    """Return a random number for each token at this place of a window; their sum is its hash."""
    return mix(codes + np.uint64((offset + 1) * _STEP % 2**64))


def table_of_windows(text: Sequences, widths: Array, ids: Array) -> Table:
    """Return the table of the windows that lie within a sequence.

    ids: a row for each position, a column for each kind of window; widths: one for each column.
    """
    inside = room_after(text)[:, None] >= widths
    before = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    return Table.of(before[text.ends], ids[inside])


def room_after(text: Sequences) -> Array:
    """Return how many tokens there are from each position to the end of its sequence."""
    return np.repeat(text.ends[1:], np.diff(text.ends)) - np.arange(len(text.codes))
