"""The last digits of a box problem: linear equations of the variables between their bounds."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, lapack, lstsq

from ..checks import Array
from .box_problem import BoxProblem
from .rows import KernelRows

MOST = 1000  # variables between bounds: their equations cost the cube of it
ROUNDING = 1e-8  # of equations, against their right side
MOVES = 50  # how many variables may reach a bound on the way


def polish(rows: KernelRows, problem: BoxProblem, b: Array, g: Array) -> bool:
    """Move b, and g = K b + linear with it, to the optimum of the variables between their bounds.

    Solves: K_FF d + E m = -(slopes of F), E' d = 0, with E the sums that are given. A variable that
    reaches a bound on the way stays there. Returns whether the end was reached; b never gets worse.
    """
    everything = np.arange(len(b))
    places, columns = rows.fetch(everything), rows.columns(everything)
    for _ in range(MOVES):
        up, down = problem.slopes(b)
        between = (up == down) & np.isfinite(up)
        free = np.flatnonzero(between & (b != 0) if problem.split else between)
        if not 0 < len(free) <= MOST:
            return len(free) == 0
        slope = g[free] + up[free]
        change = _direction(
            rows.values[np.ix_(places[free], columns[free])], problem, b, free, slope
        )
        if change is None or not float(change @ slope) <= 0:
            return False
        room = np.where(change > 0, problem.room_up(b)[free], problem.room_down(b)[free])
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(change != 0, room / np.abs(change), np.inf)
        whole = min(1.0, float(part.min()))
        before = b[free]
        after = before + whole * change
        stops = part <= whole
        rises = change > 0
        limit = np.where(
            rises,
            np.where(before < 0, 0.0, problem.upper[free]),
            np.where(before > 0, 0.0, problem.lower[free]),
        )
        b[free] = np.where(stops & (whole < 1), limit, after)
        rows.add(places[free], b[free] - before, g)
        if whole == 1.0:
            return True
    return False


def _direction(K: Array, problem: BoxProblem, b: Array, free: Array, slope: Array) -> Array | None:
    sums = [(rises | falls)[free] for rises, falls in problem.sides(b)] if problem.offset else []
    sums = [one for one in sums if one.any()]
    E = np.column_stack(sums).astype(np.float64) if sums else np.zeros((len(free), 0))
    size = len(free) + E.shape[1]
    A = np.zeros((size, size))
    A[: len(free), : len(free)] = K
    A[: len(free), len(free) :], A[len(free) :, : len(free)] = E, E.T
    right = np.concatenate([-slope, np.zeros(E.shape[1])])
    found = _solve(A, right)
    return None if found is None else found[: len(free)]


def _solve(A: Array, right: Array) -> Array | None:
    """Return a solution, the shortest where there are many, as with points that repeat."""
    _, _, found, failed = lapack.dsysv(A, right)
    scale = float(np.abs(right).max(initial=0.0))
    with np.errstate(all="ignore"):
        missed = np.abs(A @ found - right).max(initial=0.0)
    if not failed and missed <= ROUNDING * scale and np.abs(found).max() <= scale / ROUNDING:
        return np.asarray(found)
    try:
        return np.asarray(lstsq(A, right, check_finite=False)[0])
    except (LinAlgError, ValueError):
        return None
