"""Regression and classification by recursive feature machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.rfm.recursion import Sample
from ...fitting.rfm.search import Loss
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
from ..ridge.classifier import LabelledRidge, Labels
from ..ridge.regressor import NumberRidge
from .leaves import LeafMachine
from .recursive import Learnt, Lesson, deviations, sample_of, standardised

LEAST_CHANCE = 1e-6  # of the class that came true, in a logarithm


class RFMRegressor(LeafMachine, NumberRidge):
    """Regression by a recursive feature machine: kernel ridge regression that learns its metric.

    With k_M(x, y) = k(M**(1/2) x, M**(1/2) y), f is fitted as `KernelRidge`; then M becomes the
    mean of grad f(x) grad f(x)' over the training points, and f is fitted again [1]_. Columns, or
    directions, along which f does not change lose their weight.

    Parameters
    ----------
    kernel : {"laplacian", "exponential", "gaussian"} or Kernel, default="laplacian"
        The kernel, of any width: exp(-|x - y|_1), exp(-|x - y|), exp(-|x - y|**2), or any kernel of
        rows of numbers that falls with their distance and has a gradient.
    metric : {"diagonal", "full"}, default="diagonal"
        Whether M has one weight per column, or is a matrix that may mix columns.
    steps : int or "auto", default="auto"
        How often M is renewed; "auto" chooses up to 8 by `cv`, on at most 2,000 points.
    width : float, list of float or "auto", default="auto"
        How wide the kernel is: the median of k over pairs of points that differ is exp(-1 / width).
        The best of a list is chosen by `cv`; "auto" is 0.5, 1, 2 and 4.
    alpha : float, list of float or "auto", default="auto"
        The penalty, above 0; the best of a list is chosen by `cv`, and "auto" searches downhill.
    cv : int, splitter or iterable of (train, test), default=4
        The folds on which settings are compared; a number is drawn at random, with equal shares of
        the classes. Errors left out in closed form will not do: they come from a metric that has
        seen the point.
    gradient_rows : int, default=2000
        At how many points, drawn at random, the gradient is taken.
    leaf_rows : int, default=20000
        Above so many points a tree divides them into leaves of at most so many, each with a metric
        and a function of its own. None fits one function in any case.
    overlap : float, default=0.1
        The share of the points of a split, around its threshold, that both sides learn from.
    fit_intercept : bool, default=True
        Whether there is an offset b that is not penalised; there is one while the metric is learnt.
    solver : {"auto", "primal", "cholesky", "cg", "nystrom"}, default="auto"
        How the function is found once the metric is known: see `KernelRidge`.
    n_centers : int, default=None
        Number of centres of the solver "nystrom"; None is 10 sqrt(n), from 100 to 10,000.
    tol : float, default=1e-4
        Relative residual to reach.
    max_iter : int, default=None
        Largest number of iterations of conjugate gradients; None is 1000.
    memory_limit : int or str, default="auto"
        Bytes that the fit may allocate, as a number or a text such as "2GB"; "auto" takes a share
        of the free memory.
    time_limit : float, default=None
        Seconds after which the best solution so far is returned, with a warning; the search for
        the settings has half of them.
    callback : callable, default=None
        Called with the record of each iteration; returning True stops the fit.
    n_jobs : int, default=None
        Number of threads; None uses all that are allowed, -1 one per processor.
    random_state : int, RandomState or Generator, default=None
        Seed of what is drawn; None is a fixed seed.
    verbose : bool or int, default=False
        Whether to show progress on stderr.

    Attributes
    ----------
    metric_ : ndarray of shape (d,) or (d, d)
        The metric M, scaled so that the kernel has its width; the mean over leaves.
    feature_importances_ : ndarray of shape (d,)
        The diagonal of M, of sum 1.
    kernel_ : Kernel
        The kernel in its metric, `k.metric(M)`, which any other estimator takes as its kernel.
    choice_ : MetricChoice
        The settings that were chosen, and all that were tried.
    alpha_ : float
        The penalty that was chosen.
    dual_coef_ : ndarray of shape (n_support,) or (n_support, n_outputs)
        Coefficients of the points of `support_`; not with leaves.
    intercept_ : float or ndarray of shape (n_outputs,)
        The offset b; not with leaves.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the function; not with leaves.
    n_iter_ : int
        Number of iterations; not with leaves.
    tree_ : Tree
        The splits of the points, with leaves only.
    leaves_ : tuple of RFMRegressor
        The machine of each leaf, with leaves only.
    temperature_ : float
        How far points are shared between leaves, chosen on points kept aside, with leaves only.
    certificate_ : RidgeCertificate
        How far the function is from its optimum, and what it cost; of leaves the worst.

    See Also
    --------
    RFMClassifier : The same for classes.
    mercer.AutoKernelRegressor : An ensemble that has such machines among its members.
    mercer.tune : Widths per column along the gradient of leave-one-out errors.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models", Science 383 (2024).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RFMRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> model = RFMRegressor().fit(X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2)
    >>> np.argsort(model.feature_importances_)[-2:].tolist()
    [0, 1]
    """

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
        points = self._check_fit(X)
        run = run_of(self)
        targets, self._flat = numbers_of(self, y, len(points))
        self._single = is_single(y)
        weight = checks.sample_weight(run.who, sample_weight, len(points))
        sample = sample_of(run.who, points, targets, weight)
        scaled = replace(sample, targets=standardised(targets, weight))
        lesson = Lesson(points=points, sample=sample, scaled=scaled, truth=scaled.targets)
        learnt = self._learn(lesson, run)
        if self._needs_leaves(lesson):
            self._fit_leaves(lesson, learnt, run)
            return self
        self._solve(points, targets, weight, chosen=learnt.chosen, run=run)
        if self._flat:
            self._flatten()
        return self

    def _check_deviations(self) -> None:
        if "leaves_" in vars(self):
            must = "return_std needs one function for all points"
            got = f"{len(self.leaves_)} leaves"
            advice = "Ask one of leaves_, or fit with leaf_rows=None."
            raise InputError(sentence(type(self).__name__, must, got, advice))
        super()._check_deviations()

    def _loss_of(self, sample: Sample, truth: Array) -> Loss:
        return squared_error(sample)

    def _leaf_model(self) -> RFMRegressor:
        return leaf_model(self)


def squared_error(sample: Sample) -> Loss:
    """Return the mean squared error of scores, every output in units of its deviation."""
    targets, weight = sample.targets, sample.weight
    units = deviations(targets, weight)

    def loss(scores: Array, rows: Array) -> float:
        errors = (targets[rows] - scores) / units
        shares = None if weight is None else weight[rows]
        return float(np.average((errors**2).mean(axis=1), weights=shares))

    return loss


def leaf_model(model: LeafMachine) -> RFMRegressor:
    """Return a machine for a leaf of a model, with the settings that were chosen for all leaves."""
    known = set(RFMRegressor._get_param_names()) - {"cv", "leaf_rows", "callback"}
    given = {name: value for name, value in model.get_params(deep=False).items() if name in known}
    choice = model.choice_
    given |= {"width": choice.width, "alpha": choice.alpha, "steps": choice.steps}
    return RFMRegressor(**given, leaf_rows=None)


class RFMClassifier(LeafMachine, LabelledRidge):
    """Classification by a recursive feature machine: ridge regression that learns its metric.

    With k_M(x, y) = k(M**(1/2) x, M**(1/2) y), scores f are fitted as in `KernelRidgeClassifier`;
    then M becomes the mean of grad f(x) grad f(x)' over the training points and the classes, and f
    is fitted again [1]_. Settings are chosen by the log loss.

    Parameters
    ----------
    kernel : {"laplacian", "exponential", "gaussian"} or Kernel, default="laplacian"
        The kernel, of any width: exp(-|x - y|_1), exp(-|x - y|), exp(-|x - y|**2), or any kernel of
        rows of numbers that falls with their distance and has a gradient.
    metric : {"diagonal", "full"}, default="diagonal"
        Whether M has one weight per column, or is a matrix that may mix columns.
    steps : int or "auto", default="auto"
        How often M is renewed; "auto" chooses up to 8 by `cv`, on at most 2,000 points.
    width : float, list of float or "auto", default="auto"
        How wide the kernel is: the median of k over pairs of points that differ is exp(-1 / width).
        The best of a list is chosen by `cv`; "auto" is 0.5, 1, 2 and 4.
    alpha : float, list of float or "auto", default="auto"
        The penalty, above 0; the best of a list is chosen by `cv`, and "auto" searches downhill.
    cv : int, splitter or iterable of (train, test), default=4
        The folds on which settings are compared; a number is drawn at random, with equal shares of
        the classes. Errors left out in closed form will not do: they come from a metric that has
        seen the point.
    gradient_rows : int, default=2000
        At how many points, drawn at random, the gradient is taken.
    leaf_rows : int, default=20000
        Above so many points a tree divides them into leaves of at most so many, each with a metric
        and a function of its own. None fits one function in any case.
    overlap : float, default=0.1
        The share of the points of a split, around its threshold, that both sides learn from.
    class_weight : {"balanced"}, dict or list of dict, default=None
        Weight per class, multiplied with the sample weights.
    probability : bool, default=True
        Whether to calibrate `predict_proba`, on the folds that settings are chosen by, or with
        leaves on points kept aside; where all settings are given, on leave-one-out scores of the
        metric that was learnt, which are a little too good.
    fit_intercept : bool, default=True
        Whether there is an offset b that is not penalised; there is one while the metric is learnt.
    solver : {"auto", "primal", "cholesky", "cg", "nystrom"}, default="auto"
        How the function is found once the metric is known: see `KernelRidge`.
    n_centers : int, default=None
        Number of centres of the solver "nystrom"; None is 10 sqrt(n), from 100 to 10,000.
    tol : float, default=1e-4
        Relative residual to reach.
    max_iter : int, default=None
        Largest number of iterations of conjugate gradients; None is 1000.
    memory_limit : int or str, default="auto"
        Bytes that the fit may allocate, as a number or a text such as "2GB"; "auto" takes a share
        of the free memory.
    time_limit : float, default=None
        Seconds after which the best solution so far is returned, with a warning; the search for
        the settings has half of them.
    callback : callable, default=None
        Called with the record of each iteration; returning True stops the fit.
    n_jobs : int, default=None
        Number of threads; None uses all that are allowed, -1 one per processor.
    random_state : int, RandomState or Generator, default=None
        Seed of what is drawn; None is a fixed seed.
    verbose : bool or int, default=False
        Whether to show progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; the numbers of the labels where there are several per point.
    slopes_ : ndarray of shape (1,) or (n_labels,)
        Slopes from scores to probabilities, with `probability=True` only.
    metric_ : ndarray of shape (d,) or (d, d)
        The metric M, scaled so that the kernel has its width; the mean over leaves.
    feature_importances_ : ndarray of shape (d,)
        The diagonal of M, of sum 1.
    kernel_ : Kernel
        The kernel in its metric, `k.metric(M)`, which any other estimator takes as its kernel.
    choice_ : MetricChoice
        The settings that were chosen, and all that were tried.
    alpha_ : float
        The penalty that was chosen.
    dual_coef_ : ndarray of shape (n_support,) or (n_support, n_outputs)
        Coefficients of the points of `support_`; not with leaves.
    intercept_ : float or ndarray of shape (n_outputs,)
        The offset b; not with leaves.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the function; not with leaves.
    n_iter_ : int
        Number of iterations; not with leaves.
    tree_ : Tree
        The splits of the points, with leaves only.
    leaves_ : tuple of RFMRegressor
        The machine of each leaf, with leaves only.
    temperature_ : float
        How far points are shared between leaves, chosen on points kept aside, with leaves only.
    certificate_ : RidgeCertificate
        How far the function is from its optimum, and what it cost; of leaves the worst.

    See Also
    --------
    RFMRegressor : The same for numbers.
    mercer.AutoKernelClassifier : An ensemble that has such machines among its members.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models", Science 383 (2024).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RFMClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> model = RFMClassifier().fit(X, X[:, 0] * X[:, 1] > 0)
    >>> np.argsort(model.feature_importances_)[-2:].tolist()
    [0, 1]
    """

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
        points = self._check_fit(X)
        run = run_of(self)
        labels = self._encode(y, len(points), sample_weight)
        sample = sample_of(run.who, points, labels.targets, labels.weight)
        lesson = Lesson(points=points, sample=sample, scaled=sample, truth=labels.codes)
        learnt = self._learn(lesson, run)
        if self._needs_leaves(lesson):
            self._calibrate(self._fit_leaves(lesson, learnt, run), labels)
        elif learnt.scores is None:
            self._fit_labels(points, labels, chosen=learnt.chosen, run=run)
        else:
            targets, weight, copies = labels.targets, labels.weight, labels.copies
            self._solve(points, targets, weight, chosen=learnt.chosen, run=run, copies=copies)
            self._calibrate(learnt, labels)
        return self

    def _calibrate(self, learnt: Learnt, labels: Labels) -> None:
        """Fit the slopes to the scores of points by machines that have not seen them."""
        scores, rows, weight = learnt.scores, learnt.rows, labels.weight
        if self.probability and scores is not None:
            shown = scores[:, 0] if scores.shape[1] == 1 and not self._multilabel else scores
            shares = None if weight is None else weight[rows]
            self.slopes_ = self._slopes(shown, labels.codes[rows], shares)

    def _loss_of(self, sample: Sample, truth: Array) -> Loss:
        return squared_error(sample) if self._multilabel else log_loss(truth, sample.weight)

    def _leaf_model(self) -> RFMRegressor:
        return leaf_model(self)


def log_loss(codes: Array, weight: Array | None) -> Loss:
    """Return the log loss of scores of classes, after the slope that suits them best."""

    def loss(scores: Array, rows: Array) -> float:
        shown, own = (scores[:, 0] if scores.shape[1] == 1 else scores), codes[rows]
        shares = None if weight is None else weight[rows]
        chances = probabilities(shown, fit_slope(shown, own, shares))
        true = np.maximum(chances[np.arange(len(rows)), own], LEAST_CHANCE)
        return float(np.average(-np.log(true), weights=shares))

    return loss
