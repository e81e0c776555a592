"""The Gram of points that arrive in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...checks import Array, InputError, sentence
from ...inputs import Input, RowBlocks, Rows
from ...kernels.base import Kernel
from ...monitor import Monitor
from ..engine import tile
from ..matrix import Explanation, Gram
from ..plan import Plan
from ..sides import Side, View, index
from .tiled import TiledGram


class BlocksGram(Gram):
    """K of points that arrive in blocks: only one pair of blocks is held at a time."""

    def __init__(
        self, kernel: Kernel, left: Input, right: Input, plan: Plan, dtype: Any, monitor: Monitor
    ) -> None:
        self.kernel, self.left, self.right = kernel, left, right
        self.plan, self.monitor = plan, monitor
        self.dtype = np.dtype(dtype)
        self.shape = (len(left), len(right))
        self.symmetric = left is right

    def bands(self) -> Iterator[tuple[slice, Array]]:
        start = 0
        for block in _blocks(self.left):
            for first in range(0, len(block), self.plan.band_rows):
                part = block.take(slice(first, first + self.plan.band_rows))
                self.monitor.report("kernel", start / self.shape[0])
                yield slice(start, start + len(part)), self._band(part, self.right)
                start += len(part)
        self.monitor.report("kernel", 1.0)

    def _band(self, part: Input, right: Input) -> Array:
        tiles = []
        for block in _blocks(right):
            side = Side(block)
            views = View(Side(part, side)), View(side)
            tiles += tile((self.kernel,), *views, self.dtype, self.monitor, self.checked)
        return np.hstack(tiles)

    def tile(self, rows: Rows, columns: Rows) -> Array:
        everything = columns == slice(None) if isinstance(columns, slice) else False
        right = self.right if everything else self.right.take(columns)
        return self._band(self.left.take(rows), right)

    def dense(self, out: Array | None = None) -> Array:
        room = np.empty(self.shape, dtype=self.dtype) if out is None else self._room(out)
        for rows, band in self.bands():
            room[rows] = band
        return room

    def diag(self) -> Array:
        if not self.symmetric:
            raise InputError(
                sentence("diag", "K must be the Gram of one collection", f"shape {self.shape}")
            )
        return np.concatenate([self.kernel.diag(block) for block in _blocks(self.left)])

    def restrict(self, rows: Any, columns: Any) -> Gram:
        chosen = index(rows, self.shape[0], "rows"), index(columns, self.shape[1], "columns")
        left = self.left.take(chosen[0])
        everything = np.arange(self.shape[0])
        same = self.symmetric and np.array_equal(everything[chosen[0]], everything[chosen[1]])
        right = left if same else self.right.take(chosen[1])
        return BlocksGram(self.kernel, left, right, self.plan, self.dtype, self.monitor)

    def explain(self) -> Explanation:
        right = Side(next(_blocks(self.right)))
        views = View(Side(next(_blocks(self.left)), right)), View(right)
        tiled = TiledGram(self.kernel, *views, self.plan, self.dtype, self.monitor)
        return replace(tiled.explain(), shape=self.shape)


def _blocks(points: Input) -> Iterator[Input]:
    if isinstance(points, RowBlocks):
        yield from points.blocks()
    else:
        yield points
