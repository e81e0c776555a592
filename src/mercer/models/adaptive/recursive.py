"""Recursive feature machines: ridge regression with a metric that is learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.folds import random_folds
from ...fitting.rfm.recursion import Recursion, Sample
from ...fitting.rfm.search import START, WIDTHS, Loss, MetricSearch, Tried
from ...grams import limited_threads
from ...inputs import Input, Matrix
from ...kernels import Exponential, Gaussian, Kernel, Laplacian, to_kernel
from ...kernels.metric import Metric
from ...monitor import Stopped
from ...run import Run
from ...typing import Folds, KernelLike, Numbers
from ..contract.parameters import splits_of
from ..ridge.regressor import RidgeEstimator

METRICS = ("diagonal", "full")
AUTO = "auto"
KERNELS: dict[str, Kernel] = {
    "laplacian": Laplacian(gamma=1.0),
    "exponential": Exponential(length_scale=1.0),
    "gaussian": Gaussian(gamma=1.0),
}
MOST_STEPS = 8  # where the number of steps is chosen
USUAL_FOLDS = 4
USUAL_WIDTH = 1.0  # where there was no time to choose
SEARCH_ROWS = 2000  # on which width, penalty and steps are chosen
SEARCH_TIME = 0.5  # of the time limit
ROUNDED = 1e-12  # spread of targets, in units of the largest, below which they are constant


@dataclass(frozen=True, kw_only=True)
class MetricChoice:
    """The settings of a recursive feature machine that were chosen, and all that were tried.

    Attributes
    ----------
    width : float
        How wide the kernel is: the median value of two points that differ is exp(-1 / width).
    alpha : float
        The penalty.
    steps : int
        How often the metric was renewed.
    loss : float
        The loss on points that were not seen; NaN where nothing was chosen.
    tried : tuple of (float, float, int, float)
        Width, alpha, steps and loss of all settings that folds have judged.
    """

    width: float
    alpha: float
    steps: int
    loss: float
    tried: tuple[tuple[float, float, int, float], ...]


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What a machine learns from.

    points: as they were given. sample: the same as rows with the numbers to predict and weights.
    scaled: with the targets that metrics are learnt from. truth: what folds and losses are about.
    """

    points: Input
    sample: Sample
    scaled: Sample
    truth: Array

    @property
    def kept(self) -> Array:
        """The points that have a say."""
        weight = self.sample.weight
        return np.arange(len(self.sample)) if weight is None else np.flatnonzero(weight)


@dataclass(frozen=True, kw_only=True)
class Learnt:
    """The kernel in its metric, and the penalty.

    scores, rows: what machines gave points that they had not seen, and which these are; None where
    nothing was chosen.
    """

    kernel: Metric
    alpha: float
    scores: Array | None = None
    rows: Array | None = None

    @property
    def chosen(self) -> tuple[Kernel, float]:
        """Kernel and penalty, as ridge regression takes them."""
        return self.kernel, self.alpha


class RecursiveMachine(RidgeEstimator):
    """What recursive feature machines share."""

    kernel: KernelLike
    alpha: float | Numbers | str  # type: ignore[assignment]
    metric: str
    steps: int | str
    width: float | Numbers | str
    cv: Folds
    gradient_rows: int
    choice_: MetricChoice
    metric_: Array
    feature_importances_: Array
    alpha_: float
    _of_names: ClassVar[dict[str, Any]] = {}

    # --- parameters -------------------------------------------------------------------------

    def _kernel(self) -> Kernel:
        if self.kernel is None:
            return KERNELS["laplacian"]
        if isinstance(self.kernel, str) and self.kernel in KERNELS:
            return KERNELS[self.kernel]
        return to_kernel(self.kernel, who=type(self).__name__)

    def _recursion(self, kernel: Kernel, run: Run) -> Recursion:
        who = run.who
        kind = checks.one_of(who, "metric", self.metric, METRICS)
        return Recursion(
            kernel=kernel,
            width=USUAL_WIDTH,
            alpha=START,
            diagonal=kind == "diagonal",
            gradient_rows=checks.whole(who, "gradient_rows", self.gradient_rows, least=1),
            seed=run.seed,
        )

    def _numbers(self, name: str) -> list[float] | None:
        """Return the values of a parameter that is "auto", a number or a list of numbers."""
        value, who = getattr(self, name), type(self).__name__
        if isinstance(value, str):
            checks.one_of(who, name, value, (AUTO,))
            return None
        found = [value] if np.ndim(value) == 0 else list(value)
        if not found:
            raise InputError(sentence(who, f"{name} must have a number or more", "an empty list"))
        return [checks.number(who, name, one, above=0) for one in found]

    def _most_steps(self) -> tuple[int, bool]:
        """Return the number of steps, and whether it is a given one."""
        if isinstance(self.steps, str):
            checks.one_of(type(self).__name__, "steps", self.steps, (AUTO,))
            return MOST_STEPS, False
        return checks.whole(type(self).__name__, "steps", self.steps, least=0), True

    # --- fit --------------------------------------------------------------------------------

    def _learn(self, lesson: Lesson, run: Run) -> Learnt:
        """Choose the settings, and learn the metric."""
        kernel = self._kernel().resolve(lesson.points, lesson.sample.weight)
        recursion = self._recursion(kernel, run)
        kept, random = lesson.kept, np.random.default_rng(run.seed)
        with limited_threads(run.n_jobs, run.who):
            rows = some_of(kept, SEARCH_ROWS, random)
            best = self._choose(lesson, rows, recursion, run)
            recursion = replace(recursion, width=best.width, alpha=best.alpha)
            sample = lesson.scaled.take(kept)
            try:
                found = recursion.learn(sample, best.steps, run.rest().monitor)
            except Stopped:
                self._warn_of_time(run)
                self.choice_ = replace(self.choice_, steps=0)
                found = recursion.plain(sample)
        self.metric_ = np.array(found.matrix.values)
        self.feature_importances_ = importances(self.metric_)
        if best.scores is None or best.rows is None:
            return Learnt(kernel=found, alpha=best.alpha)
        return Learnt(kernel=found, alpha=best.alpha, scores=best.scores, rows=rows[best.rows])

    def _choose(self, lesson: Lesson, rows: Array, recursion: Recursion, run: Run) -> Tried:
        """Return the width, penalty and steps that are best on some of the points."""
        widths, alphas = self._numbers("width"), self._numbers("alpha")
        steps, fixed = self._most_steps()
        first = Tried(
            width=widths[0] if widths else USUAL_WIDTH,
            alpha=alphas[0] if alphas else START,
            steps=steps if fixed else 0,
        )
        if fixed and widths and alphas and len(widths) == len(alphas) == 1:
            return self._note(first, [])
        sample = lesson.scaled.take(rows)
        search = MetricSearch(
            recursion=recursion,
            sample=sample,
            loss=self._loss_of(sample, lesson.truth[rows]),
            folds=self._folds(lesson.truth, rows, run),
            widths=widths or WIDTHS,
            alphas=alphas,
            steps=steps,
            fixed=fixed,
            monitor=run.part(SEARCH_TIME).monitor,
        )
        try:
            best = search.run()
        except Stopped:
            self._warn_of_time(run)
            best = search.best if search.tried else replace(first, steps=0)
        return self._note(best, search.tried)

    def _folds(self, truth: Array, rows: Array, run: Run) -> list[tuple[Array, Array]]:
        """Return folds of some of the points, as places in rows.

        A number of folds is about these points, drawn at random with equal shares of the classes;
        others are about all points.
        """
        cv = USUAL_FOLDS if self.cv is None else self.cv
        if isinstance(cv, Integral) and not isinstance(cv, bool):
            count = checks.whole(run.who, "cv", cv, least=2)
            codes = truth[rows] if is_classifier(self) and truth.ndim == 1 else None
            if len(rows) < 2:
                must = "there must be at least two points with a weight to choose settings by"
                advice = "Give width, alpha and steps."
                raise InputError(sentence(run.who, must, f"{len(rows)} sample(s)", advice))
            return random_folds(len(rows), count, codes, run.seed)
        place = np.full(len(truth), -1)
        place[rows] = np.arange(len(rows))
        splits = splits_of(run.who, cv, truth, None, is_classifier(self))
        parts = [tuple(place[side][place[side] >= 0] for side in pair) for pair in splits]
        found = [(train, held) for train, held in parts if len(train) and len(held)]
        if not found:
            must = "cv must have points with a weight to train and to test on"
            raise InputError(sentence(run.who, must, checks.show(self.cv)))
        return found

    def _note(self, found: Tried, tried: Sequence[Tried]) -> Tried:
        """Publish the settings."""
        rows = tuple((one.width, one.alpha, one.steps, one.loss) for one in tried)
        self.choice_ = MetricChoice(
            width=found.width, alpha=found.alpha, steps=found.steps, loss=found.loss, tried=rows
        )
        self.alpha_ = found.alpha
        return found

    def _warn_of_time(self, run: Run) -> None:
        must = "the metric must be learnt within time_limit"
        advice = "Raise time_limit, or give width, alpha and steps."
        text = sentence(run.who, must, "a search that was stopped", advice)
        run.warn(text, ConvergenceWarning)

    def _loss_of(self, sample: Sample, truth: Array) -> Loss:
        """Return the loss of scores of rows of a sample; truth: what the rows are."""
        raise NotImplementedError


def sample_of(who: str, points: Input, targets: Array, weight: Array | None) -> Sample:
    """Return points as a sample; they must be rows of numbers."""
    if not isinstance(points, Matrix):
        raise InputError(sentence(who, "X must be rows of numbers", points.kind))
    return Sample(X=points.dense(), targets=targets, weight=weight)


def importances(metric: Array) -> Array:
    """Return the weights of the columns in a metric, of sum 1."""
    diagonal = metric if metric.ndim == 1 else np.diagonal(metric)
    diagonal = diagonal / diagonal.max()  # so that the sum does not overflow
    return np.asarray(diagonal / diagonal.sum())


def some_of(rows: Array, most: int, random: np.random.Generator) -> Array:
    """Return all rows, or so many of them at random, ascending."""
    if len(rows) <= most:
        return rows
    return np.sort(random.choice(rows, most, replace=False))


def standardised(targets: Array, weight: Array | None) -> Array:
    """Return targets of mean 0 and deviation 1, one column per output; constant ones are 0."""
    units = targets / deviations(targets, weight)
    return np.asarray(units - np.average(units, axis=0, weights=weight))


def deviations(targets: Array, weight: Array | None) -> Array:
    """Return the standard deviation of each output; of a constant one, its size."""
    largest = np.abs(targets).max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    units = targets / largest  # whose squares do not overflow
    apart = units - np.average(units, axis=0, weights=weight)
    spread = np.sqrt(np.average(apart**2, axis=0, weights=weight))
    return np.asarray(largest * np.where(spread > ROUNDED, spread, 1.0))
