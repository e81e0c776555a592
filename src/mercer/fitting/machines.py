"""Support vector machines solved one after another on shared rows of one kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..checks import Array
from ..monitor import Monitor, Stopped
from ..solvers import BoxProblem, BoxSolution, BoxSolver, KernelRows, Machine, leave_one_out
from ..status import Status
from .rows import SharedRows

FINEST = 1e-13  # tolerance, against slopes, below which rounding decides

Read = Callable[[BoxProblem, BoxSolution], Machine]


@dataclass(frozen=True, kw_only=True)
class Task:
    """One machine to be found: groups of points, its problem and how to read the solution.

    g: K b + linear where the start b of the problem is not 0, None to compute it. relative: the
    tolerance is in units that the solution decides.
    """

    groups: tuple[int, ...]
    problem: BoxProblem
    read: Read
    g: Array | None = None
    relative: bool = False

    def after(self, found: BoxSolution, ratio: float) -> Task:
        """Return the task that starts from the solution for bounds that were `ratio` smaller."""
        linear = self.problem.linear
        problem = replace(self.problem, start=ratio * found.b)
        return replace(self, problem=problem, g=ratio * (found.g - linear) + linear)


@dataclass(kw_only=True)
class MachineShop:
    """Finds machines; rows of K that one of them needed are there for the others."""

    rows: SharedRows
    tol: float
    max_iter: int
    monitor: Monitor
    _sources: dict[tuple[int, ...], KernelRows] = field(default_factory=dict)

    def solve(self, task: Task) -> Machine:
        """Return the machine of a task."""
        source, tol, problem, g = self._source(task.groups), self.tol, task.problem, task.g
        while True:
            found = BoxSolver(source, tol, self.max_iter, self.monitor).solve(problem, g)
            machine = task.read(problem, found)
            reached = machine.solution
            if (
                not task.relative
                or reached.violation <= self.tol
                or found.status != Status.CONVERGED
            ):
                return machine
            finest = FINEST * float(np.abs(found.g).max(initial=1.0))
            if tol <= finest:  # nothing but rounding is left of the margin: there is none
                return replace(machine, solution=replace(reached, status=Status.UNBOUNDED))
            tol = max(tol * min(0.1, self.tol / reached.violation), finest)
            problem, g = replace(problem, start=found.b), found.g

    def unseen(self, task: Task, machine: Machine, random: np.random.Generator) -> Machine:
        """Return the machine with the scores that points would get from one without them.

        Where there is no time for that, the scores stay.
        """
        try:
            scores = leave_one_out(self._source(task.groups), task.problem, machine, random)
        except Stopped:
            return machine
        return replace(machine, scores=scores)

    def _source(self, groups: tuple[int, ...]) -> KernelRows:
        if groups not in self._sources:
            if self.rows.one_at_a_time:
                self._sources.clear()
            self._sources[groups] = self.rows.of(*groups)
        return self._sources[groups]
