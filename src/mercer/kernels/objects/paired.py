"""Kernels of objects that are computed natively, pair by pair."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from ...checks import Array
from ...inputs import Input
from ..base import Kernel


class Program(Protocol):
    """Computes k of pairs of two encoded collections; a native job is one."""

    def store(
        self,
        rows: Array,
        columns: Array,
        same: bool,
        first: int,
        last: int,
        out: Array,
        stop: Callable[[], bool] | None,
    ) -> bool:
        """Compute the rows from first to last with all columns; False if `stop` said so.

        same: rows and columns are the same objects; half is computed, and mirrored.
        """

    def matched(self, i: Array, j: Array, out: Array, stop: Callable[[], bool] | None) -> bool:
        """Compute k of the pairs (i, j); False if `stop` said so."""


class PairKernel(Kernel, abstract=True):
    """A kernel of objects without explicit features, whose pairs native code computes.

    k(x, y) is defined by `pair(x, y)` in plain Python, as for every kernel of objects [1]_, and
    computed by a native program: `encode` lays objects out in arrays, each collection on its own,
    and `job` makes the program for two encoded collections. A kernel without native code is a plain
    `Kernel` with a `pair` method.

    References
    ----------
    .. [1] D. Haussler, "Convolution kernels on discrete structures", 1999.

    Examples
    --------
    >>> from mercer.kernels import PairKernel, Substring
    >>> kernel = Substring(decay=0.5)
    >>> isinstance(kernel, PairKernel), kernel.pair("ab", "ab")
    (True, 1.25)
    """

    is_native = True

    @abstractmethod
    def encode(self, items: Sequence[Any]) -> Any:
        """Return the objects as the program takes them; refuse those that have no value.

        Parameters
        ----------
        items : sequence
            The objects.

        Returns
        -------
        object
            Arrays, or a native value, that `job` takes.
        """

    @abstractmethod
    def job(self, left: Any, right: Any) -> Program:
        """Return the program for two encoded collections.

        Parameters
        ----------
        left : object
            What `encode` returned for the rows.
        right : object
            What `encode` returned for the columns.

        Returns
        -------
        Program
            Computes k of chosen pairs.
        """

    def encoded(self, points: Input) -> Any:
        """Return the encoded points, made once and kept with them.

        Parameters
        ----------
        points : Input
            The objects.

        Returns
        -------
        object
            What `encode` returns.
        """
        return points.once(("encoded", self), lambda: self.encode(points.raw))

    def matched(self, left: Input, right: Input) -> Array:
        everything, out = np.arange(len(left)), np.empty(len(left))
        job = self.job(self.encoded(left), self.encoded(right))
        job.matched(everything, everything, out, None)
        return out


def portions(sizes: Sequence[int], most: int) -> Iterator[slice]:
    """Yield which objects are taken together: up to `most` in all, or a single larger one."""
    first = total = 0
    for index, size in enumerate(sizes):
        if index > first and total + size > most:
            yield slice(first, index)
            first, total = index, 0
        total += size
    if sizes:
        yield slice(first, len(sizes))
