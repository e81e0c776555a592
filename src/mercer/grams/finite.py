"""Kernel values that are no numbers: found where they leave the engine, refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..checks import Array, InputError, assume_finite, sentence
from ..inputs import Input, Matrix
from ..kernels.base import Kernel
from .views import View


def is_finite(values: Array) -> bool:
    """Return whether all numbers of an array are finite; one sum tells of nearly all arrays."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all())


def refuse(kernel: Kernel, left: View, right: View, dtype: Any) -> None:
    """Raise the error about kernel values that overflow, unless numbers are taken on trust."""
    if assume_finite():
        return
    scales = [scale for view in (left, right) if (scale := magnitude(view.side.points)) is not None]
    among = f" on points with entries up to {max(scales):.3g}" if scales else ""
    single = np.dtype(dtype) == np.float32
    raise InputError(
        sentence(
            kernel.name,
            f"kernel values must be finite in {np.dtype(dtype)}",
            f"overflow of {kernel!r}{among}",
            "Scale X, for example with sklearn.preprocessing.StandardScaler, lower gamma or the "
            "degree, or use kernel.normalized()"
            + (", or hand in X as float64." if single else "."),
        )
    )


def refuse_product(kernel: str) -> None:
    """Raise the error about sums of kernel values that overflow, though none of these does."""
    if not assume_finite():
        must = "sums of kernel values times coefficients must be finite"
        advice = "Scale X and y, for example with sklearn.preprocessing.StandardScaler."
        raise InputError(sentence("Gram", must, f"overflow with {kernel}", advice))


def magnitude(points: Input) -> float | None:
    """Return the largest entry of rows of numbers, without its sign; None of other points."""
    if not isinstance(points, Matrix):
        return None
    values = points.values.data if scipy.sparse.issparse(points.values) else points.values
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
