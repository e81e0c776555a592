"""Searches over the parameters of any estimator, fast where machines can share a kernel matrix."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples, has_fit_parameter

from .. import checks
from ..checks import Array, InputError, KernelError, sentence
from ..fitting.cross_validation import as_score, kept_positions, weight_option
from ..inputs import RowBlocks, as_blocks
from ..jobs import each
from ..models.contract.parameters import seed_of
from ..models.svm.classifier import SVC
from ..models.svm.regressor import SVR
from ..monitor import Monitor
from ..status import Status
from ..typing import (
    Estimator,
    Folds,
    LabelsLike,
    PointsLike,
    Scoring,
    Seed,
    TargetsLike,
    Weights,
)
from .draws import drawn, halved
from .folds import FoldMachines
from .ridge import EVIDENCE, Descent, reason_against, ridge_problem
from .spaces import Distribution, PerColumn, check_space, is_grid
from .tuned import Tuned, make_table


def tune(
    estimator: Estimator,
    X: PointsLike,
    y: TargetsLike | LabelsLike,
    space: Mapping[str, Sequence[Any] | PerColumn | Distribution],
    *,
    cv: Folds = 5,
    scoring: Scoring = None,
    method: str = "auto",
    n_iter: int = 20,
    time_limit: float | None = None,
    random_state: Seed = None,
    sample_weight: Weights = None,
) -> Tuned:
    """Choose the parameters of an estimator that do best on points it has not seen.

    Lists of values are tried in all combinations by cross-validation [1]_. `SVC` and `SVR` are
    found from one C to the next on one kernel matrix for all folds and pairs of classes: points
    held out are variables that stay 0, and get their scores with the others.

    Bounds of real numbers, for `KernelRidge` and `KernelRidgeClassifier`, are searched along the
    exact gradient of the leave-one-out error, which has a closed form, or of the log marginal
    likelihood, by alpha and any parameters of any kernel expression at once. For other estimators
    candidates are drawn at random between the bounds. docs/tuning.md has the formulas.

    Parameters
    ----------
    estimator : estimator
        Any estimator that follows scikit-learn's contract.
    X : array-like, sparse matrix, data frame or sequence of objects
        The n training points.
    y : array-like of shape (n,) or (n, n_outputs)
        What to predict.
    space : dict
        What to try of each parameter: a list of values, such as {"C": [1, 10]}; bounds, as a tuple
        (low, high), with numbers between them taken evenly by their logarithm if both are above 0;
        `PerColumn(low, high)`, the bounds of a number per column; or a distribution of scipy.stats.
    cv : int, splitter or iterable of (train, test), default=5
        Number of folds, a splitter of scikit-learn, or pairs of rows. Not used by "gradient", which
        leaves out each point in turn.
    scoring : str or callable, default=None
        A scorer of scikit-learn or its name; None is the estimator's own score. "evidence" is the
        log marginal likelihood of a ridge model. "gradient" takes names of scorers that are smooth,
        and squared errors of codes -1 and 1 in the place of the accuracy.
    method : {"auto", "grid", "random", "halving", "gradient"}, default="auto"
        "grid" tries all combinations of lists. "random" draws `n_iter` candidates. "halving" draws
        them as well, and drops two thirds after each of several rounds with more and more training
        points. "gradient" is for ridge models. "auto" is "grid" for lists, "gradient" where there
        is one, and otherwise "random", or "halving" from 2,000 points on.
    n_iter : int, default=20
        Number of candidates that are drawn at random; of starts, for "gradient".
    time_limit : float, default=None
        Seconds after which the best candidate so far is taken.
    random_state : int, RandomState or Generator, default=None
        Shuffles the folds where `cv` is a number, and draws candidates. None leaves the points in
        their order and draws with a fixed seed.
    sample_weight : float or array-like of shape (n,), default=None
        Weight of each point in every fit, in the criterion of "gradient", and in the scores of
        scorers that take weights, as in `GridSearchCV`. A point of weight 0 is neither fitted nor
        scored. None is 1 for all.

    Returns
    -------
    Tuned
        The best model, its parameters and score, and the table of all candidates.

    Raises
    ------
    InputError
        If the space is not a mapping from names to what to try of them, if the method asked for
        cannot search it, or if the weights are not what they must be.

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
    >>> from mercer import SVC, KernelRidge, tune
    >>> x = np.linspace(-1.0, 1.0, 40)
    >>> y = np.abs(x) < 0.3
    >>> found = tune(SVC(), x[:, None], y, {"C": [0.001, 10.0]}, cv=4, random_state=0)
    >>> found.params
    {'C': 10.0}
    >>> space = {"kernel__gamma": (0.01, 100.0), "alpha": (1e-6, 1.0)}
    >>> found = tune(KernelRidge(), x[:, None], np.sin(5 * x), space)
    >>> found.method, bool(found.score > 0.999)
    ('gradient', True)
    """
    start = time.monotonic()
    limit = None if time_limit is None else checks.number("tune", "time_limit", time_limit, above=0)
    count = checks.whole("tune", "n_iter", n_iter, least=1)
    checks.one_of("tune", "method", method, METHODS)
    blocks = as_blocks(X)
    X, y = (X, y) if blocks is None else (blocks, np.asarray(y))
    task = _Task(
        estimator=estimator,
        X=X,
        y=y,
        space=check_space(space),
        cv=cv,
        scoring=scoring,
        count=count,
        random_state=random_state,
        deadline=None if limit is None else start + limit,
        weight=_checked_weight(estimator, X, sample_weight),
    )
    found = task.run(method)
    model = clone(estimator).set_params(**found.params)
    model.fit(X, y, **_as_option(task.weight))
    return replace(found, model=model, seconds=time.monotonic() - start)


def _checked_weight(estimator: Any, X: Any, sample_weight: Any) -> Array | None:
    weight = checks.sample_weight("tune", sample_weight, _num_samples(X))
    if weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        must = "the estimator's fit must take sample_weight"
        raise InputError(sentence("tune", must, type(estimator).__name__))
    return weight


def _as_option(weight: Array | None) -> dict[str, Array]:
    return {} if weight is None else {"sample_weight": weight}


METHODS = ("auto", "grid", "random", "halving", "gradient")
MANY_POINTS = 2000  # from which on "auto" drops candidates early


@dataclass(frozen=True, kw_only=True)
class _Task:
    """One search: what is searched, and within which limits."""

    estimator: Any
    X: Any
    y: Any
    space: dict[str, Any]
    cv: Any
    scoring: Any
    count: int
    random_state: Any
    deadline: float | None
    weight: Array | None

    def run(self, method: str) -> Tuned:
        """Return what was found, without a model yet."""
        lists = is_grid(self.space)
        if method == "grid" and not lists:
            must = "a grid needs lists of values"
            advice = "Use method='random' for bounds and distributions."
            raise InputError(sentence("tune", must, checks.show(self.space), advice))
        if method == "grid" or (method == "auto" and lists and self.scoring != EVIDENCE):
            grid = ParameterGrid({name: list(values) for name, values in self.space.items()})
            return self._in_full(list(grid), "grid")
        if method in ("auto", "gradient"):
            found = self._along_gradient(needed=method == "gradient" or self.scoring == EVIDENCE)
            if found is not None:
                return found
        random = np.random.default_rng(seed_of("tune", self.random_state))
        candidates = drawn(self.estimator, self.X, self.space, self.count, random)
        if method == "auto":
            method = "halving" if _num_samples(self.X) >= MANY_POINTS else "random"
        if method == "random":
            return self._in_full(candidates, method)
        return self._by_halving(candidates, random)

    def _along_gradient(self, needed: bool) -> Tuned | None:
        """Return what a search along the gradient finds; None where there is no gradient."""
        reason = reason_against(self.estimator, self.space, self.scoring)
        left = None if self.deadline is None else self.deadline - time.monotonic()
        monitor = Monitor(None if left is None else max(SHARE * left, 1e-3))
        try:
            if reason is None:
                problem = ridge_problem(
                    self.estimator,
                    self.X,
                    self.y,
                    space=self.space,
                    scoring=self.scoring,
                    weight=self.weight,
                    monitor=monitor,
                )
        except KernelError as error:
            reason = str(error)
        if reason is not None and needed:
            must = "a gradient is known for alpha and parameters of the kernel of a ridge model"
            advice = "Use method='random' and a scorer of scikit-learn."
            raise InputError(sentence("tune", must, reason, advice))
        if reason is not None:
            return None
        random = np.random.default_rng(seed_of("tune", self.random_state))
        found = Descent(problem=problem, random=random, starts=self.count).run()
        params, score, _ = found.best
        return Tuned(
            model=None,
            params=params,
            score=score,
            table=make_table([one[0] for one in found.seen], [one[1] for one in found.seen]),
            status=found.status,
            seconds=0.0,
            method="gradient",
            rows=found.rows,
            n_centers=found.n_centers,
        )

    def _search(self, folds: list[tuple[Array, Array]]) -> _Search:
        return _Search(
            estimator=self.estimator,
            X=self.X,
            y=self.y,
            folds=folds,
            scoring=self.scoring,
            weight=self.weight,
        )

    def _all_folds(self) -> list[tuple[Array, Array]]:
        folds = _folds(self.cv, self.y, self.estimator, self.random_state, self.X)
        if isinstance(self.X, RowBlocks):  # which pass by in their order
            folds = [(np.sort(train), np.sort(test)) for train, test in folds]
        return folds if self.weight is None else _with_weight(folds, self.weight > 0)

    def _in_full(self, candidates: list[dict[str, Any]], method: str) -> Tuned:
        search = self._search(self._all_folds())
        scores, status = search.scores(candidates, self.deadline)
        return self._best(candidates, scores, status, method)

    def _by_halving(self, candidates: list[dict[str, Any]], random: np.random.Generator) -> Tuned:
        def score(
            some: list[dict[str, Any]], folds: list[tuple[Array, Array]]
        ) -> tuple[dict[int, Array], Status]:
            return self._search(folds).scores(some, self.deadline)

        left, scores, status = halved(candidates, self._all_folds(), self.y, score, random)
        return self._best(left, scores, status, "halving")

    def _best(
        self,
        candidates: list[dict[str, Any]],
        scores: dict[int, Array],
        status: Status,
        method: str,
    ) -> Tuned:
        order = sorted(scores)
        means = np.array([scores[position].mean() for position in order])
        top = order[int(np.where(np.isnan(means), -np.inf, means).argmax())]
        return Tuned(
            model=None,
            params=candidates[top],
            score=float(scores[top].mean()),
            table=make_table([candidates[p] for p in order], [scores[p] for p in order]),
            status=status,
            seconds=0.0,
            method=method,
            rows=_num_samples(self.X) if self.weight is None else int((self.weight > 0).sum()),
        )


SHARE = 0.9  # of the time for a search along a gradient; the rest is for the last fit


def _folds(cv: Any, y: Any, estimator: Any, seed: Any, X: Any) -> list[tuple[Array, Array]]:
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    if seed is not None and isinstance(cv, int):
        splitter = type(splitter)(cv, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(_num_samples(X)), y))


def _with_weight(folds: list[tuple[Array, Array]], kept: Array) -> list[tuple[Array, Array]]:
    """Return folds without the points that have no weight."""
    found = [(kept_positions(train, kept), kept_positions(test, kept)) for train, test in folds]
    for number, (train, test) in enumerate(found):
        if not (len(train) and len(test)):
            must = "every fold must have training and test points with a weight"
            got = f"{len(train)} and {len(test)} in fold {number}"
            raise InputError(sentence("tune", must, got))
    return found


@dataclass(frozen=True, kw_only=True)
class _Search:
    estimator: Any
    X: Any
    y: Any
    folds: list[tuple[Array, Array]]
    scoring: Any
    weight: Array | None

    def scores(
        self, candidates: list[dict[str, Any]], deadline: float | None
    ) -> tuple[dict[int, Array], Status]:
        """Return the scores by position of the candidate, and whether these are all."""
        scores: dict[int, Array] = {}
        for position, found in self.run(candidates, in_waves=deadline is not None):
            scores[position] = found
            late = deadline is not None and time.monotonic() >= deadline
            if late and len(scores) < len(candidates):
                return scores, Status.TIME_LIMIT
        return scores, Status.COMPLETE

    def run(self, candidates: list[dict[str, Any]], in_waves: bool) -> Iterator[tuple[int, Array]]:
        """Yield the position of a candidate and its scores, one for each fold."""
        jobs: list[tuple[bool, list[int]]] = []
        for positions in self._groups(candidates):
            shared = self._shares([self._model(candidates[position]) for position in positions])
            jobs += [(True, positions)] if shared else [(False, [one]) for one in positions]
        models = [(shared, [self._model(candidates[one]) for one in job]) for shared, job in jobs]
        bare = replace(self, X=None, y=None)  # arrays on their own are sent in better ways
        found: Iterable[list[Array]] = (_scores_of(job, bare, self.X, self.y) for job in models)
        if not isinstance(self.X, RowBlocks):  # whose work goes to them already
            found = each(_scores_of, models, (bare, self.X, self.y), in_waves)
        for (_, positions), scores in zip(jobs, found, strict=False):
            yield from zip(positions, scores, strict=True)

    def _groups(self, candidates: list[dict[str, Any]]) -> list[list[int]]:
        """Return the positions of candidates that differ in C only."""
        groups: dict[str, list[int]] = {}
        for position, candidate in enumerate(candidates):
            others = {name: value for name, value in candidate.items() if name != "C"}
            groups.setdefault(repr(sorted(others.items(), key=str)), []).append(position)
        return list(groups.values())

    def _model(self, candidate: dict[str, Any]) -> Any:
        return clone(self.estimator).set_params(**candidate)

    def _one_by_one(self, candidate: Any) -> Array:
        scores = []
        for train, test in self.folds:
            model = clone(candidate)
            given = [None if self.weight is None else self.weight[rows] for rows in (train, test)]
            model.fit(*self._some(model, train), **_as_option(given[0]))
            scorer = check_scoring(model, self.scoring)
            option = weight_option(scorer, given[1])
            found = scorer(model, *self._some(model, test, train), **option)
            scores.append(as_score("tune", found))
        return np.array(scores)

    def _some(self, model: Any, rows: Array, train: Array | None = None) -> tuple[Any, Any]:
        """Return some points and what belongs to them; points in blocks stay where they are."""
        if isinstance(self.X, RowBlocks):
            return self.X.only(rows), self.y[rows]
        found: tuple[Any, Any] = _safe_split(model, self.X, self.y, rows, train)
        return found

    def _shares(self, models: list[Any]) -> bool:
        """Return whether models that differ in C can be found on one matrix."""
        model = models[0]
        if type(model) not in (SVC, SVR) or getattr(model, "probability", False):
            return False
        if self.weight is not None or isinstance(self.X, RowBlocks):
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


def _scores_of(job: tuple[bool, list[Any]], search: _Search, X: Any, y: Any) -> list[Array]:
    """Return the scores of models; the flag: whether they are found on one matrix."""
    whole, (on_one_matrix, models) = replace(search, X=X, y=y), job
    if on_one_matrix:
        return whole._on_one_matrix(models)
    return [whole._one_by_one(model) for model in models]
