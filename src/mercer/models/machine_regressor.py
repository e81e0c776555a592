"""Regression with any convex loss."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from .. import checks
from ..checks import Array, InputError, sentence
from ..losses import OF_NUMBERS, LossLike, to_loss
from ..typing import (
    Callback,
    KernelLike,
    MemoryLimit,
    PointsLike,
    Seed,
    TargetsLike,
    Weights,
)
from .machine import KernelMachine
from .records import recorded


class KernelMachineRegressor(MultiOutputMixin, RegressorMixin, KernelMachine):  # type: ignore[misc]
    """Regression by the function of least regularised loss, for any convex loss.

    It minimises sum_i w_i loss(f(x_i) + b, y_i) + alpha/2 ||f||**2 over f and b. "squared" is
    1/2 (f - y)**2, so that it is `KernelRidge(alpha, fit_intercept=True)`; an offset is the default
    here, not there. "epsilon_insensitive" with alpha = 1 / C is `SVR`.

    Parameters
    ----------
    loss : str or loss object, default="squared"
        "squared", "huber", "epsilon_insensitive", "quantile", "poisson" (the prediction is exp(f +
        b)), a loss of `mercer.losses` such as `Quantile(0.9)`, or any object with the methods
        value, gradient and curvature.
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
    dual_coef_ : ndarray of shape (n_support, n_outputs)
        Coefficients of the points of `support_`.
    coef_ : ndarray of shape (n_map, n_outputs)
        Coefficients of the features, f(x) = phi(x) . coef_, with the solver "primal" only.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b of each output.
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
    KernelRidge : The squared loss, with solvers of its own and standard deviations.
    SVR : The epsilon-insensitive loss, with a solver of its own.

    Notes
    -----
    Where a text writes the penalty as lambda ||f||**2, alpha is 2 lambda.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, "Learning with kernels", MIT Press (2002), chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelMachineRegressor
    >>> from mercer.losses import Quantile
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> y = np.tile([0.0, 1.0], 25)
    >>> model = KernelMachineRegressor(Quantile(0.9), alpha=100.0).fit(x[:, None], y)
    >>> model.predict([[0.5]]).round(1)
    array([1.])
    """

    _sizes: ClassVar[tuple[float, float]] = (1e-150, 1e150)

    def __init__(
        self,
        loss: LossLike = "squared",
        alpha: float = 1.0,
        *,
        kernel: KernelLike = None,
        fit_intercept: bool = True,
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
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.kernel = kernel
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

    @recorded
    def fit(self, X: PointsLike, y: TargetsLike, sample_weight: Weights = None) -> Self:
        """Find the function.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,) or (n, n_outputs)
            The numbers to predict.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        KernelMachineRegressor
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        who = type(self).__name__
        points = self._check_fit(X)
        weight = checks.sample_weight(who, sample_weight, len(points))
        targets, self._flat = self._check_targets(y, len(points))
        loss = to_loss(who, self.loss, OF_NUMBERS)
        if hasattr(loss, "check"):
            loss.check(who, targets)
        self._solve(points, loss, targets, weight)
        return self

    def predict(self, X: PointsLike) -> Array:
        """Predict f(x) + b, or the mean that the loss makes of it.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
            The predictions.

        Raises
        ------
        InputError
            If a mean overflows.
        """
        scores = self._scores(X)
        mean = getattr(to_loss(type(self).__name__, self.loss, OF_NUMBERS), "mean", None)
        with np.errstate(over="ignore"):
            found = scores if mean is None else mean(scores)
        if not np.isfinite(found).all():
            must = "means must be finite"
            got = f"overflow of those that scores up to {scores.max():.3g} stand for"
            advice = "Scale X, raise alpha, or predict points more like those of the fit."
            raise InputError(sentence(type(self).__name__, must, got, advice))
        return np.asarray(found[:, 0] if self._flat else found)
