"""Kernels of objects that are computed natively, pair by pair."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _native
from ..checks import Array
from ..inputs import Input
from .base import Kernel


class PairKernel(Kernel, abstract=True):
    """A kernel of objects without explicit features, whose pairs the core computes.

    A subclass defines `pair(x, y)` in plain Python, and the same natively: `encode` lays objects
    out in arrays, without regard to any other collection; `job` makes the programme of two of them.
    """

    in_core = True

    @abstractmethod
    def encode(self, items: Sequence[Any]) -> Any:
        """Return the objects as the programme takes them; refuse those that have no value."""

    @abstractmethod
    def job(self, left: Any, right: Any) -> _native.PairJob:
        """Return the programme of two encoded collections."""

    def encoded(self, points: Input) -> Any:
        """Return the encoded points, made once and kept with them."""
        return points.once(("encoded", self), lambda: self.encode(points.raw))

    def matched(self, left: Input, right: Input) -> Array:
        everything, out = np.arange(len(left)), np.empty(len(left))
        job = self.job(self.encoded(left), self.encoded(right))
        job.matched(everything, everything, out, None)
        return out
