"""Model files with trees, graphs and arrays as points: there and back, and what makes no sense."""

import json
from dataclasses import dataclass

import numpy as np
import pandas
import polars
import pytest
from forgery import content, forge, prototype, same
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import attributed_graphs, graphs, row_product, trees

from mercer import SVC, KernelPrototypeClassifier
from mercer.checks import FileError
from mercer.files import load, save
from mercer.files.columns import pack_column, unpack_column
from mercer.files.context import LoadContext, SaveContext
from mercer.inputs import Graph, Tree
from mercer.kernels import (
    Fisher,
    FunctionKernel,
    Gaussian,
    GlobalAlignment,
    HashGraph,
    Kernel,
    Linear,
    PartialTree,
    PyramidMatch,
    RandomWalk,
    SetIntersection,
    ShortestPath,
    SpatialPyramid,
    SubsetTree,
    Subtree,
    WeisfeilerLehman,
)
from mercer.storage import strict


def back(items):
    """The items after a way through JSON and tensors, and how many tensors it took."""
    packing = SaveContext()
    column = strict.loads(json.dumps(pack_column(items, packing, "x")), "test")
    unpacking = LoadContext("test", packing.tensors, {})
    found = unpack_column(column, unpacking)
    unpacking.finish()
    return found, len(packing.tensors)


# --- trees -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Subtree(), SubsetTree(0.7), PartialTree()], ids=repr)
def test_trees(kernel, tmp_path):
    prototype(kernel, trees(), tmp_path)
    prototype(kernel.normalized() + kernel, trees()[:4], tmp_path)


def test_a_learner_of_trees_keeps_its_support(tmp_path):
    model = SVC(kernel=SubsetTree().normalized()).fit(trees(), np.arange(9) % 2)
    save(model, tmp_path / "model.mercer")
    found = load(tmp_path / "model.mercer")
    assert np.array_equal(found.decision_function(trees()), model.decision_function(trees()))


@pytest.mark.parametrize("library", [pandas, polars], ids=["pandas", "polars"])
def test_a_frame_with_a_column_of_trees(library, tmp_path):
    frame = library.DataFrame({"parse": trees(), "age": np.arange(9.0)})
    prototype(SubsetTree().on("parse") + Gaussian(1.0).on("age"), frame, tmp_path)


LABELS = st.text(max_size=3) | st.integers() | st.tuples(st.booleans(), st.floats(allow_nan=False))
NESTED = st.recursive(
    LABELS.map(Tree),
    lambda inner: st.builds(Tree, LABELS, st.lists(inner, max_size=3)),
    max_leaves=6,
)


@settings(max_examples=40, deadline=None)
@given(st.lists(NESTED | st.just(Tree.parse("()")), max_size=5))
def test_any_trees_come_back(items):
    found, _ = back(items)
    assert found == items
    assert all(
        same(one.labels, other.labels) for one, other in zip(found, items, strict=True)
    )  # 1 stays 1 and True stays True


def test_many_trees_are_a_few_tensors():
    items = [Tree.parse("(S (A a) (B b))"), Tree.parse("()"), Tree("x")] * 2000
    found, tensors = back(items)
    assert found == items
    assert tensors == 4


def test_a_subtree_is_saved_without_the_rest():
    whole = Tree.parse("(S (A a) (B b c))")
    packing = SaveContext()
    pack_column([whole.children[1]], packing, "x")
    assert packing.tensors["x.children"].tolist() == [2, 0, 0]
    assert packing.tensors["x.labels"].tobytes() == b"Bbc"


def test_a_deep_tree_comes_back():
    n = 100_000
    tree = Tree.parse("(b " * n + "a" + ")" * n)
    assert back([tree])[0] == [tree]


def test_trees_among_other_things():
    items = [Tree("a"), "a", None, [Tree("b"), 1], {"k": Tree("c")}, {Tree("d")}, Graph(1, [])]
    assert back(items)[0] == items


def test_a_label_that_no_file_can_hold_is_refused(tmp_path):
    odd = [Tree("S", [Tree(object())]), Tree("a"), Tree("b"), Tree("c")]
    model = KernelPrototypeClassifier(PartialTree()).fit(odd, [0, 1, 0, 1])
    must = r"points\.labels must be something that a model file can hold; got <object"
    with pytest.raises(FileError, match=must):
        save(model, tmp_path / "model.mercer")
    assert list(tmp_path.iterdir()) == []


# --- graphs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", [WeisfeilerLehman(2), ShortestPath(), RandomWalk(0.05)], ids=repr
)
def test_graphs(kernel, tmp_path):
    prototype(kernel, graphs(), tmp_path)


@pytest.mark.parametrize(
    "kernel",
    [
        HashGraph(),
        HashGraph(ShortestPath(), (0.5, 1.0), n_hashes=3, seed=8),
        ShortestPath(node_kernel=Gaussian()),
        ShortestPath(node_kernel=0.5 * Linear() + 1) * 2,
        RandomWalk(0.05, node_kernel=Gaussian(0.3)),
    ],
    ids=repr,
)
def test_graphs_with_attributes(kernel, tmp_path):
    prototype(kernel, attributed_graphs(), tmp_path)


def test_a_function_within_a_node_kernel(tmp_path):
    kernel = ShortestPath(node_kernel=FunctionKernel(row_product))
    model = KernelPrototypeClassifier(kernel).fit(attributed_graphs(), np.arange(9) % 2)
    save(model, tmp_path / "model.mercer")
    with pytest.raises(FileError, match="functions"):
        load(tmp_path / "model.mercer")
    found = load(tmp_path / "model.mercer", functions={"row_product": row_product})
    assert found.kernel_ == kernel


@st.composite
def any_graph(draw):
    n = draw(st.integers(0, 5))
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    edges = [pair[::-1] if draw(st.booleans()) else pair for pair in edges]

    def perhaps(strategy):
        return draw(st.none() | strategy)

    numbers = st.floats(-1e3, 1e3)
    width = draw(st.integers(0, 3))
    rows = st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=n, max_size=n)
    return Graph(
        n,
        edges,
        perhaps(st.lists(LABELS, min_size=n, max_size=n)),
        perhaps(st.lists(LABELS, min_size=len(edges), max_size=len(edges))),
        perhaps(rows.map(lambda found: np.array(found).reshape(n, width))),
        perhaps(st.lists(st.floats(0.1, 10), min_size=len(edges), max_size=len(edges))),
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(any_graph(), max_size=5))
def test_any_graphs_come_back(items):
    found, _ = back(items)
    assert found == items
    for one, other in zip(found, items, strict=True):
        for part in Graph.__slots__:
            assert same(getattr(one, part), getattr(other, part)), part


def test_many_graphs_are_a_few_tensors():
    path = [(0, 1), (1, 2)]
    full = Graph(3, path, ["a", "b", "a"], [1, 2], np.eye(3), [0.5, 2.0])
    items = [full, Graph(0, [], [], [], np.empty((0, 3)), []), Graph(3, path), Graph(2, [])] * 1000
    found, tensors = back(items)
    assert found == items
    # Those with all parts: offsets, degrees, ends, labels of nodes as text (2) and of edges,
    # attributes, weights; those with none: the first three; and which is which.
    assert tensors == 8 + 3 + 1


def test_a_graph_in_the_file(tmp_path):
    points = [Graph(4, [(3, 1), (0, 1), (1, 1)], list("abcd")), Graph(1, [], ["a"])] * 2
    prototype(WeisfeilerLehman(1), points, tmp_path)
    tensors = content(tmp_path / "model.mercer")[1]
    name = "state._prepared.points"
    assert tensors[f"{name}.offsets"].tolist() == [0, 4, 5, 9, 10]
    assert tensors[f"{name}.degrees"].tolist() == [1, 2, 0, 0, 0] * 2
    assert tensors[f"{name}.ends"].tolist() == [1, 1, 3] * 2
    assert tensors[f"{name}.node_labels"].tobytes() == b"abcdaabcda"


# --- arrays ------------------------------------------------------------------------------------


def series(dtype):
    random = np.random.default_rng(0)
    return [(4 * random.random((n, 2))).astype(dtype) for n in (3, 1, 5, 4, 2)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16, np.uint8, bool])
def test_series_and_sets_of_vectors(dtype, tmp_path):
    prototype(GlobalAlignment(1.0), series(dtype), tmp_path)
    found = prototype(PyramidMatch(2), series(dtype), tmp_path)
    assert {item.dtype for item in found._prepared.points.items} == {np.dtype(dtype)}


def test_series_of_several_types_and_shapes(tmp_path):
    points = [*series(np.float32), *series(np.int64), np.asfortranarray(series(float)[0])]
    prototype(GlobalAlignment(1.0), points, tmp_path)
    prototype(GlobalAlignment(1.0), [np.arange(4.0), np.zeros(2), np.ones(7, np.int8)], tmp_path)


def test_a_stack_of_series(tmp_path):
    prototype(GlobalAlignment(1.0), np.random.default_rng(0).random((5, 4, 2)), tmp_path)
    assert len(content(tmp_path / "model.mercer")[1]) < 8


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_maps_of_visual_words(dtype, tmp_path):
    random = np.random.default_rng(0)
    sides = [(4, 4), (8, 5), (1, 1), (6, 4)]
    points = [random.integers(0, 3, shape).astype(dtype) for shape in sides]
    prototype(SpatialPyramid(1), points, tmp_path)


# --- kernels with many numbers -----------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Meeting(Kernel):
    """A kernel with a table of numbers, a tuple of tuples."""

    domain = frozenset({"sets"})

    table: tuple[tuple[float, ...], ...]
    words: tuple[str | None, ...] = ("a", None)

    def pair(self, x, y):
        return float(len(x & y)) * self.table[0][0]


def test_nested_tuples_of_numbers_come_back(tmp_path):
    rows = np.random.default_rng(0).random((60, 100)) + 1e-17
    kernel = Meeting(tuple(map(tuple, rows.tolist())))
    points = [{1, 2}, {2, 3}, {1}, set()]
    found = prototype(kernel + SetIntersection(), points, tmp_path)
    assert found.kernel.terms[0].table == kernel.table
    assert hash(found.kernel) == hash(kernel + SetIntersection())


def test_a_model_within_a_kernel_comes_back(tmp_path):
    random = np.random.default_rng(0)
    weights, means = np.full(40, 1 / 40), random.normal(size=(40, 50))
    kernel = Fisher(("mixture", weights, means, np.exp(random.normal(size=(40, 50)))))
    points = [random.normal(size=(n, 50)) for n in (2, 5, 1, 3)]
    assert prototype(kernel, points, tmp_path).kernel == kernel


# --- what makes no sense -----------------------------------------------------------------------

TENSORS = {
    "nodes": np.array([0, 3, 4]),
    "all": np.array([0, 4]),
    "falling": np.array([0, 5, 4]),
    "children": np.array([2, 0, 0, 0]),
    "two roots": np.array([1, 0, 0, 0]),
    "too many": np.array([2, 0, 0, 2**62]),
    "minus": np.array([2, 0, 0, -1]),
    "five": np.array([2, 0, 0, 0, 0]),
    "degrees": np.array([1, 1, 0, 0]),
    "loop": np.array([0, 0, 1, 1]),
    "edge fewer": np.array([1, 0, 0, 0]),
    "overflow": np.array([2**62, 2**62, 2**62, 2**62 + 2]),
    "negative": np.array([3, -1, 0, 0]),
    "ends": np.array([1, 2]),
    "outside": np.array([1, 3]),
    "before": np.array([1, -1]),
    "huge": np.array([1, 2**62]),
    "floats": np.array([1.0, 2.0]),
    "word": np.frombuffer(b"abcd", np.uint8),
    "letters": np.arange(5),
    "three": np.array([1, 2, 3]),
    "labels": np.array([1, 2, 3, 4]),
    "codes": np.zeros(4, np.uint8),
    "pairs": np.array([0, 1, 2, 3, 4]),
    "rows": np.ones((4, 2)),
    "odd rows": np.array([[1.0, np.nan]] * 4),
    "fewer rows": np.ones((3, 2)),
    "flat": np.ones(4),
    "hollow": np.zeros((2**40, 0)),
    "weights": np.array([1.0, 2.0]),
    "zero": np.array([1.0, 0.0]),
    "infinite": np.array([1.0, np.inf]),
    "one": np.array([1.0]),
}
WHOLE = {"kind": "int", "values": "labels"}
TWO = {"kind": "int", "values": "ends"}


def tree(**changes):
    return {"kind": "tree", "offsets": "nodes", "children": "children", "labels": WHOLE} | changes


def graph(**changes):
    return {"kind": "graph", "offsets": "nodes", "degrees": "degrees", "ends": "ends"} | changes


def unpacked(column):
    return unpack_column(column, LoadContext("test", TENSORS, {}))


def test_columns_that_make_sense():
    wanted = [Tree.from_nested((1, 2, 3)), Tree(4)]
    assert unpacked(tree()) == wanted
    parts = {"node_labels": WHOLE, "edge_labels": {"kind": "float", "values": "floats"}}
    found = unpacked(graph(**parts, node_attributes="rows", edge_weights="weights"))
    assert found == [
        Graph(3, [(0, 1), (1, 2)], [1, 2, 3], [1.0, 2.0], np.ones((3, 2)), [1.0, 2.0]),
        Graph(1, [], [4], [], np.ones((1, 2)), []),
    ]


LISTS = {"kind": "list", "offsets": "pairs", "items": WHOLE}
NONE = {"kind": "union", "codes": "codes", "parts": [{"kind": "none"}]}
NONSENSE = [
    {"kind": "tree"},
    {"kind": "graph"},
    {"kind": "forest", "offsets": "nodes"},
    tree(offsets="falling"),
    tree(offsets="all"),
    tree(offsets="floats"),
    tree(offsets=3),
    tree(children="two roots"),
    tree(children="too many"),
    tree(children="minus"),
    tree(children="five"),
    tree(children="floats"),
    tree(children="rows"),
    tree(labels=None),
    tree(labels="labels"),
    tree(labels={"kind": "int", "values": "three"}),
    tree(labels={"kind": "int", "values": "letters"}),
    tree(labels=LISTS),
    tree(labels=NONE),
    graph(offsets="falling"),
    graph(offsets="letters"),
    graph(degrees="edge fewer"),
    graph(degrees="overflow"),
    graph(degrees="negative"),
    graph(degrees="floats"),
    graph(degrees="rows"),
    graph(degrees="loop", ends="three"),
    graph(ends="outside"),
    graph(ends="before"),
    graph(ends="huge"),
    graph(ends="floats"),
    graph(degrees="two roots", ends="one"),
    graph(node_labels={"kind": "int", "values": "three"}),
    graph(node_labels=LISTS),
    graph(node_labels=NONE),
    graph(node_labels=None),
    graph(edge_labels=WHOLE),
    graph(edge_labels="ends"),
    graph(node_attributes="fewer rows"),
    graph(node_attributes="odd rows"),
    graph(node_attributes="flat"),
    graph(node_attributes="hollow"),
    graph(node_attributes="word"),
    graph(edge_weights="one"),
    graph(edge_weights="zero"),
    graph(edge_weights="infinite"),
    graph(edge_weights="rows"),
    graph(edge_weights="nowhere"),
    graph(edge_weights=[1.0, 2.0]),
]


@pytest.mark.parametrize("column", NONSENSE, ids=lambda column: json.dumps(column)[:90])
def test_nonsense_is_refused(column):
    with pytest.raises(FileError, match=r"^test: .*; got .*"):
        unpacked(column)


@pytest.mark.parametrize("degrees", ["edge fewer", "overflow", "negative"])
def test_numbers_of_edges_are_checked_before_they_are_used(degrees):
    with pytest.raises(FileError, match="every edge must belong to a node; got 2 edges"):
        unpacked(graph(degrees=degrees))


def test_an_edge_given_twice_is_refused():
    tensors = TENSORS | {"twice": np.array([2, 0, 0, 0]), "same": np.array([1, 1])}
    with pytest.raises(FileError, match="an edge must be given once"):
        unpack_column(graph(degrees="twice", ends="same"), LoadContext("test", tensors, {}))


def test_a_model_with_a_tree_that_is_none(tmp_path):
    model = KernelPrototypeClassifier(SubsetTree()).fit(trees()[:4], [0, 1, 0, 1])
    save(model, tmp_path / "good.mercer")
    parts, tensors = content(tmp_path / "good.mercer")
    name = "state._prepared.points.children"
    tensors[name] = tensors[name][::-1].copy()
    with pytest.raises(FileError, match="numbers of children must be those of one tree"):
        load(forge(tmp_path / "odd.mercer", parts, tensors))
