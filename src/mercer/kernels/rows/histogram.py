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
    """k(x, y) = sum_c min(x_c, y_c), what two bags of words or histograms have in common."""

    domain = ROWS
    nonnegative = True

    def profile(self, pairs: Pairs) -> Any:
        return pairs.sum(MINIMUM)


@dataclass(frozen=True, repr=False)
class NormalizedIntersection(Kernel):
    """k(x, y) = sum_c min(x_c, y_c) / sqrt(x_c y_c) = sum_c sqrt(min/max), with 0/0 = 0."""

    domain = ROWS
    nonnegative = True

    def profile(self, pairs: Pairs) -> Any:
        return pairs.sum(ROOT_RATIO)


@dataclass(frozen=True, repr=False)
class Chi2(Kernel):
    """k(x, y) = exp(-gamma sum_c (x_c - y_c)**2 / (x_c + y_c)), with 0/0 = 0."""

    domain = ROWS
    nonnegative = True

    gamma: float = 1.0

    def __post_init__(self) -> None:
        self._set(gamma=checks.number("Chi2", "gamma", self.gamma, above=0))

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(-pairs.sum(CHI2, self.gamma))
