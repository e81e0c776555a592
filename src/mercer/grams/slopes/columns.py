"""Sums over pairs of derivatives by the columns of points: sum_j R_ij c_j w_c s'(x_ic, z_jc).

For dot products, and for squared distances of sparse rows, that is a matrix product; for other
statistics it is a native loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ... import _native
from ...checks import Array
from ...inputs import Matrix
from ...kernels.pairs import ABSOLUTE, CHI2, DOT, SQUARED, Statistic, as_matrix, column_weights
from ...linalg.blas import product
from ...monitor import Monitor
from ..engine import pack_rows, run
from ..sides import View

# In the order of the enumeration in cpp/engine/tile.hpp.
SLOPES = (SQUARED.name, ABSOLUTE.name, CHI2.name, "power", "decay")


class ColumnSums:
    """The sums of one statistic for a band of points x_i, by the points z_j.

    left, right: the points x and z. weights: w of the columns, or None.
    """

    def __init__(
        self, left: View, right: View, statistic: Statistic, weights: tuple[float, ...] | None
    ) -> None:
        self.left, self.right, self.statistic = left, right, statistic
        self.weights = column_weights(weights, as_matrix(left.side.points).n_columns)

    def of(self, R: Array, coefficients: Array, monitor: Monitor) -> Array:
        """Return sum_j R_ij c_jf w_c s'(x_ic, z_jc), of shape (points, functions, columns).

        R: the derivative of the kernel by the statistic, an entry per pair. coefficients: c, one
        column per function.
        """
        sparse = self.statistic is SQUARED and self.right.is_sparse
        if self.statistic is not DOT and not sparse:
            return self._looped(R, coefficients, monitor) * self.weights
        found = np.empty((len(R), coefficients.shape[1], len(self.weights)))
        Z: Any = as_matrix(self.right.points).values
        for place, c in enumerate(coefficients.T.astype(R.dtype)):
            monitor.poll()
            if self.statistic is DOT:
                found[:, place] = _times(R, Z, c)
            else:  # around the centre, so that an offset costs no digits
                centre = self.right.side.centre()
                total = product(R, c[:, None])
                X = as_matrix(self.left.points).dense().astype(R.dtype, copy=False)
                moved = (X - centre) * total - (_times(R, Z, c) - centre * total)
                found[:, place] = 2.0 * moved
        return found * self.weights

    def _looped(self, R: Array, coefficients: Array, monitor: Monitor) -> Array:
        out = np.empty((len(R), coefficients.shape[1], len(self.weights)))
        slope = SLOPES.index(self.statistic.family or self.statistic.name)
        X, Z = _packed_columns(self.left, R.dtype), _packed_columns(self.right, R.dtype)
        c = np.ascontiguousarray(coefficients.T, dtype=R.dtype)
        exponent, factors = self.statistic.exponent, np.ascontiguousarray(R)
        run(
            monitor,
            lambda stop: _native.column_slopes(X, Z, slope, exponent, factors, c, out, stop),
        )
        return out


def _times(R: Array, Z: Any, c: Array) -> Array:
    """Return R (c * Z), without R for each c."""
    if scipy.sparse.issparse(Z):
        scaled = scipy.sparse.diags_array(c) @ Z
        return np.asarray((scaled.T @ R.T).T)
    return product(R, c[:, None] * Z.astype(R.dtype, copy=False))


def _packed_columns(view: View, dtype: np.dtype[Any]) -> Any:
    """Return points packed column by column, kept for as long as the view is."""

    def pack() -> Any:
        rows = as_matrix(view.points).values
        turned = rows.T.tocsr() if scipy.sparse.issparse(rows) else np.ascontiguousarray(rows.T)
        return pack_rows(Matrix(turned), dtype, None, None)

    return view.once(("packed columns", dtype.char), pack)
