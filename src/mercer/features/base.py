"""What all feature maps share: fitted on points, applied to others, within the limits of memory."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..checks import Array, InputError, MemoryLimitError, bytes_text, sentence
from ..grams import Prepared, limit_in_bytes, limited_threads
from ..grams.finite import is_finite, refuse
from ..grams.sides import Side, View
from ..inputs import Input, RowBlocks, is_elsewhere
from ..models.base import KernelEstimator
from ..models.contract.anywhere import anywhere
from ..models.contract.atomic import atomic
from ..models.contract.parameters import run_of
from ..models.contract.records import recorded
from ..run import Run
from ..typing import Numbers, PointsLike


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):  # type: ignore[misc]
    """A map phi to finitely many numbers whose dot products are a kernel, exactly or nearly.

    A map of a kind says what it learns from the training points (`_learn`, which sets `_prepared`
    to what new points are checked against, and `certificate_`), how many features there are
    (`_width`) and what they are (`_features`). One whose features are mostly 0 returns them as
    sparse rows instead (`_sparse_features`).
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
        self._fit(X)
        return self

    @anywhere
    def transform(self, X: PointsLike) -> Any:
        """Compute phi(x) of every point.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray or csr_array of shape (n, n_features)
            The features; in single precision where all points are.

        Raises
        ------
        InputError
            If the points are not of the kind that was fitted, or their features overflow.
        MemoryLimitError
            If the features do not fit `memory_limit`.
        """
        points = self._check_predict(X)
        blocks = points.blocks() if isinstance(points, RowBlocks) else iter((points,))
        with (
            limited_threads(getattr(self, "n_jobs", None), type(self).__name__),
            np.errstate(over="ignore", invalid="ignore"),  # checked at once
        ):
            if self._is_sparse(points):
                parts = [self._sparse_features(block) for block in blocks]
                found = parts[0] if len(parts) == 1 else scipy.sparse.vstack(parts, format="csr")
            else:
                dtype = self._dtype(points)
                self._require_room(len(points), dtype)
                found = np.empty((len(points), self._width()), dtype=dtype)
                start = 0
                for block in blocks:
                    self._features(block, found[start : start + len(block)])
                    start += len(block)
        if not is_finite(found.data if scipy.sparse.issparse(found) else found):
            refuse(self.kernel_, [points], found.dtype)
        return found

    @atomic
    @recorded
    def fit_transform(self, X: PointsLike, y: object = None) -> Any:
        """Fit to points, and compute phi(x) of each.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.

        Returns
        -------
        ndarray or csr_array of shape (n, n_features)
            The features; in single precision where all points are.

        Raises
        ------
        InputError
            If the points or parameters are not what they must be.
        MemoryLimitError
            If the features do not fit `memory_limit`.
        """
        known = self._fit(X)
        return self.transform(X) if known is None or is_elsewhere(X) else known

    def _fit(self, X: PointsLike) -> Array | None:
        points = self._check_fit(X)
        run = run_of(self)
        with limited_threads(run.n_jobs, run.who):
            return self._learn(self._prepare(points), run)

    @abstractmethod
    def _learn(self, prepared: Prepared, run: Run) -> Array | None:
        """Learn the map; prepared: the kernel, settled, with the training points.

        Returns the features of the training points where the fit has come by them.
        """

    @abstractmethod
    def _width(self) -> int:
        """Return the number of features."""

    def _features(self, points: Input, out: Array) -> None:
        """Write phi of checked points into `out`, one row per point."""
        raise NotImplementedError

    def _is_sparse(self, points: Input) -> bool:
        """Return whether the features of these points are sparse rows."""
        return False

    def _sparse_features(self, points: Input) -> Any:
        """Return phi of checked points as sparse rows."""
        raise NotImplementedError

    def _dtype(self, points: Input) -> np.dtype[Any]:
        """Return single precision where the training points and these are in it, else double."""
        return np.dtype(np.result_type(self._prepared.view.dtype, View(Side(points)).dtype))

    def _require_room(self, rows: int, dtype: np.dtype[Any], beside: int = 0) -> None:
        """Refuse features that do not fit the limit; beside: bytes that computing them takes."""
        who, need = type(self).__name__, rows * self._width() * dtype.itemsize + beside
        limit = limit_in_bytes(who, self.memory_limit)
        if need > limit:
            raise MemoryLimitError(
                f"{who}: the rows that are returned must fit memory_limit; {rows} x "
                f"{self._width()} numbers need {bytes_text(need)} in all, the limit is "
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


def coefficients_of(phi: FeatureMap, given: Numbers) -> Array:
    """Return one number per feature of a map, or a column of them per function, checked."""
    who, width = type(phi).__name__, phi._width()
    values = checks.floats(who, "coefficients", given)
    if values.ndim not in (1, 2) or len(values) != width:
        must = f"coefficients must have one row for each of the {width} features"
        raise InputError(sentence(who, must, f"shape {values.shape}"))
    return values.astype(np.float64)
