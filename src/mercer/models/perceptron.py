"""The kernel perceptron: a classifier that counts its mistakes."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .. import checks
from ..checks import Array, InputError, sentence
from ..fitting.rows import SharedRows
from ..grams import limited_threads
from ..inputs import GRAM, Input, RowBlocks
from ..inputs.blocks import concatenate
from ..monitor import Stopped, warn
from ..run import Run
from ..solvers import Perceptron, PerceptronSolution, RowStore
from ..solvers.perceptron.passes import OnlineProblem, Votes
from ..solvers.perceptron.solver import contradiction
from ..status import Status
from ..typing import Callback, KernelLike, LabelsLike, MemoryLimit, PointsLike, Seed
from .base import Certificate, KernelEstimator
from .contract.anywhere import anywhere
from .contract.atomic import atomic, atomic_step
from .contract.parameters import check_parameters, run_of
from .contract.records import recorded
from .contract.targets import as_classes, as_labels

CLOSE = 1e-3  # above it, and for many points, rows of K are kept in single precision


@dataclass(frozen=True, kw_only=True)
class PerceptronCertificate(Certificate):
    """What the mistakes say, and what the passes cost.

    Attributes
    ----------
    status : str
        "converged" after a pass without a mistake, "one pass" after `partial_fit`, else the reason
        why it ended.
    plan : str
        How the kernel matrix was held, and why.
    kernel_entries : int
        Number of kernel values that were computed.
    bytes : int
        Bytes that the plan allocates beyond the inputs.
    seconds : float
        Time that the call took.
    mistakes : int
        Number of mistakes in this call.
    by_pass : tuple of int
        Number of mistakes in each pass.
    margin : float
        After convergence, the least y f(x) / |f| in the space of k + 1.
    bound : float
        (R / margin)**2, with R**2 the largest k(x, x) + 1: without a budget no order of visits
        makes more mistakes.
    dropped : float
        Sum of the norms of what projections on the points of the budget left out.
    examined : int
        Number of scores so close to a tie that they were summed again in double precision.
    """

    mistakes: int
    by_pass: tuple[int, ...]
    margin: float
    bound: float
    dropped: float
    examined: int


class KernelPerceptron(ClassifierMixin, KernelEstimator):  # type: ignore[misc]
    """The kernel perceptron, whose coefficients are counts of mistakes.

    With labels y = -1, 1, a visit to x_t is a mistake if y_t sum_i alpha_i y_i [k(x_i, x_t) + 1] <=
    0, so that a tie is one; then alpha_t grows by 1. It ends after a pass without a mistake.
    Several classes have a score each, f_c(x) = sum_i beta_ic [k(x_i, x) + 1]. It is a mistake if
    the class of x_t is not the strict winner; then beta_tc grows by 1 for that class and falls by 1
    for the best other. For two classes that is the same with f = f_1 = -f_0.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    max_iter : int, default=1000
        Largest number of passes over the points.
    shuffle : bool, default=False
        Whether each pass visits the points in a new order.
    average : bool, default=False
        Whether to take the mean of f over all visits, which is steadier where classes overlap.
    budget : int, default=None
        Largest number of support points. A mistake on one more is projected on their span.
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
        Seed of the orders of visits; None is a fixed seed.
    verbose : bool or int, default=False
        Whether to show progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    alpha_ : ndarray of shape (n,)
        Number of mistakes on each point, in the order in which the points came.
    mistakes_ : ndarray of shape (n_mistakes_,)
        The points in the order of the mistakes.
    n_mistakes_ : int
        Number of mistakes.
    converged_ : bool
        Whether the last pass made no mistake.
    support_ : ndarray of shape (n_support,)
        Indices of the points that carry f.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Coefficients of the points of `support_`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The sums of the coefficients, which the 1 of k + 1 amounts to.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : int
        Number of passes.
    n_samples_seen_ : int
        Number of points seen, over all calls of `partial_fit`.
    certificate_ : PerceptronCertificate
        What the mistakes say, and what the passes cost.

    See Also
    --------
    SVC : The classifier with the widest margin.

    Notes
    -----
    There is no sample_weight: a point either is misjudged or not, and counts are whole numbers.

    References
    ----------
    .. [1] Y. Freund, R. Schapire, "Large margin classification using the perceptron algorithm",
       Machine Learning 37 (1999).
    .. [2] F. Orabona, J. Keshet, B. Caputo, "Bounded kernel-based online learning", Journal of
       Machine Learning Research 10 (2009), for the budget.

    Examples
    --------
    >>> from mercer import KernelPerceptron
    >>> from mercer.kernels import Gaussian
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> model = KernelPerceptron(Gaussian(gamma=1.0)).fit(X, [0, 0, 1, 1])
    >>> model.predict(X).tolist(), model.converged_
    ([0, 0, 1, 1], True)
    """

    classes_: Array
    mistakes_: Array
    n_mistakes_: int
    converged_: bool
    support_: Array
    dual_coef_: Array
    intercept_: Array
    n_iter_: int
    n_samples_seen_: int
    _votes: Array
    _late: Array
    _steps: int
    _dropped: float

    def __init__(
        self,
        kernel: KernelLike = None,
        *,
        max_iter: int = 1000,
        shuffle: bool = False,
        average: bool = False,
        budget: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernel = kernel
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.average = average
        self.budget = budget
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: LabelsLike) -> Self:
        """Pass over the points until a pass makes no mistake.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The class of each point.

        Returns
        -------
        KernelPerceptron
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, classes or parameters are not what they must be.
        """
        max_iter = checks.whole(type(self).__name__, "max_iter", self.max_iter, least=1)
        points = self._check_fit(X)
        self.classes_, codes = as_classes(type(self).__name__, y, len(points))
        self._forget(points)
        problem, found = self._learn(points, codes, max_iter, run_of(self))
        if found.status != Status.CONVERGED:
            self._warn(problem, found)
        return self

    @atomic_step
    @recorded
    def partial_fit(self, X: PointsLike, y: LabelsLike, classes: LabelsLike | None = None) -> Self:
        """Visit new points once each, in their order, and go on from what is known.

        That makes the mistakes that one pass over all points so far would have made. A call that
        fails leaves the model as it was.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The class of each point.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever come. Needed in the first call, which also settles parameters
            such as gamma="scale" of the kernel.

        Returns
        -------
        KernelPerceptron
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the kernel is "precomputed", or the points or classes are not what they must be.
        """
        check_parameters(self)
        run = run_of(self)
        who = run.who
        if self._kernel().domain == GRAM:
            must = "partial_fit needs the points, since new ones meet former ones"
            raise InputError(sentence(who, must, 'kernel="precomputed"', "Use fit."))
        fresh = not hasattr(self, "certificate_")
        self.classes_ = _classes_of_stream(who, classes, None if fresh else self.classes_)
        points = self._check_fit(X) if fresh else self._check_predict(X)
        codes = _codes_of_stream(who, y, len(points), self.classes_)
        if fresh:
            self._forget(points)
        start = 0
        for block in points.blocks() if isinstance(points, RowBlocks) else (points,):
            problem, found = self._learn(block, codes[start : start + len(block)], None, run)
            start += len(block)
            if found.status not in (Status.CONVERGED, Status.ITERATION_LIMIT):
                self._warn(problem, found)
                break
        return self

    # --- learning ---------------------------------------------------------------------------

    def _forget(self, points: Input) -> None:
        """Begin with no votes, and with the kernel settled on these points."""
        self.kernel_ = self._kernel().resolve(points)
        k = len(self.classes_)
        self._votes, self._late, self._steps = np.zeros((0, k)), np.zeros((0, k)), 0
        self.mistakes_ = self.support_ = np.zeros(0, dtype=np.int64)
        self.n_samples_seen_, self._dropped = 0, 0.0

    def _learn(
        self, points: Input, codes: Array, max_iter: int | None, run: Run
    ) -> tuple[OnlineProblem, PerceptronSolution]:
        """Visit points that come after those known, and keep those that carry f.

        max_iter: passes; None: the one pass of a stream.
        """
        begun, who = time.monotonic(), run.who
        seed = (run.seed, self.n_samples_seen_) if self.shuffle else None
        if self.budget is not None:
            checks.whole(who, "budget", self.budget, least=1)
        with limited_threads(run.n_jobs, who):
            rows, problem = self._problem(points, codes, run)
            found = Perceptron(max_iter or 1, seed, self.budget).solve(problem, run.monitor)
        self._store(found, len(codes))
        status = found.status
        if max_iter is None and status == Status.ITERATION_LIMIT:
            status = Status.ONE_PASS
        plan, size, kept = rows.plan, rows.bytes, problem.rows
        if isinstance(kept, RowStore):
            size = kept.filled * kept.values.shape[1] * kept.values.itemsize
            if self.budget is not None:
                least = min(self.budget, len(problem.diagonal))
                plan, size = "parts of K computed when needed", 8 * least**2
        self.certificate_ = PerceptronCertificate(
            status=status,
            plan=plan,
            kernel_entries=rows.entries + found.entries,
            bytes=size,
            seconds=time.monotonic() - begun,
            mistakes=len(found.mistakes),
            by_pass=found.by_pass,
            margin=found.margin,
            bound=found.bound,
            dropped=self._dropped,
            examined=found.examined,
        )
        return problem, found

    def _problem(self, points: Input, codes: Array, run: Run) -> tuple[SharedRows, OnlineProblem]:
        """Return the kernel matrix of the points that carry votes and of new ones."""
        votes = Votes(self._votes, self._late, self._steps)
        if len(votes.beta):
            points = concatenate([self._prepared.points, points])
        prepared = self._prepare(points, kernel=self.kernel_)
        everyone = [np.arange(len(points))]
        rows = SharedRows(prepared, everyone, run, CLOSE)
        exact = prepared.gram(
            store=False, dtype=np.float64, memory_limit=run.memory_limit, monitor=run.monitor
        )
        diagonal = self.kernel_.diag(points)
        problem = OnlineProblem(
            rows=rows.of(0),
            gram=rows.gram,
            exact=exact,
            diagonal=diagonal,
            codes=codes,
            classes=len(self.classes_),
            votes=votes,
        )
        return rows, problem

    def _store(self, found: PerceptronSolution, new: int) -> None:
        """Keep the votes and the points that carry them; number points as they came."""
        numbers = np.concatenate([self.support_, self.n_samples_seen_ + np.arange(new)])
        self.support_ = numbers[found.support]
        self.mistakes_ = np.concatenate([self.mistakes_, numbers[found.mistakes]])
        self.n_mistakes_ = len(self.mistakes_)
        self.n_samples_seen_ += new
        self._votes, self._late = found.votes.beta, found.votes.late
        self._steps = found.votes.steps
        self._dropped += found.dropped
        if hasattr(self, "compression_"):  # it was about the votes before
            del self.compression_
        self.n_iter_ = len(found.by_pass)
        self.converged_ = found.status == Status.CONVERGED
        carried = found.votes.mean() if self.average else found.votes.beta
        self.dual_coef_ = (carried[:, 1:] if len(self.classes_) == 2 else carried).T.copy()
        self.intercept_ = self.dual_coef_.sum(axis=1)
        self._keep(found.support if len(found.support) else np.arange(1))

    def _warn(self, problem: OnlineProblem, found: PerceptronSolution) -> None:
        """Say that it ended with mistakes, and what may be the reason."""
        last = found.by_pass[-1]
        told = f"{last} mistake{'' if last == 1 else 's'} in pass {len(found.by_pass)}"
        advice = found.status.advice("perceptron")
        if found.status == Status.ITERATION_LIMIT:
            told += ", the last allowed; the data may not be separable under the kernel"
            pair = None
            with contextlib.suppress(Stopped):
                pair = contradiction(problem, found.mistakes[len(found.mistakes) - last :])
            if pair is not None:
                told += (
                    f". Points {pair[0]} and {pair[1]} are the same to the kernel and have "
                    "different labels: nothing separates them"
                )
        warn(
            f"{type(self).__name__}: not converged ({found.status}): {told}. {advice}",
            ConvergenceWarning,
        )

    # --- what was learnt --------------------------------------------------------------------

    @property
    def alpha_(self) -> Array:
        """Number of mistakes on each point, in the order in which the points came."""
        check_is_fitted(self)
        return np.bincount(self.mistakes_, minlength=self.n_samples_seen_)

    @anywhere
    def decision_function(self, X: PointsLike) -> Array:
        """Compute the scores f(x) of points.

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
        points = self._check_predict(X)
        if len(self.support_) == 0:
            scores = np.zeros((len(points), len(self.intercept_)))
        else:
            scores = self._cross_product(points, self.dual_coef_.T) + self.intercept_
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


def _classes_of_stream(who: str, classes: Any, known: Array | None) -> Array:
    """Return all classes that a stream may have; known: those of former calls."""
    if classes is None:
        if known is None:
            must = "classes must be passed on the first call to partial_fit"
            raise InputError(sentence(who, must, "None", "Give all classes that will ever come."))
        return known
    try:
        given = np.unique(column_or_1d(checks.array(who, "classes", classes)))
    except (TypeError, ValueError):
        must = "classes must be a list of words, or of numbers"
        raise InputError(sentence(who, must, checks.show(classes))) from None
    if len(given) < 2:
        raise InputError(sentence(who, "classes must name at least two classes", f"{len(given)}"))
    if known is not None and not np.array_equal(given, known):
        must = f"classes must stay {checks.show(known.tolist())}"
        raise InputError(sentence(who, must, checks.show(given.tolist())))
    return given


def _codes_of_stream(who: str, y: Any, n: int, classes: Array) -> Array:
    """Return the class numbers of new points."""
    labels = as_labels(who, y, n)
    numbers = {label: code for code, label in enumerate(classes.tolist())}
    codes = np.array([numbers.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    wrong = np.flatnonzero(codes < 0)
    if len(wrong):
        must = f"y must hold the classes {checks.show(classes.tolist())}"
        got = f"{checks.show(labels[wrong[0]])} at index {wrong[0]}"
        raise InputError(sentence(who, must, got))
    return codes
