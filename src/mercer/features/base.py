"""What all feature maps share: fitted on points, applied to others, within the limits of memory."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..checks import Array, MemoryLimitError, bytes_text
from ..grams import Prepared, limit_in_bytes
from ..grams.threads import limited_threads
from ..inputs import Input, RowBlocks
from ..models.base import KernelEstimator
from ..models.contract.atomic import atomic
from ..models.contract.parameters import run_of
from ..models.contract.records import recorded
from ..run import Run
from ..typing import PointsLike


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):  # type: ignore[misc]
    """A map phi to finitely many numbers whose dot products are a kernel, exactly or nearly.

    A map of a kind says what it learns from the training points (`_learn`, which sets `_prepared`
    to what new points are checked against, and `certificate_`), how many features there are
    (`_width`) and what they are (`_features`).
    """

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: object = None) -> Self:
        """Settle the kernel on the points, and what the map needs to know of them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.

        Returns
        -------
        FeatureMap
            The fitted map itself.

        Raises
        ------
        InputError
            If the points or parameters are not what they must be.
        """
        points, run = self._check_fit(X), run_of(self)
        with limited_threads(run.n_jobs, run.who):
            self._learn(self._prepare(points), run)
        return self

    @atomic
    def fit_transform(self, X: PointsLike, y: object = None) -> Array:
        """Settle the map on the points, and compute their features.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.

        Returns
        -------
        ndarray of shape (n, n_features)
            The features.

        Raises
        ------
        MemoryLimitError
            If the features do not fit `memory_limit`.
        """
        return self.fit(X, y).transform(X)

    def transform(self, X: PointsLike) -> Array:
        """Compute phi(x) of every point.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_features)
            The features, dense; in single precision where all points are.

        Raises
        ------
        MemoryLimitError
            If the features do not fit `memory_limit`.
        """
        points = self._check_predict(X)
        dtype = self._dtype(points)
        self._require_room(len(points), dtype)
        out = np.empty((len(points), self._width()), dtype=dtype)
        start = 0
        for block in points.blocks() if isinstance(points, RowBlocks) else (points,):
            self._features(block, out[start : start + len(block)])
            start += len(block)
        return out

    @abstractmethod
    def _learn(self, prepared: Prepared, run: Run) -> None:
        """Learn the map; prepared: the kernel, settled, with the training points."""

    @abstractmethod
    def _width(self) -> int:
        """Return the number of features."""

    @abstractmethod
    def _features(self, points: Input, out: Array) -> None:
        """Write phi of checked points into `out`, one row per point."""

    def _dtype(self, points: Input) -> np.dtype[Any]:
        """Return single precision where the training points and these are in it, else double."""
        fitted, new = self._prepared.view.dtype, getattr(points, "dtype", np.dtype(np.float64))
        return np.dtype(np.result_type(fitted, new))

    def _require_room(self, rows: int, dtype: np.dtype[Any]) -> None:
        who, need = type(self).__name__, rows * self._width() * dtype.itemsize
        limit = limit_in_bytes(who, self.memory_limit)
        if need > limit:
            raise MemoryLimitError(
                f"{who}: the features that are returned must fit memory_limit; {rows} x "
                f"{self._width()} numbers need {bytes_text(need)}, the limit is "
                f"{bytes_text(limit)}. Raise memory_limit, or transform fewer points at a time."
            )

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return self._width()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
