"""Choosing among models: cross-validation in closed form along whole paths."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring

from ..checks import Array, InputError, sentence
from ..solvers import RidgePath
from ..solvers.path import Part

Fold = tuple[Array, Array]  # rows that the model must not see, and those of them to score


class HeldOut(BaseEstimator):  # type: ignore[misc]
    """Predictions that are known already, as an estimator whose points are their row numbers."""

    def __init__(self, values: Any = None) -> None:
        self.values = values

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> HeldOut:
        """Do nothing: scorers want it to exist."""
        return self

    def predict(self, X: Any) -> Array:
        """Return the predictions of the rows."""
        return np.asarray(self.values[X])


class HeldOutNumbers(RegressorMixin, HeldOut):  # type: ignore[misc]
    """Known predictions of numbers."""


class HeldOutClasses(ClassifierMixin, HeldOut):  # type: ignore[misc]
    """Known scores of classes.

    decide: scores to classes; chances: scores to probabilities; shape: scores to those shown.
    """

    def __init__(
        self,
        values: Any = None,
        classes: Any = None,
        decide: Any = None,
        chances: Any = None,
        shape: Any = np.asarray,
    ) -> None:
        super().__init__(values)
        self.classes, self.decide, self.chances, self.shape = classes, decide, chances, shape

    @property
    def classes_(self) -> Any:
        """The classes, as scorers look for them."""
        return self.classes

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the rows."""
        return np.asarray(self.shape(self.values[X]))

    def predict(self, X: Any) -> Array:
        """Return the classes of the rows."""
        return np.asarray(self.decide(self.values[X]))

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the rows."""
        return np.asarray(self.chances(self.values[X]))


@dataclass(frozen=True)
class Candidate:
    """One pair of a kernel and an alpha with its scores, one for each fold.

    error: the mean squared error of the held-out values, which decides between equal scores.
    """

    kernel: Any
    alpha: float
    scores: tuple[float, ...]
    error: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))


@dataclass(frozen=True)
class Search:
    """Scores every alpha of a path.

    targets: (rows, outputs) that were fitted. truth: what the scorer compares with.
    known: turns held-out values into an estimator. folds: None leaves out one point at a time.
    """

    targets: Array
    truth: Array
    known: Callable[[Array], HeldOut]
    scoring: Any
    weight: Array | None
    folds: Sequence[Fold] | None

    def along(self, kernel: Any, path: RidgePath, alphas: Sequence[float]) -> Iterator[Candidate]:
        """Yield a candidate for each alpha."""
        held: list[tuple[Part | None, Array]] = [(None, np.arange(len(self.targets)))]
        if self.folds is not None:
            held = [(path.part(outside), test) for outside, test in self.folds]
        for alpha in alphas:
            yield self._candidate(kernel, path, float(alpha), held)

    def _candidate(
        self, kernel: Any, path: RidgePath, alpha: float, held: list[tuple[Part | None, Array]]
    ) -> Candidate:
        weight = np.ones(len(self.targets)) if self.weight is None else self.weight
        scores, squares, total = [], 0.0, 0.0
        for outside, test in held:
            errors = self._errors(path, alpha, outside)
            known = np.isfinite(errors[test]).all()
            score = self._score(self.known(self.targets - errors), test) if known else np.nan
            scores.append(score)
            squares += float(weight[test] @ (errors[test] ** 2).mean(axis=1))
            total += float(weight[test].sum())
        error = squares / total
        return Candidate(kernel, alpha, tuple(scores), error if np.isfinite(error) else np.inf)

    def _errors(self, path: RidgePath, alpha: float, outside: Part | None) -> Array:
        """Return y - f of rows held out, NaN elsewhere, or everywhere where K is singular."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if outside is None:
                return path.leave_one_out(alpha)
            errors = np.full(self.targets.shape, np.nan)
            with contextlib.suppress(np.linalg.LinAlgError):
                errors[outside.rows] = path.hold_out(alpha, outside)
            return errors

    def _score(self, known: HeldOut, rows: Array) -> float:
        scorer = check_scoring(known, self.scoring)
        if self.weight is None or not _takes_weights(scorer, self.scoring):
            return float(scorer(known, rows, self.truth[rows]))
        return float(scorer(known, rows, self.truth[rows], sample_weight=self.weight[rows]))


def _takes_weights(scorer: Any, scoring: Any) -> bool:
    """Return whether a scorer can weigh samples: an estimator's own score can."""
    function = getattr(scorer, "_score_func", scorer)
    return scoring is None or "sample_weight" in inspect.signature(function).parameters


def best(candidates: Sequence[Candidate], tolerance: float = 0.0) -> int:
    """Return the position of the highest mean score; of equal ones the smallest error decides.

    tolerance: the relative difference up to which scores count as equal.
    """
    means = np.array([c.mean if np.isfinite(c.mean) else -np.inf for c in candidates])
    top = means.max()
    equal = np.flatnonzero(means >= (top - tolerance * abs(top) if np.isfinite(top) else top))
    return int(min(equal, key=lambda position: candidates[int(position)].error))


def ranks(means: Array) -> Array:
    """Return the place of each mean score, 1 for the highest; equal ones share it, NaN is last."""
    places = np.unique(np.where(np.isnan(means), np.inf, -means), return_inverse=True)[1]
    before = np.concatenate([[0], np.cumsum(np.bincount(places))])[:-1]
    return np.asarray(before[places] + 1)


def results(candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Return the table of a search, with scikit-learn's names of columns."""
    means = np.array([c.mean for c in candidates])
    table: dict[str, Any] = {
        "param_kernel": [c.kernel for c in candidates],
        "param_alpha": np.array([c.alpha for c in candidates]),
        "params": [{"kernel": c.kernel, "alpha": c.alpha} for c in candidates],
        "mean_test_score": means,
        "std_test_score": np.array([np.std(c.scores) for c in candidates]),
        "rank_test_score": ranks(means),
        "mean_squared_error": np.array([c.error for c in candidates]),
    }
    for fold in range(len(candidates[0].scores)):
        table[f"split{fold}_test_score"] = np.array([c.scores[fold] for c in candidates])
    return table


def check_folds(who: str, splits: Iterable[tuple[Any, Any]], kept: Array) -> list[Fold]:
    """Return the splits of a splitter as folds of the rows that are kept, numbered anew.

    kept: a mask; rows without weight are neither trained on nor scored.
    """
    found = []
    place = np.cumsum(kept) - 1
    for number, pair in enumerate(splits):
        train, test = (_positions(rows, kept) for rows in pair)
        if len(train) == 0 or len(test) == 0:
            must = "every fold must have training and test rows with a weight"
            raise InputError(sentence(who, must, f"{len(train)} and {len(test)} in fold {number}"))
        if len(np.intersect1d(train, test)) or len(np.unique(train)) < len(train):
            must = "training and test rows of a fold must differ, each training row used once"
            raise InputError(sentence(who, must, f"rows used twice in fold {number}"))
        outside = np.setdiff1d(np.flatnonzero(kept), train)
        found.append((place[outside], place[test]))
    if not found:
        raise InputError(sentence(who, "cv must give at least one fold", "none"))
    return found


def _positions(rows: Any, kept: Array) -> Array:
    found = np.asarray(rows)
    found = np.flatnonzero(found) if found.dtype == bool else found.astype(np.intp)
    return np.asarray(found[kept[found]])
