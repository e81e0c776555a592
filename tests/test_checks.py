"""Checks: what passes, what is refused, and the one form of sentence that says so."""

import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
import sklearn

from mercer import checks
from mercer.checks import (
    InputError,
    InputTypeError,
    KernelError,
    MemoryLimitError,
    MercerError,
    ParseError,
)
from mercer.inputs.items import checked_items

# who: what must hold; got what. What to do.
FORM = re.compile(r"^\S.*: .+ must .+; got .+[.?]$", re.DOTALL)


def message(call, *arguments, error=InputError, **options):
    """The sentence of the error that a call must raise."""
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    return str(caught.value)


def test_sentence_has_one_form():
    assert checks.sentence("Who", "x must be 1", 2) == "Who: x must be 1; got 2."
    told = checks.sentence("Who", "x must be 1", 2, "Say 1.")
    assert told == "Who: x must be 1; got 2. Say 1."


BAD_CALLS = [
    (checks.number, ("K", "gamma", -1), {"above": 0}),
    (checks.number, ("K", "gamma", "1"), {}),
    (checks.whole, ("K", "n", 0), {"least": 1}),
    (checks.one_of, ("K", "method", "x", ("clip", "flip")), {}),
    (checks.finite, ("K", np.array([[np.nan]])), {}),
    (checks.nonnegative, ("K", np.array([[-1.0]])), {}),
    (checks.vector, ("K", "y", [1.0], 2), {}),
    (checks.vector, ("K", "y", ["a", "b"], 2), {}),
    (checks.vector, ("K", "y", [1.0, np.inf], 2), {}),
    (checks.sample_weight, ("K", [-1.0, 1.0], 2), {}),
    (checks.sample_weight, ("K", [0.0, 0.0], 2), {}),
    (checked_items, ("K", [None], frozenset({"sets"})), {}),
    (checks.memory_limit, ("K", "many"), {}),
    (checks.memory_limit, ("K", None), {}),
    (checks.square_matrix, ("K", np.ones((2, 3))), {}),
    (checks.square_matrix, ("K", [["a"]]), {}),
]


@pytest.mark.parametrize(("call", "arguments", "options"), BAD_CALLS)
def test_every_refusal_has_the_form(call, arguments, options):
    assert FORM.match(message(call, *arguments, **options))


def test_error_classes_are_the_ones_that_python_users_expect():
    assert issubclass(InputError, ValueError)
    assert issubclass(InputTypeError, TypeError)
    assert issubclass(KernelError, ValueError)
    assert issubclass(MemoryLimitError, MemoryError)
    for error in (InputError, InputTypeError, KernelError, ParseError, MemoryLimitError):
        assert issubclass(error, MercerError)


# --- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [2, 2.0, np.float32(2), np.float64(2), np.int8(2), np.uint64(2), Fraction(4, 2)]
)
def test_number_takes_every_kind_of_real(value):
    found = checks.number("K", "x", value, above=0)
    assert found == 2.0
    assert type(found) is float


@pytest.mark.parametrize(
    "value", ["2", None, True, np.True_, 2j, np.complex128(2), [2], np.array([2.0]), object()]
)
def test_number_refuses_other_types(value):
    assert "K: x must be a finite number; got " in message(
        checks.number, "K", "x", value, error=InputTypeError
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, np.float32("nan"), 10**400])
def test_number_refuses_what_is_not_finite(value):
    assert "must be a finite number" in message(checks.number, "K", "x", value)


def test_number_bounds():
    assert checks.number("K", "x", 0, least=0, most=0) == 0.0
    assert (
        message(checks.number, "K", "x", 0, above=0, advice="Raise it.")
        == "K: x must be a finite number above 0; got 0. Raise it."
    )
    assert (
        message(checks.number, "K", "x", 3, least=1, most=2)
        == "K: x must be a finite number at least 1 and at most 2; got 3."
    )


def test_whole():
    assert checks.whole("K", "n", np.int32(3), least=1) == 3
    assert type(checks.whole("K", "n", np.int32(3), least=1)) is int
    assert message(checks.whole, "K", "n", 5, least=1, most=4) == (
        "K: n must be a whole number at least 1 and at most 4; got 5."
    )
    for value in (2.0, True, "2", None, np.float64(2)):
        assert "must be a whole number" in message(
            checks.whole, "K", "n", value, least=1, error=InputTypeError
        )


# --- words -------------------------------------------------------------------------------------


def test_one_of():
    assert checks.one_of("repair", "method", "clip", ("clip", "flip")) == "clip"
    assert message(checks.one_of, "repair", "method", "clop", ("clip", "shift")) == (
        "repair: method must be one of 'clip', 'shift'; got 'clop'. Did you mean 'clip'?"
    )
    assert message(checks.one_of, "repair", "method", None, ("clip", "shift")).endswith("got None.")


def test_nearest_is_silent_when_nothing_is_near():
    assert checks.nearest("gaussain", ["Gaussian", "Linear"]) == "Did you mean 'Gaussian'?"
    assert checks.nearest("zzz", ["Gaussian", "Linear"]) == ""
    assert checks.nearest("ag", []) == ""
    assert checks.nearest(12, [123, 9]) == "Did you mean '123'?"


def test_show_is_short():
    assert checks.show("a" * 500) == "'" + "a" * 58 + "…"
    assert checks.show(np.float64(0.5)) == "0.5"
    assert checks.show(np.str_("x")) == "'x'"


# --- arrays ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("container", [np.array, scipy.sparse.csr_array, scipy.sparse.csc_matrix])
def test_finite_names_row_and_column(bad, container):
    values = np.ones((4, 3))
    values[2, 1] = bad
    word = "NaN" if np.isnan(bad) else "infinity"
    assert f"X must have finite numbers only; got {word} in row 2, column 1 (1 such entry)" in (
        message(checks.finite, "K", container(values))
    )
    assert "column 'age'" in message(
        checks.finite, "K", container(values), names=("id", "age", "dose")
    )


def test_finite_counts_and_takes_a_sum_that_overflows():
    values = np.full((2, 2), np.nan)
    assert "(4 such entries)" in message(checks.finite, "K", values)
    checks.finite("K", np.full((2, 2), 1e308))
    checks.finite("K", np.empty((0, 3)))
    # Infinities of both signs make a NaN of the sum, and are still named as what they are.
    assert "infinity in row 0, column 0" in message(
        checks.finite, "K", np.array([[np.inf, -np.inf]])
    )


def test_finite_can_be_assumed():
    with sklearn.config_context(assume_finite=True):
        assert checks.assume_finite()
        checks.finite("K", np.array([[np.nan]]))
    assert not checks.assume_finite()


@pytest.mark.parametrize("container", [np.array, scipy.sparse.csr_array])
def test_nonnegative_names_row_and_column(container):
    values = np.array([[0.0, 1.0, 2.0], [0.0, -3.0, -4.0]])
    told = message(checks.nonnegative, "Chi2", container(values))
    assert told.startswith("Chi2: X must have no negative entries; got -3 in row 1, column 1. ")
    assert "column 'b'" in message(checks.nonnegative, "Chi2", container(values), ("a", "b", "c"))
    checks.nonnegative("Chi2", container(np.abs(values)))


def test_vector():
    found = checks.vector("K", "y", [1, 2], 2)
    assert found.dtype == np.float64
    assert found.tolist() == [1.0, 2.0]
    assert checks.vector("K", "y", np.array([1, 2.5], dtype=object), 2).tolist() == [1.0, 2.5]
    assert "must have shape (2,); got shape (2, 1)" in message(
        checks.vector, "K", "y", [[1.0], [2.0]], 2
    )
    assert "y must be finite; got nan at index 1" in message(
        checks.vector, "K", "y", [1.0, np.nan], 2
    )
    for bad in ([[1.0], [2.0, 3.0]], ["1", "2"], np.array([1j, 2.0])):
        assert "y must be 2 numbers" in message(
            checks.vector, "K", "y", bad, 2, error=InputTypeError
        )


def test_sample_weight():
    assert checks.sample_weight("K", None, 3) is None
    assert checks.sample_weight("K", 2, 3).tolist() == [2.0, 2.0, 2.0]
    assert checks.sample_weight("K", [0, 1.5], 2).tolist() == [0.0, 1.5]
    assert "got -2 at index 1" in message(checks.sample_weight, "K", [1, -2.0], 2)
    assert "above 0 for at least one sample" in message(checks.sample_weight, "K", [0, 0], 2)
    assert "sample_weight must be" in message(checks.sample_weight, "K", True, 2)
    assert "shape (2,); got shape (3,)" in message(checks.sample_weight, "K", [1, 1, 1], 2)


def test_items():
    checked_items("K", [{1}, frozenset()], frozenset({"sets"}))
    checked_items("K", ["ab", b"ab", ["a", 1], ()], frozenset({"sequences"}))
    checked_items("K", [object(), 1], frozenset({"objects"}))
    series, vectors, words = (frozenset({kind}) for kind in ("series", "vector sets", "word maps"))
    assert checked_items("K", [np.array([1, 2])], frozenset({"sequences"})) == [(1, 2)]
    assert checked_items("K", [[1.0, 2.0]], series)[0].dtype == np.float64
    assert checked_items("K", [[[1, 2], [3, 4]]], vectors)[0].shape == (2, 2)
    assert checked_items("K", [((0, -1),)], words)[0].dtype.kind == "i"
    for values, domain, found in (
        ([[1.0], [[1.0, 2.0], [3.0]]], "series", "(list) at index 1"),
        ([[1.0], [1.0, float("nan")]], "series", "(list) at index 1"),
        ([[["a"]]], "vector sets", "(list) at index 0"),
        ([[[0.5]]], "word maps", "(list) at index 0"),
        ([np.ones((2, 2))], "sequences", "(ndarray) at index 0"),
        ([{1}, [1]], "sets", "[1] (list) at index 1"),
        (["a", None], "sequences", "None (NoneType) at index 1"),
        (["a", ["b", ["c"]]], "sequences", "['b', ['c']] (list) at index 1"),
        ([1, None], "objects", "None (NoneType) at index 1"),
        (["a", float("nan")], "sequences", "nan (float) at index 1"),
    ):
        assert found in message(
            checked_items, "K", values, frozenset({domain}), error=InputTypeError
        )


def test_square_matrix():
    assert checks.square_matrix("K", [[1, 2], [3, 4]]).dtype == np.float64
    assert checks.square_matrix("K", np.eye(2, dtype=np.float32)).dtype == np.float32
    assert "must be square" in message(checks.square_matrix, "K", np.ones(3))
    assert "dtype complex128" in message(
        checks.square_matrix, "K", np.eye(2) * 1j, error=InputTypeError
    )
    told = message(checks.square_matrix, "repair", np.array([[np.inf]]))
    assert told == (
        "repair: K must have finite numbers only; got infinity in row 0, column 0 (1 such entry)."
    )


# --- memory ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("2GB", 2 * 10**9),
        ("1.5 gb", 1_500_000_000),
        (".5kB", 500),
        ("3 MiB", 3 * 2**20),
        ("1TiB", 2**40),
        (" 7 ", 7),
        ("12b", 12),
        (10**6, 10**6),
        (1e6, 10**6),
        (np.int64(5), 5),
    ],
)
def test_memory_limit_reads_texts_and_numbers(text, count):
    assert checks.memory_limit("gram", text) == count


@pytest.mark.parametrize("text", ["auto", " AUTO "])
def test_memory_limit_auto(text):
    assert checks.memory_limit("gram", text) is None


@pytest.mark.parametrize("bad", ["2 XB", "GB", "-1GB", "1e9", "", "2 GB 3", "1.2.3"])
def test_memory_limit_refuses_other_texts(bad):
    assert 'a text such as "2GB"; got ' in message(checks.memory_limit, "gram", bad)


@pytest.mark.parametrize("bad", [0, -5, 0.5, np.inf, np.nan, "0GB", "0.1b"])
def test_memory_limit_refuses_what_holds_nothing(bad):
    assert "memory_limit must be a finite number at least 1" in message(
        checks.memory_limit, "gram", bad
    )


def test_memory_limit_refuses_other_types():
    assert 'Leave it out, or say "auto".' in message(
        checks.memory_limit, "gram", None, error=InputTypeError
    )
    for bad in (True, [1], b"2GB"):
        message(checks.memory_limit, "gram", bad, error=InputTypeError)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (2_345_678, "2.3 MB"),
        (7.5e9, "7.5 GB"),
        (3e12, "3.0 TB"),
        (5e16, "50000.0 TB"),
    ],
)
def test_bytes_text(count, text):
    assert checks.bytes_text(count) == text


# --- errors travel between processes -----------------------------------------------------------


@pytest.mark.parametrize("error", [InputError, InputTypeError, KernelError, MemoryLimitError])
def test_errors_pickle(error):
    again = pickle.loads(pickle.dumps(error("K: x must be 1; got 2.")))
    assert type(again) is error
    assert str(again) == "K: x must be 1; got 2."
    assert type(error.__new__(error)) is error  # which is how Dask brings errors back


def test_parse_error_marks_the_position_and_pickles():
    error = ParseError("Gaussian(", 9, "a bracket must be closed")
    first, text, mark = str(error).splitlines()
    assert first == "parse: a bracket must be closed at position 9."
    assert text.strip() == "Gaussian("
    assert mark.index("^") - text.index("G") == 9
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is ParseError
    assert (again.text, again.position, str(again)) == ("Gaussian(", 9, str(error))
