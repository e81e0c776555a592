"""JSON lines: an object per line."""

import json
import random

import polars as pl
import pytest

from mercer.data import read, read_blocks, sources


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_values_are_those_of_the_json_module(put):
    draw = random.Random(0)
    rows = [
        {
            "a": draw.gauss(0, 10),
            "b": draw.choice(["x", "ß\n", "p,q", None]),
            "c": draw.random() < 0.5,
        }
        for _ in range(300)
    ]
    for row in rows[::7]:
        del row["a"]
    data = read(put("a.jsonl", lines(rows)))
    found = data.X.select("a", "b", "c").rows()
    assert found == [(row.get("a"), row["b"], row["c"]) for row in rows]
    assert {one.name: one.type for one in data.columns} == {
        "a": "number",
        "b": "category",
        "c": "boolean",
    }


@pytest.mark.parametrize("at_once", [50, 1000])
def test_blocks_are_the_whole(put, monkeypatch, at_once):
    rows = [{"a": place, "b": f"w{place % 3}", "late": place} for place in range(100)]
    for row in rows[:9]:
        del row["late"]
    path = put("a.jsonl", lines(rows))
    whole = read(path, target="a")
    monkeypatch.setattr(sources, "AT_ONCE", at_once)
    blocks = list(read_blocks(path, rows=30, target="a"))
    assert [len(block) for block in blocks] == [30, 30, 30, 10]
    assert pl.concat([block.X for block in blocks]).rows() == whole.X.rows()
    assert [one for block in blocks for one in block.y.tolist()] == list(range(100))


def test_columns_that_come_late_are_left_out_of_blocks(put, monkeypatch):
    monkeypatch.setattr(sources, "AT_ONCE", 45)
    monkeypatch.setattr(sources, "HEAD", 45)
    rows = [{"a": 1}] * 20 + [{"a": 2, "b": 3}] * 5
    blocks = list(read_blocks(put("a.jsonl", lines(rows)), rows=5))
    assert [block.X.columns for block in blocks] == [["a"]] * 5
    assert blocks[4].notes == ("Columns that the rows before did not have are left out: 'b'.",)
    rows = [{"a": 1, "b": 1}] * 5 + [{"a": 2}] * 5
    blocks = list(read_blocks(put("b.jsonl", lines(rows)), rows=5))
    assert blocks[1].X.columns == ["a", "b"]
    assert blocks[1].X["b"].null_count() == 5


def test_numbers_that_are_not_of_json(put):
    data = read(put("a.jsonl", '{"a": NaN, "b": 1}\n{"a": 1.5, "b": 2}\n{"a": null, "b": 3}\n'))
    assert data.X["a"].to_list() == [None, 1.5, None]
    large = 123456789012345678901234567890
    data = read(put("b.jsonl", lines([{"a": large}, {"a": 2}])))
    assert data.X["a"].to_list() == [float(large), 2.0]


def test_blank_lines_count_as_lines(refusal, put):
    assert len(read(put("a.jsonl", '\n{"a": 1}\n\n{"a": 2}\n\n'))) == 2
    assert "line 4" in refusal("a.jsonl", '\n{"a": 1}\n\n{"a": 2\n\n')
    assert refusal("b.jsonl", "\n \n") == "there must be rows of data; got blank lines only."


@pytest.mark.parametrize("text", ['{"a": 1', "hello", '{"a": 1} {"a": 2}', '{"a": 1,}', "{'a': 1}"])
def test_a_line_that_is_no_object(refusal, text):
    said = refusal("a.jsonl", f'{{"a": 1}}\n{text}\n{{"a": 2}}\n')
    assert said.startswith("every line must be a JSON object; got ")
    assert "in line 2" in said
    assert "in line 2" in refusal("a.jsonl", f'{{"a": 1}}\n{text}')


@pytest.mark.parametrize("text", ["3", "[1, 2]", '"a"', "null"])
def test_a_line_of_another_kind(refusal, text):
    said = refusal("a.jsonl", f'{{"a": 1}}\n{text}\n')
    assert said == f"every line must be a JSON object; got {json.loads(text)!r} in line 2."


def test_truth_values_among_numbers(refusal):
    said = refusal("a.jsonl", '{"a": 1}\n{"a": 2}\n{"a": true}\n')
    assert said == (
        "column 'a': values must be of one type; got True in line 3 after other values. "
        "Correct them, or say types={'a': \"drop\"}."
    )


def test_truth_values_among_numbers_in_another_chunk(refusal, monkeypatch):
    monkeypatch.setattr(sources, "AT_ONCE", 20)
    monkeypatch.setattr(sources, "HEAD", 20)
    text = '{"a": 1}\n' * 20 + '{"a": false}\n' * 20
    assert "got False in line 21" in refusal("a.jsonl", text)


def test_words_among_numbers(refusal):
    rows = [{"a": place} for place in range(20)] + [{"a": "many"}, {"a": "few"}]
    said = refusal("a.jsonl", lines(rows))
    assert said.startswith("column 'a': values must be of one type; got 'many' in line 21 among")


def test_lists_and_records(refusal, put):
    said = refusal("a.jsonl", '{"a": 1}\n{"a": 2, "tags": ["x"]}\n')
    assert said == (
        "column 'tags': values must be numbers, truth values, dates or text; got lists, first in "
        "line 2. Take them apart, or say types={'tags': \"drop\"}."
    )
    assert "got records, first in line 1" in refusal("a.jsonl", '{"a": {"b": 1}}\n')
    path = put("a.jsonl", '{"a": 1, "tags": ["x"]}\n')
    assert read(path, types={"tags": "drop"}).X.columns == ["a"]
