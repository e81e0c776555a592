"""Tables of every library, and what may be different about them after the fit."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from samples import table_columns

from mercer import InputError, TableEncoder
from mercer.checks import InputTypeError

COLUMNS = table_columns()
PANDAS = pd.DataFrame(COLUMNS)
POLARS = pl.DataFrame(COLUMNS)
DICTS = POLARS.to_dicts()
ARRAY = np.array([list(row.values()) for row in DICTS], dtype=object)
NAMES = [
    *["area", "area=missing", "rooms", "garden", "town=Bern", "town=Oslo", "town=Rome"],
    *["town=rare", "town=missing", "sold", "sold=year sin", "sold=year cos", "sold=week sin"],
    *["sold=week cos", "sold=day sin", "sold=day cos", "sold=missing"],
    *["told=text 0", "told=text 1", "told=missing"],
]


def test_a_table_of_every_kind_of_column():
    encoder = TableEncoder(text_width=2).fit(PANDAS)
    kinds = {column.name: column.kind for column in encoder.columns_}
    assert kinds == {
        "area": "number",
        "rooms": "number",
        "garden": "boolean",
        "town": "category",
        "sold": "date",
        "told": "text",
        "land": "category",
    }
    assert encoder.get_feature_names_out().tolist() == NAMES
    assert encoder.notes_ == (
        "Column 'town' has a rare level; levels never seen will count as rare.",
        "Column 'land' is left out: all its values are the same.",
    )
    found = encoder.transform(PANDAS)
    assert found.shape == (12, len(NAMES))
    assert found.dtype == np.float64
    town = encoder.columns_[3]
    assert (town.start, town.stop, town.done) == (
        4,
        9,
        "one-hot: 3 levels, a rare one, missing as one",
    )
    assert np.array_equal(found[9, 4:9], [0, 0, 0, 1, 0])
    assert encoder.feature_names_in_.tolist() == list(COLUMNS)
    assert encoder.n_features_in_ == 7


@pytest.mark.parametrize(
    "make",
    [
        pl.DataFrame,
        lambda c: pl.DataFrame(c).to_arrow(),
        lambda c: pl.DataFrame(c).to_dicts(),
        pd.DataFrame,
    ],
)
def test_every_library_gives_the_same_numbers(make):
    wanted = TableEncoder().fit(PANDAS)
    found = TableEncoder().fit(make(COLUMNS))
    assert np.array_equal(found.transform(make(COLUMNS)), wanted.transform(PANDAS))
    assert np.array_equal(wanted.transform(make(COLUMNS)), wanted.transform(PANDAS))
    assert found.get_feature_names_out().tolist() == wanted.get_feature_names_out().tolist()
    assert found.notes_ == wanted.notes_


@pytest.mark.parametrize("table", [ARRAY, ARRAY.tolist()])
def test_arrays_and_lists_give_the_same_numbers_by_position(table):
    encoder = TableEncoder().fit(table)
    assert np.array_equal(encoder.transform(table), TableEncoder().fit_transform(PANDAS))
    assert encoder.get_feature_names_out()[:3].tolist() == ["x0", "x0=missing", "x1"]
    assert not hasattr(encoder, "feature_names_in_")


def test_arrays_of_numbers_dates_and_words():
    X = np.random.default_rng(0).normal(size=(5, 2))
    assert np.allclose(TableEncoder().fit_transform(X), (X - X.mean(0)) / X.std(0))
    days = np.array([["2024-01-01"], ["2024-03-05"]], dtype="M8[D]")
    assert np.array_equal(
        TableEncoder().fit_transform(days), TableEncoder().fit_transform(pd.DataFrame(days))
    )
    words = np.array([["u", "1"], ["v", "2"], ["u", "4"], ["v", "2"]])
    kinds = [column.kind for column in TableEncoder().fit(words).columns_]
    assert kinds == ["category", "number"]


def test_dicts_without_some_keys():
    rows = [{"a": 1.0, "b": "u"}, {"a": 2.0}, {"b": "u", "a": 5.0}]
    frame = pd.DataFrame({"a": [1.0, 2.0, 5.0], "b": ["u", None, "u"]})
    assert np.array_equal(TableEncoder().fit_transform(rows), TableEncoder().fit_transform(frame))


def test_names_that_are_numbers():
    frame = pd.DataFrame({0: [1.0, 2.0], 1: ["u", "v"]})
    encoder = TableEncoder(min_count=1, types={1: "category"}).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["0", "1=v"]
    assert np.array_equal(encoder.transform(frame[[1, 0]]), encoder.transform(frame))


def test_names_of_features_are_told_apart():
    frame = pd.DataFrame({"a": ["u", "v", "w"] * 2, "a=v": [1.0, 2.0, 3.0] * 2})
    names = TableEncoder().fit(frame).get_feature_names_out().tolist()
    assert names == ["a=u", "a=v", "a=w", "a=v~"]


# --- after the fit -------------------------------------------------------------------------------


@pytest.fixture
def encoder():
    return TableEncoder().fit(PANDAS)


def test_other_orders(encoder):
    turned = PANDAS[list(COLUMNS)[::-1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(encoder.transform(turned), encoder.transform(PANDAS))


def test_further_columns_are_ignored_with_a_warning(encoder):
    more = PANDAS.assign(extra=1, zeal="x")
    with pytest.warns(UserWarning, match="which are ignored: 'extra', 'zeal'") as told:
        found = encoder.transform(more)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert np.array_equal(found, encoder.transform(PANDAS))


def test_missing_columns_are_named(encoder):
    less = PANDAS.drop(columns=["area", "town"]).rename(columns={"told": "tolt"})
    with pytest.raises(
        InputError, match="X must have the columns of fit; got none called 'area', 'town', 'told'"
    ):
        encoder.transform(less)


def test_columns_that_were_left_out_are_not_needed(encoder):
    less = PANDAS.drop(columns=["land"])
    assert np.array_equal(encoder.transform(less), encoder.transform(PANDAS))


def test_arrays_after_frames_and_frames_after_arrays(encoder):
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert np.array_equal(encoder.transform(ARRAY), encoder.transform(PANDAS))
    by_place = TableEncoder().fit(ARRAY)
    with pytest.warns(
        UserWarning, match="X has feature names, but TableEncoder was fitted without"
    ):
        assert np.array_equal(by_place.transform(PANDAS), encoder.transform(PANDAS))
    with pytest.raises(
        InputError, match="X has 6 features, but TableEncoder is expecting 7 features"
    ):
        by_place.transform(ARRAY[:, :6])


def test_other_types_that_can_be_read(encoder):
    other = PANDAS.assign(
        area=PANDAS.area.map(lambda value: None if np.isnan(value) else str(value)),
        rooms=PANDAS.rooms.astype(int),
        garden=PANDAS.garden.astype(int),
        town=pd.Categorical(PANDAS.town),
        sold=PANDAS.sold.map(lambda time: None if time is pd.NaT else time.isoformat()),
    )
    assert np.array_equal(encoder.transform(other), encoder.transform(PANDAS))


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("area", ["12", "much"], "every value must be a number; got 'much' in row 1"),
        ("area", [datetime.date(2024, 1, 1)] * 2, "every value must be a number; got dates"),
        ("area", [[1], [2]], "every value must be a number; got (lists|objects of type list)"),
        ("town", [datetime.date(2024, 1, 1)] * 2, "values must be categories or text; got dates"),
        (
            "town",
            [1, 2],
            "values must be text, as in fit, or be known from there; got numbers, '1' in row 0",
        ),
        ("sold", ["2024-01-01", "today"], "every value must be a date; got 'today' in row 1"),
        ("garden", ["yes", "no"], "every value must be true or false; got 'yes' in row 0"),
        ("told", [{}, {}], "values must be categories or text; got objects of type dict"),
    ],
)
def test_other_types_that_cannot_be_read_are_refused(encoder, name, values, told):
    frame = PANDAS[:2].assign(**{name: values})
    with pytest.raises(InputError, match=f"TableEncoder, column '{name}': {told}"):
        encoder.transform(frame)


def test_a_column_of_nothing_is_missing(encoder):
    nothing = PANDAS.assign(area=None, town=None, sold=None, told=None, garden=None, rooms=None)
    found = encoder.transform(nothing)
    assert np.array_equal(found[0], found[5])
    assert np.isfinite(found).all()


def test_one_row_and_all_rows_agree(encoder):
    found = encoder.transform(PANDAS)
    for row in range(12):
        assert np.allclose(
            encoder.transform(PANDAS[row : row + 1]), found[row : row + 1], rtol=0, atol=1e-14
        )


# --- left out ------------------------------------------------------------------------------------


def test_columns_that_say_nothing_are_left_out():
    frame = pd.DataFrame(
        {
            "a": [1.0, 2.0, 3.0],
            "same": [7, 7, 7],
            "none": [None, None, None],
            "nan": [np.nan] * 3,
            "yes": [True] * 3,
            "day": pd.to_datetime(["2024-01-01"] * 3),
            "word": ["u"] * 3,
            "twin": [1.0, 2.0, 3.0],
            "near": [1.0, 2.0, 3.5],
        }
    )
    encoder = TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["a", "near"]
    reasons = {column.name: column.note for column in encoder.columns_ if column.note}
    assert reasons == {
        "same": "Column 'same' is left out: all its values are the same.",
        "none": "Column 'none' is left out: nothing in it is known.",
        "nan": "Column 'nan' is left out: nothing in it is known.",
        "yes": "Column 'yes' is left out: all its values are the same.",
        "day": "Column 'day' is left out: all its values are the same.",
        "word": "Column 'word' is left out: all its values are the same.",
        "twin": "Column 'twin' is left out: it equals 'a'.",
    }
    assert encoder.notes_ == tuple(reasons.values())
    assert all(column.start == column.stop for column in encoder.columns_ if column.note)


def test_twins_of_every_kind():
    twice = pd.concat([PANDAS, PANDAS.add_suffix(" again")], axis=1)
    encoder = TableEncoder().fit(twice)
    assert np.array_equal(encoder.transform(twice), TableEncoder().fit_transform(PANDAS))
    assert sum("it equals" in note for note in encoder.notes_) == 7


def test_a_table_of_nothing_is_refused():
    frame = pd.DataFrame({"a": [1, 1], "b": ["u", "u"]})
    with pytest.raises(
        InputError,
        match=r"at least one column must tell rows apart; got none\. Column 'a' is left out: all",
    ):
        TableEncoder().fit(frame)


# --- types ---------------------------------------------------------------------------------------


def test_types_overrule_the_guess():
    types = {"rooms": "category", "town": "text", "land": "drop", "sold": "drop"}
    encoder = TableEncoder(types=types).fit(PANDAS)
    kinds = {column.name: column.kind for column in encoder.columns_}
    assert {name: kinds[name] for name in types} == types
    assert "Column 'sold' is left out: its type says so." in encoder.notes_


@pytest.mark.parametrize(
    ("types", "told"),
    [
        (
            {"rom": "number"},
            r"types must name columns of X, .* none called 'rom'; .* Did you mean 'rooms'\?",
        ),
        ({"rooms": "numbers"}, r"types\['rooms'\] must be one of .* Did you mean 'number'\?"),
        (["number"], "types must be a dict such as"),
        ({"town": "number"}, "column 'town': every value must be a number; got 'Bern' in row 0"),
        ({"town": "date"}, "column 'town': every value must be a date; got 'Bern' in row 0"),
    ],
)
def test_wrong_types_are_refused(types, told):
    with pytest.raises(InputError, match=told):
        TableEncoder(types=types).fit(PANDAS)


def test_columns_of_unsupported_types_are_named():
    frame = pl.DataFrame(
        {"a": [1.0, 2.0], "l": [[1], [2]], "s": [{"x": 1}, {"x": 2}], "b": [b"x", b"y"]}
    )
    for table in (frame, frame.to_arrow()):
        with pytest.raises(
            InputTypeError,
            match=r"got lists in 'l', records in 's', objects of type bytes in 'b'\. Drop",
        ):
            TableEncoder().fit(table)
    objects = pd.DataFrame({"a": [1.0, 2.0], "c": [1j, 2j], "o": [np.ones(2), np.ones(3)]})
    with pytest.raises(
        InputTypeError, match="objects of type complex in 'c', objects of type ndarray in 'o'"
    ):
        TableEncoder().fit(objects)
    encoder = TableEncoder(types={"c": "drop", "o": "drop"}).fit(objects)
    assert encoder.transform(objects).shape == (2, 1)


# --- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (scipy.sparse.eye_array(3).tocsr(), "got a sparse matrix"),
        (np.zeros(3), "X must be 2-D, one row per point"),
        (np.zeros((2, 2, 2)), "X must be 2-D"),
        ([[1.0], [1.0, 2.0]], "every row of X must be a list, and all of one length"),
        ([1.0, 2.0], "every row of X must be a list"),
        (np.zeros((0, 2)), r"there must be at least one row; got 0 sample\(s\)"),
        (np.zeros((2, 0)), r"0 feature\(s\)"),
        (pl.DataFrame(), r"0 feature\(s\)"),
        (np.zeros((1, 2)), "at least two rows to learn from; got 1 sample"),
        (np.array([[1j]]), "Complex data not supported"),
        (3, "X must be a data frame of pandas, polars or arrow"),
        (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            "every column of X must have a name of its own",
        ),
        (
            pd.DataFrame([[1, 2], [2, 1]], columns=[1, "1"]),
            "every column of X must have a name of its own",
        ),
    ],
)
def test_what_is_not_a_table_is_refused(table, told):
    with pytest.raises(InputError, match=told):
        TableEncoder().fit(table)


@pytest.mark.parametrize(
    "parameters",
    [
        *[{"numbers": "ranks"}, {"category_scale": 0.0}, {"max_levels": 0}, {"min_count": 0}],
        *[{"min_count": "few"}, {"dates": "none"}, {"text": "words"}, {"text_width": 0}],
        *[{"text_width": 5000}, {"missing": "mean"}, {"category_scale": np.inf}],
    ],
)
def test_wrong_parameters_are_refused(parameters):
    with pytest.raises(InputError, match=f"TableEncoder: {next(iter(parameters))} must be"):
        TableEncoder(**parameters).fit(PANDAS)


def test_a_pyarrow_table_is_recognised():
    table = pa.table({"a": [1.0, 2.0, None], "b": ["u", "v", "u"]})
    assert TableEncoder(min_count=1).fit_transform(table).shape == (3, 3)
