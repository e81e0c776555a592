"""Classification by kernel ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ... import checks
from ...checks import Array, InputError, sentence
from ...inputs import Input
from ...kernels import Kernel
from ...postfit.calibration import fit_slope, probabilities, slopes_of
from ..atomic import atomic
from ..records import recorded
from ..targets import as_indicators
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


class LabelledRidge(ClassifierMixin, RidgeEstimator):  # type: ignore[misc]
    """Classes as numbers to regress on, and back."""

    probability: bool
    class_weight: Any
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
            self.classes_, codes = self._check_labels(y, n)
            targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
            targets = targets[:, 1:] if len(self.classes_) == 2 else targets
        classes = codes if self._multilabel else self.classes_[codes]
        weight = self._class_weighted(classes, weight)
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

    def decision_function(self, X: Any) -> Array:
        """Return f(x) + b: positive for `classes_[1]`, or one column a class or label."""
        scores = self._scores(X)
        binary = not self._multilabel and len(self.classes_) == 2
        return np.asarray(scores[:, 0] if binary else scores)

    def predict(self, X: Any) -> Array:
        """Return the class with the largest score, or the labels with positive ones."""
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
        since: float | None = None,
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
            since=since,
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
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class (or label), largest for the one predicted.

        The slope from scores to probabilities is the likeliest one for the leave-one-out scores of
        the training points.
        """
        slopes = slopes_of(self)
        return self._chances(self.decision_function(X), slopes)


class KernelRidgeClassifier(LabelledRidge):
    """Classification by regression on -1 and 1, with the solvers of `KernelRidge`.

    One output for two classes, one for each class or label otherwise; the class with the largest
    score wins. Probabilities are calibrated on leave-one-out scores, in closed form; where
    conjugate gradients solve the problem, on those of a Nyström model of it.

    Parameters
    ----------
    alpha, kernel, fit_intercept, solver, n_centers, tol, max_iter, memory_limit, time_limit,
    callback, n_jobs, random_state, verbose : as in `KernelRidge`
    class_weight : None, "balanced" or a weight for each class
    probability : whether to calibrate `predict_proba`, which costs as much again as a Cholesky fit

    Attributes
    ----------
    classes_, dual_coef_ (points of `support_`, outputs), intercept_, support_, kernel_ (resolved),
    slopes_ (of the probabilities), n_iter_, certificate_

    References
    ----------
    Rifkin, Yeo, Poggio, "Regularized least-squares classification" (2003).
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: Any = None,
        fit_intercept: bool = False,
        class_weight: Any = None,
        probability: bool = True,
        solver: str = "auto",
        n_centers: Any = None,
        tol: float = 1e-6,
        max_iter: Any = None,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
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

    @atomic
    @recorded
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find one function for each output."""
        points = self._check_fit(X)
        self._fit_labels(points, self._encode(y, len(points), sample_weight))
        return self
