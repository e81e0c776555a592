"""The ways to solve a kernel ridge problem, each within its limits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...checks import Array, MemoryLimitError, bytes_text
from ...grams import Gram, Prepared
from ...grams.maps.passing import FeatureRows, Passing
from ...monitor import Stopped
from ...solvers import (
    Cholesky,
    FeatureRidge,
    NotPositiveDefinite,
    Nystrom,
    Solution,
)
from ...solvers.ridge.nystrom import DIRECT
from ...solvers.ridge.problem import unsolved
from .gradients import RidgeGradients

CENTRES_MOST = 10_000
MAP_MOST = 2 * DIRECT  # features of an exact map that a search diagonalises


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What came out.

    way: "primal", "cholesky", "cg" or "nystrom". centres: which points the coefficients belong to.
    moved: the centres, where they are no longer those points.
    """

    way: str
    plan: str
    solution: Solution
    centres: Array
    bytes: int
    entries: int
    moved: Prepared | None = None


class RidgeFit(RidgeGradients):
    """Makes the Gram matrices of the way that was chosen, and runs the solver."""

    def run(self, leave_one_out: bool = False) -> Fitted:
        """Return the solution; `leave_one_out`: its `keep` holds the errors of points left out."""
        names = ("way", "reason")
        choice = self.monitor.kept(
            "way", lambda: dict(zip(names, self.choose(leave_one_out), strict=True))
        )
        way, reason = (str(choice[name]) for name in names)
        ways = {
            "primal": self._by_primal,
            "cholesky": self._by_cholesky,
            "cg": self._by_cg,
            "nystrom": self._by_nystrom,
        }
        try:
            fitted = ways[way](reason, leave_one_out)
        except NotPositiveDefinite:
            raise self.refusal() from None
        except Stopped as stop:  # before anything was found: f = 0, for which one point will do
            nothing = unsolved(self.problem, stop.reason, 1)
            fitted = Fitted(
                way=way,
                plan=f"{way}: stopped at once",
                solution=nothing,
                centres=np.arange(1),
                bytes=0,
                entries=0,
            )
        return fitted

    # --- the ways ---------------------------------------------------------------------------

    def _by_primal(self, reason: str, leave_one_out: bool) -> Fitted:
        ridge = FeatureRidge(self._features(), self.problem, self.monitor)
        found = ridge.solve(self.settings.tol)
        if leave_one_out:
            found.keep["leave_one_out"] = ridge.leave_one_out(found.keep["errors"])
        width = len(found.coefficients)
        plan = f"primal: {reason}"
        return Fitted(
            way="primal",
            plan=plan,
            solution=found,
            centres=np.arange(0),
            bytes=self._primal_bytes(width),
            entries=0,
        )

    def _features(self) -> FeatureRows:
        """Return phi(x) in bands whose products take a fraction of a second."""
        width = max(self.prepared.map_width() or 1, 1)
        at_once = max(64, min(4096, int(2.5e8 / width)))
        return FeatureRows(self.prepared, at_once, self.monitor)

    def _by_cholesky(self, reason: str, leave_one_out: bool, K: Gram | None = None) -> Fitted:
        if K is None:
            K = self._whole(self.limit - self._cholesky_bytes() + self._half_bytes())
        solver = Cholesky(self.settings.tol, leave_one_out)
        found = solver.solve(K, self.problem, self.monitor)
        plan = f"Cholesky factor, K {K.plan.kind}: {reason}"
        return Fitted(
            way="cholesky",
            plan=plan,
            solution=found,
            centres=np.arange(self.n),
            bytes=self._cholesky_bytes(),
            entries=self.n**2,
        )

    def _by_cg(self, reason: str, leave_one_out: bool) -> Fitted:
        rank = self._rank(self.outputs)
        reserve = self._reserve(rank)
        K, exact, why = self._stored(self.limit - reserve)
        if K is None:
            rank = self._rank(round(self._pass_seconds() / (self.n**2 * 2e-11)))
            reserve = self._reserve(rank)
            try:
                K = self.prepared.gram(
                    memory_limit=max(self.limit - reserve, 1), monitor=self.monitor, store=False
                )
            except MemoryLimitError:
                return self._too_large_for_cg(reserve, leave_one_out)
            late = self.monitor.kept("pace", lambda: {"too slow": int(self._too_slow())})
            if self.settings.solver == "auto" and late["too slow"]:
                return self._by_nystrom(
                    f"K does not fit {bytes_text(self.limit)} and one pass over it would take "
                    f"{self._pass_seconds():.0f} s",
                    leave_one_out,
                )
            K, exact, why = self._with_a_part(K, self.limit - reserve)
        found = self._gradients(K, exact, rank)
        if found is None:
            return self._by_cholesky("conjugate gradients got on too slowly", leave_one_out, K)
        plan = f"conjugate gradients, K {K.plan.kind}: {reason or why}"
        if reason:
            plan += f" ({why})"
        entries = round(self.n**2 * (1 + found.iterations * self._computed(K)))
        size = K.plan.bytes + reserve
        if leave_one_out:
            del K, exact  # the smaller model needs the room
            found = self._calibrated(found)
        return Fitted(
            way="cg",
            plan=plan,
            solution=found,
            centres=np.arange(self.n),
            bytes=size,
            entries=entries,
        )

    def _too_large_for_cg(self, reserve: int, leave_one_out: bool) -> Fitted:
        need, limit = bytes_text(reserve), bytes_text(self.limit)
        if self.settings.solver == "auto":
            reason = f"conjugate gradients need more than {need}, the limit is {limit}"
            return self._by_nystrom(reason, leave_one_out)
        raise MemoryLimitError(
            f"{self.who}: conjugate gradients on {self.n} points must fit memory_limit; "
            f"they need more than {need}, the limit is {limit}. Raise it, or use solver='nystrom'."
        )

    def _by_nystrom(self, reason: str, leave_one_out: bool) -> Fitted:
        wanted = self.settings.n_centers or min(max(int(10 * self.n**0.5), 100), CENTRES_MOST)
        count = min(wanted, self.n, int((self.limit / 40) ** 0.5))
        chosen, few, share = self._centres(count)
        kept, lower = self._independent(few)
        chosen, few, share = chosen[kept], few.take(kept), share[kept]
        count = len(chosen)
        own = 24 * count * count + self._vectors()
        cross = self._cross(few, own)
        direct = leave_one_out and count <= DIRECT
        solver = Nystrom(self.settings.tol, self.settings.max_iter, direct)
        found = solver.solve(cross, lower, self.problem, self.monitor, share)
        if leave_one_out and not direct:
            found = self._calibrated(found)
        plan = f"Nyström with {count} centres, K(x, z) {cross.plan.kind}: {reason}"
        if self.settings.n_centers and count < min(self.settings.n_centers, self.n):
            plan += f" ({self.settings.n_centers} were asked for: not all fit, or span more)"
        passes = 1 if cross.plan.kind == "stored" else max(found.iterations, 1) + 1
        size = self.n * count
        size_in_bytes = cross.plan.bytes + own
        return Fitted(
            way="nystrom",
            plan=plan,
            solution=found,
            centres=chosen,
            bytes=size_in_bytes,
            entries=passes * size,
            moved=few,
        )

    def _calibrated(self, found: Solution) -> Solution:
        """Return the solution with the errors left out of a Nyström model of the same problem."""
        settings = replace(self.settings, n_centers=min(DIRECT, max(int(10 * self.n**0.5), 100)))
        fit = RidgeFit(self.prepared, self.problem, settings)
        try:
            smaller = fit._by_nystrom("", True).solution
        except Stopped as stop:
            return replace(found, status=stop.reason)
        kept = {k: v for k, v in smaller.keep.items() if k == "leave_one_out"}
        stopped = not kept and found.status.is_good
        return replace(found, keep=kept, status=smaller.status if stopped else found.status)

    def features(self) -> FeatureRidge:
        """Return the problem in the space of an exact map, or else of few centres."""
        room = int(self.limit // (40 * self.n))  # for what is kept of all points
        Z, lower = self.passing(room, each=16 * self.n)
        return FeatureRidge(Z, self.problem, self.monitor, lower)

    def passing(
        self, most: int = DIRECT, matrices: int = 2, each: int = 0
    ) -> tuple[Passing, Array | None]:
        """Return the features of an exact map, or K(x, z) of few centres and the factor of K_zz.

        most: centres, at most. matrices: how many between them, in double precision, must fit.
        each: further bytes that each of them takes.
        """
        width = self.prepared.map_width()
        if width is not None and width < min(self.n, MAP_MOST):
            return self._features(), None
        most = min(most, DIRECT, int((self.limit / (16 * matrices)) ** 0.5), self.n)
        wanted = self.settings.n_centers or int(10 * self.n**0.5)
        _, few, _ = self._centres(max(1, min(wanted, most)))
        kept, lower = self._independent(few)
        few = few.take(kept)
        return self._cross(few, len(kept) * (8 * matrices * len(kept) + each)), lower
