"""Kernels of graphs that count: values worked out by hand, and an oracle on random graphs."""

import os
import subprocess
import sys
from collections import Counter
from math import comb

import numpy as np
import oracles_graphs as oracles
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import ASSIGNMENT, by_oracle, complete, cycle, every_kernel, path, random_graph, star

from mercer import _native
from mercer.kernels import Graph, Graphlet, ShortestPath, WeisfeilerLehman
from mercer.kernels.graphs.graphlets import _classes

pytestmark = pytest.mark.native

G1, G2 = path(3, list("aba")), cycle(3, list("aab"))
PLAIN = [path(3), cycle(3)]


@st.composite
def graphs(draw, most=6):
    n = draw(st.integers(0, most))
    pairs = [(i, j) for j in range(n) for i in range(j + 1)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    labels = st.sampled_from(["a", "b", "é", 1, ("a", 1)])
    weights = st.sampled_from([0.1, 0.2, 0.3, 1.0, 2.5, 1e13])

    def some(count, values):
        return draw(st.none() | st.lists(values, min_size=count, max_size=count))

    return Graph(
        n,
        edges,
        some(n, labels),
        edge_labels=some(len(edges), st.sampled_from(["x", "日"])),
        edge_weights=some(len(edges), weights),
    )


def renumbered(graph, order):
    """The same graph with node v called order[v], and its edges given backwards."""
    order = np.asarray(order, dtype=np.int64)
    labels = graph.node_labels
    return Graph(
        graph.n_nodes,
        order[graph.edges][::-1, ::-1],
        None if labels is None else [labels[v] for v in np.argsort(order)],
        edge_labels=None if graph.edge_labels is None else graph.edge_labels[::-1],
        edge_weights=None if graph.edge_weights is None else graph.edge_weights[::-1],
    )


# --- values worked out by hand ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("rounds", "base", "own", "cross"),
    [
        (0, "subtree", 5, 5),
        (1, "subtree", 10, 6),
        (2, "subtree", 15, 6),
        (0, ASSIGNMENT, 3, 3),
        (1, ASSIGNMENT, 6, 4),
        (2, ASSIGNMENT, 9, 4),
    ],
)
def test_refined_labels_of_a_path_and_a_triangle(rounds, base, own, cross):
    kernel = WeisfeilerLehman(rounds, base)
    wanted = [[own, cross], [cross, own]]
    assert kernel([G1, G2]).tolist() == wanted
    assert kernel.formula([G1, G2]).tolist() == wanted
    assert kernel.diag([G1, G2]).tolist() == [own, own]


def test_shortest_paths_of_a_path_and_a_triangle():
    assert ShortestPath()([G1, G2]).tolist() == [[12, 8], [8, 12]]
    assert ShortestPath()(PLAIN).tolist() == [[20, 24], [24, 36]]
    assert ShortestPath().formula([G1, G2]).tolist() == [[12, 8], [8, 12]]


def test_unordered_pairs_are_another_kernel():
    """What the values would be if each pair counted once, from the oracle: only without labels
    are ours four times as large."""
    labelled = [oracles.paths(g, ordered=False) for g in (G1, G2)]
    assert [[oracles.product(x, y) for y in labelled] for x in labelled] == [[5, 4], [4, 5]]
    plain = [oracles.paths(g, ordered=False) for g in PLAIN]
    wanted = [[5, 6], [6, 9]]
    assert [[oracles.product(x, y) for y in plain] for x in plain] == wanted
    assert ShortestPath()(PLAIN).tolist() == (4 * np.array(wanted)).tolist()


def test_graphlets_of_three_nodes():
    K = Graphlet(3)([path(4), cycle(4), complete(4), cycle(5)])
    assert K.tolist() == [[4, 8, 0, 10], [8, 16, 0, 20], [0, 0, 16, 0], [10, 20, 0, 25]]


def test_graphlets_that_are_not_connected_are_another_kernel():
    everything = [
        oracles.graphlets(g, 3, only_connected=False) for g in (path(4), cycle(4), cycle(5))
    ]
    by_edges = [Counter({sum(kind): n for kind, n in found.items()}) for found in everything]
    assert by_edges == [{1: 2, 2: 2}, {2: 4}, {1: 5, 2: 5}]
    K = [[oracles.product(x, y) for y in everything] for x in everything]
    assert K == [[8, 8, 20], [8, 16, 20], [20, 20, 50]]


def test_graphlets_that_a_known_library_miscounts():
    wedges = {3: 5.0}  # two of three edges: bits 0 and 1
    alone, again, once_more = cycle(5), cycle(5), cycle(5)
    assert Graphlet(3).counts(alone) == wedges
    table = Graphlet(3).tabulate([alone, again, once_more])
    assert table.values.tolist() == [5, 5, 5]
    assert Graphlet(3).tabulate([path(4), cycle(4)]).values.tolist() == [2, 4]
    assert Graphlet(4).tabulate([cycle(6)]).values.tolist() == [6]
    assert Graphlet(4)([cycle(6)], [path(4)]).tolist() == [[6]]


@pytest.mark.parametrize(("size", "kinds"), [(3, 2), (4, 6), (5, 21)])
def test_patterns_are_of_one_class_if_they_are_isomorphic(size, kinds):
    classes, patterns = _classes(size)
    assert len(patterns) == kinds
    assert set(classes.tolist()) == set(range(-1, kinds))
    pairs, nodes = [(i, j) for j in range(size) for i in range(j)], tuple(range(size))
    known = {}
    for pattern in range(0, 1 << len(pairs), 1 if size < 5 else 11):
        graph = Graph(size, [pair for bit, pair in enumerate(pairs) if pattern >> bit & 1])
        if not oracles.connected(graph, nodes):
            assert classes[pattern] == -1
        else:
            form = oracles.canonical(graph, nodes)
            assert known.setdefault(form, classes[pattern]) == classes[pattern]
    assert len(set(known.values())) == len(known) > kinds // 2


# --- against the oracle -----------------------------------------------------------------------


@every_kernel
@given(items=st.lists(graphs(), min_size=1, max_size=3))
@settings(max_examples=25)
def test_every_path_to_k_gives_what_the_oracle_counts(kernel, count, items):
    wanted = by_oracle(kernel, count, items, items)
    assert kernel(items).tolist() == wanted
    assert kernel.formula(items).tolist() == wanted
    assert kernel.diag(items).tolist() == np.diag(wanted).tolist()


@every_kernel
@given(data=st.data())
@settings(max_examples=25)
def test_names_of_nodes_do_not_matter(kernel, count, data):
    graph, other = data.draw(graphs()), data.draw(graphs())
    again = renumbered(graph, data.draw(st.permutations(range(graph.n_nodes))))
    one, two = kernel.tabulate([graph]), kernel.tabulate([again])
    assert one.ids.tolist() == two.ids.tolist()
    assert one.values.tolist() == two.values.tolist()
    assert kernel.pair(graph, other) == kernel.pair(again, other)


@every_kernel
@given(items=st.lists(graphs(), min_size=4, max_size=6))
@settings(max_examples=15)
def test_mercer_blocks_features_and_normalised_diagonal(kernel, count, items):
    K = kernel(items)
    values = scipy.linalg.eigvalsh(K)
    assert values[0] >= -1e-10 * max(1.0, values[-1])
    assert kernel(items[:2], items[2:]).tolist() == K[:2, 2:].tolist()
    cosine = kernel.normalized().diag(items)
    np.testing.assert_allclose(cosine, np.where(np.diag(K) > 0, 1.0, 0.0), rtol=1e-14)
    if kernel.has_map():
        phi = kernel.features(items)
        assert (phi @ phi.T).toarray().tolist() == K.tolist()
        new = kernel.features(items[:2], kernel.basis(items[2:]))
        old = kernel.features(items[2:], kernel.basis(items[2:]))
        assert (new @ old.T).toarray().tolist() == K[:2, 2:].tolist()
    else:
        assert kernel.overlap


def test_the_definition_does_not_take_twice_as_long_for_each_round():
    """Nested labels that are equal must not be compared all the way down: 2**60 comparisons."""
    kernel, items = WeisfeilerLehman(60), [cycle(5), cycle(5), path(4), path(4)]
    np.testing.assert_array_equal(kernel.formula(items), kernel(items))
    assert sum(kernel.counts(path(4)).values()) == 4 * 61
    most = WeisfeilerLehman(1000)
    assert most.formula([path(2)], [path(2)]) == most([path(2)]) == 4 * 1001


@pytest.mark.parametrize("rounds", [1, 4])
def test_a_hash_stands_for_one_structure(rounds):
    """Over many graphs there are as many ids as different nested labels."""
    many = [
        random_graph(n, edges, n + edges) for n in range(3, 9) for edges in range(2, 3 * n // 2)
    ]
    kernel = WeisfeilerLehman(rounds)
    structures = set().union(*(oracles.refined_labels(graph, rounds) for graph in many))
    assert len(np.unique(kernel.tabulate(many).ids)) == len(structures)
    np.testing.assert_array_equal(
        kernel(many), by_oracle(kernel, lambda g: oracles.refined_labels(g, rounds), many, many)
    )


@every_kernel
def test_counts_depend_on_the_graph_alone(kernel, count):
    many = [random_graph(9, 12, seed) for seed in range(6)]
    whole = kernel.tabulate(many)
    for i, graph in enumerate(many):
        alone = kernel.tabulate([graph])
        a, b = whole.ends[i : i + 2]
        assert alone.ids.tolist() == whole.ids[a:b].tolist()
        assert alone.values.tolist() == whole.values[a:b].tolist()


def test_ids_are_the_same_in_another_process():
    code = (
        "from mercer.kernels import Graph, ShortestPath, WeisfeilerLehman\n"
        "g = Graph(3, [(0, 1), (1, 2)], ['ab', 'c', ('d', 1)], edge_labels=['x', 'yz'])\n"
        "print([k.tabulate([g]).ids.tolist() for k in (WeisfeilerLehman(2), ShortestPath())])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@every_kernel
def test_threads_do_not_change_the_counts(kernel, count):
    many = [random_graph(30, 45, seed) for seed in range(40)]
    before = _native.num_threads()
    try:
        tables = []
        for threads in (1, 4):
            _native.set_num_threads(threads)
            tables.append(kernel.tabulate(many))
    finally:
        _native.set_num_threads(before)
    assert tables[0].ends.tolist() == tables[1].ends.tolist()
    assert tables[0].ids.tolist() == tables[1].ids.tolist()
    assert tables[0].values.tolist() == tables[1].values.tolist()


# --- larger graphs, by closed forms -----------------------------------------------------------


@pytest.mark.parametrize("size", [3, 4, 5])
def test_graphlets_of_complete_graphs_and_stars(size):
    table = Graphlet(size).tabulate([complete(12), star(70)])
    assert table.values.tolist() == [comb(12, size), comb(69, size - 1)]
    assert Graphlet(size)([complete(12)], [star(70)]).tolist() == [[0.0]]


def test_triangles_and_wedges_by_the_adjacency_matrix():
    graph = random_graph(150, 900, 3)
    A = np.zeros((150, 150))
    A[tuple(graph.edges.T)] = 1
    A += A.T
    triangles = np.trace(A @ A @ A) / 6
    wedges = sum(comb(int(d), 2) for d in A.sum(axis=0)) - 3 * triangles
    assert Graphlet(3).tabulate([graph]).values.tolist() == [wedges, triangles]


def test_shortest_paths_of_a_long_path():
    """n - d pairs are d apart, each counted both ways."""
    table = ShortestPath().tabulate([path(1500)])
    assert sorted(table.values.tolist()) == [2.0 * n for n in range(1, 1500)]


def test_shortest_paths_like_those_of_networkx():
    networkx = pytest.importorskip("networkx")
    theirs = networkx.gnm_random_graph(25, 40, seed=1)
    random = np.random.default_rng(0)
    for u, v in theirs.edges:
        theirs.edges[u, v]["weight"] = float(random.integers(1, 60)) / 10
    graph = Graph.from_networkx(theirs, edge_weight="weight")
    lengths = Counter(
        float(f"{length:.11e}")
        for u, row in networkx.all_pairs_dijkstra_path_length(theirs)
        for v, length in row.items()
        if u != v
    )
    assert ShortestPath().counts(graph) == {(None, None, d): n for d, n in lengths.items()}
    assert ShortestPath().diag([graph]).tolist() == [sum(n * n for n in lengths.values())]
