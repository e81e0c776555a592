"""Ridge regression in an explicit feature space: the primal side, and few Nyström centres."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse

from ...checks import Array
from ...linalg.blas import add_square, fill_upper, product, solve_lower
from ...linalg.cholesky import TileCholesky, dense_bands
from ...linalg.eigen import eigh
from ...monitor import Monitor
from ...status import Status
from .problem import RidgeProblem, Solution

MOST_EXACT = 5000  # features up to which every point has a leverage of its own
SAMPLE = 2000  # points that stand for all where there are more
BAND = 1024  # rows of a matrix of moments that are changed at a time

Bands = Callable[[], Iterator[tuple[slice, Any]]]


class FeatureRidge:
    """min over t, b of sum_i w_i (y_i - z_i . t - b)**2 + alpha t' P t with z_i the rows of Z.

    Solves: (H + alpha P) t = Z' W (y - b) with H = Z' W Z, centred where there is an intercept.
    Given: bands, which yields Z in bands of rows, dense or CSR, each time it is called;
    lower: the Cholesky factor of P, or None for P = I.
    """

    def __init__(
        self, bands: Bands, problem: RidgeProblem, monitor: Monitor, lower: Array | None = None
    ) -> None:
        self.bands, self.problem, self.monitor, self.lower = bands, problem, monitor, lower
        self.weight = problem.roots[:, 0] ** 2
        self.total = float(self.weight.sum())
        self.target_mean = np.zeros(problem.targets.shape[1])
        if problem.intercept:
            self.target_mean = self.weight @ problem.targets / self.total
        self._accumulate()

    def _accumulate(self) -> None:
        """One pass in coordinates where P = I: moments around the mean of the first band, then
        around the mean. (To change coordinates afterwards would square the condition of P.)
        """
        moments, products, sums = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0)
        for rows, band in self.bands():
            roots = self.problem.roots[rows]
            if rows.start == 0:
                width = band.shape[1]
                moments = np.zeros((width, width), order="F")
                products, sums = np.zeros((width, len(self.alpha))), np.zeros(width)
                self.shift = self._first_mean(band)
            Z = self._scaled(band, roots)
            dense = isinstance(Z, np.ndarray)
            if dense:
                add_square(moments, Z.T)
            else:
                moments += np.tril((Z.T @ Z).toarray())
            centred = roots * (self.problem.targets[rows] - self.target_mean)
            products += np.asarray(Z.T @ centred.astype(Z.dtype))
            sums += np.asarray(Z.T @ roots[:, 0].astype(Z.dtype))
            self.monitor.poll()
        self.mean = sums / self.total if self.problem.intercept else np.zeros_like(sums)
        self.moments = fill_upper(moments)
        for rows in (slice(i, i + BAND) for i in range(0, len(moments), BAND)):
            self.moments[rows] -= np.outer(self.total * self.mean[rows], self.mean)
        self.products = products

    @property
    def alpha(self) -> Array:
        return self.problem.alpha

    def _first_mean(self, band: Any) -> Array:
        if not self.problem.intercept or scipy.sparse.issparse(band):
            return np.zeros(band.shape[1])
        return np.asarray(band.mean(axis=0, dtype=np.float64))

    def _scaled(self, band: Any, roots: Array) -> Any:
        """Return S (Z - shift) L**-T."""
        if scipy.sparse.issparse(band):
            return scipy.sparse.diags_array(roots[:, 0]) @ band
        if self.problem.intercept:
            band = band - self.shift.astype(band.dtype)
        band = band if self.problem.weight is None else band * roots.astype(band.dtype)
        return band if self.lower is None else self.whiten(band.T).T

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
        total = np.zeros_like(t)
        errors = np.empty_like(self.problem.targets, dtype=np.float64)
        for rows, band in self.bands():
            errors[rows] = self.problem.targets[rows] - wide_product(band, t)
            if self.problem.intercept:
                errors[rows] -= intercept
            total += wide_product(band.T, self.weight[rows, None] * errors[rows])
        return self.whiten(total) - self.alpha * theta, errors

    def leave_one_out(self, errors: Array) -> Array:
        """Return y_i - f_i of the models without sample i: the point, or one of its copies.

        That is e_i / (1 - h_i) with the leverage h_i of what is left out. Of very many features the
        mean leverage of some points stands for that of all, as in generalised cross-validation.
        """
        left = np.empty_like(errors)
        alphas, place = np.unique(self.alpha, return_inverse=True)
        many = len(self.mean) > MOST_EXACT and len(errors) > SAMPLE
        for rows, leverages in mean_leverages(self, alphas) if many else self.leverages(alphas):
            shares = leverages[:, place] * self.problem.left_out[rows]
            left[rows] = errors[rows] / np.maximum(1 - shares, 1e-12)
        return left

    def leverages(self, alphas: Array) -> Iterator[tuple[slice, Array]]:
        """Yield, band by band, h_i of each point (rows) at each alpha (columns)."""
        if len(alphas) == 1 and alphas[0] > 0:
            lower = self.factor(float(alphas[0])).dense()
            for rows, band in self.bands():
                yield rows, (self.weight[rows] * squares(self, lower, band))[:, None]
            return
        values, vectors = self.spectrum()
        with np.errstate(divide="ignore"):
            shrink = np.where(values[:, None] + alphas > 0, 1 / (values[:, None] + alphas), 0.0)
        for rows, turned in self.turned(vectors):
            found = (turned**2) @ shrink
            if self.problem.intercept:
                found += 1 / self.total
            yield rows, self.weight[rows, None] * found

    def turned(self, vectors: Array) -> Iterator[tuple[slice, Array]]:
        """Yield, band by band, the centred features along directions in which P = I."""
        turn = self._coefficients(vectors)
        centre = self.shift @ turn + self.mean @ vectors
        for rows, band in self.bands():
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


def whiten(lower: Array, values: Array) -> Array:
    """Return L**-1 values, in the precision of the values."""
    factor = lower.astype(values.dtype, copy=False)
    return solve_lower(factor, values)


def unwhiten(lower: Array, values: Array) -> Array:
    """Return L**-T values."""
    return solve_lower(lower, values, transposed=True)


def mean_leverages(ridge: FeatureRidge, alphas: Array) -> Iterator[tuple[slice, Array]]:
    """Yield leverages of points that all have the mean of some, times their weight."""
    means, step = [], max(1, len(ridge.weight) // SAMPLE)
    for alpha in alphas:
        lower = ridge.factor(float(alpha)).dense()
        found = [
            squares(ridge, lower, band[(-rows.start) % step :: step])
            for rows, band in ridge.bands()
        ]
        means.append(float(np.concatenate(found).mean()))
    yield slice(0, len(ridge.weight)), ridge.weight[:, None] * np.array(means)


def squares(ridge: FeatureRidge, lower: Array, band: Any) -> Array:
    """Return z' (H + alpha I)**-1 z of each row, and what an intercept adds to it."""
    Z = np.asarray(_dense(band), dtype=np.float64) - ridge.shift
    centred = ridge.whiten(Z.T) - ridge.mean[:, None]
    ridge.monitor.poll()
    found: Array = (solve_lower(lower, centred) ** 2).sum(axis=0)
    return found + 1 / ridge.total if ridge.problem.intercept else found


def _dense(band: Any) -> Any:
    return band.toarray() if scipy.sparse.issparse(band) else band


def wide_product(band: Any, values: Array) -> Array:
    """Return band @ values in double precision."""
    if scipy.sparse.issparse(band):
        return np.asarray(band @ values)
    return product(np.asarray(band, dtype=np.float64), values)
