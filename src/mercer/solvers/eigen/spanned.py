"""The largest eigenvalues of a centred Gram matrix, for functions of a few centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...grams import Gram
from ...grams.maps.passing import mean_of_first
from ...grams.sinks import JointSink
from ...linalg.blas import fill_upper
from ...monitor import Monitor, Stopped
from ...status import Status
from ..ridge.moments import Moments, unwhiten, whiten, wide_product
from .centred import Spectrum, largest, nothing_found


class Extremes(JointSink):
    """The smallest and the largest number in each column of K V."""

    kept = ("low", "high")

    def __init__(self, V: Array) -> None:
        self.V = V

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        self.low = np.full(self.V.shape[1], np.inf)
        self.high = np.full(self.V.shape[1], -np.inf)

    def take(self, rows: slice, band: Any) -> None:
        values = wide_product(band, self.V)
        self._note(values.min(axis=0), values.max(axis=0))

    def _note(self, low: Array, high: Array) -> None:
        np.minimum(self.low, low, out=self.low)
        np.maximum(self.high, high, out=self.high)

    def part(self, rows: slice) -> Extremes:
        return Extremes(self.V)

    def join(self, rows: slice, found: Array) -> None:
        self._note(found[0], found[1])

    def result(self) -> Array:
        return np.stack([self.low, self.high])


@dataclass(frozen=True)
class SpannedEigen:
    """The components of the projections of phi(x) on the span of centres z.

    With K_ZZ = L L', u(x) = L**-1 k_Z(x) are coordinates of the projection, and the components are
    the eigenvectors of the covariance of u: one pass sums that up, a second one finds the signs.
    lower: L. trace: the weighted sum of k(x, x).

    Williams, Seeger, "Using the Nyström method to speed up kernel machines" (2000).
    """

    lower: Array
    trace: float

    @staticmethod
    def bytes(centres: int) -> int:
        """Return what is needed beside K(x, z)."""
        return 6 * 8 * centres * centres

    def solve(self, cross: Gram, roots: Array, count: int, monitor: Monitor) -> Spectrum:
        """Return the `count` largest eigenvalues; those beyond the number of centres are 0.

        Given: cross = K(points, centres). Found of each component: in `vectors` its coefficients,
        a row per centre, times the root of the eigenvalue; in `products` the smallest and the
        largest of K(x, z) times these; in `means` the mean of each k(x, z).
        """
        m = len(self.lower)
        try:
            shift = mean_of_first(cross)
            no_targets = np.zeros((len(roots), 0))
            weights = None if (roots == 1).all() else roots[:, None]
            squares, _, sums = cross.reduce(Moments(no_targets, weights, shift, self.lower))
            mean = sums / (roots @ roots)
            covariance = fill_upper(squares)
            covariance -= np.outer(sums, mean)
            values, E = largest(covariance, min(count, m), monitor)
            values = np.pad(values, (0, count - len(values)))
            a = unwhiten(self.lower, np.pad(E, ((0, 0), (0, count - E.shape[1]))))
            vectors = a * np.sqrt(np.maximum(values, 0.0))
            products = cross.reduce(Extremes(vectors))
        except Stopped as stop:
            return nothing_found(m, count, stop.reason)
        centre = mean + whiten(self.lower, shift)
        top = float(values.max(initial=0.0))
        return Spectrum(
            values=values,
            vectors=vectors,
            products=products,
            means=shift + self.lower @ mean,
            trace=self.trace - float(roots @ roots) * float(centre @ centre),
            residuals=_residuals(covariance, E, values, top),
            lowest=0.0,
            zero=(1e-12 if cross.dtype == np.float64 else 2e-7) * top,
            status=Status.EXACT,
            iterations=2,
        )


def _residuals(covariance: Array, E: Array, values: Array, top: float) -> Array:
    """Return |C e - lambda e| / lambda_1 of each component, 0 for those that there are none of."""
    found = np.zeros(len(values))
    if top > 0:
        rest = covariance @ E - E * values[: E.shape[1]]
        found[: E.shape[1]] = np.linalg.norm(rest, axis=0) / top
    return found
