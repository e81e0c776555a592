"""What Gram matrices that are made from a kernel and two views share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...checks import Array, InputError, sentence
from ...kernels.base import Kernel
from ...kernels.pairs import Diagonal, broadcast
from ...monitor import Monitor
from ..blocks.numpy import BlockPairs
from ..engine import program_of
from ..finite import is_finite, refuse
from ..matrix import Explanation, Gram
from ..plan import Plan
from ..sides import View, index


class ComputedGram(Gram):
    """A Gram made from a kernel and two views."""

    def __init__(
        self, kernel: Kernel, left: View, right: View, plan: Plan, dtype: Any, monitor: Monitor
    ) -> None:
        self.kernel, self.left, self.right = kernel, left, right
        self.plan, self.monitor = plan, monitor
        self.dtype = np.dtype(dtype)
        self.shape = (len(left), len(right))
        self.symmetric = left.same_rows(right)
        self.mirrors = self.symmetric and not kernel.is_user_defined()

    def diag(self) -> Array:
        if not self.symmetric:
            raise InputError(
                sentence("diag", "K must be the Gram of one collection", f"shape {self.shape}")
            )
        whole = self.left.side.once(("diag", self.kernel), self._diagonal)
        if self.checked and not is_finite(whole):
            refuse(self.kernel, [self.left.side.points], np.float64)
        return np.asarray(self.left.cut(whole))

    def _diagonal(self) -> Array:
        points = self.left.side.points
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            return broadcast(self.kernel.profile(Diagonal(points)), (len(points),))

    def restrict(self, rows: Any, columns: Any) -> Gram:
        left = self.left.take(index(rows, self.shape[0], "rows"))
        right = self.right.take(index(columns, self.shape[1], "columns"))
        return self._between(left, right)

    def cells(self, rows: Sequence[Any], columns: Sequence[Any]) -> list[list[Gram]]:
        left = [self.left.take(index(r, self.shape[0], "rows")) for r in rows]
        same = self.symmetric and rows is columns
        right = (
            left if same else [self.right.take(index(c, self.shape[1], "columns")) for c in columns]
        )
        return [[self._between(r, c) for c in right] for r in left]

    def _between(self, left: View, right: View) -> Gram:
        return type(self)(self.kernel, left, right, self.plan, self.dtype, self.monitor)

    def explain(self) -> Explanation:
        program = program_of((self.kernel,), self.left, self.right)
        if program is not None:
            native = program.statistics + program.externals(native=True)
            return explanation(self.kernel, self, native, program.externals(native=False))
        used: tuple[list[str], list[str]] = ([], [])
        if self.shape[0] and self.shape[1]:
            one = self.left.take(slice(0, 1)), self.right.take(slice(0, 1))
            pairs = BlockPairs(*one, self.monitor)
            self.kernel.profile(pairs)
            used = pairs.used()
        return explanation(self.kernel, self, *used)


def explanation(kernel: Kernel, gram: Gram, native: list[str], numpy: list[str]) -> Explanation:
    """Return the explanation of a planned Gram."""
    plan = gram.plan
    return Explanation(
        repr(kernel),
        gram.shape,
        str(gram.dtype),
        plan.kind,
        plan.reason,
        plan.bytes,
        plan.band_rows,
        tuple(native),
        tuple(numpy),
    )
