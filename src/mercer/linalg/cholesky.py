"""Cholesky factors in tiles: half the memory, stoppable between tiles, at the speed of LAPACK."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from ..checks import Array
from ..monitor import Monitor
from .blas import SquareSum, blas_threads, mirror, product
from .eigen import extreme_eigenvalues

PANEL = 64  # pivots between two updates of the rest
DENSE = 0.9  # share of active rows below which the others are taken out of a matrix
TILE = 1024  # rows: large enough for BLAS, and one product of tiles takes some 30 ms
ALONE = 1500  # rows that one thread factors
SINGLE_FROM = 2000  # rows from which a single-precision factor and its refinement are faster


class NotPositiveDefinite(ArithmeticError):
    """A matrix has no Cholesky factor in the precision at hand."""


def dense_bands(A: Array) -> Iterator[tuple[slice, Array]]:
    """Yield the lower half of A, symmetric and dense, as `TileCholesky` takes it."""
    for start in range(0, len(A), TILE):
        rows = slice(start, min(start + TILE, len(A)))
        yield rows, A[rows, : rows.stop]


def negative_eigenvalue(A: Array, allowed: float, monitor: Monitor) -> float:
    """Return the lowest eigenvalue of a symmetric matrix if it is below -allowed, otherwise 0.

    Whether it is below, the Cholesky factor of A + allowed I tells, some ten times as quickly as
    the eigenvalues would. A is left as it is.
    """
    try:
        shift = max(allowed, float(np.finfo(np.float64).tiny))
        TileCholesky(dense_bands(A), np.float64, monitor, shift)
    except NotPositiveDefinite:
        return min(extreme_eigenvalues(A, monitor)[0], 0.0)
    return 0.0


def inner_products(T: Array, monitor: Monitor) -> Array:
    """Return T T' in double precision, in parts short enough to be stopped between them."""
    total = SquareSum(len(T), T.dtype)
    step = max(64, int(8e9 / max(len(T), 1) ** 2))
    for start in range(0, T.shape[1], step):
        total.add(T[:, start : start + step])
        monitor.poll()
    return mirror(total.result())


def pivoted_cholesky(K: Array, least: float, monitor: Monitor) -> tuple[Array, Array]:
    """Return rows that span the others up to `least`, and the lower Cholesky factor of their K.

    The next row is always the one of which most is left; K is symmetric. It goes by panels, as
    LAPACK's pstrf does, so that it can be stopped between them.
    """
    left, rest = np.array(K, dtype=np.float64, order="F"), np.arange(len(K))
    active = np.ones(len(K), dtype=bool)
    pivots: list[Array] = []
    factor = np.zeros((len(K), len(K)), order="F")
    while active.any():
        chosen, part = _pivot_panel(left, active, least)
        done = sum(map(len, pivots))
        factor[rest, done : done + len(chosen)] = part
        pivots.append(rest[chosen])
        full = len(chosen) == PANEL
        active[chosen] = False
        if not full or not active.any():
            break
        if active.sum() < DENSE * len(active):
            kept = np.flatnonzero(active)
            rest, part, active = rest[kept], np.asfortranarray(part[kept]), active[kept]
            left = np.asfortranarray(left[np.ix_(kept, kept)])
        blas.dgemm(-1.0, part, part, 1.0, left, trans_b=1, overwrite_c=1)
        monitor.poll()
    order = np.concatenate([np.empty(0, dtype=np.intp), *pivots])
    return order, np.ascontiguousarray(factor[order, : len(order)])


def _pivot_panel(left: Array, active: Array, least: float) -> tuple[Array, Array]:
    """Return the next few pivots among the active rows of a matrix, and their columns of the
    factor.
    """
    part = np.zeros((len(left), min(PANEL, int(active.sum()))), order="F")
    remaining = np.where(active, np.diagonal(left), -np.inf)
    chosen: list[int] = []
    for i in range(part.shape[1]):
        pivot = int(remaining.argmax())
        if not remaining[pivot] > max(least, 0.0):
            break
        root = float(np.sqrt(remaining[pivot]))
        column = left[:, pivot] - product(part[:, :i], part[pivot, :i, None])[:, 0]
        part[:, i] = np.where(active, column / root, 0.0)
        part[pivot, i] = root
        part[chosen, i] = 0.0
        remaining -= part[:, i] ** 2
        chosen.append(pivot)
        remaining[chosen] = -np.inf
    return np.array(chosen, dtype=np.intp), part[:, : len(chosen)]


class TileCholesky:
    """A + shift I = L L' for a symmetric A whose lower half is given row band by row band.

    Solves: (A + shift I) x = b, and the diagonal of the inverse.
    Given: bands, which yields A[rows, :stop of rows] for consecutive slices `rows` of at most TILE
    rows; dtype float32 or float64. Tiles are kept by rows, as they come; BLAS reads their
    transposes, which are the tiles of the upper factor L'.
    """

    def __init__(
        self,
        bands: Iterator[tuple[slice, Array]],
        dtype: Any,
        monitor: Monitor,
        shift: float = 0.0,
    ) -> None:
        self.dtype, self.monitor = np.dtype(dtype), monitor
        letter = "s" if self.dtype == np.float32 else "d"
        self._gemm, self._syrk, self._trsm = (
            getattr(blas, letter + name) for name in ("gemm", "syrk", "trsm")
        )
        self._potrf = getattr(lapack, letter + "potrf")
        self.cuts: list[slice] = []
        self.tiles: list[list[Array]] = []
        for rows, band in bands:
            self.cuts.append(rows)
            self.tiles.append([np.array(band[:, cut], self.dtype, order="C") for cut in self.cuts])
            if shift:
                self.tiles[-1][-1].flat[:: rows.stop - rows.start + 1] += self.dtype.type(shift)
        self._factorise()

    def _factorise(self) -> None:
        """Overwrite the tiles with those of L."""
        count = len(self.tiles)
        for j in range(count):
            diagonal, failed = self._potrf(self.tiles[j][j].T, lower=0, overwrite_a=1)
            if failed:
                raise NotPositiveDefinite
            self.tiles[j][j] = diagonal.T
            for i in range(j + 1, count):
                turned = self.tiles[i][j].T
                self.tiles[i][j] = self._trsm(1.0, diagonal, turned, trans_a=1, overwrite_b=1).T
                self.monitor.poll()
            for i in range(j + 1, count):
                self._reduce_row(i, j)
            self.monitor.report("Cholesky", 1 - (1 - (j + 1) / count) ** 3)

    def _reduce_row(self, i: int, j: int) -> None:
        """Subtract what column j contributes to the tiles of row i."""
        left = self.tiles[i][j].T
        for k in range(j + 1, i):
            beside, rest = self.tiles[k][j].T, self.tiles[i][k].T
            self._gemm(-1.0, beside, left, 1.0, rest, trans_a=1, overwrite_c=1)
            self.monitor.poll()
        self._syrk(-1.0, left, 1.0, self.tiles[i][i].T, trans=1, overwrite_c=1)

    def dense(self) -> Array:
        """Return L as one array."""
        n = self.cuts[-1].stop if self.cuts else 0
        out = np.zeros((n, n), dtype=self.dtype)
        for i, rows in enumerate(self.cuts):
            for j, columns in enumerate(self.cuts[:i]):
                out[rows, columns] = self.tiles[i][j]
            out[rows, rows] = np.tril(self.tiles[i][i])
        return out

    def half_solve(self, B: Array) -> Array:
        """Return L**-1 B."""
        X = np.array(B, dtype=self.dtype, order="F")
        for i, rows in enumerate(self.cuts):
            part = X[rows]
            for j in range(i):
                part = part - product(self.tiles[i][j], X[self.cuts[j]])
            X[rows] = self._trsm(1.0, self.tiles[i][i].T, part, trans_a=1)
            self.monitor.poll()
        return X

    def solve(self, B: Array) -> Array:
        """Return A**-1 B in the precision of the factor."""
        X = self.half_solve(B)
        for i in range(len(self.cuts) - 1, -1, -1):
            part = X[self.cuts[i]]
            for k in range(i + 1, len(self.cuts)):
                part = part - product(self.tiles[k][i].T, X[self.cuts[k]])
            X[self.cuts[i]] = self._trsm(1.0, self.tiles[i][i].T, part)
            self.monitor.poll()
        return X

    def inverse_diagonal(self) -> Array:
        """Return the diagonal of A**-1: the squared lengths of the columns of L**-1."""
        found = np.empty(self.cuts[-1].stop if self.cuts else 0)
        for j, columns in enumerate(self.cuts):
            width = columns.stop - columns.start
            unit = np.eye(width, dtype=self.dtype)
            parts = [self._trsm(1.0, self.tiles[j][j].T, unit, trans_a=1)]
            for i in range(j + 1, len(self.cuts)):
                total = product(self.tiles[i][j], parts[0])
                for k in range(j + 1, i):
                    total += product(self.tiles[i][k], parts[k - j])
                    self.monitor.poll()
                upper = self.tiles[i][i].T
                parts.append(self._trsm(-1.0, upper, total, trans_a=1, overwrite_b=1))
            found[columns] = sum(np.einsum("ij,ij->j", p, p, dtype=np.float64) for p in parts)
            self.monitor.report("inverse", (j + 1) / len(self.cuts))
        return found


class DenseCholesky:
    """A + shift I = L L' in one piece: for so few rows that none need be able to stop it.

    Solves the same as `TileCholesky`, faster below some 3,000 rows.
    Given: A, symmetric and dense, in single or double precision.
    """

    def __init__(self, A: Array, dtype: Any, shift: float) -> None:
        letter = "s" if np.dtype(dtype) == np.float32 else "d"
        self._potrf, self._potrs, self._trtri = (
            getattr(lapack, letter + name) for name in ("potrf", "potrs", "trtri")
        )
        own = np.array(A, dtype=dtype, order="F")
        own.flat[:: len(own) + 1] += own.dtype.type(shift)
        with _threads(len(own)):
            self.factor, failed = self._potrf(own, lower=1, clean=1, overwrite_a=1)
        if failed:
            raise NotPositiveDefinite

    def solve(self, B: Array) -> Array:
        """Return A**-1 B in the precision of the factor."""
        return np.asarray(self._potrs(self.factor, B, lower=1)[0])

    def inverse_diagonal(self) -> Array:
        """Return the diagonal of A**-1: the squared lengths of the columns of L**-1."""
        with _threads(len(self.factor)):
            inverse, _ = self._trtri(self.factor, lower=1)
        return np.asarray(np.einsum("ij,ij->j", inverse, inverse, dtype=np.float64))


def _threads(n: int) -> AbstractContextManager[None]:
    """Return the threads for n rows: few are soon done by one, which waits for no other.

    On a busy machine threads that wait for each other take ten times as long.
    """
    return blas_threads(1) if n <= ALONE else nullcontext()
