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
from ...kernels import Kernel, On
from ...kernels.algebra import Scaled, Sum
from ...monitor import Monitor
from ..engine import program_of, tile
from ..sides import Side, View
from .given import GramStack

TOGETHER = 8  # kernels whose blocks one program computes
BAND = 64 * 2**20  # bytes of the blocks that are on their way together


class MatrixStack(ABC):
    """Symmetric matrices K_m of the same n points, one per kernel."""

    count: int
    size: int
    dtype: np.dtype[Any]
    kept: int = 0  # bytes

    @abstractmethod
    def weighted(self, weights: Array) -> Array:
        """Return sum_m w_m K_m; matrices of weight 0 are not touched."""

    @abstractmethod
    def forms(self, B: Array) -> Array:
        """Return <K_m, B B'> of every m; B: one row per point."""

    @abstractmethod
    def diagonals(self) -> Array:
        """Return the diagonal of every matrix, one per row."""

    @abstractmethod
    def matrix(self, place: int) -> Array:
        """Return K_m as an array of its own, in double precision."""


class GivenStack(MatrixStack):
    """Matrices that were handed in."""

    def __init__(self, stack: GramStack, monitor: Monitor) -> None:
        self.stack, self.monitor = stack, monitor
        self.count, self.size, self.dtype = stack.n_kernels, len(stack), stack.dtype

    def weighted(self, weights: Array) -> Array:
        self.monitor.poll()
        return self.stack.weighted(weights)

    def forms(self, B: Array) -> Array:
        used = np.flatnonzero(B.any(axis=1))
        part, square = B[used], np.ix_(used, used)
        return np.array(
            [float(np.einsum("ij,ij->", part, K[square] @ part)) for K in self.stack.matrices]
        )

    def diagonals(self) -> Array:
        return np.array([np.diagonal(K) for K in self.stack.matrices], dtype=np.float64)

    def matrix(self, place: int) -> Array:
        return self.stack.matrices[place].astype(np.float64)


class ComputedStack(MatrixStack):
    """Matrices that are computed anew whenever they are asked for."""

    def __init__(
        self, kernels: Sequence[Kernel], points: Input, dtype: Any, monitor: Monitor
    ) -> None:
        self.kernels, self.monitor = tuple(kernels), monitor
        self.view = View(Side(points))
        self.count, self.size, self.dtype = len(self.kernels), len(points), np.dtype(dtype)

    def weighted(self, weights: Array) -> Array:
        total = np.zeros((self.size, self.size), dtype=self.dtype)
        used = np.flatnonzero(weights)
        for group in self._groups(used):
            terms = tuple(Scaled(self.kernels[m], float(weights[m])) for m in group)
            whole = terms[0] if len(terms) == 1 else Sum(terms)
            for rows, columns, blocks in self._bands((whole,), self.view):
                total[rows, columns] += blocks[0]
        return mirrored(total)

    def forms(self, B: Array) -> Array:
        used = np.flatnonzero(B.any(axis=1))
        found = np.zeros(self.count)
        if len(used) == 0:
            return found
        view, part = self.view.take(used), B[used]
        for group in self._groups(np.arange(self.count)):
            kernels = tuple(self.kernels[m] for m in group)
            for rows, columns, blocks in self._bands(kernels, view):
                shares = half_shares(part, rows, columns).astype(self.dtype).ravel()
                for m, block in zip(group, blocks, strict=True):
                    found[m] += float(block.ravel() @ shares)
        return found

    def diagonals(self) -> Array:
        points = self.view.points
        return np.array([kernel.diag(points) for kernel in self.kernels], dtype=np.float64)

    def matrix(self, place: int) -> Array:
        total = np.empty((self.size, self.size))
        for rows, columns, blocks in self._bands((self.kernels[place],), self.view):
            total[rows, columns] = blocks[0]
        return mirrored(total)

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

    def weighted(self, weights: Array) -> Array:
        total = np.empty((self.size, self.size), dtype=self.dtype)
        used = np.flatnonzero(weights)
        many = 2 * len(used) > self.count
        factors = weights.astype(self.dtype)
        for rows, columns, part in self.parts:
            if many:
                flat = factors @ part.reshape(self.count, -1)
                total[rows, columns] = flat.reshape(part.shape[1:])
            else:
                block = np.zeros(part.shape[1:], dtype=self.dtype)
                for m in used:
                    block += factors[m] * part[m]
                total[rows, columns] = block
            self.monitor.poll()
        return mirrored(total)

    def forms(self, B: Array) -> Array:
        found = np.zeros(self.count)
        for rows, columns, part in self.parts:
            shares = half_shares(B, rows, columns).astype(self.dtype)
            found += part.reshape(self.count, -1) @ shares.ravel()
            self.monitor.poll()
        return found

    def matrix(self, place: int) -> Array:
        total = np.empty((self.size, self.size))
        for rows, columns, part in self.parts:
            total[rows, columns] = part[place]
        return mirrored(total)


def stack_bytes(count: int, size: int, dtype: Any) -> int:
    """Return what a `StoredStack` takes."""
    return int(count * size * (size + 64) // 2 * np.dtype(dtype).itemsize)


def half_shares(B: Array, rows: slice, columns: slice) -> Array:
    """Return B B' in a band of the upper half, what stands for both halves counted twice."""
    found = B[rows] @ B[columns].T
    found[:, rows.stop - rows.start :] *= 2
    return np.asarray(found)


def mirrored(total: Array) -> Array:
    """Return the matrix with its upper half in place of the lower one, which is overwritten."""
    n, step = len(total), 512
    for start in range(0, n, step):
        stop = min(start + step, n)
        square = total[start:stop, start:stop]
        square[:] = np.triu(square) + np.triu(square, 1).T
        total[stop:, start:stop] = total[start:stop, stop:].T
    return total
