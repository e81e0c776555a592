"""Kernel ridge regression of scikit-learn, solved and evaluated by mercer.

scikit-learn's own code takes a double-precision factor of all of K. Here the factor of a large K is
in single precision, and its solution is refined until it is as exact; where a kernel is the product
of few features, K is not made at all; and predictions are summed while K is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp
import sklearn.kernel_ridge
from scipy.linalg import LinAlgWarning, blas, lapack
from sklearn.base import _fit_context
from sklearn.linear_model._ridge import _solve_cholesky_kernel
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..checks import Array, MercerError
from ..grams import prepare
from ..kernels import Kernel, to_kernel
from ..linalg.cholesky import DenseCholesky, NotPositiveDefinite, TileCholesky, dense_bands
from ..monitor import Monitor, warn
from .pairwise import FEWEST_PAIRS, HIGHEST_DEGREE, PACKING, pairwise_kernels
from .serving import log_fallback

SINGLE_FROM = 700  # rows from which a single-precision factor and its refinement are faster
SINGLE_CONDITION = 1e7  # of K + alpha I, beyond which such a factor is hardly refined
REFINEMENTS = 10
NARROW = 2  # rows for each feature from which on the features are the quicker way
ONE_BY_ONE = 4  # columns up to which a product for each is faster
SPARSE = 10  # times as many pairs must there be for the engine to pay, of sparse rows

Apply = Callable[[Array], Array]


# --- kernels and products ---------------------------------------------------------------------

# Kernels that are dot products of rows, and of which rows.
DOT_PRODUCTS: dict[str, Callable[[Any], Any]] = {"linear": lambda X: X, "cosine": normalize}
# Kernels that no product of matrices gives, where the engine is always faster.
SUMS = ("chi2", "laplacian")


def kernel_of(name: Any, gamma: float | None, degree: float, coef0: float) -> Kernel | None:
    """Return the kernel of a name of scikit-learn's, or None where it is not served."""
    if not isinstance(name, str) or name in ("sigmoid", "precomputed"):
        return None  # a tanh is no Mercer kernel
    if name == "chi2" and gamma is None:
        return None
    if name in ("poly", "polynomial") and degree not in range(1, HIGHEST_DEGREE + 1):
        return None
    try:
        return to_kernel(name, gamma=gamma, degree=int(degree), coef0=coef0)
    except MercerError:  # of parameters that make it no Mercer kernel
        return None


def kernel_times(model: Any, gamma: float | None, X: Any, Y: Any, V: Array) -> Array:
    """Return K(X, Y) V of a model's kernel, without K where that is faster."""
    found = _streamed(model, gamma, X, Y, V)
    if isinstance(found, str):
        log_fallback(model, found)
        return np.asarray(np.dot(model._get_kernel(X, Y), V))
    return found


def _streamed(model: Any, gamma: float | None, X: Any, Y: Any, V: Array) -> Array | str:
    """Return K(X, Y) V, or the reason why it is not computed like this."""
    name, n, m = model.kernel, X.shape[0], Y.shape[0]
    if not isinstance(name, str):
        return "the kernel is a function"
    if name in DOT_PRODUCTS:
        if (n + m) * (V.size // m) > n * m:
            return "K costs less than products with the points"
        return _products(DOT_PRODUCTS[name], X, Y, V)
    packed = (n + m) * X.shape[1]
    fewest = FEWEST_PAIRS * (SPARSE if sp.issparse(X) or sp.issparse(Y) else 1)
    if n * m < fewest or (name not in SUMS and n * m < PACKING * packed):
        return "there are few pairs, or many columns"
    kernel = kernel_of(name, gamma, model.degree, model.coef0)
    if kernel is None:
        return f"the kernel {name!r} is not served with these parameters"
    X, Y = check_pairwise_arrays(X, Y)
    dtype = np.result_type(X.dtype, V.dtype)
    # In double precision, as scikit-learn takes distances, whatever the points are in.
    X, Y, V = (values.astype(np.float64, copy=False) for values in (X, Y, V))
    try:
        found = prepare(kernel, Y).times(kernel.admit(X), V)
    except MercerError as error:  # of values too large, or negative where none may be
        return str(error)
    return found.astype(dtype, copy=False)


def _products(rows: Callable[[Any], Any], X: Any, Y: Any, V: Array) -> Array:
    """Return the same for dot products of rows."""
    X, Y = check_pairwise_arrays(X, Y)
    inside = safe_sparse_dot(rows(Y).T, V, dense_output=True)
    found = np.asarray(safe_sparse_dot(rows(X), inside, dense_output=True))
    return found.astype(np.result_type(X.dtype, V.dtype), copy=False)


def narrow_features(kernel: Kernel | None, X: Any) -> Any:
    """Return Z with K = Z Z', dense or sparse, where it is much narrower than K; otherwise None."""
    n, columns = X.shape
    if kernel is None or not kernel.has_map():
        return None
    if NARROW * columns ** getattr(kernel, "degree", 1) > n:
        return None
    try:
        prepared = prepare(kernel, X.astype(np.float64, copy=False))
        width = prepared.map_width()
        if width is None or NARROW * width > n:
            return None
        ((_, Z),) = prepared.map_bands(at_once=n)
    except MercerError:  # of numbers that are too large
        return None
    return Z


# --- systems ----------------------------------------------------------------------------------


class Factor(Protocol):
    """What solves a system of equations, perhaps with few digits."""

    def solve(self, B: Array) -> Array: ...


class Woodbury:
    """(Z Z' + alpha I)**-1 from the factor of Z'Z + alpha I, which is smaller; Z may be sparse."""

    def __init__(self, Z: Any, moments: Array, alpha: float) -> None:
        self.Z, self.alpha = Z, alpha
        self.inner = DenseCholesky(moments, np.float64, alpha)

    def solve(self, B: Array) -> Array:
        """Return (Z Z' + alpha I)**-1 B."""
        inside = self.inner.solve(safe_sparse_dot(self.Z.T, B, dense_output=True))
        return np.asarray((B - safe_sparse_dot(self.Z, inside, dense_output=True)) / self.alpha)


def refined(apply: Apply, size: float, factor: Factor, B: Array) -> Array | None:
    """Return A**-1 B as exact as a factor in double precision gives it; None if it gets not there.

    apply: V -> A V. size: about the norm of A. factor: of A, with fewer digits.
    """
    X, before = factor.solve(B).astype(np.float64, copy=False), np.inf
    allowed = size * np.finfo(np.float64).eps
    for _ in range(REFINEMENTS):
        left = B - apply(X)
        error = float((np.linalg.norm(left, axis=0) - allowed * np.linalg.norm(X, axis=0)).max())
        if error <= 0:
            return X
        if not error < before / 2:
            return None
        X, before = X + factor.solve(left), error
    return None


def solve_features(Z: Any, alpha: float, B: Array) -> Array | None:
    """Return (Z Z' + alpha I)**-1 B, or None where digits were lost."""
    moments = safe_sparse_dot(Z.T, Z, dense_output=True)

    def apply(V: Array) -> Array:
        inside = safe_sparse_dot(Z.T, V, dense_output=True)
        return np.asarray(safe_sparse_dot(Z, inside, dense_output=True) + alpha * V)

    try:
        factor = Woodbury(Z, moments, alpha)
    except NotPositiveDefinite:
        return None
    return refined(apply, float(np.linalg.norm(moments)) + alpha, factor, B)


def solve_dense(K: Array, alpha: float, B: Array) -> Array | None:
    """Return (K + alpha I)**-1 B in the precision of both, or None where there is no factor.

    As in scikit-learn, the half of K on and above the diagonal counts.
    """
    dtype = np.result_type(K, B, np.float32)
    K, B = np.ascontiguousarray(K, dtype=dtype), B.astype(dtype, copy=False)
    if dtype == np.float64 and len(K) >= SINGLE_FROM:
        found = _solve_in_single(K, alpha, B)
        if found is not None:
            return found
    try:
        factor = DenseCholesky(K.T, dtype, alpha)
    except NotPositiveDefinite:
        return None
    _warn_of_condition(K.T, alpha, factor)
    found = factor.solve(B)
    return found if np.isfinite(found).all() else None


def _solve_in_single(K: Array, alpha: float, B: Array) -> Array | None:
    size = float(blas.dnrm2(K.ravel())) + alpha
    if not size <= SINGLE_CONDITION * alpha:
        return None

    def apply(V: Array) -> Array:
        if V.shape[1] > ONE_BY_ONE:
            return np.asarray(blas.dsymm(1.0, K.T, V, lower=1) + alpha * V)
        return np.column_stack([blas.dsymv(1.0, K.T, v, lower=1) for v in V.T]) + alpha * V

    try:
        factor = TileCholesky(dense_bands(K), np.float32, Monitor(), alpha)
    except NotPositiveDefinite:
        return None
    return refined(apply, size, factor, B)


def _warn_of_condition(K: Array, alpha: float, factor: DenseCholesky) -> None:
    """Warn as SciPy does where the solution has no digits."""
    letter = "s" if K.dtype == np.float32 else "d"
    norm = getattr(lapack, letter + "lange")("1", K) + alpha
    share, _ = getattr(lapack, letter + "pocon")(factor.factor, norm, uplo="L")
    if share < np.finfo(K.dtype).eps:
        message = f"The matrix is ill-conditioned (rcond = {share:.2g}): it may have no solution."
        warn(message, LinAlgWarning)


# --- the estimator ----------------------------------------------------------------------------


class KernelRidge(sklearn.kernel_ridge.KernelRidge):  # type: ignore[misc]
    __doc__ = sklearn.kernel_ridge.KernelRidge.__doc__

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @wraps(sklearn.kernel_ridge.KernelRidge.fit)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        X, y = validate_data(
            self, X, y, accept_sparse=("csr", "csc"), multi_output=True, y_numeric=True
        )
        if sample_weight is not None and not isinstance(sample_weight, float):
            sample_weight = _check_sample_weight(sample_weight, X)
        B, roots = y.reshape(len(y), -1), None
        if sample_weight is not None:
            roots = np.sqrt(np.atleast_1d(sample_weight))[:, None]
            B = B * roots
        found = self._solve(X, B, roots)
        if roots is not None:
            found = found * roots
        self.dual_coef_ = found.ravel() if y.ndim == 1 else found
        self.X_fit_ = X
        return self

    @wraps(sklearn.kernel_ridge.KernelRidge.predict)
    def predict(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), reset=False)
        return kernel_times(self, self.gamma, X, self.X_fit_, self.dual_coef_)

    def _get_kernel(self, X: Any, Y: Any = None) -> Any:
        if callable(self.kernel):
            return super()._get_kernel(X, Y)
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **params)

    def _solve(self, X: Any, B: Array, roots: Array | None) -> Array:
        """Return C with (S K S + alpha I) C = B; roots: the diagonal of S, None for ones."""
        alpha, found = np.atleast_1d(self.alpha), None
        one = float(alpha[0]) if (alpha == alpha[0]).all() else None
        if one:
            found = self._solve_by_features(X, one, B, roots)
        if found is not None:
            return found
        K = self._get_kernel(X)
        if roots is not None:
            K = K.copy() if self.kernel == "precomputed" else K
            K *= roots
            K *= roots.T
        if one is not None and isinstance(K, np.ndarray):
            found = solve_dense(K, one, B)
        if found is None:
            log_fallback(self, "there is a penalty for each target, or no Cholesky factor")
            found = _solve_cholesky_kernel(K, B, alpha, None, self.kernel == "precomputed")
        return np.asarray(found)

    def _solve_by_features(
        self, X: Any, alpha: float, B: Array, roots: Array | None
    ) -> Array | None:
        kernel = kernel_of(self.kernel, self.gamma, self.degree, self.coef0)
        Z = narrow_features(kernel, X)
        if Z is None:
            return None
        if roots is not None:
            Z = sp.csr_array(Z.multiply(roots)) if sp.issparse(Z) else Z * roots
        found = solve_features(Z, alpha, B)
        both_single = X.dtype == B.dtype == np.float32
        return found if found is None or not both_single else found.astype(np.float32)
