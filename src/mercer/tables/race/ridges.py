"""Honest scores of ridge models with fixed kernels, and the penalty that makes them best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...grams import Prepared
from ...grams.sides import Side, View
from ...inputs import Matrix
from ...kernels import Kernel
from ...linalg.blas import product
from ...monitor import Monitor
from ...solvers import NotPositiveDefinite, RidgeProblem
from ...solvers.ridge.refits import RidgeRefits, factored
from .splits import Splits

STEP = 4.0  # between two penalties
LEAST, MOST = 1e-6, 1e4


@dataclass(frozen=True, kw_only=True)
class RidgeScores:
    """Ridge models of one kernel on rows.

    K: of the rows, dense. targets, weight: of the rows. splits: about them.
    """

    K: Array
    targets: Array
    weight: Array | None
    splits: Splits
    monitor: Monitor

    def at(self, alpha: float) -> Array:
        """Return honest scores of the judged rows; NaN where there is no solution."""
        problem = _problem(self.targets, self.weight, alpha)
        refits = RidgeRefits(self.K, problem, [alpha], self.monitor, shared=False)
        if self.splits.one_by_one:
            return self.targets - refits.leave_one_out(alpha)
        errors = np.full(self.targets.shape, np.nan)
        for _, held in self.splits.parts:
            errors[held] = refits.part(held).errors.get(alpha, np.nan)
        rows = self.splits.rows
        return np.asarray(self.targets[rows] - errors[rows])


@dataclass(frozen=True, kw_only=True)
class HoldoutScores:
    """Ridge models of one kernel and some rows, judged on others.

    K: of the rows. cross: K(others, rows). targets, weight: of the rows.
    """

    K: Array
    cross: Array
    targets: Array
    weight: Array | None
    monitor: Monitor

    def at(self, alpha: float) -> Array:
        """Return the scores of the others; NaN where there is no solution."""
        problem = _problem(self.targets, self.weight, alpha)
        A, roots = self.K, problem.roots.astype(self.K.dtype)
        if self.weight is not None:
            A = A * roots * roots[:, 0]
        try:
            _, solved = factored(A, alpha, problem.right_sides(), self.monitor)
        except NotPositiveDefinite:
            return np.full((len(self.cross), self.targets.shape[1]), np.nan)
        c, b, _ = problem.join([solved])
        return np.asarray(product(self.cross, (problem.roots * c).astype(self.cross.dtype)) + b)


def _problem(targets: Array, weight: Array | None, alpha: float) -> RidgeProblem:
    return RidgeProblem(
        targets=targets,
        alpha=np.full(targets.shape[1], alpha),
        weight=weight,
        intercept=True,
        copies=np.ones(len(targets)),  # a row is left out with all of its weight
    )


def dense_gram(
    kernel: Kernel, points: Matrix, monitor: Monitor, others: Matrix | None = None
) -> Array:
    """Return K of all points, or K(others, points), in single precision."""
    prepared = Prepared(kernel, View(Side(points)))
    return prepared.gram(others, dtype=np.float32, monitor=monitor).dense()


def best_penalty(judge: Callable[[float], float], start: float, most: int) -> float:
    """Return the penalty with the smallest loss, searched downhill from a start.

    judge: returns the loss of a penalty. most: how many may be tried.
    """
    losses = {start: judge(start)}
    for factor in (STEP, 1.0 / STEP):
        best, penalty = losses[start], start * factor
        while len(losses) < most and LEAST <= penalty <= MOST:
            losses[penalty] = judge(penalty)
            if not losses[penalty] < best:
                break
            best, penalty = losses[penalty], penalty * factor
        if min(losses, key=lambda one: losses[one]) != start:
            break
    return min(losses, key=lambda one: losses[one])
