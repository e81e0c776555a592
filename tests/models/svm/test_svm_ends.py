"""Machines whose kernel values are huge, tiny or singular: every fit ends, and says where.

The time limit of a fit is there to make a test fail rather than hang.
"""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, NuSVC, NuSVR
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.models.svm.base import SupportVectorEstimator
from mercer.solvers import BoxSizes

LIMIT = 60.0


def ended(model, X, y):
    """Fit, and return the certificate; what a machine says about rounding is no failure."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\w+: not converged \(rounding\)", ConvergenceWarning)
        return model.set_params(time_limit=LIMIT).fit(X, y).certificate_


def one_column(seed):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, 12)
    y[:2] = [0, 1]
    return random.normal(size=(12, 1)), y


def whole_numbers(seed):
    random = np.random.default_rng(seed)
    return random.integers(-100, 101, size=(30, 2)).astype(float), random.integers(0, 2, 30)


def far_from_zero(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(80, 2)) + 100
    return X, (X[:, 0] + random.normal(0, 0.5, 80) > 100).astype(int)


@pytest.mark.parametrize("seed", range(5))
def test_large_bounds_end_at_the_optimum(seed):
    found = ended(SVC(8e8, kernel=(Linear() + 1) ** 2), *one_column(seed))
    assert found.status == "converged"
    assert found.gap <= 1e-5 * found.primal


@pytest.mark.parametrize("seed", range(5))
def test_large_kernel_values_end_at_the_optimum(seed):
    found = ended(SVC(0.043, kernel=Polynomial(gamma=0.29)), *whole_numbers(seed))
    assert found.status == "converged"
    assert found.gap <= 1e-5 * found.primal


@pytest.mark.parametrize("seed", range(5))
def test_values_that_rounding_blurs_end_where_it_allows(seed):
    found = ended(SVC(kernel="poly"), *far_from_zero(seed))
    assert found.status in ("converged", "rounding")
    assert found.violation <= max(found.tol, 0.02)
    assert found.gap <= 1e-3 * found.primal
    if found.status == "rounding":
        assert found.violation - found.rounding <= found.tol < found.violation


@pytest.mark.parametrize("kind", [SVR, NuSVR, NuSVC])
@pytest.mark.parametrize("data", [whole_numbers, far_from_zero])
def test_machines_of_every_kind_end(kind, data):
    X, _ = data(0)
    curve = X[:, 0] + X[:, 1] ** 2 / 100
    target = curve > np.median(curve) if kind is NuSVC else curve
    options = {"nu": 0.3} if kind is NuSVC else {"C": 10.0}
    found = ended(kind(kernel=Polynomial(gamma=0.29), **options), X, target)
    assert found.status in ("converged", "rounding")


def test_unscaled_columns_are_solved_exactly():
    X, y = load_breast_cancer(return_X_y=True)
    found = ended(SVC(100, kernel="linear"), X, y)
    assert found.status == "converged"
    assert found.gap <= 1e-6 * found.primal
    assert found.dual == pytest.approx(2892.0885, rel=1e-6)  # as scikit-learn's, in 12 s


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e4, 1e8])
def test_a_scale_of_the_points_and_its_bound_change_nothing(scale):
    random = np.random.default_rng(3)
    X = random.normal(size=(60, 2))
    y = (X[:, 0] + random.normal(0, 0.5, 60) > 0).astype(int)
    plain = SVC(10.0, kernel="linear").fit(X, y)
    scaled = SVC(10.0 / scale**2, kernel="linear").fit(scale * X, y)
    assert scaled.certificate_.status == "converged"
    assert np.allclose(scaled.decision_function(scale * X), plain.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("model", [SVC(100), SVC(100, kernel="linear"), NuSVR(), NuSVR(C=100)])
def test_what_converges_is_not_called_stagnated(model, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(random.integers(20, 150), random.integers(1, 6)))
    target = np.sin(2 * X[:, 0]) + random.normal(0, 0.3, len(X))
    found = ended(model, X, target > 0 if isinstance(model, SVC) else target)
    assert found.status == "converged"
    assert found.violation <= 1e-6  # far below tol: an active set goes to the last digits


def test_rounding_is_told_with_what_to_do():
    X, y = far_from_zero(0)
    model = SVC(kernel="poly", tol=1e-6)
    with pytest.warns(ConvergenceWarning, match=r"\(rounding\).*Scale the columns of X"):
        model.fit(X, y)
    assert model.certificate_.status == "rounding"


@pytest.mark.parametrize("kind", [SVC, SVR, NuSVR])
def test_a_matrix_of_zeros_keeps_the_sum(kind):
    random = np.random.default_rng(0)
    y = random.normal(size=35)
    model = kind(2.0) if kind is not NuSVR else kind(C=2.0)
    model.set_params(kernel="precomputed").fit(np.zeros((35, 35)), y > 0 if kind is SVC else y)
    assert abs(model.dual_coef_.sum()) <= 1e-12
    assert np.abs(model.dual_coef_).max() <= 2.0


@pytest.mark.parametrize("large", [150, 4000])
def test_blocks_end_where_steps_of_two_variables_do_not_get_on(large, monkeypatch):
    sizes = BoxSizes(whole=50, large=large)  # from there on there is no active set
    monkeypatch.setattr(SupportVectorEstimator, "_sizes_of_box", sizes)
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3)) * [1, 30, 300]
    y = (X[:, 0] + random.normal(size=200) > 0).astype(int)
    found = ended(SVC(1.0, kernel="linear"), X, y)
    assert found.status == "converged" if large == 4000 else found.status != "time limit"
    assert found.status != "converged" or found.gap <= 1e-3 * found.primal


@pytest.mark.parametrize("model", [SVC(kernel=Gaussian(0.5)), NuSVC(0.3, kernel=Gaussian(0.5))])
def test_the_training_error_counts_points_of_no_weight_by_their_class(model):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    weight = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)
    model.fit(X, y, sample_weight=weight)
    wrong = (np.where(y > 0, 1, -1) * model.decision_function(X) <= 0).mean()
    assert model.certificate_.training_error == pytest.approx(wrong, abs=1e-12)
