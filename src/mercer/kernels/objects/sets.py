"""Kernels of sets."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...inputs import ROWS, SETS, Input, Matrix
from ..base import Kernel
from ..pairs import MINIMUM, Pairs
from .counted import CountKernel


@dataclass(frozen=True, repr=False)
class SetIntersection(CountKernel):
    """k(A, B) = |A & B|, the number of common elements; `.normalized()` is its cosine form."""

    domain = SETS

    def pair(self, x: Any, y: Any) -> float:
        return float(len(x & y))

    def counts(self, x: Any) -> Mapping[Hashable, float]:
        return dict.fromkeys(x, 1.0)


@dataclass(frozen=True, repr=False)
class Tanimoto(Kernel):
    """k(A, B) = |A & B| / |A | B| for sets, sum min / sum max for rows of counts; 0/0 = 0.

    Gower, "A general coefficient of similarity and some of its properties" (1971).
    """

    domain = SETS | ROWS
    nonnegative = True

    def profile(self, pairs: Pairs) -> Any:
        left, right = pairs.sides(_size)
        common = pairs.sum(MINIMUM) if pairs.is_matrix else pairs.pairwise(SetIntersection())
        # Where the union is empty so is the intersection: 0 over any number is the wanted 0.
        return common / np.maximum(left + right - common, _TINY)


_TINY = 1e-37  # above zero in float32 too


def _size(points: Input) -> Array:
    """Return |A| of every set, or the sum of every row."""
    if isinstance(points, Matrix):
        return np.asarray(points.values.sum(axis=1, dtype=np.float64)).ravel()
    return np.array([float(len(x)) for x in points.raw])
