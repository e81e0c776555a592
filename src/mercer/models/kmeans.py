"""K-means in feature space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..checkpoints import CheckpointLike
from ..checks import Array, InputError, sentence
from ..fitting.clusters import ClusterSearch, Found
from ..grams import limited_threads
from ..inputs import Input
from ..run import Run
from ..solvers.kmeans import KernelMeans
from ..status import Status
from ..typing import Callback, KernelLike, MemoryLimit, PointsLike, Seed, Weights
from .base import Certificate, KernelEstimator
from .contract.anywhere import anywhere
from .contract.atomic import atomic
from .contract.records import recorded
from .contract.resuming import resumable


@dataclass(frozen=True, kw_only=True)
class KMeansCertificate(Certificate):
    """What the clusters are worth, and what they cost.

    Attributes
    ----------
    status : str
        "converged" where no point is nearer to another centre, or a step gained less than `tol`;
        else the reason why not.
    plan : str
        How the kernel matrix was held, and why.
    kernel_entries : int
        Number of kernel values that were computed.
    bytes : int
        Bytes that the plan allocates beyond the inputs.
    seconds : float
        Time that the fit took.
    objective : float
        The sum of the weighted squared distances to the centres.
    least : float
        A lower bound of the same sum for the means of the clusters. It is the objective itself
        unless a matrix of low rank stands for K, and exact up to 20,000 points.
    rise : float
        Largest rise of the objective in any step, relative to the objective: rounding.
    starts : tuple of float
        Objectives of all starts; with a matrix of low rank, those of projections, and with few
        centres those of the points on which starts were made.
    iterations : int
        Number of steps of the best start.
    moves : int
        Number of times that points changed their cluster, in all starts.
    shift : float
        What had to be added to the diagonal of K for the objective to fall; 0 unless the kernel is
        not Mercer.
    rank : int
        Rank of the matrix that stands for K where K does not fit the memory limit, or number of
        centres in whose span the means lie; else 0.
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
    """K-means clustering in feature space.

    It minimises sum_i w_i ||phi(x_i) - c(i)||**2, where c(i) is the nearest centre, by Lloyd's
    algorithm: a centre is the mean of its points, so that ||phi(x) - c||**2 = k(x, x) - 2/n_c sum_j
    k(x, x_j) + ||c||**2 over the members j of the cluster. The objective falls with every step. An
    empty cluster gets the farthest point.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, at most the number of points with a positive weight.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    n_init : int, default=4
        Number of starts from different seedings, of which the best counts.
    max_iter : int, default=300
        Largest number of steps of a start.
    tol : float, default=0.0
        A start ends where a step lowers the objective by at most this share of it; 0 goes on until
        no point moves.
    n_centers : int, default=None
        Number of points in whose span centres are sought, by passes over the kernel values with
        these; all starts are then made on up to 20,000 points, drawn at random. None is all points
        where K fits. Of points in blocks where it does not, it is 10 sqrt(n), from 100 to 2,500.
    memory_limit : int or str, default="auto"
        Bytes that the fit may allocate, as a number or a text such as "2GB"; "auto" takes a share
        of the free memory. Where K does not fit, a matrix of low rank takes its place.
    time_limit : float, default=None
        Seconds after which the best solution so far is returned, with a warning.
    callback : callable, default=None
        Called with the record of each iteration; returning True stops the fit.
    n_jobs : int, default=None
        Number of threads; None uses all that are allowed, -1 one per processor.
    random_state : int, RandomState or Generator, default=None
        Seed of the seedings; None is a fixed seed.
    verbose : bool or int, default=False
        Whether to show progress on stderr.
    checkpoint : str, path or Checkpoint, default=None
        A file from which the same fit goes on if it is stopped or killed; see `mercer.Checkpoint`.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The cluster of each training point.
    inertia_ : float
        The objective.
    dual_coef_ : ndarray of shape (n_support, n_clusters)
        Coefficients of the centres: c = sum_i dual_coef_[i, c] phi(x_i) over the points of
        `support_`.
    squared_norms_ : ndarray of shape (n_clusters,)
        ||c||**2 of each centre.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the centres.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_iter_ : int
        Number of steps of the best start.
    certificate_ : KMeansCertificate
        What the clusters are worth, and what they cost.

    References
    ----------
    .. [1] I. Dhillon, Y. Guan, B. Kulis, "Kernel k-means, spectral clustering and normalized cuts",
       Conference on Knowledge Discovery and Data Mining (2004).

    Examples
    --------
    >>> from mercer import KernelKMeans
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> labels = KernelKMeans(2).fit(X).labels_
    >>> bool(labels[0] == labels[2] != labels[3] == labels[5])
    True
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
        kernel: KernelLike = None,
        *,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 0.0,
        n_centers: int | None = None,
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
        checkpoint: CheckpointLike = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_centers = n_centers
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint

    @atomic
    def fit(self, X: PointsLike, y: object = None, sample_weight: Weights = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 only gets a label. None is 1 for all.

        Returns
        -------
        KernelKMeans
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, weights or parameters are not what they must be.
        """
        self._find(X, sample_weight)
        return self

    @recorded
    def _find(self, X: Any, sample_weight: Any) -> Found:
        points = self._check_fit(X)
        weight = checks.sample_weight(type(self).__name__, sample_weight, len(points))
        with resumable(self, points, sample_weight=weight) as run:
            return self._find_in(run, points, weight)

    def _find_in(self, run: Run, points: Input, weight: Array | None) -> Found:
        who = run.who
        settings = self._settings(len(points) if weight is None else int((weight > 0).sum()))
        centers = self.n_centers
        if centers is not None:
            centers = checks.whole(who, "n_centers", centers, least=1)
        prepared = self._prepare(points, weight)
        with limited_threads(run.n_jobs, who):
            found = ClusterSearch(prepared, weight, run).find(settings, centers)
        self.labels_ = found.clusters.labels.astype(np.int32)
        self.inertia_, self.n_iter_ = found.objective, max(found.clusters.iterations, 1)
        self.dual_coef_, self.squared_norms_ = found.coefficients, found.clusters.squares
        self.support_ = found.support
        if found.centres is None:
            self._keep(self.support_)
        else:
            self._prepared = found.centres
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

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the cluster whose centre is nearest.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The clusters.
        """
        points = self._check_predict(X)
        products = self._cross_product(points, self.dual_coef_)
        return np.asarray((products - self.squared_norms_ / 2).argmax(axis=1).astype(np.int32))

    @anywhere
    def transform(self, X: PointsLike) -> Array:
        """Compute the distance in feature space of each point to each centre.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_clusters)
            The distances.
        """
        points = self._check_predict(X)
        return self._in_precision(np.sqrt(self._squared_distances(points)), points)

    @atomic
    def fit_predict(self, X: PointsLike, y: object = None, sample_weight: Weights = None) -> Array:
        """Find the clusters, and return the cluster of each training point.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 only gets a label. None is 1 for all.

        Returns
        -------
        ndarray of shape (n,)
            The clusters.
        """
        return self.fit(X, y, sample_weight).labels_

    @atomic
    def fit_transform(
        self, X: PointsLike, y: object = None, sample_weight: Weights = None
    ) -> Array:
        """Find the clusters, and return the distance of each training point to each centre.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point; a point of weight 0 only gets a label. None is 1 for all.

        Returns
        -------
        ndarray of shape (n, n_clusters)
            The distances.
        """
        found = self._find(X, sample_weight)
        if found.distances is None:
            return self.transform(X)
        return self._in_precision(np.sqrt(found.distances), self._prepared.points)

    def score(self, X: PointsLike, y: object = None, sample_weight: Weights = None) -> float:
        """Compute minus the objective on points.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.
        y : object, default=None
            Not used; present by scikit-learn's convention.
        sample_weight : float or array-like of shape (n,), default=None
            Weight of each point. None is 1 for all.

        Returns
        -------
        float
            Minus the sum of the weighted squared distances to the nearest centres.
        """
        nearest = self._squared_distances(X).min(axis=1)
        weight = checks.sample_weight(type(self).__name__, sample_weight, len(nearest))
        return -float(nearest.sum() if weight is None else weight @ nearest)

    def _squared_distances(self, X: Any) -> Array:
        points = self._check_predict(X)
        products = self._cross_product(points, self.dual_coef_)
        squares = self._prepared.diag(points)[:, None] - 2 * products + self.squared_norms_
        return np.asarray(np.maximum(squares, 0.0))
