"""What ridge regression in an explicit feature space sums up of the rows that pass by."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ...checks import Array
from ...grams.sinks import JointSink, some
from ...linalg.blas import add_square, blas_threads, divide_lower, product, solve_lower
from ...stages import State

IN_CACHE = 160_000  # numbers in double precision that stay in the second cache
THIN = 16  # columns up to which a product waits for memory, not for arithmetic


def whiten(lower: Array, values: Array) -> Array:
    """Return L**-1 values, in the precision of the values."""
    factor = lower.astype(values.dtype, copy=False)
    return solve_lower(factor, values)


def unwhiten(lower: Array, values: Array) -> Array:
    """Return L**-T values."""
    return solve_lower(lower, values, transposed=True)


def wide_product(band: Any, values: Array) -> Array:
    """Return band @ values in double precision.

    Of few columns by one thread of BLAS: the last digits depend on how many there are, and workers
    of a cluster have one. Conjugate gradients in single precision make much of such digits.
    """
    if scipy.sparse.issparse(band):
        return np.asarray(band @ values)
    if values.shape[1] > THIN:
        return product(np.asarray(band, dtype=np.float64), values)
    with blas_threads(1):
        return _product_in_cache(band, values)


def _product_in_cache(band: Array, values: Array) -> Array:
    """Return band @ values; a few rows at a time, as they lie in memory, become doubles."""
    by_rows = band.flags.c_contiguous
    lying = band if by_rows else band.T
    step = max(1, IN_CACHE // max(lying.shape[1], 1))
    room = np.empty((min(step, len(lying)), lying.shape[1]))
    out = np.zeros((len(band), values.shape[1]))
    for start in range(0, len(lying), step):
        rows = slice(start, start + step)
        part = room[: len(lying[rows])]
        part[:] = lying[rows]
        if by_rows:
            out[rows] = product(part, values)
        else:
            out += product(part.T, values[rows])
    return out


class Moments(JointSink):
    """The moments of u = L**-1 (z - shift) with weights w: sums of w u u', w u y' and w u.

    Y: one row per point. roots: of the weights, as a column; None: all are 1. lower: L; None is
    the identity. Of the first sum only the half below the diagonal is made.
    """

    is_sum = True
    kept = ("squares", "products", "sums")

    def __init__(
        self, Y: Array, roots: Array | None, shift: Array, lower: Array | None = None
    ) -> None:
        self.Y, self.roots, self.shift, self.common = Y, roots, shift, lower

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        width = shape[1]
        self._factor: Array | None = None
        self.squares = np.zeros((width, width), order="F")
        self.products, self.sums = np.zeros((width, self.Y.shape[1])), np.zeros(width)

    def take(self, rows: slice, band: Any) -> None:
        self.add(band, some(self.roots, rows), self.Y[rows])

    def add(self, band: Any, roots: Array | None, targets: Array) -> None:
        """Use rows z with the roots of their weights and their y."""
        Z = self._scaled(band, roots)
        if isinstance(Z, np.ndarray):
            add_square(self.squares, Z.T)
        else:
            self.squares += np.tril((Z.T @ Z).toarray())
        Y = targets if roots is None else roots * targets
        ones = np.ones(len(Y)) if roots is None else roots[:, 0]
        self.products += np.asarray(Z.T @ Y.astype(Z.dtype))
        self.sums += np.asarray(Z.T @ ones.astype(Z.dtype))

    def _scaled(self, band: Any, roots: Array | None) -> Any:
        """Return S (Z - shift) L**-T."""
        if scipy.sparse.issparse(band):
            return band if roots is None else scipy.sparse.diags_array(roots[:, 0]) @ band
        if self.shift.any():
            band = band - self.shift.astype(band.dtype)
        band = band if roots is None else band * roots.astype(band.dtype)
        return band if self.common is None else self._whitened(band)

    def _whitened(self, band: Array) -> Array:
        """Return band L**-T."""
        if self._factor is None or self._factor.dtype != band.dtype:
            self._factor = np.asfortranarray(self.common, dtype=band.dtype)
        found = np.array(band, order="C")
        divide_lower(self._factor, found.T)
        return found

    def part(self, rows: slice) -> Moments:
        return Moments(self.Y[rows], some(self.roots, rows), self.shift)

    def join(self, rows: slice, found: tuple[Array, Array, Array]) -> None:
        self.squares += found[0]
        self.products += found[1]
        self.sums += found[2]

    def result(self) -> tuple[Array, Array, Array]:
        return self.squares, self.products, self.sums


class Errors(JointSink):
    """Z' W e and e = Y - Z t - b, in double precision. weight: one per point; None: all are 1."""

    kept = ("total", "errors")

    def __init__(self, t: Array, b: Array, Y: Array, weight: Array | None) -> None:
        self.t, self.b, self.Y, self.weight = t, b, Y, weight

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        self.total = np.zeros(self.t.shape)
        self.errors = np.empty(self.Y.shape)

    def take(self, rows: slice, band: Any) -> None:
        errors = self.Y[rows] - wide_product(band, self.t) - self.b
        weighted = errors if self.weight is None else self.weight[rows, None] * errors
        self.errors[rows] = errors
        self.total += wide_product(band.T, weighted)

    def part(self, rows: slice) -> Errors:
        return Errors(self.t, self.b, self.Y[rows], some(self.weight, rows))

    def join(self, rows: slice, found: tuple[Array, Array]) -> None:
        self.total += found[0]
        self.errors[rows] = found[1]

    def result(self) -> tuple[Array, Array]:
        return self.total, self.errors


class Transposed(JointSink):
    """Z' V. wide: in double precision; otherwise in that of Z."""

    is_sum = True
    kept = ("total",)

    def __init__(self, V: Array, wide: bool = False) -> None:
        self.V, self.wide = V, wide

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        self.total = np.zeros((shape[1], self.V.shape[1]))

    def take(self, rows: slice, band: Any) -> None:
        if self.wide:
            self.total += wide_product(band.T, self.V[rows])
        else:
            self.total += band.T @ self.V[rows].astype(band.dtype)

    def part(self, rows: slice) -> Transposed:
        return Transposed(self.V[rows], self.wide)

    def join(self, rows: slice, found: Array) -> None:
        self.total += found

    def result(self) -> Array:
        return self.total


class Leverages(JointSink):
    """z' (H + alpha I)**-1 z of every `step`-th row, with H + alpha I = G G' in coordinates u.

    u = L**-1 (z - shift) - mean. factors: G and L; None for L is the identity. first: where the
    rows begin among all.
    """

    kept = ("found",)

    def __init__(
        self,
        factors: tuple[Array, Array | None] | None,
        shift: Array,
        mean: Array,
        step: int = 1,
        first: int = 0,
    ) -> None:
        self.common, self.shift, self.mean = factors, shift, mean
        self.step, self.first = step, first

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        self.found: list[Array] = []

    def take(self, rows: slice, band: Any) -> None:
        factor, lower = self.common
        chosen = band[-(self.first + rows.start) % self.step :: self.step]
        dense = chosen.toarray() if scipy.sparse.issparse(chosen) else chosen
        Z = np.asarray(dense, dtype=np.float64) - self.shift
        u = (Z.T if lower is None else whiten(lower, Z.T)) - self.mean[:, None]
        self.found.append((solve_lower(factor, u) ** 2).sum(axis=0))

    def part(self, rows: slice) -> Leverages:
        return Leverages(None, self.shift, self.mean, self.step, self.first + rows.start)

    def join(self, rows: slice, found: Array) -> None:
        self.found.append(found)

    def state(self) -> State:
        return {"found": self.result()}

    def go_on(self, state: State) -> None:
        self.found = [np.asarray(state["found"])]

    def result(self) -> Array:
        return np.concatenate(self.found)
