"""K-means in feature space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..checks import Array, InputError, sentence
from ..fitting.clusters import ClusterSearch, Found
from ..grams import limited_threads
from ..run import Run
from ..solvers.kmeans import KernelMeans
from ..status import Status
from .atomic import atomic
from .base import Certificate, KernelEstimator
from .parameters import run_of
from .records import recorded


@dataclass(frozen=True, kw_only=True)
class KMeansCertificate(Certificate):
    """What the clusters are worth.

    status: "converged" where no point is nearer to another centre, or a step gained less than
    `tol`; else why not. objective: the sum of the weighted squared distances to the centres.
    least: the same to the means of the clusters is no less; it is the objective itself but for a
    low-rank K, and exact up to 20,000 points. rise: the largest rise of the objective in any step,
    over the objective: rounding. starts: the objectives of all starts (low rank: of projections).
    moves: of points, in all starts. shift: what had to be added to the diagonal of K for the
    objective to fall; 0 unless the kernel is not Mercer.
    rank: of the matrix that stands for K where K does not fit the memory limit, else 0.
    """

    objective: float
    least: float
    rise: float
    starts: tuple[float, ...]
    iterations: int
    moves: int
    shift: float
    rank: int


class KernelKMeans(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    KernelEstimator,
):
    """Clusters whose means in feature space are near: min sum_i w_i ||phi(x_i) - c_i||**2.

    Lloyd's algorithm: c_i is the nearest centre, and a centre the mean of its points, so that
    ||phi(x) - c||**2 = k(x, x) - 2/n_c sum_j k(x, x_j) + ||c||**2 over the members j of the
    cluster. The objective falls with every step. An empty cluster gets the farthest point.

    Parameters
    ----------
    n_clusters : how many clusters; no more than there are points with a positive weight
    kernel : None (Gaussian), a kernel, a scikit-learn kernel name, "precomputed" or fn(X, Y)
    n_init : starts from different seedings, of which the best counts
    max_iter : steps of a start
    tol : a start is over where a step lowers the objective by no more than this share of it;
        0 goes on until no point moves
    memory_limit : "auto", bytes or a text such as "2GB"; where K does not fit it, a matrix of low
        rank takes its place
    time_limit : seconds after which the best clusters so far are returned, with a warning
    callback : called after each step with its record; returning True stops the fit
    n_jobs : threads; None is all that are allowed
    random_state : of the seedings; None is a fixed one
    verbose : whether to show progress on stderr

    Attributes
    ----------
    labels_, inertia_ (the objective), n_iter_, kernel_ (resolved), dual_coef_ (points of
    `support_`, clusters): c = sum_i dual_coef_[i, c] phi(x_i), squared_norms_: ||c||**2, support_,
    certificate_

    References
    ----------
    Dhillon, Guan, Kulis, "Kernel k-means, spectral clustering and normalized cuts" (2004).
    """

    labels_: Array
    inertia_: float
    n_iter_: int
    dual_coef_: Array
    squared_norms_: Array
    support_: Array

    def __init__(
        self,
        n_clusters: int = 8,
        kernel: Any = None,
        *,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 0.0,
        memory_limit: Any = "auto",
        time_limit: Any = None,
        callback: Any = None,
        n_jobs: Any = None,
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @atomic
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters; y is not used. Points without weight only get a label."""
        self._find(X, sample_weight)
        return self

    @recorded
    def _find(self, X: Any, sample_weight: Any) -> Found:
        points = self._check_fit(X)
        run = run_of(self)
        who = run.who
        weight = checks.sample_weight(who, sample_weight, len(points))
        settings = self._settings(len(points) if weight is None else int((weight > 0).sum()))
        prepared = self._prepare(points, weight)
        with limited_threads(run.n_jobs, who):
            found = ClusterSearch(prepared, weight, run).find(settings)
        self.labels_ = found.clusters.labels.astype(np.int32)
        self.inertia_, self.n_iter_ = found.objective, max(found.clusters.iterations, 1)
        self.dual_coef_, self.squared_norms_ = found.coefficients, found.clusters.squares
        self.support_ = found.support
        self._keep(self.support_)
        self._certify(found, run)
        return found

    def _settings(self, points: int) -> KernelMeans:
        """Return the parameters, checked; points: how many have a positive weight."""
        who = type(self).__name__
        k = checks.whole(who, "n_clusters", self.n_clusters, least=1)
        if k > points:
            must = f"n_clusters must be at most the number of points with a weight, {points}"
            raise InputError(sentence(who, must, f"{k}", "Ask for fewer clusters."))
        return KernelMeans(
            n_clusters=k,
            n_init=checks.whole(who, "n_init", self.n_init, least=1),
            max_iter=checks.whole(who, "max_iter", self.max_iter, least=1),
            tol=checks.number(who, "tol", self.tol, least=0),
        )

    def _certify(self, found: Found, run: Run) -> None:
        clusters = found.clusters
        self.certificate_ = KMeansCertificate(
            status=clusters.status,
            plan=found.plan,
            kernel_entries=found.entries,
            bytes=found.bytes,
            seconds=run.seconds,
            objective=found.objective,
            least=found.least,
            rise=clusters.rise / abs(found.objective) if found.objective else 0.0,
            starts=clusters.starts,
            iterations=clusters.iterations,
            moves=clusters.moves,
            shift=clusters.shift,
            rank=found.rank,
        )
        if clusters.status != Status.CONVERGED:
            text = sentence(
                run.who,
                "points must stop moving between clusters",
                f"{clusters.status} after {clusters.iterations} steps",
                clusters.status.advice("clusters"),
            )
            run.warn(text, ConvergenceWarning)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return int(self.dual_coef_.shape[1])

    def predict(self, X: Any) -> Array:
        """Return the cluster whose centre is nearest."""
        products = self._cross_gram(X) @ self.dual_coef_
        return np.asarray((products - self.squared_norms_ / 2).argmax(axis=1).astype(np.int32))

    def transform(self, X: Any) -> Array:
        """Return the distance in feature space of every x to every centre."""
        points = self._check_predict(X)
        return self._in_precision(np.sqrt(self._squared_distances(points)), points)

    @atomic
    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the clusters; return that of every point."""
        return self.fit(X, y, sample_weight).labels_

    @atomic
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the clusters; return the distance of every point to every centre."""
        found = self._find(X, sample_weight)
        return self._in_precision(np.sqrt(found.distances), self._prepared.points)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the sum of the weighted squared distances to the nearest centres."""
        nearest = self._squared_distances(X).min(axis=1)
        weight = checks.sample_weight(type(self).__name__, sample_weight, len(nearest))
        return -float(nearest.sum() if weight is None else weight @ nearest)

    def _squared_distances(self, X: Any) -> Array:
        points = self._check_predict(X)
        products = self._cross_gram(points) @ self.dual_coef_
        squares = self._prepared.diag(points)[:, None] - 2 * products + self.squared_norms_
        return np.asarray(np.maximum(squares, 0.0))
