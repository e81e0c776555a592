"""Kernel ridge regression."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.budget import Settings, settings_of
from ...fitting.ridge import SOLVERS, Fitted, RidgeFit
from ...grams import Prepared, limited_threads
from ...inputs import Input
from ...kernels import Kernel
from ...monitor import Monitor, to_stderr, warn
from ...postfit.posterior import Posterior
from ...solvers import RidgeProblem
from ..atomic import atomic
from ..base import Certificate, FunctionEstimator
from ..records import recorded
from ..targets import is_single


@dataclass(frozen=True, kw_only=True)
class RidgeCertificate(Certificate):
    """How far a ridge fit is from its optimum.

    status: "exact", "converged", or why not. solver: the way it was solved.
    residual: the largest relative residual of an output, in double precision; it is to be below
    `tol`. objective_gap: the objective is at most this far above its minimum.
    error_bound: no prediction is further than this from that of the exact solution, where k(x, x)
    is at most its largest value in training. With Nyström's method all of these are about the
    best function of its centres, not of all points. rank: of the preconditioner or of the features.
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

    alpha: Any
    fit_intercept: bool
    solver: str
    n_centers: Any
    tol: float
    max_iter: Any
    time_limit: Any
    callback: Any
    n_jobs: Any
    random_state: Any
    verbose: Any
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

    def _settings(self) -> Settings:
        return settings_of(self, SOLVERS, 1000)

    def _solve(
        self,
        points: Input,
        targets: Array,
        weight: Array | None,
        leave_one_out: bool = False,
        chosen: tuple[Kernel, float] | None = None,
        since: float | None = None,
        copies: Array | None = None,
    ) -> Fitted:
        """Fit the targets, one column an output, and keep what predictions need.

        chosen: kernel and alpha, where they are not the parameters. since: when the work began.
        copies: how many samples each point stands for, where its weight does not say so.
        """
        start = time.monotonic()
        began = start if since is None else since
        kernel, alpha = (self._kernel(), self.alpha) if chosen is None else chosen
        settings, who = self._settings(), type(self).__name__
        if settings.time_limit is not None:
            left = max(settings.time_limit - (start - began), settings.time_limit / 10)
            settings = replace(settings, time_limit=left)
        progress = to_stderr(who) if self.verbose else None
        monitor = Monitor(settings.time_limit, progress, self.callback)
        prepared = self._prepare(points, weight, kernel)
        rows = np.arange(len(points))
        if weight is not None and not weight.all():  # a point without weight has no say
            rows = np.flatnonzero(weight)
            prepared, targets, weight = prepared.take(rows), targets[rows], weight[rows]
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
        with limited_threads(self.n_jobs, who):
            fitted = RidgeFit(prepared, problem, settings, monitor).run(leave_one_out)
            if (factors != 1).any():
                fitted = self._unscaled(fitted, factors)
            self._store(fitted, problem, prepared, rows)
            self._judge(fitted, problem, prepared, settings)
            self._certify(fitted, prepared, settings.tol, time.monotonic() - began)
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
            self.dual_coef_ = np.where(
                free, np.nan, weight * found.keep["errors"] / np.where(free, 1.0, problem.alpha)
            )
            self.support_ = rows
            self._keep(np.arange(1))
        else:
            self.dual_coef_ = found.coefficients
            self.support_ = rows[fitted.centres]
            if fitted.moved is None:
                self._keep(fitted.centres)
            else:
                self._prepared = fitted.moved

    def _judge(
        self, fitted: Fitted, problem: RidgeProblem, prepared: Prepared, settings: Settings
    ) -> None:
        """Keep what tells how sure predictions are; prepared: all training points."""

    def _certify(self, fitted: Fitted, prepared: Prepared, tol: float, seconds: float) -> None:
        found = fitted.solution
        largest = float(np.sqrt(max(prepared.largest(), 0.0)))
        self.certificate_ = RidgeCertificate(
            status=found.status,
            plan=fitted.plan,
            kernel_entries=fitted.entries,
            bytes=fitted.bytes,
            seconds=seconds,
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
            text = sentence(type(self).__name__, must, got, found.status.advice("ridge"))
            warn(text, ConvergenceWarning)


class NumberRidge(MultiOutputMixin, RegressorMixin, RidgeEstimator):  # type: ignore[misc]
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
            self._posterior.learn(prepared.points, self._prepared, errors, centres, settings.seed)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return f(x) + b; with return_std also the standard deviation of a new y at x.

        That is sqrt(s (q + v(x))), of the shape of the values and in the units of y: the noise of
        an observation and what is not known about f(x) + b, for a Gaussian process with covariance
        s k, noise of variance s alpha / w_i and an intercept of which nothing is known; q is alpha
        over the mean of the weights. s is found for each output from the points themselves: the
        squared error of a point left out is on average the variance that the model without it
        predicts. So the deviation is right on average over points like those of the training,
        whatever kernel and alpha are; how it varies from point to point is as good as they are.
        docs/ridge.md has the formulas.
        """
        points = self._check_predict(X)
        values = self._scores(points)
        values = self._in_precision(values, points) if self._single else values
        if not return_std:
            return values
        if np.isnan(self.certificate_.residual):
            must = "return_std needs a fit that came to a solution"
            got = f"one that was stopped before ({self.certificate_.status})"
            raise InputError(sentence(type(self).__name__, must, got, "Fit again."))
        coefficients = self.dual_coef_[:, None] if self._flat else self.dual_coef_
        deviations = self._posterior.deviation(
            points, self._prepared, coefficients, self._settings()
        )
        return values, deviations[:, 0] if self._flat else deviations


class KernelRidge(NumberRidge):
    """Regression with a squared loss and a squared norm in feature space.

    min over f, b of sum_i w_i (y_i - f(x_i) - b)**2 + alpha ||f||**2 with f = sum_i a_i k(x_i, .):
    a = (K + alpha W**-1)**-1 (y - b). The lectures' n lambda is alpha.

    Parameters
    ----------
    alpha : a number, or one for each output; what is added to the diagonal of K
    kernel : None (Gaussian), a kernel, a scikit-learn kernel name, "precomputed" or fn(X, Y)
    gamma, degree, coef0 : of a kernel given by its scikit-learn name
    fit_intercept : whether there is an offset b that is not penalised; by default there is none, as
        in scikit-learn's model, but there is one in `KernelMachineRegressor`
    solver : "auto" chooses by size and memory; "primal" (exact feature map), "cholesky",
        "cg" (conjugate gradients on the whole kernel), "nystrom" (functions of `n_centers` points)
    n_centers : of "nystrom"; None is 10 sqrt(n). More than 2,500 rows of numbers are moved from
        points of `support_` to the means of what is nearest to them.
    tol : the relative residual to reach
    max_iter : of conjugate gradients; None is 1000
    memory_limit : "auto", bytes or a text such as "2GB": what the fit may allocate
    time_limit : seconds after which the best solution so far is returned, with a warning
    callback : called after each iteration with its record; returning True stops the fit
    n_jobs : threads; None is all that are allowed
    random_state : of the preconditioner and the centres; None is a fixed one
    verbose : whether to show progress on stderr

    Attributes
    ----------
    dual_coef_ (one row a point of `support_`), intercept_, support_, kernel_ (resolved), n_iter_,
    certificate_; coef_ with a primal solution: f(x) = phi(x) . coef_

    References
    ----------
    Saunders, Gammerman, Vovk, "Ridge regression learning algorithm in dual variables" (1998).
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: Any = None,
        gamma: Any = None,
        degree: Any = 3,
        coef0: Any = 1,
        fit_intercept: bool = False,
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
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the function; zero weights leave points out."""
        points = self._check_fit(X)
        targets, self._flat = self._check_targets(y, len(points))
        self._single = is_single(y)
        weight = checks.sample_weight(type(self).__name__, sample_weight, len(points))
        self._solve(points, targets, weight)
        if self._flat:
            self._flatten()
        return self
