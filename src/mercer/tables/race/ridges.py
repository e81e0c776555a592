"""Honest scores of ridge models with fixed kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...fitting.ridge.dense import dense_solution, ridge_problem
from ...linalg.blas import product
from ...monitor import Monitor
from ...solvers import NotPositiveDefinite
from ...solvers.ridge.refits import RidgeRefits
from .splits import Splits


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
        whole = np.ones(len(self.targets))  # a row is left out with all of its weight
        problem = ridge_problem(self.targets, self.weight, alpha, copies=whole)
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
        problem = ridge_problem(self.targets, self.weight, alpha)
        try:
            coefficients, b = dense_solution(self.K, problem, self.monitor)
        except NotPositiveDefinite:
            return np.full((len(self.cross), self.targets.shape[1]), np.nan)
        return np.asarray(product(self.cross, coefficients.astype(self.cross.dtype)) + b)
