"""The parts of a graph from what other libraries have: networkx graphs, adjacency matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence


def parts_of_networkx(
    graph: Any,
    node_label: str | None,
    edge_label: str | None,
    node_attributes: str | Sequence[str] | None,
    edge_weight: str | None,
) -> tuple[Any, ...]:
    """Return nodes, edges, labels, attributes and weights of a networkx graph."""
    _check_networkx(graph)
    nodes, edges = list(graph.nodes(data=True)), list(graph.edges(data=True))
    places = {node: place for place, (node, _) in enumerate(nodes)}
    at_edges = [((u, v), data) for u, v, data in edges]
    names = [node_attributes] if isinstance(node_attributes, str) else node_attributes
    rows = None
    if names is not None:
        columns = [_values("node", nodes, name) for name in names]
        rows = [np.hstack(row).tolist() for row in zip(*columns, strict=True)]
    return (
        len(nodes),
        [(places[u], places[v]) for u, v, _ in edges],
        None if node_label is None else _values("node", nodes, node_label),
        None if edge_label is None else _values("edge", at_edges, edge_label),
        rows,
        None if edge_weight is None else _values("edge", at_edges, edge_weight),
    )


def _check_networkx(graph: Any) -> None:
    who = "Graph.from_networkx"
    if not all(hasattr(graph, part) for part in ("nodes", "edges", "is_directed", "is_multigraph")):
        must = "graph must be a networkx graph"
        raise InputTypeError(sentence(who, must, type(graph).__name__))
    if graph.is_directed():
        hint = "Forget the directions with graph.to_undirected()."
        raise InputError(sentence(who, "graph must be undirected", "a directed graph", hint))
    if graph.is_multigraph():
        hint = "Keep one edge of each pair with networkx.Graph(graph)."
        must = "graph must have at most one edge between two nodes"
        raise InputError(sentence(who, must, "a multigraph", hint))


def _values(kind: str, items: list[tuple[Any, Mapping[str, Any]]], name: str) -> list[Any]:
    """Return an attribute of all nodes, or of all edges."""
    for what, data in items:
        if name not in data:
            must = f"every {kind} must have the attribute {name!r}"
            got = f"{kind} {checks.show(what)} with {', '.join(map(repr, data)) or 'none'}"
            raise InputError(sentence("Graph.from_networkx", must, got, checks.nearest(name, data)))
    return [data[name] for _, data in items]


def parts_of_adjacency(matrix: Any) -> tuple[int, Array, Array | None]:
    """Return the number of nodes, the edges and, if not all are 1, their weights."""
    entries = _entries(matrix)
    wrong = scipy.sparse.coo_array(entries != entries.T)
    if wrong.nnz:
        i, j = min(zip(wrong.row.tolist(), wrong.col.tolist(), strict=True))
        got = f"{entries[i, j]:g} at ({i}, {j}) and {entries[j, i]:g} at ({j}, {i})"
        hint = "Graphs are undirected: use (A + A.T) / 2, or max(A, A.T)."
        raise InputError(sentence("Graph.from_adjacency", "matrix must be symmetric", got, hint))
    upper = scipy.sparse.coo_array(scipy.sparse.triu(entries))
    edges = np.column_stack([upper.row, upper.col]).astype(np.int64)
    return entries.shape[0], edges, upper.data if (upper.data != 1.0).any() else None


def _entries(matrix: Any) -> Any:
    """Return a copy of what is not 0 in a square matrix, checked to be positive."""
    who, must = "Graph.from_adjacency", "matrix must be square, of numbers"
    try:
        found = matrix if scipy.sparse.issparse(matrix) else np.asarray(matrix)
    except ValueError:
        raise InputTypeError(sentence(who, must, "rows of different lengths")) from None
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.dtype.kind not in "biuf":
        raise InputTypeError(sentence(who, must, f"{found.dtype} of shape {found.shape}"))
    entries = scipy.sparse.csr_array(found, dtype=np.float64, copy=True)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    bad = np.flatnonzero(~(np.isfinite(entries.data) & (entries.data > 0)))
    if len(bad):
        i = int(np.searchsorted(entries.indptr, bad[0], side="right")) - 1
        got = f"{entries.data[bad[0]]:g} at ({i}, {entries.indices[bad[0]]})"
        raise InputError(sentence(who, "entries must be 0 or positive, and finite", got))
    return entries
