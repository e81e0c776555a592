"""Positive semi-definite matrices near those that are not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence
from ..linalg.blas import product
from ..linalg.eigen import eigh
from ..typing import MatrixLike


@dataclass(frozen=True)
class Repair:
    """A positive semi-definite matrix near the given one; `np.asarray(repair(K))` is the matrix.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        The matrix.
    method : str
        How it was found.
    change : float
        Frobenius norm of the difference to the given matrix.
    relative_change : float
        The same over the norm of the given matrix.
    min_eigenvalue : float
        Smallest eigenvalue of the given matrix.
    n_negative : int
        Number of its negative eigenvalues.
    """

    matrix: Array = field(repr=False)
    method: str
    change: float
    relative_change: float
    min_eigenvalue: float
    n_negative: int

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.matrix, dtype=dtype, copy=True if copy is None else copy)


def repair(K: MatrixLike, method: str = "clip") -> Repair:
    """Find a positive semi-definite matrix near a symmetric one.

    A matrix that is not symmetric is replaced by (K + K') / 2 first. K itself is left as it is.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The matrix.
    method : {"clip", "flip", "shift", "nearest"}, default="clip"
        "clip" sets negative eigenvalues to 0, which gives the nearest matrix in Frobenius norm.
        "flip" makes them positive. "shift" is K - lambda_min I, which keeps all entries off the
        diagonal. "nearest" is the nearest matrix that keeps the diagonal of K.

    Returns
    -------
    Repair
        The matrix, and how far it is from K.

    Raises
    ------
    InputError
        If K is not square and finite, or has a negative diagonal that is to be kept.

    See Also
    --------
    check_kernel : Whether a matrix needs a repair.

    References
    ----------
    .. [1] N. Higham, "Computing the nearest correlation matrix", IMA Journal of Numerical Analysis
    22
       (2002).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import repair
    >>> np.asarray(repair([[1.0, 2.0], [2.0, 1.0]]))
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    how = checks.one_of("repair", "method", method, ("clip", "flip", "shift", "nearest"))
    given = checks.square_matrix("repair", K).astype(np.float64)
    symmetric = (given + given.T) / 2
    values, vectors = eigh(symmetric)
    low = float(values[0]) if len(values) else 0.0
    if low >= 0:
        fixed = symmetric
    elif how == "clip":
        fixed = _compose(np.maximum(values, 0.0), vectors)
    elif how == "flip":
        fixed = _compose(np.abs(values), vectors)
    elif how == "shift":
        fixed = symmetric - low * np.eye(len(values))
    else:
        fixed = _nearest(symmetric)
    change = float(np.linalg.norm(fixed - given))
    size = float(np.linalg.norm(given))
    return Repair(fixed, how, change, change / size if size else 0.0, low, int((values < 0).sum()))


def _compose(values: Array, vectors: Array) -> Array:
    matrix = product(vectors * values, vectors.T)
    return np.asarray((matrix + matrix.T) / 2)


def _nearest(K: Array, steps: int = 1000, tol: float = 1e-10) -> Array:
    """Solves min ||M - K||_F over M positive semi-definite with diag(M) = diag(K).

    Alternating projections with Dykstra's correction.
    Returns the last positive semi-definite iterate, its diagonal set back by a congruence, which
    keeps it positive semi-definite.
    """
    diagonal = np.diag(K).copy()
    if np.any(diagonal < 0):
        index = int(np.argmin(diagonal))
        raise InputError(
            sentence(
                "repair",
                "a kept diagonal must not be negative",
                f"K[{index}, {index}] = {diagonal[index]:g}",
                'Use method="clip".',
            )
        )
    current, correction = K.copy(), np.zeros_like(K)
    size = np.linalg.norm(K)
    positive = K
    for _ in range(steps):
        moved = current - correction
        values, vectors = eigh(moved)
        positive = _compose(np.maximum(values, 0.0), vectors)
        correction = positive - moved
        current = positive.copy()
        np.fill_diagonal(current, diagonal)
        if np.linalg.norm(current - positive) <= tol * size:
            break
    found = np.diag(positive)
    scale = np.sqrt(np.divide(diagonal, found, out=np.zeros_like(found), where=found > 0))
    result = positive * np.outer(scale, scale)
    np.fill_diagonal(result, diagonal)
    return np.asarray(result)
