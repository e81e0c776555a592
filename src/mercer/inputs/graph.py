"""Undirected graphs, as values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from os import PathLike
from typing import Any, Self

import numpy as np
import scipy.sparse

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence
from .graph_files import tu_graphs
from .graph_sources import parts_of_adjacency, parts_of_edge_index, parts_of_networkx

_PARTS = ("n_nodes", "edges", "node_labels", "edge_labels", "node_attributes", "edge_weights")
MOST_NODES = 10**9  # the core numbers them with 32 bits


class Graph:
    """An undirected graph: nodes 0..n_nodes-1 and edges between them, each pair once.

    edges: pairs of nodes, in any order; a self-loop (u, u) is allowed, a pair given twice is not.
    node_labels, edge_labels: one hashable label each. node_attributes: one row of numbers a node.
    edge_weights: one positive number an edge, its length where paths are measured.

    A graph cannot be changed. Its edges are kept in ascending order, each with the smaller node
    first, and labels and weights with them; graphs are equal if all of this is. Isomorphic graphs
    with other node numbers are not equal, but no kernel tells them apart.
    """

    __slots__ = _PARTS
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
        count = checks.whole("Graph", "n_nodes", n_nodes, least=0, most=MOST_NODES)
        pairs, order = _edges(edges, count)
        named = _labels("edge_labels", edge_labels, len(pairs))
        content = (
            count,
            pairs,
            _labels("node_labels", node_labels, count),
            None if named is None else tuple(named[i] for i in order.tolist()),
            _attributes(node_attributes, count),
            _weights(edge_weights, order),
        )
        for name, value in zip(_PARTS, content, strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        node_label: str | None = None,
        edge_label: str | None = None,
        node_attributes: str | Sequence[str] | None = None,
        edge_weight: str | None = None,
    ) -> Self:
        """Return an undirected networkx graph as a value, its nodes in their order there.

        The others are names of attributes that networkx keeps for its nodes and edges. Of
        node_attributes there may be several; each holds a number or a row of them.
        """
        return cls(*parts_of_networkx(graph, node_label, edge_label, node_attributes, edge_weight))

    @classmethod
    def from_adjacency(
        cls, matrix: Any, node_labels: Sequence[Hashable] | None = None, node_attributes: Any = None
    ) -> Self:
        """Return the graph of a symmetric matrix, dense or sparse: what is not 0 is an edge.

        If any entry is neither 0 nor 1, all are kept as weights.
        """
        n_nodes, edges, weights = parts_of_adjacency(matrix)
        return cls(n_nodes, edges, node_labels, None, node_attributes, weights)

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Any,
        n_nodes: int | None = None,
        node_labels: Sequence[Hashable] | None = None,
        edge_labels: Sequence[Hashable] | None = None,
        node_attributes: Any = None,
        edge_weights: Any = None,
    ) -> Self:
        """Return the graph of an array of shape (2, m), whose columns are the edges.

        An edge may be given in one direction or in both; then edge_labels and edge_weights, one a
        column, must say the same of both. n_nodes: as many as there are labels or attributes of
        nodes, else up to the largest number in edge_index, if not given.

        edge_index may be a `Data` of PyTorch Geometric, or anything else that has an edge_index.
        Then its num_nodes, its x as node_attributes, its edge_weight and its edge_attr are taken
        where nothing else is given; edge_attr must be whole numbers, which are labels.

        >>> from mercer.kernels import Graph
        >>> Graph.from_edge_index([[0, 1, 1, 2], [1, 0, 2, 1]], edge_labels=["a", "a", "b", "b"])
        <Graph: 3 nodes, 2 edges, edge labels>
        """
        given = (n_nodes, node_labels, edge_labels, node_attributes, edge_weights)
        return cls(*parts_of_edge_index(edge_index, *given))

    @classmethod
    def read_tu(
        cls, folder: str | PathLike[str], name: str | None = None, *, edge_weights: bool = False
    ) -> tuple[list[Self], Array]:
        """Return the graphs and their labels from a folder in the format of TU Dortmund.

        It holds NAME_A.txt and so on, perhaps gzipped; name is needed if there are several NAMEs.
        An edge may be given once or in both directions. Node labels, edge labels and node
        attributes are read where there are any; edge attributes only if edge_weights=True, as
        weights.
        """
        parts, labels = tu_graphs(folder, name, edge_weights)
        return [cls._of(*part) for part in parts], labels

    def without_attributes(self) -> Self:
        """Return the same graph without node_attributes, for kernels that do not use them."""
        content = dict(zip(_PARTS, self._content(), strict=True)) | {"node_attributes": None}
        return self._of(*content.values())

    @classmethod
    def _of(cls, *content: Any) -> Self:
        """Return the graph of parts that are known to be right, as `_content` gives them."""
        made = object.__new__(cls)
        for name, value in zip(_PARTS, content, strict=True):
            object.__setattr__(made, name, value)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph cannot be changed; make a new one to set {name}.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Graph cannot be changed; make a new one without {name}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._content()

    def _content(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in _PARTS)

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
    found = _pairs(given)
    outside = np.flatnonzero((found < 0).any(axis=1) | (found >= n_nodes).any(axis=1))
    if len(outside):
        first = outside[0]
        must = f"edges must join nodes from 0 to {n_nodes - 1}" if n_nodes else "edges need nodes"
        raise InputError(sentence("Graph", must, f"{_text(found[first])} at index {first}"))
    pairs = np.sort(found.astype(np.int64), axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    twice = np.flatnonzero((pairs[1:] == pairs[:-1]).all(axis=1))
    if len(twice):
        again = sorted(order[twice[0] : twice[0] + 2].tolist())
        got = f"{_text(pairs[twice[0]])} at indices {again[0]} and {again[1]}"
        hint = "Give each undirected edge once; use edge_weights for its strength."
        raise InputError(sentence("Graph", "an edge must be given once", got, hint))
    pairs.setflags(write=False)
    return pairs, order


def _pairs(given: Any) -> Array:
    """Return edges as an array of two columns of whole numbers."""
    must = "edges must be pairs of node numbers, shape (m, 2)"
    if not isinstance(given, np.ndarray):
        if scipy.sparse.issparse(given):
            hint = "Read an adjacency matrix with Graph.from_adjacency."
            raise InputTypeError(sentence("Graph", must, "a sparse matrix", hint))
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise InputTypeError(sentence("Graph", must, checks.show(given)))
        given = list(given)
    try:
        found = np.asarray(given)
    except ValueError:
        raise InputTypeError(sentence("Graph", must, "rows of different lengths")) from None
    if found.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        columns = found.ndim == 2 and found.shape[0] == 2
        hint = "Read it with Graph.from_edge_index." if columns else ""
        got = f"{found.dtype} of shape {found.shape}"
        raise InputTypeError(sentence("Graph", must, got, hint))
    return found


def _text(pair: Array) -> str:
    return f"({pair[0]}, {pair[1]})"


def _labels(name: str, given: Any, count: int) -> tuple[Hashable, ...] | None:
    if given is None:
        return None
    if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable):
        must = f"{name} must be a list of {count} labels, in order"
        raise InputTypeError(sentence("Graph", must, type(given).__name__))
    found = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
    if len(found) != count:
        raise InputError(sentence("Graph", f"{name} must have {count} labels", len(found)))
    for index, label in enumerate(found):
        if label is None or not _is_comparable(label):
            must = f"{name} must be hashable, not None and not NaN"
            raise InputTypeError(sentence("Graph", must, f"{checks.show(label)} at index {index}"))
    return found


def _is_comparable(label: Any) -> bool:
    """Return whether a label has a hash and equals itself, as not-a-number does not."""
    try:
        hash(label)
        return bool(label == label)
    except TypeError:  # a tuple may hold a list, and pandas.NA equals it cannot say what
        return False


def _attributes(given: Any, count: int) -> Array | None:
    if given is None:
        return None
    must = f"node_attributes must be {count} rows of finite numbers"
    found = _numbers(given, must)
    if found.size == 0 and count == 0:
        found = found.reshape(0, found.shape[1] if found.ndim == 2 else 0)
    if found.ndim != 2 or len(found) != count:
        raise InputError(sentence("Graph", must, f"shape {found.shape}"))
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0]
        got = f"{found[row, column]} in row {row}, column {column}"
        raise InputError(sentence("Graph", must, got))
    found.setflags(write=False)
    return found


def _weights(given: Any, order: Array) -> Array | None:
    if given is None:
        return None
    must = f"edge_weights must be {len(order)} positive numbers"
    found = _numbers(given, must)
    if found.shape != order.shape:
        raise InputError(sentence("Graph", must, f"shape {found.shape}"))
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > 0)))
    if len(wrong):
        raise InputError(sentence("Graph", must, f"{found[wrong[0]]} at index {wrong[0]}"))
    found = found[order]
    found.setflags(write=False)
    return found


def _numbers(given: Any, must: str) -> Array:
    """Return a copy as an array of numbers."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(sentence("Graph", must, checks.show(given))) from None
