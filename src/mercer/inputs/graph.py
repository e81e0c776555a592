"""Undirected graphs, as values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np

from .. import checks
from ..checks import Array
from ..typing import HasArray, HasShape, MatrixLike, Numbers
from .graph_checks import checked_attributes, checked_edges, checked_labels, checked_weights
from .graph_files import tu_graphs
from .graph_sources import parts_of_adjacency, parts_of_edge_index, parts_of_networkx

_PARTS = ("n_nodes", "edges", "node_labels", "edge_labels", "node_attributes", "edge_weights")
MOST_NODES = 10**9  # the core numbers them with 32 bits


class Graph:
    """An undirected graph, as a value that cannot be changed.

    Nodes are numbered 0, …, n_nodes - 1. Edges are kept in ascending order, each with the smaller
    node first, and labels and weights with them; graphs are equal if all of this is equal.
    Isomorphic graphs with other node numbers are not equal, but no kernel tells them apart [1]_.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    edges : iterable of pairs of int or array-like of shape (m, 2)
        The edges, in any order. A self-loop (u, u) is allowed, a pair given twice is not.
    node_labels : sequence of hashable, default=None
        One label per node.
    edge_labels : sequence of hashable, default=None
        One label per edge.
    node_attributes : array-like of shape (n_nodes, d), default=None
        One row of numbers per node.
    edge_weights : array-like of shape (m,), default=None
        One positive number per edge, its length where paths are measured.

    References
    ----------
    .. [1] N. M. Kriege, F. D. Johansson, C. Morris, "A survey on graph kernels", Applied Network
       Science, 2020.

    Examples
    --------
    >>> from mercer.kernels import Graph
    >>> water = Graph(3, [(0, 1), (0, 2)], node_labels=["O", "H", "H"])
    >>> water
    <Graph: 3 nodes, 2 edges, node labels>
    >>> water.edges.tolist()
    [[0, 1], [0, 2]]
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
        edges: Iterable[Sequence[int]] | HasArray,
        node_labels: Sequence[Hashable] | None = None,
        edge_labels: Sequence[Hashable] | None = None,
        node_attributes: MatrixLike | None = None,
        edge_weights: Numbers | None = None,
    ) -> None:
        count = checks.whole("Graph", "n_nodes", n_nodes, least=0, most=MOST_NODES)
        pairs, order = checked_edges(edges, count)
        named = checked_labels("edge_labels", edge_labels, len(pairs))
        content = (
            count,
            pairs,
            checked_labels("node_labels", node_labels, count),
            None if named is None else tuple(named[i] for i in order.tolist()),
            checked_attributes(node_attributes, count),
            checked_weights(edge_weights, order),
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
        """Return an undirected networkx graph as a value, with its nodes in their order there.

        Parameters
        ----------
        graph : networkx.Graph
            The graph; a directed graph or a multigraph is refused.
        node_label : str, default=None
            Name of the networkx attribute that becomes the labels of nodes.
        edge_label : str, default=None
            Name of the networkx attribute that becomes the labels of edges.
        node_attributes : str or sequence of str, default=None
            Names of networkx attributes of nodes that become attributes; each holds a number or a
            row of them.
        edge_weight : str, default=None
            Name of the networkx attribute that becomes the weights of edges.

        Returns
        -------
        Graph
            The graph.
        """
        return cls(*parts_of_networkx(graph, node_label, edge_label, node_attributes, edge_weight))

    @classmethod
    def from_adjacency(
        cls,
        matrix: MatrixLike | HasShape,
        node_labels: Sequence[Hashable] | None = None,
        node_attributes: MatrixLike | None = None,
    ) -> Self:
        """Return the graph of a symmetric matrix, in which every entry other than 0 is an edge.

        If any entry is neither 0 nor 1, all entries are kept as weights.

        Parameters
        ----------
        matrix : array-like or sparse matrix of shape (n, n)
            The adjacency matrix, symmetric, without negative entries.
        node_labels : sequence of hashable, default=None
            One label per node.
        node_attributes : array-like of shape (n, d), default=None
            One row of numbers per node.

        Returns
        -------
        Graph
            The graph.

        Examples
        --------
        >>> from mercer.kernels import Graph
        >>> Graph.from_adjacency([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        <Graph: 3 nodes, 2 edges>
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
        node_attributes: MatrixLike | None = None,
        edge_weights: Numbers | None = None,
    ) -> Self:
        """Return the graph of an array of shape (2, m), whose columns are the edges.

        An edge may be given in one direction or in both; then labels and weights must be the same
        for both. A `Data` of PyTorch Geometric, or anything else that has an edge_index, may be
        given instead. Then its num_nodes, its x as node_attributes, its edge_weight and its
        edge_attr are used where nothing else is given; edge_attr must be whole numbers, which are
        labels.

        Parameters
        ----------
        edge_index : array-like of shape (2, m) or object with an edge_index
            The edges.
        n_nodes : int, default=None
            Number of nodes. None means as many as there are labels or attributes of nodes, or else
            one more than the largest number in edge_index.
        node_labels : sequence of hashable, default=None
            One label per node.
        edge_labels : sequence of hashable, default=None
            One label per column of edge_index.
        node_attributes : array-like of shape (n_nodes, d), default=None
            One row of numbers per node.
        edge_weights : array-like of shape (m,), default=None
            One positive number per column of edge_index.

        Returns
        -------
        Graph
            The graph.

        Examples
        --------
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

        The folder holds NAME_A.txt and so on, perhaps gzipped. An edge may be given once or in both
        directions. Node labels, edge labels and node attributes are read where there are any.

        Parameters
        ----------
        folder : str or path
            The folder.
        name : str, default=None
            The NAME, needed if the folder holds several collections.
        edge_weights : bool, default=False
            Whether to read edge attributes as weights.

        Returns
        -------
        graphs : list of Graph
            The graphs.
        labels : ndarray of int
            The label of each graph.
        """
        parts, labels = tu_graphs(folder, name, edge_weights)
        return [cls._of(*part) for part in parts], labels

    def without_attributes(self) -> Self:
        """Return the same graph without node attributes, for kernels that do not use them.

        Returns
        -------
        Graph
            The graph with its nodes, edges, labels and weights.
        """
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
