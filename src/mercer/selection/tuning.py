"""Searches over the parameters of any estimator, fast where machines can share a kernel matrix."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

from .. import checks
from ..checks import Array, InputError, KernelError, sentence
from ..fitting.cross_validation import as_score, ranks
from ..models.svm.classifier import SVC
from ..models.svm.regressor import SVR
from ..status import Status
from ..typing import Estimator, Folds, LabelsLike, PointsLike, Scoring, Seed, TargetsLike
from .folds import FoldMachines


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """What a search found.

    Attributes
    ----------
    model : estimator
        The estimator with the best parameters, fitted on all points.
    params : dict
        The best parameters.
    score : float
        Their mean score over the folds.
    table : dict
        All candidates with their scores; columns have scikit-learn's names.
    status : str
        "complete", or the reason why not.
    seconds : float
        Time that the search took.
    """

    model: Any
    params: dict[str, Any]
    score: float
    table: dict[str, Any]
    status: Status
    seconds: float


def tune(
    estimator: Estimator,
    X: PointsLike,
    y: TargetsLike | LabelsLike,
    space: Mapping[str, Sequence[Any]],
    *,
    cv: Folds = 5,
    scoring: Scoring = None,
    time_limit: float | None = None,
    random_state: Seed = None,
) -> Tuned:
    """Choose the parameters of an estimator that score best in cross-validation.

    `SVC` and `SVR` are found from one C to the next on one kernel matrix for all folds and pairs of
    classes: points held out are variables that stay 0, and get their scores with the others.

    Parameters
    ----------
    estimator : estimator
        Any estimator that follows scikit-learn's contract.
    X : array-like, sparse matrix, data frame or sequence of objects
        The n training points.
    y : array-like of shape (n,) or (n, n_outputs)
        What to predict.
    space : dict
        The values to try of each parameter, such as {"C": [1, 10], "kernel__gamma": [0.1, 1]}.
    cv : int, splitter or iterable of (train, test), default=5
        Number of folds, a splitter of scikit-learn, or pairs of rows.
    scoring : str or callable, default=None
        A scorer of scikit-learn or its name; None is the estimator's own score.
    time_limit : float, default=None
        Seconds after which the best candidate so far is taken.
    random_state : int, RandomState or Generator, default=None
        Shuffles the folds where `cv` is a number; None leaves the points in their order.

    Returns
    -------
    Tuned
        The best model, its parameters and score, and the table of all candidates.

    Raises
    ------
    InputError
        If the space is not a mapping from names to lists of values.

    See Also
    --------
    KernelRidgeCV : Ridge regression that chooses its own alpha and kernel.
    svm_path : Machines for many values of C without cross-validation.

    References
    ----------
    .. [1] C.-W. Hsu, C.-C. Chang, C.-J. Lin, "A practical guide to support vector classification",
       National Taiwan University (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, tune
    >>> x = np.linspace(-1.0, 1.0, 40)
    >>> y = np.abs(x) < 0.3
    >>> found = tune(SVC(), x[:, None], y, {"C": [0.001, 10.0]}, cv=4, random_state=0)
    >>> found.params
    {'C': 10.0}
    """
    start = time.monotonic()
    limit = None if time_limit is None else checks.number("tune", "time_limit", time_limit, above=0)
    candidates = _grid(space)
    search = _Search(
        estimator=estimator,
        X=X,
        y=y,
        folds=_folds(cv, y, estimator, random_state, X),
        scoring=scoring,
    )
    scores, status = search.scores(candidates, None if limit is None else start + limit)
    order = sorted(scores)
    means = np.array([scores[position].mean() for position in order])
    ranked = np.where(np.isnan(means), -np.inf, means)
    top = order[int(ranked.argmax())]
    model = clone(estimator).set_params(**candidates[top]).fit(X, y)
    table = _table([candidates[position] for position in order], [scores[p] for p in order])
    return Tuned(
        model=model,
        params=candidates[top],
        score=float(scores[top].mean()),
        table=table,
        status=status,
        seconds=time.monotonic() - start,
    )


def _grid(space: Any) -> list[dict[str, Any]]:
    if not isinstance(space, Mapping) or not space:
        must = "space must name the values to try of each parameter"
        advice = 'Write {"C": [1, 10, 100]}.'
        raise InputError(sentence("tune", must, checks.show(space), advice))
    for name, values in space.items():
        if isinstance(values, str) or not hasattr(values, "__len__") or len(values) == 0:
            must = f"space[{name!r}] must be a list of one value or more"
            raise InputError(sentence("tune", must, checks.show(values)))
    return list(ParameterGrid({name: list(values) for name, values in space.items()}))


def _folds(cv: Any, y: Any, estimator: Any, seed: Any, X: Any) -> list[tuple[Array, Array]]:
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    if seed is not None and isinstance(cv, int):
        splitter = type(splitter)(cv, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(_num_samples(X)), y))


def _table(candidates: list[dict[str, Any]], scores: list[Array]) -> dict[str, Any]:
    """Return the scores with scikit-learn's names of columns."""
    means = np.array([score.mean() for score in scores])
    table: dict[str, Any] = {"params": candidates, "mean_test_score": means}
    table["std_test_score"] = np.array([score.std() for score in scores])
    table["rank_test_score"] = ranks(means)
    for name in candidates[0]:
        table[f"param_{name}"] = [candidate[name] for candidate in candidates]
    for fold in range(len(scores[0])):
        table[f"split{fold}_test_score"] = np.array([score[fold] for score in scores])
    return table


@dataclass(frozen=True, kw_only=True)
class _Search:
    estimator: Any
    X: Any
    y: Any
    folds: list[tuple[Array, Array]]
    scoring: Any

    def scores(
        self, candidates: list[dict[str, Any]], deadline: float | None
    ) -> tuple[dict[int, Array], Status]:
        """Return the scores by position of the candidate, and whether these are all."""
        scores: dict[int, Array] = {}
        for position, found in self.run(candidates):
            scores[position] = found
            late = deadline is not None and time.monotonic() >= deadline
            if late and len(scores) < len(candidates):
                return scores, Status.TIME_LIMIT
        return scores, Status.COMPLETE

    def run(self, candidates: list[dict[str, Any]]) -> Iterator[tuple[int, Array]]:
        """Yield the position of a candidate and its scores, one for each fold."""
        groups: dict[str, list[int]] = {}
        for position, candidate in enumerate(candidates):
            others = {name: value for name, value in candidate.items() if name != "C"}
            groups.setdefault(repr(sorted(others.items(), key=str)), []).append(position)
        for positions in groups.values():
            models = [self._model(candidates[position]) for position in positions]
            if self._shares(models):
                yield from zip(positions, self._on_one_matrix(models), strict=True)
            else:
                for position, model in zip(positions, models, strict=True):
                    yield position, self._one_by_one(model)

    def _model(self, candidate: dict[str, Any]) -> Any:
        return clone(self.estimator).set_params(**candidate)

    def _one_by_one(self, candidate: Any) -> Array:
        scores = []
        for train, test in self.folds:
            model = clone(candidate)
            model.fit(*_safe_split(model, self.X, self.y, train))
            scorer = check_scoring(model, self.scoring)
            found = scorer(model, *_safe_split(model, self.X, self.y, test, train))
            scores.append(as_score("tune", found))
        return np.array(scores)

    def _shares(self, models: list[Any]) -> bool:
        """Return whether models that differ in C can be found on one matrix."""
        model = models[0]
        if type(model) not in (SVC, SVR) or getattr(model, "probability", False):
            return False
        try:
            model._kernel().require_resolved()  # else it depends on the points of the fold
        except KernelError:
            return False
        if type(model) is SVC:
            labels = np.asarray(self.y)
            count = len(np.unique(labels))
            if any(len(np.unique(labels[train])) < count for train, _ in self.folds):
                return False
        return all(np.isfinite(one._cost(one.C)) for one in models)

    def _on_one_matrix(self, models: list[Any]) -> list[Array]:
        """Return the scores of models that differ in C."""
        return list(FoldMachines(models, self.X, self.y, self.folds).scores(self.scoring))
