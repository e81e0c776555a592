"""Kernels of categories: columns whose values are equal or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...inputs import CATEGORIES, Input
from ..base import Kernel
from ..pairs import UNEQUAL, Pairs, as_matrix
from ..parameters import Bandwidth, bandwidth


@dataclass(frozen=True, repr=False)
class Categorical(Kernel):
    """k(x, y) = exp(-gamma times the number of columns in which x and y differ).

    Columns may hold numbers or, in a data frame, words; gamma may be one number a column.
    """

    domain = CATEGORIES

    gamma: Bandwidth = 1.0

    def __post_init__(self) -> None:
        self._set(gamma=bandwidth("Categorical", "gamma", self.gamma))

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(-pairs.sum(UNEQUAL, self.gamma))

    def from_data(self, name: str, points: Input, weight: Array | None) -> float:
        return 1.0 / max(as_matrix(points).n_columns, 1)
