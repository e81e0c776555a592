"""Classification by support vector machines."""

from __future__ import annotations

from functools import partial
from typing import Self

import numpy as np

from ...checkpoints import CheckpointLike
from ...checks import Array, InputError, sentence
from ...fitting.machines import MachineSpec
from ...solvers.box.machines import (
    classification,
    hard_margin,
    nu_classification,
    read_classification,
    read_hard_margin,
    read_nu_classification,
)
from ...typing import (
    Approximation,
    Callback,
    ClassWeight,
    Gamma,
    KernelLike,
    LabelsLike,
    MemoryLimit,
    PointsLike,
    Seed,
    Weights,
)
from ..contract.approximation import HasApproximation
from ..contract.atomic import atomic
from ..contract.records import recorded
from .classes import SupportVectorClassifier


class SVC(HasApproximation, SupportVectorClassifier):
    """Support vector classification with a penalty C on margin errors.

    For labels y = -1, 1 it finds f(x) = w . phi(x) + b that minimises
    1/2 |w|**2 + C sum_i w_i max(0, 1 - y_i f(x_i)), where w_i are the sample weights. Two classes
    take one machine. More classes take one machine per pair, as in LIBSVM, or one per class against
    the rest. All machines share the rows of one kernel matrix.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a unit of margin error. `float("inf")` allows none: the hard margin.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    degree : int, default=3
        Degree of the kernel "poly"; other kernels have their own parameters.
    gamma : {"scale", "auto"} or float, default="scale"
        Bandwidth of a kernel given by name. "scale" is 1 / (columns * variance of X), "auto" is
        1 / columns.
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    approximation : feature map, default=None
        A map of `mercer.features` that takes the place of the kernel, such as
        `RandomFourier(n_components=2048)` or `Nystrom(n_components=500)`; the fit is then about the
        kernel phi(x) . phi(y) of the map. Its own kernel, if it has none, is that of the model.
    fit_intercept : bool, default=True
        Whether f has an offset b.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class against the rest.
    probability : bool, default=False
        Whether to calibrate `predict_proba`, on approximate leave-one-out scores.
    tol : float, default=1e-3
        Largest violation of the optimality conditions that is accepted.
    class_weight : {"balanced"} or dict, default=None
        Weight per class, multiplied with the sample weights. "balanced" makes the total weights of
        the classes equal.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` has one column per class or one per machine.
    break_ties : bool, default=True
        Whether equal votes are decided by the scores, as in `decision_function`. Otherwise the
        first class wins, as in LIBSVM.
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
        Seed of the points drawn to calibrate probabilities; None is a fixed seed.
    verbose : bool or int, default=False
        Whether to show progress on stderr.
    checkpoint : str, path or Checkpoint, default=None
        A file from which the same fit goes on if it is stopped or killed; see `mercer.Checkpoint`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors, grouped by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        The support vectors, where the points are rows of numbers.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors per class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Coefficients of the support vectors, in LIBSVM's order; (n_classes, n_support) for more than
        two classes with `multiclass="ovr"`.
    intercept_ : ndarray of shape (n_machines,)
        The offset b of each machine.
    coef_ : ndarray of shape (n_machines, n_features)
        The vector w of each machine, with the linear kernel only.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
    slopes_ : ndarray of shape (1,)
        Slope from scores to probabilities, with `probability=True` only.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : ndarray of shape (n_machines,)
        Number of steps per machine.
    approximation_ : feature map
        The fitted map, with an `approximation` only.
    approximation_error_ : float
        Root mean square, over training points, of what f changes by when the exact kernel takes the
        place of the approximate one with the same coefficients; with an `approximation` only.
    certificate_ : SvmCertificate
        How far the solution is from the optimum, and what it cost.

    See Also
    --------
    NuSVC : The same machine with a bound on the share of errors in place of C.
    mercer.svm_path : Machines for many values of C, each found from the one before.
    mercer.tune : Choice of C and of kernel parameters by cross-validation.

    References
    ----------
    .. [1] C.-C. Chang, C.-J. Lin, "LIBSVM: a library for support vector machines", ACM Transactions
       on Intelligent Systems and Technology 2 (2011).

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.kernels import Gaussian
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> y = ["same", "same", "different", "different"]
    >>> model = SVC(C=10.0, kernel=Gaussian(gamma=1.0)).fit(X, y)
    >>> model.predict([[0.9, 1.1], [0.1, 0.9]]).tolist()
    ['same', 'different']
    >>> print(model.certificate_.status)
    converged
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelLike = None,
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        approximation: Approximation = None,
        fit_intercept: bool = True,
        multiclass: str = "ovo",
        probability: bool = False,
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
        checkpoint: CheckpointLike = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.approximation = approximation
        self.fit_intercept = fit_intercept
        self.multiclass = multiclass
        self.probability = probability
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
        self.checkpoint = checkpoint

    def _spec(self, groups: tuple[int, ...], y: Array, weight: Array) -> MachineSpec:
        bounds = self._bounds(self.C, weight, len(y), endless=True)
        if np.isinf(bounds).any():
            if not self.fit_intercept:
                must = "C must be finite where fit_intercept is False"
                raise InputError(sentence("SVC", must, "C=inf", "Use a large C, such as 1e6."))
            return MachineSpec(
                groups=groups,
                problem=hard_margin(y, bounds > 0),
                read=read_hard_margin,
                relative=True,
            )
        problem = classification(y, bounds, bool(self.fit_intercept))
        return MachineSpec(groups=groups, problem=problem, read=read_classification)

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: LabelsLike, sample_weight: Weights = None) -> Self:
        """Find the machines.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The class of each point.
        sample_weight : float or array-like of shape (n,), default=None
            Weights that multiply C per point. None is 1 for all.

        Returns
        -------
        SVC
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, classes, weights or parameters are not what they must be, or if C is
            infinite and the classes overlap.
        """
        return self._fit(X, y, sample_weight)


class NuSVC(SupportVectorClassifier):
    """Support vector classification with a bound nu on the share of errors.

    At most a share nu of the points are margin errors, and at least a share nu are support vectors.
    The machine is that of `SVC` for some C, which is found with it: with labels y = -1, 1 it
    minimises 1/2 |w|**2 - nu n rho + sum_i max(0, rho - y_i f(x_i)) over w, b and the margin rho,
    and is then scaled to rho = 1.

    Parameters
    ----------
    nu : float, default=0.5
        Share of margin errors, in (0, 1]. For every two classes it must be at most
        2 min(n+, n-) / n, with n+ and n- their sizes.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    degree : int, default=3
        Degree of the kernel "poly"; other kernels have their own parameters.
    gamma : {"scale", "auto"} or float, default="scale"
        Bandwidth of a kernel given by name. "scale" is 1 / (columns * variance of X), "auto" is
        1 / columns.
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    multiclass : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class against the rest.
    probability : bool, default=False
        Whether to calibrate `predict_proba`, on approximate leave-one-out scores.
    tol : float, default=1e-3
        Largest violation of the optimality conditions that is accepted.
    class_weight : {"balanced"} or dict, default=None
        Weight per class, multiplied with the sample weights. "balanced" makes the total weights of
        the classes equal.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` has one column per class or one per machine.
    break_ties : bool, default=True
        Whether equal votes are decided by the scores, as in `decision_function`. Otherwise the
        first class wins, as in LIBSVM.
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
        Seed of the points drawn to calibrate probabilities; None is a fixed seed.
    verbose : bool or int, default=False
        Whether to show progress on stderr.
    checkpoint : str, path or Checkpoint, default=None
        A file from which the same fit goes on if it is stopped or killed; see `mercer.Checkpoint`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors, grouped by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        The support vectors, where the points are rows of numbers.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors per class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Coefficients of the support vectors, in LIBSVM's order; (n_classes, n_support) for more than
        two classes with `multiclass="ovr"`.
    intercept_ : ndarray of shape (n_machines,)
        The offset b of each machine.
    coef_ : ndarray of shape (n_machines, n_features)
        The vector w of each machine, with the linear kernel only.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.
    slopes_ : ndarray of shape (1,)
        Slope from scores to probabilities, with `probability=True` only.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : ndarray of shape (n_machines,)
        Number of steps per machine.
    certificate_ : SvmCertificate
        How far the solution is from the optimum, and what it cost.

    See Also
    --------
    SVC : The same machine with a cost C of margin errors.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, R. Williamson, P. Bartlett, "New support vector algorithms",
       Neural Computation 12 (2000).

    Examples
    --------
    >>> from mercer import NuSVC
    >>> X = [[0.0], [0.2], [0.4], [0.6], [0.8], [1.0]]
    >>> model = NuSVC(nu=0.5, kernel="linear").fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[0.1], [0.9]]).tolist()
    ['low', 'high']
    """

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: KernelLike = None,
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        multiclass: str = "ovo",
        probability: bool = False,
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
        checkpoint: CheckpointLike = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.multiclass = multiclass
        self.probability = probability
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
        self.checkpoint = checkpoint

    def _spec(self, groups: tuple[int, ...], y: Array, weight: Array) -> MachineSpec:
        nu = self._share("nu")
        most = 2 * min(float(weight[y > 0].sum()), float(weight[y < 0].sum())) / weight.sum()
        if nu > most * (1 + 1e-12):
            must = f"nu must be at most {most:.6g}, twice the share of the smaller class of two"
            raise InputError(
                sentence("NuSVC", must, f"specified nu={nu:g} is infeasible", "Lower nu.")
            )
        read = partial(read_nu_classification, y=y, tol=self.tol)
        return MachineSpec(groups=groups, problem=nu_classification(y, weight, nu), read=read)

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: LabelsLike, sample_weight: Weights = None) -> Self:
        """Find the machines.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The class of each point.
        sample_weight : float or array-like of shape (n,), default=None
            How much each point counts. None is 1 for all.

        Returns
        -------
        NuSVC
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, classes, weights or parameters are not what they must be; nu must allow a
            solution for every two classes.
        """
        return self._fit(X, y, sample_weight)
