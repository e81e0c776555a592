"""Graphs with attributes of nodes, drawn, and node kernels written out."""

import numpy as np
import oracles_random_walks as oracles
from hypothesis import strategies as st

from mercer.kernels import Gaussian, Graph

GAUSSIAN = Gaussian(0.5)
VALUES = [-1.0, 0.0, 0.5, 2.0]


def near(x, y):
    return float(np.exp(-0.5 * ((x - y) ** 2).sum()))


def dot(x, y):
    return float(x @ y)


@st.composite
def graphs(draw, most=5, columns=2):
    n = draw(st.integers(0, most))
    pairs = [(i, j) for j in range(n) for i in range(j + 1)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    rows = st.lists(st.sampled_from(VALUES), min_size=n * columns, max_size=n * columns)

    def some(count, values):
        return draw(st.none() | st.lists(values, min_size=count, max_size=count))

    return Graph(
        n,
        edges,
        some(n, st.sampled_from(["a", "b"])),
        some(len(edges), st.sampled_from(["x", 1])),
        np.array(draw(rows)).reshape(n, columns),
        some(len(edges), st.sampled_from([0.25, 0.5, 1.0, 3.0])),
    )


def limit(points, node_kernel=near):
    """The decay from which the series of one of the graphs diverges; 1 if none does."""
    radius = max((oracles.product_radius(x, x, node_kernel) for x in points), default=0.0)
    return 1.0 / radius if radius else 1.0


def renumbered(graph, order):
    """The same graph with node v called order[v]."""
    order = np.asarray(order, dtype=np.int64)
    places = np.argsort(order)
    labels = graph.node_labels
    return Graph(
        graph.n_nodes,
        order[graph.edges],
        None if labels is None else [labels[v] for v in places],
        graph.edge_labels,
        graph.node_attributes[places],
        graph.edge_weights,
    )


def drawn(count=40, nodes=12, columns=3, seed=0):
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        n = int(random.integers(1, nodes + 1))
        edges = [(i, j) for j in range(n) for i in range(j) if random.random() < 0.3]
        made.append(Graph(n, edges, node_attributes=random.normal(size=(n, columns))))
    return made
