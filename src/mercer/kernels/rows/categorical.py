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
    """The kernel of categories, whose value falls with the number of columns that differ.

    k(x, y) = exp(-sum_c gamma_c [x_c != y_c]), with one gamma for all columns or one per column;
    see [1]_. Columns may hold numbers or, in a data frame, words.

    Parameters
    ----------
    gamma : float, tuple of float, "scale" or "auto", default=1.0
        How much a column that differs counts. "scale" and "auto" are both 1 / d, for d columns.

    References
    ----------
    .. [1] R. I. Kondor, J. Lafferty, "Diffusion kernels on graphs and other discrete input spaces",
       ICML, 2002.

    Examples
    --------
    >>> from mercer.kernels import Categorical
    >>> Categorical(gamma=0.5)([[0, 1], [0, 2], [3, 2]]).round(3)
    array([[1.   , 0.607, 0.368],
           [0.607, 1.   , 0.607],
           [0.368, 0.607, 1.   ]])
    """

    domain = CATEGORIES

    gamma: Bandwidth = 1.0

    def __post_init__(self) -> None:
        self._set(gamma=bandwidth("Categorical", "gamma", self.gamma))

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(-pairs.sum(UNEQUAL, self.gamma))

    def from_data(self, name: str, points: Input, weight: Array | None) -> float:
        return 1.0 / max(as_matrix(points).n_columns, 1)
