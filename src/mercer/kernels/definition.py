"""The definition of a kernel: its profile on the plainest pairs there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Array
from ..inputs import Columns, Input, Matrix
from .pairs import Pairs, Statistic, broadcast, column_weights, given_block, loop, matrices

if TYPE_CHECKING:
    from .base import Kernel


@dataclass(frozen=True)
class Definition(Pairs):
    """The definition: float64, differences taken directly, column by column."""

    left: Input
    right: Input

    @property
    def is_matrix(self) -> bool:
        return isinstance(self.left, Matrix)

    def statistic(self, statistic: Statistic, weights: tuple[float, ...] | None) -> Array:
        X, Y = matrices(self.left, self.right)
        total = np.zeros((len(X), len(Y)))
        for c, weight in enumerate(column_weights(weights, X.shape[1])):
            total += weight * statistic.of(X[:, c, None], Y[None, :, c])
        return total

    def sides(self, function: Callable[[Input], Array]) -> tuple[Array, Array]:
        return function(self.left)[:, None], function(self.right)[None, :]

    def pairwise(self, kernel: Kernel) -> Array:
        return loop(kernel, self.left, self.right)

    def given(self) -> Array:
        return given_block(self.left, self.right)

    def on(self, columns: Columns, domain: frozenset[str], who: str) -> Definition:
        left = self.left.on(columns, domain, who)
        same = self.left is self.right
        return Definition(left, left if same else self.right.on(columns, domain, who))

    def of(self, phi: Callable[[Input], Input]) -> Definition:
        left = phi(self.left)
        return Definition(left, left if self.left is self.right else phi(self.right))


def evaluate_definition(kernel: Kernel, X: Any, Y: Any = None) -> Array:
    """Return the Gram block K(X, Y) straight from the definition."""
    left = kernel.admit(X)
    right = left if Y is None else kernel.admit(Y)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        values = kernel.profile(Definition(left, right))
    return broadcast(values, (len(left), len(right)))
