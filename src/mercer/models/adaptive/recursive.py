"""Recursive feature machines: ridge regression with a metric that is learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.rfm.recursion import Recursion
from ...fitting.rfm.search import WIDTHS, MetricSearch, Tried
from ...fitting.rfm.tree import TEMPERATURES, Grower, Tree
from ...grams import limited_threads
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
SEARCH_ROWS = 3000  # on which width, penalty and steps are chosen
METRIC_ROWS = 6000  # from which the metric of all rows is learnt
TRIAL_SHARE, TRIAL_MOST = 0.1, 2000  # rows kept aside to choose how leaves share rows
LEAST_SHARE = 0.01  # of a leaf in a row that it is asked about


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
    leaf_rows: int | None
    overlap: float
    choice_: MetricChoice
    metric_: Array
    feature_importances_: Array
    alpha_: float
    leaves_: tuple[Any, ...]
    tree_: Tree
    temperature_: float
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

    def _learn(
        self, points: Input, targets: Array, weight: Array | None, truth: Array, run: Run
    ) -> tuple[Kernel, float]:
        """Return the kernel with the metric that was learnt, and alpha.

        truth: what folds are made for.
        """
        if not isinstance(points, Matrix):
            raise InputError(sentence(run.who, "X must be rows of numbers", points.kind))
        X = points.dense()
        kept = np.arange(len(X)) if weight is None else np.flatnonzero(weight)
        recursion = self._recursion(run)
        try:
            self._choose(X, targets, weight, kept, truth, recursion, run)
            kernel = self._metric_of(X, targets, weight, kept, recursion, run)
        except Stopped:
            must = "the metric must be learnt within time_limit"
            got = "a search that was stopped"
            run.warn(sentence(run.who, must, got, "Raise time_limit, or give width and alpha."))
            self._set_choice(Tried(width=1.0, alpha=1.0, steps=0, loss=np.nan), [])
            kernel = recursion.scaled(recursion.start(X.shape[1]), X[kept])
        self._publish(kernel)
        return kernel, self.alpha_

    def _choose(
        self,
        X: Array,
        targets: Array,
        weight: Array | None,
        kept: Array,
        truth: Array,
        recursion: Recursion,
        run: Run,
    ) -> None:
        """Choose width, penalty and steps on some of the rows."""
        widths, alphas = self._numbers("width"), self._numbers("alpha")
        steps, fixed = self._most_steps()
        if widths and alphas and len(widths) == len(alphas) == 1 and fixed:
            only = Tried(width=widths[0], alpha=alphas[0], steps=steps, loss=np.nan)
            self._set_choice(only, [])
            return
        random = np.random.default_rng(run.seed)
        rows = _some(kept, SEARCH_ROWS, random)
        folds = splits_of(run.who, self.cv, truth[rows], None, is_classifier(self))
        search = MetricSearch(
            recursion=recursion,
            X=X[rows],
            targets=targets[rows],
            weight=None if weight is None else weight[rows],
            loss=self._loss_of(targets[rows], truth[rows]),
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

    def _calibrate(self, scores: Array, rows: Array) -> None:
        """Use scores of rows by machines that have not seen them."""

    def _set_choice(self, found: Tried, tried: Sequence[Tried]) -> None:
        rows = tuple((one.width, one.alpha, one.steps, one.loss) for one in tried)
        self.choice_ = MetricChoice(
            width=found.width, alpha=found.alpha, steps=found.steps, loss=found.loss, tried=rows
        )
        self.alpha_ = found.alpha

    def _metric_of(
        self,
        X: Array,
        targets: Array,
        weight: Array | None,
        kept: Array,
        recursion: Recursion,
        run: Run,
    ) -> Kernel:
        """Return the kernel with the metric that the chosen settings lead to."""
        rows = _some(kept, METRIC_ROWS, np.random.default_rng(run.seed + 1))
        chosen = replace(recursion, width=self.choice_.width, alpha=self.choice_.alpha)
        inside = None if weight is None else weight[rows]
        return chosen.learn(X[rows], targets[rows], inside, self.choice_.steps, run.monitor)

    def _publish(self, kernel: Kernel) -> None:
        """Set what tells of the metric."""
        assert isinstance(kernel, Metric)
        self.metric_ = np.array(kernel.matrix.values)
        diagonal = self.metric_ if self.metric_.ndim == 1 else np.diagonal(self.metric_)
        self.feature_importances_ = diagonal / diagonal.sum()

    def _loss_of(self, targets: Array, truth: Array) -> Any:
        """Return the loss of scores of rows; truth: what the rows are."""
        raise NotImplementedError

    # --- leaves -----------------------------------------------------------------------------

    def _needs_leaves(self, n: int) -> bool:
        if self.leaf_rows is None:
            return False
        return n > checks.whole(type(self).__name__, "leaf_rows", self.leaf_rows, least=100)

    def _fit_leaves(
        self,
        points: Matrix,
        targets: Array,
        weight: Array | None,
        truth: Array,
        y: Array,
        run: Run,
    ) -> None:
        """Fit a machine to the rows of each leaf of a tree, with settings chosen for all.

        y: the numbers that leaves predict.
        """
        X = points.dense()
        kernel, alpha = self._learn(points, targets, weight, truth, run)
        recursion = replace(self._recursion(run), width=self.choice_.width, alpha=alpha)
        random = np.random.default_rng(run.seed)
        order = random.permutation(len(X))
        aside = min(int(TRIAL_SHARE * len(X)), TRIAL_MOST)
        trial, rows = np.sort(order[:aside]), np.sort(order[aside:])
        overlap = checks.number(run.who, "overlap", self.overlap, least=0, most=0.5)
        grower = Grower(
            recursion=recursion,
            leaf_rows=int(self.leaf_rows or len(X)),
            overlap=overlap,
            monitor=run.monitor,
        )
        with limited_threads(run.n_jobs, run.who):
            inside = None if weight is None else weight[rows]
            self.tree_, parts = grower.grow(X[rows], targets[rows], inside)
        self.leaves_ = tuple(self._leaf(X, y, weight, rows[part], run) for part in parts)
        self._prepare(points.take(np.arange(1)), None, kernel)
        self.temperature_ = self._best_temperature(X[trial], y[trial], truth[trial])
        self._publish_leaves()

    def _leaf(self, X: Array, y: Array, weight: Array | None, rows: Array, run: Run) -> Any:
        run.monitor.poll()
        model = self._leaf_model()
        return model.fit(X[rows], y[rows], None if weight is None else weight[rows])

    def _leaf_model(self) -> RidgeEstimator:
        """Return a machine for a leaf: the settings are chosen, and numbers are predicted."""
        raise NotImplementedError

    def _best_temperature(self, X: Array, targets: Array, truth: Array) -> float:
        """Return how far rows are shared between leaves, chosen on rows kept aside."""
        loss, scores = self._loss_of(targets, truth), [leaf._scores(X) for leaf in self.leaves_]
        found = {}
        for temperature in TEMPERATURES:
            shares = self.tree_.shares(X, temperature)
            mixed = sum(shares[:, [k]] * one for k, one in enumerate(scores))
            found[temperature] = loss(np.asarray(mixed), np.arange(len(X)))
        return float(min(found, key=lambda one: found[one]))

    def _publish_leaves(self) -> None:
        """Set the mean of the metrics of the leaves."""
        self.metric_ = np.mean([leaf.metric_ for leaf in self.leaves_], axis=0)
        importances = np.mean([leaf.feature_importances_ for leaf in self.leaves_], axis=0)
        self.feature_importances_ = importances / importances.sum()
        self.kernel_ = self._kernel().metric(self.metric_)
        self.certificate_ = max(
            (leaf.certificate_ for leaf in self.leaves_), key=lambda one: one.residual
        )

    def _scores(self, X: Any) -> Array:
        if "leaves_" not in vars(self):
            return super()._scores(X)
        points = self._check_predict(X)
        rows = points.dense() if isinstance(points, Matrix) else np.asarray(X)
        shares = self.tree_.shares(rows, self.temperature_)
        shares = np.where(shares < LEAST_SHARE, 0.0, shares)
        shares /= shares.sum(axis=1, keepdims=True)
        out: Array | None = None
        for k, leaf in enumerate(self.leaves_):
            asked = np.flatnonzero(shares[:, k])
            if len(asked) == 0:
                continue
            found = shares[asked, k, None] * np.atleast_2d(leaf._scores(rows[asked]).T).T
            if out is None:
                out = np.zeros((len(rows), found.shape[1]))
            out[asked] += found
        assert out is not None
        return out[:, 0] if getattr(self, "_flat", False) else out


def _some(rows: Array, most: int, random: np.random.Generator) -> Array:
    """Return all rows, or so many of them at random, ascending."""
    if len(rows) <= most:
        return rows
    return np.sort(random.choice(rows, most, replace=False))
