"""The kernel of random walks in two graphs at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse

from .. import _native, checks
from ..checks import Array, KernelError, sentence
from ..inputs import GRAPHS, Graph
from .dense import eigh_of_each
from .graph_arrays import GraphArrays, flatten, labels_of, neighbours_of
from .objects import PairKernel

_MARGIN = _native.WalkGraphs.LEAST_MARGIN  # from the bound: closer, k loses half of its digits
_HUGE = float(np.finfo(np.float64).max)
_LONGEST = 10**6  # steps for which a table of walks is kept
_BATCH = 1 << 25  # sum of cubes of sizes of matrices decomposed at a time: until then no Ctrl-C
_EQUAL = 1e-14  # eigenvalues whose distance is so much of the largest are one
_NOTHING = 1e-20  # of the nodes: the weight of an eigenvalue that no walk sees
_CLOSE = 1.0005  # how near the largest decay is sought


@dataclass(frozen=True, repr=False)
class RandomWalk(PairKernel):
    """k(G, H) = sum_k decay^k 1'W^k 1, the walks that G and H have in common, of every length k.

    W is the adjacency matrix of the product graph: its vertices are the pairs of nodes with equal
    labels, and two of them are joined where both graphs have an edge, of equal labels, whose
    weights are multiplied. steps: the longest walk; None is the whole series, which converges
    while decay < 1/rho(W), checked for all graphs before anything is computed. Labels are used
    where present; a node or an edge without one matches others without one. The empty graph has
    k = 0. Gärtner, Flach, Wrobel, "On graph kernels: hardness results and efficient alternatives"
    (2003); Vishwanathan, Schraudolph, Kondor, Borgwardt, "Graph kernels" (2010).
    """

    domain = GRAPHS

    decay: float
    steps: int | None = None

    def __post_init__(self) -> None:
        self._set(decay=checks.number("RandomWalk", "decay", self.decay, above=0))
        if self.steps is not None:
            self._set(steps=checks.whole("RandomWalk", "steps", self.steps, least=0, most=_LONGEST))

    def pair(self, x: Any, y: Any) -> float:
        W = self.decay * product_graph(x, y)
        ones = np.ones(len(W))
        if self.steps is None:
            finite = np.isfinite(W).all()
            radius = np.abs(np.linalg.eigvalsh(W)).max(initial=0.0) if finite else math.inf
            if radius >= 1 - _MARGIN:
                raise _divergence(self.decay, self.decay * _limit(radius), "their product")
            return float(np.linalg.solve(np.eye(len(W)) - W, ones).sum())
        walks = ones
        for _ in range(self.steps):
            walks = ones + W @ walks
        return float(walks.sum())

    def encode(self, items: Sequence[Any]) -> _native.WalkGraphs:
        arrays = flatten(items)
        with np.errstate(over="ignore"):  # then W has the decay in it; what is beyond is refused
            weights = np.minimum(math.sqrt(self.decay) * arrays.arc_weights, _HUGE)
        graphs = _native.WalkGraphs(
            arrays.node_ends,
            arrays.arc_ends,
            arrays.neighbours,
            arrays.node_codes,
            arrays.arc_codes,
            weights,
        )
        uniform = np.empty(len(arrays), dtype=bool)
        graphs.mark_uniform(uniform)
        if self.steps is None:
            spectra, radii = _spectra(arrays, weights, uniform)
            _check_convergence(self.decay, graphs, radii)
            graphs.summarise(*spectra)
        else:
            walks = _walks(self.steps, arrays, weights)
            ends = np.concatenate([[0], np.cumsum(uniform * np.int64(self.steps + 1))])
            graphs.summarise(ends, np.empty(0), walks[uniform].ravel())
        return graphs

    def job(self, left: Any, right: Any) -> _native.PairJob:
        if self.steps is None:
            return _native.GeometricWalks(left, right)
        return _native.FiniteWalks(left, right, self.steps)


def product_graph(x: Graph, y: Graph) -> Array:
    """Return the adjacency matrix of the product graph of two graphs."""
    labelled = product(enumerate(labels_of(x)), enumerate(labels_of(y)))
    alike = [(u, v) for (u, label), (v, other) in labelled if label == other]
    vertices = {pair: index for index, pair in enumerate(alike)}
    W = np.zeros((len(vertices), len(vertices)))
    for a, b, label, weight in _arcs(x):
        for c, d, other, factor in _arcs(y):
            if label == other and (a, c) in vertices and (b, d) in vertices:
                W[vertices[a, c], vertices[b, d]] = weight * factor
    return W


def _arcs(graph: Graph) -> Iterator[tuple[int, int, Any, float]]:
    """Yield the edges, each both ways, with label and weight."""
    for u, near in enumerate(neighbours_of(graph)):
        for v, label, weight in near:
            yield u, v, label, weight


def _walks(steps: int, arrays: GraphArrays, weights: Array) -> Array:
    """Return the weight of all walks of every graph, of each length: 1'A^k 1.

    That of the labelled walks is not larger, so where these squares are finite every k is.
    """
    at = np.ones(len(arrays.node_codes))
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
        must = "the walks must not weigh more than a number can hold"
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


def _check_convergence(decay: float, graphs: _native.WalkGraphs, radii: Array) -> None:
    """Refuse graphs whose products with themselves have decay * rho >= 1.

    The spectral radius of two graphs' product is sqrt(rho rho') at most, so that these decide for
    all pairs.
    """
    mixed = np.flatnonzero(np.isnan(radii))
    with np.errstate(over="ignore"):
        margins = 1 - np.square(radii)
    margins[mixed] = _proved(graphs, mixed, 1.0)
    diverging = np.flatnonzero(margins <= _MARGIN)
    if len(diverging):
        scale, graph = _largest_scale(graphs, radii, diverging.tolist())
        raise _divergence(decay, decay * scale, f"graph {graph}")


def _proved(graphs: _native.WalkGraphs, chosen: Array, scale: float) -> Array:
    """Return proved margins of graphs for scale * decay; -1 where there is none."""
    out = np.empty(len(chosen))
    graphs.margins(chosen, scale, out)
    return out


def _largest_scale(
    graphs: _native.WalkGraphs, radii: Array, diverging: list[int]
) -> tuple[float, int]:
    """Return a scale of W with which all of these graphs converge, and the graph that sets it."""
    scale, worst = 1.0, diverging[0]
    for graph in diverging:
        if not np.isnan(radii[graph]):
            limit = _limit(radii[graph]) / radii[graph]
            if limit < scale:
                scale, worst = float(limit), graph
        elif not _converges(graphs, graph, scale):
            scale, worst = _bisected(graphs, graph, scale), graph
    return scale, worst


def _limit(radius: float) -> float:
    """Return a scale with which the series of a matrix surely converges."""
    return (1 - 2 * _MARGIN) / radius


def _converges(graphs: _native.WalkGraphs, graph: int, scale: float) -> bool:
    return bool(_proved(graphs, np.array([graph]), scale)[0] > 0)


def _bisected(graphs: _native.WalkGraphs, graph: int, high: float) -> float:
    """Return nearly the largest scale below `high` with which a graph converges."""
    low = high / 2
    while low > 0 and not _converges(graphs, graph, low):
        low, high = low / 2, low
    while low > 0 and high > _CLOSE * low:
        middle = math.sqrt(low) * math.sqrt(high)  # low * high may be too small for a number
        low, high = (middle, high) if _converges(graphs, graph, middle) else (low, middle)
    return low


def _divergence(decay: float, limit: float, where: str) -> KernelError:
    most = _rounded_down(limit)
    if most == 0:
        must = "there must be a decay with which the series converges on these graphs"
        got = f"weights so large that there is none for {where}"
        return KernelError(sentence("RandomWalk", must, got, "Divide the weights of all edges."))
    must = f"decay must be at most {most:.4g} for the series to converge on these graphs"
    got = f"{decay:.6g}, with which it diverges on {where}"
    advice = f"Take RandomWalk({most:.4g}), or bound the length of walks by steps."
    return KernelError(sentence("RandomWalk", must, got, advice))


def _rounded_down(value: float) -> float:
    """Return the first four digits of a number."""
    if value < 1e-290:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return float(f"{math.floor(value / unit) * unit:.4g}")
