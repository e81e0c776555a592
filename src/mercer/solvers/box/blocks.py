"""Box problems of many variables: blocks of those that violate the conditions most, in turn."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...stages import Stage, State
from ...status import Status
from .problem import BoxProblem
from .whole import solve_whole
from .work import EPSILON, BoxWork, Progress

SLOW = 1e-9  # a fall of the objective, in a window of blocks, that leads nowhere


class Blocks:
    """Solves blocks of variables in turn, the rest standing still.

    b, g: the variables and K b + linear, which `run` moves to the optimum.
    """

    def __init__(self, work: BoxWork, problem: BoxProblem, b: Array, g: Array) -> None:
        self.work, self.problem, self.b, self.g = work, problem, b, g
        sizes, room = work.sizes, work.rows.room
        self.size = min(max(sizes.small, len(b) // sizes.share), sizes.block, room)
        self.small = len(b) <= min(sizes.large, room)
        self.kept = np.zeros(0, dtype=np.int64)  # of the last block, and part of the next
        self.has_last = False  # whether the core has that block
        self.drift = 0.0  # what rounding may have added to g
        self.rounds, self.progress = 0, Progress(SLOW)

    def run(self) -> str:
        """Solve until the conditions hold; return how that ended."""
        with self.work.monitor.stage("blocks") as stage:
            first = self.problem.violation(self.b, self.g)
            if stage.known is not None:
                self._go_on(stage.known)
            return self._run(stage, first)

    def _run(self, stage: Stage, first: float) -> str:
        work, problem, b, g = self.work, self.problem, self.b, self.g
        violation = problem.violation(b, g)
        while True:
            if violation <= work.tol:
                if self.drift <= 0.01 * work.tol:
                    return Status.CONVERGED
                g[:], self.drift = work.gradient(problem, b), 0.0
                violation = problem.violation(b, g)
                continue
            if work.is_over:
                return "iterations"
            if self.small and work.iterations > work.sizes.steps * len(b):
                return solve_whole(work, problem, b, g)
            ended = self._step(max(work.sizes.inner * violation, 0.5 * work.tol))
            violation, self.rounds = problem.violation(b, g), self.rounds + 1
            stuck = self.rounds % work.sizes.window == 0 and not self.progress.made(problem, b, g)
            if ended == Status.UNBOUNDED or stuck:
                g[:] = work.gradient(problem, b)
                return ended
            stage.reached(self._state)
            work.report(violation, first)

    def _state(self) -> State:
        """Return what another process needs to go on after a block."""
        work, progress = self.work, self.progress
        arrays = {"b": self.b.copy(), "g": self.g.copy(), "roots": work.roots.copy()}
        counts = {"iterations": work.iterations, "rounds": self.rounds}
        falls = {"objective": progress.objective, "violation": progress.violation}
        return {**arrays, **counts, **falls, "kept": self.kept, "drift": self.drift}

    def _go_on(self, known: State) -> None:
        """Take up what is known from an earlier process."""
        work, progress = self.work, self.progress
        self.b[:], self.g[:], self.kept = known["b"], known["g"], np.asarray(known["kept"])
        self.rounds, self.drift = int(known["rounds"]), float(known["drift"])
        work.iterations, work.roots = int(known["iterations"]), np.array(known["roots"])
        progress.objective, progress.violation = (
            float(known[name]) for name in ("objective", "violation")
        )

    def _step(self, tol: float) -> str:
        """Choose a block and optimise it; return how that ended."""
        work = self.work
        chosen, old = np.concatenate([self._fresh(), self.kept]), len(self.kept)
        self.kept = chosen[: self.size - self.size // 3]  # a third of the next block is new
        slots = work.fetch(chosen)
        part, slopes = self.b[chosen], self.g[chosen]
        ended = work.pairs(
            self.problem.restricted(chosen),
            part,
            slopes,
            slots=slots,
            columns=work.rows.columns(chosen),
            tol=tol,
            kept=old if self.has_last else 0,
        )
        self.has_last = True
        change = part - self.b[chosen]
        self.b[chosen] = part
        moved = np.flatnonzero(change)
        work.rows.add(slots[moved], change[moved], self.g)
        largest = work.roots.max() * (work.roots[chosen] @ np.abs(change))
        self.drift += EPSILON * float(largest)
        return ended

    def _fresh(self) -> Array:
        """Return variables for the next block that are not among those kept from the last ones.

        As many want to rise as to fall, and each makes a violating pair with some other.
        """
        problem, b, g = self.problem, self.b, self.g
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
        old[self.kept] = True
        room = (self.size - len(self.kept)) // len(wants)
        found = [_largest(np.where(old, -np.inf, want), room, least) for want, least in wants]
        return np.unique(np.concatenate(found))


def _largest(values: Array, count: int, least: float) -> Array:
    """Return the places of the largest numbers above the least that counts."""
    places = np.flatnonzero(values > least)
    if count < len(places):
        places = places[np.argpartition(-values[places], count)[:count]]
    return places.astype(np.int64)
