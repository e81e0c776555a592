"""Greedy selection of an ensemble from the honest predictions of many candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...checks import Array

STEPS = 40
BEGIN = 5  # candidates that an ensemble may begin with


def greedy_weights(evidence: Sequence[Array], loss: Callable[[Array], float]) -> Array:
    """Return the weights of the average with a small loss, one per candidate, of sum 1.

    The average begins with the best few candidates, as many as are best together. Then the
    candidate that helps most is added, again and again, also one that is in it already; the best
    average on the way is taken. A candidate that is in already wins a tie.

    Caruana, Niculescu-Mizil, Crew, Ksikes, "Ensemble selection from libraries of models" (2004).
    """
    losses = [loss(one) for one in evidence]
    order = np.argsort(losses, kind="stable")
    counts = np.zeros(len(evidence))
    total = np.zeros_like(evidence[0])
    best, chosen = np.inf, counts
    begun, begun_total = counts, total
    for place in order[:BEGIN]:
        counts, total = counts + (np.arange(len(counts)) == place), total + evidence[place]
        found = loss(total / counts.sum())
        if found < best:
            best, chosen = found, counts
            begun, begun_total = counts, total
    counts, total = begun.copy(), begun_total.copy()
    for _ in range(STEPS):
        size = counts.sum() + 1
        tried = np.array([loss((total + one) / size) for one in evidence])
        place = int(min(range(len(tried)), key=lambda i: (tried[i], -counts[i])))
        counts[place] += 1
        total += evidence[place]
        if tried[place] < best:
            best, chosen = tried[place], counts.copy()
    return np.asarray(chosen / chosen.sum())
