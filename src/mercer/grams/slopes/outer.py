"""Sums of outer products of gradients: which directions of the points a function moves along."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from ...checks import Array, InputError, sentence
from ...inputs import Input, Matrix
from ...kernels.base import Kernel
from ...kernels.metric import Metric, MetricMatrix
from ...linalg.blas import add_square, mirror, product
from ...monitor import Monitor
from ..prepared import Prepared
from ..sides import View
from .points import PointSlopes

WHO = "gradient_outer_product"


def gradient_outer_product(
    kernel: Kernel,
    centres: View | Prepared,
    coefficients: Array,
    points: Input,
    *,
    weights: Array | None = None,
    diagonal: bool = False,
    dtype: DTypeLike = np.float64,
    monitor: Monitor | None = None,
) -> Array:
    """Return sum_i w_i sum_f g_if g_if', where g_if is the gradient of a function f at a point x_i.

    f(x) = sum_j c_jf k(x, z_j). Gradients are by the columns of x, also where a metric stands
    before the kernel; terms with x_i = z_j of a kernel with a kink count 0. Only the gradients of a
    band of points are there at a time.

    centres: the points z_j. coefficients: c, one column per function, or a vector for a single one.
    weights: w, one per point; None is 1, and 1 / n gives the mean. diagonal: whether only the
    diagonal, a vector, is returned. dtype: of the tiles; sums over points are in double precision.
    """
    view = centres.view if isinstance(centres, Prepared) else centres
    c = np.asarray(coefficients, dtype=np.float64)
    c = c[:, None] if c.ndim == 1 else c
    rows = _checked(view, c, points, weights)
    watch = Monitor() if monitor is None else monitor
    if isinstance(kernel, Metric) and (kernel.matrix.is_diagonal or not diagonal):
        # The metric is linear, so that the outer products may be taken before it.
        within = gradient_outer_product(
            kernel.inner,
            view.child(("of", kernel.child_input), kernel.child_input),
            c,
            kernel.child_input(rows),
            weights=weights,
            diagonal=diagonal,
            dtype=dtype,
            monitor=watch,
        )
        return _pulled_back(within, kernel.matrix)
    total = np.zeros(rows.n_columns if diagonal else (rows.n_columns, rows.n_columns), order="F")
    for some, found in PointSlopes(kernel, view, c, dtype).bands(rows, watch):
        if weights is not None:
            found *= np.sqrt(weights[some])[:, None, None]
        if diagonal:
            total += np.einsum("icf,icf->c", found, found)
        else:
            flat = found.transpose(0, 2, 1).reshape(-1, rows.n_columns)
            add_square(total, flat.T)
    return total if diagonal else mirror(total)


def _pulled_back(within: Array, matrix: MetricMatrix) -> Array:
    """Return the sum for the points, from the sum for what a metric makes of them."""
    root = matrix.root
    if not matrix.is_diagonal:
        found = product(product(root, within), root)
        return np.asarray(0.5 * found + 0.5 * found.T)  # rounding is not symmetric
    scale = matrix.values if within.ndim == 1 else np.outer(root, root)
    return np.asarray(within * scale)


def _checked(view: View, coefficients: Array, points: Input, weights: Array | None) -> Matrix:
    """Return the points as rows of numbers, once all sizes fit."""
    if not isinstance(points, Matrix) or not isinstance(view.side.points, Matrix):
        raise InputError(sentence(WHO, "points must be rows of numbers", points.kind))
    if points.n_columns != view.side.points.n_columns:
        must = f"points must have {view.side.points.n_columns} columns"
        raise InputError(sentence(WHO, must, f"{points.n_columns}"))
    if coefficients.ndim != 2 or len(coefficients) != len(view):
        must = f"coefficients must have a row for each of the {len(view)} centres"
        raise InputError(sentence(WHO, must, f"shape {coefficients.shape}"))
    if weights is not None and (weights.shape != (len(points),) or not np.all(weights >= 0)):
        must = f"weights must be {len(points)} numbers at least 0"
        raise InputError(sentence(WHO, must, f"shape {weights.shape}, {weights.min(initial=0):g}"))
    return points
