"""The eigenvalues and vectors of a diagonal matrix plus one of rank one."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from ..monitor import Monitor

NUMBERS = 2**16  # differences between roots and poles that are at work at once, to stay in cache
STEPS = 100  # many times what rational interpolation takes
EPS = float(np.finfo(np.float64).eps)


class Secular:
    """D + rho z z' with d_1 < ... < d_k, no zero in z and rho positive.

    Solves: f(x) = 1/rho + sum_j z_j**2 / (d_j - x) = 0, which has one root between each two
    neighbours among the poles d_j and one above all, and the vectors of these roots. A root is kept
    as the nearer of the poles beside it and the distance from there, so that no digit of any
    difference d_j - x is lost. The vectors are those of the z for which the roots found are exact;
    this makes them orthogonal.

    Gu, Eisenstat, "A stable and efficient algorithm for the rank-one modification of the symmetric
    eigenproblem" (1994); Li, "Solving secular equations stably and efficiently" (1993).
    """

    def __init__(self, d: Array, z: Array, rho: float, monitor: Monitor) -> None:
        k = len(d)
        self.d, self.weights, self.constant = d, z**2, 1 / rho if k else 0.0
        # Above the last root a pole without weight, so far that the root is not beyond the middle.
        self.above = 2 * rho * float(self.weights.sum())
        self.origin, self.offset, self.z = np.arange(k), np.empty(k), np.ones(k)
        step = max(1, NUMBERS // max(k, 1))
        self.room = np.empty((3, step * k))  # to allocate it at each step would take as long again
        for start in range(0, k, step):
            roots = np.arange(start, min(start + step, k))
            self._find(roots)
            self._gather(roots)
            monitor.poll()
        self.z = np.copysign(np.sqrt(np.abs(self.z)), z)

    @property
    def values(self) -> Array:
        """The roots, ascending."""
        return np.asarray(self.d[self.origin] + self.offset)

    def vectors(self, roots: Array) -> Array:
        """Return the eigenvectors of some roots, of length 1, as rows."""
        U = self._differences(roots)
        np.divide(self.z, U, out=U)
        U /= np.sqrt(np.einsum("ij,ij->i", U, U))[:, None]
        return U

    def _differences(self, roots: Array) -> Array:
        """Return d_j - x_i, a row for each root x_i."""
        found = self.d - self.d[self.origin[roots], None]
        found -= self.offset[roots, None]
        return np.asarray(found)

    def _gather(self, roots: Array) -> None:
        """Multiply z_i**2 by what these roots bring: it is prod_j (x_j - d_i) / (d_j - d_i)."""
        ratios, apart = self._differences(roots), self.d - self.d[roots, None]
        apart[np.arange(len(roots)), roots] = 1.0
        ratios /= apart
        self.z *= ratios.prod(axis=0)

    def _find(self, roots: Array) -> None:
        """Find some consecutive roots, all at once."""
        low, high, poles, x = self._bracket(roots)
        distances = self._distances(self.origin[roots])
        for _ in range(STEPS):
            f, slopes, rounding = self._evaluate(roots, distances, x)
            low, high = np.where(f < 0, x, low), np.where(f < 0, high, x)
            # Poles of the right slope on either side, as two functions s / (pole - x) + r.
            left, right = poles - x
            a = (left + right) * f - left * right * slopes.sum(axis=0)
            c = f - left * slopes[0] - right * slopes[1]
            better = _root_within(c=c, a=a, b=left * right * f, start=x, low=low, high=high)
            self.offset[roots] = x
            busy = (np.abs(f) > rounding) & (better != x)
            if not busy.any():
                break
            if not busy.all():
                roots, distances, better = roots[busy], distances[busy], better[busy]
                low, high, poles = low[busy], high[busy], poles[:, busy]
            x = better

    def _bracket(self, roots: Array) -> tuple[Array, Array, Array, Array]:
        """Choose the nearer pole of each root; seen from there, return bounds, poles and a guess.

        f is taken in the middle between two poles; for the guess all other poles are kept there.
        """
        last = roots == len(self.d) - 1
        following = np.minimum(roots + 1, len(self.d) - 1)
        gap = np.where(last, self.above, self.d[following] - self.d[roots])
        zero, half = np.zeros_like(gap), gap / 2
        f, _, _ = self._evaluate(roots, self._distances(roots), half)
        on_left = (f >= 0) | last
        self.origin[roots] = np.where(on_left, roots, following)
        low, high = np.where(on_left, zero, -half), np.where(on_left, half, zero)
        poles = np.where(on_left, [zero, gap], [-gap, zero])
        weights = np.array([self.weights[roots], np.where(last, 0.0, self.weights[following])])
        rest = f + (weights[0] - weights[1]) / half
        a = rest * poles.sum(axis=0) + weights.sum(axis=0)
        b = weights[0] * poles[1] + weights[1] * poles[0]  # the poles' product is 0
        return low, high, poles, _root_within(c=rest, a=a, b=b, start=zero, low=low, high=high)

    def _distances(self, places: Array) -> Array:
        """Return the distances of all poles from some of them."""
        out = self.room[0, : len(places) * len(self.d)].reshape(len(places), -1)
        return np.asarray(np.subtract(self.d, self.d[places, None], out=out))

    def _evaluate(self, roots: Array, distances: Array, x: Array) -> tuple[Array, Array, Array]:
        """Return f, its slope from poles below and above each root, and what rounding makes of f.

        distances: of the poles from where x is counted.
        """
        first, stop = int(roots[0]) + 1, int(roots[-1]) + 1
        differences, terms = self.room[1:, : distances.size].reshape(2, *distances.shape)
        np.subtract(distances, x[:, None], out=differences)
        np.divide(self.weights, differences, out=terms)
        below = np.arange(first, stop) <= roots[:, None]
        values = _split(terms, below, first)
        terms /= differences
        slopes = _split(terms, below, first)
        f = self.constant + values[0] + values[1]
        sizes = self.constant + 8 * (values[1] - values[0]) + np.abs(x) * slopes.sum(axis=0)
        return f, slopes, EPS * sizes


def _split(terms: Array, below: Array, first: int) -> Array:
    """Return the sums of each row over the poles below its root, and over those above it.

    below: which poles are, of those from `first` on for which that differs.
    """
    stop = first + below.shape[1]
    between = terms[:, first:stop]
    low = terms[:, :first].sum(axis=1) + np.where(below, between, 0.0).sum(axis=1)
    high = terms[:, stop:].sum(axis=1) + np.where(below, 0.0, between).sum(axis=1)
    return np.array([low, high])


def _root_within(c: Array, a: Array, b: Array, start: Array, low: Array, high: Array) -> Array:
    """Return start + t with c t**2 - a t + b = 0 between the bounds, or their middle."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turned = a + np.copysign(np.sqrt(np.maximum(a * a - 4 * b * c, 0.0)), a)
        near, far = start + 2 * b / turned, start + turned / (2 * c)
    middle = low + (high - low) / 2
    found = np.where((far > low) & (far < high), far, middle)
    return np.where((near > low) & (near < high), near, found)
