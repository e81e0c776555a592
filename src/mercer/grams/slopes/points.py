"""Derivatives of sums of kernels by the columns of a point: sum_j c_j dk(x, z_j)/dx.

A kernel is a function of a few statistics sum_c w_c s(x_c, z_c). With R its derivative by one of
them, a matrix that the engine computes in tiles, the derivative by column c is sum_j c_j R_j w_c
s'(x_c, z_jc): a matrix product for dot products, a native loop for the
others. No array has an entry for each pair and column.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike

from ...checks import Array, KernelError, sentence
from ...inputs import Input, Matrix
from ...kernels.base import Kernel
from ...kernels.pairs import as_matrix, column_weights
from ...kernels.transforms import Normalized, Rescaled
from ...linalg.blas import product
from ...monitor import Monitor
from ..sides import Side, View
from ..trace.lower import Path, Step, follow
from .columns import ColumnSums
from .written import Slopes, Written, seen_through

AT_ONCE = 1 << 22  # numbers of a band of rows: 32 megabytes


class PointSlopes:
    """Derivatives by x of sum_j c_j k(x, z_j), where the points z_j stay.

    view: the points z_j. coefficients: c, one column a function. dtype: of the tiles; sums of
    single precision are right to some six digits, and cost half as much.
    """

    def __init__(
        self, kernel: Kernel, view: View, coefficients: Array, dtype: DTypeLike = np.float64
    ) -> None:
        self.view, self.coefficients, self.dtype = view, coefficients, np.dtype(dtype)
        self.width = as_matrix(view.side.points).n_columns
        self.written = _differentiable(Written.of(kernel, view.side.points))
        wanted = [*self.written.statistics(), *self.written.sides("left")]
        self.slopes = self.written.slopes(wanted)

    def at(self, points: Matrix, monitor: Monitor) -> Array:
        """Return the derivatives at points, of shape (points, columns, functions)."""
        out = np.zeros((len(points), self.width, self.coefficients.shape[1]))
        for rows, found in self.bands(points, monitor):
            out[rows] = found
        return out

    def bands(self, points: Matrix, monitor: Monitor) -> Iterator[tuple[slice, Array]]:
        """Yield the derivatives of some points at a time."""
        functions = self.coefficients.shape[1]
        for rows, left in self._bands(points, functions, monitor):
            out = np.zeros((len(left), self.width, functions))
            self._add(left, out, None, monitor)
            yield rows, out

    def mixed(self, points: Matrix, shares: Array, monitor: Monitor) -> Array:
        """Return the derivative of sum_c s_ic f_c at point i, of shape (points, columns).

        shares: s, one row per point and one column per function. It costs as much as the
        derivative of a single function.
        """
        out = np.zeros((len(points), self.width, 1))
        coefficients = self.coefficients.T.astype(self.dtype)
        for rows, left in self._bands(points, 1, monitor):
            of_pairs = product(shares[rows].astype(self.dtype), coefficients)
            self._add(left, out[rows], of_pairs, monitor)
        return out[:, :, 0]

    def _bands(
        self, points: Matrix, functions: int, monitor: Monitor
    ) -> Iterator[tuple[slice, View]]:
        pairs = len(self.view) * (self.slopes.count() + 1)
        step = max(1, AT_ONCE // max(pairs, self.width * functions, 1))
        for start in range(0, len(points), step):
            monitor.report("gradient", start / len(points))
            rows = slice(start, start + step)
            yield rows, View(Side(points.take(rows), self.view.side))

    def _add(self, left: View, out: Array, of_pairs: Array | None, monitor: Monitor) -> None:
        """Add the derivatives at a band of points.

        of_pairs: weights of the pairs in the place of the coefficients, of a single function.
        """
        recorder = self.written.recorder
        tiles = self.slopes.tiles(left, self.view, monitor, self.dtype)
        each = self.coefficients if of_pairs is None else np.ones((len(self.view), 1))
        count = len(recorder.statistics)
        for R, (path, statistic, columns) in zip(tiles, recorder.statistics, strict=False):
            if R is not None:
                sums = ColumnSums(follow(left, path), follow(self.view, path), statistic, columns)
                found = sums.of(R if of_pairs is None else R * of_pairs, each, monitor)
                for place in range(out.shape[2]):
                    out[:, :, place] += pulled(path, left.side.points, found[:, place])
        for number, R in enumerate(tiles[count:]):
            if R is not None:
                path = recorder.sides[number][0]
                side = _side_gradient(self.written.owners.get(number), follow(left, path).points)
                total = (R if of_pairs is None else R * of_pairs) @ each
                for place in range(out.shape[2]):
                    slopes = total[:, place, None] * side
                    out[:, :, place] += pulled(path, left.side.points, slopes)


def _differentiable(written: Written) -> Written:
    """Return what was written down, or refuse what has no derivative by the points."""
    recorder = written.recorder
    if recorder.externals:
        kernel = recorder.externals[0][1]
        must = "every part must be a function of statistics of rows of numbers"
        raise KernelError(sentence("gradient", must, repr(kernel), _ADVICE))
    for _, statistic, _ in recorder.statistics:
        if statistic.slope is None:
            must = "every part must have a derivative by the columns of x"
            got = f"{written.kernel!r}, which jumps or has kinks ({statistic.name})"
            raise KernelError(sentence("gradient", must, got, _ADVICE))
    return written


_ADVICE = "Kernels of distances and dot products, and expressions of these, have a gradient."


def pulled(path: Path, points: Input, slopes: Array) -> Array:
    """Return derivatives by the columns of points, from those by what a path leads to."""
    seen = [points]
    for step in path[:-1]:
        seen.append(step.change(seen[-1]))
    for step, before in zip(reversed(path), reversed(seen), strict=False):
        slopes = _pulled_step(step, before, slopes)
    return slopes


def _pulled_step(step: Step, points: Input, slopes: Array) -> Array:
    kind, what = step.key[:2]
    if kind == "on" and isinstance(points, Matrix):
        out = np.zeros((len(points), points.n_columns))
        columns = what if isinstance(what, tuple) else (what,)
        for place, column in enumerate(columns):
            out[:, column] += slopes[:, place]
        return out
    owner = getattr(what, "__self__", what)
    if kind == "of" and hasattr(owner, "pullback"):
        return np.asarray(owner.pullback(points, slopes))
    raise KernelError(sentence("gradient", "X must be rows of numbers", points.kind))


def _side_gradient(owner: Kernel | None, points: Input) -> Array:
    """Return the gradient of the value that a kernel takes of every point by itself."""
    if isinstance(owner, Rescaled):
        return owner.slopes(points)
    if isinstance(owner, Normalized):
        factor = -0.5 * owner.scale(points) ** 3
        return factor[:, None] * diagonal_gradient(owner.inner, points)
    got = "a function of each point in a profile" if owner is None else repr(owner)
    raise KernelError(sentence("gradient", "every part must have a derivative", got, _ADVICE))


def diagonal_gradient(kernel: Kernel, points: Input) -> Array:
    """Return the gradient of k(x, x) at every point: both of its places move together."""
    written = _differentiable(Written.of(kernel, points))
    recorder = written.recorder
    both = [written.sides(op) for op in ("left", "right")]
    slopes: Slopes = written.slopes([*written.statistics(), *both[0], *both[1]])
    found = slopes.on_diagonal(points)
    out = np.zeros((len(points), as_matrix(points).n_columns))
    count, sides = len(recorder.statistics), len(recorder.sides)
    for R, (path, statistic, weights) in zip(found, recorder.statistics, strict=False):
        seen = as_matrix(seen_through(points, path))
        X = seen.dense().astype(np.float64, copy=False)
        if statistic.slope is not None:
            one = statistic.slope(X, X) * column_weights(weights, X.shape[1])
            out += pulled(path, points, 2.0 * R[:, None] * one)
    for number in range(sides):
        R = found[count + number] + found[count + sides + number]
        path = recorder.sides[number][0]
        side = _side_gradient(written.owners.get(number), seen_through(points, path))
        out += pulled(path, points, R[:, None] * side)
    return out
