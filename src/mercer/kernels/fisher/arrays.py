"""What the models of the Fisher kernel are made of: checked arrays, kept as nested tuples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import Array, InputError, InputTypeError, sentence, show

WHO = "Fisher"
ROUNDING = 1e-6  # by which probabilities may miss 1: that of single precision


def dimensions(value: Any) -> int:
    """Return how deep an array is nested; 0 if it is not an array."""
    try:
        return np.ndim(value)
    except ValueError:  # rows of different lengths, which `numbers` refuses
        return 0


def numbers(name: str, value: Any, shape: tuple[int | None, ...]) -> Array:
    """Return `value` as finite float64 of a shape, None standing for any length above 0."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        must = f"{name} must be an array of numbers"
        raise InputTypeError(sentence(WHO, must, show(value))) from None
    fits = array.ndim == len(shape) and all(
        length > 0 and wanted in (None, length)
        for length, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        text = ", ".join("any" if length is None else str(length) for length in shape)
        must = f"{name} must have shape ({text})"
        raise InputError(sentence(WHO, must, f"shape {array.shape}"))
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        must = f"{name} must have finite numbers only"
        raise InputError(sentence(WHO, must, f"{array[place]} at {place}"))
    return array


def probabilities(name: str, value: Any, shape: tuple[int | None, ...]) -> Array:
    """Return numbers, checked to be one distribution, or one in each row."""
    array = numbers(name, value, shape)
    for index, row in enumerate(np.atleast_2d(array)):
        where = name if array.ndim == 1 else f"row {index} of {name}"
        if row.min() < 0 or row.max() > 1 + ROUNDING:
            got = f"{row[(row < 0) | (row > 1)][0]:g}"
            raise InputError(sentence(WHO, f"{where} must have probabilities only", got))
        if abs(row.sum() - 1.0) > ROUNDING:
            raise InputError(sentence(WHO, f"{where} must sum to 1", f"{row.sum():.9g}"))
    return array


def nested(array: Array) -> tuple[Any, ...]:
    """Return an array as tuples of tuples of numbers."""
    return _tuples(array.tolist())


def _tuples(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(one) if isinstance(one, list) else one for one in values)


def over_root(values: Array, probability: Array) -> Array:
    """Return values / sqrt(p), and 0 where p = 0: nothing varies there."""
    possible = probability > 0
    return np.where(possible, values / np.sqrt(np.where(possible, probability, 1.0)), 0.0)
