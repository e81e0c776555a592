"""Novelty detection with a kernel that is learnt: weights of several kernels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Self

import numpy as np

from ... import checks
from ...checks import InputError, sentence
from ...fitting.machines import MachineSpec
from ...fitting.mkl.fit import ALGORITHMS
from ...solvers.box.machines import one_class, read_one_class
from ...typing import Callback, KernelLike, MemoryLimit, PointsLike, Seed, Weights
from ..contract.atomic import atomic
from ..contract.parameters import run_of
from ..contract.records import recorded
from ..svm.regressor import OneClassSVM
from .base import KernelLearner


class MKLOneClassSVM(KernelLearner, OneClassSVM):
    """Novelty detection with a kernel that is learnt as a weighted sum of given ones.

    It minimises J(d) over weights d >= 0 of |d|_p = 1, where J(d) is the objective of
    `OneClassSVM` with the kernel sum_m d_m k_m: the region is as small as one of these kernels can
    make it. It says which kernels describe the points most tightly.

    Parameters
    ----------
    kernels : sequence of Kernel, Sum or "precomputed", default=None
        The kernels: a list, a sum whose coefficients are to be learnt, or "precomputed" for a
        `GramStack` of matrices. They may look at different columns, by `.on(columns)`. None is
        Gaussian kernels of seven widths around "scale", and the linear kernel.
    nu : float, default=0.5
        Share of training points that may lie outside, in (0, 1].
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
    gap_tol : float, default=0.01
        How far the objective may be from that of the best weights, relative to it.
    tol : float, default=1e-3
        Largest violation of the optimality conditions of a machine that is accepted.
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
    n_iter_ : int
        Number of steps of the weights.
    certificate_ : MklCertificate
        How far the weights are from the best ones, and what they cost.

    See Also
    --------
    OneClassSVM : The same with one kernel.

    References
    ----------
    .. [1] A. Rakotomamonjy, F. Bach, S. Canu, Y. Grandvalet, "SimpleMKL", Journal of Machine
       Learning Research 9 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MKLOneClassSVM
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) * [1.0, 0.1]
    >>> columns = [Gaussian(gamma=1.0).on([column]) for column in range(2)]
    >>> model = MKLOneClassSVM(columns, nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [0.0, 3.0]]).tolist()
    [1, -1]
    """

    share = 0.0  # of EasyMKL, which is about classes

    def __init__(
        self,
        kernels: Sequence[KernelLike] | KernelLike = None,
        *,
        nu: float = 0.5,
        algorithm: str = "auto",
        p: float = 1.0,
        scaling: str | None = "diagonal",
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
        self.nu = nu
        self.algorithm = algorithm
        self.p = p
        self.scaling = scaling
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
    def fit(self, X: PointsLike, y: object = None, sample_weight: Weights = None) -> Self:
        """Learn the weights, and the region with the sum of the kernels.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, sequence of objects or GramStack
            The n training points, of a kind that all kernels take.
        y : object, default=None
            Not used; present by scikit-learn's convention.
        sample_weight : float or array-like of shape (n,), default=None
            How much each point counts. None is 1 for all.

        Returns
        -------
        MKLOneClassSVM
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, weights or parameters are not what they must be.
        KernelError
            If a kernel is not positive semi-definite on the points, or all of them are constant.
        """
        start, points = time.monotonic(), self._check_fit(X)
        run = run_of(self)
        weight = checks.sample_weight(run.who, sample_weight, len(points))
        if checks.one_of(run.who, "algorithm", self.algorithm, ALGORITHMS) == "easy":
            must = "algorithm='easy' is about two classes or more"
            raise InputError(sentence(run.who, must, "one class", "Take 'auto'."))
        bounds = np.ones(len(points)) if weight is None else weight
        problem = one_class(bounds, self._share("nu"))
        everyone = np.arange(len(points))
        points, kernel, learned, specs = self._learn_machines(
            points,
            weight,
            run,
            X=X,
            specs=[MachineSpec(groups=(0,), problem=problem, read=read_one_class)],
            places=[everyone],
        )
        solver = self._machine_solver(
            points, weight, [everyone], kernel=kernel, run=run.rest(), max_iter=-1
        )
        machine = self._run(solver, specs, start)[0]
        self._store_one(machine)
        self.offset_ = -float(self.intercept_[0])
        self._certify_weights(learned, run, machine.primal - machine.dual)
        return self
