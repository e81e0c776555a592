"""Eigenvalues of matrices of three diagonals: halves are solved, and joined by a secular equation.

Cuppen, "A divide and conquer method for the symmetric tridiagonal eigenproblem" (1981); Gu,
Eisenstat, "A divide-and-conquer algorithm for the symmetric tridiagonal eigenproblem" (1995).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..checks import Array
from ..monitor import Monitor
from .blas import product
from .secular import Secular

LEAF = 300  # rows up to which LAPACK solves the problem, as one of a dense matrix
PRODUCT = 1e9  # numbers to multiply and add in one product, some 50 ms
EPS = float(np.finfo(np.float64).eps)


def divide(diagonal: Array, beside: Array, count: int, monitor: Monitor) -> tuple[Array, Array]:
    """Return all eigenvalues, ascending, and the vectors of the `count` largest of them."""
    n = len(diagonal)
    if n <= LEAF:
        whole = np.diag(diagonal) + np.diag(beside, -1)  # of the other half nothing is read
        values, vectors = scipy.linalg.eigh(whole, driver="evd", check_finite=False)
        return values, np.asfortranarray(vectors[:, n - count :])
    cut = n // 2
    rho, sign = abs(beside[cut - 1]), 1.0 if beside[cut - 1] >= 0 else -1.0
    upper, lower = diagonal[:cut].copy(), diagonal[cut:].copy()
    upper[-1] -= rho
    lower[0] -= rho
    halves = [
        divide(upper, beside[: cut - 1], cut, monitor),
        divide(lower, beside[cut:], n - cut, monitor),
    ]
    return _Union(halves, rho, sign, monitor).eigen(count)


class _Union:
    """Two halves D1, D2 with vectors Q1, Q2, and what joins them: Q (D + rho z z') Q'.

    A column of Q has a part in the upper rows, in the lower rows, or, after a rotation, in both;
    what is not there is None. What hardly takes part in the union is set aside: a component of z
    of no size, and, after a rotation, one of two values that are as good as equal.
    """

    def __init__(
        self, halves: list[tuple[Array, Array]], rho: float, sign: float, monitor: Monitor
    ) -> None:
        self.monitor = monitor
        (d1, Q1), (d2, Q2) = halves
        halves.clear()  # what is no longer needed is freed on the way
        self.cut, self.n = len(d1), len(d1) + len(d2)
        d, z = np.concatenate([d1, d2]), np.concatenate([Q1[-1], sign * Q2[0]])
        order = np.argsort(d, kind="stable")
        self.d, self.z, self.rho = d[order], z[order] / np.sqrt(2.0), 2 * rho
        tops = [*Q1.T, *([None] * len(d2))]
        bottoms = [*([None] * len(d1)), *Q2.T]
        self.tops = [tops[place] for place in order]
        self.bottoms = [bottoms[place] for place in order]
        self._set_aside()

    def _set_aside(self) -> None:
        """Find the columns that take part, in order, and the others."""
        scale = max(float(np.abs(self.d).max()), self.rho)
        negligible = 8 * EPS * scale
        small = self.rho * np.abs(self.z) <= negligible
        kept, last = [], -1
        for j in np.flatnonzero(~small).tolist():
            if last >= 0 and not self._merge(last, j, negligible):
                kept.append(last)
            last = j
        self.kept = np.array([*kept, *([last] if last >= 0 else [])], dtype=np.intp)
        self.others = np.setdiff1d(np.arange(self.n), self.kept)

    def _merge(self, p: int, j: int, negligible: float) -> bool:
        """Rotate columns p and j so that z_p is 0, if that leaves D as it is; return whether."""
        length = float(np.hypot(self.z[p], self.z[j]))
        c, s = float(self.z[j]) / length, float(self.z[p]) / length
        first, second = float(self.d[p]), float(self.d[j])
        if (second - first) * c * s > negligible or (second - first) * c * s < -negligible:
            return False
        self.z[j], self.z[p] = length, 0.0
        self.d[p], self.d[j] = first * c * c + second * s * s, first * s * s + second * c * c
        for parts in (self.tops, self.bottoms):
            a, b = parts[p], parts[j]
            if a is not None or b is not None:
                a = np.zeros_like(b) if a is None else a
                b = np.zeros_like(a) if b is None else b
                parts[p], parts[j] = c * a - s * b, s * a + c * b
        return True

    def eigen(self, count: int) -> tuple[Array, Array]:
        """Return all eigenvalues, ascending, and the vectors of the `count` largest of them."""
        secular = Secular(self.d[self.kept], self.z[self.kept], self.rho, self.monitor)
        values = np.concatenate([secular.values, self.d[self.others]])
        order = np.argsort(values, kind="stable")
        place = np.empty(self.n, dtype=np.intp)
        place[order] = np.arange(self.n) - (self.n - count)  # negative: not wanted
        vectors = np.zeros((self.n, count), order="F")
        for j, column in zip(self.others.tolist(), place[len(self.kept) :].tolist(), strict=True):
            if column >= 0:
                for rows, part in (
                    (slice(self.cut), self.tops[j]),
                    (slice(self.cut, None), self.bottoms[j]),
                ):
                    if part is not None:
                        vectors[rows, column] = part
        top, in_top = self._stacked(self.tops)
        bottom, in_bottom = self._stacked(self.bottoms)
        self.tops, self.bottoms = [], []
        wanted = np.flatnonzero(place[: len(self.kept)] >= 0)
        step = max(16, int(PRODUCT / max(top.size + bottom.size, 1)))
        for start in range(0, len(wanted), step):
            some = wanted[start : start + step]
            U = secular.vectors(some)
            vectors[: self.cut, place[some]] = product(top, U[:, in_top].T)
            vectors[self.cut :, place[some]] = product(bottom, U[:, in_bottom].T)
            self.monitor.poll()
        return values[order], vectors

    def _stacked(self, parts: list[Array | None]) -> tuple[Array, Array]:
        """Return the parts of the columns that take part, as a matrix, and which these are."""
        chosen = [i for i, j in enumerate(self.kept.tolist()) if parts[j] is not None]
        rows = self.cut if parts is self.tops else self.n - self.cut
        found = np.empty((rows, len(chosen)), order="F")
        for column, i in enumerate(chosen):
            found[:, column] = parts[self.kept[i]]
        return found, np.array(chosen, dtype=np.intp)
