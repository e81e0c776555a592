"""Data frames of pandas, polars and arrow: columns by name, categories, missing values."""

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import SVC
from mercer.checks import InputError, InputTypeError
from mercer.inputs import CATEGORIES, FRAME, ROWS, SEQUENCES, Frame, Matrix, Objects, as_input
from mercer.kernels import Categorical, Gaussian, Linear, Spectrum

AGE, DOSE = [30, 40, 55, 40], [0.5, 1.5, 2.5, 0.25]
DNA, SITE = ["GATT", "TACA", "GATC", "AAAA"], ["north", "south", "north", "east"]
COLUMNS = {"age": AGE, "dna": DNA, "dose": DOSE, "site": SITE}


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


MAKERS = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "pandas odd index": lambda columns: pd.DataFrame(columns, index=[5, 5, 0, -2]),
    "polars": lambda columns: pl.DataFrame(columns),
    "arrow": arrow,
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_frame_keeps_its_columns(make):
    found = as_input(make(COLUMNS), FRAME)
    assert isinstance(found, Frame)
    assert found.names == ("age", "dna", "dose", "site")
    assert len(found) == 4
    for rows in (np.array([2, 0]), slice(1, 3), np.array([True, False, False, True])):
        wanted = np.array(AGE, dtype=float)[rows]
        assert np.array_equal(found.take(rows).on("age", ROWS, "K").values[:, 0], wanted)
    assert pickle.loads(pickle.dumps(found)).names == found.names


def test_columns_by_name_and_position(make):
    frame = as_input(make(COLUMNS), FRAME)
    one = frame.on("dose", ROWS, "K")
    assert isinstance(one, Matrix)
    assert np.array_equal(one.values, np.array(DOSE)[:, None])
    two = frame.on(("dose", "age"), ROWS, "K")
    assert np.array_equal(two.values, np.column_stack([DOSE, AGE]))
    assert two.names == ("dose", "age")
    assert np.array_equal(frame.on((0, -2), ROWS, "K").values, np.column_stack([AGE, DOSE]))
    words = frame.on("dna", SEQUENCES, "K")
    assert isinstance(words, Objects)
    assert words.raw == DNA


def test_a_mixed_frame(make):
    kernel = Spectrum(2).on("dna") + Gaussian(0.1).on(["age", "dose"])
    numbers = np.column_stack([AGE, DOSE])
    squares = ((numbers[:, None] - numbers[None]) ** 2).sum(axis=-1)
    pairs = [[s[i : i + 2] for i in range(3)] for s in DNA]
    common = [[sum(a == b for a in x for b in y) for y in pairs] for x in pairs]
    wanted = np.array(common) + np.exp(-0.1 * squares)
    frame = make(COLUMNS)
    assert np.allclose(kernel(frame), wanted, rtol=1e-13)
    assert np.allclose(kernel.formula(frame), wanted, rtol=1e-13)
    assert np.allclose(kernel.diag(frame), np.diag(wanted), rtol=1e-13)


def test_a_frame_of_numbers_is_a_matrix(make):
    frame = make({"age": AGE, "dose": DOSE})
    found = as_input(frame, ROWS)
    assert np.array_equal(found.values, np.column_stack([AGE, DOSE]))
    assert found.names == ("age", "dose")
    assert np.array_equal(Linear().on("dose")(frame), np.outer(DOSE, DOSE))
    assert np.array_equal(Linear().on([1])(frame), np.outer(DOSE, DOSE))


def test_single_precision_columns_stay_single():
    frame = pl.DataFrame({"a": np.ones(2, np.float32), "b": np.zeros(2, np.float32)})
    assert as_input(frame, ROWS).dtype == np.float32
    mixed = frame.with_columns(c=pl.Series([1, 2]))
    assert as_input(mixed, ROWS).dtype == np.float64


def test_categories_of_words_and_numbers(make):
    differ = np.array([[a != b for b in SITE] for a in SITE], dtype=float)
    older = np.array([[a != b for b in AGE] for a in AGE], dtype=float)
    frame = make(COLUMNS)
    found = Categorical(0.7).on("site")(frame)
    assert np.allclose(found, np.exp(-0.7 * differ), rtol=1e-14)
    found = Categorical(0.7).on(["site", "age"])(frame)
    assert np.allclose(found, np.exp(-0.7 * (differ + older)), rtol=1e-14)
    other = make(COLUMNS | {"site": ["east", "east", "west", "north"]})
    assert Categorical(0.7).on("site")(other, frame)[0].tolist() == pytest.approx(
        [np.exp(-0.7)] * 3 + [1.0], rel=1e-14
    )


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(SITE),
        pd.array(SITE, dtype="string"),
        pd.Series(SITE, dtype=object),
        pl.Series(SITE, dtype=pl.Categorical),
        pl.Series(SITE, dtype=pl.Enum(["east", "north", "south", "west"])),
    ],
    ids=["categorical", "string", "object", "polars categorical", "polars enum"],
)
def test_categorical_types(column):
    frame = (
        pl.DataFrame({"site": column})
        if isinstance(column, pl.Series)
        else (pd.DataFrame({"site": column}))
    )
    wanted = as_input(pd.DataFrame({"site": SITE}), FRAME).on("site", CATEGORIES, "K").values
    assert np.array_equal(as_input(frame, CATEGORIES).values, wanted)


# --- missing values ----------------------------------------------------------------------------

MISSING = {
    "pandas float": pd.DataFrame({"a": [1, 2, 3], "b": [0.5, np.nan, 1.0]}),
    "pandas Int64": pd.DataFrame({"a": [1, 2, 3], "b": pd.array([1, None, 3], dtype="Int64")}),
    "pandas Float32": pd.DataFrame({"a": [1, 2, 3], "b": pd.array([1, None, 3], dtype="Float32")}),
    "pandas boolean": pd.DataFrame(
        {"a": [1, 2, 3], "b": pd.array([True, None, False], dtype="boolean")}
    ),
    "polars float": pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 1.0]}),
    "polars int": pl.DataFrame({"a": [1, 2, 3], "b": [1, None, 3]}),
    "polars bool": pl.DataFrame({"a": [1, 2, 3], "b": [True, None, False]}),
}
MISSING_WORDS = {
    "pandas words": pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "y"]}),
    "pandas string": pd.DataFrame(
        {"a": [1, 2, 3], "b": pd.array(["x", None, "y"], dtype="string")}
    ),
    "pandas categorical": pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["x", None, "y"])}),
    "polars words": pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, "y"]}),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_numbers_are_named_by_row_and_column(name):
    told = "K: X must have finite numbers only; got NaN in row 1, column 'b' (1 such entry)."
    with pytest.raises(InputError) as caught:
        as_input(MISSING[name], ROWS, "K")
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("name", [*MISSING, *MISSING_WORDS])
def test_missing_categories_are_named_by_row_and_column(name):
    frame = (MISSING | MISSING_WORDS)[name]
    told = r"Categorical: every category must be known; got a missing one in row 1, column 'b' \(1"
    with pytest.raises(InputError, match=told) as found:
        Categorical(1.0).on(["a", "b"])(frame)
    fill = '"missing"' if name in MISSING_WORDS else "-1"
    assert f"with .fillna({fill}) in pandas or .fill_null({fill}) in polars" in str(found.value)
    assert "SimpleImputer" not in str(found.value)


@pytest.mark.parametrize("name", MISSING_WORDS)
def test_missing_objects_are_named_by_index_and_column(name):
    with pytest.raises(InputTypeError, match=r"Spectrum column 'b': .* at index 1"):
        Spectrum(1).on("b")(MISSING_WORDS[name])


def test_nullable_columns_without_missing_values_are_numbers():
    frame = pd.DataFrame(
        {
            "i": pd.array([1, 2], dtype="Int64"),
            "f": pd.array([0.5, 1.5], dtype="Float64"),
            "b": pd.array([True, False], dtype="boolean"),
        }
    )
    assert np.array_equal(as_input(frame, ROWS).values, [[1.0, 0.5, 1.0], [2.0, 1.5, 0.0]])


def test_arrow_missing_values():
    table = arrow({"a": [1, None], "b": ["x", None], "c": [True, None]})
    for kernel, column in ((Gaussian(1.0), "a"), (Categorical(1.0), "b"), (Gaussian(1.0), "c")):
        with pytest.raises(
            InputError, match=f"got (NaN|a missing one) in row 1, column '{column}'"
        ):
            kernel.on([column])(table)


# --- refused -----------------------------------------------------------------------------------


def test_an_unknown_column_suggests_the_nearest(make):
    with pytest.raises(InputError) as caught:
        Gaussian(1.0).on(["age", "doze"])(make(COLUMNS))
    assert str(caught.value) == (
        "Gaussian: X must have the column 'doze'; got columns age, dna, dose, site. "
        "Did you mean 'dose'?"
    )
    with pytest.raises(InputError, match="must have the column 4"):
        Gaussian(1.0).on([4])(make(COLUMNS))


def test_words_for_a_kernel_of_numbers(make):
    with pytest.raises(InputTypeError) as found:
        Gaussian(1.0).on(["age", "site"])(make(COLUMNS))
    assert str(found.value) == (
        "Gaussian: every column must hold numbers; got text in 'site'. Give text a kernel of its "
        "own: Categorical().on('site') where it is equal or not, Spectrum(3).on('site') where "
        "parts of it count. This kernel can have the numbers with .on(['age'])."
    )
    with pytest.raises(InputTypeError, match="got text in 'dna' and 'site'"):
        Gaussian(1.0)(make(COLUMNS))


DAYS = [datetime.datetime(2024, 1, day) for day in (1, 3, 2, 9)]
OTHERS = {
    "dates": (DAYS, "(t - t.min()).dt.total_seconds() with t = X['b']"),
    "durations": ([day - DAYS[0] for day in DAYS], "X['b'].dt.total_seconds()"),
    "numbers as text": (["1.5", "2", "1e3", "-1"], ".astype(float) in pandas or .cast(float)"),
    "missing values only": ([None] * 4, "Drop 'b'"),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("library", [pd, pl])
def test_other_columns_for_a_kernel_of_numbers(library, kind):
    values, advice = OTHERS[kind]
    frame = library.DataFrame({"a": AGE, "b": values, "c": SITE})
    for use in (Gaussian(), Gaussian().on(["a", "b"])):
        with pytest.raises(InputTypeError) as found:
            SVC(kernel=use).fit(frame, [0, 1, 0, 1])
        assert f"got {kind} in 'b'" in str(found.value)
        assert advice in str(found.value)
        assert "with .on(['a'])" in str(found.value)


def test_dates_become_numbers_as_the_advice_says():
    t = pd.DataFrame({"b": DAYS})["b"]
    found = Linear()(pd.DataFrame({"b": (t - t.min()).dt.total_seconds()}))
    days = np.array([0.0, 2.0, 1.0, 8.0]) * 86400
    assert np.array_equal(found, np.outer(days, days))
    t = pl.DataFrame({"b": DAYS})["b"]
    assert np.array_equal(Linear()(pl.DataFrame({"b": (t - t.min()).dt.total_seconds()})), found)


@pytest.mark.parametrize("library", [pd, pl])
def test_dates_are_categories_and_a_missing_one_is_named(library):
    differ = np.array([[a != b for b in DAYS] for a in DAYS], dtype=float)
    assert np.allclose(
        Categorical(0.5).on("b")(library.DataFrame({"b": DAYS})), np.exp(-differ / 2)
    )
    missing = library.DataFrame({"b": [DAYS[0], None, *DAYS[2:]]})
    with pytest.raises(InputError, match=r"missing one in row 1, column 'b'.*Drop the rows with"):
        Categorical(0.5).on("b")(missing)


def test_missing_categories_of_arrays_are_named():
    for missing in (None, np.nan, pd.NA, pd.NaT):
        with pytest.raises(InputError, match="a missing one in row 0, column 1"):
            Categorical(1.0)([["a", missing], ["b", "c"]])


def test_entries_of_arrays_that_are_no_numbers():
    for entry, advice in (
        (pd.NA, "SimpleImputer"),
        (DAYS[0], "Turn dates into numbers"),
        (1j, "Complex data not supported"),
        ("a", "choose a kernel made for them"),
    ):
        with pytest.raises(InputTypeError, match=advice) as found:
            Gaussian(1.0)(np.array([[1.0, 2.0], [3.0, entry]], dtype=object))
        assert "in row 1, column 1" in str(found.value)
    with pytest.raises(InputTypeError, match="Turn dates into numbers"):
        Gaussian(1.0)(np.array(DAYS, dtype="M8[s]")[:, None])


def test_complex_columns_are_refused():
    with pytest.raises(InputTypeError, match=r"got complex numbers in 'b'.*not supported"):
        Gaussian(1.0)(pd.DataFrame({"a": AGE, "b": np.array(AGE) * 1j}))


def test_several_columns_for_a_kernel_of_objects(make):
    with pytest.raises(InputTypeError) as found:
        Spectrum(2)(make(COLUMNS))
    assert str(found.value).endswith(
        "Choose a column with .on(...), such as .on('dna'); X has numbers in 'age' and 'dose', "
        "text in 'dna' and 'site'."
    )
    with pytest.raises(InputError, match=r"come from one column; got \['dna', 'site'\]"):
        Spectrum(2).on(["dna", "site"])(make(COLUMNS))
    with pytest.raises(
        InputTypeError, match=r"Spectrum column 'age': .* got 30 \(int\) at index 0"
    ):
        Spectrum(2).on("age")(make(COLUMNS))
    with pytest.raises(InputTypeError) as found:
        Spectrum(2).on("age")(make(COLUMNS))
    assert "single" not in str(found.value)  # a column is no single object


def test_pandas_columns_named_by_numbers():
    frame = pd.DataFrame(np.array([[1.0, 2.0], [3.0, 5.0]]), columns=[7, 9])
    assert np.array_equal(Linear()(frame), [[5.0, 13.0], [13.0, 34.0]])
    assert np.array_equal(Linear().on([1])(frame), np.outer([2.0, 5.0], [2.0, 5.0]))
    assert np.array_equal(Linear().on("9")(frame), np.outer([2.0, 5.0], [2.0, 5.0]))
    with pytest.raises(InputError, match="must have the column 'x'; got columns 7, 9"):
        Linear().on("x")(frame)
    frame.iloc[1, 1] = np.nan
    with pytest.raises(InputError, match="NaN in row 1, column '9'"):
        Linear()(frame)


def test_a_name_twice_is_refused():
    frame = pd.DataFrame(np.eye(2), columns=["a", "a"])
    with pytest.raises(InputError, match="a name of its own; got columns a, a"):
        Linear()(frame)
