"""Attributes of nodes: ShortestPath and RandomWalk with a node kernel, and who refuses them."""

import re

import numpy as np
import oracles_graphs
import oracles_random_walks as oracles
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from samples import attributed_graphs

from mercer import KernelRidge, _native
from mercer.checks import InputError, InputTypeError, KernelError
from mercer.grams import gram
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Categorical,
    Chi2,
    Gaussian,
    Graph,
    Graphlet,
    HashGraph,
    Laplacian,
    Linear,
    Precomputed,
    RandomWalk,
    ShortestPath,
    Spectrum,
    WeisfeilerLehman,
)

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
    straight, crossed = near(0, np.array(0)) * np.exp(-2.0), np.exp(-4.5) * np.exp(-0.5)
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


def drawn(count=40, nodes=12, columns=3, seed=0):
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        n = int(random.integers(1, nodes + 1))
        edges = [(i, j) for j in range(n) for i in range(j) if random.random() < 0.3]
        made.append(Graph(n, edges, node_attributes=random.normal(size=(n, columns))))
    return made


@pytest.mark.parametrize("kernel", [ShortestPath(GAUSSIAN), RandomWalk(0.01, None, GAUSSIAN)])
def test_blocks_do_not_change_what_is_computed(kernel, monkeypatch):
    points = drawn()
    whole = kernel(points)
    monkeypatch.setattr("mercer.kernels.graph_nodes._BLOCK", 300)
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


# --- what is refused ----------------------------------------------------------------------------


IGNORING = {
    WeisfeilerLehman(1): r"Take HashGraph\(WeisfeilerLehman\(rounds=1\)\), or drop",
    Graphlet(): r"Take HashGraph\(\) or ShortestPath\(node_kernel=Gaussian\(\)\), or drop",
    ShortestPath(): r"Give it node_kernel=Gaussian\(\), take HashGraph\(Short.*\), or drop",
    RandomWalk(0.01): r"Give it node_kernel=Gaussian\(\), or drop",
    RandomWalk(0.01, 3): r"Give it node_kernel=Gaussian\(\), or drop",
}


@pytest.mark.parametrize("kernel", IGNORING, ids=repr)
def test_attributes_are_not_ignored(kernel):
    points = [Graph(2, [(0, 1)]), *attributed_graphs()]
    message = IGNORING[kernel] + r" them with graph\.without_attributes\(\)\.$"
    with pytest.raises(InputError, match=r"got a graph with 2 a node at index 1\. " + message):
        kernel(points)
    with pytest.raises(InputError, match=message):
        kernel.formula(points)
    with pytest.raises(InputError, match=message):
        kernel.pair(points[1], points[1])
    with pytest.raises(InputError, match=message):
        KernelRidge(kernel=kernel).fit(points, np.arange(10.0))
    with pytest.raises(InputError, match=message):
        (kernel.normalized() + 1).diag(points)
    plain = [x.without_attributes() for x in points]
    model = KernelRidge(kernel=kernel).fit(plain, np.arange(10.0))
    with pytest.raises(InputError, match=message):
        model.predict(points)


@pytest.mark.parametrize("kernel", IGNORING, ids=repr)
def test_attributes_without_numbers_are_none(kernel):
    """There is nothing that could be ignored."""
    points = [Graph(0, [], node_attributes=np.zeros((0, 2))), Graph(1, [], None, None, [[]])]
    np.testing.assert_array_equal(kernel(points), kernel([x.without_attributes() for x in points]))


def test_a_graph_without_attributes():
    full = Graph(2, [(0, 1)], ["a", "b"], ["x"], [[1.0], [2.0]], [0.5])
    plain = full.without_attributes()
    assert plain == Graph(2, [(0, 1)], ["a", "b"], ["x"], None, [0.5])
    assert full.node_attributes is not None
    assert plain.without_attributes() == plain


@pytest.mark.parametrize(
    "kernel", [ShortestPath(GAUSSIAN), RandomWalk(0.1, None, GAUSSIAN), HashGraph(gamma=1.0)]
)
def test_every_graph_needs_attributes(kernel):
    points = [*attributed_graphs(), Graph(2, [(0, 1)])]
    way_out = "Take Weis" if isinstance(kernel, HashGraph) else "Leave out node_kernel, or give the"
    for call in (kernel, kernel.formula, kernel.diag):
        with pytest.raises(InputError, match=f"every graph must have node_attributes.*{way_out}"):
            call(points)
    with pytest.raises(InputError, match="got a graph without at index 9"):
        kernel(points)
    others = [Graph(1, [], node_attributes=[[1.0, 2.0, 3.0]])]
    with pytest.raises(InputError, match=r"must have 2 attributes, as .* got 3 at index 9"):
        kernel(attributed_graphs() + others)
    assert kernel([Graph(0, [])], attributed_graphs()).tolist() == [[0.0] * 9]


@pytest.mark.parametrize("kernel", [ShortestPath(GAUSSIAN), RandomWalk(0.1, None, GAUSSIAN)])
def test_both_sides_have_the_same_columns(kernel):
    with pytest.raises(InputError, match="X and Y must have the same columns; got 2 and 3"):
        kernel(attributed_graphs(), attributed_graphs(columns=3))


@pytest.mark.parametrize("made", [ShortestPath, lambda k: RandomWalk(0.1, node_kernel=k)])
def test_a_node_kernel_is_a_kernel_of_rows(made):
    for wrong in (0.5, "rbf", Gaussian, np.exp):
        with pytest.raises(InputTypeError, match=r"node_kernel must be a kernel of rows .* Write"):
            made(wrong)
    for other in (Spectrum(2), Precomputed(), WeisfeilerLehman(), Linear().on("age")):
        with pytest.raises(KernelError, match="node_kernel must be a kernel of rows of numbers"):
            made(other)


def test_a_node_kernel_keeps_its_conditions():
    points = attributed_graphs()
    with pytest.raises(InputError, match="Chi2: X must have no negative entries"):
        ShortestPath(Chi2(1.0))(points)
    with pytest.raises(InputError, match="one parameter per column means 3 columns; got 2"):
        ShortestPath(Gaussian((1.0, 2.0, 3.0)))(points)
    huge = [Graph(2, [(0, 1)], node_attributes=[[1e200], [1.0]])] * 2
    for kernel in (ShortestPath(Linear()), RandomWalk(0.1, None, Linear())):
        for call in (kernel, kernel.formula):
            with pytest.raises(KernelError, match="values of node_kernel must be finite numbers"):
                call(huge)


def test_a_series_needs_a_node_kernel_that_is_not_negative():
    points = attributed_graphs()
    kernel = RandomWalk(0.1, node_kernel=Linear())
    for call in (kernel, kernel.formula, kernel.diag):
        with pytest.raises(KernelError, match=r"must not be negative, for .* Take Gaussian"):
            call(points)
    assert np.isfinite(kernel.replace(steps=3)(points)).all()


# --- the bound of decay -------------------------------------------------------------------------


def refused(kernel, points):
    """The decay that the message names, and the graph."""
    with pytest.raises(KernelError, match="RandomWalk: decay must be at most") as caught:
        kernel(points)
    text = str(caught.value)
    advised = re.search(
        r"at most (\S+) for the series.* Take RandomWalk\((\S+), node_kernel=", text
    )
    assert advised[1] == advised[2]
    return float(advised[1]), int(re.search(r"diverges on graph (\d+)\.", text)[1])


@settings(max_examples=60, deadline=None)
@given(st.lists(graphs(), min_size=1, max_size=4))
def test_what_converges_is_decided_by_the_spectral_radius(points):
    assume(any(len(x.edges) for x in points))
    bound = limit(points)
    assert np.isfinite(RandomWalk(0.9999 * bound, None, GAUSSIAN)(points)).all()
    advised, graph = refused(RandomWalk(1.0001 * bound, None, GAUSSIAN), points)
    assert 0.998 * bound <= advised < bound
    assert oracles.product_radius(points[graph], points[graph], near) >= 0.999 / bound
    assert np.isfinite(RandomWalk(advised, None, GAUSSIAN)(points)).all()


@settings(max_examples=60, deadline=None)
@given(graphs(), graphs())
def test_the_radius_of_a_pair_is_bounded_by_those_of_each(x, y):
    mine, theirs = oracles.product_radius(x, x, near), oracles.product_radius(y, y, near)
    assert oracles.product_radius(x, y, near) <= np.sqrt(mine * theirs) * (1 + 1e-12)


@pytest.mark.parametrize("gamma", [1e-6, 1.0, 30.0, 300.0, 1e6])
def test_any_width_converges_and_has_all_digits(gamma):
    """Of weights from 1 to nothing at all: what is hardly seen must not be taken for divergence."""
    points = drawn(12)

    def own(x, y):
        return float(np.exp(-gamma * ((x - y) ** 2).sum()))

    bound = limit(points, own)
    for share, tolerance in ((0.5, 1e-12), (0.999, 1e-9)):
        kernel = RandomWalk(share * bound, None, Gaussian(gamma))
        np.testing.assert_allclose(kernel(points), kernel.formula(points), rtol=tolerance)
    refused(RandomWalk(1.01 * bound, None, Gaussian(gamma)), points)
    with pytest.raises(KernelError, match="diverges on their product"):
        RandomWalk(1.01 * bound, None, Gaussian(gamma)).formula(points)


def test_walks_beyond_all_numbers_are_refused():
    ring = [(0, 1), (1, 2), (2, 0)]
    points = [Graph(3, ring, node_attributes=[[size]] * 3) for size in (1.0, 1e5)]
    for kernel in (RandomWalk(1e3, 40, Linear()), RandomWalk(1.0, 40, Linear() ** 2)):
        with pytest.raises(KernelError, match=r"more than a number can hold; got .* graph 1"):
            kernel(points)
    assert np.isfinite(RandomWalk(1.0, 20, Linear())(points)).all()
    assert np.isfinite(RandomWalk(1e10, 20, Linear())(points[:1])).all()


def test_a_new_graph_that_diverges_is_refused():
    points = drawn(8)
    kernel = RandomWalk(0.5 * limit(points), None, GAUSSIAN)
    model = KernelRidge(kernel=kernel).fit(points, np.arange(8.0))
    assert np.isfinite(model.predict(points[:3])).all()
    pairs = [(i, j) for j in range(20) for i in range(j)]
    dense = Graph(20, pairs, node_attributes=np.zeros((20, 3)))
    with pytest.raises(KernelError, match="diverges on graph 1"):
        model.predict([points[0], dense])


# --- the core -----------------------------------------------------------------------------------


def test_the_core_refuses_what_does_not_fit():
    whole = np.array([0, 2], dtype=np.int64)
    arcs = np.array([0, 1, 2], dtype=np.int64), np.array([1, 0], dtype=np.int64)
    codes, weights = np.zeros(2, np.uint64), np.ones(2)
    with pytest.raises(ValueError, match="a code for each node and a weight for each arc"):
        _native.PathLists(whole, *arcs, codes[:1], weights)
    with pytest.raises(ValueError, match="weights must be positive and finite"):
        _native.PathLists(whole, *arcs, codes, np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="nodes and arcs must fit"):
        _native.PathLists(whole, arcs[0], np.array([1, 2]), codes, weights)
    merged = _native.WalkGraphs(whole, *arcs, codes, codes, weights)
    apart = _native.WalkGraphs(whole, *arcs, codes, codes, weights, False)
    with pytest.raises(ValueError, match="every node must be kept"):
        _native.NodeWalks(merged, apart, 3)
    with pytest.raises(ValueError, match="steps must not be negative"):
        _native.NodeWalks(apart, apart, -2)
    paths = _native.PathLists(whole, *arcs, codes, weights)
    for job in (_native.NodePaths(paths, paths), _native.NodeWalks(apart, apart, 1)):
        first, out, values = np.zeros(1, np.int64), np.empty(1), np.ones(4)
        assert job.store(first, first, values, first, first + 2, out, None)
        assert out[0] == (4.0 if isinstance(job, _native.NodePaths) else 8.0)
        with pytest.raises(ValueError, match="room for each pair"):
            job.store(first, first, values, first, first + 2, np.empty(2), None)
        with pytest.raises(ValueError, match="as many of each"):
            job.store(first, first, values, np.zeros(2, np.int64), first + 2, out, None)
        for lefts, starts, strides in ((1, 0, 2), (-1, 0, 2), (0, 1, 2), (0, -1, 2), (0, 0, 1)):
            with pytest.raises(IndexError, match="node job: there "):
                job.store(first + lefts, first, values, first + starts, first + strides, out, None)
        with pytest.raises(IndexError, match="there must be a number for all nodes"):
            job.store(first, first, values[:3], first, first + 2, out, None)
        assert job.store(first, first, values, first, first + 2, out, lambda: False)


@pytest.mark.parametrize("kernel", [ShortestPath(GAUSSIAN), RandomWalk(1e-4, 5000, GAUSSIAN)])
def test_a_long_pair_can_be_stopped(kernel):
    n = 400
    edges = [(i, i + 1) for i in range(n - 1)] + [(0, k) for k in range(2, n, 3)]
    rows = np.random.default_rng(0).normal(size=(n, 2))
    points = [Graph(n, edges, node_attributes=rows)] * 2
    within = kernel._compared() if isinstance(kernel, ShortestPath) else kernel
    graphs = within.encode(points)
    programme = within.job(graphs, graphs)
    both = np.arange(2)
    assert not programme.store(both, both, False, 0, 2, np.empty((2, 2)), lambda: True)
    assert not programme.matched(both, both, np.empty(2), lambda: True)
