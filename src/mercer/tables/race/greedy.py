"""Greedy selection of an ensemble from the honest predictions of many candidates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...checks import Array

STEPS = 25
BEGIN = 5  # candidates that an ensemble may begin with
BAGS, FEW_BAGS = 20, 8
SLOW_BAGS = 3  # where the loss is a scorer of a user, of which each call takes a millisecond
CROSSED = 4  # folds of rows that are judged by ensembles chosen on the others
MOST_ROWS = 5000  # that a bag is judged on
SHARE = 0.5  # of the candidates in a bag

Losses = Callable[[Array, Array], Array]  # of stacked evidence, and the places of its rows


def bagged_weights(evidence: Array, losses: Losses, seed: int, bags: int = BAGS) -> Array:
    """Return weights of candidates, of sum 1: the mean over greedy selections from random bags.

    A bag has half of the candidates, and is judged on rows drawn with replacement. A selection from
    all of them would trust differences that are due to chance. evidence: of all candidates, along
    the first axis.

    Caruana, Niculescu-Mizil, Crew, Ksikes, "Ensemble selection from libraries of models" (2004).
    """
    random, (count, n) = np.random.default_rng(seed), evidence.shape[:2]
    total = np.zeros(count)
    for _ in range(bags if count > 1 else 1):
        bag = np.sort(random.choice(count, int(np.ceil(SHARE * count)), replace=False))
        rows = np.sort(random.choice(n, min(n, MOST_ROWS)))
        some = evidence[bag][:, rows]
        total[bag] += greedy_weights(some, partial(_on_rows, losses, rows))
    return np.asarray(total / total.sum())


def crossed_weights(
    evidence: Array, losses: Losses, seed: int, bags: int = FEW_BAGS
) -> list[tuple[Array, Array]]:
    """Return a few folds of the rows, each with the weights that are chosen on all other rows."""
    n = evidence.shape[1]
    order, found = np.random.default_rng(seed).permutation(n), []
    for held in np.array_split(order, min(CROSSED, n)):
        rest = np.setdiff1d(order, held)
        if not len(rest):
            rest = held
        own = partial(_on_rows_of, losses, rest)
        found.append((held, bagged_weights(evidence[:, rest], own, seed, bags)))
    return found


def crossed_mean(stack: Array, crossed: list[tuple[Array, Array]]) -> Array:
    """Return the mean over candidates, of each fold of rows with its own weights.

    stack: of all candidates, along the first axis. crossed: see `crossed_weights`.
    """
    found = np.empty_like(stack[0])
    for held, weights in crossed:
        found[held] = np.tensordot(weights, stack[:, held], axes=1)
    return np.asarray(found)


def _on_rows_of(losses: Losses, rows: Array, evidence: Array, places: Array) -> Array:
    return losses(evidence, rows[places])


def _on_rows(losses: Losses, rows: Array, evidence: Array) -> Array:
    return losses(evidence, rows)


def greedy_weights(evidence: Array, losses: Callable[[Array], Array]) -> Array:
    """Return the weights of an average with a small loss, one per candidate, of sum 1.

    The average begins with the best few candidates, as many as are best together. Then the
    candidate that helps most is added, again and again, also one that is in it already; the best
    average on the way is taken.
    """
    order = np.argsort(losses(evidence), kind="stable")[:BEGIN]
    sizes = np.arange(1, len(order) + 1).reshape(-1, *[1] * (evidence.ndim - 1))
    starts = np.cumsum(evidence[order], axis=0)
    found = losses(starts / sizes)
    begun = int(np.argmin(found))
    counts = np.zeros(len(evidence))
    counts[order[: begun + 1]] = 1.0
    total, best, chosen = starts[begun], float(found[begun]), counts.copy()
    for _ in range(STEPS):
        tried = losses((total + evidence) / (counts.sum() + 1.0))
        place = int(np.argmin(tried))
        counts[place] += 1.0
        total = total + evidence[place]
        if tried[place] < best:
            best, chosen = float(tried[place]), counts.copy()
    return np.asarray(chosen / chosen.sum())
