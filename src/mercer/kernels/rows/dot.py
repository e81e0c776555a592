"""Kernels of the dot product x.y on rows of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import comb
from typing import Any

import numpy as np
import scipy.sparse

from ... import checks
from ...checks import Array
from ...inputs import ROWS, Input
from ..algebra import HIGHEST, tensor
from ..base import Basis, Kernel
from ..pairs import DOT, Pairs, as_matrix
from ..parameters import one_bandwidth


@dataclass(frozen=True, repr=False)
class Linear(Kernel):
    """k(x, y) = x.y, whose feature map is the identity."""

    domain = ROWS

    def profile(self, pairs: Pairs) -> Any:
        return pairs.sum(DOT)

    def _basis(self, points: Input) -> Basis:
        return Basis(as_matrix(points).n_columns)

    def expand(self, points: Input, basis: Basis) -> Any:
        values = as_matrix(points).values
        return scipy.sparse.csr_array(values) if scipy.sparse.issparse(values) else values.copy()


@dataclass(frozen=True, repr=False)
class Polynomial(Kernel):
    """k(x, y) = (gamma x.y + coef0)**degree with gamma > 0 and coef0 >= 0.

    Its map has a block for every j <= degree: the j-fold tensor power of x times
    sqrt(C(degree, j) coef0**(degree-j) gamma**j); for degree 2 these are 1, sqrt(2) x, x (x) x.
    """

    domain = ROWS

    degree: int = 3
    gamma: float | str = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        reason = (
            "A negative coef0 breaks the Mercer property: the map would need an imaginary part."
        )
        self._set(
            degree=checks.whole("Polynomial", "degree", self.degree, least=1, most=HIGHEST),
            gamma=one_bandwidth("Polynomial", "gamma", self.gamma),
            coef0=checks.number("Polynomial", "coef0", self.coef0, least=0, advice=reason),
        )

    def profile(self, pairs: Pairs) -> Any:
        return (pairs.sum(DOT, self.gamma) + self.coef0) ** self.degree

    def _basis(self, points: Input) -> Basis:
        width = as_matrix(points).n_columns
        return Basis(sum(width**j for j in range(self.degree + 1) if self._weight(j)))

    def _weight(self, j: int) -> float:
        """Return the weight of (x.y)**j in the binomial expansion."""
        return comb(self.degree, j) * self.coef0 ** (self.degree - j) * float(self.gamma) ** j

    def expand(self, points: Input, basis: Basis) -> Array:
        rows = as_matrix(points).dense()
        blocks = [
            np.sqrt(self._weight(j)) * reduce(tensor, [rows] * j, np.ones((len(rows), 1)))
            for j in range(self.degree + 1)
            if self._weight(j)
        ]
        return np.hstack(blocks)


@dataclass(frozen=True, repr=False)
class ExpDot(Kernel):
    """k(x, y) = exp(gamma x.y), the sum of all powers of the dot product."""

    domain = ROWS

    gamma: float | str = 1.0

    def __post_init__(self) -> None:
        self._set(gamma=one_bandwidth("ExpDot", "gamma", self.gamma))

    def profile(self, pairs: Pairs) -> Any:
        return np.exp(pairs.sum(DOT, self.gamma))


@dataclass(frozen=True, repr=False)
class Sigmoid(Kernel):
    """k(x, y) = tanh(gamma x.y + coef0), which is not Mercer on all data: see `check_kernel`."""

    domain = ROWS

    gamma: float | str = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        self._set(
            gamma=one_bandwidth("Sigmoid", "gamma", self.gamma),
            coef0=checks.number("Sigmoid", "coef0", self.coef0),
        )

    def profile(self, pairs: Pairs) -> Any:
        return np.tanh(pairs.sum(DOT, self.gamma) + self.coef0)
