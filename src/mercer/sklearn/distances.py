"""Euclidean distances as the engine computes them: profiles like those of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs import ROWS
from ..kernels.base import Kernel
from ..kernels.pairs import ABSOLUTE, SQUARED, Pairs


@dataclass(frozen=True, repr=False)
class SquaredDistance(Kernel, abstract=True):
    """||x - y||**2, which is not a kernel: it is written as one for the engine, and stays here."""

    domain = ROWS

    def profile(self, pairs: Pairs) -> Any:
        return pairs.sum(SQUARED)


@dataclass(frozen=True, repr=False)
class Distance(Kernel, abstract=True):
    """||x - y||, in the same form."""

    domain = ROWS

    def profile(self, pairs: Pairs) -> Any:
        return np.sqrt(pairs.sum(SQUARED))


@dataclass(frozen=True, repr=False)
class SquaredNearness(Kernel, abstract=True):
    """-||x - y||**2, of which the largest values are those of the nearest points."""

    domain = ROWS

    def profile(self, pairs: Pairs) -> Any:
        return -pairs.sum(SQUARED)


@dataclass(frozen=True, repr=False)
class CityBlockNearness(Kernel, abstract=True):
    """-sum_c |x_c - y_c|, in the same form."""

    domain = ROWS

    def profile(self, pairs: Pairs) -> Any:
        return -pairs.sum(ABSOLUTE)


NEARNESS: dict[str, tuple[Kernel, int]] = {  # by the name of a metric: that, and the power it is of
    "euclidean": (SquaredNearness(), 2),
    "manhattan": (CityBlockNearness(), 1),
}
