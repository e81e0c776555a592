"""Kernels of graphs that count something in each graph."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ... import _native, checks
from ...checks import Array, KernelError, sentence
from ...inputs import GRAPHS, Graph, Input
from ..base import Basis, Kernel
from ..objects.counted import CountKernel, Table
from ..objects.paired import PairKernel
from ..objects.tokens import mix
from ..pairs import Pairs
from .arrays import GraphArrays, flatten, labels_of, neighbours_of
from .nodes import (
    ComparesNodes,
    NodeGraphs,
    NodeProgram,
    attribute_rows,
    node_values,
    refuse_attributes,
)

BASES = ("subtree", "assignment")
MOST = 1000  # rounds; labels of the definition are nested as deep


@dataclass(frozen=True, repr=False)
class WeisfeilerLehman(CountKernel):
    """The Weisfeiler-Lehman kernel of graphs, which counts labels of growing neighbourhoods.

    k(G, H) = sum_i sum_t n_t(G, i) n_t(H, i) over rounds i = 0, …, rounds and labels t, where
    n_t(G, i) is how often t occurs after round i [1]_. A node starts with its label; all nodes of a
    graph without labels start with the same one. In each round its new label is the old one with
    the multiset of (edge label, node label) of its neighbours. Attributes of nodes are refused:
    `HashGraph` turns them into labels.

    Parameters
    ----------
    rounds : int, default=3
        Number of rounds, from 0 to 1000.
    base : {"subtree", "assignment"}, default="subtree"
        How counts are compared: "subtree" by their product, "assignment" by their minimum, which is
        the best matching of the nodes [2]_.

    References
    ----------
    .. [1] N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn, K. M. Borgwardt,
       "Weisfeiler-Lehman graph kernels", Journal of Machine Learning Research, 2011.
    .. [2] N. M. Kriege, P.-L. Giscard, R. Wilson, "On valid optimal assignment kernels", NIPS,
       2016.

    Examples
    --------
    >>> from mercer.kernels import Graph, WeisfeilerLehman
    >>> triangle = Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> path = Graph(3, [(0, 1), (1, 2)])
    >>> WeisfeilerLehman(rounds=1)([triangle, path])
    array([[18., 12.],
           [12., 14.]])
    """

    domain = GRAPHS

    rounds: int = 3
    base: str = "subtree"

    def __post_init__(self) -> None:
        self._set(
            rounds=checks.whole("WeisfeilerLehman", "rounds", self.rounds, least=0, most=MOST),
            base=checks.one_of("WeisfeilerLehman", "base", self.base, BASES),
        )

    @property
    def overlap(self) -> bool:
        return self.base == "assignment"

    def counts(self, x: Graph) -> Mapping[Hashable, float]:
        return self._refined(x, {})

    def pair(self, x: Graph, y: Graph) -> float:
        known: dict[Hashable, Hashable] = {}
        return self.common(self._refined(x, known), self._refined(y, known))

    def _refined(self, x: Graph, known: dict[Hashable, Hashable]) -> Mapping[Hashable, float]:
        """Return the counts. Labels are kept in `known`, where equal ones are the same object:
        else to compare two nested ones takes twice as long for each round."""
        self._refuse_attributes([x])
        near = neighbours_of(x)
        labels: list[Hashable] = labels_of(x)
        found: Counter[Hashable] = Counter((0, label) for label in labels)
        for step in range(1, self.rounds + 1):
            around = [Counter((edge, labels[u]) for u, edge, _ in nodes) for nodes in near]
            made = [
                (label, frozenset(seen.items())) for label, seen in zip(labels, around, strict=True)
            ]
            labels = [known.setdefault(label, label) for label in made]
            found.update((step, label) for label in labels)
        return found

    def _refuse_attributes(self, graphs: Sequence[Graph]) -> None:
        refuse_attributes("WeisfeilerLehman", graphs, f"Take HashGraph({self!r})")

    def tabulate(self, items: Sequence[Graph]) -> Table:
        self._refuse_attributes(items)
        return self.tabulate_arrays(flatten(items))

    def tabulate_arrays(self, graphs: GraphArrays) -> Table:
        """Return the counts of graphs whose labels are codes.

        Parameters
        ----------
        graphs : GraphArrays
            The graphs, one after another in arrays.

        Returns
        -------
        Table
            Counts of labels after each round.
        """
        # A label is a hash of its content; a multiset of them is the sum of their hashes.
        salts = mix(np.arange(1, self.rounds + 3, dtype=np.uint64))
        edges = mix(graphs.arc_codes + salts[0])
        labels = mix(graphs.node_codes + salts[1])
        rounds = [labels]
        for salt in salts[2:]:
            around = _sums(mix(labels[graphs.neighbours] + edges), graphs.arc_ends)
            labels = mix(mix(labels + salt) + around)
            rounds.append(labels)
        return Table.of(graphs.node_ends * len(rounds), np.stack(rounds, axis=1).ravel())


@dataclass(frozen=True, repr=False)
class ShortestPath(ComparesNodes, CountKernel):
    """The shortest-path kernel of graphs.

    k(G, H) = sum_t n_t(G) n_t(H) over t = (label of u, label of v, length of the shortest path from
    u to v), where n_t(G) counts the ordered pairs u != v that have a path between them [1]_. An
    edge is as long as its weight, or 1; lengths are compared to twelve significant digits.

    With a node kernel, k(G, H) = sum k(u, u') k(v, v') over the shortest paths from u to v in G and
    from u' to v' in H of equal lengths and labels, which has no explicit feature map.

    Parameters
    ----------
    node_kernel : Kernel, default=None
        A kernel of rows of numbers, for graphs with attributes of nodes. Without it attributes are
        refused.

    References
    ----------
    .. [1] K. M. Borgwardt, H.-P. Kriegel, "Shortest-path kernels on graphs", ICDM, 2005.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Graph, ShortestPath
    >>> triangle = Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> path = Graph(3, [(0, 1), (1, 2)])
    >>> ShortestPath()([triangle, path])
    array([[36., 24.],
           [24., 20.]])
    >>> edge = Graph(2, [(0, 1)], node_attributes=[[0.0], [1.0]])
    >>> round(ShortestPath(node_kernel=Gaussian(gamma=1.0)).pair(edge, edge), 4)
    2.2707
    """

    domain = GRAPHS

    node_kernel: Kernel | None = None

    def __post_init__(self) -> None:
        self.check_node_kernel()

    def profile(self, pairs: Pairs) -> Any:
        return pairs.pairwise(self._compared() or self)

    def _compared(self) -> _ComparedPaths | None:
        """Return the kernel that compares paths one by one; None if it is enough to count them."""
        return None if self.node_kernel is None else _ComparedPaths(self.node_kernel)

    def pair(self, x: Graph, y: Graph) -> float:
        compared = self._compared()
        return super().pair(x, y) if compared is None else compared.pair(x, y)

    def counts(self, x: Graph) -> Mapping[Hashable, float]:
        self._check_counted([x])
        labels = labels_of(x)
        return Counter((labels[u], labels[v], length) for u, v, length in _paths(x))

    def tabulate(self, items: Sequence[Graph]) -> Table:
        self._check_counted(items)
        return self.tabulate_arrays(flatten(items))

    def tabulate_arrays(self, graphs: GraphArrays) -> Table:
        """Return the counts of graphs whose labels are codes.

        Parameters
        ----------
        graphs : GraphArrays
            The graphs, one after another in arrays.

        Returns
        -------
        Table
            Counts of paths by the labels of their ends and their lengths.
        """
        found = _native.count_paths(*graphs.shape, graphs.node_codes, graphs.arc_weights, None)
        tally = cast(_native.Tally, found)  # nobody can ask it to stop
        made = Table(
            np.empty(len(graphs) + 1, dtype=np.int64),
            np.empty(tally.total, dtype=np.uint64),
            np.empty(tally.total),
        )
        tally.store(made.ends, made.ids, made.values)
        return made

    def _check_counted(self, graphs: Sequence[Graph]) -> None:
        if self.node_kernel is not None:
            must = "paths can be counted without node_kernel only"
            raise KernelError(sentence("ShortestPath", must, repr(self)))
        instead = "Give it node_kernel=Gaussian(), take HashGraph(ShortestPath())"
        refuse_attributes("ShortestPath", graphs, instead)

    def has_map(self) -> bool:
        return self.node_kernel is None

    def _basis(self, points: Input) -> Basis | None:
        return super()._basis(points) if self.node_kernel is None else None


@dataclass(frozen=True, repr=False)
class _ComparedPaths(PairKernel):
    """ShortestPath with a node kernel, path by path."""

    domain = GRAPHS

    node_kernel: Kernel

    @property
    def _whole(self) -> ShortestPath:
        return ShortestPath(self.node_kernel)

    @property
    def name(self) -> str:
        return "ShortestPath"

    def __repr__(self) -> str:
        return repr(self._whole)

    def pair(self, x: Graph, y: Graph) -> float:
        values = node_values("ShortestPath", self.node_kernel, x, y, self._whole.without)
        mine, theirs = labels_of(x), labels_of(y)
        return float(
            sum(
                values[u, s] * values[v, t]
                for u, v, length in _paths(x)
                for s, t, other in _paths(y)
                if length == other and mine[u] == theirs[s] and mine[v] == theirs[t]
            )
        )

    def encode(self, items: Sequence[Graph]) -> NodeGraphs:
        rows = attribute_rows("ShortestPath", items, self._whole.without)
        graphs = flatten(items)
        paths = _native.PathLists(*graphs.shape, graphs.node_codes, graphs.arc_weights)
        return NodeGraphs(paths, rows, graphs.node_ends)

    def job(self, left: NodeGraphs, right: NodeGraphs) -> NodeProgram:
        job = _native.NodePaths(left.graphs, right.graphs)
        return NodeProgram("ShortestPath", self.node_kernel, left, right, job)


def _sums(values: Array, ends: Array) -> Array:
    """Return the sums of the values from ends[i] to ends[i + 1], modulo 2**64."""
    upto = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values)])
    return np.asarray(upto[ends[1:]] - upto[ends[:-1]])


def _paths(graph: Graph) -> Iterator[tuple[int, int, float]]:
    """Yield the ends of all shortest paths between different nodes, and their lengths."""
    near = neighbours_of(graph)
    for u in range(graph.n_nodes):
        for v, length in _lengths(near, u).items():
            if v != u:
                yield u, v, float(f"{length:.11e}")


def _lengths(near: list[list[tuple[int, Hashable, float]]], source: int) -> dict[int, float]:
    """Return the length of the shortest path from a node to every node that it reaches."""
    found: dict[int, float] = {}
    waiting = [(0.0, source)]
    while waiting:
        length, v = heapq.heappop(waiting)
        if v in found:
            continue
        found[v] = length
        for u, _, weight in near[v]:
            if math.isfinite(length + weight):
                heapq.heappush(waiting, (length + weight, u))
    return found
