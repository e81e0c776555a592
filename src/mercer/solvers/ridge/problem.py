"""What ridge solvers are given and what they give back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...checks import Array
from ...status import Status

ERRORS = ("errors", "leave_one_out")  # what a solution keeps in the units of the targets
ORDINARY = 332  # powers of two up to which sizes of targets, and their squares, are of no concern


@dataclass(frozen=True, kw_only=True)
class RidgeProblem:
    """min over f, b of sum_i w_i (y_i - f(x_i) - b)**2 + alpha ||f||**2, one for each output.

    targets: (n, outputs). alpha: one for each output. weight: positive, or None for ones.
    copies: how many samples each point stands for; None: as many as its weight says.
    With roots s_i = sqrt(w_i) all solvers work on the symmetric system
    (S K S + alpha I) c = S (y - b), whose solution gives the coefficients S c of f.
    """

    targets: Array
    alpha: Array
    weight: Array | None = None
    intercept: bool = False
    copies: Array | None = None

    @cached_property
    def left_out(self) -> Array:
        """The share of each point that leaving out one sample takes off it, as a column."""
        copies = self.weight if self.copies is None else self.copies
        n = len(self.targets)
        return np.ones((n, 1)) if copies is None else 1 / np.maximum(copies, 1.0)[:, None]

    @cached_property
    def roots(self) -> Array:
        """The square roots of the weights, as a column."""
        n = len(self.targets)
        return np.ones((n, 1)) if self.weight is None else np.sqrt(self.weight)[:, None]

    def take(self, rows: Array) -> RidgeProblem:
        """Return the problem of some of the points."""
        weight, copies = (None if v is None else v[rows] for v in (self.weight, self.copies))
        return replace(self, targets=self.targets[rows], weight=weight, copies=copies)

    def means(self) -> Array:
        """Return the weighted mean of each output."""
        weight = self.roots[:, 0] ** 2
        return np.asarray(weight @ self.targets / weight.sum())

    def scaled(self) -> tuple[RidgeProblem, Array]:
        """Return the problem with targets that can be squared, and by what they were divided.

        That is a power of two for each output, so that no digit changes; 1 of ordinary targets.
        """
        powers = np.frexp(np.abs(self.targets).max(axis=0, initial=0.0))[1] - 1
        powers = np.where(np.abs(powers) > ORDINARY, powers, 0)
        if not powers.any():
            return self, np.ones(len(powers))
        return replace(self, targets=np.ldexp(self.targets, -powers)), np.ldexp(1.0, powers)

    def right_sides(self) -> Array:
        """Return S y, and S 1 as a last column if there is an intercept."""
        roots = self.roots
        columns = [roots * self.targets] + ([roots] if self.intercept else [])
        return np.hstack(columns)

    def groups(self) -> list[tuple[float, Array]]:
        """Return each alpha with the right sides that it is solved for."""
        return self._groups

    @cached_property
    def _groups(self) -> list[tuple[float, Array]]:
        outputs = self.targets.shape[1]
        if outputs and (self.alpha == self.alpha[0]).all():
            return [(float(self.alpha[0]), np.arange(outputs + self.intercept))]
        last = [outputs] if self.intercept else []
        return [
            (float(alpha), np.append(np.flatnonzero(self.alpha == alpha), last).astype(int))
            for alpha in np.unique(self.alpha)
        ]

    def join(self, solved: list[Array]) -> tuple[Array, Array, Array]:
        """Return c, b and S 1 . A**-1 S 1 for each output from the solutions of each group.

        The sum of the coefficients S c is zero where there is an intercept.
        """
        c = np.empty_like(self.targets, dtype=np.float64)
        b, ones = np.zeros(self.targets.shape[1]), np.full(self.targets.shape[1], np.inf)
        for (_, columns), found in zip(self.groups(), solved, strict=True):
            own = columns[:-1] if self.intercept else columns
            c[:, own] = found[:, : len(own)]
            if self.intercept:
                column = found[:, -1:]
                ones[own] = total = float(self.roots[:, 0] @ column[:, 0])
                if total == 0:  # nothing was solved, as a large tol allows: f = 0 and the mean
                    b[own] = self.means()[own]
                    continue
                b[own] = self.roots[:, 0] @ c[:, own] / total
                c[:, own] -= column * b[own]
        return c, b, ones


@dataclass(frozen=True, kw_only=True)
class Solution:
    """What a solver found.

    coefficients: (points, outputs). status: how it ended. residual: the largest relative
    residual of an output, in double precision. gap: bound on how far the objective
    is above its minimum. bound: largest |f(x) - f*(x)| for k(x, x) = 1 is `bound`, plus `offset`.
    """

    coefficients: Array
    intercept: Array
    status: Status
    residual: float
    gap: float
    bound: float
    offset: float = 0.0
    iterations: int = 0
    rank: int = 0
    keep: dict[str, Any] = field(default_factory=dict)

    def times(self, factors: Array) -> Solution:
        """Return the solution for targets that are so many times larger, one factor per output."""
        largest = float(factors.max(initial=1.0))
        errors = {name: self.keep[name] * factors for name in ERRORS if name in self.keep}
        return replace(
            self,
            coefficients=self.coefficients * factors,
            intercept=self.intercept * factors,
            gap=self.gap * largest * largest,
            bound=self.bound * largest,
            offset=self.offset * largest,
            keep=self.keep | errors,
        )


def unsolved(problem: RidgeProblem, status: Status, points: int | None = None) -> Solution:
    """Return f = 0 with the mean as intercept: all there is when a solver was stopped too early."""
    means = problem.means()
    b = means if problem.intercept else np.zeros_like(means)
    nan = float("nan")
    n, outputs = problem.targets.shape
    zeros = np.zeros((n if points is None else points, outputs))
    return Solution(
        coefficients=zeros, intercept=b, status=status, residual=nan, gap=nan, bound=nan
    )


def left_out_errors(problem: RidgeProblem, alpha: float, c: Array, inverse: Array) -> Array:
    """Return y_i - f_i of the models without sample i: the point, or one of its copies.

    Given: the solution c of all points, and the diagonal of the inverse of S K S + alpha I, less
    what an intercept takes of it, as one column or one for each output.
    """
    share = problem.left_out
    rest = (1 - share) + alpha * inverse * share  # 1 - h_i share
    with np.errstate(invalid="ignore"):
        some = alpha * c / (problem.roots * rest)
    return np.where(share < 1, some, c / (problem.roots * inverse))


def assess(
    problem: RidgeProblem, c: Array, b: Array, ones: Array, applied: Array
) -> dict[str, Any]:
    """Return the residual, the gap and the error bounds of c.

    Given: applied = S K S c, in double precision.
    |f(x) - f*(x)| <= sqrt(k(x, x)) |r| / sqrt(alpha), since k_x' A**-1 k_x <= k(x, x); the error
    of the intercept adds |r| / sqrt(alpha) / sqrt(S1 . A**-1 S1). The objective is r' A**-1 S K S r
    <= |r|**2 above its minimum.
    """
    right = problem.roots * (problem.targets - b)
    sizes = np.linalg.norm(right - applied - c * problem.alpha, axis=0)
    scale = np.linalg.norm(problem.roots * problem.targets, axis=0)
    relative = np.divide(sizes, scale, out=np.zeros_like(sizes), where=scale > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = np.where(sizes == 0, 0.0, sizes / np.sqrt(problem.alpha))
        offsets = np.where(bounds == 0, 0.0, bounds / np.sqrt(ones))
    return {
        "residual": float(relative.max(initial=0.0)),
        "gap": float((sizes**2).sum()),
        "bound": float(bounds.max(initial=0.0)),
        "offset": float(offsets.max(initial=0.0)) if problem.intercept else 0.0,
    }
