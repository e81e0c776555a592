"""K-means in feature space."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..checks import Array, InputError, KernelError, MemoryLimitError, bytes_text, sentence
from ..grams import Gram, Prepared, limit_in_bytes, limited_threads, partial_cholesky, prepare
from ..grams.pivots import AT_ONCE
from ..kernels import Precomputed
from ..linalg.blas import product, solve_lower
from ..monitor import Monitor, Stopped, to_stderr, warn
from ..solvers.kmeans import Clusters, Factor, KernelMeans
from ..status import Status
from ..typing import Callback, KernelLike, MemoryLimit, PointsLike, Seed, Weights
from .atomic import atomic
from .base import Certificate, KernelEstimator
from .records import recorded

RANK = 1000  # columns of K that stand for all of it where it does not fit
EXACT = 20_000  # points up to which a pass over K, computed anew, takes seconds
ROWS = 500_000_000  # bytes of rows that are kept beside K in any case, if they fit


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
        Objectives of all starts; with a matrix of low rank, those of projections.
    iterations : int
        Number of steps of the best start.
    moves : int
        Number of times that points changed their cluster, in all starts.
    shift : float
        What had to be added to the diagonal of K for the objective to fall; 0 unless the kernel is
        not Mercer.
    rank : int
        Rank of the matrix that stands for K where K does not fit the memory limit, else 0.
    """

    objective: float
    least: float
    rise: float
    starts: tuple[float, ...]
    iterations: int
    moves: int
    shift: float
    rank: int


@dataclass(frozen=True, kw_only=True)
class Found:
    """Clusters with their centres, sum_i coefficients[i, c] phi(x_i) over the points of `support`.

    least, rank: as in the certificate. distances: squared, of the points to the centres.
    """

    clusters: Clusters
    support: Array
    coefficients: Array
    distances: Array
    objective: float
    least: float
    plan: str
    entries: int
    bytes: int
    rank: int = 0


class ClusterSearch:
    """Makes a Gram matrix that fits, exact or of low rank, and finds clusters with it."""

    def __init__(
        self, who: str, prepared: Prepared, weight: Array | None, memory_limit: Any, seed: int
    ) -> None:
        self.who, self.prepared = who, prepared
        self.n = len(prepared)
        self.weight = np.ones(self.n) if weight is None else weight
        self.limit = limit_in_bytes(who, memory_limit)
        self.random = np.random.default_rng(seed)

    def run(self, settings: KernelMeans, monitor: Monitor) -> Found:
        """Return the best clusters; a stop before there were any leaves centres drawn by chance."""
        room = max(self.limit - self._beside(settings), 1)
        try:
            K, plan, size = self._whole(room, monitor)
            if K is None:
                return self._by_factor(settings, room, monitor)
            found = self._exact(K, plan, size, settings, monitor)
        except Stopped as stop:
            found = self._by_chance(settings.n_clusters, stop.reason)
        return found

    def _beside(self, settings: KernelMeans) -> int:
        """Return the bytes needed beside K: the sums, and what becomes of them."""
        return 6 * settings.n_clusters * self.n * 8

    def _whole(self, room: int, monitor: Monitor) -> tuple[Gram | None, str, int]:
        """Return K, kept or cheap to multiply with, why so, its bytes; None: it does not fit."""
        options: dict[str, Any] = {"memory_limit": room, "monitor": monitor}
        tries: list[dict[str, Any]] = [{}, {"store": "half", "dtype": np.float32}]
        for extra in tries:
            try:
                K = self.prepared.gram(**options, **extra)
            except (MemoryLimitError, KernelError):
                continue
            if K.plan.kind == "half stored":  # kept from the first pass on
                K = self.prepared.gram(**options, store="half", dtype=K.dtype)
            if K.plan.kind == "row blocks" and 8 * self.n**2 <= room:
                K = prepare(Precomputed(), K.dense()).gram(**options)
                return K, "stored: the points arrive in blocks, K fits", 8 * self.n**2
            if K.plan.kind not in ("on the fly", "row blocks"):
                return K, f"{K.plan.kind}: {K.plan.reason}", K.plan.bytes
        return None, "", 0

    def _exact(
        self, K: Gram, plan: str, size: int, settings: KernelMeans, monitor: Monitor
    ) -> Found:
        size += self._beside(settings)
        if K.plan.kind not in ("low rank", "sparse features"):  # there, products cost little
            each = self.n * K.dtype.itemsize
            most = min(self.n, max(self.n // 4, ROWS // each))
            settings = replace(settings, room=min(most, max(self.limit - size, 0) // each))
            size += settings.room * each
        found = settings.solve(K, self.weight, self.random, monitor)
        support = np.flatnonzero(self.weight)
        labels = found.labels[support]
        coefficients = np.zeros((len(support), settings.n_clusters))
        coefficients[np.arange(len(support)), labels] = self.weight[support] / found.totals[labels]
        return Found(
            clusters=found,
            support=support,
            coefficients=coefficients,
            distances=found.distances,
            objective=found.objective,
            least=found.objective,
            plan=plan,
            entries=self.n**2,
            bytes=size,
        )

    def _by_factor(self, settings: KernelMeans, room: int, monitor: Monitor) -> Found:
        """Find clusters of the projections of phi(x) on a span of columns of K.

        |phi(x) - c|**2 is then known for every c in the span: the part off it is the same for all.
        """
        rank = self._rank(room)
        K = self.prepared.gram(memory_limit=room, monitor=monitor, store=False)
        factor = partial_cholesky(K, rank, self.random, dtype=np.float64)
        T = factor.values
        found = settings.solve(Factor(T), self.weight, self.random, monitor)
        means = np.zeros((self.n, settings.n_clusters))
        means[np.arange(self.n), found.labels] = self.weight / found.totals[found.labels]
        upper = T[:, factor.pivots]
        coefficients = solve_lower(upper.T, product(T, means), transposed=True)
        lost = float(self.weight @ factor.remaining)
        count = len(factor.pivots)
        plan = f"low rank, {count} columns: K does not fit {bytes_text(self.limit)}"
        return Found(
            clusters=found,
            support=factor.pivots,
            coefficients=coefficients,
            distances=found.distances + factor.remaining[:, None],
            objective=found.objective + lost,
            least=self._least(found, means, room - T.nbytes, monitor),
            plan=plan,
            entries=count * self.n + (self.n**2 if self.n <= EXACT else 0),
            bytes=T.nbytes + self._beside(settings),
            rank=count,
        )

    def _least(self, found: Clusters, means: Array, room: int, monitor: Monitor) -> float:
        """Return the objective of the means themselves; where that takes long, of projections."""
        if self.n > EXACT:
            return found.objective
        try:
            K = self.prepared.gram(memory_limit=max(room, 1), monitor=monitor, store=False)
            squares = np.einsum("ij,ij->j", means, K @ means)
        except (Stopped, MemoryLimitError):
            return found.objective
        return float(self.weight @ K.diag() - found.totals @ squares)

    def _rank(self, room: int) -> int:
        """Return how many columns fit, with those that are proposed at a time."""
        columns = room // (8 * self.n)
        rank = min(self.n, RANK, max(columns - 4 * AT_ONCE, columns // 8))
        if rank < 1:
            need = 16 * 8 * self.n
            raise MemoryLimitError(
                f"{self.who}: a few columns of K must fit memory_limit; they need "
                f"{bytes_text(need)} beside the clusters, the limit is {bytes_text(self.limit)}. "
                "Raise it."
            )
        return int(rank)

    def _by_chance(self, k: int, reason: Status) -> Found:
        """Return clusters about k points that are drawn, for which k columns of K will do."""
        drawn = self.random.permutation(np.flatnonzero(self.weight))[:k]
        cross = self.prepared.take(drawn).gram(self.prepared.points, store=False).dense()
        diagonal = self.prepared.diag()
        squares = diagonal[drawn]
        distances = np.maximum(diagonal[:, None] - 2.0 * cross + squares, 0.0)
        distances[drawn, np.arange(k)] = 0.0
        labels = distances.argmin(axis=1)
        labels[drawn] = np.arange(k)
        objective = float(self.weight @ distances.min(axis=1))
        totals = np.bincount(labels, self.weight, k)
        clusters = Clusters(
            labels=labels,
            totals=totals,
            squares=squares,
            distances=distances,
            objective=objective,
            status=reason,
            iterations=0,
            moves=0,
            rise=0.0,
            shift=0.0,
            starts=(objective,),
        )
        plan = f"{k} points drawn by chance: stopped at once"
        entries = k * self.n
        return Found(
            clusters=clusters,
            support=drawn,
            coefficients=np.eye(k),
            distances=distances,
            objective=objective,
            least=0.0,
            plan=plan,
            entries=entries,
            bytes=8 * entries,
        )


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
        memory_limit: MemoryLimit = "auto",
        time_limit: float | None = None,
        callback: Callback = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool | int = False,
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
        start = time.monotonic()
        who = type(self).__name__
        points = self._check_fit(X)
        weight = checks.sample_weight(who, sample_weight, len(points))
        settings = self._settings(len(points) if weight is None else int((weight > 0).sum()))
        limit = self.time_limit
        limit = None if limit is None else checks.number(who, "time_limit", limit, above=0)
        monitor = Monitor(limit, to_stderr(who) if self.verbose else None, self.callback)
        prepared = self._prepare(points, weight)
        with limited_threads(self.n_jobs, who):
            search = ClusterSearch(who, prepared, weight, self.memory_limit, self._seed())
            found = search.run(settings, monitor)
        self.labels_ = found.clusters.labels.astype(np.int32)
        self.inertia_, self.n_iter_ = found.objective, max(found.clusters.iterations, 1)
        self.dual_coef_, self.squared_norms_ = found.coefficients, found.clusters.squares
        self.support_ = found.support
        self._keep(self.support_)
        self._certify(found, time.monotonic() - start)
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

    def _certify(self, found: Found, seconds: float) -> None:
        clusters = found.clusters
        self.certificate_ = KMeansCertificate(
            status=clusters.status,
            plan=found.plan,
            kernel_entries=found.entries,
            bytes=found.bytes,
            seconds=seconds,
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
                type(self).__name__,
                "points must stop moving between clusters",
                f"{clusters.status} after {clusters.iterations} steps",
                clusters.status.advice("clusters"),
            )
            warn(text, ConvergenceWarning)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return int(self.dual_coef_.shape[1])

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
        products = self._cross_product(X, self.dual_coef_)
        return np.asarray((products - self.squared_norms_ / 2).argmax(axis=1).astype(np.int32))

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
