"""Learners with a feature map in the place of their kernel."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV

from mercer import (
    SVC,
    SVR,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    compress,
    load,
    save,
)
from mercer.checks import InputError, InputTypeError, KernelError
from mercer.features import ExplicitMap, Nystrom, RandomFourier
from mercer.grams.maps.passing import KeptRows
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Linear, Polynomial, Spectrum
from mercer.monitor import Monitor
from mercer.solvers.ridge import features
from mercer.solvers.ridge.problem import RidgeProblem

random = np.random.default_rng(5)
X = random.normal(size=(90, 3))
NEW = random.normal(size=(12, 3))
NUMBERS = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
LABELS = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.3, 1.2])
LEARNERS = [
    KernelRidge(0.5, fit_intercept=True),
    KernelRidgeCV(alphas=[0.1, 1.0]),
    KernelRidgeClassifier(0.5),
    KernelRidgeClassifierCV(alphas=[0.1, 1.0]),
    KernelMachineRegressor("huber", 0.1),
    KernelMachineRegressor("epsilon_insensitive", 0.1),
    KernelMachineClassifier(alpha=0.1),
    KernelMachineClassifier("hinge", alpha=0.1),
    SVC(C=5.0),
    SVC(C=5.0, multiclass="ovr", probability=True),
    SVR(C=5.0),
]
MAPS = [
    RandomFourier(n_components=40),
    RandomFourier(n_components=41, phase=True),
    Nystrom(n_components=20),
    RandomFourier(n_components=400),
]


def target(model):
    return LABELS if is_classifier(model) else NUMBERS


def values(model, points):
    if is_classifier(model):
        return model.decision_function(points)
    return model.predict(points)


def named(model):
    return f"{type(model).__name__}-{getattr(model, 'loss', getattr(model, 'multiclass', ''))}"


@pytest.mark.parametrize("phi", MAPS, ids=lambda phi: f"{type(phi).__name__}{phi.n_components}")
@pytest.mark.parametrize("model", LEARNERS, ids=named)
def test_it_is_the_learner_with_the_kernel_of_the_map(model, phi):
    kernel = Gaussian(0.3)
    near = clone(model).set_params(kernel=kernel, approximation=phi).fit(X, target(model))
    features = clone(phi).set_params(kernel=kernel).fit(X)
    F, G = features.transform(X), features.transform(NEW)
    plain = clone(model).set_params(kernel=Linear()).fit(F, target(model))
    scale = np.abs(values(plain, G)).max()
    tolerance = 1e-8 if "Ridge" in type(model).__name__ else 5e-3  # that of the solvers
    assert np.abs(values(near, NEW) - values(plain, G)).max() <= tolerance * scale
    assert isinstance(near.approximation_, type(phi))
    assert near.approximation_.kernel_ == kernel
    assert near.approximation_ is not phi
    assert not hasattr(phi, "kernel_")
    assert near.certificate_.status.is_good


@pytest.mark.parametrize("model", LEARNERS, ids=named)
def test_it_comes_near_to_the_exact_kernel(model):
    exact = clone(model).set_params(kernel=Gaussian(0.3)).fit(X, target(model))
    gaps, errors = [], []
    for count in (10, 60):
        near = clone(model).set_params(kernel=Gaussian(0.3), approximation=Nystrom(None, count))
        near.fit(X, target(model))
        gaps.append(np.abs(values(near, NEW) - values(exact, NEW)).max())
        errors.append(near.approximation_error_)
    assert errors[1] < 0.2 * errors[0]
    assert gaps[1] <= gaps[0]
    assert "approximation_error_" not in vars(exact)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("phi", MAPS[:3], ids=lambda phi: type(phi).__name__)
def test_the_error_bounds_the_distance_from_the_exact_ridge_model(phi, intercept):
    model = KernelRidge(0.5, kernel=Gaussian(0.3), fit_intercept=intercept)
    exact = clone(model).fit(X, NUMBERS).predict(X)
    near = model.set_params(approximation=phi).fit(X, NUMBERS)
    distance = np.sqrt(np.mean((near.predict(X) - exact) ** 2))
    assert 0 < distance <= near.approximation_error_ * (1 + 1e-9)


def test_the_error_by_its_definition():
    model = KernelRidge(0.5, kernel=Gaussian(0.3), approximation=MAPS[0]).fit(X, NUMBERS)
    F = model.approximation_.transform(X)
    gap = (Gaussian(0.3)(X) - F @ F.T) @ model.dual_coef_
    assert model.approximation_error_ == pytest.approx(np.sqrt(np.mean(gap**2)), rel=1e-9)
    machine = SVC(5.0, kernel=Gaussian(0.3), approximation=MAPS[0]).fit(X, LABELS == 1)
    Z = X[machine.support_]
    F = machine.approximation_.transform(Z)
    gap = (Gaussian(0.3)(Z) - F @ F.T) @ machine.dual_coef_[0]
    assert machine.approximation_error_ == pytest.approx(np.sqrt(np.mean(gap**2)), rel=1e-9)


@pytest.mark.parametrize("model", LEARNERS, ids=named)
@pytest.mark.parametrize("phi", MAPS[:3], ids=lambda phi: type(phi).__name__)
def test_gradients_files_and_sparse_rows(model, phi, tmp_path):
    near = clone(model).set_params(kernel=Gaussian(0.3), approximation=phi).fit(X, target(model))
    save(near, tmp_path / "near.mercer")
    other = load(tmp_path / "near.mercer")
    assert np.array_equal(values(other, NEW), values(near, NEW))
    assert other.approximation_error_ == near.approximation_error_
    sparse = clone(near).fit(scipy.sparse.csr_array(X), target(model))
    assert np.allclose(values(sparse, scipy.sparse.csr_array(NEW)), values(near, NEW), atol=1e-3)
    if isinstance(model, SVC):
        near.set_params(decision_function_shape="ovo")
    slope = near.gradient(NEW[:3])
    for c in range(3):
        step = 1e-6 * np.eye(3)[c]
        gap = (values(near, NEW[:3] + step) - values(near, NEW[:3] - step)) / 2e-6
        assert np.abs(slope[:, c] - gap).max() <= 1e-5 * max(np.abs(gap).max(), 1.0)


def test_deviations_of_an_approximate_ridge_model():
    near = KernelRidge(0.1, kernel=Gaussian(0.3), fit_intercept=True, approximation=MAPS[2])
    near.fit(X, NUMBERS)
    features = near.approximation_.transform
    plain = KernelRidge(0.1, kernel=Linear(), fit_intercept=True).fit(features(X), NUMBERS)
    wanted = plain.predict(features(NEW), return_std=True)[1]
    assert np.allclose(near.predict(NEW, return_std=True)[1], wanted, rtol=1e-8)


def test_of_very_many_features_a_mean_leverage_stands_for_all(monkeypatch):
    F = RandomFourier(Gaussian(0.3), 40).fit_transform(X)
    weight = random.uniform(0.5, 2.0, len(X))
    problem = RidgeProblem(
        targets=NUMBERS[:, None], alpha=np.array([0.3]), weight=weight, intercept=True
    )

    rows = KeptRows([(slice(0, 50), F[:50]), (slice(50, 90), F[50:])])
    ridge = features.FeatureRidge(rows, problem, Monitor())
    errors = ridge.solve().keep["errors"]
    exact = ridge.leverages(np.array([0.3]))[:, 0]
    centred = F - weight @ F / weight.sum()
    H = (centred.T * weight) @ centred + 0.3 * np.eye(40)
    by_hand = np.einsum("ij,ij->i", centred, np.linalg.solve(H, centred.T).T) + 1 / weight.sum()
    assert np.allclose(exact, weight * by_hand)
    monkeypatch.setattr(features, "MOST_EXACT", 10)
    monkeypatch.setattr(features, "SAMPLE", 30)
    mean = by_hand[::3].mean()
    shares = weight * mean * problem.left_out[:, 0]
    assert np.allclose(ridge.leave_one_out(errors)[:, 0], errors[:, 0] / (1 - shares))


def test_strings_take_part():
    words = ["ab", "abb", "ba", "bba", "abab", "baba", "aab", "bab"]
    y = [word[0] == "a" for word in words]
    model = SVC(C=10.0, kernel=Spectrum(2), approximation=Nystrom(n_components=4)).fit(words, y)
    assert model.predict(["abba"]).shape == (1,)
    assert model.score(words, y) >= 0.75


def test_points_in_blocks():
    model = KernelRidge(0.5, kernel=Gaussian(0.3), approximation=RandomFourier(n_components=30))
    model.fit(RowBlocks.split(X, 40), NUMBERS)
    assert np.isnan(model.approximation_error_)
    assert model.predict(NEW).shape == (12,)


def test_weights_settle_the_kernel_of_the_map():
    weight = np.where(X[:, 0] > 0, 1.0, 0.0)
    model = KernelRidge(approximation=RandomFourier(n_components=20)).fit(X, NUMBERS, weight)
    assert model.approximation_.kernel_ == Gaussian().resolve(X, weight)
    assert model.approximation_.kernel_ != Gaussian().resolve(X)


def test_the_kernel_of_the_map_counts_where_the_model_has_none():
    phi = RandomFourier(Gaussian(0.7), 20)
    model = KernelRidge(approximation=phi).fit(X, NUMBERS)
    assert model.approximation_.kernel_ == Gaussian(0.7)
    assert KernelRidge(kernel=Gaussian(0.7), approximation=phi).fit(X, NUMBERS)
    for other in (KernelRidge(kernel=Gaussian(0.1)), KernelRidgeCV(kernel=[Gaussian(0.1)])):
        with pytest.raises(InputError, match="to the model or to its approximation, not to both"):
            other.set_params(approximation=phi).fit(X, NUMBERS)


def test_searches_reach_the_parameters_of_the_map():
    model = KernelRidge(0.1, kernel=Gaussian(0.3), approximation=Nystrom(n_components=5))
    search = GridSearchCV(model, {"approximation__n_components": [2, 40]}).fit(X, NUMBERS)
    assert search.best_params_ == {"approximation__n_components": 40}
    found = KernelRidgeCV(
        kernel=[Gaussian(1e-4), Gaussian(0.3)], approximation=RandomFourier(n_components=60)
    ).fit(X, NUMBERS)
    assert found.approximation_.kernel_ == Gaussian(0.3)


def test_an_exact_map_costs_nothing():
    model = KernelRidge(0.5, kernel=Polynomial(2), approximation=ExplicitMap()).fit(X, NUMBERS)
    exact = KernelRidge(0.5, kernel=Polynomial(2)).fit(X, NUMBERS)
    assert np.allclose(model.predict(NEW), exact.predict(NEW), atol=1e-9)
    assert model.approximation_error_ < 1e-10


@pytest.mark.parametrize("model", LEARNERS, ids=named)
def test_such_models_are_small_already(model):
    near = clone(model).set_params(approximation=Nystrom(n_components=5)).fit(X, target(model))
    with pytest.raises(InputError, match=r"features of a map; .* Lower n_components of the map"):
        compress(near, n_centers=2)


@pytest.mark.parametrize("blocks", [False, True])
def test_names_of_columns_are_those_of_the_model(blocks):
    frame, other = (pd.DataFrame(values, columns=["a", "b", "c"]) for values in (X, NEW))
    model = KernelRidge(approximation=RandomFourier(n_components=20))
    wanted = model.fit(X, NUMBERS).predict(NEW)
    found = model.fit(RowBlocks([frame]) if blocks else frame, NUMBERS)
    assert np.allclose(found.predict(other), wanted, rtol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(other[["b", "a", "c"]])


def test_a_refit_without_approximation_forgets_it():
    model = SVC(approximation=RandomFourier(n_components=20)).fit(X, LABELS)
    model.set_params(approximation=None).fit(X, LABELS)
    assert "approximation_error_" not in vars(model)
    with pytest.raises(AttributeError, match="after a fit with an approximation"):
        _ = model.approximation_


@pytest.mark.parametrize("value", ["nystrom", 5, RandomFourier, Gaussian(0.1)])
def test_what_is_no_map_is_refused(value):
    with pytest.raises(InputTypeError, match="approximation must be None or a feature map such as"):
        KernelRidge(approximation=value).fit(X, NUMBERS)


def test_errors_of_the_map_are_passed_on():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KernelError, match="known spectral law"):
            SVC(kernel=Linear(), approximation=RandomFourier()).fit(X, LABELS)
        with pytest.raises(InputError, match="n_components must be at most the number of points"):
            SVC(approximation=Nystrom(n_components=1000)).fit(X, LABELS)
