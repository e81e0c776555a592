"""Counts of objects: codes of tokens, tables, and blocks of K where counts meet."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mercer import SVC, _native, gram
from mercer.checks import KernelError
from mercer.grams.blocks import objects as counted
from mercer.grams.blocks.objects import sparse_products
from mercer.inputs import SEQUENCES, Objects, as_input
from mercer.kernels import CountKernel, Gaussian, Intersection, Linear, SetIntersection
from mercer.kernels.objects.counted import Table
from mercer.kernels.objects.tokens import mix, sequences, token_code, token_codes
from mercer.monitor import Monitor, Stopped

pytestmark = pytest.mark.native

TOKENS = ["a", "ab", "", "é", "😀", b"a", b"", 1, 2, -1, 2**70, 0.5, -0.0, float("inf"), None]
TOKENS += [(), ("a",), ("a", "b"), (("a",), "b"), ("a", ("b",)), frozenset(), frozenset("ab")]
TOKENS += [Decimal(-1), Decimal(-2), Decimal("0.1"), 0.1, Fraction(1, 3), 1 / 3, 2**70 + 1]
TOKENS += [2**53, 2**53 + 1, 2**64 - 1, 2.0**64, 10**5000]
TOKENS += [Decimal("1e400"), 10**400, Fraction(10**400, 3), Fraction(1, 10), 1 + 0j, 1j, 2j, 1 + 1j]
TOKENS += ["\x00", "\x00\x00", "\ud800", (1, "a"), ("1", "a"), True + 1, 1e300]


# --- codes of tokens -----------------------------------------------------------------------------


def test_tokens_have_one_code_exactly_if_they_are_equal():
    for a in TOKENS:
        for b in TOKENS:
            assert (token_code(a) == token_code(b)) == (a == b), (a, b)


def test_equal_numbers_of_different_types_have_one_code():
    assert len({token_code(x) for x in (1, 1.0, True, np.int8(1), np.float32(1), np.True_)}) == 1
    assert token_code(np.float64(0.5)) == token_code(0.5) == token_code(Decimal("0.5"))
    assert token_code(Decimal(2)) == token_code(2) == token_code(Fraction(4, 2))
    for whole in (2**53 + 1, 2**63 - 1):  # more digits than a float has
        assert token_code(np.int64(whole)) == token_code(np.uint64(whole)) == token_code(whole)
    assert token_code(np.str_("ab")) == token_code("ab")
    assert token_code(float("nan")) == token_code(np.nan)


def test_a_character_is_its_code_point_and_nothing_else_is_as_small():
    assert token_code("é") == 233
    assert token_code("😀") == 0x1F600
    assert all(
        2**32 <= token_code(t) < 2**64 for t in TOKENS if not (isinstance(t, str) and len(t) == 1)
    )


def test_codes_are_the_same_in_every_process():
    text = (
        "from mercer.kernels.objects.tokens import token_code as code\nfrom uuid import SafeUUID\n"
    )
    text += "print(code('ab'), code((1, 'x', frozenset('qrs'))), code(SafeUUID.safe))"
    found = {
        subprocess.run(
            [sys.executable, "-c", text],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_other_hashable_objects_are_told_apart_by_their_equality():
    @dataclass(frozen=True)
    class Step:
        letter: str | int

    @dataclass(frozen=True)
    class Other:
        letter: str | int

    assert token_code(Step("a")) == token_code(Step("a")) != token_code(Step("b"))
    assert hash(Step(-1)) == hash(Step(-2)) == hash(Other(-1))  # Python gives -1 and -2 one hash
    codes = [token_code(step) for step in (Step(-1), Step(-2), Other(-1), Step(-2), Step(-1))]
    assert len(set(codes)) == 3
    assert codes[3:] == [codes[1], codes[0]]


def test_mix_is_one_to_one_where_it_was_tried():
    codes = np.arange(100_000, dtype=np.uint64)
    mixed = mix(codes)
    assert len(np.unique(mixed)) == len(codes)
    assert 0.45 < np.mean(mixed >> np.uint64(63)) < 0.55


def test_a_string_is_the_sequence_of_its_characters_and_bytes_of_their_numbers():
    for items in (["añ😀", "", "b"], [list("añ😀"), (), ["b"]], ["añ😀", [], "b"]):
        found = sequences(items)
        assert_array_equal(found.codes, [97, 0xF1, 0x1F600, 98])
        assert_array_equal(found.ends, [0, 3, 3, 4])
    assert_array_equal(sequences([b"ab"]).codes, token_codes([97, 98]))
    assert len(sequences([])) == 0


# --- tables --------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=8))
def test_a_table_counts(lists):
    ends = np.cumsum([0, *map(len, lists)])
    ids = np.array([one for items in lists for one in items], dtype=np.uint64)
    table = Table.of(ends, ids)
    assert len(table) == len(lists)
    for i, items in enumerate(lists):
        part = slice(table.ends[i], table.ends[i + 1])
        pairs = zip(table.ids[part].tolist(), table.values[part].tolist(), strict=True)
        assert list(pairs) == sorted(Counter(items).items())


def test_a_table_sums_what_tokens_count_and_leaves_its_arguments_alone():
    ids, values = np.array([7, 3, 7], dtype=np.uint64), np.array([0.5, 1.0, 0.25])
    table = Table.of(np.array([0, 3]), ids, values)
    assert_array_equal(table.ids, [3, 7])
    assert_array_equal(table.values, [1.0, 0.75])
    assert_array_equal(ids, [7, 3, 7])
    assert_array_equal(values, [0.5, 1.0, 0.25])


def test_rows_of_a_table_leave_out_unknown_tokens():
    table = Table.of(np.array([0, 2, 2, 4]), np.array([5, 2**64 - 1, 5, 9], dtype=np.uint64))
    rows = table.rows(np.array([1, 5, 9], dtype=np.uint64))
    assert_array_equal(rows.toarray(), [[0, 1, 0], [0, 0, 0], [0, 1, 1]])
    assert table.rows(np.zeros(0, dtype=np.uint64)).shape == (3, 0)


def whole(*numbers):
    return np.array(numbers, dtype=np.int64)


def test_native_tables_refuse_arrays_that_do_not_hold_together():
    ids, values = np.zeros(3, dtype=np.uint64), np.zeros(3)
    for ends in ([0, 2, 1], [0, 4], [-1, 2], [0, 2**62]):
        with pytest.raises(ValueError, match="ends must ascend"):
            _native.merge_tokens(whole(*ends), ids, values, whole(*ends[1:]), None)
    with pytest.raises(ValueError, match="must fit"):
        _native.merge_tokens(whole(0, 3), ids, values[:2], whole(0), None)
    with pytest.raises(ValueError, match="one more end"):
        _native.pack_tokens(whole(), whole(), ids, values, ids, values)
    for kept in (-1, 4, 2**62):
        with pytest.raises(ValueError, match="what is kept must be there"):
            _native.pack_tokens(whole(0, 3), whole(kept), ids, values, ids.copy(), values.copy())
    with pytest.raises(ValueError, match="room for what is kept"):
        _native.pack_tokens(whole(0, 3), whole(2), ids, values, ids.copy(), values.copy())
    with pytest.raises(ValueError, match="room for each id"):
        _native.look_up(ids[:1], ids, np.zeros(2, dtype=np.int32), None)


# --- where counts meet ---------------------------------------------------------------------------


def counts(random, rows, columns, density):
    dense = random.integers(1, 5, (rows, columns)) * (random.random((rows, columns)) < density)
    dense[:, :3] = random.integers(0, 3, (rows, 3))  # dense columns
    return dense.astype(np.float64)


@pytest.mark.parametrize("minimum", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(0, 5), (1, 70), (70, 1), (90, 130), (200, 4200)])
def test_sparse_products_of_two_collections(rows, columns, minimum):
    random = np.random.default_rng(rows)
    left, right = counts(random, rows, 40, 0.1), counts(random, columns, 40, 0.1)
    if minimum:
        wanted = np.minimum(left[:, None, :], right[None, :, :]).sum(axis=2)
    else:
        wanted = left @ right.T
    sparse = map(scipy.sparse.csr_array, (left, right))
    found = sparse_products(*sparse, same=False, monitor=Monitor(), minimum=minimum)
    assert_array_equal(found, wanted)


@pytest.mark.parametrize("minimum", [False, True])
@pytest.mark.parametrize("n", [1, 17, 65, 300, 4500])
def test_sparse_products_of_one_collection_are_mirrored(n, minimum):
    rows = counts(np.random.default_rng(n), n, 30, 0.08)
    sparse = scipy.sparse.csr_array(rows)
    found = sparse_products(sparse, sparse, same=True, monitor=Monitor(), minimum=minimum)
    assert_array_equal(found, found.T)
    some = slice(None, None, max(1, n // 50))
    if minimum:
        wanted = np.minimum(rows[some, None, :], rows[None, some, :]).sum(axis=2)
    else:
        wanted = rows[some] @ rows[some].T
    assert_array_equal(found[some, some], wanted)


def test_many_dense_columns_are_gone_through_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr(counted, "DENSE", 0)
    rows = np.random.default_rng(4).integers(0, 3, (70, 200)).astype(np.float64)
    sparse = scipy.sparse.csr_array(rows)
    found = sparse_products(sparse, sparse, same=True, monitor=Monitor())
    assert_array_equal(found, rows @ rows.T)
    found = sparse_products(sparse, sparse[:66], same=False, monitor=Monitor(), minimum=True)
    assert_array_equal(found, np.minimum(rows[:, None], rows[None, :66]).sum(axis=2))


def test_sparse_products_refuse_rows_that_do_not_hold_together():
    ends, columns, values = whole(0, 1, 2), np.array([0, 1], dtype=np.int32), np.ones(2)
    good = (ends, columns, values)

    def meet(left, width=2, out=None):
        out = np.zeros((2, 2)) if out is None else out
        return _native.add_meetings(*left, *good, width, False, False, out, None)

    assert meet(good)
    with pytest.raises(ValueError, match="ends must ascend"):
        meet((whole(0, 3, 2), columns, values))
    with pytest.raises(IndexError, match="no such column"):
        meet(good, width=1)
    with pytest.raises(IndexError, match="no such column"):
        meet((ends, columns - 1, values))
    with pytest.raises(ValueError, match="must fit"):
        meet((ends, columns, values[:1]))
    with pytest.raises(ValueError, match="must fit"):
        meet((ends[:2], columns, values))
    with pytest.raises(ValueError, match="out must have"):
        meet(good, out=np.zeros((2, 3)))


def test_sparse_products_can_be_stopped():
    rows = scipy.sparse.csr_array(np.ones((200, 5)))
    cancelled = Monitor()
    cancelled.cancel()
    with pytest.raises(Stopped):
        sparse_products(rows, rows, same=True, monitor=cancelled)


def test_sparse_matrices_of_many_columns_meet_as_well():
    random = np.random.default_rng(3)
    wide = scipy.sparse.random_array((150, 40_000), density=5e-4, rng=random, format="csr")
    dense = wide.toarray()
    np.testing.assert_allclose(Linear()(wide), dense @ dense.T, atol=1e-14)
    wanted = [[np.minimum(x, y).sum() for y in dense[:20]] for x in dense[:20]]
    np.testing.assert_allclose(Intersection()(wide)[:20, :20], wanted, atol=1e-14)


# --- kernels of one's own ------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class _Letters(CountKernel):
    """Counts letters, doubly if they are capital ones; with `least`, by their minimum."""

    domain = SEQUENCES
    least: bool = False

    @property
    def overlap(self):
        return self.least

    def counts(self, x):
        found = Counter()
        for letter in x:
            found[letter.lower()] += 2.0 if letter.isupper() else 1.0
        return found


words = st.lists(st.text("abAB", max_size=6), min_size=1, max_size=9)


@settings(max_examples=40)
@given(words, words, st.booleans())
def test_blocks_are_those_of_the_definition(left, right, least):
    kernel = _Letters(least)
    assert_array_equal(kernel(left), kernel.formula(left))
    assert_array_equal(kernel(left, right), kernel.formula(left, right))
    assert_array_equal(kernel.diag(left), np.diag(kernel.formula(left)))
    both = kernel(left + right)
    assert_array_equal(kernel(left, right), both[: len(left), len(left) :])
    pairs = Objects(left[:1] * len(right)), Objects(right)
    assert_array_equal(kernel.matched(*pairs), kernel.formula(left[:1], right)[0])


def test_an_overlap_has_no_map_and_says_so():
    kernel = _Letters(least=True)
    assert not kernel.has_map()
    assert kernel.basis(["ab"]) is None
    with pytest.raises(KernelError, match="finite feature map"):
        kernel.features(["ab"])
    assert gram(kernel, ["ab", "b"]).plan.kind == "stored"
    assert gram(kernel, ["ab", "b"]).explain().statistics == (repr(kernel),)
    fitted = SVC(kernel=kernel).fit(["aab", "ab", "bbA", "bB"], [0, 0, 1, 1])
    assert fitted.predict(["", "zzz", "aaaaab"]).shape == (3,)


def test_tables_are_made_once_for_a_collection_and_stay_out_of_pickles():
    import pickle

    calls = []

    @dataclass(frozen=True, repr=False)
    class _Counting(_Letters):
        def tabulate(self, items):
            calls.append(len(items))
            return super().tabulate(items)

    points = as_input(["ab", "b", "Ab"], SEQUENCES)
    kernel = _Counting().normalized()
    first = kernel(points)
    assert_array_equal(kernel(points), first)
    assert calls == [3]
    again = pickle.loads(pickle.dumps(points))
    assert again.items == points.items
    assert "_known" not in vars(again)


def test_objects_and_numbers_in_one_expression():
    import pandas

    frame = pandas.DataFrame({"tags": [{1, 2}, {2}, set()], "size": [0.0, 1.0, 2.0]})
    kernel = SetIntersection().on("tags") * Gaussian(0.5).on(["size"]) + 1
    np.testing.assert_allclose(kernel(frame), kernel.formula(frame), rtol=1e-14)
