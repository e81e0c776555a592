"""What a column says of the target by itself."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ...checks import Array
from ..clock import Clock, NotShown
from ..measure.splits import folds_of, thinned
from ..subject import Subject

MOST_ROWS = 2000
FOLDS = 3
LEAST_LEAF, MOST_LEAVES = 3, 256
NEAREST = 3  # rows whose mean predicts a number


def skills_alone(subject: Subject, clock: Clock, seed: int) -> dict[str, float]:
    """Return the skill of a small model on each column, on rows that it has not seen.

    It is R², or the share of the errors of the most frequent class that are avoided.
    """
    if subject.encoder is None:
        raise NotShown("The points are not rows of a table.")
    rows = thinned(np.arange(len(subject)), MOST_ROWS, subject.codes, seed)
    encoded, truth = subject.encode(rows), subject.truth[rows]
    codes = None if subject.classes is None else truth
    groups = None if subject.groups is None else subject.groups[rows]
    parts = folds_of(len(rows), FOLDS, codes, groups, seed)
    found: dict[str, float] = {}
    for column in subject.encoder.columns_:
        if clock.left <= 0 and found:
            break
        clock.poll()
        if column.stop > column.start:
            part = encoded[:, column.start : column.stop]
            found[column.name] = _skill(part, truth, codes is not None, parts, seed)
    return found


def _skill(
    X: Array, truth: Array, is_class: bool, parts: list[tuple[Array, Array]], seed: int
) -> float:
    """Return the skill of a tree or, for numbers, of nearest rows or a line if they do better."""
    options = {"min_samples_leaf": LEAST_LEAF, "random_state": seed}
    options["max_leaf_nodes"] = max(2, min(MOST_LEAVES, len(X) // 10))
    if is_class:
        return _skill_of(DecisionTreeClassifier(**options), X, truth, parts)
    models = (
        DecisionTreeRegressor(**options),
        KNeighborsRegressor(NEAREST, weights="distance"),
        LinearRegression(),
    )
    return max(_skill_of(model, X, truth, parts) for model in models)


def _skill_of(
    model: BaseEstimator, X: Array, truth: Array, parts: list[tuple[Array, Array]]
) -> float:
    wrong, unaided = 0.0, 0.0
    for train, held in parts:
        predicted = model.fit(X[train], truth[train]).predict(X[held])
        if is_classifier(model):
            wrong += float((predicted != truth[held]).sum())
            unaided += float((np.bincount(truth[train]).argmax() != truth[held]).sum())
        else:
            predicted = predicted.reshape(truth[held].shape)
            wrong += float(((predicted - truth[held]) ** 2).sum())
            unaided += float(((truth[train].mean(axis=0) - truth[held]) ** 2).sum())
    return 1.0 - wrong / unaided if unaided > 0 else 0.0
