"""Kernels of histograms: rows of non-negative numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import checks
from ...inputs import ROWS
from ..base import Kernel
from ..pairs import CHI2, MINIMUM, ROOT_RATIO, Pairs


@dataclass(frozen=True, repr=False)
class Intersection(Kernel):
    """The histogram intersection kernel: what two histograms have in common.

    k(x, y) = sum_c min(x_c, y_c) for rows of non-negative numbers, such as counts of words [1]_.

    References
    ----------
    .. [1] M. J. Swain, D. H. Ballard, "Color indexing", International Journal of Computer Vision,
       1991.

    Examples
    --------
    >>> from mercer.kernels import Intersection
    >>> Intersection()([[2.0, 0.0, 1.0], [1.0, 3.0, 1.0]])
    array([[3., 2.],
           [2., 5.]])
    """

    domain = ROWS
    nonnegative = True

    def profile(self, pairs: Pairs) -> Any:
        return pairs.sum(MINIMUM)


@dataclass(frozen=True, repr=False)
class NormalizedIntersection(Kernel):
    """The histogram intersection with every column on its own scale.

    k(x, y) = sum_c min(x_c, y_c) / sqrt(x_c y_c) = sum_c sqrt(min(x_c, y_c) / max(x_c, y_c)), with
    0 / 0 = 0, for rows of non-negative numbers. It divides column by column, where
    `Intersection().normalized()` divides the whole sum. The intersection is that of [1]_.

    References
    ----------
    .. [1] M. J. Swain, D. H. Ballard, "Color indexing", International Journal of Computer Vision,
       1991.

    Examples
    --------
    >>> from mercer.kernels import NormalizedIntersection
    >>> NormalizedIntersection()([[4.0, 0.0], [1.0, 1.0]])
    array([[1. , 0.5],
           [0.5, 2. ]])
    """

    domain = ROWS
    nonnegative = True

    def profile(self, pairs: Pairs) -> Any:
        return pairs.sum(ROOT_RATIO)


@dataclass(frozen=True, repr=False)
class Chi2(Kernel):
    """The exponential chi-squared kernel of histograms.

    k(x, y) = exp(-gamma sum_c (x_c - y_c)**2 / (x_c + y_c)), with 0 / 0 = 0, for rows of
    non-negative numbers [1]_.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width, above 0.

    References
    ----------
    .. [1] J. Zhang, M. Marszałek, S. Lazebnik, C. Schmid, "Local features and kernels for
       classification of texture and object categories", International Journal of Computer Vision,
       2007.

    Examples
    --------
    >>> from mercer.kernels import Chi2
    >>> Chi2(gamma=0.5)([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).round(3)
    array([[1.   , 0.368, 0.607],
           [0.368, 1.   , 0.607],
           [0.607, 0.607, 1.   ]])
    """

    domain = ROWS
    nonnegative = True

    gamma: float = 1.0

    def __post_init__(self) -> None:
        self._set(gamma=checks.number("Chi2", "gamma", self.gamma, above=0))

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(-pairs.sum(CHI2, self.gamma))
