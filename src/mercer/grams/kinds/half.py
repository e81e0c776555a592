"""The Gram matrix of one collection of which half is kept."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ...checks import Array, InputError, sentence
from ...inputs import Rows
from ..engine import product
from ..matrix import Gram
from ..sides import View
from ..sinks import Multiply, Sink, TopK
from .tiled import TiledGram


class PackedGram(TiledGram):
    """K of one collection, of which half, or a part of that, is kept from the second pass on.

    So a single pass, such as that for class means, needs no memory for K. With `keep` half is kept
    from the first pass on, for a solver that will make many.
    """

    keep = False
    _packed: Any = None

    @property
    def packed(self) -> Any:
        """The native matrix, made when first needed."""
        if self._packed is None:
            whole = self._whole()
            if whole is None:
                raise InputError(
                    sentence("gram", "only a native kernel can be packed", self.kernel)
                )
            partly = self.plan.kind == "partly stored in 16 bits"
            most = self.plan.kept if partly else sys.maxsize
            self._packed = whole.pack(self._narrow, most, self.monitor)
        return self._packed

    @property
    def _narrow(self) -> bool:
        return self.plan.kind in ("half stored in 16 bits", "partly stored in 16 bits")

    def _passes_by(self) -> bool:
        """Return whether this pass should leave nothing behind."""
        first = self._packed is None and not self.keep and not self._narrow
        self.keep = True
        return first

    def rows(self, rows: Any) -> Array:
        return Gram.rows(self, rows)

    def tile(self, rows: Rows, columns: Rows) -> Array:
        chosen = np.ascontiguousarray(np.arange(self.shape[0], dtype=np.int64)[rows])
        out = np.empty((len(chosen), self.shape[1]), dtype=self.dtype)
        self.packed.rows(chosen, out)
        return out[:, columns]

    def dense(self, out: Array | None = None) -> Array:
        return super().dense(out) if self._passes_by() else Gram.dense(self, out)

    def reduce(self, sink: Sink) -> Any:
        if isinstance(sink, Multiply | TopK) and self._passes_by():
            return super().reduce(sink)
        if not isinstance(sink, Multiply):
            return Gram.reduce(self, sink)
        sink.start(self.shape, self.dtype)
        self.monitor.poll()
        sink.put(product(self.packed, self.shape[0], sink.V, self.monitor))
        return sink.result()

    def _between(self, left: View, right: View) -> Gram:
        return TiledGram(self.kernel, left, right, self.plan, self.dtype, self.monitor)
