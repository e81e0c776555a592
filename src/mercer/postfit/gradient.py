"""The gradient of a fitted function by the columns of its points."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq

from ..checks import Array, InputError, KernelError, sentence
from ..grams import Prepared
from ..grams.sides import Side, View
from ..grams.slopes.points import PointSlopes
from ..inputs import Input, Matrix, RowBlocks
from ..kernels import Linear, Of
from ..monitor import Monitor

ENOUGH = 1e-7  # relative error with which coefficients of features must be met


def gradient(
    who: str, prepared: Prepared, points: Input, coefficients: Array, monitor: Monitor
) -> Array:
    """Return the gradient of sum_j c_j k(x, z_j), of shape (points, columns, functions).

    prepared: the kernel and the points z_j. coefficients: c, one column a function.
    """
    if isinstance(points, RowBlocks):
        parts = [gradient(who, prepared, block, coefficients, monitor) for block in points.blocks()]
        return np.concatenate(parts)
    return _slopes(who, prepared, coefficients).at(_rows(who, points), monitor)


def feature_gradient(
    who: str, prepared: Prepared, points: Input, coefficients: Array, monitor: Monitor
) -> Array:
    """Return the gradient of phi(x) . w, of the same shape; coefficients: w, a column a function.

    The function is written as sum_j c_j k(x, z_j) first, with as many points z_j, drawn at random
    among points like these, as there are features: sum_j c_j phi(z_j) = w.
    """
    if isinstance(points, RowBlocks):
        parts = [
            feature_gradient(who, prepared, block, coefficients, monitor)
            for block in points.blocks()
        ]
        return np.concatenate(parts)
    rows = _rows(who, points)
    if isinstance(prepared.kernel, Linear):
        return np.broadcast_to(coefficients, (len(rows), *coefficients.shape)).copy()
    kernel = prepared.kernel
    if isinstance(kernel, Of) and kernel.is_linear_map() and hasattr(kernel.phi, "gradient"):
        return np.asarray(kernel.phi.gradient(rows.raw, coefficients))
    if isinstance(kernel, Of) and kernel.is_linear_map() and hasattr(kernel.phi, "pullback"):
        slopes = [np.broadcast_to(w, (len(rows), len(w))) for w in coefficients.T]
        return np.stack([kernel.pullback(rows, one) for one in slopes], axis=2)
    X = rows.dense().astype(np.float64)
    spread = X.std(axis=0) + 0.1 * np.abs(X).max(initial=0.0)
    noise = np.random.default_rng(0).normal(size=(len(coefficients), rows.n_columns))
    Z = Matrix(X.mean(axis=0) + np.where(spread > 0, spread, 1.0) * noise)
    features = np.concatenate([np.asarray(_dense(band)) for _, band in prepared.map_bands(Z)])
    size = np.abs(features).max(axis=0)
    size = np.where(size > 0, size, 1.0)[:, None]
    c = lstsq(features.T / size, coefficients / size, lapack_driver="gelsy")[0]
    left = np.abs(features.T @ c - coefficients).max(initial=0.0)
    if left > ENOUGH * np.abs(coefficients).max(initial=0.0):
        must = "the function of features must be a sum of kernels to have a gradient"
        got = f"a relative error of {left / np.abs(coefficients).max():.1e}"
        raise KernelError(sentence(who, must, got, "Fit with solver='cholesky'."))
    return _slopes(who, Prepared(prepared.kernel, View(Side(Z))), c).at(rows, monitor)


def _dense(band: object) -> object:
    return band.toarray() if hasattr(band, "toarray") else band


def _slopes(who: str, prepared: Prepared, coefficients: Array) -> PointSlopes:
    _rows(who, prepared.points)
    return PointSlopes(prepared.kernel, prepared.view, coefficients)


def _rows(who: str, points: Input) -> Matrix:
    if not isinstance(points, Matrix):
        must = "a gradient is by the columns of rows of numbers"
        raise InputError(sentence(who, must, points.kind))
    return points
