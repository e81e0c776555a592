"""The Gram matrix that is computed once and kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import Array
from ...inputs import Rows
from ..matrix import Gram
from ..sinks import Multiply, Normal, Sink
from .computed import ComputedGram
from .tiled import TiledGram


class StoredGram(ComputedGram):
    """K computed once, when first needed, and kept."""

    _values: Array | None = None

    @property
    def values(self) -> Array:
        if self._values is None:
            source = TiledGram(
                self.kernel, self.left, self.right, self.plan, self.dtype, self.monitor
            )
            self._values = source.dense()
        values: Array = self._values
        return values

    def tile(self, rows: Rows, columns: Rows) -> Array:
        if isinstance(rows, slice) or isinstance(columns, slice):
            part: Array = self.values[rows, columns]
            return part
        block: Array = self.values[np.ix_(rows, columns)]
        return block

    def _times(self, V: Any) -> Array:
        sink = Multiply(V)
        sink.start(self.shape, self.dtype)
        sink.take(slice(0, self.shape[0]), self.values)
        return sink.result()

    def reduce(self, sink: Sink) -> Any:
        if not isinstance(sink, Normal) or sink.Y is not None:
            return super().reduce(sink)
        sink.start(self.shape, self.dtype)
        sink.take(slice(0, self.shape[0]), self.values)
        return sink.result()

    def dense(self, out: Array | None = None) -> Array:
        room = np.empty(self.shape, dtype=self.dtype) if out is None else self._room(out)
        room[:] = self.values
        return room

    def restrict(self, rows: Any, columns: Any) -> Gram:
        if isinstance(rows, slice) and rows == slice(None):
            _ = self.values  # of which all rows are wanted: computed once, not part by part
        made = super().restrict(rows, columns)
        if isinstance(made, StoredGram) and self._values is not None:
            made._values = self.block(rows, columns)
        return made
