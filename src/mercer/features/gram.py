"""The Gram matrix as features, for estimators that take one."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..checks import Array, MemoryLimitError, bytes_text
from ..grams import Gram, limit_in_bytes
from ..models.base import Certificate, KernelEstimator
from ..models.contract.atomic import atomic
from ..models.contract.parameters import run_of
from ..models.contract.records import recorded
from ..status import Status
from ..typing import KernelLike, MemoryLimit, PointsLike


class GramTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):  # type: ignore[misc]
    """Turn points into rows of the Gram matrix: x becomes (k(x, x_1), …, k(x, x_n)).

    With `center=True` phi is taken around the mean of the training points,
    k(x, x_i) - 1/n sum_j k(x, x_j) - 1/n sum_j k(x_j, x_i) + 1/n**2 sum_jl k(x_j, x_l).
    In a pipeline it hands points of any kind to an estimator with kernel="precomputed". Since the
    points themselves are split, cross-validation works as usual.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=None
        A kernel, a scikit-learn name such as "rbf", "precomputed", or a function of two sets of
        points that returns their Gram matrix. None is `Gaussian()`.
    center : bool, default=False
        Whether to take phi around its mean.
    memory_limit : int or str, default="auto"
        Bytes that may be allocated, the rows that are returned among them, as a number or a text
        such as "2GB"; "auto" takes a share of the free memory.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters settled on the training points.
    column_means_ : ndarray of shape (n,)
        1/n sum_j k(x_j, x_i) of each training point; zeros with `center=False`.
    certificate_ : Certificate
        What the fit cost.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller, "Nonlinear component analysis as a kernel
    eigenvalue
       problem", Neural Computation 10 (1998), for the centring.

    Examples
    --------
    >>> from mercer.features import GramTransformer
    >>> from mercer.kernels import Spectrum
    >>> GramTransformer(Spectrum(1)).fit_transform(["ab", "bb"])
    array([[2., 2.],
           [2., 4.]])
    """

    column_means_: Array

    def __init__(
        self, kernel: KernelLike = None, *, center: bool = False, memory_limit: MemoryLimit = "auto"
    ) -> None:
        self.kernel = kernel
        self.center = center
        self.memory_limit = memory_limit

    @atomic
    @recorded
    def fit(self, X: PointsLike, y: object = None) -> Self:
        """Keep the points, and the means if phi is to be centred.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.

        Returns
        -------
        GramTransformer
            The fitted estimator itself.

        Raises
        ------
        InputError
            If the points, weights or parameters are not what they must be.
        """
        points = self._check_fit(X)
        run = run_of(self)
        n = len(points)
        K = self._prepare(points).gram(memory_limit=self.memory_limit, store=False)
        self.column_means_ = np.zeros(n)
        if self.center:
            self.column_means_ = np.asarray(K @ np.full(n, 1.0 / n), dtype=np.float64)
        plan = f"{K.plan.kind}: {K.plan.reason}" if self.center else "kept: no entry was needed"
        entries = n * n if self.center else 0
        self.certificate_ = Certificate(
            status=Status.EXACT,
            plan=plan,
            kernel_entries=entries,
            bytes=K.plan.bytes,
            seconds=run.seconds,
        )
        self._keep(np.arange(n))
        return self

    def transform(self, X: PointsLike) -> Array:
        """Compute K(X, training points).

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The m points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (m, n)
            The rows, dense.

        Raises
        ------
        MemoryLimitError
            If the rows do not fit `memory_limit`.
        """
        return self._rows(self._cross_gram(X))

    @atomic
    def fit_transform(self, X: PointsLike, y: object = None) -> Array:
        """Keep the points, and compute K of the training points.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n training points, of a kind that the kernel takes.
        y : object, default=None
            Not used; present by scikit-learn's convention.

        Returns
        -------
        ndarray of shape (n, n)
            The matrix, dense and symmetric.

        Raises
        ------
        MemoryLimitError
            If the matrix does not fit `memory_limit`.
        """
        self.fit(X, y)
        return self._rows(self._prepared.gram(memory_limit=self.memory_limit, store=False))

    def _rows(self, K: Gram) -> Array:
        limit = limit_in_bytes(type(self).__name__, self.memory_limit)
        need = K.shape[0] * K.shape[1] * K.dtype.itemsize + K.plan.bytes
        if need > limit:
            raise MemoryLimitError(
                f"{type(self).__name__}: the rows that are returned must fit memory_limit; "
                f"{K.shape[0]} x {K.shape[1]} numbers need {bytes_text(need)} in all, the limit is "
                f"{bytes_text(limit)}. Raise memory_limit, or transform fewer points at a time."
            )
        rows = K.dense()
        if self.center:
            means = rows.mean(axis=1, dtype=np.float64, keepdims=True)
            rows -= means.astype(K.dtype)
            rows -= (self.column_means_ - self.column_means_.mean()).astype(K.dtype)
        return rows

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return len(self._prepared)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
