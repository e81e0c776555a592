"""Where support vector machines get the rows of their kernel matrix from."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from ..checks import Array, bytes_text
from ..grams import Gram, Prepared, limit_in_bytes
from ..inputs import Matrix
from ..monitor import Stopped
from ..run import Run
from ..solvers import BoxSizes, DenseRows, KernelRows, RowStore
from ..solvers.box.rows import AT_ONCE

DENSE = 4000  # points up to which K is kept whole, in double precision
ROUNDING = 1e-6  # of single-precision kernel values, with something to spare
PRECISE = 1e-5  # tolerance below which rows are kept in double precision
LEAST = 64  # rows that a store must have room for


class SharedRows:
    """Rows of K for problems on some of the points, computed once for all of them.

    parts: the points, in groups; a problem is about some of the groups, such as two classes. What
    lies between points of one group serves every problem with it. reach: how large coefficients may
    become, by which the rounding of K is multiplied.
    """

    def __init__(
        self,
        prepared: Prepared,
        parts: list[Array],
        run: Run,
        tol: float,
        reach: float = 1.0,
    ) -> None:
        self.parts = parts
        stops = np.cumsum([len(part) for part in parts])
        self._spans = [
            np.arange(stop - len(part), stop) for stop, part in zip(stops, parts, strict=True)
        ]
        self.limit = limit_in_bytes(run.who, run.memory_limit)
        n = len(prepared)
        precise = n <= DENSE or tol < PRECISE or ROUNDING * reach >= tol
        self.dtype = np.dtype(np.float64 if precise else np.float32)
        self.gram = prepared.gram(
            store=False,
            dtype=self.dtype,
            memory_limit=run.memory_limit,
            monitor=run.monitor,
        )
        size = n * n * self.dtype.itemsize
        self.dense: Array | None = None
        if size <= self.limit and (n <= DENSE or not self.gram.rows_are_native()):
            with contextlib.suppress(Stopped):  # a solver that gets no rows says so
                self.dense = self._in_order().dense()
        if self.dense is not None:
            self.plan = "K stored: it is small" if n <= DENSE else "K stored: it fits the limit"
            self.bytes = size
        else:
            self.plan = f"rows of K, kept within {bytes_text(self.limit)}"
            self.bytes = min(size, self.limit)
        self._room = self._room_for_rows(prepared)
        self.stores: list[KernelRows] = []
        self._own: dict[int, RowStore] = {}
        self._buffer: Array | None = None
        self._cells: list[list[Gram]] | None = None
        self._crossed = 0  # entries computed between groups

    def _room_for_rows(self, prepared: Prepared) -> float:
        """Return the bytes that rows may take: what the limit leaves beside all else."""
        n, each = len(prepared), self.dtype.itemsize
        points = prepared.points
        columns = points.n_columns if isinstance(points, Matrix) else 0
        columns *= 1 if len(self.parts) == 1 else 2  # groups of them are copied
        others = 2 * min(n, BoxSizes.block) ** 2 + n * (columns + AT_ONCE + 40)
        return max(self.limit - others * each, self.limit / 4)

    @property
    def one_at_a_time(self) -> bool:
        """Whether problems on several groups keep their rows in the same place."""
        return self.dense is None and len(self.parts) > 1

    @property
    def entries(self) -> int:
        """How many kernel values were computed."""
        if self.dense is not None:
            return int(self.dense.size)
        if len(self.parts) == 1:
            return sum(store.computed * store.values.shape[1] for store in self.stores)
        own = sum(store.computed * store.values.shape[1] for store in self._own.values())
        return own + self._crossed

    @property
    def reused(self) -> int:
        """How many rows were asked for again."""
        return sum(store.reused for store in self.stores)

    def of(self, *groups: int) -> KernelRows:
        """Return the rows between all points of the groups, in their order."""
        size = sum(len(self.parts[group]) for group in groups)
        made: KernelRows
        if self.dense is not None:
            made = DenseRows(self.dense, np.concatenate([self._spans[group] for group in groups]))
        elif len(self.parts) == 1:
            made = self._store(self.gram.fill_rows, size, self._room)
        else:
            made = self._store(self._pair(*groups), size, self._room / 2)
        self.stores.append(made)
        return made

    def _in_order(self) -> Gram:
        """Return K with the points of a group next to one another, where there are several."""
        if len(self.parts) == 1:
            return self.gram
        order = np.concatenate(self.parts)
        return self.gram.restrict(order, order)

    def _store(self, fill: Any, width: int, limit: float) -> RowStore:
        """Return a store in memory that all problems use, one after another."""
        room = max(int(limit / (width * self.dtype.itemsize)), LEAST)
        if self._buffer is None:
            widest = sum(sorted(len(part) for part in self.parts)[-2:])
            most = max(int(limit / self.dtype.itemsize), LEAST * widest)
            self._buffer = np.empty(min(widest**2, most), dtype=self.dtype)
        return RowStore(
            fill=fill, size=width, width=width, room=room, dtype=self.dtype, buffer=self._buffer
        )

    def _pair(self, first: int, second: int) -> Any:
        """Return what fills rows of two groups: own parts from the stores of the groups."""
        if self._cells is None:
            self._cells = self.gram.cells(self.parts, self.parts)
        cells = self._cells
        size = len(self.parts[first])

        def fill(wanted: Array, out: Array) -> None:
            for group, other, chosen in (
                (first, second, wanted < size),
                (second, first, wanted >= size),
            ):
                rows = wanted[chosen] - (0 if group == first else size)
                if len(rows) == 0:
                    continue
                own, cross = slice(0, size), slice(size, None)
                own, cross = (own, cross) if group == first else (cross, own)
                store = self._own_store(group, cells[group][group])
                at = np.flatnonzero(chosen)
                step = min(store.room, 512)
                for start in range(0, len(rows), step):
                    some = slice(start, start + step)
                    places = store.fetch(rows[some])
                    out[at[some], own] = store.values[places]
                room = np.empty((len(rows), len(self.parts[other])), dtype=self.dtype)
                cells[group][other].fill_rows(rows, room)
                self._crossed += room.size
                out[at, cross] = room

        return fill

    def _own_store(self, group: int, gram: Gram) -> RowStore:
        if group not in self._own:
            width = gram.shape[0]
            share = self._room / 2 / len(self.parts)
            room = max(int(share / (width * self.dtype.itemsize)), LEAST)
            self._own[group] = RowStore(gram.fill_rows, width, width, room, self.dtype)
        return self._own[group]
