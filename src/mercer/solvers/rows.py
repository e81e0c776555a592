"""Rows of a kernel matrix that a solver comes back to, kept as long as there is room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import Array

Fill = Callable[[Array, Array], None]


class RowStore:
    """Rows of K, computed in blocks when first asked for; the ones not used for longest go first.

    fill: writes the rows with these numbers into an array. room: how many rows may be kept.
    """

    def __init__(self, fill: Fill, size: int, width: int, room: int, dtype: Any) -> None:
        self.fill = fill
        self.values = np.empty((min(room, size), width), dtype=dtype)
        self.slots = np.full(size, -1, dtype=np.int64)
        self.rows = np.full(len(self.values), -1, dtype=np.int64)
        self.used = np.zeros(len(self.values), dtype=np.int64)
        self.clock = 0
        self.filled = 0
        self.computed = 0
        self.reused = 0

    def fetch(self, wanted: Array) -> Array:
        """Return the slots of `self.values` that hold these rows; no more than there is room."""
        self.clock += 1
        slots = self.slots[wanted]
        self.used[slots[slots >= 0]] = self.clock
        missing = wanted[slots < 0]
        self.computed += len(missing)
        self.reused += len(wanted) - len(missing)
        if len(missing):
            self._fill(missing)
            slots = self.slots[wanted]
        return slots

    def _fill(self, missing: Array) -> None:
        free = np.arange(self.filled, min(self.filled + len(missing), len(self.values)))
        self.filled += len(free)
        if len(free) < len(missing):
            count = len(missing) - len(free)
            oldest = np.argpartition(self.used[: self.filled - len(free)], count - 1)[:count]
            oldest.sort()
            self.slots[self.rows[oldest]] = -1
            free = np.concatenate([free, oldest])
        if free[-1] - free[0] == len(free) - 1:
            self.fill(missing, self.values[free[0] : free[-1] + 1])
        else:
            rows = np.empty((len(free), self.values.shape[1]), dtype=self.values.dtype)
            self.fill(missing, rows)
            self.values[free] = rows
        self.slots[missing] = free
        self.rows[free] = missing
        self.used[free] = self.clock
