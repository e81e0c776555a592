"""Rows of a kernel matrix, as the solvers of box problems ask for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ... import _native
from ...checks import Array

AT_ONCE = 128  # rows that are computed apart from their places

Fill = Callable[[Array, Array], None]


class KernelRows(Protocol):
    """Rows of K between the variables of a problem.

    values: where rows are kept; room: how many of them at once. computed, reused: rows so far.
    """

    values: Array
    room: int
    computed: int
    reused: int

    def fetch(self, wanted: Array) -> Array:
        """Return the places in `values` of these rows, no more than there is room for."""

    def columns(self, chosen: Array) -> Array:
        """Return the columns of `values` that belong to these variables."""

    def add(self, places: Array, weights: Array, g: Array) -> None:
        """Add weights' rows to g."""


class DenseRows:
    """Rows of a matrix that is there, or of a part of it."""

    def __init__(self, K: Array, points: Array | None = None) -> None:
        self.values = np.ascontiguousarray(K)
        self.points = np.arange(len(K), dtype=np.int64) if points is None else points
        self.room = len(self.points)
        self.computed = self.reused = 0

    def fetch(self, wanted: Array) -> Array:
        self.reused += len(wanted)
        return self.points[wanted]

    def columns(self, chosen: Array) -> Array:
        return self.points[chosen]

    def add(self, places: Array, weights: Array, g: Array) -> None:
        _native.add_rows(self.values, places, weights, self.points, g)

    def products(self, b: Array, columns: Array) -> Array:
        """Return the sums of b times rows in some columns of the whole matrix."""
        found, used = np.zeros(len(columns)), np.flatnonzero(b)
        _native.add_rows(self.values, self.points[used], b[used], columns, found)
        return found


class RowStore:
    """Rows computed in blocks when first asked for; the ones not used for longest go first.

    fill: writes the rows with these numbers into an array. size: how many rows there are; width:
    of each. room: how many may be kept. buffer: numbers to keep them in, where there are some.
    """

    def __init__(
        self,
        fill: Fill,
        size: int,
        width: int,
        room: int,
        dtype: Any,
        buffer: Array | None = None,
    ) -> None:
        self.fill = fill
        self.room = min(room, size)
        self.values = (
            np.empty((self.room, width), dtype=dtype)
            if buffer is None
            else buffer[: self.room * width].reshape(self.room, width)
        )
        self.everything = np.arange(width, dtype=np.int64)
        self.places = np.full(size, -1, dtype=np.int64)
        self.owner = np.full(self.room, -1, dtype=np.int64)
        self.used = np.zeros(self.room, dtype=np.int64)
        self.clock = self.filled = self.computed = self.reused = 0

    def fetch(self, wanted: Array) -> Array:
        self.clock += 1
        places = self.places[wanted]
        self.used[places[places >= 0]] = self.clock
        missing = wanted[places < 0]
        self.computed += len(missing)
        self.reused += len(wanted) - len(missing)
        if len(missing):
            self._compute(missing)
            places = self.places[wanted]
        return places

    def columns(self, chosen: Array) -> Array:
        return chosen

    def add(self, places: Array, weights: Array, g: Array) -> None:
        _native.add_rows(self.values, places, weights, self.everything, g)

    def _compute(self, missing: Array) -> None:
        free = np.arange(self.filled, min(self.filled + len(missing), self.room))
        more = len(missing) - len(free)
        if more:
            oldest = np.sort(np.argpartition(self.used[: self.filled], more - 1)[:more])
            self.places[self.owner[oldest]] = -1
            free = np.concatenate([oldest, free])
        if free[-1] - free[0] == len(free) - 1:
            self.fill(missing, self.values[free[0] : free[-1] + 1])
        else:
            for start in range(0, len(free), AT_ONCE):
                some = slice(start, start + AT_ONCE)
                rows = np.empty((len(free[some]), self.values.shape[1]), dtype=self.values.dtype)
                self.fill(missing[some], rows)
                self.values[free[some]] = rows
        self.filled = max(self.filled, int(free.max()) + 1)
        self.places[missing] = free
        self.owner[free] = missing
        self.used[free] = self.clock
