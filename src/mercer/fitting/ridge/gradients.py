"""The Gram matrices of conjugate gradients, as much of them kept as fits, and what they cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import KernelError, MemoryLimitError, bytes_text
from ...grams import Gram
from ...inputs import Matrix
from ...linalg.cg import TooSlow
from ...solvers import ConjugateGradients, Solution
from ..costs import entry_seconds
from .choice import RidgeChoice

READ_SECONDS = 4e-10  # of computing an entry, from which keeping it pays although it is read then
PART_LEAST = 0.15  # of K that must fit so that it pays to keep a part


class RidgeGradients(RidgeChoice):
    """Conjugate gradients on the whole of K."""

    def _stored(self, limit: int) -> tuple[Gram | None, Gram | None, str]:
        """Return K as it fits, the matrix to refine against where digits were dropped, and why."""
        K: Gram
        try:
            K = self._whole(limit)
        except MemoryLimitError:
            return None, None, ""
        if K.plan.kind != "on the fly":
            return K, None, K.plan.reason
        tries: list[dict[str, Any]] = [{"store": "half", "dtype": np.float32}, {"store": "16 bit"}]
        if self.itemsize == 8:
            tries[1]["dtype"] = np.float32
        for options in tries[0 if self.itemsize == 8 else 1 :]:
            try:
                K = self.prepared.gram(memory_limit=limit, monitor=self.monitor, **options)
            except (MemoryLimitError, KernelError):
                continue
            exact = self.prepared.gram(memory_limit=limit, store=False, monitor=self.monitor)
            digits = "16 bits" if options["store"] == "16 bit" else "32 bits"
            return K, exact, f"{K.plan.reason}; {digits} a number, refined with exact passes"
        return None, None, ""

    def _with_a_part(self, K: Gram, limit: int) -> tuple[Gram, Gram | None, str]:
        """Return K with as much of it stored as fits, where that pays, and the same as `_stored`.

        K: computed anew in every pass.
        """
        why = f"K does not fit {bytes_text(self.limit)} and is computed anew in every pass"
        points = self.prepared.points
        if not isinstance(points, Matrix) or entry_seconds(points.n_columns) < READ_SECONDS:
            return K, None, why
        options: dict[str, Any] = {"store": "part", "dtype": np.float32, "monitor": self.monitor}
        try:
            part = self.prepared.gram(memory_limit=max(limit, 1), **options)
        except (MemoryLimitError, KernelError):
            return K, None, why
        if self._computed(part) > 1 - PART_LEAST:
            return K, None, why
        return part, K, f"{part.plan.reason}, the others computed anew"

    def _gradients(self, K: Gram, exact: Gram | None, rank: int) -> Solution | None:
        """Return what conjugate gradients find; None where a factor costs less than going on."""
        solver = ConjugateGradients(
            tol=self.settings.tol,
            max_iter=self.settings.max_iter,
            rank=rank,
            iteration=self._iteration(K, rank),
            random_state=self.settings.run.seed,
            alternative=self._alternative(K, exact),
        )
        try:
            return solver.solve(K, self.problem, self.monitor, exact)
        except TooSlow:  # the caller takes over without a traceback that keeps the preconditioner
            return None

    def _alternative(self, K: Gram, exact: Gram | None) -> float:
        """Return the cost of a factor in iterations; infinite where there can be none."""
        beside = self._cholesky_bytes() - self._half_bytes()
        if self.settings.solver != "auto" or exact is not None or self._is_late():
            return np.inf
        if self._outlasts_an_interval():
            return np.inf
        if K.plan.kind == "on the fly" or K.plan.bytes + beside > self.limit:
            return np.inf
        return self._factor_cost() / self.settings.costs.iteration(*self._system())

    def _iteration(self, K: Gram, rank: int) -> float:
        """Return the cost of a step of conjugate gradients, in multiplications."""
        costs = self.settings.costs
        n, columns, itemsize, _ = self._system()
        computed = self._computed(K)
        read = (1 - computed) * costs.iteration(n, columns, itemsize, rank) / 2
        return (computed * self._pass_seconds() + read) * costs.single

    def _computed(self, K: Gram) -> float:
        """Return the share of K that every pass computes anew."""
        if K.plan.kind == "partly stored in 16 bits":
            return max(1 - K.plan.kept / (self.n**2), 0.0)  # two bytes for half of the entries
        return float(K.plan.kind == "on the fly")
