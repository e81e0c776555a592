"""Products of dense matrices by SciPy's BLAS, for code that also calls SciPy's LAPACK.

NumPy and SciPy each bring a BLAS of their own, whose idle threads go on spinning for a while; to
alternate between the two makes them fight for the processors, at tens of milliseconds a call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas

from ..checks import Array


def product(A: Array, B: Array) -> Array:
    """Return A B, of matrices of one precision."""
    if 0 in A.shape or 0 in B.shape:
        return A @ B
    gemm = blas.sgemm if A.dtype == np.float32 else blas.dgemm
    (a, turned_a), (b, turned_b) = _as_columns(A), _as_columns(B)
    return np.asarray(gemm(1.0, a, b, trans_a=turned_a, trans_b=turned_b))


def half_square(A: Array) -> Array:
    """Return A A' on and below the diagonal, zeros above it."""
    if 0 in A.shape:
        return A @ A.T
    syrk = blas.ssyrk if A.dtype == np.float32 else blas.dsyrk
    a, turned = _as_columns(A)
    return np.asarray(syrk(1.0, a, trans=turned, lower=1))


def mirror(half: Array) -> Array:
    """Return the symmetric matrix that is given on and below its diagonal, zeros above it."""
    whole = half + half.T
    whole[np.diag_indices(len(half))] = np.diagonal(half)
    return np.asarray(whole)


def _as_columns(A: Array) -> tuple[Any, int]:
    """Return the matrix as BLAS reads it without a copy, and whether it is transposed for that."""
    return (A, 0) if A.flags.f_contiguous else (np.ascontiguousarray(A).T, 1)
