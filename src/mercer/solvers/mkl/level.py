"""The level method: the same optimum as SimpleMKL's, in a fraction of the evaluations."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog, minimize

from ...checks import Array
from ...status import Status
from .problem import Evaluation, Search

LEVEL = 0.7  # where the level lies between the lower and the upper bound
FEASIBLE = 1e-7  # by how much a projection may miss the level, relative to the bounds


@dataclass
class LevelMethod:
    """min J(d) over the simplex by lower bounds that every evaluation adds.

    J lies above the largest of the bounds so far, whose minimum is a bound of the optimum. The next
    weights are those nearest to the last ones at which no bound is above a level between that
    minimum and the best J.

    Z. Xu, R. Jin, I. King, M. Lyu, "An extended level method for efficient multiple kernel
    learning", Advances in Neural Information Processing Systems 21 (2008).
    """

    search: Search
    heights: list[float] = field(default_factory=list, init=False)
    rows: list[Array] = field(default_factory=list, init=False)

    def run(self) -> Status:
        """Return how it ended; the search has the rest."""
        search, weights = self.search, self.search.start()
        for _ in range(search.max_iter):
            at = search.evaluate(weights)
            self._add(at)
            lowest = self._lowest()
            if lowest is not None:
                search.bound = max(search.bound, lowest)
            search.note(at)
            if search.is_reached():
                return Status.CONVERGED
            found = self._project(weights)
            if found is None or np.array_equal(found, weights):
                return Status.STAGNATED
            weights = found
        return Status.ITERATION_LIMIT

    def _add(self, at: Evaluation) -> None:
        self.heights.append(at.height)
        self.rows.append(at.slopes)

    def _lowest(self) -> float | None:
        """Return the minimum over the simplex of the largest bound; None where it is not found."""
        heights, rows = np.array(self.heights), np.array(self.rows)
        scale = max(float(np.abs(rows).max()), float(np.abs(heights).max()), 1e-300)
        count = rows.shape[1]
        found = linprog(
            np.append(np.zeros(count), 1.0),
            A_ub=np.column_stack([rows / scale, -np.ones(len(rows))]),
            b_ub=-heights / scale,
            A_eq=np.append(np.ones(count), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * count + [(None, None)],
            method="highs",
        )
        return float(found.fun) * scale if found.status == 0 else None

    def _project(self, weights: Array) -> Array | None:
        """Return the weights of the level set that are nearest to these.

        In the dual each bound has a multiplier; given all of them, the nearest weights are a
        projection onto the simplex, so that few variables are left, however many the kernels.
        """
        search = self.search
        best = search.best.primal if search.best is not None else 0.0
        level = search.bound + LEVEL * (best - search.bound)
        rows, room = np.array(self.rows), level - np.array(self.heights)
        sizes = np.linalg.norm(rows, axis=1)
        sizes[sizes == 0] = 1.0
        rows, room = rows / sizes[:, None], room / sizes

        def value(multipliers: Array) -> tuple[float, Array]:
            nearest = onto_simplex(weights - multipliers @ rows)
            away = nearest - weights
            missed = rows @ nearest - room
            return -(float(away @ away) / 2 + float(multipliers @ missed)), -missed

        found = minimize(
            value,
            np.zeros(len(rows)),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * len(rows),
            options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-12},
        )
        nearest = onto_simplex(weights - found.x @ rows)
        return nearest if np.isfinite(nearest).all() else None


def onto_simplex(values: Array) -> Array:
    """Return the point of the simplex that is nearest, its small weights exactly 0."""
    falling = np.sort(values)[::-1]
    sums = np.cumsum(falling) - 1
    used = np.flatnonzero(falling * np.arange(1, len(values) + 1) > sums)[-1]
    return np.maximum(values - sums[used] / (used + 1), 0.0)
