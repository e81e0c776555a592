"""Nearest neighbours in feature space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from .. import checks
from ..checks import Array, InputError, sentence, show
from ..fitting.neighbours import Nearest, self_similarity
from ..grams import limited_threads
from ..inputs import Input
from ..run import Run
from ..status import Status
from ..typing import KernelLike, LabelsLike, MemoryLimit, PointsLike, TargetsLike
from .base import Certificate, KernelEstimator
from .contract.anywhere import anywhere
from .contract.atomic import atomic
from .contract.parameters import run_of
from .contract.records import recorded
from .contract.targets import as_classes, is_single, numbers_of


class _KernelNeighbors(KernelEstimator):
    """Keeps the training points and finds the nearest of them."""

    n_samples_fit_: int
    _diagonal: Array  # k(x, x) of every training point
    weights: Any

    def __init__(
        self,
        n_neighbors: int = 5,
        kernel: KernelLike = None,
        *,
        weights: str | Callable[[Array], Array] = "uniform",
        memory_limit: MemoryLimit = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.weights = weights
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def _keep_points(self, points: Input, run: Run) -> None:
        """Settle the kernel and keep the points with their k(x, x)."""
        self._check_weights()
        self._check_count(self.n_neighbors, len(points))
        self._prepare(points)
        self._keep(np.arange(len(points)))
        self._diagonal = self_similarity(self.kernel_, self._prepared.points)
        self.n_samples_fit_ = len(points)
        plan = "kept: new points are compared with all training points"
        seconds = run.seconds
        self.certificate_ = Certificate(
            status=Status.EXACT,
            plan=plan,
            kernel_entries=len(points),
            bytes=self._diagonal.nbytes,
            seconds=seconds,
        )

    def _check_weights(self) -> None:
        known = isinstance(self.weights, str) and self.weights in ("uniform", "distance")
        if not (known or callable(self.weights)):
            must = "weights must be 'uniform', 'distance' or a function of the distances"
            advice = checks.nearest(self.weights, ("uniform", "distance"))
            raise InputError(sentence(type(self).__name__, must, show(self.weights), advice))

    def _check_count(self, count: Any, n: int, own: bool = False) -> int:
        who, most = type(self).__name__, n - own
        k = checks.whole(who, "n_neighbors", count, least=1)
        if k > most:
            must = f"n_neighbors must be at most {most}, the number of points to choose from"
            got = f"{k} with n_samples = {n}"
            raise InputError(sentence(who, must, got, "Lower n_neighbors, or fit more points."))
        return k

    def kneighbors(
        self,
        X: PointsLike | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Find the nearest training points.

        The distance is ||phi(x) - phi(y)|| = sqrt(k(x, x) - 2 k(x, y) + k(y, y)); ties go to the
        smaller index.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects, default=None
            The n points, of the kind that was fitted. None takes the training points, each without
            itself.
        n_neighbors : int, default=None
            Number of neighbours; None is that of the model.
        return_distance : bool, default=True
            Whether to return the distances as well.

        Returns
        -------
        distances : ndarray of shape (n, n_neighbors)
            The distances, smallest first; only with `return_distance`.
        indices : ndarray of shape (n, n_neighbors)
            Indices of the neighbours among the training points.

        Raises
        ------
        InputError
            If there are fewer points than neighbours.
        """
        self._require_fit()
        points = None if X is None else self._check_predict(X)
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        k = self._check_count(count, self.n_samples_fit_, own=X is None)
        with limited_threads(self.n_jobs, type(self).__name__):
            search = Nearest(self._prepared, self._diagonal, self.memory_limit)
            columns, values = search.find(points, k)
            if not return_distance:
                return columns
            return self._distances(points, columns, values), columns

    def _distances(self, points: Input | None, columns: Array, values: Array) -> Array:
        theirs = self._diagonal[columns]
        own = self._diagonal if points is None else self_similarity(self.kernel_, points)
        sizes = own[:, None] + theirs
        squares = sizes - 2.0 * values
        # What rounding explains is 0: an equal point must have no distance.
        squares[squares <= 8 * np.finfo(np.float64).eps * np.abs(sizes)] = 0.0
        return np.asarray(np.sqrt(squares))

    def _vote(self, X: Any) -> tuple[Array, Array | None]:
        """Return the neighbours of every point, and their weights; None: all the same."""
        self._check_weights()
        if isinstance(self.weights, str) and self.weights == "uniform":
            return self.kneighbors(X, return_distance=False), None
        distances, columns = self.kneighbors(X)
        if callable(self.weights):
            return columns, self._given_weights(distances)
        with np.errstate(divide="ignore"):
            weights = 1.0 / distances
        met = np.isinf(weights)
        here = met.any(axis=1)
        weights[here] = met[here]  # points at no distance outweigh all others
        return columns, weights

    def _given_weights(self, distances: Array) -> Array:
        found = np.asarray(self.weights(distances), dtype=np.float64)
        if found.shape != distances.shape:
            must = f"weights must return one number a distance, shape {distances.shape}"
            raise InputError(sentence(type(self).__name__, must, f"shape {found.shape}"))
        return found


class KernelNeighborsClassifier(ClassifierMixin, _KernelNeighbors):  # type: ignore[misc]
    """Classification by the nearest neighbours in feature space.

    The class that is most frequent among the `n_neighbors` training points with the smallest
    ||phi(x) - phi(x_i)||**2 = k(x, x) - 2 k(x, x_i) + k(x_i, x_i) wins. With a radial kernel, such
    as the Gaussian, these are the neighbours of ordinary distance; with others they need not be.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours that vote.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    weights : {"uniform", "distance"} or callable, default="uniform"
        Weights of the votes. "distance" is 1 over the distance; where neighbours have distance 0,
        they alone count. A function takes the array of distances and returns weights of its shape.
    memory_limit : int or str, default="auto"
        Bytes that a search for neighbours may allocate, as a number or a text such as "2GB"; "auto"
        takes a share of the free memory.
    n_jobs : int, default=None
        Number of threads; None uses all that are allowed, -1 one per processor.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_samples_fit_ : int
        Number of training points.
    certificate_ : Certificate
        What the fit cost.

    See Also
    --------
    KernelPrototypeClassifier : Classification by the nearest class mean.

    References
    ----------
    .. [1] T. Cover, P. Hart, "Nearest neighbor pattern classification", IEEE Transactions on
       Information Theory 13 (1967).
    .. [2] J. Shawe-Taylor, N. Cristianini, "Kernel methods for pattern analysis", Cambridge
       University Press (2004), section 5.1, for distances in feature space.

    Examples
    --------
    >>> from mercer import KernelNeighborsClassifier
    >>> from mercer.kernels import Spectrum
    >>> words = ["banana", "bananas", "ananas", "cherry", "cherries", "sherry"]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> model = KernelNeighborsClassifier(3, Spectrum(2).normalized()).fit(words, y)
    >>> model.predict(["bandana", "cheery"]).tolist()
    [0, 1]
    """

    classes_: Array
    _codes: Array  # the class number of every training point

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: LabelsLike) -> Self:
        """Keep the points and their classes.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,)
            The class of each point.

        Returns
        -------
        KernelNeighborsClassifier
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, classes or parameters are not what they must be.
        """
        points = self._check_fit(X)
        run = run_of(self)
        self.classes_, self._codes = as_classes(type(self).__name__, y, len(points))
        self._keep_points(points, run)
        return self

    @anywhere
    def predict_proba(self, X: PointsLike) -> Array:
        """Compute the share of each class among the neighbours, by weight.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The shares.
        """
        columns, weights = self._vote(X)
        n, classes = len(columns), len(self.classes_)
        places = np.arange(n)[:, None] * classes + self._codes[columns]
        flat = None if weights is None else weights.ravel()
        votes = np.bincount(places.ravel(), flat, n * classes).reshape(n, classes)
        totals = votes.sum(axis=1, keepdims=True)
        return np.asarray(votes / np.where(totals == 0, 1.0, totals))

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the class with the largest share; among equals, the first in `classes_`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The classes.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])


class KernelNeighborsRegressor(MultiOutputMixin, RegressorMixin, _KernelNeighbors):  # type: ignore[misc]
    """Regression by the nearest neighbours in feature space.

    f(x) = sum_i w_i y_i / sum_i w_i over the `n_neighbors` training points with the smallest
    ||phi(x) - phi(x_i)||**2 = k(x, x) - 2 k(x, x_i) + k(x_i, x_i).

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours that are averaged.
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    weights : {"uniform", "distance"} or callable, default="uniform"
        Weights of the neighbours. "distance" is 1 over the distance; where neighbours have distance
        0, they alone count. A function takes the array of distances and returns weights of its
        shape.
    memory_limit : int or str, default="auto"
        Bytes that a search for neighbours may allocate, as a number or a text such as "2GB"; "auto"
        takes a share of the free memory.
    n_jobs : int, default=None
        Number of threads; None uses all that are allowed, -1 one per processor.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    n_samples_fit_ : int
        Number of training points.
    certificate_ : Certificate
        What the fit cost.

    References
    ----------
    .. [1] C. Stone, "Consistent nonparametric regression", Annals of Statistics 5 (1977).

    Examples
    --------
    >>> from mercer import KernelNeighborsRegressor
    >>> model = KernelNeighborsRegressor(2).fit([[0.0], [1.0], [2.0]], [0.0, 10.0, 20.0])
    >>> model.predict([[0.4], [1.6]])
    array([ 5., 15.])
    """

    _sizes: ClassVar[tuple[float, float]] = (0.0, 1e300)  # their sums are to be numbers
    _flat: bool  # y was a vector
    _targets: Array

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: TargetsLike) -> Self:
        """Keep the points and their targets.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : array-like of shape (n,) or (n, n_outputs)
            The numbers to predict.

        Returns
        -------
        KernelNeighborsRegressor
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, targets or parameters are not what they must be.
        """
        points = self._check_fit(X)
        run = run_of(self)
        targets, self._flat = numbers_of(self, y, len(points))
        self._targets = targets.astype(np.float32) if is_single(y) else targets
        self._keep_points(points, run)
        return self

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the mean target of the neighbours, by weight.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
            The means.
        """
        columns, weights = self._vote(X)
        near = self._targets[columns]
        if weights is None:
            means = near.mean(axis=1, dtype=np.float64).astype(near.dtype)
        else:
            shares = weights / weights.sum(axis=1)[:, None]
            means = np.einsum("ij,ijc->ic", shares, near)
        return np.asarray(means[:, 0] if self._flat else means)
