"""k(x_i, y_i) of points that are matched one by one, exactly as the definition has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...inputs import GRAM, Columns, Input, Matrix
from ...kernels.base import Kernel
from ...kernels.pairs import (
    Pairs,
    Statistic,
    as_matrix,
    broadcast,
    column_weights,
    given_block,
    same_width,
)
from ..sides import View

AT_ONCE = 1 << 18  # numbers of each side that are gone through together


@dataclass(frozen=True)
class Matched(Pairs):
    """The pairs (x_i, y_i) of two views of one length."""

    left: View
    right: View

    @property
    def seen(self) -> Input:
        return self.left.side.points

    def statistic(self, statistic: Statistic, weights: tuple[float, ...] | None) -> Array:
        left, right = as_matrix(self.left.points), as_matrix(self.right.points)
        same_width(left.n_columns, right.n_columns)
        used = _used_columns(left, right)
        X, Y = (_transposed(rows, used) for rows in (left, right))
        summands = statistic.of(X, Y)
        if weights is not None:
            summands = summands * column_weights(weights, left.n_columns)[used, None]
        return np.asarray(np.add.reduce(summands, axis=0))  # in the order of the definition

    def sides(self, function: Callable[[Input], Array]) -> tuple[Array, Array]:
        left, right = (view.cut(view.side.values(function)) for view in (self.left, self.right))
        return left, right

    def pairwise(self, kernel: Kernel) -> Array:
        return kernel.matched(self.left.points, self.right.points)

    def given(self) -> Array:
        return np.diagonal(given_block(self.left.points, self.right.points))

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Matched:
        return self._child(("on", columns, domain), lambda points: points.on(columns, domain, who))

    def of(self, phi: Callable[[Input], Input]) -> Matched:
        return self._child(("of", phi), phi)

    def _child(self, key: Any, change: Callable[[Input], Input]) -> Matched:
        return Matched(self.left.child(key, change), self.right.child(key, change))


def _used_columns(left: Matrix, right: Matrix) -> Any:
    """Return the columns where a sparse row has an entry: no statistic is moved by two zeros."""
    if not (left.is_sparse and right.is_sparse):
        return slice(None)
    return np.union1d(left.values.indices, right.values.indices)


def _transposed(rows: Matrix, used: Any) -> Array:
    """Return the columns one after another, in double precision."""
    dense = Matrix(rows.values[:, used]).dense() if rows.is_sparse else rows.dense()
    return np.ascontiguousarray(dense.T, dtype=np.float64)


def matched_values(kernel: Kernel, left: View, i: Array, right: View, j: Array) -> Array:
    """Return k(left_i, right_j) of the pairs (i, j), the same numbers as `kernel.formula` gives."""
    step, values = _at_once(left.points, right.points), np.empty(len(i))
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        for start in range(0, len(i), step):
            part = slice(start, start + step)
            pairs = Matched(left.take(i[part]), right.take(j[part]))
            values[part] = broadcast(kernel.profile(pairs), (len(i[part]),))
    return values


def _at_once(left: Input, right: Input) -> int:
    """Return how many pairs to take together, so that their numbers stay in the cache."""
    if not isinstance(left, Matrix) or not isinstance(right, Matrix):
        return 1024
    step = AT_ONCE // max(1, left.n_columns)
    if left.is_sparse and right.is_sparse:  # each pair may bring columns of its own
        entries = left.values.nnz / max(len(left), 1) + right.values.nnz / max(len(right), 1)
        step = max(step, int((AT_ONCE / max(entries, 1.0)) ** 0.5))
    return max(1, step)


def is_rounded(kernel: Kernel) -> bool:
    """Return whether fast blocks of K may differ from the definition: sums over columns do."""
    if kernel.children():
        return any(is_rounded(child) for child in kernel.children())
    return kernel.domain != GRAM and kernel.defines("profile")
