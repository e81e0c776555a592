"""Which way a function with a convex loss is found, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..checks import Array, KernelError, MemoryLimitError, bytes_text, sentence
from ..grams import Gram, Prepared
from ..grams.maps.passing import FeatureRows, KeptRows, Passing
from ..inputs import RowBlocks
from ..linalg.blas import half_square, mirror
from ..losses import KINKED, EpsilonInsensitive, Hinge
from ..monitor import Stopped
from ..solvers import Machine, Newton, NotPositiveDefinite
from ..solvers.box.machines import (
    classification,
    quantile_regression,
    read_classification,
    read_quantile_regression,
    read_regression,
    regression,
)
from ..solvers.box.problem import BoxProblem
from ..solvers.loss.elements import FeatureElements, KernelElements
from ..solvers.loss.newton import LossProblem, LossSolution
from ..solvers.ridge.moments import Moments
from ..status import first_bad
from .budget import GramBudget, Settings
from .machines import MachineSolver, MachineSpec, Read
from .rows import SharedRows

SOLVERS = ("auto", "newton", "primal", "nystrom", "dual")
WIDTH_MOST = 5000  # features of an exact map that are worth their moments
CENTRES_MOST = 10_000
RANK = 300  # of the preconditioner, and twice the root of the number of points


@dataclass(frozen=True, kw_only=True)
class Found:
    """What came out.

    way: "newton", "primal", "nystrom" or "dual". solution: its t are coefficients of the points in
    `centres`, or of features. moved: the centres, where they are no longer points.
    """

    way: str
    plan: str
    solution: LossSolution
    centres: Array
    bytes: int
    entries: int
    moved: Prepared | None = None


class MachineFit(GramBudget):
    """Chooses the way, makes the Gram matrices and runs the solver."""

    def __init__(self, prepared: Prepared, problem: LossProblem, settings: Settings) -> None:
        super().__init__(prepared, problem.targets.shape[1], settings.run)
        self.settings = settings
        self.problem = problem

    def run(self) -> Found:
        """Return the solution."""
        asked, kinked = self.settings.solver, isinstance(self.problem.loss, KINKED)
        if kinked and asked not in ("auto", "dual"):
            must = f"a loss with a kink, {self.problem.loss}, is solved by solver='dual'"
            raise KernelError(sentence(self.who, must, repr(asked), "Use 'auto'."))
        if asked == "dual" and not kinked:
            must = "solver='dual' is for losses with a kink"
            raise KernelError(
                sentence(self.who, must, str(self.problem.loss), "Use solver='auto'.")
            )
        try:
            if kinked:
                return self._by_dual()
            found: Found = (
                self._by_itself() if asked == "auto" else getattr(self, f"_by_{asked}")("as asked")
            )
        except NotPositiveDefinite:
            must = "solver='nystrom' needs a kernel matrix with a positive eigenvalue"
            got, advice = repr(self.prepared.kernel), "mercer.check_kernel tells more."
            raise KernelError(sentence(self.who, must, got, advice)) from None
        except Stopped as stop:  # before anything was found: f = 0, for which one point will do
            nothing, nan = np.zeros((1, self.outputs)), float("nan")
            solution = LossSolution(
                t=nothing,
                intercept=nothing[0],
                status=stop.reason,
                primal=nan,
                gap=nan,
                steps=0,
                products=0,
            )
            return Found(
                way="newton",
                plan="stopped at once",
                solution=solution,
                centres=np.arange(1),
                bytes=0,
                entries=0,
            )
        return found

    def _by_itself(self) -> Found:
        width = self.prepared.map_width()
        if width is not None and width < self.n and width <= WIDTH_MOST:
            return self._by_primal(f"an exact map with {width} features")
        if isinstance(self.prepared.points, RowBlocks):
            return self._by_nystrom("the points arrive in blocks")
        return self._by_newton("")

    # --- the ways ---------------------------------------------------------------------------

    def _newton(self, elements: Any) -> LossSolution:
        settings = self.settings
        return Newton(settings.tol, settings.max_iter).solve(elements, self.problem, self.monitor)

    def _by_newton(self, reason: str) -> Found:
        rank = min(self.n, RANK + 2 * int(self.n**0.5))
        reserve = self._reserve(rank) + 12 * self.n * self.outputs * 8
        K, why = self._gram(self.limit - reserve, bool(reason))
        if K is None:
            return self._by_nystrom(why)
        random = np.random.default_rng(self.settings.run.seed)
        solved = self._newton(KernelElements(K, rank, random))
        passes = 1 if K.plan.kind != "on the fly" else solved.products
        plan = f"Newton's method, K {K.plan.kind}: {reason or why}"
        size = K.plan.bytes + reserve
        return Found(
            way="newton",
            plan=plan,
            solution=solved,
            centres=np.arange(self.n),
            bytes=size,
            entries=passes * self.n**2,
        )

    def _gram(self, limit: int, asked: bool) -> tuple[Gram | None, str]:
        """Return K as it fits, and why so; None where few centres do better."""
        if limit <= 0 and asked:
            need, given = bytes_text(self.limit - limit), bytes_text(self.limit)
            raise MemoryLimitError(
                f"{self.who}: Newton's method on {self.n} points must fit memory_limit; "
                f"it needs more than {need}, the limit is {given}. Raise it, or use "
                "solver='nystrom'."
            )
        tries: list[dict[str, Any]] = [{}] + [{"dtype": np.float32}] * (self.itemsize == 8)
        for options in tries if limit > 0 else []:
            try:
                K = self._whole(limit, **options)
            except MemoryLimitError:
                continue
            if K.plan.kind != "on the fly":
                return K, K.plan.reason
        why = f"K does not fit {bytes_text(self.limit)}"
        too_slow = self._pass_seconds() > self.settings.costs.machine_pass_seconds
        if limit <= 0 or (too_slow and not asked):
            return None, why
        K = self.prepared.gram(memory_limit=limit, monitor=self.monitor, store=False)
        return K, f"{why} and is computed anew in every pass"

    def _by_primal(self, reason: str) -> Found:
        width = self.prepared.map_width()
        if width is None:
            must = "solver='primal' needs a kernel with a finite feature map"
            raise KernelError(
                sentence(self.who, must, repr(self.prepared.kernel), "Use solver='auto'.")
            )
        own, features = 3 * width * width * 8, self.n * width * 8
        Z: Passing = FeatureRows(self.prepared, 4096, self.monitor)
        points = self.prepared.points
        is_here = not (isinstance(points, RowBlocks) and points.is_remote)
        if is_here and own + features + self._vectors() <= self.limit:  # a hundred passes need them
            Z, own = KeptRows(list(Z.bands())), own + features
        nothing, shift = np.zeros((self.n, 0)), np.zeros(width)
        moments = mirror(Z.reduce(Moments(nothing, None, shift, None))[0])
        solved = self._newton(FeatureElements(Z, None, moments))
        plan = f"Newton's method in feature space: {reason}"
        return Found(
            way="primal", plan=plan, solution=solved, centres=np.arange(0), bytes=own, entries=0
        )

    def _by_nystrom(self, reason: str) -> Found:
        wanted = self.settings.n_centers or min(max(int(10 * self.n**0.5), 100), CENTRES_MOST)
        chosen, few, share = self._centres(min(wanted, self.n, int((self.limit / 40) ** 0.5)))
        kept, lower = self._independent(few)
        chosen, few, share = chosen[kept], few.take(kept), share[kept]
        own = 24 * len(kept) ** 2 + self._vectors()
        cross = self._cross(few, own)
        share = share * (self.n / share.sum())
        moments = mirror(half_square((lower * np.sqrt(share)[:, None]).T))
        elements = FeatureElements(cross, lower, moments)
        solved = self._newton(elements)
        passes = 1 if cross.plan.kind == "stored" else solved.products
        size, entries = cross.plan.bytes + own, passes * self.n * len(kept)
        plan = f"Newton's method with {len(kept)} centres, K(x, z) {cross.plan.kind}: {reason}"
        solved = replace(solved, t=elements.coefficients(solved.t))
        return Found(
            way="nystrom",
            plan=plan,
            solution=solved,
            centres=chosen,
            bytes=size,
            entries=entries,
            moved=few,
        )

    # --- losses with a kink -----------------------------------------------------------------

    def _by_dual(self) -> Found:
        settings, problem = self.settings, self.problem
        bounds = problem.weight / problem.alpha
        everyone, reach = [np.arange(self.n)], float(bounds.max())
        rows = SharedRows(self.prepared, everyone, settings.run, settings.tol, reach)
        solver = MachineSolver(rows=rows, tol=settings.tol, max_iter=2**62, monitor=self.monitor)
        machines = []
        for y in problem.targets.T:
            box, read = self._box(y, bounds)
            machines.append(solver.solve(MachineSpec(groups=(0,), problem=box, read=read)))
        return self._of_machines(machines, rows)

    def _box(self, y: Array, bounds: Array) -> tuple[BoxProblem, Read]:
        loss, offset = self.problem.loss, self.problem.intercept
        if isinstance(loss, Hinge):
            return classification(y, bounds, offset), read_classification
        if isinstance(loss, EpsilonInsensitive):
            return regression(y, bounds, loss.epsilon, offset), read_regression
        return quantile_regression(y, bounds, loss.q, offset), read_quantile_regression

    def _of_machines(self, machines: list[Machine], rows: SharedRows) -> Found:
        alpha = self.problem.alpha
        states = [machine.solution.status for machine in machines]
        primal, dual = sum(m.primal for m in machines), sum(m.dual for m in machines)
        solution = LossSolution(
            t=np.column_stack([machine.b for machine in machines]),
            intercept=np.array([machine.offset for machine in machines]),
            status=first_bad(states),
            primal=alpha * primal,
            gap=alpha * max(primal - dual, 0.0),
            steps=sum(machine.solution.iterations for machine in machines),
            products=0,
        )
        plan = f"quadratic problem in a box, {rows.plan}"
        return Found(
            way="dual",
            plan=plan,
            solution=solution,
            centres=np.arange(self.n),
            bytes=rows.bytes,
            entries=rows.entries,
        )
