"""The kernel of random walks in two graphs at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, cast

import numpy as np
import scipy.sparse

from ... import _native, checks
from ...checks import Array, KernelError, sentence
from ...inputs import GRAPHS, Graph
from ...linalg.eigen import eigh_of_each
from ..base import Kernel
from ..objects.paired import PairKernel, Program
from .arrays import GraphArrays, flatten, labels_of, neighbours_of
from .nodes import (
    ComparesNodes,
    NodeGraphs,
    NodeProgram,
    attribute_rows,
    finite,
    node_values,
    nonnegative,
    refuse_attributes,
)

_MARGIN = _native.WalkGraphs.LEAST_MARGIN  # from the bound: closer, k loses half of its digits
_HUGE = float(np.finfo(np.float64).max)
_LONGEST = 10**6  # steps for which a table of walks is kept
_BATCH = 1 << 25  # sum of cubes of sizes of matrices decomposed at a time: until then no Ctrl-C
_EQUAL = 1e-14  # eigenvalues whose distance is so much of the largest are one
_NOTHING = 1e-20  # of the nodes: the weight of an eigenvalue that no walk sees
_CLOSE = 1.0005  # how near the largest decay is sought

# Stores the margins of chosen graphs for scale * decay.
Margins = Callable[[Array, float, Array], None]


@dataclass(frozen=True, repr=False)
class RandomWalk(ComparesNodes, PairKernel):
    """The random walk kernel, which counts the walks that two graphs have in common.

    k(G, H) = sum_j decay**j 1' W**j 1 over lengths j, where W is the adjacency matrix of the
    product graph [1]_: its vertices are the pairs of nodes with equal labels, and two of them are
    joined where both graphs have an edge with equal labels; the weights of the two edges are
    multiplied. Labels are used where present; a node or an edge without a label matches others
    without one. The empty graph has k = 0.

    With a node kernel, a pair of walks weighs the product of k(u, u') over all pairs of nodes it
    visits: k(G, H) = sum_j decay**j 1' D (W D)**j 1 with D = diag(k(u, u')). A node kernel that is
    1 for equal attributes and 0 for others gives what labels would give.

    Parameters
    ----------
    decay : float
        Weight per step, above 0.
    steps : int, default=None
        Length of the longest walk. None is the whole series, which converges while decay is below 1
        / rho(W), the inverse of the largest eigenvalue; all graphs are checked before anything is
        computed.
    node_kernel : Kernel, default=None
        A kernel of rows of numbers, for graphs with attributes of nodes; without it attributes are
        refused. Without `steps`, its values must not be negative.

    References
    ----------
    .. [1] S. V. N. Vishwanathan, N. N. Schraudolph, R. Kondor, K. M. Borgwardt, "Graph kernels",
       Journal of Machine Learning Research, 2010.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Graph, RandomWalk
    >>> triangle = Graph(3, [(0, 1), (1, 2), (0, 2)])
    >>> path = Graph(3, [(0, 1), (1, 2)])
    >>> RandomWalk(0.1)([triangle, path]).round(3)
    array([[15.   , 12.391],
           [12.391, 11.042]])
    >>> edge = Graph(2, [(0, 1)], node_attributes=[[0.0], [1.0]])
    >>> round(RandomWalk(0.1, steps=1, node_kernel=Gaussian(gamma=1.0)).pair(edge, edge), 4)
    2.9628
    """

    domain = GRAPHS

    decay: float
    steps: int | None = None
    node_kernel: Kernel | None = None

    def __post_init__(self) -> None:
        self.check_node_kernel()
        self._set(decay=checks.number("RandomWalk", "decay", self.decay, above=0))
        if self.steps is not None:
            self._set(steps=checks.whole("RandomWalk", "steps", self.steps, least=0, most=_LONGEST))

    def pair(self, x: Graph, y: Graph) -> float:
        vertices = _vertices(x, y)
        W, D = self.decay * product_graph(x, y), self._vertex_weights(x, y, vertices)
        ones = np.ones(len(W))
        if self.steps is None:
            root = np.sqrt(D)
            symmetric = root[:, None] * W * root
            known = np.isfinite(symmetric).all()
            radius = np.abs(np.linalg.eigvalsh(symmetric)).max(initial=0.0) if known else math.inf
            if radius >= 1 - _MARGIN:
                raise _divergence(self, self.decay * _limit(radius), "their product")
            return float(D @ np.linalg.solve(np.eye(len(W)) - W * D, ones))
        walks = ones
        for _ in range(self.steps):
            walks = ones + W @ (D * walks)
        return float(D @ walks)

    def _vertex_weights(self, x: Graph, y: Graph, vertices: list[tuple[int, int]]) -> Array:
        """Return k(u, v) of the vertices (u, v) of the product graph; 1 without a node kernel."""
        if self.node_kernel is None:
            self._refuse_attributes([x, y])
            return np.ones(len(vertices))
        values = node_values("RandomWalk", self.node_kernel, x, y, self.without)
        found = np.array([values[u, v] for u, v in vertices])
        return nonnegative("RandomWalk", found) if self.steps is None else found

    def _refuse_attributes(self, graphs: Sequence[Graph]) -> None:
        refuse_attributes("RandomWalk", graphs, "Give it node_kernel=Gaussian()")

    def encode(self, items: Sequence[Graph]) -> _native.WalkGraphs | NodeGraphs:
        arrays = flatten(items)
        with np.errstate(over="ignore"):  # then W has the decay in it; what is beyond is refused
            weights = np.minimum(math.sqrt(self.decay) * arrays.arc_weights, _HUGE)
        codes = arrays.node_codes, arrays.arc_codes
        graphs = _native.WalkGraphs(*arrays.shape, *codes, weights, self.node_kernel is None)
        if self.node_kernel is not None:
            rows = attribute_rows("RandomWalk", items, self.without)
            nodes = NodeGraphs(graphs, rows, arrays.node_ends)
            return self._encode_nodes(self.node_kernel, nodes, arrays, weights)
        self._refuse_attributes(items)
        uniform = np.empty(len(arrays), dtype=bool)
        graphs.mark_uniform(uniform)
        if self.steps is None:
            spectra, radii = _spectra(arrays, weights, uniform)
            _check_convergence(self, graphs.margins, radii)
            graphs.summarise(*spectra)
        else:
            walks = _walks(self.steps, arrays, weights, np.ones(len(arrays.node_codes)))
            ends = np.concatenate([[0], np.cumsum(uniform * np.int64(self.steps + 1))])
            graphs.summarise(ends, np.empty(0), walks[uniform].ravel())
        return graphs

    def _encode_nodes(
        self, node_kernel: Kernel, graphs: NodeGraphs, arrays: GraphArrays, weights: Array
    ) -> NodeGraphs:
        """Return graphs with attributes, unless the series diverges on them, or walks weigh too
        much."""
        if self.steps is None:
            program = self._node_program(node_kernel, graphs, graphs)
            margins = partial(_node_margins, program)
            _check_convergence(self, margins, np.full(len(arrays), np.nan))
            return graphs
        # |k(u, v)| is at most the root of k(u, u) k(v, v).
        own = node_kernel.diag(graphs.rows) if len(graphs.rows) else np.zeros(0)
        roots = np.sqrt(np.maximum(finite("RandomWalk", own), 0.0))
        of_arcs = np.repeat(roots, np.diff(arrays.arc_ends))
        with np.errstate(over="ignore"):
            _walks(self.steps, arrays, np.minimum(weights * of_arcs, _HUGE), roots)
        return graphs

    def job(self, left: Any, right: Any) -> Program:
        if self.node_kernel is not None:
            return self._node_program(self.node_kernel, left, right)
        if self.steps is None:
            return _native.GeometricWalks(left, right)
        return _native.FiniteWalks(left, right, self.steps)

    def _node_program(
        self, node_kernel: Kernel, left: NodeGraphs, right: NodeGraphs
    ) -> NodeProgram:
        steps = _native.NodeWalks.ENDLESS if self.steps is None else self.steps
        job = _native.NodeWalks(left.graphs, right.graphs, steps)
        change = nonnegative if self.steps is None else None
        return NodeProgram("RandomWalk", node_kernel, left, right, job, change)


def _vertices(x: Graph, y: Graph) -> list[tuple[int, int]]:
    """Return the vertices of the product graph: the pairs of nodes with equal labels."""
    labelled = product(enumerate(labels_of(x)), enumerate(labels_of(y)))
    return [(u, v) for (u, label), (v, other) in labelled if label == other]


def product_graph(x: Graph, y: Graph) -> Array:
    """Return the adjacency matrix of the product graph of two graphs."""
    vertices = {pair: index for index, pair in enumerate(_vertices(x, y))}
    W = np.zeros((len(vertices), len(vertices)))
    for a, b, label, weight in _arcs(x):
        for c, d, other, factor in _arcs(y):
            if label == other and (a, c) in vertices and (b, d) in vertices:
                W[vertices[a, c], vertices[b, d]] = weight * factor
    return W


def _arcs(graph: Graph) -> Iterator[tuple[int, int, Any, float]]:
    """Yield the edges, each in both directions, with label and weight."""
    for u, near in enumerate(neighbours_of(graph)):
        for v, label, weight in near:
            yield u, v, label, weight


def _walks(steps: int, arrays: GraphArrays, weights: Array, at: Array) -> Array:
    """Return the weight of all walks of every graph, of each length: 1'A^k a, a the start `at`.

    That of the labelled walks is not larger, so where these squares are finite every k is.
    """
    A = scipy.sparse.csr_array(
        (weights, arrays.neighbours, arrays.arc_ends), shape=(len(at), len(at))
    )
    found = np.empty((len(arrays), steps + 1))
    with np.errstate(over="ignore", invalid="ignore"):
        for length in range(steps + 1):
            found[:, length] = np.bincount(arrays.owners, weights=at, minlength=len(arrays))
            at = A @ at
        total = np.square(found).sum(axis=1)
    if not np.isfinite(total).all():
        graph = int(np.flatnonzero(~np.isfinite(total))[0])
        must = "the weights of walks must stay within the range of a double"
        got = f"more for {steps} steps in graph {graph}"
        raise KernelError(sentence("RandomWalk", must, got, "Lower decay or steps."))
    return found


def _spectra(
    arrays: GraphArrays, weights: Array, uniform: Array
) -> tuple[tuple[Array, Array, Array], Array]:
    """Return where the spectra of uniform graphs end, their eigenvalues and weights; and the radii.

    1'A^k 1 = sum w s^k over the eigenvalues s of A, w = (1'u)^2 of their eigenvectors u. Equal
    eigenvalues are put together, those without weight left out. The radius of others is NaN.
    """
    sizes, radii = np.diff(arrays.node_ends), np.full(len(arrays), np.nan)
    found = [(np.empty(0, np.int64), np.empty(0), np.empty(0))]
    for size in np.unique(sizes[uniform]).tolist():
        members = np.flatnonzero(uniform & (sizes == size))
        step = max(1, _BATCH // size**3)
        for batch in (members[k : k + step] for k in range(0, len(members), step)):
            values, vectors = eigh_of_each(_matrices(arrays, weights, batch, size))
            radii[batch] = np.abs(values).max(axis=1)
            found.append(_merged(batch, values, np.square(vectors.sum(axis=1)), radii[batch]))
    owners, values, shares = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(owners, kind="stable")
    ends = np.searchsorted(owners[order], np.arange(len(arrays) + 1))
    return (ends, values[order], shares[order]), radii


def _matrices(arrays: GraphArrays, weights: Array, chosen: Array, size: int) -> Array:
    """Return the adjacency matrices of graphs that have one size."""
    made = np.zeros((len(chosen), size, size))
    for matrix, graph in zip(made, chosen.tolist(), strict=True):
        first, last = arrays.node_ends[graph : graph + 2]
        arcs = slice(arrays.arc_ends[first], arrays.arc_ends[last])
        tails = np.repeat(np.arange(size), np.diff(arrays.arc_ends[first : last + 1]))
        matrix[tails, arrays.neighbours[arcs] - first] = weights[arcs]
    return made


def _merged(
    owners: Array, values: Array, shares: Array, radii: Array
) -> tuple[Array, Array, Array]:
    """Return owner, value and weight of the eigenvalues that matter; the rows of values ascend."""
    new = np.ones(values.shape, dtype=bool)
    new[:, 1:] = np.diff(values, axis=1) > _EQUAL * radii[:, None]
    first = np.flatnonzero(new)
    weight = np.add.reduceat(shares.ravel(), first)
    moment = np.add.reduceat((shares * values).ravel(), first)
    kept = weight > _NOTHING * values.shape[1]
    owner = owners[first // values.shape[1]]
    return owner[kept], moment[kept] / weight[kept], weight[kept]


def _check_convergence(kernel: RandomWalk, margins: Margins, radii: Array) -> None:
    """Refuse graphs whose products with themselves have decay * rho >= 1.

    The spectral radius of two graphs' product is sqrt(rho rho') at most, so that these decide for
    all pairs.
    """
    mixed = np.flatnonzero(np.isnan(radii))
    with np.errstate(over="ignore"):
        found = 1 - np.square(radii)
    found[mixed] = _proved(margins, mixed, 1.0)
    diverging = np.flatnonzero(found <= _MARGIN)
    if len(diverging):
        scale, graph = _largest_scale(margins, radii, diverging.tolist())
        raise _divergence(kernel, kernel.decay * scale, f"graph {graph}")


def _proved(margins: Margins, chosen: Array, scale: float) -> Array:
    """Return proved margins of graphs for scale * decay; -1 where there is none."""
    out = np.empty(len(chosen))
    margins(chosen, scale, out)
    return out


def _node_margins(program: NodeProgram, chosen: Array, scale: float, out: Array) -> None:
    """Store the margins of graphs whose nodes are compared by a kernel."""
    for some in program.groups(chosen, chosen):
        found = np.empty(len(chosen[some]))
        tasks = program.tasks(chosen[some], chosen[some])
        cast(_native.NodeWalks, program.job).margins(*tasks, scale, found)
        out[some] = found


def _largest_scale(margins: Margins, radii: Array, diverging: list[int]) -> tuple[float, int]:
    """Return a scale of W with which all of these graphs converge, and the graph that sets it."""
    scale, worst = 1.0, diverging[0]
    for graph in diverging:
        if not np.isnan(radii[graph]):
            limit = _limit(radii[graph]) / radii[graph]
            if limit < scale:
                scale, worst = float(limit), graph
        elif not _converges(margins, graph, scale):
            scale, worst = _bisected(margins, graph, scale), graph
    return scale, worst


def _limit(radius: float) -> float:
    """Return a scale with which the series of a matrix surely converges."""
    return (1 - 2 * _MARGIN) / radius


def _converges(margins: Margins, graph: int, scale: float) -> bool:
    return bool(_proved(margins, np.array([graph]), scale)[0] > 0)


def _bisected(margins: Margins, graph: int, high: float) -> float:
    """Return nearly the largest scale below `high` with which a graph converges."""
    low = high / 2
    while low > 0 and not _converges(margins, graph, low):
        low, high = low / 2, low
    while low > 0 and high > _CLOSE * low:
        middle = math.sqrt(low) * math.sqrt(high)  # low * high may be too small for a number
        low, high = (middle, high) if _converges(margins, graph, middle) else (low, middle)
    return low


def _divergence(kernel: RandomWalk, limit: float, where: str) -> KernelError:
    most = _rounded_down(limit)
    if most == 0:
        must = "there must be a decay with which the series converges on these graphs"
        got = f"weights so large that there is none for {where}"
        return KernelError(sentence("RandomWalk", must, got, "Divide the weights of all edges."))
    must = f"decay must be at most {most:.4g} for the series to converge on these graphs"
    got = f"{kernel.decay:.6g}, with which it diverges on {where}"
    nodes = "" if kernel.node_kernel is None else f", node_kernel={kernel.node_kernel!r}"
    advice = f"Take RandomWalk({most:.4g}{nodes}), or bound the length of walks by steps."
    return KernelError(sentence("RandomWalk", must, got, advice))


def _rounded_down(value: float) -> float:
    """Return the first four digits of a number."""
    if value < 1e-290:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return float(f"{math.floor(value / unit) * unit:.4g}")
