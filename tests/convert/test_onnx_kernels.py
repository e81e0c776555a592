"""Every kernel of rows as ONNX: its values are those of the formula."""

from dataclasses import dataclass

import numpy as np
import onnxruntime
import pytest
import samples
import scipy.sparse
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from test_conformance import CASES, COUNTS, GRAM, ROWS

from mercer.checks import InputError
from mercer.convert.onnx import kernel as lowered
from mercer.convert.onnx.graph import Graph, Output
from mercer.convert.onnx.kernel import RULES, KernelValues
from mercer.convert.onnx.maps import features, kernel_times
from mercer.convert.onnx.rows import Rows
from mercer.convert.onnx.summands import summand
from mercer.features import Nystrom, RandomBinning, RandomFourier
from mercer.grams import prepare
from mercer.grams.trace.symbols import OPS
from mercer.kernels import (
    CHI2,
    STATISTICS,
    Constant,
    Exponential,
    Fisher,
    FunctionKernel,
    Gaussian,
    GlobalAlignment,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Precomputed,
    Rescaled,
    Statistic,
    SumPower,
    Tanimoto,
)
from mercer.kernels.base import registry
from mercer.kernels.pairs import FAMILIES, decay_distance, power_distance


def are_numbers(points):
    """Whether points are rows of numbers."""
    return scipy.sparse.issparse(points) or (
        isinstance(points, np.ndarray) and points.ndim == 2 and points.dtype.kind == "f"
    )


OF_FORMULAS = [
    (kernel, points)
    for kind, kernel, points in CASES
    if are_numbers(points) and kind is not Precomputed and points is not GRAM
]
OBJECTS = (Fisher, FunctionKernel, GlobalAlignment, Precomputed, Rescaled, Tanimoto)


def parts(kernel):
    """A kernel and all kernels in it."""
    return [kernel, *(one for child in kernel.children() for one in parts(child))]


def has_formula(kernel):
    """Whether ONNX can have a kernel: it is made of sums over columns and known maps."""
    for part in parts(kernel):
        phi = getattr(part, "phi", None)
        if isinstance(part, OBJECTS) or (phi is not None and not hasattr(phi, "transform")):
            return False
        if isinstance(part, Matern) and part.nu not in (0.5, 1.5, 2.5):
            return False
    return True


def run(graph, tensor, columns, X):
    """What the runtime makes of a tensor of the graph."""
    output = Output(name="out", tensor=tensor, dtype=graph.dtype, columns=columns)
    session = onnxruntime.InferenceSession(graph.finished([output], None, {}))
    return session.run(None, {"X": X.astype(graph.dtype)})[0]


def dense(points):
    return points.toarray() if scipy.sparse.issparse(points) else points


def prepared_in(kernel, points, dtype):
    """The kernel with its points, all of whose numbers the precision can hold."""
    Z = dense(points).astype(dtype).astype(np.float64)
    found = prepare(kernel, Z)
    X = Z[::2] + (0.0 if kernel.needs_nonnegative() else 0.25)
    return found, X.astype(dtype).astype(np.float64)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("kernel", "points"), OF_FORMULAS, ids=[f"{i} {k!r}" for i, (k, _) in enumerate(OF_FORMULAS)]
)
def test_values_are_those_of_the_formula(kernel, points, dtype):
    prepared, X = prepared_in(kernel, points, dtype)
    graph = Graph(np.dtype(dtype), X.shape[1])
    rows = Rows(graph, graph.X, prepared.view)
    n = len(prepared)
    if not has_formula(kernel):
        with pytest.raises(InputError, match="to_onnx: "):
            kernel_times(prepared.kernel, rows, np.eye(n))
        return
    found = run(graph, kernel_times(prepared.kernel, rows, np.eye(n)), n, X)
    wanted = prepared.kernel.formula(X, prepared.points.raw)
    close = 1e-5 if dtype == "float32" else 1e-12
    assert found.dtype == dtype
    assert np.abs(found - wanted).max() <= close * np.abs(wanted).max()


def test_most_kernels_convert():
    kinds = {
        type(part) for kernel, _ in OF_FORMULAS if has_formula(kernel) for part in parts(kernel)
    }
    assert len(kinds) >= 24
    assert len([one for one in OF_FORMULAS if not has_formula(one[0])]) < len(OF_FORMULAS) / 4


# --- one rule each ------------------------------------------------------------------------------


def test_every_operation_that_a_profile_writes_down_has_a_rule():
    of_derivatives = {"subtract", "inverse_root", "logarithm", "external"}
    leaves = {"statistic", "expanded", "left", "right"}
    assert set(RULES) == set(OPS) - leaves - of_derivatives


@pytest.mark.parametrize("what", [*STATISTICS, power_distance(1.5), decay_distance(0.7)])
def test_every_summand_is_that_of_the_definition(what):
    x, y = np.abs(samples.rows(12, 3)), np.abs(samples.rows(12, 3))[::-1].copy()
    x[0] = y[0] = 0.0
    y[3] = x[3]
    graph = Graph(np.dtype(np.float64), 3)
    found = run(graph, summand(graph, what, graph.X, graph.floats(y)), 3, x)
    assert np.allclose(found, what.of(x, y), rtol=1e-14, atol=1e-15)
    assert {one.family for one in (power_distance(1.5), decay_distance(0.7))} == set(FAMILIES)


def test_a_statistic_of_a_user_is_refused():
    @dataclass(frozen=True, repr=False)
    class Strange(Kernel):
        domain = frozenset({"rows"})

        def profile(self, pairs):
            return pairs.sum(Statistic("mine", lambda x, y: x + y))

    try:
        graph = Graph(np.dtype(np.float64), 3)
        rows = Rows(graph, graph.X, prepare(Strange(), ROWS).view)
        with pytest.raises(InputError, match="statistics must be those of mercer; got mine"):
            KernelValues(Strange(), rows).times(np.eye(len(ROWS)))
    finally:
        del registry["Strange"]


def test_a_kernel_of_a_user_converts_like_any_other():
    @dataclass(frozen=True, repr=False)
    class Lorentzian(Kernel):
        domain = frozenset({"rows"})

        def profile(self, pairs):
            return np.maximum(1.0 / (1.0 + pairs.sum(CHI2, 0.5)), 0.3)

    try:
        graph = Graph(np.dtype(np.float64), COUNTS.shape[1])
        prepared = prepare(Lorentzian(), COUNTS)
        values = KernelValues(Lorentzian(), Rows(graph, graph.X, prepared.view))
        found = run(graph, values.times(np.eye(len(COUNTS))), len(COUNTS), COUNTS)
        assert np.allclose(found, Lorentzian().formula(COUNTS), rtol=1e-13)
    finally:
        del registry["Lorentzian"]


# --- sizes and precision ------------------------------------------------------------------------


def test_points_are_compared_in_blocks(monkeypatch):
    monkeypatch.setattr(lowered, "AT_ONCE", 12)
    kernel = Laplacian(0.5) + Gaussian(0.3).on([0]) * Linear()
    prepared = prepare(kernel, ROWS)
    V = np.random.default_rng(0).normal(size=(len(ROWS), 2))
    graph = Graph(np.dtype(np.float64), 3)
    tensor = KernelValues(prepared.kernel, Rows(graph, graph.X, prepared.view)).times(V)
    assert sum(one.op == "MatMul" for one in graph.calls) > len(ROWS) // 4
    assert np.allclose(run(graph, tensor, 2, ROWS), kernel.formula(ROWS) @ V, rtol=1e-12)


def test_a_linear_kernel_keeps_no_points():
    many = np.random.default_rng(0).normal(size=(500, 3))
    V = np.random.default_rng(1).normal(size=(500, 2))
    for kernel in (Linear(), 2.0 * Linear() + 1.0, Linear().metric([1.0, 2.0, 3.0])):
        prepared = prepare(kernel, many)
        graph = Graph(np.dtype(np.float64), 3)
        tensor = KernelValues(prepared.kernel, Rows(graph, graph.X, prepared.view)).times(V)
        assert sum(one.size for one in graph.constants.values()) < 20
        assert np.allclose(run(graph, tensor, 2, ROWS), kernel.formula(ROWS, many) @ V, rtol=1e-10)


def test_squared_distances_are_products_where_rounding_allows():
    near, graph = prepare(Gaussian(0.5), ROWS), Graph(np.dtype(np.float32), 3)
    far = prepare(Gaussian(5e4), ROWS)
    rooted = prepare(Exponential(1.0), ROWS)
    kinds = [
        KernelValues(one.kernel, Rows(graph, graph.X, one.view)) for one in (near, far, rooted)
    ]
    assert [one.is_product for one in kinds] == [[True], [False], [False]]


def test_numbers_that_single_precision_cannot_hold_are_refused():
    prepared = prepare(Linear(), ROWS)
    graph = Graph(np.dtype(np.float32), 3)
    values = KernelValues(prepared.kernel, Rows(graph, graph.X, prepared.view))
    with pytest.raises(InputError, match=r'must fit float32; got .*dtype="float64"'):
        values.times(np.full((len(ROWS), 1), 1e300))


# --- maps ---------------------------------------------------------------------------------------

MAPS = [
    Linear(),
    Polynomial(3, 0.5, 1.0),
    Polynomial(2, 0.5, 0.0),
    Linear() + 2.0 * Polynomial(2) + 3.0,
    (Linear() + 1) ** 2 * Linear().on([1, 0]),
    Polynomial(2).normalized(),
    Linear().metric([1.0, 2.0, 0.0]).on([2, 1, 0]) + Constant(0.5),
    Polynomial(2).of(StandardScaler().fit(ROWS)),
    Linear().metric(np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])),
]


@pytest.mark.parametrize("kernel", MAPS, ids=repr)
def test_features_are_those_of_the_map(kernel):
    prepared = prepare(kernel, ROWS)
    graph = Graph(np.dtype(np.float64), 3)
    tensor, width = features(prepared.kernel, Rows(graph, graph.X, prepared.view))
    wanted = prepared.kernel.features(ROWS)
    assert width == wanted.shape[1]
    assert np.allclose(run(graph, tensor, width, ROWS), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "phi",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 1), clip=True),
        RobustScaler(),
        RobustScaler(with_centering=False),
        RandomFourier(Gaussian(0.5), 64, random_state=0),
        RandomFourier(Gaussian(0.5), 63, phase=True, random_state=0),
        RandomFourier(Gaussian(0.5), 64, method="hadamard", random_state=0),
        Nystrom(Laplacian(0.5), 8, random_state=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("inner", [Linear(), Gaussian(0.3)], ids=repr)
def test_kernels_of_maps(phi, inner):
    kernel = inner.of(phi.fit(ROWS))
    prepared = prepare(kernel, ROWS)
    X = ROWS[:5] + 3.0
    for dtype, close in (("float64", 1e-11), ("float32", 1e-5)):
        graph = Graph(np.dtype(dtype), 3)
        rows = Rows(graph, graph.X, prepared.view)
        found = run(graph, kernel_times(kernel, rows, np.eye(len(ROWS))), len(ROWS), X)
        wanted = kernel.formula(X.astype(dtype).astype(float), ROWS)
        assert np.abs(found - wanted).max() <= close * np.abs(wanted).max()


@pytest.mark.parametrize(
    ("kernel", "match"),
    [
        (Linear().of(RandomBinning(0.5).fit(ROWS)), "one of StandardScaler.*got RandomBinning"),
        (Gaussian(1.0).of(samples.halved), "got halved"),
        (Gaussian(1.0).rescaled(samples.shrinking), "not of functions of the user"),
        (Matern(3.0), r"SumPower, Matern\(0.5, 1.5 or 2.5\).*got Matern\(nu=3.0\)"),
        (Gaussian(1.0) + Matern(3.0).on([0]), r"got Matern\(nu=3.0\)"),
    ],
)
def test_what_has_no_formula_is_refused(kernel, match):
    graph = Graph(np.dtype(np.float64), 3)
    rows = Rows(graph, graph.X, prepare(kernel, ROWS).view)
    with pytest.raises(InputError, match=match):
        kernel_times(kernel, rows, np.eye(len(ROWS)))


def test_columns_may_be_counted_from_the_end_and_far_points_keep_their_digits():
    far = 1000.0 + ROWS
    for kernel in (Gaussian(1.0).on([-1, 0]), Periodic((1.0, 2.0, 3.0)), SumPower(0.7, 2)):
        prepared, X = prepared_in(kernel, far, "float32")
        graph = Graph(np.dtype(np.float32), 3)
        rows = Rows(graph, graph.X, prepared.view)
        found = run(graph, kernel_times(prepared.kernel, rows, np.eye(len(far))), len(far), X)
        wanted = prepared.kernel.formula(X, prepared.points.raw)
        assert np.abs(found - wanted).max() <= 1e-4 * np.abs(wanted).max()
