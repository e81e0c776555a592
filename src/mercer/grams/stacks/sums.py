"""Weighted sums of matrices whose weights move: most of them without a look at the matrices."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...checks import Array
from .matrices import BAND_OF_ONE, MatrixStack, quadratic_form

RENEWAL = 32  # updates of a sum after which it is made anew, for the sake of rounding
ROUNDING = 8 * float(np.finfo(float).eps)  # of a weight, in units of what it is the sum of


class KeptSum:
    """sum_m w_m K_m of weights that change, updated where that reads fewer matrices.

    age: the updates since it was last made from all of its matrices.
    """

    def __init__(self, stack: MatrixStack) -> None:
        self.stack = stack
        self.weights = np.zeros(stack.count)
        self.values = np.zeros((stack.size, stack.size), dtype=stack.dtype)
        self.age = 0

    def change(self, weights: Array) -> None:
        """Make it the sum of these weights."""
        away = weights - self.weights
        changed = np.count_nonzero(away)
        if self.age >= RENEWAL or changed >= np.count_nonzero(weights):
            self.values.fill(0)
            self.stack.add(self.values, weights)
            self.age = 0
        elif changed:
            self.stack.add(self.values, away)
            self.age += 1
        self.weights = weights


class WeightedSums:
    """sum_m w_m K_m at any weights, and at weights w = start + t along.

    On a line three matrices are kept: the sum at the start, the change of it by t, and the sum that
    was asked for last. A sum on the line is made of the first two. A line that starts at the last
    sum, in a direction of which few entries have changed, asks for the matrices of these alone.
    """

    def __init__(self, stack: MatrixStack) -> None:
        self.stack = stack
        self._last = KeptSum(stack)

    @cached_property
    def _start(self) -> KeptSum:
        return KeptSum(self.stack)

    @cached_property
    def _along(self) -> KeptSum:
        return KeptSum(self.stack)

    def of(self, weights: Array) -> Array:
        """Return the sum of these weights; it is valid until the next one."""
        self._last.change(weights)
        return self._last.values

    def follow(self, start: Array, along: Array) -> None:
        """Go over to another line."""
        if np.array_equal(start, self._last.weights):
            self._start, self._last = self._last, self._start
        self._start.change(start)
        self._along.change(along)

    def at(self, step: float, weights: Array) -> Array:
        """Return the sum where t = step; it is valid until the next one.

        weights: those there, but for some that were made 0; their matrices are taken off.
        """
        start, along, last = self._start, self._along, self._last
        rows = max(16, BAND_OF_ONE // max(start.values[0].nbytes, 1))
        factor = start.values.dtype.type(step)
        for first in range(0, len(start.values), rows):
            band = slice(first, first + rows)
            np.multiply(along.values[band], factor, out=last.values[band])
            last.values[band] += start.values[band]
        way = step * along.weights
        away = weights - start.weights - way
        away[np.abs(away) <= ROUNDING * (np.abs(start.weights) + np.abs(way))] = 0.0
        self.stack.add(last.values, away)
        last.weights, last.age = weights, start.age + 1
        return last.values

    def slope(self, B: Array) -> float:
        """Return the derivative of <sum_m w_m K_m, B B'> by t."""
        return quadratic_form(self._along.values, B)
