"""Inputs that are matrices, sequences of objects or Gram rows; and everything that is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn

from mercer.checks import InputError, InputTypeError
from mercer.inputs import (
    ANY,
    CATEGORIES,
    GRAM,
    ROWS,
    SEQUENCES,
    SERIES,
    SETS,
    GramRows,
    Matrix,
    Objects,
    as_input,
    category_codes,
    domain_text,
)
from mercer.kernels import Categorical, Chi2, FunctionKernel, Gaussian, Spectrum, Tanimoto

VALUES = np.array([[1.0, 0.0, -2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 0.5]])
OBJECTS = frozenset({"objects"})


def message(X, domain, error=InputError):
    with pytest.raises(error) as caught:
        as_input(X, domain, "K")
    return str(caught.value)


# --- Matrix ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.longdouble, np.float64),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (np.bool_, np.float64),
    ],
)
def test_matrix_keeps_single_precision_and_doubles_the_rest(dtype, kept):
    found = as_input(np.abs(VALUES).round().astype(dtype), ROWS)
    assert isinstance(found, Matrix)
    assert found.dtype == kept
    assert np.array_equal(found.values, np.abs(VALUES).round().astype(dtype).astype(kept))


@pytest.mark.parametrize("make", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_matrix_takes_both_sparse_kinds(make, kind):
    found = as_input(getattr(scipy.sparse, f"{make}_{kind}")(VALUES), ROWS)
    assert found.is_sparse
    assert found.values.format == "csr"
    assert (len(found), found.n_columns) == (3, 3)
    assert np.array_equal(found.dense(), VALUES)
    assert np.array_equal(found.take(np.array([2, 0])).dense(), VALUES[[2, 0]])
    assert np.array_equal(found.on((2, 0), ROWS, "K").dense(), VALUES[:, [2, 0]])


def test_matrix_shares_memory_with_the_user():
    assert as_input(VALUES, ROWS).values is VALUES


def test_matrix_takes_a_read_only_memory_map(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, VALUES)
    mapped = np.load(path, mmap_mode="r")
    found = as_input(mapped, ROWS)
    assert np.shares_memory(found.values, mapped)
    assert np.array_equal(Gaussian(0.5)(mapped), Gaussian(0.5)(VALUES))


def test_matrix_takes_lists_tuples_and_anything_with_array():
    class Arraylike:
        def __array__(self, dtype=None, copy=None):
            return VALUES

    for given in (VALUES.tolist(), tuple(map(tuple, VALUES)), Arraylike(), list(VALUES)):
        assert np.array_equal(as_input(given, ROWS).values, VALUES)


def test_matrix_on_columns():
    found = Matrix(VALUES, ("a", "b", "c"))
    assert np.array_equal(found.on("b", ROWS, "K").values, VALUES[:, [1]])
    assert np.array_equal(found.on(("c", -3), ROWS, "K").values, VALUES[:, [2, 0]])
    for column, told in ((3, "column 3; got columns a, b, c"), ("d", "column 'd'")):
        with pytest.raises(InputError, match=told):
            found.on(column, ROWS, "K")
    with pytest.raises(InputError, match="column 3; got 3 columns"):
        Matrix(VALUES).on(3, ROWS, "K")
    with pytest.raises(InputError, match="must lead to strings"):
        found.on("a", SEQUENCES, "K")


def test_matrix_of_words_becomes_codes_for_categories():
    words = np.array([["a", "x"], ["b", "x"], ["a", "y"]])
    codes = as_input(words, CATEGORIES)
    assert isinstance(codes, Matrix)
    same = words[:, None, :] == words[None, :, :]
    assert np.array_equal(codes.values[:, None, :] == codes.values[None, :, :], same)


def test_category_codes_depend_on_the_category_alone():
    # A column that happens to read as numbers must not change meaning when a word joins it.
    train, test = np.array([["1"], ["2"]]), np.array([["1"], ["other"]])
    assert Categorical(1.0)(test, train)[0, 0] == 1.0
    assert Categorical(1.0)(test[:1], train)[0, 0] == 1.0
    # Nor one of numbers, whatever their type, in arrays or in lists.
    for column in ([1, "x"], [1.0, "x"], [np.int64(1), "x"], [True, "x"]):
        assert category_codes(column, "K")[0] == 1.0
    assert Categorical(1.0)([["a", 1.0]], [["a", 1]])[0, 0] == 1.0
    assert category_codes(["é"], "K") == category_codes(["z", "é"], "K")[1]
    assert np.isnan(category_codes([None, np.nan, pd.NA, pd.NaT], "K")).all()
    assert np.isfinite(category_codes(["None", "NaT", "nan"], "K")).all()


def test_categories_must_be_hashable():
    with pytest.raises(InputTypeError, match=r"K column 1: .* got \{'a': 1\} \(dict\) in row 0"):
        as_input(np.array([["x", {"a": 1}]], dtype=object), CATEGORIES, "K")


# --- Objects -----------------------------------------------------------------------------------

STRINGS = ["abc", "bcd", "", "abcabc"]


def object_array(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        object_array,
        np.array,
        lambda items: pd.Series(items, index=[7, 3, 3, -1]),
        lambda items: pl.Series("dna", items),
        lambda items: pd.Index(items),
        lambda items: pd.DataFrame({"dna": items}),
        lambda items: pl.DataFrame({"dna": items}),
    ],
)
def test_objects_from_every_container(container):
    found = as_input(container(STRINGS), SEQUENCES)
    assert isinstance(found, Objects)
    assert found.raw == STRINGS
    assert type(found.raw) is list
    assert found.take(np.array([3, 0])).raw == ["abcabc", "abc"]
    assert found.take(np.array([True, False, False, True])).raw == ["abc", "abcabc"]
    assert found.take(slice(1, 3)).raw == ["bcd", ""]
    assert np.array_equal(Spectrum(2)(container(STRINGS)), Spectrum(2).formula(STRINGS))


def test_items_of_equal_shape_do_not_become_a_cube():
    series = [np.full((4, 2), float(i)) for i in range(3)]
    kernel = FunctionKernel(lambda x, y: float((x * y).sum()), pairwise=True)
    found = as_input(series, kernel.domain)
    assert isinstance(found, Objects)
    assert [item.shape for item in found.raw] == [(4, 2)] * 3
    assert np.array_equal(kernel(series), 8.0 * np.outer([0, 1, 2], [0, 1, 2]))
    pairs = [("a", "b"), ("b", "c")]
    assert as_input(pairs, SEQUENCES).raw == pairs


def test_sets_and_rows_are_told_apart():
    sets = [{1, 2}, frozenset({2})]
    assert isinstance(as_input(sets, Tanimoto().domain), Objects)
    assert isinstance(as_input([[1, 2], [0, 2]], Tanimoto().domain), Matrix)
    assert np.array_equal(Tanimoto()(sets), [[1.0, 0.5], [0.5, 1.0]])


def test_a_sequence_of_the_users_own():
    class Lines:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return ["ab", "abab"][i]

    assert as_input(Lines(), SEQUENCES).raw == ["ab", "abab"]


def test_an_input_stays_itself():
    for found in (Matrix(VALUES), Objects(STRINGS), GramRows(VALUES)):
        assert as_input(found, ANY) is found


# --- Gram rows ---------------------------------------------------------------------------------


def test_gram_rows():
    K = VALUES @ VALUES.T
    for given in (K, K.tolist(), pd.DataFrame(K), pl.DataFrame(K), scipy.sparse.csr_array(K)):
        found = as_input(given, GRAM)
        assert isinstance(found, GramRows)
        assert np.array_equal(found.values, K)
        assert np.array_equal(found.columns, [0, 1, 2])
    some = found.take(np.array([2, 0]))
    assert np.array_equal(some.values, K[[2, 0]])
    assert np.array_equal(some.columns, [2, 0])
    new = as_input(K[:2], GRAM)
    assert new.columns is None
    assert new.take(slice(0, 1)).columns is None
    assert as_input(K.astype(np.float32), GRAM).values.dtype == np.float32


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (np.ones(3), "X must be 2-D"),
        ([["a"]], "X must be rows of numbers; got 'a' in row 0, column 0"),
        (np.array([[np.nan]]), "NaN in row 0, column 0"),
        (np.eye(2) * 1j, "Complex data not supported"),
    ],
)
def test_gram_rows_refused(bad, told):
    assert told in message(bad, GRAM)


# --- refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("container", [np.array, list, scipy.sparse.csr_array])
def test_what_is_not_finite_is_named_by_row_and_column(bad, container):
    values = VALUES.copy()
    values[1, 2] = bad
    told = message(container(values), ROWS)
    assert f"{'NaN' if np.isnan(bad) else 'infinity'} in row 1, column 2" in told


def test_none_in_a_row_is_a_missing_number():
    assert "NaN in row 1, column 0" in message([[1.0, 2.0], [None, 3.0]], ROWS)


def test_finiteness_can_be_assumed():
    values = VALUES.copy()
    values[1, 2] = np.nan
    with sklearn.config_context(assume_finite=True):
        assert as_input(values, ROWS).values is values


@pytest.mark.parametrize(
    ("items", "domain", "told"),
    [
        (["ab", None], SEQUENCES, "None (NoneType) at index 1"),
        (["ab", "b", 3], SEQUENCES, "3 (int) at index 2"),
        ([{1}, {2}, "ab"], SETS, "'ab' (str) at index 2"),
        ([1, None], OBJECTS, "None (NoneType) at index 1"),
        (object_array(["ab", None]), SEQUENCES, "None (NoneType) at index 1"),
        (pd.Series(["ab", None], index=[9, 9]), SEQUENCES, "at index 1"),
        (pl.Series(["ab", None]), SEQUENCES, "None (NoneType) at index 1"),
        ([[1, 2], None], ROWS, "None (NoneType) at index 1"),
        ([[1, 2], {3, 4}], ROWS, "{3, 4} (set) at index 1"),
        ([[1, 2], "ab"], ROWS, "'ab' (str) at index 1"),
        ([[1, 2], [3, "x"]], ROWS, "'x' in row 1, column 1"),
        ([[1, 2], [{}, 3]], ROWS, "{} in row 1, column 0"),
        (["a", "b"], ROWS, "'a' in index 0"),
        ([{1}, [2]], Tanimoto().domain, "[2] (list) at index 1"),
    ],
)
def test_a_wrong_item_is_named_by_its_index(items, domain, told):
    assert told in message(items, domain, error=InputTypeError)


def test_rows_of_different_width_are_named():
    for rows in (
        [[1, 2], [3, 4], [5]],
        [np.zeros(2), np.zeros(2), np.zeros(1)],
        ((1, 2), (), (3,)),
    ):
        assert "every row of X must have 2 numbers; got " in message(rows, ROWS)
    assert "1 in row 2" in message([[1, 2], [3, 4], [5]], ROWS)
    assert "items of different lengths" in message([[1, [2]], [3, 4]], ROWS, InputTypeError)
    with pytest.raises(InputError, match="the same columns; got 3 and 2 columns"):
        Gaussian(1.0)(VALUES, VALUES[:, :2])


@pytest.mark.parametrize("shape", [(3,), (), (2, 2, 2), (0,)])
def test_x_must_have_two_dimensions(shape):
    told = message(np.zeros(shape), ROWS)
    assert f"X must be 2-D, one row per point; got shape {shape}. Reshape your data" in told


def test_what_can_be_gone_through_is_no_collection_yet():
    for given, hint in (
        ((text for text in ("ab", "b")), "got generator. Take list(X)."),
        ({"a": "ab"}, "got dict. Take list(X.values())."),
        ({"a": "ab"}.values(), "got dict_values. Take list(X)."),
        (3, "got int."),
    ):
        assert message(given, SEQUENCES, error=InputTypeError).endswith(hint)
    wide = pd.DataFrame(VALUES)
    told = message(wide, SERIES, error=InputTypeError)
    assert told.endswith("If a row is a series, take X.to_numpy().")
    told = message(wide, SEQUENCES, error=InputTypeError)
    assert told.endswith("such as .on(0); X has numbers in 0, 1 and 2.")


def test_one_bare_string_is_no_sequence():
    for domain in (SEQUENCES, ROWS, SETS, ANY):
        told = message("abc", domain, error=InputTypeError)
        assert told.endswith("got one string. Put it into a list.")
        message(b"abc", domain, error=InputTypeError)


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (np.eye(2) * 1j, "complex128"),
        (scipy.sparse.csr_array(np.eye(2) * 1j), "complex128"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "datetime64[D]"),
        ({"a": 1}, "dict"),
        ({1, 2}, "set"),
        (5, "int"),
        (None, "NoneType"),
        ((x for x in VALUES), "generator"),
        (pl.LazyFrame({"a": [1]}), "LazyFrame"),
    ],
)
def test_other_kinds_are_refused_by_name(bad, found):
    assert found in message(bad, ROWS, error=InputTypeError)


def test_a_matrix_for_a_kernel_of_objects():
    assert message(VALUES, SEQUENCES, InputTypeError) == (
        "K: X must be strings or sequences of tokens; got a 2-D array of float64."
    )
    sparse = message(scipy.sparse.csr_array(VALUES), SETS, InputTypeError)
    assert sparse == "K: X must be sets; got a sparse matrix of float64."
    told = message(VALUES, frozenset({"frame"}), InputTypeError)
    assert 'Put the numbers into a data frame, or drop .on("name").' in told
    with pytest.raises(InputError, match="takes a matrix or a data frame; got a sequence of obj"):
        Objects(STRINGS).on("a", SEQUENCES, "K")


@pytest.mark.parametrize("container", [np.array, scipy.sparse.csr_array])
def test_a_negative_entry_is_named_by_row_and_column(container):
    with pytest.raises(InputError, match=r"Chi2: .* got -2 in row 0, column 2"):
        Chi2(1.0)(container(VALUES))


def test_empty_collections_stay_empty():
    assert Gaussian(1.0)(np.empty((0, 3))).shape == (0, 0)
    assert Spectrum(2)([]).shape == (0, 0)
    assert Gaussian(1.0)(np.empty((0, 3)), VALUES).shape == (0, 3)


def test_domains_in_words():
    assert domain_text(ROWS | SETS) == "rows of numbers or sets"
