"""Graphs in the text format of TU Dortmund."""

import gzip

import numpy as np
import pytest

from mercer.checks import InputError
from mercer.kernels import Gaussian, Graph, HashGraph, ShortestPath, WeisfeilerLehman

FILES = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n5, 4\n4, 5\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n7\n0\n3\n3\n",
    "edge_labels": "1\n1\n2\n2\n0\n0\n",
    "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5e1\n",
    "edge_attributes": "0.5\n0.5\n2\n2\n3\n3\n",
}
FIRST = (3, [(0, 1), (1, 2)], [0, 7, 0], [1, 2], [[0.5, 1], [1.5, 2], [2.5, 3]])
SECOND = (2, [(0, 1)], [3, 3], [0], [[3.5, 4], [4.5, 50]])


def write(folder, files, name="TOY"):
    for part, text in files.items():
        (folder / f"{name}_{part}.txt").write_text(text)
    return folder


def test_a_whole_collection(tmp_path):
    graphs, labels = Graph.read_tu(write(tmp_path, FILES))
    assert graphs == [Graph(*FIRST), Graph(*SECOND)]
    assert labels.tolist() == [1, -1]
    assert labels.dtype == np.int64
    # What is read is what the constructor would have made.
    for graph in graphs:
        assert graph.edges.dtype == np.int64
        assert isinstance(graph.node_labels[0], int)
        for part in (graph.edges, graph.node_attributes):
            with pytest.raises(ValueError, match="read-only"):
                part[0] = 0


def test_attributes_are_for_kernels(tmp_path):
    graphs, _ = Graph.read_tu(write(tmp_path, FILES))
    with pytest.raises(
        InputError, match=r"no node_attributes, which it would ignore; got .* 2 a n"
    ):
        WeisfeilerLehman(2)(graphs)
    plain = [graph.without_attributes() for graph in graphs]
    assert WeisfeilerLehman(2)(plain)[0, 1] == 0
    # Nodes 0 and 2 of the first graph have one label, and the squared distance 8.
    kernel = ShortestPath(node_kernel=Gaussian(0.1))
    near = np.exp(-0.8)
    assert kernel(graphs)[0, 0] == pytest.approx(2 * (1 + 1 + 2 * near + 1 + near**2), rel=1e-14)
    assert HashGraph(gamma=0.1)(graphs).shape == (2, 2)


def test_weights_are_read_if_asked_for(tmp_path):
    graphs, _ = Graph.read_tu(str(write(tmp_path, FILES)), edge_weights=True)
    assert graphs == [Graph(*FIRST, edge_weights=[0.5, 2]), Graph(*SECOND, edge_weights=[3])]
    with pytest.raises(ValueError, match="read-only"):
        graphs[0].edge_weights[0] = 1


def test_what_may_be_missing(tmp_path):
    least = {part: FILES[part] for part in ("A", "graph_indicator", "graph_labels")}
    graphs, _ = Graph.read_tu(write(tmp_path, least))
    assert graphs == [Graph(*FIRST[:2]), Graph(*SECOND[:2])]


def test_gzipped_files(tmp_path):
    for part, text in FILES.items():
        (tmp_path / f"TOY_{part}.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert Graph.read_tu(tmp_path)[0] == [Graph(*FIRST), Graph(*SECOND)]


def test_a_name_chooses_the_collection(tmp_path):
    write(write(tmp_path, FILES), FILES | {"graph_labels": "5\n6\n"}, "MY_OTHER")
    assert Graph.read_tu(tmp_path, "MY_OTHER")[1].tolist() == [5, 6]
    assert Graph.read_tu(tmp_path, name="TOY")[1].tolist() == [1, -1]
    with pytest.raises(InputError, match=r"one collection.* got MY_OTHER, TOY in .*name="):
        Graph.read_tu(tmp_path)


@pytest.mark.parametrize(
    "text",
    ["1,2\n2,3\n4,5\n", "2, 1\r\n3, 2\r\n5, 4\r\n", "4,5\n3,2\n2,3\n2,3\n1,2\n5,4\n\n\n"],
    ids=["once", "backwards", "mixed"],
)
def test_edges_given_in_any_way(tmp_path, text):
    files = {part: FILES[part] for part in ("graph_indicator", "graph_labels")}
    graphs, _ = Graph.read_tu(write(tmp_path, files | {"A": text}))
    assert graphs == [Graph(*FIRST[:2]), Graph(*SECOND[:2])]


def test_nodes_of_graphs_in_any_order_loops_and_empty_graphs(tmp_path):
    files = {
        "A": "1,3\n2,2\n4,1\n1,4\n3,1\n",
        "graph_indicator": "4\n2\n4\n4\n",
        "graph_labels": "1\n2\n3\n4\n",
        "node_labels": "10\n20\n30\n40\n",
        "edge_labels": "5\n6\n7\n7\n5\n",
        "edge_attributes": ".5\n.6\n.7\n.7\n.5\n",
    }
    graphs, _ = Graph.read_tu(write(tmp_path, files), edge_weights=True)
    assert graphs == [
        Graph(0, [], [], [], None, []),
        Graph(1, [(0, 0)], [20], [6], None, [0.6]),
        Graph(0, [], [], [], None, []),
        Graph(3, [(0, 1), (0, 2)], [10, 30, 40], [5, 7], None, [0.5, 0.7]),
    ]


def test_labels_of_several_columns_are_tuples(tmp_path):
    files = FILES | {"node_labels": "0,1\n7,1\n0,1\n3,2\n3,2\n"}
    graphs, _ = Graph.read_tu(write(tmp_path, files))
    assert graphs[0].node_labels == ((0, 1), (7, 1), (0, 1))


def test_a_collection_without_edges(tmp_path):
    files = {"A": "", "graph_indicator": "1\n1\n2\n", "graph_labels": "0\n1\n", "edge_labels": ""}
    graphs, _ = Graph.read_tu(write(tmp_path, files))
    assert graphs == [Graph(2, [], None, []), Graph(1, [], None, [])]


BAD = {
    "no number": ("A", "1, 2\n2; 1\n", r"TOY_A.txt line 2: there must be 2 whole .* got '2; 1'"),
    "three": ("A", "1, 2, 3\n1, 2\n", "TOY_A.txt line 1: there must be 2 whole numbers"),
    "lines": ("A", "1, 2\n1\n2, 3, 1\n", "TOY_A.txt line 2: there must be 2 whole .* got '1'"),
    "half": ("A", "1, 2.5\n", "TOY_A.txt line 1: there must be 2 whole"),
    "blank": ("A", "1, 2\n\n2, 3\n", "TOY_A.txt line 2: .* got ''"),
    "huge": ("A", "1, 2\n1, 99999999999999999999\n", "TOY_A.txt line 2: there must be 2 whole"),
    "outside": ("A", "1, 2\n2, 6\n", "TOY_A.txt line 2: nodes must be from 1 to 5; got 2, 6"),
    "zero": ("A", "0, 1\n", "TOY_A.txt line 1: nodes must be from 1 to 5; got 0, 1"),
    "two graphs": (
        "A",
        "1, 2\n3, 4\n",
        "A.txt line 2: an edge must join nodes of one graph; got 3, 4",
    ),
    "graph": ("graph_indicator", "1\n1\n1\n2\n3\n", "r.txt line 5: a node .* from 1 to 2; got 3"),
    "graph 0": ("graph_indicator", "0\n1\n1\n2\n2\n", "r.txt line 1: a node .* from 1 to 2; got 0"),
    "label": (
        "graph_labels",
        "1\nyes\n",
        "TOY_graph_labels.txt line 2: there must be a whole number; got 'yes'",
    ),
    "two labels": (
        "graph_labels",
        "1, 2\n1, 2\n",
        "TOY_graph_labels.txt line 1: there must be a whole number",
    ),
    "few": ("node_labels", "1\n2\n", "TOY_node_labels.txt: there must be 5 lines; got 2"),
    "few edges": ("edge_labels", "1\n2\n", "TOY_edge_labels.txt: there must be 6 lines; got 2"),
    "other way": (
        "edge_labels",
        "1\n1\n2\n3\n0\n0\n",
        "TOY_edge_labels.txt line 4: an edge must have the same values as in line 3; got 3",
    ),
    "infinite": (
        "node_attributes",
        "1\n2\ninf\n4\n5\n",
        "s.txt line 3: there must be a finite number; got 'inf'",
    ),
    "ragged": (
        "node_attributes",
        "1,2\n3\n4\n5\n6\n",
        "s.txt line 2: there must be 2 finite numbers",
    ),
}


@pytest.mark.parametrize(("part", "text", "message"), BAD.values(), ids=BAD)
def test_a_bad_line_is_named(tmp_path, part, text, message):
    with pytest.raises(InputError, match=message):
        Graph.read_tu(write(tmp_path, FILES | {part: text}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "needs one edge attribute per line; got none"),
        ("1,2\n" * 6, "needs one edge attribute per line; got 2 per line"),
        (
            "1\n1\n2\n2\n0\n0\n",
            "TOY_edge_attributes.txt line 5: a weight must be positive; got 0.0",
        ),
        ("1\n1\n2\n9\n3\n3\n", "edge_attributes.txt line 4: an edge must have the same values"),
    ],
    ids=range(4),
)
def test_bad_weights(tmp_path, text, message):
    files = {part: FILES[part] for part in ("A", "graph_indicator", "graph_labels")}
    folder = write(tmp_path, files if text is None else files | {"edge_attributes": text})
    with pytest.raises(InputError, match=message):
        Graph.read_tu(folder, edge_weights=True)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(InputError, match=r"must hold one collection.* got none in"):
        Graph.read_tu(tmp_path)
    with pytest.raises(InputError, match=r"must hold one collection.* got none in"):
        Graph.read_tu(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"a file MUTAG_graph_labels.txt, or .*gz; got none in"):
        Graph.read_tu(tmp_path, "MUTAG")
    write(tmp_path, {"A": FILES["A"], "graph_labels": FILES["graph_labels"]})
    with pytest.raises(InputError, match=r"a file TOY_graph_indicator.txt"):
        Graph.read_tu(tmp_path)


def test_a_damaged_archive_is_named(tmp_path):
    write(tmp_path, FILES)
    (tmp_path / "TOY_A.txt").unlink()
    for data in (b"1, 2\n", gzip.compress(b"1, 2\n" * 50)[:-12], b"\x1f\x8b\x08" + bytes(20)):
        (tmp_path / "TOY_A.txt.gz").write_bytes(data)
        with pytest.raises(InputError, match=r"TOY_A.txt.gz: the file must be readable; got "):
            Graph.read_tu(tmp_path)
