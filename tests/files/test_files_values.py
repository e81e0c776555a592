"""Values in a model file: all types there and back, and contents that make no sense."""

import json

import numpy as np
import pytest
import scipy.sparse
from forgery import same
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mercer.checks import FileError
from mercer.files.columns import pack_column, unpack_column
from mercer.files.context import LoadContext, SaveContext
from mercer.files.values import pack_value, unpack_value
from mercer.kernels import Basis, Gaussian, Linear
from mercer.models import PrototypeCertificate
from mercer.storage import strict


def packed(value):
    packing = SaveContext()
    return pack_value(value, packing, "state.x_"), packing


def back(value):
    """The value after a way through JSON and tensors."""
    data, packing = packed(value)
    text = json.dumps(data, allow_nan=False)
    unpacking = LoadContext("test", packing.tensors, packing.functions)
    found = unpack_value(strict.loads(text, "test"), unpacking)
    unpacking.finish()
    return found


def objects(items):
    """An array of objects, whatever they are."""
    found = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        found[index] = item
    return found


# --- there and back ----------------------------------------------------------------------------

HASHABLE = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats()
    | st.text(max_size=4)
    | st.binary(max_size=4)
)
HASHABLE |= st.tuples(HASHABLE, HASHABLE) | st.frozensets(HASHABLE, max_size=3)
DTYPES = (
    arrays.boolean_dtypes()
    | arrays.integer_dtypes()
    | arrays.unsigned_integer_dtypes()
    | arrays.floating_dtypes(sizes=(16, 32, 64), endianness="=")
    | arrays.unicode_string_dtypes(endianness="=", max_len=5)
    | arrays.byte_string_dtypes(max_len=5)
)
ARRAYS = DTYPES.flatmap(
    lambda dtype: arrays.arrays(
        dtype.newbyteorder("<"), arrays.array_shapes(min_dims=0, min_side=0)
    )
)
SCALARS = ARRAYS.filter(lambda array: array.size).map(lambda array: array.reshape(-1)[0])
VALUES = st.recursive(
    HASHABLE | ARRAYS | SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.sets(HASHABLE, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_any_value_comes_back(value):
    assert same(back(value), value)


@given(st.lists(VALUES, max_size=6))
def test_any_list_is_a_column(items):
    packing = SaveContext()
    column = pack_column(items, packing, "x")
    unpacking = LoadContext("test", packing.tensors, {})
    assert same(unpack_column(column, unpacking), items)
    unpacking.finish()


@pytest.mark.parametrize(
    "value",
    [
        -0.0,
        5e-324,
        2**53,
        2**53 + 1,
        -(2**63),
        2**63 - 1,
        10**400,
        -(16**5000),
        float("nan"),
        float("-inf"),
        "",
        "\0",
        list(range(257)),
        tuple("a" * 300),
        [[]] * 300,
        {str(i): i for i in range(300)},
        {1: "a", None: b"b", (1, "c"): [2.5]},
        np.float32(0.1),
        np.datetime64("2026-01-01T00:00", "us"),
        np.array(["2026-01-01", "NaT"], "datetime64[D]"),
        np.array([1, 2], "timedelta64[ns]"),
        np.array(3),
        np.array("ab"),
        np.array([[None, "a"], [{1}, (2,)]], dtype=object),
        np.empty((0, 3), dtype=object),
        objects([[1, 2], [3, 4]]),
        objects([[1]]),
        objects([np.ones(2), np.zeros(2)]),
        np.array(None, dtype=object),
        np.array([[1, 2], None, "x"], dtype=object),
        [np.zeros((2, 0, 3)), np.zeros(()), np.array(["ab", "c"]), np.array([b"x"])],
        scipy.sparse.csr_array(np.eye(3, dtype=np.int8)),
        scipy.sparse.csr_matrix((0, 5)),
        Gaussian("scale") + 2 * Linear(),
        [Gaussian(float(i + 1)) for i in range(300)],
        tuple({"kernel": Linear(), "alpha": 1.0} for _ in range(300)),
        {str(i): [Linear(), i] for i in range(300)},
        Basis(2, ids=np.array([1, 2**64 - 1], dtype=np.uint64), parts=(Basis(1),)),
        PrototypeCertificate(
            status="exact",
            plan="stored",
            kernel_entries=4,
            bytes=32,
            seconds=0.5,
            separation=float("inf"),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_this_value_comes_back(value):
    assert same(back(value), value)


def test_the_order_in_memory_comes_back():
    for value in (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3))):
        found = back(value)
        assert same(found, value)
        assert found.flags.c_contiguous == value.flags.c_contiguous
        assert found.flags.writeable


def test_arrays_of_another_layout():
    assert same(back(np.arange(6.0)[::2]), np.array([0.0, 2.0, 4.0]))
    assert same(back(np.arange(3, dtype=">i4")), np.arange(3, dtype="<i4"))
    assert same(back(np.array(["ab"], ">U2")), np.array(["ab"]))


def test_sets_are_written_in_one_order():
    words = [f"word {i}" for i in range(100)]
    written = packed(set(words))[1].tensors["state.x_.items"].tobytes().decode()
    assert written == "".join(sorted(words))


def test_a_list_of_many_arrays_is_a_few_tensors():
    items = [np.full((i % 3, 2), i) for i in range(5000)]
    assert len(packed(items)[1].tensors) <= 5
    assert same(back(items), items)


def test_names_of_tensors_are_told_apart():
    assert same(back({"a": {"b": np.ones(1)}, "a.b": np.zeros(2)}), {
        "a": {"b": np.ones(1)},
        "a.b": np.zeros(2),
    })  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        np.longdouble(1),
        np.array([1j]),
        np.array([(1, 2.0)], dtype="i4,f8"),
        np.datetime64("NaT"),
        range(3),
        [object()] * 300,
        [{1: object}],
        np.array([object()]),
        scipy.sparse.csc_array(np.eye(2)),
        type("Text", (str,), {})("a"),
        type("Pair", (tuple,), {})((1, 2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_word_is_refused(value):
    with pytest.raises(
        FileError, match=r"state\.x_\S* must be something that a model file can hold"
    ):
        packed(value)


def test_a_list_of_too_many_kinds_is_refused():
    items = [np.array(["a" * (i + 1)]) for i in range(300)]
    with pytest.raises(FileError, match=r"state\.x_\S*, a list with 300 kinds of items, must be"):
        packed(items)


@pytest.mark.parametrize(
    "value", ["\ud800", ["\ud800"] * 300, {"\ud800": 1}, {"\ud800": np.ones(1)}, {1: "\udfff"}]
)
def test_text_that_is_no_unicode_is_refused(value):
    with pytest.raises(FileError, match=r"texts must be valid Unicode.*'\\ud"):
        packed(value)
