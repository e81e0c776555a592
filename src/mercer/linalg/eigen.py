"""Eigenvalues of dense symmetric matrices that Ctrl-C and a monitor can stop at any size."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..checks import Array, InputError, sentence
from ..monitor import Monitor
from .blas import product
from .divide import divide
from .tridiagonal import Tridiagonal

SMALL = 800  # rows up to which one call of LAPACK takes less than some 100 ms
ORTHOGONAL = 1e-13  # what inner products of few vectors may be off by
FEW = 200_000  # numbers in the vectors of three diagonals up to which that is so


def eigh(
    A: Array, monitor: Monitor | None = None, count: int | None = None, overwrite: bool = False
) -> tuple[Array, Array]:
    """Return eigenvalues of a symmetric matrix, ascending, and their vectors as columns.

    In double precision. Up to 800 rows LAPACK does it; above that the matrix is reduced to three
    diagonals in panels and those are solved by divide and conquer, each step short, so that the
    monitor and Ctrl-C end it at once.
    count: only so many, the largest ones. overwrite: whether A may be used as room to work in.
    """
    n = len(A)
    count = n if count is None else count
    if count == 0:
        return np.zeros(0), np.zeros((n, 0))
    if n <= SMALL:
        _check(A)
        return _by_lapack(A, count)
    reduced, scale = _reduced(A, monitor, overwrite)
    parts = reduced.diagonal / scale, reduced.beside / scale
    found = _few(*parts, count) if n * count <= FEW else None
    values, vectors = divide(*parts, count, reduced.monitor) if found is None else found
    return values[-count:] * scale, reduced.turn(vectors)


def eigh_of_each(matrices: Array) -> tuple[Array, Array]:
    """Return what `eigh` returns, for several matrices of one size."""
    if matrices.shape[-1] <= SMALL or len(matrices) == 0:
        values, vectors = np.linalg.eigh(matrices)
        return values, vectors
    found = [eigh(matrix) for matrix in matrices]
    return np.stack([one for one, _ in found]), np.stack([one for _, one in found])


def extreme_eigenvalues(
    A: Array, monitor: Monitor | None = None, overwrite: bool = False
) -> tuple[float, float]:
    """Return the smallest and the largest eigenvalue of a symmetric matrix, with at least a row."""
    n = len(A)
    if n <= SMALL:
        _check(A)
        values = scipy.linalg.eigvalsh(_columns(A), driver="evd", check_finite=False)
        return float(values[0]), float(values[-1])
    reduced, scale = _reduced(A, monitor, overwrite)
    parts = reduced.diagonal / scale, reduced.beside / scale
    low, high = (
        float(scipy.linalg.eigvalsh_tridiagonal(*parts, select="i", select_range=(i, i))[0])
        for i in (0, n - 1)
    )
    return low * scale, high * scale


def _by_lapack(A: Array, count: int) -> tuple[Array, Array]:
    n, columns = len(A), _columns(A)
    if 0 < count < n:
        wanted = [n - count, n - 1]
        values, vectors = scipy.linalg.eigh(columns, subset_by_index=wanted, check_finite=False)
        if len(values) == count:  # of many equal ones some may be lost
            return values, vectors
    values, vectors = scipy.linalg.eigh(columns, driver="evd", check_finite=False)
    return values[n - count :], vectors[:, n - count :]


def _few(diagonal: Array, beside: Array, count: int) -> tuple[Array, Array] | None:
    """Return the `count` largest eigenvalues, ascending, and their vectors.

    By bisection and inverse iteration: quick, but not of as many digits where values are many times
    the same; None then.
    """
    n = len(diagonal)
    wanted = {"select": "i", "select_range": (n - count, n - 1), "lapack_driver": "stebz"}
    try:
        values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside, **wanted)
    except scipy.linalg.LinAlgError:
        return None
    orthogonal = np.abs(product(vectors.T, vectors) - np.eye(len(values))).max() <= ORTHOGONAL
    return (values, vectors) if orthogonal and len(values) == count else None


def _reduced(A: Array, monitor: Monitor | None, overwrite: bool) -> tuple[Tridiagonal, float]:
    """Return the matrix in three diagonals, and a power of two that is about as large as those."""
    reduced = Tridiagonal(_columns(A), Monitor() if monitor is None else monitor, overwrite)
    parts = np.concatenate([reduced.diagonal, reduced.beside])
    _check(parts)
    return reduced, float(np.exp2(np.frexp(max(np.abs(parts).max(), 1e-300))[1] - 1))


def _columns(A: Array) -> Array:
    """Return the matrix, or its transpose, which is the same, as LAPACK takes it without a copy."""
    wide = A.astype(np.float64, copy=False)
    return wide.T if wide.flags.c_contiguous else wide


def _check(numbers: Array) -> None:
    if not np.isfinite(numbers).all():
        must = "a matrix must be finite to have eigenvalues"
        raise InputError(sentence("mercer", must, "NaN or infinite numbers in it"))
