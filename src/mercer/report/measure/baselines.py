"""What a model must beat: a constant, a linear model, boosted trees, on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from ...checks import Array
from ...tables import TableEncoder
from ..clock import Clock, NotShown
from ..subject import Subject, size_of, taken, values_of
from .honest import Honest
from .splits import thinned

CONSTANT, LINEAR, TREES = "constant", "linear", "trees"
NAMES = (CONSTANT, LINEAR, TREES)
MOST_ROWS = 50_000  # that a baseline is fitted to
DENSE = 20_000_000  # numbers up to which a sparse matrix is made dense for trees
# Seconds of boosting: per row, column, round and output; and per round and output.
PER_NUMBER, PER_ROUND, ROUNDS = 3e-8, 2e-3, 100


def words_of(name: str, subject: Subject) -> str:
    """Return what a baseline is, in words."""
    if name == CONSTANT:
        return "the mean" if subject.classes is None else "the shares of the classes"
    return {LINEAR: "a linear model", TREES: "boosted trees"}[name]


def judged_baseline(
    name: str, subject: Subject, honest: Honest, clock: Clock, seed: int
) -> Array | None:
    """Return what a baseline predicts for the judged rows; None where it cannot."""
    if name in honest.baselines:
        return honest.baselines[name]
    out = np.empty((len(subject), honest.values.shape[1]))
    for train, held in honest.parts:
        found = baseline_values(
            name, subject, train, _points(subject, held), clock=clock, seed=seed
        )
        if found is None:
            return None
        out[held] = found
    return out[honest.rows]


def _points(subject: Subject, rows: Array) -> Any:
    return rows if subject.is_pairwise else taken(subject.X, rows)


def baseline_values(
    name: str, subject: Subject, train: Array, points: Any, clock: Clock, seed: int
) -> Array | None:
    """Return what a baseline fitted to some rows predicts for points; None where it cannot."""
    clock.poll()
    if name == CONSTANT:
        return constant_values(subject, train, size_of(points))
    if subject.table is None and not scipy.sparse.issparse(subject.X):
        return None
    train = thinned(train, MOST_ROWS, subject.codes, seed)
    X = taken(subject.X, train)
    if name == TREES:
        _require_time(subject, len(train), clock)
        if scipy.sparse.issparse(X):
            if max(X.shape[0], points.shape[0]) * X.shape[1] > DENSE:
                return None
            X, points = X.toarray(), points.toarray()
    model = _model(name, subject, seed)
    model.fit(X, subject.y[train])
    return values_of(model, points, subject.classes)


def constant_values(subject: Subject, train: Array, count: int) -> Array:
    """Return the values that predict best without looking, for so many points."""
    if subject.classes is None:
        best = subject.truth[train].mean(axis=0)
    else:
        sizes = np.bincount(subject.truth[train], minlength=len(subject.classes))
        best = sizes / sizes.sum()
    return np.repeat(np.asarray(best)[None], count, axis=0)


def _model(name: str, subject: Subject, seed: int) -> BaseEstimator:
    """Return a baseline, not fitted, that takes the points of a subject."""
    first = MaxAbsScaler() if subject.table is None else TableEncoder()
    if name == LINEAR:
        last = Ridge(alpha=1.0) if subject.classes is None else LogisticRegression(max_iter=300)
        return make_pipeline(first, last)
    options = {"early_stopping": False, "random_state": seed}
    last = HistGradientBoostingClassifier(**options)
    if subject.classes is None:
        last = HistGradientBoostingRegressor(**options)
        if subject.truth.shape[1] > 1:
            last = MultiOutputRegressor(last)
    return last if subject.table is None else make_pipeline(first, last)


def _require_time(subject: Subject, rows: int, clock: Clock) -> None:
    """Refuse a fit of trees that is not likely to end in time: it cannot be stopped."""
    encoder = subject.encoder
    columns = subject.X.shape[1] if encoder is None else encoder.columns_[-1].stop
    outputs = subject.truth.shape[1] if subject.classes is None else len(subject.classes)
    outputs = 1 if outputs == 2 and subject.classes is not None else outputs
    if ROUNDS * outputs * (PER_NUMBER * rows * columns + PER_ROUND) > clock.left:
        raise NotShown("There was no time for boosted trees within the time limit of the report.")
