"""Kernels of graphs with attributes, by random labels that nodes with near attributes share."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import checks
from ...checks import Array, InputError, InputTypeError, sentence
from ...inputs import GRAPHS, Graph, Input
from ..nested import Nested
from ..objects.counted import CountKernel, Table
from ..objects.tokens import mix, mix_rows
from ..pairs import column_weights
from ..parameters import Bandwidth, bandwidth, data_bandwidth
from .arrays import flatten, labels_of
from .counted import ShortestPath, WeisfeilerLehman
from .nodes import attribute_rows, training_rows

_BASE = WeisfeilerLehman()
_MOST = 10**4  # hashes
_SEEDS = 2**63 - 1


@dataclass(frozen=True, repr=False)
class HashGraph(Nested, CountKernel):
    """A kernel of graphs with attributes, by random labels that nodes with near attributes share.

    k(G, H) = the mean of base(G_i, H_i) over i = 1, …, n_hashes, where G_i is G with random labels
    [1]_. The label of a node in G_i is its own label, if it has one, with the cell of a random grid
    in which its attributes lie: column c has cells of width g / gamma, with g from the gamma
    distribution of shape 2, shifted by a uniform share of the width. Two nodes are in the same cell
    with probability exp(-gamma ||x - y||_1), the value of `Laplacian(gamma)` [2]_. So the
    expectation of HashGraph(WeisfeilerLehman(0)) is the sum of that over all pairs of nodes with
    equal labels.

    Parameters
    ----------
    base : WeisfeilerLehman or ShortestPath, default=WeisfeilerLehman()
        The kernel of the graphs with random labels; it decides what edges mean and what is counted.
    gamma : float, tuple of float, "scale" or "auto", default="scale"
        Inverse width of the grids, one for all columns or one per column. "scale" is 1 / (d std)
        and "auto" is 1 / d, for d columns of attributes of all nodes. Nodes whose attributes are
        far apart for their gamma never share a cell: scale the columns, or choose gamma, with care.
    n_hashes : int, default=20
        Number of grids. More of them come closer to the expectation, at the cost of time and
        features.
    seed : int, default=0
        Chooses the grids. The same kernel has the same grids in every process, so that a graph has
        the same features in training and at prediction.

    References
    ----------
    .. [1] C. Morris, N. M. Kriege, K. Kersting, P. Mutzel, "Faster kernels for graphs with
       continuous attributes via hashing", ICDM, 2016.
    .. [2] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS, 2007.

    Examples
    --------
    >>> from mercer.kernels import Graph, HashGraph
    >>> edge = Graph(2, [(0, 1)], node_attributes=[[0.0], [9.0]])
    >>> near = Graph(2, [(0, 1)], node_attributes=[[0.1], [9.0]])
    >>> K = HashGraph(gamma=1.0).normalized()([edge, near])
    >>> bool(0.5 < K[0, 1] < 1.0)
    True
    """

    domain = GRAPHS

    base: WeisfeilerLehman | ShortestPath = _BASE
    gamma: Bandwidth = "scale"
    n_hashes: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        base = self.base
        plain = isinstance(base, ShortestPath) and base.node_kernel is None
        if not (plain or isinstance(base, WeisfeilerLehman)):
            must = "base must be WeisfeilerLehman(...) or ShortestPath()"
            raise InputTypeError(sentence("HashGraph", must, checks.show(base)))
        self._set(
            gamma=bandwidth("HashGraph", "gamma", self.gamma),
            n_hashes=checks.whole("HashGraph", "n_hashes", self.n_hashes, least=1, most=_MOST),
            seed=checks.whole("HashGraph", "seed", self.seed, least=0, most=_SEEDS),
        )

    @property
    def overlap(self) -> bool:
        return self.base.overlap

    @property
    def share(self) -> float:
        """How much one occurrence counts, so that k is a mean."""
        return 1.0 / self.n_hashes if self.overlap else 1.0 / math.sqrt(self.n_hashes)

    @property
    def without(self) -> str:
        """What to do with graphs that have no attributes."""
        return f"Take {self.base!r}, or give them to all graphs."

    def pair(self, x: Graph, y: Graph) -> float:
        pairs = zip(self._hashed(x), self._hashed(y), strict=True)
        return math.fsum(self.base.pair(mine, theirs) for mine, theirs in pairs) / self.n_hashes

    def counts(self, x: Graph) -> Mapping[Hashable, float]:
        return {
            (index, token): count * self.share
            for index, graph in enumerate(self._hashed(x))
            for token, count in self.base.counts(graph).items()
        }

    def _hashed(self, x: Graph) -> Iterator[Graph]:
        """Yield the graph with the labels of each grid."""
        self.require_resolved()
        rows = attribute_rows("HashGraph", [x], self.without).values
        for index in range(self.n_hashes):
            cells = self._cells(rows, index).tolist()
            labels = list(zip(labels_of(x), map(tuple, cells), strict=True))
            yield Graph(x.n_nodes, x.edges, labels, x.edge_labels, edge_weights=x.edge_weights)

    def _cells(self, rows: Array, index: int) -> Array:
        """Return the cell of every row in one of the grids, a whole number for each column."""
        if not len(rows):
            return rows
        widths, shifts = _grid(self.seed, index, rows.shape[1])
        gamma: Any = self.gamma
        if isinstance(gamma, tuple):
            gamma = column_weights(gamma, rows.shape[1])
        with np.errstate(over="ignore"):
            found = np.floor(rows * gamma / widths - shifts)
        if not np.isfinite(found).all():
            must = "an attribute must be less than 1.8e308 cells from 0"
            got = f"{np.abs(rows).max():g}, with gamma {np.max(gamma):g}"
            raise InputError(sentence("HashGraph", must, got, "Scale the attributes."))
        return np.asarray(found)

    def tabulate(self, items: Sequence[Graph]) -> Table:
        rows = attribute_rows("HashGraph", items, self.without).values
        graphs, parts = flatten(items), []
        salts = mix(np.arange(1, self.n_hashes + 1, dtype=np.uint64))
        for index, salt in enumerate(salts):
            codes = mix_rows(mix(graphs.node_codes + np.uint64(1)), self._cells(rows, index))
            table = self.base.tabulate_arrays(replace(graphs, node_codes=codes))
            parts.append(replace(table, ids=mix(table.ids + salt)))
        return _joined(parts, self.share)

    def from_data(self, name: str, points: Input, weight: Array | None) -> float:
        rows, of_node = training_rows("HashGraph", points, weight, self.without)
        if not rows.values.size:
            return 1.0
        return data_bandwidth(str(self.gamma), rows, of_node, power=0.5)


def _grid(seed: int, index: int, columns: int) -> tuple[Array, Array]:
    """Return the widths of the cells of each column, for gamma = 1, and shares of them to shift by.

    They come from hashes and not from a generator, whose numbers may be others in another version.
    """
    start = mix(mix(np.array([seed], dtype=np.uint64)) + np.uint64(index))
    codes = mix(start + np.arange(3 * columns, dtype=np.uint64)).reshape(columns, 3)
    uniform = ((mix(codes) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return -np.log(uniform[:, 0]) - np.log(uniform[:, 1]), uniform[:, 2].copy()


def _joined(parts: Sequence[Table], share: float) -> Table:
    """Return all counts of several tables of the same objects, times a share."""
    ends = np.sum([part.ends for part in parts], axis=0)
    ids = np.empty(int(ends[-1]), dtype=np.uint64)
    values = np.empty(len(ids))
    first = ends[:-1].copy()
    for part in parts:
        lengths = np.diff(part.ends)
        places = np.repeat(first - part.ends[:-1], lengths) + np.arange(len(part.ids))
        ids[places], values[places] = part.ids, part.values * share
        first += lengths
    return Table.of(ends, ids, values)
