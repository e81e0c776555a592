"""Categories and booleans: one-hot columns, rare, unseen and missing levels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import InputError, TableEncoder

HALF = np.sqrt(0.5)


def fitted(values, **parameters):
    return TableEncoder(**parameters).fit(pd.DataFrame({"a": values}))


def rows(encoder, values):
    return encoder.transform(pd.DataFrame({"a": pd.Series(values, dtype=object)}))


def test_several_levels_are_one_hot():
    encoder = fitted(["u", "v", "w"] * 2)
    assert encoder.get_feature_names_out().tolist() == ["a=u", "a=v", "a=w"]
    assert np.array_equal(rows(encoder, ["w", "u"]), [[0, 0, 1], [1, 0, 0]])
    assert np.array_equal(rows(fitted(["u", "v", "w"] * 2, category_scale=3.0), ["v"]), [[0, 3, 0]])


def test_two_levels_are_one_column_at_the_same_distance():
    encoder = fitted(["u", "v"] * 2)
    found = rows(encoder, ["u", "v"])
    assert np.allclose(found, [[-HALF], [HALF]])
    three = rows(fitted(["u", "v", "w"] * 2), ["u", "v"])
    assert np.isclose(((found[0] - found[1]) ** 2).sum(), ((three[0] - three[1]) ** 2).sum())
    assert encoder.get_feature_names_out().tolist() == ["a=v"]


def test_booleans():
    encoder = fitted([True, False, True])
    assert encoder.columns_[0].kind == "boolean"
    assert encoder.get_feature_names_out().tolist() == ["a"]
    assert np.allclose(rows(encoder, [False, True, None]), [[-HALF], [HALF], [0]])


def test_booleans_with_missing_values():
    encoder = fitted(pd.Series([True, None, False], dtype=object))
    assert encoder.get_feature_names_out().tolist() == ["a=False", "a=True", "a=missing"]
    assert np.array_equal(rows(encoder, [None, True]), [[0, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("values", [[0, 1], ["False", "True"], ["false", "1"], [0.0, True]])
def test_booleans_of_other_types(values):
    assert np.allclose(rows(fitted([True, False, True]), values), [[-HALF], [HALF]])


def test_what_is_neither_true_nor_false_is_refused():
    encoder = fitted([True, False, True])
    with pytest.raises(
        InputError, match="column 'a': every value must be true or false; got '2' in row 1"
    ):
        rows(encoder, [0, 2])


# --- rare, unseen, missing -----------------------------------------------------------------------


def test_rare_levels_are_one():
    encoder = fitted(["u"] * 5 + ["v"] * 4 + ["p", "q"])
    assert encoder.get_feature_names_out().tolist() == ["a=u", "a=v", "a=rare"]
    assert encoder.notes_ == (
        "Column 'a' has 2 rare levels, which are taken as one; "
        "levels never seen will count as rare.",
    )
    assert np.array_equal(
        rows(encoder, ["p", "new", "v", None]), [[0, 0, 1], [0, 0, 1], [0, 1, 0], [0, 0, 1]]
    )


def test_unseen_levels_without_rare_ones_are_none():
    assert np.array_equal(rows(fitted(["u", "v", "w"] * 2), ["new", None]), np.zeros((2, 3)))
    assert np.array_equal(rows(fitted(["u", "v"] * 2), ["new", None]), np.zeros((2, 1)))


def test_a_missing_value_is_a_level():
    encoder = fitted(["u", "u", "v", "v", None])
    assert encoder.get_feature_names_out().tolist() == ["a=u", "a=v", "a=missing"]
    assert np.array_equal(rows(encoder, [None, "u", "new"]), [[0, 0, 1], [1, 0, 0], [0, 0, 0]])


def test_one_level_and_missing_values():
    assert np.allclose(rows(fitted(["u", "u", None]), ["u", None, "new"]), [[-HALF], [HALF], [0]])


def test_how_many_levels_are_kept():
    values = ["u"] * 5 + ["v"] * 4 + ["w"] * 3 + ["p"] * 2
    names = fitted(values, max_levels=2).get_feature_names_out().tolist()
    assert names == ["a=u", "a=v", "a=rare"]
    names = fitted(values, min_count=3).get_feature_names_out().tolist()
    assert names == ["a=u", "a=v", "a=w", "a=rare"]


@pytest.mark.parametrize(("n", "least"), [(20, 2), (1000, 2), (2000, 4), (100_000, 10)])
def test_rows_that_a_level_must_have(n, least):
    values = np.repeat(["u", "v"], n // 2).astype(object)
    values[: least - 1], values[least : 2 * least] = "few", "enough"
    levels = fitted(values).columns_[0].codes[0].levels
    assert levels == ("enough", "u", "v")


def test_names_of_rows_are_left_out():
    tickets = [f"T{i}" for i in range(300)]
    tickets[1] = tickets[0]
    encoder = TableEncoder().fit(pd.DataFrame({"id": tickets, "b": range(300)}))
    assert encoder.notes_ == ("Column 'id' is left out: nearly all its values are rare.",)
    assert encoder.transform(pd.DataFrame({"b": [1]})).shape == (1, 1)


# --- other types ---------------------------------------------------------------------------------


def test_categories_of_frames():
    values = ["u", "v", "w", None] * 2
    wanted = fitted(values).transform(pd.DataFrame({"a": values}))
    for frame in (
        pd.DataFrame({"a": pd.Categorical(values)}),
        pl.DataFrame({"a": pl.Series(values, dtype=pl.Categorical)}),
        pl.DataFrame({"a": pl.Series(values, dtype=pl.Enum(["w", "v", "u"]))}),
        pl.DataFrame({"a": pl.Series(values, dtype=pl.Categorical)}).to_arrow(),
    ):
        assert np.array_equal(TableEncoder().fit_transform(frame), wanted)


def test_labelled_categories_are_never_text_or_numbers():
    long = [f"a level with many words, number {i}" for i in range(30)] * 2
    assert fitted(long).columns_[0].kind == "category"
    assert fitted(pd.Categorical([1, 2, 3] * 2)).columns_[0].kind == "category"


def test_categories_that_are_numbers():
    encoder = fitted([10, 20, 30] * 2, types={"a": "category"})
    assert encoder.get_feature_names_out().tolist() == ["a=10", "a=20", "a=30"]
    wanted = [[0, 1, 0], [0, 0, 0]]
    assert np.array_equal(rows(encoder, [20, 25]), wanted)
    assert np.array_equal(rows(encoder, [20.0, None]), wanted)
    assert np.array_equal(rows(encoder, ["20", None]), wanted)  # known, though of another type
    with pytest.raises(
        InputError,
        match=r"column 'a': values must be numbers, as in fit, or be .*; got text, 'x' in row 1",
    ):
        rows(encoder, ["20", "x"])


def test_numbers_and_words_in_one_column():
    encoder = fitted(pd.Series([1, "one", 1.0, "one", 2.5, 2.5], dtype=object))
    assert encoder.get_feature_names_out().tolist() == ["a=1", "a=2.5", "a=one"]


def test_numbers_that_stand_for_no_known_word_are_refused():
    encoder = fitted(["u", "v", "w"] * 2)
    with pytest.raises(InputError, match="got numbers, '3' in row 0"):
        rows(encoder, [3, 4])
