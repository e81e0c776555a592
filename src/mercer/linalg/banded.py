"""Symmetric matrices reduced to a band, which is all that many shifted systems need."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from ..checks import Array
from ..monitor import Monitor
from .cholesky import NotPositiveDefinite
from .tridiagonal import Panel, close_ranks, joined, turned

WIDTH = 64  # diagonals below the main one, and columns between two updates of the rest
UPDATE = 2e9  # multiplications in an update: of large matrices, the band is narrower for that


class Banded:
    """A = Q B Q' with B of few diagonals and Q a product of reflections.

    Solves: (A + alpha I) X = R for any number of alphas, each in O(n) per column and diagonal
    beside two products with Q. All the work of the reduction is products of matrices, unlike that
    to three diagonals, half of which waits for memory.
    Given: A, of which the half on and below the diagonal is read.
    overwrite: whether A, in the order of columns, may be used as room to work in.

    Bischof, Lang, Sun, "A framework for symmetric band reduction" (2000).
    """

    def __init__(self, A: Array, monitor: Monitor, overwrite: bool = False) -> None:
        n = len(A)
        self.n, self.monitor = n, monitor
        self.panels: list[Panel] = []
        self.width = max(1, min(n - 1, WIDTH, max(8, int(UPDATE / max(n, 1) ** 2))))
        self.band = np.zeros((self.width + 1, n), order="F")  # row i: the i-th diagonal below
        usable = overwrite and A.dtype == np.float64 and A.flags.f_contiguous
        whole = A if usable else np.array(A, dtype=np.float64, order="F")
        room = whole.reshape(-1, order="F")  # what is left of A lies in front, without gaps
        start, b = 0, self.width
        while n - start > b + 1:
            left = room[: (n - start) ** 2].reshape(n - start, n - start, order="F")
            V, lower, R = _reflections(left[b:, :b])
            self._keep(start, np.vstack([left[:b, :b], R]))
            self.panels.append(Panel(start + b, V, lower))
            close_ranks(room, n - start, b)
            rest = room[: (n - start - b) ** 2].reshape(n - start - b, -1, order="F")
            _turn_both(rest, V, lower)
            start += b
            monitor.report("band", 1 - (1 - start / n) ** 3)
        last = room[: (n - start) ** 2].reshape(n - start, n - start, order="F")
        self._keep(start, np.array(last))

    def _keep(self, start: int, columns: Array) -> None:
        """Put columns of B, from their diagonal on, into the band."""
        for j in range(columns.shape[1]):
            below = columns[j : j + self.width + 1, j]
            self.band[: len(below), start + j] = below

    def solve(self, alpha: float, R: Array) -> Array:
        """Return (A + alpha I)**-1 R; R: turned by `to_band`, and so is what is returned."""
        shifted = self.band.copy(order="F")
        shifted[0] += alpha
        factor, failed = lapack.dpbtrf(shifted, lower=1, overwrite_ab=1)
        if failed:
            raise NotPositiveDefinite
        found, _ = lapack.dpbtrs(factor, R, lower=1)
        return np.asarray(found)

    def to_band(self, X: Array) -> Array:
        """Return Q' X."""
        return turned(self.panels, X, self.monitor, transposed=True)

    def from_band(self, Z: Array) -> Array:
        """Return Q Z."""
        return turned(self.panels, Z, self.monitor)


def _reflections(columns: Array) -> tuple[Array, Array, Array]:
    """Return V and L with (I - V L V')' columns = R, upper triangular on top; and R."""
    found, shares, _, _ = lapack.dgeqrf(columns, lwork=WIDTH * columns.shape[1])
    k = len(shares)
    V = np.asfortranarray(np.tril(found[:, :k], -1))
    V[np.diag_indices(k)] = 1.0
    return V, joined(V, shares), np.triu(found[:k])


def _turn_both(rest: Array, V: Array, lower: Array) -> None:
    """Make Q' A Q of A = rest, with Q = I - V L V', in the half on and below the diagonal."""
    W = blas.dgemm(1.0, blas.dsymm(1.0, rest, V, lower=1), lower)
    inside = blas.dgemm(0.5, lower, blas.dgemm(1.0, V, W, trans_a=1), trans_a=1)
    blas.dgemm(-1.0, V, inside, 1.0, W, overwrite_c=1)
    blas.dsyr2k(-1.0, V, W, 1.0, rest, lower=1, overwrite_c=1)
