"""The parts of a graph from what other libraries have: networkx graphs, adjacency matrices, arrays
of edges."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
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


# --- arrays of edges ------------------------------------------------------------------------------

_EDGES = "Graph.from_edge_index"


def parts_of_edge_index(
    source: Any,
    n_nodes: int | None,
    node_labels: Sequence[Hashable] | None,
    edge_labels: Sequence[Hashable] | None,
    node_attributes: Any,
    edge_weights: Any,
) -> tuple[Any, ...]:
    """Return nodes, edges, labels, attributes and weights from an array of edges, each once."""
    if hasattr(source, "edge_index"):
        n_nodes = _own(source, "num_nodes") if n_nodes is None else n_nodes
        node_attributes = _own(source, "x") if node_attributes is None else node_attributes
        if edge_labels is None and edge_weights is None:
            edge_labels = _labels_of_rows(_own(source, "edge_attr"))
            edge_weights = _own(source, "edge_weight")
        source = source.edge_index
    node_labels, node_attributes = _plain(node_labels), _plain(node_attributes)
    ends = _edge_index(source)
    pairs = np.sort(ends, axis=0).T
    first, edge_of = _each_once(ends, pairs)
    labels = _agreed("edge_labels", edge_labels, ends, first, edge_of)
    weights = _agreed("edge_weights", edge_weights, ends, first, edge_of)
    if n_nodes is None:
        parts = [part for part in (node_labels, node_attributes) if hasattr(part, "__len__")]
        n_nodes = len(parts[0]) if parts else int(ends.max(initial=-1)) + 1
    n_nodes = checks.whole(_EDGES, "n_nodes", n_nodes, least=0)
    outside = np.flatnonzero((ends < 0).any(axis=0) | (ends >= n_nodes).any(axis=0))
    if len(outside):
        must = f"edges must join nodes from 0 to {n_nodes - 1}" if n_nodes else "edges need nodes"
        raise InputError(sentence(_EDGES, must, _column(ends, int(outside[0]))))
    return n_nodes, pairs[first], node_labels, labels, node_attributes, weights


def _own(source: Any, name: str) -> Any:
    return getattr(source, name, None)


def _plain(value: Any) -> Any:
    """Return a tensor of any library as a NumPy array, and anything else as it is."""
    for step in ("detach", "cpu"):  # of a tensor that is being trained, or on another device
        value = getattr(value, step)() if hasattr(value, step) else value
    if hasattr(value, "numpy") or hasattr(value, "__array__"):
        return np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return value


def _edge_index(given: Any) -> Array:
    """Return the edges as an array of two rows of whole numbers."""
    must = "edge_index must be two rows of node numbers, shape (2, m)"
    try:
        found = np.asarray(_plain(given))
    except ValueError:
        raise InputTypeError(sentence(_EDGES, must, "rows of different lengths")) from None
    if found.shape == (2, 0):
        return np.empty((2, 0), dtype=np.int64)
    if found.ndim != 2 or found.shape[0] != 2 or found.dtype.kind not in "iu":
        pairs = found.ndim == 2 and found.shape[1] == 2 and found.dtype.kind in "iu"
        hint = "Transpose it, or give pairs to Graph(n_nodes, edges)." if pairs else ""
        got = f"{found.dtype} of shape {found.shape}"
        raise InputTypeError(sentence(_EDGES, must, got, hint))
    return found.astype(np.int64)


def _each_once(ends: Array, pairs: Array) -> tuple[Array, Array]:
    """Return the first column of every edge, and the edge of every column."""
    _, first, edge_of = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    edge_of = edge_of.ravel()
    backward = ends[0] > ends[1]
    # A loop is its own other direction; any other edge has each direction at most once.
    loops = ends[0] == ends[1]
    seen = edge_of * 2 + backward
    seen[loops] += np.flatnonzero(loops) != first[edge_of[loops]]
    again = np.flatnonzero(np.bincount(seen)[seen] > 1)
    if len(again):
        a, b = np.flatnonzero(seen == seen[again[0]])[:2].tolist()
        hint = "Keep one of them; use edge_weights for its strength."
        must = "an edge must be given at most once in each direction"
        raise InputError(sentence(_EDGES, must, f"{_column(ends, a)} and again in {b}", hint))
    return first, edge_of


def _column(ends: Array, column: int) -> str:
    return f"({ends[0, column]}, {ends[1, column]}) in column {column}"


def _agreed(name: str, given: Any, ends: Array, first: Array, edge_of: Array) -> list[Any] | None:
    """Return for every edge what is given for its columns; both directions must agree."""
    if given is None:
        return None
    given = _plain(given)
    try:
        values = given.tolist() if isinstance(given, np.ndarray) else list(given)
    except TypeError:
        raise InputTypeError(
            sentence(_EDGES, f"{name} must be a list, one per column", checks.show(given))
        ) from None
    if len(values) != len(edge_of):
        must = f"{name} must be {len(edge_of)}, one for each column of edge_index"
        raise InputError(sentence(_EDGES, must, len(values)))
    for column, earlier in enumerate(first[edge_of].tolist()):
        if column != earlier and _differ(values[column], values[earlier]):
            must = f"{name} must be the same in both directions"
            got = f"{checks.show(values[earlier])} for {_column(ends, earlier)} and "
            got += f"{checks.show(values[column])} for {_column(ends, column)}"
            raise InputError(sentence(_EDGES, must, got))
    return [values[column] for column in first.tolist()]


def _differ(one: Any, other: Any) -> bool:
    try:
        return bool(one != other)
    except (TypeError, ValueError):  # what cannot be compared is refused by the graph
        return False


def _labels_of_rows(given: Any) -> list[Hashable] | None:
    """Return edge_attr as labels: a number where each edge has one, else a tuple of them."""
    if given is None:
        return None
    rows = np.asarray(_plain(given))
    must = "edge_attr must be whole numbers, one or a row of them for each edge, which are labels"
    hint = "Give edge_labels or edge_weights instead, or data.edge_index alone."
    if rows.dtype.kind not in "biuf" or rows.ndim not in (1, 2):
        raise InputTypeError(sentence(_EDGES, must, f"{rows.dtype} of shape {rows.shape}", hint))
    wrong = rows[~(np.isfinite(rows) & (rows == np.floor(rows)))]
    if len(wrong):
        raise InputError(sentence(_EDGES, must, f"{wrong[0]:g}", hint))
    whole = rows.astype(np.int64)
    if whole.ndim == 1 or whole.shape[1] == 1:
        return list(whole.ravel().tolist())
    return [tuple(row) for row in whole.tolist()]
