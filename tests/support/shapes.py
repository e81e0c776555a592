"""Shapes of graphs for the tests, and every kernel that counts with what counts the same slowly."""

import numpy as np
import oracles_graphs as oracles
import pytest

from mercer.kernels import Graph, Graphlet, ShortestPath, WeisfeilerLehman

ASSIGNMENT = "assignment"


def path(n, labels=None, **parts):
    return Graph(n, [(i, i + 1) for i in range(n - 1)], labels, **parts)


def cycle(n, labels=None):
    return Graph(n, [(i, (i + 1) % n) for i in range(n)], labels)


def complete(n):
    return Graph(n, [(i, j) for j in range(n) for i in range(j)])


def star(n):
    return Graph(n, [(0, i) for i in range(1, n)])


def random_graph(n, edges, seed):
    random = np.random.default_rng(seed)
    everything = [(i, j) for j in range(n) for i in range(j)]
    chosen = random.choice(len(everything), size=edges, replace=False)
    return Graph(n, [everything[k] for k in chosen], random.integers(0, 3, n))


KERNELS = {
    "WeisfeilerLehman(0)": (WeisfeilerLehman(0), lambda g: oracles.refined_labels(g, 0)),
    "WeisfeilerLehman(3)": (WeisfeilerLehman(3), lambda g: oracles.refined_labels(g, 3)),
    "assignment": (WeisfeilerLehman(2, ASSIGNMENT), lambda g: oracles.refined_labels(g, 2)),
    "ShortestPath": (ShortestPath(), oracles.paths),
    "Graphlet(3)": (Graphlet(3), lambda g: oracles.graphlets(g, 3)),
    "Graphlet(4)": (Graphlet(4), lambda g: oracles.graphlets(g, 4)),
    "Graphlet(5)": (Graphlet(5), lambda g: oracles.graphlets(g, 5)),
}
every_kernel = pytest.mark.parametrize(("kernel", "count"), KERNELS.values(), ids=KERNELS)


def by_oracle(kernel, count, left, right):
    meet = oracles.overlap if kernel.overlap else oracles.product
    mine, theirs = [count(x) for x in left], [count(y) for y in right]
    return [[float(meet(x, y)) for y in theirs] for x in mine]
