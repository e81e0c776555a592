"""Functions with any convex loss."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from .. import checks
from ..checks import Array, InputError, sentence
from ..fitting.budget import Settings, settings_of
from ..fitting.loss import SOLVERS, Found, MachineFit
from ..grams import limited_threads
from ..inputs import Input
from ..losses import KINKED, OF_CLASSES, OF_NUMBERS, Logistic, Softmax, check_loss, to_loss
from ..monitor import Monitor, to_stderr, warn
from ..solvers.loss.newton import LossProblem
from ..status import Status
from .atomic import atomic
from .base import Certificate, FunctionEstimator
from .records import recorded


@dataclass(frozen=True, kw_only=True)
class MachineCertificate(Certificate):
    """How far a function is from the best one.

    solver: the way it was found. primal: the objective. gap: it is at most this far above its
    minimum (Fenchel duality), which is to be below `tol` times the objective; with a dual solution
    `tol` is how far the optimality conditions may be missed. error_bound: no f(x) is further than
    this from that of the minimum, apart from the offset, where k(x, x) is at most its largest value
    in training. With Nyström's method all of these are about functions of its centres.
    iterations: steps of Newton's method, or pairs of variables. products: passes over K.
    """

    solver: str
    primal: float
    gap: float
    tol: float
    error_bound: float
    iterations: int
    products: int


class KernelMachine(FunctionEstimator):
    """What machines with any loss share: parameters, the solution, the scores of new points."""

    loss: Any
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
    support_: Array
    n_iter_: int

    def _settings(self) -> Settings:
        return settings_of(self, SOLVERS, 200)

    def _solve(self, points: Input, loss: Any, targets: Array, weight: Array | None) -> None:
        """Find the function, and keep what predictions need."""
        start, who = time.monotonic(), type(self).__name__
        settings = self._settings()
        alpha = checks.number(who, "alpha", self.alpha, above=0)
        if not isinstance(loss, KINKED):
            check_loss(who, loss, targets)
        progress = to_stderr(who) if self.verbose else None
        monitor = Monitor(settings.time_limit, progress, self.callback)
        prepared = self._prepare(points, weight)
        rows = np.arange(len(points))
        if weight is not None and not weight.all():  # a point without weight has no say
            rows = np.flatnonzero(weight)
            prepared, targets, weight = prepared.take(rows), targets[rows], weight[rows]
        weight = np.ones(len(rows)) if weight is None else weight
        problem = LossProblem(
            loss=loss,
            targets=targets,
            weight=weight,
            alpha=alpha,
            intercept=bool(self.fit_intercept),
        )
        with limited_threads(self.n_jobs, who):
            found = MachineFit(prepared, problem, settings, monitor).run()
            largest = float(np.sqrt(max(prepared.largest(), 0.0)))
        self._prepared = prepared
        self._store(found, rows)
        self._certify(found, settings.tol, largest, time.monotonic() - start)

    def _store(self, found: Found, rows: Array) -> None:
        solved = found.solution
        self.intercept_, self.n_iter_ = solved.intercept, max(solved.steps, 1)
        if found.way == "primal":
            # The map needs to know the columns of the points only, which any of them shows.
            self.coef_ = solved.t
            self.support_ = rows
            self._keep(np.arange(1))
        elif found.moved is not None:
            self.dual_coef_, self.support_ = solved.t, rows[found.centres]
            self._prepared = found.moved
        else:
            used = np.flatnonzero(solved.t.any(axis=1))
            used = used if len(used) else np.arange(1)  # one point shows the columns
            self.dual_coef_, self.support_ = solved.t[used], rows[used]
            self._keep(used)

    def _certify(self, found: Found, tol: float, largest: float, seconds: float) -> None:
        solved = found.solution
        self.certificate_ = MachineCertificate(
            status=solved.status,
            plan=found.plan,
            kernel_entries=found.entries,
            bytes=found.bytes,
            seconds=seconds,
            solver=found.way,
            primal=solved.primal,
            gap=solved.gap,
            tol=tol,
            error_bound=largest * float(np.sqrt(2 * solved.gap / self.alpha)),
            iterations=solved.steps,
            products=solved.products,
        )
        if solved.status != Status.CONVERGED:
            must = f"the gap must reach {tol:g} of the objective"
            got = f"{solved.gap:.2g} of {solved.primal:.2g} ({solved.status}, {solved.steps} steps)"
            text = sentence(type(self).__name__, must, got, solved.status.advice("loss"))
            warn(text, ConvergenceWarning)


def _is_logistic(model: Any) -> bool:
    return model.loss == "logistic" or isinstance(model.loss, Logistic)


class KernelMachineClassifier(ClassifierMixin, KernelMachine):  # type: ignore[misc]
    """Classes by the function of least loss.

    min over f, b of sum_i w_i loss(f(x_i) + b, y_i) + alpha/2 ||f||**2 with y = -1, 1. The loss
    "logistic" takes several classes together (softmax); others one against the rest. The lectures'
    lambda is alpha / 2; "hinge" with alpha = 1 / C is `SVC`.

    Parameters
    ----------
    loss : "logistic", "squared", "hinge", "squared_hinge", "smoothed_hinge", a loss of
        `mercer.losses` such as SmoothedHinge(0.2), or any object with value, gradient and curvature
    alpha : the penalty, above 0
    kernel : None (Gaussian), a kernel, a scikit-learn kernel name, "precomputed" or fn(X, Y)
    fit_intercept : whether there is an offset b that is not penalised
    solver : "auto" chooses by loss, size and memory; "newton" (all points), "primal" (exact feature
        map), "nystrom" (functions of `n_centers` points), "dual" (losses with a kink)
    n_centers : of "nystrom"; None is 10 sqrt(n)
    class_weight : None, "balanced" or a weight for each class
    tol : the gap to reach, against the objective
    max_iter : steps of Newton's method; None is 200
    memory_limit : "auto", bytes or a text such as "2GB": what the fit may allocate
    time_limit : seconds after which the best function so far is returned, with a warning
    callback : called after each step with its record; returning True stops the fit
    n_jobs : threads; None is all that are allowed
    random_state : of the preconditioner and the centres; None is a fixed one
    verbose : whether to show progress on stderr

    Attributes
    ----------
    classes_, dual_coef_ (one row a point of `support_`, one column a machine), intercept_,
    support_, kernel_ (resolved), n_iter_, certificate_; coef_ with a primal solution

    References
    ----------
    Schölkopf, Smola, "Learning with kernels" (2002), chapter 4.
    """

    classes_: Array

    def __init__(
        self,
        loss: Any = "logistic",
        alpha: float = 1.0,
        *,
        kernel: Any = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        n_centers: Any = None,
        class_weight: Any = None,
        tol: float = 1e-6,
        max_iter: Any = None,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
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

    @atomic
    @recorded
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the function; zero weights leave points out."""
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

    def decision_function(self, X: Any) -> Array:
        """Return f(x) + b: positive for `classes_[1]`; of more classes, one column each."""
        scores = self._scores(X)
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    def predict(self, X: Any) -> Array:
        """Return the class of each point."""
        return self._class_of(self.decision_function(X))

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class; for the logistic loss."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return Softmax().probabilities(scores)

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of every class."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([-np.logaddexp(0, scores), -np.logaddexp(0, -scores)])
        return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


class KernelMachineRegressor(MultiOutputMixin, RegressorMixin, KernelMachine):  # type: ignore[misc]
    """Numbers by the function of least loss.

    min over f, b of sum_i w_i loss(f(x_i) + b, y_i) + alpha/2 ||f||**2. "squared" is
    1/2 (f - y)**2, so that it is `KernelRidge(alpha, fit_intercept=True)`: an offset is the default
    here, not there. "epsilon_insensitive" with alpha = 1 / C is `SVR`. The lectures' lambda is
    alpha / 2, without an offset.

    Parameters
    ----------
    loss : "squared", "huber", "epsilon_insensitive", "quantile", "poisson" (the prediction is
        exp(f + b)), a loss of `mercer.losses` such as Quantile(0.9), or any object with value,
        gradient and curvature
    alpha, kernel, fit_intercept, solver, n_centers, tol, max_iter, memory_limit, time_limit,
    callback, n_jobs, random_state, verbose : as in `KernelMachineClassifier`

    Attributes
    ----------
    dual_coef_, intercept_, support_, kernel_, n_iter_, certificate_; coef_ with a primal solution

    References
    ----------
    Schölkopf, Smola, "Learning with kernels" (2002), chapter 4.
    """

    _sizes: ClassVar[tuple[float, float]] = (1e-150, 1e150)
    _flat: bool  # y was a vector

    def __init__(
        self,
        loss: Any = "squared",
        alpha: float = 1.0,
        *,
        kernel: Any = None,
        fit_intercept: bool = True,
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

    @atomic
    @recorded
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the function; zero weights leave points out."""
        who = type(self).__name__
        points = self._check_fit(X)
        weight = checks.sample_weight(who, sample_weight, len(points))
        targets, self._flat = self._check_targets(y, len(points))
        loss = to_loss(who, self.loss, OF_NUMBERS)
        if hasattr(loss, "check"):
            loss.check(who, targets)
        self._solve(points, loss, targets, weight)
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x) + b, or the mean that the loss makes of it."""
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
