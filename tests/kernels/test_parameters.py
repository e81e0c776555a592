"""Parameters of kernels: what data decide, one per column, and what is refused with a sentence."""

import math

import numpy as np
import oracles
import pytest
import samples
import scipy.sparse
from numpy.testing import assert_allclose

from mercer.checks import InputError, InputTypeError, KernelError
from mercer.inputs import Objects, RowBlocks
from mercer.kernels import (
    Categorical,
    Chi2,
    Constant,
    ExpDot,
    Exponential,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    LpNorm,
    Matern,
    On,
    Periodic,
    Polynomial,
    Power,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Spectrum,
    Sum,
    SumPower,
)

ROWS = samples.rows(10, 4)
VARIANCE = float(np.mean((ROWS - ROWS.mean()) ** 2))

# --- parameters that the data decide ------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "name", "wanted"),
    [
        (Gaussian(), "gamma", 1 / (4 * VARIANCE)),
        (Gaussian("auto"), "gamma", 1 / 4),
        (Laplacian(), "gamma", 1 / (4 * math.sqrt(VARIANCE))),
        (Laplacian("auto"), "gamma", 1 / 4),
        (Polynomial(2, "scale"), "gamma", 1 / (4 * VARIANCE)),
        (Polynomial(2, "auto"), "gamma", 1 / 4),
        (ExpDot("scale"), "gamma", 1 / (4 * VARIANCE)),
        (Sigmoid("auto"), "gamma", 1 / 4),
        (Matern(length_scale="scale"), "length_scale", math.sqrt(4 * VARIANCE)),
        (Matern(length_scale="auto"), "length_scale", 2.0),
        (RationalQuadratic(length_scale="scale"), "length_scale", math.sqrt(4 * VARIANCE)),
        (Exponential("scale"), "length_scale", math.sqrt(4 * VARIANCE)),
        (Exponential("auto"), "length_scale", 2.0),
        (LpNorm(2.0, 1.0, "scale"), "length_scale", math.sqrt(4 * VARIANCE)),
        (LpNorm(0.5, 0.5, "scale"), "length_scale", 16 * math.sqrt(VARIANCE)),
        (LpNorm(1.0, 1.0, "auto"), "length_scale", 4.0),
        (SumPower(length_scale="scale"), "length_scale", math.sqrt(VARIANCE)),
        (SumPower(length_scale="auto"), "length_scale", 1.0),
        (Categorical("scale"), "gamma", 1 / 4),
        (Categorical("auto"), "gamma", 1 / 4),
    ],
    ids=repr,
)
def test_parameters_from_data(kernel, name, wanted):
    assert getattr(kernel.resolve(ROWS), name) == pytest.approx(wanted, rel=1e-14)


def test_one_column():
    for family in (Gaussian, Laplacian, Categorical):
        assert family("auto").resolve(ROWS[:, :1]).gamma == 1.0
    assert Gaussian().resolve(ROWS[:, :1]).gamma == pytest.approx(1 / ROWS[:, 0].var(), rel=1e-14)


def test_gaussian_scale_is_that_of_scikit_learn():
    from sklearn.svm import SVC

    machine = SVC(gamma="scale").fit(ROWS, np.arange(10) % 2)
    assert Gaussian().resolve(ROWS).gamma == pytest.approx(machine._gamma, rel=1e-14)


def test_matern_and_gaussian_scale_mean_the_same_length():
    """exp(-gamma d**2) with gamma = 1/(d var) is exp(-r**2) with r = d / length_scale."""
    gamma = Gaussian().resolve(ROWS).gamma
    length = RationalQuadratic(length_scale="scale").resolve(ROWS).length_scale
    assert gamma == pytest.approx(length**-2, rel=1e-14)


def test_constant_data_have_scale_one():
    same = np.full((5, 2), 3.0)
    assert Gaussian().resolve(same).gamma == 1.0
    assert Laplacian().resolve(scipy.sparse.csr_array(same)).gamma == 1.0
    for kernel in (Matern(), Exponential(), LpNorm(1.5), SumPower()):
        waiting = kernel.replace(length_scale="scale")
        assert waiting.resolve(same).length_scale == 1.0


def doubled_first(X):
    return np.column_stack([2.0 * X[:, 0], X[:, 1]])


def test_every_node_looks_at_the_columns_and_the_representation_it_sees():
    kernel = (
        Gaussian()
        + 2 * Gaussian("auto").on([0, 1, 3])
        + Laplacian().on([2]) * Gaussian().of(doubled_first)
        + Gaussian().of(doubled_first).on([3, 2])
    )
    found = kernel.resolve(ROWS)
    params = found.get_params()
    seen = doubled_first(ROWS)
    after = doubled_first(ROWS[:, [3, 2]])
    assert params["k1__gamma"] == pytest.approx(1 / (4 * VARIANCE), rel=1e-14)
    assert params["k2__gamma"] == pytest.approx(1 / 3, rel=1e-14)
    assert params["k3__k1__gamma"] == pytest.approx(1 / ROWS[:, 2].std(), rel=1e-14)
    assert params["k3__k2__gamma"] == pytest.approx(1 / (2 * seen.var()), rel=1e-14)
    assert params["k4__gamma"] == pytest.approx(1 / (2 * after.var()), rel=1e-14)
    assert found.resolve(ROWS[:3]) is found


WAITING = [
    Gaussian(),
    Gaussian("auto"),
    Laplacian(),
    Matern(length_scale="scale"),
    LpNorm(1.5, 1.0, "scale") + SumPower(length_scale="scale"),
    Polynomial(gamma="scale"),
    Gaussian().on([0, 2]) * Laplacian() + Sigmoid("scale"),
    Gaussian().of(samples.halved).normalized(),
]


@pytest.mark.parametrize("kernel", WAITING, ids=repr)
def test_a_weight_is_a_repetition(kernel):
    weight = np.array([1, 2, 0, 3, 1, 0, 1, 1, 4, 1])
    wanted = kernel.resolve(np.repeat(ROWS, weight, axis=0)).get_params()
    for points in (ROWS, scipy.sparse.csr_array(ROWS), RowBlocks.split(ROWS, 3)):
        found = kernel.resolve(points, sample_weight=weight).get_params()
        numbers = {name: value for name, value in found.items() if isinstance(value, float)}
        assert numbers
        for name, value in numbers.items():
            assert value == pytest.approx(wanted[name], rel=1e-13), name


@pytest.mark.parametrize("kernel", WAITING, ids=repr)
def test_sparse_rows_and_blocks_resolve_as_dense_rows(kernel):
    X = np.where(ROWS > 0.3, ROWS, 0.0)
    wanted = kernel.resolve(X).get_params()
    shifted = kernel.resolve(X + 1000.0).get_params()
    for make in (scipy.sparse.csr_array, scipy.sparse.csc_matrix, lambda X: RowBlocks.split(X, 4)):
        for points, target in ((make(X), wanted), (make(X + 1000.0), shifted)):
            for name, value in kernel.resolve(points).get_params().items():
                if isinstance(value, float):
                    assert value == pytest.approx(target[name], rel=1e-10), name


def test_scale_of_float32_far_from_zero_keeps_its_digits():
    X = (10_000.0 + samples.rows(200, 3)).astype(np.float32)
    wanted = 1 / (3 * X.astype(np.float64).var())
    for points in (X, scipy.sparse.csr_array(X), RowBlocks.split(X, 64)):
        for weight in (None, np.ones(200)):
            found = Gaussian().resolve(points, sample_weight=weight).gamma
            assert found == pytest.approx(wanted, rel=1e-9)


def test_duplicate_entries_of_a_sparse_matrix_add_up():
    """A CSR matrix may store an entry in parts; it still is one entry."""
    parts = scipy.sparse.csr_array(
        (np.array([1.0, 2.0, 1.0, -1.0, 4.0]), np.array([1, 1, 0, 0, 0]), np.array([0, 3, 5])),
        shape=(2, 2),
    )
    before = parts.data.copy()
    dense = parts.toarray()
    assert_allclose(dense, [[1.0, 3.0], [3.0, 0.0]])
    for kernel in (Gaussian(), Laplacian(), Polynomial(2, "scale")):
        resolved = kernel.resolve(dense)
        assert kernel.resolve(parts) == resolved
        assert_allclose(resolved(parts), resolved.formula(dense), rtol=1e-13)
    assert_allclose(parts.data, before, atol=0)  # what the user handed in stays as it was


@pytest.mark.parametrize("kernel", [*WAITING, Gaussian().normalized().exp()], ids=repr)
def test_an_unresolved_kernel_is_not_evaluated(kernel):
    uses = [kernel, kernel.formula, kernel.diag, kernel.distance, kernel.features, kernel.basis]
    for use in uses:
        with pytest.raises(
            KernelError, match=r"still to be taken from data\. Call kernel\.resolve"
        ):
            use(ROWS)
    with pytest.raises(KernelError, match=r"kernel\.resolve"):
        kernel.pair(ROWS[0], ROWS[1])


def test_the_refusal_names_every_parameter_that_waits():
    with pytest.raises(KernelError, match=r"got Gaussian\.gamma, Matern\.length_scale still"):
        (Gaussian() + Linear() * Matern(length_scale="auto"))(ROWS)


def test_only_rows_of_numbers_have_a_scale():
    with pytest.raises(InputTypeError, match=r'"scale" and "auto" need rows of numbers'):
        Gaussian().resolve(Objects(["ab", "cd"]))


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (-np.ones(10), r"sample_weight must be at least 0; got -1 at index 0"),
        (np.zeros(10), "above 0 for at least one sample"),
        (np.ones(3), r"sample_weight must have shape \(10,\)"),
        (np.full(10, np.nan), "sample_weight must be finite"),
    ],
)
def test_bad_weights(weight, match):
    with pytest.raises(InputError, match=rf"Gaussian: .*{match}"):
        Gaussian().resolve(ROWS, sample_weight=weight)


# --- one parameter a column ---------------------------------------------------------------------


def test_sigma_is_another_way_to_say_gamma():
    assert Gaussian(sigma=2.0) == Gaussian(gamma=0.125)
    assert Gaussian(sigma=[1.0, 2.0]) == Gaussian(gamma=(0.5, 0.125))
    assert repr(Gaussian(sigma=0.1)) == "Gaussian(gamma=50.0)"
    assert Gaussian(sigma=2.0).get_params() == {"gamma": 0.125}
    x, y = ROWS[0], ROWS[1]
    square = sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
    assert Gaussian(sigma=3.0).pair(x, y) == pytest.approx(math.exp(-square / 18), rel=1e-14)


@pytest.mark.parametrize("family", [Gaussian, Laplacian, Categorical])
def test_a_gamma_a_column_is_a_product_over_the_columns(family):
    gammas = (0.5, 0.0, 2.0, 1.0)
    parts = [family(gamma).on([j]) for j, gamma in enumerate(gammas) if gamma]
    whole = parts[0] * parts[1] * parts[2]
    assert_allclose(family(gammas)(ROWS), whole(ROWS), rtol=1e-12)
    assert family(list(gammas)) == family(gammas) == family(np.array(gammas))


def test_lengths_and_periods_a_column_stretch_the_columns():
    lengths = np.array([0.5, 1.0, 2.0, 3.0])
    for kernel in (Matern(2.5), Matern(0.7), RationalQuadratic(0.8)):
        wanted = kernel.formula(ROWS / lengths)
        assert_allclose(kernel.replace(length_scale=lengths)(ROWS), wanted, rtol=1e-12)
    wanted = oracles.gram(lambda x, y: oracles.periodic(x, y, 1.0, 1, 1, 1, 1), ROWS / lengths)
    assert_allclose(Periodic(lengths)(ROWS), wanted, rtol=1e-11)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian([1.0, 2.0]),
        Laplacian([1.0, 2.0]),
        Matern(1.5, [1.0, 2.0]),
        RationalQuadratic(1.0, [1.0, 2.0]),
        Periodic([1.0, 2.0]),
        Categorical([1.0, 2.0]),
    ],
    ids=repr,
)
def test_one_parameter_a_column_must_fit_the_columns(kernel):
    for use in (kernel, kernel.formula, kernel.diag):
        with pytest.raises(InputError, match=r"one parameter per column means 2 columns; got 4"):
            use(ROWS)


# --- parameters that are refused ------------------------------------------------------------------

BAD = [
    (lambda: Constant(-1), InputError, r"Constant: c must be a finite number at least 0; got -1"),
    (lambda: Constant("1"), InputTypeError, r"Constant: c must be .*; got '1'"),
    (lambda: Constant(True), InputTypeError, r"Constant: c must be .*; got True"),
    (lambda: Polynomial(0), InputError, r"Polynomial: degree must be .* at least 1.*; got 0"),
    (lambda: Polynomial(2.5), InputTypeError, r"Polynomial: degree must be a whole number"),
    (lambda: Polynomial(10**6), InputError, r"Polynomial: degree must be .* at most 1000"),
    (lambda: Polynomial(2, 0.0), InputError, r"Polynomial: gamma must be .* above 0; got 0.0"),
    (lambda: Polynomial(2, [1.0, 2.0]), InputTypeError, r"Polynomial: gamma must be .*; got \["),
    (lambda: Polynomial(2, 1.0, -0.5), InputError, r"coef0 must be .* got -0.5. A negative coef0"),
    (lambda: ExpDot(-2), InputError, r"ExpDot: gamma must be a finite number above 0; got -2"),
    (lambda: ExpDot("scales"), InputError, r"ExpDot: gamma .*; got 'scales'. Did you mean 'scale'"),
    (lambda: Sigmoid(1.0, math.nan), InputError, r"Sigmoid: coef0 must be a finite number; got na"),
    (lambda: Sigmoid(0), InputError, r"Sigmoid: gamma must be a finite number above 0; got 0"),
    (lambda: Gaussian(0), InputError, r"Gaussian: gamma must be a finite number above 0; got 0"),
    (lambda: Gaussian(math.inf), InputError, r"Gaussian: gamma must be a finite number .*; got in"),
    (lambda: Gaussian(10**400), InputError, r"Gaussian: gamma must be a finite number .*; got 100"),
    (lambda: Gaussian(np.complex128(1)), InputTypeError, r"Gaussian: gamma must be a finite"),
    (lambda: Gaussian(None), InputTypeError, r"Gaussian: gamma must be .*; got None"),
    (
        lambda: Gaussian([]),
        InputError,
        "gamma must have one number per column; got none",
    ),
    (lambda: Gaussian([1, -1]), InputError, r"Gaussian: gamma\[1\] must be .* at least 0; got -1"),
    (lambda: Gaussian(1.0, sigma=1.0), InputError, r"give gamma or sigma; got gamma=1.0, sigma=1"),
    (lambda: Gaussian(np.ones(2), sigma=1.0), InputError, r"give gamma or sigma"),
    (lambda: Gaussian(sigma=0), InputError, r"Gaussian: sigma must be .* above 0; got 0"),
    (lambda: Gaussian(sigma=[1, 0]), InputError, r"Gaussian: sigma\[1\] must be .* above 0; got 0"),
    (lambda: Gaussian(sigma="scale"), InputTypeError, r"Gaussian: sigma must be a number above 0"),
    (lambda: Gaussian(sigma=1e-200), InputError, r"Gaussian: gamma must be a finite .*; got inf"),
    (lambda: Laplacian("median"), InputError, r"Laplacian: gamma must be one of 'scale', 'auto'"),
    (lambda: Exponential(0), InputError, r"Exponential: length_scale must be .* above 0"),
    (lambda: Exponential([1, 0]), InputError, r"Exponential: length_scale\[1\] must be .* above 0"),
    (lambda: Exponential("median"), InputError, r"length_scale must be one of 'scale', 'auto'"),
    (lambda: LpNorm(2.5), InputError, r"LpNorm: p must be .* at most 2; got 2.5. Above 2 the"),
    (lambda: LpNorm(0), InputError, r"LpNorm: p must be .* above 0"),
    (lambda: LpNorm(2, 0), InputError, r"LpNorm: q must be .* above 0"),
    (
        lambda: LpNorm(1.0, 1.5),
        InputError,
        r"LpNorm: q must be at most p; got 1.5 > 1. Only then is .* positive definite",
    ),
    (lambda: LpNorm(1, 1, -1), InputError, r"LpNorm: length_scale must be .* above 0"),
    (lambda: SumPower(3), InputError, r"SumPower: q must be .* at most 2; got 3"),
    (lambda: SumPower(1, 0), InputError, r"SumPower: power must be .* 1.*; got 0"),
    (lambda: SumPower(1, 1.5), InputTypeError, r"SumPower: power must be a whole number"),
    (lambda: SumPower(1, 2, 1.0), InputError, r"constant must be below 1, or the kernel is 1"),
    (lambda: SumPower(1, 2, -0.1), InputError, r"SumPower: constant must be .* at least 0"),
    (lambda: Matern(0), InputError, r"Matern: nu must be .* above 0 .*; got 0"),
    (
        lambda: Matern(99),
        InputError,
        r"Matern: nu must be .* at most 40; got 99. .*nearly Gaussian",
    ),
    (lambda: Matern(1.5, [1, 0]), InputError, r"Matern: length_scale\[1\] must be .* above 0"),
    (lambda: RationalQuadratic(-1), InputError, r"RationalQuadratic: alpha must be .* above 0"),
    (lambda: Periodic("scale"), InputTypeError, r"Periodic: period must be a number above 0"),
    (lambda: Periodic([1, 0]), InputError, r"Periodic: period\[1\] must be .* above 0; got 0"),
    (lambda: Periodic(1.0, 0), InputError, r"Periodic: length_scale must be .* above 0; got 0"),
    (lambda: Chi2(-1), InputError, r"Chi2: gamma must be a finite number above 0; got -1"),
    (lambda: Chi2("scale"), InputTypeError, r"Chi2: gamma must be .*; got 'scale'"),
    (lambda: Categorical(-1), InputError, r"Categorical: gamma must be .* above 0; got -1"),
    (lambda: Spectrum(0), InputError, r"Spectrum: n must be a whole number at least 1; got 0"),
    (lambda: Spectrum("3"), InputTypeError, r"Spectrum: n must be a whole number .*; got '3'"),
    (lambda: FunctionKernel(3), InputTypeError, r"FunctionKernel: fn must be a function .*; got 3"),
    (lambda: Scaled("k", 2.0), InputTypeError, r"Scaled: inner must be a kernel; got 'k'"),
    (lambda: Power(None, 2), InputTypeError, r"Power: inner must be a kernel; got None"),
    (lambda: Sum((Linear(),)), KernelError, r"Sum: it must have two terms or more; got 1"),
    (lambda: On(Linear(), []), InputError, r"on: at least one column must be chosen; got none"),
    (lambda: Linear().on(1.5), InputTypeError, r"on: columns must be names or positions; got 1.5"),
    (lambda: Linear().on(True), InputTypeError, r"on: columns must be names or positions; got Tru"),
    (lambda: Linear().of(3), InputTypeError, r"of: phi must be a function .* transformer; got 3"),
    (lambda: Linear().rescaled(3), InputTypeError, r"rescaled: f must be a function of X; got 3"),
]


@pytest.mark.parametrize(("make", "error", "match"), BAD, ids=[match for *_, match in BAD])
def test_bad_parameters_are_refused_with_a_sentence(make, error, match):
    with pytest.raises(error, match=match) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).endswith((".", "?"))


def test_numbers_of_any_kind_are_stored_as_plain_numbers():
    kernel = Polynomial(np.int64(2), np.float32(0.5), 1)
    assert [type(value) for value in kernel.get_params().values()] == [int, float, float]
    assert repr(kernel) == "Polynomial(degree=2, gamma=0.5)"
    assert Linear().on(np.array([2, 0])).columns == (2, 0)
    assert type(Linear().on(np.str_("a")).columns) is str
