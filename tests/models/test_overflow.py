"""Finite input whose kernel values, targets or scores are too large for floating point."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn

from mercer import _native, gram, models, prepare
from mercer.checks import InputError, KernelError
from mercer.files.records import estimators
from mercer.grams import Sums, TopK
from mercer.grams.engine import NativeTile, program_of
from mercer.kernels import (
    Constant,
    ExpDot,
    FunctionKernel,
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
)
from mercer.monitor import Monitor
from mercer.solvers import RidgeProblem

random = np.random.default_rng(0)
X = random.normal(size=(24, 3))
LABELS = (X[:, 0] > 0).astype(int)
HUGE = X * 1e5

FITS = {
    "SVC": LABELS,
    "NuSVC": LABELS,
    "SVR": X[:, 0],
    "NuSVR": X[:, 0],
    "OneClassSVM": None,
    "KernelRidge": X[:, 0],
    "KernelRidgeClassifier": LABELS,
    "KernelRidgeCV": X[:, 0],
    "KernelRidgeClassifierCV": LABELS,
    "KernelMachineClassifier": LABELS,
    "KernelMachineRegressor": X[:, 0],
    "KernelPerceptron": LABELS,
    "KernelNeighborsClassifier": LABELS,
    "KernelNeighborsRegressor": X[:, 0],
    "KernelPrototypeClassifier": LABELS,
    "KernelPCA": None,
    "KernelKMeans": None,
    "KernelFisherDiscriminant": LABELS,
    "GramTransformer": None,
    "Nystrom": None,
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("kernel", [ExpDot(), Polynomial(40), (Linear() * ExpDot()) + 1])
def test_a_fit_names_kernel_and_scale(name, kernel):
    with pytest.raises(InputError) as caught:
        estimators()[name](kernel=kernel).fit(HUGE, FITS[name])
    said = str(caught.value)
    assert "kernel values must be finite" in said
    assert repr(kernel) in said
    assert f"entries up to {np.abs(HUGE).max():.3g}" in said
    assert "StandardScaler" in said


@pytest.mark.parametrize("name", FITS)
def test_new_points_that_overflow_are_refused(name):
    model = estimators()[name](kernel=ExpDot(0.1)).fit(X, FITS[name])
    ask = model.predict if hasattr(model, "predict") else model.transform
    with pytest.raises(InputError, match=r"ExpDot: kernel values must be finite .* ExpDot\(gamma"):
        ask(HUGE)


# What else has no use for alpha = 1 beside kernel values of 1e40.
SETTINGS = {
    "KernelRidge": {"alpha": 1e60},
    "KernelRidgeClassifier": {"alpha": 1e60},
    "KernelRidgeCV": {"alphas": [1e60]},
    "KernelRidgeClassifierCV": {"alphas": [1e60]},
    "KernelMachineClassifier": {"alpha": 1e60},
    "KernelMachineRegressor": {"alpha": 1e60},
    "KernelFisherDiscriminant": {"alpha": 1e60},
    "KernelPerceptron": {"max_iter": 20},
} | {name: {"max_iter": 200} for name in FITS if "SV" in name}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("kernel", [Linear(), Gaussian(), Matern(2.5)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_single_precision_makes_room(name, kernel):
    """float32 at 1e20 overflows in its own squares, not in those of double precision."""
    wide = (X * 1e20).astype(np.float32)
    model = estimators()[name](kernel=kernel, **SETTINGS.get(name, {})).fit(wide, FITS[name])
    found = model.predict(wide) if hasattr(model, "predict") else model.transform(wide)
    assert np.isfinite(found).all()


def test_the_precision_of_wide_points():
    small = X.astype(np.float32)
    assert gram(Linear(), small).dtype == np.float32
    assert gram(Linear(), small * np.float32(1e16)).dtype == np.float64
    assert gram(Polynomial(7), small * np.float32(1e5)).dtype == np.float64
    assert gram(Polynomial(7), small * np.float32(1e5), dtype=np.float32).dtype == np.float32
    wide = small * np.float32(1e20)
    exact = wide.astype(np.float64) @ wide.astype(np.float64).T
    np.testing.assert_allclose(np.asarray(gram(Linear(), wide)), exact, rtol=1e-12)


# --- the engine -------------------------------------------------------------------------------


def overflowing(dtype, n=200):
    """Points of which only the last pair overflows, so that most tiles are finite."""
    points = np.full((n, 1), 0.1, dtype=dtype)
    points[-1] = 40.0
    return points


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "use",
    [
        lambda K: K.dense(),
        lambda K: K @ np.zeros(K.shape[1]),
        lambda K: K.rows([K.shape[0] - 1]),
        lambda K: K.fill_rows(np.array([K.shape[0] - 1]), np.empty((1, K.shape[1]), K.dtype)),
        lambda K: K.block(slice(150, 200), slice(150, 200)),
        lambda K: K.reduce(TopK(3, None)),
        lambda K: K.reduce(Sums(np.zeros(K.shape[0], int), 1)),
        lambda K: K.diag(),
    ],
)
@pytest.mark.parametrize("store", [True, False, "half"])
def test_no_value_leaves_a_gram_that_is_not_finite(dtype, use, store):
    K = gram(ExpDot(), overflowing(dtype), store=store, dtype=dtype)
    with pytest.raises(InputError, match="ExpDot: kernel values must be finite in float"):
        use(K)


def test_what_was_not_asked_for_is_not_refused():
    K = gram(ExpDot(), overflowing(np.float64), store=False)
    assert np.isfinite(K.block(slice(0, 100), slice(0, 199))).all()


def test_sixteen_bits_refuse_in_the_same_words():
    with pytest.raises(InputError, match="kernel values must be finite in float32"):
        gram(ExpDot(), overflowing(np.float32), store="16 bit", dtype=np.float32) @ np.ones(200)


def test_numpy_blocks_and_functions_are_looked_at():
    K = gram(FunctionKernel(lambda A, B: np.full((len(A), len(B)), np.inf)), X)
    with pytest.raises(InputError, match="FunctionKernel: kernel values must be finite"):
        K.dense()
    sparse = scipy.sparse.random_array((300, 9000), density=1e-3, rng=np.random.default_rng(1))
    K = gram(ExpDot(), sparse.tocsr() * 1e3)
    with pytest.raises(InputError, match="ExpDot: kernel values must be finite"):
        K.dense()


def test_a_formula_answers_with_what_floating_point_makes_of_it():
    assert np.isinf(ExpDot()(HUGE)).any()
    with pytest.raises(InputError):
        gram(ExpDot(), HUGE).dense()


def test_numbers_taken_on_trust_are_not_looked_at():
    with sklearn.config_context(assume_finite=True):
        assert np.isinf(gram(ExpDot(), HUGE).dense()).any()


def test_the_flag_of_a_job():
    view = prepare(ExpDot(), overflowing(np.float64)).view
    program = program_of((ExpDot(),), view, view)
    tile = NativeTile(program, (ExpDot(),), view, view, np.float64, Monitor(), checked=False)
    assert tile.job.finite
    rows = np.empty((1, 200))
    tile.job.rows(np.array([3]), rows, None)
    assert tile.job.finite
    tile.job.rows(np.array([199]), rows, None)
    assert not tile.job.finite
    assert isinstance(tile.job, _native.Job64)


def test_products_are_looked_at():
    K = gram(Constant(1e90), X)
    with pytest.raises(InputError, match="sums of kernel values times coefficients must be finite"):
        K @ np.full(len(X), 1e300)


# --- targets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["cholesky", "cg", "nystrom", "primal"])
@pytest.mark.parametrize("power", [660, -660, 1000])
def test_ridge_is_solved_in_units_of_y(solver, power):
    """Powers of two change no digit: the same fit, so many times larger."""
    kernel = Polynomial(2) if solver == "primal" else Gaussian(0.3)
    y = np.column_stack([X[:, 0], X[:, 1] + 3])
    options = {"alpha": 0.1, "kernel": kernel, "solver": solver, "fit_intercept": True}
    plain = models.KernelRidge(**options).fit(X, y)
    scaled = models.KernelRidge(**options).fit(X, np.ldexp(y, power))
    # Conjugate gradients take the offset and the outputs together, and end at their tolerance.
    near = {"rtol": 1e-4, "atol": 1e-5} if solver == "cg" else {"rtol": 1e-9}
    found = np.ldexp(scaled.predict(X[:7]), -power)
    np.testing.assert_allclose(found, plain.predict(X[:7]), **near)
    np.testing.assert_allclose(np.ldexp(scaled.dual_coef_, -power), plain.dual_coef_, **near)
    assert scaled.certificate_.residual <= 1e-6


def test_ordinary_targets_are_left_alone():
    problem = RidgeProblem(targets=X, alpha=np.ones(3))
    same, factors = problem.scaled()
    assert same is problem
    assert (factors == 1).all()


def test_coefficients_that_y_cannot_hold_are_refused():
    with pytest.raises(InputError, match="KernelRidge: the coefficients must be finite"):
        models.KernelRidge(1e-12, kernel=1e-12 * Gaussian()).fit(X, np.full(24, 1e300))


@pytest.mark.parametrize(
    ("model", "scale"),
    [
        (models.KernelMachineRegressor(), 1e200),
        (models.KernelMachineRegressor("huber"), 1e-200),
        (models.KernelRidgeCV(), 1e200),
        (models.KernelRidgeCV(), 1e-200),
        (models.SVR(), 1e200),
        (models.KernelNeighborsRegressor(), 1.7e308),
    ],
)
def test_targets_that_cannot_be_squared_are_refused(model, scale):
    with pytest.raises(InputError, match=r"the largest y, without its sign, must be from .*Divide"):
        model.fit(X, np.abs(X[:, 0]) / np.abs(X[:, 0]).max() * scale)


# --- models -----------------------------------------------------------------------------------


def test_means_of_counts_that_overflow_are_refused():
    model = models.KernelMachineRegressor("poisson", 1e-6, kernel=Linear())
    model.fit(X, np.round(np.exp(X[:, 0])))
    with pytest.raises(InputError, match=r"means must be finite; got overflow .* Scale X"):
        model.predict(X * 1e4)


def test_scores_that_overflow_are_refused():
    model = models.KernelFisherDiscriminant(kernel=Polynomial(2)).fit(X, LABELS)
    model.means_ = model.means_ * 1e300
    with pytest.raises(InputError, match="KernelFisherDiscriminant: scores must be finite"):
        model.decision_function(X * 1e20)


@pytest.mark.parametrize("tol", [1.0, 1e9])
def test_a_tolerance_that_anything_meets(tol):
    """Nothing needs to be solved: f = 0, and the mean."""
    model = models.KernelRidge(10.0, solver="cg", tol=tol, fit_intercept=True)
    model.fit(X, X[:, 0], sample_weight=np.arange(24.0) + 1)
    assert np.isfinite(model.predict(X)).all()


def test_a_kernel_with_a_negative_diagonal():
    kernel = Sigmoid(0.1, -1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        fitted = models.KernelMachineClassifier(kernel=kernel).fit(X, LABELS)
    assert np.isfinite(fitted.decision_function(X)).all()
    with pytest.raises(KernelError, match="needs a kernel matrix with a positive"):
        models.KernelMachineRegressor(kernel=kernel, solver="nystrom").fit(X, X[:, 0])


def test_deviations_that_rounding_hides_are_refused():
    wide = np.repeat(X, 2, axis=0) * 1e7
    model = models.KernelRidge(1e-6, kernel=Linear(), solver="cg", max_iter=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        model.fit(wide, wide[:, 0])
    with pytest.raises(InputError, match=r"return_std needs .* positive definite.*Raise alpha"):
        model.predict(wide[:3], return_std=True)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_held_out_points_that_leave_a_singular_system():
    """SciPy's warning about it is not for users of a search: the scores tell."""
    doubled = np.repeat(X[:6], 4, axis=0)
    model = models.KernelRidgeClassifierCV([1e-9, 1.0], kernel=1e6 * Linear(), cv=3)
    model.fit(doubled, np.tile([0, 1], 12))
    assert np.isfinite(model.best_score_)


def test_norms_that_single_precision_cannot_hold_are_refused_in_one_sentence():
    # 1 / sqrt(k(x, x)) is beyond it, though the values of the kernel itself are tiny.
    tiny = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32) * 1e-7
    kernel = Polynomial(degree=6, coef0=0.0).normalized()
    with pytest.raises(InputError, match="kernel values must be finite in float32"):
        models.KernelRidge(kernel=kernel).fit(tiny, np.arange(12.0))


def test_coefficients_that_nobody_reads_overflow_in_silence():
    """With few features a ridge model predicts by these; those of the points may be too large."""
    rows = np.random.default_rng(0).normal(size=(30, 2))
    y = 1e300 * np.random.default_rng(1).normal(size=30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = models.KernelRidge(1e-12, kernel=Linear()).fit(rows, y)
        assert np.isinf(model.dual_coef_).any()
        assert np.isfinite(model.predict(rows)).all()
