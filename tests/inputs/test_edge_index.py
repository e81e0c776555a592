"""Graphs from arrays of edges, and from what looks like the data of PyTorch Geometric."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.checks import InputError, InputTypeError
from mercer.kernels import Graph, WeisfeilerLehman

BOTH = [[0, 1, 1, 2, 2, 2], [1, 0, 2, 1, 2, 0]]  # a path in both directions, a loop, one way
EDGES = [(0, 1), (0, 2), (1, 2), (2, 2)]


class Tensor:
    """What a tensor offers: no iteration over numbers, no conversion while it is trained."""

    def __init__(self, values, trained=False):
        self.values, self.trained = np.array(values), trained

    def detach(self):
        return Tensor(self.values)

    def cpu(self):
        return self

    def numpy(self):
        if self.trained:
            raise RuntimeError("a tensor that requires grad has no numpy()")
        return self.values

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return (Tensor(value) for value in self.values)


class OnlyArray:
    def __init__(self, values):
        self.values = np.array(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


def data(**parts):
    """A Data: what it lacks is None."""
    return SimpleNamespace(**({"x": None, "edge_attr": None, "num_nodes": None} | parts))


@pytest.mark.parametrize(
    "edge_index",
    [
        BOTH,
        tuple(map(tuple, BOTH)),
        np.array(BOTH),
        np.array(BOTH, dtype=np.int32),
        np.array(BOTH, dtype=np.uint8),
        np.asfortranarray(BOTH),
        Tensor(BOTH),
        OnlyArray(BOTH),
        data(edge_index=Tensor(BOTH)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_both_directions_are_one_edge(edge_index):
    assert Graph.from_edge_index(edge_index) == Graph(3, EDGES)


def test_one_direction_is_enough():
    assert Graph.from_edge_index([[2, 1], [1, 0]]) == Graph(3, [(0, 1), (1, 2)])
    assert Graph.from_edge_index([[0, 0], [0, 0]]) == Graph(1, [(0, 0)])  # a loop, both ways


def test_labels_and_weights_are_those_of_the_edges():
    labels, weights = list("aabbcd"), [1.0, 1.0, 2.0, 2.0, 3.0, 4.0]
    wanted = Graph(3, EDGES, None, list("adbc"), None, [1.0, 4.0, 2.0, 3.0])
    found = Graph.from_edge_index(BOTH, edge_labels=labels, edge_weights=weights)
    assert found == wanted
    found = Graph.from_edge_index(
        Tensor(BOTH), edge_labels=np.array(labels), edge_weights=Tensor(weights, trained=True)
    )
    assert found == wanted
    numbers = Graph.from_edge_index(BOTH, edge_labels=Tensor([1, 1, 2, 2, 3, 4]))
    assert numbers.edge_labels == (1, 4, 2, 3)
    assert {type(label) for label in numbers.edge_labels} == {int}


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 6))
    pairs = [(i, j) for j in range(n) for i in range(j + 1)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    labels = draw(st.none() | st.lists(st.text(max_size=1), min_size=n, max_size=n))
    lines = st.lists(st.integers(), min_size=len(edges), max_size=len(edges))
    weights = st.lists(st.floats(0.1, 9), min_size=len(edges), max_size=len(edges))
    rows = draw(st.none() | st.just(np.arange(2.0 * n).reshape(n, 2)))
    return Graph(n, edges, labels, draw(st.none() | lines), rows, draw(st.none() | weights))


@settings(max_examples=80, deadline=None)
@given(graphs(), st.data())
def test_any_graph_comes_back_from_its_columns(graph, draw):
    """Each edge in one direction or both, in any order."""
    columns = []
    for k, (u, v) in enumerate(graph.edges.tolist()):
        ways = draw.draw(st.sampled_from([[(u, v)], [(v, u)], [(u, v), (v, u)]]))
        columns += [(way, k) for way in ways]
    columns = draw.draw(st.permutations(columns))
    edge_index = np.array([way for way, _ in columns], dtype=int).reshape(-1, 2).T

    def of(values):
        return None if values is None else [values[k] for _, k in columns]

    found = Graph.from_edge_index(
        edge_index,
        graph.n_nodes,
        graph.node_labels,
        of(graph.edge_labels),
        graph.node_attributes,
        of(graph.edge_weights),
    )
    assert found == graph


def test_the_number_of_nodes():
    assert Graph.from_edge_index(BOTH, 5).n_nodes == 5
    assert Graph.from_edge_index(BOTH, np.int64(3)).n_nodes == 3
    assert Graph.from_edge_index(BOTH, node_labels=list("abcd")).n_nodes == 4
    assert Graph.from_edge_index(BOTH, node_attributes=np.zeros((6, 1))).n_nodes == 6
    assert Graph.from_edge_index(BOTH, node_attributes=Tensor(np.zeros((6, 1)), True)).n_nodes == 6
    assert Graph.from_edge_index(np.zeros((2, 0), dtype=int)) == Graph(0, [])
    assert Graph.from_edge_index([[], []], 2) == Graph(2, [])
    assert Graph.from_edge_index(Tensor(np.zeros((2, 0))), 2, edge_labels=[]).edge_labels == ()


def test_the_data_of_another_library():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    given = data(edge_index=Tensor(BOTH), x=Tensor(rows, trained=True), num_nodes=3)
    assert Graph.from_edge_index(given) == Graph(3, EDGES, node_attributes=rows)
    assert Graph.from_edge_index(given, node_labels=Tensor([7, 8, 9])).node_labels == (7, 8, 9)
    other = Graph.from_edge_index(given, node_attributes=rows[:, :1])
    assert other == Graph(3, EDGES, node_attributes=rows[:, :1])
    assert Graph.from_edge_index(data(edge_index=BOTH, num_nodes=4)) == Graph(4, EDGES)
    assert Graph.from_edge_index(given, 3).without_attributes() == Graph(3, EDGES)


@pytest.mark.parametrize(
    ("attr", "labels"),
    [
        ([1, 1, 2, 2, 3, 4], (1, 4, 2, 3)),
        ([[1], [1], [2], [2], [3], [4]], (1, 4, 2, 3)),
        (np.eye(4)[[0, 0, 1, 1, 2, 3]], ((1, 0, 0, 0), (0, 0, 0, 1), (0, 1, 0, 0), (0, 0, 1, 0))),
        ([True, True, False, False, True, True], (1, 1, 0, 1)),
    ],
)
def test_whole_numbers_of_edges_are_labels(attr, labels):
    given = data(edge_index=Tensor(BOTH), edge_attr=Tensor(attr))
    assert Graph.from_edge_index(given) == Graph(3, EDGES, None, labels)
    heavy = [1.0, 1.0, 2.0, 2.0, 3.0, 4.0]
    both = data(edge_index=Tensor(BOTH), edge_attr=Tensor(attr), edge_weight=Tensor(heavy))
    assert Graph.from_edge_index(both) == Graph(3, EDGES, None, labels, None, [1, 4, 2, 3])
    mine = Graph.from_edge_index(both, edge_weights=np.ones(6))
    assert mine == Graph(3, EDGES, edge_weights=np.ones(4))


def test_real_numbers_of_edges_are_not_guessed_at():
    given = data(edge_index=Tensor(BOTH), edge_attr=Tensor([0.5, 0.5, 1.5, 1.5, 1.0, 2.0]))
    advice = "Give edge_labels or edge_weights instead, or data.edge_index alone"
    with pytest.raises(InputError, match=rf"edge_attr must be whole .* got 0\.5\. {advice}"):
        Graph.from_edge_index(given)
    weighed = Graph.from_edge_index(given, edge_weights=given.edge_attr)
    assert weighed == Graph(3, EDGES, edge_weights=[0.5, 2.0, 1.5, 1.0])
    assert Graph.from_edge_index(given.edge_index) == Graph(3, EDGES)
    for wrong in (Tensor([np.nan] * 6), Tensor([np.inf] * 6)):
        with pytest.raises(InputError, match="edge_attr must be whole numbers"):
            Graph.from_edge_index(data(edge_index=BOTH, edge_attr=wrong))
    for wrong in (Tensor(["a"] * 6), Tensor(np.zeros((6, 1, 1)))):
        with pytest.raises(InputTypeError, match="edge_attr must be whole numbers"):
            Graph.from_edge_index(data(edge_index=BOTH, edge_attr=wrong))


REFUSED = {
    "pairs": (InputTypeError, ([(0, 1), (1, 2), (2, 3)],), {}, r"\(3, 2\)\. Transpose it, or give"),
    "flat": (InputTypeError, ([0, 1],), {}, r"shape \(2, m\); got int64 of shape \(2,\)"),
    "three rows": (InputTypeError, ([[0], [1], [2]],), {}, r"int64 of shape \(3, 1\)"),
    "ragged": (InputTypeError, ([[0, 1], [1]],), {}, "rows of different lengths"),
    "real": (InputTypeError, ([[0.0, 1.0], [1.0, 0.0]],), {}, r"got float64 of shape \(2, 2\)"),
    "flags": (InputTypeError, ([[True], [False]],), {}, "got bool"),
    "words": (InputTypeError, ([["a"], ["b"]],), {}, "two rows of node numbers"),
    "none": (InputTypeError, (None,), {}, "two rows of node numbers"),
    "no edges there": (InputTypeError, (data(edge_index=None),), {}, "two rows of node numbers"),
    "negative": (InputError, ([[0, -1], [1, 0]],), {}, r"got \(-1, 0\) in column 1"),
    "outside": (InputError, (BOTH, 2), {}, r"from 0 to 1; got \(1, 2\) in column 2"),
    "no nodes": (InputError, (BOTH, 0), {}, r"edges need nodes; got \(0, 1\) in column 0"),
    "half a node": (InputTypeError, (BOTH, 2.5), {}, "n_nodes must be a whole number"),
    "fewer than none": (InputError, (BOTH, -1), {}, "n_nodes must be a whole number at least 0"),
    "too few labels": (InputError, (BOTH, 3, ["a"]), {}, "node_labels must have 3 labels; got 1"),
    "labels of fewer nodes": (InputError, (BOTH, None, ["a"]), {}, r"from 0 to 0; got \(0, 1\)"),
    "rows": (InputError, (BOTH, 3), {"node_attributes": [[1.0]]}, r"3 rows .* shape \(1, 1\)"),
    "again": (
        InputError,
        ([[0, 1, 0], [1, 2, 1]],),
        {},
        r"at most once in each direction; got \(0, 1\) in column 0 and again in 2",
    ),
    "again, and back": (InputError, ([[0, 1, 1], [1, 0, 0]],), {}, r"\(1, 0\) in column 1 and aga"),
    "a loop thrice": (InputError, ([[1, 1, 1], [1, 1, 1]],), {}, r"\(1, 1\) in column 1 and again"),
    "labels that differ": (
        InputError,
        (BOTH,),
        {"edge_labels": list("aabxcd")},
        r"in both directions; got 'b' for \(1, 2\) in column 2 and 'x' for \(2, 1\) in column 3",
    ),
    "weights that differ": (
        InputError,
        (BOTH,),
        {"edge_weights": [1.0, 2.0, 1.0, 1.0, 1.0, 1.0]},
        r"edge_weights must be the same in both .* got 1\.0 for \(0, 1\) in column 0 and 2\.0 for",
    ),
    "numbers that differ": (
        InputError,
        (data(edge_index=BOTH, edge_attr=[[1, 0], [0, 1], [1, 1], [1, 1], [0, 0], [2, 2]]),),
        {},
        r"got \(1, 0\) for \(0, 1\) in column 0 and \(0, 1\) for \(1, 0\) in column 1",
    ),
    "a label an edge": (
        InputError,
        (BOTH,),
        {"edge_labels": list("abcd")},
        "edge_labels must be 6",
    ),
    "one label": (InputTypeError, (BOTH,), {"edge_labels": 3}, "must be a list, one per"),
    "weight 0": (InputError, ([[0], [1]],), {"edge_weights": [0.0]}, "must be 1 positive numbers"),
    "weight nan": (InputError, ([[0], [1]],), {"edge_weights": [np.nan]}, "1 positive numbers"),
    "label nan": (InputTypeError, ([[0], [1]],), {"edge_labels": [np.nan]}, "not None and not NaN"),
}


@pytest.mark.parametrize(("error", "given", "named", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_graph_is_refused(error, given, named, message):
    with pytest.raises(error, match=message) as caught:
        Graph.from_edge_index(*given, **named)
    assert str(caught.value).startswith("Graph")


def test_a_list_of_data_says_how():
    with pytest.raises(InputTypeError, match=r"every item must be a Graph.*Graph\.from_edge_index"):
        WeisfeilerLehman()([data(edge_index=BOTH), data(edge_index=BOTH)])
