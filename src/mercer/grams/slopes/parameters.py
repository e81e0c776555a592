"""Derivatives of a number by all parameters of a kernel, in one pass over the kernel matrix.

For L with dL = <G, dK> and K = K(X, Z), dL/dp = <G, dK/dp> for every parameter p. Parameters that
stand in the arithmetic of a profile have a matrix dk/dp each. Weights of columns need none of their
own: with R the derivative of k by the statistic sum_c w_c s(x_c, z_c) and H = G * R entry by entry,
dL/dw_c = sum_ij H_ij s(x_ic, z_jc). For squared distances that is x_c**2 . H 1 + z_c**2 . H' 1 - 2
x_c . H z_c: one matrix product gives it for all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...checks import Array, KernelError, sentence
from ...inputs import Input
from ...kernels.base import Kernel
from ...kernels.pairs import DOT, SQUARED, Statistic, as_matrix
from ...kernels.rows.radial import Periodic
from ...kernels.transforms import Normalized
from ...linalg import blas
from ...monitor import Monitor
from ..sides import View
from ..trace.derive import derivatives, number
from ..trace.lower import Path, follow
from ..trace.symbols import Node
from .tagged import ColumnWeights, Symbols, has_symbols, tagged, untagged
from .written import Written, seen_through

AT_ONCE = 1 << 22  # numbers of a band of rows: 32 megabytes
IN_CACHE = 1 << 16  # numbers of a block that is gone through once per column


class ParameterSlopes:
    """The derivatives of <G, K> by parameters of a kernel, for points of one kind.

    names: as in `get_params`; a parameter with one number per column has a derivative each.
    """

    def __init__(self, kernel: Kernel, names: Sequence[str], points: Input) -> None:
        with_symbols, self.symbols = tagged(kernel.require_resolved(), names)
        self.all = [one for symbols in self.symbols.values() for one in _several(symbols)]
        self.parts = _Parts(with_symbols, self.all, points)

    def products(self, left: View, right: View, G: Array, monitor: Monitor) -> dict[str, Any]:
        """Return <G, dK(X, Z)/dp> for every parameter p: a number, or an array with one per column.

        left, right: X and Z, which may be the same.
        """
        parts, n = self.parts, len(left)
        sums = _Sums(parts, left, right)
        step = max(1, AT_ONCE // max(len(right) * (parts.slopes.count() + 1), 1))
        for start in range(0, n, step):
            monitor.poll()
            rows = slice(start, min(start + step, n))
            band = left.take(rows)
            sums.add(band, rows, parts.slopes.tiles(band, right, monitor), G[rows])
        total = sums.total()
        found: dict[str, Any] = {}
        for name, symbols in self.symbols.items():
            places = [one.index for one in _several(symbols)]
            found[name] = total[places] if isinstance(symbols, tuple) else float(total[places[0]])
        return found


def _several(symbols: Symbols) -> tuple[Node, ...]:
    return symbols if isinstance(symbols, tuple) else (symbols,)


class _Parts:
    """What a kernel with symbols is differentiated by, on the way to its parameters.

    statistics: numbers of those with weights made of parameters, or of points that a parameter
    moves. sides: numbers of the values of points that are made of parameters.
    """

    def __init__(self, kernel: Kernel, parameters: list[Node], points: Input) -> None:
        self.parameters = parameters
        self.written = Written.of(kernel, points)
        recorder, owners = self.written.recorder, self.written.owners
        self.statistics = [
            place
            for place, (path, _, weights) in enumerate(recorder.statistics)
            if isinstance(weights, ColumnWeights) or self._mover(path) is not None
        ]
        self.sides = [place for place, owner in owners.items() if has_symbols(owner)]
        symbols = self.written.statistics()
        wanted = [symbols[place] for place in self.statistics]
        for op in ("left", "right"):
            wanted += [self.written.sides(op)[place] for place in self.sides]
        self.slopes = self.written.slopes([*parameters, *wanted])

    def _mover(self, path: Path) -> Kernel | None:
        """Return the kernel with a parameter that moves the points at the end of a path."""
        for length in range(1, len(path) + 1):
            owner = self.written.moved.get(path[:length])
            if isinstance(owner, Periodic) and has_symbols(owner.period):
                if length < len(path):
                    must = "points that a parameter moves must be compared as they are"
                    raise KernelError(sentence("derivative", must, "a map of them"))
                return owner
        return None

    def split(self, found: Sequence[Any]) -> tuple[Sequence[Any], ...]:
        """Return derivatives by parameters, by statistics, by left and by right sides."""
        a = len(self.parameters)
        b = a + len(self.statistics)
        c = b + len(self.sides)
        return found[:a], found[a:b], found[b:c], found[c:]

    def put_columns(self, total: Array, place: int, by_weight: Array, by_period: Array) -> None:
        """Add what derivatives by the columns of a statistic say of the parameters."""
        path, _, weights = self.written.recorder.statistics[place]
        if isinstance(weights, ColumnWeights):
            for symbol, slope in zip(weights.symbols, by_weight, strict=True):
                for parameter in _parameters(symbol):
                    total[parameter.index] += slope * number(derivatives(symbol, [parameter])[0])
        mover = self._mover(path)
        if isinstance(mover, Periodic):
            cosine, sine = np.hsplit(by_period, 2)
            several: Any = mover.period
            if isinstance(several, tuple):
                for symbol, slope in zip(several, cosine + sine, strict=True):
                    total[symbol.index] += slope
            else:
                total[several.index] += by_period.sum()

    def moves(self, place: int) -> bool:
        """Return whether a parameter moves the points of a statistic."""
        return self._mover(self.written.recorder.statistics[place][0]) is not None


def _parameters(symbol: Node) -> set[Node]:
    if symbol.op == "parameter":
        return {symbol}
    return set().union(*(_parameters(child) for child in symbol.children))


class _Sums:
    """What is summed while the bands of the derivatives pass by."""

    def __init__(self, parts: _Parts, left: View, right: View) -> None:
        self.parts, self.views = parts, (left, right)
        self.scalars = np.zeros(len(parts.parameters))
        self.sides = [np.zeros((len(parts.sides), len(view))) for view in self.views]
        self.columns = [_Column(parts, place, right) for place in parts.statistics]

    def add(self, band: View, rows: slice, tiles: list[Array | None], G: Array) -> None:
        scalars, columns, lefts, rights = self.parts.split(tiles)
        for place, R in enumerate(scalars):
            if R is not None:
                self.scalars[place] += float(np.einsum("ij,ij->", G, R))
        for column, R in zip(self.columns, columns, strict=True):
            if R is not None:
                column.add(band, R * G)
        left, right = self.sides
        for place, (R, Q) in enumerate(zip(lefts, rights, strict=True)):
            if R is not None:
                left[place, rows] += np.einsum("ij,ij->i", G, R)
            if Q is not None:
                right[place] += np.einsum("ij,ij->j", G, Q)

    def total(self) -> Array:
        total = self.scalars.copy()
        parts = self.parts
        for place, column in zip(parts.statistics, self.columns, strict=True):
            parts.put_columns(total, place, column.by_weight, column.by_period)
        for view, values in zip(self.views, self.sides, strict=True):
            for place, weights in zip(parts.sides, values, strict=True):
                points = follow(view, parts.written.recorder.sides[place][0]).points
                total += _side_products(parts.written.owners[place], parts, points, weights)
        return total


class _Column:
    """sum_ij H_ij s(x_ic, z_jc) for the columns c of a statistic, from bands of H.

    by_period: the same for the derivative of s by a parameter that moves the points.
    """

    def __init__(self, parts: _Parts, place: int, right: View) -> None:
        self.path, self.statistic, _ = parts.written.recorder.statistics[place]
        self.moves = parts.moves(place)
        self.centre = follow(right, self.path).side.centre() if self.statistic is SQUARED else 0.0
        self.Z, self.tangent = self._seen(right)
        self.by_weight = np.zeros(self.Z.shape[1])
        self.by_period = np.zeros(self.Z.shape[1])

    def _seen(self, view: View) -> tuple[Array, Array | None]:
        """Return points as the statistic sees them, and their derivative by what moves them."""
        rows = as_matrix(follow(view, self.path).points).dense().astype(np.float64, copy=False)
        tangent = None
        if self.moves:
            owner = self.path[-1].key[1].__self__
            tangent = owner.tangent(follow(view, self.path[:-1]).points)
        return rows - self.centre, tangent

    def add(self, band: View, H: Array) -> None:
        X, tangent = self._seen(band)
        if self.statistic is SQUARED:
            # BLAS is SciPy's throughout, see linalg/blas.py
            left, right = H.sum(axis=1)[:, None], H.sum(axis=0)[:, None]
            HZ = blas.product(H, self.Z)
            self.by_weight += _dots(X, X * left - 2.0 * HZ) + _dots(self.Z, self.Z * right)
            if tangent is not None and self.tangent is not None:
                HT = blas.product(H, self.tangent)
                self.by_period += 2.0 * _dots(X, tangent * left - HT)
                self.by_period += 2.0 * (_dots(self.Z, self.tangent * right) - _dots(tangent, HZ))
        elif self.statistic is DOT:
            self.by_weight += _dots(X, blas.product(H, self.Z))
        else:
            self._one_by_one(X, H)

    def _one_by_one(self, X: Array, H: Array) -> None:
        step = max(1, IN_CACHE // max(len(self.Z), 1))
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            for c in range(X.shape[1]):
                values = self.statistic.of(X[rows, c, None], self.Z[None, :, c])
                self.by_weight[c] += np.einsum("ij,ij->", H[rows], values)


def _dots(A: Array, B: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", A, B))


def _side_products(owner: Kernel, outer: _Parts, points: Input, weights: Array) -> Array:
    """Return sum_i weights_i df(x_i)/dp for every parameter p of a value f of each point."""
    if not isinstance(owner, Normalized):
        return np.zeros(len(outer.parameters))  # `rescaled` has no parameter in its function
    factor = -0.5 * untagged(owner).scale(points) ** 3
    return _diagonal_products(owner.inner, outer.parameters, points, weights * factor)


def _diagonal_products(
    kernel: Kernel, parameters: list[Node], points: Input, weights: Array
) -> Array:
    """Return sum_i weights_i dk(x_i, x_i)/dp for every parameter p."""
    parts = _Parts(kernel, parameters, points)
    total = np.zeros(len(parameters))
    scalars, columns, lefts, rights = parts.split(parts.slopes.on_diagonal(points))
    for place, R in enumerate(scalars):
        total[place] += weights @ R
    for place, R in zip(parts.statistics, columns, strict=True):
        path, statistic, _ = parts.written.recorder.statistics[place]
        by_weight = (weights * R) @ _own(statistic, seen_through(points, path))
        parts.put_columns(total, place, by_weight, np.zeros(len(by_weight)))
    for place, R, Q in zip(parts.sides, lefts, rights, strict=True):
        seen = seen_through(points, parts.written.recorder.sides[place][0])
        total += _side_products(parts.written.owners[place], parts, seen, weights * (R + Q))
    return total


def _own(statistic: Statistic, points: Input) -> Array:
    X = as_matrix(points).dense().astype(np.float64, copy=False)
    return statistic.of(X, X)
