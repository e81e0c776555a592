"""Kernel ridge models that choose their kernel and alpha."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from .. import checks
from ..checks import Array, InputError, sentence
from ..grams import gram_family, limit_in_bytes, limited_threads, prepare
from ..inputs import Input, RowBlocks
from ..kernels import Kernel, to_kernel
from ..monitor import Monitor, Stopped, to_stderr
from ..selection import (
    Candidate,
    HeldOut,
    HeldOutClasses,
    HeldOutNumbers,
    Search,
    best,
    check_folds,
    results,
)
from ..solvers import RidgePath, RidgeProblem
from .ridge import NumberRidge, RidgeEstimator
from .ridge_classifier import LabelledRidge
from .ridge_fit import RidgeFit

SEARCH_SHARE = 0.8  # of the time limit; the final fit has what is left of all of it
AT_ONCE = 8  # kernels whose matrices are computed together
EXACT_ROWS = 6000  # up to which K is diagonalised
HALF_DECADES = 10.0 ** np.arange(-6, 3.5, 0.5)


class RidgeSearch(RidgeEstimator):
    """What the models that search share."""

    alphas: Any
    cv: Any
    scoring: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters; kernel__… names belong to a single kernel."""
        given = params.get("kernel", self.kernel)
        nested = [name for name in params if name.startswith("kernel__")]
        if nested and isinstance(given, list | tuple):
            must = f"{', '.join(nested)} must be set on a single kernel"
            got = f"a list of {len(given)}"
            raise InputError(sentence(type(self).__name__, must, got, "Set kernel to a new list."))
        return super().set_params(**params)

    def _kernel(self) -> Kernel:
        return self._kernels()[0]

    def _kernels(self) -> list[Kernel]:
        given = self.kernel if isinstance(self.kernel, list | tuple) else [self.kernel]
        who = type(self).__name__
        if not given:
            raise InputError(sentence(who, "kernel must name at least one", "an empty list"))
        return [to_kernel(kernel, who=who) for kernel in given]

    def _check_alphas(self) -> list[float]:
        who = type(self).__name__
        usual = HALF_DECADES[6:] if is_classifier(self) else HALF_DECADES
        values = np.atleast_1d(np.asarray(usual if self.alphas is None else self.alphas))
        if values.ndim != 1 or len(values) == 0:
            raise InputError(sentence(who, "alphas must be a list of numbers", values.shape))
        return [checks.number(who, "alphas", value, least=0) for value in values.tolist()]

    def _search(
        self,
        points: Input,
        targets: Array,
        truth: Array,
        weight: Array | None,
        groups: Any,
        known: Any,
    ) -> tuple[Kernel, float]:
        """Score all kernels and alphas; publish the table and return the best pair."""
        who = type(self).__name__
        kept = np.ones(len(points), dtype=bool) if weight is None else weight > 0
        if kept.sum() < 2:
            must = "cross-validation needs at least two points with a weight"
            raise InputError(sentence(who, must, f"{kept.sum()} sample(s)"))
        folds = None
        if self.cv is not None:
            splitter = check_cv(self.cv, truth, classifier=is_classifier(self))
            splits = splitter.split(np.zeros((len(points), 1)), truth, groups)
            folds = check_folds(who, splits, kept)
        part = None if weight is None else weight[kept]
        search = Search(targets[kept], truth[kept], known, self.scoring, part, folds)
        problem = RidgeProblem(targets[kept], np.zeros(targets.shape[1]), part, self.fit_intercept)
        chosen = points if kept.all() else points.take(np.flatnonzero(kept))
        alphas = self._check_alphas()
        limit = self._settings().time_limit
        progress = to_stderr(who) if self.verbose else None
        monitor = Monitor(None if limit is None else SEARCH_SHARE * limit, progress, self.callback)
        with limited_threads(self.n_jobs, who):
            candidates = self._score_all(search, chosen, problem, alphas, monitor)
        if not candidates:
            self.cv_results_, self.best_index_ = {}, 0
            found = Candidate(self._kernel(), alphas[len(alphas) // 2], (float("nan"),), np.inf)
        else:
            self.cv_results_ = results(candidates)
            # Shares of correct answers are often equal, but for samples of hardly any weight.
            self.best_index_ = best(candidates, 1e-6 if is_classifier(self) else 0.0)
            found = candidates[self.best_index_]
        self.best_score_, self.alpha_ = found.mean, found.alpha
        return found.kernel, found.alpha

    def _score_all(
        self,
        search: Search,
        points: Input,
        problem: RidgeProblem,
        alphas: list[float],
        monitor: Monitor,
    ) -> list[Candidate]:
        """Return the candidates that there was time for, and warn if it was not all of them."""
        candidates: list[Candidate] = []
        total = len(self._kernels()) * len(alphas)
        try:
            for kernel, path in self._paths(points, problem, monitor):
                for candidate in search.along(kernel, path, alphas):
                    candidates.append(candidate)
                    record = {"stage": "cross-validation", "alpha": candidate.alpha}
                    record |= {"kernel": kernel, "score": candidate.mean}
                    monitor.iteration(record | {"fraction": len(candidates) / total})
        except Stopped as stop:
            must = "all pairs of kernel and alpha should be scored"
            got = f"{len(candidates)} of {total} pairs of kernel and alpha were scored"
            advice = "Raise time_limit, or try fewer."
            text = sentence(type(self).__name__, must, f"{got} ({stop.reason})", advice)
            warnings.warn(text, ConvergenceWarning, stacklevel=5)
        return candidates

    def _paths(
        self, points: Input, problem: RidgeProblem, monitor: Monitor
    ) -> Iterator[tuple[Kernel, RidgePath]]:
        """Yield every kernel with its path: exact for few points, else that of Nyström's model."""
        kernels, least = self._kernels(), min(self._check_alphas())
        n = len(points)
        limit = limit_in_bytes(type(self).__name__, self.memory_limit)
        if n > EXACT_ROWS or 40 * n * n > limit:
            for kernel in kernels:
                yield kernel, self._in_features(kernel, points, problem, monitor)
            return
        together = max(1, min(AT_ONCE, limit // (8 * n * n) - 4))
        for first in range(0, len(kernels), together):
            some = kernels[first : first + together]
            for kernel, K in zip(some, _dense(some, points, problem.weight, monitor), strict=True):
                monitor.poll()
                yield kernel, RidgePath.of_gram(K, problem, least, monitor)

    def _in_features(
        self, kernel: Kernel, points: Input, problem: RidgeProblem, monitor: Monitor
    ) -> RidgePath:
        prepared = prepare(kernel, points, problem.weight)
        fit = RidgeFit(prepared, problem, self._settings(), monitor)
        return RidgePath.of_features(fit.features())


def _dense(
    kernels: Sequence[Kernel], points: Input, weight: Array | None, monitor: Monitor
) -> list[Array]:
    """Return K of every kernel; what they have in common is computed once."""
    prepared = [prepare(kernel, points, weight) for kernel in kernels]
    settled = [one.kernel for one in prepared]
    blocks = isinstance(points, RowBlocks)
    if (
        len(settled) > 1
        and not blocks
        and all(kernel.domain == settled[0].domain for kernel in settled)
    ):
        return list(gram_family(settled, points, dtype=np.float64, monitor=monitor).dense())
    return [one.gram(dtype=np.float64, store=False, monitor=monitor).dense() for one in prepared]


class KernelRidgeCV(NumberRidge, RidgeSearch):
    """Kernel ridge regression that chooses its kernel and alpha by exact cross-validation.

    One eigendecomposition of K for each kernel gives the held-out predictions of every alpha in
    closed form: those of a set F held out are y_F - (I - H_FF)**-1 (y_F - f_F). Above 6,000 points
    the same for a Nyström model; the final fit is that of `KernelRidge`.

    Parameters
    ----------
    alphas : numbers to try; None is 1e-6 to 1e3 in half decades
    kernel : a kernel or a list of kernels, as in `KernelRidge`
    cv : None (leave one out), a number of folds, a splitter or a list of (train, test)
    scoring : a scorer or its name; None is R**2. Leave-one-out predictions are scored together.
    fit_intercept, solver, n_centers, tol, max_iter, memory_limit, time_limit, callback, n_jobs,
    random_state, verbose : as in `KernelRidge`

    Attributes
    ----------
    alpha_, kernel_, best_score_, best_index_, cv_results_, and those of `KernelRidge`.
    A parameter such as gamma="scale" is settled on all training points before they are split.

    References
    ----------
    Rifkin, Lippert, "Notes on regularized least squares" (2007).
    """

    def __init__(
        self,
        alphas: Any = None,
        *,
        kernel: Any = None,
        cv: Any = None,
        scoring: Any = None,
        fit_intercept: bool = False,
        solver: str = "auto",
        n_centers: Any = None,
        tol: float = 1e-6,
        max_iter: Any = None,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.cv = cv
        self.scoring = scoring
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose, then fit all points; groups are handed to the splitter."""
        start = time.monotonic()
        points = self._check_fit(X)
        targets, self._flat = self._check_targets(y, len(points))
        weight = checks.sample_weight(type(self).__name__, sample_weight, len(points))
        truth = targets[:, 0] if self._flat else targets

        def known(values: Array) -> HeldOut:
            return HeldOutNumbers(values[:, 0] if self._flat else values)

        pair = self._search(points, targets, truth, weight, groups, known)
        self._solve(points, targets, weight, chosen=pair, since=start)
        if self._flat:
            self._flatten()
        return self


class KernelRidgeClassifierCV(LabelledRidge, RidgeSearch):
    """`KernelRidgeClassifier` that chooses its kernel and alpha by exact cross-validation.

    As in `KernelRidgeCV`; equal scores are decided by the squared error of the held-out scores.

    Parameters
    ----------
    alphas : numbers to try; None is 1e-3 to 1e3 in half decades
    kernel, cv : as in `KernelRidgeCV`
    scoring : a scorer or its name; None is accuracy
    class_weight, probability : as in `KernelRidgeClassifier`
    fit_intercept, solver, n_centers, tol, max_iter, memory_limit, time_limit, callback, n_jobs,
    random_state, verbose : as in `KernelRidge`

    Attributes
    ----------
    alpha_, kernel_, best_score_, best_index_, cv_results_, and those of `KernelRidgeClassifier`

    References
    ----------
    Rifkin, Lippert, "Notes on regularized least squares" (2007).
    """

    def __init__(
        self,
        alphas: Any = None,
        *,
        kernel: Any = None,
        cv: Any = None,
        scoring: Any = None,
        fit_intercept: bool = False,
        class_weight: Any = None,
        probability: bool = True,
        solver: str = "auto",
        n_centers: Any = None,
        tol: float = 1e-6,
        max_iter: Any = None,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.cv = cv
        self.scoring = scoring
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose, then fit all points; groups are handed to the splitter."""
        start = time.monotonic()
        points = self._check_fit(X)
        targets, codes, weight = self._encode(y, len(points), sample_weight)
        truth = codes if self._multilabel else self.classes_[codes]
        pair = self._search(points, targets, truth, weight, groups, self._known(codes, weight))
        self._fit_labels(points, targets, codes, weight, chosen=pair, since=start)
        return self

    def _known(self, codes: Array, weight: Array | None) -> Any:
        """Return what turns held-out scores into an estimator that a scorer can ask."""
        binary = not self._multilabel and len(self.classes_) == 2

        def known(values: Array) -> HeldOut:
            scores = values[:, 0] if binary else values

            def chances(some: Array) -> Array:
                seen = np.isfinite(values).all(axis=1)
                used = codes if weight is None else codes[weight > 0]
                part = None if weight is None else weight[weight > 0][seen]
                return self._chances(some, self._slopes(scores[seen], used[seen], part))

            return HeldOutClasses(scores, self.classes_, self._decide, chances)

        return known
