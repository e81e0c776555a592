"""Several prototypes a class by k-means in feature space, and shrunken ones."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.utils import estimator_checks
from test_prototype import CLASSES, LABELS, NEW, X

import mercer
from mercer import KernelKMeans, KernelPrototypeClassifier
from mercer.checks import InputError
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Linear, Polynomial, Spectrum

random = np.random.default_rng(7)
RINGS = np.array([[0, 0], [6, 0], [3, 3], [3, -3]])  # two classes whose means are the same
CROSSED = random.normal(size=(80, 2)) * 0.5 + RINGS[np.arange(80) % 4]
CROSSED_LABELS = np.array(["along", "along", "across", "across"])[np.arange(80) % 4]


def test_several_prototypes_are_the_means_of_clusters():
    model = KernelPrototypeClassifier(Linear(), n_prototypes=2).fit(CROSSED, CROSSED_LABELS)
    assert model.prototype_classes_.tolist() == ["across", "across", "along", "along"]
    centres = model.dual_coef_.T @ CROSSED
    wanted = np.array([CROSSED[np.arange(80) % 4 == corner].mean(axis=0) for corner in range(4)])
    for part, corners in ((centres[:2], wanted[2:]), (centres[2:], wanted[:2])):
        assert np.allclose(part[part[:, 0].argsort()], corners[corners[:, 0].argsort()]) or (
            np.allclose(part[part[:, 1].argsort()], corners[corners[:, 1].argsort()])
        )
    assert model.score(CROSSED, CROSSED_LABELS) == 1.0
    assert (
        KernelPrototypeClassifier(Linear())
        .fit(CROSSED, CROSSED_LABELS)
        .score(CROSSED, CROSSED_LABELS)
        < 0.8
    )
    assert np.allclose(model.squared_norms_, (centres**2).sum(axis=1))
    gaps = np.linalg.norm(NEW[:, None] - centres[None], axis=2)
    by_class = np.column_stack([gaps[:, :2].min(axis=1), gaps[:, 2:].min(axis=1)])
    assert np.allclose(model.distances(NEW), by_class, rtol=1e-9)
    assert np.array_equal(model.predict(NEW), model.classes_[by_class.argmin(axis=1)])
    scores = NEW @ centres.T - (centres**2).sum(axis=1) / 2
    wanted = scores[:, 2:].max(axis=1) - scores[:, :2].max(axis=1)
    assert np.allclose(model.decision_function(NEW), wanted, rtol=1e-9)
    between = np.linalg.norm(centres[:2, None] - centres[None, 2:], axis=2).min()
    assert model.certificate_.separation == pytest.approx(between, rel=1e-9)
    assert model.certificate_.status == "converged"


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(2)], ids=repr)
def test_prototypes_are_those_of_kernel_kmeans_in_each_class(kernel):
    model = KernelPrototypeClassifier(kernel, n_prototypes=3).fit(X, LABELS)
    assert model.dual_coef_.shape == (45, 9)
    assert np.allclose(model.dual_coef_.sum(axis=0), 1)
    for c, name in enumerate(CLASSES):
        own = name == LABELS
        assert not model.dual_coef_[~own, 3 * c : 3 * c + 3].any()
        alone = KernelKMeans(3, kernel).fit(X[own])
        found = model.dual_coef_[own, 3 * c : 3 * c + 3].argmax(axis=1)
        assert np.array_equal(found, alone.labels_)
        assert np.allclose(model.squared_norms_[3 * c : 3 * c + 3], alone.squared_norms_)


def test_a_class_has_no_more_prototypes_than_members():
    y = np.where(np.arange(45) == 7, "lonely", LABELS)
    weights = np.ones(45)
    weights[np.flatnonzero(y == "blue")[2:]] = 0.0
    model = KernelPrototypeClassifier(Gaussian(0.3), n_prototypes=4).fit(X, y, weights)
    counts = {name: int((model.prototype_classes_ == name).sum()) for name in model.classes_}
    assert counts == {"blue": 2, "green": 4, "lonely": 1, "red": 4}
    assert model.predict(X[[7]]).tolist() == ["lonely"]
    every = KernelPrototypeClassifier(Gaussian(0.3), n_prototypes=100).fit(X, LABELS)
    assert every.score(X, LABELS) == 1.0  # every point is its own prototype
    assert every.dual_coef_.shape == (45, 45)


@pytest.mark.parametrize("weights", [None, np.arange(45) % 4 + 0.5], ids=["plain", "weighted"])
@pytest.mark.parametrize("count", [1, 2])
def test_shrinkage_moves_prototypes_towards_the_mean(weights, count):
    free = KernelPrototypeClassifier(Linear(), n_prototypes=count).fit(X, LABELS, weights)
    model = KernelPrototypeClassifier(Linear(), n_prototypes=count, shrinkage=0.3)
    model.fit(X, LABELS, weights)
    centre = np.average(X, axis=0, weights=weights)
    centres = 0.7 * (free.dual_coef_.T @ X) + 0.3 * centre
    assert np.allclose(model.dual_coef_.T @ X, centres, rtol=1e-12)
    assert np.allclose(model.squared_norms_, (centres**2).sum(axis=1), rtol=1e-11)
    gaps = np.linalg.norm(NEW[:, None] - centres[None], axis=2)
    nearest = model.prototype_classes_[gaps.argmin(axis=1)]
    assert np.array_equal(model.predict(NEW), nearest)
    assert model.certificate_.separation == pytest.approx(
        0.7 * free.certificate_.separation, rel=1e-10
    )
    same = KernelPrototypeClassifier(Gaussian(0.3), shrinkage=1.0).fit(X, LABELS, weights)
    assert same.certificate_.separation == pytest.approx(0, abs=1e-7)


def test_several_prototypes_of_any_input(tmp_path):
    options = {"n_prototypes": 2, "shrinkage": 0.1, "random_state": 3}
    model = KernelPrototypeClassifier(Gaussian(0.3), **options).fit(X, LABELS)
    wanted = model.decision_function(NEW)
    K, cross = Gaussian(0.3)(X), Gaussian(0.3)(NEW, X)
    for kernel, points, new in (
        (Gaussian(0.3), scipy.sparse.csr_matrix(X), NEW),
        (Gaussian(0.3), RowBlocks.split(X, 10), NEW),
        ("precomputed", K, cross),
        (lambda A, B: Gaussian(0.3).formula(A, B), X, NEW),
    ):
        found = KernelPrototypeClassifier(kernel, **options).fit(points, LABELS)
        assert np.allclose(found.decision_function(new), wanted, rtol=1e-9, atol=1e-12)
    words = ["aab", "aba", "bba", "xyz", "xyy", "zzz"]
    strings = KernelPrototypeClassifier(Spectrum(1), n_prototypes=2)
    assert strings.fit(words, [0, 0, 0, 1, 1, 1]).predict(["ab", "zz"]).tolist() == [0, 1]
    mercer.save(model, tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(model)), mercer.load(tmp_path / "model")):
        assert np.array_equal(other.decision_function(NEW), wanted)
        assert other.get_params() == model.get_params()
    again = KernelPrototypeClassifier(Gaussian(0.3), **options).fit(X, LABELS)
    assert np.array_equal(again.dual_coef_, model.dual_coef_)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n_prototypes": 0}, "n_prototypes must be a whole number at least 1; got 0"),
        ({"n_prototypes": 1.5}, "n_prototypes must be a whole number at least 1; got 1.5"),
        ({"shrinkage": -0.1}, "shrinkage must be a finite number at least 0 and at most 1; got"),
        ({"shrinkage": 1.5}, "shrinkage must be a finite number at least 0 and at most 1; got 1.5"),
        ({"n_prototypes": 2, "random_state": -1}, "random_state must be .* got -1"),
    ],
)
def test_bad_prototypes(options, told):
    with pytest.raises(InputError, match=f"KernelPrototypeClassifier: {told}"):
        KernelPrototypeClassifier(**options).fit(X, LABELS)


@estimator_checks.parametrize_with_checks(
    [KernelPrototypeClassifier(n_prototypes=2, shrinkage=0.1)]
)
def test_scikit_learn_checks_of_several_prototypes(estimator, check):
    check(estimator)
