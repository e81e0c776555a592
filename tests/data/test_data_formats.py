"""Which format a file has."""

import io

import numpy as np
import polars as pl
import pytest

from mercer.checks import InputError
from mercer.data import FORMATS, read

CONTENTS = {
    "csv": b"a,b\n1,x\n2,y\n",
    "jsonl": b'\n{"a": 1}\n{"a": 2}\n',
    "svmlight": b"# made up\n1 1:2 3:4\n-1 2:5 # last\n",
    "trees": b"(S (A a))\n(S b)\n",
    "fasta": b">one\nACGT\n>two\nGG\n",
}


@pytest.mark.parametrize("format", CONTENTS)
def test_the_format_follows_from_the_content(put, format):
    assert read(put("data", CONTENTS[format])).format == format
    assert read(put("data.txt", CONTENTS[format])).format == format
    assert read(io.BytesIO(CONTENTS[format])).format == format


def test_labelled_trees_are_trees(put):
    data = read(put("data.txt", b"yes\t(S (A a))\nno\t(S b)\n"))
    assert (data.format, data.y.tolist()) == ("trees", ["yes", "no"])


def test_binary_formats_follow_from_the_content(put):
    buffer = io.BytesIO()
    pl.DataFrame({"a": [1, 2]}).write_parquet(buffer)
    assert read(put("data", buffer.getvalue())).format == "parquet"
    for save, format in ((np.save, "npy"), (np.savez, "npz")):
        buffer = io.BytesIO()
        save(buffer, np.ones((2, 3)))
        assert read(put("data", buffer.getvalue())).format == format


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.csv", "csv"),
        ("a.TSV", "tsv"),
        ("a.tab", "tsv"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.svm", "svmlight"),
        ("a.libsvm", "svmlight"),
        ("a.trees", "trees"),
        ("a.fa", "fasta"),
    ],
)
def test_the_name_goes_before_the_content(put, name, format):
    content = CONTENTS["csv"].replace(b",", b"\t") if format == "tsv" else CONTENTS[format]
    assert read(put(name, content)).format == format


def test_the_guess_can_be_overruled(put):
    path = put("a.csv", CONTENTS["jsonl"])
    assert read(path, format="jsonl").format == "jsonl"
    with pytest.raises(InputError, match=r"read: format must be one of 'csv', .* mean 'parquet'\?"):
        read(path, format="parket")
    assert len(FORMATS) == 10


def test_formats_that_are_not_read(refusal):
    said = refusal("a.xlsx", b"PK\x03\x04")
    assert said == (
        "workbooks are not read; got .xlsx. Save the sheet as CSV in the program that wrote it."
    )
    said = refusal("a.json", b'[{"a": 1}, {"a": 2}]')
    assert said == (
        "JSON must be one object per line; got a list of JSON. "
        "Write one object per line: JSON lines."
    )
    assert refusal("a", CONTENTS["csv"], format="tu") == (
        "graphs of this format must be in a folder; got a file."
    )


@pytest.mark.parametrize("name", ["a", "a.csv", "a.jsonl", "a.svm", "a.npy", "a.npz", "a.trees"])
def test_an_empty_file(refusal, name):
    assert refusal(name, b"") == "there must be data; got an empty file."


def test_a_text_that_is_nothing_else_is_a_table(put):
    # Lines that look like another format at first, and are not.
    assert read(put("a", b"(note),b\n(x),1\ny,2\n")).format == "csv"
    assert read(put("b", b"1 1:2,b\n1,2\n")).X.columns == ["1 1:2", "b"]
