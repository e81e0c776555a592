"""CSV and TSV: what is read is what Python's csv module reads; what is wrong is named."""

import csv
import io
import random

import pytest

from mercer.data import read, read_blocks, sources
from mercer.data.frames.records import record_pieces, split_records

LETTERS = ["a", "B", "ß", "7", " ", ",", ";", "\t", "|", '"', "\n", "\r\n", ".", "x"]


def oracle(text, delimiter=","):
    """The rows as Python's csv module reads them, missing where a value is empty."""
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    return rows[0], [[value.strip() or None for value in row] for row in rows[1:]]


def random_table(seed):
    """Texts with everything that needs quotes, and how they are written."""
    draw = random.Random(seed)
    width, delimiter = draw.randint(2, 5), draw.choice([",", ";", "\t", "|"])
    rows = [[f"name{place}" for place in range(width)]]
    for _ in range(draw.randint(1, 30)):
        word = ["".join(draw.choices(LETTERS, k=draw.randint(0, 6))) for _ in range(width)]
        rows.append([f"w{one}" if one.strip() else "" for one in word])
    file = io.StringIO(newline="")
    end = draw.choice(["\n", "\r\n"])
    quoting = draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return file.getvalue(), delimiter


@pytest.mark.parametrize("seed", range(150))
def test_texts_are_those_of_the_csv_module(seed):
    text, delimiter = random_table(seed)
    names, rows = oracle(text, delimiter)
    types = dict.fromkeys(names, "text")
    data = read(io.BytesIO(text.encode()), format="csv", types=types, missing=())
    assert data.X.columns == names
    assert [list(row) for row in data.X.rows()] == rows


@pytest.mark.parametrize("seed", range(60))
def test_chunks_change_nothing(seed, monkeypatch):
    text, _ = random_table(seed)
    options = {"format": "csv", "types": {}, "missing": ()}
    whole = read(io.BytesIO(text.encode()), **options)
    monkeypatch.setattr(sources, "AT_ONCE", 64)
    assert read(io.BytesIO(text.encode()), **options).X.equals(whole.X)
    blocks = list(read_blocks(io.BytesIO(text.encode()), rows=3, **options))
    assert all(len(block) == 3 for block in blocks[:-1])
    assert [row for block in blocks for row in block.X.cast(str).rows()] == whole.X.cast(str).rows()
    assert blocks[-1].sha256 == whole.sha256


def test_lines_of_records_are_counted_through_quotes():
    text = b'a,b\n1,"x\ny\n"\n2,z\n\n3,"\n"\n'
    records = split_records(text, '"', 10)
    assert records.lines.tolist() == [10, 11, 14, 15, 16]
    assert records.fields(",").tolist() == [2, 2, 2, 1, 2]
    assert records.blank().tolist() == [False, False, False, True, False]
    assert split_records(b"", '"', 1).fields(",").tolist() == []


def test_records_are_whole_in_every_piece():
    text = b'a,b\n1,"x\ny"\n2,"""\n"\n'
    for size in range(1, len(text) + 1):
        source = sources.Source(io.BytesIO(text), "x")
        chunks = (text[start : start + size] for start in range(0, len(text), size))
        pieces = list(record_pieces(source, chunks, '"'))
        assert b"".join(piece for piece, _ in pieces) == text
        for piece, line in pieces:
            before = text[: text.index(piece)]
            assert piece.endswith(b"\n")
            assert piece.count(b'"') % 2 == 0
            assert line == 1 + before.count(b"\n")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(put, delimiter):
    rows = [["size", "note"], ["1.5", "x, y; z"], ["2", "p|q"], ["3", "tab"]]
    path = put("a.csv", "\n".join(delimiter.join(f'"{one}"' for one in row) for row in rows))
    assert read(path).X.rows() == [(1.5, "x, y; z"), (2.0, "p|q"), (3.0, "tab")]


def test_the_delimiter_that_agrees_with_the_lines_is_chosen(put):
    # More commas than semicolons in the first line, but not in the others.
    path = put("a.csv", "x, y, z;b\n1,5;2\n2,5;3\n3,25;4\n")
    data = read(path)
    assert data.X.columns == ["x, y, z", "b"]
    assert data.X["x, y, z"].to_list() == [1.5, 2.5, 3.25]


def test_a_delimiter_can_be_given(put):
    assert read(put("a.csv", "a b\n1 2\n"), delimiter=" ").X.columns == ["a", "b"]
    assert read(put("b.csv", "a:b\n1:2\n"), delimiter=":").X.rows() == [(1.0, 2.0)]


def test_a_wrong_delimiter_is_refused_with_the_right_one(refusal):
    said = refusal("a.csv", "a;b;c\n1;2;3\n4;5;6\n", delimiter=",")
    assert said == (
        "a comma must stand between the columns; got one column, where a semicolon makes 3. "
        "Say delimiter=';'."
    )
    assert refusal("a.tsv", "a,b\n1,2\n").startswith("a tab must stand between the columns; got")
    said = refusal("a.csv", "1 2 3\n4 5 6\n7 8 9\n")
    assert said == (
        "a comma, a semicolon, a tab or a bar must stand between the columns; got blanks, 3 "
        'numbers in line 2. Say delimiter=" " if there is one blank each time.'
    )


def test_one_column_is_a_table_too(put):
    assert read(put("a.csv", "words\nfirst one\nsecond, one\n"), delimiter=";").X.shape == (2, 1)
    data = read(put("b.csv", "size\n1\n\n3\n\n\n"))
    assert data.X["size"].to_list() == [1.0, None, 3.0]
    data = read(put("c.csv", "size\n\n\n1\n"))
    assert data.X["size"].to_list() == [None, None, 1.0]
    assert read(put("d.csv", "1\n2\n"), header=False).X["x0"].to_list() == [1.0, 2.0]


def test_blank_lines_are_passed_over(put):
    data = read(put("a.csv", "\n\r\na,b\n\n1,2\r\n\n\n3,4\n\n"))
    assert data.X.rows() == [(1.0, 2.0), (3.0, 4.0)]


def test_blanks_around_values_are_not_part_of_them(put):
    data = read(put("a.csv", "age, job\n39, clerk\n40, ?\n41,  clerk \n"))
    assert data.X.to_dict(as_series=False) == {
        "age": [39.0, 40.0, 41.0],
        "job": ["clerk", None, "clerk"],
    }


def test_tables_without_names(put, refusal):
    data = read(put("a.csv", "1,2,x\n3,4,y\n"), header=False, target="x2")
    assert data.X.columns == ["x0", "x1"]
    assert data.y.tolist() == ["x", "y"]
    assert refusal("a.csv", "1,2\n3,4\n") == (
        "the first line must name the columns; got numbers, 1. Add a line of names, or say "
        "header=False: the columns are then x0, x1 and so on."
    )


def test_names_that_are_missing_or_twice(put, refusal):
    data = read(put("a.csv", ",a\n0,5\n1,6\n"))
    assert data.X.columns == ["column 1", "a"]
    assert data.notes == ("Column 1 has no name; it is called 'column 1'.",)
    assert refusal("a.csv", "a,b,a,c,b\n1,2,3,4,5\n") == (
        "every column must have a name of its own; got 'a', 'b' more than once. Rename them."
    )


def test_a_name_may_need_quotes(put):
    data = read(put("a.csv", '"size, in m","two\nlines"\n1,2\n'))
    assert data.X.columns == ["size, in m", "two\nlines"]


@pytest.mark.parametrize(
    ("text", "line", "count"),
    [
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", 3, 2),
        ("a,b,c\n1,2,3\n\n4,5,6,7\n", 4, 4),
        ('a,b,c\n"x\ny",2,3\n4,5,6,7\n', 4, 4),
        ("a,b,c\n1,2,3\n4,5,6,\n", 3, 4),
        ("a,b,c\n1,2,3\n4\n", 3, 1),
    ],
)
def test_ragged_lines(refusal, text, line, count):
    assert refusal("a.csv", text) == (
        f"every line must have 3 values, as the first has; got {count} in line {line}. "
        "Put values with a comma in them between quotes."
    )


def test_a_ragged_line_far_down(put, refusal, monkeypatch):
    monkeypatch.setattr(sources, "AT_ONCE", 1000)
    text = "a,b\n" + "1,2\n" * 4000 + "1,2,3\n" + "1,2\n" * 10
    assert "got 3 in line 4002." in refusal("a.csv", text)


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "\n\na,b\n\n"])
def test_only_names(refusal, text):
    assert refusal("a.csv", text) == (
        "there must be rows of data; got the names of 2 columns only."
    )


def test_only_blank_lines(refusal):
    assert refusal("a.csv", "\n\n\r\n") == "there must be rows of data; got an empty file."


def test_quotes_that_are_not_around_values(put, refusal):
    said = refusal("a.csv", 'a,b\n1,x\n2,5" pipe\n3,6" pipe\n')
    assert said == (
        "quotes must stand around whole values, without blanks outside; got "
        '\'2,5" pipe\\n3,6" pipe\' in line 3. Write "" within a value, or say quote=None where '
        "no value is quoted."
    )
    assert "in line 1" in refusal("a.csv", 'a"x"y,b\n1,2\n')
    data = read(put("b.csv", 'a,b\n1,x\n2,5" pipe\n'), quote=None)
    assert data.X["b"].to_list() == ["x", '5" pipe']
    data = read(put("c.csv", "a,b\n1,'x, y'\n"), quote="'")
    assert data.X["b"].to_list() == ["x, y"]


def test_a_quote_that_is_never_closed(refusal):
    assert refusal("a.csv", 'a,b\n1,x\n2,"y\n3,z\n') == (
        "a value between quotes must end; got a quote in the record of line 3 that is never "
        "closed. Close it, or say quote=None where quotes are letters like others."
    )


def test_an_open_quote_does_not_fill_the_memory(refusal, monkeypatch):
    monkeypatch.setattr("mercer.data.frames.records.LONGEST_RECORD", 1000)
    monkeypatch.setattr(sources, "AT_ONCE", 500)
    assert "in the record of line 2" in refusal("a.csv", 'a,b\n1,"x\n' + "2,y\n" * 1000)


def test_line_ends_of_old(refusal):
    assert refusal("a.csv", b"a,b\r1,2\r3,4\r") == (
        "lines must end with a line feed; got carriage returns alone. "
        "Convert the line ends, as with: tr '\\r' '\\n'."
    )


def test_max_rows(put):
    path = put("a.csv", "a,b\n" + "1,2\n" * 100)
    assert len(read(path, max_rows=7)) == 7
    assert len(read(path, max_rows=1000)) == 100
