"""Which points carry functions best: orthogonal matching pursuit in the space of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...grams import Gram
from ...linalg.blas import product

AT_ONCE = 32  # points whose rows of K are fetched together
CLOSE = 0.8  # of the largest gain, from which on a point of those fetched is good enough


@dataclass(frozen=True, kw_only=True)
class Pursuit:
    """pivots: the points, best first. left: what each function lacks after each of them, squared.

    left has one row per pivot: ||f_c - P f_c||**2, where P projects on the span of the pivots so
    far.
    """

    pivots: Array
    left: Array


class MatchingPursuit:
    """Adds the points that take most of what functions lack, a few at a time.

    With P the projection on the span of the points so far, r_c = f_c - P f_c what function c lacks,
    and d(x) = k(x, x) - ||P phi(x)||**2, point x takes sum_c r_c(x)**2 / d(x) off the sum of
    ||r_c||**2. That is the largest for the best next point. The values r_c(x_i) and d(x_i) at all
    candidates follow from the rows of a partial Cholesky factor.

    Pati, Rezaiifar, Krishnaprasad, "Orthogonal matching pursuit" (1993); Vincent, Bengio, "Kernel
    matching pursuit" (2002).

    K: of the candidates. values: f_c(x_i), a column per function. squares: ||f_c||**2.
    """

    def __init__(self, K: Gram, values: Array, squares: Array) -> None:
        self.K = K
        self.lacking = np.array(values, dtype=np.float64)  # r_c(x_i)
        self.left = np.array(squares, dtype=np.float64)
        self.remaining = np.array(K.diag(), dtype=np.float64)  # d(x_i)
        self.smallest = 10 * np.finfo(K.dtype).eps * float(self.remaining.max(initial=0.0))
        self.pivots: list[int] = []
        self.factor = np.empty((0, len(self.remaining)), dtype=K.dtype)
        self.history: list[Array] = []

    def run(self, most: int, enough: Array | None = None) -> Pursuit:
        """Return at most so many points; fewer where no more than `enough` is left, or nothing."""
        while len(self.pivots) < most and not self._is_enough(enough) and self._gains().any():
            self.K.monitor.report("centres", len(self.pivots) / most)
            for _ in self._add_some(most):
                if self._is_enough(enough):
                    break
        left = np.array(self.history).reshape(-1, len(self.left))
        return Pursuit(pivots=np.array(self.pivots, dtype=np.intp), left=left)

    def first(self) -> Pursuit:
        """Return the first point alone: of functions that are 0 it is as good as any."""
        return Pursuit(pivots=np.zeros(1, dtype=np.intp), left=self.left[None])

    def _is_enough(self, enough: Array | None) -> bool:
        return enough is not None and bool((self.left <= enough).all())

    def _gains(self) -> Array:
        """Return by how much each point would lower the sum of squares."""
        squares = np.einsum("ic,ic->i", self.lacking, self.lacking)
        usable = self.remaining > self.smallest
        gains: Array = np.zeros_like(squares)
        np.divide(squares, self.remaining, out=gains, where=usable)
        return gains

    def _add_some(self, most: int) -> Iterator[int]:
        """Add the best points of those that look best now; yield each."""
        gains = self._gains()
        count = min(AT_ONCE, most - len(self.pivots), int(np.count_nonzero(gains)))
        proposed = np.argpartition(-gains, count - 1)[:count]
        rows = self._rows_left(proposed)
        while len(self.pivots) < most:
            place = int(gains[proposed].argmax())
            best = gains[proposed[place]]
            if best <= 0 or best < CLOSE * gains.max():
                return
            if self._accept(int(proposed[place]), rows[place]):
                row = self.factor[len(self.pivots) - 1]
                rows -= row[proposed, None] * row
                yield self.pivots[-1]
            gains = self._gains()

    def _rows_left(self, proposed: Array) -> Array:
        """Return the rows of K at these points, less what the factor explains."""
        rows = np.array(self.K.rows(proposed), dtype=self.factor.dtype)
        known = self.factor[: len(self.pivots)]
        return np.ascontiguousarray(rows - product(known[:, proposed].T, known))

    def _accept(self, point: int, row: Array) -> bool:
        """Take a point in; return False where rounding has left nothing of it."""
        own = float(row[point])
        if own <= self.smallest:
            self.remaining[point] = 0.0
            return False
        filled = len(self.pivots)
        self._make_room(filled + 1)
        self.factor[filled] = row / np.sqrt(own)
        new = self.factor[filled].astype(np.float64)
        parts = self.lacking[point] / np.sqrt(own)
        self.lacking -= new[:, None] * parts
        self.lacking[point] = 0.0
        self.remaining -= new**2
        np.maximum(self.remaining, 0.0, out=self.remaining)
        self.remaining[point] = 0.0
        self.left = np.maximum(self.left - parts**2, 0.0)
        self.history.append(self.left)
        self.pivots.append(point)
        return True

    def _make_room(self, count: int) -> None:
        """Make the factor twice as large where it is full."""
        if count > len(self.factor):
            more = np.empty((max(64, len(self.factor)), self.factor.shape[1]), self.K.dtype)
            self.factor = np.concatenate([self.factor, more])
