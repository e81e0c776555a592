"""What kernels of graphs make of the attributes of nodes, or refuse to ignore."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _native
from ...checks import Array, InputError, InputTypeError, KernelError, sentence, show
from ...inputs import ROWS, Graph, Input, Matrix, RowBlocks
from ..base import Kernel
from ..nested import Nested
from ..objects.paired import portions
from ..pairs import same_width

_BLOCK = 1 << 21  # values of a node kernel that are computed together
_GROUP = 1 << 16  # the same where only those of matched graphs are used
_ROUNDING = 1e-12  # of the largest value: what is less below 0 is 0


def refuse_attributes(who: str, graphs: Sequence[Graph], instead: str) -> None:
    """Refuse graphs with attributes, which a kernel that does not look at them would ignore.

    instead: what to do with them.
    """
    for index, graph in enumerate(graphs):
        rows = graph.node_attributes
        if rows is not None and rows.size:
            where = f" at index {index}" if len(graphs) > 1 else ""
            must = "graphs must have no node_attributes, which it would ignore"
            got = f"a graph with {rows.shape[1]} a node{where}"
            advice = f"{instead}, or drop them with graph.without_attributes()."
            raise InputError(sentence(who, must, got, advice))


def attribute_rows(who: str, graphs: Sequence[Graph], without: str) -> Matrix:
    """Return the attributes of all nodes of all graphs, one row per node.

    without: what to do with graphs that have none.
    """
    parts: list[Array] = []
    for index, graph in enumerate(graphs):
        rows, where = graph.node_attributes, f" at index {index}" if len(graphs) > 1 else ""
        if not graph.n_nodes:
            continue
        if rows is None:
            got = f"a graph without{where}"
            raise InputError(sentence(who, "every graph must have node_attributes", got, without))
        parts.append(rows)
        width = parts[0].shape[1]
        if rows.shape[1] != width:
            must = f"every node must have {width} attributes, as in the first graph"
            raise InputError(sentence(who, must, f"{rows.shape[1]}{where}"))
    return Matrix(np.concatenate(parts) if parts else np.zeros((0, 0)))


def training_rows(
    who: str, points: Input, weight: Array | None, without: str
) -> tuple[Matrix, Array | None]:
    """Return the attributes of all nodes of the points, and the weight of every node."""
    blocks = points.blocks() if isinstance(points, RowBlocks) else [points]
    graphs = [graph for block in blocks for graph in block.raw]
    sizes = [graph.n_nodes for graph in graphs]
    of_node = None if weight is None else np.repeat(weight, sizes)
    return attribute_rows(who, graphs, without), of_node


class ComparesNodes(Nested, abstract=True):
    """A kernel of graphs with a field `node_kernel`, of the attributes of nodes, or None."""

    node_kernel: Kernel | None

    def check_node_kernel(self) -> None:
        """Refuse a node kernel that does not take rows of numbers."""
        given: Any = self.node_kernel
        must = "node_kernel must be a kernel of rows of numbers, or None"
        if given is not None and not isinstance(given, Kernel):
            advice = "Write node_kernel=Gaussian()."
            raise InputTypeError(sentence(self.name, must, show(given), advice))
        if given is not None and not given.domain & ROWS:
            raise KernelError(sentence(self.name, must, repr(given)))

    @property
    def without(self) -> str:
        """What to do with graphs that have no attributes."""
        return "Leave out node_kernel, or give them to all graphs."

    def children(self) -> tuple[Kernel, ...]:
        return () if self.node_kernel is None else (self.node_kernel,)

    def with_children(self, children: tuple[Kernel, ...]) -> Kernel:
        return self.replace(node_kernel=children[0]) if children else self

    def child_input(self, points: Input) -> Input:
        return training_rows(self.name, points, None, self.without)[0]

    def _resolve(self, points: Input, weight: Array | None) -> Kernel:
        if self.node_kernel is None or not self.unresolved():
            return self
        rows, of_node = training_rows(self.name, points, weight, self.without)
        return self.with_children((self.node_kernel._resolve(rows, of_node),))


def node_values(who: str, kernel: Kernel, x: Graph, y: Graph, without: str) -> Array:
    """Return k(u, v) of all nodes of two graphs, by the definition of the node kernel."""
    rows = [attribute_rows(who, [graph], without) for graph in (x, y)]
    if not (len(rows[0]) and len(rows[1])):
        return np.zeros((len(rows[0]), len(rows[1])))
    return finite(who, kernel.formula(rows[0].values, rows[1].values))


def finite(who: str, values: Array) -> Array:
    """Return values of a node kernel, refused where they are not numbers."""
    if not np.isfinite(values).all():
        got = values[~np.isfinite(values)][0]
        raise KernelError(sentence(who, "values of node_kernel must be finite numbers", got))
    return values


def nonnegative(who: str, values: Array) -> Array:
    """Return values of a node kernel, refused where they are below 0 by more than rounding."""
    least = float(values.min(initial=0.0))
    if least < -_ROUNDING * float(values.max(initial=0.0)):
        raise KernelError(
            sentence(
                who,
                "node_kernel must not be negative, for the series to be bounded",
                f"{least:.4g} for two nodes",
                "Take Gaussian() or Laplacian(), or bound the length of walks by steps.",
            )
        )
    return np.maximum(values, 0.0)


@dataclass(frozen=True)
class NodeGraphs:
    """Graphs as a native program takes them, with the attributes of their nodes."""

    graphs: Any  # native
    rows: Matrix  # one per node
    ends: Array  # int64: graph g has the rows from ends[g] to ends[g + 1]

    @property
    def sizes(self) -> Array:
        """The numbers of nodes."""
        return np.diff(self.ends)

    def of(self, chosen: Array) -> Matrix:
        """Return the rows of some graphs, one graph after another."""
        parts = [self.rows.values[a:b] for a, b in self.ends[chosen[:, None] + np.arange(2)]]
        return Matrix(np.concatenate([self.rows.values[:0], *parts]))


@dataclass(frozen=True)
class NodeProgram:
    """k of pairs of graphs: values of the node kernel in blocks, then the native job of each pair.

    change: what is done to a block of values first, such as a check.
    """

    who: str
    kernel: Kernel
    left: NodeGraphs
    right: NodeGraphs
    job: _native.NodeJob
    change: Callable[[str, Array], Array] | None = None

    def __post_init__(self) -> None:
        if len(self.left.rows) and len(self.right.rows):
            same_width(self.left.rows.n_columns, self.right.rows.n_columns)

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
        """Compute the rows from first to last with all columns; False if `stop` said so."""
        for lefts in self._portions(self.left.sizes[rows], first, last, self.right.sizes[columns]):
            begin = int(lefts[0]) if same else 0
            high = self.left.sizes[rows[lefts]]
            for rights in self._portions(self.right.sizes[columns], begin, len(columns), high):
                i, j = (side.ravel() for side in np.meshgrid(lefts, rights, indexing="ij"))
                if same:
                    i, j = i[i <= j], j[i <= j]
                found = self._values(rows[i], columns[j], stop)
                if found is None:
                    return False
                out[i, j] = found
                if same:
                    out[j, i] = found
        return True

    @staticmethod
    def _portions(sizes: Array, first: int, last: int, others: Array) -> Iterator[Array]:
        """Yield which graphs from first to last are taken together with all of the others."""
        most = _BLOCK // max(int(others.sum()), 1)
        for some in portions(sizes[first:last].tolist(), most):
            yield np.arange(first, last)[some]

    def matched(
        self, i: Array, j: Array, out: Array, stop: Callable[[], bool] | None = None
    ) -> bool:
        """Compute k of the pairs (i, j); False if `stop` said so."""
        for some in self.groups(i, j):
            found = self._values(i[some], j[some], stop)
            if found is None:
                return False
            out[some] = found
        return True

    def groups(self, i: Array, j: Array) -> Iterator[slice]:
        """Yield which matched pairs are best taken together."""
        sizes = np.maximum(self.left.sizes[i], self.right.sizes[j])
        return portions(sizes.tolist(), int(_GROUP**0.5))

    def tasks(self, i: Array, j: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return pairs (i, j) as native jobs take them, with the values of all their nodes."""
        (lefts, row), (rights, column) = (np.unique(side, return_inverse=True) for side in (i, j))
        starts = [
            np.concatenate([[0], np.cumsum(side.sizes[chosen])])
            for side, chosen in ((self.left, lefts), (self.right, rights))
        ]
        values = self._block(lefts, rights)
        width = values.shape[1]
        begin = starts[0][row] * width + starts[1][column]
        return i, j, values.ravel(), begin, np.full(len(i), width, dtype=np.int64)

    def _values(self, i: Array, j: Array, stop: Callable[[], bool] | None) -> Array | None:
        found = np.empty(len(i))
        return found if self.job.store(*self.tasks(i, j), found, stop) else None

    def _block(self, lefts: Array, rights: Array) -> Array:
        """Return k(u, v) of all nodes of some graphs of either side."""
        left, right = self.left.of(lefts), self.right.of(rights)
        if not (len(left) and len(right)):
            return np.zeros((len(left), len(right)))
        values = finite(self.who, np.asarray(self.kernel(left, right), dtype=np.float64))
        values = values if self.change is None else self.change(self.who, values)
        return np.ascontiguousarray(values)
