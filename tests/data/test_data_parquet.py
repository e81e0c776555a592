"""Parquet: types are those of the file."""

import contextlib
import datetime
import hashlib
import io
import sys
import types

import polars as pl
import pytest

from mercer.checks import DataError
from mercer.data import read, read_blocks


def frame(n=100):
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=place) for place in range(n)]
    return pl.DataFrame(
        {
            "a": [float(place) if place % 5 else None for place in range(n)],
            "b": pl.Series([f"w{place % 4}" for place in range(n)]).cast(pl.Categorical),
            "day": days,
            "flag": [place % 2 == 0 for place in range(n)],
            "y": list(range(n)),
        }
    )


def packed(table):
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def test_a_table_comes_back(put):
    table = frame()
    content = packed(table)
    data = read(put("a.parquet", content), target="y")
    assert data.X.equals(table.drop("y"))
    assert data.y.tolist() == list(range(100))
    assert data.sha256 == hashlib.sha256(content).hexdigest()
    kinds = [(one.type, one.missing, one.low, one.high, one.levels) for one in data.columns]
    assert kinds == [
        ("number", 20, 1.0, 99.0, ()),
        ("category", 0, None, None, ("w0", "w1", "w2", "w3")),
        ("date", 0, "2024-01-01", "2024-04-09", ()),
        ("boolean", 0, None, None, ("False", "True")),
    ]


@pytest.mark.parametrize("rows", [1, 7, 50, 100, 1000])
def test_blocks_are_the_whole(put, rows):
    path = put("a.parquet", packed(frame()))
    blocks = list(read_blocks(path, rows=rows))
    assert [len(block) for block in blocks[:-1]] == [rows] * (len(blocks) - 1)
    assert [row for block in blocks for row in block.X.rows()] == frame().rows()


def test_standard_input_and_odd_names(put, monkeypatch):
    content = packed(frame())
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
    data = read("-")
    assert data.X.equals(frame())
    assert data.sha256 == hashlib.sha256(content).hexdigest()
    put("a1.parquet", packed(frame(3)))
    assert len(read(put("a[12].parquet", content))) == 100  # the name is no pattern
    assert len(read(put("a.parquet", content), max_rows=8)) == 8


def test_a_file_that_was_cut(refusal):
    content = packed(frame())
    for size in (4, 10, 100, len(content) // 2, len(content) - 1):
        said = refusal("a.parquet", content[:size])
        assert said.startswith("it must be a whole Parquet file; got ")
        assert said.endswith(" Copy or write it again.")


def test_a_file_that_was_altered(put):
    content = packed(pl.DataFrame({"a": list(range(1000))}))
    for place in range(4, len(content), 37):
        altered = bytearray(content)
        altered[place] ^= 0x55
        with contextlib.suppress(DataError):
            assert read(put("a.parquet", altered)).X.shape == (1000, 1)


def test_tables_without_rows_and_nested_columns(refusal):
    assert refusal("a.parquet", packed(frame(0))) == (
        "there must be rows of data; got a table without rows."
    )
    said = refusal("a.parquet", packed(pl.DataFrame({"a": [1, 2], "b": [None, [1]]})))
    assert "column 'b': " in said
    assert "got lists, first in row 1." in said


def test_infinity_and_gaps_name_the_row(refusal):
    table = pl.DataFrame({"a": [1.0, None, float("inf")], "y": [1.0, float("nan"), 2.0]})
    assert refusal("a.parquet", packed(table)) == (
        "column 'a': numbers must be finite or missing; got infinity in row 2. "
        "Leave a missing value out, or write NaN."
    )
    assert "got no value in row 1." in refusal(
        "a.parquet", packed(table.drop("a").with_columns(x=1)), target="y"
    )


def test_polars_is_asked_for_by_name(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        with pytest.raises(DataError) as caught:
            read(put(name, "a,b\n1,2\n"))
        assert str(caught.value).endswith(
            ': tables need the package polars; got none installed. Run: pip install "mercer[app]"'
        )
    assert len(read(put("a.svm", "1 1:2\n"))) == 1
