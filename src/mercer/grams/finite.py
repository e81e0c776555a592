"""Kernel values that are too large or not numbers: refused, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from ..checks import Array, InputError, assume_finite, sentence
from ..inputs import CATEGORIES, Columns, Input, Matrix
from ..kernels.base import Kernel
from ..kernels.pairs import ABSOLUTE, CHI2, SQUARED, UNEQUAL, Pairs, Statistic, broadcast
from ..kernels.transforms import Normalized, Of

WIDE = 1e15  # entries whose squares, times a gamma, may overflow in single precision
WIDE_VALUE = 1e30  # kernel value that single precision holds, but not its sums and products
LARGEST = 1e100  # kernel value whose products, and sums of those, are still numbers
SCALE = "Scale X, for example with sklearn.preprocessing.StandardScaler"


def is_finite(values: Array) -> bool:
    """Return whether all numbers of an array are finite; one sum tells of nearly all arrays."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all())


def refuse(kernel: Kernel, points: list[Input], dtype: Any, must: str = "finite") -> None:
    """Raise the error about kernel values that are too large, unless finite values are assumed."""
    if assume_finite():
        return
    scales = [scale for some in points if (scale := magnitude(some)) is not None]
    among = f" on points with entries up to {max(scales):.3g}" if scales else ""
    single = np.dtype(dtype) == np.float32
    advice = f"{SCALE}, lower gamma or the degree"
    advice += "" if isinstance(kernel, Normalized) else ", or use kernel.normalized()"
    raise InputError(
        sentence(
            kernel.name,
            f"kernel values must be {must} in {np.dtype(dtype)}",
            f"overflow of {kernel!r}{among}",
            advice + (", or hand in X as float64." if single else "."),
        )
    )


def refuse_large(kernel: Kernel, points: Input, diagonal: Array) -> None:
    """Refuse k(x, x) that are not finite or too large: no k(x, y) of a Mercer kernel is larger."""
    if not diagonal.max(initial=0.0) <= LARGEST:
        refuse(kernel, [points], np.float64, f"finite and at most {LARGEST:g}")


def refuse_product(kernel: Kernel) -> None:
    """Raise the error about sums of kernel values that overflow, though no single value does."""
    if not assume_finite():
        must = "sums of kernel values times coefficients must be finite"
        raise InputError(sentence(kernel.name, must, f"overflow of {kernel!r}", f"{SCALE}, and y."))


def magnitude(points: Input) -> float | None:
    """Return the largest entry of rows of numbers, without its sign; None for other points."""
    if not isinstance(points, Matrix):
        return None
    values = points.values.data if scipy.sparse.issparse(points.values) else points.values
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def too_wide(kernel: Kernel, points: Input) -> bool:
    """Return whether single precision has no room for what is calculated with these points."""
    if not isinstance(points, Matrix) or points.values.dtype != np.float32:
        return False
    if kernel.domain == CATEGORIES:  # compared, and not calculated with
        return False
    if (magnitude(points) or 0.0) > WIDE:
        return True
    if kernel.is_user_defined():
        return False
    steady = constant_diagonal(kernel)
    largest = kernel.diag(points).max(initial=0.0) if steady is None else steady
    return not largest <= WIDE_VALUE


class _Equal(Pairs):
    """Pairs of equal points, of which only the distance is known: it is 0."""

    is_matrix = True
    n_columns = 1

    @property
    def seen(self) -> Input:
        raise _Varies

    def statistic(self, statistic: Statistic, weights: tuple[float, ...] | None) -> Any:
        if statistic not in (SQUARED, ABSOLUTE, CHI2, UNEQUAL) and not statistic.family:
            raise _Varies
        return np.zeros(1)

    def sides(self, function: Callable[[Input], Array]) -> tuple[Any, Any]:
        raise _Varies

    def pairwise(self, kernel: Kernel) -> Any:
        raise _Varies

    def given(self) -> Any:
        raise _Varies

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Pairs:
        return self

    def of(self, phi: Callable[[Input], Input]) -> Pairs:
        return self


class _Varies(Exception):
    """Raised where k(x, x) depends on x."""


def constant_diagonal(kernel: Kernel) -> float | None:
    """Return k(x, x) of every x, where distances are all that the kernel looks at; else None.

    Of features that are multiplied it is what k(x, x) is at most.
    """
    if isinstance(kernel, Of) and kernel.is_linear_map():
        return getattr(kernel.phi, "norm_bound_", None)
    try:
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            found = broadcast(kernel.profile(_Equal()), (1,))
    except _Varies:
        return None
    return float(found[0])


def roomy(kernel: Kernel, points: Input) -> Input:
    """Return the points in a precision that has room for their features."""
    if isinstance(points, Matrix) and too_wide(kernel, points):
        return Matrix(points.values.astype(np.float64), points.names)
    return points
