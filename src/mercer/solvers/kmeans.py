"""K-means in feature space: Lloyd's algorithm on a Gram matrix."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..checks import Array
from ..monitor import Monitor, Stopped
from ..stages import State
from ..status import Status
from .box.rows import RowStore

COUNTED = ("iterations", "moves", "stalls", "rise", "shift")  # what a start has besides clusters
FEW = 20  # a pass over K costs as much as one row of it in so many
KEPT = 4  # how much less a row costs that is kept
UPDATES = 50  # of the sums before they are computed afresh
STALLS = 10  # steps within rounding before a start is over
ROUNDING = {8: 4e-15, 4: 1.2e-7}  # of a mean of kernel values, by the bytes of each
ROW_NUMBERS = 4_000_000  # entries of rows that are fetched at once


class Products(Protocol):
    """What Lloyd's algorithm asks of a Gram matrix; a `Gram` has it."""

    shape: tuple[int, int]
    dtype: Any

    def __matmul__(self, V: Any) -> Array:
        """Return K V."""

    def rows(self, rows: Any) -> Array:
        """Return whole rows."""

    def diag(self) -> Array:
        """Return k(x, x) of every point."""


class Factor:
    """K ~ T' T with a few rows T: Lloyd's algorithm then is that of the columns of T."""

    def __init__(self, T: Array) -> None:
        self.T = T
        self.shape = (T.shape[1], T.shape[1])
        self.dtype = T.dtype

    def __matmul__(self, V: Any) -> Array:
        return np.asarray(self.T.T @ (self.T @ V))

    def rows(self, rows: Any) -> Array:
        return np.asarray(self.T[:, rows].T @ self.T)

    def diag(self) -> Array:
        return np.asarray(np.einsum("ij,ij->j", self.T, self.T))


@dataclass(frozen=True, kw_only=True)
class Partition:
    """The clusters of one moment, and what their means need.

    sums: (k, n), sums[c, i] = sum of w_j K[i, j] over the members j of cluster c. totals: the
    weight of each cluster. squares: the squared norms of the means. updates: of `sums` since they
    were computed afresh.
    """

    labels: Array
    sums: Array
    totals: Array
    squares: Array
    objective: float
    updates: int


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """What was found.

    objective: the sum of the weighted squared distances to the means. rise: the largest rise of it
    in any step, rounding. moves: of points, over all starts. shift: what had to be added to the
    diagonal of K for the objective to fall, 0 unless K has negative eigenvalues. starts: the
    objective of each.
    """

    labels: Array
    totals: Array
    squares: Array
    distances: Array  # squared, (n, k)
    objective: float
    status: Status
    iterations: int
    moves: int
    rise: float
    shift: float
    starts: tuple[float, ...]


@dataclass(kw_only=True)
class Run:
    """One start and how far it has come."""

    start: int
    here: Partition
    status: Status = Status.ITERATION_LIMIT
    iterations: int = 0
    moves: int = 0
    stalls: int = 0
    rise: float = 0.0
    shift: float = 0.0


@dataclass(frozen=True, kw_only=True)
class KernelMeans:
    """Lloyd's algorithm from several seedings; the best result counts.

    tol: a start is over where a step lowers the objective by less than this share of it; 0 goes on
    until no point moves. room: how many rows of K may be kept for points that move; 0: K V is
    always cheaper than rows.
    """

    n_clusters: int
    n_init: int = 1
    max_iter: int = 300
    tol: float = 0.0
    room: int = 0

    def solve(
        self, K: Products, weight: Array | None, random: np.random.Generator, monitor: Monitor
    ) -> Clusters:
        """Return the clusters; raises `Stopped` only where nothing was found."""
        lloyd = Lloyd(K, weight, self, monitor)
        runs: list[Run] = []
        stopped = None
        try:
            with monitor.stage("starts") as stage:
                runs += _known_runs(lloyd, stage.known, random)
                if monitor.stages is not None:
                    lloyd.note = lambda: stage.reached(_state(runs, random))
                if runs and runs[-1].status != Status.CONVERGED:
                    lloyd.run(runs[-1])
                for start in range(len(runs), self.n_init):
                    monitor.poll()
                    labels = seed(K, lloyd.weight, self.n_clusters, random)
                    runs.append(Run(start=start, here=lloyd.measure(*lloyd.fresh(labels))))
                    lloyd.run(runs[-1])
                lloyd.confirm(min(runs, key=lambda run: run.here.objective))
        except Stopped as stop:
            if not runs:
                raise
            stopped = stop.reason
        return lloyd.result(runs, stopped)


def _state(runs: list[Run], random: np.random.Generator) -> State:
    """Return what it takes to go on after the last step: the clusters of each start."""
    state: dict[str, Any] = {"runs": len(runs), "random": json.dumps(random.bit_generator.state)}
    for run in runs:
        numbers = {name: getattr(run, name) for name in COUNTED}
        here = run.here
        numbers |= {"labels": here.labels, "objective": here.objective, "updates": here.updates}
        state |= {f"{name} {run.start}": value for name, value in numbers.items()}
        state[f"status {run.start}"] = str(run.status)
    return state


def _known_runs(lloyd: Lloyd, known: State | None, random: np.random.Generator) -> list[Run]:
    """Return the starts of an earlier process, of which only the last one may go on."""
    if known is None:
        return []
    random.bit_generator.state = json.loads(str(known["random"]))
    runs = []
    for start in range(int(known["runs"])):
        labels, none = np.asarray(known[f"labels {start}"]), np.empty((0, 0))
        here = Partition(
            labels=labels,
            sums=none,
            totals=none,
            squares=none,
            objective=float(known[f"objective {start}"]),
            updates=int(known[f"updates {start}"]),
        )
        numbers = {name: known[f"{name} {start}"] for name in COUNTED}
        status = Status(str(known[f"status {start}"]))
        runs.append(Run(start=start, here=here, status=status, **numbers))  # type: ignore[arg-type]
    _with_sums(lloyd, runs[-1])
    return runs


def _with_sums(lloyd: Lloyd, run: Run) -> Partition:
    """Return the clusters of a start with their sums, which may be those of another process."""
    if run.here.sums.size == 0:
        labels, sums, _ = lloyd.fresh(run.here.labels)
        run.here = lloyd.measure(labels, sums, run.here.updates)
    return run.here


class Lloyd:
    """Steps from clusters to better clusters.

    note: tells a stage of the work that a step was made.
    """

    note: Callable[[], None] = staticmethod(lambda: None)

    def __init__(
        self, K: Products, weight: Array | None, settings: KernelMeans, monitor: Monitor
    ) -> None:
        n = K.shape[0]
        self.K, self.settings, self.monitor = K, settings, monitor
        self.k = settings.n_clusters
        self.weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        self.used = self.weight > 0
        self.diagonal = np.asarray(K.diag(), dtype=np.float64)
        self.everything = np.arange(n)
        sizes, rounding = np.abs(self.diagonal), ROUNDING[np.dtype(K.dtype).itemsize]
        self.margin = rounding * float(sizes.max())  # what is nearer by less may be as near
        self.noise = rounding * float(self.weight @ sizes)
        self.constant = float(self.weight @ self.diagonal)
        self._gaps = np.empty((self.k, n))
        self._rows: RowStore | None = None

    # --- the sums ---------------------------------------------------------------------------

    def fresh(self, labels: Array) -> tuple[Array, Array, int]:
        """Return labels, their sums by one pass over K, and that they were not updated."""
        indicator = np.zeros((len(labels), self.k))
        indicator[self.everything, labels] = self.weight
        return labels, np.ascontiguousarray((self.K @ indicator).T, dtype=np.float64), 0

    def updated(self, here: Partition, labels: Array) -> tuple[Array, Array, int]:
        """Return the same from the sums of other labels: only points that moved change them."""
        moved = np.flatnonzero((labels != here.labels) & self.used)
        rows = self._kept_rows()
        if rows is None or here.updates >= UPDATES or self._are_many(rows, moved):
            return self.fresh(labels)
        sums = here.sums.copy()
        at_once = min(rows.room, max(1, ROW_NUMBERS // len(labels)))
        for start in range(0, len(moved), at_once):
            self.monitor.poll()
            some = moved[start : start + at_once]
            places = np.tile(rows.fetch(some), 2)
            signed = np.concatenate([self.weight[some], -self.weight[some]])
            clusters = np.concatenate([labels[some], here.labels[some]])
            order = np.argsort(clusters, kind="stable")
            ends = np.flatnonzero(np.diff(clusters[order])) + 1
            for part in np.split(order, ends):
                rows.add(places[part], signed[part], sums[clusters[part[0]]])
        return labels, sums, here.updates + 1

    def _are_many(self, rows: RowStore, moved: Array) -> bool:
        """Return whether these rows cost more than a pass over K; those kept cost less."""
        missing = int((rows.places[moved] < 0).sum())
        return FEW * (missing + len(moved) / KEPT) > len(rows.places)

    def _kept_rows(self) -> RowStore | None:
        """Return the rows of points that have moved: many move again, in this start or another."""
        if self._rows is None and self.settings.room:
            n, K = self.K.shape[0], self.K

            def fill(wanted: Array, out: Array) -> None:
                out[:] = K.rows(wanted)

            self._rows = RowStore(fill, n, n, self.settings.room, K.dtype)
        return self._rows

    def measure(self, labels: Array, sums: Array, updates: int) -> Partition:
        """Return the clusters with their means and the objective."""
        own = self.weight * sums[labels, self.everything]
        totals = np.bincount(labels, self.weight, self.k)
        products = np.bincount(labels, own, self.k)
        objective = self.constant - float((products / totals).sum())
        return Partition(
            labels=labels,
            sums=sums,
            totals=totals,
            squares=products / totals**2,
            objective=objective,
            updates=updates,
        )

    # --- steps ------------------------------------------------------------------------------

    def run(self, run: Run) -> None:
        """Step on until no point moves, or something else ends it."""
        run.status = Status.ITERATION_LIMIT
        if run.iterations == 0:
            self._tell(run, 0)
        while run.iterations < self.settings.max_iter:
            there = self.step(run.here, run.shift)
            run.iterations += 1
            if there is None or self._is_over(run, there):
                run.status = Status.CONVERGED
                self.note()
                return

    def _is_over(self, run: Run, there: Partition) -> bool:
        """Take a step; return whether it was the last one."""
        here, change = run.here, there.objective - run.here.objective
        count = int((there.labels != here.labels).sum())
        if change > self.noise:  # only where K has negative eigenvalues
            run.shift = max(4 * run.shift, change * float(here.totals.mean()) / count)
            return False
        run.here = there
        run.moves += count
        run.stalls += change >= 0
        run.rise = max(run.rise, change)
        self.note()
        self._tell(run, count)
        tol = self.settings.tol
        return run.stalls > STALLS or (tol > 0 and -change < tol * here.objective)

    def confirm(self, run: Run) -> None:
        """Look again without what the updates of the sums have rounded."""
        while run.status == Status.CONVERGED and run.here.updates:
            run.here = self.measure(*self.fresh(run.here.labels))
            if self.settings.tol == 0:
                self.run(run)

    def step(self, here: Partition, shift: float) -> Partition | None:
        """Return the clusters with every point at the nearest mean; None: all are already.

        shift: added to the diagonal of K, over w_i. It takes shift / total off the squared
        distance to the own mean and adds as much to the others, so that fewer points move. The
        objective of all partitions changes by the same number.
        """
        gaps = np.multiply(here.sums, (-2 / here.totals)[:, None], out=self._gaps)
        gaps += here.squares[:, None]
        if shift:
            gaps += np.outer(shift / here.totals, self.used)
            gaps[here.labels, self.everything] -= 2 * self.used * shift / here.totals[here.labels]
        own = gaps[here.labels, self.everything]
        moved = np.flatnonzero(gaps.min(axis=0) < own - self.margin)
        if len(moved) == 0:
            return None
        labels = here.labels.copy()
        labels[moved] = gaps[:, moved].argmin(axis=0)
        members = np.bincount(labels, self.used, self.k)
        if not members.all():
            self._refill(labels, self.weight * (own + self.diagonal))
        return self.measure(*self.updated(here, labels))

    def _refill(self, labels: Array, far: Array) -> None:
        """Give each empty cluster the point that is farthest from its mean."""
        for empty in np.flatnonzero(np.bincount(labels, self.used, self.k) == 0):
            members = np.bincount(labels, self.used, self.k)
            spare = self.used & (members[labels] > 1)
            labels[np.argmax(np.where(spare, far, -np.inf))] = empty

    def _tell(self, run: Run, moved: int) -> None:
        settings = self.settings
        record = {
            "stage": "clusters",
            "fraction": (run.start + run.iterations / settings.max_iter) / settings.n_init,
            "start": run.start,
            "iteration": run.iterations,
            "objective": run.here.objective,
            "moved": moved,
        }
        self.monitor.iteration(record)

    def result(self, runs: list[Run], stopped: Status | None) -> Clusters:
        """Return the best of all starts; stopped: why no further start was made."""
        best = min(runs, key=lambda run: run.here.objective)
        here = _with_sums(self, best)
        gaps = here.squares[:, None] - 2 * here.sums / here.totals[:, None] + self.diagonal
        return Clusters(
            labels=here.labels,
            totals=here.totals,
            squares=here.squares,
            distances=np.ascontiguousarray(np.maximum(gaps, 0.0).T),
            objective=here.objective if abs(here.objective) > self.noise else 0.0,
            status=stopped or best.status,
            iterations=best.iterations,
            moves=sum(run.moves for run in runs),
            rise=max(run.rise for run in runs),
            shift=best.shift,
            starts=tuple(run.here.objective for run in runs),
        )


def seed(K: Products, weight: Array, k: int, random: np.random.Generator) -> Array:
    """Return the clusters of k points that lie apart, by greedy k-means++.

    Each next point is the best of 2 + log k that are drawn by their weighted squared distance to
    the points so far. Needs only the rows of K that belong to drawn points. No cluster is empty.

    Arthur, Vassilvitskii, "k-means++: the advantages of careful seeding" (2007).
    """
    diagonal = np.asarray(K.diag(), dtype=np.float64)
    draws = 2 + int(np.log(k))
    labels = np.zeros(len(diagonal), dtype=np.intp)
    nearest = np.full(len(diagonal), np.inf)
    free = weight > 0
    for cluster in range(k):
        chance = weight * nearest * free if cluster else weight
        if not chance.any():  # all points lie on those that were chosen
            chance = free.astype(np.float64)
        drawn = np.unique(_draw(chance, draws if cluster else 1, random))
        gaps = diagonal - 2.0 * K.rows(drawn) + diagonal[drawn, None]
        np.minimum(np.maximum(gaps, 0.0, out=gaps), nearest, out=gaps)
        best = int(np.argmin(gaps @ weight)) if cluster else 0
        labels[gaps[best] < nearest] = cluster
        labels[drawn[best]] = cluster
        nearest = gaps[best]
        nearest[drawn[best]] = 0.0
        free[drawn[best]] = False
    return labels


def _draw(chance: Array, count: int, random: np.random.Generator) -> Array:
    """Return points drawn by their chances."""
    ends = np.cumsum(chance)
    found = np.searchsorted(ends, random.random(count) * ends[-1], side="right")
    return np.asarray(np.minimum(found, np.flatnonzero(chance)[-1]))
