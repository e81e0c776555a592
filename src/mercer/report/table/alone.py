"""What a column says of the target by itself."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ...checks import Array
from ..clock import Clock, NotShown
from ..measure.splits import folds_of, thinned
from ..subject import Subject

MOST_ROWS = 2000
FOLDS = 3
LEAST_LEAF = 3


def skills_alone(subject: Subject, clock: Clock, seed: int) -> dict[str, float]:
    """Return the skill of a decision tree on each column, on rows that it has not seen.

    It is R², or the share of the errors of the most frequent class that are avoided.
    """
    if subject.encoder is None:
        raise NotShown("The points are not rows of a table.")
    rows = thinned(np.arange(len(subject)), MOST_ROWS, subject.codes, seed)
    encoded, truth = subject.encoded[rows], subject.truth[rows]
    codes = None if subject.classes is None else truth
    groups = None if subject.groups is None else subject.groups[rows]
    parts = folds_of(len(rows), FOLDS, codes, groups, seed)
    found = {}
    for column in subject.encoder.columns_:
        clock.poll()
        if column.stop > column.start:
            part = encoded[:, column.start : column.stop]
            found[column.name] = _skill(part, truth, codes is not None, parts, seed)
    return found


def _skill(
    X: Array, truth: Array, is_class: bool, parts: list[tuple[Array, Array]], seed: int
) -> float:
    kind = DecisionTreeClassifier if is_class else DecisionTreeRegressor
    leaves = max(2, min(256, len(X) // 10))
    wrong, unaided = 0.0, 0.0
    for train, held in parts:
        tree = kind(max_leaf_nodes=leaves, min_samples_leaf=LEAST_LEAF, random_state=seed)
        predicted = tree.fit(X[train], truth[train]).predict(X[held])
        if is_class:
            wrong += float((predicted != truth[held]).sum())
            unaided += float((np.bincount(truth[train]).argmax() != truth[held]).sum())
        else:
            predicted = predicted.reshape(truth[held].shape)
            wrong += float(((predicted - truth[held]) ** 2).sum())
            unaided += float(((truth[train].mean(axis=0) - truth[held]) ** 2).sum())
    return 1.0 - wrong / unaided if unaided > 0 else 0.0
