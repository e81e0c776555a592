"""Which way a kernel ridge problem is solved, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ..checks import Array, InputError, KernelError, MemoryLimitError, bytes_text, sentence
from ..grams import Gram, Prepared
from ..inputs import RowBlocks
from ..linalg.cg import TooSlow
from ..linalg.cholesky import SINGLE_FROM, TILE
from ..linalg.eigen import extreme_eigenvalues
from ..monitor import Stopped
from ..solvers import (
    Cholesky,
    ConjugateGradients,
    FeatureRidge,
    NotPositiveDefinite,
    Nystrom,
    RidgeProblem,
    Solution,
)
from ..solvers.ridge.nystrom import DIRECT
from ..solvers.ridge.problem import unsolved
from .budget import Settings, Spaces

SOLVERS = ("auto", "primal", "cholesky", "cg", "nystrom")
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


class RidgeFit(Spaces):
    """Chooses the way, makes the Gram matrices and runs the solver."""

    def __init__(self, prepared: Prepared, problem: RidgeProblem, settings: Settings) -> None:
        super().__init__(prepared, problem.targets.shape[1], settings)
        self.problem = problem

    def run(self, leave_one_out: bool = False) -> Fitted:
        """Return the solution; `leave_one_out`: its `keep` holds the errors of points left out."""
        way, reason = self._choose(leave_one_out)
        ways = {
            "primal": self._by_primal,
            "cholesky": self._by_cholesky,
            "cg": self._by_cg,
            "nystrom": self._by_nystrom,
        }
        try:
            fitted = ways[way](reason, leave_one_out)
        except NotPositiveDefinite:
            raise self._refusal() from None
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

    # --- the choice -------------------------------------------------------------------------

    def _choose(self, leave_one_out: bool) -> tuple[str, str]:
        asked = self.settings.solver
        width = self.prepared.map_width()
        if asked == "primal" and width is None:
            must = "solver='primal' needs a kernel with a finite feature map"
            raise KernelError(
                sentence(self.who, must, repr(self.prepared.kernel), "Use solver='auto'.")
            )
        if asked == "cholesky" and self._cholesky_bytes() > self.limit:
            need, limit = bytes_text(self._cholesky_bytes()), bytes_text(self.limit)
            raise MemoryLimitError(
                f"{self.who}: a Cholesky factor of {self.n} points must fit memory_limit; "
                f"it needs {need}, the limit is {limit}. Raise it, or use solver='auto'."
            )
        if asked != "auto":
            return asked, "as asked"
        if width is not None and width < self.n and self._primal_bytes(width) <= self.limit:
            return "primal", f"an exact map with {width} features is smaller than {self.n} points"
        if isinstance(self.prepared.points, RowBlocks):
            return "nystrom", "the points arrive in blocks"
        if self._is_late() or self._cholesky_bytes() > self.limit:
            return "cg", ""
        return self._cheapest(leave_one_out)

    def _cheapest(self, leave_one_out: bool) -> tuple[str, str]:
        """Return the way to solve the whole system that costs least, where all of them are open."""
        costs, factor = self.settings.costs, self._factor_cost()
        if leave_one_out and self.n <= costs.exact_rows:
            return "cholesky", f"the errors of {self.n} points left out are exact"
        if factor <= costs.quick:
            return "cholesky", f"a factor of {self.n} points is quick"
        gradients = costs.gradients(*self._system(), self.settings.tol)
        if factor * (1 + leave_one_out) <= gradients:
            return "cholesky", f"{self.n} points, where a factor costs less than iterations"
        return "cg", ""

    def _is_late(self) -> bool:
        """Return whether a factor would take most of the time limit."""
        most = self.monitor.time_limit
        return most is not None and self._factor_cost() > most / 3

    def _factor_cost(self) -> float:
        return self.settings.costs.factor(self.n) * len(self.problem.groups())

    def _system(self) -> tuple[int, int, int, int]:
        """Return the points, right sides, bytes per entry and rank of conjugate gradients."""
        columns = sum(len(columns) for _, columns in self.problem.groups())
        return self.n, columns, self.itemsize, self._rank(self.outputs)

    def _primal_bytes(self, width: int) -> int:
        return width * width * 8 * 3 + 2 * 4096 * width * 8

    def _cholesky_bytes(self) -> int:
        """Half of K, the tiles of the factors in one or both precisions, two bands on their way."""
        factors = self.n * (self.n + TILE) // 2 * (8 if self.n < SINGLE_FROM else 12)
        bands = 2 * min(TILE, self.n) * self.n * self.itemsize
        return int(self._half_bytes() + factors + bands + self._vectors())

    # --- the ways ---------------------------------------------------------------------------

    def _by_primal(self, reason: str, leave_one_out: bool) -> Fitted:
        ridge = FeatureRidge(self._map_bands, self.problem, self.monitor)
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

    def _map_bands(self) -> Iterator[tuple[slice, Any]]:
        """Yield phi(x) in bands whose products take a fraction of a second."""
        width = max(self.prepared.map_width() or 1, 1)
        return self.prepared.map_bands(at_once=max(64, min(4096, int(4e9 / width**2))))

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
            if self.settings.solver == "auto" and self._too_slow(K):
                return self._by_nystrom(
                    f"K does not fit {bytes_text(self.limit)} and one pass over it would take "
                    f"{self._pass_seconds():.0f} s",
                    leave_one_out,
                )
            why = f"K does not fit {bytes_text(self.limit)} and is computed anew in every pass"
        solver = ConjugateGradients(
            tol=self.settings.tol,
            max_iter=self.settings.max_iter,
            rank=rank,
            random_state=self.settings.run.seed,
            alternative=self._alternative(K, exact),
        )
        try:
            found = solver.solve(K, self.problem, self.monitor, exact)
        except TooSlow:  # its traceback keeps the preconditioner, so that the factor comes later
            found = None
        if found is None:
            return self._by_cholesky("conjugate gradients got on too slowly", leave_one_out, K)
        plan = f"conjugate gradients, K {K.plan.kind}: {reason or why}"
        if reason:
            plan += f" ({why})"
        passes = 1 if K.plan.kind != "on the fly" else found.iterations + 1
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
            entries=passes * self.n**2,
        )

    def _alternative(self, K: Gram, exact: Gram | None) -> float:
        """Return the cost of a factor in iterations; infinite where there can be none."""
        beside = self._cholesky_bytes() - self._half_bytes()
        if self.settings.solver != "auto" or exact is not None or self._is_late():
            return np.inf
        if K.plan.kind == "on the fly" or K.plan.bytes + beside > self.limit:
            return np.inf
        return self._factor_cost() / self.settings.costs.iteration(*self._system())

    def _too_large_for_cg(self, reserve: int, leave_one_out: bool) -> Fitted:
        need, limit = bytes_text(reserve), bytes_text(self.limit)
        if self.settings.solver == "auto":
            reason = f"conjugate gradients need more than {need}, the limit is {limit}"
            return self._by_nystrom(reason, leave_one_out)
        raise MemoryLimitError(
            f"{self.who}: conjugate gradients on {self.n} points must fit memory_limit; "
            f"they need more than {need}, the limit is {limit}. Raise it, or use solver='nystrom'."
        )

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

    def _too_slow(self, K: Gram) -> bool:
        seconds = self._pass_seconds()
        limit = self.monitor.time_limit
        late = limit is not None and 25 * seconds > limit
        return late or seconds > self.settings.costs.pass_seconds

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
        width = self.prepared.map_width()
        if width is not None and width < min(self.n, MAP_MOST):
            return FeatureRidge(self._map_bands, self.problem, self.monitor)
        room = int(self.limit // (40 * self.n))
        wanted = self.settings.n_centers or int(10 * self.n**0.5)
        _, few, _ = self._centres(max(1, min(wanted, DIRECT, room, self.n)))
        kept, lower = self._independent(few)
        few = few.take(kept)
        cross = self._cross(few, 16 * self.n * len(kept))
        return FeatureRidge(cross.bands, self.problem, self.monitor, lower)

    # --- refusal ----------------------------------------------------------------------------

    def _refusal(self) -> InputError:
        """Say that K + alpha I is not positive definite, and from which alpha on it is."""
        K = self.prepared.gram(dtype=np.float64, store=False)
        roots = self.problem.roots
        values = self._extremes(K, roots[:, 0])
        least = max(-values[0], 0.0) + 10 * self.n * np.finfo(np.float64).eps * values[-1]
        if self.itemsize == 4:
            least += self.n * float(np.finfo(np.float32).eps) * float(K.diag().max())
        return InputError(
            sentence(
                self.who,
                "K + alpha I must be positive definite",
                f"alpha = {self.problem.alpha.min():g} and eigenvalues of K from {values[0]:.2g} "
                f"to {values[-1]:.2g}",
                f"The smallest alpha that works here is about {least:.2g}.",
            )
        )

    def _extremes(self, K: Gram, roots: Array) -> Array:
        """Return the smallest and the largest eigenvalue of S K S, roughly where K is large."""
        if self.n <= 2000:
            return np.array(extreme_eigenvalues(K.dense() * roots * roots[:, None]))
        shape = (self.n, self.n)
        operator = LinearOperator(shape, lambda v: roots * (K @ (roots * v.ravel())))
        found = []
        for end in ("SA", "LA"):
            try:
                options = {"which": end, "tol": 1e-2, "maxiter": 5, "return_eigenvectors": False}
                found.append(float(eigsh(operator, 1, **options)[0]))
            except ArpackNoConvergence:  # many eigenvalues near zero: rounding, no more
                found.append(0.0 if end == "SA" else float(self.n * K.diag().max()))
        return np.array(found)
