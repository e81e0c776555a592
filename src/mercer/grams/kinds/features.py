"""The Gram matrix as a product of exact feature maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ...checks import Array
from ...inputs import Rows
from ..blocks.objects import features_product
from ..finite import is_finite, refuse
from ..matrix import Explanation
from ..sinks import Multiply
from .computed import ComputedGram, explanation


class FeaturesGram(ComputedGram):
    """K = F G' from exact feature maps: low rank, or sparse features of objects."""

    def tile(self, rows: Rows, columns: Rows) -> Array:
        left, right = self._maps()
        first = left[rows]
        slices = isinstance(rows, slice) and isinstance(columns, slice)
        same = self.symmetric and slices and rows == columns
        second = first if same else right[columns]
        block = features_product(first, second, same=same, monitor=self.monitor)
        with np.errstate(over="ignore"):
            block = block.astype(self.dtype, copy=False)
        if self.checked and not is_finite(block):
            refuse(self.kernel, [self.left.side.points, self.right.side.points], self.dtype)
        return block

    def _maps(self) -> tuple[Any, Any]:
        left = self.left.cut(self.left.side.features(self.kernel))
        if self.symmetric:
            return left, left
        return left, self.right.cut(self.right.side.features(self.kernel))

    def _times(self, V: Any) -> Array:
        sink = Multiply(V)
        sink.start(self.shape, self.dtype)
        left, right = self._maps()
        return np.asarray(left @ (right.T @ sink.V))

    def explain(self) -> Explanation:
        maps = self._maps()[0]
        what = "sparse" if scipy.sparse.issparse(maps) else "dense"
        return explanation(
            self.kernel, self, [], [f"an exact map, {maps.shape[1]} {what} features"]
        )
