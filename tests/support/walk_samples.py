"""Graphs to walk in, drawn or by name, and the decay that they bear."""

import numpy as np
import oracles_random_walks as oracles
from hypothesis import strategies as st

from mercer.kernels import Graph


def path(n, labels=None, edge_labels=None):
    return Graph(n, [(v, v + 1) for v in range(n - 1)], labels, edge_labels)


def cycle(n, labels=None):
    return Graph(n, [(v, (v + 1) % n) for v in range(n)], labels)


def complete(n, labels=None):
    return Graph(n, [(u, v) for v in range(n) for u in range(v)], labels)


def union(x, y):
    """Both graphs side by side; their labels must both be there or not."""

    def both(name):
        mine, theirs = getattr(x, name), getattr(y, name)
        return None if mine is None else [*mine, *theirs]

    # Edges of the second come after those of the first in the order that a graph keeps.
    edges = np.concatenate([x.edges, y.edges + x.n_nodes])
    labels = both("node_labels"), both("edge_labels")
    return Graph(x.n_nodes + y.n_nodes, edges, *labels, edge_weights=both("edge_weights"))


@st.composite
def graphs(draw, most=6, has=None):
    """Graphs with or without labels and weights; has: which of the three, if that is not free."""
    n = draw(st.integers(0, most))
    pairs = [(i, j) for j in range(n) for i in range(j + 1)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    nodes, lines, weights = draw(st.tuples(*[st.booleans()] * 3)) if has is None else has

    def some(wanted, count, values):
        return draw(st.lists(values, min_size=count, max_size=count)) if wanted else None

    return Graph(
        n,
        edges,
        some(nodes, n, st.sampled_from(["a", "b", "é"])),
        some(lines, len(edges), st.sampled_from(["x", 1])),
        edge_weights=some(weights, len(edges), st.sampled_from([0.25, 0.5, 1.0, 3.0])),
    )


def limit(points):
    """The decay from which the series of one of the graphs diverges; 1 if none does."""
    radius = max((oracles.product_radius(x, x) for x in points), default=0.0)
    return 1.0 / radius if radius else 1.0
