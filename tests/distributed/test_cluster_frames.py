"""Data frames of Dask, chunks that are unlike others, and answers that are computed later."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from passing_models import CLASSES, KERNEL, NEW, X, Y

from mercer import KernelKMeans, KernelMachineClassifier, KernelRidge
from mercer.checks import InputError, InputTypeError
from mercer.distributed import row_blocks
from mercer.inputs import RowBlocks
from mercer.kernels import Categorical, Gaussian, Spectrum

NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=NAMES)
MODEL = KernelRidge(0.1, kernel=KERNEL, solver="nystrom", n_centers=40, random_state=0)


def partitions(frame, count=4):
    return dd.from_pandas(frame, npartitions=count)


def with_words():
    letters = np.array(["low", "middle", "high"])[CLASSES]
    return FRAME.assign(word=letters, kind=pd.Categorical(letters))


def test_words_and_categories_are_taken_by_kernels_for_them(client):
    frame, lazy = with_words(), partitions(with_words())
    for kernel in (
        Gaussian(0.5).on(["a", "b"]) * Categorical(1.0).on(["word", "kind"]),
        Gaussian(0.5).on("a") + Spectrum(2).on("word"),
    ):
        model = MODEL.set_params(kernel=kernel)
        there = model.fit(lazy, Y).predict(lazy).compute()
        assert there.index.equals(frame.index)
        here = model.fit(RowBlocks([frame[i : i + 60] for i in range(0, 240, 60)]), Y).predict(
            frame
        )
        assert np.allclose(there, here, rtol=0, atol=1e-8)


def test_words_are_refused_where_numbers_must_be(client):
    with pytest.raises(InputTypeError, match=r"every column must hold numbers; got .*word"):
        MODEL.set_params(kernel=KERNEL).fit(partitions(with_words()), Y)


def test_partitions_without_rows(client):
    lazy = partitions(FRAME)
    gaps = dd.concat([lazy.partitions[:2], lazy[lazy["a"] > 100.0], lazy.partitions[2:]])
    model = MODEL.set_params(kernel=KERNEL).fit(gaps, Y)
    wanted = model.predict(FRAME)
    assert np.allclose(model.predict(gaps).compute(), wanted, rtol=0, atol=1e-12)
    assert np.allclose(model.fit(lazy, Y).predict(FRAME), wanted, rtol=0, atol=1e-8)


def test_nothing_but_empty_chunks(client):
    for empty in (da.from_array(X[:0], chunks=(1, 3)), partitions(FRAME).query("a > 100")):
        with pytest.raises(InputError, match=r"there must be at least one point; got 0 sample"):
            MODEL.set_params(kernel=KERNEL).fit(empty, Y[:0])


def test_answers_have_the_meta_of_what_they_will_be(client):
    model = KernelMachineClassifier(kernel=KERNEL, n_centers=40, random_state=0)
    model.fit(partitions(FRAME), CLASSES)
    for method in ("predict", "predict_proba", "decision_function"):
        found = getattr(model, method)(partitions(FRAME))
        computed, wanted = found.compute(), getattr(model, method)(FRAME)
        assert type(found._meta) is type(computed)
        for dtypes in (found._meta.dtypes, computed.dtypes):
            assert np.all(dtypes == wanted.dtype)
        assert computed.index.equals(FRAME.index)
        assert np.allclose(computed, wanted, rtol=0, atol=1e-12)


def test_answers_in_single_precision(client):
    single = da.from_array(X.astype(np.float32), chunks=(50, 3))
    model = KernelKMeans(3, KERNEL, n_centers=40, random_state=0).fit(single)
    distances = model.transform(single)
    assert distances.dtype == distances.compute().dtype == model.transform(single.compute()).dtype


def test_scores_of_what_lies_there(client):
    model = MODEL.set_params(kernel=KERNEL).fit(X, Y)
    lazy, y = da.from_array(X, chunks=(50, 3)), da.from_array(Y, chunks=50)
    assert model.score(lazy, y) == pytest.approx(model.score(X, Y), abs=1e-12)


def test_answers_of_several_arrays_are_not_lazy(client):
    model = MODEL.set_params(kernel=KERNEL).fit(X, Y)
    with pytest.raises(InputTypeError, match="a lazy answer must be one array; got tuple"):
        model.predict(da.from_array(NEW, chunks=(10, 3)), return_std=True)


def wider(block, block_info=None):
    place = block_info[0]["chunk-location"][0]
    return np.hstack([block, block]) if place == 2 else block


def test_a_chunk_of_another_width_is_named(client):
    lazy = da.from_array(X, chunks=(50, 3)).map_blocks(wider, meta=X[:0])
    with pytest.raises(InputError) as caught:
        MODEL.set_params(kernel=KERNEL).fit(lazy, Y)
    assert str(caught.value) == "RowBlocks block 2: every block must have 3 columns; got 6."


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (X[:50], "every block must be of the kind of the first, a data frame"),
        (FRAME[["b", "a", "c"]], "every block must have the columns a, b, c; got b, a, c"),
    ],
)
def test_a_partition_of_another_kind_is_named(client, part, told):
    parts = [dask.delayed(FRAME[:50]), dask.delayed(part, pure=True)]
    lazy = dd.from_delayed(parts, meta=FRAME[:0], verify_meta=False)
    with pytest.raises((InputError, InputTypeError), match=f"block 1: {told}"):
        row_blocks(lazy)
