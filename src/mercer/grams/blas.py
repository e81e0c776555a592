"""Products of dense matrices by SciPy's BLAS, for code that also calls SciPy's LAPACK.

NumPy and SciPy each bring a BLAS of their own, whose idle threads go on spinning for a while; to
alternate between the two makes them fight for the processors, at tens of milliseconds a call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import blas
from threadpoolctl import ThreadpoolController

from ..checks import Array

_lock = threading.Lock()
_limits: list[int] = []  # those of all computations under way
_before: list[int] = []  # the threads of each library before the first of them


@cache
def _libraries() -> list[Any]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _limit() -> None:
    for library, before in zip(_libraries(), _before, strict=True):
        library.set_num_threads(min([before, *_limits]))


@contextmanager
def blas_threads(most: int) -> Iterator[None]:
    """Let BLAS use at most so many threads inside.

    The number belongs to the process: of computations in several threads the least limit counts,
    and the last one to end gives back what there was before the first.
    """
    with _lock:
        if not _limits:
            _before[:] = [library.num_threads for library in _libraries()]
        _limits.append(most)
        _limit()
    try:
        yield
    finally:
        with _lock:
            _limits.remove(most)
            _limit()


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
