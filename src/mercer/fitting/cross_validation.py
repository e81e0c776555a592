"""Choosing among models: cross-validation in closed form along whole paths."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import available_if

from ..checks import Array, InputError, sentence, show
from ..solvers import HeldOutPath

Splits = list[tuple[Array, Array]]  # training and test rows
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


def _has_chances(model: Any) -> bool:
    return model.chances is not None


class HeldOutClasses(ClassifierMixin, HeldOut):  # type: ignore[misc]
    """Known scores of classes.

    decide: scores to classes; chances: scores to probabilities, where there are any; shape: scores
    to those shown.
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

    @available_if(_has_chances)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the rows."""
        return np.asarray(self.chances(self.values[X]))


@dataclass(frozen=True, kw_only=True)
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
class Unseen:
    """Values of points that the model which gave them has not seen, to calibrate on."""

    rows: Array
    values: Array
    weight: Array


Known = Callable[[Array, Callable[[], Unseen]], HeldOut]


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a search is about.

    targets: (points, outputs) to fit. truth: what scorers compare with. samples: weights as given;
    weight: those that are fitted with. known: see `Search`. reweigh: training rows to the weights
    of a fit on them, where these depend on the rows.
    """

    targets: Array
    truth: Array
    samples: Array | None
    weight: Array | None
    known: Known
    reweigh: Callable[[Array], Array] | None = None

    def weightings(self, splits: Splits | None) -> tuple[list[Array | None], list[list[int]]]:
        """Return the weights that folds are fitted with, and the numbers of the folds of each."""
        if splits is None or self.reweigh is None:
            return [self.weight], [list(range(1 if splits is None else len(splits)))]
        found: dict[bytes, tuple[Array, list[int]]] = {}
        for number, (train, _) in enumerate(splits):
            weight = self.reweigh(train)
            found.setdefault(weight.tobytes(), (weight, []))[1].append(number)
        return [weight for weight, _ in found.values()], [folds for _, folds in found.values()]


@dataclass(frozen=True, kw_only=True)
class Search:
    """Scores every alpha of a path, as a scorer of scikit-learn does: fold by fold, without weights
    unless it asks for them.

    targets: (rows, outputs) that were fitted. truth: what the scorer compares with.
    known: turns held-out values into an estimator; it may ask for those within the training rows.
    weight: for a scorer that asks, else None. folds: None leaves out one point at a time.
    turns: the folds that share a path, by their numbers.
    """

    targets: Array
    truth: Array
    known: Known
    scoring: Any
    weight: Array | None
    folds: Sequence[Fold] | None
    turns: Sequence[Sequence[int]] = ((0,),)

    @property
    def held(self) -> tuple[int, ...] | None:
        """How many points each fold holds out; None leaves out one at a time."""
        return None if self.folds is None else tuple(len(outside) for outside, _ in self.folds)

    def along(
        self, kernel: Any, paths: Iterable[HeldOutPath], alphas: Sequence[float]
    ) -> Iterator[Candidate]:
        """Yield a candidate for each alpha, given the path of each turn."""
        count = sum(len(turn) for turn in self.turns)
        scores = np.full((len(alphas), count), np.nan)
        squares, sizes = np.zeros(scores.shape), np.zeros(count)
        for number, path in enumerate(paths):
            held = [(fold, *self._held(path, fold)) for fold in self.turns[number]]
            for place, alpha in enumerate(alphas):
                for fold, outside, test in held:
                    found = self._fold(path, float(alpha), outside, test)
                    scores[place, fold], squares[place, fold], sizes[fold] = found
                if number == len(self.turns) - 1:
                    error = squares[place].sum() / sizes.sum()
                    error = error if np.isfinite(error) else np.inf
                    yield Candidate(
                        kernel=kernel,
                        alpha=float(alpha),
                        scores=tuple(scores[place].tolist()),
                        error=error,
                    )

    def _held(self, path: HeldOutPath, fold: int) -> tuple[Any, Array]:
        """Return the points that the model must not see, None for one at a time; and the test."""
        if self.folds is None:
            return None, np.arange(len(self.targets))
        outside, test = self.folds[fold]
        return path.part(outside), test

    def _fold(
        self, path: HeldOutPath, alpha: float, outside: Any, test: Array
    ) -> tuple[float, float, float]:
        """Return the score, and the sum of squared errors with the number of points in it."""
        errors = self._errors(path, alpha, outside)
        values = self.targets - errors

        def unseen() -> Unseen:
            if outside is None:
                rows, within = np.arange(len(values)), values
            else:
                rows, left = path.leave_one_out_of_rest(alpha, outside)
                within = self.targets[rows] - left
            return Unseen(rows, within, path.weight[rows])

        possible = np.isfinite(errors[test]).all()
        score = self._score(self.known(values, unseen), test) if possible else np.nan
        weight = np.ones(len(test)) if self.weight is None else self.weight[test]
        return score, float(weight @ (errors[test] ** 2).mean(axis=1)), float(weight.sum())

    def _errors(self, path: HeldOutPath, alpha: float, outside: Any) -> Array:
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
        given = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        return as_score("scoring", scorer(known, rows, self.truth[rows], **given))


def as_score(who: str, value: Any) -> float:
    """Return what a scorer found, or refuse what is not a number."""
    if hasattr(value, "item") and np.ndim(value) == 0:
        value = value.item()
    if not isinstance(value, Real):
        must = "the scorer must return a number"
        advice = "Give one metric, or a function of (estimator, X, y) that returns a number."
        raise InputError(sentence(who, must, show(value), advice))
    return float(value)


def weight_option(scorer: Any, weight: Array | None) -> dict[str, Array]:
    """Return weights as an option of a scorer; none where it takes none."""
    if weight is None:
        return {}
    known = getattr(scorer, "_accept_sample_weight", None)
    takes = "sample_weight" in signature(scorer).parameters if known is None else known()
    return {"sample_weight": weight} if takes else {}


def asks_for_weights(model: Any) -> bool:
    """Return whether the scorer of a search, or its own score, has requested sample_weight."""
    if not get_config()["enable_metadata_routing"]:
        return False
    asked = model if model.scoring is None else check_scoring(HeldOutNumbers(), model.scoring)
    request = get_routing_for_object(asked)
    return bool(request.consumes("score", ["sample_weight"]))


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
        train, test = (kept_positions(rows, kept) for rows in pair)
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


def kept_positions(rows: Any, kept: Array) -> Array:
    """Return rows, given as positions or as a mask, of which a mask keeps some."""
    found = np.asarray(rows)
    found = np.flatnonzero(found) if found.dtype == bool else found.astype(np.intp)
    return np.asarray(found[kept[found]])
