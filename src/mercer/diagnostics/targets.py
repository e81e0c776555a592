"""How well a kernel fits a target, and kernel matrices about their mean."""

from __future__ import annotations

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence
from ..grams import gram
from ..kernels import Kernel
from ..typing import KernelLike, LabelsLike, MatrixLike, PointsLike, TargetsLike
from .validity import check_points


def center(K: MatrixLike) -> Array:
    """Centre a Gram matrix: H K H with H = I - 11'/n.

    It is the Gram matrix of phi(x) minus its mean over the points.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The Gram matrix.

    Returns
    -------
    ndarray of shape (n, n)
        The centred matrix, whose rows and columns sum to 0.

    Raises
    ------
    InputError
        If K is not square and finite.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller, "Nonlinear component analysis as a kernel
    eigenvalue
       problem", Neural Computation 10 (1998).

    Examples
    --------
    >>> from mercer import center
    >>> center([[1.0, 0.0], [0.0, 1.0]])
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    matrix = checks.square_matrix("center", K)
    rows = matrix.mean(axis=0, dtype=np.float64, keepdims=True)
    columns = matrix.mean(axis=1, dtype=np.float64, keepdims=True)
    return np.asarray(matrix - rows - columns + matrix.mean(dtype=np.float64))


def alignment(
    kernel: KernelLike | MatrixLike,
    y: TargetsLike | LabelsLike,
    X: PointsLike | None = None,
    *,
    centered: bool = True,
) -> float:
    """Compute how well a kernel matches a target: <K, L> / (||K|| ||L||), at most 1.

    L is y y' for numbers or two classes, and the matrix of pairs of the same class for several
    classes.

    Parameters
    ----------
    kernel : Kernel or array-like of shape (n, n)
        A kernel, or its Gram matrix.
    y : array-like of shape (n,) or (n, n)
        Numbers or classes, or the matrix L itself.
    X : array-like, sparse matrix, data frame or sequence of objects, default=None
        The points, with a kernel only.
    centered : bool, default=True
        Whether to centre both matrices first, as in [1]_. False is the original definition of
        Cristianini, Shawe-Taylor, Elisseeff and Kandola.

    Returns
    -------
    float
        The alignment.

    Raises
    ------
    InputError
        If K or L vanishes, such as that of a constant target, or shapes do not match.

    References
    ----------
    .. [1] C. Cortes, M. Mohri, A. Rostamizadeh, "Algorithms for learning kernels based on centered
       alignment", Journal of Machine Learning Research 13 (2012).

    Examples
    --------
    >>> from mercer import alignment
    >>> from mercer.kernels import Linear
    >>> round(alignment(Linear(), [-1, -1, 1, 1], [[-1.0], [-1.0], [1.0], [1.0]]), 6)
    1.0
    """
    check_points("alignment", kernel, X)
    K = gram(kernel, X).dense() if isinstance(kernel, Kernel) else kernel
    K = checks.square_matrix("alignment", K).astype(np.float64)
    L = _target(y, len(K))
    if centered:
        K, L = center(K), center(L)
    size = float(np.linalg.norm(K) * np.linalg.norm(L))
    if size == 0:
        raise InputError(
            sentence("alignment", "neither matrix may vanish", "a constant kernel or target")
        )
    return float((K * L).sum() / size)


def _target(y: TargetsLike | LabelsLike, n: int) -> Array:
    values = np.asarray(y)
    if values.ndim == 2 and values.shape == (n, n):
        return checks.square_matrix("alignment", values, "y").astype(np.float64)
    if values.shape != (n,):
        must = f"y must be {n} labels or numbers, or an {n} x {n} matrix"
        raise InputError(sentence("alignment", must, f"shape {values.shape}"))
    if values.dtype.kind in "fc":
        values = checks.vector("alignment", "y", values, n)
    classes, codes = np.unique(values, return_inverse=True)
    if len(classes) == 2:
        signs = 2.0 * codes - 1.0
        return np.outer(signs, signs)
    if values.dtype.kind == "f" and not np.all(values == np.round(values)):
        return np.outer(values, values)
    return np.asarray(codes[:, None] == codes[None, :], dtype=np.float64)
