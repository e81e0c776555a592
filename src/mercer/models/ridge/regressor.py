"""Kernel ridge regression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from ... import checks
from ...checkpoints import CheckpointLike
from ...checks import Array, InputError, sentence
from ...fitting.budget import Settings, settings_of
from ...fitting.ridge.choice import SOLVERS
from ...fitting.ridge.fit import Fitted, RidgeFit
from ...grams import Prepared, limited_threads
from ...grams.prepared import with_only
from ...inputs import Input
from ...kernels import Kernel
from ...postfit.posterior import Posterior
from ...run import Run
from ...solvers import RidgeProblem
from ...typing import (
    Approximation,
    Callback,
    Gamma,
    KernelLike,
    MemoryLimit,
    Numbers,
    PointsLike,
    Seed,
    TargetsLike,
    Weights,
)
from ..base import Certificate, FunctionEstimator
from ..contract.anywhere import anywhere
from ..contract.approximation import (
    HasApproximation,
    has_approximation,
    note_price,
    sum_of_features,
)
from ..contract.atomic import atomic
from ..contract.parameters import run_of
from ..contract.records import recorded
from ..contract.resuming import resumable
from ..contract.targets import is_single, numbers_of


@dataclass(frozen=True, kw_only=True)
class RidgeCertificate(Certificate):
    """How far a ridge fit is from its optimum, and what it cost.

    With Nyström's method all distances are about the best function of its centres, not of all
    points.

    Attributes
    ----------
    status : str
        "exact", "converged", or the reason why neither.
    plan : str
        How the kernel matrix was held, and why.
    kernel_entries : int
        Number of kernel values that were computed.
    bytes : int
        Bytes that the plan allocates beyond the inputs.
    seconds : float
        Time that the fit took.
    solver : str
        The solver that was used.
    residual : float
        Largest relative residual of an output, in double precision; at most `tol` after
        convergence.
    tol : float
        The residual that was asked for.
    objective_gap : float
        The objective is at most this far above its minimum.
    error_bound : float
        No prediction is further than this from that of the exact solution, for points whose k(x, x)
        is at most its largest value in training.
    iterations : int
        Number of iterations of conjugate gradients.
    rank : int
        Rank of the preconditioner or of the features.
    """

    solver: str
    residual: float
    tol: float
    objective_gap: float
    error_bound: float
    iterations: int
    rank: int


class RidgeEstimator(FunctionEstimator):
    """What kernel ridge models share: parameters, the solution, the scores of new points."""

    alpha: float | Numbers
    fit_intercept: bool
    solver: str
    n_centers: int | None
    tol: float
    max_iter: int | None
    time_limit: float | None
    callback: Callback
    n_jobs: int | None
    random_state: Seed
    verbose: bool | int
    checkpoint: CheckpointLike
    certificate_: RidgeCertificate
    support_: Array
    n_iter_: int

    def _alphas(self, alpha: Any, outputs: int) -> Array:
        """Return one alpha for each output."""
        who = type(self).__name__
        if np.ndim(alpha) == 0:
            return np.full(outputs, checks.number(who, "alpha", alpha, least=0))
        found = checks.vector(who, "alpha", alpha, outputs)
        if np.any(found < 0):
            raise InputError(sentence(who, "alpha must be at least 0", f"{found.min():g}"))
        return found

    def _settings(self, run: Run) -> Settings:
        return settings_of(self, run, SOLVERS, 1000)

    def _solve(
        self,
        points: Input,
        targets: Array,
        weight: Array | None,
        leave_one_out: bool = False,
        chosen: tuple[Kernel, float] | None = None,
        run: Run | None = None,
        copies: Array | None = None,
    ) -> Fitted:
        """Fit the targets, one column per output, and keep what predictions need.

        chosen: kernel and alpha, where they are not the parameters. run: where the work has begun.
        copies: how many samples each point stands for, where its weight does not say so.
        """
        run = run_of(self) if run is None else run
        kernel, alpha = (self._kernel(), self.alpha) if chosen is None else chosen
        settings = self._settings(run.rest())
        prepared = self._prepare(points, weight, kernel)
        rows = np.arange(len(points))
        if weight is not None and not weight.all():  # a point without weight has no say
            rows = np.flatnonzero(weight)
            prepared, targets, weight = with_only(prepared, rows), targets[rows], weight[rows]
            copies = None if copies is None else copies[rows]
        alphas = self._alphas(alpha, targets.shape[1])
        problem = RidgeProblem(
            targets=targets,
            alpha=alphas,
            weight=weight,
            intercept=bool(self.fit_intercept),
            copies=copies,
        )
        problem, factors = problem.scaled()
        with limited_threads(run.n_jobs, run.who):
            fitted = RidgeFit(prepared, problem, settings).run(leave_one_out)
            if (factors != 1).any():
                fitted = self._unscaled(fitted, factors)
            self._store(fitted, problem, prepared, rows)
            self._judge(fitted, problem, prepared, settings)
            self._certify(fitted, prepared, settings.tol, run)
            note_price(self, prepared, self.dual_coef_, run.seed)
        return fitted

    def _unscaled(self, fitted: Fitted, factors: Array) -> Fitted:
        """Return what was found in the units of y; refuse coefficients that these cannot hold."""
        with np.errstate(over="ignore", under="ignore"):
            found = fitted.solution.times(factors)
        if not (np.isfinite(found.coefficients).all() and np.isfinite(found.intercept).all()):
            must = "the coefficients must be finite"
            advice = "Divide y by its largest number, or raise alpha."
            raise InputError(sentence(type(self).__name__, must, "overflow", advice))
        return replace(fitted, solution=found)

    def _store(
        self, fitted: Fitted, problem: RidgeProblem, prepared: Prepared, rows: Array
    ) -> None:
        found = fitted.solution
        self.intercept_ = found.intercept
        self.n_iter_ = max(found.iterations, 1)
        self._prepared = prepared
        if fitted.way == "primal" and "errors" in found.keep:
            # The map needs to know the columns of the points only, which any of them shows.
            self.coef_ = found.coefficients
            weight = problem.roots**2
            free = problem.alpha == 0  # any function is: it is no combination of errors
            with np.errstate(over="ignore"):  # predictions do not need them
                dual = weight * found.keep["errors"] / np.where(free, 1.0, problem.alpha)
            self.dual_coef_ = np.where(free, np.nan, dual)
            self.support_ = rows
            self._keep(np.arange(1))
        else:
            self.dual_coef_ = found.coefficients
            self.support_ = rows[fitted.centres]
            if fitted.moved is None:
                self._keep(fitted.centres)
            else:
                self._prepared = fitted.moved
            if has_approximation(self):  # a function of features all the same
                self.coef_ = sum_of_features(self._prepared, self.dual_coef_)

    def _judge(
        self, fitted: Fitted, problem: RidgeProblem, prepared: Prepared, settings: Settings
    ) -> None:
        """Keep what tells how sure predictions are; prepared: all training points."""

    def _certify(self, fitted: Fitted, prepared: Prepared, tol: float, run: Run) -> None:
        found = fitted.solution
        largest = float(np.sqrt(max(prepared.largest(), 0.0)))
        self.certificate_ = RidgeCertificate(
            status=found.status,
            plan=fitted.plan,
            kernel_entries=fitted.entries,
            bytes=fitted.bytes,
            seconds=run.seconds,
            solver=fitted.way,
            residual=found.residual,
            tol=tol,
            objective_gap=found.gap,
            error_bound=found.bound * largest + found.offset,
            iterations=found.iterations,
            rank=found.rank,
        )
        if not found.status.is_good:
            must = f"the relative residual must reach tol = {tol:g}"
            got = f"{found.residual:.2g} ({found.status}, {found.iterations} iterations)"
            text = sentence(run.who, must, got, found.status.advice("ridge"))
            run.warn(text, ConvergenceWarning)


class NumberRidge(HasApproximation, MultiOutputMixin, RegressorMixin, RidgeEstimator):  # type: ignore[misc]
    """Predictions of numbers, and how sure they are."""

    _sizes: ClassVar[tuple[float, float]] = (0.0, np.inf)  # solved in units of their own
    _flat: bool  # y was a vector
    _single: bool = False  # y was in single precision
    _posterior: Posterior

    def _flatten(self) -> None:
        """Give attributes the shape that goes with a vector y."""
        self.dual_coef_, self.intercept_ = self.dual_coef_[:, 0], float(self.intercept_[0])
        if hasattr(self, "coef_"):
            self.coef_ = self.coef_[:, 0]

    def _judge(
        self, fitted: Fitted, problem: RidgeProblem, prepared: Prepared, settings: Settings
    ) -> None:
        self._posterior = Posterior(fitted.way, problem, fitted.solution)
        if "errors" in fitted.solution.keep:
            errors = fitted.solution.keep["errors"]
            centres = fitted.centres
            self._posterior.learn(
                prepared.points, self._prepared, errors, centres, settings.run.seed
            )

    @anywhere
    def predict(self, X: PointsLike, return_std: bool = False) -> Any:
        """Predict the numbers of each point, and how sure they are.

        With `return_std` the standard deviation of a new y at x comes with them: sqrt(s (q +
        v(x))), the noise of an observation and what is not known about f(x) + b. It is that of a
        Gaussian process with covariance s k, noise of variance s alpha / w_i and an intercept of
        which nothing is known; q is alpha over the mean of the weights, v(x) the posterior variance
        for s = 1. The scale s is found for each output from the points themselves: the squared
        error of a point left out is on average the variance that the model without it predicts. So
        the deviation is right on average over points like those of the training, whatever kernel
        and alpha are; how it varies from point to point is as good as they are. docs/ridge.md has
        the formulas.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.
        return_std : bool, default=False
            Whether to return standard deviations as well.

        Returns
        -------
        values : ndarray of shape (n,) or (n, n_outputs)
            The values f(x) + b.
        deviations : ndarray of shape (n,) or (n, n_outputs)
            The standard deviations, in the units of y; only with `return_std`.

        Raises
        ------
        InputError
            If the points are not of the kind that was fitted, or if `return_std` is asked of a fit
            that was stopped before it came to a solution.
        """
        points = self._check_predict(X)
        values = self._scores(points)
        values = self._in_precision(values, points) if self._single else values
        if not return_std:
            return values
        self._check_deviations()
        coefficients = self.dual_coef_[:, None] if self._flat else self.dual_coef_
        deviations = self._posterior.deviation(
            points, self._prepared, coefficients, self._settings(run_of(self))
        )
        return values, deviations[:, 0] if self._flat else deviations

    def _check_deviations(self) -> None:
        """Refuse to say how sure predictions are, where the fit has not left what that takes."""
        if hasattr(self, "compression_"):
            must = "return_std needs the training points"
            got = "a compressed model, which does not have them"
            advice = "Ask the model before its compression."
            raise InputError(sentence(type(self).__name__, must, got, advice))
        if np.isnan(self.certificate_.residual):
            must = "return_std needs a fit that came to a solution"
            got = f"one that was stopped before ({self.certificate_.status})"
            raise InputError(sentence(type(self).__name__, must, got, "Fit again."))


class KernelRidge(NumberRidge):
    """Kernel ridge regression.

    It finds f = sum_i a_i k(x_i, .) and b that minimise sum_i w_i (y_i - f(x_i) - b)**2 + alpha
    ||f||**2, so a = (K + alpha W**-1)**-1 (y - b) with W the diagonal matrix of the sample weights.

    Parameters
    ----------
    alpha : float or array-like of shape (n_outputs,), default=1.0
        The penalty, at least 0, for all outputs or for each: what is added to the diagonal of K.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    gamma : {"scale", "auto"} or float, default=None
        Bandwidth of a kernel given by name; None is 1 / columns.
    degree : int, default=3
        Degree of the kernel "poly"; other kernels have their own parameters.
    coef0 : float, default=1
        Constant of the kernels "poly" and "sigmoid".
    approximation : feature map, default=None
        A map of `mercer.features` that takes the place of the kernel, such as
        `RandomFourier(n_components=2048)` or `Nystrom(n_components=500)`; the fit is then about the
        kernel phi(x) . phi(y) of the map. Its own kernel, if it has none, is that of the model.
    fit_intercept : bool, default=False
        Whether there is an offset b that is not penalised. By default there is none, as in
        scikit-learn's `KernelRidge`.
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
    dual_coef_ : ndarray of shape (n_support,) or (n_support, n_outputs)
        The coefficients a of the points of `support_`; with the solver "primal" and alpha = 0 they
        are not determined, and are NaN.
    coef_ : ndarray of shape (n_map,) or (n_map, n_outputs)
        Coefficients of the features, f(x) = phi(x) . coef_, with the solver "primal" or
        an `approximation` only.
    intercept_ : float or ndarray of shape (n_outputs,)
        The offset b; 0 without one.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the function.
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
    KernelRidgeCV : The same regression with alpha and kernel chosen by cross-validation.
    KernelRidgeClassifier : Classification with the same solvers.
    KernelMachineRegressor : Regression with other losses.

    Notes
    -----
    Where a text writes the penalty as n lambda ||f||**2, alpha is n lambda.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman, V. Vovk, "Ridge regression learning algorithm in dual
       variables", International Conference on Machine Learning (1998).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.kernels import Gaussian
    >>> x = np.linspace(0.0, 6.0, 40)
    >>> model = KernelRidge(alpha=1e-3, kernel=Gaussian(gamma=0.5)).fit(x[:, None], np.sin(x))
    >>> model.predict([[np.pi / 2]]).round(2)
    array([1.])
    >>> model.certificate_.solver
    'cholesky'
    """

    def __init__(
        self,
        alpha: float | Numbers = 1.0,
        *,
        kernel: KernelLike = None,
        gamma: Gamma = None,
        degree: int = 3,
        coef0: float = 1,
        approximation: Approximation = None,
        fit_intercept: bool = False,
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
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approximation = approximation
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
        self.checkpoint = checkpoint

    @atomic
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
        KernelRidge
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        points = self._check_fit(X)
        targets, self._flat = numbers_of(self, y, len(points))
        self._single = is_single(y)
        weight = checks.sample_weight(type(self).__name__, sample_weight, len(points))
        with resumable(self, points, y=targets, sample_weight=weight) as run:
            self._solve(points, targets, weight, run=run)
        if self._flat:
            self._flatten()
        return self
