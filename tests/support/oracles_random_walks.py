"""Walks in graphs, one by one; nothing here imports mercer or knows of a product graph.

A graph is anything with n_nodes, edges, node_labels, edge_labels, edge_weights and, where they are
compared, node_attributes.
"""

import math
from collections import Counter
from fractions import Fraction

import numpy as np


def arcs(graph):
    """(from, to, label, weight) of every edge, each way; a loop has one way."""
    found = []
    for k, (u, v) in enumerate(graph.edges.tolist()):
        label = "none" if graph.edge_labels is None else ("edge", graph.edge_labels[k])
        weight = 1 if graph.edge_weights is None else Fraction(float(graph.edge_weights[k]))
        found.append((u, v, label, weight))
        if u != v:
            found.append((v, u, label, weight))
    return found


def node_label(graph, v):
    return "none" if graph.node_labels is None else ("node", graph.node_labels[v])


def walks(graph, length):
    """The weight of all walks with so many steps, by the sequence of labels they meet."""
    now = [(v, (node_label(graph, v),), Fraction(1)) for v in range(graph.n_nodes)]
    for _ in range(length):
        now = [
            (to, (*seen, label, node_label(graph, to)), weight * factor)
            for v, seen, weight in now
            for start, to, label, factor in arcs(graph)
            if start == v
        ]
    found = Counter()
    for _, seen, weight in now:
        found[seen] += weight
    return found


def random_walk(x, y, decay, steps):
    """Pairs of walks with equal labels, up to so many steps, exactly."""
    total = Fraction(0)
    for length in range(steps + 1):
        mine, theirs = walks(x, length), walks(y, length)
        common = sum(weight * theirs[seen] for seen, weight in mine.items())
        total += Fraction(decay) ** length * common
    return total


def single_walks(graph, length):
    """All walks with so many steps: the nodes, the labels of the edges, the weight."""
    now = [((v,), (), 1.0) for v in range(graph.n_nodes)]
    for _ in range(length):
        now = [
            ((*nodes, to), (*lines, label), weight * float(factor))
            for nodes, lines, weight in now
            for start, to, label, factor in arcs(graph)
            if start == nodes[-1]
        ]
    return now


def compared_walks(x, y, decay, steps, node_kernel):
    """Pairs of walks along equal labels, by the product of the node kernel over what they meet."""

    def alike(u, v):
        same = node_label(x, u) == node_label(y, v)
        return node_kernel(x.node_attributes[u], y.node_attributes[v]) if same else 0.0

    known = {(u, v): alike(u, v) for u in range(x.n_nodes) for v in range(y.n_nodes)}
    return math.fsum(
        decay**length * weight * factor * math.prod(known[pair] for pair in zip(a, b, strict=True))
        for length in range(steps + 1)
        for a, lines, weight in single_walks(x, length)
        for b, others, factor in single_walks(y, length)
        if lines == others
    )


def product_radius(x, y, node_kernel=None):
    """The largest eigenvalue of the matrix of pairs of arcs that match, entry by entry.

    Each entry times the roots of the node kernel at both vertices.
    """
    n, m = x.n_nodes, y.n_nodes
    W = np.zeros((n * m, n * m))
    for a, b, label, weight in arcs(x):
        for c, d, other, factor in arcs(y):
            ends = [(a, c), (b, d)]
            alike = all(node_label(x, u) == node_label(y, v) for u, v in ends)
            if alike and label == other:
                W[a * m + c, b * m + d] = weight * factor
            if alike and label == other and node_kernel is not None:
                for u, v in ends:
                    near = node_kernel(x.node_attributes[u], y.node_attributes[v])
                    W[a * m + c, b * m + d] *= math.sqrt(near)
    return float(np.abs(np.linalg.eigvalsh(W)).max(initial=0.0))
