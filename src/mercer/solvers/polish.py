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
    for _ in range(MOVES):
        up, down = problem.slopes(b)
        between = up == down
        free = np.flatnonzero(between & (b != 0) if problem.split else between)
        if not 0 < len(free) <= min(MOST, rows.room):
            return len(free) == 0
        slope = g[free] + up[free]
        places = rows.fetch(free)
        K = rows.values[places[:, None], rows.columns(free)]
        change = _direction(K, problem, b[free], slope)
        if change is None or not float(change @ slope) <= 0:
            return False
        whole, b[free], moved = _move(problem, b[free], free, change)
        rows.add(places, moved, g)
        if whole:
            return True
    return False


def _move(
    problem: BoxProblem, before: Array, free: Array, change: Array
) -> tuple[bool, Array, Array]:
    """Return whether all of the change was made, until the first bound, where to, and how far."""
    limit = np.where(
        change > 0,
        np.where(before < 0, 0.0, problem.upper[free]),
        np.where(before > 0, 0.0, problem.lower[free]),
    )
    room, wanted = np.abs(limit - before), np.abs(change)
    if (wanted <= room).all():
        return True, before + change, change
    part = np.divide(room, wanted, out=np.full(len(free), np.inf), where=wanted > 0)
    first = part.min()
    after = np.where(part <= first, limit, before + first * change)
    return False, after, after - before


def _direction(K: Array, problem: BoxProblem, b: Array, slope: Array) -> Array | None:
    sums = [rises | falls for rises, falls in problem.sides(b)] if problem.offset else []
    sums = [one for one in sums if one.any()]
    free, size = len(b), len(b) + len(sums)
    A, right = np.zeros((size, size)), np.zeros(size)
    A[:free, :free], right[:free] = K, -slope
    for place, one in enumerate(sums, start=free):
        A[:free, place] = A[place, :free] = one
    found = _solve(A, right)
    return None if found is None else found[:free]


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
