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
    """The number of elements that two sets have in common.

    k(A, B) = |A ∩ B|. Its feature map has one column per element, 1 where the set contains it; the
    cosine form is `SetIntersection().normalized()`. See [1]_.

    References
    ----------
    .. [1] J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004.

    Examples
    --------
    >>> from mercer.kernels import SetIntersection
    >>> SetIntersection()([{"a", "b"}, {"b", "c"}, {"b"}])
    array([[2., 1., 1.],
           [1., 2., 1.],
           [1., 1., 1.]])
    """

    domain = SETS

    def pair(self, x: Any, y: Any) -> float:
        return float(len(x & y))

    def counts(self, x: Any) -> Mapping[Hashable, float]:
        return dict.fromkeys(x, 1.0)


@dataclass(frozen=True, repr=False)
class Tanimoto(Kernel):
    """The share of elements that two sets have in common, also called Jaccard's coefficient.

    k(A, B) = |A ∩ B| / |A ∪ B| for sets, and sum_c min(x_c, y_c) / sum_c max(x_c, y_c) for rows of
    non-negative numbers, with 0 / 0 = 0. It is positive definite [1]_.

    References
    ----------
    .. [1] J. C. Gower, "A general coefficient of similarity and some of its properties",
       Biometrics, 1971.

    Examples
    --------
    >>> from mercer.kernels import Tanimoto
    >>> Tanimoto()([{"a", "b"}, {"b", "c"}, {"b"}]).round(3)
    array([[1.   , 0.333, 0.5  ],
           [0.333, 1.   , 0.5  ],
           [0.5  , 0.5  , 1.   ]])
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
