"""Parameters shared by kernels on rows: a bandwidth for all columns, one each, or from data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array, InputTypeError, sentence
from ..inputs import Input, Matrix, RowBlocks
from .pairs import as_matrix

Bandwidth = float | tuple[float, ...] | str


def bandwidth(who: str, name: str, value: Any) -> Bandwidth:
    """Return a positive number, a tuple of one number >= 0 per column, "scale" or "auto"."""
    if isinstance(value, np.ndarray | list | tuple):
        if len(value) == 0:
            must = f"{name} must have one number per column"
            raise checks.InputError(sentence(who, must, "none"))
        return tuple(
            checks.number(who, f"{name}[{i}]", one, least=0) for i, one in enumerate(value)
        )
    return one_bandwidth(who, name, value)


def one_bandwidth(who: str, name: str, value: Any) -> float | str:
    """Return a positive number, "scale" or "auto": one parameter for all columns."""
    if isinstance(value, str):
        return checks.one_of(who, name, value, ("scale", "auto"))
    return checks.number(who, name, value, above=0)


def lengths(who: str, name: str, value: Any, words: bool = False) -> Bandwidth:
    """Return one positive length or one per column; with `words`, also "scale" or "auto"."""
    if isinstance(value, str) and not words:
        raise checks.InputTypeError(sentence(who, f"{name} must be a number above 0", repr(value)))
    found = bandwidth(who, name, value)
    if isinstance(found, tuple):
        return tuple(
            checks.number(who, f"{name}[{i}]", one, above=0) for i, one in enumerate(found)
        )
    return found


def each_length(change: Callable[[float], float], value: Bandwidth) -> Any:
    """Return a function of one bandwidth, or of each; a word stays as it is."""
    if isinstance(value, str):
        return value
    return tuple(map(change, value)) if isinstance(value, tuple) else change(value)


def data_bandwidth(how: str, points: Input, weight: Array | None, power: float = 1.0) -> float:
    """Return the bandwidth that the data suggest.

    "auto" is 1/d. "scale" is 1/(d var**power) with the variance of all entries: scikit-learn's rule
    at power 1, and its counterpart for distances that are not squared at power 1/2.
    """
    width, variance = _moments(points, weight)
    if how == "auto":
        return 1.0 / max(width, 1)
    return 1.0 / (width * variance**power) if variance > 0 else 1.0


def data_length(how: str, points: Input, weight: Array | None) -> float:
    """Return the length that the data suggest for one column: "scale" is std(X), "auto" is 1."""
    _, variance = _moments(points, weight)
    return float(variance**0.5) if how == "scale" and variance > 0 else 1.0


def _moments(points: Input, weight: Array | None) -> tuple[int, float]:
    """Return the number of columns and the (row-weighted) variance of all entries."""
    if weight is None and isinstance(points, Matrix) and not points.is_sparse:
        return points.n_columns, float(points.values.var(dtype=np.float64))
    if not isinstance(points, Matrix | RowBlocks):
        raise InputTypeError(
            sentence("resolve", '"scale" and "auto" need rows of numbers', points.kind)
        )
    # Two passes, so that an offset of the data costs no digits.
    blocks = points if isinstance(points, RowBlocks) else RowBlocks([points], convert=_as_it_is)

    def own(rows: slice) -> Array | None:
        return None if weight is None else weight[rows]

    sums = [found for _, found in blocks.each(_first_moments, own)]
    width, (total, count) = sums[0][0], np.sum([found[1:] for found in sums], axis=0)
    mean = float(total / count) if count else 0.0
    squares = blocks.each(partial(_second_moment, mean), own)
    spread = sum(found for _, found in squares)
    return width, (spread / float(count) if count else 0.0)


def _as_it_is(block: Input, who: str) -> Input:
    return block


def _first_moments(block: Input, weight: Array | None) -> tuple[int, float, float]:
    """Return the number of columns, the weighted sum of all entries, and that of the weights."""
    rows = as_matrix(block)
    each = np.asarray(rows.values.sum(axis=1, dtype=np.float64)).ravel()
    weight = np.ones(len(rows)) if weight is None else weight
    return rows.n_columns, float(weight @ each), float(weight.sum()) * rows.n_columns


def _second_moment(mean: float, block: Input, weight: Array | None) -> float:
    found = _squares_around(as_matrix(block), mean)
    return float(found.sum() if weight is None else weight @ found)


def _weights(weight: Array | None, start: int, length: int) -> Array:
    return np.ones(length) if weight is None else weight[start : start + length]


def _squares_around(block: Matrix, mean: float) -> Array:
    """Return sum_c (x_c - mean)**2 of each row; the zeros of a sparse row count too."""
    if not block.is_sparse:
        return np.asarray(((block.values.astype(np.float64, copy=False) - mean) ** 2).sum(axis=1))
    moved = block.values.astype(np.float64, copy=True)
    zeros = block.n_columns - np.diff(moved.indptr)
    moved.data = (moved.data - mean) ** 2
    return np.asarray(np.asarray(moved.sum(axis=1)).ravel() + zeros * mean**2)
