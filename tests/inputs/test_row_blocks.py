"""Points that arrive in blocks: where they come from, what is taken of them, what is refused."""

import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from mercer.checks import InputError, InputTypeError
from mercer.inputs import (
    GRAM,
    ROWS,
    SEQUENCES,
    Frame,
    Matrix,
    Objects,
    RowBlocks,
    as_input,
    register_blocks,
)
from mercer.inputs import convert as conversion
from mercer.kernels import Gaussian, Linear

X = np.random.default_rng(0).normal(size=(11, 3))
CUTS = [4, 5, 9]  # blocks of 4, 1, 4 and 2 rows


def uneven(values=X):
    return np.split(values, CUTS)


def whole(blocks):
    return np.concatenate([block.dense() for block in blocks.blocks()])


SOURCES = {
    "list": lambda: RowBlocks(uneven()),
    "tuple": lambda: RowBlocks(tuple(uneven())),
    "function": lambda: RowBlocks(lambda: iter(uneven())),
    "split": lambda: RowBlocks.split(X, 4),
    "with lengths": lambda: RowBlocks(uneven(), lengths=[4, 1, 4, 2]),
    "sparse": lambda: RowBlocks([scipy.sparse.csr_array(block) for block in uneven()]),
    "split sparse": lambda: RowBlocks.split(scipy.sparse.csr_array(X), 4),
    "dense and sparse": lambda: RowBlocks([X[:4], scipy.sparse.csr_array(X[4:])]),
    "lists": lambda: RowBlocks([block.tolist() for block in uneven()]),
}


@pytest.fixture(params=SOURCES)
def blocks(request):
    return SOURCES[request.param]()


def test_blocks_are_the_whole(blocks):
    assert len(blocks) == 11
    assert np.array_equal(whole(blocks), X)
    assert np.array_equal(whole(blocks), X)  # a second pass is like the first
    assert np.array_equal(whole(as_input(blocks, ROWS)), X)


@pytest.mark.parametrize(
    "rows",
    [
        np.array([10, 0, 4, 4, 3, 9]),
        np.array([-1, 5]),
        slice(2, 10, 3),
        slice(None),
        np.arange(11) % 2 == 0,
        np.array([], dtype=int),
        np.array([4]),
    ],
)
def test_take_across_blocks(blocks, rows):
    assert np.array_equal(as_input(blocks, ROWS).take(rows).dense(), X[rows])


def test_split_reads_a_memory_map_on_demand(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X.astype(np.float32))
    mapped = np.load(path, mmap_mode="r")
    blocks = RowBlocks.split(mapped, 4)
    assert blocks.lengths == (4, 4, 3)
    assert np.array_equal(whole(blocks), X.astype(np.float32))
    first = next(blocks.blocks())
    assert first.dtype == np.float32
    assert np.shares_memory(first.values, mapped)


def test_columns_and_changes_pass_through(blocks):
    chosen = as_input(blocks, ROWS).on((2, 0), ROWS, "K")
    assert np.array_equal(whole(chosen), X[:, [2, 0]])
    moved = as_input(blocks, ROWS).mapped(lambda block: Matrix(block.dense() + 1))
    assert np.array_equal(whole(moved), X + 1)
    # What was changed stays changed when a kernel reads it as its own input.
    assert np.array_equal(whole(as_input(moved, ROWS)), X + 1)
    assert np.array_equal(whole(as_input(chosen, ROWS)), X[:, [2, 0]])
    assert np.array_equal(whole(moved.on((1,), ROWS, "K")), X[:, [1]] + 1)


def test_a_kernel_on_columns_of_blocks(blocks):
    assert np.allclose(Linear().on([2, 0])(blocks), X[:, [2, 0]] @ X[:, [2, 0]].T, rtol=1e-14)


def test_parameters_from_blocks_are_those_of_the_whole(blocks):
    found = Gaussian().resolve(blocks).gamma
    assert found == pytest.approx(1 / (3 * X.var()), rel=1e-13)
    weight = np.arange(11.0)
    found = Gaussian().on([0, 1]).resolve(blocks, sample_weight=weight).inner.gamma
    copies = np.repeat(X[:, :2], np.arange(11), axis=0)
    assert found == pytest.approx(1 / (2 * copies.var()), rel=1e-13)


def test_blocks_of_strings_and_frames():
    words = [["ab", "ba"], ["abab"], ["b", "", "aab"]]
    blocks = as_input(RowBlocks(words), SEQUENCES)
    assert len(blocks) == 6
    taken = blocks.take(np.array([5, 0, 2]))
    assert isinstance(taken, Objects)
    assert taken.raw == ["aab", "ab", "abab"]
    domain = (Gaussian(1.0).on("a") + Gaussian(1.0).on("b")).domain
    for make in (pd.DataFrame, pl.DataFrame):
        frames = [make({"a": [1.0, 2.0], "b": ["x", "y"]}), make({"a": [3.0], "b": ["z"]})]
        taken = as_input(RowBlocks(frames), domain).take(np.array([2, 0]))
        assert isinstance(taken, Frame)
        assert taken.on("a", ROWS, "K").values.tolist() == [[3.0], [1.0]]


def test_an_adapter_makes_a_container_known(monkeypatch):
    monkeypatch.setattr(conversion, "_adapters", [])

    class Store:
        parts = uneven()

    register_blocks(lambda X: isinstance(X, Store), lambda store: RowBlocks(store.parts))
    found = as_input(Store(), ROWS)
    assert isinstance(found, RowBlocks)
    assert np.array_equal(whole(found), X)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    assert np.allclose(Gaussian(0.5)(Store()), np.exp(-0.5 * squares), rtol=1e-13)
    monkeypatch.setattr(conversion, "_adapters", [])
    with pytest.raises(InputTypeError, match="got Store"):
        as_input(Store(), ROWS)


# --- refused -----------------------------------------------------------------------------------


def test_a_block_of_another_width_is_named():
    with pytest.raises(InputError) as caught:
        len(as_input(RowBlocks([X[:4], X[4:8], X[8:, :2]]), ROWS))
    assert str(caught.value) == "RowBlocks block 2: every block must have 3 columns; got 2."


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("domain", [ROWS, (Gaussian(1.0).on("a") + Gaussian(1.0).on("b")).domain])
def test_a_block_with_other_columns_is_named(make, domain):
    frames = [make({"a": [1.0], "b": [2.0]}), make({"b": [2.0], "a": [1.0]})]
    with pytest.raises(InputError) as caught:
        len(as_input(RowBlocks(frames), domain))
    told = "RowBlocks block 1: every block must have the columns a, b; got b, a."
    assert str(caught.value) == told


def test_a_few_points_do_not_keep_their_block():
    made = [X.copy() for _ in range(2)]
    block = weakref.ref(made[0])
    blocks = RowBlocks(lambda: iter([made.pop(0)]))
    assert np.array_equal(blocks.first().dense(), X)
    assert block() is None


def test_a_bad_entry_is_named_by_its_block():
    blocks = uneven(X.copy())
    blocks[2][1, 2] = np.nan
    with pytest.raises(InputError, match=r"RowBlocks block 2: .* NaN in row 1, column 2"):
        Gaussian(1.0)(RowBlocks(blocks))
    with pytest.raises(InputTypeError, match=r"RowBlocks block 1: .* None .* at index 0"):
        len(as_input(RowBlocks([["ab"], [None]]), SEQUENCES))
    with pytest.raises(InputError, match="RowBlocks block 0: X must be 2-D"):
        len(RowBlocks([np.zeros(3)]))


def test_what_can_be_read_once_only_is_refused():
    with pytest.raises(InputTypeError, match="got generator, which can be read only once"):
        RowBlocks(block for block in uneven())
    once = iter(uneven())
    blocks = RowBlocks(lambda: once)
    assert len(blocks) == 11
    with pytest.raises(InputError, match="the same blocks, one or more, in every pass"):
        whole(blocks)


def test_lengths_must_be_those_of_the_blocks():
    with pytest.raises(InputError, match=r"got blocks of \[4, 1, 4, 2\] rows"):
        whole(RowBlocks(uneven(), lengths=[4, 4, 3]))


def test_no_block_at_all_is_refused():
    for source in ([], lambda: iter([])):
        with pytest.raises(InputError, match="one or more"):
            len(RowBlocks(source))


@pytest.mark.parametrize("rows", [0, -1, 2.5, None])
def test_split_needs_a_number_of_rows(rows):
    with pytest.raises(InputError, match="RowBlocks: rows must be a whole number at least 1"):
        RowBlocks.split(X, rows)


def test_a_gram_matrix_does_not_come_in_blocks():
    with pytest.raises(InputTypeError, match=r"must be one matrix .*; got row blocks"):
        as_input(RowBlocks(uneven()), GRAM)


def test_functions_are_read_ahead_and_no_further():
    read = []

    def source():
        for place, block in enumerate(uneven()):
            read.append(place)
            yield block

    blocks = RowBlocks(source).blocks()
    next(blocks)
    next(blocks)
    blocks.close()  # waits for the block that was under way
    assert read in ([0, 1], [0, 1, 2])


def test_an_error_while_reading_ahead_comes_to_whoever_reads():
    def source():
        yield X[:4]
        raise OSError("the disk is gone")

    blocks = RowBlocks(source).blocks()
    assert len(next(blocks)) == 4
    with pytest.raises(OSError, match="the disk is gone"):
        next(blocks)


def test_a_block_of_another_kind_is_named():
    blocks = RowBlocks([X[:4], ["ab"]], convert=lambda block, who: as_input(block, who=who))
    with pytest.raises(InputTypeError, match="block 1: every block must be of the kind of the"):
        list(blocks.blocks())


def test_a_memory_map_that_changes_is_noticed(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X)
    blocks = RowBlocks.split(np.load(path, mmap_mode="r"), 4)
    assert np.array_equal(whole(blocks), X)
    np.save(path, X[:10])
    with pytest.raises(InputError, match="files that have changed"):
        whole(blocks)


def test_some_of_the_points_stay_where_they_are(blocks):
    rows = np.array([0, 3, 5, 6, 10])  # none of the second block
    some = blocks.only(rows)
    assert some.lengths == (2, 2, 1) if blocks.lengths == (4, 1, 4, 2) else len(some) == 5
    assert np.array_equal(whole(some), X[rows])
    assert np.array_equal(some.take([4, 0]).dense(), X[[10, 0]])
    assert np.array_equal(whole(some.mapped(lambda block: block)), X[rows])
    seen = [(rows, len(block)) for rows, block in some.each(lambda block, part: block, list_of)]
    assert [rows.stop - rows.start for rows, _ in seen] == [length for _, length in seen]
    assert seen[-1][0].stop == 5
    assert np.array_equal(whole(some.only(np.array([1, 4]))), X[[3, 10]])


def list_of(rows):
    return list(range(rows.start, rows.stop))
