"""The search for a penalty."""

from __future__ import annotations

from collections.abc import Callable

STEP = 4.0  # between two penalties
LEAST, MOST = 1e-6, 1e4
TRIES = 1000  # more than there are between the ends


def downhill(judge: Callable[[float], float], start: float, most: int = TRIES) -> float:
    """Return the penalty with the smallest loss, searched from a start as long as the loss falls.

    judge: returns the loss of a penalty. most: how many may be tried.
    """
    losses = {start: judge(start)}
    for factor in (STEP, 1.0 / STEP):
        best, penalty = losses[start], start * factor
        while len(losses) < most and LEAST <= penalty <= MOST:
            losses[penalty] = judge(penalty)
            if not losses[penalty] < best:
                break
            best, penalty = losses[penalty], penalty * factor
        if min(losses, key=lambda one: losses[one]) != start:
            break
    return min(losses, key=lambda one: losses[one])
