"""Kernel PCA of scikit-learn, with its eigenvectors and projections by mercer.

Where a kernel is the product of few features, the eigenvectors come from the moments of these and K
is never made. Otherwise ARPACK passes over half of K only, and LAPACK is left alone. New points are
projected while their kernel values are computed, and pre-images are learnt with quick factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import sklearn.decomposition
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils._arpack import _init_arpack_v0
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import _check_psd_eigenvalues, check_is_fitted, validate_data

from ..checks import Array
from .pairwise import pairwise_kernels
from .ridge import DOT_PRODUCTS, kernel_of, kernel_times, narrow_features, solve_dense
from .serving import pays

FEWEST, MANY = 200, 10  # points and components that make "auto" mean ARPACK, and LAPACK
LEAST_OF_ARPACK = 1000  # points, below which half of K is no quicker to pass over than all of it
LEAST_OF_FEATURES = 100  # points, below which decomposing K takes no time
KNOWN, NOTHING = 1e-9, 1e-13  # shares of the largest eigenvalue: of safe ones, and of rounding
AT_ONCE = 8  # components up to which projections are summed while K is computed


@dataclass(frozen=True)
class Decomposed:
    """What is known of K without making it: its means, its eigenpairs when centred, falling."""

    means: Array
    values: Array
    vectors: Array


class KernelPCA(sklearn.decomposition.KernelPCA):  # type: ignore[misc]
    __doc__ = sklearn.decomposition.KernelPCA.__doc__

    # --- fit --------------------------------------------------------------------------------

    def _get_kernel(self, X: Any, Y: Any = None) -> Any:
        """Return K(X, Y); of the points of a fit perhaps what stands in its place."""
        found = self._decomposed(X) if Y is None else None
        return self._matrix(X, Y) if found is None else found

    def _matrix(self, X: Any, Y: Any = None) -> Any:
        if callable(self.kernel):
            return super()._get_kernel(X, Y)
        params = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        options = {"filter_params": True, "n_jobs": self.n_jobs, **params}
        return pairwise_kernels(X, Y, metric=self.kernel, **options)

    def _decomposed(self, X: Any) -> Decomposed | None:
        """Return the decomposition of K by few features; None where it has to be made."""
        exact = isinstance(X, np.ndarray) and X.dtype == np.float64 and not callable(self.kernel)
        approached = self.tol or self.max_iter is not None or self.eigen_solver == "randomized"
        if not exact or approached or not pays(self, len(X), LEAST_OF_FEATURES):
            return None
        count = self._count(len(X))
        if count is None and self.eigen_solver == "arpack":
            return None  # which refuses to find all
        kernel = kernel_of(self.kernel, self.gamma_, self.degree, self.coef0)
        Z = narrow_features(kernel, X)
        return None if Z is None or sp.issparse(Z) else decomposed(Z, count)

    def _count(self, n: int) -> int | None:
        """Return how many components there are to be; None means all that are not nothing."""
        if self.n_components is None or (self.remove_zero_eig and self.n_components >= n):
            return None
        return min(n, int(self.n_components))

    def _fit_transform_in_place(self, K: Any) -> Any:
        if isinstance(K, Decomposed):
            self._centerer.K_fit_rows_ = K.means
            self._centerer.K_fit_all_ = K.means.mean()
            self._centerer.n_features_in_ = len(K.means)
            values, vectors = K.values, K.vectors
        elif self._passes_half(K):
            K = self._centerer.fit(K).transform(K, copy=False)
            start = _init_arpack_v0(len(K), self.random_state)
            options = {"tol": self.tol, "maxiter": self.max_iter, "v0": start}
            values, vectors = eigsh(_half(K), self._count(len(K)), which="LA", **options)
        else:
            return super()._fit_transform_in_place(K)
        values = _check_psd_eigenvalues(values, enable_warnings=False)
        vectors, _ = svd_flip(u=vectors, v=None)
        order = values.argsort()[::-1]
        if self.remove_zero_eig or self.n_components is None:
            order = order[values[order] > 0]
        self.eigenvalues_, self.eigenvectors_ = values[order], vectors[:, order]
        return K

    def _passes_half(self, K: Any) -> bool:
        """Return whether ARPACK is asked for, of a matrix of which half tells all."""
        n, solver = K.shape[0], self.eigen_solver
        count = self._count(n)
        if count is None or count >= n or callable(self.kernel) or self.kernel == "precomputed":
            return False
        if solver == "arpack" or (solver == "auto" and n > FEWEST and count < MANY):
            return pays(self, n, LEAST_OF_ARPACK)
        return False

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        self.fit(X, **params)
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def _fit_inverse_transform(self, X_transformed: Array, X: Any) -> None:
        if sp.issparse(X):
            super()._fit_inverse_transform(X_transformed, X)  # says that it cannot be
        K = self._matrix(X_transformed)
        found = solve_dense(K, self.alpha, X)
        if found is None:
            K.flat[:: len(K) + 1] += self.alpha
            found = scipy.linalg.solve(K, X, assume_a="pos", overwrite_a=True)
        self.dual_coef_, self.X_transformed_fit_ = found, X_transformed

    # --- answers ----------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        if callable(self.kernel) or self.kernel == "precomputed":
            return super().transform(X)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        roots = np.sqrt(self.eigenvalues_)
        A = np.where(roots > 0, self.eigenvectors_ / np.where(roots > 0, roots, 1.0), 0.0)
        means = np.full((len(A), 1), 1.0 / len(A), dtype=A.dtype)
        products = self._products(X, np.hstack([A, means]))
        shift = products[:, -1:] - self._centerer.K_fit_all_
        return products[:, :-1] - self._centerer.K_fit_rows_ @ A - shift * A.sum(axis=0)

    def _products(self, X: Any, V: Array) -> Array:
        """Return K(X, points of the fit) V, of which V is of many columns or of few."""
        if V.shape[1] <= AT_ONCE or self.kernel in DOT_PRODUCTS:
            return kernel_times(self, self.gamma_, X, self.X_fit_, V)
        return np.asarray(self._matrix(X, self.X_fit_) @ V)

    def inverse_transform(self, X: Any) -> Any:
        if not self.fit_inverse_transform or not isinstance(X, np.ndarray) or callable(self.kernel):
            return super().inverse_transform(X)
        return kernel_times(self, self.gamma_, X, self.X_transformed_fit_, self.dual_coef_)


def decomposed(Z: Array, count: int | None) -> Decomposed | None:
    """Return the largest eigenpairs of Z Z' when centred, from the moments of Z.

    None where one that is wanted is so small that the moments tell too little of it, or is 0.
    """
    centre = Z.mean(axis=0)
    means = Z @ centre
    Z = Z - centre
    values, E = np.linalg.eigh(Z.T @ Z)
    values, E = values[::-1], E[:, ::-1]
    known = int((values > KNOWN * values[0]).sum())
    if count is None:
        count = known if (values[known:] <= NOTHING * values[0]).all() else known + 1
    if not 0 < count <= known:
        return None
    values = values[:count]
    return Decomposed(means=means, values=values, vectors=Z @ (E[:, :count] / np.sqrt(values)))


def _half(K: Array) -> LinearOperator:
    """Return products with K, of which one triangle is read."""
    multiply = scipy.linalg.get_blas_funcs("symv", (K,))
    return LinearOperator(K.shape, lambda v: multiply(1.0, K.T, v, lower=1), dtype=K.dtype)
