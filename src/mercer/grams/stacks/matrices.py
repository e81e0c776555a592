"""Several kernels of the same points: weighted sums and quadratic forms of their matrices.

What learns the weights of kernels asks for sum_m w_m K_m and for <K_m, B B'> of every m, again and
again. Where all matrices fit, half of each is kept; otherwise they are computed anew, of the
kernels and points that are asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...checks import Array
from ...inputs import Input
from ...kernels import Kernel, On, Sigmoid
from ...kernels.algebra import Scaled, Sum
from ...linalg.blas import blas_threads
from ...monitor import Monitor
from ..engine import program_of, tile
from ..kinds.tiled import TiledGram
from ..plan import make_plan
from ..sides import Side, View
from .given import GramStack

TOGETHER = 8  # kernels whose blocks one program computes
BAND = 64 * 2**20  # bytes of the blocks that are on their way together
BAND_OF_ONE = 2**20  # bytes of rows of one matrix, few enough for the cache


class MatrixStack(ABC):
    """Symmetric matrices K_m of the same n points, one per kernel."""

    count: int
    size: int
    dtype: np.dtype[Any]
    kept: int = 0  # bytes

    def weighted(self, weights: Array) -> Array:
        """Return sum_m w_m K_m; matrices of weight 0 are not touched."""
        total = np.zeros((self.size, self.size), dtype=self.dtype)
        self.add(total, weights)
        return total

    @property
    def beside(self) -> int:
        """Bytes of the sums that are made of the matrices."""
        return sums_bytes(self.size, self.dtype)

    @abstractmethod
    def add(self, total: Array, weights: Array) -> None:
        """Add sum_m w_m K_m to a symmetric matrix; matrices of weight 0 are not touched."""

    @abstractmethod
    def forms(self, B: Array) -> Array:
        """Return <K_m, B B'> of every m; B: one row per point."""

    @abstractmethod
    def diagonals(self) -> Array:
        """Return the diagonal of every matrix, one per row."""

    @abstractmethod
    def doubtful(self) -> list[int]:
        """Return the matrices that are not known to be positive semi-definite."""

    @abstractmethod
    def matrix(self, place: int) -> Array:
        """Return K_m as an array of its own, in double precision."""


class GivenStack(MatrixStack):
    """Matrices that were handed in."""

    def __init__(self, stack: GramStack, monitor: Monitor) -> None:
        self.stack, self.monitor = stack, monitor
        self.count, self.size, self.dtype = stack.n_kernels, len(stack), stack.dtype

    def add(self, total: Array, weights: Array) -> None:
        step = max(16, BAND_OF_ONE // max(self.size * self.dtype.itemsize, 1))
        for m in np.flatnonzero(weights):
            self.monitor.poll()
            for start in range(0, self.size, step):
                rows = slice(start, start + step)
                total[rows] += self.stack.matrices[m][rows] * self.dtype.type(weights[m])

    def forms(self, B: Array) -> Array:
        found = np.zeros(self.count)
        for m, K in enumerate(self.stack.matrices):
            self.monitor.poll()
            found[m] = quadratic_form(K, B)
        return found

    def diagonals(self) -> Array:
        return np.array([np.diagonal(K) for K in self.stack.matrices], dtype=np.float64)

    def doubtful(self) -> list[int]:
        return list(range(self.count))

    def matrix(self, place: int) -> Array:
        return self.stack.matrices[place].astype(np.float64)


class ComputedStack(MatrixStack):
    """Matrices that are computed anew whenever they are asked for.

    limit: bytes that forms may take, or "auto".
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        points: Input,
        dtype: Any,
        monitor: Monitor,
        *,
        limit: int | str = "auto",
    ) -> None:
        self.kernels, self.monitor, self.limit = tuple(kernels), monitor, limit
        self.view = View(Side(points))
        self.count, self.size, self.dtype = len(self.kernels), len(points), np.dtype(dtype)

    def add(self, total: Array, weights: Array) -> None:
        for sign in (1, -1):  # a sum of kernels has no negative terms
            for group in self._groups(np.flatnonzero(sign * weights > 0)):
                terms = tuple(Scaled(self.kernels[m], sign * float(weights[m])) for m in group)
                whole = terms[0] if len(terms) == 1 else Sum(terms)
                for rows, columns, blocks in self._bands((whole,), self.view):
                    total[rows, columns] += sign * blocks[0]
                    total[rows.stop :, rows] = total[rows, rows.stop :].T

    def forms(self, B: Array) -> Array:
        used = np.flatnonzero(B.any(axis=1))
        found = np.zeros(self.count)
        if len(used) == 0:
            return found
        # Products in tiles that are never stored; half of a matrix would have to be.
        view, part = View(Side(self.view.take(used).points)), B[used]
        for m, kernel in enumerate(self.kernels):
            plan = make_plan(kernel, view, view, self.dtype, self.limit, store=False)
            K = TiledGram(kernel, view, view, plan, self.dtype, self.monitor)
            found[m] = float(np.einsum("ij,ij->", part, K @ part))
        return found

    def diagonals(self) -> Array:
        points = self.view.points
        return np.array([kernel.diag(points) for kernel in self.kernels], dtype=np.float64)

    def doubtful(self) -> list[int]:
        return [m for m, kernel in enumerate(self.kernels) if not is_mercer(kernel)]

    def matrix(self, place: int) -> Array:
        total = np.empty((self.size, self.size))
        for rows, columns, blocks in self._bands((self.kernels[place],), self.view):
            total[rows, columns] = blocks[0]
            total[rows.stop :, rows] = blocks[0][:, rows.stop - rows.start :].T
        return total

    def rows(self, rows: Array) -> Array:
        """Return whole rows of every matrix, one matrix after another."""
        found = np.empty((self.count, len(rows), self.size), dtype=self.dtype)
        for group in self._groups(np.arange(self.count)):
            kernels = tuple(self.kernels[m] for m in group)
            blocks = tile(kernels, self.view.take(rows), self.view, self.dtype, self.monitor)
            for m, block in zip(group, blocks, strict=True):
                found[m] = block
        return found

    def _groups(self, places: Array) -> Iterator[Array]:
        """Yield kernels whose blocks are computed together: those that look at the same columns."""
        alike: dict[Any, list[int]] = {}
        for m in places.tolist():
            kernel = self.kernels[m]
            alike.setdefault(kernel.columns if isinstance(kernel, On) else None, []).append(m)
        for members in alike.values():
            for start in range(0, len(members), TOGETHER):
                group = members[start : start + TOGETHER]
                kernels = tuple(self.kernels[m] for m in group)
                if len(group) > 1 and program_of(kernels, self.view, self.view) is None:
                    yield from (np.array([m]) for m in group)
                else:
                    yield np.array(group)

    def _bands(
        self, kernels: tuple[Kernel, ...], view: View
    ) -> Iterator[tuple[slice, slice, list[Array]]]:
        """Yield blocks of rows, from their own columns on to the last: the upper half, in bands."""
        n = len(view)
        step = max(16, BAND // max(len(kernels) * n * self.dtype.itemsize, 1))
        for start in range(0, n, step):
            rows, columns = slice(start, min(start + step, n)), slice(start, n)
            self.monitor.poll()
            blocks = tile(kernels, view.take(rows), view.take(columns), self.dtype, self.monitor)
            yield rows, columns, blocks


class StoredStack(ComputedStack):
    """Matrices of which half is kept: for each band of rows, the columns from the first row on."""

    def __init__(
        self, kernels: Sequence[Kernel], points: Input, dtype: Any, monitor: Monitor
    ) -> None:
        super().__init__(kernels, points, dtype, monitor)
        step = max(16, BAND // max(self.count * self.size * self.dtype.itemsize, 1))
        self.parts: list[tuple[slice, slice, Array]] = []
        for start in range(0, self.size, step):
            rows = slice(start, min(start + step, self.size))
            columns = slice(start, self.size)
            room = (self.count, rows.stop - start, self.size - start)
            self.parts.append((rows, columns, np.empty(room, dtype=self.dtype)))
        self._fill()
        self.kept = sum(part.nbytes for _, _, part in self.parts)

    def _fill(self) -> None:
        for done, group in enumerate(groups := list(self._groups(np.arange(self.count)))):
            kernels = tuple(self.kernels[m] for m in group)
            for rows, columns, part in self.parts:
                left, right = self.view.take(rows), self.view.take(columns)
                for m, block in zip(
                    group, tile(kernels, left, right, self.dtype, self.monitor), strict=True
                ):
                    part[m] = block
            self.monitor.report("kernels", (done + 1) / len(groups))

    def add(self, total: Array, weights: Array) -> None:
        used, factors = np.flatnonzero(weights), weights.astype(self.dtype)
        if len(used) == 0:
            return
        few = 2 * len(used) <= self.count  # else a product with all of them is faster
        with blas_threads(1):  # which waits for memory; several would wait for one another
            for rows, columns, part in self.parts:
                block = total[rows, columns]
                if few:
                    term = np.empty_like(part[0])
                    for m in used:
                        block += np.multiply(part[m], factors[m], out=term)
                else:
                    block += (factors @ part.reshape(self.count, -1)).reshape(block.shape)
                total[rows.stop :, rows] = total[rows, rows.stop :].T
                self.monitor.poll()

    def forms(self, B: Array) -> Array:
        found, narrow, used = np.zeros(self.count), B.astype(self.dtype), (B != 0).any(axis=1)
        with blas_threads(1):
            for rows, columns, part in self.parts:
                shares = half_shares(narrow, rows, columns)
                for row in np.flatnonzero(used[rows]):  # the others are not read
                    found += part[:, row] @ shares[row]
                self.monitor.poll()
        return found

    def matrix(self, place: int) -> Array:
        total = np.empty((self.size, self.size))
        for rows, columns, part in self.parts:
            total[rows, columns] = part[place]
            total[rows.stop :, rows] = total[rows, rows.stop :].T
        return total


def sums_bytes(size: int, dtype: Any) -> int:
    """Return what weighted sums take: the three of a line, and bands of one."""
    whole = size * size * int(np.dtype(dtype).itemsize)
    return 3 * whole + 2 * min(whole, BAND)


def stack_bytes(count: int, size: int, dtype: Any) -> int:
    """Return what a `StoredStack` takes."""
    return int(count * size * (size + 64) // 2 * np.dtype(dtype).itemsize)


def quadratic_form(K: Array, B: Array) -> float:
    """Return <K, B B'> of a symmetric matrix, of which only rows are read where B is not 0."""
    used, narrow, found = np.flatnonzero(B.any(axis=1)), B.astype(K.dtype), 0.0
    step = max(16, BAND_OF_ONE // max(len(K) * K.itemsize, 1))
    with blas_threads(1):
        for start in range(0, len(used), step):
            rows = used[start : start + step]
            found += float(np.einsum("ij,ij->", B[rows], K[rows] @ narrow))
    return found


def half_shares(B: Array, rows: slice, columns: slice) -> Array:
    """Return B B' in a band of the upper half, what stands for both halves counted twice."""
    right = B[columns].copy()
    right[rows.stop - rows.start :] *= 2
    return np.asarray(np.outer(B[rows], right) if B.shape[1] == 1 else B[rows] @ right.T)


def is_mercer(kernel: Kernel) -> bool:
    """Return whether a kernel is known to be positive semi-definite on all points."""
    doubtful = isinstance(kernel, Sigmoid) or kernel.is_user_defined()
    return not doubtful and all(is_mercer(child) for child in kernel.children())
