"""Which matrix clusters are found with, exact or of low rank, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..checks import Array, KernelError, MemoryLimitError, bytes_text
from ..grams import Gram, Prepared, partial_cholesky, prepare
from ..grams.pivots import AT_ONCE
from ..inputs import RowBlocks
from ..kernels import Precomputed
from ..linalg.blas import product, solve_lower
from ..monitor import Stopped
from ..run import Run
from ..solvers.kmeans import Clusters, Factor, KernelMeans
from ..solvers.kmeans_passes import PassingMeans
from ..solvers.ridge.moments import whiten
from ..status import Status
from .budget import GramBudget

RANK = 1000  # columns of K that stand for all of it where it does not fit
EXACT = 20_000  # points up to which a pass over K, computed anew, takes seconds
START = 20_000  # points among which means are sought that all others then move
ROWS = 500_000_000  # bytes of rows that are kept beside K in any case, if they fit


@dataclass(frozen=True, kw_only=True)
class Found:
    """Clusters with their centres, sum_i coefficients[i, c] phi(x_i) over the points of `support`.

    least, rank: as in the certificate. distances: squared, of the points to the centres; None where
    there are too many to keep. centres: carry the means in place of points of the support.
    """

    clusters: Clusters
    support: Array
    coefficients: Array
    distances: Array | None
    objective: float
    least: float
    plan: str
    entries: int
    bytes: int
    rank: int = 0
    centres: Prepared | None = None


class ClusterSearch(GramBudget):
    """Makes a Gram matrix that fits, exact or of low rank, and finds clusters with it."""

    def __init__(self, prepared: Prepared, weight: Array | None, run: Run) -> None:
        super().__init__(prepared, 1, run)
        self.weight = np.ones(self.n) if weight is None else weight
        self.random = np.random.default_rng(run.seed)

    def find(self, settings: KernelMeans, n_centers: int | None = None) -> Found:
        """Return the best clusters; a stop before there were any leaves centres drawn by chance.

        n_centers: of the span in which to look for means; None chooses by memory.
        """
        room = max(self.limit - self._beside(settings), 1)
        try:
            if n_centers is not None:
                return self._by_passes(settings, n_centers, "as asked")
            K, plan, size = self._kept(room)
            if K is None and isinstance(self.prepared.points, RowBlocks):
                return self._by_passes(settings, None, "the points arrive in blocks")
            if K is None:
                return self._by_factor(settings, room)
            found = self._exact(K, plan, size, settings)
        except Stopped as stop:
            found = self._by_chance(settings.n_clusters, stop.reason)
        return found

    def _beside(self, settings: KernelMeans) -> int:
        """Return the bytes needed beside K: the sums, and what becomes of them."""
        return 6 * settings.n_clusters * self.n * 8

    def _kept(self, room: int) -> tuple[Gram | None, str, int]:
        """Return K, kept or cheap to multiply with, why so, its bytes; None: it does not fit."""
        options: dict[str, Any] = {"memory_limit": room, "monitor": self.monitor}
        tries: list[dict[str, Any]] = [{}, {"store": "half", "dtype": np.float32}]
        for extra in tries:
            try:
                K = self.prepared.gram(**options, **extra)
            except (MemoryLimitError, KernelError):
                continue
            if K.plan.kind == "half stored":  # kept from the first pass on
                K = self.prepared.gram(**options, store="half", dtype=K.dtype)
            if K.plan.kind == "row blocks" and 8 * self.n**2 <= room:
                K = prepare(Precomputed(), K.dense()).gram(**options)
                return K, "stored: the points arrive in blocks, K fits", 8 * self.n**2
            if K.plan.kind not in ("on the fly", "row blocks"):
                return K, f"{K.plan.kind}: {K.plan.reason}", K.plan.bytes
        return None, "", 0

    def _exact(self, K: Gram, plan: str, size: int, settings: KernelMeans) -> Found:
        size += self._beside(settings)
        if K.plan.kind not in ("low rank", "sparse features"):  # there, products cost little
            each = self.n * K.dtype.itemsize
            most = min(self.n, max(self.n // 4, ROWS // each))
            settings = replace(settings, room=min(most, max(self.limit - size, 0) // each))
            size += settings.room * each
        found = settings.solve(K, self.weight, self.random, self.monitor)
        support = np.flatnonzero(self.weight)
        labels = found.labels[support]
        coefficients = np.zeros((len(support), settings.n_clusters))
        coefficients[np.arange(len(support)), labels] = self.weight[support] / found.totals[labels]
        return Found(
            clusters=found,
            support=support,
            coefficients=coefficients,
            distances=found.distances,
            objective=found.objective,
            least=found.objective,
            plan=plan,
            entries=self.n**2,
            bytes=size,
        )

    def _by_factor(self, settings: KernelMeans, room: int) -> Found:
        """Find clusters of the projections of phi(x) on a span of columns of K.

        |phi(x) - c|**2 is then known for every c in the span: the part off it is the same for all.
        """
        rank = self._columns(room)
        K = self.prepared.gram(memory_limit=room, monitor=self.monitor, store=False)
        factor = partial_cholesky(K, rank, self.random, dtype=np.float64)
        T = factor.values
        found = settings.solve(Factor(T), self.weight, self.random, self.monitor)
        means = np.zeros((self.n, settings.n_clusters))
        means[np.arange(self.n), found.labels] = self.weight / found.totals[found.labels]
        upper = T[:, factor.pivots]
        coefficients = solve_lower(upper.T, product(T, means), transposed=True)
        lost = float(self.weight @ factor.remaining)
        count = len(factor.pivots)
        plan = f"low rank, {count} columns: K does not fit {bytes_text(self.limit)}"
        return Found(
            clusters=found,
            support=factor.pivots,
            coefficients=coefficients,
            distances=found.distances + factor.remaining[:, None],
            objective=found.objective + lost,
            least=self._least(found, means, room - T.nbytes),
            plan=plan,
            entries=count * self.n + (self.n**2 if self.n <= EXACT else 0),
            bytes=T.nbytes + self._beside(settings),
            rank=count,
        )

    def _by_passes(self, settings: KernelMeans, n_centers: int | None, reason: str) -> Found:
        """Find means in the span of centres, one pass over K(x, z) in each step.

        All starts are made on a random part of the points, and the best of them goes on with all.
        """
        support, few, lower = self._spanning(n_centers, matrices=16)
        rank = len(lower)
        chosen = self._some(max(settings.n_clusters, min(START, self.limit // (32 * rank))))
        beside = 8 * rank * (4 * rank + 2 * len(chosen))
        cross = self._cross(few, beside)
        start, means = self._started(few, lower, chosen, settings)
        solver = PassingMeans(
            lower=lower,
            diagonal=self.prepared.diag(),
            weight=None if (self.weight == 1).all() else self.weight,
            max_iter=settings.max_iter,
            tol=settings.tol,
        )
        found = solver.solve(cross, means, self.monitor)
        clusters = replace(
            start,
            labels=found.assigned.labels,
            totals=found.assigned.totals,
            squares=np.einsum("ij,ij->i", found.means, found.means),
            objective=found.objective,
            status=found.status,
            iterations=found.iterations,
            rise=found.rise,
        )
        return Found(
            clusters=clusters,
            support=support,
            coefficients=solver.coefficients(found.means),
            distances=None,
            objective=found.objective,
            least=found.objective,
            plan=f"means in the span of {rank} centres, K(x, z) {cross.plan.kind}: {reason}",
            entries=(found.iterations + 1) * rank * self.n,
            bytes=cross.plan.bytes + beside,
            rank=rank,
            centres=few,
        )

    def _some(self, most: int) -> Array:
        """Return points with a weight, at most so many, at random."""
        chosen = np.flatnonzero(self.weight)
        if len(chosen) <= most:
            return chosen
        return np.sort(self.random.choice(chosen, most, replace=False))

    def _started(
        self, few: Prepared, lower: Array, chosen: Array, settings: KernelMeans
    ) -> tuple[Clusters, Array]:
        """Return the clusters of some points in the span of centres, and their means."""
        points, weight = self.prepared.take(chosen).points, self.weight[chosen]
        cross = few.gram(points, monitor=self.monitor, dtype=np.float64, store=False)
        T = whiten(lower, cross.dense().T)
        start = settings.solve(Factor(T), weight, self.random, self.monitor)
        member = np.zeros((len(chosen), settings.n_clusters))
        member[np.arange(len(chosen)), start.labels] = weight / start.totals[start.labels]
        return start, product(T, member).T

    def _least(self, found: Clusters, means: Array, room: int) -> float:
        """Return the objective of the means themselves; where that takes long, of projections."""
        if self.n > EXACT:
            return found.objective
        try:
            K = self.prepared.gram(memory_limit=max(room, 1), monitor=self.monitor, store=False)
            squares = np.einsum("ij,ij->j", means, K @ means)
        except (Stopped, MemoryLimitError):
            return found.objective
        return float(self.weight @ K.diag() - found.totals @ squares)

    def _columns(self, room: int) -> int:
        """Return how many columns fit, with those that are proposed at a time."""
        columns = room // (8 * self.n)
        rank = min(self.n, RANK, max(columns - 4 * AT_ONCE, columns // 8))
        if rank < 1:
            need = 16 * 8 * self.n
            raise MemoryLimitError(
                f"{self.who}: a few columns of K must fit memory_limit; they need "
                f"{bytes_text(need)} beside the clusters, the limit is {bytes_text(self.limit)}. "
                "Raise it."
            )
        return int(rank)

    def _by_chance(self, k: int, reason: Status) -> Found:
        """Return clusters about k points that are drawn, for which k columns of K will do."""
        drawn = self.random.permutation(np.flatnonzero(self.weight))[:k]
        cross = self.prepared.take(drawn).gram(self.prepared.points, store=False).dense()
        diagonal = self.prepared.diag()
        squares = diagonal[drawn]
        distances = np.maximum(diagonal[:, None] - 2.0 * cross + squares, 0.0)
        distances[drawn, np.arange(k)] = 0.0
        labels = distances.argmin(axis=1)
        labels[drawn] = np.arange(k)
        objective = float(self.weight @ distances.min(axis=1))
        totals = np.bincount(labels, self.weight, k)
        clusters = Clusters(
            labels=labels,
            totals=totals,
            squares=squares,
            distances=distances,
            objective=objective,
            status=reason,
            iterations=0,
            moves=0,
            rise=0.0,
            shift=0.0,
            starts=(objective,),
        )
        plan = f"{k} points drawn by chance: stopped at once"
        entries = k * self.n
        return Found(
            clusters=clusters,
            support=drawn,
            coefficients=np.eye(k),
            distances=distances,
            objective=objective,
            least=0.0,
            plan=plan,
            entries=entries,
            bytes=8 * entries,
        )
