"""Tiles in NumPy: one block of K, with every statistic of the block computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse

from ...checks import Array
from ...inputs import Columns, Input
from ...kernels.base import Kernel
from ...kernels.pairs import (
    DOT,
    MINIMUM,
    SQUARED,
    Pairs,
    Statistic,
    as_matrix,
    broadcast,
    column_weights,
    given_block,
    loop,
    same_width,
)
from ...monitor import Monitor
from ..sides import View
from .objects import features_product, has_native_form, object_block, sparse_products

# Pairs nearer than this share of |x|**2 + |y|**2 are computed again from their difference.
CLOSE = 1e-3


@dataclass
class BlockPairs(Pairs):
    """All pairs of two views; statistics in float64 through BLAS where they are dot products."""

    left: View
    right: View
    monitor: Monitor
    _known: dict[Any, Any] = field(default_factory=dict)

    @property
    def seen(self) -> Input:
        return self.left.side.points

    def statistic(self, statistic: Statistic, weights: tuple[float, ...] | None) -> Array:
        key = (statistic.name, weights)
        if key not in self._known:
            width = as_matrix(self.left.side.points).n_columns
            same_width(width, as_matrix(self.right.side.points).n_columns)
            column_weights(weights, width)
            self._known[key] = self._compute(statistic, weights)
        return np.asarray(self._known[key])

    def _compute(self, statistic: Statistic, weights: tuple[float, ...] | None) -> Array:
        if statistic is DOT:
            return self._dot(weights)
        if statistic is SQUARED:
            return self._squared(weights)
        if statistic is MINIMUM and self.left.is_sparse and self.right.is_sparse:
            return self._minimum(weights)
        return self._direct(statistic, weights)

    def _dot(self, weights: tuple[float, ...] | None) -> Array:
        left, right = self._rows(self.left), self._rows(self.right)
        if weights is not None:
            left = left * np.array(weights)
        same = weights is None and self.left.same_rows(self.right)
        return features_product(left, right, same=same, monitor=self.monitor)

    def _minimum(self, weights: tuple[float, ...] | None) -> Array:
        left, right = self._rows(self.left), self._rows(self.right)
        if min(left.data.min(initial=0), right.data.min(initial=0)) < 0:
            return self._direct(MINIMUM, weights)
        if weights is not None:  # w min(x, y) = min(w x, w y)
            left, right = (rows.multiply(np.array(weights)).tocsr() for rows in (left, right))
        same = self.left.same_rows(self.right)
        return sparse_products(left, right, same=same, monitor=self.monitor, minimum=True)

    @staticmethod
    def _rows(view: View) -> Any:
        rows = as_matrix(view.points).values
        rows = scipy.sparse.csr_array(rows) if scipy.sparse.issparse(rows) else rows
        return rows.astype(np.float64, copy=False)

    def _squared(self, weights: tuple[float, ...] | None) -> Array:
        """Return squared distances expanded, and directly where expansion would cancel digits."""
        a = self.left.cut(self.left.side.squares(weights))[:, None]
        b = self.right.cut(self.right.side.squares(weights))[None, :]
        if self.left.is_sparse or self.right.is_sparse:
            product = self._dot(weights)
        else:
            left = self.left.cut(self.left.side.centred())
            right = self.right.cut(self.right.side.centred())
            product = (left if weights is None else left * np.array(weights)) @ right.T
        total = a + b
        result: Array = total - 2.0 * product
        close = result < CLOSE * total
        if np.count_nonzero(close) > result.size // 8 and not self.left.is_sparse:
            return self._direct(SQUARED, weights)
        i, j = np.nonzero(close)
        for start in range(0, len(i), 4096):
            part = slice(start, start + 4096)
            result[i[part], j[part]] = self._squared_pairs(i[part], j[part], weights)
        return result

    def _squared_pairs(self, i: Array, j: Array, weights: tuple[float, ...] | None) -> Array:
        left, right = self._rows(self.left), self._rows(self.right)
        scale = column_weights(weights, left.shape[1])
        return np.asarray(((left[i] - right[j]) ** 2) @ scale).ravel()

    def _direct(self, statistic: Statistic, weights: tuple[float, ...] | None) -> Array:
        """Return sum_c w_c s(x_c, y_c), column by column."""
        left = as_matrix(self.left.points).dense().astype(np.float64, copy=False)
        right = as_matrix(self.right.points).dense().astype(np.float64, copy=False)
        total = np.zeros((len(left), len(right)))
        for c, weight in enumerate(column_weights(weights, left.shape[1])):
            if weight:
                total += weight * statistic.of(left[:, c, None], right[None, :, c])
        return total

    def sides(self, function: Callable[[Input], Array]) -> tuple[Array, Array]:
        left = self.left.cut(self.left.side.values(function))
        right = self.right.cut(self.right.side.values(function))
        return left[:, None], right[None, :]

    def pairwise(self, kernel: Kernel) -> Array:
        key = ("pairwise", kernel)
        if key not in self._known:
            self._known[key] = self._pairwise(kernel)
        return np.asarray(self._known[key])

    def _pairwise(self, kernel: Kernel) -> Array:
        if has_native_form(kernel):
            return object_block(kernel, self.left, self.right, self.monitor)
        left_points = self.left.points
        same = self.left.same_rows(self.right)
        return loop(kernel, left_points, left_points if same else self.right.points)

    def given(self) -> Array:
        return given_block(self.left.points, self.right.points)

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Pairs:
        return self._child(("on", columns, domain), lambda points: points.on(columns, domain, who))

    def of(self, phi: Callable[[Input], Input]) -> Pairs:
        return self._child(("of", phi), phi)

    def _child(self, key: Any, change: Callable[[Input], Input]) -> Pairs:
        if key not in self._known:
            children = self.left.child(key, change), self.right.child(key, change)
            self._known[key] = BlockPairs(*children, self.monitor)
        made: Pairs = self._known[key]
        return made

    def used(self) -> tuple[list[str], list[str]]:
        """Return what this block has needed, in words: from the core, and from NumPy."""
        native: list[str] = []
        numpy: list[str] = []
        for key, value in self._known.items():
            if isinstance(value, BlockPairs):
                seen = key[1] if key[0] == "on" else "a new representation"
                for told, texts in zip((native, numpy), value.used(), strict=True):
                    told += [f"{text} on {seen}" for text in texts]
            elif key[0] == "pairwise" and has_native_form(key[1]):
                native.append(repr(key[1]))
            elif key[0] == "pairwise":
                numpy.append(f"{key[1]!r} (pair by pair in Python)")
            else:
                numpy.append(key[0] + ("" if key[1] is None else " with column weights"))
        return native, numpy


def numpy_tile(
    kernels: tuple[Kernel, ...], left: View, right: View, dtype: Any, monitor: Monitor
) -> list[Array]:
    """Return the block K(left, right) of each kernel, sharing every statistic."""
    pairs = BlockPairs(left, right, monitor)
    shape = (len(left), len(right))
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        blocks = [broadcast(kernel.profile(pairs), shape) for kernel in kernels]
    return [block.astype(dtype, copy=False) for block in blocks]
