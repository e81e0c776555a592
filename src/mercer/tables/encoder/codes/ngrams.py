"""Words of texts and their parts, counted in a fixed number of buckets.

A part of a word is a run of 2 to 4 of its letters, with a space before and after the word. Parts
and whole words are hashed by arithmetic on their characters, so that a text has the same counts in
every process and on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import scipy.sparse

from ....checks import Array

BUCKETS = 4096
_BITS = np.uint64(64 - 12)  # a bucket is the first 12 bits of a hash
_LENGTHS = (2, 3, 4)
_WORD = re.compile(r"\w+")
_FACTOR = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio, odd: products with it spread well
_MIX = 0xBF58476D1CE4E5B9
_WHOLE = 1 << 40  # sets whole words apart from parts of the same letters


def bucket_counts(texts: Sequence[str | None]) -> scipy.sparse.csr_array:
    """Return how often each bucket is hit by words and their parts, one row per text."""
    numbers: dict[str, int] = {}
    rows, columns = [], []
    for row, text in enumerate(texts):
        words = [] if text is None else _WORD.findall(text.casefold())
        rows += [row] * len(words)
        columns += [numbers.setdefault(word, len(numbers)) for word in words]
    shape = (len(texts), len(numbers))
    ones = np.ones(len(rows))
    words_of = scipy.sparse.csr_array((ones, (rows, columns)), shape=shape)
    return scipy.sparse.csr_array(words_of @ _buckets_of(list(numbers)))


def _buckets_of(words: list[str]) -> scipy.sparse.csr_array:
    """Return the counts of each word: its parts, and the word itself."""
    padded = [f" {word} " for word in words]
    lengths = np.array([len(word) for word in padded], dtype=np.int64)
    letters = np.frombuffer("".join(padded).encode("utf-32-le"), dtype="<u4").astype(np.uint64)
    owners = np.repeat(np.arange(len(words)), lengths)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    places = np.arange(len(letters))
    found_rows, found_buckets = [np.arange(len(words))], [_whole(letters, places, starts, owners)]
    rolling = letters.copy()
    for length in range(2, max(_LENGTHS) + 1):
        rolling = _next(rolling[:-1], letters[length - 1 :])
        inside = places[: len(rolling)] + length <= ends[owners[: len(rolling)]]
        if length in _LENGTHS:
            found_rows.append(owners[: len(rolling)][inside])
            found_buckets.append(_bucket(rolling[inside] + np.uint64(length)))
    rows, buckets = np.concatenate(found_rows), np.concatenate(found_buckets)
    shape = (len(words), BUCKETS)
    return scipy.sparse.csr_array((np.ones(len(rows)), (rows, buckets)), shape=shape)


def _next(hashes: Array, letters: Array) -> Array:
    """Return the hashes of runs that are one letter longer, modulo 2**64."""
    longer: Array = hashes * np.uint64(_FACTOR) + letters
    return longer


def _whole(letters: Array, places: Array, starts: Array, owners: Array) -> Array:
    """Return the buckets of whole words: polynomials in their letters."""
    if len(starts) == 0:
        return np.empty(0, dtype=np.int64)
    inner = places - starts[owners]
    powers = np.cumprod(np.full(int(inner.max()) + 1, _FACTOR, dtype=np.uint64))
    sums = np.add.reduceat(letters * powers[inner], starts)
    return _bucket(sums + np.uint64(_WHOLE))


def _bucket(hashes: Array) -> Array:
    mixed = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(_MIX)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(_FACTOR)
    buckets: Array = (mixed >> _BITS).astype(np.int64)
    return buckets
