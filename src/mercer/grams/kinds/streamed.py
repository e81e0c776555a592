"""The Gram of points that arrive in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...checks import Array, InputError, sentence
from ...inputs import Input, RowBlocks, Rows
from ...kernels.base import Kernel
from ...monitor import Monitor
from ..matrix import Explanation, Gram
from ..plan import Plan
from ..sides import Side, View, index
from ..sinks import JointSink, Multiply, Sink, joined
from .tiled import TiledGram


@dataclass(frozen=True, kw_only=True)
class BlockWork:
    """What is done with a block of points where it lies: K(block, right) passes by a sink.

    The right side is packed once, and kept from one pass to the next. Sent to another process,
    the work leaves the monitor behind.
    """

    kernel: Kernel
    right: View
    plan: Plan
    dtype: np.dtype[Any]
    monitor: Monitor
    checked: bool = True

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"monitor": Monitor()}

    def __call__(self, block: Input, sink: Sink) -> Any:
        return self.gram(block).reduce(sink)

    def gram(self, block: Input) -> Gram:
        """Return K(block, right)."""
        left = View(Side(block, self.right.side))
        found = TiledGram(self.kernel, left, self.right, self.plan, self.dtype, self.monitor)
        found.checked = self.checked
        return found


class BlocksGram(Gram):
    """K of points that arrive in blocks: only one pair of blocks is held at a time."""

    def __init__(
        self, kernel: Kernel, left: View, right: View, plan: Plan, dtype: Any, monitor: Monitor
    ) -> None:
        self.kernel, self.left, self.right = kernel, left.points, right.points
        self.plan, self.monitor = plan, monitor
        self.dtype = np.dtype(dtype)
        self.shape = (len(left), len(right))
        self.symmetric = self.left is self.right
        self._right = right
        self._work: BlockWork | None = None

    def work(self, right: View | None = None) -> BlockWork:
        """Return what is done with a block of the left side; right: a block of the right side."""
        if right is None and self._work is not None and self._work.checked == self.checked:
            return self._work
        made = BlockWork(
            kernel=self.kernel,
            right=right or self._right,
            plan=self.plan,
            dtype=self.dtype,
            monitor=self.monitor.quiet(),
            checked=self.checked,
        )
        if right is None:
            self._work = made
        return made

    def reduce(self, sink: Sink) -> Any:
        if isinstance(self.right, RowBlocks):
            return self._reduce_pairs(sink) if isinstance(sink, Multiply) else super().reduce(sink)
        if not isinstance(sink, JointSink):
            return super().reduce(sink)
        sink.start(self.shape, self.dtype)
        return joined(sink, self.shape, self._each, self.work(), self.monitor)

    def _each(
        self, work: Any, part: Callable[[slice], Any], sums: bool = False
    ) -> Iterator[tuple[slice, Any]]:
        """Yield what work makes of each block of the left side."""
        if isinstance(self.left, RowBlocks):
            yield from self.left.each(work, part, sums)
        else:
            rows = slice(0, self.shape[0])
            yield rows, work(self.left, part(rows))

    def _reduce_pairs(self, sink: Multiply) -> Any:
        """Return K V, block by block on both sides: one on the right is packed once in a pass."""
        sink.start(self.shape, self.dtype)
        with self.monitor.stage("pass") as stage:
            known, first = stage.known, 0
            total = np.zeros((self.shape[0], *sink.V.shape[1:]))
            done = 0 if known is None else int(known["columns"])
            total = total if known is None else np.asarray(known["total"])
            for right in self._rights():
                start, first = first, first + len(right)
                if first <= done:
                    continue
                with_block = total.copy()
                for rows, found in self._each(self.work(right), Multiply(sink.V[start:first]).part):
                    with_block[rows] += found
                    so_far = start + len(right) * rows.stop / self.shape[0]
                    self.monitor.report("kernel", so_far / self.shape[1])
                total = with_block
                stage.reached({"total": total, "columns": first})
        sink.put(total)
        return sink.result()

    def bands(self, first: int = 0) -> Iterator[tuple[slice, Array]]:
        for rows, part in _parts(self.left, self.plan.band_rows):
            if rows.start >= first:
                self.monitor.report("kernel", rows.start / self.shape[0])
                yield rows, self._band(part, self._rights())
        self.monitor.report("kernel", 1.0)

    def _rights(self) -> Iterator[View]:
        """Yield the right side; of blocks one after another."""
        if isinstance(self.right, RowBlocks):
            yield from (View(Side(block)) for block in self.right.blocks())
        else:
            yield self._right

    def _band(self, part: Input, rights: Iterable[View]) -> Array:
        everything = slice(None)
        tiles = [self.work(right).gram(part).tile(everything, everything) for right in rights]
        return tiles[0] if len(tiles) == 1 else np.hstack(tiles)

    def tile(self, rows: Rows, columns: Rows) -> Array:
        everything = columns == slice(None) if isinstance(columns, slice) else False
        rights = self._rights() if everything else (View(Side(self.right.take(columns))),)
        return self._band(self.left.take(rows), rights)

    def dense(self, out: Array | None = None) -> Array:
        room = np.empty(self.shape, dtype=self.dtype) if out is None else self._room(out)
        first = 0
        for right in self._rights():
            columns = slice(first, first + len(right))
            for rows, part in _parts(self.left, self.plan.band_rows):
                room[rows, columns] = self._band(part, [right])
                done = first + len(right) * rows.stop / self.shape[0]
                self.monitor.report("kernel", done / self.shape[1])
            first = columns.stop
        return room

    def diag(self) -> Array:
        if not self.symmetric:
            raise InputError(
                sentence("diag", "K must be the Gram of one collection", f"shape {self.shape}")
            )
        return self.kernel.diag(self.left)

    def restrict(self, rows: Any, columns: Any) -> Gram:
        chosen = index(rows, self.shape[0], "rows"), index(columns, self.shape[1], "columns")
        left = View(Side(self.left.take(chosen[0])))
        everything = np.arange(self.shape[0])
        same = self.symmetric and np.array_equal(everything[chosen[0]], everything[chosen[1]])
        right = left if same else View(Side(self.right.take(chosen[1])))
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


def _parts(points: Input, at_once: int) -> Iterator[tuple[slice, Input]]:
    """Yield the points, at most so many at a time, each part from one block."""
    start = 0
    for block in _blocks(points):
        for first in range(0, len(block), at_once):
            part = block.take(slice(first, first + at_once))
            yield slice(start, start + len(part)), part
            start += len(part)
