"""How the components of a kernel are found, within the memory limit, and why so."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import Array, MemoryLimitError, bytes_text
from ..grams import Gram, Prepared
from ..inputs import Matrix, RowBlocks
from ..run import Run
from ..solvers import DenseEigen, Krylov, Spectrum
from ..solvers.eigen.spanned import SpannedEigen
from .budget import GramBudget

SMALL = 500  # points up to which the whole matrix is decomposed
SHARE = 20  # points for each vector of a block, from which passes are the quicker way
DOUBLE = 4000  # points up to which double-precision rows have a kernel in double precision
WHOLE = 10_000  # points up to which products with all of K beat those with half of it
SINGLE_FROM = 1e-6  # residuals that a kernel in single precision is good for


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What to find and how, as the estimator's parameters say; count: None is all components."""

    run: Run
    count: int | None
    solver: str
    n_centers: int | None
    tol: float
    max_iter: int


class PcaFit(GramBudget):
    """Chooses the way, makes the Gram matrix and runs the solver.

    carriers: the points that components are sums of, known after `solve`.
    """

    def __init__(self, prepared: Prepared, settings: Settings) -> None:
        self.count = len(prepared) if settings.count is None else settings.count
        super().__init__(prepared, self.count, settings.run)
        self.settings, self.carriers = settings, prepared
        self.way, self.reason = self._choose()
        self.rank = 0

    def solve(self, roots: Array) -> Spectrum:
        """Return the components; roots: of the weights."""
        settings, monitor = self.settings, self.monitor
        if self.way == "nystrom":
            return self._by_centres(roots)
        if self.way == "dense":
            self.beside = DenseEigen.bytes(self.n, self.count)
            self.K = self._gram()
            return DenseEigen().solve(self.K, roots, self.count, monitor)
        room = Krylov.room_within(self.n, self.count, self.limit / 4)
        self.beside = Krylov.bytes(self.n, self.count, room)
        self.K = self._gram()
        solver = Krylov(tol=settings.tol, max_iter=settings.max_iter, seed=self.seed, room=room)
        return solver.solve(self.K, roots, self.count, monitor)

    def _by_centres(self, roots: Array) -> Spectrum:
        _, self.carriers, lower = self._spanning(self.settings.n_centers, matrices=8)
        self.rank = len(lower)
        self.beside = SpannedEigen.bytes(self.rank)
        self.K = self._cross(self.carriers, self.beside)
        count = self.rank if self.settings.count is None else self.count
        trace = float(self.prepared.diag() @ roots**2)
        return SpannedEigen(lower, trace).solve(self.K, roots, count, self.monitor)

    @property
    def entries(self) -> int:
        """How many kernel values a pass computes."""
        return self.n * (self.rank if self.way == "nystrom" else self.n)

    @property
    def plan(self) -> str:
        """How it was done, in words."""
        if self.way == "nystrom":
            held = f"K(x, z) {self.K.plan.kind}"
            return f"Nyström with {self.rank} centres, {held}: {self.reason}"
        return f"{self.way}, K {self.K.plan.kind}: {self.reason}"

    @property
    def bytes(self) -> int:
        """What it takes beyond the inputs."""
        return self.K.plan.bytes + self.beside

    def _choose(self) -> tuple[str, str]:
        asked, n, count = self.settings.solver, self.n, self.count
        need = DenseEigen.bytes(n, count) + 8 * n**2
        block = Krylov.block(n, count)
        if asked == "nystrom":
            return "nystrom", "as asked"
        if asked == "auto" and isinstance(self.prepared.points, RowBlocks):
            return "nystrom", "the points arrive in blocks"
        if asked == "krylov" and block < n:
            return "krylov", "as asked"
        if asked == "auto" and n > SMALL and SHARE * block < n:
            return "krylov", f"{count} components of {n} points"
        if need <= self.limit:
            return "dense", "as asked" if asked == "dense" else f"{n} points, {count} components"
        if asked == "auto" and 2 * block < n:
            return "krylov", f"the whole matrix would need {bytes_text(need)}"
        raise MemoryLimitError(
            f"{self.who}: decomposing the whole kernel matrix must fit memory_limit; "
            f"{n} points need {bytes_text(need)}, the limit is {bytes_text(self.limit)}. Give a "
            "smaller n_components and eigen_solver='krylov', or raise memory_limit."
        )

    def _gram(self) -> Gram:
        """Return K, kept where it fits beside what the solver needs."""
        if self.beside >= self.limit:
            raise MemoryLimitError(
                f"{self.who}: finding {self.count} components of {self.n} points must fit "
                f"memory_limit; it needs more than {bytes_text(self.beside)}, the limit is "
                f"{bytes_text(self.limit)}. Ask for fewer components, or raise memory_limit."
            )
        options: dict[str, Any] = {
            "memory_limit": self.limit - self.beside,
            "monitor": self.monitor,
            "dtype": self._dtype(),
        }
        K = self.prepared.gram(**options)
        if K.plan.kind != "half stored":
            return K
        if self.n <= WHOLE:
            with contextlib.suppress(MemoryLimitError):
                return self.prepared.gram(store="whole", **options)
        return self.prepared.gram(store="half", **options)  # from the first pass on

    def _dtype(self) -> Any:
        """Return the precision of K; None is that of the points."""
        points = self.prepared.points
        if not isinstance(points, Matrix):
            return None
        if self.settings.tol < SINGLE_FROM:
            return np.float64
        return np.float32 if self.way == "krylov" and self.n > DOUBLE else None
