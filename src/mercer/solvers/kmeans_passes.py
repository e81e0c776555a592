"""K-means in feature space for points that pass by: Lloyd's algorithm in the span of centres."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..checks import Array
from ..grams import Gram
from ..grams.sinks import JointSink, some
from ..monitor import Monitor, Stopped
from ..stages import State
from ..status import Status
from .ridge.moments import unwhiten, whiten


@dataclass(frozen=True, kw_only=True)
class Assigned:
    """What one pass sums up of the points, each in the cluster of the nearest mean.

    sums: of w K(x, z) over the members of each cluster, (k, m). totals: their weights. labels: the
    clusters. objective: the sum of the weighted squared distances. far: the largest distance, and
    K(x, z) of that point.
    """

    sums: Array
    totals: Array
    labels: Array
    objective: float
    far: tuple[float, Array]


class Nearest(JointSink):
    """Finds the nearest mean of each point, and sums up the clusters.

    Given: means sum_j t_jc phi(z_j) with squared lengths; the diagonal k(x, x) and the weights of
    the points.
    """

    kept = ("sums", "totals", "labels")

    def __init__(self, t: Array, squares: Array, diagonal: Array, weight: Array | None) -> None:
        self.t, self.squares = t, squares
        self.diagonal, self.weight = diagonal, weight

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        k = len(self.squares)
        self.sums, self.totals = np.zeros((k, shape[1])), np.zeros(k)
        self.labels = np.empty(shape[0], dtype=np.int32)
        self.objective, self.far = 0.0, (-1.0, np.zeros(shape[1]))

    def take(self, rows: slice, band: Array) -> None:
        keys = self.squares - 2.0 * np.asarray(band @ self.t.astype(band.dtype), dtype=np.float64)
        labels = keys.argmin(axis=1)
        places = np.arange(len(labels))
        distances = np.maximum(self.diagonal[rows] + keys[places, labels], 0.0)
        weight = np.ones(len(labels)) if self.weight is None else self.weight[rows]
        member = csr_array(
            (weight.astype(band.dtype), (labels, places)), shape=(len(self.squares), len(labels))
        )
        self.labels[rows] = labels
        self.sums += member @ band
        self.totals += np.bincount(labels, weight, len(self.squares))
        self.objective += float(weight @ distances)
        counted = np.where(weight > 0, distances, -1.0)
        farthest = int(counted.argmax())
        self._note((float(counted[farthest]), band[farthest].astype(np.float64)))

    def _note(self, far: tuple[float, Array]) -> None:
        self.far = far if far[0] > self.far[0] else self.far

    def part(self, rows: slice) -> Nearest:
        return Nearest(self.t, self.squares, self.diagonal[rows], some(self.weight, rows))

    def join(self, rows: slice, found: Assigned) -> None:
        self.labels[rows] = found.labels
        self.sums += found.sums
        self.totals += found.totals
        self.objective += found.objective
        self._note(found.far)

    def state(self) -> State:
        distance, row = self.far
        rest: State = {"objective": self.objective, "distance": distance, "row": row}
        return {**super().state(), **rest}

    def go_on(self, state: State) -> None:
        super().go_on(state)
        self.objective = float(state["objective"])
        self.far = float(state["distance"]), np.asarray(state["row"])

    def result(self) -> Assigned:
        return Assigned(
            sums=self.sums,
            totals=self.totals,
            labels=self.labels,
            objective=self.objective,
            far=self.far,
        )


@dataclass(frozen=True, kw_only=True)
class PassingClusters:
    """The clusters of some means, which are given in coordinates u of the span.

    rise: the largest rise of the objective in any step, rounding.
    """

    assigned: Assigned
    means: Array
    status: Status = Status.ITERATION_LIMIT
    iterations: int = 0
    rise: float = 0.0

    @property
    def objective(self) -> float:
        """The sum of the weighted squared distances to the means."""
        return self.assigned.objective

    def moved(self, assigned: Assigned, means: Array) -> PassingClusters:
        """Return the clusters of other means, a step later."""
        rise = max(self.rise, assigned.objective - self.objective)
        return PassingClusters(
            assigned=assigned, means=means, iterations=self.iterations + 1, rise=rise
        )

    def state(self) -> State:
        """Return what it takes to go on from here."""
        found = self.assigned
        sums: State = {"sums": found.sums, "totals": found.totals, "labels": found.labels}
        far: State = {"distance": found.far[0], "row": found.far[1], "objective": found.objective}
        made: State = {"means": self.means, "iterations": self.iterations, "rise": self.rise}
        return {**sums, **far, **made}

    @classmethod
    def of(cls, known: State) -> PassingClusters:
        """Return the clusters of such a state."""
        sums, totals, labels, row, means = (
            np.asarray(known[name]) for name in ("sums", "totals", "labels", "row", "means")
        )
        assigned = Assigned(
            sums=sums,
            totals=totals,
            labels=labels,
            objective=float(known["objective"]),
            far=(float(known["distance"]), row),
        )
        iterations, rise = int(known["iterations"]), float(known["rise"])
        return cls(assigned=assigned, means=means, iterations=iterations, rise=rise)


@dataclass(frozen=True, kw_only=True)
class PassingMeans:
    """Lloyd's algorithm, one pass over K(x, z) in each step.

    With K_ZZ = L L' and coordinates u(x) = L**-1 k_Z(x) of the projection of phi(x) on the span of
    the centres z, means are those of u. It ends where they no longer change, that is where no point
    moves, or where a step lowers the objective by less than the share `tol`.
    lower: L. diagonal, weight: k(x, x) and the weights of the points; None: all are 1.
    """

    lower: Array
    diagonal: Array
    weight: Array | None
    max_iter: int
    tol: float

    def solve(self, cross: Gram, means: Array, monitor: Monitor) -> PassingClusters:
        """Return what is found from the given means on; raises `Stopped` in the first pass."""
        with monitor.stage("clusters") as stage:
            if stage.known is None:
                here = PassingClusters(assigned=self._pass(cross, means), means=means)
            else:
                here = PassingClusters.of(stage.known)
            is_over = stage.known is not None and bool(stage.known["is over"])
            status = Status.CONVERGED if is_over else None
            while status is None and here.iterations < self.max_iter:
                means = self._means_of(here.assigned)
                if np.array_equal(means, here.means):
                    status = Status.CONVERGED
                    break
                try:
                    assigned = self._pass(cross, means)
                    fall = here.objective - assigned.objective
                    here = here.moved(assigned, means)
                    is_over = fall <= self.tol * here.objective
                    stage.reached({**here.state(), "is over": int(is_over)})
                    record = {"stage": "clusters", "fraction": here.iterations / self.max_iter}
                    record |= {"iteration": here.iterations, "objective": here.objective}
                    monitor.iteration(record)
                except Stopped as stop:
                    status = stop.reason
                else:
                    status = Status.CONVERGED if is_over else None
        return here if status is None else replace(here, status=status)

    def coefficients(self, means: Array) -> Array:
        """Return t with means sum_j t_jc phi(z_j)."""
        return unwhiten(self.lower, means.T)

    def _pass(self, cross: Gram, means: Array) -> Assigned:
        squares = np.einsum("ij,ij->i", means, means)
        nearest = Nearest(self.coefficients(means), squares, self.diagonal, self.weight)
        found: Assigned = cross.reduce(nearest)
        return found

    def _means_of(self, found: Assigned) -> Array:
        """Return the means; the farthest point takes the place of the first that has no members."""
        empty = found.totals <= 0
        sums = found.sums / np.where(empty, 1.0, found.totals)[:, None]
        if empty.any():
            sums[np.flatnonzero(empty)[0]] = found.far[1]
        return np.asarray(whiten(self.lower, sums.T).T)
