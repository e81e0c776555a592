"""Undirected graphs, as values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence


class Graph:
    """An undirected graph: nodes 0..n_nodes-1 and edges between them, each pair once.

    edges: pairs of nodes, in any order; a self-loop (u, u) is allowed, a pair given twice is not.
    node_labels, edge_labels: one hashable label each. node_attributes: one row of numbers a node.
    edge_weights: one positive number an edge, its length where paths are measured. A graph cannot
    be changed; graphs with equal nodes, edges and labels are equal.
    """

    __slots__ = (
        "edge_labels",
        "edge_weights",
        "edges",
        "n_nodes",
        "node_attributes",
        "node_labels",
    )
    n_nodes: int
    edges: Array
    node_labels: tuple[Hashable, ...] | None
    edge_labels: tuple[Hashable, ...] | None
    node_attributes: Array | None
    edge_weights: Array | None

    def __init__(
        self,
        n_nodes: int,
        edges: Any,
        node_labels: Sequence[Hashable] | None = None,
        edge_labels: Sequence[Hashable] | None = None,
        node_attributes: Any = None,
        edge_weights: Any = None,
    ) -> None:
        count = checks.whole("Graph", "n_nodes", n_nodes, least=0)
        pairs, order = _edges(edges, count)
        named = _labels("edge_labels", edge_labels, len(pairs))
        values = {
            "n_nodes": count,
            "edges": pairs,
            "node_labels": _labels("node_labels", node_labels, count),
            "edge_labels": None if named is None else tuple(named[i] for i in order),
            "node_attributes": _attributes(node_attributes, count),
            "edge_weights": _weights(edge_weights, order),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph cannot be changed; make a new one to set {name}.")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph, self._content()

    def _content(self) -> tuple[Any, ...]:
        return (
            self.n_nodes,
            self.edges,
            self.node_labels,
            self.edge_labels,
            self.node_attributes,
            self.edge_weights,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        pairs = zip(self._content(), other._content(), strict=True)
        return all(_same(mine, theirs) for mine, theirs in pairs)

    def __hash__(self) -> int:
        return hash((self.n_nodes, self.edges.tobytes(), self.node_labels, self.edge_labels))

    def __repr__(self) -> str:
        parts = [f"{self.n_nodes} nodes, {len(self.edges)} edges"]
        has = {
            "node labels": self.node_labels,
            "edge labels": self.edge_labels,
            "attributes": self.node_attributes,
            "weights": self.edge_weights,
        }
        parts += [name for name, value in has.items() if value is not None]
        return f"<Graph: {', '.join(parts)}>"


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
        return np.array_equal(mine, theirs)
    return type(mine) is type(theirs) and bool(mine == theirs)


def _edges(given: Any, n_nodes: int) -> tuple[Array, Array]:
    """Return the edges in order, each with its smaller node first, and where they came from."""
    found = np.asarray(given)
    if found.size == 0:
        found = np.empty((0, 2), dtype=np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        must = "edges must be pairs of node numbers, shape (m, 2)"
        got = f"{found.dtype} of shape {found.shape}"
        raise InputTypeError(sentence("Graph", must, got))
    outside = np.flatnonzero((found < 0).any(axis=1) | (found >= n_nodes).any(axis=1))
    if len(outside):
        first = outside[0]
        must = f"edges must join nodes from 0 to {n_nodes - 1}"
        raise InputError(sentence("Graph", must, f"edge {first}: {tuple(found[first].tolist())}"))
    pairs = np.sort(found.astype(np.int64), axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    twice = np.flatnonzero((pairs[1:] == pairs[:-1]).all(axis=1))
    if len(twice):
        again = tuple(pairs[twice[0]].tolist())
        hint = "Give each undirected edge once; use edge_weights for its strength."
        raise InputError(sentence("Graph", "an edge must be given once", f"{again} twice", hint))
    pairs.setflags(write=False)
    return pairs, order


def _labels(name: str, given: Any, count: int) -> tuple[Hashable, ...] | None:
    if given is None:
        return None
    if isinstance(given, str | bytes):
        raise InputTypeError(sentence("Graph", f"{name} must be a list of labels", "one string"))
    found = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
    if len(found) != count:
        raise InputError(sentence("Graph", f"{name} must have {count} labels", len(found)))
    for index, label in enumerate(found):
        if label is None or not isinstance(label, Hashable):
            must = f"{name} must be hashable, and not None"
            raise InputTypeError(sentence("Graph", must, f"{checks.show(label)} at index {index}"))
    return found


def _attributes(given: Any, count: int) -> Array | None:
    if given is None:
        return None
    found = np.array(given, dtype=np.float64)
    if found.ndim != 2 or len(found) != count or not np.isfinite(found).all():
        must = f"node_attributes must be {count} rows of finite numbers"
        raise InputError(sentence("Graph", must, f"shape {found.shape}"))
    found.setflags(write=False)
    return found


def _weights(given: Any, order: Array) -> Array | None:
    if given is None:
        return None
    found = np.array(given, dtype=np.float64)
    if found.shape != order.shape or not (np.isfinite(found).all() and (found > 0).all()):
        must = f"edge_weights must be {len(order)} positive numbers"
        raise InputError(sentence("Graph", must, checks.show(given)))
    found = found[order]
    found.setflags(write=False)
    return found
