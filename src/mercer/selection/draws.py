"""Searches among parameters drawn at random: all in full, or fewer and fewer on more points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from ..checks import Array, InputError, sentence
from ..grams.slopes.tagged import points_of
from ..kernels.pairs import as_matrix
from ..models.base import KernelEstimator
from ..status import Status
from ..typing import Estimator, LabelsLike, PointsLike, TargetsLike
from .spaces import PerColumn, draw

FEWER = 3  # of so many candidates one is left after a round, with so many times the points
LEAST_POINTS = 200  # in the first round of a search by halving

Folds = list[tuple[Array, Array]]


# Takes candidates and folds; returns the scores by position, and whether these are all.
Scores = Callable[[list[dict[str, Any]], Folds], tuple[dict[int, Array], Status]]


def drawn(
    estimator: Estimator,
    X: PointsLike,
    space: Mapping[str, Any],
    count: int,
    random: np.random.Generator,
) -> list[dict[str, Any]]:
    """Return candidates at random."""
    columns = {
        name: _columns(estimator, X, name)
        for name, value in space.items()
        if isinstance(value, PerColumn)
    }
    return [
        {name: draw(value, random, columns.get(name)) for name, value in space.items()}
        for _ in range(count)
    ]


def _columns(estimator: Any, X: Any, name: str) -> int:
    """Return how many columns the kernel with the named parameter sees."""
    prefix = "kernel__"
    if not isinstance(estimator, KernelEstimator) or not name.startswith(prefix):
        must = "PerColumn is for parameters of the kernel of a mercer estimator, kernel__gamma"
        raise InputError(sentence("tune", must, repr(name)))
    model = clone(estimator)
    points = model._check_fit(X)
    return as_matrix(points_of(model._kernel(), name.removeprefix(prefix), points)).n_columns


def halved(
    candidates: list[dict[str, Any]],
    folds: Folds,
    y: TargetsLike | LabelsLike,
    score: Scores,
    random: np.random.Generator,
) -> tuple[list[dict[str, Any]], dict[int, Array], Status]:
    """Return the candidates of the last round that was scored in full, and their scores.

    Each round keeps a third of the candidates and takes three times as many training points; the
    last one takes all of them. Candidates are scored on the same points held out each time.
    """
    left = candidates
    known: tuple[list[dict[str, Any]], dict[int, Array]] = (left, {})
    for share, keep in _rounds(len(candidates), min(len(train) for train, _ in folds)):
        part = [(_some(train, share, y, random), test) for train, test in folds]
        scores, status = score(left, part)
        if not status.is_good and known[1]:
            return *known, status
        known = (left, scores)
        if not status.is_good:
            return *known, status
        means = np.array([scores[place].mean() for place in range(len(left))])
        order = np.argsort(np.where(np.isnan(means), np.inf, -means), kind="stable")
        left = [left[place] for place in order[:keep]]
    return *known, Status.COMPLETE


def _rounds(candidates: int, points: int) -> Iterator[tuple[float, int]]:
    """Yield the share of the points of each round and how many candidates it keeps."""
    rounds = 1
    while FEWER**rounds <= candidates and points / FEWER**rounds >= LEAST_POINTS:
        rounds += 1
    for place in range(rounds):
        yield FEWER ** -(rounds - 1 - place), max(1, candidates // FEWER ** (place + 1))


def _some(train: Array, share: float, y: Any, random: np.random.Generator) -> Array:
    """Return a share of training rows at random, the same share of every class."""
    if share >= 1:
        return train
    order = random.permutation(train)
    labels = np.asarray(y)[order]
    if labels.ndim != 1 or labels.dtype.kind == "f":
        return np.sort(order[: max(1, int(np.ceil(share * len(order))))])
    kept = [
        np.flatnonzero(labels == label)[: int(np.ceil(share * (labels == label).sum()))]
        for label in np.unique(labels)
    ]
    return np.sort(order[np.concatenate(kept)])
