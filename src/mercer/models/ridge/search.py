"""Kernel ridge models that choose their kernel and alpha."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_sample_weight

from ... import checks
from ...checkpoints import CheckpointLike
from ...checks import Array, InputError, sentence
from ...fitting.cross_validation import (
    Candidate,
    Given,
    HeldOut,
    HeldOutClasses,
    HeldOutNumbers,
    Search,
    Unseen,
    asks_for_weights,
    best,
    check_folds,
    results,
)
from ...fitting.ridge.search import KernelPaths
from ...grams import limited_threads
from ...inputs import Input, RowBlocks
from ...jobs import each, processes
from ...kernels import Kernel, to_kernel
from ...monitor import Stopped
from ...run import Run
from ...solvers import RidgeProblem
from ...status import Status
from ...typing import (
    Approximation,
    Callback,
    ClassWeight,
    Folds,
    KernelLike,
    LabelsLike,
    MemoryLimit,
    Numbers,
    PointsLike,
    Scoring,
    Seed,
    TargetsLike,
    Weights,
)
from ..contract.approximation import approximated, own_kernel
from ..contract.atomic import atomic
from ..contract.parameters import splits_of
from ..contract.records import recorded
from ..contract.resuming import resumable
from ..contract.targets import is_single, numbers_of
from .classifier import LabelledRidge, Labels
from .regressor import NumberRidge, RidgeEstimator

SEARCH_SHARE = 0.8  # of the time limit; the final fit has what is left of all of it
EQUAL = 1e-12  # relative difference of scores that is rounding
HALF_DECADES = 10.0 ** np.arange(-6, 3.5, 0.5)


class RidgeSearch(RidgeEstimator):
    """What the models that search share."""

    alphas: float | Numbers | None
    cv: Folds
    scoring: Scoring
    alpha_: float
    best_score_: float
    best_index_: int
    cv_results_: dict[str, Any]

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator or, as in kernel__gamma, of its single kernel.

        Parameters
        ----------
        **params : dict
            Parameters of the estimator, and of its kernel as in `kernel__gamma=0.1`.

        Returns
        -------
        RidgeSearch
            The estimator itself.

        Raises
        ------
        InputError
            If a parameter of the kernel is set where there is a list of kernels.
        """
        given = params.get("kernel", self.kernel)
        nested = [name for name in params if name.startswith("kernel__")]
        if nested and isinstance(given, list | tuple):
            must = f"{', '.join(nested)} must be set on a single kernel"
            got = f"a list of {len(given)}"
            raise InputError(sentence(type(self).__name__, must, got, "Set kernel to a new list."))
        return super().set_params(**params)

    def _kernel(self) -> Kernel:
        return to_kernel(self._given_kernels()[0], who=type(self).__name__)

    def _kernels(self) -> list[Kernel]:
        return [to_kernel(kernel, who=type(self).__name__) for kernel in self._given_kernels()]

    def _given_kernels(self) -> Sequence[Any]:
        only = own_kernel(self) if self.kernel is None else self.kernel
        given = only if isinstance(only, list | tuple) else [only]
        if not given:
            must = "kernel must name at least one"
            raise InputError(sentence(type(self).__name__, must, "an empty list"))
        return given

    def _check_alphas(self) -> list[float]:
        who = type(self).__name__
        usual = HALF_DECADES[6:] if is_classifier(self) else HALF_DECADES
        values = np.atleast_1d(np.asarray(usual if self.alphas is None else self.alphas))
        if values.ndim != 1 or len(values) == 0:
            raise InputError(sentence(who, "alphas must be a list of numbers", values.shape))
        return [checks.number(who, "alphas", value, least=0) for value in values.tolist()]

    def _splits(self, given: Given, groups: Any) -> list[Any] | None:
        """Return the points of each fold, and the others; None to leave out one at a time."""
        if self.cv is None:
            return None
        who = type(self).__name__
        return splits_of(who, self.cv, given.truth, groups, is_classifier(self))

    def _search(
        self, points: Input, given: Given, splits: list[Any] | None, run: Run
    ) -> tuple[Kernel, float]:
        """Score all kernels and alphas; publish the table and return the best pair."""
        who = type(self).__name__
        kept = np.ones(len(points), dtype=bool) if given.weight is None else given.weight > 0
        if kept.sum() < 2:
            must = "cross-validation needs at least two points with a weight"
            raise InputError(sentence(who, must, f"{kept.sum()} sample(s)"))
        search, problems = self._plan(given, splits, kept)
        chosen = points if kept.all() else points.only(np.flatnonzero(kept))
        alphas = self._check_alphas()
        part = run.part(SEARCH_SHARE)
        with limited_threads(run.n_jobs, who):
            candidates = self._score_all(search, chosen, problems, alphas, part)
        if not candidates:
            self.cv_results_, self.best_index_ = {}, 0
            found = Candidate(
                kernel=self._kernel(),
                alpha=alphas[len(alphas) // 2],
                scores=(float("nan"),),
                error=np.inf,
            )
        else:
            self.cv_results_ = results(candidates)
            self.best_index_ = best(candidates, EQUAL)
            found = candidates[self.best_index_]
        self.best_score_, self.alpha_ = found.mean, found.alpha
        return found.kernel, found.alpha

    def _plan(
        self, given: Given, splits: list[Any] | None, kept: Array
    ) -> tuple[Search, list[RidgeProblem]]:
        """Return what scores, and the problem of each weighting; kept: points with a weight."""
        folds = None if splits is None else check_folds(type(self).__name__, splits, kept)

        def part(values: Array | None) -> Array | None:
            return None if values is None else values[kept]

        weightings, turns = given.weightings(splits)
        asked = part(given.samples) if asks_for_weights(self) else None
        targets, truth = given.targets[kept], given.truth[kept]
        search = Search(
            targets=targets,
            truth=truth,
            known=given.known,
            scoring=self.scoring,
            weight=asked,
            folds=folds,
            turns=turns,
        )
        copies = np.ones(len(targets)) if given.samples is None else given.samples[kept]
        none, offset = np.zeros(targets.shape[1]), bool(self.fit_intercept)
        return search, [
            RidgeProblem(
                targets=targets, alpha=none, weight=part(w), intercept=offset, copies=copies
            )
            for w in weightings
        ]

    def _score_all(
        self,
        search: Search,
        points: Input,
        problems: list[RidgeProblem],
        alphas: list[float],
        run: Run,
    ) -> list[Candidate]:
        """Return the candidates that there was time for, and warn if it was not all of them."""
        candidates: list[Candidate] = []
        weight = problems[0].weight
        kernels = [approximated(self, kernel, points, weight) for kernel in self._kernels()]
        total = len(kernels) * len(alphas)
        work = KernelPaths(
            points=points,
            problems=problems,
            alphas=alphas,
            held=search.held,
            settings=self._settings(run),
        )
        try:
            for candidate in self._scored(work, search, kernels):
                candidates.append(candidate)
                record = {"stage": "cross-validation", "alpha": candidate.alpha}
                record |= {"kernel": candidate.kernel, "score": candidate.mean}
                run.monitor.iteration(record | {"fraction": len(candidates) / total})
        except Stopped as stop:
            must = "all pairs of kernel and alpha should be scored"
            got = f"{len(candidates)} of {total} pairs of kernel and alpha were scored"
            advice = "Raise time_limit, or try fewer."
            text = sentence(type(self).__name__, must, f"{got} ({stop.reason})", advice)
            run.warn(text, ConvergenceWarning)
        return candidates

    def _scored(
        self, work: KernelPaths, search: Search, kernels: list[Kernel]
    ) -> Iterator[Candidate]:
        """Yield all pairs of kernel and alpha; kernels may be tried in several processes."""
        if isinstance(work.points, RowBlocks) or processes() == 1 or len(kernels) == 1:
            for kernel, paths in work.of(kernels):
                yield from search.along(kernel, paths, work.alphas)
            return
        run = work.settings.run
        watched = run.monitor.time_limit is not None or run.monitor.callback is not None
        settings = replace(work.settings, run=run.elsewhere())
        shared = search, replace(work, settings=settings)
        for found, reason in each(_candidates_of, kernels, shared, in_waves=watched):
            yield from found
            if reason is not None:
                raise Stopped(reason)


def _candidates_of(
    kernel: Kernel, search: Search, work: KernelPaths
) -> tuple[list[Candidate], Status | None]:
    """Return the candidates of one kernel, and why these are not all, if they are not."""
    found: list[Candidate] = []
    try:
        for _, paths in work.of([kernel]):
            found.extend(search.along(kernel, paths, work.alphas))
    except Stopped as stop:
        return found, stop.reason
    return found, None


class KernelRidgeCV(NumberRidge, RidgeSearch):
    """Kernel ridge regression that chooses its kernel and alpha by exact cross-validation.

    One eigendecomposition of K per kernel gives the held-out predictions of every alpha in closed
    form: those of a set F held out are y_F - (I - H_FF)**-1 (y_F - f_F), with H the matrix that
    turns y into predictions. With few folds, where it costs less, each fold is fitted, for all
    alphas at once. Above 6,000 points the same is done for a Nyström model. The final fit is that
    of `KernelRidge`.

    Parameters
    ----------
    alphas : float or array-like of shape (n_alphas,), default=None
        Penalties to try; None is 1e-6 to 1e3 in half decades.
    kernel : Kernel, str, callable or list of these, default=None
        The kernels to try: kernels, scikit-learn names such as "rbf", "precomputed", or functions
        of two sets of points. None is `Gaussian()`.
    cv : int, splitter or iterable of (train, test), default=None
        Number of folds, a splitter of scikit-learn, or pairs of rows; None leaves out one point at
        a time.
    scoring : str or callable, default=None
        A scorer of scikit-learn or its name; None is R**2. Leave-one-out predictions are scored
        together.
    approximation : feature map, default=None
        A map of `mercer.features` that takes the place of the kernel, such as
        `RandomFourier(n_components=2048)` or `Nystrom(n_components=500)`; the fit is then about the
        kernel phi(x) . phi(y) of the map. Its own kernel, if it has none, is that of the model.
    fit_intercept : bool, default=False
        Whether there is an offset b that is not penalised.
    solver : {"auto", "primal", "cholesky", "cg", "nystrom"}, default="auto"
        "primal" solves in an exact finite feature map, "cholesky" factors the kernel matrix, "cg"
        runs conjugate gradients on all of it, "nystrom" finds the best function of `n_centers`
        points. "auto" chooses by size and memory.
    n_centers : int, default=None
        Number of centres of "nystrom"; None is 10 sqrt(n), from 100 to 10,000. More than 2,500
        centres that are dense rows of numbers are moved to the means of the points nearest to them.
    tol : float, default=1e-6
        Relative residual to reach.
    max_iter : int, default=None
        Largest number of iterations of conjugate gradients; None is 1000.
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
    alpha_ : float
        The penalty that was chosen.
    kernel_ : Kernel
        The kernel that was chosen. Parameters such as gamma="scale" are settled on all training
        points before they are split.
    best_score_ : float
        Mean score of the best pair of kernel and alpha.
    best_index_ : int
        Its place in `cv_results_`.
    cv_results_ : dict
        All pairs with their scores; columns have scikit-learn's names.
    dual_coef_ : ndarray of shape (n_support,) or (n_support, n_outputs)
        Coefficients of the points of `support_`.
    coef_ : ndarray of shape (n_map,) or (n_map, n_outputs)
        Coefficients of the features, with the solver "primal" only.
    intercept_ : float or ndarray of shape (n_outputs,)
        The offset b; 0 without one.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the function.
    n_iter_ : int
        Number of iterations of the final fit.
    approximation_ : feature map
        The fitted map, with an `approximation` only.
    approximation_error_ : float
        Bound on the distance from the predictions that the exact kernel would give, as a root mean
        square over the training points, estimated on some of them; with an `approximation` only.
    certificate_ : RidgeCertificate
        How far the final fit is from its optimum, and what it cost.

    See Also
    --------
    KernelRidge : The regression for a given kernel and alpha.
    mercer.tune : Choice of the parameters of any estimator.

    Notes
    -----
    Scores are those of scikit-learn's `cross_val_score` on the same folds: `sample_weight` is for
    training, and reaches the scores only where metadata routing is enabled and the scorer (or,
    without one, this model's own `score`) has requested it. Points of weight 0 are neither trained
    on nor scored.

    References
    ----------
    .. [1] R. Rifkin, R. Lippert, "Notes on regularized least squares", MIT (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidgeCV
    >>> from mercer.kernels import Gaussian, Linear
    >>> x = np.linspace(0.0, 6.0, 40)
    >>> model = KernelRidgeCV(kernel=[Linear(), Gaussian(gamma=0.5)]).fit(x[:, None], np.sin(x))
    >>> model.kernel_
    Gaussian(gamma=0.5)
    """

    _sizes: ClassVar[tuple[float, float]] = (1e-150, 1e150)  # errors are squared, and scored

    def __init__(
        self,
        alphas: float | Numbers | None = None,
        *,
        kernel: KernelLike | Sequence[KernelLike] = None,
        cv: Folds = None,
        scoring: Scoring = None,
        approximation: Approximation = None,
        fit_intercept: bool = False,
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
        self.alphas = alphas
        self.kernel = kernel
        self.cv = cv
        self.scoring = scoring
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
    def fit(
        self,
        X: PointsLike,
        y: TargetsLike,
        sample_weight: Weights = None,
        groups: LabelsLike | None = None,
    ) -> Self:
        """Choose kernel and alpha, then fit all points.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,) or (n, n_outputs)
            The numbers to predict.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.
        groups : array-like of shape (n,), default=None
            Groups of points, handed to the splitter.

        Returns
        -------
        KernelRidgeCV
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        points = self._check_fit(X)
        targets, self._flat = numbers_of(self, y, len(points))
        self._single = is_single(y)
        weight = checks.sample_weight(type(self).__name__, sample_weight, len(points))
        truth = targets[:, 0] if self._flat else targets

        def known(values: Array, unseen: Any) -> HeldOut:
            return HeldOutNumbers(values[:, 0] if self._flat else values)

        given = Given(targets=targets, truth=truth, samples=weight, weight=weight, known=known)
        folds = self._splits(given, groups)
        with resumable(self, points, y=targets, sample_weight=weight, folds=folds) as run:
            pair = self._search(points, given, folds, run)
            self._solve(points, targets, weight, chosen=pair, run=run)
        if self._flat:
            self._flatten()
        return self


class KernelRidgeClassifierCV(LabelledRidge, RidgeSearch):
    """Classification by ridge regression that chooses its kernel and alpha by cross-validation.

    It is exact, as in `KernelRidgeCV`; equal scores are decided by the squared error of the
    held-out scores. Class weights are for training, never for scores. With folds, "balanced"
    weights are those of each fold's training points, at the price of further decompositions;
    leaving out one point at a time, they are those of all points. Probabilities of a fold are those
    of the model without it, calibrated on its training points; leaving out one point at a time,
    their slope is that of all points.

    Parameters
    ----------
    alphas : float or array-like of shape (n_alphas,), default=None
        Penalties to try; None is 1e-3 to 1e3 in half decades.
    kernel : Kernel, str, callable or list of these, default=None
        The kernels to try: kernels, scikit-learn names such as "rbf", "precomputed", or functions
        of two sets of points. None is `Gaussian()`.
    cv : int, splitter or iterable of (train, test), default=None
        Number of folds, a splitter of scikit-learn, or pairs of rows; None leaves out one point at
        a time.
    scoring : str or callable, default=None
        A scorer of scikit-learn or its name; None is accuracy.
    approximation : feature map, default=None
        A map of `mercer.features` that takes the place of the kernel, such as
        `RandomFourier(n_components=2048)` or `Nystrom(n_components=500)`; the fit is then about the
        kernel phi(x) . phi(y) of the map. Its own kernel, if it has none, is that of the model.
    fit_intercept : bool, default=False
        Whether there is an offset b that is not penalised.
    class_weight : {"balanced"}, dict or list of dict, default=None
        Weight per class, multiplied with the sample weights. "balanced" makes the total weights of
        the classes equal. Several labels per point take a list with a dict per label.
    probability : bool, default=True
        Whether to calibrate `predict_proba`, which costs as much again as a Cholesky fit.
    solver : {"auto", "primal", "cholesky", "cg", "nystrom"}, default="auto"
        "primal" solves in an exact finite feature map, "cholesky" factors the kernel matrix, "cg"
        runs conjugate gradients on all of it, "nystrom" finds the best function of `n_centers`
        points. "auto" chooses by size and memory.
    n_centers : int, default=None
        Number of centres of "nystrom"; None is 10 sqrt(n), from 100 to 10,000. More than 2,500
        centres that are dense rows of numbers are moved to the means of the points nearest to them.
    tol : float, default=1e-6
        Relative residual to reach.
    max_iter : int, default=None
        Largest number of iterations of conjugate gradients; None is 1000.
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
    alpha_ : float
        The penalty that was chosen.
    kernel_ : Kernel
        The kernel that was chosen. Parameters such as gamma="scale" are settled on all training
        points before they are split.
    best_score_ : float
        Mean score of the best pair of kernel and alpha.
    best_index_ : int
        Its place in `cv_results_`.
    cv_results_ : dict
        All pairs with their scores; columns have scikit-learn's names.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; the numbers of the labels where there are several per point.
    dual_coef_ : ndarray of shape (n_support, n_outputs)
        Coefficients of the points of `support_`.
    coef_ : ndarray of shape (n_map, n_outputs)
        Coefficients of the features, with the solver "primal" only.
    intercept_ : ndarray of shape (n_outputs,)
        The offset b of each output; 0 without one.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the function.
    slopes_ : ndarray of shape (1,) or (n_labels,)
        Slopes from scores to probabilities, with `probability=True` only.
    n_iter_ : int
        Number of iterations of the final fit.
    approximation_ : feature map
        The fitted map, with an `approximation` only.
    approximation_error_ : float
        Bound on the distance from the predictions that the exact kernel would give, as a root mean
        square over the training points, estimated on some of them; with an `approximation` only.
    certificate_ : RidgeCertificate
        How far the final fit is from its optimum, and what it cost.

    See Also
    --------
    KernelRidgeClassifier : The classifier for a given kernel and alpha.
    KernelRidgeCV : The same for numbers.

    References
    ----------
    .. [1] R. Rifkin, R. Lippert, "Notes on regularized least squares", MIT (2007).

    Examples
    --------
    >>> from mercer import KernelRidgeClassifierCV
    >>> X = [[0.0], [0.2], [0.4], [1.6], [1.8], [2.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> model = KernelRidgeClassifierCV([0.1, 1.0]).fit(X, y)
    >>> model.predict([[0.1], [1.9]]).tolist(), model.best_score_
    (['low', 'high'], 1.0)
    """

    def __init__(
        self,
        alphas: float | Numbers | None = None,
        *,
        kernel: KernelLike | Sequence[KernelLike] = None,
        cv: Folds = None,
        scoring: Scoring = None,
        approximation: Approximation = None,
        fit_intercept: bool = False,
        class_weight: ClassWeight = None,
        probability: bool = True,
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
        self.alphas = alphas
        self.kernel = kernel
        self.cv = cv
        self.scoring = scoring
        self.approximation = approximation
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.probability = probability
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
    def fit(
        self,
        X: PointsLike,
        y: LabelsLike,
        sample_weight: Weights = None,
        groups: LabelsLike | None = None,
    ) -> Self:
        """Choose kernel and alpha, then fit all points.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,) or (n, n_labels)
            The class of each point, or a table of 0 and 1 with a column per label.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 is left out. None is 1 for all.
        groups : array-like of shape (n,), default=None
            Groups of points, handed to the splitter.

        Returns
        -------
        KernelRidgeClassifierCV
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets, weights or parameters are not what they must be.
        """
        points = self._check_fit(X)
        labels = self._encode(y, len(points), sample_weight)
        given, weight = self._given(labels), labels.samples
        folds = self._splits(given, groups)
        with resumable(self, points, y=given.truth, sample_weight=weight, folds=folds) as run:
            pair = self._search(points, given, folds, run)
            self._fit_labels(points, labels, chosen=pair, run=run)
        return self

    def _given(self, labels: Labels) -> Given:
        """Return the search for the labels.

        The probabilities of a fold are those of the model without it: their slope is fitted to the
        scores that points of the training rows get where they are left out of it in turn.
        """
        codes, weight, samples = labels.codes, labels.weight, labels.samples
        truth = codes if self._multilabel else self.classes_[codes]
        binary = not self._multilabel and len(self.classes_) == 2
        used = codes if weight is None else codes[weight > 0]

        def known(values: Array, unseen: Callable[[], Unseen]) -> HeldOut:
            def chances(scores: Array) -> Array:
                found = unseen()
                own = found.values[:, 0] if binary else found.values
                slopes = self._slopes(own, used[found.rows], found.weight)
                return self._chances(scores, slopes)

            scores = values[:, 0] if binary else values
            return HeldOutClasses(scores, self.classes_, self._decide, chances)

        def reweigh(train: Array) -> Array:
            rows = np.flatnonzero(train) if train.dtype == bool else train
            factor = compute_sample_weight(self.class_weight, truth, indices=rows)
            factor = np.where(factor > 0, factor, 1.0)  # 0 of classes that are held out entirely
            return factor if samples is None else factor * samples

        balanced = isinstance(self.class_weight, str)
        return Given(
            targets=labels.targets,
            truth=truth,
            samples=samples,
            weight=weight,
            known=known,
            reweigh=reweigh if balanced else None,
        )
