"""Quadratic problems in a box: the dual of every support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _native
from ...checks import Array
from ...monitor import Monitor, Stopped
from ...stages import State
from ...status import Status
from .blocks import Blocks
from .problem import BoxProblem, BoxSolution
from .rows import KernelRows
from .sizes import BoxSizes
from .whole import solve_whole
from .work import BoxWork


class BoxSolver:
    """Solves box problems on rows of one kernel matrix.

    Small problems are one block; of others, blocks of the variables that violate the conditions
    most are solved in turn, the rest standing still. `rows` are those of K. block: that of a
    former solver of the same precision, whose memory is used again.
    """

    def __init__(
        self,
        rows: KernelRows,
        tol: float,
        max_iter: int,
        monitor: Monitor,
        *,
        block: Any = None,
        sizes: BoxSizes | None = None,
    ) -> None:
        if block is None:
            single = rows.values.dtype == np.float32
            block = _native.BlockSolver32() if single else _native.BlockSolver64()
        self.block = block
        self._work = BoxWork(rows, tol, max_iter, monitor, block=block, sizes=sizes or BoxSizes())

    def solve(self, problem: BoxProblem, g: Array | None = None) -> BoxSolution:
        """Return the solution; g: K b + linear at the start of the problem, where it is known."""
        work, b = self._work, problem.start.astype(np.float64)
        work.iterations, work.roots, work.left = 0, np.zeros(len(b)), None
        slopes = problem.linear.astype(np.float64) if g is None else g.copy()
        try:
            with work.monitor.stage("machine") as stage:
                if stage.known is None:
                    if g is None:
                        slopes = work.gradient(problem, b)
                    ended = self._moved(problem, b, slopes)
                    stage.reached(self._state(b, slopes, ended))
                else:
                    b, slopes, ended = self._known(stage.known)
        except Stopped as stop:
            ended = stop.reason
        violation, rounding = work.left or self._violation(problem, b, slopes)
        return BoxSolution(
            b=b,
            g=slopes,
            status=self._status(ended, violation, rounding),
            violation=violation,
            rounding=rounding,
            objective=problem.objective(b, slopes),
            iterations=work.iterations,
        )

    def _moved(self, problem: BoxProblem, b: Array, slopes: Array) -> str:
        """Move b, and its slopes with it, to the optimum; return how that ended."""
        work = self._work
        moving = np.count_nonzero(problem.lower < problem.upper)
        if moving <= min(work.sizes.whole, work.rows.room):
            return solve_whole(work, problem, b, slopes)
        return Blocks(work, problem, b, slopes).run()

    def _state(self, b: Array, slopes: Array, ended: str) -> State:
        """Return what was found, for another process."""
        work, left = self._work, {}
        if work.left is not None:
            left = dict(zip(("violation", "rounding"), work.left, strict=True))
        counts: State = {"ended": str(ended), "iterations": work.iterations, "roots": work.roots}
        return {"b": b, "g": slopes, **counts, **left}

    def _known(self, known: State) -> tuple[Array, Array, str]:
        """Return what another process has found."""
        work = self._work
        work.iterations, work.roots = int(known["iterations"]), np.asarray(known["roots"])
        if "violation" in known:
            work.left = float(known["violation"]), float(known["rounding"])
        return np.asarray(known["b"]), np.asarray(known["g"]), str(known["ended"])

    def _violation(self, problem: BoxProblem, b: Array, g: Array) -> tuple[float, float]:
        """Return the violation, and how much of it may be rounding."""
        violation = problem.violation(b, g)
        return violation, violation - problem.violation(b, g, self._work.unsure(problem, b))

    def _status(self, ended: str, violation: float, rounding: float) -> Status:
        work = self._work
        if ended == Status.UNBOUNDED:
            return Status.UNBOUNDED
        if violation <= work.tol and (work.iterations or ended == Status.CONVERGED):
            return Status.CONVERGED
        if ended in (Status.TIME_LIMIT, Status.CANCELLED):
            return Status(ended)
        if work.is_over:
            return Status.ITERATION_LIMIT
        return Status.ROUNDING if violation - rounding <= work.tol else Status.STAGNATED
