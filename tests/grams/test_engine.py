"""The native engine: every statistic, instruction, sink and size against NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn

from mercer import gram, num_threads, prepare, set_num_threads
from mercer.grams import Multiply, Normal, TopK, gram_family
from mercer.grams.kinds.half import PackedGram
from mercer.inputs import ROWS
from mercer.kernels import (
    ABSOLUTE,
    DOT,
    MINIMUM,
    SQUARED,
    UNEQUAL,
    Categorical,
    Chi2,
    ExpDot,
    Exponential,
    Gaussian,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    LpNorm,
    Matern,
    NormalizedIntersection,
    Pairs,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    SumPower,
    Tanimoto,
)

pytestmark = pytest.mark.native

TOLERANCE = {np.float32: 2e-6, np.float64: 1e-13}

ROW_KERNELS = [
    Linear(),
    Polynomial(3, 0.1, 1.0),
    ExpDot(0.05),
    Sigmoid(0.1, -0.5),
    Gaussian(0.2),
    Gaussian([0.1, 0.2, 0.0, 0.4]),
    Laplacian(0.3),
    Laplacian([0.1, 0.0, 0.3, 0.4]),
    Matern(0.5, 2.0),
    Matern(1.5, 2.0),
    Matern(2.5, [1.0, 2.0, 3.0, 4.0]),
    Exponential(2.0),
    LpNorm(1.5, 1.5, [1.0, 2.0, 3.0, 4.0]),
    LpNorm(1.3, 0.7, 2.0),
    LpNorm(2.0, 1.3, 2.0),
    SumPower(1.0, 3, 0.1, 2.0),
    SumPower(0.6, 2),
    Laplacian(0.3).metric([1.0, 2.0, 0.0, 0.5]),
    RationalQuadratic(1.0, 2.0),
    RationalQuadratic(1.7, 2.0),
    Periodic(1.3, 2.0),
    Intersection(),
    NormalizedIntersection(),
    Chi2(0.2),
    Categorical(0.4),
    Categorical([0.1, 0.2, 0.3, 0.4]),
    Tanimoto(),
    Linear().normalized(),
    (Gaussian(0.1) + 0.5 * Linear()).normalized() * Chi2(0.1) + 3,
    (Linear() + 1) ** 2 + Gaussian(0.3).on([0, 2]) * Laplacian(0.2).on(1),
]


def rows(n: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    """Non-negative rows with zeros, ties and duplicates."""
    values = np.round(np.random.default_rng(seed).random((n, 4)) * 3, 1)
    if n > 3:
        values[n // 2] = values[0]
        values[1] = 0
    return values.astype(dtype)


def error(found: Any, wanted: Any) -> float:
    return float(
        np.abs(found - wanted).max(initial=0.0) / max(1.0, np.abs(wanted).max(initial=0.0))
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ROW_KERNELS, ids=repr)
def test_every_row_kernel_is_native_and_exact(kernel: Kernel, dtype: Any) -> None:
    X, Y = rows(230, dtype), rows(400, dtype, seed=1)
    explanation = gram(kernel, X, store=False).explain()
    assert explanation.statistics
    assert not explanation.numpy
    wanted = kernel.formula(X.astype(float))
    found = kernel(X)
    assert found.dtype == dtype
    assert error(found, wanted) <= TOLERANCE[dtype]
    assert np.array_equal(found, found.T)
    assert error(kernel(X, Y), kernel.formula(X.astype(float), Y.astype(float))) <= TOLERANCE[dtype]
    sparse = kernel(scipy.sparse.csr_array(X))
    assert error(sparse, wanted) <= TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(), Matern(0.5, "scale")], ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_an_offset_of_the_data_costs_no_digits(kernel: Kernel, dtype: Any, offset: float) -> None:
    X = (np.random.default_rng(0).normal(size=(500, 20)) + offset).astype(dtype)
    resolved = kernel.resolve(X)
    assert error(resolved(X), resolved.formula(X.astype(float))) <= TOLERANCE[dtype]


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 1e3, 1e6])
def test_steep_kernels_use_direct_differences(gamma: float) -> None:
    X = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)
    X[7] = X[3] + np.float32(1e-4)
    assert error(Gaussian(gamma)(X), Gaussian(gamma).formula(X.astype(float))) <= 2e-6


@pytest.mark.parametrize("kernel", ROW_KERNELS, ids=repr)
def test_a_missing_number_gives_missing_values_only(kernel: Kernel) -> None:
    X = rows(60)
    X[17, 2] = np.nan
    with sklearn.config_context(assume_finite=True):
        K = kernel(X)
        wanted = kernel.formula(X)
    assert np.array_equal(np.isnan(K), np.isnan(wanted))
    assert np.isnan(K[17]).any()


@pytest.mark.parametrize("n", [1, 2, 23, 24, 25, 191, 192, 193, 385, 600])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_size_of_matrix(n: int, dtype: Any) -> None:
    kernel = Gaussian(0.3) + 0.1 * Linear()
    X, Y, V = rows(n, dtype), rows(397, dtype, seed=2), np.random.default_rng(1).normal(size=(n, 5))
    K = kernel.formula(X.astype(float))
    tolerance = TOLERANCE[dtype] * 10
    assert error(kernel(X), K) <= TOLERANCE[dtype]
    assert error(gram(kernel, X, store=False) @ V, K @ V) <= tolerance
    across = kernel.formula(Y.astype(float), X.astype(float))
    assert error(gram(kernel, Y, X, store=False) @ V, across @ V) <= tolerance
    half = gram(kernel, X, store="half")
    assert isinstance(half, PackedGram)
    assert error(half @ V, K @ V) <= tolerance
    assert error(half.dense(), K) <= TOLERANCE[dtype]
    assert error(half.rows([n - 1, 0]), K[[n - 1, 0]]) <= TOLERANCE[dtype]
    assert error(half.restrict([0], slice(None)).dense(), K[:1]) <= TOLERANCE[dtype]


@pytest.mark.parametrize("columns", [0, 1, 2, 3, 4, 7, 12, 17])
def test_every_number_of_columns(columns: int) -> None:
    X, V = rows(450), np.random.default_rng(0).normal(size=(450, columns))
    K = Gaussian(0.5).formula(X)
    for form in (gram(Gaussian(0.5), X, store=how) for how in ("half", True, False)):
        assert error(form @ V, K @ V) <= 1e-12
        assert (form @ V[:, 0] if columns else form @ V).shape[0] == 450


def test_products_do_not_depend_on_which_thread_was_faster() -> None:
    X, V = rows(900, np.float32), np.random.default_rng(0).normal(size=(900, 3))
    before = num_threads()
    try:
        set_num_threads(2)
        first = gram(Gaussian(0.5), X, store=False) @ V
        again = [gram(Gaussian(0.5), X, store=False) @ V for _ in range(5)]
        assert all(np.array_equal(first, other) for other in again)
        set_num_threads(1)
        assert error(gram(Gaussian(0.5), X, store=False) @ V, first) <= 1e-6
        set_num_threads(5)
        assert error(gram(Gaussian(0.5), X, store="half") @ V, first) <= 1e-6
    finally:
        set_num_threads(before)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows_of_every_kind(kind: Any, index: Any) -> None:
    # Unsorted, with an entry given twice, an explicit zero and an empty row.
    parts = np.array([1.0, 2.0, 0.5, 0.0, 3.0]), np.array([2, 0, 2, 1, 1]), np.array([0, 3, 3, 5])
    X = kind((parts[0], parts[1].astype(index), parts[2].astype(index)), shape=(3, 3))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    dense = np.array([[2.0, 0.0, 1.5], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    for kernel in (Gaussian(0.3), Laplacian(0.2), Intersection(), Chi2(0.5), Linear() * Linear()):
        assert not gram(kernel, X, store=False).explain().numpy
        assert error(kernel(X), kernel.formula(dense)) <= 1e-15
    assert X.nnz == 5  # the matrix of the user is as it was


def test_very_sparse_rows_are_not_spread_out() -> None:
    X = scipy.sparse.random_array(
        (100, 20_000), density=1e-3, format="csr", rng=np.random.default_rng(0)
    )
    for kernel in (Gaussian(0.3), Linear().normalized()):
        form = gram(kernel, X, store=False)
        assert form.explain().statistics == ()
        assert error(form.dense(), kernel.formula(X.toarray())) <= 1e-13


@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_best_columns_with_ties(k: int, dtype: Any) -> None:
    X, Y = rows(210, dtype), rows(800, dtype, seed=1)
    Y[500:600] = Y[100:200]
    form = gram(Gaussian(0.7), X, Y, store=False)
    K = form.dense().astype(float)
    order = np.argsort(-K, axis=1, kind="stable")[:, :k]
    indices, values = form.reduce(TopK(k))
    assert np.array_equal(indices, order)
    assert np.array_equal(values, np.take_along_axis(K, order, axis=1))
    shift = np.linspace(0, 1, 800)
    key = shift - 2 * K
    order = np.argsort(key, axis=1, kind="stable")[:, :k]
    indices, values = form.reduce(TopK(k, shift))
    assert np.array_equal(indices, order)
    assert np.array_equal(values, np.take_along_axis(key, order, axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [5, 700])
def test_sixteen_bits_are_off_by_no_more_than_they_say(n: int, dtype: Any) -> None:
    kernel = Gaussian(0.3) + 2 * Linear()
    X, V = rows(n, dtype), np.random.default_rng(1).normal(size=(n, 3))
    K = kernel.formula(X.astype(float))
    form = gram(kernel, X, store="16 bit")
    assert isinstance(form, PackedGram)
    assert form.plan.kind == "half stored in 16 bits"
    bound = form.packed.error + TOLERANCE[dtype] * np.abs(K).max()
    assert 0 < form.packed.error < np.ptp(K) / 60_000
    assert np.abs(form.dense() - K).max() <= bound
    assert np.abs(form @ V - K @ V).max() <= 2 * bound * np.abs(V).sum(axis=0).max()
    assert (
        form.packed.bytes * np.dtype(dtype).itemsize
        == gram(kernel, X, store="half").packed.bytes * 2
    )
    with pytest.raises(ValueError, match="native kernel of one collection"):
        gram(kernel, X, X.copy(), store="16 bit")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 3), (23, 24), (49, 385), (700, 401)])
@pytest.mark.parametrize("kernel", [Gaussian(0.3), Gaussian(0.3) + 2 * Linear(), Laplacian(0.2)])
def test_normal_products_of_what_is_computed_anew(kernel: Any, n: int, m: int, dtype: Any) -> None:
    X, Z, random = rows(n, dtype), rows(m, dtype) + dtype(0.1), np.random.default_rng(2)
    K = kernel.formula(X.astype(float), Z.astype(float))
    V, weights = random.normal(size=(m, 3)), random.uniform(0.5, 2.0, size=n)
    form = gram(kernel, X, Z, store=False)
    wanted = K.T @ (weights[:, None] * (K @ V))
    size = np.abs(K).T @ (weights[:, None] * (np.abs(K) @ np.abs(V)))
    for columns in (slice(0, 1), slice(0, 3)):
        found = form.reduce(Normal(V[:, columns], weights=weights))
        assert np.all(
            np.abs(found - wanted[:, columns]) <= 20 * TOLERANCE[dtype] * size[:, columns]
        )
    broken = X.copy()
    broken[n // 2, 0] = np.inf
    with pytest.raises(ValueError, match="finite"):
        gram(Linear(), broken, Z, store=False).reduce(Normal(V))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_does_not_fit_is_computed_anew(dtype: Any) -> None:
    kernel, n = Gaussian(0.3) + 2 * Linear(), 1500
    X, V = rows(n, dtype), np.random.default_rng(1).normal(size=(n, 3))
    K = kernel.formula(X.astype(float))
    whole = gram(kernel, X, store="part", memory_limit=10**9)
    form = gram(kernel, X, store="part", memory_limit=1_500_000)
    assert isinstance(form, PackedGram)
    assert isinstance(whole, PackedGram)
    assert form.plan.kind == "partly stored in 16 bits"
    assert 0 < form.packed.bytes <= form.plan.kept < whole.packed.bytes
    bound = form.packed.error + TOLERANCE[dtype] * np.abs(K).max()
    assert np.abs(form @ V - K @ V).max() <= 2 * bound * np.abs(V).sum(axis=0).max()
    assert not np.array_equal(form @ V, gram(kernel, X, store=False) @ V)
    assert np.allclose(form.rows([3, 1400]), K[[3, 1400]], rtol=0, atol=bound)
    assert np.abs(form.dense() - K).max() <= bound
    with pytest.raises(MemoryError, match="must fit memory_limit"):
        gram(kernel, X, store="part", memory_limit=1000)


@dataclass(frozen=True, repr=False)
class EveryInstruction(Kernel):
    """Uses each operation that has a native form."""

    domain = ROWS

    def profile(self, pairs: Pairs) -> Any:
        d, s = pairs.sum(DOT), pairs.sum(SQUARED, 0.1)
        left, right = pairs.sides(lambda points: points.raw[:, 0] + 1.0)
        ratio = (left * right - 0.5) / (2.0 + pairs.sum(ABSOLUTE)) / 4
        tail = np.sqrt(s) + np.tanh(0.1 * d - 1) + (s + 1) ** -2 + (s + 0.5) ** 0.3 - np.exp(-s)
        more = np.maximum(pairs.sum(MINIMUM), 2.5) + 3 - pairs.sum(UNEQUAL, (0.1, 0.2, 0.3, 0.4))
        return ratio + tail + np.square(more) + np.negative(np.power(d, 3)) / 100


@dataclass(frozen=True, repr=False)
class Unusual(Kernel):
    """Uses an operation without a native form."""

    domain = ROWS

    def profile(self, pairs: Pairs) -> Any:
        return np.cos(pairs.sum(ABSOLUTE)) + 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_instruction(dtype: Any) -> None:
    X = rows(300, dtype)
    kernel = EveryInstruction()
    assert not gram(kernel, X, store=False).explain().numpy
    assert error(kernel(X), kernel.formula(X.astype(float))) <= TOLERANCE[dtype] * 5


def test_what_has_no_native_form_falls_back_alone() -> None:
    kernel = Gaussian(0.3) * Unusual() + Matern(1.2).on([0, 1])
    X = rows(300)
    explanation = gram(kernel, X, store=False).explain()
    assert explanation.statistics == ("squared distance",)
    assert explanation.numpy == ("Unusual()", "Matern(nu=1.2) on (0, 1)")
    assert "NumPy: Unusual()" in str(explanation)
    assert error(kernel(X), kernel.formula(X)) <= 1e-13
    V = np.random.default_rng(0).normal(size=(300, 2))
    assert error(gram(kernel, X, store=False) @ V, kernel.formula(X) @ V) <= 1e-12


def test_a_family_shares_its_statistics() -> None:
    X, Y = rows(300), rows(200, seed=3)
    kernels = [Gaussian(g) for g in (0.1, 1.0, 10.0)] + [Linear(), Matern(1.2)]
    family = gram_family(kernels, X, Y)
    wanted = np.stack([kernel.formula(X, Y) for kernel in kernels])
    assert error(family.dense(), wanted) <= 1e-13
    V = np.random.default_rng(0).normal(size=(200, 2))
    for found, K in zip(family.reduce([Multiply(V) for _ in kernels]), wanted, strict=True):
        assert error(found, K @ V) <= 1e-12


def test_new_points_use_the_training_centre() -> None:
    X = rows(100) + 1e3
    ready = prepare(Gaussian(), X)
    batch = ready.gram(X[:7] + 0.5).dense()
    single = np.vstack([ready.gram(X[i : i + 1] + 0.5).dense() for i in range(7)])
    assert np.array_equal(batch, single)


def test_too_many_parts_are_left_to_numpy() -> None:
    kernel: Kernel = Gaussian(0.1).on([0])
    for power in range(10):
        kernel = kernel + Gaussian([0.1, power + 1.0, 1.0, 1.0])
    X = rows(50)
    assert gram(kernel, X, store=False).explain().statistics == ()
    assert error(kernel(X), kernel.formula(X)) <= 1e-13


def test_sums_of_exponentials_that_are_used_twice() -> None:
    a, b, c = Gaussian(0.1), Gaussian(0.5), Gaussian(2.0)
    total = a + b + c
    kernel = total * (a + b) + total + ExpDot(0.01) + 2 * a
    X = rows(230)
    assert error(kernel(X), kernel.formula(X)) <= 1e-13
    many = sum([Gaussian(0.1 * i) for i in range(1, 9)]) * 0.5 + Linear()
    assert error(many(X), many.formula(X)) <= 1e-13


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_chosen_rows(dtype: Any) -> None:
    kernel = (Gaussian(0.4) + 0.1 * Linear()).normalized() + Categorical([0.1, 0.2, 0.3, 0.4])
    X, Y = rows(500, dtype), rows(300, dtype, seed=4)
    chosen = np.array([499, 3, 3, 0, 250])
    K, across = kernel.formula(X.astype(float)), kernel.formula(X.astype(float), Y.astype(float))
    form = gram(kernel, X, store=False)
    for _ in range(2):
        assert error(form.rows(chosen), K[chosen]) <= TOLERANCE[dtype]
    assert error(form.rows(slice(10, 400)), K[10:400]) <= TOLERANCE[dtype]
    assert form.rows([]).shape == (0, 500)
    assert error(gram(kernel, X, Y, store=False).rows(chosen), across[chosen]) <= TOLERANCE[dtype]
    exact = gram(Gaussian(50.0), X, store=False).rows(chosen)
    assert np.array_equal(exact[np.arange(5), chosen], np.ones(5))
    with pytest.raises(ValueError, match="rows must lie in"):
        form.rows([500])


def test_a_single_pass_keeps_nothing() -> None:
    X = rows(1500)
    form = gram(Gaussian(0.4), X)
    assert isinstance(form, PackedGram)
    first = form @ np.ones(1500)
    assert form._packed is None
    second = form @ np.ones(1500)
    assert form._packed is not None
    assert error(second, first) <= 1e-14
    kept = gram(Gaussian(0.4), X, store=True)
    assert error(kept @ np.ones(1500), first) <= 1e-14
    assert kept._packed is not None
