"""Slow, obvious definitions of what kernels of graphs count; nothing here imports mercer.

A graph is anything with n_nodes, edges, node_labels, edge_labels, edge_weights and, where they are
compared, node_attributes. What is counted comes as a Counter; `product` and `overlap` make k of two
of them.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from types import SimpleNamespace


def product(mine, theirs):
    return sum(count * theirs[token] for token, count in mine.items())


def overlap(mine, theirs):
    return sum(min(count, theirs[token]) for token, count in mine.items())


def node_label(graph, v):
    return "no label" if graph.node_labels is None else ("label", graph.node_labels[v])


def joined(graph):
    """All pairs (u, v) with an edge, both ways."""
    return {pair for u, v in graph.edges.tolist() for pair in ((u, v), (v, u))}


def refined_labels(graph, rounds):
    """Labels of all rounds, as nested tuples; the neighbours' are sorted by their text."""
    now = {v: node_label(graph, v) for v in range(graph.n_nodes)}
    found = Counter((0, label) for label in now.values())
    for step in range(1, rounds + 1):
        after = {}
        for v in now:
            around = []
            for k, (a, b) in enumerate(graph.edges.tolist()):
                edge = "no label" if graph.edge_labels is None else ("edge", graph.edge_labels[k])
                if v in (a, b):
                    around.append((edge, now[a + b - v]))
            after[v] = (now[v], tuple(sorted(around, key=repr)))
        now = after
        found.update((step, label) for label in now.values())
    return found


def path_lengths(graph):
    """All distances by Floyd and Warshall, in exact fractions; None where there is no path."""
    n = graph.n_nodes
    d = [[Fraction(0) if u == v else None for v in range(n)] for u in range(n)]
    for k, (u, v) in enumerate(graph.edges.tolist()):
        if u != v:
            weight = 1 if graph.edge_weights is None else graph.edge_weights[k]
            d[u][v] = d[v][u] = Fraction(weight)
    for w in range(n):
        for u in range(n):
            for v in range(n):
                if d[u][w] is not None and d[w][v] is not None:
                    way = d[u][w] + d[w][v]
                    if d[u][v] is None or way < d[u][v]:
                        d[u][v] = way
    return d


def paths(graph, ordered=True):
    """Counts of (label u, label v, length) over pairs of different nodes with a path."""
    d = path_lengths(graph)
    found = Counter()
    for u, v in permutations(range(graph.n_nodes), 2):
        if d[u][v] is None or (not ordered and u > v):
            continue
        ends = [node_label(graph, u), node_label(graph, v)]
        if not ordered:
            ends.sort(key=repr)
        found[(*ends, float(f"{float(d[u][v]):.11e}"))] += 1
    return found


def compared_paths(x, y, node_kernel):
    """Pairs of paths of one length and equal labels, each by the kernel of its two ends."""
    ways = [
        [
            (u, v, float(f"{float(d[u][v]):.11e}"))
            for u, v in permutations(range(graph.n_nodes), 2)
            if d[u][v] is not None
        ]
        for graph, d in ((x, path_lengths(x)), (y, path_lengths(y)))
    ]

    def alike(u, s):
        same = node_label(x, u) == node_label(y, s)
        return node_kernel(x.node_attributes[u], y.node_attributes[s]) if same else 0.0

    return math.fsum(
        alike(u, s) * alike(v, t)
        for u, v, length in ways[0]
        for s, t, other in ways[1]
        if length == other
    )


def in_cells(graph, widths, shifts):
    """The graph with the cells of its nodes as a part of their labels; widths and shifts a column.

    A cell goes from (n + shift) width to (n + 1 + shift) width.
    """
    cells = [
        tuple(
            math.floor((float(value) - width * shift) / width)
            for value, width, shift in zip(row, widths, shifts, strict=True)
        )
        for row in graph.node_attributes
    ]
    return SimpleNamespace(
        n_nodes=graph.n_nodes,
        edges=graph.edges,
        node_labels=[(node_label(graph, v), cell) for v, cell in enumerate(cells)],
        edge_labels=graph.edge_labels,
        edge_weights=graph.edge_weights,
    )


def canonical(graph, nodes):
    """The least list of edges over all orders of the nodes: equal for isomorphic subgraphs."""
    edges = joined(graph)
    return min(
        tuple(pair in edges for pair in combinations(order, 2)) for order in permutations(nodes)
    )


def connected(graph, nodes):
    edges, reached = joined(graph), {nodes[0]}
    for _ in nodes:
        reached |= {v for v in nodes if any((u, v) in edges for u in reached)}
    return reached == set(nodes)


def graphlets(graph, size, only_connected=True):
    """Counts of induced subgraphs by isomorphism class."""
    return Counter(
        canonical(graph, nodes)
        for nodes in combinations(range(graph.n_nodes), size)
        if not only_connected or connected(graph, nodes)
    )
