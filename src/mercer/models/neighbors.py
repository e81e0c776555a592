"""Nearest neighbours in feature space."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from .. import checks
from ..checks import Array, InputError, sentence, show
from ..fitting.neighbours import Nearest, self_similarity
from ..grams import limited_threads
from ..inputs import Input
from ..status import Status
from .atomic import atomic
from .base import Certificate, KernelEstimator
from .records import recorded
from .targets import is_single


class _KernelNeighbors(KernelEstimator):
    """Keeps the training points and finds the nearest of them."""

    n_samples_fit_: int
    _diagonal: Array  # k(x, x) of every training point

    def __init__(
        self,
        n_neighbors: int = 5,
        kernel: Any = None,
        *,
        weights: Any = "uniform",
        memory_limit: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.weights = weights
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def _keep_points(self, points: Input, start: float) -> None:
        """Settle the kernel and keep the points with their k(x, x)."""
        who = type(self).__name__
        checks.memory_limit(who, self.memory_limit)
        self._check_weights()
        self._check_count(self.n_neighbors, len(points))
        self._prepare(points)
        self._keep(np.arange(len(points)))
        self._diagonal = self_similarity(self.kernel_, self._prepared.points)
        self.n_samples_fit_ = len(points)
        plan = "kept: new points are compared with all training points"
        seconds = time.perf_counter() - start
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
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return the distances to the nearest training points and their indices, nearest first.

        The distance is ||phi(x) - phi(y)|| = sqrt(k(x, x) - 2 k(x, y) + k(y, y)); ties go to the
        smaller index. X: None for the training points, each without itself. n_neighbors: None for
        that of the model. return_distance: False for the indices alone.
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
    """Assign the class that is most frequent among the nearest training points in feature space.

    ||phi(x) - phi(y)||**2 = k(x, x) - 2 k(x, y) + k(y, y). With a radial kernel, such as the
    Gaussian, these are the neighbours of ordinary distance; with others they need not be.

    Parameters
    ----------
    n_neighbors : how many neighbours vote
    kernel : None (Gaussian), a kernel, a scikit-learn kernel name, "precomputed" or fn(X, Y)
    weights : "uniform", "distance" (1 over the distance; where neighbours have distance 0, they
        alone count) or a function from distances to weights
    memory_limit : "auto", bytes or a text such as "2GB"
    n_jobs : native threads; None: as set for the process

    Attributes
    ----------
    classes_, kernel_ (resolved), n_samples_fit_, certificate_

    References
    ----------
    Cover, Hart, "Nearest neighbor pattern classification" (1967); distances in feature space:
    Shawe-Taylor, Cristianini, "Kernel Methods for Pattern Analysis" (2004), section 5.1.
    """

    classes_: Array
    _codes: Array  # the class number of every training point

    @atomic
    @recorded
    def fit(self, X: Any, y: Any) -> Self:
        """Keep the points and their classes."""
        start = time.perf_counter()
        points = self._check_fit(X)
        self.classes_, self._codes = self._check_labels(y, len(points))
        self._keep_points(points, start)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the share of every class among the neighbours, by weight."""
        columns, weights = self._vote(X)
        n, classes = len(columns), len(self.classes_)
        places = np.arange(n)[:, None] * classes + self._codes[columns]
        flat = None if weights is None else weights.ravel()
        votes = np.bincount(places.ravel(), flat, n * classes).reshape(n, classes)
        totals = votes.sum(axis=1, keepdims=True)
        return np.asarray(votes / np.where(totals == 0, 1.0, totals))

    def predict(self, X: Any) -> Array:
        """Return the class with the largest share; of several, the first in `classes_`."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])


class KernelNeighborsRegressor(MultiOutputMixin, RegressorMixin, _KernelNeighbors):  # type: ignore[misc]
    """Predict the mean target of the nearest training points in feature space.

    f(x) = sum_i w_i y_i / sum_i w_i over the n_neighbors points with the smallest
    ||phi(x) - phi(x_i)||**2 = k(x, x) - 2 k(x, x_i) + k(x_i, x_i).

    Parameters
    ----------
    n_neighbors : how many neighbours are averaged
    kernel : None (Gaussian), a kernel, a scikit-learn kernel name, "precomputed" or fn(X, Y)
    weights : "uniform", "distance" (1 over the distance; where neighbours have distance 0, they
        alone count) or a function from distances to weights
    memory_limit : "auto", bytes or a text such as "2GB"
    n_jobs : native threads; None: as set for the process

    Attributes
    ----------
    kernel_ (resolved), n_samples_fit_, certificate_

    References
    ----------
    Stone, "Consistent nonparametric regression" (1977).
    """

    _sizes: ClassVar[tuple[float, float]] = (0.0, 1e300)  # their sums are to be numbers
    _flat: bool  # y was a vector
    _targets: Array

    @atomic
    @recorded
    def fit(self, X: Any, y: Any) -> Self:
        """Keep the points and their targets, one number or one row a point."""
        start = time.perf_counter()
        points = self._check_fit(X)
        targets, self._flat = self._check_targets(y, len(points))
        self._targets = targets.astype(np.float32) if is_single(y) else targets
        self._keep_points(points, start)
        return self

    def predict(self, X: Any) -> Array:
        """Return the mean target of the neighbours, by weight."""
        columns, weights = self._vote(X)
        near = self._targets[columns]
        if weights is None:
            means = near.mean(axis=1, dtype=np.float64).astype(near.dtype)
        else:
            shares = weights / weights.sum(axis=1)[:, None]
            means = np.einsum("ij,ijc->ic", shares, near)
        return np.asarray(means[:, 0] if self._flat else means)
