"""Random Fourier features: their laws, their errors, their waves."""

import pickle
from unittest import SkipTest

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from mercer import load, save
from mercer.checks import InputError, InputTypeError, KernelError, MemoryLimitError
from mercer.features import RandomFourier
from mercer.features.draws import lengths, orthogonal, rotation, sobol, stratified
from mercer.features.spectral import MOST_TERMS, terms_of
from mercer.grams.maps import waves as waves_module
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Constant,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Spectrum,
)

random = np.random.default_rng(7)
X = random.normal(size=(60, 4))
KERNELS = [
    Gaussian(0.3),
    Gaussian((0.1, 0.2, 0.4, 0.8)),
    Laplacian(0.2),
    Laplacian((0.1, 0.2, 0.3, 0.4)),
    Matern(0.5, 2.0),
    Exponential((1.0, 2.0, 3.0, 4.0)),
    Matern(1.5, (1.0, 2.0, 3.0, 4.0)),
    Matern(3.3, 2.0),
    RationalQuadratic(0.7, 2.0),
    0.5 * Gaussian(0.3) + 2.0 * Laplacian(0.1) + 1.5,
    Gaussian(0.2) * Matern(1.5, 2.0),
    Gaussian(0.3).on([0, 2]) * Laplacian(0.3).on(3),
    (Gaussian(0.1) + 1.0) ** 2,
    (3.0 * Gaussian(0.3) + 1.0).normalized(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("method", ["iid", "orthogonal", "sobol"])
def test_the_mean_over_many_draws_is_the_kernel(kernel, method):
    few = X[:6]
    maps = [RandomFourier(kernel, 64, method=method, random_state=s).fit(few) for s in range(200)]
    drawn = np.array([phi @ phi.T for phi in (one.transform(few) for one in maps)])
    spread = drawn.std(axis=0) / np.sqrt(len(drawn))
    gap = np.abs(drawn.mean(axis=0) - kernel.formula(few))
    assert (gap <= 5 * spread + 1e-12).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("phase", [False, True])
def test_the_error_is_the_one_expected_of_independent_frequencies(kernel, phase):
    maps = [
        RandomFourier(kernel, 256, method="iid", phase=phase, random_state=s).fit(X)
        for s in range(40)
    ]
    errors = np.array([one.measured_error_ for one in maps])
    expected = maps[0].expected_error_
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(expected, rel=0.25)


def test_the_measured_error_is_over_pairs_of_different_points():
    model = RandomFourier(Gaussian(0.3), 128).fit(X)
    phi = model.transform(X)
    gap = (phi @ phi.T - Gaussian(0.3).formula(X)) ** 2
    apart = ~np.eye(len(X), dtype=bool)
    assert model.measured_error_ == pytest.approx(np.sqrt(gap[apart].mean()), rel=1e-9)


def test_the_error_falls_as_the_root_of_the_number_of_features():
    def error(width):
        maps = [
            RandomFourier(Gaussian(0.2), width, method="iid", random_state=s).fit(X)
            for s in range(20)
        ]
        return np.sqrt(np.mean([one.measured_error_**2 for one in maps]))

    slope = np.polyfit(np.log([64, 256, 1024]), np.log([error(w) for w in (64, 256, 1024)]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.08)


@pytest.mark.parametrize(("columns", "method"), [(8, "sobol"), (32, "orthogonal")])
def test_even_draws_are_better_than_independent_ones(columns, method):
    rows = np.random.default_rng(1).normal(size=(100, columns))
    kernel = Gaussian(1.0 / (2 * columns))
    auto = RandomFourier(kernel, 1024).fit(rows)
    iid = RandomFourier(kernel, 1024, method="iid").fit(rows)
    assert auto.method_ == method
    assert auto.measured_error_ < 0.65 * iid.measured_error_


# --- the map itself -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["iid", "hadamard"])
def test_pairs_are_cosines_and_sines(method):
    model = RandomFourier(Gaussian(0.3), 24, method=method).fit(X)
    angles = X @ model.frequencies_.T + model.offset_
    wanted = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(12)
    assert np.abs(model.transform(X) - wanted).max() < 1e-13
    assert model.norm_bound_ == pytest.approx(1.0)
    assert np.allclose((model.transform(X) ** 2).sum(axis=1), 1.0)


def test_with_phases_it_is_the_map_of_the_lecture():
    """sqrt(2 / D) cos(v . x + b) with v ~ N(0, 2 gamma I) and b uniform."""
    gamma, D = 0.3, 20_000
    model = RandomFourier(Gaussian(gamma), D, method="iid", phase=True).fit(X)
    wanted = np.sqrt(2 / D) * np.cos(X @ model.frequencies_.T + model.offset_)
    assert np.abs(model.transform(X) - wanted).max() < 1e-13
    assert np.allclose(model.frequencies_.var(axis=0), 2 * gamma, rtol=0.05)
    turns = (model.offset_ / (2 * np.pi)) % 1.0
    assert np.abs(np.histogram(turns, 10)[0] / D - 0.1).max() < 0.015
    assert (model.transform(X) ** 2).sum(axis=1).max() <= model.norm_bound_ == pytest.approx(2.0)


def test_frequencies_of_fast_rotations_are_orthogonal_in_groups():
    model = RandomFourier(Gaussian(0.5), 64, method="hadamard").fit(np.zeros((3, 8)))
    V = model.frequencies_
    for start in range(0, 32, 8):
        group = V[start : start + 8]
        products = group @ group.T
        assert np.abs(products - np.diag(np.diagonal(products))).max() < 1e-12


def test_five_columns_rotate_in_eight():
    rows = X[:, [0, 1, 2, 3, 0]] * np.array([1.0, 2.0, 0.5, 1.0, 1.0])
    model = RandomFourier(Gaussian((0.1, 0.2, 0.3, 0.4, 0.5)), 40, method="hadamard").fit(rows)
    waves = model._waves
    H = scipy.linalg.hadamard(8)
    D1, D2, D3 = (np.diag(one.astype(float)) for one in waves.signs[0])
    Q = H @ D3 @ H @ D2 @ H @ D1 / 8**1.5
    assert np.allclose(Q @ Q.T, np.eye(8))
    scale = np.sqrt(2 * np.array([0.1, 0.2, 0.3, 0.4, 0.5]))
    assert np.allclose(model.frequencies_[:8], waves.radii[:8, None] * Q[:, :5] * scale)
    angles = rows @ model.frequencies_.T + model.offset_
    assert np.allclose(model.transform(rows)[:, :20], np.cos(angles) / np.sqrt(20), atol=1e-13)


@pytest.mark.parametrize("phase", [False, True])
@pytest.mark.parametrize("method", ["iid", "hadamard"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_those_of_the_features(method, phase, dtype):
    rows = random.normal(size=(130, 37)).astype(dtype)
    model = RandomFourier(Gaussian(0.02), 600, method=method, phase=phase).fit(rows)
    phi = model.transform(rows)
    assert phi.dtype == dtype
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    for shape in ((600,), (600, 1), (600, 11)):
        c = random.normal(size=shape)
        found = model.product(rows, c)
        assert found.shape == (130, *shape[1:])
        assert np.abs(found - phi.astype(np.float64) @ c).max() < tolerance * np.abs(c).sum()


def test_the_chain_rule():
    for phase in (False, True):
        model = RandomFourier(Gaussian(0.3), 20, phase=phase).fit(X)
        slopes = random.normal(size=(5, 20))
        found = model.pullback(X[:5], slopes)
        for c in range(4):
            step = 1e-6 * np.eye(4)[c]
            gap = (model.transform(X[:5] + step) - model.transform(X[:5] - step)) / 2e-6
            assert np.abs((gap * slopes).sum(axis=1) - found[:, c]).max() < 1e-8


def test_far_from_zero_digits_are_kept():
    for dtype in (np.float64, np.float32):
        rows = (X + 1e6).astype(dtype)
        exact = Gaussian(0.3).formula(rows.astype(np.float64))
        phi = RandomFourier(Gaussian(0.3), 8192).fit_transform(rows)
        assert np.abs(phi @ phi.T - exact).max() < 0.06


def test_long_angles_in_single_precision_are_computed_in_double():
    rows = (1e5 * X).astype(np.float32)
    model = RandomFourier(Gaussian(0.3), 64).fit(rows)
    wanted = model.transform(rows.astype(np.float64))
    assert np.abs(model.transform(rows) - wanted).max() < 1e-6
    assert model.transform(rows).dtype == np.float32


def test_rows_are_packed_a_part_at_a_time(monkeypatch):
    model = RandomFourier(Gaussian(0.3), 32).fit(X)
    whole, c = model.transform(X), random.normal(size=(32, 3))
    products = model.product(X, c)
    monkeypatch.setattr(waves_module, "TOGETHER", 4 * 7)
    assert np.array_equal(model.transform(X), whole)
    assert np.allclose(model.product(X, c), products, rtol=0, atol=1e-13)


def test_sparse_rows_and_row_blocks():
    rows = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = RandomFourier(Gaussian(0.3), 64).fit(rows)
    sparse = RandomFourier(Gaussian(0.3), 64).fit(scipy.sparse.csr_array(rows))
    assert np.allclose(sparse.transform(scipy.sparse.csr_array(rows)), dense.transform(rows))
    blocks = RandomFourier(Gaussian(0.3), 4096).fit(RowBlocks.split(X, 25))
    phi = blocks.transform(RowBlocks.split(X, 25))
    assert np.abs(phi @ phi.T - Gaussian(0.3).formula(X)).max() < 0.06


def test_the_same_seed_gives_the_same_map_and_none_is_fixed():
    def drawn(seed):
        return RandomFourier(Gaussian(0.3), 16, random_state=seed).fit(X).frequencies_

    assert np.array_equal(drawn(None), drawn(None))
    assert np.array_equal(drawn(3), drawn(3))
    assert not np.array_equal(drawn(3), drawn(4))


def test_in_a_pipeline_with_names(tmp_path):
    y = (X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5).astype(int)
    model = make_pipeline(RandomFourier(Gaussian(0.5), 200), LogisticRegression(C=100.0)).fit(X, y)
    assert model.score(X, y) > 0.95
    found = RandomFourier(Gaussian(0.5), 4).set_output(transform="pandas").fit_transform(X)
    assert list(found.columns) == [f"randomfourier{i}" for i in range(4)]


@pytest.mark.parametrize("method", ["iid", "hadamard"])
def test_files_and_pickles(method, tmp_path):
    model = RandomFourier(Matern(1.5, 2.0), 30, method=method).fit(X)
    save(model, tmp_path / "map.mercer")
    for other in (load(tmp_path / "map.mercer"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.transform(X), model.transform(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("amplitudes", np.ones(3)),
        ("centre", np.zeros(9)),
        ("signs", np.zeros((2, 3, 8), dtype=np.int8)),
        ("radii", np.full(15, np.nan)),
        ("scale", np.ones(3)),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(name, value, tmp_path):
    model = RandomFourier(Gaussian(0.3), 30, method="hadamard").fit(X)
    object.__setattr__(model._waves, name, value)
    with pytest.raises(Exception, match="_waves of RandomFourier must be waves"):
        save(model, tmp_path / "map.mercer")


# --- draws ----------------------------------------------------------------------------------------


def test_rotations_are_orthogonal_and_lengths_are_those_of_normal_vectors():
    generator = np.random.default_rng(0)
    Q = rotation(7, generator)
    assert np.allclose(Q @ Q.T, np.eye(7))
    r = lengths(4000, 7, generator)
    assert np.mean(r**2) == pytest.approx(7, rel=0.01)
    assert np.mean(r**4) == pytest.approx(63, rel=0.02)
    u = np.sort(stratified(50, generator))
    assert ((np.arange(50) / 50 <= u) & (u <= np.arange(1, 51) / 50)).all()


@pytest.mark.parametrize("draw", [sobol, orthogonal])
def test_even_draws_are_normal_and_uniform(draw):
    Z, U = draw(4096, 5, 2, np.random.default_rng(3))
    assert np.abs(Z.mean(axis=0)).max() < 0.05
    assert np.abs(Z.var(axis=0) - 1).max() < 0.05
    assert np.abs(U.mean(axis=0) - 0.5).max() < 0.01
    assert ((U > 0) & (U < 1)).all()
    assert np.isfinite(Z).all()


def test_terms_of_a_kernel():
    terms = terms_of((2.0 * Gaussian(0.1) + 3.0) * (Laplacian(0.2) + 1.0), 4)
    assert [term.height for term in terms] == [2.0, 2.0, 3.0, 3.0]
    assert sum(term.height for term in terms) == 10.0


def test_a_constant_needs_one_frequency():
    model = RandomFourier(Gaussian(0.2) + 3.0, 40).fit(X)
    assert (model.frequencies_ == 0).all(axis=1).sum() == 1
    assert (RandomFourier(Constant(2.0), 2).fit_transform(X) ** 2).sum(axis=1) == pytest.approx(2.0)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(2), Periodic(), Gaussian(0.1) + Linear(), Gaussian(1.0).exp()]
)
def test_a_kernel_without_a_spectral_law_is_named_with_what_to_use(kernel):
    with pytest.raises(KernelError, match=r"known spectral law.* Use Nystrom\(kernel\)"):
        RandomFourier(kernel).fit(X)


def test_objects_are_refused():
    with pytest.raises(KernelError, match="features are of rows of numbers"):
        RandomFourier(Spectrum(2)).fit(["ab", "bc"])


def test_too_many_terms():
    many = (Gaussian(0.1) + Laplacian(0.1) + 1.0) ** 5
    with pytest.raises(KernelError, match=f"may have {MOST_TERMS} terms"):
        RandomFourier(many).fit(X)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_components": 7}, InputError, r"must be even, .*; got 7. Use 8, or phase=True"),
        ({"n_components": 0}, InputError, "n_components must be a whole number at least 1"),
        ({"n_components": 2.5}, InputTypeError, "n_components"),
        ({"method": "halton"}, InputError, "method must be one of"),
        ({"phase": "yes"}, InputTypeError, "phase"),
        ({"kernel": Gaussian(0.1) + 1.0, "n_components": 2}, InputError, "at least 4 for the 2"),
        ({"kernel": 0.0 * Gaussian(0.1)}, KernelError, "must not be 0 everywhere"),
        ({"kernel": Laplacian(0.1), "method": "hadamard"}, KernelError, "is for one Gaussian"),
        ({"kernel": Gaussian((0.1, 0.2))}, InputError, "2 columns"),
        ({"kernel": Gaussian(0.1).on([7])}, KernelError, "positions among the 4 of X"),
    ],
)
def test_bad_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        RandomFourier(**{"kernel": Gaussian(0.1), **parameters}).fit(X)


def test_coefficients_and_slopes_of_another_shape():
    model = RandomFourier(Gaussian(0.1), 16).fit(X)
    assert model.product(X[:2], [1.0] * 16).shape == (2,)
    for bad in (np.ones(15), np.ones((17, 2)), np.ones((16, 1, 1))):
        with pytest.raises(InputError, match="must have one row for each of the 16 features; got"):
            model.product(X, bad)
    with pytest.raises(InputTypeError, match="coefficients must hold real numbers"):
        model.product(X, ["a"] * 16)
    with pytest.raises(
        InputError, match=r"the shape of the features, \(60, 16\); got shape \(60, 3"
    ):
        model.pullback(X, np.ones((60, 3)))


def test_features_that_do_not_fit_memory():
    model = RandomFourier(Gaussian(0.1), 1024, memory_limit="1MB").fit(X)
    model.transform(X)
    with pytest.raises(MemoryLimitError, match=r"must fit memory_limit; 6000 x 1024 numbers need"):
        model.transform(np.tile(X, (100, 1)))


def test_a_map_that_fails_leaves_the_old_one():
    model = RandomFourier(Gaussian(0.1), 16).fit(X)
    before = model.transform(X)
    with pytest.raises(InputError):
        model.set_params(n_components=7).fit(X)
    assert np.array_equal(model.transform(X), before)


def test_scikit_learn_contract():
    failed = []
    for estimator, check in estimator_checks_generator(RandomFourier(n_components=8)):
        try:
            check(estimator)
        except SkipTest:
            continue
        except Exception as error:  # the name of the check tells
            failed.append((check.func.__name__, error))
    assert failed == []
