"""Products of dense matrices by SciPy's BLAS, for code that also calls SciPy's LAPACK.

NumPy and SciPy each bring a BLAS of their own, whose idle threads go on spinning for a while; to
alternate between the two makes them fight for the processors, at tens of milliseconds per call.

Python acts on Ctrl-C between calls only. So no call is long: large products are taken in parts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import blas, solve_triangular
from threadpoolctl import ThreadpoolController

from ..checks import Array

WORK = 1e9  # multiplications in one call of BLAS: some 50 ms on one processor
SIDE = 2048  # of the tiles of a large square
TILE = 128  # of a matrix that is mirrored, so that rows and columns of it stay in cache
FEW = 8  # columns of B up to which A B takes them one by one, because BLAS copies A for several
LARGE = 10**6  # numbers in A from which that copy costs more than to read A again
SUMMED = 4096  # columns that are added up in single precision
COLUMNS = 512  # of a product that is taken in parts: enough for the speed of a large one

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

    The number belongs to the process: with computations in several threads the lowest limit counts,
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
    if A.size * B.shape[1] > WORK:
        return _product_in_parts(A, B)
    gemm = blas.sgemm if A.dtype == np.float32 else blas.dgemm
    a, turned_a = _as_columns(A)
    if B.shape[1] <= FEW and A.size >= LARGE:
        gemv = blas.sgemv if A.dtype == np.float32 else blas.dgemv
        return np.column_stack([gemv(1.0, a, column, trans=turned_a) for column in B.T])
    b, turned_b = _as_columns(B)
    return np.asarray(gemm(1.0, a, b, trans_a=turned_a, trans_b=turned_b))


def _product_in_parts(A: Array, B: Array) -> Array:
    """Return A B from parts of A that lie together in memory, and some columns of B at a time."""
    out = np.empty((len(A), B.shape[1]), dtype=A.dtype, order="F")
    gemm = blas.sgemm if A.dtype == np.float32 else blas.dgemm
    a, by_rows = _as_columns(A)
    step = max(64, int(WORK / (len(a) * min(B.shape[1], COLUMNS))))
    for first in range(0, B.shape[1], COLUMNS):
        columns = slice(first, first + COLUMNS)
        b, c = np.asfortranarray(B[:, columns]), out[:, columns]
        for start in range(0, a.shape[1], step):
            part = slice(start, start + step)
            if by_rows:
                c[part] = gemm(1.0, a[:, part], b, trans_a=1)
            else:
                gemm(1.0, a[:, part], b[part], float(start > 0), c, overwrite_c=1)
    return out


def half_square(A: Array) -> Array:
    """Return A A' on and below the diagonal, zeros above it."""
    if 0 in A.shape:
        return A @ A.T
    syrk = blas.ssyrk if A.dtype == np.float32 else blas.dsyrk
    a, turned = _as_columns(A)
    step = max(16, int(2 * WORK / len(A) ** 2))
    if A.shape[1] <= step:
        return np.asarray(syrk(1.0, a, trans=turned, lower=1))
    out = np.zeros((len(A), len(A)), dtype=A.dtype, order="F")
    for start in range(0, A.shape[1], step):
        part = slice(start, start + step)
        some = a[part] if turned else a[:, part]
        syrk(1.0, some, 1.0, out, trans=turned, lower=1, overwrite_c=1)
    return out


def add_square(half: Array, A: Array) -> None:
    """Add A A' to a matrix that is given on and below its diagonal, tile by tile.

    Only a tile is held beside it, in the precision of A; what is added may be in a wider one.
    """
    for start in range(0, len(A), SIDE):
        rows = slice(start, start + SIDE)
        half[rows, rows] += half_square(A[rows])
        for first in range(0, start, SIDE):
            columns = slice(first, first + SIDE)
            half[rows, columns] += product(A[rows], A[columns].T)


class SquareSum:
    """The sum of A A' over several A, on and below the diagonal, in double precision.

    What is in single precision is added up so over a few thousand columns only.
    """

    def __init__(self, size: int, dtype: Any) -> None:
        self.total = np.zeros((size, size), order="F")
        self._syrk = blas.ssyrk if dtype == np.float32 else blas.dsyrk
        self._part = np.zeros((size, size), dtype=dtype, order="F")
        self._columns = 0

    def add(self, A: Array) -> None:
        """Add A A'; A has the precision that was named."""
        if 0 in A.shape:
            return
        a, turned = _as_columns(A)
        self._syrk(1.0, a, 1.0, self._part, trans=turned, lower=1, overwrite_c=1)
        self._columns += A.shape[1]
        if self._columns >= SUMMED:
            self.result()

    def result(self) -> Array:
        """Return the sum so far, zeros above its diagonal."""
        self.total += self._part
        self._part[:] = 0
        self._columns = 0
        return self.total


def divide_lower(L: Array, B: Array) -> None:
    """Overwrite B, kept by rows or by columns, with L**-1 B for a lower triangular L."""
    if 0 in B.shape:
        return
    trsm = blas.strsm if B.dtype == np.float32 else blas.dtrsm
    factor = np.asfortranarray(L, B.dtype)
    if B.flags.f_contiguous:
        step = max(16, int(4 * WORK / L.size))
        for start in range(0, B.shape[1], step):
            part = B[:, start : start + step]
            _in_place(part, trsm(1.0, factor, part, lower=1, overwrite_b=1))
    else:
        _in_place(B.T, trsm(1.0, factor, B.T, side=1, lower=1, trans_a=1, overwrite_b=1))


def subtract_product(C: Array, A: Array, B: Array) -> None:
    """Take A B off C; all three are kept row by row, in one precision."""
    gemm = blas.sgemm if C.dtype == np.float32 else blas.dgemm
    step = max(64, int(4 * WORK / max(C.size, 1)))
    for start in range(0, len(B), step):
        part = slice(start, start + step)
        found = gemm(-1.0, B[part].T, A[:, part].T, 1.0, C.T, overwrite_c=1)
        _in_place(C.T, found)


def _in_place(out: Array, found: Array) -> None:
    """Copy what BLAS could not leave where it was asked to."""
    if not np.may_share_memory(out, found):
        out[:] = found


def add_products(half: Array, A: Array, B: Array, factor: float) -> Array:
    """Return half + factor (A B' + B A') on and below the diagonal; `half` may be overwritten."""
    syr2k = blas.ssyr2k if half.dtype == np.float32 else blas.dsyr2k
    return np.asarray(syr2k(factor, A, B, 1.0, half, lower=1, overwrite_c=1))


def solve_lower(L: Array, B: Array, transposed: bool = False) -> Array:
    """Return L**-1 B, or L'**-1 B, of a lower triangular L."""
    step = max(16, int(2 * WORK / max(L.size, 1)))
    if B.ndim == 1 or B.shape[1] <= step:
        return np.asarray(_solve_lower(L, B, transposed))
    out = np.empty(B.shape, dtype=np.result_type(L, B), order="F")
    for start in range(0, B.shape[1], step):
        columns = slice(start, start + step)
        out[:, columns] = _solve_lower(L, B[:, columns], transposed)
    return out


def _solve_lower(L: Array, B: Array, transposed: bool) -> Array:
    found: Array = solve_triangular(L, B, lower=True, trans=int(transposed), check_finite=False)
    return found


def mirror(half: Array) -> Array:
    """Return the symmetric matrix that is given on and below its diagonal, zeros above it."""
    whole = half + half.T
    whole[np.diag_indices(len(half))] = np.diagonal(half)
    return np.asarray(whole)


def fill_upper(half: Array) -> Array:
    """Return the same as `mirror`, in the place of what is given."""
    for start in range(0, len(half), TILE):
        rows = slice(start, start + TILE)
        block, stop = half[rows, rows], start + TILE
        block[:] = np.tril(block) + np.tril(block, -1).T
        half[rows, stop:] = half[stop:, rows].T
    return half


def _as_columns(A: Array) -> tuple[Any, int]:
    """Return the matrix as BLAS reads it without a copy, and whether it is transposed for that."""
    return (A, 0) if A.flags.f_contiguous else (np.ascontiguousarray(A).T, 1)
