"""How good a ridge model is on points it has not seen, in closed form, and the derivative by K.

With M = S K S + alpha I, S the roots of the weights, P its inverse (see `inverses`) and c = P S y,
the error of point i by the model without it is e_i = c_i / (s_i P_ii). Where a point stands for
several samples, and q_i is the share of it that is left out with one of them, P_ii is replaced by
D_i = q_i P_ii + (1 - q_i) / alpha. For a loss L with l_i = dL/de_i, and with dP = -P dM P,

    dL = <G, dM> + sum_i l_i e_i (1 - q_i) / D_i dalpha / alpha**2,
    G = P diag(l e q / D) P - sym((P (l / (s D))) c'),

where dM = S dK S + dalpha I. Several outputs add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit

from ...checks import Array
from .inverses import Inverse, SlopeForm
from .problem import RidgeProblem, left_out_errors


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What a criterion says of a kernel and an alpha.

    value: is to be as small as can be. left_out: f(x_i) by the model without point i, a column an
    output. by_alpha: its derivative. by_kernel: G with dL = <G, dK> for each kernel matrix that the
    inverse was made from; None where derivatives were not asked for.
    """

    value: float
    left_out: Array
    by_alpha: float = 0.0
    by_kernel: tuple[Array, ...] | None = None


class Criterion(Protocol):
    """`LeaveOneOut` or `Evidence`."""

    def judge(self, inverse: Inverse, problem: RidgeProblem, slope: bool) -> Judged:
        """Return what is to be as small as can be, and its derivatives."""


class Loss(Protocol):
    """The mean of a loss over all points and outputs."""

    def of(self, targets: Array, values: Array, weight: Array | None = None) -> tuple[float, Array]:
        """Return the weighted mean loss, and its derivative by targets - values."""


def _shares(shape: tuple[int, ...], weight: Array | None) -> Array:
    """Return how much each number counts in a mean over points and outputs."""
    if weight is None:
        return np.full((shape[0], 1), 1.0 / (shape[0] * shape[1]))
    return np.asarray(weight[:, None] / (weight.sum() * shape[1]))


class SquaredError:
    """(y - f)**2."""

    def of(self, targets: Array, values: Array, weight: Array | None = None) -> tuple[float, Array]:
        errors = targets - values
        shares = _shares(errors.shape, weight)
        return float((shares * errors**2).sum()), 2.0 * shares * errors


class LogisticLoss:
    """log(1 + exp(-t y f)) for y of -1 and 1, with the slope t that makes it smallest.

    That slope turns scores into probabilities. Since the loss is flat there, it counts as a
    constant in the derivative.
    """

    def of(self, targets: Array, values: Array, weight: Array | None = None) -> tuple[float, Array]:
        margins = targets * values
        shares = _shares(margins.shape, weight)
        t = _best_slope(margins, shares)
        wrong = expit(-t * margins)
        mean = float((shares * np.logaddexp(0.0, -t * margins)).sum())
        return mean, t * targets * wrong * shares


MOST_SLOPE = 1e4  # beyond which every point is certain


def _best_slope(margins: Array, shares: Array) -> float:
    """Return t >= 0 with the smallest mean of log(1 + exp(-t m)), by halving: it is convex."""
    scale = float(np.abs(margins).max(initial=0.0))
    if scale == 0.0 or (shares * margins).sum() <= 0:
        return 0.0
    low, high = 0.0, MOST_SLOPE / scale
    for _ in range(100):
        middle = 0.5 * (low + high)
        falls = float((shares * margins * expit(-middle * margins)).sum()) > 0
        low, high = (middle, high) if falls else (low, middle)
    return 0.5 * (low + high)


@dataclass(frozen=True)
class LeaveOneOut:
    """The loss of every point by the model without it; points count by their weight."""

    loss: Loss

    def judge(self, inverse: Inverse, problem: RidgeProblem, slope: bool) -> Judged:
        """Return the mean loss."""
        targets, roots, share = problem.targets, problem.roots, problem.left_out
        alpha = float(problem.alpha[0])
        c, d = inverse.times(roots * targets), inverse.diagonal
        errors = left_out_errors(problem, alpha, c, d)
        values = targets - errors
        value, s = self.loss.of(targets, values, problem.weight)
        if not slope:
            return Judged(value=value, left_out=values)
        v = s / (share * d + (1.0 - share) / alpha)
        form = SlopeForm(
            squared=(v * errors * share).sum(axis=1), left=inverse.times(v / roots), right=c
        )
        found = inverse.slopes(form)
        rest = float((v * errors * (1.0 - share)).sum()) / alpha**2
        return Judged(
            value=value,
            left_out=values,
            by_alpha=found.by_alpha + rest,
            by_kernel=found.by_kernel,
        )


@dataclass(frozen=True)
class Evidence:
    """Minus the logarithm of the likelihood of y, per number.

    y is a Gaussian process with covariance s (K + alpha W**-1), with the s of each output that
    makes it most likely, and an intercept of which nothing is known.
    """

    def judge(self, inverse: Inverse, problem: RidgeProblem, slope: bool) -> Judged:
        """Return minus the mean log-likelihood."""
        targets, roots = problem.targets, problem.roots
        c = inverse.times(roots * targets)
        free = len(targets) - int(problem.intercept)
        squares = np.einsum("ij,ij->j", roots * targets, c)
        scales = np.maximum(squares / free, np.finfo(np.float64).tiny)
        log_determinant = inverse.log_determinant - 2.0 * float(np.log(roots).sum())
        half = 0.5 * free * (np.log(2.0 * np.pi * scales) + 1.0) + 0.5 * log_determinant
        errors = left_out_errors(problem, float(problem.alpha[0]), c, inverse.diagonal)
        value, values = float(half.sum()) / targets.size, targets - errors
        if not slope:
            return Judged(value=value, left_out=values)
        once = 0.5 * targets.shape[1] / targets.size
        form = SlopeForm(
            squared=np.zeros(len(c)), once=once, left=0.5 * c / (scales * targets.size), right=c
        )
        found = inverse.slopes(form)
        return Judged(
            value=value, left_out=values, by_alpha=found.by_alpha, by_kernel=found.by_kernel
        )
