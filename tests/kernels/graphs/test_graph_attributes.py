"""Attributes of nodes: ShortestPath and RandomWalk with a node kernel."""

import doctest
import importlib

import numpy as np
import oracles_graphs
import oracles_random_walks as oracles
import pytest
from attribute_samples import GAUSSIAN, dot, drawn, graphs, limit, near, renumbered
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import attributed_graphs

from mercer.checks import InputError, KernelError
from mercer.grams import gram
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Categorical,
    Gaussian,
    Graph,
    HashGraph,
    Laplacian,
    Linear,
    RandomWalk,
    ShortestPath,
)

pytestmark = pytest.mark.native


def one_hot(graph, words):
    """The graph with its labels as attributes instead, a column for each word."""
    rows = [[float(label == word) for word in words] for label in graph.node_labels]
    parts = graph.edge_labels, np.array(rows).reshape(graph.n_nodes, len(words))
    return Graph(graph.n_nodes, graph.edges, None, *parts, graph.edge_weights)


# --- values worked out by hand ------------------------------------------------------------------


def test_two_edges_by_hand():
    """Ends x, y and z, w: two ways to lay one edge on the other, each in two directions."""
    first = Graph(2, [(0, 1)], node_attributes=[[0.0], [1.0]])
    second = Graph(2, [(0, 1)], node_attributes=[[0.0], [3.0]])
    straight, crossed = np.exp(-2.0), np.exp(-4.5) * np.exp(-0.5)
    wanted = 2 * (straight + crossed)
    assert ShortestPath(GAUSSIAN)([first], [second])[0, 0] == pytest.approx(wanted, rel=1e-14)
    nodes = 1 + np.exp(-4.5) + np.exp(-0.5) + np.exp(-2.0)
    walks = nodes + 0.3 * wanted
    kernel = RandomWalk(0.3, 1, GAUSSIAN)
    assert kernel([first], [second])[0, 0] == pytest.approx(walks, rel=1e-14)
    # Each direction and each laying is a series of its own, of ratio 0.3 times its value.
    series = sum(
        (a + b + 2 * 0.3 * a * b) / (1 - 0.09 * a * b)
        for a, b in ((1.0, np.exp(-2.0)), (np.exp(-4.5), np.exp(-0.5)))
    )
    found = RandomWalk(0.3, node_kernel=GAUSSIAN)([first], [second])[0, 0]
    assert found == pytest.approx(series, rel=1e-13)


# --- against the oracle -------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(graphs(), min_size=1, max_size=4), st.booleans())
def test_paths_are_those_of_the_oracle(points, positive):
    kernel = ShortestPath(GAUSSIAN if positive else Linear())
    own = near if positive else dot
    wanted = [[oracles_graphs.compared_paths(x, y, own) for y in points] for x in points]
    np.testing.assert_allclose(kernel(points), wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.formula(points), wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(points), np.diag(wanted), rtol=1e-12, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(graphs(4), min_size=1, max_size=3), st.integers(0, 3), st.booleans())
def test_finite_walks_are_those_that_one_can_count(points, steps, positive):
    kernel = RandomWalk(0.3, steps, GAUSSIAN if positive else Linear())
    own = near if positive else dot
    wanted = [[oracles.compared_walks(x, y, 0.3, steps, own) for y in points] for x in points]
    size = 1e-12 * max(1.0, np.abs(wanted).max())
    np.testing.assert_allclose(kernel(points), wanted, rtol=1e-12, atol=size)
    np.testing.assert_allclose(kernel.formula(points), wanted, rtol=1e-12, atol=size)


@settings(max_examples=60, deadline=None)
@given(st.lists(graphs(), min_size=1, max_size=4), st.sampled_from([0.1, 0.6, 0.95]))
def test_the_series_is_its_definition(points, share):
    kernel = RandomWalk(share * limit(points), node_kernel=GAUSSIAN)
    np.testing.assert_allclose(kernel(points), kernel.formula(points), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(points), np.diag(kernel(points)), rtol=1e-13)


@settings(max_examples=40, deadline=None)
@given(graphs(), graphs(), st.sampled_from([0.3, 0.8]))
def test_the_series_is_the_limit_of_finite_sums(x, y, share):
    decay = share * limit([x, y])
    whole = RandomWalk(decay, node_kernel=GAUSSIAN)([x], [y])[0, 0]
    part = RandomWalk(decay, 100, GAUSSIAN)([x], [y])[0, 0]
    tail = x.n_nodes * y.n_nodes * share**101 / (1 - share)
    assert -1e-12 * whole <= whole - part <= tail + 1e-12 * whole


# --- equal attributes are equal labels ----------------------------------------------------------

WORDS = ["a", "b", "é"]
SAME = {
    "one-hot rows, dot product": (lambda graph: one_hot(graph, WORDS), Linear()),
    "one-hot rows, Categorical": (lambda graph: one_hot(graph, WORDS), Categorical(1e3)),
    "codes, Categorical": (
        lambda graph: Graph(
            graph.n_nodes,
            graph.edges,
            None,
            graph.edge_labels,
            [[float(WORDS.index(label))] for label in graph.node_labels] or np.zeros((0, 1)),
            graph.edge_weights,
        ),
        Categorical(1e3),
    ),
}


@pytest.mark.parametrize(("changed", "node_kernel"), SAME.values(), ids=SAME)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_node_kernel_that_tells_equal_from_other_makes_labels(changed, node_kernel, data):
    points = []
    for x in data.draw(st.lists(graphs(), min_size=1, max_size=4)):
        labels = [WORDS[int(row[0] > 0) + int(row[0] > 1)] for row in x.node_attributes]
        points.append(Graph(x.n_nodes, x.edges, labels, x.edge_labels, None, x.edge_weights))
    others = [changed(x) for x in points]
    np.testing.assert_allclose(
        ShortestPath(node_kernel)(others), ShortestPath()(points), rtol=1e-13
    )
    radius = max(oracles.product_radius(x, x) for x in points)
    for decay, steps in ((0.7 / radius if radius else 1.0, None), (0.4, 3)):
        found = RandomWalk(decay, steps, node_kernel)(others)
        np.testing.assert_allclose(found, RandomWalk(decay, steps)(points), rtol=1e-12)


@pytest.mark.parametrize("kernel", [ShortestPath(), RandomWalk(0.02), RandomWalk(0.3, 4)], ids=repr)
def test_one_attribute_for_all_is_none(kernel):
    """k(u, v) = 1 everywhere leaves the kernel of the plain graphs."""
    points = [
        Graph(x.n_nodes, x.edges, x.node_labels, x.edge_labels, np.ones((x.n_nodes, 1)))
        for x in attributed_graphs()
    ]
    plain = [x.without_attributes() for x in points]
    np.testing.assert_allclose(kernel.replace(node_kernel=GAUSSIAN)(points), kernel(plain), 1e-12)


# --- properties ---------------------------------------------------------------------------------

EACH = {
    "paths": lambda points: ShortestPath(GAUSSIAN),
    "paths of any sign": lambda points: ShortestPath(Linear()),
    "walks": lambda points: RandomWalk(0.7 * limit(points), node_kernel=GAUSSIAN),
    "finite walks": lambda points: RandomWalk(0.4, 3, Linear()),
    "hashes": lambda points: HashGraph(gamma=0.5),
}
each = pytest.mark.parametrize("made", EACH.values(), ids=EACH)


@each
@settings(max_examples=40, deadline=None)
@given(points=st.lists(graphs(), min_size=1, max_size=5), data=st.data())
def test_properties_of_every_kernel(made, points, data):
    kernel = made(points)
    K = kernel(points)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * max(1.0, np.abs(K).max())
    cut = data.draw(st.integers(0, len(points)))
    size = 1e-12 * max(1.0, np.abs(K).max())
    np.testing.assert_allclose(kernel(points[:cut], points[cut:]), K[:cut, cut:], atol=size)
    np.testing.assert_allclose(kernel(points[cut:], points[:cut]), K[cut:, :cut], atol=size)
    x = points[0]
    order = data.draw(st.permutations(range(x.n_nodes)))
    np.testing.assert_allclose(kernel([renumbered(x, order)], points), K[:1], atol=size)


@pytest.mark.parametrize("kernel", [ShortestPath(GAUSSIAN), RandomWalk(0.01, None, GAUSSIAN)])
def test_blocks_do_not_change_what_is_computed(kernel, monkeypatch):
    points = drawn()
    whole = kernel(points)
    monkeypatch.setattr("mercer.kernels.graphs.nodes._BLOCK", 300)
    np.testing.assert_allclose(kernel(points), whole, rtol=1e-12)
    np.testing.assert_allclose(kernel(points[:7], points), whole[:7], rtol=1e-12)
    blocks = RowBlocks([points[:11], points[11:]])
    np.testing.assert_allclose(gram(kernel, blocks).dense(), whole, rtol=1e-12)
    assert kernel(points[:0], points).shape == (0, 40)


def test_what_explain_says():
    text = str(gram(ShortestPath(GAUSSIAN), drawn(5)).explain())
    assert "ShortestPath(node_kernel=Gaussian(gamma=0.5))" in text
    assert "pair by pair in Python" not in text


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [ShortestPath(Gaussian()), RandomWalk(0.01, None, Laplacian())])
def test_a_width_is_taken_from_all_nodes(kernel):
    points = attributed_graphs()
    rows = np.concatenate([x.node_attributes for x in points])
    resolved = kernel.resolve(points)
    assert resolved.node_kernel == kernel.node_kernel.resolve(rows)
    weights = np.arange(len(points)) * 1.0
    of_nodes = np.repeat(weights, [x.n_nodes for x in points])
    weighed = kernel.resolve(points, weights)
    assert weighed.node_kernel == kernel.node_kernel.resolve(rows, of_nodes)
    blocks = RowBlocks([points[:4], points[4:]])
    assert kernel.resolve(blocks) == resolved
    with pytest.raises(KernelError, match=r"gamma still to be taken from data"):
        kernel.pair(points[0], points[1])
    with pytest.raises(KernelError, match=r"gamma still to be taken from data"):
        kernel.formula(points)


def test_parameters_of_the_node_kernel_are_parameters():
    kernel = RandomWalk(0.1, node_kernel=GAUSSIAN)
    assert kernel.get_params()["node_kernel__gamma"] == 0.5
    assert kernel.get_params(deep=False) == {"decay": 0.1, "steps": None, "node_kernel": GAUSSIAN}
    wider = kernel.replace(node_kernel__gamma=0.1, decay=0.2)
    assert wider == RandomWalk(0.2, node_kernel=Gaussian(0.1))
    both = kernel.replace(node_kernel=Laplacian(1.0), node_kernel__gamma=2.0)
    assert both.node_kernel == Laplacian(2.0)
    assert (2 * kernel).replace(node_kernel__gamma=0.1).inner.node_kernel == Gaussian(0.1)
    for wrong in ({"node_kernel__gama": 1.0}, {"steps__gamma": 1.0}, {"gamma": 1.0}):
        with pytest.raises(InputError, match="its parameters are"):
            kernel.replace(**wrong)
    assert ShortestPath().get_params() == {"node_kernel": None}


def test_there_is_no_map_with_a_node_kernel():
    kernel = ShortestPath(GAUSSIAN)
    assert ShortestPath().has_map()
    assert not kernel.has_map()
    assert kernel.basis(attributed_graphs()) is None
    with pytest.raises(KernelError, match="features need a finite feature map"):
        kernel.features(attributed_graphs())
    with pytest.raises(KernelError, match="paths can be counted without node_kernel only"):
        kernel.counts(attributed_graphs()[0])


@pytest.mark.parametrize("name", ["counted", "random_walks", "hashed"])
def test_the_examples_of_the_descriptions(name):
    found = doctest.testmod(importlib.import_module(f"mercer.kernels.graphs.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
