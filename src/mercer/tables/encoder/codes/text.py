"""Texts as numbers: n-grams weighted by how rare they are, in the directions of most variation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from ....checks import Array
from ....linalg.blas import blas_threads
from ..columns import spread_rows
from .ngrams import BUCKETS, bucket_counts
from .sound import is_floats, require

BAND = 8192  # texts whose counts are kept at a time
SAMPLE = 4096  # texts that weights and directions are found from
SPARE, ROUNDS = 10, 5  # of the search for directions
WEIGHT = 2.0  # the variance of all columns of a text: that of two standardised numbers
_DENSE = 200  # rows or columns below which all directions are found at once
_SMALL = 1e-9  # of the largest singular value: directions below are rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class TextCode:
    """z = (w(x) V - mean) scale, w(x): weights of n-grams, as a vector of length 1.

    buckets: those that training texts hit. rarity: log((1 + n) / (1 + texts with it)) + 1, by which
    1 + log(count) is multiplied. directions: V, the leading right singular vectors. A missing text
    is the mean.
    """

    buckets: Array
    rarity: Array
    directions: Array
    mean: Array
    scale: float

    def __post_init__(self) -> None:
        plain = isinstance(self.buckets, np.ndarray) and self.buckets.dtype == np.int64
        require(plain and self.buckets.ndim == 1, "buckets must be whole numbers")
        inside = bool(((self.buckets >= 0) & (self.buckets < BUCKETS)).all())
        require(inside and bool((np.diff(self.buckets) > 0).all()), "buckets must be ascending")
        require(is_floats(self.rarity) and is_floats(self.mean), "weights must be numbers")
        require(is_floats(self.directions, 2), "directions must be numbers")
        shape = (len(self.buckets), len(self.mean))
        require(self.directions.shape == shape and min(shape) > 0, "directions must fit buckets")
        require(len(self.rarity) == len(self.buckets), "there must be a weight per bucket")
        positive = isinstance(self.scale, float) and 0.0 < self.scale < math.inf
        require(positive, "scale must be above 0")

    @property
    def width(self) -> int:
        return len(self.mean)

    def names(self, label: str) -> list[str]:
        return [f"{label}=text {place}" for place in range(self.width)]

    def encode(self, values: Sequence[str | None]) -> Array:
        found = np.zeros((len(values), self.width))
        rarity, directions = np.zeros(BUCKETS), np.zeros((BUCKETS, self.width))
        rarity[self.buckets], directions[self.buckets] = self.rarity, self.directions
        for rows, counts in _bands(values):
            weights = _weighted(counts, rarity)
            known = np.fromiter((text is not None for text in values[rows]), bool)
            found[rows] = (weights @ directions - self.mean) * self.scale * known[:, None]
        return found


def learn_text(values: Sequence[str | None], width: int) -> TextCode | None:
    """Return the code of a column of texts; None: they do not differ in their words."""
    known = [text for text in values if text is not None]
    some = [known[row] for row in spread_rows(len(known), SAMPLE)]
    counts = bucket_counts(some)
    texts_with = np.bincount(counts.indices, minlength=BUCKETS)  # each text once per bucket
    buckets = np.flatnonzero(texts_with)
    if len(buckets) == 0:
        return None
    rarity = np.log((1.0 + len(some)) / (1.0 + texts_with[buckets])) + 1.0
    weights = _weighted(counts[:, buckets], rarity)
    with blas_threads(1):  # the matrices are narrow, and the answer does not depend on how many
        directions = _directions(weights, width)
    scores = weights @ directions
    mean, spread = scores.mean(axis=0), float(scores.var(axis=0).sum())
    if spread < _SMALL**2:
        return None
    return TextCode(
        buckets=buckets,
        rarity=rarity,
        directions=directions,
        mean=mean,
        scale=math.sqrt(WEIGHT / spread),
    )


def _bands(texts: Sequence[str | None]) -> Iterator[tuple[slice, scipy.sparse.csr_array]]:
    for start in range(0, len(texts), BAND):
        rows = slice(start, start + BAND)
        yield rows, bucket_counts(texts[rows])


def _weighted(counts: scipy.sparse.csr_array, rarity: Array) -> scipy.sparse.csr_array:
    """Return the weights of n-grams of each text, scaled to length 1; a text without any has 0."""
    weights = scipy.sparse.csr_array(counts, copy=True)
    weights.data = (1.0 + np.log(weights.data)) * rarity[weights.indices]
    lengths = np.sqrt(weights.multiply(weights).sum(axis=1))
    weights.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(weights.indptr))
    return weights


def _directions(weights: scipy.sparse.csr_array, width: int) -> Array:
    """Return leading right singular vectors, the largest entry of each of them positive.

    Those of many texts are found by iterating on a subspace with some directions to spare.
    """
    wide = width + SPARE
    if min(weights.shape) <= max(_DENSE, 2 * wide):
        _, values, rows = np.linalg.svd(weights.toarray(), full_matrices=False)
    else:
        basis = np.random.default_rng(0).normal(size=(weights.shape[1], wide))
        for _ in range(ROUNDS):
            basis, _ = np.linalg.qr(weights.T @ (weights @ basis))
        _, values, inner = np.linalg.svd(weights @ basis, full_matrices=False)
        rows = inner @ basis.T
    rows = rows[:width][values[:width] > _SMALL * values[0]]
    signs = np.sign(rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)])
    return np.ascontiguousarray((rows * signs[:, None]).T)
