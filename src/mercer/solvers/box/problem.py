"""Quadratic problems in a box: what is to be solved, and what an optimum is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...checks import Array
from ...status import Status


@dataclass(frozen=True, kw_only=True)
class BoxProblem:
    """min 1/2 b' K b + linear' b + kink |b|_1 over lower <= b <= upper, with lower <= 0 <= upper.

    offset: the sum of b is that of `start`. split: so are the sum of its positive and that of its
    negative numbers. Where neither holds there is no further condition.
    """

    linear: Array
    lower: Array
    upper: Array
    start: Array
    kink: float = 0.0
    offset: bool = True
    split: bool = False

    def restricted(self, chosen: Array) -> BoxProblem:
        """Return the problem of some of the variables, those left out being 0."""
        return replace(
            self,
            linear=self.linear[chosen],
            lower=self.lower[chosen],
            upper=self.upper[chosen],
            start=self.start[chosen],
        )

    def free(self, b: Array) -> Array:
        """Return the variables that are between their bounds and not 0."""
        return np.flatnonzero((b > self.lower) & (b < self.upper) & (b != 0))

    def slopes(self, b: Array) -> tuple[Array, Array]:
        """Return what the kink adds to the slope upwards and downwards, infinite at a bound.

        The two are the same for a variable that is free to move both ways along one slope.
        """
        up = np.where(b >= self.upper, np.inf, 0.0)
        down = np.where(b <= self.lower, -np.inf, 0.0)
        if self.kink:
            up += np.where(b >= 0, self.kink, -self.kink)
            down += np.where(b > 0, self.kink, -self.kink)
        return up, down

    def sides(self, b: Array) -> list[tuple[Array, Array]]:
        """Return which variables may rise while others fall; one side, or those about 0 apart."""
        if self.split:
            return [(b >= 0, b > 0), (b < 0, b <= 0)]
        return [(np.ones(len(b), dtype=bool),) * 2]

    def balanced(self) -> bool:
        """Return whether the start has as much above 0 as below."""
        return bool(abs(self.start.sum()) <= 1e-12 * np.abs(self.start).sum())

    def violation(self, b: Array, g: Array, unsure: Array | float = 0.0) -> float:
        """Return by how much b misses the conditions of an optimum; g = K b + linear.

        unsure: by how much each number of g may be off, which does not count as a violation.
        """
        up, down = self.slopes(b)
        rising, falling = g + up + unsure, g + down - unsure
        if self.offset and not self.split:
            return _gap(rising, falling)
        if self.offset:
            return max(_gap(rising[u], falling[d]) for u, d in self.sides(b))
        return max(0.0, float((-rising).max(initial=0.0)), float(falling.max(initial=0.0)))

    def objective(self, b: Array, g: Array) -> float:
        """Return the value at b; g = K b + linear."""
        return float(b @ (g + self.linear)) / 2 + self.kink * float(np.abs(b).sum())


def _gap(rising: Array, falling: Array) -> float:
    low, high = rising.min(initial=np.inf), falling.max(initial=-np.inf)
    return max(0.0, float(high - low)) if np.isfinite(low) and np.isfinite(high) else 0.0


@dataclass(frozen=True, kw_only=True)
class BoxSolution:
    """b, g = K b + linear, and how far that is from the optimum.

    rounding: how much of the violation may be rounding of K b; status "rounding" says that the
    rest is within the tolerance.
    """

    b: Array
    g: Array
    status: Status
    violation: float
    rounding: float
    objective: float
    iterations: int
