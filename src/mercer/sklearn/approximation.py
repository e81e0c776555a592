"""Maps to few features: scikit-learn's samplers, with the waves and the roots by mercer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import sklearn.kernel_approximation
from scipy.linalg import lapack
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..checks import Array
from ..grams.maps.waves import PlainWaves
from ..inputs import Matrix
from ..monitor import Monitor
from .pairwise import is_table, pairwise_kernels
from .serving import log_fallback, pays

LEAST_OF_WAVES = 10_000  # features of all points, below which NumPy takes no longer
LEAST_OF_SINGLE = 300_000  # the same in single precision, where NumPy's cosine is quick
MOST_COLUMNS = 64  # up to which the engine is faster in single precision
LEAST_OF_ROOTS = 64  # basis points from which the eigenvectors are quicker than singular ones
CONDITION = 1e-9  # of a matrix whose root does not depend on how it is found
CLIPPED = 1e-12  # singular values that scikit-learn raises to this


class RBFSampler(sklearn.kernel_approximation.RBFSampler):  # type: ignore[misc]
    __doc__ = sklearn.kernel_approximation.RBFSampler.__doc__

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        points = validate_data(self, X, accept_sparse="csr", reset=False)
        if not self._is_served(points):
            return super().transform(X)
        count = len(self.random_offset_)
        waves = PlainWaves(
            rows=self.random_weights_.T.astype(np.float64),
            amplitudes=np.full(count, np.sqrt(2.0 / self.n_components)),
            phases=self.random_offset_.astype(np.float64),
            centre=np.zeros(points.shape[1]),
        )
        dtype = np.result_type(points.dtype, self.random_weights_.dtype)
        features = np.empty((len(points), count), dtype)
        waves.features(Matrix(points.astype(dtype, copy=False)), features, Monitor())
        return features

    def _is_served(self, X: Any) -> bool:
        if sp.issparse(X):
            log_fallback(self, "the points are sparse")
            return False
        work, single = len(X) * len(self.random_offset_), X.dtype == np.float32
        if single and X.shape[1] > MOST_COLUMNS:
            work = 0
        return pays(self, work, LEAST_OF_SINGLE if single else LEAST_OF_WAVES)


class Nystroem(sklearn.kernel_approximation.Nystroem):  # type: ignore[misc]
    __doc__ = sklearn.kernel_approximation.Nystroem.__doc__

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> Self:
        count = self.n_components
        if not is_table(X) or count > len(X) or not pays(self, count, LEAST_OF_ROOTS):
            return super().fit(X, y)  # type: ignore[no-any-return]
        X = validate_data(self, X, accept_sparse="csr")
        random = check_random_state(self.random_state)
        self.component_indices_ = random.permutation(X.shape[0])[:count]
        self.components_ = X[self.component_indices_]
        self.normalization_ = inverse_root(self._kernel(self.components_))
        self._n_features_out = count
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        if not (is_table(X) and isinstance(self.components_, np.ndarray)):
            log_fallback(self, "the points are neither arrays nor frames")
            return super().transform(X)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        return self._kernel(X, self.components_) @ self.normalization_.T

    def _kernel(self, X: Any, Y: Any = None) -> Array:
        options = {"filter_params": True, "n_jobs": self.n_jobs, **self._get_kernel_params()}
        K = pairwise_kernels(X, Y, metric=self.kernel, **options)
        return K.astype(np.result_type(K.dtype, np.float32), copy=False)


def inverse_root(K: Array) -> Array:
    """Return K**-1/2 of a kernel matrix, as its singular vectors give it.

    Where K is positive definite these are its eigenvectors, which are found sooner. Otherwise the
    signs of the small values matter.
    """
    if _is_well_conditioned(K):
        values, U = np.linalg.eigh(K)
        if values[0] > CLIPPED:
            return np.asarray((U / np.sqrt(values)) @ U.T)
    left, values, right = np.linalg.svd(K)
    return np.asarray((left / np.sqrt(np.maximum(values, CLIPPED))) @ right)


def _is_well_conditioned(K: Array) -> bool:
    if K.shape[0] != K.shape[1] or not np.array_equal(K, K.T):
        return False
    letter = "s" if K.dtype == np.float32 else "d"
    factor, failed = getattr(lapack, letter + "potrf")(K, lower=1)
    if failed:
        return False
    share, _ = getattr(lapack, letter + "pocon")(factor, np.abs(K).sum(axis=0).max(), uplo="L")
    return bool(share > max(CONDITION, 1e2 * np.finfo(K.dtype).eps))
