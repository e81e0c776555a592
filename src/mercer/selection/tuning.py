"""Searches over the parameters of any estimator, fast where machines can share a kernel matrix."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from ..fitting.cross_validation import HeldOut, HeldOutClasses, HeldOutNumbers, ranks
from ..fitting.machines import Task
from ..grams import threads
from ..inputs import GramRows
from ..models.svm.classifier import SVC
from ..models.svm.regressor import SVR
from ..monitor import speak_for, user_line
from ..status import Status
from ..typing import Estimator, Folds, LabelsLike, PointsLike, Scoring, Seed, TargetsLike


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
    scores: dict[int, Array] = {}
    status = Status.COMPLETE
    for position, found in search.run(candidates):
        scores[position] = found
        if (
            limit is not None
            and time.monotonic() - start >= limit
            and len(scores) < len(candidates)
        ):
            status = Status.TIME_LIMIT
            break
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

    def run(self, candidates: list[dict[str, Any]]) -> Iterator[tuple[int, Array]]:
        """Yield the position of a candidate and its scores, one for each fold."""
        groups: dict[str, list[int]] = {}
        for position, candidate in enumerate(candidates):
            others = {name: value for name, value in candidate.items() if name != "C"}
            groups.setdefault(repr(sorted(others.items(), key=str)), []).append(position)
        for positions in groups.values():
            some = [candidates[position] for position in positions]
            if self._shares(some):
                for position, scores in zip(positions, self._on_one_matrix(some), strict=True):
                    yield position, scores
            else:
                for position, candidate in zip(positions, some, strict=True):
                    yield position, self._one_by_one(candidate)

    def _one_by_one(self, candidate: dict[str, Any]) -> Array:
        scores = []
        for train, test in self.folds:
            model = clone(self.estimator).set_params(**candidate)
            model.fit(*_safe_split(model, self.X, self.y, train))
            scorer = check_scoring(model, self.scoring)
            scores.append(scorer(model, *_safe_split(model, self.X, self.y, test, train)))
        return np.array(scores, dtype=np.float64)

    def _shares(self, candidates: list[dict[str, Any]]) -> bool:
        """Return whether the candidates, which differ in C, can be found on one matrix."""
        models = [clone(self.estimator).set_params(**candidate) for candidate in candidates]
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
        return bool(np.isfinite([one.C for one in models]).all())

    def _on_one_matrix(self, candidates: list[dict[str, Any]]) -> list[Array]:
        """Return the scores of candidates that differ in C; folds go side by side."""
        models = [clone(self.estimator).set_params(**candidate) for candidate in candidates]
        workers = min(threads(), len(self.folds))
        shares = [range(worker, len(self.folds), workers) for worker in range(workers)]
        scores = np.full((len(models), len(self.folds)), np.nan)
        with ThreadPoolExecutor(workers, initializer=speak_for, initargs=(user_line(),)) as pool:
            jobs = [pool.submit(self._some_folds, models, share, scores) for share in shares]
            for job in jobs:
                job.result()
        return list(scores)

    def _some_folds(self, models: list[Any], folds: Iterable[int], scores: Array) -> None:
        """Write the scores of some folds, from the smallest C to the largest."""
        models = [clone(model) for model in models]
        fitting = _Fitting(models[0], self.X, self.y)
        place_of = np.argsort(fitting.order)
        order = np.argsort([model.C for model in models], kind="stable")
        for fold in folds:
            train, test = (place_of[rows] for rows in self.folds[fold])
            before = None
            for place in order:
                known, before = fitting.known(models[place], train, before)
                scorer = check_scoring(known, self.scoring)
                scores[place, fold] = scorer(known, test, fitting.truth[test])


class _Fitting:
    """Machines on some of the points, that give all points their scores.

    order: of the points; those of a class follow one another, so that what a machine reads of K
    does too. truth: what is to be predicted, in that order.
    """

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        self.regression = isinstance(model, SVR)
        if self.regression:
            self.points = model._check_fit(X)
            self.truth = model._numbers(y, len(self.points))
            self.order = np.arange(len(self.points))
        else:
            data = model._labelled(X, y, None)
            self.order = np.argsort(data.codes, kind="stable")
            if isinstance(data.points, GramRows):  # to order its columns too would copy it
                self.order = np.arange(len(data.codes))
            self.points, self.codes = data.points.take(self.order), data.codes[self.order]
            self.classes, self.by_pairs = model.classes_, model._by_pairs
            self.truth = self.classes[self.codes]
        self.shop = model._shop(self.points, None, [np.arange(len(self.points))])

    def known(self, model: Any, train: Array, before: Any) -> tuple[HeldOut, Any]:
        """Return an estimator that has f of all points by their numbers, and what it came from.

        before: that of a smaller C.
        """
        weights = np.zeros(len(self.points))
        if self.regression:
            weights[train] = 1.0
            tasks = [model._task(self.truth, weights)]
        else:
            model.classes_, model._by_pairs = self.classes, self.by_pairs
            weights[train] = model._weights(self.codes[train], None)[1]
            tasks = self._tasks(model, weights)
        if before is not None:
            C, found = before
            pairs = zip(tasks, found, strict=True)
            tasks = [task.after(solution, model.C / C) for task, solution in pairs]
        machines = [self.shop.solve(task) for task in tasks]
        scores = np.column_stack([machine.scores for machine in machines])
        return self._estimator(model, scores), (model.C, [m.solution for m in machines])

    def _tasks(self, model: Any, weights: Array) -> list[Task]:
        """Return the machines on all points; those of other classes than two stay 0."""
        k, members = len(self.classes), [self.codes == c for c in range(len(self.classes))]
        if k == 2:
            chosen = [(members[1], weights)]
        elif self.by_pairs:
            chosen = [(members[a], weights * (members[a] | members[b])) for a, b in model._pairs()]
        else:
            chosen = [(member, weights) for member in members]
        return [model._task((0,), np.where(m, 1.0, -1.0), weight) for m, weight in chosen]

    def _estimator(self, model: Any, scores: Array) -> HeldOut:
        if self.regression:
            return HeldOutNumbers(scores[:, 0])

        def decide(some: Array) -> Array:
            return np.asarray(self.classes[model._winners(some)])

        return HeldOutClasses(scores, self.classes, decide, shape=model._shaped)
