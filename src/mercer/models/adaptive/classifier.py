"""Classification with a kernel that is learnt: weights of several kernels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from ...checks import Array
from ...fitting.machines import MachineSpec
from ...solvers.box.machines import classification, read_classification
from ...typing import (
    Callback,
    ClassWeight,
    KernelLike,
    LabelsLike,
    MemoryLimit,
    PointsLike,
    Seed,
    Weights,
)
from ..contract.atomic import atomic
from ..contract.parameters import run_of
from ..contract.records import recorded
from ..svm.classes import SupportVectorClassifier
from .base import KernelLearner


class MKLClassifier(KernelLearner, SupportVectorClassifier):
    """Support vector machines with a kernel that is learnt as a weighted sum of given ones.

    It minimises J(d) over weights d >= 0 of |d|_p = 1, where J(d) is the least
    1/2 sum_m |f_m|**2 / d_m + C sum_i max(0, 1 - y_i (sum_m f_m(x_i) + b)): the objective of `SVC`
    with the kernel sum_m d_m k_m. With p = 1 most weights become 0. Several classes share the
    weights.

    Parameters
    ----------
    kernels : sequence of Kernel, Sum or "precomputed", default=None
        The kernels: a list, a sum whose coefficients are to be learnt, or "precomputed" for a
        `GramStack` of matrices. They may look at different columns, by `.on(columns)`. None is
        Gaussian kernels of seven widths around "scale", and the linear kernel.
    C : float, default=1.0
        Cost of errors, above 0.
    algorithm : {"auto", "simple", "level", "lp", "easy", "average"}, default="auto"
        "simple" is SimpleMKL [1]_, "level" the level method, which finds the same weights with far
        fewer machines; "lp" a closed form for any p. "easy" is EasyMKL, which takes one machine and
        has another aim; "average" gives all kernels the same weight. "auto" is "level" for p = 1
        and "lp" else.
    p : float, default=1.0
        Norm of the weights, at least 1: the larger, the more alike they are.
    scaling : {"diagonal", "trace", "variance"}, default="diagonal"
        What is made 1 by a factor for each kernel before weights are compared: the mean of k(x, x)
        over the training points, its sum, or the mean squared distance from the mean in feature
        space. None leaves kernels as they are.
    share : float, default=0.1
        Share of the identity in EasyMKL, from 0 to 1.
    fit_intercept : bool, default=True
        Whether there is an offset b.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class against the rest.
    probability : bool, default=False
        Whether to calibrate `predict_proba`, on approximate leave-one-out scores.
    gap_tol : float, default=0.01
        How far the objective may be from that of the best weights, relative to it.
    tol : float, default=1e-3
        Largest violation of the optimality conditions of a machine that is accepted.
    class_weight : {"balanced"} or dict, default=None
        Weight per class, multiplied with the sample weights. "balanced" makes the total weights of
        the classes equal.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` has one column per class or one per machine.
    break_ties : bool, default=True
        Whether equal votes are decided by the scores, as in `decision_function`. Otherwise the
        first class wins, as in LIBSVM.
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
        Seed of the points drawn to calibrate probabilities; None is a fixed seed.
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
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors, grouped by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        The support vectors, where the points are rows of numbers.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors per class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Coefficients of the support vectors, as in `SVC`.
    intercept_ : ndarray of shape (n_machines,)
        The offset b of each machine.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
    slopes_ : ndarray of shape (1,)
        Slope from scores to probabilities, with `probability=True` only.
    n_iter_ : int
        Number of steps of the weights.
    certificate_ : MklCertificate
        How far the weights are from the best ones, and what they cost.

    See Also
    --------
    MKLRegressor : The same for numbers.
    mercer.align : Weights by alignment with the classes, in closed form.

    References
    ----------
    .. [1] A. Rakotomamonjy, F. Bach, S. Canu, Y. Grandvalet, "SimpleMKL", Journal of Machine
       Learning Research 9 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import MKLClassifier
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.abs(X[:, 1]) > 0.7
    >>> columns = [Gaussian(gamma=1.0).on([column]) for column in range(3)]
    >>> model = MKLClassifier(columns, C=100.0).fit(X, y)
    >>> int(model.weights_.argmax())
    1
    >>> print(model.certificate_.status)
    converged
    """

    def __init__(
        self,
        kernels: Sequence[KernelLike] | KernelLike = None,
        *,
        C: float = 1.0,
        algorithm: str = "auto",
        p: float = 1.0,
        scaling: str | None = "diagonal",
        share: float = 0.1,
        fit_intercept: bool = True,
        multiclass: str = "ovo",
        probability: bool = False,
        gap_tol: float = 0.01,
        tol: float = 1e-3,
        class_weight: ClassWeight = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = True,
        max_iter: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.algorithm = algorithm
        self.p = p
        self.scaling = scaling
        self.share = share
        self.fit_intercept = fit_intercept
        self.multiclass = multiclass
        self.probability = probability
        self.gap_tol = gap_tol
        self.tol = tol
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: LabelsLike, sample_weight: Weights = None) -> Self:
        """Learn the weights, and the machines with their sum.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, sequence of objects or GramStack
            The n training points, of a kind that all kernels take.
        y : array-like of shape (n,)
            The class of each point.
        sample_weight : float or array-like of shape (n,), default=None
            Weights that multiply C per point. None is 1 for all.

        Returns
        -------
        MKLClassifier
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, labels, weights or parameters are not what they must be.
        KernelError
            If a kernel is not positive semi-definite on the points, or all of them are constant.
        """
        start, data = time.monotonic(), self._labelled(X, y, sample_weight)
        run = run_of(self)
        specs = self._specs(data)
        places = [np.concatenate([data.groups[g] for g in spec.groups]) for spec in specs]
        points, kernel, learned, specs = self._learn_machines(
            data.points, data.weight, run, X=X, specs=specs, places=places
        )
        solver = self._machine_solver(
            points, data.weight, data.groups, kernel=kernel, run=run.rest(), max_iter=-1
        )
        machines = self._run(solver, specs, start, with_loo_scores=bool(self.probability))
        gap = self.certificate_.gap
        self._finish(replace(data, points=points), machines)
        self._certify_weights(learned, run, gap)
        return self

    def _spec(self, groups: tuple[int, ...], y: Array, weight: Array) -> MachineSpec:
        bounds = self._bounds(self.C, weight, len(y))
        problem = classification(y, bounds, bool(self.fit_intercept))
        return MachineSpec(groups=groups, problem=problem, read=read_classification)
