"""Several kernels as factors of low rank, where not even one whole matrix fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...inputs import Input
from ...kernels import Kernel
from ...monitor import Monitor
from ..kinds.tiled import TiledGram
from ..pivots import partial_cholesky
from ..plan import make_plan
from .matrices import ComputedStack

PART = 4  # of the limit: factors, those of some of the points, and rows of a sum have one each


@dataclass(frozen=True, kw_only=True)
class FactorSum:
    """sum_m w_m T_m' T_m, never as a matrix; matrices of weight 0 are left out."""

    factors: list[Array]
    weights: list[float]

    def among(self, points: Array) -> FactorSum:
        """Return the sum between some of the points."""
        if len(points) == self.factors[0].shape[1]:
            return self
        return FactorSum(factors=[T[:, points] for T in self.factors], weights=self.weights)

    def rows(self, rows: Array, out: Array) -> None:
        """Write some rows."""
        out.fill(0)
        for T, weight in zip(self.factors, self.weights, strict=True):
            out += (T[:, rows].T * T.dtype.type(weight)) @ T

    def product(self, b: Array) -> Array:
        """Return the product with a vector, in double precision."""
        found = np.zeros(len(b))
        for T, weight in zip(self.factors, self.weights, strict=True):
            found += weight * (T.T @ (T @ b.astype(T.dtype)))
        return found


class FactorStack(ComputedStack):
    """K_m ~ T_m' T_m from some of the columns of K_m, as many as fit.

    room: bytes for rows of a sum. ranks: of each matrix. left: the largest share of a trace that
    the factors leave out.
    """

    def __init__(
        self, kernels: Sequence[Kernel], points: Input, monitor: Monitor, *, limit: int
    ) -> None:
        super().__init__(kernels, points, np.float32, monitor, limit=limit // PART)
        self.room = limit // PART
        columns, random = factor_columns(self.size, limit), np.random.default_rng(0)
        self.factors: list[Array] = []
        self.left = 0.0
        for done, kernel in enumerate(self.kernels):
            plan = make_plan(kernel, self.view, self.view, self.dtype, self.limit, store=False)
            K = TiledGram(kernel, self.view, self.view, plan, self.dtype, monitor)
            found = partial_cholesky(K, columns // (self.count - done), random, dtype=self.dtype)
            self.factors.append(found.values.copy())
            columns -= len(found.values)
            trace = float(K.diag().sum())
            self.left = max(self.left, float(found.remaining.sum()) / trace if trace > 0 else 0.0)
            monitor.report("kernels", (done + 1) / self.count)
        self.kept = sum(T.nbytes for T in self.factors)

    @property
    def beside(self) -> int:
        return self.room

    @property
    def ranks(self) -> list[int]:
        """How many columns each factor was made of."""
        return [len(T) for T in self.factors]

    def sum(self, weights: Array) -> FactorSum:
        """Return sum_m w_m T_m' T_m."""
        used = np.flatnonzero(weights)
        return FactorSum(
            factors=[self.factors[m] for m in used], weights=[float(weights[m]) for m in used]
        )

    def forms(self, B: Array) -> Array:
        narrow = B.astype(self.dtype)
        return np.array([float(np.square(T @ narrow, dtype=float).sum()) for T in self.factors])

    def whole_forms(self, B: Array) -> Array:
        """Return <K_m, B B'> of every m, from blocks that are computed anew."""
        return super().forms(B)


def factor_columns(size: int, limit: int) -> int:
    """Return how many columns the factors of all matrices may have together."""
    return limit // PART // max(4 * size, 1)
