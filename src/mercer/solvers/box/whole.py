"""Box problems whose variables all change together, solved to the last digits."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from ... import _native
from ...checks import Array
from ...linalg.blas import blas_threads
from ...status import Status
from .active_set import ActiveSet
from .problem import BoxProblem
from .work import ROUNDING, BoxWork, Progress


def solve_whole(work: BoxWork, problem: BoxProblem, b: Array, g: Array) -> str:
    """Move b, and g with it, to the optimum, all variables that can move at once.

    Returns how that ended.
    """
    moving = np.flatnonzero(problem.lower < problem.upper)
    slots = work.rows.fetch(moving)
    if len(moving) == len(b):
        ended = WholeProblem(work, problem, b, g, moving=moving, slots=slots).run()
    else:
        x, slopes = b[moving], g[moving]
        part = problem.restricted(moving)
        try:
            ended = WholeProblem(work, part, x, slopes, moving=moving, slots=slots).run()
        finally:
            b[moving] = x
            g[:] = work.gradient(problem, b)
    work.monitor.poll()
    return ended


class WholeProblem:
    """A problem of variables that can all move, and whose rows are there.

    b, g: the variables and K b + linear, which `run` moves to the optimum. moving: which variables
    of the rows these are; slots: where their rows stand.
    """

    def __init__(
        self,
        work: BoxWork,
        problem: BoxProblem,
        b: Array,
        g: Array,
        *,
        moving: Array,
        slots: Array,
    ) -> None:
        self.work, self.problem, self.b, self.g = work, problem, b, g
        self.moving, self.slots = moving, slots
        self.columns = work.rows.columns(moving)

    def run(self) -> str:
        """Take steps of two variables, and equations for those between their bounds, in turn."""
        work, problem, b, g = self.work, self.problem, self.b, self.g
        tol, progress, best = work.tol, Progress(ROUNDING), (math.inf, b, g)
        for turn in range(work.sizes.rounds):
            ended = work.pairs(
                problem,
                b,
                g,
                slots=self.slots,
                columns=self.columns,
                tol=tol,
                kept=len(b) if turn else 0,
                lazy=True,
            )
            goes_on = ended != Status.UNBOUNDED and not work.is_over
            if goes_on and self._polish():
                return ended
            work.note_roots(self.moving, self.slots)
            few = len(problem.free(b)) <= work.sizes.members
            if goes_on and few:
                ended = self._active_set() or ended
            else:
                g[:] = self._sums()
            violation = problem.violation(b, g)
            work.report(violation, violation)
            if violation < best[0]:
                best = violation, b.copy(), g.copy()
            reached = violation <= work.tol and (not few or self._is_exact())
            over = ended == Status.UNBOUNDED or work.is_over
            if over or reached or not progress.made(problem, b, g):
                break
            tol = min(tol, violation) / 2
        _, b[:], g[:] = best
        return ended

    def _polish(self) -> bool:
        """Move b to the last digits where pairs have found out who is at a bound.

        Equations for the others are then all it takes. Returns whether that has been the case.
        """
        work, problem = self.work, self.problem
        exact, violation, rounding = work.block.polish(
            work.rows.values,
            problem.linear,
            problem.lower,
            problem.upper,
            problem.kink,
            problem.offset,
            problem.split,
            self.b,
            self.g,
            ROUNDING,
            work.sizes.members,
            work.is_stopped,
        )
        if not exact or violation > work.tol:
            return False
        work.left = violation, rounding
        work.report(violation, violation)
        return True

    def _sums(self) -> Array:
        """Return K b + linear."""
        g = self.problem.linear.copy()
        used = np.flatnonzero(self.b)
        _native.add_rows(self.work.rows.values, self.slots[used], self.b[used], self.columns, g)
        return g

    def _is_exact(self) -> bool:
        """Return whether what is left of the violation may all be rounding."""
        unsure = self.work.unsure(self.problem, self.b, self.moving)
        return self.problem.violation(self.b, self.g, unsure) == 0

    def _active_set(self) -> str:
        """Move b, and g with it, to the optimum; return Status.UNBOUNDED if there is none."""
        work, few = self.work, len(self.moving) <= self.work.sizes.unthreaded
        # Threads of BLAS wait for one another in every small step, for ever if busy.
        alone = contextlib.nullcontext() if few else blas_threads(1)
        slots = work.fetch(self.moving)
        K = work.rows.values[slots[:, None], self.columns].astype(np.float64, copy=False)
        with alone, np.errstate(over="ignore"):  # room without end, against a tiny step
            method = ActiveSet(K, self.problem, self.b, self.g, work.monitor)
            self.b[:] = method.run()
        work.iterations += method.changes
        self.g[:] = self._sums()
        return Status.UNBOUNDED if method.unbounded else ""
