"""Machines for many C, and the geometry of one: radius, capacity, bound."""

import numpy as np
import pytest
import sklearn.svm

from mercer import SVC, SVR, InputError, enclosing_radius, gram, svm_path
from mercer.fitting import rows as svm_rows
from mercer.kernels import Gaussian, Linear
from mercer.models.svm.base import SupportVectorEstimator
from mercer.solvers import BoxSizes

random = np.random.default_rng(7)
X = random.normal(size=(80, 2))
y = (X[:, 0] ** 2 + X[:, 1] > 0.5).astype(int)
three = np.digitize(X[:, 0], [-0.5, 0.5])


@pytest.mark.parametrize("labels", [y, three], ids=["two", "three"])
@pytest.mark.parametrize("way", ["ovo", "ovr"])
def test_a_path_has_the_machines_of_single_fits(labels, way):
    Cs = [10.0, 0.1, 1.0, 10.0]
    path = svm_path(X, labels, Gaussian(0.5), Cs, multiclass=way)
    assert [model.C for model in path] == Cs
    for model in path:
        single = SVC(model.C, kernel=Gaussian(0.5), multiclass=way).fit(X, labels)
        assert np.allclose(model.decision_function(X), single.decision_function(X), atol=1e-9)
        assert np.array_equal(model.support_, single.support_)
        assert model.certificate_.status == "converged"
        assert model.get_params() == single.get_params()


def test_a_path_in_blocks_computes_rows_once(monkeypatch):
    monkeypatch.setattr(svm_rows, "DENSE", 10)
    monkeypatch.setattr(SupportVectorEstimator, "_sizes_of_box", BoxSizes(whole=10))
    path = svm_path(X, y, Gaussian(0.5), [0.1, 1.0, 10.0, 100.0])
    entries = [model.certificate_.kernel_entries for model in path]
    assert entries == sorted(entries)
    assert entries[-1] <= 80 * 80
    for model in path:
        single = SVC(model.C, kernel=Gaussian(0.5)).fit(X, y)
        assert model.certificate_.dual == pytest.approx(single.certificate_.dual, rel=1e-4)


def test_a_path_has_probabilities_weights_and_defaults():
    weight = random.random(80)
    path = svm_path(X, y, Cs=2.0, sample_weight=weight, probability=True)
    assert path[0].predict_proba(X).shape == (80, 2)
    assert len(svm_path(X, y)) == 6


def test_a_path_looks_at_the_points_once(monkeypatch):
    looked = []
    whole = SVC._check_fit
    monkeypatch.setattr(SVC, "_check_fit", lambda self, X: looked.append(X) or whole(self, X))
    path = svm_path(X, three, Gaussian(0.5), [0.1, 1.0, 10.0])
    assert len(looked) == 1
    assert [model.n_features_in_ for model in path] == [2, 2, 2]
    assert [model.certificate_.n for model in path] == [80, 80, 80]


@pytest.mark.parametrize("Cs", [[], [0.0], [-1.0, 1.0], [np.inf], [np.nan], [[1.0]]])
def test_paths_over_nothing_are_refused(Cs):
    with pytest.raises(InputError, match="C"):
        svm_path(X, y, None, Cs)


# --- geometry -----------------------------------------------------------------------------------


def test_the_smallest_ball_of_known_figures():
    square = np.array([[0.0, 0], [2, 0], [0, 2], [2, 2], [1, 1.5]])
    assert enclosing_radius(Linear(), square) == pytest.approx(np.sqrt(2), rel=1e-9)
    obtuse = np.array([[0.0, 0], [4, 0], [1, 0.5]])  # the longest side is a diameter
    assert enclosing_radius(Linear(), obtuse) == pytest.approx(2.0, rel=1e-9)
    assert enclosing_radius(Linear(), square[:1]) == 0.0


def test_the_smallest_ball_holds_all_images_and_touches_those_that_carry_it():
    K = gram(Gaussian(0.5), X).dense()
    radius = enclosing_radius(Gaussian(0.5), X)
    assert 0 < radius < 1  # a ball about 0 has radius 1
    center = np.full(80, 1 / 80)
    distances = np.sqrt(np.diag(K) - 2 * K @ center + center @ K @ center)
    assert np.sqrt(np.max(np.diag(K) + K - 2 * K).clip(0)) / 2 <= radius <= distances.max()
    pairs = np.sqrt(np.maximum(2 - 2 * K, 0))
    assert pairs.max() / 2 <= radius + 1e-9  # no ball is smaller than half of a distance


def test_without_points_the_radius_is_no_smaller():
    model = SVC(kernel=Gaussian(0.5)).fit(X, y)
    assert enclosing_radius(model) == pytest.approx(1.0)
    assert enclosing_radius(model) >= enclosing_radius(model, X)


@pytest.mark.parametrize("model", [SVC(), None, SVR(), "linear"])
def test_models_without_a_fit_are_refused(model):
    with pytest.raises(InputError, match="must be a fitted support vector machine"):
        enclosing_radius(model)


def test_a_ball_needs_a_point():
    with pytest.raises(ValueError, match="point"):
        enclosing_radius(Linear(), np.zeros((0, 2)))


# --- the linear kernel --------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [y, three], ids=["two", "three"])
@pytest.mark.parametrize("way", ["ovo", "ovr"])
def test_weights_of_the_linear_kernel(labels, way):
    model = SVC(kernel="linear", multiclass=way, decision_function_shape="ovo").fit(X, labels)
    scores = X @ model.coef_.T + model.intercept_
    found = model.decision_function(X)
    assert np.allclose(scores[:, 0] if found.ndim == 1 else scores, found, atol=1e-9)
    peer = sklearn.svm.SVC(kernel="linear", tol=1e-8).fit(X, labels)
    if way == "ovo":
        assert np.allclose(model.coef_, peer.coef_, atol=1e-5)


def test_weights_of_regression_and_of_other_kernels():
    model = SVR(kernel="linear").fit(X, X[:, 0])
    assert np.allclose(X @ model.coef_[0] + model.intercept_, model.predict(X))
    assert not hasattr(SVR().fit(X, X[:, 0]), "coef_")
