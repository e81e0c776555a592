"""Lists of trees and of graphs as tensors: the nodes of all of them in one, the edges in another.

Whatever a node is without, it takes at least one number in the file, so that a small file cannot
become a large graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..inputs import Graph, Tree
from .columns import Column, Kind, grouped, pack_column, pack_offsets, register_kind, unpack_column
from .context import LoadContext, SaveContext


def _pack_trees(trees: Sequence[Tree], packing: SaveContext, where: str) -> Column:
    counts = [len(node.children) for tree in trees for node in tree.subtrees()]
    labels = [label for tree in trees for label in tree.labels]
    return {
        "offsets": pack_offsets([tree.labels for tree in trees], packing, where),
        "children": packing.tensor(f"{where}.children", np.array(counts, np.int64)),
        "labels": pack_column(labels, packing, f"{where}.labels"),
    }


def _unpack_trees(data: Column, unpacking: LoadContext) -> list[Any]:
    counts = unpacking.tensor(data, "children", np.int64).tolist()
    labels = unpack_column(data.get("labels"), unpacking)
    if len(labels) != len(counts):
        raise unpacking.fail("every node must have a label", f"{len(counts)}, {len(labels)}")
    return grouped(
        data, len(counts), unpacking, lambda rows: Tree.from_preorder(labels[rows], counts[rows])
    )


register_kind(Tree, "tree", lambda tree: (), _pack_trees, _unpack_trees)


# --- graphs ------------------------------------------------------------------------------------


def _traits(graph: Graph) -> Kind:
    """Return which parts a graph has: graphs with the same ones share their tensors."""
    attributes = graph.node_attributes
    return (
        graph.node_labels is not None,
        graph.edge_labels is not None,
        None if attributes is None else int(attributes.shape[1]),
        graph.edge_weights is not None,
    )


def _pack_graphs(graphs: Sequence[Graph], packing: SaveContext, where: str) -> Column:
    """Return edges by their smaller node, in ascending order, as a graph keeps them."""
    degrees = [np.bincount(graph.edges[:, 0], minlength=graph.n_nodes) for graph in graphs]
    ends = np.concatenate([graph.edges[:, 1] for graph in graphs])
    column: Column = {
        "offsets": pack_offsets(degrees, packing, where),
        "degrees": packing.tensor(f"{where}.degrees", np.concatenate(degrees).astype(np.int64)),
        "ends": packing.tensor(f"{where}.ends", ends),
    }
    for part in ("node_labels", "edge_labels"):
        if getattr(graphs[0], part) is not None:
            labels = [label for graph in graphs for label in getattr(graph, part)]
            column[part] = pack_column(labels, packing, f"{where}.{part}")
    for part in ("node_attributes", "edge_weights"):
        if getattr(graphs[0], part) is not None:
            numbers = np.concatenate([getattr(graph, part) for graph in graphs])
            column[part] = packing.tensor(f"{where}.{part}", numbers)
    return column


def _unpack_graphs(data: Column, unpacking: LoadContext) -> list[Any]:
    degrees = unpacking.tensor(data, "degrees", np.int64)
    ends = unpacking.tensor(data, "ends", np.int64)
    possible = bool(np.all((degrees >= 0) & (degrees <= len(ends))))
    if not possible or int(degrees.sum()) != len(ends):
        raise unpacking.fail("every edge must belong to a node", f"{len(ends)} edges")
    first_edges = np.concatenate([[0], np.cumsum(degrees)])
    parts = {
        "node_labels": _part(data, "node_labels", len(degrees), unpacking),
        "edge_labels": _part(data, "edge_labels", len(ends), unpacking),
        "node_attributes": _part(data, "node_attributes", len(degrees), unpacking),
        "edge_weights": _part(data, "edge_weights", len(ends), unpacking),
    }

    def graph(nodes: slice) -> Graph:
        edges = slice(int(first_edges[nodes.start]), int(first_edges[nodes.stop]))
        count = nodes.stop - nodes.start
        starts = np.repeat(np.arange(count), degrees[nodes])
        own = {
            name: None if part is None else part[nodes if name.startswith("node") else edges]
            for name, part in parts.items()
        }
        return Graph(count, np.column_stack([starts, ends[edges]]), **own)

    return grouped(data, len(degrees), unpacking, graph)


def _part(data: Column, name: str, count: int, unpacking: LoadContext) -> Any:
    """Return the labels or numbers of all nodes or edges, one each; None if there are none."""
    if name not in data:
        return None
    if name.endswith("labels"):
        found: Any = unpack_column(data[name], unpacking)
    else:
        dimensions = 2 if name == "node_attributes" else 1
        found = unpacking.tensor(data, name, np.float64, dimensions)
    if len(found) != count:
        raise unpacking.fail(f"{name} must be {count}", len(found))
    return found


register_kind(Graph, "graph", _traits, _pack_graphs, _unpack_graphs)
