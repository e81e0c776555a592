"""What the ways to solve a box problem share: rows, steps of two variables, sums, progress."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...checks import Array
from ...monitor import Monitor
from .problem import BoxProblem
from .rows import KernelRows
from .sizes import BoxSizes

EPSILON = float(np.finfo(np.float64).eps)
ROUNDING = 4 * EPSILON  # of sums of kernel values, themselves rounded, against their terms
EVERYTHING = slice(None)


class Progress:
    """Tells whether the objective or the violation has fallen since the last look."""

    def __init__(self, least: float) -> None:
        self.least, self.objective, self.violation = least, math.inf, math.inf

    def made(self, problem: BoxProblem, b: Array, g: Array) -> bool:
        """Return whether one has: the objective by enough, or the violation by a tenth."""
        objective, violation = problem.objective(b, g), problem.violation(b, g)
        terms = float(np.abs(b) @ np.abs(g))
        fell = self.objective - objective > self.least * terms or violation < 0.9 * self.violation
        self.objective = min(objective, self.objective)
        self.violation = min(violation, self.violation)
        return fell


class BoxWork:
    """One solution of a box problem on its way.

    rows: those of K. block: the native solver of blocks. roots: of the diagonal of K, where it is
    known. left: violation and rounding of the solution, where they are known.
    """

    def __init__(
        self,
        rows: KernelRows,
        tol: float,
        max_iter: int,
        monitor: Monitor,
        *,
        block: Any,
        sizes: BoxSizes,
    ) -> None:
        self.rows, self.tol, self.max_iter, self.monitor = rows, tol, max_iter, monitor
        self.block, self.sizes = block, sizes
        self.iterations = 0
        self.roots = np.zeros(0)
        self.left: tuple[float, float] | None = None

    @property
    def is_over(self) -> bool:
        """Whether there are no steps left."""
        return self.iterations >= self.max_iter

    def is_stopped(self) -> bool:
        """Return whether the monitor asks to stop."""
        return self.monitor.stop_reason() is not None

    def fetch(self, chosen: Array) -> Array:
        """Return the places of rows, and note the roots of their diagonal."""
        slots = self.rows.fetch(chosen)
        self.note_roots(chosen, slots)
        return slots

    def note_roots(self, chosen: Array, slots: Array) -> None:
        """Note the roots of the diagonal of rows that are there."""
        self.roots[chosen] = np.sqrt(np.abs(self.rows.values[slots, self.rows.columns(chosen)]))

    def gradient(self, problem: BoxProblem, b: Array) -> Array:
        """Return K b + linear, summed anew."""
        g = problem.linear.astype(np.float64)
        used = np.flatnonzero(b)
        step = min(self.sizes.block, self.rows.room)
        for start in range(0, len(used), step):
            some = used[start : start + step]
            self.rows.add(self.fetch(some), b[some], g)
        return g

    def unsure(self, problem: BoxProblem, b: Array, chosen: Array | slice = EVERYTHING) -> Array:
        """Return by how much rounding may change K b + linear, by Cauchy and Schwarz."""
        roots = self.roots[chosen]
        products = roots * float(roots @ np.abs(b))
        spread = max(1.0, math.sqrt(np.count_nonzero(b)) / 4)  # of m errors, against one
        return np.asarray(spread * ROUNDING * (products + np.abs(problem.linear)))

    def pairs(
        self,
        problem: BoxProblem,
        b: Array,
        g: Array,
        *,
        slots: Array,
        columns: Array,
        tol: float,
        kept: int,
        lazy: bool = False,
    ) -> str:
        """Optimise all variables of a problem by steps of two; return how that ended.

        slots, columns: where the rows of the variables are. kept: as many of the last variables
        were the first ones of the block before. lazy: rows are read when a step needs them, of a
        block of which no later one keeps a part.
        """
        ended, steps, _ = self.block.solve(
            self.rows.values,
            slots,
            columns,
            kept,
            problem.lower,
            problem.upper,
            problem.kink,
            problem.offset,
            problem.split,
            b,
            g,
            tol,
            min(self.max_iter - self.iterations, self.sizes.steps * len(b)),
            self.is_stopped,
            lazy,
        )
        self.iterations += steps
        return str(ended)

    def report(self, violation: float, first: float) -> None:
        """Tell the monitor how far it is from the violation at first to the tolerance."""
        span = math.log(max(first, self.tol) / self.tol)
        left = math.log(max(violation, self.tol) / self.tol)
        done = max(0.0, 1 - left / span) if span > 0 else 1.0
        record: dict[str, Any] = {"stage": "SVM", "fraction": done}
        self.monitor.iteration(record | {"iterations": self.iterations, "violation": violation})
