"""Support vector machines solved one after another on shared rows of one kernel matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..checks import Array
from ..monitor import Monitor, Stopped
from ..solvers import (
    BoxProblem,
    BoxSizes,
    BoxSolution,
    BoxSolver,
    DenseRows,
    KernelRows,
    Machine,
    leave_one_out,
)
from ..solvers.box.machines import offset_of
from ..status import Status
from .rows import SharedRows

FINEST = 1e-13  # tolerance, against slopes, below which rounding decides

Read = Callable[[BoxProblem, BoxSolution], Machine]


@dataclass(frozen=True, kw_only=True)
class MachineSpec:
    """One machine to be found: groups of points, its problem and how to read the solution.

    g: K b + linear where the start b of the problem is not 0, None to compute it. relative: the
    tolerance is in units that the solution decides.
    """

    groups: tuple[int, ...]
    problem: BoxProblem
    read: Read
    g: Array | None = None
    relative: bool = False

    def after(self, found: BoxSolution, ratio: float) -> MachineSpec:
        """Return the machine that starts from the solution b for bounds that were `ratio` smaller.

        The start is the best t b with 1 <= t <= ratio, which keeps the sums: t = 1 where nobody is
        at a bound, since then larger ones change nothing.
        """
        problem, b = self.problem, found.b
        products = found.g - problem.linear
        curvature = float(b @ products)
        slope = float(b @ problem.linear) + problem.kink * float(np.abs(b).sum())
        t = float(np.clip(-slope / curvature, 1.0, ratio)) if curvature > 0 else 1.0
        t = 1.0 if t - 1 < 1e-9 else t  # what is rounding
        g = t * products + problem.linear
        return replace(self, problem=replace(problem, start=t * b), g=g)

    def started(self, b: Array) -> MachineSpec:
        """Return the machine that starts from coefficients that keep its bounds and sums."""
        return replace(self, problem=replace(self.problem, start=b), g=None)

    def among(self, points: Array, n: int) -> MachineSpec:
        """Return the machine as one of all n points, of which others than these stay 0."""
        problem = self.problem
        parts = (problem.linear, problem.lower, problem.upper, problem.start)
        linear, lower, upper, start = (_scattered(part, points, n) for part in parts)
        problem = replace(problem, linear=linear, lower=lower, upper=upper, start=start)
        return replace(self, problem=problem)


def _scattered(values: Array, places: Array, n: int) -> Array:
    found = np.zeros(n)
    found[places] = values
    return found


@dataclass(kw_only=True)
class MachineSolver:
    """Finds machines; rows of K that one of them needed are there for the others."""

    rows: SharedRows
    tol: float
    max_iter: int
    monitor: Monitor
    sizes: BoxSizes = field(default_factory=BoxSizes)
    _sources: dict[tuple[int, ...], KernelRows] = field(default_factory=dict, init=False)
    _memory: dict[str, Any] = field(default_factory=dict, init=False)  # of blocks, to use again

    def solve(self, spec: MachineSpec) -> Machine:
        """Return the machine."""
        source, tol, problem, g = self._source(spec.groups), self.tol, spec.problem, spec.g
        while True:
            found = self._solution(source, tol, problem, g)
            machine = spec.read(problem, found)
            reached = machine.solution
            if (
                not spec.relative
                or reached.violation <= self.tol
                or found.status != Status.CONVERGED
            ):
                return machine
            finest = FINEST * float(np.abs(found.g).max(initial=1.0))
            if tol <= finest:  # nothing but rounding is left of the margin: there is none
                return replace(machine, solution=replace(reached, status=Status.UNBOUNDED))
            tol = max(tol * min(0.1, self.tol / reached.violation), finest)
            problem, g = replace(problem, start=found.b), found.g

    def with_loo_scores(
        self, spec: MachineSpec, machine: Machine, random: np.random.Generator
    ) -> Machine:
        """Return the machine with the scores that points would get from one without them.

        Where there is no time for that, the scores stay.
        """
        try:
            scores = leave_one_out(self._source(spec.groups), spec.problem, machine, random)
        except Stopped:
            return machine
        return replace(machine, scores=scores)

    def on(self, points: Array) -> MachinesOnPart:
        """Return what finds machines on some of the points, which are one group."""
        if self.rows.dense is not None:
            return MachinesOnPart(self, points, DenseRows(self.rows.dense, points))
        return MachinesOnPart(self, points, self._source((0,)))

    def copy(self) -> MachineSolver:
        """Return another one for the same machines, that may work at the same time.

        Only where K is stored is nothing computed anew.
        """
        return replace(self)

    def _solution(
        self, source: KernelRows, tol: float, problem: BoxProblem, g: Array | None
    ) -> BoxSolution:
        solver = BoxSolver(
            source,
            tol,
            self.max_iter,
            self.monitor,
            block=self._memory.get("block"),
            sizes=self.sizes,
        )
        self._memory["block"] = solver.block
        return solver.solve(problem, g)

    def _source(self, groups: tuple[int, ...]) -> KernelRows:
        if groups not in self._sources:
            if self.rows.one_at_a_time:
                self._sources.clear()
            self._sources[groups] = self.rows.of(*groups)
        return self._sources[groups]


@dataclass(frozen=True)
class MachinesOnPart:
    """Machines on some of the points, of which others get their values.

    rows: of K between these points where K is stored, else between all: the others then are
    variables that stay 0.
    """

    solver: MachineSolver
    points: Array
    rows: KernelRows

    def path(self, specs: Sequence[MachineSpec], ratios: Sequence[float], others: Array) -> Array:
        """Return f of other points for every machine, each found from the one before.

        ratios: by how much the bounds of a machine are larger than those of the one before.
        """
        values = np.empty((len(specs), len(others)))
        found: BoxSolution | None = None
        for place, (given, ratio) in enumerate(zip(specs, ratios, strict=True)):
            spec = given if self._is_part else given.among(self.points, self.rows.values.shape[1])
            spec = spec if found is None else spec.after(found, ratio)
            found = self.solver._solution(self.rows, self.solver.tol, spec.problem, spec.g)
            values[place] = self._products(found, others) + offset_of(spec.problem, found)
        return values

    @property
    def _is_part(self) -> bool:
        return isinstance(self.rows, DenseRows)

    def _products(self, found: BoxSolution, others: Array) -> Array:
        if isinstance(self.rows, DenseRows):
            return self.rows.products(found.b, others)
        return found.g[others]  # where the linear term is 0
