"""Functions that Newton's method moves: sums of kernels of all points, or of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...checks import Array
from ...grams import Gram, partial_cholesky
from ...grams.maps.passing import Passing
from ...grams.sinks import JointSink
from ...linalg.cholesky import NotPositiveDefinite, TileCholesky, dense_bands, inner_products
from ...monitor import Monitor
from ...stages import State
from ..ridge.moments import Transposed, unwhiten, whiten
from .curvature import Curvature, FreeOffset

SINGLE_FROM = 4000  # points from which on a preconditioner is kept in single precision


@dataclass(frozen=True)
class Element:
    """A function: its coefficients, and its values at the points where those are known."""

    t: Array
    values: Array

    def plus(self, factor: float, other: Element) -> Element:
        """Return the function with a multiple of another added."""
        return Element(self.t + factor * other.t, self.values + factor * other.values)


class Elements(Protocol):
    """A space of functions with an inner product.

    products: passes over the kernel matrix so far.
    """

    products: int

    def zero(self, outputs: int) -> Element:
        """Return 0."""

    def trace(self) -> float:
        """Return the sum of k(x, x) over the points."""

    def gradient(self, f: Element, u: Array, alpha: float) -> Element:
        """Return alpha f + sum_i u_i k(x_i, .)."""

    def inner(self, f: Element, g: Element) -> float:
        """Return the inner product."""

    def newton(self, curvature: FreeOffset, alpha: float, monitor: Monitor) -> NewtonOperator:
        """Return the operator of Newton's method, with what preconditions it."""


class NewtonOperator(Protocol):
    """A = alpha + sum_ij W_ij k(x_i, .) k(x_j, .)'."""

    def apply(self, p: Element) -> Element:
        """Return A p; the values of p become known where they were not."""

    def precondition(self, r: Element) -> Element:
        """Return about A**-1 r."""


# --- all points ---------------------------------------------------------------------------------


class KernelElements:
    """f = sum_i a_i k(x_i, .) over all points; values are known for every element."""

    def __init__(self, K: Gram, rank: int, random: np.random.Generator) -> None:
        self.K, self.products = K, 0
        kept = np.float32 if K.shape[0] > SINGLE_FROM else np.float64

        def factor() -> State:
            found = partial_cholesky(K, rank, random, dtype=kept)
            return {"T": found.values, "pivots": found.pivots}

        known = K.monitor.kept("preconditioner", factor)
        self.T, self.pivots = np.asarray(known["T"]), np.asarray(known["pivots"])
        self.lower = self.T[:, self.pivots].T.astype(np.float64)
        self._trace = float(np.sum(K.diag(), dtype=np.float64))

    def zero(self, outputs: int) -> Element:
        nothing = np.zeros((self.K.shape[0], outputs))
        return Element(nothing, nothing)

    def trace(self) -> float:
        return self._trace

    def product(self, V: Array) -> Array:
        """Return K V."""
        self.products += 1
        return np.asarray(self.K @ V, dtype=np.float64)

    def gradient(self, f: Element, u: Array, alpha: float) -> Element:
        a = alpha * f.t + u
        return Element(a, self.product(a))

    def inner(self, f: Element, g: Element) -> float:
        return float(np.einsum("ij,ij->", f.t, g.values))

    def newton(self, curvature: FreeOffset, alpha: float, monitor: Monitor) -> NewtonOperator:
        return _KernelNewton(self, curvature, alpha, monitor)


class _KernelNewton:
    """Preconditioned by A itself on the span of some points, and by alpha on what is left.

    With T' T about K, T = L**-1 K(pivots, points), that is alpha + T W T' in the orthonormal
    coordinates L**-1 f(pivots); outputs that W couples are taken one by one, and kept free of what
    W leaves out.
    """

    def __init__(
        self, space: KernelElements, curvature: FreeOffset, alpha: float, monitor: Monitor
    ) -> None:
        self.space, self.curvature, self.alpha = space, curvature, alpha
        weights = curvature.curvature.weights
        self.factors = [self._factor(weight, monitor) for weight in weights.T]

    def _factor(self, weight: Array, monitor: Monitor) -> TileCholesky:
        T = self.space.T
        inner = inner_products(T * np.sqrt(weight).astype(T.dtype), monitor)
        # Rounding in T must not make the matrix indefinite.
        floor = 10 * float(np.finfo(T.dtype).eps) * float(np.trace(inner))
        inner[np.diag_indices(len(inner))] += max(self.alpha, floor)
        return TileCholesky(dense_bands(inner), np.float64, monitor)

    def apply(self, p: Element) -> Element:
        weighted = self.curvature.apply(p.values)
        return Element(
            self.alpha * p.t + weighted, self.alpha * p.values + self.space.product(weighted)
        )

    def precondition(self, r: Element) -> Element:
        T, pivots = self.space.T, self.space.pivots
        if len(pivots) == 0:
            return Element(r.t / self.alpha, r.values / self.alpha)
        inside = whiten(self.space.lower, r.values[pivots])
        left = np.empty_like(inside)
        for output, factor in enumerate(self.factors):
            column = inside[:, output]
            left[:, output] = column - self.alpha * factor.solve(column[:, None])[:, 0]
        t = r.t.copy()
        t[pivots] -= unwhiten(self.space.lower, left)
        values = r.values - T.T @ left.astype(T.dtype)
        if self.curvature.curvature.leaves_mean:
            t -= t.mean(axis=1, keepdims=True)
            values -= values.mean(axis=1, keepdims=True)
        return Element(t / self.alpha, values / self.alpha)


# --- features -----------------------------------------------------------------------------------


class FeatureElements:
    """f = z . t in coordinates where ||f|| = |t|: features, or L**-1 k(centres, x).

    Z: the features, or K(points, centres), whose rows pass by. lower: L, the Cholesky
    factor of K between the centres, or None. moments: about the sum of z z' over the points.
    Values are known for what products were taken with.
    """

    def __init__(self, Z: Passing, lower: Array | None, moments: Array) -> None:
        self.Z, self.points, self.lower = Z, Z.shape[0], lower
        self.moments, self.products = moments, 0

    def zero(self, outputs: int) -> Element:
        return Element(np.zeros((len(self.moments), outputs)), np.zeros((self.points, outputs)))

    def trace(self) -> float:
        return float(np.trace(self.moments))

    def coefficients(self, t: Array) -> Array:
        """Return the coefficients of the features or centres themselves."""
        return t if self.lower is None else unwhiten(self.lower, t)

    def lifted(self, sums: Array) -> Array:
        """Return coordinates from the sums over points of features or kernels."""
        return sums if self.lower is None else whiten(self.lower, sums)

    def gradient(self, f: Element, u: Array, alpha: float) -> Element:
        self.products += 1
        total = self.Z.reduce(Transposed(u))
        return Element(alpha * f.t + self.lifted(total), np.zeros_like(u))

    def inner(self, f: Element, g: Element) -> float:
        return float(np.einsum("ij,ij->", f.t, g.t))

    def newton(self, curvature: FreeOffset, alpha: float, monitor: Monitor) -> NewtonOperator:
        return _FeatureNewton(self, curvature, alpha, monitor)


class Curved(JointSink):
    """Z' W Z t, Z t, and the sum of the rows of W Z t, in one pass."""

    kept = ("total", "values", "sums")

    def __init__(self, t: Array, W: Curvature) -> None:
        self.t, self.W = t, W

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        self.total, self.sums = np.zeros(self.t.shape), np.zeros(self.t.shape[1])
        self.values = np.empty((shape[0], self.t.shape[1]))

    def take(self, rows: slice, band: Any) -> None:
        self.values[rows] = band @ self.t.astype(band.dtype)
        weighted = self.W.apply(self.values[rows], rows)
        self.total += band.T @ weighted.astype(band.dtype)
        self.sums += weighted.sum(axis=0)

    def part(self, rows: slice) -> Curved:
        return Curved(self.t, self.W.take(rows))

    def join(self, rows: slice, found: tuple[Array, Array, Array]) -> None:
        self.total += found[0]
        self.values[rows] = found[1]
        self.sums += found[2]

    def result(self) -> tuple[Array, Array, Array]:
        return self.total, self.values, self.sums


class _FeatureNewton:
    """Preconditioned by the moments of the features, times the mean curvature."""

    def __init__(
        self, space: FeatureElements, curvature: FreeOffset, alpha: float, monitor: Monitor
    ) -> None:
        self.space, self.curvature, self.alpha = space, curvature, alpha
        weights = curvature.curvature.weights
        shifted = space.moments * (float(weights.sum()) / weights.size)
        shifted[np.diag_indices(len(shifted))] += alpha
        self.factor = self._factor(shifted, monitor)
        self.border = self._border(weights.shape[1]) if curvature.offset else None

    def _factor(self, shifted: Array, monitor: Monitor) -> TileCholesky:
        """Return the Cholesky factor; where rounding hides alpha, of a little more than was given:
        a preconditioner need not be exact."""
        trace, diagonal = float(np.trace(shifted)), np.diag_indices(len(shifted))
        for kind in (np.float64, np.float32):  # the precision that moments were summed in
            try:
                return TileCholesky(dense_bands(shifted), np.float64, monitor)
            except NotPositiveDefinite:
                shifted[diagonal] += 4 * len(shifted) * float(np.finfo(kind).eps) * trace
        return TileCholesky(dense_bands(shifted), np.float64, monitor)

    def _border(self, outputs: int) -> Array:
        """Return Z' W 1 for an offset of each output, (width, offset, output)."""
        ones = [np.broadcast_to(unit, (self.space.points, outputs)) for unit in np.eye(outputs)]
        weighted = np.hstack([self.curvature.curvature.apply(one) for one in ones])
        found = self.space.gradient(self.space.zero(outputs * outputs), weighted, 0.0).t
        return np.asarray(found.reshape(len(found), outputs, outputs))

    def apply(self, p: Element) -> Element:
        """One pass: values, W times them, and their sum with the features."""
        space, W = self.space, self.curvature.curvature
        space.products += 1
        total, p.values[:], sums = space.Z.reduce(Curved(space.coefficients(p.t), W))
        found = self.alpha * p.t + space.lifted(total)
        if self.border is not None:
            found -= np.einsum("mco,c->mo", self.border, self.curvature.inverse @ sums)
        return Element(found, np.zeros_like(p.values))

    def precondition(self, r: Element) -> Element:
        return Element(self.factor.solve(r.t), np.zeros_like(r.values))
