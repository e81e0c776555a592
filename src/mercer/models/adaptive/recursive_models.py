"""Regression and classification by recursive feature machines."""

from __future__ import annotations

from typing import Self

import numpy as np

from ... import checks
from ...checks import Array
from ...fitting.rfm.search import Loss
from ...inputs import Matrix
from ...postfit.calibration import fit_slope, probabilities
from ...typing import (
    Callback,
    ClassWeight,
    Folds,
    KernelLike,
    LabelsLike,
    MemoryLimit,
    Numbers,
    PointsLike,
    Seed,
    TargetsLike,
    Weights,
)
from ..contract.atomic import atomic
from ..contract.parameters import run_of
from ..contract.records import recorded
from ..contract.targets import is_single, numbers_of
from ..ridge.classifier import LabelledRidge
from ..ridge.regressor import NumberRidge
from .recursive import RecursiveMachine

LEAST_CHANCE = 1e-6  # of the class that came true, in a logarithm


class RFMRegressor(RecursiveMachine, NumberRidge):  # type: ignore[misc]
    """DOCR"""

    def __init__(
        self,
        kernel: KernelLike = "laplacian",
        *,
        metric: str = "diagonal",
        steps: int | str = "auto",
        width: float | Numbers | str = "auto",
        alpha: float | Numbers | str = "auto",
        cv: Folds = 4,
        gradient_rows: int = 2000,
        leaf_rows: int | None = 20_000,
        overlap: float = 0.1,
        fit_intercept: bool = True,
        solver: str = "auto",
        n_centers: int | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernel = kernel
        self.metric = metric
        self.steps = steps
        self.width = width
        self.alpha = alpha
        self.cv = cv
        self.gradient_rows = gradient_rows
        self.leaf_rows = leaf_rows
        self.overlap = overlap
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.n_centers = n_centers
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: TargetsLike, sample_weight: Weights = None) -> Self:
        """Learn the metric, and find the function.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The n training points, rows of numbers.
        y : array-like of shape (n,) or (n, n_outputs)
            The numbers to predict.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        RFMRegressor
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        run = run_of(self)
        points = self._check_fit(X)
        targets, self._flat = numbers_of(self, y, len(points))
        self._single = is_single(y)
        weight = checks.sample_weight(run.who, sample_weight, len(points))
        mean, spread = targets.mean(axis=0), targets.std(axis=0)
        scaled = (targets - mean) / np.where(spread > 0, spread, 1.0)
        if self._needs_leaves(len(points)) and isinstance(points, Matrix):
            self._fit_leaves(points, scaled, weight, scaled, targets, run)
            return self
        chosen = self._learn(points, scaled, weight, scaled, run)
        self._solve(points, targets, weight, chosen=chosen, run=run)
        if self._flat:
            self._flatten()
        return self

    def _loss_of(self, targets: Array, truth: Array) -> Loss:
        return lambda scores, rows: float(((targets[rows] - scores) ** 2).mean())

    def _leaf_model(self) -> RFMRegressor:
        return leaf_model(self)


def leaf_model(model: RecursiveMachine) -> RFMRegressor:
    """Return a machine for a leaf of a model, with the settings that were chosen for all leaves."""
    known = set(RFMRegressor._get_param_names())
    given = {name: value for name, value in model.get_params(deep=False).items() if name in known}
    choice = model.choice_
    given |= {"width": choice.width, "alpha": choice.alpha, "steps": choice.steps}
    return RFMRegressor(**given | {"leaf_rows": None, "time_limit": None, "callback": None})


class RFMClassifier(RecursiveMachine, LabelledRidge):  # type: ignore[misc]
    """DOCC"""

    def __init__(
        self,
        kernel: KernelLike = "laplacian",
        *,
        metric: str = "diagonal",
        steps: int | str = "auto",
        width: float | Numbers | str = "auto",
        alpha: float | Numbers | str = "auto",
        cv: Folds = 4,
        gradient_rows: int = 2000,
        leaf_rows: int | None = 20_000,
        overlap: float = 0.1,
        class_weight: ClassWeight = None,
        probability: bool = True,
        fit_intercept: bool = True,
        solver: str = "auto",
        n_centers: int | None = None,
        tol: float = 1e-4,
        max_iter: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernel = kernel
        self.metric = metric
        self.steps = steps
        self.width = width
        self.alpha = alpha
        self.cv = cv
        self.gradient_rows = gradient_rows
        self.leaf_rows = leaf_rows
        self.overlap = overlap
        self.class_weight = class_weight
        self.probability = probability
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.n_centers = n_centers
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: LabelsLike, sample_weight: Weights = None) -> Self:
        """Learn the metric, and find one function for each output.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The n training points, rows of numbers.
        y : array-like of shape (n,) or (n, n_labels)
            The class of each point, or a table of 0 and 1 with a column per label.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        RFMClassifier
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        run = run_of(self)
        points = self._check_fit(X)
        labels = self._encode(y, len(points), sample_weight)
        self._codes = labels.codes
        targets, weight = labels.targets, labels.weight
        if self._needs_leaves(len(points)) and isinstance(points, Matrix):
            self._fit_leaves(points, targets, weight, labels.codes, targets, run)
        else:
            chosen = self._learn(points, targets, weight, labels.codes, run)
            calibrated = vars(self).get("slopes_")
            if calibrated is None:
                self._fit_labels(points, labels, chosen=chosen, run=run)
            else:
                self._solve(
                    points, targets, weight, chosen=chosen, run=run, copies=labels.copies
                )
        del self._codes
        return self

    def _calibrate(self, scores: Array, rows: Array) -> None:
        if self.probability:
            shown = scores[:, 0] if scores.shape[1] == 1 and not self._multilabel else scores
            self.slopes_ = self._slopes(shown, self._codes[rows], None)

    def _loss_of(self, targets: Array, truth: Array) -> Loss:
        if self._multilabel:
            return lambda scores, rows: float(((targets[rows] - scores) ** 2).mean())

        def log_loss(scores: Array, rows: Array) -> float:
            shown, codes = (scores[:, 0] if scores.shape[1] == 1 else scores), truth[rows]
            chances = probabilities(shown, fit_slope(shown, codes, None))
            true = chances[np.arange(len(rows)), codes]
            return float(-np.log(np.maximum(true, LEAST_CHANCE)).mean())

        return log_loss

    def _leaf_model(self) -> RFMRegressor:
        return leaf_model(self)
