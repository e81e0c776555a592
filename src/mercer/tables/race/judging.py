"""Candidates and their honest judgement: predictions of rows by models that have not seen them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from ...checks import Array
from ...fitting.penalties import downhill
from ...fitting.rfm.recursion import Recursion, Sample
from ...fitting.rfm.search import MetricSearch, Tried
from ...fitting.ridge.dense import dense_gram
from ...kernels import Kernel
from ...models import SVC, SVR, KernelMachineClassifier, KernelRidge
from ...models.base import KernelEstimator
from ...monitor import Monitor, Stopped, muted
from ...run import Run
from .ridges import RidgeScores
from .splits import Splits
from .tasks import PLAIN, ClassTask, Task, loss_of, readings
from .views import UNIT, TableView

TRIES = 8  # penalties of one candidate
GRADIENT_ROWS = 2000  # at which the gradient is taken for a metric
RIDGES = ("ridge", "rfm")  # the learners whose models are ridge models
TREES = "trees"  # the learner that is no kernel model, for comparison
# One fit to all rows, of the time that it takes to judge a candidate.
FIT_SHARE = {"ridge": 0.7, "rfm": 0.3, "svm": 0.3, "logistic": 0.3, TREES: 0.5}
MACHINE_SHARE = 0.05  # of the time, that a machine may take for a fit
LEAST_SECONDS = 0.1  # of a fit, however late it is
ACCURACY = 1e-3  # of fits whose predictions are averaged with others


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A model to be judged.

    learner: "ridge", "rfm", "svm", "logistic" or "trees". view: of the table. family, width: of the
    kernel, see `TableView.kernel`. target: what is fitted, see `Task`. penalty: alpha, or C of an
    "svm"; where a search starts. steps, diagonal: of the metric of an "rfm".
    """

    learner: str
    view: str
    family: str
    width: float
    target: str = PLAIN
    penalty: float = 1.0
    steps: int = 0
    diagonal: bool = True

    @property
    def name(self) -> str:
        """A short text that tells it from all others."""
        if self.learner == TREES:
            return "boosted trees" if self.target == PLAIN else f"boosted trees {self.target}"
        words = [self.learner, self.family, f"{self.width:g}", self.view]
        if self.learner == "rfm":
            words.append(f"{'diagonal' if self.diagonal else 'full'} {self.steps}")
        return " ".join(words if self.target == PLAIN else [*words, self.target])


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A candidate with its honest predictions.

    candidate: with the penalty that was best. link, values, evidence, loss: see `Task`; of the rows
    that are judged. seconds: that it took. trained, kernel, model: where one model gave all
    predictions, on how many rows it was fitted, its kernel, and the model itself.
    """

    candidate: Candidate
    link: float
    values: Array
    evidence: Array
    loss: float
    seconds: float
    trained: int | None = None
    kernel: Kernel | None = None
    model: BaseEstimator | None = None

    @property
    def fit_seconds(self) -> float:
        """The seconds that a fit to all rows is likely to take."""
        return self.seconds * FIT_SHARE[self.candidate.learner]

    @property
    def name(self) -> str:
        """A short text that tells it from all others."""
        rows = "" if self.trained is None else f" ({self.trained} rows)"
        return self.candidate.name + rows


@dataclass(frozen=True, kw_only=True)
class Judge:
    """What judges of candidates know of a table.

    task: what is to be predicted. views: of the table. splits: who may see what.
    """

    task: Task
    views: Mapping[str, TableView]
    splits: Splits
    run: Run

    @property
    def monitor(self) -> Monitor:
        """What stops a judgement that takes too long."""
        return self.run.monitor

    @property
    def width(self) -> int:
        """The number of columns of the widest view."""
        return max(int(view.X.shape[1]) for view in self.views.values())

    @property
    def training_rows(self) -> list[Array]:
        """The rows that models which are judged are fitted to."""
        return [train for train, _ in self.splits.parts]

    def without_limit(self) -> Self:
        """Return the same judge without a clock."""
        return replace(self, run=replace(self.run, monitor=Monitor()))

    def kernel_of(self, candidate: Candidate) -> Kernel | None:
        """Return the kernel of a candidate, before a metric is learnt; None for trees."""
        if candidate.learner == TREES:
            return None
        return self.views[candidate.view].kernel(candidate.family, candidate.width)

    def metric_search(
        self, candidate: Candidate, rows: Array, folds: Sequence[tuple[Array, Array]]
    ) -> MetricSearch:
        """Return metrics learnt for a candidate, judged on rows that they have not seen.

        folds: pairs of positions in rows.
        """
        task, target = self.task, candidate.target

        def loss(scores: Array, places: Array) -> float:
            own = rows[places]
            values = task.values(scores, task.link(scores, own, target), target)
            return loss_of(task, values, own)

        search = MetricSearch(
            recursion=self.recursion_of(candidate),
            sample=self.sample_of(candidate, rows),
            loss=loss,
            folds=folds,
            widths=(candidate.width,),
            alphas=None,
            steps=candidate.steps,
            fixed=False,
            monitor=self.monitor,
        )
        search.follow(Tried(width=candidate.width, alpha=candidate.penalty, steps=0))
        return search

    def recursion_of(self, candidate: Candidate) -> Recursion:
        """Return how the metric of a candidate is learnt."""
        return Recursion(
            kernel=UNIT[candidate.family],
            width=candidate.width,
            alpha=candidate.penalty,
            diagonal=candidate.diagonal,
            gradient_rows=GRADIENT_ROWS,
            seed=self.run.seed,
        )

    def sample_of(self, candidate: Candidate, rows: Array) -> Sample:
        """Return rows as a candidate sees them."""
        return Sample(
            X=self.views[candidate.view].X[rows],
            targets=self.task.targets(candidate.target)[rows],
            weight=self.task.weights(rows),
        )

    def model_of(self, candidate: Candidate, kernel: Kernel | None) -> BaseEstimator:
        """Return the estimator of a candidate, not fitted."""
        if candidate.learner == TREES:
            from sklearn import ensemble  # here: it takes long to load, and encoders do without

            if isinstance(self.task, ClassTask):
                boosted = ensemble.HistGradientBoostingClassifier
            else:
                boosted = ensemble.HistGradientBoostingRegressor
            return boosted(early_stopping=False, random_state=self.run.seed)
        model: KernelEstimator
        if candidate.learner == "logistic":
            model = KernelMachineClassifier(alpha=candidate.penalty, tol=ACCURACY)
        elif candidate.learner == "svm":
            kind = SVC if isinstance(self.task, ClassTask) else SVR
            model = kind(C=candidate.penalty)
        else:
            model = KernelRidge(alpha=candidate.penalty, fit_intercept=True, tol=ACCURACY)
        run = self.run
        return model.set_params(
            kernel=kernel, n_jobs=run.n_jobs, memory_limit=run.memory_limit, random_state=run.seed
        )

    def fitted(
        self,
        candidate: Candidate,
        kernel: Kernel | None,
        rows: Array,
        within: float | None = None,
        **options: object,
    ) -> BaseEstimator:
        """Return the model of a candidate fitted to rows; within: so many seconds.

        options: parameters that differ from those of `model_of`.
        """
        model = self.model_of(candidate, kernel).set_params(**options)
        limit = self.monitor.time_limit
        if within is None and limit is not None:
            left = limit - self.monitor.seconds
            most = left if candidate.learner in RIDGES else MACHINE_SHARE * limit
            within = max(min(left, most), LEAST_SECONDS)
        if candidate.learner != TREES:
            model.set_params(time_limit=within)
        sample = self.sample_of(candidate, rows)
        y = sample.targets
        if candidate.learner not in RIDGES:
            y = self.task.codes[rows] if isinstance(self.task, ClassTask) else y[:, 0]
        with muted():
            return model.fit(sample.X, y, sample_weight=sample.weight)

    def judged(self, candidate: Candidate, scores: Array, seconds: float) -> Judged:
        """Return what honest scores of the judged rows are worth, in their best reading."""
        kinds = readings(self.task, candidate.target, candidate.learner in RIDGES)
        read = [_read(self, replace(candidate, target=kind), scores, seconds) for kind in kinds]
        return min(read, key=lambda one: one.loss)

    def best(self, candidate: Candidate, try_one: Callable[[Candidate], Judged]) -> Judged:
        """Return the candidate with the best penalty; try_one: judges it with its own."""
        found: dict[float, Judged] = {}

        def loss(penalty: float) -> float:
            found[penalty] = try_one(replace(candidate, penalty=penalty))
            return found[penalty].loss

        start = time.monotonic()
        try:
            downhill(loss, candidate.penalty, TRIES)
        except Stopped:
            if not found:
                raise
        best = min(found.values(), key=lambda one: one.loss)
        return replace(best, seconds=time.monotonic() - start)


def _read(judge: Judge, candidate: Candidate, scores: Array, seconds: float) -> Judged:
    """Return what scores are worth if they are of the target of the candidate."""
    rows, task = judge.splits.rows, judge.task
    link, values, evidence, loss = 1.0, scores, scores, np.inf
    if np.isfinite(scores).all():
        link = task.link(scores, rows, candidate.target)
        values = task.values(scores, link, candidate.target)
        evidence = task.evidence(values, rows)
        loss = task.loss(evidence, rows)
    return Judged(
        candidate=candidate,
        link=link,
        values=values,
        evidence=evidence,
        loss=loss,
        seconds=seconds,
    )


def sees_all_classes(judge: Judge) -> bool:
    """Return whether all fits that are judged have rows of every class: machines need them."""
    task = judge.task
    return not isinstance(task, ClassTask) or all(
        len(np.unique(task.codes[rows])) == task.count for rows in judge.training_rows
    )


class FoldJudge(Judge):
    """Judges all rows: each by a model without it, or without its fold."""

    def judge(self, candidate: Candidate) -> list[Judged]:
        """Return the candidate judged; of an "rfm" one for each number of steps."""
        start = time.monotonic()
        if candidate.learner == "rfm":
            return self._recursive(candidate, start)
        if candidate.learner == TREES:
            return [self._scored(candidate, self._by_folds(candidate), start)]
        scores = self._ridge(candidate) if candidate.learner == "ridge" else self._by_folds
        return [self.best(candidate, lambda one: self._scored(one, scores(one), start))]

    def _scored(self, candidate: Candidate, scores: Array, start: float) -> Judged:
        return self.judged(candidate, scores, time.monotonic() - start)

    def _ridge(self, candidate: Candidate) -> Callable[[Candidate], Array]:
        """Return what gives the scores of a ridge model for any penalty."""
        view = self.views[candidate.view]
        kernel, points = view.kernel(candidate.family, candidate.width), view.points
        scores = RidgeScores(
            K=dense_gram(kernel, points, self.monitor),
            targets=self.task.targets(candidate.target),
            weight=self.task.weight,
            splits=self.splits,
            monitor=self.monitor,
        )
        return lambda one: scores.at(one.penalty)

    def _by_folds(self, candidate: Candidate) -> Array:
        """Return the scores of a machine."""
        out = np.full(self.task.targets(candidate.target).shape, np.nan)
        kernel, X = self.kernel_of(candidate), self.views[candidate.view].X
        for train, held in self.splits.parts:
            self.monitor.poll()
            out[held] = scores_of(self.fitted(candidate, kernel, train), X[held])
        return out[self.splits.rows]

    def _recursive(self, candidate: Candidate, start: float) -> list[Judged]:
        rows = np.arange(len(self.task))
        search = self.metric_search(candidate, rows, self.splits.parts)
        found = best_metrics(search, candidate)
        return [self._scored(one, np.asarray(tried.scores), start) for one, tried in found]


def best_metrics(search: MetricSearch, candidate: Candidate) -> list[tuple[Candidate, Tried]]:
    """Return the candidate with the best metric, and with the best one of a single step."""
    tried = sorted(search.tried, key=lambda one: one.loss)
    single = [one for one in tried if one.steps == 1]
    chosen = tried[:1] + [one for one in single[:1] if one is not tried[0]]
    return [(replace(candidate, steps=one.steps, penalty=one.alpha), one) for one in chosen]


def scores_of(model: BaseEstimator, X: Array) -> Array:
    """Return the scores of rows by a fitted model, one column per output."""
    found = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    scores = np.asarray(found, dtype=np.float64)
    return scores[:, None] if scores.ndim == 1 else scores
