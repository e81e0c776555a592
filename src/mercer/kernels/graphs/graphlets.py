"""The kernel that counts small connected subgraphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

import numpy as np

from ... import _native, checks
from ...checks import Array
from ...inputs import GRAPHS, Graph
from ..objects.counted import CountKernel, Table
from .arrays import flatten
from .nodes import refuse_attributes


@dataclass(frozen=True, repr=False)
class Graphlet(CountKernel):
    """The graphlet kernel, which counts small connected subgraphs.

    k(G, H) = sum_t n_t(G) n_t(H) over connected graphs t of `size` nodes, where n_t(G) is the
    number of sets of nodes of G whose induced subgraph is isomorphic to t [1]_. The count is exact:
    all connected sets are visited. Labels, weights and self-loops do not matter; attributes of
    nodes are refused.

    Parameters
    ----------
    size : int, default=3
        Number of nodes of the subgraphs: 3, 4 or 5.

    References
    ----------
    .. [1] N. Shervashidze, S. V. N. Vishwanathan, T. H. Petri, K. Mehlhorn, K. M. Borgwardt,
       "Efficient graphlet kernels for large graph comparison", AISTATS, 2009.

    Examples
    --------
    >>> from mercer.kernels import Graph, Graphlet
    >>> triangle = Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> star = Graph(4, [(0, 1), (0, 2), (0, 3)])
    >>> Graphlet(3)([triangle, star])
    array([[1., 0.],
           [0., 9.]])
    """

    domain = GRAPHS

    size: int = 3

    def __post_init__(self) -> None:
        self._set(size=checks.whole("Graphlet", "size", self.size, least=3, most=5))

    def counts(self, x: Graph) -> Mapping[Hashable, float]:
        refuse_attributes("Graphlet", [x], _OTHERS)
        joined = set(map(tuple, x.edges.tolist()))
        classes, patterns = _classes(self.size)
        found: Counter[Hashable] = Counter()
        for nodes in combinations(range(x.n_nodes), self.size):
            edges = [pair in joined for pair in _pairs(nodes)]
            kind = classes[sum(1 << bit for bit, there in enumerate(edges) if there)]
            if kind >= 0:
                found[int(patterns[kind])] += 1
        return found

    def tabulate(self, items: Sequence[Graph]) -> Table:
        refuse_attributes("Graphlet", items, _OTHERS)
        graphs = flatten(items)
        classes, patterns = _classes(self.size)
        found = np.empty((len(items), len(patterns)), dtype=np.int64)
        _native.count_graphlets(*graphs.shape, self.size, classes, found, None)
        owners, kinds = np.nonzero(found)
        ends = np.searchsorted(owners, np.arange(len(items) + 1))
        return Table(ends.astype(np.int64), patterns[kinds], found[owners, kinds].astype(float))


_OTHERS = "Take HashGraph() or ShortestPath(node_kernel=Gaussian())"


def _pairs(nodes: Sequence[int]) -> list[tuple[int, int]]:
    """Return all pairs of nodes; the edge of nodes i < j is bit j (j - 1) / 2 + i of a pattern."""
    return [(nodes[i], nodes[j]) for j in range(len(nodes)) for i in range(j)]


@cache
def _classes(size: int) -> tuple[Array, Array]:
    """Return the class of every pattern of edges between so many nodes, and a pattern of each.

    Patterns of isomorphic graphs are of one class, known by the least of them. A graph that is not
    connected has class -1.
    """
    places = {frozenset(pair): bit for bit, pair in enumerate(_pairs(range(size)))}
    moved = np.array(
        [
            [1 << places[frozenset(pair)] for pair in _pairs(order)]
            for order in permutations(range(size))
        ]
    )
    patterns = np.arange(1 << len(places))
    edges = (patterns[:, None] >> np.arange(len(places))) & 1
    least = (edges @ moved.T).min(axis=1)
    connected = [one for one in np.unique(least).tolist() if _is_connected(one, size)]
    classes = np.full(len(patterns), -1, dtype=np.int32)
    for kind, one in enumerate(connected):
        classes[least == one] = kind
    return classes, np.array(connected, dtype=np.uint64)


def _is_connected(pattern: int, size: int) -> bool:
    reached = {0}
    for _ in range(size):
        for bit, pair in enumerate(_pairs(range(size))):
            if pattern >> bit & 1 and reached & set(pair):
                reached |= set(pair)
    return len(reached) == size
