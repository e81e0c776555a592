"""A kernel written down with its derivatives, and their values on tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ... import _native
from ...checks import Array, KernelError, sentence
from ...inputs import Input
from ...kernels.base import Kernel
from ...kernels.pairs import Diagonal, Pairs, Statistic, Weights
from ...monitor import Monitor
from ..blocks.numpy import BlockPairs
from ..engine import NativeTile, too_sparse
from ..sides import Side, View
from ..trace.derive import derivatives, number, settled, values
from ..trace.lower import Path, Program, Recorder, Trace, assemble, follow
from ..trace.symbols import Node, Unlowerable, as_node
from .tagged import ColumnWeights, has_symbols, untagged


@dataclass
class SlopeTrace(Trace):
    """A trace of a kernel that may have symbols for parameters.

    owners: the kernel, with its symbols, whose function gives the values of a side, by its number.
    moved: the kernels with symbols whose function makes a new representation, by its path.
    """

    owners: dict[int, Kernel] = field(default_factory=dict)
    moved: dict[Path, Kernel] = field(default_factory=dict)

    def value(self, kernel: Kernel) -> Any:
        if not has_symbols(kernel):
            return super().value(kernel)
        try:
            return as_node(kernel.profile(self))
        except (Unlowerable, TypeError):
            return self.external(kernel)

    def external(self, kernel: Kernel) -> Node:
        if has_symbols(kernel):
            must = "its derivative by the parameters asked for must be known"
            advice = "Kernels whose profile is made of statistics and arithmetic have it."
            raise KernelError(sentence(kernel.name, must, repr(untagged(kernel)), advice))
        return super().external(kernel)

    def sum(self, statistic: Statistic, weights: Weights | Node = None) -> Any:
        if isinstance(weights, Node):
            found = weights * self.statistic(statistic, None)
            self._note(statistic, abs(number(weights)))
            return found
        return super().sum(statistic, weights)

    def statistic(self, statistic: Statistic, weights: Any) -> Node:
        if weights is None or not has_symbols(weights):
            return super().statistic(statistic, weights)
        symbols = tuple(as_node(one) for one in weights)
        return super().statistic(statistic, ColumnWeights.of(symbols))

    def sides(self, function: Callable[[Input], Array]) -> tuple[Node, Node]:
        owner = getattr(function, "__self__", None)
        plain = function
        if isinstance(owner, Kernel) and has_symbols(owner):
            plain = getattr(untagged(owner), getattr(function, "__name__", ""))
        found = super().sides(plain)
        if isinstance(owner, Kernel):
            self.owners[found[0].index] = owner
        return found

    def apply(self, function: Callable[[Any], Any], values: Any) -> Any:
        if not hasattr(function, "slope") or has_symbols(function):
            raise Unlowerable("this function has no derivative")
        return Node("function", (as_node(values),), function=function)

    def of(self, phi: Callable[[Input], Input]) -> Trace:
        owner = getattr(phi, "__self__", None)
        if not isinstance(owner, Kernel) or not has_symbols(owner):
            return super().of(phi)
        found = super().of(getattr(untagged(owner), getattr(phi, "__name__", "")))
        self.moved[found.path] = owner
        return found


@dataclass(frozen=True, kw_only=True)
class Written:
    """What a kernel computes, as symbols, with what it asks for.

    owners, moved: as in `SlopeTrace`.
    """

    kernel: Kernel
    root: Node
    recorder: Recorder
    owners: dict[int, Kernel]
    moved: dict[Path, Kernel]

    @staticmethod
    def of(kernel: Kernel, points: Input) -> Written:
        """Return a kernel written down; points: any that show what all are like."""
        sample = View(Side(points.take(slice(0, 2))))
        trace = SlopeTrace(sample, Recorder())
        root = trace.value(kernel)
        return Written(
            kernel=untagged(kernel),
            root=root,
            recorder=trace.recorder,
            owners=trace.owners,
            moved=trace.moved,
        )

    def statistics(self) -> list[Node]:
        """Return the symbols of the statistics, by number."""
        found = _leaves(self.root)
        count = len(self.recorder.statistics)
        usual = [Node("statistic", index=place) for place in range(count)]
        other = [Node("expanded", index=place) for place in range(count)]
        return [b if b in found else a for a, b in zip(usual, other, strict=True)]

    def sides(self, op: str) -> list[Node]:
        """Return the symbols of the values of points, by number; op: "left" or "right"."""
        return [Node(op, index=place) for place in range(len(self.recorder.sides))]

    def slopes(self, wanted: Sequence[Node]) -> Slopes:
        """Return the derivatives by some of its symbols."""
        try:
            found = derivatives(self.root, wanted)
        except Unlowerable as error:
            must = "every part must have a derivative"
            raise KernelError(sentence(self.kernel.name, must, str(error))) from None
        known: dict[Node, Node] = {}
        return Slopes(self.kernel, self.recorder, [settled(node, known) for node in found])


def _leaves(root: Node) -> set[Node]:
    if not root.children:
        return {root}
    return set().union(*(_leaves(child) for child in root.children))


class Slopes:
    """Derivatives of a kernel, each a matrix with an entry per pair.

    Those that are 0 for all pairs are not computed; `is_zero` tells.
    """

    def __init__(self, kernel: Kernel, recorder: Recorder, roots: list[Node]) -> None:
        self.kernel, self.recorder, self.roots = kernel, recorder, roots
        self.is_zero = [root.op == "constant" and root.x == 0 for root in roots]
        self._used = [root for root, zero in zip(roots, self.is_zero, strict=True) if not zero]
        self._program: Program | None = None
        self._tried = False

    def count(self) -> int:
        """Return how many of them are computed."""
        return len(self._used)

    def tiles(
        self, left: View, right: View, monitor: Monitor, dtype: DTypeLike = np.float64
    ) -> list[Array | None]:
        """Return the derivatives for all pairs of two views, None for those that are 0.

        dtype: the precision of what native code computes.
        """
        found = iter(self._tiles(left, right, monitor, dtype))
        return [None if zero else next(found) for zero in self.is_zero]

    def _tiles(self, left: View, right: View, monitor: Monitor, dtype: DTypeLike) -> list[Array]:
        program = None if too_sparse(left) or too_sparse(right) else self._made(right)
        if program is None or not self._used:
            return self._in_numpy(left, right, monitor)
        outs = [np.empty((len(left), len(right)), dtype=dtype) for _ in self._used]
        tile = NativeTile(program, (self.kernel,), left, right, dtype, monitor)
        tile.store(outs, monitor)
        return outs

    def _made(self, view: View) -> Program | None:
        if not self._tried:
            sample = View(Side(view.side.points.take(slice(0, 2))))
            limits = _native.MAX_REGISTERS, _native.MAX_TERMS
            self._program = assemble(self._used, self.recorder, sample, *limits)
            self._tried = True
        return self._program

    def _in_numpy(self, left: View, right: View, monitor: Monitor) -> list[Array]:
        known: dict[Path, Pairs] = {}

        def pairs(path: Path) -> Pairs:
            if path not in known:
                known[path] = BlockPairs(follow(left, path), follow(right, path), monitor)
            return known[path]

        found = values(self._used, lambda node: self._leaf(node, pairs))
        shape = (len(left), len(right))
        return [np.ascontiguousarray(np.broadcast_to(one, shape)) for one in found]

    def on_diagonal(self, points: Input) -> list[Array]:
        """Return the derivatives for the pairs (x, x)."""

        def pairs(path: Path) -> Pairs:
            return Diagonal(seen_through(points, path))

        found = values(self.roots, lambda node: self._leaf(node, pairs))
        return [np.broadcast_to(np.asarray(one, dtype=np.float64), len(points)) for one in found]

    def _leaf(self, node: Node, pairs: Callable[[Path], Pairs]) -> Any:
        if node.op in ("statistic", "expanded"):
            path, statistic, weights = self.recorder.statistics[node.index]
            return pairs(path).statistic(statistic, weights)
        if node.op == "external":
            path, kernel = self.recorder.externals[node.index]
            return pairs(path).value(kernel)
        path, function = self.recorder.sides[node.index]
        column, row = pairs(path).sides(function)
        return column if node.op == "left" else row


def seen_through(points: Input, path: Path) -> Input:
    """Return points as a path leads to them."""
    for step in path:
        points = step.change(points)
    return points
