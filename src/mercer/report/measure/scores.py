"""Scores of predictions, and how sure they are: the bootstrap over judged rows.

Every score is a function of weighted means of a few statistics per row, so that a draw of the
bootstrap is a vector of weights, and all draws of all scores are one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score

from ...checks import Array

LEAST_CHANCE = 1e-6  # of the class that came true, in a logarithm
DRAWS, FEWEST_DRAWS = 1000, 200
NUMBERS = 2_000_000  # weights that are drawn at a time
COVERAGE = (2.5, 97.5)

LOG_LOSS, ACCURACY, BALANCED, AREA = "log loss", "accuracy", "balanced accuracy", "ROC area"
RMSE, R2, MAE = "RMSE", "R²", "mean absolute error"


@dataclass(frozen=True, kw_only=True)
class Score:
    """One score of a model.

    Attributes
    ----------
    name : str
        What is measured.
    value : float
        The score on all judged rows.
    low : float or None
        The lower end of its 95 % interval over resamples of the judged rows.
    high : float or None
        The upper end.
    folds : tuple of float
        The score in each fold; empty where there are none.
    larger_is_better : bool
        Whether it is a score and not an error.
    """

    name: str
    value: float
    low: float | None
    high: float | None
    folds: tuple[float, ...]
    larger_is_better: bool


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The score of a model minus that of another on the same rows.

    Attributes
    ----------
    value : float
        The difference.
    low : float
        The lower end of its 95 % interval over resamples of the rows, the same for both.
    high : float
        The upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A score as a function of means: statistics(truth, values) has a row per point."""

    name: str
    larger: bool
    statistics: Callable[[Array, Array], Array]
    combine: Callable[[Array], Array]

    def of(self, truth: Array, values: Array) -> float:
        """Return the score of predictions."""
        return float(self.combine(self.statistics(truth, values).mean(axis=0)))


def _first(means: Array) -> Array:
    return np.asarray(means[..., 0])


def _log_losses(truth: Array, values: Array) -> Array:
    chances = values[np.arange(len(truth)), truth]
    return np.asarray(-np.log(np.maximum(chances, LEAST_CHANCE)))[:, None]


def _hits(truth: Array, values: Array) -> Array:
    return np.asarray(values.argmax(axis=1) == truth, dtype=np.float64)[:, None]


def _class_hits(truth: Array, values: Array) -> Array:
    member = np.eye(values.shape[1])[truth]
    return np.hstack([member * _hits(truth, values), member])


def _balanced(means: Array) -> Array:
    """Return the mean share of hits over the classes that are there."""
    hits, members = np.split(means, 2, axis=-1)
    there = members > 0
    shares = np.where(there, hits / np.where(there, members, 1.0), 0.0)
    return np.asarray(shares.sum(axis=-1) / np.maximum(there.sum(axis=-1), 1))


def _squares(truth: Array, values: Array) -> Array:
    """Return the mean squared error over the outputs of each row."""
    return np.asarray(((truth - values) ** 2).mean(axis=1))[:, None]


def _moments(truth: Array, values: Array) -> Array:
    centred = truth - truth.mean(axis=0)  # so that a variance is no difference of large numbers
    return np.hstack([(truth - values) ** 2, centred, centred**2])


def _explained(means: Array) -> Array:
    """Return R², the mean over outputs that vary."""
    errors, first, second = np.split(means, 3, axis=-1)
    variance = second - first**2
    varies = variance > 0
    parts = np.where(varies, 1.0 - errors / np.where(varies, variance, 1.0), 0.0)
    return np.asarray(parts.sum(axis=-1) / np.maximum(varies.sum(axis=-1), 1))


def _absolute(truth: Array, values: Array) -> Array:
    return np.asarray(np.abs(truth - values).mean(axis=1))[:, None]


def _root(means: Array) -> Array:
    return np.sqrt(means[..., 0])


BY_NAME = {
    one.name: one
    for one in (
        Measure(name=LOG_LOSS, larger=False, statistics=_log_losses, combine=_first),
        Measure(name=ACCURACY, larger=True, statistics=_hits, combine=_first),
        Measure(name=BALANCED, larger=True, statistics=_class_hits, combine=_balanced),
        Measure(name=RMSE, larger=False, statistics=_squares, combine=_root),
        Measure(name=R2, larger=True, statistics=_moments, combine=_explained),
        Measure(name=MAE, larger=False, statistics=_absolute, combine=_first),
    )
}


def measures_of(is_class: bool, has_chances: bool) -> tuple[Measure, ...]:
    """Return what predictions are judged by; the first one decides."""
    if not is_class:
        return BY_NAME[RMSE], BY_NAME[R2], BY_NAME[MAE]
    if has_chances:
        return BY_NAME[LOG_LOSS], BY_NAME[ACCURACY], BY_NAME[BALANCED]
    return BY_NAME[ACCURACY], BY_NAME[BALANCED]


def loss_of(measure: Measure, truth: Array, values: Array) -> float:
    """Return what is to be small: the log loss, the share of errors or the squared error."""
    if measure.name == RMSE:
        return float(_squares(truth, values).mean())
    found = measure.of(truth, values)
    return 1.0 - found if measure.larger else found


# --- the bootstrap ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Draws:
    """Random weights of rows, a row per draw; rows of one group have one weight."""

    weights: Array

    @staticmethod
    def of(n: int, groups: Array | None, seed: int) -> Draws:
        """Return draws with replacement, by Poisson's law."""
        random = np.random.default_rng(seed)
        units = n if groups is None else int(groups.max()) + 1
        times = int(np.clip(NUMBERS // n, FEWEST_DRAWS, DRAWS))
        weights = random.poisson(1.0, (times, units)).astype(np.float32)
        if groups is not None:
            weights = weights[:, groups]
        total = weights.sum(axis=1, keepdims=True)
        kept = total[:, 0] > 0  # of few rows a draw may have none
        return Draws(weights[kept] / total[kept])

    def scores(self, measure: Measure, truth: Array, values: Array) -> Array:
        """Return the score in each draw."""
        statistics = measure.statistics(truth, values)
        return measure.combine(self.weights.astype(np.float64) @ statistics)


def interval(draws: Array) -> tuple[float, float]:
    """Return the ends between which 95 % of the draws are."""
    low, high = np.percentile(draws, COVERAGE)
    return float(low), float(high)


def scores_of(
    measures: Sequence[Measure],
    truth: Array,
    values: Array,
    draws: Draws,
    folds: Array | None = None,
) -> tuple[Score, ...]:
    """Return all scores of predictions; folds: the fold of each row."""
    found = []
    for one in measures:
        low, high = interval(draws.scores(one, truth, values))
        parts = [] if folds is None else [folds == fold for fold in np.unique(folds)]
        found.append(
            Score(
                name=one.name,
                value=one.of(truth, values),
                low=low,
                high=high,
                folds=tuple(one.of(truth[part], values[part]) for part in parts),
                larger_is_better=one.larger,
            )
        )
    area = _area(measures, truth, values)
    return tuple(found) if area is None else (*found, area)


def _area(measures: Sequence[Measure], truth: Array, values: Array) -> Score | None:
    """Return the area under the curve of two classes, where there are probabilities."""
    if measures[0].name != LOG_LOSS or values.shape[1] != 2 or len(np.unique(truth)) < 2:
        return None
    value = float(roc_auc_score(truth, values[:, 1]))
    return Score(name=AREA, value=value, low=None, high=None, folds=(), larger_is_better=True)


def difference_of(
    measure: Measure, truth: Array, values: Array, others: Array, draws: Draws
) -> Difference:
    """Return by how much the score of a model differs from that of another."""
    moved = draws.scores(measure, truth, values) - draws.scores(measure, truth, others)
    low, high = interval(moved)
    value = measure.of(truth, values) - measure.of(truth, others)
    return Difference(value=value, low=low, high=high)
