"""Which matrix clusters are found with, exact or of low rank, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..checks import Array, KernelError, MemoryLimitError, bytes_text
from ..grams import Gram, Prepared, limit_in_bytes, partial_cholesky, prepare
from ..grams.pivots import AT_ONCE
from ..kernels import Precomputed
from ..linalg.blas import product, solve_lower
from ..monitor import Stopped
from ..run import Run
from ..solvers.kmeans import Clusters, Factor, KernelMeans
from ..status import Status

RANK = 1000  # columns of K that stand for all of it where it does not fit
EXACT = 20_000  # points up to which a pass over K, computed anew, takes seconds
ROWS = 500_000_000  # bytes of rows that are kept beside K in any case, if they fit


@dataclass(frozen=True, kw_only=True)
class Found:
    """Clusters with their centres, sum_i coefficients[i, c] phi(x_i) over the points of `support`.

    least, rank: as in the certificate. distances: squared, of the points to the centres.
    """

    clusters: Clusters
    support: Array
    coefficients: Array
    distances: Array
    objective: float
    least: float
    plan: str
    entries: int
    bytes: int
    rank: int = 0


class ClusterSearch:
    """Makes a Gram matrix that fits, exact or of low rank, and finds clusters with it."""

    def __init__(self, prepared: Prepared, weight: Array | None, run: Run) -> None:
        self.prepared, self.run, self.monitor = prepared, run, run.monitor
        self.n = len(prepared)
        self.weight = np.ones(self.n) if weight is None else weight
        self.limit = limit_in_bytes(run.who, run.memory_limit)
        self.random = np.random.default_rng(run.seed)

    def find(self, settings: KernelMeans) -> Found:
        """Return the best clusters; a stop before there were any leaves centres drawn by chance."""
        room = max(self.limit - self._beside(settings), 1)
        try:
            K, plan, size = self._whole(room)
            if K is None:
                return self._by_factor(settings, room)
            found = self._exact(K, plan, size, settings)
        except Stopped as stop:
            found = self._by_chance(settings.n_clusters, stop.reason)
        return found

    def _beside(self, settings: KernelMeans) -> int:
        """Return the bytes needed beside K: the sums, and what becomes of them."""
        return 6 * settings.n_clusters * self.n * 8

    def _whole(self, room: int) -> tuple[Gram | None, str, int]:
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
        rank = self._rank(room)
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

    def _rank(self, room: int) -> int:
        """Return how many columns fit, with those that are proposed at a time."""
        columns = room // (8 * self.n)
        rank = min(self.n, RANK, max(columns - 4 * AT_ONCE, columns // 8))
        if rank < 1:
            need = 16 * 8 * self.n
            raise MemoryLimitError(
                f"{self.run.who}: a few columns of K must fit memory_limit; they need "
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
