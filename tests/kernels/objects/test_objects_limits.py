"""Kernels of objects under limits, with progress and stopping, and what is no object."""

import re
from pathlib import Path

import numpy as np
import oracles
import pandas as pd
import polars
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from object_kinds import KINDS, SIDE, WORDS, N

from mercer import SVC, gram
from mercer.checks import InputTypeError
from mercer.grams import prepare
from mercer.kernels import (
    FunctionKernel,
    Gaussian,
    GlobalAlignment,
    Graph,
    PartialTree,
    PyramidMatch,
    SetIntersection,
    SpatialPyramid,
    Spectrum,
    Subsequence,
    SubsetTree,
    Tree,
    WeisfeilerLehman,
)
from mercer.monitor import Monitor, Stopped

random = np.random.default_rng(7)
each_kind = pytest.mark.parametrize("kind", KINDS)


# --- limits, progress, stopping ------------------------------------------------------------------


@each_kind
def test_k_is_the_same_however_it_is_computed(kind):
    kernel, objects = KINDS[kind]
    kernel = kernel.resolve(objects)
    wanted = kernel(objects)
    size = np.abs(wanted).max()
    V = random.normal(size=(N, 2))
    for options in ({}, {"store": False}, {"memory_limit": 60_000}, {"store": True}):
        K = gram(kernel, objects, **options)
        assert_allclose(K.dense(), wanted, rtol=1e-13, atol=1e-14 * size)
        assert_allclose(K @ V, wanted @ V, rtol=1e-12, atol=1e-11 * size)
        assert_allclose(K.rows([3, 1]), wanted[[3, 1]], rtol=1e-13, atol=1e-14 * size)
        assert_allclose(K.diag(), np.diag(wanted), rtol=1e-13)
    new = prepare(kernel, objects[:25]).gram(objects[25:])
    assert_allclose(new.dense(), wanted[25:, :25], rtol=1e-13, atol=1e-14 * size)


CHAIN = Tree.from_preorder(["a"] * 12_000, [1] * 11_999 + [0])


@pytest.mark.parametrize(
    ("kernel", "item"),
    [
        (Subsequence(8, 0.5), "ab" * 8000),
        (SubsetTree(), CHAIN),
        (PartialTree(), CHAIN),
        (PartialTree(), Tree("a", [Tree("b")] * 15_000)),
    ],
    ids=["Subsequence", "SubsetTree", "PartialTree", "wide"],
)
def test_one_long_pair_can_be_stopped_in_the_midst_of_it(kernel, item):
    asked = []
    only, out = np.zeros(1, dtype=np.int64), np.empty((1, 1))
    job = kernel.job(kernel.encode([item]), kernel.encode([item]))
    # Asked only once the pair is done, it would be asked once.
    done = job.store(only, only, False, 0, 1, out, lambda: asked.append(1) or len(asked) == 3)
    assert not done
    assert len(asked) == 3


def test_pairs_tell_how_far_they_have_come_and_can_be_stopped():
    words = ["".join(random.choice(list("abcd"), 60)) for _ in range(60)]
    heard = []
    watch = Monitor(progress=lambda what, done: heard.append((what, done)))
    gram(Subsequence(4, 0.5), words, store=False, monitor=watch).dense()
    shares = [done for what, done in heard if what == "Subsequence"]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    stopped = Monitor()
    stopped.cancel()
    with pytest.raises(Stopped):
        gram(Subsequence(4, 0.5), words, monitor=stopped).dense()
    late = Monitor(progress=lambda what, done: late.cancel() if done > 0 else None)
    with pytest.raises(Stopped):
        gram(Subsequence(4, 0.5), words * 4, monitor=late).dense()


def test_explain_tells_what_the_core_computes():
    frame = pd.DataFrame({"words": WORDS, "sizes": np.arange(float(N))})
    texts = Subsequence(2, 0.5)
    told = gram(texts.normalized(), WORDS).explain()
    assert (told.statistics, told.numpy) == (("Subsequence(2, 0.5)",), ())
    told = gram(texts.on("words").normalized(), frame).explain()
    assert (told.statistics, told.numpy) == (("Subsequence(2, 0.5) on words",), ())
    told = gram(texts.on("words") + Gaussian(1.0).on("sizes"), frame).explain()
    assert set(told.statistics) == {"Subsequence(2, 0.5) on words", "squared distance on sizes"}
    assert told.numpy == ()
    told = gram(FunctionKernel(texts.pair, pairwise=True), WORDS[:3]).explain()
    assert told.statistics == ()
    assert told.numpy[0].endswith("(pair by pair in Python)")


# --- what is no object ---------------------------------------------------------------------------


@each_kind
def test_what_is_no_object_is_named_with_its_index(kind):
    kernel, objects = KINDS[kind]
    for wrong in (None, 3.5, {"a": 1}):
        with pytest.raises(InputTypeError, match=r"every item must be .* at index 2\."):
            SVC(kernel=kernel).fit([*objects[:2], wrong, *objects[3:]], SIDE)
    model = SVC(kernel=kernel.normalized()).fit(objects, SIDE)
    with pytest.raises(InputTypeError, match="at index 1"):
        model.predict([objects[0], None])
    with pytest.raises((InputTypeError, TypeError), match="must be"):
        model.predict("one string" if kind != "strings" else 3)


@pytest.mark.parametrize(
    ("kernel", "single"),
    [
        (SetIntersection(), {1, 2}),
        (Spectrum(1), [1, 2]),
        (SubsetTree(), Tree.parse("(S a)")),
        (WeisfeilerLehman(), Graph(2, [(0, 1)])),
        (GlobalAlignment(1.0), [1.0, 2.0]),
        (GlobalAlignment(1.0), np.zeros(3)),
        (PyramidMatch(1), [[1, 2], [3, 4]]),
        (PyramidMatch(1), np.zeros((2, 3))),
        (SpatialPyramid(1), np.zeros((2, 3), int)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_single_object_belongs_into_a_list(kernel, single):
    with pytest.raises(InputTypeError, match="Put a single one into a list"):
        kernel(single)
    assert kernel([single]).shape == (1, 1)


def test_the_advice_fits_what_was_given():
    with pytest.raises(InputTypeError, match=r"index 1\. Drop it, or replace it by an empty one"):
        Spectrum(1)(["a", float("nan")])
    with pytest.raises(InputTypeError, match=r"index 1\. Make it one: text\.split"):
        Spectrum(1)(["a", 5])
    with pytest.raises(InputTypeError, match=r"index 0\. Make it one with set"):
        SetIntersection()(["abc"])
    with pytest.raises(InputTypeError, match=r"index 0. .* an empty one is np.zeros\(\(0, d\)\)"):
        PyramidMatch(1)([[], np.zeros((2, 2))])


@pytest.mark.parametrize("library", [pd, polars], ids=["pandas", "polars"])
def test_columns_and_frames_are_series_vectors_and_tokens(library):
    series = [np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0])]
    kernel = GlobalAlignment(0.5)
    assert_array_equal(kernel([library.Series(one) for one in series]), kernel(series))
    sets = [np.array([[1, 2], [3, 4]]), np.array([[1, 2]])]
    for kernel in (GlobalAlignment(0.5), PyramidMatch(2), SpatialPyramid(1)):
        frames = [library.DataFrame({"a": one[:, 0], "b": one[:, 1]}) for one in sets]
        assert_array_equal(kernel(frames), kernel(sets))
    words = [["to", "be"], ["be"]]
    assert_array_equal(Spectrum(1)([library.Series(one) for one in words]), Spectrum(1)(words))
    with pytest.raises(InputTypeError, match="at index 0"):
        GlobalAlignment(0.5)([library.Series(["a", "b"])])


def test_numbers_that_no_double_holds_are_refused():
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        with pytest.raises(InputTypeError, match="finite numbers"):
            GlobalAlignment(1.0)([np.array([np.finfo(np.longdouble).max])])
    assert GlobalAlignment(1.0)([np.zeros(3, np.longdouble)]) == 1.0


def test_the_oracles_do_not_import_what_they_judge():
    for oracle in (oracles, *oracles.OBJECTS):
        assert not re.search("^(import|from) mercer", Path(oracle.__file__).read_text(), re.M)
