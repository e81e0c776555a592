"""RandomWalk: values worked out by hand, walks counted one by one, properties of kernels."""

from fractions import Fraction

import numpy as np
import oracles_random_walks as oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walk_samples import cycle, graphs, limit, path, union

from mercer.kernels import Graph, RandomWalk
from mercer.kernels.graphs.random_walks import product_graph

pytestmark = pytest.mark.native

P2, P3 = path(2), path(3)
L2, L3 = path(2, list("ab")), path(3, list("aba"))


# --- values worked out by hand ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "wanted"),
    [
        (P2, P2, Fraction(4) / Fraction("0.9")),
        (P2, P3, Fraction("6.8") / Fraction("0.98")),
        (P3, P3, Fraction("10.6") / Fraction("0.96")),
        (L3, L3, Fraction(145, 24)),
        (L2, L3, Fraction(170, 49)),
    ],
)
def test_the_series_of_paths(x, y, wanted):
    kernel = RandomWalk(0.1)
    assert kernel([x], [y])[0, 0] == pytest.approx(float(wanted), rel=1e-14)
    assert kernel.pair(x, y) == pytest.approx(float(wanted), rel=1e-14)


def test_the_values_of_the_page():
    found = RandomWalk(0.1)([P2, P3])
    np.testing.assert_allclose(found, [[4.444444, 6.938776], [6.938776, 11.041667]], atol=5e-7)
    labelled = RandomWalk(0.1)([L2, L3])
    assert labelled[1, 1] == pytest.approx(6.041667, abs=5e-7)  # not 10.04: pairs that match count
    assert labelled[0, 1] == pytest.approx(3.469388, abs=5e-7)


def test_three_steps_of_paths():
    wanted = [[4.444, 6.936], [6.936, 11.024]]
    np.testing.assert_allclose(RandomWalk(0.1, 3)([P2, P3]), wanted, rtol=1e-15)
    np.testing.assert_allclose(RandomWalk(0.1, 3).formula([P2, P3]), wanted, rtol=1e-15)


def test_no_steps_count_pairs_of_nodes_with_equal_labels():
    np.testing.assert_array_equal(RandomWalk(5.0, 0)([P2, P3]), [[4, 6], [6, 9]])
    np.testing.assert_array_equal(RandomWalk(5.0, 0)([L2, L3]), [[2, 3], [3, 5]])


@pytest.mark.parametrize(("n", "m"), [(500, 400), (3, 500), (4, 7)])
def test_cycles_of_any_size_have_a_closed_form(n, m):
    assert RandomWalk(0.2)([cycle(n)], [cycle(m)])[0, 0] == pytest.approx(n * m / 0.2, rel=1e-12)


@pytest.mark.parametrize("n", [4, 500])
def test_labelled_cycles_have_a_closed_form(n):
    """Each pair of equal labels is joined to four others, whatever n is."""
    x = cycle(n, list("ab" * (n // 2)))
    pairs = n * n / 2
    assert RandomWalk(0.2)([x])[0, 0] == pytest.approx(pairs / 0.2, rel=1e-12)
    wanted = pairs * (1 + 0.8 + 0.64 + 0.512)
    assert RandomWalk(0.2, 3)([x])[0, 0] == pytest.approx(wanted, rel=1e-12)


# --- against walks counted one by one -----------------------------------------------------------


@settings(max_examples=60)
@given(st.lists(graphs(4), min_size=1, max_size=3), st.integers(0, 3))
def test_finite_walks_are_those_that_one_can_count(points, steps):
    kernel = RandomWalk(0.3, steps)
    wanted = [[float(oracles.random_walk(x, y, 0.3, steps)) for y in points] for x in points]
    np.testing.assert_allclose(kernel(points), wanted, rtol=1e-13)
    np.testing.assert_allclose(kernel.formula(points), wanted, rtol=1e-13)


@settings(max_examples=60)
@given(st.lists(graphs(), min_size=1, max_size=4), st.sampled_from([0.1, 0.6, 0.95]))
def test_the_series_is_its_definition(points, share):
    kernel = RandomWalk(share * limit(points))
    np.testing.assert_allclose(kernel(points), kernel.formula(points), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(points), np.diag(kernel(points)), rtol=1e-13)


@settings(max_examples=40)
@given(graphs(), graphs(), st.sampled_from([0.3, 0.8]))
def test_the_series_is_the_limit_of_finite_sums(x, y, share):
    """1'W^k 1 <= |V| rho^k, so what lies beyond p steps is at most |V| t^(p+1) / (1 - t)."""
    decay = share * limit([x, y])
    steps = 100
    whole = RandomWalk(decay)([x], [y])[0, 0]
    part = RandomWalk(decay, steps)([x], [y])[0, 0]
    tail = x.n_nodes * y.n_nodes * share ** (steps + 1) / (1 - share)
    rounding = 1e-12 * whole
    assert -rounding <= whole - part <= tail + rounding


# --- properties -----------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.lists(graphs(), min_size=1, max_size=5), st.sampled_from([None, 4, 5]), st.data())
def test_properties_of_every_kernel(points, steps, data):
    kernel = RandomWalk(0.7 * limit(points), steps)
    K = kernel(points)
    assert np.all(K >= 0)
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * max(1.0, K.max())
    cut = data.draw(st.integers(0, len(points)))
    np.testing.assert_allclose(kernel(points[:cut], points[cut:]), K[:cut, cut:], rtol=1e-12)
    np.testing.assert_allclose(kernel(points[cut:], points[:cut]), K[cut:, :cut], rtol=1e-12)
    empty = np.array([x.n_nodes == 0 for x in points])
    np.testing.assert_allclose(np.diag(kernel.normalized()(points)), 1.0 - empty, rtol=1e-13)


@settings(max_examples=60)
@given(graphs(), graphs(), st.sampled_from([None, 4]), st.randoms())
def test_the_numbers_of_nodes_do_not_matter(x, y, steps, random):
    order = list(range(x.n_nodes))  # the new number of every node
    random.shuffle(order)
    places = np.argsort(order).tolist()
    labels = None if x.node_labels is None else [x.node_labels[v] for v in places]
    edges = [(order[v], order[u]) for u, v in x.edges.tolist()]
    other = Graph(x.n_nodes, edges, labels, x.edge_labels, edge_weights=x.edge_weights)
    kernel = RandomWalk(0.7 * limit([x, y]), steps)
    np.testing.assert_allclose(kernel([other], [y]), kernel([x], [y]), rtol=1e-12)


@settings(max_examples=60)
@given(st.data(), st.sampled_from([None, 5]))
def test_graphs_side_by_side_add_up(data, steps):
    """No walk leaves its part: the parts may have radii of their own, and isolated nodes."""
    has = data.draw(st.tuples(*[st.booleans()] * 3))
    x, y = data.draw(graphs(has=has)), data.draw(graphs(has=has))
    z = data.draw(graphs())
    kernel = RandomWalk(0.8 * limit([x, y, z]), steps)
    whole = kernel([union(x, y)], [z])[0, 0]
    assert whole == pytest.approx(kernel([x, y], [z]).sum(), rel=1e-12)


def test_a_permutation_of_thirty_nodes():
    random = np.random.default_rng(0)
    edges = [(u, v) for v in range(30) for u in range(v) if random.random() < 0.2]
    order = random.permutation(30)
    labels = [("a", "b", "c")[k] for k in random.integers(0, 3, 30)]
    renamed = [labels[v] for v in np.argsort(order)]
    x, y = Graph(30, edges, labels), Graph(30, order[np.array(edges)], renamed)
    K = RandomWalk(0.02)([x, y])
    np.testing.assert_allclose(K, K[0, 0], rtol=1e-13)


# --- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [None, 3])
def test_labels_match_where_they_are_equal(steps):
    kernel = RandomWalk(0.1, steps)
    plain, one = path(3), path(3, ["a"] * 3)
    other, mixed = path(3, ["b"] * 3), path(3, ["a", "a", "b"])
    K = kernel([plain, one, other, mixed])
    assert K[0, 0] == K[1, 1] == K[2, 2] > K[1, 3] > K[3, 3] > K[2, 3] == 3
    assert K[0, 1] == K[0, 2] == K[0, 3] == K[1, 2] == 0  # no label is a label of its own
    unseen = kernel([path(3, ["日", "c", "d"])], [plain, one, other, mixed])
    np.testing.assert_array_equal(unseen, [[0, 0, 0, 0]])


@pytest.mark.parametrize("steps", [None, 3])
def test_edges_match_where_their_labels_are_equal(steps):
    """If an edge without a label matched all others, K of these would not be Mercer."""
    kernel = RandomWalk(0.1, steps)
    K = kernel([path(2), path(2, None, ["x"]), path(2, None, ["y"]), Graph(2, [])])
    whole = K[0, 0]
    assert whole > 4.4
    np.testing.assert_array_equal(K, np.where(np.eye(4), [[whole]] * 3 + [[4.0]], 4.0))
    two = path(3, None, ["x", "y"])
    np.testing.assert_allclose(kernel([two]), kernel.formula([two]), rtol=1e-13)


@pytest.mark.parametrize("steps", [None, 7])
def test_one_label_for_all_is_no_label(steps):
    """Two programs for one number: spectra, and the product graph (a second label, unmatched)."""
    random = np.random.default_rng(1)
    edges = [(u, v) for v in range(12) for u in range(v + 1) if random.random() < 0.4]
    weights = random.uniform(0.5, 2.0, len(edges))
    plain = Graph(12, edges, ["a"] * 12, edge_weights=weights)
    apart = Graph(13, edges, ["a"] * 12 + ["b"], edge_weights=weights)
    kernel = RandomWalk(0.9 * limit([plain]), steps)
    assert kernel([plain], [apart])[0, 0] == pytest.approx(kernel([plain])[0, 0], rel=1e-12)
    assert kernel([apart])[0, 0] == pytest.approx(kernel([plain])[0, 0] + 1, rel=1e-12)


def test_weights_are_entries_of_the_matrix():
    x = Graph(2, [(0, 1)], edge_weights=[2.0])
    assert RandomWalk(0.1)([x])[0, 0] == pytest.approx(4 / 0.6, rel=1e-14)
    loop = Graph(1, [(0, 0)], edge_weights=[3.0])
    assert RandomWalk(0.1)([loop])[0, 0] == pytest.approx(1 / 0.1, rel=1e-13)


@pytest.mark.parametrize("steps", [None, 0, 1, 6])
def test_the_empty_graph_has_nothing_in_common(steps):
    kernel = RandomWalk(0.1, steps)
    points = [Graph(0, []), P3, Graph(0, [], []), Graph(1, [])]
    K = kernel(points)
    np.testing.assert_array_equal(K[[0, 2]], np.zeros((2, 4)))
    assert K[3, 1] == 3
    assert K[3, 3] == 1
    assert kernel(points[:1]).shape == (1, 1)


def test_the_product_graph_has_the_pairs_with_equal_labels():
    np.testing.assert_array_equal(product_graph(L2, L3), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert product_graph(P2, L3).shape == (0, 0)


@pytest.mark.parametrize("n", [7, 300])  # nodes are told apart in few rounds, and in too many
def test_walks_in_a_path_of_alternating_labels(n):
    """Where labels alternate, the first one says all: k sums the squares of the walks from each."""
    x = path(n, ["ab"[v % 2] for v in range(n)])
    starts = np.array([[v % 2 == 0, v % 2 == 1] for v in range(n)], dtype=float)
    values, vectors = np.linalg.eigh(np.eye(n, k=1) + np.eye(n, k=-1))
    walks = (starts.T @ vectors) * vectors.sum(axis=0)  # from either label, by eigenvalue
    decay = 0.2499  # of 1/4: walks through all of the path matter
    wanted = sum(own @ (1 / (1 - decay * np.outer(values, values))) @ own for own in walks)
    assert RandomWalk(decay)([x])[0, 0] == pytest.approx(wanted, rel=1e-11)
    for steps in (5, 6):
        powers = [decay**k * np.square(walks @ values**k).sum() for k in range(steps + 1)]
        assert RandomWalk(decay, steps)([x])[0, 0] == pytest.approx(sum(powers), rel=1e-12)


def test_eigenvalues_that_are_close_are_not_equal():
    """Two edges side by side make four pairs of edges, each with a series of its own."""
    weights = np.array([1.0, 1.000001])
    x = Graph(4, [(0, 1), (2, 3)], edge_weights=weights)
    wanted = (4 / (1 - 0.9999 * np.outer(weights, weights))).sum()
    assert RandomWalk(0.9999)([x])[0, 0] == pytest.approx(wanted, rel=1e-11)
