"""Regression and novelty detection by support vector machines."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin, RegressorMixin

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.machines import Task
from ...grams import limited_threads
from ...inputs import Input
from ...solvers import Machine
from ...solvers.box.machines import (
    nu_regression,
    one_class,
    read_nu_regression,
    read_one_class,
    read_regression,
    regression,
)
from ..atomic import atomic
from ..records import recorded
from .base import SupportVectorEstimator


class SingleMachine(SupportVectorEstimator):
    """An estimator of one function."""

    def _fit_one(self, points: Input, weight: Array | None, task: Task) -> Machine:
        start = time.monotonic()
        shop = self._shop(points, weight, [np.arange(len(points))])
        machine = self._run(shop, [task], start)[0]
        self._store_one(machine)
        return machine

    def _store_one(self, machine: Machine) -> None:
        support = np.flatnonzero(machine.b)
        self.dual_coef_ = machine.b[support][None]
        self.intercept_ = np.array([machine.offset])
        self.n_support_ = np.array([len(support)], dtype=np.int32)
        self._keep_support(support)

    def _values(self, X: Any) -> Array:
        self._require_fit()
        everything = [slice(0, len(self.support_))]
        return np.asarray(
            self._products(X, everything, [self.dual_coef_.T])[0][:, 0] + self.intercept_[0]
        )

    def _numbers(self, y: Any, n: int) -> Array:
        """Return the numbers to predict, one a point."""
        targets, _ = self._check_targets(y, n)
        if targets.shape[1] != 1:
            must = "y must be 1-D, one number a point"
            raise InputError(sentence(type(self).__name__, must, f"shape {np.shape(y)}"))
        return targets[:, 0]


class SVR(RegressorMixin, SingleMachine):  # type: ignore[misc]
    """Regression with a tube: min 1/2 |w|**2 + C sum_i max(0, |y_i - f(x_i)| - epsilon).

    Parameters
    ----------
    C : what a unit of error outside the tube costs
    epsilon : half the width of the tube
    kernel, degree, gamma, coef0, fit_intercept, tol, max_iter, memory_limit, time_limit, callback,
    n_jobs, random_state, verbose : as in `SVC`

    Attributes
    ----------
    support_, support_vectors_ (of rows of numbers), n_support_, dual_coef_, intercept_, kernel_
    (resolved), n_iter_, certificate_

    References
    ----------
    Smola, Schölkopf, "A tutorial on support vector regression" (2004).
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        kernel: Any = None,
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: Any = None,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
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
        """Find the function."""
        points = self._check_fit(X)
        targets = self._numbers(y, len(points))
        weight = checks.sample_weight("SVR", sample_weight, len(points))
        self._fit_one(points, weight, self._task(targets, weight))
        return self

    def _task(self, targets: Array, weight: Array | None) -> Task:
        epsilon = checks.number("SVR", "epsilon", self.epsilon, least=0)
        bounds = self._bounds(self.C, weight, len(targets))
        problem = regression(targets, bounds, epsilon, bool(self.fit_intercept))
        return Task(groups=(0,), problem=problem, read=read_regression)

    def predict(self, X: Any) -> Array:
        """Return f(x) of each point."""
        return self._values(X)


class NuSVR(RegressorMixin, SingleMachine):  # type: ignore[misc]
    """Regression with a tube as wide as leaves a share nu of the points outside it at most.

    The function is that of `SVR` for some epsilon, found with it (`epsilon_`).

    Parameters
    ----------
    nu : in (0, 1]
    C : what a unit of error outside the tube costs
    kernel, degree, gamma, coef0, tol, max_iter, memory_limit, time_limit, callback, n_jobs,
    random_state, verbose : as in `SVC`

    Attributes
    ----------
    As in `SVR`, and epsilon_.

    References
    ----------
    Schölkopf, Smola, Williamson, Bartlett, "New support vector algorithms" (2000).
    """

    epsilon_: float

    def __init__(
        self,
        nu: float = 0.5,
        *,
        C: float = 1.0,
        kernel: Any = None,
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        tol: float = 1e-3,
        max_iter: Any = None,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
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
        """Find the function and the tube."""
        start = time.monotonic()
        points = self._check_fit(X)
        targets = self._numbers(y, len(points))
        weight = checks.sample_weight("NuSVR", sample_weight, len(points))
        bounds = self._bounds(self.C, weight, len(points))
        problem = nu_regression(targets, bounds, self._share("nu"))
        shop = self._shop(points, weight, [np.arange(len(points))])
        with limited_threads(self.n_jobs, "NuSVR"):
            machine = None
            if problem.balanced():
                machine = shop.solve(Task(groups=(0,), problem=problem, read=read_nu_regression))
            if machine is None or machine.parameter <= machine.solution.violation:
                # No tube is needed, unless that takes larger coefficients than nu allows.
                narrow = regression(targets, bounds, 0.0, offset=True)
                free = shop.solve(Task(groups=(0,), problem=narrow, read=read_regression))
                allowed = np.abs(problem.start).sum() * (1 + 1e-9)
                if machine is None or machine.parameter < 0 or np.abs(free.b).sum() <= allowed:
                    machine = free
        self._certify([machine], shop, time.monotonic() - start)
        self._store_one(machine)
        self.epsilon_ = machine.parameter
        return self

    def predict(self, X: Any) -> Array:
        """Return f(x) of each point."""
        return self._values(X)


class OneClassSVM(OutlierMixin, SingleMachine):  # type: ignore[misc]
    """The region where points are: min 1/2 |w|**2 - rho nu n + sum_i max(0, rho - w.phi(x_i)).

    At most a share nu of the training points lie outside, at least a share nu support it.

    Parameters
    ----------
    nu : in (0, 1]
    kernel, degree, gamma, coef0, tol, max_iter, memory_limit, time_limit, callback, n_jobs,
    random_state, verbose : as in `SVC`

    Attributes
    ----------
    support_, support_vectors_ (of rows of numbers), n_support_, dual_coef_, intercept_, offset_
    (rho), kernel_ (resolved), n_iter_, certificate_

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola, Williamson, "Estimating the support of a
    high-dimensional distribution" (2001).
    """

    offset_: float

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: Any = None,
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        tol: float = 1e-3,
        max_iter: Any = None,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
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
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the region; y is not used."""
        points = self._check_fit(X)
        weight = checks.sample_weight("OneClassSVM", sample_weight, len(points))
        bounds = np.ones(len(points)) if weight is None else weight
        problem = one_class(bounds, self._share("nu"))
        self._fit_one(points, weight, Task(groups=(0,), problem=problem, read=read_one_class))
        self.offset_ = -self.intercept_[0]
        return self

    @atomic
    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the region; return 1 for points inside and on the border, -1 outside."""
        return self.fit(X, y, sample_weight).predict(X)

    def decision_function(self, X: Any) -> Array:
        """Return f(x) - rho, positive inside; what is rounding is 0, as at support vectors."""
        values = self._values(X)
        return np.where(np.abs(values) <= 1e-10 * abs(float(self.offset_)), 0.0, values)

    def score_samples(self, X: Any) -> Array:
        """Return f(x) without its offset."""
        return np.asarray(self.decision_function(X) + self.offset_)

    def predict(self, X: Any) -> Array:
        """Return 1 inside and on the border, -1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
