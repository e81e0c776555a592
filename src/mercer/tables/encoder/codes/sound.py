"""What fields of records must be: those of a file may be anything."""

from __future__ import annotations

import math

import numpy as np


def require(holds: bool, what: str) -> None:
    """Refuse a field of a record that no fit would have set, as a file may have."""
    if not holds:
        raise ValueError(what)


def is_real(value: object, above: float = -math.inf) -> bool:
    """Return whether this is a finite number above a bound."""
    return isinstance(value, float | int) and math.isfinite(value) and value > above


def is_floats(value: object, dimensions: int = 1) -> bool:
    """Return whether this is an array of finite numbers in double precision."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype == np.float64
        and value.ndim == dimensions
        and bool(np.isfinite(value).all())
    )


def is_texts(value: object) -> bool:
    """Return whether this is a tuple of distinct texts."""
    if not isinstance(value, tuple) or not all(isinstance(text, str) for text in value):
        return False
    return len(set(value)) == len(value)
