"""Symmetric matrices reduced to three diagonals, panel by panel, at the speed of LAPACK."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from ..checks import Array
from ..monitor import Monitor
from .blas import product

PANEL = 32  # columns between two updates of the rest
UPDATE = 2e9  # multiplications in an update: of large matrices, panels are narrower for that
TOGETHER = 1024  # vectors that are turned back at once


@dataclass(frozen=True)
class Panel:
    """Some consecutive reflections, I - V L V'; V has rows from `start` on."""

    start: int
    V: Array
    lower: Array


class Tridiagonal:
    """A = Q T Q' with T of three diagonals and Q a product of reflections.

    Solves: Q Z for any Z. diagonal, beside: the entries of T.
    Given: A, of which the half on and below the diagonal is read. Half of the work is products of
    what is left of A with a vector, one for each column, and half is updates of rank PANEL.
    overwrite: whether A, in the order of columns, may be used as room to work in.

    Dongarra, Sorensen, Hammarling, "Block reduction of matrices to condensed forms for eigenvalue
    computations" (1989).
    """

    def __init__(self, A: Array, monitor: Monitor, overwrite: bool = False) -> None:
        n = len(A)
        self.monitor = monitor
        self.diagonal, self.beside = np.empty(n), np.zeros(max(n - 1, 0))
        self.panels: list[Panel] = []
        usable = overwrite and A.dtype == np.float64 and A.flags.f_contiguous
        whole = A if usable else np.array(A, dtype=np.float64, order="F")
        room = whole.reshape(-1, order="F")  # what is left of A lies in front, without gaps
        start = 0
        while start < n - 1:
            left = room[: (n - start) ** 2].reshape(n - start, n - start, order="F")
            width = min(n - 1 - start, max(8, min(PANEL, int(UPDATE / (n - start) ** 2))))
            V, W = self._reduce(left, start, width)
            close_ranks(room, n - start, width)
            rest = room[: (n - start - width) ** 2].reshape(n - start - width, -1, order="F")
            blas.dsyr2k(-1.0, V[width:], W[width:], 1.0, rest, lower=1, overwrite_c=1)
            start += width
            self._tell(start)
        if n:
            self.diagonal[n - 1] = room[0]

    def _tell(self, done: int) -> None:
        n = len(self.diagonal)
        self.monitor.report("three diagonals", 1 - (1 - min(done + 1, n) / n) ** 3)

    def _reduce(self, left: Array, start: int, width: int) -> tuple[Array, Array]:
        """Reduce the first columns; return V and W: V W' + W V' is to be taken off the rest.

        The columns of V and W alternate in `both`, so that one product serves both terms.
        """
        m = len(left)
        both, shares = np.zeros((m, 2 * width), order="F"), np.zeros(width)
        for i in range(width):
            known = both[:, : 2 * i]
            column = left[:, i].copy()
            if i:
                column = blas.dgemv(-1.0, known, _swapped(known[i]), 1.0, column, overwrite_y=1)
            self.diagonal[start + i] = column[i]
            self.beside[start + i], shares[i] = _reflect(column, i + 1)
            v = both[:, 2 * i]
            v[:] = column
            w = blas.dsymv(shares[i], left, v, lower=1)
            if i:
                inside = blas.dgemv(shares[i], known, v, trans=1)
                w = blas.dgemv(-1.0, known, _swapped(inside), 1.0, w, overwrite_y=1)
            w[: i + 1] = 0.0
            w -= (shares[i] / 2 * blas.ddot(w, v)) * v
            both[:, 2 * i + 1] = w
            self.monitor.poll()
        V = np.asfortranarray(both[1:, ::2])
        self.panels.append(Panel(start + 1, V, joined(V, shares)))
        return both[:, ::2], both[:, 1::2]

    def turn(self, Z: Array) -> Array:
        """Return Q Z."""
        return turned(self.panels, Z, self.monitor)


def turned(panels: Sequence[Panel], Z: Array, monitor: Monitor, transposed: bool = False) -> Array:
    """Return Q Z, or Q' Z, with Q the product of the panels, in parts of some columns."""
    out = np.empty(Z.shape)
    for first in range(0, Z.shape[1], TOGETHER):
        columns = slice(first, first + TOGETHER)
        part = np.array(Z[:, columns], order="C").T
        for panel in panels if transposed else reversed(panels):
            rows = part[:, panel.start :]
            lower = panel.lower if transposed else panel.lower.T
            inside = product(product(rows, panel.V), lower)
            blas.dgemm(-1.0, inside, panel.V, 1.0, rows, trans_b=1, overwrite_c=1)
            monitor.poll()
        out[:, columns] = part.T
    return out


def _swapped(values: Array) -> Array:
    """Return the values with each two neighbours exchanged."""
    return values.reshape(-1, 2)[:, ::-1].ravel()


def _reflect(column: Array, first: int) -> tuple[float, float]:
    """Return what x = column[first:] becomes, (size, 0, ..., 0), and t of I - t v v'.

    The column becomes v, which begins with a 1, zeros before it.
    """
    x = column[first:]
    head, tail = float(x[0]), float(blas.dnrm2(x[1:])) if len(x) > 1 else 0.0
    column[:first] = 0.0
    if tail == 0.0:
        x[:] = 0.0
        x[0] = 1.0
        return head, 0.0
    size = -np.copysign(np.hypot(head, tail), head)
    x[1:] /= head - size
    x[0] = 1.0
    return float(size), float((size - head) / size)


def joined(V: Array, shares: Array) -> Array:
    """Return L with (I - t1 v1 v1') ... (I - tk vk vk') = I - V L V'."""
    k = len(shares)
    inner, L = product(V.T, V), np.zeros((k, k))
    for i in range(k):
        L[i, i] = shares[i]
        L[:i, i] = -shares[i] * (L[:i, :i] @ inner[:i, i])
    return L


def close_ranks(room: Array, m: int, width: int) -> None:
    """Move the last columns of an m x m matrix, on and below the diagonal, to the front of it."""
    left = m - width
    for j in range(left):
        source = (j + width) * m + width
        room[j * left + j : (j + 1) * left] = room[source + j : source + left]
