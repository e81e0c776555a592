"""Quadratic problems in a box: the dual of every support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..checks import Array
from ..monitor import Monitor, Stopped
from .box_problem import BoxProblem, BoxSolution
from .polish import polish
from .rows import KernelRows

WHOLE = 2000  # variables up to which the whole problem is one block
BLOCK = 1536  # variables that change together
FRESH = 512  # of them that are new
INNER = 0.1  # of the violation at hand: how far a block is solved
ROUNDS = 20  # of pairs of variables and linear equations in turn
PRECISE = 1e-13  # violation, against slopes, that is rounding
ROUNDING = 1e-15  # of a sum, against its largest terms
EVERY = 10**9  # steps within a block: no limit of its own


class BoxSolver:
    """Solves box problems on rows of one kernel matrix.

    Small problems are one block; of others, blocks of the variables that violate the conditions
    most are solved in turn, the rest standing still. `rows` are those of K.
    """

    def __init__(self, rows: KernelRows, tol: float, max_iter: int, monitor: Monitor) -> None:
        self.rows, self.tol, self.max_iter, self.monitor = rows, tol, max_iter, monitor

    def solve(self, problem: BoxProblem) -> BoxSolution:
        b = problem.start.astype(np.float64)
        self.iterations = 0
        g = self._gradient(problem, b)
        status = "stopped"
        try:
            whole = len(b) <= min(WHOLE, self.rows.room)
            run = self._whole if whole else self._blocks
            status = run(problem, b, g)
        except Stopped as stop:
            status = stop.reason
        violation = problem.violation(b, g)
        return BoxSolution(b, g, status, violation, problem.objective(b, g), self.iterations)

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
        self, problem: BoxProblem, b: Array, g: Array, chosen: Array, slots: Array, tol: float
    ) -> tuple[str, Array, Array]:
        """Optimise the chosen variables; return how that ended, their change and their g."""
        part, slope = b[chosen], g[chosen]
        ended, steps, _ = _native.smo(
            self.rows.values,
            slots,
            self.rows.columns(chosen),
            problem.lower[chosen],
            problem.upper[chosen],
            problem.kink,
            problem.offset,
            problem.split,
            part,
            slope,
            tol,
            min(self.max_iter - self.iterations, EVERY),
            lambda: self.monitor.stop_reason() is not None,
        )
        self.iterations += steps
        change = part - b[chosen]
        b[chosen] = part
        return ended, change, slope

    def _whole(self, problem: BoxProblem, b: Array, g: Array) -> str:
        """Solve all variables at once, to the last digits where that can be done."""
        everything = np.arange(len(b))
        slots = self.rows.fetch(everything)
        tol, best = self.tol, np.inf
        for _ in range(ROUNDS):
            ended, _, g[:] = self._step(problem, b, g, everything, slots, tol)
            if ended == "converged":
                polish(self.rows, problem, b, g)
                g[:] = self._gradient(problem, b)
            violation = problem.violation(b, g)
            precise = violation <= PRECISE * max(1.0, float(np.abs(g).max()))
            if ended != "converged" or precise or violation > best / 2:
                break
            tol, best = violation / 2, violation
        self.monitor.poll()
        return self._status(problem, b, g, ended)

    def _status(self, problem: BoxProblem, b: Array, g: Array, ended: str) -> str:
        if ended == "unbounded":
            return "unbounded"
        if problem.violation(b, g) <= self.tol:
            return "converged"
        return "iteration limit" if self.iterations >= self.max_iter else "stagnated"

    def _blocks(self, problem: BoxProblem, b: Array, g: Array) -> str:
        size = min(BLOCK, self.rows.room)
        kept = np.zeros(0, dtype=np.int64)
        drift = 0.0  # what rounding may have added to g
        first = violation = problem.violation(b, g)
        stale = 0
        while True:
            if violation <= self.tol:
                if drift <= 0.01 * self.tol:
                    return "converged"
                g[:], drift = self._gradient(problem, b), 0.0
                violation = problem.violation(b, g)
                continue
            if self.iterations >= self.max_iter:
                return self._status(problem, b, g, "iterations")
            chosen = self._choose(problem, b, g, kept, size)
            kept = chosen[: size - min(size // 2, FRESH)]
            slots = self.rows.fetch(chosen)
            inner = max(INNER * violation, 0.5 * self.tol)
            ended, change, _ = self._step(problem, b, g, chosen, slots, inner)
            moved = np.flatnonzero(change)
            self.rows.add(slots[moved], change[moved], g)
            largest = np.abs(self.rows.values[slots, self.rows.columns(chosen)]).max()
            drift += ROUNDING * float(np.abs(change).sum() * largest)
            if ended == "unbounded":
                return ended
            stale = 0 if len(moved) else stale + 1
            if stale > 2:
                g[:] = self._gradient(problem, b)
                return self._status(problem, b, g, ended)
            violation = problem.violation(b, g)
            self._report(violation, first)

    def _report(self, violation: float, first: float) -> None:
        span = np.log(max(first, self.tol) / self.tol)
        done = 1 - np.log(max(violation, self.tol) / self.tol) / span if span > 0 else 1.0
        record: dict[str, Any] = {"stage": "SVM", "fraction": float(np.clip(done, 0, 1))}
        self.monitor.iteration(record | {"iterations": self.iterations, "violation": violation})

    def _choose(self, problem: BoxProblem, b: Array, g: Array, kept: Array, size: int) -> Array:
        """Return the variables of the next block, the new ones first.

        Of these, as many want to rise as to fall; the others are those of the last blocks.
        """
        up, down = problem.slopes(b)
        rising, falling = -(g + up), g + down
        rising[kept] = falling[kept] = -np.inf
        room = size - len(kept)
        if problem.split:
            positive, other = b > 0, b < 0
            wants = [
                np.where(other, -np.inf, rising),
                np.where(other, rising, -np.inf),
                np.where(positive, falling, -np.inf),
                np.where(positive, -np.inf, falling),
            ]
        elif problem.offset:
            wants = [rising, falling]
        else:
            wants = [np.maximum(rising, falling)]
        fresh = np.unique(np.concatenate([_largest(want, room // len(wants)) for want in wants]))
        return np.concatenate([fresh, kept])


def _largest(values: Array, count: int) -> Array:
    """Return the places of the largest numbers that are finite."""
    if count < len(values):
        places = np.argpartition(-values, count)[:count]
    else:
        places = np.arange(len(values))
    return np.asarray(places[np.isfinite(values[places])], dtype=np.int64)
