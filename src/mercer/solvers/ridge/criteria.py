"""How good a ridge model is on points it has not seen, in closed form, and the derivative by K.

With A = K + alpha I, P = A**-1 (with an intercept: the inverse on the vectors that sum to 0, A**-1
- A**-1 1 1' A**-1 / 1' A**-1 1) and a = P y, the error of point i by the model without it is e_i =
a_i / P_ii. For a sum of losses L with s_i = dL/de_i, and with dP = -P dA P,

    dL = <G, dK>,  G = P diag(s e / d) P - sym((P (s / d)) a'),  d = diag P,

and dL/dalpha is the trace of G. Several outputs add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack
from scipy.special import expit

from ...checks import Array
from ...linalg.blas import add_products, half_square, mirror, product
from ...linalg.cholesky import NotPositiveDefinite
from ...monitor import Monitor


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What a criterion says of a kernel matrix.

    value: is to be as small as can be. left_out: f(x_i) by the model without point i, a column an
    output. by_kernel: G, with dL = <G, dK> and the derivative by alpha as its trace; None where it
    was not asked for.
    """

    value: float
    left_out: Array
    by_kernel: Array | None


class Loss(Protocol):
    """The mean of a loss over all points and outputs."""

    def of(self, targets: Array, values: Array) -> tuple[float, Array]:
        """Return the mean loss, and its derivative by targets - values."""


class SquaredError:
    """(y - f)**2."""

    def of(self, targets: Array, values: Array) -> tuple[float, Array]:
        errors = targets - values
        return float(np.mean(errors**2)), 2.0 * errors / errors.size


class LogisticLoss:
    """log(1 + exp(-t y f)) for y of -1 and 1, with the slope t that makes it smallest.

    That slope turns scores into probabilities. Since the loss is flat there, it counts as a
    constant in the derivative.
    """

    def of(self, targets: Array, values: Array) -> tuple[float, Array]:
        margins = targets * values
        t = _best_slope(margins)
        wrong = expit(-t * margins)
        mean = float(np.mean(np.logaddexp(0.0, -t * margins)))
        return mean, t * targets * wrong / margins.size


MOST_SLOPE = 1e4  # beyond which every point is certain


def _best_slope(margins: Array) -> float:
    """Return t >= 0 with the smallest mean of log(1 + exp(-t m)), by halving: it is convex."""
    scale = float(np.abs(margins).max(initial=0.0))
    if scale == 0.0 or margins.mean() <= 0:
        return 0.0
    low, high = 0.0, MOST_SLOPE / scale
    for _ in range(100):
        middle = 0.5 * (low + high)
        falls = float(np.mean(margins * expit(-middle * margins))) > 0
        low, high = (middle, high) if falls else (low, middle)
    return 0.5 * (low + high)


@dataclass(frozen=True)
class LeaveOneOut:
    """The loss of every point by the model without it."""

    loss: Loss

    def judge(
        self, K: Array, alpha: float, targets: Array, intercept: bool, slope: bool, monitor: Monitor
    ) -> Judged:
        """Return the loss; K is overwritten."""
        P, _ = projected_inverse(K, alpha, intercept, monitor)
        a, d = product(P, targets), np.diagonal(P)[:, None]
        errors = a / d
        values = targets - errors
        value, s = self.loss.of(targets, values)
        if not slope:
            return Judged(value=value, left_out=values, by_kernel=None)
        monitor.poll()
        half = _weighted_square(P, (s * errors / d).sum(axis=1), monitor)
        G = mirror(add_products(half, product(P, s / d), a, -0.5))
        return Judged(value=value, left_out=values, by_kernel=G)


@dataclass(frozen=True)
class Evidence:
    """Minus the logarithm of the likelihood of y, per number.

    y is a Gaussian process with covariance s (K + alpha I), with the s of each output that makes it
    most likely, and an intercept of which nothing is known.
    """

    def judge(
        self, K: Array, alpha: float, targets: Array, intercept: bool, slope: bool, monitor: Monitor
    ) -> Judged:
        """Return minus the mean log-likelihood; K is overwritten."""
        P, log_determinant = projected_inverse(K, alpha, intercept, monitor)
        a = product(P, targets)
        free = len(K) - int(intercept)
        scales = np.maximum(np.einsum("ij,ij->j", targets, a) / free, np.finfo(np.float64).tiny)
        half = 0.5 * free * (np.log(2.0 * np.pi * scales) + 1.0) + 0.5 * log_determinant
        values = targets - a / np.diagonal(P)[:, None]
        G = None
        if slope:
            G = 0.5 * (targets.shape[1] * P - product(a / scales, a.T)) / targets.size
        return Judged(value=float(half.sum()) / targets.size, left_out=values, by_kernel=G)


HIDDEN = 1e-13  # of the trace of K: an alpha below is lost in rounding, and so is P


def projected_inverse(
    K: Array, alpha: float, intercept: bool, monitor: Monitor
) -> tuple[Array, float]:
    """Return P, and the logarithm of the determinant that belongs to it; K is overwritten."""
    n = len(K)
    if alpha < HIDDEN * np.trace(K):
        raise NotPositiveDefinite
    K.flat[:: n + 1] += alpha
    factor, failed = lapack.dpotrf(K.T, lower=1, overwrite_a=1)
    if failed:
        raise NotPositiveDefinite
    monitor.poll()
    log_determinant = 2.0 * float(np.log(np.diagonal(factor)).sum())
    half, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        raise NotPositiveDefinite
    monitor.poll()
    P = mirror(half)
    if intercept:
        sums = P.sum(axis=1)
        total = float(sums.sum())
        P -= np.multiply.outer(sums, sums / total)
        log_determinant += float(np.log(total))
    return P, log_determinant


def _weighted_square(P: Array, weights: Array, monitor: Monitor) -> Array:
    """Return P diag(weights) P of a symmetric P below the diagonal: a difference of two squares."""
    positive, negative = (np.flatnonzero(sign * weights > 0) for sign in (1.0, -1.0))
    total = _square_of(P, positive, weights)
    monitor.poll()
    if len(negative):
        total -= _square_of(P, negative, weights)
        monitor.poll()
    return total


def _square_of(P: Array, chosen: Array, weights: Array) -> Array:
    rows = P if len(chosen) == len(P) else P[chosen]
    return half_square((rows * np.sqrt(np.abs(weights[chosen]))[:, None]).T)
