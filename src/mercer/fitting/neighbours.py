"""The nearest training points in feature space, exactly as the definition ranks them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..checks import Array
from ..grams import Prepared
from ..grams.blocks.pointwise import is_rounded, matched_values
from ..grams.finite import refuse_large
from ..grams.sides import Side, View
from ..inputs import Input, RowBlocks
from ..kernels import Kernel

SPARE = 4  # candidates beyond the k that are wanted
CAUTION = 4.0  # times the largest error seen among the candidates
SLACK = 1e-9  # of the size of the terms: how far double precision may be off in the second look


def self_similarity(kernel: Kernel, points: Input) -> Array:
    """Return k(x, x), summed in the order of `matched_values`, so that ||phi(x) - phi(x)|| is 0."""
    if refinable(kernel, points):
        view, rows = View(Side(points)), np.arange(len(points))
        found = matched_values(kernel, view, rows, view, rows)
    else:
        found = kernel.diag(points)
    refuse_large(kernel, points, found)
    return found


def refinable(kernel: Kernel, points: Input) -> bool:
    """Return whether single pairs differ from fast blocks of K, and can be computed again."""
    fixed = isinstance(points, RowBlocks) or kernel.is_user_defined()
    return not fixed and is_rounded(kernel)


@dataclass(frozen=True)
class Nearest:
    """Finds the training points with the smallest k(y, y) - 2 k(x, y), ties by the smaller index.

    K passes by once, in the precision of the points, and leaves a few candidates more than are
    wanted. Those are ranked by the definition in double precision. Where the distance of the last
    candidate does not clearly exceed that of the kth, the row is looked at again in double
    precision, and every point that could be among the k is ranked by the definition.

    diagonal: k(y, y) of the training points. Where it is constant, the order is that of k(x, y).
    """

    prepared: Prepared
    diagonal: Array
    memory_limit: Any

    @cached_property
    def shift(self) -> Array | None:
        """What is compared with 2 k(x, y); None where it is the same for all points."""
        low, high = self.diagonal.min(), self.diagonal.max()
        constant = high - low <= 4 * np.finfo(np.float64).eps * abs(high)
        return None if constant else self.diagonal

    def find(self, points: Input | None, k: int) -> tuple[Array, Array]:
        """Return the k nearest training points of every point, and k(x, y) with each of them.

        None: of the training points, each without itself.
        """
        if isinstance(points, RowBlocks):
            parts = [self.find(block, k) for block in points.blocks()]
            columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
            return columns, values
        training = self.prepared.view
        others = training if points is None else View(Side(points, training.side))
        refined = refinable(self.prepared.kernel, self.prepared.points)
        n = len(self.prepared)
        own = np.arange(n)[:, None] if points is None else None
        count = min(n, k + (own is not None) + (SPARE if refined else 0))
        # Blocks and functions cannot be asked for single pairs: all of it in double precision.
        wanted = None if refined else np.float64
        limit = self.memory_limit
        columns, keys, dtype = self.prepared.top(points, count, self.shift, limit, wanted)
        if self.shift is None:
            keys = -keys
        values = self._values(columns, keys)
        if refined:
            rows = np.repeat(np.arange(len(columns)), count)
            values = self._exact(others, rows, columns.ravel()).reshape(columns.shape)
        found = self._best(columns, values, k, own)
        if refined and count < n:
            unsure = self._unsure(columns, keys, values, found, dtype)
            for row_numbers, *better in self._again(others, unsure, k, own):
                found[0][row_numbers], found[1][row_numbers] = better
        return found

    def _exact(self, points: View, rows: Array, columns: Array) -> Array:
        return matched_values(self.prepared.kernel, points, rows, self.prepared.view, columns)

    def _keys(self, columns: Any, values: Array) -> Array:
        """Return what is smallest for the nearest."""
        keys = -values if self.shift is None else self.shift[columns] - 2.0 * values
        return np.where(np.isnan(keys), np.inf, keys)

    def _values(self, columns: Any, keys: Array) -> Array:
        return -keys if self.shift is None else (self.shift[columns] - keys) / 2.0

    def _size(self, columns: Any, values: Array) -> Array:
        """Return the size of the numbers whose difference is compared; errors go with it."""
        size = np.abs(values)
        return size if self.shift is None else np.abs(self.shift[columns]) + 2.0 * size

    def _best(
        self, columns: Array, values: Array, k: int, own: Array | None
    ) -> tuple[Array, Array]:
        keys = self._keys(columns, values)
        last = keys if own is None else np.where(columns == own, np.inf, keys)
        order = np.lexsort((columns, last, columns == own), axis=1)[:, :k]
        return np.take_along_axis(columns, order, 1), np.take_along_axis(values, order, 1)

    def _unsure(
        self, columns: Array, keys: Array, values: Array, found: tuple[Array, Array], dtype: Any
    ) -> Array:
        """Return the rows where a point that is no candidate might be among the k."""
        precision = np.finfo(dtype)
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.abs(self._keys(columns, values) - keys)
            size = self._size(columns, values)
            seen = np.where(size > 0, errors / size, 0.0).max(axis=1)
            usual = np.nanmean(seen) + 4 * precision.eps
            error = np.maximum(seen, usual) * size.max(axis=1) + errors.max(axis=1)
            error = CAUTION * error + 8 * precision.tiny
            border = self._keys(found[0][:, -1], found[1][:, -1])
            return np.flatnonzero(~(border < keys[:, -1] - error))

    def _again(self, points: View, rows: Array, k: int, own: Array | None) -> Any:
        """Yield row numbers, their neighbours and k(x, y), from whole rows in double precision."""
        if len(rows) == 0:
            return
        everything = slice(None)
        some, limit = points.take(rows).points, self.memory_limit
        K = self.prepared.gram(some, use="rows", memory_limit=limit, dtype=np.float64)
        for band_rows, band in K.bands():
            numbers = rows[band_rows]
            keys = self._keys(everything, band)
            if own is not None:
                keys[np.arange(len(numbers)), numbers] = np.inf
            near = self._contenders(keys, band, k)
            i, j = np.nonzero(near)
            values = self._exact(points, numbers[i], j)
            order = np.lexsort((j, self._keys(j, values), i))
            first = np.searchsorted(i, np.arange(len(numbers)))
            chosen = order[first[:, None] + np.arange(k)]
            yield numbers, j[chosen], values[chosen]

    def _contenders(self, keys: Array, band: Array, k: int) -> Array:
        """Return which points could be among the k, given the errors of double precision."""
        kth = np.argpartition(keys, k - 1, axis=1)[:, k - 1]
        lines = np.arange(len(keys))
        size = self._size(kth, band[lines, kth])
        slack = np.where(np.isfinite(size), SLACK * size, 0.0)
        if self.shift is None and np.any(band < 0):  # sums that cancel are off by more than that
            slack += SLACK * 1e-4 * np.abs(self.diagonal[0])
        near = keys <= (keys[lines, kth] + slack)[:, None]
        if self.shift is None and not np.any(band < 0):
            unseen = band == 0  # of the points that are all out of sight, the first k will do
            near &= ~(unseen & (np.cumsum(unseen, axis=1) > k))
        return near
