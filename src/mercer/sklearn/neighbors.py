"""Nearest neighbours of scikit-learn by brute force, with the search by mercer where it is faster.

For Euclidean distances of real rows scikit-learn's own search is as fast as matrix products, and
stays. City-block distances, and those of whole numbers, are ranked by the engine in single
precision; it leaves a few candidates, whose distances are then taken exactly. Where two of the
nearest are as far, or a point that is no candidate might be among them, scikit-learn's search
decides: its choice among equals is what programs have seen.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import sklearn
import sklearn.neighbors
from sklearn.metrics._pairwise_distances_reduction import ArgKmin, ArgKminClassMode
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils.validation import check_is_fitted, validate_data

from ..checks import Array, MercerError
from ..grams import prepare
from ..inputs import Matrix
from . import serving
from .distances import NEARNESS
from .pairwise import is_table
from .serving import log_fallback, pays

LEAST = 5e6  # pairs of points times columns, below which scikit-learn's own search is as fast
FEWEST_POINTS = 300  # below which a look at the first of them would cost too much
MOST_COLUMNS = 100  # of whole numbers, above which matrix products are faster
SPARE = 4  # candidates beyond the neighbours that are wanted
PROBE = 32  # points that tell how many have neighbours that are as far
MOST_TIES = 0.1  # share of points with such neighbours up to which the engine is the faster way
GATHERED = 1 << 18  # numbers of candidates that are compared together


class Searching:
    """Brute force among dense rows."""

    def kneighbors(
        self, X: Any = None, n_neighbors: Any = None, return_distance: bool = True
    ) -> Any:
        check_is_fitted(self)
        model: Any = self
        k = model.n_neighbors if n_neighbors is None else n_neighbors
        found = self._search(X, k)
        if found is None:
            return super().kneighbors(X, n_neighbors, return_distance)  # type: ignore[misc]
        return found if return_distance else found[1]

    def _search(self, X: Any, k: Any, strategy: str = "auto") -> tuple[Array, Array] | None:
        """Return distances and neighbours, or None where scikit-learn has to find them.

        strategy: how it would go through the points, on which its choice among equals depends.
        """
        model: Any = self
        if not self._is_served(X, k):
            return None
        X, Y = validate_data(model, X, reset=False, order="C"), model._fit_X
        metric = model.effective_metric_
        try:
            found = nearest(X[:PROBE], Y, k, metric)
            if not serving.ALWAYS and found[2].mean() > MOST_TIES:
                log_fallback(model, "many points have neighbours that are as far")
                return None
            if len(X) > PROBE:
                both = zip(found, nearest(X[PROBE:], Y, k, metric), strict=True)
                found = tuple(map(np.concatenate, both))
        except MercerError as error:  # of numbers that are too large
            log_fallback(model, str(error))
            return None
        distances, columns, unsure = found
        rows = np.flatnonzero(unsure)
        if len(rows) and ArgKmin.is_usable_for(X, Y, metric):
            strategy = strategy_for(X, Y) if strategy == "auto" else strategy
            options = {"metric": metric, "strategy": strategy, "return_distance": True}
            distances[rows], columns[rows] = ArgKmin.compute(X[rows], Y, k, **options)
        elif len(rows):
            distances[rows], columns[rows] = super().kneighbors(X[rows], k)  # type: ignore[misc]
        return distances, columns

    def _is_served(self, X: Any, k: Any) -> bool:
        """Return whether the engine can search, and is faster; say in the log why not."""
        model: Any = self
        Y, metric = model._fit_X, model.effective_metric_
        if not (model._fit_method == "brute" and isinstance(Y, np.ndarray) and is_table(X)):
            log_fallback(model, "the search is another than brute force among dense rows")
            return False
        whole = Y.dtype.kind in "iu" and (serving.ALWAYS or Y.shape[1] <= MOST_COLUMNS)
        if not (metric == "manhattan" or (metric == "euclidean" and whole)):
            log_fallback(model, "the search is by products of matrices, or by another metric")
            return False
        if X.ndim != 2 or not isinstance(k, Integral) or not 1 <= int(k) <= len(Y):
            return False  # scikit-learn says what is wrong
        return pays(model, 0 if len(X) < FEWEST_POINTS else len(X) * Y.size, LEAST)


class KNeighborsClassifier(Searching, sklearn.neighbors.KNeighborsClassifier):  # type: ignore[misc]
    __doc__ = sklearn.neighbors.KNeighborsClassifier.__doc__

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self, "_fit_method")
        single = self.weights == "uniform" and not self.outputs_2d_
        # scikit-learn then counts votes while it goes through the points in this way.
        counted = single and ArgKminClassMode.is_usable_for(X, self._fit_X, self.effective_metric_)
        found = self._search(X, self.n_neighbors, "parallel_on_X") if counted else None
        if found is None:
            return super().predict_proba(X)
        votes = np.zeros((len(found[1]), len(self.classes_)))
        rows = np.arange(len(votes))
        for labels in self._y[found[1]].T:
            votes[rows, labels] += 1.0
        return votes / self.n_neighbors


class KNeighborsRegressor(Searching, sklearn.neighbors.KNeighborsRegressor):  # type: ignore[misc]
    __doc__ = sklearn.neighbors.KNeighborsRegressor.__doc__


def nearest(X: Array, Y: Array, k: int, metric: str) -> tuple[Array, ...]:
    """Return distances to the k nearest rows of Y, their numbers, and which rows of X are unsure.

    An unsure one has neighbours whose order rounding decides, or perhaps one that was not found.
    """
    nearness, power = NEARNESS[metric]
    centre = Y.mean(axis=0, dtype=np.float64)
    near, far = ((rows - centre).astype(np.float32) for rows in (X, Y))
    count = min(len(Y), k + SPARE)
    columns, best, _ = prepare(nearness, Matrix(far)).top(Matrix(near), count, None, "auto")
    exact = powers_of_distances(X, Y, columns, power)
    order = np.lexsort((columns, exact), axis=1)
    columns, exact = (np.take_along_axis(both, order, axis=1) for both in (columns, exact))
    gaps = np.diff(exact[:, : k + 1], axis=1).min(axis=1, initial=np.inf)
    precision = np.float32 if X.dtype == np.float32 else np.float64  # in which scikit-learn sums
    unsure = gaps <= rounding(X, Y, power, precision)
    if count < len(Y):
        unsure |= exact[:, k - 1] >= -best[:, -1] - rounding(near, far, power, np.float32)
    found = exact[:, :k]
    return np.sqrt(found) if power == 2 else found, columns[:, :k].astype(np.intp), unsure


def powers_of_distances(X: Array, Y: Array, columns: Array, power: int) -> Array:
    """Return sum_c |x_c - y_c|**power of every row of X and the rows of Y with its numbers."""
    found = np.empty(columns.shape)
    step = max(1, GATHERED // (columns.shape[1] * X.shape[1]))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        apart = Y[columns[rows]].astype(np.float64) - X[rows, None]
        found[rows] = (np.abs(apart) if power == 1 else apart**2).sum(axis=2)
    return found


def rounding(X: Array, Y: Array, power: int, dtype: Any) -> Array:
    """Return how far off powers of distances may be that are calculated in a precision."""
    sizes, largest = ((np.abs(rows.astype(np.float64)) ** power).sum(axis=1) for rows in (X, Y))
    return np.asarray(2 * (X.shape[1] + 4) * np.finfo(dtype).eps * (sizes + largest.max()))


def strategy_for(X: Array, Y: Array) -> str:
    """Return how scikit-learn goes through points and those that are searched."""
    chunk, n = sklearn.get_config()["pairwise_dist_chunk_size"], len(X)
    along_x = len(Y) < n or 4 * chunk * _openmp_effective_n_threads() < n
    return "parallel_on_X" if along_x else "parallel_on_Y"
