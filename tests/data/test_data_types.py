"""What the columns of a table are: as `TableEncoder` would guess, or as the user says."""

import datetime

import numpy as np
import polars as pl
import pytest

from mercer import KernelRidge, TableEncoder
from mercer.checks import DataError, InputError
from mercer.data import flats, read, read_blocks, write_table


def column(put, values, name="x", **options):
    """The column of a table, and what was noted; a second column keeps the table wide."""
    text = "".join(f"{value},0\n" for value in [name, *values])
    data = read(put("column.csv", text.replace(f"{name},0", f"{name},zero", 1)), **options)
    return data.X[name], data.columns[0], data.notes


def test_numbers_are_those_of_python(put):
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    numbers = bits[np.isfinite(bits)]
    words = [repr(float(one)) for one in numbers] + ["+3", "1e5", ".5", "5.", "-0", "1E-3"]
    found, summary, notes = column(put, words)
    assert found.to_list() == [float(word) for word in words]
    assert summary.type == "number"
    assert (summary.low, summary.high) == (numbers.min(), numbers.max())
    assert notes == ()


@pytest.mark.parametrize(
    ("words", "values", "kind"),
    [
        (["1", "2", "3"], [1.0, 2.0, 3.0], "number"),
        (["1", "", "NA", "?", "2.5"], [1.0, None, None, None, 2.5], "number"),
        (["true", "False", "TRUE", ""], [True, False, True, None], "boolean"),
        (["yes", "no", "yes", "no"], ["yes", "no", "yes", "no"], "category"),
        (["01067", "10115", "01067"], ["01067", "10115", "01067"], "category"),
        (
            ["2024-02-29", "2023-12-31"],
            [datetime.date(2024, 2, 29), datetime.date(2023, 12, 31)],
            "date",
        ),
        (
            ["29.2.2024", "31.12.2023"],
            [datetime.date(2024, 2, 29), datetime.date(2023, 12, 31)],
            "date",
        ),
        (
            ["2024-02-29 10:30", "2024-02-29T10:30:15.5"],
            [
                datetime.datetime(2024, 2, 29, 10, 30),
                datetime.datetime(2024, 2, 29, 10, 30, 15, 500000),
            ],
            "date",
        ),
        (["2024-02-30", "2024-02-28"], ["2024-02-30", "2024-02-28"], "category"),
        (["2024-01-01T00:00:00Z", "2024-01-02T00:00:00+01:00"], None, "date"),
        (["a long remark in words", "another one of these", "the third is here"], None, "text"),
        (["inf", "nan", "Infinity"], ["inf", None, "Infinity"], "category"),
        (["1_000", "0x10", "１"], ["1_000", "0x10", "１"], "category"),
    ],
)
def test_types_are_guessed(put, words, values, kind):
    found, summary, _ = column(put, words)
    assert found.to_list() == (words if values is None else values)
    assert summary.type == kind


def test_the_types_are_those_of_the_encoder(put, tmp_path):
    table = flats(300, 3)
    write_table(tmp_path / "flats.csv", table)
    data = read(tmp_path / "flats.csv", target="rent")
    encoder = TableEncoder().fit(data.X)
    assert {one.name: one.kind for one in encoder.columns_} == {
        one.name: one.type for one in data.columns
    }
    # What comes from a file is what comes as a frame.
    frame = pl.DataFrame(table).drop("rent")
    assert np.array_equal(encoder.transform(data.X), encoder.transform(frame))


def test_summaries(put):
    _, summary, _ = column(put, ["b", "a", "", "b", "c", "a", "b"])
    assert (summary.missing, summary.levels) == (1, ("b", "a", "c"))
    assert (summary.low, summary.high) == (None, None)
    _, summary, _ = column(put, ["2024-05-01", "", "2023-05-01"])
    assert (summary.missing, summary.low, summary.high) == (1, "2023-05-01", "2024-05-01")
    _, summary, _ = column(put, ["2024-05-01 10:00", "2023-05-01 00:00"])
    assert (summary.low, summary.high) == ("2023-05-01", "2024-05-01 10:00:00")
    _, summary, _ = column(put, ["true", "false", "true"])
    assert summary.levels == ("True", "False")
    _, summary, _ = column(put, [f"level {place % 70}" for place in range(140)])
    assert len(summary.levels) == 50


def test_a_column_without_values_is_noted(put):
    found, summary, notes = column(put, ["", "NA", ""])
    assert found.to_list() == [None, None, None]
    assert summary.missing == 3
    assert notes == ("Column 'x' has no values.",)


def test_stray_words_among_numbers_are_missing_values(put):
    words = [str(place) for place in range(100)]
    words[41] = words[60] = "unknown"
    found, summary, notes = column(put, words)
    assert found.null_count() == 2
    assert (summary.type, summary.missing) == ("number", 2)
    assert notes == (
        "Column 'x' is of numbers; 'unknown' there, first in line 43, is read as missing.",
    )


def test_mixed_types_are_refused_with_the_first_line(refusal):
    rows = [str(place) for place in range(30)]
    rows[7], rows[9], rows[20] = "about 7", "lots", "n.a."
    said = refusal("a.csv", "size,b\n" + "".join(f"{row},1\n" for row in rows))
    assert said == (
        "column 'size': values must be of one type; got 'about 7' in line 9 among numbers. "
        "Correct the values, or say types={'size': \"category\"}; what stands for a missing value "
        "belongs into missing=."
    )


def test_numbers_and_words_that_repeat_are_levels(put):
    found, summary, notes = column(put, ["1", "2", "A", "1", "2", "A", "B", "1"])
    assert found.to_list() == ["1", "2", "A", "1", "2", "A", "B", "1"]
    assert (summary.type, notes) == ("category", ())


def test_what_means_missing_can_be_said(put):
    words = ["1", "-99", "n/a", "3"]
    assert column(put, words, missing=["-99", "n/a"])[0].to_list() == [1.0, None, None, 3.0]
    assert column(put, ["NA", "DE", "NA", "FR"], missing=[])[0].to_list() == [
        "NA",
        "DE",
        "NA",
        "FR",
    ]


def test_decimal_commas(put):
    data = read(put("a.csv", "size;b\n1,5;x\n12;y\n-3,25;x\n"))
    assert data.X["size"].to_list() == [1.5, 12.0, -3.25]
    assert data.notes == ("Column 'size' is of numbers with decimal commas.",)
    # With three digits everywhere it could be thousands: it is left alone.
    data = read(put("b.csv", "size;b\n1,500;x\n2,250;y\n1,500;z\n2,250;z\n"))
    assert data.X["size"].to_list() == ["1,500", "2,250", "1,500", "2,250"]


@pytest.mark.parametrize(
    ("text", "values", "how"),
    [
        ('n,b\n"1,234.50",x\n17,x\n"-2,000",x\n', [1234.5, 17.0, -2000.0], "commas at thousands"),
        ('n,b\n"1,234,567",x\n8.5,x\n', [1234567.0, 8.5], "commas at thousands"),
        (
            "n;b\n1.234,50;x\n17,5;x\n2.000;x\n",
            [1234.5, 17.5, 2000.0],
            "decimal commas and points at thousands",
        ),
    ],
)
def test_marks_at_thousands(put, text, values, how):
    data = read(put("a.csv", text))
    assert data.X["n"].to_list() == values
    assert data.notes == (f"Column 'n' is of numbers with {how}.",)
    told = read(put("b.csv", text), types={"n": "number"})
    assert told.X["n"].to_list() == values


def test_marks_at_thousands_that_may_be_something_else(put):
    for words in (["1,234", "5,678"], ["1,234.5", "12,34"], ["1,234.5", "1.234,5"]):
        text = "".join(f'"{word}",x\n' for word in words)
        assert read(put("a.csv", f"n,b\n{text}")).X["n"].to_list() == words


def test_dates_with_slashes_are_noted(put):
    _, summary, notes = column(put, ["05/06/2024", "07/06/2024", "05/06/2024", "07/06/2024"])
    assert summary.type == "category"
    assert notes == (
        "Column 'x' is read as text: '05/06/2024' may be a date, but day and month are uncertain. "
        "Write dates as 2024-12-31.",
    )


# --- types that the user says -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "kind", "values"),
    [
        (["1", "2", "3"], "category", ["1", "2", "3"]),
        (["1", "0", "1"], "boolean", [True, False, True]),
        (["007", "8"], "number", [7.0, 8.0]),
        (["1.2.2024", "3.2.2024"], "date", [datetime.date(2024, 2, 1), datetime.date(2024, 2, 3)]),
        (["1", "2"], "text", ["1", "2"]),
        (["", "NA"], "number", [None, None]),
        (["2024-01-01T00:00:00Z", ""], "date", ["2024-01-01T00:00:00Z", None]),
    ],
)
def test_types_can_be_said(put, words, kind, values):
    found, summary, _ = column(put, words, types={"x": kind})
    assert found.to_list() == values
    assert summary.type == kind


def test_decimal_commas_where_numbers_are_told(put):
    data = read(put("a.csv", "size;b\n1,500;x\n2,250;y\n"), types={"size": "number"})
    assert data.X["size"].to_list() == [1.5, 2.25]


def test_a_table_is_read_for_a_model_as_it_was_for_the_fit(tmp_path):
    write_table(tmp_path / "flats.csv", flats(200))
    data = read(tmp_path / "flats.csv", target="rent")
    types = {one.name: one.type for one in data.columns}
    again = read(tmp_path / "flats.csv", target="rent", types=types)
    assert [(one.name, one.type) for one in again.columns] == list(types.items())
    encoder = TableEncoder().fit(data.X)
    assert np.array_equal(encoder.transform(again.X), encoder.transform(data.X))
    model = KernelRidge(kernel=encoder.kernel_).fit(data.X, data.y)
    assert np.array_equal(model.predict(again.X), model.predict(data.X))


def test_columns_can_be_dropped(put):
    path = put("a.csv", "a,b,c\n1,2,3\n4,5,6\n")
    assert read(path, types={"b": "drop"}).X.columns == ["a", "c"]


@pytest.mark.parametrize(
    ("word", "kind", "must"),
    [
        ("abc", "number", "every value must be a number"),
        ("maybe", "boolean", "every value must be true or false"),
        ("2024-13-01", "date", "every value must be a date such as 2024-12-31"),
    ],
)
def test_a_value_that_is_not_what_the_type_says(refusal, word, kind, must):
    good = {"number": "1", "boolean": "true", "date": "2024-01-01"}[kind]
    said = refusal("a.csv", f"x,y\n{good},1\n{word},2\n", types={"x": kind})
    assert said.startswith(f"column 'x': {must}; got '{word}' in line 3. Correct the values, or")


def test_types_must_name_columns(put, refusal):
    said = refusal("a.csv", "area,b\n1,2\n", types={"arae": "drop"})
    assert said == "types must name columns, here 'area', 'b'; got 'arae'. Did you mean 'area'?"
    block = next(read_blocks(put("a.csv", "area,b\n1,2\n"), types={"arae": "drop"}))
    assert block.notes == ("There is no column 'arae', of which types says what it is.",)
    with pytest.raises(InputError, match=r"types\['b'\] must be one of 'number', .* mean 'number'"):
        read(put("a.csv", "area,b\n1,2\n"), types={"b": "numbr"})


# --- the target ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "values", "kind"),
    [
        (["1", "0", "1"], [1, 0, 1], "i"),
        (["1.5", "0", "1"], [1.5, 0.0, 1.0], "f"),
        (["1.0", "0", "1"], [1, 0, 1], "i"),
        (["yes", "no", "yes"], ["yes", "no", "yes"], "U"),
        (["true", "false", "true"], [True, False, True], "b"),
        (["01", "02", "01"], ["01", "02", "01"], "U"),
    ],
)
def test_targets(put, words, values, kind):
    path = put("a.csv", "x,y\n" + "".join(f"0,{word}\n" for word in words))
    data = read(path, target="y")
    assert data.y.tolist() == values
    assert data.y.dtype.kind == kind
    assert (data.target, data.X.columns) == ("y", ["x"])
    assert read(path, target="y", types={"y": "category"}).y.tolist() == words


def test_a_target_that_is_not_there(refusal):
    said = refusal("a.csv", "area,rooms,Rent\n1,2,3\n", target="rnet")
    assert said == (
        "the target must be a column, here 'area', 'rooms', 'Rent'; got 'rnet'. "
        "Did you mean 'Rent'?"
    )
    assert refusal("a.csv", "area,b\n1,2\n", target="zzz").endswith("here 'area', 'b'; got 'zzz'.")


def test_a_target_with_gaps_names_the_lines(refusal):
    said = refusal("a.csv", "x,y\n1,2\n3,\n\n4,NA\n5,6\n", target="y")
    assert said == (
        "the target 'y' must be known in every row; got no value in line 3, line 5. "
        "Drop these rows, or fill them."
    )
    text = "x,y\n" + "1,\n" * 20
    assert "line 6 and 15 more." in refusal("a.csv", text, target="y")


def test_targets_that_cannot_be(refusal):
    said = refusal("a.csv", "x,y\n1,2024-01-01\n2,2024-01-02\n", target="y")
    assert said == (
        "the target 'y' must be numbers or classes; got dates, 2024-01-01 first. "
        "Turn it into a number first, such as days since a date."
    )
    said = refusal("a.csv", "x,y\n1,2\n", target="y", types={"y": "drop"})
    assert said == "the target must not be dropped; got types={'y': \"drop\"}."
    said = refusal("a.csv", "y\n1\n2\n", target="y")
    assert said == "there must be a column beside the target; got none."


# --- blocks -----------------------------------------------------------------------------------


def blocks_of(put, values, rows=10, **options):
    text = "x,y\n" + "".join(f"{value},1\n" for value in values)
    return list(read_blocks(put("a.csv", text), rows=rows, **options))


def test_the_first_block_says_the_type(put):
    blocks = blocks_of(put, [*["a"] * 5, *["b"] * 5, *["7"] * 10])
    assert [block.X["x"].dtype for block in blocks] == [pl.String, pl.String]
    blocks = blocks_of(put, [*["0"] * 10, *["1.5"] * 10])
    assert blocks[1].X["x"].to_list() == [1.5] * 10
    blocks = blocks_of(put, [*["01"] * 10, *["7"] * 10])
    assert blocks[1].X["x"].to_list() == ["7"] * 10


def test_a_block_without_values_waits_for_the_type(put):
    blocks = blocks_of(put, [*[""] * 10, *["5"] * 10, *[""] * 5])
    assert [block.X["x"].null_count() for block in blocks] == [10, 0, 5]
    assert blocks[1].X["x"].dtype == pl.Float64
    assert blocks[0].notes == ("Column 'x' has no values.",)


def test_a_later_value_that_does_not_fit_is_named(put):
    values = [*["5"] * 15, "five", "six", *["5"] * 3]
    with pytest.raises(
        DataError, match=r"'x': every value must be a number; got 'five' in line 17"
    ):
        blocks_of(put, values)
    # Few of them are missing values here too.
    blocks = blocks_of(put, [*["5"] * 25, "five", *["5"] * 4])
    assert blocks[2].X["x"].null_count() == 1
    assert "'five' there, first in line 27" in blocks[2].notes[0]
