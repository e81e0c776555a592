"""Functions with any convex loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from .. import checks
from ..checkpoints import CheckpointLike
from ..checks import Array, InputError, sentence
from ..fitting.budget import Settings, settings_of
from ..fitting.loss import SOLVERS, Found, MachineFit
from ..grams import Prepared, limited_threads
from ..grams.maps.products import map_times
from ..grams.prepared import with_only
from ..inputs import Input, RowBlocks
from ..losses import (
    KINKED,
    OF_CLASSES,
    OF_NUMBERS,
    Logistic,
    LossLike,
    Softmax,
    check_loss,
    to_loss,
)
from ..run import Run
from ..solvers.loss.newton import LossProblem
from ..status import Status
from ..typing import (
    Approximation,
    Callback,
    ClassWeight,
    KernelLike,
    LabelsLike,
    MemoryLimit,
    PointsLike,
    Seed,
    TargetsLike,
    Weights,
)
from .base import Certificate, FunctionEstimator
from .contract.anywhere import anywhere
from .contract.approximation import (
    HasApproximation,
    has_approximation,
    note_price,
    sum_of_features,
)
from .contract.atomic import atomic
from .contract.records import recorded
from .contract.resuming import resumable
from .contract.targets import as_classes, class_totals, class_weighted, numbers_of


@dataclass(frozen=True, kw_only=True)
class MachineCertificate(Certificate):
    """How far the function is from the best one, and what it cost.

    With Nyström's method all distances are about functions of its centres.

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
    primal : float
        Value of the objective.
    gap : float
        The objective is at most this far above its minimum, by Fenchel duality.
    tol : float
        What was asked for: the gap over the objective, or with a dual solution the violation of the
        optimality conditions.
    error_bound : float
        No f(x) is further than this from that of the minimum, apart from the offset, for points
        whose k(x, x) is at most its largest value in training.
    iterations : int
        Number of steps of Newton's method, or of pairs of variables.
    products : int
        Number of passes over the kernel matrix.
    """

    solver: str
    primal: float
    gap: float
    tol: float
    error_bound: float
    iterations: int
    products: int


class KernelMachine(HasApproximation, FunctionEstimator):
    """What machines with any loss share: parameters, the solution, the scores of new points."""

    loss: Any
    alpha: float
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
    support_: Array
    n_iter_: int

    def _settings(self, run: Run) -> Settings:
        return settings_of(self, run, SOLVERS, 200)

    def _solve(self, points: Input, loss: Any, targets: Array, weight: Array | None) -> None:
        """Find the function, and keep what predictions need."""
        with resumable(self, points, y=targets, sample_weight=weight) as run:
            self._solve_in(run, points, loss, targets, weight)

    def _solve_in(
        self, run: Run, points: Input, loss: Any, targets: Array, weight: Array | None
    ) -> None:
        who, settings = run.who, self._settings(run)
        alpha = checks.number(who, "alpha", self.alpha, above=0)
        if not isinstance(loss, KINKED):
            check_loss(who, loss, targets)
        prepared = self._prepare(points, weight)
        rows = np.arange(len(points))
        if weight is not None and not weight.all():  # a point without weight has no say
            rows = np.flatnonzero(weight)
            prepared, targets, weight = with_only(prepared, rows), targets[rows], weight[rows]
        weight = np.ones(len(rows)) if weight is None else weight
        problem = LossProblem(
            loss=loss,
            targets=targets,
            weight=weight,
            alpha=alpha,
            intercept=bool(self.fit_intercept),
        )
        with limited_threads(run.n_jobs, who):
            found = MachineFit(prepared, problem, settings).run()
            largest = float(np.sqrt(max(prepared.largest(), 0.0)))
            if self.approximation is not None:
                note_price(self, prepared, _by_point(found, problem, prepared), run.seed)
        self._prepared = prepared
        self._store(found, rows)
        self._certify(found, settings, largest)

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
        if has_approximation(self) and found.way != "primal":
            self.coef_ = sum_of_features(self._prepared, self.dual_coef_)

    def _certify(self, found: Found, settings: Settings, largest: float) -> None:
        solved, tol, run = found.solution, settings.tol, settings.run
        self.certificate_ = MachineCertificate(
            status=solved.status,
            plan=found.plan,
            kernel_entries=found.entries,
            bytes=found.bytes,
            seconds=run.seconds,
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
            text = sentence(run.who, must, got, solved.status.advice("loss"))
            run.warn(text, ConvergenceWarning)


def _by_point(found: Found, problem: LossProblem, prepared: Prepared) -> Array:
    """Return the coefficients of the points, of which those of features are the sum.

    Of blocks, for which no price is found, they are not wanted.
    """
    t = found.solution.t
    if found.way != "primal" or isinstance(prepared.points, RowBlocks):
        return t
    scores = map_times(prepared, prepared.points, t) + found.solution.intercept
    slopes = problem.loss.gradient(scores, problem.targets)
    return np.asarray(-problem.weight[:, None] * slopes / problem.alpha)


def _is_logistic(model: Any) -> bool:
    return model.loss == "logistic" or isinstance(model.loss, Logistic)


class KernelMachineClassifier(ClassifierMixin, KernelMachine):  # type: ignore[misc]
    """Classification by the function of least regularised loss, for any convex loss.

    It minimises sum_i w_i loss(f(x_i) + b, y_i) + alpha/2 ||f||**2 over f and b, with y = -1, 1.
    The logistic loss takes several classes together (softmax); other losses take one class against
    the rest. With "hinge" and alpha = 1 / C it is `SVC`.

    Parameters
    ----------
    loss : str or loss object, default="logistic"
        "logistic", "squared", "hinge", "squared_hinge", "smoothed_hinge", a loss of `mercer.losses`
        such as `SmoothedHinge(0.2)`, or any object with the methods value, gradient and curvature.
    alpha : float, default=1.0
        The penalty, above 0.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    approximation : feature map, default=None
        A map of `mercer.features` that takes the place of the kernel, such as
        `RandomFourier(n_components=2048)` or `Nystrom(n_components=500)`; the fit is then about the
        kernel phi(x) . phi(y) of the map. Its own kernel, if it has none, is that of the model.
    fit_intercept : bool, default=True
        Whether there is an offset b that is not penalised.
    solver : {"auto", "newton", "primal", "nystrom", "dual"}, default="auto"
        "newton" works with all points, "primal" in an exact finite feature map, "nystrom" with
        functions of `n_centers` points, "dual" is for losses with a kink. "auto" chooses by loss,
        size and memory.
    n_centers : int, default=None
        Number of centres of "nystrom"; None is 10 sqrt(n), from 100 to 10,000.
    class_weight : {"balanced"} or dict, default=None
        Weight per class, multiplied with the sample weights. "balanced" makes the total weights of
        the classes equal.
    tol : float, default=1e-6
        Gap to reach, relative to the objective.
    max_iter : int, default=None
        Largest number of steps of Newton's method; None is 200.
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
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    dual_coef_ : ndarray of shape (n_support, n_machines)
        Coefficients of the points of `support_`.
    coef_ : ndarray of shape (n_map, n_machines)
        Coefficients of the features, f(x) = phi(x) . coef_, with the solver "primal" or
        an `approximation` only.
    intercept_ : ndarray of shape (n_machines,)
        The offset b of each machine.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the function.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : int
        Number of steps.
    approximation_ : feature map
        The fitted map, with an `approximation` only.
    approximation_error_ : float
        Root mean square, over training points, of what f changes by when the exact kernel takes the
        place of the approximate one with the same coefficients; with an `approximation` only.
    certificate_ : MachineCertificate
        How far the function is from the best one, and what it cost.

    See Also
    --------
    SVC : The hinge loss, with a solver of its own.
    KernelMachineRegressor : Losses for numbers.

    Notes
    -----
    Where a text writes the penalty as lambda ||f||**2, alpha is 2 lambda.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, "Learning with kernels", MIT Press (2002), chapter 4.

    Examples
    --------
    >>> from mercer import KernelMachineClassifier
    >>> X = [[0.0], [0.2], [0.4], [1.6], [1.8], [2.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> model = KernelMachineClassifier("logistic", alpha=0.1).fit(X, y)
    >>> model.predict([[0.1], [1.9]]).tolist()
    ['low', 'high']
    >>> print(model.certificate_.status)
    converged
    """

    classes_: Array

    def __init__(
        self,
        loss: LossLike = "logistic",
        alpha: float = 1.0,
        *,
        kernel: KernelLike = None,
        approximation: Approximation = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        n_centers: int | None = None,
        class_weight: ClassWeight = None,
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
        self.loss = loss
        self.alpha = alpha
        self.kernel = kernel
        self.approximation = approximation
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
        self.checkpoint = checkpoint

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: LabelsLike, sample_weight: Weights = None) -> Self:
        """Find the function.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The class of each point.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.

        Returns
        -------
        KernelMachineClassifier
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        who = type(self).__name__
        points = self._check_fit(X)
        weight = checks.sample_weight(who, sample_weight, len(points))
        self.classes_, codes = as_classes(who, y, len(points))
        loss = to_loss(who, self.loss, OF_CLASSES)
        weight = class_weighted(self, self.classes_[codes], weight)
        class_totals(who, self.classes_, codes, weight)
        members = codes[:, None] == np.arange(len(self.classes_))
        if len(self.classes_) == 2:
            members = members[:, 1:]
        elif isinstance(loss, Logistic):
            loss = Softmax()
        targets = members.astype(float) if isinstance(loss, Softmax) else 2.0 * members - 1.0
        self._solve(points, loss, targets, weight)
        return self

    @anywhere
    def decision_function(self, X: PointsLike) -> Array:
        """Compute the scores f(x) + b of points.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes one score per point, positive for `classes_[1]`; otherwise one column
            per class.
        """
        scores = self._scores(X)
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the class of each point.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The classes.
        """
        return self._class_of(self.decision_function(X))

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    @anywhere
    def predict_proba(self, X: PointsLike) -> Array:
        """Compute the probability of each class; needs the logistic loss.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The probabilities.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return Softmax().probabilities(scores)

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    @anywhere
    def predict_log_proba(self, X: PointsLike) -> Array:
        """Compute the logarithm of the probability of each class; needs the logistic loss.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The logarithms, exact also where probabilities round to 0.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([-np.logaddexp(0, scores), -np.logaddexp(0, -scores)])
        return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


class KernelMachineRegressor(MultiOutputMixin, RegressorMixin, KernelMachine):  # type: ignore[misc]
    """Regression by the function of least regularised loss, for any convex loss.

    It minimises sum_i w_i loss(f(x_i) + b, y_i) + alpha/2 ||f||**2 over f and b. "squared" is
    1/2 (f - y)**2, so that it is `KernelRidge(alpha, fit_intercept=True)`; an offset is the default
    here, not there. "epsilon_insensitive" with alpha = 1 / C is `SVR`.

    Parameters
    ----------
    loss : str or loss object, default="squared"
        "squared", "huber", "epsilon_insensitive", "quantile", "poisson" (the prediction is exp(f +
        b)), a loss of `mercer.losses` such as `Quantile(0.9)`, or any object with the methods
        value, gradient and curvature.
    alpha : float, default=1.0
        The penalty, above 0.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    approximation : feature map, default=None
        A map of `mercer.features` that takes the place of the kernel, such as
        `RandomFourier(n_components=2048)` or `Nystrom(n_components=500)`; the fit is then about the
        kernel phi(x) . phi(y) of the map. Its own kernel, if it has none, is that of the model.
    fit_intercept : bool, default=True
        Whether there is an offset b that is not penalised.
    solver : {"auto", "newton", "primal", "nystrom", "dual"}, default="auto"
        "newton" works with all points, "primal" in an exact finite feature map, "nystrom" with
        functions of `n_centers` points, "dual" is for losses with a kink. "auto" chooses by loss,
        size and memory.
    n_centers : int, default=None
        Number of centres of "nystrom"; None is 10 sqrt(n), from 100 to 10,000.
    tol : float, default=1e-6
        Gap to reach, relative to the objective.
    max_iter : int, default=None
        Largest number of steps of Newton's method; None is 200.
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
    dual_coef_ : ndarray of shape (n_support, n_outputs)
        Coefficients of the points of `support_`.
    coef_ : ndarray of shape (n_map, n_outputs)
        Coefficients of the features, f(x) = phi(x) . coef_, with the solver "primal" or
        an `approximation` only.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b of each output.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the function.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : int
        Number of steps.
    approximation_ : feature map
        The fitted map, with an `approximation` only.
    approximation_error_ : float
        Root mean square, over training points, of what f changes by when the exact kernel takes the
        place of the approximate one with the same coefficients; with an `approximation` only.
    certificate_ : MachineCertificate
        How far the function is from the best one, and what it cost.

    See Also
    --------
    KernelRidge : The squared loss, with solvers of its own and standard deviations.
    SVR : The epsilon-insensitive loss, with a solver of its own.

    Notes
    -----
    Where a text writes the penalty as lambda ||f||**2, alpha is 2 lambda.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, "Learning with kernels", MIT Press (2002), chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelMachineRegressor
    >>> from mercer.losses import Quantile
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> y = np.tile([0.0, 1.0], 25)
    >>> model = KernelMachineRegressor(Quantile(0.9), alpha=100.0).fit(x[:, None], y)
    >>> model.predict([[0.5]]).round(1)
    array([1.])
    """

    _sizes: ClassVar[tuple[float, float]] = (1e-150, 1e150)
    _flat: bool  # y was a vector

    def __init__(
        self,
        loss: LossLike = "squared",
        alpha: float = 1.0,
        *,
        kernel: KernelLike = None,
        approximation: Approximation = None,
        fit_intercept: bool = True,
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
        self.loss = loss
        self.alpha = alpha
        self.kernel = kernel
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
        KernelMachineRegressor
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        who = type(self).__name__
        points = self._check_fit(X)
        weight = checks.sample_weight(who, sample_weight, len(points))
        targets, self._flat = numbers_of(self, y, len(points))
        loss = to_loss(who, self.loss, OF_NUMBERS)
        if hasattr(loss, "check"):
            loss.check(who, targets)
        self._solve(points, loss, targets, weight)
        return self

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict f(x) + b, or the mean that the loss makes of it.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
            The predictions.

        Raises
        ------
        InputError
            If a mean overflows.
        """
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
