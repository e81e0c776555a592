"""Regression, and novelty detection, with a kernel that is learnt: weights of several kernels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.machines import MachineSpec
from ...fitting.mkl.fit import ALGORITHMS
from ...fitting.mkl.oracles import RidgeOracle
from ...grams import limited_threads
from ...grams.stacks.matrices import MatrixStack
from ...inputs import Input
from ...run import Run
from ...solvers import Cholesky, NotPositiveDefinite, RidgeProblem
from ...solvers.box.machines import read_regression, regression
from ...solvers.mkl.problem import Oracle
from ...typing import Callback, KernelLike, MemoryLimit, PointsLike, Seed, TargetsLike, Weights
from ..contract.anywhere import anywhere
from ..contract.atomic import atomic
from ..contract.parameters import run_of
from ..contract.records import recorded
from ..svm.regressor import SingleMachine
from .base import KernelLearner

LOSSES = ("epsilon_insensitive", "squared")


class MKLRegressor(KernelLearner, RegressorMixin, SingleMachine):  # type: ignore[misc]
    """Regression with a kernel that is learnt as a weighted sum of given ones.

    It minimises J(d) over weights d >= 0 of |d|_p = 1, where J(d) is the objective of `SVR`, or of
    kernel ridge regression, with the kernel sum_m d_m k_m. With p = 1 most weights become 0.

    Parameters
    ----------
    kernels : sequence of Kernel, Sum or "precomputed", default=None
        The kernels: a list, a sum whose coefficients are to be learnt, or "precomputed" for a
        `GramStack` of matrices. They may look at different columns, by `.on(columns)`. None is
        Gaussian kernels of seven widths around "scale", and the linear kernel.
    loss : {"epsilon_insensitive", "squared"}, default="epsilon_insensitive"
        The loss of `SVR`, or that of ridge regression.
    C : float, default=1.0
        Cost of errors of the epsilon-insensitive loss, above 0.
    epsilon : float, default=0.1
        Errors up to it cost nothing, in the units of y.
    alpha : float, default=1.0
        Penalty of the squared loss, above 0: what is added to the diagonal of K.
    algorithm : {"auto", "simple", "level", "lp", "average"}, default="auto"
        "simple" is SimpleMKL [1]_, "level" the level method, which finds the same weights with far
        fewer machines; "lp" a closed form for any p; "average" gives all kernels the same weight.
        "auto" is "level" for p = 1 and "lp" else.
    p : float, default=1.0
        Norm of the weights, at least 1: the larger, the more alike they are.
    scaling : {"diagonal", "trace", "variance"}, default="diagonal"
        What is made 1 by a factor for each kernel before weights are compared: the mean of k(x, x)
        over the training points, its sum, or the mean squared distance from the mean in feature
        space. None leaves kernels as they are.
    fit_intercept : bool, default=True
        Whether there is an offset b.
    gap_tol : float, default=0.01
        How far the objective may be from that of the best weights, relative to it.
    tol : float, default=1e-3
        Largest violation of the optimality conditions of a machine, or relative residual of a
        system, that is accepted.
    max_iter : int, default=None
        Largest number of steps of the weights; None is 1000.
    memory_limit : int or str, default="auto"
        Bytes that the fit may allocate, as a number or a text such as "2GB"; "auto" takes a share
        of the free memory.
    time_limit : float, default=None
        Seconds after which the best weights so far are taken, with a warning.
    callback : callable, default=None
        Called with the record of each step; returning True stops the fit.
    n_jobs : int, default=None
        Number of threads; None uses all that are allowed, -1 one per processor.
    random_state : int, RandomState or Generator, default=None
        Not used: nothing is drawn.
    verbose : bool or int, default=False
        Whether to show progress on stderr.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        The weights d of the scaled kernels.
    kernel_ : Kernel
        The weighted sum, which any other estimator takes as its kernel.
    history_ : dict of ndarray
        "objective", "gap", "weights" and "solves" (so far) of each step.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the function.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        These points, where they are rows of numbers.
    n_support_ : ndarray of shape (1,)
        How many they are.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients.
    intercept_ : ndarray of shape (1,)
        The offset b.
    n_iter_ : int
        Number of steps of the weights.
    certificate_ : MklCertificate
        How far the weights are from the best ones, and what they cost.

    See Also
    --------
    MKLClassifier : The same for classes.
    mercer.tune : Choice of the parameters of kernels themselves.

    References
    ----------
    .. [1] A. Rakotomamonjy, F. Bach, S. Canu, Y. Grandvalet, "SimpleMKL", Journal of Machine
       Learning Research 9 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MKLRegressor
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> columns = [Gaussian(gamma=1.0).on([column]) for column in range(3)]
    >>> model = MKLRegressor(columns, loss="squared", alpha=0.1).fit(X, np.sin(X[:, 1]))
    >>> model.weights_.round(1)
    array([0., 1., 0.])
    """

    share = 0.0  # of EasyMKL, which is about classes

    def __init__(
        self,
        kernels: Sequence[KernelLike] | KernelLike = None,
        *,
        loss: str = "epsilon_insensitive",
        C: float = 1.0,
        epsilon: float = 0.1,
        alpha: float = 1.0,
        algorithm: str = "auto",
        p: float = 1.0,
        scaling: str | None = "diagonal",
        fit_intercept: bool = True,
        gap_tol: float = 0.01,
        tol: float = 1e-3,
        max_iter: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.C = C
        self.epsilon = epsilon
        self.alpha = alpha
        self.algorithm = algorithm
        self.p = p
        self.scaling = scaling
        self.fit_intercept = fit_intercept
        self.gap_tol = gap_tol
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
    def fit(self, X: PointsLike, y: TargetsLike, sample_weight: Weights = None) -> Self:
        """Learn the weights, and the function with the sum of the kernels.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, sequence of objects or GramStack
            The n training points, of a kind that all kernels take.
        y : array-like of shape (n,)
            The numbers to predict.
        sample_weight : float or array-like of shape (n,), default=None
            Weights that multiply the loss per point. None is 1 for all.

        Returns
        -------
        MKLRegressor
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        KernelError
            If a kernel is not positive semi-definite on the points, or all of them are constant.
        """
        points = self._check_fit(X)
        run = run_of(self)
        targets = self._numbers(y, len(points))
        weight = checks.sample_weight(run.who, sample_weight, len(points))
        if checks.one_of(run.who, "algorithm", self.algorithm, ALGORITHMS) == "easy":
            must = "algorithm='easy' is about classes"
            raise InputError(sentence(run.who, must, "numbers to predict", "Take 'auto'."))
        alpha = checks.number(run.who, "alpha", self.alpha, above=0)
        spec = self._spec(targets, weight)
        if checks.one_of(run.who, "loss", self.loss, LOSSES) == "squared":
            problem = RidgeProblem(
                targets=targets[:, None],
                alpha=np.array([alpha]),
                weight=weight,
                intercept=bool(self.fit_intercept),
            )
            self._fit_ridge(X, points, problem, run)
        else:
            self._fit_machine(X, points, weight, run, spec)
        return self

    def _spec(self, targets: Array, weight: Array | None) -> MachineSpec:
        who = type(self).__name__
        epsilon = checks.number(who, "epsilon", self.epsilon, least=0)
        bounds = self._bounds(self.C, weight, len(targets))
        problem = regression(targets, bounds, epsilon, bool(self.fit_intercept))
        return MachineSpec(groups=(0,), problem=problem, read=read_regression)

    def _fit_machine(
        self, X: Any, points: Input, weight: Array | None, run: Run, spec: MachineSpec
    ) -> None:
        start, everyone = time.monotonic(), np.arange(len(points))
        points, kernel, learned, specs = self._learn_machines(
            points, weight, run, X=X, specs=[spec], places=[everyone]
        )
        solver = self._machine_solver(
            points, weight, [everyone], kernel=kernel, run=run.rest(), max_iter=-1
        )
        machine = self._run(solver, specs, start)[0]
        self._store_one(machine)
        self._certify_weights(learned, run, machine.primal - machine.dual)

    def _fit_ridge(self, X: Any, points: Input, problem: RidgeProblem, run: Run) -> None:
        n, weight = len(points), problem.weight
        tol = checks.number(run.who, "tol", self.tol, above=0)

        def oracle(stack: MatrixStack, factors: Array) -> Oracle:
            return RidgeOracle(
                stack=stack, factors=factors, problem=problem, tol=tol, monitor=run.monitor
            )

        try:
            with limited_threads(run.n_jobs, run.who):
                points, kernel, learned = self._learn(points, weight, run, X=X, oracle=oracle)
                prepared = self._prepare(points, weight, kernel)
                rest = run.rest().monitor
                found = Cholesky(tol).solve(prepared.gram(monitor=rest), problem, rest)
        except NotPositiveDefinite:
            must = "K + alpha I must be positive definite in double precision"
            got = f"alpha = {float(problem.alpha[0]):g}"
            raise InputError(sentence(run.who, must, got, "Raise alpha.")) from None
        self.dual_coef_, self.intercept_ = found.coefficients.T, found.intercept
        self.n_support_ = np.array([n], dtype=np.int32)
        self._keep_support(np.arange(n))
        self._certify_weights(learned, run, found.gap)

    @anywhere
    def predict(self, X: PointsLike) -> Any:
        """Predict the number of each point.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, sequence of objects or GramStack
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The values f(x) + b.
        """
        return self._values(X)
