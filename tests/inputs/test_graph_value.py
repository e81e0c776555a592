"""Graph, a value: what it takes, what it refuses, and many of them in arrays."""

import copy
import pickle

import numpy as np
import pandas
import pytest
import scipy.sparse

import mercer.inputs
from mercer.checks import InputError, InputTypeError
from mercer.kernels import Graph
from mercer.kernels.graphs.arrays import UNLABELLED, flatten
from mercer.kernels.objects.tokens import token_code

TRIANGLE = [(0, 1), (1, 2), (2, 0)]


def full():
    return Graph(
        3,
        [(2, 1), (1, 0)],
        ["a", "b", "a"],
        edge_labels=["x", "y"],
        node_attributes=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        edge_weights=[2.0, 0.5],
    )


# --- the value --------------------------------------------------------------------------------


def test_edges_are_in_order_with_all_that_belongs_to_them():
    graph = full()
    assert graph.n_nodes == 3
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edges.dtype == np.int64
    assert graph.node_labels == ("a", "b", "a")
    assert graph.edge_labels == ("y", "x")
    assert graph.edge_weights.tolist() == [0.5, 2.0]
    assert graph.node_attributes.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert mercer.inputs.Graph is Graph


def test_graphs_with_equal_parts_are_equal():
    graph = full()
    same = Graph(
        3,
        np.array([[0, 1], [1, 2]], dtype=np.int32),
        ("a", "b", "a"),
        ["y", "x"],
        np.arange(1, 7).reshape(3, 2),
        np.array([0.5, 2.0], dtype=np.float32),
    )
    assert graph == same
    assert hash(graph) == hash(same)
    assert len({graph, same}) == 1
    others = [
        Graph(4, graph.edges),
        Graph(3, graph.edges),
        Graph(3, [(0, 1)]),
        Graph(3, graph.edges, ["a", "b", "c"]),
        Graph(3, graph.edges, ["a", "b", "a"]),
        Graph(3, graph.edges, edge_labels=["y", "x"]),
        Graph(3, graph.edges, edge_labels=["x", "y"]),
        Graph(3, graph.edges, node_attributes=np.zeros((3, 2))),
        Graph(3, graph.edges, node_attributes=np.zeros((3, 1))),
        Graph(3, graph.edges, edge_weights=[1.0, 1.0]),
        Graph(3, graph.edges, edge_weights=[1.0, 2.0]),
    ]
    for i, one in enumerate(others):
        assert one != graph
        for j, other in enumerate(others):
            assert (one == other) == (i == j)
    assert graph != (3, graph.edges)


def test_a_graph_cannot_be_changed():
    graph = full()
    with pytest.raises(AttributeError, match="a Graph cannot be changed; make a new one to set n_"):
        graph.n_nodes = 4
    with pytest.raises(AttributeError, match="a Graph cannot be changed; make a new one without e"):
        del graph.edges
    with pytest.raises(AttributeError, match="cannot be changed"):
        graph.colour = "red"
    for part in (graph.edges, graph.node_attributes, graph.edge_weights):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 0


def test_a_graph_keeps_no_array_of_the_caller():
    edges, rows, weights = np.array([[0, 1]]), np.ones((2, 1)), np.ones(1)
    graph = Graph(2, edges, node_attributes=rows, edge_weights=weights)
    before = copy.deepcopy(graph)
    edges[:], rows[:], weights[:] = 1, 7, 7
    assert graph == before


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_are_equal(again):
    for graph in (full(), Graph(0, []), Graph(2, [(1, 1)])):
        assert again(graph) == graph


def test_repr_says_what_there_is():
    assert repr(Graph(2, [(0, 1)])) == "<Graph: 2 nodes, 1 edges>"
    assert repr(full()) == (
        "<Graph: 3 nodes, 2 edges, node labels, edge labels, attributes, weights>"
    )


@pytest.mark.parametrize(
    "edges",
    [[], np.empty((0, 2)), np.empty((0, 2), dtype=int), (), set(), iter([])],
    ids=["list", "floats", "array", "tuple", "set", "iterator"],
)
def test_no_edges(edges):
    assert Graph(2, edges).edges.shape == (0, 2)


def test_edges_of_any_kind():
    wanted = Graph(3, [(0, 1), (1, 2)])
    for edges in ({(1, 0), (1, 2)}, zip([0, 1], [1, 2], strict=True), np.array([[1, 2], [0, 1]])):
        assert Graph(3, edges) == wanted
    assert Graph(3, np.array([[0, 1], [1, 2]], dtype=np.uint64)) == wanted


def test_labels_of_any_kind():
    labels = ["a", 1, (2, "b"), frozenset({3}), 1.5, b"x"]
    assert Graph(6, [], labels).node_labels == tuple(labels)
    assert Graph(3, [], np.array([1, 2, 3])).node_labels == (1, 2, 3)
    assert Graph(2, [], np.array(["a", "b"])).node_labels == ("a", "b")
    assert Graph(0, [], []).node_labels == ()
    assert Graph(0, [], node_attributes=[]).node_attributes.shape == (0, 0)


# --- what is refused --------------------------------------------------------------------------

REFUSED = {
    "too many nodes": (InputError, (10**30, []), {}, "n_nodes must be .* at most 1e.09; got 1000"),
    "sparse": (InputTypeError, (2, scipy.sparse.eye(2)), {}, "sparse matrix. .*from_adjacency"),
    "negative": (InputError, (-1, []), {}, "n_nodes must be a whole number at least 0 .*; got -1"),
    "half": (
        InputTypeError,
        (1.5, []),
        {},
        "n_nodes must be a whole number at least 0 .*; got 1.5",
    ),
    "no pairs": (
        InputTypeError,
        (3, [0, 1, 2]),
        {},
        "pairs of node numbers, shape .m, 2.; got int",
    ),
    "triples": (InputTypeError, (3, [(0, 1, 2)]), {}, r"pairs .* got int64 of shape \(1, 3\)"),
    "two rows": (
        InputTypeError,
        (4, [(0, 1, 2), (1, 2, 3)]),
        {},
        "Read it with Graph.from_edge_index",
    ),
    "ragged": (InputTypeError, (3, [(0, 1), (2,)]), {}, "pairs .* got rows of different lengths"),
    "floats": (InputTypeError, (3, [(0.0, 1.0)]), {}, "pairs .* got float64 of shape"),
    "words": (InputTypeError, (3, [("a", "b")]), {}, "pairs of node numbers"),
    "bools": (InputTypeError, (3, [(False, True)]), {}, "pairs .* got bool of shape"),
    "string": (InputTypeError, (3, "01"), {}, "pairs .* got '01'"),
    "dict": (InputTypeError, (3, {0: 1}), {}, "pairs .* got {0: 1}"),
    "number": (InputTypeError, (3, 1), {}, "pairs .* got 1"),
    "outside": (
        InputError,
        (3, [(0, 1), (1, 3)]),
        {},
        r"nodes from 0 to 2; got \(1, 3\) at index 1",
    ),
    "below": (InputError, (3, [(0, -1)]), {}, r"nodes from 0 to 2; got \(0, -1\) at index 0"),
    "no nodes": (InputError, (0, [(0, 0)]), {}, r"edges need nodes; got \(0, 0\) at index 0"),
    "huge": (InputError, (3, np.array([[0, 2**64 - 1]], dtype=np.uint64)), {}, "nodes from 0 to 2"),
    "twice": (
        InputError,
        (3, [(0, 1), (1, 2), (1, 0)]),
        {},
        r"an edge must be given once; got \(0, 1\) at indices 0 and 2. Give each undirected",
    ),
    "few labels": (InputError, (3, []), {"node_labels": ["a"]}, "must have 3 labels; got 1"),
    "many labels": (
        InputError,
        (2, [(0, 1)]),
        {"edge_labels": [1, 2]},
        "must have 1 labels; got 2",
    ),
    "one string": (
        InputTypeError,
        (3, []),
        {"node_labels": "aba"},
        "a list of 3 labels.* got str",
    ),
    "mapping": (InputTypeError, (1, []), {"node_labels": {0: "a"}}, "in order; got dict"),
    "set": (InputTypeError, (1, []), {"node_labels": {"a"}}, "in order; got set"),
    "one label": (InputTypeError, (1, []), {"node_labels": 7}, "in order; got int"),
    "none": (InputTypeError, (2, []), {"node_labels": ["a", None]}, "got None at index 1"),
    "nan": (InputTypeError, (2, []), {"node_labels": [1.0, np.nan]}, "got nan at index 1"),
    "unknown": (InputTypeError, (1, []), {"node_labels": [pandas.NA]}, "got <NA> at index 0"),
    "list": (InputTypeError, (1, []), {"node_labels": [[1]]}, r"got \[1\] at index 0"),
    "deep list": (
        InputTypeError,
        (1, []),
        {"node_labels": [(1, [2])]},
        r"got \(1, \[2\]\) at index",
    ),
    "columns": (InputTypeError, (2, []), {"node_labels": np.ones((2, 2))}, "at index 0"),
    "rows": (InputError, (2, []), {"node_attributes": [[1.0]]}, r"2 rows .* shape \(1, 1\)"),
    "flat": (InputError, (2, []), {"node_attributes": [1.0, 2.0]}, r"2 rows .* shape \(2,\)"),
    "nan rows": (InputError, (1, []), {"node_attributes": [[0, np.nan]]}, "nan in row 0, column 1"),
    "word rows": (InputTypeError, (1, []), {"node_attributes": [["a"]]}, r"got \[\['a'\]\]"),
    "zero": (InputError, (2, [(0, 1)]), {"edge_weights": [0.0]}, "positive .* got 0.0 at index 0"),
    "minus": (InputError, (2, [(0, 1)]), {"edge_weights": [-2]}, "positive .* got -2.0 at index 0"),
    "infinite": (InputError, (2, [(0, 1)]), {"edge_weights": [np.inf]}, "got inf at index 0"),
    "no weight": (InputError, (2, [(0, 1)]), {"edge_weights": []}, r"1 positive .* shape \(0,\)"),
    "word": (InputTypeError, (2, [(0, 1)]), {"edge_weights": ["far"]}, r"got \['far'\]"),
}


@pytest.mark.parametrize(("error", "given", "named", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_graph_is_refused(error, given, named, message):
    with pytest.raises(error, match=message):
        Graph(*given, **named)


# --- adjacency matrices -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [np.array, scipy.sparse.csr_array, scipy.sparse.coo_matrix, scipy.sparse.csc_array, list],
    ids=["dense", "csr", "coo", "csc", "list"],
)
@pytest.mark.parametrize("dtype", [bool, int, np.uint8, float])
def test_from_adjacency(kind, dtype):
    matrix = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], dtype=dtype)
    graph = Graph.from_adjacency(kind(matrix), ["a", "b", "c"])
    assert graph == Graph(3, [(0, 1), (1, 1), (1, 2)], ["a", "b", "c"])


def test_entries_that_are_not_one_are_weights():
    matrix = np.array([[0, 0.5, 1], [0.5, 0, 0], [1, 0, 0]])
    rows = [[1.0], [2.0], [3.0]]
    graph = Graph.from_adjacency(matrix, node_attributes=rows)
    assert graph == Graph(3, [(0, 1), (0, 2)], None, None, rows, [0.5, 1.0])


def test_entries_of_a_sparse_matrix_are_added_up():
    """Explicit zeros are no edges; the caller's matrix stays as it is."""
    coo = scipy.sparse.coo_array(([1, 1, 2, 0, 0], ([0, 0, 1, 2, 0], [1, 1, 0, 0, 2])), (3, 3))
    numbers = np.array([1.0, 1.0, 0.0, 2.0, 0.0])
    csr = scipy.sparse.csr_array((numbers, [1, 1, 2, 0, 0], [0, 3, 4, 5]), shape=(3, 3))
    for matrix in (coo, csr):
        assert Graph.from_adjacency(matrix) == Graph(3, [(0, 1)], edge_weights=[2.0])
        assert matrix.nnz == 5
    assert csr.data.tolist() == numbers.tolist() == [1, 1, 0, 2, 0]


def test_empty_adjacency():
    assert Graph.from_adjacency(np.zeros((0, 0))) == Graph(0, [])
    assert Graph.from_adjacency(np.zeros((2, 2))) == Graph(2, [])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1], [0, 0]], r"must be symmetric; got 1 at \(0, 1\) and 0 at \(1, 0\)"),
        ([[0, 0, 2], [0, 0, 0], [3, 0, 0]], r"got 2 at \(0, 2\) and 3 at \(2, 0\)"),
        ([[0, -1], [-1, 0]], r"0 or positive, and finite; got -1 at \(0, 1\)"),
        ([[0, np.inf], [np.inf, 0]], r"0 or positive, and finite; got inf at \(0, 1\)"),
        ([[np.nan, 0], [0, 0]], r"0 or positive, and finite; got nan at \(0, 0\)"),
        ([[0, 1]], r"must be square, of numbers; got int64 of shape \(1, 2\)"),
        ([0, 1], r"must be square, of numbers; got int64 of shape \(2,\)"),
        ([["a"]], r"must be square, of numbers; got <U1"),
        ([[1j]], "must be square, of numbers; got complex"),
        ([[0, 1], [1]], "must be square, of numbers; got rows of different lengths"),
    ],
    ids=range(10),
)
def test_bad_adjacency(matrix, message):
    with pytest.raises(InputError, match=message):
        Graph.from_adjacency(matrix)


# --- networkx ---------------------------------------------------------------------------------


def test_from_networkx():
    networkx = pytest.importorskip("networkx")
    theirs = networkx.Graph()
    theirs.add_node("north", kind="a", size=1.0, place=(0.0, 1.0))
    theirs.add_node(7, kind="b", size=2, place=(2.0, 3.0))
    theirs.add_node(("x", 1), kind="a", size=3.5, place=(4.0, 5.0))
    theirs.add_edge(("x", 1), 7, bond="double", km=2.5)
    theirs.add_edge("north", 7, bond="single", km=1)
    assert Graph.from_networkx(theirs) == Graph(3, [(1, 2), (0, 1)])
    graph = Graph.from_networkx(theirs, "kind", "bond", ["size", "place"], "km")
    rows = [[1, 0, 1], [2, 2, 3], [3.5, 4, 5]]
    edges, bonds = [(1, 2), (0, 1)], ["double", "single"]
    assert graph == Graph(3, edges, ["a", "b", "a"], bonds, rows, [2.5, 1])
    one = Graph.from_networkx(theirs, node_attributes="size")
    assert one.node_attributes.tolist() == [[1.0], [2.0], [3.5]]
    assert Graph.from_networkx(networkx.Graph(), "kind", "bond", "size", "km") == Graph(
        0, [], [], [], [], []
    )


def test_a_networkx_graph_with_nodes_that_print_alike():
    networkx = pytest.importorskip("networkx")
    long = "x" * 100
    theirs = networkx.Graph()
    theirs.add_node(long + "1", kind="a")
    theirs.add_node(long + "2", kind="b")
    assert Graph.from_networkx(theirs, "kind").node_labels == ("a", "b")


def test_bad_networkx():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(InputError, match=r"undirected; got a directed graph. .*to_undirected"):
        Graph.from_networkx(networkx.DiGraph())
    with pytest.raises(InputError, match=r"got a multigraph. .*networkx.Graph\(graph\)"):
        Graph.from_networkx(networkx.MultiGraph())
    with pytest.raises(InputTypeError, match="must be a networkx graph; got list"):
        Graph.from_networkx(TRIANGLE)
    theirs = networkx.path_graph(3)
    theirs.nodes[0]["label"] = "a"
    with pytest.raises(
        InputError, match="every node must have the attribute 'label'; got node 1 w"
    ):
        Graph.from_networkx(theirs, "label")
    theirs.edges[0, 1]["weight"] = 1.0
    with pytest.raises(InputError, match=r"'weight'; got edge \(1, 2\) with none"):
        Graph.from_networkx(theirs, edge_weight="weight")
    theirs.edges[1, 2]["weigth"] = 1.0
    with pytest.raises(InputError, match=r"with 'weigth'. Did you mean 'weigth'"):
        Graph.from_networkx(theirs, edge_weight="weight")


# --- many graphs in arrays --------------------------------------------------------------------


def test_flatten():
    triangle = Graph(3, TRIANGLE, ["a", "b", "a"], ["x", "y", "z"], None, [0.5, 2.0, 3.0])
    arrays = flatten([Graph(0, []), triangle, Graph(2, [(0, 1), (1, 1)]), Graph(1, [], ["a"])])
    assert len(arrays) == 4
    assert arrays.node_ends.tolist() == [0, 0, 3, 5, 6]
    assert arrays.arc_ends.tolist() == [0, 2, 4, 6, 7, 9, 9]
    assert arrays.neighbours.tolist() == [1, 2, 0, 2, 0, 1, 4, 3, 4]
    assert arrays.owners.tolist() == [1, 1, 1, 2, 2, 3]
    a, b, x, y, z = (token_code(letter) for letter in "abxyz")
    none = int(UNLABELLED)
    assert arrays.node_codes.tolist() == [a, b, a, none, none, a]
    assert arrays.arc_codes.tolist() == [x, z, x, y, z, y, none, none, none]
    assert arrays.arc_weights.tolist() == [0.5, 3.0, 0.5, 2.0, 3.0, 2.0, 1.0, 1.0, 1.0]


def test_flatten_nothing():
    for items in ([], [Graph(0, [])]):
        arrays = flatten(items)
        assert len(arrays) == len(items)
        assert (
            arrays.neighbours.shape == arrays.node_codes.shape == arrays.arc_weights.shape == (0,)
        )
        assert arrays.arc_ends.tolist() == [0]


def test_flatten_takes_equal_labels_for_one():
    arrays = flatten([Graph(3, [], [1, True, 1.0]), Graph(1, [], [np.int64(1)])])
    assert len(set(arrays.node_codes.tolist())) == 1
    assert flatten([Graph(1, [], ["1"])]).node_codes != arrays.node_codes[0]
