"""The Gram matrix that is computed anew whenever a block of it is needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import Array
from ...inputs import Rows
from ..blocks.objects import is_of_objects
from ..engine import NativeTile, program_of, tile
from ..sides import View, index
from ..sinks import Multiply, Normal, Sink, TopK
from .computed import ComputedGram


class TiledGram(ComputedGram):
    """K computed anew whenever a block of it is needed."""

    _job: NativeTile | None = None

    def tile(self, rows: Rows, columns: Rows) -> Array:
        everything = isinstance(columns, slice) and columns == slice(None)
        right = self.right if everything else self.right.take(columns)
        return self._block(self.left.take(rows), right)

    def _block(self, left: View, right: View) -> Array:
        return tile((self.kernel,), left, right, self.dtype, self.monitor, self.checked)[0]

    def _whole(self) -> NativeTile | None:
        """Return the whole matrix as one native job, where no part of it is left to NumPy."""
        program = program_of((self.kernel,), self.left, self.right)
        if program is None or program.recorder.externals:
            return None
        views = self.left, self.right
        return NativeTile(program, (self.kernel,), *views, self.dtype, self.monitor, self.checked)

    def rows(self, rows: Any) -> Array:
        chosen = np.arange(self.shape[0])[index(rows, self.shape[0], "rows")]
        if self._handle() is None:
            return super().rows(chosen)
        out = np.empty((len(chosen), self.shape[1]), dtype=self.dtype)
        self.fill_rows(chosen, out)
        return out

    def rows_are_native(self) -> bool:
        return self._handle() is not None

    def fill_rows(self, rows: Any, out: Array) -> None:
        whole = self._handle()
        if whole is None or out.dtype != self.dtype or not out.flags.c_contiguous:
            super().fill_rows(rows, out)
        else:
            whole.fill_rows(np.arange(self.shape[0])[rows], out, self.monitor)

    def _handle(self) -> NativeTile | None:
        """Return the job that rows are asked of, kept because they are asked for again."""
        if self._job is None:
            self._job = self._whole()
        return self._job

    def dense(self, out: Array | None = None) -> Array:
        whole = self._whole()
        one_band = out is None and self.plan.band_rows >= self.shape[0]
        if one_band and is_of_objects(self.kernel):
            return np.ascontiguousarray(self._block(self.left, self.right))
        if whole is None:
            return super().dense(out)
        room = np.empty(self.shape, dtype=self.dtype) if out is None else self._room(out)
        self.monitor.report("kernel", 0.0)
        whole.store([room], self.monitor)
        self.monitor.report("kernel", 1.0)
        return room

    def reduce(self, sink: Sink) -> Any:
        at_once = isinstance(sink, Multiply | TopK) or (isinstance(sink, Normal) and sink.Y is None)
        whole = self._whole() if at_once else None
        if whole is None:
            return super().reduce(sink)
        sink.start(self.shape, self.dtype)
        self.monitor.report("kernel", 0.0)
        if isinstance(sink, Multiply):
            sink.put(whole.multiply(sink.V, self.monitor))
        elif isinstance(sink, Normal):
            everything = slice(0, self.shape[0])
            sink.join(everything, whole.normal(sink.V, sink.weights, self.monitor))
        elif isinstance(sink, TopK):
            everything = slice(0, self.shape[0])
            sink.put(everything, *whole.top(sink.k, sink.shift, self.monitor))
        self.monitor.report("kernel", 1.0)
        return sink.result()
