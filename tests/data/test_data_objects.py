"""Trees, sequences and graphs."""

import gzip
import hashlib

import numpy as np
import pytest

from mercer.checks import DataError
from mercer.data import read, read_blocks
from mercer.kernels import Graph, Tree

TREES = ["(S (A a) (B b))", "(S x)", "(NP (D the) (N dog))"]
TU = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n5, 4\n4, 5\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n7\n0\n3\n3\n",
}


def test_trees(put):
    data = read(put("a.trees", "\n\n".join(TREES) + "\n"))
    assert [Tree.parse(text) for text in TREES] == data.X
    assert (data.kind, data.y, data.target, data.columns) == ("trees", None, None, ())
    data = read(put("a.trees.gz", gzip.compress("\n".join(TREES).encode())))
    assert len(data) == 3


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["yes", "no", "yes"], ["yes", "no", "yes"]),
        (["1", "-1", "1"], [1, -1, 1]),
        (["0.5", "2", "1"], [0.5, 2.0, 1.0]),
        (["01", "2", "1"], ["01", "2", "1"]),
    ],
)
def test_labelled_trees(put, labels, found):
    text = "".join(f"{label}\t{tree}\n" for label, tree in zip(labels, TREES, strict=True))
    data = read(put("a.trees", text))
    assert (data.y.tolist(), data.target) == (found, "label")
    assert [Tree.parse(text) for text in TREES] == data.X
    blocks = list(read_blocks(put("a.trees", text), rows=2, target="label"))
    assert [len(block) for block in blocks] == [2, 1]
    assert [one for block in blocks for one in block.y.tolist()] == found


def test_bad_trees_are_named(refusal):
    said = refusal("a.trees", "(S a)\n\n(S (A a)\n(S b)\n")
    assert said == (
        "every line must be a bracketed tree; got '(S (A a)' in line 3: the bracket at position 0 "
        "must be closed, found the end at position 8."
    )
    said = refusal("a.trees", "yes\t(S a)\n(S b)\n")
    assert said == "every object must have a label, as the first; got none in line 2."
    said = refusal("a.trees", "(S b)\nyes\t(S a)\n")
    assert said == "no object must have a label, as the first; got 'yes' in line 2."
    assert refusal("a.trees", "\n\n") == "there must be trees; got blank lines only."
    assert refusal("a.trees", "(S a)\n", target="label").startswith("the labels must be in the")
    assert refusal("a.trees", "(S a)\n", target="y").startswith("the target of this format is 'la")


def test_labels_of_later_blocks_must_fit(put):
    path = put("a.trees", "1\t(S a)\n" * 4 + "x\t(S b)\n")
    assert read(path).y.tolist() == ["1", "1", "1", "1", "x"]
    with pytest.raises(
        DataError, match="every label must be a number, as the first ones; got 'x' i"
    ):
        list(read_blocks(path, rows=4))


def test_fasta(put):
    text = ">sp|P1|A the first protein\nACD\nEF G\n\n>two\n; a comment\nMK*\r\n"
    data = read(put("a.fasta", text))
    assert (data.kind, data.X, data.y) == ("strings", ["ACDEFG", "MK*"], None)


@pytest.mark.parametrize(
    ("headers", "labels", "note"),
    [
        (["a label=x", "b of mouse label=y"], ["x", "y"], ()),
        (["a|class=1|train", "b|class=2|test"], [1, 2], ()),
        (["a 1", "b 0"], [1, 0], ("Labels are the second words of the headers.",)),
        (["a pos", "b neg"], ["pos", "neg"], ("Labels are the second words of the headers.",)),
        (["a pos", "b of mouse"], None, ()),
        (["sp|P1|A", "sp|P2|B"], None, ()),
    ],
)
def test_labels_of_headers(put, headers, labels, note):
    data = read(put("a.fa", "".join(f">{header}\nACGT\n" for header in headers)))
    assert (None if data.y is None else data.y.tolist()) == labels
    assert data.notes == note


def test_bad_fasta(refusal):
    assert refusal("a.fa", "ACGT\n>a\nAC\n") == (
        "a sequence must follow a header, a line that starts with >; got 'ACGT' in line 1."
    )
    said = refusal("a.fa", ">a\nAC\n>b\n>c\nGT\n")
    assert said == "a header must be followed by a sequence; got 'b' in line 3."
    said = refusal("a.fa", ">a label=1\nAC\n>b\nGT\n")
    assert said == "every object must have a label, as the first; got none in line 3."
    assert refusal("a.fa", "; nothing\n") == "there must be sequences; got none."


def folder_of(tmp_path, files):
    for part, text in files.items():
        (tmp_path / f"TOY_{part}.txt").write_text(text)
    return tmp_path


def test_graphs(tmp_path):
    folder = folder_of(tmp_path, TU)
    data = read(folder)
    graphs, labels = Graph.read_tu(folder)
    assert graphs == data.X
    assert np.array_equal(data.y, labels)
    assert (data.kind, data.format, data.target) == ("graphs", "tu", "label")
    assert data.describe().startswith(f"{folder}: tu, 2 graphs\ntarget label: 2 classes, -1 (1), 1")
    lines = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
    )
    assert data.sha256 == hashlib.sha256(lines.encode()).hexdigest()
    assert [len(block) for block in read_blocks(str(folder), rows=1)] == [1, 1]
    assert len(read(folder, max_rows=1)) == 1


def test_bad_folders(tmp_path):
    folder = folder_of(tmp_path, TU | {"graph_indicator": "1\n1\n1\n2\n9\n"})
    said = r"TOY_graph_indicator.txt line 5: a node must belong to a graph from 1 to 2; got 9"
    with pytest.raises(DataError, match=said):
        read(folder)
    with pytest.raises(DataError, match="format='csv' must be that of a file; got a folder of gra"):
        read(folder, format="csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="the folder must hold one collection"):
        read(tmp_path / "empty", format="tu")
