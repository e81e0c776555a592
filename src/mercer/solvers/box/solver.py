"""Quadratic problems in a box: the dual of every support vector machine."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from ... import _native
from ...checks import Array
from ...linalg.blas import blas_threads
from ...monitor import Monitor, Stopped
from ...status import Status
from .active_set import ActiveSet
from .problem import BoxProblem, BoxSolution
from .rows import KernelRows

WHOLE = 2000  # variables up to which the whole problem is one block
BLOCK = 1536  # variables that change together, at most
SMALL = 512  # and of few variables, at least
SHARE = 20  # else this part of all; a third of a block are new
INNER = 0.1  # of the violation at hand: how far a block is solved
STEPS = 100  # of two variables, per variable of a block, before something else is tried
LARGE = 4000  # variables up to which that is an active set, on a copy of K
MEMBERS = 1000  # of an active set: a step costs the square of it, to let one go the cube
ROUNDS = 1000  # of steps of two variables and active sets in turn
UNTHREADED = 100  # variables up to which BLAS uses one thread of its own accord
WINDOW = 100  # blocks after which progress is looked for
EPSILON = float(np.finfo(np.float64).eps)
ROUNDING = 4 * EPSILON  # of sums of kernel values, themselves rounded, against their terms
EVERYTHING = slice(None)
SLOW = 1e-9  # and one that leads nowhere, in a window


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
        self.roots = np.zeros(len(b))  # of the diagonal of K, where it is known
        self.left: tuple[float, float] | None = None
        slopes = problem.linear.astype(np.float64) if g is None else g.copy()
        try:
            if g is None:
                slopes = self._gradient(problem, b)
            moving = np.flatnonzero(problem.lower < problem.upper)
            if len(moving) <= min(WHOLE, self.rows.room):
                ended = self._whole(problem, b, slopes, moving)
            else:
                ended = self._blocks(problem, b, slopes)
        except Stopped as stop:
            ended = stop.reason
        violation, rounding = self.left or self._violation(problem, b, slopes)
        return BoxSolution(
            b=b,
            g=slopes,
            status=self._status(ended, violation, rounding),
            violation=violation,
            rounding=rounding,
            objective=problem.objective(b, slopes),
            iterations=self.iterations,
        )

    def _violation(self, problem: BoxProblem, b: Array, g: Array) -> tuple[float, float]:
        """Return the violation, and how much of it may be rounding."""
        violation = problem.violation(b, g)
        return violation, violation - problem.violation(b, g, self._unsure(problem, b))

    def _status(self, ended: str, violation: float, rounding: float) -> Status:
        if ended == Status.UNBOUNDED:
            return Status.UNBOUNDED
        if violation <= self.tol and (self.iterations or ended == Status.CONVERGED):
            return Status.CONVERGED
        if ended in (Status.TIME_LIMIT, Status.CANCELLED):
            return Status(ended)
        if self.iterations >= self.max_iter:
            return Status.ITERATION_LIMIT
        return Status.ROUNDING if violation - rounding <= self.tol else Status.STAGNATED

    def _unsure(self, problem: BoxProblem, b: Array, chosen: Array | slice = EVERYTHING) -> Array:
        """Return by how much rounding may change K b + linear, by Cauchy and Schwarz."""
        roots = self.roots[chosen]
        products = roots * float(roots @ np.abs(b))
        spread = max(1.0, math.sqrt(np.count_nonzero(b)) / 4)  # of m errors, against one
        return np.asarray(spread * ROUNDING * (products + np.abs(problem.linear)))

    def _fetch(self, chosen: Array) -> Array:
        """Return the places of rows, and note the roots of their diagonal."""
        slots = self.rows.fetch(chosen)
        self.roots[chosen] = np.sqrt(np.abs(self.rows.values[slots, self.rows.columns(chosen)]))
        return slots

    def _gradient(self, problem: BoxProblem, b: Array) -> Array:
        """Return K b + linear, summed anew."""
        g = problem.linear.astype(np.float64)
        used = np.flatnonzero(b)
        step = min(BLOCK, self.rows.room)
        for start in range(0, len(used), step):
            some = used[start : start + step]
            self.rows.add(self._fetch(some), b[some], g)
        return g

    def _step(
        self, problem: BoxProblem, b: Array, g: Array, chosen: Array, tol: float, kept: int
    ) -> tuple[str, Array, Array]:
        """Optimise the chosen variables; return how that ended, the places of their rows in
        memory, and their change.

        kept: as many of the last ones were the first ones of the block before.
        """
        slots = self._fetch(chosen)
        part, slopes = b[chosen], g[chosen]
        some = problem.restricted(chosen)
        ended = self._pairs(some, part, slopes, slots, self.rows.columns(chosen), tol, kept)
        change = part - b[chosen]
        b[chosen] = part
        return ended, slots, change

    def _pairs(
        self,
        problem: BoxProblem,
        b: Array,
        g: Array,
        slots: Array,
        columns: Array,
        tol: float,
        kept: int,
        lazy: bool = False,
    ) -> str:
        """Optimise all variables of a problem by steps of two; return how that ended.

        lazy: rows are read when a step needs them, of a block of which no later one keeps a part.
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
            min(self.max_iter - self.iterations, STEPS * len(b)),
            self._is_stopped,
            lazy,
        )
        self.iterations += steps
        return str(ended)

    def _is_stopped(self) -> bool:
        return self.monitor.stop_reason() is not None

    def _whole(self, problem: BoxProblem, b: Array, g: Array, moving: Array) -> str:
        """Solve all variables that can move at once, to the last digits where that can be done."""
        slots = self._fetch(moving)
        if len(moving) == len(b):
            ended = self._turns(problem, b, g, moving, slots)
        else:
            x, slopes = b[moving], g[moving]
            try:
                ended = self._turns(problem.restricted(moving), x, slopes, moving, slots)
            finally:
                b[moving] = x
                g[:] = self._gradient(problem, b)
        self.monitor.poll()
        return ended

    def _turns(self, part: BoxProblem, b: Array, g: Array, moving: Array, slots: Array) -> str:
        """Take steps of two variables, and equations for those between their bounds, in turn."""
        columns = self.rows.columns(moving)
        tol, progress, best = self.tol, Progress(ROUNDING), (math.inf, b, g)
        for turn in range(ROUNDS):
            ended = self._pairs(part, b, g, slots, columns, tol, len(b) if turn else 0, lazy=True)
            goes_on = ended != Status.UNBOUNDED and self.iterations < self.max_iter
            if goes_on and self._polish(part, b, g):
                return ended
            few = len(part.free(b)) <= MEMBERS
            if goes_on and few:
                ended = self._active_set(part, b, g, moving) or ended
            else:
                g[:] = self._sums(part, b, slots, columns)
            violation = part.violation(b, g)
            self._report(violation, violation)
            if violation < best[0]:
                best = violation, b.copy(), g.copy()
            over = ended == Status.UNBOUNDED or self.iterations >= self.max_iter
            reached = violation <= self.tol and (not few or self._is_exact(part, b, g, moving))
            if over or reached or not progress.made(part, b, g):
                break
            tol = min(tol, violation) / 2
        _, b[:], g[:] = best
        return ended

    def _polish(self, part: BoxProblem, b: Array, g: Array) -> bool:
        """Move b to the last digits where pairs have found out who is at a bound.

        Equations for the others are then all it takes. Returns whether that has been the case.
        """
        exact, violation, rounding = self.block.polish(
            self.rows.values,
            part.linear,
            part.lower,
            part.upper,
            part.kink,
            part.offset,
            part.split,
            b,
            g,
            ROUNDING,
            MEMBERS,
            self._is_stopped,
        )
        if not exact or violation > self.tol:
            return False
        self.left = violation, rounding
        self._report(violation, violation)
        return True

    def _sums(self, part: BoxProblem, b: Array, slots: Array, columns: Array) -> Array:
        """Return K b + linear of variables whose rows are there."""
        g = part.linear.copy()
        used = np.flatnonzero(b)
        _native.add_rows(self.rows.values, slots[used], b[used], columns, g)
        return g

    def _is_exact(self, part: BoxProblem, b: Array, g: Array, moving: Array) -> bool:
        """Return whether what is left of the violation may all be rounding."""
        return part.violation(b, g, self._unsure(part, b, moving)) == 0

    def _active_set(self, part: BoxProblem, b: Array, g: Array, moving: Array) -> str:
        """Move b, and g with it, to the optimum; return Status.UNBOUNDED if there is none."""
        # Threads of BLAS wait for one another in every small step, for ever if busy.
        alone = blas_threads(1) if len(moving) > UNTHREADED else contextlib.nullcontext()
        slots, columns = self._fetch(moving), self.rows.columns(moving)
        K = self.rows.values[slots[:, None], columns].astype(np.float64, copy=False)
        with alone, np.errstate(over="ignore"):  # room without end, against a tiny step
            method = ActiveSet(K, part, b, g, self.monitor)
            b[:] = method.run()
        self.iterations += method.changes
        g[:] = self._sums(part, b, slots, columns)
        return Status.UNBOUNDED if method.unbounded else ""

    def _blocks(self, problem: BoxProblem, b: Array, g: Array) -> str:
        """Solve blocks of variables in turn; return how that ended."""
        size = min(max(SMALL, len(b) // SHARE), BLOCK, self.rows.room)
        kept = np.zeros(0, dtype=np.int64)
        drift = 0.0  # what rounding may have added to g
        first = violation = problem.violation(b, g)
        progress, rounds = Progress(SLOW), 0
        while True:
            if violation <= self.tol:
                if drift <= 0.01 * self.tol:
                    return Status.CONVERGED
                g[:], drift = self._gradient(problem, b), 0.0
                violation = problem.violation(b, g)
                continue
            if self.iterations >= self.max_iter:
                return "iterations"
            small = len(b) <= min(LARGE, self.rows.room)
            if small and self.iterations > STEPS * len(b):
                return self._whole(problem, b, g, np.flatnonzero(problem.lower < problem.upper))
            fresh = self._choose(problem, b, g, kept, size)
            chosen, old = np.concatenate([fresh, kept]), len(kept)
            kept = chosen[: size - size // 3]
            inner = max(INNER * violation, 0.5 * self.tol)
            ended, slots, change = self._step(problem, b, g, chosen, inner, old)
            moved = np.flatnonzero(change)
            self.rows.add(slots[moved], change[moved], g)
            drift += EPSILON * float(self.roots.max() * (self.roots[chosen] @ np.abs(change)))
            violation, rounds = problem.violation(b, g), rounds + 1
            stuck = rounds % WINDOW == 0 and not progress.made(problem, b, g)
            if ended == Status.UNBOUNDED or stuck:
                g[:] = self._gradient(problem, b)
                return ended
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
