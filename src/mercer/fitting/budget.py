"""The Gram matrices that fits are made on, and the memory they take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array, MemoryLimitError, bytes_text
from ..grams import Gram, Prepared, limit_in_bytes, partial_cholesky
from ..grams.pivots import AT_ONCE
from ..grams.plan import HALF_MARGIN
from ..inputs import Matrix
from ..run import Run
from ..solvers import NotPositiveDefinite
from ..solvers.ridge.nystrom import DIRECT, independent
from ..stages import State
from .centres import moved_to_means
from .costs import Costs, entry_seconds

RANK_WORK = 6.7  # products with K that the preconditioner may cost
RANK_MOST = 5000
CANDIDATES = 20  # points for each centre among which the centres are chosen


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to solve, as the estimators' parameters say, and for whom."""

    run: Run
    solver: str
    tol: float
    max_iter: int
    n_centers: int | None
    costs: Costs = field(default_factory=Costs)


def settings_of(model: Any, run: Run, solvers: tuple[str, ...], iterations: int) -> Settings:
    """Return the parameters of an estimator, checked; iterations: where max_iter is None."""
    who, most, centers = run.who, model.max_iter, model.n_centers
    return Settings(
        run=run,
        solver=checks.one_of(who, "solver", model.solver, solvers),
        tol=checks.number(who, "tol", model.tol, above=0),
        max_iter=iterations if most is None else checks.whole(who, "max_iter", most, least=1),
        n_centers=None if centers is None else checks.whole(who, "n_centers", centers, least=1),
    )


class GramBudget:
    """Gram matrices of all points and of a few centres, each within the memory limit."""

    def __init__(self, prepared: Prepared, outputs: int, run: Run) -> None:
        self.prepared, self.outputs = prepared, outputs
        self.monitor, self.who, self.seed = run.monitor, run.who, run.seed
        self.n = len(prepared)
        self.limit = limit_in_bytes(run.who, run.memory_limit)
        self.itemsize = prepared.view.dtype.itemsize

    def _half_bytes(self) -> int:
        """Half of K, and the points as the engine packs them."""
        points = self.prepared.points
        columns = points.n_columns if isinstance(points, Matrix) else 0
        half = min(self.n, self.n // 2 + HALF_MARGIN) * self.itemsize
        return int(self.n * (half + 8 * (columns + 8)))

    def _vectors(self) -> int:
        """What conjugate gradients keep beside K: some ten arrays of the size of the targets."""
        return int(10 * self.n * (self.outputs + 1) * 8)

    def _pass_seconds(self) -> float:
        """A rough estimate of one product with K computed anew, on two cores."""
        points = self.prepared.points
        columns = points.n_columns if isinstance(points, Matrix) else 1000
        return self.n**2 * entry_seconds(columns) * self.itemsize / 4

    def _whole(self, limit: int, **options: Any) -> Gram:
        """Return K of all points, kept from the first pass on where half of it is kept."""
        options |= {"memory_limit": max(limit, 1), "monitor": self.monitor}
        K = self.prepared.gram(**options)
        if K.plan.kind == "half stored":
            K = self.prepared.gram(store="half", **options)
        return K

    def _reserve(self, rank: int) -> int:
        """What is needed beside K: the preconditioner, rows on their way, vectors."""
        return int(self._vectors() + (rank + 4 * AT_ONCE) * self.n * 4 + 24 * rank * rank)

    def _rank(self, columns: int) -> int:
        """Return the rank of a preconditioner that costs a few products with `columns` columns."""
        rank = int((RANK_WORK * self.n * max(columns, 3)) ** 0.5)
        room = max(0.8 * self.limit - self._reserve(0), 0.0)  # what `_reserve` makes of a rank
        fits = int(((4 * self.n) ** 2 + 96 * room) ** 0.5 - 4 * self.n) // 48
        return int(max(1, min(rank, RANK_MOST, self.n // 4 + 1, fits)))

    def _cross(self, few: Prepared, beside: int) -> Gram:
        """Return K(points, centres), stored if it fits with what is needed beside it."""
        room = self._room(beside, f"Nyström's method with {len(few)} centres")
        points = self.prepared.points
        K = few.gram(points, memory_limit=room, monitor=self.monitor)
        if K.plan.kind == "on the fly" and room >= 3 * K.plan.bytes / K.plan.band_rows:
            # A band is centred, whitened and widened: copies that the plan does not know.
            K = few.gram(points, memory_limit=room // 3, monitor=self.monitor)
        return K

    def _room(self, beside: int, what: str) -> int:
        """Return the bytes that are left for a Gram matrix, or refuse if there are none."""
        if beside >= self.limit:
            need, limit = bytes_text(beside), bytes_text(self.limit)
            raise MemoryLimitError(
                f"{self.who}: {what} on {self.n} points must fit memory_limit; it needs "
                f"more than {need}, the limit is {limit}. Raise the limit."
            )
        return self.limit - beside

    def _centres(self, count: int) -> tuple[Array, Prepared, Array]:
        """Choose points: well spread by pivoting where they are few, else at random.

        Many rows of numbers are then moved to the mean of the points that are nearest to them, one
        step of k-means, which makes better centres of them. Returns the points, the centres, and
        how many points each stands for.
        """
        random = np.random.default_rng(self.seed)
        room = self.limit // (8 * (count + 3 * AT_ONCE))  # the factor, and rows on their way
        candidates = min(self.n, CANDIDATES * count, max(room, count))
        chosen = np.sort(random.choice(self.n, candidates, replace=False))
        if count > DIRECT or count == self.n:
            chosen = np.sort(random.permutation(chosen)[:count])
            few = self.prepared.take(chosen)
            return chosen, *moved_to_means(self.prepared, few, random, self.monitor)

        def spread() -> State:
            K = self.prepared.take(chosen).gram(store=False, monitor=self.monitor)
            return {"rows": np.sort(chosen[partial_cholesky(K, count, random).pivots])}

        rows = np.asarray(self.monitor.kept("centres", spread)["rows"])
        return rows, self.prepared.take(rows), np.ones(len(rows))

    def _spanning(self, wanted: int | None, matrices: int) -> tuple[Array, Prepared, Array]:
        """Return points that the others do not span, themselves, and the factor of their K.

        wanted: how many; None is 10 sqrt(n), from 100 to what is solved directly. matrices: how
        many between them, in double precision, must fit.
        """
        usual = min(max(int(10 * self.n**0.5), 100), DIRECT)
        count = max(1, min(wanted or usual, self.n, int((self.limit / (8 * matrices)) ** 0.5)))
        chosen, few, _ = self._centres(count)
        kept, lower = self._independent(few)
        return chosen[kept], few.take(kept), lower

    def _independent(self, few: Prepared) -> tuple[Array, Array]:
        """Return which centres the others do not span, and the factor of their K."""
        K = few.gram(dtype=np.float64, store=False, monitor=self.monitor).dense()
        eps = float(np.finfo(self.prepared.view.dtype).eps)
        kept, lower = independent(K, eps, self.monitor)
        if len(kept) == 0:
            raise NotPositiveDefinite
        return kept, lower
