"""What kernels of graphs and the core refuse, and how long counts are stopped."""

import numpy as np
import pytest
from shapes import complete, cycle, every_kernel, path

from mercer import _native
from mercer.checks import InputError, InputTypeError
from mercer.kernels import Graphlet, WeisfeilerLehman
from mercer.kernels.graphs.arrays import flatten
from mercer.kernels.graphs.graphlets import _classes

# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: WeisfeilerLehman(-1),
            "rounds must be a whole number at least 0 and at most 1000; got -1",
        ),
        (lambda: WeisfeilerLehman(1.5), "rounds must be a whole number .*; got 1.5"),
        (lambda: WeisfeilerLehman(True), "rounds must be a whole number .*; got True"),
        (lambda: WeisfeilerLehman(1001), "rounds must be .* at most 1000; got 1001"),
        (lambda: WeisfeilerLehman(2, "asignment"), "Did you mean 'assignment'"),
        (lambda: Graphlet(2), "size must be a whole number at least 3 and at most 5; got 2"),
        (lambda: Graphlet(6), "size must be a whole number at least 3 and at most 5; got 6"),
        (lambda: Graphlet("3"), "size must be a whole number"),
    ],
    ids=range(8),
)
def test_bad_parameters(make, message):
    with pytest.raises(InputError, match=message):
        make()


@every_kernel
def test_other_objects_are_refused_by_index(kernel, count):
    with pytest.raises(InputTypeError, match=r"every item must be a Graph; got .* at index 1"):
        kernel([path(2), "abc"])
    with pytest.raises(InputTypeError, match=r"None \(NoneType\) at index 0"):
        kernel([None])


# --- the core ---------------------------------------------------------------------------------


def core_arrays(items):
    arrays = flatten(items)
    return [arrays.node_ends, arrays.arc_ends, arrays.neighbours]


def count_paths(parts, stop=None):
    nodes, arcs = max(len(parts[1]) - 1, 0), len(parts[2])
    return _native.count_paths(*parts, np.zeros(nodes, np.uint64), np.ones(arcs), stop)


def count_graphlets(parts, stop=None, size=4):
    classes, patterns = _classes(size)
    out = np.empty((max(len(parts[0]) - 1, 0), len(patterns)), dtype=np.int64)
    return _native.count_graphlets(*parts, size, classes, out, stop)


@pytest.mark.parametrize("count", [count_paths, count_graphlets], ids=["paths", "graphlets"])
@pytest.mark.parametrize(
    ("part", "values"),
    [
        (0, []),
        (0, [0, 3, 6]),
        (0, [1, 3, 7]),
        (0, [0, 9, 7]),
        (0, [0, -1, 7]),
        (0, [0, 2, 7]),  # an edge between two graphs
        (1, []),
        (1, [0, 1, 3, 4, 6, 8, 10, 13]),
        (1, [-1, 1, 3, 4, 6, 8, 10, 12]),
        (1, [0, 1, 99, 4, 6, 8, 10, 12]),
        (1, [0, 3, 1, 4, 6, 8, 10, 12]),
        (1, [0, 1, 3, 4]),
        (2, [1, 0, 2, 1, 4, 6, 3, 5, 4, 6, 3, 7]),
        (2, [1, 0, 2, -1, 4, 6, 3, 5, 4, 6, 3, 5]),
        (2, [1, 0, 2, 1, 4, 4, 3, 5, 4, 6, 3, 5]),  # a neighbour twice
        (2, [1, 2, 0, 1, 4, 6, 3, 5, 4, 6, 3, 5]),  # not in order
        (2, [1, 0, 2]),
    ],
)
def test_the_core_refuses_arrays_that_are_no_graphs(count, part, values):
    parts = core_arrays([path(3), cycle(4)])
    assert [len(one) for one in parts] == [3, 8, 12]
    assert count(parts)
    parts[part] = np.array(values, dtype=np.int64)
    with pytest.raises(ValueError, match=r"graphs: "):
        count(parts)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_the_core_refuses_weights_that_are_no_lengths(weight):
    parts, codes = core_arrays([path(2)]), np.zeros(2, np.uint64)
    with pytest.raises(ValueError, match="weights must be positive and finite"):
        _native.count_paths(*parts, codes, np.array([1.0, weight]), None)


def test_the_core_refuses_what_does_not_fit():
    parts = core_arrays([path(3)])
    with pytest.raises(ValueError, match="a code for each node and a weight for each arc"):
        _native.count_paths(*parts, np.zeros(2, np.uint64), np.ones(4), None)
    with pytest.raises(ValueError, match="a code for each node and a weight for each arc"):
        _native.count_paths(*parts, np.zeros(3, np.uint64), np.ones(3), None)
    tally = count_paths(parts)
    for sizes in [(3, 2, 2), (2, 3, 2), (2, 2, 3), (0, 2, 2)]:
        with pytest.raises(ValueError, match="there must be room"):
            tally.store(
                np.empty(sizes[0], np.int64), np.empty(sizes[1], np.uint64), np.empty(sizes[2])
            )
    classes, patterns = _classes(3)
    out = np.empty((1, len(patterns)), dtype=np.int64)
    for size in (-1, 0, 2, 6, 100):
        with pytest.raises(ValueError, match="size must be from 3 to 5"):
            _native.count_graphlets(*parts, size, classes, out, None)
    with pytest.raises(ValueError, match="a class for all edges"):
        _native.count_graphlets(*parts, 4, classes, out, None)
    for wrong in (2, -2, 2**31 - 1):
        bad = classes.copy()
        bad[-1] = wrong
        with pytest.raises(IndexError, match="there is no such class"):
            _native.count_graphlets(*parts, 3, bad, out, None)
    with pytest.raises(ValueError, match="a row for each graph"):
        _native.count_graphlets(*parts, 3, classes, out[:0], None)


def test_long_counts_can_be_stopped():
    """One root of this graph alone has more sets than could be gone through."""
    parts = core_arrays([complete(400)])
    assert count_graphlets(parts, lambda: True, size=5) is False
    with pytest.raises(RuntimeError, match="enough"):
        count_graphlets(parts, enough, size=5)


def test_long_searches_can_be_stopped():
    parts = core_arrays([path(20_000)])
    assert count_paths(parts, lambda: True) is None


def enough():
    raise RuntimeError("enough")
