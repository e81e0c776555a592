"""Regression by support vector machines with a bound on the share of errors."""

from __future__ import annotations

import time
from typing import Self

import numpy as np
from sklearn.base import RegressorMixin

from ... import checks
from ...checks import Array
from ...fitting.machines import Task
from ...grams import limited_threads
from ...solvers.box.machines import nu_regression, read_nu_regression, read_regression, regression
from ...typing import (
    Callback,
    Gamma,
    KernelLike,
    MemoryLimit,
    PointsLike,
    Seed,
    TargetsLike,
    Weights,
)
from ..records import recorded
from .regressor import SingleMachine


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
        shop = self._shop(points, weight, [np.arange(len(points))])
        with limited_threads(self.n_jobs, "NuSVR"):
            machine = None
            if problem.balanced():
                machine = shop.solve(Task((0,), problem, read_nu_regression))
            if machine is None or machine.parameter <= machine.solution.violation:
                # No tube is needed, unless that takes larger coefficients than nu allows.
                narrow = regression(targets, bounds, 0.0, offset=True)
                free = shop.solve(Task((0,), narrow, read_regression))
                allowed = np.abs(problem.start).sum() * (1 + 1e-9)
                if machine is None or machine.parameter < 0 or np.abs(free.b).sum() <= allowed:
                    machine = free
        self._certify([machine], shop, time.monotonic() - start)
        self._store_one(machine)
        self.epsilon_ = machine.parameter
        return self

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
