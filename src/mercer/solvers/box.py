"""Quadratic problems in a box: the dual of every support vector machine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _native
from ..checks import Array
from ..monitor import Monitor, Stopped
from .box_problem import BoxProblem, BoxSolution
from .polish import polish
from .rows import KernelRows

WHOLE = 2000  # variables up to which the whole problem is one block
BLOCK = 1536  # variables that change together, at most
SMALL = 512  # and of few variables, at least
SHARE = 20  # else this part of all; a third of a block are new
INNER = 0.1  # of the violation at hand: how far a block is solved
ROUNDS = 20  # of pairs of variables and linear equations in turn
MORE = 20  # steps a variable, in each round after the first
PRECISE = 1e-13  # violation, against slopes, that is rounding
ROUNDING = 1e-15  # of a sum, against its largest terms


class BoxSolver:
    """Solves box problems on rows of one kernel matrix.

    Small problems are one block; of others, blocks of the variables that violate the conditions
    most are solved in turn, the rest standing still. `rows` are those of K.
    """

    def __init__(self, rows: KernelRows, tol: float, max_iter: int, monitor: Monitor) -> None:
        self.rows, self.tol, self.max_iter, self.monitor = rows, tol, max_iter, monitor
        single = rows.values.dtype == np.float32
        self.block = _native.BlockSolver32() if single else _native.BlockSolver64()

    def solve(self, problem: BoxProblem, g: Array | None = None) -> BoxSolution:
        """Return the solution; g: K b + linear at the start of the problem, where it is known."""
        b = problem.start.astype(np.float64)
        self.iterations = 0
        slopes = problem.linear.astype(np.float64) if g is None else g.copy()
        try:
            if g is None:
                slopes = self._gradient(problem, b)
            moving = np.flatnonzero(problem.lower < problem.upper)
            if len(moving) <= min(WHOLE, self.rows.room):
                status, violation = self._whole(problem, b, slopes, moving)
            else:
                status, violation = self._blocks(problem, b, slopes)
        except Stopped as stop:
            status, violation = stop.reason, problem.violation(b, slopes)
        if violation <= self.tol and status != "unbounded" and self.iterations:
            status = "converged"
        objective = problem.objective(b, slopes)
        return BoxSolution(b, slopes, status, violation, objective, self.iterations)

    def _gradient(self, problem: BoxProblem, b: Array) -> Array:
        """Return K b + linear, summed anew."""
        g = problem.linear.astype(np.float64)
        used = np.flatnonzero(b)
        step = min(BLOCK, self.rows.room)
        for start in range(0, len(used), step):
            some = used[start : start + step]
            self.rows.add(self.rows.fetch(some), b[some], g)
        return g

    def _step(
        self,
        problem: BoxProblem,
        b: Array,
        g: Array,
        chosen: Array,
        slots: Array,
        tol: float,
        kept: int = 0,
        most: int | None = None,
    ) -> tuple[str, Array, Array]:
        """Optimise the chosen variables; return how that ended, their change and their g.

        kept: as many of the last ones were the first ones of the block before.
        """
        part, slope = b[chosen], g[chosen]
        ended, steps, _ = self.block.solve(
            self.rows.values,
            slots,
            self.rows.columns(chosen),
            kept,
            problem.lower[chosen],
            problem.upper[chosen],
            problem.kink,
            problem.offset,
            problem.split,
            part,
            slope,
            tol,
            min(self.max_iter - self.iterations, most or self.max_iter),
            lambda: self.monitor.stop_reason() is not None,
        )
        self.iterations += steps
        change = part - b[chosen]
        b[chosen] = part
        return ended, change, slope

    def _whole(self, problem: BoxProblem, b: Array, g: Array, moving: Array) -> tuple[str, float]:
        """Solve all variables that can move at once, to the last digits where that can be done.

        Returns how that ended and the violation.
        """
        slots = self.rows.fetch(moving)
        tol, lowest = self.tol, np.inf
        for turn in range(ROUNDS):
            kept, most = (len(moving), MORE * len(moving)) if turn else (0, self.max_iter)
            ended, change, slopes = self._step(problem, b, g, moving, slots, tol, kept, most)
            if len(moving) < len(b):
                moved = np.flatnonzero(change)
                self.rows.add(slots[moved], change[moved], g)
            g[moving] = slopes
            if ended == "converged" or (turn and ended == "iterations"):
                polish(self.rows, problem, b, g)
                if turn:  # many small steps: sum anew
                    g[:] = self._gradient(problem, b)
            violation, objective = problem.violation(b, g), problem.objective(b, g)
            self._report(violation, violation)
            precise = violation <= PRECISE * max(1.0, float(np.abs(g).max()))
            over = ended == "unbounded" or self.iterations >= self.max_iter
            if precise or over or (objective >= lowest and violation <= self.tol):
                break
            tol, lowest = min(tol, violation) / 2, min(objective, lowest)
        self.monitor.poll()
        return self._status(violation, ended), violation

    def _status(self, violation: float, ended: str) -> str:
        if ended == "unbounded":
            return "unbounded"
        if violation <= self.tol:
            return "converged"
        return "iteration limit" if self.iterations >= self.max_iter else "stagnated"

    def _blocks(self, problem: BoxProblem, b: Array, g: Array) -> tuple[str, float]:
        """Solve blocks of variables in turn; return how that ended and the violation."""
        size = min(max(SMALL, len(b) // SHARE), BLOCK, self.rows.room)
        kept = np.zeros(0, dtype=np.int64)
        drift = 0.0  # what rounding may have added to g
        first = violation = problem.violation(b, g)
        stale = 0
        while True:
            if violation <= self.tol:
                if drift <= 0.01 * self.tol:
                    return "converged", violation
                g[:], drift = self._gradient(problem, b), 0.0
                violation = problem.violation(b, g)
                continue
            if self.iterations >= self.max_iter:
                return self._status(violation, "iterations"), violation
            fresh = self._choose(problem, b, g, kept, size)
            chosen, old = np.concatenate([fresh, kept]), len(kept)
            kept = chosen[: size - size // 3]
            slots = self.rows.fetch(chosen)
            inner = max(INNER * violation, 0.5 * self.tol)
            ended, change, _ = self._step(problem, b, g, chosen, slots, inner, old)
            moved = np.flatnonzero(change)
            self.rows.add(slots[moved], change[moved], g)
            largest = np.abs(self.rows.values[slots, self.rows.columns(chosen)]).max()
            drift += ROUNDING * float(np.abs(change).sum() * largest)
            stale = 0 if len(moved) else stale + 1
            if stale > 2:
                g[:] = self._gradient(problem, b)
            violation = problem.violation(b, g)
            if ended == "unbounded" or stale > 2:
                return self._status(violation, ended), violation
            self._report(violation, first)

    def _report(self, violation: float, first: float) -> None:
        span = math.log(max(first, self.tol) / self.tol)
        left = math.log(max(violation, self.tol) / self.tol)
        done = max(0.0, 1 - left / span) if span > 0 else 1.0
        record: dict[str, Any] = {"stage": "SVM", "fraction": done}
        self.monitor.iteration(record | {"iterations": self.iterations, "violation": violation})

    def _choose(self, problem: BoxProblem, b: Array, g: Array, kept: Array, size: int) -> Array:
        """Return variables for the next block that are not among those kept from the last ones.

        As many want to rise as to fall, and each makes a violating pair with some other.
        """
        up, down = problem.slopes(b)
        rising, falling = -(g + up), g + down
        if problem.split:
            sides = problem.sides(b)
            pairs = [
                (np.where(rises, rising, -np.inf), np.where(falls, falling, -np.inf))
                for rises, falls in sides
            ]
            wants = [(want, -other.max()) for x, y in pairs for want, other in ((x, y), (y, x))]
        elif problem.offset:
            wants = [(rising, -falling.max()), (falling, -rising.max())]
        else:
            wants = [(np.maximum(rising, falling), 0.0)]
        old = np.zeros(len(b), dtype=bool)
        old[kept] = True
        room = (size - len(kept)) // len(wants)
        found = [_largest(np.where(old, -np.inf, want), room, least) for want, least in wants]
        return np.unique(np.concatenate(found))


def _largest(values: Array, count: int, least: float) -> Array:
    """Return the places of the largest numbers above the least that counts."""
    places = np.flatnonzero(values > least)
    if count < len(places):
        places = places[np.argpartition(-values[places], count)[:count]]
    return places.astype(np.int64)
