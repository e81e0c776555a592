"""Writing columns: whole or not at all, at once or by blocks."""

import errno
import gzip
import io
import sys
import types

import numpy as np
import polars as pl
import pytest

from mercer.checks import DataError, FileError, InputError
from mercer.data import TableWriter, flats, read, write_table
from mercer.storage import atomic

COLUMNS = {
    "row": np.arange(5),
    "value": np.array([0.1, 1e-300, -2.5, 1 / 3, 1e22]),
    "class": np.array(["a", "b, c", 'd "e"', "f\ng", "ß"]),
    "flag": np.array([True, False, True, True, False]),
}


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.jsonl.gz"]
)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_columns_come_back(tmp_path, name, size):
    path = tmp_path / name
    with TableWriter(path) as writer:
        for start in range(0, 5, size):
            writer.write({key: values[start : start + size] for key, values in COLUMNS.items()})
        assert not path.exists()
        assert writer.n_rows == 5
    data = read(path, types={"class": "text"})
    assert {name: data.X[name].to_list() for name in COLUMNS} == {
        name: values.tolist() for name, values in COLUMNS.items()
    }
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_blocks_and_the_whole_are_the_same_bytes(tmp_path):
    for name in ("a.csv", "a.jsonl", "a.npy"):
        columns = {"x": np.arange(6.0)}
        write_table(tmp_path / f"whole-{name}", columns)
        with TableWriter(tmp_path / name) as writer:
            writer.write({"x": [0.0, 1.0]})
            writer.write({"x": np.arange(2.0, 6.0)})
        assert (tmp_path / name).read_bytes() == (tmp_path / f"whole-{name}").read_bytes()


def test_a_table_of_everything_comes_back(tmp_path):
    table = flats(50)
    for name in ("a.csv", "a.parquet", "a.jsonl"):
        write_table(tmp_path / name, table)
        assert read(tmp_path / name).X.equals(pl.DataFrame(table))


def test_npy(tmp_path):
    write_table(tmp_path / "a.npy", {"p": [0.5, 1.5]})
    assert np.load(tmp_path / "a.npy").tolist() == [0.5, 1.5]
    write_table(tmp_path / "b.npy", {"p": [0.5, 1.5], "q": [1, 2]})
    assert np.load(tmp_path / "b.npy").tolist() == [[0.5, 1], [1.5, 2]]
    write_table(tmp_path / "c.npy", {"p": ["a", "b"]})
    assert np.load(tmp_path / "c.npy").tolist() == ["a", "b"]
    with pytest.raises(DataError, match=r"or several of numbers; got 'q' among them. Write CSV"):
        write_table(tmp_path / "d.npy", {"p": [0.5], "q": ["a"]})
    with pytest.raises(DataError, match="npy holds one column of numbers"):
        write_table(tmp_path / "d.npy", {"p": np.array([None])})
    assert not (tmp_path / "d.npy").exists()


def test_standard_output(monkeypatch):
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", types.SimpleNamespace(buffer=buffer))
    with TableWriter("-") as writer:
        writer.write({"a": [1, 2]})
        writer.write({"a": [3]})
    assert buffer.getvalue() == b"a\n1\n2\n3\n"
    write_table("-", {"a": [1]}, format="jsonl")
    assert buffer.getvalue().endswith(b'{"a":1}\n')


def test_a_file_that_exists_is_kept(tmp_path):
    path = tmp_path / "a.csv"
    write_table(path, {"a": [1]})
    with pytest.raises(FileError) as caught:
        write_table(path, {"a": [2]})
    assert str(caught.value) == (
        f"write_table({str(path)!r}): there must be no such file yet; got one. "
        "Choose another name, or say force=True (--force) to replace it."
    )
    assert path.read_bytes() == b"a\n1\n"
    write_table(path, {"a": [2]}, force=True)
    assert path.read_bytes() == b"a\n2\n"


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"old")

    def fail():
        with TableWriter(path, force=True) as writer:
            writer.write({"a": [1]})
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npy", "a.csv.gz"])
def test_a_full_disk(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_bytes(b"old")

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(FileError, match="the file must be writable; got No space left on device"):
        write_table(path, {"a": [1]}, force=True)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_closed_pipe_stays_one(monkeypatch):
    class Closed(io.RawIOBase):
        def writable(self):
            return True

        def write(self, data):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

        def flush(self):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(sys, "stdout", types.SimpleNamespace(buffer=Closed()))
    with pytest.raises(BrokenPipeError), TableWriter("-", format="npy") as writer:
        writer.write({"a": [1]})


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "there must be columns; got none"),
        ({"a": [1, 2], "b": [1]}, r"columns must be vectors of one length; got \{'a': \(2,\), 'b'"),
        ({"a": [[1, 2]]}, "columns must be vectors of one length"),
        ({"a": np.array([object()])}, "columns must hold numbers, truth values, texts or dates; g"),
    ],
)
def test_columns_that_cannot_be_written(tmp_path, columns, said):
    with pytest.raises(DataError, match=said):
        write_table(tmp_path / "a.csv", columns)
    assert list(tmp_path.iterdir()) == []


def test_blocks_have_the_columns_of_the_first(tmp_path):
    with TableWriter(tmp_path / "a.csv") as writer:
        writer.write({"a": [1], "b": [2]})
        with pytest.raises(DataError, match="must be those of the first block, a, b; got b, a"):
            writer.write({"b": [1], "a": [2]})
    assert (tmp_path / "a.csv").read_text() == "a,b\n1,2\n"


def test_targets_that_cannot_be(tmp_path):
    with pytest.raises(FileError, match=r"must end in .csv, .tsv, .* must be given; got 'a.txt'"):
        write_table(tmp_path / "a.txt", {"a": [1]})
    write_table(tmp_path / "a.txt", {"a": [1]}, format="csv")
    with pytest.raises(FileError, match=r"got 'a.svm'"):
        write_table(tmp_path / "a.svm", {"a": [1]})
    with pytest.raises(InputError, match=r"format must be one of 'csv', .* mean 'parquet'\?"):
        write_table(tmp_path / "a", {"a": [1]}, format="parket")
    for wrong in (tmp_path, tmp_path / "nowhere" / "a.csv"):
        with pytest.raises(FileError, match="that of a file in a folder that exists; got "):
            write_table(wrong, {"a": [1]}, format="csv")


def test_packed_text_is_the_same_every_time(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_table(tmp_path / name, {"a": [1]})
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == b"a\n1\n"


def test_polars_is_asked_for_by_name(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(DataError, match=r'Run: pip install "mercer\[app\]"'):
        write_table(tmp_path / "a.csv", {"a": [1]})
    assert list(tmp_path.iterdir()) == []
    write_table(tmp_path / "a.npy", {"a": [1]})
