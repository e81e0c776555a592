"""The Gram matrix as features, for estimators that take one."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from ..grams import Gram, Prepared
from ..models.base import Certificate
from ..models.contract.atomic import atomic
from ..models.contract.records import recorded
from ..run import Run
from ..status import Status
from ..typing import KernelLike, MemoryLimit, PointsLike
from .base import FeatureMap


class GramTransformer(FeatureMap):
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
       eigenvalue problem", Neural Computation 10 (1998), for the centring.

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
        self._fit(X)
        return self._rows(self._prepared.gram(memory_limit=self.memory_limit, store=False))

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

    def _learn(self, prepared: Prepared, run: Run) -> None:
        n = len(prepared)
        K = prepared.gram(memory_limit=self.memory_limit, store=False)
        self.column_means_ = np.zeros(n)
        if self.center:
            self.column_means_ = np.asarray(K @ np.full(n, 1.0 / n), dtype=np.float64)
        self.certificate_ = Certificate(
            status=Status.EXACT,
            plan=f"{K.plan.kind}: {K.plan.reason}" if self.center else "kept: no entry was needed",
            kernel_entries=n * n if self.center else 0,
            bytes=K.plan.bytes,
            seconds=run.seconds,
        )
        self._keep(np.arange(n))

    def _rows(self, K: Gram) -> Array:
        self._require_room(K.shape[0], K.dtype, beside=K.plan.bytes)
        rows = K.dense()
        if self.center:
            means = rows.mean(axis=1, dtype=np.float64, keepdims=True)
            rows -= means.astype(K.dtype)
            rows -= (self.column_means_ - self.column_means_.mean()).astype(K.dtype)
        return rows

    def _width(self) -> int:
        return len(self._prepared)
