"""The level method: the same optimum as SimpleMKL's, in a fraction of the evaluations."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog, minimize

from ...checks import Array
from ...linalg.blas import blas_threads
from ...status import Status
from .problem import Evaluation, Search

LEVEL = 0.7  # where the level lies between the lower and the upper bound
NEAR = 1e-3  # how far the last digits may move a weight
MOST = 1e9  # a multiplier: beyond it rounding has made the level set empty


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
    made: list[Evaluation] = field(default_factory=list, init=False)

    def run(self) -> Status:
        """Return how it ended; the search has the rest."""
        search, weights = self.search, self.search.start()
        for _ in range(search.max_iter):
            at = search.evaluate(weights)
            self.made.append(at)
            self._bound()
            search.note(at)
            if search.is_reached():
                return Status.CONVERGED
            found = self._project(weights)
            if np.array_equal(found, weights):
                return Status.STAGNATED
            weights = found
        return Status.ITERATION_LIMIT

    def _heights(self) -> Array:
        return np.array([at.height for at in self.made])

    def _rows(self) -> Array:
        return np.array([at.slopes for at in self.made])

    def _bound(self) -> None:
        """Bound J by the minimum over the simplex of the largest bound so far.

        Every mean of the bounds is one, and linear, so that its minimum is at a corner. The linear
        program says which mean is best; the bound holds even where it is not solved exactly. The
        mean of the solutions b has a bound that is no lower.
        """
        heights, rows = self._heights(), self._rows()
        top = heights.max()
        scale = max(float(np.abs(rows).max()), float(np.abs(heights - top).max()), 1e-300)
        count = rows.shape[1]
        found = linprog(
            np.append(np.zeros(count), 1.0),
            A_ub=np.column_stack([rows / scale, -np.ones(len(rows))]),
            b_ub=(top - heights) / scale,
            A_eq=np.append(np.ones(count), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * count + [(None, None)],
            method="highs",
        )
        if found.status != 0:
            return
        shares = np.maximum(-found.ineqlin.marginals, 0.0)
        shares /= shares.sum()
        height = float(shares @ heights)
        mean = np.tensordot(shares, [at.solution for at in self.made], 1)
        self.search.raise_bound(height + float((shares @ rows).min()), height, mean)

    def _project(self, weights: Array) -> Array:
        """Return the weights of the level set that are nearest to these.

        In the dual each bound has a multiplier; given all of them, the nearest weights are a
        projection onto the simplex, so that few variables are left, however many the kernels.
        """
        search = self.search
        best = search.best.primal if search.best is not None else 0.0
        level = search.bound + LEVEL * (best - search.bound)
        rows, room = self._rows(), level - self._heights()
        sizes = np.linalg.norm(rows, axis=1)
        sizes[sizes == 0] = 1.0
        rows, room = rows / sizes[:, None], room / sizes

        def value(multipliers: Array) -> tuple[float, Array]:
            nearest = onto_simplex(weights - multipliers @ rows)
            away = nearest - weights
            missed = rows @ nearest - room
            return -(float(away @ away) / 2 + float(multipliers @ missed)), -missed

        with blas_threads(1):  # which wait for one another in small steps, for long if busy
            found = minimize(
                value,
                np.zeros(len(rows)),
                jac=True,
                method="L-BFGS-B",
                bounds=[(0, MOST)] * len(rows),
                options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-12},
            )
        nearest = onto_simplex(weights - found.x @ rows)
        return self._exact(weights, nearest, rows[found.x > 0], room[found.x > 0])

    @staticmethod
    def _exact(weights: Array, nearest: Array, rows: Array, room: Array) -> Array:
        """Return the projection to the last digits, where it is known which bounds it meets.

        These hold with equality; the weights above 0 differ from the former ones by a combination
        of their rows, and one number for the sum.
        """
        used = np.flatnonzero(nearest)
        G = np.vstack([rows[:, used], np.ones(len(used))])
        missed = G @ weights[used] - np.append(room, 1.0)
        multipliers = np.linalg.lstsq(G @ G.T, missed, rcond=None)[0]
        found = np.zeros_like(nearest)
        found[used] = weights[used] - multipliers @ G
        good = (found >= 0).all() and np.abs(found - nearest).max() <= NEAR
        return found / found.sum() if good else nearest


def onto_simplex(values: Array) -> Array:
    """Return the point of the simplex that is nearest, its small weights exactly 0."""
    values = values - values.max()  # which changes nothing but rounding
    falling = np.sort(values)[::-1]
    sums = np.cumsum(falling) - 1
    used = np.flatnonzero(falling * np.arange(1, len(values) + 1) > sums)[-1]
    return np.asarray(np.maximum(values - sums[used] / (used + 1), 0.0))
