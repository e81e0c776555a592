"""Every kind of Gram matrix does everything a Gram matrix does, and agrees with plain NumPy."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from mercer.checks import InputError
from mercer.grams import Multiply, Normal, Sums, TopK, gram
from mercer.inputs import RowBlocks
from mercer.kernels import (
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    SetIntersection,
    Spectrum,
    Tanimoto,
)

random = np.random.default_rng(7)
TRAIN, TEST = random.normal(size=(60, 3)), random.normal(size=(17, 3))
ROOT = random.normal(size=(60, 4))
WORDS = ["".join(random.choice(list("ACGT"), size=size)) for size in random.integers(0, 9, 77)]
SETS = [set(random.integers(0, 12, size=size).tolist()) for size in random.integers(0, 6, 77)]


def squares(X, Y):
    return ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=-1)


def gaussian(X, Y):
    return np.exp(-0.4 * squares(X, Y))


def words(X, Y, n=2):
    counts = [
        [Counter(s[i : i + n] for i in range(len(s) - n + 1)) for s in side] for side in (X, Y)
    ]
    return np.array([[sum(a[u] * b[u] for u in a) for b in counts[1]] for a in counts[0]], float)


def frames(make, rows, texts):
    return make({"dna": texts, "age": rows[:, 0], "dose": rows[:, 1], "other": rows[:, 2]})


def mixed(X, Y):
    (a, s), (b, t) = X, Y
    return words(s, t, 3) + np.exp(-0.4 * squares(a[:, :2], b[:, :2]))


def jaccard(X, Y):
    return np.array([[len(a & b) / len(a | b) if a | b else 0.0 for b in Y] for a in X])


@dataclass
class Case:
    """A kernel with training and new points, and the dense answers."""

    kernel: Any
    train: Any
    test: Any
    K: Any
    cross: Any
    kind: str
    options: Any


def case(kernel, train, test, formula, kind, plain=None, **options):
    a, b = plain or (train, test)
    return Case(kernel, train, test, formula(a, a), formula(b, a), kind, options)


MIXED = Spectrum(3).on("dna") + Gaussian(0.4).on(["age", "dose"])
PLAIN = ((TRAIN, WORDS[:60]), (TEST, WORDS[60:]))
SPARSE = [np.where(np.abs(rows) > 0.7, rows, 0.0) for rows in (TRAIN, TEST)]
CASES = {
    "stored": case(Gaussian(0.4), TRAIN, TEST, gaussian, "stored", store=True),
    "half stored": case(Gaussian(0.4), TRAIN, TEST, gaussian, "half stored", store="half"),
    "on the fly": case(Gaussian(0.4), TRAIN, TEST, gaussian, "on the fly", store=False),
    "on the fly, sparse rows": case(
        Gaussian(0.4),
        *map(scipy.sparse.csr_array, SPARSE),
        gaussian,
        "on the fly",
        plain=SPARSE,
        store=False,
    ),
    "on the fly, no dot product": case(
        Laplacian(0.4) + 0.5 * Laplacian(2.0),
        TRAIN,
        TEST,
        lambda X, Y: sum(
            c * np.exp(-g * np.abs(X[:, None] - Y[None]).sum(axis=-1))
            for c, g in ((1.0, 0.4), (0.5, 2.0))
        ),
        "on the fly",
        store=False,
    ),
    "low rank": case(Linear(), TRAIN, TEST, lambda X, Y: X @ Y.T, "low rank"),
    "low rank, sparse rows": case(
        Linear(),
        *map(scipy.sparse.csr_array, SPARSE),
        lambda X, Y: X @ Y.T,
        "low rank",
        plain=SPARSE,
    ),
    "low rank, polynomial": case(
        Polynomial(2), TRAIN, TEST, lambda X, Y: (X @ Y.T + 1.0) ** 2, "low rank"
    ),
    "sparse features": case(Spectrum(2), WORDS[:60], WORDS[60:], words, "sparse features"),
    "sparse features of sets": case(
        SetIntersection() + 1,
        SETS[:60],
        SETS[60:],
        lambda X, Y: np.array([[len(a & b) + 1.0 for b in Y] for a in X]),
        "sparse features",
    ),
    "precomputed": Case(
        Precomputed(), ROOT @ ROOT.T, TEST @ ROOT.T[:3], ROOT @ ROOT.T, TEST @ ROOT.T[:3],
        "precomputed", {},
    ),
    "precomputed, scaled": Case(
        2.0 * Precomputed(), ROOT @ ROOT.T, TEST @ ROOT.T[:3], 2 * ROOT @ ROOT.T,
        2 * TEST @ ROOT.T[:3], "precomputed", {},
    ),
    "object pairs": case(
        FunctionKernel(lambda x, y: float(len(set(x) & set(y))), pairwise=True),
        WORDS[:60],
        WORDS[60:],
        lambda X, Y: np.array([[float(len(set(a) & set(b))) for b in Y] for a in X]),
        "on the fly",
        store=False,
    ),
    "object pairs, stored": case(
        Tanimoto(), SETS[:60], SETS[60:], jaccard, "stored", store=True
    ),
    "row blocks": case(
        Gaussian(0.4),
        RowBlocks(np.split(TRAIN, [7, 8, 40])),
        RowBlocks.split(TEST, 5),
        gaussian,
        "row blocks",
        plain=(TRAIN, TEST),
    ),
    "row blocks of strings": case(
        Spectrum(2),
        RowBlocks([WORDS[:25], WORDS[25:60]]),
        RowBlocks([WORDS[60:70], WORDS[70:]]),
        words,
        "row blocks",
        plain=(WORDS[:60], WORDS[60:]),
    ),
    "mixed frame": case(
        MIXED,
        frames(pd.DataFrame, *PLAIN[0]),
        frames(pd.DataFrame, *PLAIN[1]),
        mixed,
        "on the fly",
        plain=PLAIN,
        store=False,
    ),
    "mixed frame, polars, stored": case(
        MIXED,
        frames(pl.DataFrame, *PLAIN[0]),
        frames(pl.DataFrame, *PLAIN[1]),
        mixed,
        "stored",
        plain=PLAIN,
    ),
    "mixed frame in blocks": case(
        MIXED,
        RowBlocks([frames(pd.DataFrame, TRAIN[:20], WORDS[:20]),
                   frames(pd.DataFrame, TRAIN[20:], WORDS[20:60])]),
        frames(pd.DataFrame, *PLAIN[1]),
        mixed,
        "row blocks",
        plain=PLAIN,
    ),
}  # fmt: skip


@pytest.fixture(params=CASES)
def found(request):
    return CASES[request.param]


def square(found):
    return gram(found.kernel, found.train, **found.options), found.K


def cross(found):
    # Only the matrix of one collection has two equal halves.
    options = {} if found.kind == "half stored" else found.options
    return gram(found.kernel, found.test, found.train, **options), found.cross


@pytest.fixture(params=[square, cross], ids=["square", "cross"])
def both(request, found):
    """A Gram and its dense answer: of the training points, or of new ones against them."""
    return request.param(found)


def close(found, wanted, sums=1):
    """Equal to rounding; `sums` is how many entries of K went into a number."""
    wanted = np.asarray(wanted)
    size = max(1.0, float(np.abs(wanted).max(initial=0.0))) * max(1, sums)
    assert np.shape(found) == wanted.shape
    assert np.abs(found - wanted).max(initial=0.0) <= 1e-13 * size


def test_kind_shape_and_type(found):
    K, wanted = square(found)
    assert K.plan.kind == found.kind
    assert K.shape == wanted.shape == (60, 60)
    assert cross(found)[0].shape == (17, 60)
    assert K.dtype == np.float64


def test_dense(both):
    K, wanted = both
    first = K.dense()
    close(first, wanted)
    first[:] = np.nan  # an array of its own
    close(K.dense(), wanted)


def test_numpy_takes_the_whole_matrix(both):
    K, wanted = both
    close(np.asarray(K), wanted)
    assert np.asarray(K, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="only by a copy"):
        np.array(K, copy=False)


def test_dense_into_an_array(both):
    K, wanted = both
    room = np.full(wanted.shape, np.nan)
    assert K.dense(room) is room
    close(room, wanted)
    for bad in (np.empty((1, 1)), np.empty(wanted.shape, np.float32), room.T.copy().T):
        if bad.shape != wanted.shape or bad.dtype != K.dtype or not bad.flags.c_contiguous:
            with pytest.raises(InputError, match="out must be"):
                K.dense(bad)


@pytest.mark.parametrize("columns", [None, 1, 4, 0])
def test_product(both, columns):
    K, wanted = both
    shape = (60,) if columns is None else (60, columns)
    V = np.random.default_rng(0).normal(size=shape)
    close(K @ V, wanted @ V, sums=60)
    close(K.reduce(Multiply(V)), wanted @ V, sums=60)
    close(K @ np.asfortranarray(V), wanted @ V, sums=60)


@pytest.mark.parametrize(
    "rows",
    [
        slice(None),
        slice(3, 9),
        slice(-4, None),
        slice(None, None, -2),
        [5, 0, 5, -1],
        np.array([], dtype=int),
        [],
        "mask",
    ],
    ids=str,
)
def test_rows_and_blocks(both, rows):
    K, wanted = both
    if isinstance(rows, str):
        rows = np.arange(len(wanted)) % 3 == 1
    plain = np.asarray(rows, dtype=int) if isinstance(rows, list) else rows
    close(K.rows(rows), wanted[plain])
    close(K.block(rows, slice(2, 50, 7)), wanted[plain, 2:50:7])
    close(K.block(rows, [9, 1, 9]), wanted[plain][:, [9, 1, 9]])


def test_diagonal(found):
    K, wanted = square(found)
    close(K.diag(), np.diag(wanted))
    new, _ = cross(found)
    with pytest.raises(InputError, match=r"one collection; got shape \(17, 60\)"):
        new.diag()


def test_restrict(both):
    K, wanted = both
    rows, columns = np.array([4, 0, 11]), np.array([50, 2, 3, 3])
    part = K.restrict(rows, columns)
    assert part.shape == (3, 4)
    close(part.dense(), wanted[np.ix_(rows, columns)])
    close(part @ np.ones(4), wanted[np.ix_(rows, columns)].sum(axis=1), sums=4)
    close(K.restrict(slice(2, 12), slice(None)).dense(), wanted[2:12])
    again = K.restrict(slice(2, 12), slice(5, 30)).restrict([0, 3], slice(4, None, 2))
    close(again.dense(), wanted[[2, 5]][:, 9:30:2])
    backwards = K.restrict(slice(2, 12), slice(None)).rows(slice(None, None, -1))
    close(backwards, wanted[2:12][::-1])


def test_restricted_training_gram_is_symmetric(found):
    K, wanted = square(found)
    for rows in (np.array([4, 0, 11]), slice(3, 20)):
        part = K.restrict(rows, rows)
        close(part.diag(), np.diag(wanted)[rows])
        close(part.dense(), wanted[rows][:, rows])


def test_restrict_after_the_values_are_stored(found):
    K, wanted = square(found)
    K.dense()
    mask = np.arange(60) % 2 == 0
    close(K.restrict(mask, mask).dense(), wanted[mask][:, mask])


@pytest.mark.parametrize("columns", [None, 3])
def test_reduce_normal(both, columns):
    K, wanted = both
    shape = () if columns is None else (columns,)
    V = np.random.default_rng(1).normal(size=(60, *shape))
    Y = np.random.default_rng(2).normal(size=(len(wanted), *shape))
    residual = wanted @ V - Y
    close(K.reduce(Normal(V, Y)), wanted.T @ residual, sums=60 * np.abs(residual).max())


def test_reduce_sums(both):
    K, wanted = both
    groups = np.arange(60) % 4
    weights = np.linspace(0.5, 2, 60)
    one_hot = np.eye(5)[groups]
    close(K.reduce(Sums(groups, 5)), wanted @ one_hot, sums=60)
    weighted = K.reduce(Sums(groups, 5, weights))
    close(weighted, wanted @ (one_hot * weights[:, None]), sums=60)


def test_reduce_top_k(both):
    K, wanted = both
    rounded = K.dense()  # ties are settled on the numbers that this kind of Gram computes
    order = np.argsort(-rounded, axis=1, kind="stable")[:, :7]
    indices, values = K.reduce(TopK(7))
    assert np.array_equal(indices, order)
    close(values, np.take_along_axis(wanted, order, axis=1))


def test_index_is_checked(both):
    K, wanted = both
    for bad in ([len(wanted)], [-len(wanted) - 1], 3, [0.5], np.ones(3, bool), [[0]]):
        with pytest.raises(InputError, match="gram: rows must"):
            K.rows(bad)
    with pytest.raises(InputError, match=r"gram: columns must lie in 0\.\.59; got 60 to 60"):
        K.block([0], [60])
    with pytest.raises(InputError, match="gram: columns must"):
        K.restrict([0], [60])


def test_product_is_checked(both):
    K, _ = both
    with pytest.raises(InputError, match=r"Multiply: it must have 60 rows; got shape \(59,\)"):
        K @ np.ones(59)
    for bad in (np.ones((60, 1), complex), np.full(60, "a"), np.ones((60, 2, 2))):
        with pytest.raises(InputError, match="Multiply: it must"):
            K @ bad


def test_explain(both):
    K, _ = both
    explained = K.explain()
    assert explained.kind == K.plan.kind
    assert explained.reason == K.plan.reason != ""
    assert explained.shape == K.shape
    assert explained.kernel == repr(K.kernel)
    text = str(explained)
    for part in (explained.kind, explained.reason, explained.kernel, "float64"):
        assert part in text
    for line in (*explained.statistics, *explained.numpy):
        assert line in text
    if explained.kind != "precomputed":
        assert explained.statistics + explained.numpy
