"""What labels, weights and loops mean to kernels of graphs, and learners that use them."""

from collections import Counter

import numpy as np
import oracles_graphs as oracles
import pytest
from shapes import ASSIGNMENT, by_oracle, cycle, every_kernel, path, random_graph, star

import mercer
from mercer import KernelRidgeClassifier
from mercer.kernels import Graph, Graphlet, ShortestPath, WeisfeilerLehman, parse
from mercer.kernels.graphs.arrays import UNLABELLED, flatten

G1, G2 = path(3, list("aba")), cycle(3, list("aab"))


# --- what the parts of a graph mean -----------------------------------------------------------


def test_without_labels_the_first_round_sees_the_degree():
    one, two = random_graph(12, 15, 0), random_graph(12, 20, 1)
    plain = [Graph(g.n_nodes, g.edges) for g in (one, two)]
    degrees = [Counter(np.bincount(g.edges.ravel(), minlength=12).tolist()) for g in plain]
    assert WeisfeilerLehman(0)(plain).tolist() == [[144, 144], [144, 144]]
    first = WeisfeilerLehman(1)(plain) - WeisfeilerLehman(0)(plain)
    assert first.tolist() == [[oracles.product(x, y) for y in degrees] for x in degrees]


def test_what_refinement_cannot_tell_apart():
    """A ring of six and two triangles: all nodes have two neighbours, in every round."""
    two = Graph(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])
    assert WeisfeilerLehman(4)([cycle(6), two]).tolist() == [[180, 180], [180, 180]]
    assert ShortestPath()([cycle(6)], [two]).tolist() == [[12.0 * 12]]
    assert Graphlet(3)([cycle(6)], [two]).tolist() == [[0.0]]


def test_labels_of_edges_matter_to_refinement_only():
    bonds = [path(3, list("aba"), edge_labels=[*labels]) for labels in ("xx", "xy", "yx", "yy")]
    assert WeisfeilerLehman(0)(bonds).min() == 5
    first = WeisfeilerLehman(1)(bonds) - WeisfeilerLehman(0)(bonds)
    # a-x-b twice and b(xx); a-x-b, a-y-b and b(xy), twice; a-y-b twice and b(yy)
    assert first.tolist() == [[5, 2, 2, 0], [2, 3, 3, 2], [2, 3, 3, 2], [0, 2, 2, 5]]
    assert np.unique(ShortestPath()(bonds)).tolist() == [12]
    without = path(3, list("aba"))
    assert WeisfeilerLehman(1)([bonds[0]], [without]).tolist() == [[5]]
    # A label of an edge is not taken for one of a node.
    one, two = path(2, ["c", "a"], edge_labels=["x"]), path(2, ["c", "x"], edge_labels=["a"])
    assert WeisfeilerLehman(1)([one], [two]).tolist() == [[1]]


def test_graphs_with_and_without_labels_mix_but_do_not_meet():
    mixed = [path(3), path(3, ["a", "a", "a"]), path(3, [1, 1, 1])]
    for kernel in (WeisfeilerLehman(2), ShortestPath()):
        K = kernel(mixed)
        assert (K - np.diag(np.diag(K)) == 0).all()
        assert len(set(np.diag(K).tolist())) == 1
    assert np.unique(Graphlet(3)(mixed)).tolist() == [1]


@pytest.mark.parametrize("label", ["\0", "a", "no label", "None", "", 0, -1, (), frozenset()])
def test_no_label_is_like_having_none(label):
    assert flatten([Graph(1, [], [label])]).node_codes != UNLABELLED
    assert WeisfeilerLehman(1)([Graph(1, [], [label])], [Graph(1, [])]).tolist() == [[0.0]]


def test_self_loops():
    looped = Graph(3, [(0, 1), (1, 2), (1, 1)], list("aba"))
    assert ShortestPath()([looped], [G1]).tolist() == [[12]]
    assert Graphlet(3)([looped], [path(3)]).tolist() == [[1]]
    # The looped node is its own neighbour, once: its label of the first round is another.
    assert (WeisfeilerLehman(1)([looped], [G1]) - WeisfeilerLehman(0)([looped], [G1])) == 4
    twice = Graph(1, [(0, 0)])
    assert WeisfeilerLehman(2)([twice]).tolist() == [[3]]
    assert WeisfeilerLehman(2)([twice], [Graph(1, [])]).tolist() == [[1]]


@every_kernel
def test_graphs_without_what_is_counted(kernel, count):
    empty, alone, apart = Graph(0, []), Graph(1, []), Graph(3, [])
    found = kernel([empty, alone, apart, path(2)])
    assert np.isfinite(found).all()
    assert found[0].tolist() == [0, 0, 0, 0]
    wanted = by_oracle(kernel, count, [alone, apart], [alone, apart, path(2)])
    assert found[1:3, 1:].tolist() == wanted
    assert kernel.normalized()([empty]).tolist() == [[0.0]]
    assert kernel([]).shape == (0, 0)
    assert kernel([], [path(2)]).shape == (0, 1)


def test_parts_that_are_not_connected_add_up():
    both = Graph(7, [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6), (6, 3)], list("abacdcd"))
    one, two = Graph(3, [(0, 1), (1, 2)], list("aba")), cycle(4, list("cdcd"))
    probe = random_graph(8, 10, 5)
    for kernel in (WeisfeilerLehman(3), ShortestPath(), Graphlet(3), Graphlet(4)):
        for other in (probe, one, two, both):
            assert kernel.pair(both, other) == kernel.pair(one, other) + kernel.pair(two, other)


# --- lengths ----------------------------------------------------------------------------------


def test_weights_are_lengths():
    far = path(3, list("aba"), edge_weights=[2.0, 5.0])
    wanted = {("a", "b", 2.0): 1, ("b", "a", 2.0): 1, ("b", "a", 5.0): 1, ("a", "b", 5.0): 1}
    assert ShortestPath().counts(far) == wanted | {("a", "a", 7.0): 2}
    assert ShortestPath()([far]).tolist() == [[8]]
    detour = Graph(3, [(0, 1), (1, 2), (0, 2)], edge_weights=[1.0, 1.0, 5.0])
    assert ShortestPath()([detour], [path(3)]).tolist() == [[20]]


def test_weights_of_one_are_no_weights():
    weighted = Graph(3, G2.edges, G2.node_labels, edge_weights=[1, 1, 1])
    assert ShortestPath()([weighted], [G2]).tolist() == [[12]]
    almost = Graph(3, G2.edges, G2.node_labels, edge_weights=[1, 1, 1.5])
    assert ShortestPath()([almost], [G2]).tolist() == [[8]]


def test_sums_that_differ_by_rounding_are_the_same_length():
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    one = path(4, edge_weights=[0.1, 0.2, 0.3])
    direct = Graph(2, [(0, 1)], edge_weights=[0.6])
    assert ShortestPath().counts(one)[None, None, 0.6] == 2
    assert ShortestPath()([one], [direct]).tolist() == [[4]]
    third = path(4, edge_weights=[1 / 3, 1 / 3, 1 / 3])
    assert ShortestPath()([third], [path(2)]).tolist() == [[4]]


@pytest.mark.parametrize(("other", "value"), [(1 + 4e-12, 4), (1 + 6e-12, 0), (1 - 4e-13, 4)])
def test_lengths_have_twelve_digits(other, value):
    one, two = path(2, edge_weights=[1.0]), path(2, edge_weights=[other])
    assert ShortestPath()([one], [two]).tolist() == [[value]]
    assert ShortestPath().pair(one, two) == value


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 123456789012.0, 1234567890123.5, 1e300])
def test_lengths_of_any_size(weight):
    graph, direct = (
        path(3, edge_weights=[weight, weight]),
        Graph(2, [(0, 1)], None, None, None, [2 * weight]),
    )
    assert ShortestPath()([graph], [direct]).tolist() == [[4]]
    assert ShortestPath().formula([graph], [direct]).tolist() == [[4]]


def test_a_way_too_long_for_a_number_is_no_way():
    graph = path(3, edge_weights=[1e308, 1.5e308])
    assert ShortestPath().diag([graph]).tolist() == [8]
    assert ShortestPath().pair(graph, graph) == 8


# --- learners ---------------------------------------------------------------------------------


def labelled(shape, n, odd):
    """Carbon with one other atom."""
    return shape(n, ["C"] * (n - 1) + [odd])


@pytest.mark.parametrize("base", ["subtree", ASSIGNMENT])
def test_a_classifier_meets_new_graphs_with_labels_never_seen(base):
    sizes = range(3, 9)
    X = [labelled(cycle, n, "N") for n in sizes] + [labelled(path, n, "O") for n in sizes]
    kernel = WeisfeilerLehman(2, base).normalized()
    model = mercer.SVC(kernel=kernel, C=10.0).fit(X, [1] * 6 + [0] * 6)
    new = [labelled(cycle, 9, "N"), labelled(path, 9, "O"), cycle(4, ["Zn"] * 4), Graph(0, [])]
    assert model.predict(new[:2]).tolist() == [1, 0]
    scores = model.decision_function(new)
    np.testing.assert_allclose(scores[2:], model.intercept_[0], rtol=1e-12)  # nothing in common
    np.testing.assert_allclose(scores[:1], model.decision_function(new[:1]), rtol=1e-12)


@pytest.mark.parametrize(
    "kernel", [ShortestPath().normalized(), (Graphlet(3) + Graphlet(4)).normalized()], ids=repr
)
def test_ridge_tells_rings_from_stars(kernel):
    sizes = range(5, 12)
    X = [cycle(n) for n in sizes] + [star(n) for n in sizes]
    model = KernelRidgeClassifier(kernel=kernel, alpha=1e-3).fit(X, [1] * 7 + [0] * 7)
    assert model.predict([cycle(13), star(13)]).tolist() == [1, 0]
    assert parse(repr(model.kernel_)) == model.kernel_


@every_kernel
def test_fit_and_transform_agree(kernel, count):
    """New graphs meet known ones as if they had been there: no list of labels is kept or grown."""
    many = [random_graph(8, 11, seed) for seed in range(10)]
    whole = kernel(many)
    known = kernel.admit(many[:6])
    assert kernel(known).tolist() == whole[:6, :6].tolist()
    assert kernel(many[6:], known).tolist() == whole[6:, :6].tolist()
    assert kernel(known).tolist() == whole[:6, :6].tolist()
