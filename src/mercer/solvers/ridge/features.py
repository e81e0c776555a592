"""Ridge regression in an explicit feature space: the primal side, and few Nyström centres."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...checks import Array
from ...grams.maps.passing import Passing, mean_of_first
from ...linalg.blas import fill_upper
from ...linalg.cholesky import TileCholesky, dense_bands
from ...linalg.eigen import eigh
from ...monitor import Monitor
from ...status import Status
from .moments import Errors, Leverages, Moments, unwhiten, whiten, wide_product
from .problem import RidgeProblem, Solution

MOST_EXACT = 5000  # features up to which every point has a leverage of its own
SAMPLE = 2000  # points that stand for all where there are more
BAND = 1024  # rows of a matrix of moments that are changed at a time


class FeatureRidge:
    """min over t, b of sum_i w_i (y_i - z_i . t - b)**2 + alpha t' P t with z_i the rows of Z.

    Solves: (H + alpha P) t = Z' W (y - b) with H = Z' W Z, centred where there is an intercept.
    Given: Z, whose rows pass by, dense or CSR; lower: the Cholesky factor of P, or None for P = I.
    """

    def __init__(
        self, Z: Passing, problem: RidgeProblem, monitor: Monitor, lower: Array | None = None
    ) -> None:
        self.Z, self.problem, self.monitor, self.lower = Z, problem, monitor, lower
        self.weight = problem.roots[:, 0] ** 2
        self.total = float(self.weight.sum())
        self.target_mean = np.zeros(problem.targets.shape[1])
        if problem.intercept:
            self.target_mean = self.weight @ problem.targets / self.total
        # One pass in coordinates where P = I: moments around the mean of the first rows, then
        # around the mean. (To change coordinates afterwards would square the condition of P.)
        self.shift = mean_of_first(Z) if problem.intercept else np.zeros(Z.shape[1])
        centred = self.problem.targets - self.target_mean
        roots = None if self.problem.weight is None else self.problem.roots
        moments, products, sums = self.Z.reduce(Moments(centred, roots, self.shift, self.lower))
        self.mean = sums / self.total if self.problem.intercept else np.zeros_like(sums)
        self.moments = fill_upper(moments)
        for rows in (slice(i, i + BAND) for i in range(0, len(moments), BAND)):
            self.moments[rows] -= np.outer(self.total * self.mean[rows], self.mean)
        self.products = products

    @property
    def alpha(self) -> Array:
        return self.problem.alpha

    def whiten(self, values: Array) -> Array:
        return values if self.lower is None else whiten(self.lower, values)

    def _coefficients(self, theta: Array) -> Array:
        """Return t from coordinates in which the penalty is the identity."""
        return theta if self.lower is None else unwhiten(self.lower, theta)

    def solve(self, tol: float = 1e-6) -> Solution:
        """Return the minimum, refined until its gradient, in double precision, reaches `tol`."""
        factors = [self.factor(float(alpha)) for alpha in np.unique(self.alpha)]
        theta = np.zeros_like(self.products)
        gradient = self.products
        best: Solution | None = None
        while best is None or best.residual > tol:
            theta = theta + self._step(factors, gradient)
            t = self._coefficients(theta)
            b = self.target_mean - self.shift @ t - self.mean @ theta
            gradient, errors = self._gradient(t, b, theta)
            measured = certify(gradient, self.products, self.alpha, self.problem.intercept)
            if best is not None and not measured["residual"] <= best.residual / 2:
                break
            status = Status.EXACT if measured["residual"] <= tol else Status.STAGNATED
            best = Solution(
                coefficients=t,
                intercept=b,
                status=status,
                **measured,
                rank=len(t),
                keep={"errors": errors} | self._moments(),
            )
        return best

    def _moments(self) -> dict[str, Any]:
        """Return what the variance of predictions is made of."""
        shape = {"shift": self.shift, "mean": self.mean, "total": self.total}
        return {"moments": self.moments} | shape

    def factor(self, alpha: float) -> TileCholesky:
        """Return the factor of H + alpha I."""
        return TileCholesky(dense_bands(self.moments), np.float64, self.monitor, alpha)

    def _step(self, factors: list[TileCholesky], gradient: Array) -> Array:
        """Return (H + alpha I)**-1 gradient, each output with its own alpha."""
        step = np.empty_like(gradient)
        for alpha, factor in zip(np.unique(self.alpha), factors, strict=True):
            outputs = self.alpha == alpha
            step[:, outputs] = factor.solve(gradient[:, outputs])
        return step

    def _gradient(self, t: Array, intercept: Array, theta: Array) -> tuple[Array, Array]:
        """Return L**-1 Z' W (y - Z t - b) - alpha theta, and the errors y - Z t - b."""
        offset = intercept if self.problem.intercept else np.zeros(len(intercept))
        weight = None if self.problem.weight is None else self.weight
        total, errors = self.Z.reduce(Errors(t, offset, self.problem.targets, weight))
        return self.whiten(total) - self.alpha * theta, errors

    def leave_one_out(self, errors: Array) -> Array:
        """Return y_i - f_i of the models without sample i: the point, or one of its copies.

        That is e_i / (1 - h_i) with the leverage h_i of what is left out. Of very many features the
        mean leverage of some points stands for that of all, as in generalised cross-validation.
        """
        alphas, place = np.unique(self.alpha, return_inverse=True)
        shares = self.leverages(alphas)[:, place] * self.problem.left_out
        return np.asarray(errors / np.maximum(1 - shares, 1e-12))

    def leverages(self, alphas: Array) -> Array:
        """Return h_i of each point (rows) at each alpha (columns)."""
        n = len(self.weight)
        step = max(1, n // SAMPLE) if self.Z.shape[1] > MOST_EXACT else 1
        if step > 1 or (len(alphas) == 1 and alphas[0] > 0):
            columns = [self._leverages(float(alpha), step) for alpha in alphas]
            return np.asarray(self.weight[:, None] * np.column_stack(columns))
        values, vectors = self.spectrum()
        with np.errstate(divide="ignore"):
            shrink = np.where(values[:, None] + alphas > 0, 1 / (values[:, None] + alphas), 0.0)
        found = np.empty((n, len(alphas)))
        for rows, turned in self.turned(vectors):
            found[rows] = (turned**2) @ shrink
        if self.problem.intercept:
            found += 1 / self.total
        return np.asarray(self.weight[:, None] * found)

    def _leverages(self, alpha: float, step: int) -> Array:
        """Return z' (H + alpha I)**-1 z of each row, and what an intercept adds to it.

        step: if above 1, of every such row, and their mean for all.
        """
        lower = self.factor(alpha).dense()
        found = self.Z.reduce(Leverages((lower, self.lower), self.shift, self.mean, step))
        found = np.full(len(self.weight), found.mean()) if step > 1 else found
        return np.asarray(found + 1 / self.total if self.problem.intercept else found)

    def turned(self, vectors: Array) -> Iterator[tuple[slice, Array]]:
        """Yield, band by band, the centred features along directions in which P = I."""
        turn = self._coefficients(vectors)
        centre = self.shift @ turn + self.mean @ vectors
        for rows, band in self.Z.bands():
            yield rows, wide_product(band, turn) - centre

    def spectrum(self) -> tuple[Array, Array]:
        """Return the eigenvalues of the moments, none negative, and their vectors."""
        values, vectors = eigh(self.moments, self.monitor)
        return np.maximum(values, 0.0), vectors


def certify(gradient: Array, right: Array, alpha: Array, intercept: bool) -> dict[str, Any]:
    """Return how far a point with this gradient is from the minimum.

    With g half the gradient in coordinates where the penalty is the identity:
    |t - t*| <= |g| / alpha, hence |f(x) - f*(x)| <= sqrt(k(x, x)) |g| / alpha, and as much again
    for an intercept, which follows the mean of f. The objective is at most |g|**2 / alpha too high.
    """
    sizes, scale = np.linalg.norm(gradient, axis=0), np.linalg.norm(right, axis=0)
    relative = np.divide(sizes, scale, out=np.zeros_like(sizes), where=scale > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = np.where(sizes == 0, 0.0, sizes / alpha)
        gap = float(np.where(sizes == 0, 0.0, sizes**2 / alpha).sum())
    return {
        "residual": float(relative.max(initial=0.0)),
        "gap": gap,
        "bound": float(bounds.max(initial=0.0)) * (2 if intercept else 1),
    }
