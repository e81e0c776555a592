"""Prepared points, families of kernels, and the digits that survive offsets and scales."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mercer.checks import InputError, KernelError, MercerError
from mercer.grams import Multiply, Normal, Sums, TopK, gram, gram_family, prepare
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Constant,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Spectrum,
)

random = np.random.default_rng(11)
TRAIN, TEST = random.normal(size=(120, 4)), random.normal(size=(30, 4))


def squares(X, Y, exact=np.float64):
    X, Y = X.astype(exact), Y.astype(exact)
    return ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=-1)


# --- prepare -----------------------------------------------------------------------------------


def test_parameters_are_those_of_the_training_data():
    prepared = prepare(Gaussian() + 2 * Gaussian("auto").on([0, 1]), TRAIN)
    first, second = prepared.kernel.terms
    assert first.gamma == pytest.approx(1 / (4 * TRAIN.var()), rel=1e-14)
    assert second.inner.inner.gamma == 0.5
    assert len(prepared) == 120
    assert np.array_equal(prepared.points.raw, TRAIN)
    # New points, however they are spread, do not change them.
    wanted = np.exp(-first.gamma * squares(TEST * 50, TRAIN))
    wanted += 2 * np.exp(-0.5 * squares(TEST[:, :2] * 50, TRAIN[:, :2]))
    assert np.allclose(prepared.gram(TEST * 50).dense(), wanted, rtol=1e-12, atol=1e-300)


def test_sample_weights_count_as_repetition():
    weight = np.arange(120) % 4
    found = prepare(Gaussian(), TRAIN, sample_weight=weight).kernel.gamma
    assert found == pytest.approx(1 / (4 * np.repeat(TRAIN, weight, axis=0).var()), rel=1e-13)
    with pytest.raises(InputError, match=r"sample_weight must have shape \(120,\)"):
        prepare(Gaussian(), TRAIN, sample_weight=[1.0])


@pytest.mark.parametrize("store", [None, True, False])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_row_and_a_batch_agree(store, offset, dtype):
    train, test = (TRAIN + offset).astype(dtype), (TEST + offset).astype(dtype)
    for kernel in (Gaussian(0.3), Matern(0.5), Laplacian(0.3) + Gaussian(0.1)):
        prepared = prepare(kernel, train)
        batch = prepared.gram(test, store=store).dense()
        alone = np.concatenate([prepared.gram(test[[i]], store=store).dense() for i in range(30)])
        assert np.abs(alone - batch).max() <= 4 * np.finfo(dtype).eps


def test_taken_points_keep_the_kernel_and_are_copies():
    train = TRAIN.copy()
    prepared = prepare(Gaussian(), train)
    rows = np.array([7, 3, 100])
    kept = prepared.take(rows)
    assert len(kept) == 3
    assert kept.kernel == prepared.kernel
    wanted = np.exp(-kept.kernel.gamma * squares(TEST, TRAIN[rows]))
    assert np.allclose(kept.gram(TEST).dense(), wanted, rtol=1e-13)
    for some in (kept, prepared.take(slice(2, 9))):
        assert not np.shares_memory(some.points.raw, train)
    train[:] = 0.0
    assert np.allclose(kept.gram(TEST).dense(), wanted, rtol=1e-13)


def test_taken_points_of_every_kind():
    words = ["abab", "ba", "", "bbb"]
    kept = prepare(Spectrum(2), words).take(np.array([3, 0]))
    assert kept.gram(["ab", "bb"]).dense().tolist() == [[0.0, 2.0], [2.0, 0.0]]
    K = TRAIN @ TRAIN.T
    kept = prepare(2.0 * Precomputed(), K).take(np.array([5, 1]))
    assert np.array_equal(kept.gram(K[:3]).dense(), 2 * K[:3][:, [5, 1]])
    assert np.array_equal(kept.gram().dense(), 2 * K[np.ix_([5, 1], [5, 1])])
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "s": ["x", "y", "x"]}, index=[4, 4, 4])
    kept = prepare(Linear().on("a") * Spectrum(1).on("s"), frame).take(np.array([2, 0]))
    assert kept.gram(frame).dense().tolist() == [[3.0, 1.0], [0.0, 0.0], [9.0, 3.0]]
    blocks = RowBlocks.split(TRAIN, 50)
    kept = prepare(Gaussian(0.3), blocks).take(np.array([119, 0]))
    assert np.allclose(kept.gram(TEST).dense(), np.exp(-0.3 * squares(TEST, TRAIN[[119, 0]])))


@pytest.mark.parametrize(
    ("kernel", "points", "new"),
    [
        (Gaussian(), TRAIN, TEST),
        (Gaussian() + Polynomial(2), TRAIN.astype(np.float32), TEST),
        (Gaussian(), scipy.sparse.csr_array(TRAIN), scipy.sparse.csr_array(TEST)),
        (Spectrum(2).normalized(), ["abab", "ba", "bbb"], ["ab"]),
        (Linear(), TRAIN, TEST),
        (Gaussian().on("a"), pd.DataFrame({"a": TRAIN[:, 0]}), pd.DataFrame({"a": TEST[:, 0]})),
    ],
)
def test_prepared_points_pickle_before_and_after_use(kernel, points, new):
    prepared = prepare(kernel, points)
    fresh = pickle.loads(pickle.dumps(prepared))
    wanted = prepared.gram(new).dense()
    prepared.gram() @ np.ones(len(prepared))
    used = pickle.loads(pickle.dumps(prepared))
    for again in (fresh, used):
        assert again.kernel == prepared.kernel
        assert np.array_equal(again.gram(new).dense(), wanted)


def test_gram_takes_prepared_points_on_either_side():
    train, test = prepare(Gaussian(0.3), TRAIN), prepare(Gaussian(0.3), TEST)
    wanted = np.exp(-0.3 * squares(TEST, TRAIN))
    for found in (gram(Gaussian(0.3), test, train), gram(Gaussian(0.3), TEST, train)):
        assert np.allclose(found.dense(), wanted, rtol=1e-13)
    assert np.allclose(gram(Gaussian(0.3), test, TRAIN).dense(), wanted, rtol=1e-13)


def test_prepared_points_may_meet_several_collections():
    # What is kept for one meeting, such as rows around a centre, must not leak into the next.
    kernel = Gaussian(0.3)
    first, second, new = (prepare(kernel, rows) for rows in (TRAIN, TRAIN + 3, TEST + 5))
    new.gram().dense()
    for train, rows in ((first, TRAIN), (second, TRAIN + 3), (first, TRAIN)):
        wanted = np.exp(-0.3 * squares(TEST + 5, rows))
        for store in (True, False):
            found = gram(kernel, new, train, store=store).dense()
            assert np.abs(found - wanted).max() < 1e-13


def test_another_kernel_than_the_prepared_one_is_refused():
    prepared = prepare(Gaussian(0.3), TRAIN)
    for points in ((prepared,), (TEST, prepared), (prepared, TEST)):
        with pytest.raises(MercerError, match="prepared"):
            gram(Gaussian(5.0), *points)


def test_new_points_need_a_settled_kernel():
    with pytest.raises(KernelError, match=r"Gaussian\.gamma still to be taken from data"):
        gram(Gaussian(), TEST, TRAIN)


def test_types_of_the_result():
    single = TRAIN.astype(np.float32)
    assert gram(Gaussian(1.0), single).dtype == np.float32
    assert gram(Gaussian(1.0), single, TRAIN).dtype == np.float64
    assert gram(Gaussian(1.0), single, dtype=np.float64).dense().dtype == np.float64
    assert gram(Spectrum(1), ["a"]).dtype == np.float64


def test_single_precision_blocks_give_single_precision():
    blocks = RowBlocks.split(TRAIN.astype(np.float32), 50)
    assert gram(Gaussian(1.0), blocks).dtype == np.float32
    assert gram(Gaussian(1.0), TEST.astype(np.float32), blocks).dtype == np.float32
    assert gram(Gaussian(1.0), TEST, blocks).dtype == np.float64


def test_only_floating_point_types_are_taken():
    for bad in ("int", np.float16, complex):
        with pytest.raises(InputError, match="dtype must be"):
            gram(Gaussian(1.0), TRAIN, dtype=bad)


def test_sparse_rows_against_dense_rows():
    sparse = scipy.sparse.csr_array(np.where(np.abs(TEST) > 0.8, TEST, 0.0))
    for kernel in (Gaussian(0.3), Matern(0.5), Laplacian(0.3), Linear(), Polynomial(2)):
        wanted = kernel.formula(sparse.toarray(), TRAIN)
        assert np.allclose(kernel(sparse, TRAIN), wanted, rtol=1e-12, atol=1e-14)
        assert np.allclose(kernel(TRAIN, sparse), wanted.T, rtol=1e-12, atol=1e-14)


# --- families ----------------------------------------------------------------------------------

FAMILY = [
    Gaussian(0.1),
    Laplacian(0.5),
    Polynomial(2),
    2.0 * Gaussian(3.0) + Linear(),
    Constant(2.0),
]


@pytest.mark.parametrize("limit", ["auto", "40kB"])
@pytest.mark.parametrize("new", [False, True])
def test_a_family_equals_its_members(limit, new):
    points = (TEST, TRAIN) if new else (TRAIN,)
    family = gram_family(FAMILY, *points, memory_limit=limit)
    single = [kernel.formula(*points) for kernel in FAMILY]
    n = len(points[0])
    assert len(family) == 5
    assert family.shape == (n, 120)
    assert np.allclose(family.dense(), single, rtol=1e-13, atol=1e-13)
    V, Y = np.linspace(-1, 1, 120), np.linspace(0, 1, n)
    sinks = [Multiply(V), Normal(V, Y), Sums(np.zeros(120, int), 1), TopK(1), Multiply(np.eye(120))]
    found = family.reduce(sinks)
    assert np.allclose(found[0], single[0] @ V, rtol=1e-12, atol=1e-12)
    assert np.allclose(found[1], single[1].T @ (single[1] @ V - Y), rtol=1e-11, atol=1e-11)
    assert np.allclose(found[2][:, 0], single[2].sum(axis=1), rtol=1e-12)
    assert np.array_equal(found[3][0][:, 0], single[3].argmax(axis=1))
    assert np.array_equal(found[4], single[4])
    for position, wanted in enumerate(single):
        assert np.allclose(family[position] @ V, wanted @ V, rtol=1e-11, atol=1e-11)
    weights = [0.5, 0.0, 1.0, 2.0, 0.25]
    wanted = sum(w * one for w, one in zip(weights, single, strict=True))
    assert np.allclose(family.weighted(weights).dense(), wanted, rtol=1e-12, atol=1e-12)


def test_a_family_settles_each_kernel_on_the_training_data():
    family = gram_family([Gaussian(), Laplacian(), Matern(1.5, "scale")], TRAIN)
    assert family.kernels[0].gamma == pytest.approx(1 / (4 * TRAIN.var()), rel=1e-14)
    for kernel in family.kernels:
        assert kernel.unresolved() == []


def test_a_family_on_strings_and_frames():
    words = ["abab", "ba", "bbb"]
    family = gram_family([Spectrum(1), Spectrum(2)], words)
    assert np.array_equal(family.dense(), [Spectrum(n).formula(words) for n in (1, 2)])
    frame = pd.DataFrame({"s": words, "a": [1.0, 2.0, 4.0]})
    family = gram_family([Spectrum(1).on("s"), Gaussian(0.1).on("a")], frame)
    wanted = [
        Spectrum(1).formula(words),
        np.exp(-0.1 * squares(frame[["a"]].to_numpy(), frame[["a"]].to_numpy())),
    ]
    assert np.allclose(family.dense(), wanted, rtol=1e-14)


def test_a_family_says_what_must_hold():
    with pytest.raises(KernelError, match="at least one kernel"):
        gram_family([], TRAIN)
    family = gram_family([Gaussian(1.0), Linear()], TRAIN)
    with pytest.raises(InputError, match="it needs 2 sinks; got 1"):
        family.reduce([Multiply(np.ones(120))])
    with pytest.raises(InputError, match="it needs 2 weights"):
        family.weighted([1.0])
    with pytest.raises(InputError, match="negative coefficient breaks the Mercer property"):
        family.weighted([1.0, -1.0])


# --- digits ------------------------------------------------------------------------------------

RADIAL = {
    "gaussian": (lambda s: Gaussian(0.3 / s**2), lambda r2: np.exp(-0.3 * r2)),
    "columns": (lambda s: Gaussian([0.3 / s**2] * 4), lambda r2: np.exp(-0.3 * r2)),
    "matern 1/2": (lambda s: Matern(0.5, s), lambda r2: np.exp(-np.sqrt(r2))),
    "matern 3/2": (
        lambda s: Matern(1.5, s),
        lambda r2: (1 + np.sqrt(3 * r2)) * np.exp(-np.sqrt(3 * r2)),
    ),
    "rational": (lambda s: RationalQuadratic(1.0, s), lambda r2: 1 / (1 + r2 / 2)),
    "sum": (
        lambda s: Gaussian(0.3 / s**2) + Matern(0.5, s),
        lambda r2: np.exp(-0.3 * r2) + np.exp(-np.sqrt(r2)),
    ),
}


@pytest.mark.parametrize("name", RADIAL)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0, 1e4, 1e8])
def test_digits_survive_offsets_and_scales(name, offset, scale):
    make, formula = RADIAL[name]
    train, test = (TRAIN + offset) * scale, (TEST + offset) * scale
    kernel = make(scale)
    for X in (train, test, test[:1]):
        exact = formula(squares(X, train, exact=np.longdouble) / np.longdouble(scale) ** 2)
        found = kernel(train) if X is train else kernel(X, train)
        assert np.max(np.abs(found - exact) / exact) <= 1e-12


def test_digits_survive_clusters_far_apart():
    # No one centre suits all of them; the formula without any would lose every digit here.
    X = np.concatenate([TRAIN[:40], TRAIN[40:80] + 1e6, TRAIN[80:] - 1e6])
    exact = np.exp(-0.3 * squares(X, X, exact=np.longdouble))
    for found in (Gaussian(0.3)(X), gram(Gaussian(0.3), X, store=False).rows(np.arange(120))):
        assert np.abs(found - exact).max() <= 1e-10
        assert not found[exact == 0].any()


def test_digits_survive_offsets_in_sparse_rows():
    rows = np.where(np.abs(TRAIN) > 0.8, TRAIN + 1e4, 0.0)
    exact = np.exp(-np.sqrt(squares(rows, rows, exact=np.longdouble)))
    found = Matern(0.5)(scipy.sparse.csr_array(rows))
    assert np.max(np.abs(found - exact)) <= 1e-12


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_repeated_row_is_the_same_point(dtype):
    X = np.repeat(TRAIN[:50] * 3 + 100, 3, axis=0).astype(dtype)
    eps = np.finfo(dtype).eps
    for kernel, slack in ((Matern(0.5), 0.0), (Laplacian(0.2), 0.0), (Gaussian(0.2), 40 * eps)):
        K, cross = kernel(X), kernel(X[1::3], X[::3])
        assert np.abs(K[::3] - K[1::3]).max() <= 40 * eps
        for same in (K[np.arange(0, 150, 3), np.arange(2, 150, 3)], cross.diagonal()):
            assert same.max() <= 1  # a root of a rounding would be seen at once
            assert same.min() >= 1 - slack


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 63, 65, 333])
def test_a_symmetric_matrix_is_symmetric_to_the_last_bit(dtype, n):
    X = np.random.default_rng(n).normal(size=(n, 7)).astype(dtype)
    kernels = (Gaussian(0.2), Polynomial(3), Laplacian(0.2) * Matern(1.5), Linear().normalized())
    for kernel in kernels:
        for limit in ("auto", 40 * n * 8 + 60_000):
            K = gram(kernel, X, store=False, memory_limit=limit).dense()
            assert np.array_equal(K, K.T)
            assert np.allclose(np.diag(K), kernel.diag(X), rtol=1e-6)


def test_a_matrix_that_is_not_symmetric_is_not_turned_over():
    K = TRAIN[:5] @ TRAIN[5:10].T
    assert np.array_equal(Precomputed()(K), K)
    assert np.array_equal(gram(Precomputed(), K).dense(), K)
