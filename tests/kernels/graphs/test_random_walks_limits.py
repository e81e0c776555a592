"""RandomWalk near and beyond the decay from which its series diverges, and what is refused."""

import re
import signal

import numpy as np
import oracles_random_walks as oracles
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from walk_samples import complete, cycle, graphs, limit, path, union

from mercer import KernelRidge, _native
from mercer.checks import InputError, InputTypeError, KernelError
from mercer.kernels import Graph, RandomWalk
from mercer.kernels.graphs.arrays import flatten

COLLECTIONS = {
    "plain": [path(5), complete(4), cycle(7), Graph(3, [])],
    "labelled": [path(5, list("abcab")), complete(4, list("abbb")), cycle(6, list("ababab"))],
    "mixed": [complete(5), path(5, list("abcab")), Graph(0, []), complete(6, list("aabbbb"))],
    "in parts": [union(cycle(6, list("ababab")), complete(4, list("abbb"))), path(3, list("aba"))],
    "two sided": [cycle(8, list("abababab"))],  # -rho is an eigenvalue too
    "long": [path(24, list("ab" * 12))],  # the largest eigenvalues lie close together
    "looped": [Graph(2, [(0, 0), (0, 1)], ["a", "b"]), path(2)],
    "weighted": [Graph(3, [(0, 1), (1, 2)], list("aab"), edge_weights=[20.0, 0.1])],
    "heavy": [Graph(2, [(0, 1)], edge_weights=[1e9]), Graph(2, [(0, 1)], edge_weights=[1e-9])],
    "heaviest": [Graph(3, [(0, 1), (1, 2)], list("aba"), edge_weights=[1e100, 1e100])],
    "light": [Graph(2, [(0, 1)], list("ab"), edge_weights=[1e-9])],
}
every_collection = pytest.mark.parametrize("points", COLLECTIONS.values(), ids=COLLECTIONS)


def refused(kernel, points):
    """The decay that the message names, and the graph."""
    with pytest.raises(KernelError, match="RandomWalk: decay must be at most") as caught:
        kernel(points)
    text = str(caught.value)
    advised = re.search(r"at most (\S+) for the series.* Take RandomWalk\((\S+)\)", text)
    assert advised[1] == advised[2]
    return float(advised[1]), int(re.search(r"diverges on graph (\d+)\.", text)[1])


@every_collection
@pytest.mark.parametrize("times", [1.0, 1.02, 10.0, 1e6])
def test_the_advised_decay_works_and_little_more_does_not(points, times):
    bound = limit(points)
    advised, graph = refused(RandomWalk(times * bound), points)
    assert 0.998 * bound <= advised < bound
    assert oracles.product_radius(points[graph], points[graph]) >= 0.999 / bound
    K = RandomWalk(advised)(points)
    assert np.isfinite(K).all()
    refused(RandomWalk(1.01 * advised), points)


@every_collection
def test_close_to_the_bound_all_digits_count(points):
    kernel = RandomWalk(0.999 * limit(points))
    np.testing.assert_allclose(kernel(points), kernel.formula(points), rtol=1e-9)


@settings(max_examples=60)
@given(st.lists(graphs(5), min_size=1, max_size=4))
def test_what_converges_is_decided_by_the_spectral_radius(points):
    assume(any(len(x.edges) for x in points))
    bound = limit(points)
    assert np.isfinite(RandomWalk(0.9999 * bound)(points)).all()
    advised, graph = refused(RandomWalk(1.0001 * bound), points)
    assert advised < bound
    assert oracles.product_radius(points[graph], points[graph]) >= 0.999 / bound


@settings(max_examples=60)
@given(graphs(5), graphs(5))
def test_the_radius_of_a_pair_is_bounded_by_those_of_each(x, y):
    mine, theirs = oracles.product_radius(x, x), oracles.product_radius(y, y)
    assert oracles.product_radius(x, y) <= np.sqrt(mine * theirs) * (1 + 1e-12)


@settings(max_examples=60)
@given(graphs(5), st.sampled_from([0.1, 0.9, 0.99, 1.01, 2.0]))
def test_margins_are_proved(x, share):
    """Above 0 where the series converges, and never more than 1 - rho."""
    scale = share * limit([x])
    arrays = flatten([x])
    native = walk_graphs(arrays)
    out = np.empty(1)
    native.margins(np.array([0]), scale, out)
    radius = scale * oracles.product_radius(x, x)
    if radius > 1:
        assert out[0] == -1
    else:
        assert 0 < out[0] <= 1 - radius + 1e-12


@pytest.mark.parametrize("labels", [None, list("ababab")], ids=["plain", "labelled"])
def test_so_close_to_the_bound_that_digits_would_be_lost(labels):
    """Each pair of nodes has four neighbours: the bound is 1/4, and k = pairs / (1 - 4 decay)."""
    points = [cycle(6, labels)]
    pairs = 36 if labels is None else 18
    K = RandomWalk(0.25 * (1 - 1e-8))(points)
    assert K[0, 0] == pytest.approx(pairs * 1e8, rel=1e-6)
    advised, _ = refused(RandomWalk(0.25 * (1 - 1e-12)), points)
    assert advised == 0.2499


def test_a_pair_that_diverges_is_refused_by_the_definition_too():
    with pytest.raises(KernelError, match=r"at most 0\.2499 for .* on their product"):
        RandomWalk(0.25).pair(cycle(4), cycle(5))
    assert RandomWalk(0.25, 3).pair(cycle(4), cycle(5)) == 80


def test_a_new_graph_that_diverges_is_refused():
    points = [path(3), path(4), cycle(3), path(5)]
    model = KernelRidge(kernel=RandomWalk(0.1)).fit(points, [0.0, 1.0, 2.0, 3.0])
    assert np.isfinite(model.predict([path(6)])).all()
    with pytest.raises(KernelError, match=r"at most 0\.0204 .* diverges on graph 1"):
        model.predict([path(6), complete(8)])
    unbounded = KernelRidge(kernel=RandomWalk(0.1, steps=4)).fit(points, [0.0, 1.0, 2.0, 3.0])
    assert np.isfinite(unbounded.predict([complete(8)])).all()


def test_walks_beyond_all_numbers_are_refused():
    for labels in (None, list("aabbb")):
        points = [Graph(2, []), complete(5, labels)]
        with pytest.raises(KernelError, match=r"within the range of a double; got .* graph 1"):
            RandomWalk(1e10, steps=40)(points)
        assert np.isfinite(RandomWalk(1e10, steps=20)(points)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("labels", [None, list("aab")], ids=["plain", "labelled"])
@pytest.mark.parametrize("decay", [1.0, 1e300])
def test_weights_beyond_all_numbers_are_refused(labels, decay):
    x = Graph(3, [(0, 1), (1, 2), (0, 2)], labels, edge_weights=[1e300, 1e300, 1.0])
    with pytest.raises(KernelError, match=r"there is none for graph 0\. Divide the weights"):
        RandomWalk(decay)([x])
    with pytest.raises(KernelError, match=r"there is none for their product\. Divide the weights"):
        RandomWalk(decay).formula([x])
    with pytest.raises(KernelError, match="within the range of a double"):
        RandomWalk(decay, steps=3)([x])


@pytest.mark.parametrize("kernel", [RandomWalk(0.24999), RandomWalk(0.1, steps=20_000)])
def test_one_long_pair_can_be_stopped_in_the_midst_of_it(kernel):
    asked = []
    only, out = np.zeros(1, dtype=np.int64), np.empty((1, 1))
    graphs = kernel.encode([path(800, list("ab" * 400))])
    # Asked only once the pair is done, it would be asked once.
    done = kernel.job(graphs, graphs).store(
        only, only, False, 0, 1, out, lambda: asked.append(1) or len(asked) == 2
    )
    assert not done
    assert len(asked) == 2


def test_one_long_proof_can_be_stopped_in_the_midst_of_it():
    """Signals that come while one margin is sought are seen one after another."""
    seen = []

    def stop_at_the_third(*_):
        seen.append(1)
        if len(seen) == 3:
            raise InterruptedError

    before = signal.signal(signal.SIGVTALRM, stop_at_the_third)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.02, 0.02)
    try:
        with pytest.raises(InterruptedError):
            RandomWalk(0.24999).encode([path(1000, list("ab" * 500))])
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def test_a_large_graph_of_two_labels():
    """Ten thousand edges: the product graph would have millions."""
    random = np.random.default_rng(2)
    edges = np.argwhere(np.triu(random.random((500, 500)) < 0.08, 1))
    labels = ["ab"[k] for k in random.integers(0, 2, 500)]
    x = Graph(500, edges, labels)
    K = RandomWalk(2e-4)([x, cycle(5, list("ababb"))])
    part = RandomWalk(2e-4, 60)([x, cycle(5, list("ababb"))])
    np.testing.assert_allclose(K, part, rtol=1e-12)  # rho is near 1e3: 0.2 ** 60 is left


# --- what is not a parameter ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ((0,), InputError, "decay must be a finite number above 0; got 0"),
        ((-0.1,), InputError, "decay must be"),
        ((float("nan"),), InputError, "decay must be"),
        (("big",), InputTypeError, "decay must be"),
        ((True,), InputTypeError, "decay must be"),
        ((0.1, -1), InputError, "steps must be .* at most 1e.06; got -1"),
        ((0.1, 1.5), InputTypeError, "steps must be"),
        ((0.1, 10**30), InputError, "steps must be .* at most 1e.06"),
        ((0.1, True), InputTypeError, "steps must be"),
    ],
)
def test_parameters_are_checked(arguments, kind, text):
    with pytest.raises(kind, match=f"RandomWalk: {text}"):
        RandomWalk(*arguments)


def test_only_graphs_have_walks():
    with pytest.raises(InputTypeError, match="every item must be a Graph; got 'abc'"):
        RandomWalk(0.1)([path(2), "abc"])


# --- the core -----------------------------------------------------------------------------------


def walk_graphs(arrays, **changes):
    parts = {
        "node_ends": arrays.node_ends,
        "arc_ends": arrays.arc_ends,
        "neighbours": arrays.neighbours,
        "node_codes": arrays.node_codes,
        "arc_codes": arrays.arc_codes,
        "weights": arrays.arc_weights,
    }
    return _native.WalkGraphs(**(parts | changes))


ARRAYS = flatten([path(2), path(3)])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"node_ends": np.array([0, 2])}, "arrays must fit"),
        ({"node_ends": np.array([0, 6, 5])}, "arrays must fit"),
        ({"node_ends": np.array([-1, 2, 5])}, "arrays must fit"),
        ({"node_ends": np.empty(0, np.int64)}, "arrays must fit"),
        ({"arc_ends": np.array([0, 1, 2, 3, 5, 9])}, "arrays must fit"),
        ({"arc_ends": np.array([0, 1, 2, 3, 6])}, "arrays must fit"),
        ({"weights": np.ones(5)}, "arrays must fit"),
        ({"arc_codes": np.ones(7, np.uint64)}, "arrays must fit"),
        ({"neighbours": np.array([1, 0, 3, 2, 4, 0])}, "must stay within its graph"),
        ({"neighbours": np.array([1, 0, 3, 2, 4, 5])}, "must stay within its graph"),
        ({"neighbours": np.array([1, 0, 3, 2, 4, -1])}, "must stay within its graph"),
        ({"weights": -np.ones(6)}, "must be finite and not negative"),
        ({"weights": np.full(6, np.nan)}, "must be finite and not negative"),
    ],
    ids=range(13),
)
def test_the_core_refuses_arrays_that_do_not_fit(changes, text):
    with pytest.raises(ValueError, match=text):
        walk_graphs(ARRAYS, **changes)


def test_the_core_refuses_what_is_not_known_of_graphs():
    ends, nothing, ones = np.array([0, 1, 2]), np.empty(0), np.ones(2)
    fresh = walk_graphs(ARRAYS)
    with pytest.raises(ValueError, match="must have spectra"):
        _native.GeometricWalks(fresh, fresh)
    with pytest.raises(ValueError, match="must have numbers of walks"):
        _native.FiniteWalks(fresh, fresh, 0)
    for bad in (
        (np.array([0, 2]), ones, ones),
        (np.array([0, 3, 2]), ones, ones),
        (np.array([0, 1, 3]), ones, ones),
        (ends, np.ones(1), ones),
    ):
        with pytest.raises(ValueError, match="summary must fit"):
            fresh.summarise(*bad)
    fresh.summarise(ends, nothing, ones)
    with pytest.raises(ValueError, match="may rely on the summary"):
        fresh.summarise(ends, nothing, ones)
    with pytest.raises(ValueError, match="must have spectra"):
        _native.GeometricWalks(fresh, fresh)
    with pytest.raises(ValueError, match="for every length"):
        _native.FiniteWalks(fresh, fresh, 1)
    with pytest.raises(ValueError, match="steps must not be negative"):
        _native.FiniteWalks(fresh, fresh, -1)
    with pytest.raises(IndexError, match="no such graph"):
        fresh.margins(np.array([2]), 1.0, np.empty(1))
    with pytest.raises(ValueError, match="room for each"):
        fresh.margins(np.array([1]), 1.0, np.empty(2))
    with pytest.raises(ValueError, match="room for each"):
        fresh.mark_uniform(np.empty(1, dtype=bool))


def test_a_program_keeps_its_graphs():
    made = [RandomWalk(0.1).encode([path(2)]) for _ in range(2)]
    job = RandomWalk(0.1).job(*made)
    del made
    out = np.empty((1, 1))
    job.store(np.array([0]), np.array([0]), False, 0, 1, out, None)
    assert out[0, 0] == pytest.approx(4 / 0.9, rel=1e-14)
