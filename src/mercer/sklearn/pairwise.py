"""Kernels and distances of all pairs of rows: scikit-learn's functions on mercer's engine.

Few pairs, sparse rows and parameters outside the Mercer kernels stay with scikit-learn's own code.
So do `linear_kernel`, `cosine_similarity` and `sigmoid_kernel`, where the engine is no faster.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

# By name, before a patch can change what the module answers.
from sklearn.metrics.pairwise import KERNEL_PARAMS, check_pairwise_arrays
from sklearn.metrics.pairwise import chi2_kernel as _chi2_kernel
from sklearn.metrics.pairwise import euclidean_distances as _euclidean_distances
from sklearn.metrics.pairwise import laplacian_kernel as _laplacian_kernel
from sklearn.metrics.pairwise import pairwise_kernels as _pairwise_kernels
from sklearn.metrics.pairwise import polynomial_kernel as _polynomial_kernel
from sklearn.metrics.pairwise import rbf_kernel as _rbf_kernel

from ..checks import Array
from ..typing import Numbers, PointsLike
from .serving import log_fallback, pays

if TYPE_CHECKING:
    from ..kernels import Kernel

__all__ = [
    "chi2_kernel",
    "euclidean_distances",
    "laplacian_kernel",
    "pairwise_kernels",
    "polynomial_kernel",
    "rbf_kernel",
]

FEWEST_PAIRS = 60_000  # below, preparing the engine takes as long as it saves
HIGHEST_DEGREE = 16  # powers are repeated products, as exact as NumPy's for few of them
# Rows are packed for the engine, which costs their number of values. Matrix products gain little
# on BLAS, so two collections must be this many times larger than wide for it to pay.
PACKING = 20


def rbf_kernel(X: PointsLike, Y: PointsLike | None = None, gamma: float | None = None) -> Array:
    """Return the Gaussian kernel exp(-gamma ||x - y||**2) of all pairs of rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The points of the rows.
    Y : array-like or sparse matrix of shape (m, d), default=None
        The points of the columns; None means X.
    gamma : float, default=None
        Inverse squared width, at least 0; None is 1 / d.

    Returns
    -------
    ndarray of shape (n, m)
        One value per pair, in float32 if both are float32.

    Examples
    --------
    >>> from mercer.sklearn import rbf_kernel
    >>> rbf_kernel([[0.0], [1.0]], gamma=0.5).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """
    if not (_is_above_zero(gamma) and _is_worth_it("rbf_kernel", X, Y, products=True)):
        return np.asarray(_rbf_kernel(X, Y, gamma=gamma))
    from ..kernels import Gaussian

    rows, columns = check_pairwise_arrays(X, Y)
    return _evaluate(Gaussian(_bandwidth(gamma, rows)), rows, columns, rows.dtype)


def laplacian_kernel(
    X: PointsLike, Y: PointsLike | None = None, gamma: float | None = None
) -> Array:
    """Return the Laplacian kernel exp(-gamma sum_c |x_c - y_c|) of all pairs of rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The points of the rows.
    Y : array-like or sparse matrix of shape (m, d), default=None
        The points of the columns; None means X.
    gamma : float, default=None
        Inverse width, above 0; None is 1 / d.

    Returns
    -------
    ndarray of shape (n, m)
        One value per pair, in float64.

    Examples
    --------
    >>> from mercer.sklearn import laplacian_kernel
    >>> laplacian_kernel([[0.0], [1.0]], gamma=0.5).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """
    if not (_is_above_zero(gamma) and _is_worth_it("laplacian_kernel", X, Y)):
        return np.asarray(_laplacian_kernel(X, Y, gamma=gamma))
    from ..kernels import Laplacian

    rows, columns = check_pairwise_arrays(X, Y)
    return _evaluate(Laplacian(_bandwidth(gamma, rows)), rows, columns, np.float64)


def polynomial_kernel(
    X: PointsLike,
    Y: PointsLike | None = None,
    degree: float = 3,
    gamma: float | None = None,
    coef0: float = 1,
) -> Array:
    """Return the polynomial kernel (gamma x.y + coef0)**degree of all pairs of rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The points of the rows.
    Y : array-like or sparse matrix of shape (m, d), default=None
        The points of the columns; None means X.
    degree : float, default=3
        The power, at least 1.
    gamma : float, default=None
        Factor of the dot product, at least 0; None is 1 / d.
    coef0 : float, default=1
        What is added to the dot product.

    Returns
    -------
    ndarray of shape (n, m)
        One value per pair, in float32 if both are float32.

    Examples
    --------
    >>> from mercer.sklearn import polynomial_kernel
    >>> polynomial_kernel([[1.0, 2.0]], [[3.0, 4.0]], degree=2, gamma=1.0)
    array([[144.]])
    """
    whole = isinstance(degree, Real) and degree in range(1, HIGHEST_DEGREE + 1)
    mercer = isinstance(coef0, Real) and 0 <= coef0 < np.inf and _is_above_zero(gamma)
    if not (whole and mercer and _is_worth_it("polynomial_kernel", X, Y, products=True)):
        return np.asarray(_polynomial_kernel(X, Y, degree=degree, gamma=gamma, coef0=coef0))
    from ..kernels import Polynomial

    rows, columns = check_pairwise_arrays(X, Y)
    kernel = Polynomial(int(degree), gamma=_bandwidth(gamma, rows), coef0=float(coef0))
    return _evaluate(kernel, rows, columns, rows.dtype, exact=False)


def chi2_kernel(X: PointsLike, Y: PointsLike | None = None, gamma: float = 1.0) -> Array:
    """Return the chi-squared kernel of all pairs of rows of non-negative numbers.

    k(x, y) = exp(-gamma sum_c (x_c - y_c)**2 / (x_c + y_c)), with 0 / 0 = 0.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The points of the rows.
    Y : array-like of shape (m, d), default=None
        The points of the columns; None means X.
    gamma : float, default=1.0
        Inverse width, above 0.

    Returns
    -------
    ndarray of shape (n, m)
        One value per pair, in float32 if both are float32.

    Examples
    --------
    >>> from mercer.sklearn import chi2_kernel
    >>> chi2_kernel([[1.0, 0.0]], [[0.0, 1.0]], gamma=0.5).round(3)
    array([[0.368]])
    """
    ready = gamma is not None and _is_above_zero(gamma)
    if not (ready and _is_worth_it("chi2_kernel", X, Y)):
        return np.asarray(_chi2_kernel(X, Y, gamma=gamma))
    from ..kernels import Chi2

    rows, columns = check_pairwise_arrays(X, Y, accept_sparse=False)
    if rows.min() < 0 or columns.min() < 0:
        return np.asarray(_chi2_kernel(X, Y, gamma=gamma))  # which says what is wrong
    return _evaluate(Chi2(float(gamma)), rows, columns, rows.dtype)


def euclidean_distances(
    X: PointsLike,
    Y: PointsLike | None = None,
    *,
    Y_norm_squared: Numbers | None = None,
    squared: bool = False,
    X_norm_squared: Numbers | None = None,
) -> Array:
    """Return the Euclidean distances of all pairs of rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The points of the rows.
    Y : array-like or sparse matrix of shape (m, d), default=None
        The points of the columns; None means X.
    Y_norm_squared : array-like of shape (m,), (m, 1) or (1, m), default=None
        The squared lengths of Y, where they are known.
    squared : bool, default=False
        Whether to return squared distances.
    X_norm_squared : array-like of shape (n,), (n, 1) or (1, n), default=None
        The squared lengths of X, where they are known.

    Returns
    -------
    ndarray of shape (n, m)
        One distance per pair, in float32 if both are float32; 0 from a row of X to itself.

    Examples
    --------
    >>> from mercer.sklearn import euclidean_distances
    >>> euclidean_distances([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """
    plain = X_norm_squared is None and Y_norm_squared is None and isinstance(squared, bool)
    if not (plain and _is_worth_it("euclidean_distances", X, Y, products=True)):
        norms = {"Y_norm_squared": Y_norm_squared, "X_norm_squared": X_norm_squared}
        return np.asarray(_euclidean_distances(X, Y, squared=squared, **norms))
    from .distances import Distance, SquaredDistance

    rows, columns = check_pairwise_arrays(X, Y)
    kernel = SquaredDistance() if squared else Distance()
    found = _evaluate(kernel, rows, columns, rows.dtype)
    if rows is columns:
        np.fill_diagonal(found, 0.0)
    return found


_BY_NAME: dict[str, Callable[..., Array]] = {
    "chi2": chi2_kernel,
    "laplacian": laplacian_kernel,
    "poly": polynomial_kernel,
    "polynomial": polynomial_kernel,
    "rbf": rbf_kernel,
}


def pairwise_kernels(
    X: PointsLike,
    Y: PointsLike | None = None,
    metric: Any = "linear",
    *,
    filter_params: bool = False,
    n_jobs: int | None = None,
    **kwds: Any,
) -> Array:
    """Return the kernel of a name, or any function of two rows, for all pairs of rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        The points of the rows, or the matrix itself if the metric is "precomputed".
    Y : array-like or sparse matrix of shape (m, d), default=None
        The points of the columns; None means X.
    metric : str or callable, default="linear"
        A name of `sklearn.metrics.pairwise.kernel_metrics`, "precomputed", or a function that
        takes two rows and returns a number.
    filter_params : bool, default=False
        Whether parameters that the kernel does not have are left out.
    n_jobs : int, default=None
        How many threads share the work of scikit-learn's own kernels and of functions; the engine
        has threads of its own.
    **kwds : object
        Parameters of the kernel.

    Returns
    -------
    ndarray of shape (n, m)
        One value per pair.

    Examples
    --------
    >>> from mercer.sklearn import pairwise_kernels
    >>> pairwise_kernels([[0.0], [1.0]], metric="rbf", gamma=0.5).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """
    ours = _BY_NAME.get(metric) if isinstance(metric, str) else None
    usual = isinstance(filter_params, bool) and (n_jobs is None or isinstance(n_jobs, Integral))
    if ours is None or not usual:
        options = {"filter_params": filter_params, "n_jobs": n_jobs}
        return np.asarray(_pairwise_kernels(X, Y, metric, **options, **kwds))
    if filter_params:
        kwds = {name: value for name, value in kwds.items() if name in KERNEL_PARAMS[metric]}
    return ours(X, Y, **kwds)


def is_table(points: object) -> bool:
    """Return whether points are an array or a frame: of other things scikit-learn knows more."""
    return isinstance(points, np.ndarray) or hasattr(points, "iloc")


def _is_above_zero(gamma: object) -> bool:
    return gamma is None or (isinstance(gamma, Real) and 0 < float(gamma) < np.inf)


def _is_worth_it(who: str, X: Any, Y: Any, *, products: bool = False) -> bool:
    """Return whether the engine takes these points and is faster; products: of pairs of rows."""
    other = X if Y is None else Y
    if not (is_table(X) and is_table(other)):
        log_fallback(who, "the points are neither arrays nor frames")
        return False
    if X.ndim != 2 or other.ndim != 2:
        return False  # scikit-learn says what is wrong
    pairs, rows = len(X) * len(other), len(X) + len(other)
    packing = PACKING * rows * X.shape[1] if products and other is not X else 0
    return pays(who, pairs, max(FEWEST_PAIRS, packing))


def _bandwidth(gamma: float | None, X: Array) -> float:
    return 1.0 / X.shape[1] if gamma is None else float(gamma)


def _evaluate(kernel: Kernel, X: Array, Y: Array, dtype: Any, *, exact: bool = True) -> Array:
    """Return K(X, Y); exact: calculate in double precision, as scikit-learn does for distances."""
    from ..grams.prepared import evaluate

    found = evaluate(kernel, X, None if Y is X else Y, np.float64 if exact else dtype)
    return found.astype(dtype, copy=False)
