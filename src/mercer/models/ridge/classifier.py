"""Classification by kernel ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ... import checks
from ...checkpoints import CheckpointLike
from ...checks import Array, InputError, sentence
from ...inputs import Input
from ...kernels import Kernel
from ...postfit.calibration import fit_slope, probabilities, slopes_of
from ...run import Run
from ...typing import (
    Approximation,
    Callback,
    ClassWeight,
    KernelLike,
    LabelsLike,
    MemoryLimit,
    Numbers,
    PointsLike,
    Seed,
    Weights,
)
from ..contract.anywhere import anywhere
from ..contract.approximation import HasApproximation
from ..contract.atomic import atomic
from ..contract.records import recorded
from ..contract.resuming import resumable
from ..contract.targets import as_classes, as_indicators, class_weighted
from .regressor import RidgeEstimator


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Classes or labels of training points.

    targets: of -1 and 1; two classes have one column, more have one each, as have several labels.
    codes: the class of each point, or the indicators of its labels. samples: weights as given.
    weight: times those of the classes.
    """

    targets: Array
    codes: Array
    samples: Array | None
    weight: Array | None

    @property
    def copies(self) -> Array:
        """How many samples each point stands for: the weight of a class makes no copies."""
        return np.ones(len(self.codes)) if self.samples is None else self.samples


def _has_probability(model: Any) -> bool:
    return bool(model.probability)


class LabelledRidge(HasApproximation, ClassifierMixin, RidgeEstimator):  # type: ignore[misc]
    """Classes as numbers to regress on, and back."""

    probability: bool
    class_weight: ClassWeight
    classes_: Array
    slopes_: Array
    _multilabel: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    def _encode(self, y: Any, n: int, sample_weight: Any) -> Labels:
        """Return what y says, checked."""
        who = type(self).__name__
        weight = samples = checks.sample_weight(who, sample_weight, n)
        indicators = as_indicators(who, y, n)
        self._multilabel = indicators is not None
        if indicators is not None:
            codes = indicators
            self.classes_ = np.arange(codes.shape[1])
            targets = 2.0 * codes - 1.0
        else:
            self.classes_, codes = as_classes(who, y, n)
            targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
            targets = targets[:, 1:] if len(self.classes_) == 2 else targets
        classes = codes if self._multilabel else self.classes_[codes]
        weight = class_weighted(self, classes, weight)
        self._check_weights(codes, weight)
        return Labels(targets=targets, codes=codes, samples=samples, weight=weight)

    def _check_weights(self, codes: Array, weight: Array | None) -> None:
        """Refuse weights that leave only one class."""
        if weight is None or self._multilabel:
            return
        left = np.unique(codes[weight > 0])
        if len(left) < 2:
            must = "at least two classes must have a sample with a positive weight"
            got = f"{len(left)} class with one"
            raise InputError(sentence(type(self).__name__, must, got))

    @anywhere
    def decision_function(self, X: PointsLike) -> Array:
        """Compute the scores f(x) + b of points.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes one score per point, positive for `classes_[1]`; otherwise one column
            per class or label.
        """
        scores = self._scores(X)
        binary = not self._multilabel and len(self.classes_) == 2
        return np.asarray(scores[:, 0] if binary else scores)

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the class, or the labels, of each point.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,) or (n, n_labels)
            The class with the largest score; for several labels per point, 1 where the score is
            positive and 0 elsewhere.
        """
        return self._decide(self.decision_function(X))

    def _decide(self, scores: Array) -> Array:
        if self._multilabel:
            return np.asarray((scores > 0).astype(int))
        return self._class_of(scores)

    def _fit_labels(
        self,
        points: Input,
        labels: Labels,
        chosen: tuple[Kernel, float] | None = None,
        run: Run | None = None,
    ) -> None:
        """Fit the targets, and calibrate on the scores of models that leave out one point each."""
        targets, weight = labels.targets, labels.weight
        leave = bool(self.probability)
        fitted = self._solve(
            points,
            targets,
            weight,
            leave_one_out=leave,
            chosen=chosen,
            run=run,
            copies=labels.copies,
        )
        if not self.probability:
            return
        used = slice(None) if weight is None else weight > 0
        errors = fitted.solution.keep.get("leave_one_out", targets[used])
        scores = targets[used] - errors
        scores = scores[:, 0] if scores.shape[1] == 1 and not self._multilabel else scores
        part = None if weight is None else weight[used]
        self.slopes_ = self._slopes(scores, labels.codes[used], part)

    def _slopes(self, scores: Array, codes: Array, weight: Array | None) -> Array:
        """Return one slope for all classes, or one for each label."""
        if not self._multilabel:
            return np.array([fit_slope(scores, codes, weight)])
        pairs = zip(scores.T, codes.T, strict=True)
        return np.array([fit_slope(s, c, weight) for s, c in pairs])

    def _chances(self, scores: Array, slopes: Array) -> Array:
        if self._multilabel:
            return np.asarray(expit(scores * slopes))
        return probabilities(scores, float(slopes[0]))

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    @anywhere
    def predict_proba(self, X: PointsLike) -> Array:
        """Estimate the probability of each class or label; needs `probability=True`.

        One slope turns scores into probabilities. It is the most likely one given the leave-one-out
        scores of the training points.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The probabilities; the largest of a row is that of the class predicted. Those of labels
            do not sum to 1.
        """
        slopes = slopes_of(self)
        return self._chances(self.decision_function(X), slopes)


class KernelRidgeClassifier(LabelledRidge):
    """Classification by kernel ridge regression on -1 and 1.

    Two classes have one output, several classes or labels one each. The class with the largest
    score wins. Every output minimises sum_i w_i (y_i - f(x_i) - b)**2 + alpha ||f||**2 with y = -1,
    1. Probabilities are calibrated on leave-one-out scores, in closed form; where conjugate
    gradients solve the problem, on those of a Nyström model of it.

    Parameters
    ----------
    alpha : float or array-like of shape (n_outputs,), default=1.0
        The penalty, at least 0, for all outputs or for each: what is added to the diagonal of K.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    approximation : feature map, default=None
        A map of `mercer.features` that takes the place of the kernel, such as
        `RandomFourier(n_components=2048)` or `Nystrom(n_components=500)`; the fit is then about the
        kernel phi(x) . phi(y) of the map. Its own kernel, if it has none, is that of the model.
    fit_intercept : bool, default=False
        Whether there is an offset b that is not penalised.
    class_weight : {"balanced"}, dict or list of dict, default=None
        Weight per class, multiplied with the sample weights. "balanced" makes the total weights of
        the classes equal. Several labels per point take a list with a dict per label.
    probability : bool, default=True
        Whether to calibrate `predict_proba`, which costs as much again as a Cholesky fit.
    solver : {"auto", "primal", "cholesky", "cg", "nystrom"}, default="auto"
        "primal" solves in an exact finite feature map, "cholesky" factors the kernel matrix, "cg"
        runs conjugate gradients on all of it, "nystrom" finds the best function of `n_centers`
        points. "auto" chooses by size and memory.
    n_centers : int, default=None
        Number of centres of "nystrom"; None is 10 sqrt(n), from 100 to 10,000. More than 2,500
        centres that are dense rows of numbers are moved to the means of the points nearest to them.
    tol : float, default=1e-6
        Relative residual to reach.
    max_iter : int, default=None
        Largest number of iterations of conjugate gradients; None is 1000.
    memory_limit : int or str, default="auto"
        Bytes that the fit may allocate, as a number or a text such as "2GB"; "auto" takes a share
        of the free memory.
    time_limit : float, default=None
        Seconds after which the best solution so far is returned, with a warning.
    callback : callable, default=None
        Called with the record of each iteration; returning True stops the fit.
    n_jobs : int, default=None
        Number of threads; None uses all that are allowed, -1 one per processor.
    random_state : int, RandomState or Generator, default=None
        Seed of the preconditioner and of the centres; None is a fixed seed.
    verbose : bool or int, default=False
        Whether to show progress on stderr.
    checkpoint : str, path or Checkpoint, default=None
        A file from which the same fit goes on if it is stopped or killed; see `mercer.Checkpoint`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; the numbers of the labels where there are several per point.
    dual_coef_ : ndarray of shape (n_support, n_outputs)
        Coefficients of the points of `support_`.
    coef_ : ndarray of shape (n_map, n_outputs)
        Coefficients of the features, f(x) = phi(x) . coef_, with the solver "primal" or
        an `approximation` only.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b of each output; 0 without one.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the function.
    slopes_ : ndarray of shape (1,) or (n_labels,)
        Slopes from scores to probabilities, with `probability=True` only.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : int
        Number of iterations.
    approximation_ : feature map
        The fitted map, with an `approximation` only.
    approximation_error_ : float
        Bound on the distance from the predictions that the exact kernel would give, as a root mean
        square over the training points, estimated on some of them; with an `approximation` only.
    certificate_ : RidgeCertificate
        How far the solution is from the optimum, and what it cost.

    See Also
    --------
    KernelRidgeClassifierCV : The same with alpha and kernel chosen by cross-validation.
    SVC : Classification with the hinge loss.

    References
    ----------
    .. [1] R. Rifkin, G. Yeo, T. Poggio, "Regularized least-squares classification", in Advances in
       Learning Theory, IOS Press (2003).

    Examples
    --------
    >>> from mercer import KernelRidgeClassifier
    >>> X = [[0.0], [0.2], [0.4], [1.6], [1.8], [2.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> model = KernelRidgeClassifier(alpha=0.1).fit(X, y)
    >>> model.predict([[0.1], [1.9]]).tolist()
    ['low', 'high']
    >>> model.predict_proba([[0.1]]).shape
    (1, 2)
    """

    def __init__(
        self,
        alpha: float | Numbers = 1.0,
        *,
        kernel: KernelLike = None,
        approximation: Approximation = None,
        fit_intercept: bool = False,
        class_weight: ClassWeight = None,
        probability: bool = True,
        solver: str = "auto",
        n_centers: int | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
        checkpoint: CheckpointLike = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.approximation = approximation
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.probability = probability
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
        self.checkpoint = checkpoint

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: LabelsLike, sample_weight: Weights = None) -> Self:
        """Find one function for each output.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,) or (n, n_labels)
            The class of each point, or a table of 0 and 1 with a column per label.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        KernelRidgeClassifier
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        points = self._check_fit(X)
        labels = self._encode(y, len(points), sample_weight)
        with resumable(self, points, y=labels.targets, sample_weight=labels.samples) as run:
            self._fit_labels(points, labels, run=run)
        return self
