"""Many graphs laid out in a few arrays, so that one pass of array code serves all of them.

Definitions, which go through one graph node by node, use `labels_of` and `neighbours_of`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import scipy.sparse

from ...checks import Array
from ...inputs import Graph
from ..objects.tokens import token_code

# The code of a node or an edge without a label. It lies between code points and hashes, so that
# no label of the user has it: nodes of unlabelled graphs are alike, and unlike all others.
UNLABELLED = np.uint64(1 << 31)


@dataclass(frozen=True)
class GraphArrays:
    """Graphs one after another, with nodes numbered through.

    Graph g has the nodes from node_ends[g] to node_ends[g + 1]. Node v is joined to
    neighbours[arc_ends[v]:arc_ends[v + 1]], ascending; each of these is an arc. An edge has two
    arcs, one in each direction; a self-loop has one.
    """

    node_ends: Array  # int64, one more than there are graphs
    arc_ends: Array  # int64, one more than there are nodes
    neighbours: Array  # int64, a node for each arc
    node_codes: Array  # uint64, codes of labels; UNLABELLED in a graph without
    arc_codes: Array  # uint64, codes of the edges' labels; UNLABELLED in a graph without
    arc_weights: Array  # float64; 1 in a graph without

    def __len__(self) -> int:
        """Return the number of graphs."""
        return len(self.node_ends) - 1

    @property
    def shape(self) -> tuple[Array, Array, Array]:
        """Nodes and arcs, without what they are."""
        return self.node_ends, self.arc_ends, self.neighbours

    @property
    def owners(self) -> Array:
        """The graph of every node."""
        return np.repeat(np.arange(len(self)), np.diff(self.node_ends))


def flatten(graphs: Sequence[Graph]) -> GraphArrays:
    """Return graphs as arrays; what stands for a graph does not depend on the others."""
    sizes = np.array([graph.n_nodes for graph in graphs], dtype=np.int64)
    widths = np.array([len(graph.edges) for graph in graphs], dtype=np.int64)
    node_ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    edges = np.concatenate([np.empty((0, 2), np.int64), *(graph.edges for graph in graphs)])
    edges += np.repeat(node_ends[:-1], widths)[:, None]
    arc_ends, neighbours, edge_of = _arcs(edges, int(node_ends[-1]))
    edge_codes = _codes([graph.edge_labels for graph in graphs], widths)
    weights = [graph.edge_weights for graph in graphs]
    return GraphArrays(
        node_ends=node_ends,
        arc_ends=arc_ends,
        neighbours=neighbours,
        node_codes=_codes([graph.node_labels for graph in graphs], sizes),
        arc_codes=edge_codes[edge_of],
        arc_weights=_weights(weights, widths)[edge_of],
    )


def _arcs(edges: Array, n_nodes: int) -> tuple[Array, Array, Array]:
    """Return where the arcs of each node end, their targets, and the edge that each is of."""
    low, high = edges.T
    backward = np.flatnonzero(low != high)
    # Backward first: then the targets of every source ascend, since the edges are in order.
    sources = np.concatenate([high[backward], low])
    targets = np.concatenate([low[backward], high])
    edge_of = np.concatenate([backward, np.arange(len(edges))])
    rows = scipy.sparse.coo_array((edge_of, (sources, targets)), shape=(n_nodes, n_nodes)).tocsr()
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data


def _codes(labels: Sequence[tuple[Hashable, ...] | None], counts: Array) -> Array:
    """Return the codes of the labels of every graph, one after another."""
    given = [found for found in labels if found is not None]
    known = {label: token_code(label) for label in set(chain.from_iterable(given))}
    codes: Iterable[int] = map(known.__getitem__, chain.from_iterable(given))
    found = np.fromiter(codes, dtype=np.uint64)
    if len(given) == len(labels):
        return found
    made = np.full(int(counts.sum()), UNLABELLED)
    has = np.array([one is not None for one in labels], dtype=bool)
    made[np.repeat(has, counts)] = found
    return made


def _weights(weights: Sequence[Array | None], counts: Array) -> Array:
    """Return the weights of the edges of every graph, one after another."""
    made = np.ones(int(counts.sum()))
    given = [found for found in weights if found is not None]
    if given:
        has = np.array([found is not None for found in weights], dtype=bool)
        made[np.repeat(has, counts)] = np.concatenate(given)
    return made


# --- one graph, as definitions go through it ------------------------------------------------------


def labels_of(graph: Graph) -> list[Hashable]:
    """Return the labels of the nodes; None, which no label is, in a graph without."""
    labels = graph.node_labels
    return [None] * graph.n_nodes if labels is None else list(labels)


def neighbours_of(graph: Graph) -> list[list[tuple[int, Hashable, float]]]:
    """Return for every node its neighbours, with the label and the weight of the edge."""
    near: list[list[tuple[int, Hashable, float]]] = [[] for _ in range(graph.n_nodes)]
    for k, (u, v) in enumerate(graph.edges.tolist()):
        label = None if graph.edge_labels is None else graph.edge_labels[k]
        weight = 1.0 if graph.edge_weights is None else float(graph.edge_weights[k])
        near[u].append((v, label, weight))
        if u != v:
            near[v].append((u, label, weight))
    return near
