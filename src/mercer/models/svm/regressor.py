"""Regression and novelty detection by support vector machines."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin, RegressorMixin

from ... import checks
from ...checkpoints import CheckpointLike
from ...checks import Array, InputError, sentence
from ...fitting.machines import MachineSolver, MachineSpec
from ...grams import limited_threads
from ...inputs import Input
from ...solvers import BoxProblem, Machine
from ...solvers.box.machines import (
    nu_regression,
    one_class,
    read_nu_regression,
    read_one_class,
    read_regression,
    regression,
)
from ...typing import (
    Approximation,
    Callback,
    Gamma,
    KernelLike,
    MemoryLimit,
    PointsLike,
    Seed,
    TargetsLike,
    Weights,
)
from ..contract.anywhere import anywhere
from ..contract.approximation import HasApproximation
from ..contract.atomic import atomic
from ..contract.records import recorded
from ..contract.resuming import resumable
from ..contract.targets import numbers_of
from .base import SupportVectorEstimator


class SingleMachine(SupportVectorEstimator):
    """An estimator of one function."""

    def _fit_one(
        self, points: Input, weight: Array | None, spec: MachineSpec, **given: Any
    ) -> None:
        """Find the machine; given: what else is fitted, by its name."""
        start = time.monotonic()
        with resumable(self, points, **given, sample_weight=weight) as run:
            solver = self._machine_solver(points, weight, [np.arange(len(points))], run=run)
            self._store_one(self._run(solver, [spec], start)[0])

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
        """Return the numbers to predict, one per point."""
        targets, _ = numbers_of(self, y, n)
        if targets.shape[1] != 1:
            must = "y must be 1-D, one number per point"
            raise InputError(sentence(type(self).__name__, must, f"shape {np.shape(y)}"))
        return targets[:, 0]


class SVR(HasApproximation, RegressorMixin, SingleMachine):  # type: ignore[misc]
    """Support vector regression with a tube of fixed width.

    It finds f(x) = w . phi(x) + b that minimises
    1/2 |w|**2 + C sum_i w_i max(0, |y_i - f(x_i)| - epsilon), where w_i are the sample weights:
    errors up to epsilon cost nothing.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a unit of error outside the tube.
    epsilon : float, default=0.1
        Half the width of the tube.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    degree : int, default=3
        Degree of the kernel "poly"; other kernels have their own parameters.
    gamma : {"scale", "auto"} or float, default="scale"
        Bandwidth of a kernel given by name. "scale" is 1 / (columns * variance of X), "auto" is 1 /
        columns.
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    approximation : feature map, default=None
        A map of `mercer.features` that takes the place of the kernel, such as
        `RandomFourier(n_components=2048)` or `Nystrom(n_components=500)`; the fit is then about the
        kernel phi(x) . phi(y) of the map. Its own kernel, if it has none, is that of the model.
    fit_intercept : bool, default=True
        Whether f has an offset b.
    tol : float, default=1e-3
        Largest violation of the optimality conditions that is accepted.
    max_iter : int, default=None
        Largest number of steps, each of which changes two coefficients. None and -1 set no limit.
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
        Not used: the solver draws nothing.
    verbose : bool or int, default=False
        Whether to show progress on stderr.
    checkpoint : str, path or Checkpoint, default=None
        A file from which the same fit goes on if it is stopped or killed; see `mercer.Checkpoint`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        The support vectors, where the points are rows of numbers.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors.
    intercept_ : ndarray of shape (1,)
        The offset b.
    coef_ : ndarray of shape (1, n_features)
        The vector w, with the linear kernel only.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : ndarray of shape (1,)
        Number of steps of the solver.
    approximation_ : feature map
        The fitted map, with an `approximation` only.
    approximation_error_ : float
        Root mean square, over training points, of what f changes by when the exact kernel takes the
        place of the approximate one with the same coefficients; with an `approximation` only.
    certificate_ : SvmCertificate
        How far the solution is from the optimum, and what it cost.

    See Also
    --------
    NuSVR : The same function with the share of points outside the tube in place of its width.
    KernelMachineRegressor : Regression with other losses.

    References
    ----------
    .. [1] A. Smola, B. Schölkopf, "A tutorial on support vector regression", Statistics and
       Computing 14 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> x = np.linspace(0.0, 1.0, 21)
    >>> model = SVR(C=100.0, epsilon=0.01, kernel="linear").fit(x[:, None], 2 * x)
    >>> model.predict([[0.5]]).round(1)
    array([1.])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        kernel: KernelLike = None,
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        approximation: Approximation = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
        checkpoint: CheckpointLike = None,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.approximation = approximation
        self.fit_intercept = fit_intercept
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
        y : array-like of shape (n,)
            The numbers to predict.
        sample_weight : float or array-like of shape (n,), default=None
            Weights that multiply C per point. None is 1 for all.

        Returns
        -------
        SVR
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        points = self._check_fit(X)
        targets = self._numbers(y, len(points))
        weight = checks.sample_weight("SVR", sample_weight, len(points))
        self._fit_one(points, weight, self._spec(targets, weight), y=targets)
        return self

    def _spec(self, targets: Array, weight: Array | None) -> MachineSpec:
        epsilon = checks.number("SVR", "epsilon", self.epsilon, least=0)
        bounds = self._bounds(self.C, weight, len(targets))
        problem = regression(targets, bounds, epsilon, bool(self.fit_intercept))
        return MachineSpec(groups=(0,), problem=problem, read=read_regression)

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the number of each point.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The values f(x).
        """
        return self._values(X)


class NuSVR(RegressorMixin, SingleMachine):  # type: ignore[misc]
    """Support vector regression with a bound nu on the share of points outside the tube.

    The tube is as wide as leaves at most a share nu of the points outside it. The function is that
    of `SVR` for some epsilon, which is found with it: it minimises
    1/2 |w|**2 + C (n nu epsilon + sum_i max(0, |y_i - f(x_i)| - epsilon)) over w, b and epsilon.

    Parameters
    ----------
    nu : float, default=0.5
        Share of points that may lie outside the tube, in (0, 1].
    C : float, default=1.0
        Cost of a unit of error outside the tube.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    degree : int, default=3
        Degree of the kernel "poly"; other kernels have their own parameters.
    gamma : {"scale", "auto"} or float, default="scale"
        Bandwidth of a kernel given by name. "scale" is 1 / (columns * variance of X), "auto" is 1 /
        columns.
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    tol : float, default=1e-3
        Largest violation of the optimality conditions that is accepted.
    max_iter : int, default=None
        Largest number of steps, each of which changes two coefficients. None and -1 set no limit.
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
        Not used: the solver draws nothing.
    verbose : bool or int, default=False
        Whether to show progress on stderr.
    checkpoint : str, path or Checkpoint, default=None
        A file from which the same fit goes on if it is stopped or killed; see `mercer.Checkpoint`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        The support vectors, where the points are rows of numbers.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors.
    intercept_ : ndarray of shape (1,)
        The offset b.
    coef_ : ndarray of shape (1, n_features)
        The vector w, with the linear kernel only.
    epsilon_ : float
        Half the width of the tube that was found.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : ndarray of shape (1,)
        Number of steps of the solver.
    certificate_ : SvmCertificate
        How far the solution is from the optimum, and what it cost.

    See Also
    --------
    SVR : The same function with a tube of fixed width.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, R. Williamson, P. Bartlett, "New support vector algorithms",
       Neural Computation 12 (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> x = np.linspace(0.0, 1.0, 21)
    >>> model = NuSVR(nu=0.5, C=100.0, kernel="linear").fit(x[:, None], 2 * x)
    >>> model.predict([[0.5]]).round(1)
    array([1.])
    """

    epsilon_: float

    def __init__(
        self,
        nu: float = 0.5,
        *,
        C: float = 1.0,
        kernel: KernelLike = None,
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
        checkpoint: CheckpointLike = None,
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
        self.checkpoint = checkpoint

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: TargetsLike, sample_weight: Weights = None) -> Self:
        """Find the function and the width of the tube.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The numbers to predict.
        sample_weight : float or array-like of shape (n,), default=None
            Weights that multiply C per point. None is 1 for all.

        Returns
        -------
        NuSVR
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        start = time.monotonic()
        points = self._check_fit(X)
        targets = self._numbers(y, len(points))
        weight = checks.sample_weight("NuSVR", sample_weight, len(points))
        bounds = self._bounds(self.C, weight, len(points))
        problem = nu_regression(targets, bounds, self._share("nu"))
        with resumable(self, points, y=targets, sample_weight=weight) as run:
            solver = self._machine_solver(points, weight, [np.arange(len(points))], run=run)
            machine = self._solved(solver, problem, targets, bounds)
            self._certify([machine], solver, time.monotonic() - start)
            self._store_one(machine)
        self.epsilon_ = machine.parameter
        return self

    def _solved(
        self, solver: MachineSolver, problem: BoxProblem, targets: Array, bounds: Array
    ) -> Machine:
        """Return the machine with a tube, or without one where none is needed."""
        with limited_threads(self.n_jobs, "NuSVR"):
            machine = None
            if problem.balanced():
                machine = solver.solve(
                    MachineSpec(groups=(0,), problem=problem, read=read_nu_regression)
                )
            if machine is None or machine.parameter <= machine.solution.violation:
                # No tube is needed, unless that takes larger coefficients than nu allows.
                narrow = regression(targets, bounds, 0.0, offset=True)
                free = solver.solve(MachineSpec(groups=(0,), problem=narrow, read=read_regression))
                allowed = np.abs(problem.start).sum() * (1 + 1e-9)
                if machine is None or machine.parameter < 0 or np.abs(free.b).sum() <= allowed:
                    machine = free
        return machine

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the number of each point.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The values f(x).
        """
        return self._values(X)


class OneClassSVM(OutlierMixin, SingleMachine):  # type: ignore[misc]
    """Novelty detection: the region of feature space where the training points are.

    It minimises 1/2 |w|**2 - rho nu n + sum_i max(0, rho - w . phi(x_i)) over w and rho; the region
    is where w . phi(x) >= rho. At most a share nu of the training points lie outside, and at least
    a share nu are support vectors.

    Parameters
    ----------
    nu : float, default=0.5
        Share of training points that may lie outside, in (0, 1].
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    degree : int, default=3
        Degree of the kernel "poly"; other kernels have their own parameters.
    gamma : {"scale", "auto"} or float, default="scale"
        Bandwidth of a kernel given by name. "scale" is 1 / (columns * variance of X), "auto" is 1 /
        columns.
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    tol : float, default=1e-3
        Largest violation of the optimality conditions that is accepted.
    max_iter : int, default=None
        Largest number of steps, each of which changes two coefficients. None and -1 set no limit.
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
        Not used: the solver draws nothing.
    verbose : bool or int, default=False
        Whether to show progress on stderr.
    checkpoint : str, path or Checkpoint, default=None
        A file from which the same fit goes on if it is stopped or killed; see `mercer.Checkpoint`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        The support vectors, where the points are rows of numbers.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors.
    intercept_ : ndarray of shape (1,)
        Minus rho.
    offset_ : float
        The threshold rho.
    coef_ : ndarray of shape (1, n_features)
        The vector w, with the linear kernel only.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : ndarray of shape (1,)
        Number of steps of the solver.
    certificate_ : SvmCertificate
        How far the solution is from the optimum, and what it cost.

    References
    ----------
    .. [1] B. Schölkopf, J. Platt, J. Shawe-Taylor, A. Smola, R. Williamson, "Estimating the support
       of a high-dimensional distribution", Neural Computation 13 (2001).

    Examples
    --------
    >>> from mercer import OneClassSVM
    >>> from mercer.kernels import Gaussian
    >>> X = [[0.0], [0.5], [1.0], [1.5], [2.0]]
    >>> model = OneClassSVM(nu=0.4, kernel=Gaussian(gamma=1.0)).fit(X)
    >>> model.predict([[0.75], [5.0]]).tolist()
    [1, -1]
    """

    offset_: float

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: KernelLike = None,
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
        checkpoint: CheckpointLike = None,
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
        self.checkpoint = checkpoint

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: object = None, sample_weight: Weights = None) -> Self:
        """Find the region.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.
        sample_weight : float or array-like of shape (n,), default=None
            How much each point counts. None is 1 for all.

        Returns
        -------
        OneClassSVM
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, weights or parameters are not what they must be.
        """
        points = self._check_fit(X)
        weight = checks.sample_weight("OneClassSVM", sample_weight, len(points))
        bounds = np.ones(len(points)) if weight is None else weight
        problem = one_class(bounds, self._share("nu"))
        self._fit_one(
            points, weight, MachineSpec(groups=(0,), problem=problem, read=read_one_class)
        )
        self.offset_ = -self.intercept_[0]
        return self

    @atomic
    def fit_predict(self, X: PointsLike, y: object = None, sample_weight: Weights = None) -> Array:
        """Find the region, and say which training points lie in it.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        ndarray of shape (n,)
            1 for points inside and on the border, -1 for points outside.
        """
        return self.fit(X, y, sample_weight).predict(X)

    @anywhere
    def decision_function(self, X: PointsLike) -> Array:
        """Compute w . phi(x) - rho, which is positive inside the region.

        What rounding explains is 0, as at support vectors on the border.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The scores.
        """
        values = self._values(X)
        return np.where(np.abs(values) <= 1e-10 * abs(float(self.offset_)), 0.0, values)

    @anywhere
    def score_samples(self, X: PointsLike) -> Array:
        """Compute w . phi(x), without the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The scores; `decision_function` is lower by `offset_`.
        """
        return np.asarray(self.decision_function(X) + self.offset_)

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict whether each point lies inside the region.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            1 inside the region and on its border, -1 outside.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
