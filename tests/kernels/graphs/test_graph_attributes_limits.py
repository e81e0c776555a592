"""Attributes of nodes: who refuses them, what is refused of them, and the bound of decay."""

import re

import numpy as np
import oracles_random_walks as oracles
import pytest
from attribute_samples import GAUSSIAN, drawn, graphs, limit, near
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from samples import attributed_graphs

from mercer import KernelRidge, _native
from mercer.checks import InputError, InputTypeError, KernelError
from mercer.kernels import (
    Chi2,
    Gaussian,
    Graph,
    Graphlet,
    HashGraph,
    Linear,
    Precomputed,
    RandomWalk,
    ShortestPath,
    Spectrum,
    WeisfeilerLehman,
)

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
        with pytest.raises(KernelError, match=r"within the range of a double; got .* graph 1"):
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
    program = within.job(graphs, graphs)
    both = np.arange(2)
    assert not program.store(both, both, False, 0, 2, np.empty((2, 2)), lambda: True)
    assert not program.matched(both, both, np.empty(2), lambda: True)
