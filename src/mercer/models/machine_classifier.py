"""Classification with any convex loss."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from .. import checks
from ..checks import Array
from ..losses import OF_CLASSES, Logistic, LossLike, Softmax, to_loss
from ..typing import (
    Callback,
    ClassWeight,
    KernelLike,
    LabelsLike,
    MemoryLimit,
    PointsLike,
    Seed,
    Weights,
)
from .machine import KernelMachine
from .records import recorded


def _is_logistic(model: Any) -> bool:
    return model.loss == "logistic" or isinstance(model.loss, Logistic)


class KernelMachineClassifier(ClassifierMixin, KernelMachine):  # type: ignore[misc]
    """Classification by the function of least regularised loss, for any convex loss.

    It minimises sum_i w_i loss(f(x_i) + b, y_i) + alpha/2 ||f||**2 over f and b, with y = -1, 1.
    The logistic loss takes several classes together (softmax); other losses take one class against
    the rest. With "hinge" and alpha = 1 / C it is `SVC`.

    Parameters
    ----------
    loss : str or loss object, default="logistic"
        "logistic", "squared", "hinge", "squared_hinge", "smoothed_hinge", a loss of `mercer.losses`
        such as `SmoothedHinge(0.2)`, or any object with the methods value, gradient and curvature.
    alpha : float, default=1.0
        The penalty, above 0.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    fit_intercept : bool, default=True
        Whether there is an offset b that is not penalised.
    solver : {"auto", "newton", "primal", "nystrom", "dual"}, default="auto"
        "newton" works with all points, "primal" in an exact finite feature map, "nystrom" with
        functions of `n_centers` points, "dual" is for losses with a kink. "auto" chooses by loss,
        size and memory.
    n_centers : int, default=None
        Number of centres of "nystrom"; None is 10 sqrt(n).
    class_weight : {"balanced"} or dict, default=None
        Weight per class, multiplied with the sample weights. "balanced" makes the total weights of
        the classes equal.
    tol : float, default=1e-6
        Gap to reach, relative to the objective.
    max_iter : int, default=None
        Largest number of steps of Newton's method; None is 200.
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

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    dual_coef_ : ndarray of shape (n_support, n_machines)
        Coefficients of the points of `support_`.
    coef_ : ndarray of shape (n_map, n_machines)
        Coefficients of the features, f(x) = phi(x) . coef_, with the solver "primal" only.
    intercept_ : ndarray of shape (n_machines,)
        The offset b of each machine.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the function.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : int
        Number of steps.
    certificate_ : MachineCertificate
        How far the function is from the best one, and what it cost.

    See Also
    --------
    SVC : The hinge loss, with a solver of its own.
    KernelMachineRegressor : Losses for numbers.

    Notes
    -----
    Where a text writes the penalty as lambda ||f||**2, alpha is 2 lambda.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, "Learning with kernels", MIT Press (2002), chapter 4.

    Examples
    --------
    >>> from mercer import KernelMachineClassifier
    >>> X = [[0.0], [0.2], [0.4], [1.6], [1.8], [2.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> model = KernelMachineClassifier("logistic", alpha=0.1).fit(X, y)
    >>> model.predict([[0.1], [1.9]]).tolist()
    ['low', 'high']
    >>> model.certificate_.status
    'converged'
    """

    def __init__(
        self,
        loss: LossLike = "logistic",
        alpha: float = 1.0,
        *,
        kernel: KernelLike = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        n_centers: int | None = None,
        class_weight: ClassWeight = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.n_centers = n_centers
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @recorded
    def fit(self, X: PointsLike, y: LabelsLike, sample_weight: Weights = None) -> Self:
        """Find the function.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The class of each point.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        KernelMachineClassifier
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        who = type(self).__name__
        points = self._check_fit(X)
        weight = checks.sample_weight(who, sample_weight, len(points))
        self.classes_, codes = self._check_labels(y, len(points))
        loss = to_loss(who, self.loss, OF_CLASSES)
        weight = self._class_weighted(self.classes_[codes], weight)
        self._class_totals(codes, weight)
        members = codes[:, None] == np.arange(len(self.classes_))
        if len(self.classes_) == 2:
            members = members[:, 1:]
        elif isinstance(loss, Logistic):
            loss = Softmax()
        targets = members.astype(float) if isinstance(loss, Softmax) else 2.0 * members - 1.0
        self._solve(points, loss, targets, weight)
        return self

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
            per class.
        """
        scores = self._scores(X)
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(self, X: PointsLike) -> Array:
        """Predict the class of each point.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The classes.
        """
        return self._class_of(self.decision_function(X))

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: PointsLike) -> Array:
        """Compute the probability of each class; needs the logistic loss.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The probabilities.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return Softmax().probabilities(scores)

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: PointsLike) -> Array:
        """Compute the logarithm of the probability of each class; needs the logistic loss.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The logarithms, exact also where probabilities round to 0.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([-np.logaddexp(0, scores), -np.logaddexp(0, -scores)])
        return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
