"""Recursive feature machines: ridge regression with a metric that is learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.rfm.recursion import Recursion, Sample
from ...fitting.rfm.search import WIDTHS, Loss, MetricSearch, Tried
from ...inputs import Input, Matrix
from ...kernels import Exponential, Gaussian, Kernel, Laplacian, to_kernel
from ...kernels.metric import Metric
from ...monitor import Stopped
from ...run import Run
from ...typing import Folds, KernelLike
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
SEARCH_ROWS = 2000  # on which width, penalty and steps are chosen
METRIC_ROWS = 6000  # from which the metric of all rows is learnt


@dataclass(frozen=True, kw_only=True)
class MetricChoice:
    """The settings that a search has tried, and the one it chose.

    Parameters
    ----------
    width : float
        How wide the kernel is: the median value of two rows is exp(-1 / width).
    alpha : float
        The penalty.
    steps : int
        How often the metric was renewed.
    loss : float
        The loss on rows that were not seen; NaN where nothing was chosen.
    tried : tuple of (float, float, int, float)
        Width, alpha, steps and loss of all settings that were tried.
    """

    width: float
    alpha: float
    steps: int
    loss: float
    tried: tuple[tuple[float, float, int, float], ...]


class RecursiveMachine(RidgeEstimator):
    """What recursive feature machines share."""

    kernel: KernelLike
    alpha: Any
    metric: str
    steps: Any
    width: Any
    cv: Folds
    gradient_rows: int
    choice_: MetricChoice
    metric_: Array
    feature_importances_: Array
    alpha_: float
    _of_names: ClassVar[dict[str, Any]] = {}

    # --- parameters -------------------------------------------------------------------------

    def _kernel(self) -> Kernel:
        who = type(self).__name__
        if isinstance(self.kernel, str) and self.kernel in KERNELS:
            return KERNELS[self.kernel]
        if self.kernel is None:
            return KERNELS["laplacian"]
        return to_kernel(self.kernel, who=who)

    def _recursion(self, run: Run) -> Recursion:
        who = run.who
        kind = checks.one_of(who, "metric", self.metric, METRICS)
        return Recursion(
            kernel=self._kernel(),
            width=1.0,
            alpha=1.0,
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

    def _learn(self, sample: Sample, truth: Array, run: Run) -> tuple[Kernel, float]:
        """Return the kernel with the metric that was learnt, and alpha.

        truth: what folds are made for.
        """
        recursion = self._recursion(run)
        kept = np.arange(len(sample))
        if sample.weight is not None:
            kept = np.flatnonzero(sample.weight)
        random = np.random.default_rng(run.seed)
        try:
            self._choose(sample, some_of(kept, SEARCH_ROWS, random), truth, recursion, run)
            recursion = replace(recursion, width=self.choice_.width, alpha=self.choice_.alpha)
            rows = some_of(kept, METRIC_ROWS, random)
            kernel = recursion.learn(sample.take(rows), self.choice_.steps, run.monitor)
        except Stopped:
            must = "the metric must be learnt within time_limit"
            advice = "Raise time_limit, or give width, alpha and steps."
            run.warn(sentence(run.who, must, "a search that was stopped", advice))
            self._set_choice(Tried(width=1.0, alpha=1.0, steps=0), [])
            kernel = recursion.scaled(recursion.start(sample.X.shape[1]), sample.X[kept])
        assert isinstance(kernel, Metric)
        self.metric_ = np.array(kernel.matrix.values)
        self.feature_importances_ = importances(self.metric_)
        return kernel, self.alpha_

    def _choose(
        self, sample: Sample, rows: Array, truth: Array, recursion: Recursion, run: Run
    ) -> None:
        """Choose width, penalty and steps on some of the rows."""
        widths, alphas = self._numbers("width"), self._numbers("alpha")
        steps, fixed = self._most_steps()
        if widths and alphas and len(widths) == len(alphas) == 1 and fixed:
            self._set_choice(Tried(width=widths[0], alpha=alphas[0], steps=steps), [])
            return
        folds = splits_of(run.who, self.cv, truth[rows], None, is_classifier(self))
        some = sample.take(rows)
        search = MetricSearch(
            recursion=recursion,
            sample=some,
            loss=self._loss_of(some.targets, truth[rows]),
            folds=[(np.asarray(a), np.asarray(b)) for a, b in folds],
            widths=widths or WIDTHS,
            alphas=alphas,
            steps=steps,
            fixed=fixed,
            monitor=run.monitor,
        )
        best = search.run()
        if best.scores is not None and best.rows is not None:
            self._calibrate(best.scores, rows[best.rows])
        self._set_choice(best, search.tried)

    def _set_choice(self, found: Tried, tried: Sequence[Tried]) -> None:
        rows = tuple((one.width, one.alpha, one.steps, one.loss) for one in tried)
        self.choice_ = MetricChoice(
            width=found.width, alpha=found.alpha, steps=found.steps, loss=found.loss, tried=rows
        )
        self.alpha_ = found.alpha

    def _calibrate(self, scores: Array, rows: Array) -> None:
        """Use scores of rows by machines that have not seen them."""

    def _loss_of(self, targets: Array, truth: Array) -> Loss:
        """Return the loss of scores of rows; truth: what the rows are."""
        raise NotImplementedError


def sample_of(who: str, points: Input, targets: Array, weight: Array | None) -> Sample:
    """Return points as a sample; they must be rows of numbers."""
    if not isinstance(points, Matrix):
        raise InputError(sentence(who, "X must be rows of numbers", points.kind))
    return Sample(X=points.dense(), targets=targets, weight=weight)


def importances(metric: Array) -> Array:
    """Return the weights of the columns in a metric, of sum 1."""
    diagonal = metric if metric.ndim == 1 else np.diagonal(metric)
    return np.asarray(diagonal / diagonal.sum())


def some_of(rows: Array, most: int, random: np.random.Generator) -> Array:
    """Return all rows, or so many of them at random, ascending."""
    if len(rows) <= most:
        return rows
    return np.sort(random.choice(rows, most, replace=False))
