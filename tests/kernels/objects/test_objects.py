"""Kernels of objects at work: in scikit-learn's tools, in expressions and in files."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from object_kinds import GRAPHS, KINDS, MAPS, MIXTURE, SERIES, SIDE, TREES, VECTORS, WORDS, N
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

import mercer
from mercer import SVC, KernelPCA, KernelRidge, KernelRidgeClassifier
from mercer.checks import KernelError
from mercer.features import GramTransformer
from mercer.kernels import (
    Fisher,
    Gaussian,
    GlobalAlignment,
    PyramidMatch,
    RandomWalk,
    SetIntersection,
    ShortestPath,
    SpatialPyramid,
    Spectrum,
    Subsequence,
    SubsetTree,
    WeisfeilerLehman,
)

random = np.random.default_rng(6)
each_kind = pytest.mark.parametrize("kind", KINDS)


# --- scikit-learn --------------------------------------------------------------------------------


@each_kind
def test_cross_validation_of_lists(kind):
    """Lecture B4 (strings), B5 (graphs), B6 (trees), B7 (images): any learner takes them."""
    kernel, objects = KINDS[kind]
    scores = cross_val_score(SVC(kernel=kernel.normalized(), C=10), objects, SIDE, cv=4)
    assert scores.mean() > 0.6


def test_objects_go_to_other_processes():
    model = SVC(kernel=WeisfeilerLehman(1) * ShortestPath())
    found = cross_val_predict(model, GRAPHS, SIDE, n_jobs=2)
    assert_array_equal(found, cross_val_predict(model, GRAPHS, SIDE))


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        ("strings", "n", [1, 2, 3]),
        ("subsequences", "decay", [0.3, 0.9]),
        ("trees", "decay", [0.2, 1.0]),
        ("graphs", "rounds", [0, 1, 2]),
        ("graphs", "base", ["subtree", "assignment"]),
        ("walks", "decay", [0.01, 0.1]),
        ("paths of attributes", "node_kernel__gamma", [0.1, 1.0]),
        ("walks of attributes", "node_kernel__gamma", [0.1, 1.0]),
        ("hashed graphs", "base__rounds", [0, 2]),
        ("hashed graphs", "gamma", [0.1, (1.0, 0.5)]),
        ("series", "gamma", [0.01, 0.1]),
        ("images", "levels", [0, 2]),
    ],
)
def test_a_search_reaches_the_parameters_of_a_kernel(kind, name, values):
    kernel, objects = KINDS[kind]
    steps = Pipeline([("machine", SVC(kernel=kernel.normalized()))])
    search = GridSearchCV(steps, {f"machine__kernel__{name}": values}, cv=3).fit(objects, SIDE)
    assert search.best_params_[f"machine__kernel__{name}"] in values
    best = search.best_estimator_["machine"].kernel_
    assert best.get_params()[name] == search.best_params_[f"machine__kernel__{name}"]
    found = mercer.tune(SVC(kernel=kernel), objects, SIDE, {f"kernel__{name}": values}, cv=3)
    assert found.params[f"kernel__{name}"] in values


@pytest.mark.parametrize("kind", ["strings", "trees", "graphs", "walks", "series", "images"])
def test_calibration_stacking_and_pipelines(kind):
    kernel, objects = KINDS[kind]
    machine = SVC(kernel=kernel.normalized())
    chances = CalibratedClassifierCV(machine, cv=3).fit(objects, SIDE).predict_proba(objects)
    assert_allclose(chances.sum(axis=1), 1)
    pair = [("machine", machine), ("ridge", KernelRidgeClassifier(kernel=kernel.normalized()))]
    assert StackingClassifier(pair, cv=3).fit(objects, SIDE).score(objects, SIDE) > 0.6
    reversed_twice = FunctionTransformer(lambda X: X[::-1][::-1])
    piped = make_pipeline(reversed_twice, machine).fit(objects, SIDE)
    plain = machine.fit(objects, SIDE)
    assert_allclose(piped.decision_function(objects[:9]), plain.decision_function(objects[:9]))
    linear = make_pipeline(GramTransformer(kernel.normalized()), LogisticRegression())
    assert linear.fit(objects, SIDE).score(objects, SIDE) > 0.6


@each_kind
def test_explicit_features_feed_linear_models(kind):
    kernel, objects = KINDS[kind]
    kernel = kernel.resolve(objects)
    if not kernel.has_map():
        with pytest.raises(KernelError, match="finite feature map"):
            kernel.features(objects)
        return
    basis = kernel.basis(objects[:30])
    train, new = (kernel.features(part, basis) for part in (objects[:30], objects[30:]))
    assert train.shape[1] == new.shape[1] == basis.width
    size = np.abs(kernel.diag(objects)).max()
    assert_allclose(
        (new @ train.T) + np.zeros((10, 30)), kernel(objects[30:], objects[:30]), atol=1e-12 * size
    )
    assert LinearSVC().fit(train, SIDE[:30]).predict(new).shape == (10,)


@each_kind
def test_nystrom_and_every_way_to_a_ridge_fit(kind):
    kernel, objects = KINDS[kind]
    kernel, y = kernel.normalized(), SIDE + 0.1 * np.arange(N)
    exact = KernelRidge(0.1, kernel=kernel).fit(objects, y).predict(objects)
    whole = KernelRidge(0.1, kernel=kernel, solver="nystrom", n_centers=N, random_state=0)
    assert_allclose(whole.fit(objects, y).predict(objects), exact, atol=1e-5)
    few = KernelRidge(0.1, kernel=kernel, solver="nystrom", n_centers=10, random_state=0)
    assert np.isfinite(few.fit(objects, y).predict(objects)).all()


# --- files ---------------------------------------------------------------------------------------


@each_kind
def test_models_are_saved_and_loaded(kind, tmp_path):
    kernel, objects = KINDS[kind]
    for model in (SVC(kernel=kernel.normalized()), KernelPCA(2, kernel=kernel)):
        fitted = model.fit(objects[:30], SIDE[:30])
        mercer.save(fitted, tmp_path / "model.mercer")
        again = mercer.load(tmp_path / "model.mercer")
        assert again.kernel_ == fitted.kernel_
        way = "decision_function" if isinstance(model, SVC) else "transform"
        wanted = getattr(fitted, way)(objects[30:])
        assert_array_equal(getattr(again, way)(objects[30:]), wanted)


@pytest.mark.parametrize("kind", ["series", "images", "sets of vectors", "Fisher vectors"])
def test_a_model_does_not_change_with_the_arrays_it_was_fitted_on(kind):
    kernel, objects = KINDS[kind]
    for model in (SVC(kernel=kernel), KernelRidge(kernel=kernel), KernelPCA(2, kernel=kernel)):
        given = [item.copy() for item in objects[:30]]
        fitted = model.fit(given, SIDE[:30])
        for item in given:
            item += 1
        way = "transform" if isinstance(model, KernelPCA) else "predict"
        found = getattr(fitted, way)(objects[30:])
        again = clone(model).fit(objects[:30], SIDE[:30])
        assert_allclose(found, getattr(again, way)(objects[30:]), rtol=1e-9, atol=1e-12)


# --- one expression ------------------------------------------------------------------------------


def test_every_kind_of_object_in_one_frame():
    """Lecture B8: sums, products and normalised kernels, across kinds of data."""
    frame = pd.DataFrame({"size": random.normal(SIDE, 1), "word": WORDS})
    columns = {"tree": TREES, "graph": GRAPHS, "series": SERIES, "map": MAPS, "vectors": VECTORS}
    for name, objects in columns.items():
        frame[name] = pd.Series(objects, dtype=object)
    kernel = (
        Gaussian(0.5).on(["size"]) * Subsequence(2, 0.5).normalized().on("word")
        + SubsetTree().normalized().on("tree")
        + 0.5 * (WeisfeilerLehman(1) + RandomWalk(0.05)).normalized().on("graph")
        + GlobalAlignment(0.1).on("series") * SpatialPyramid(1).normalized().on("map")
        + PyramidMatch(2).normalized().on("vectors").exp()
        + Fisher(MIXTURE).normalized().on("vectors") ** 2
    )
    some = frame.iloc[:12]
    assert_allclose(kernel(some), kernel.formula(some), rtol=1e-12, atol=1e-14)
    assert_allclose(kernel(some, frame), kernel(frame)[:12], rtol=1e-12, atol=1e-14)
    assert mercer.parse(repr(kernel)) == kernel
    model = SVC(kernel=kernel).fit(frame[:30], SIDE[:30])
    assert model.score(frame[30:], SIDE[30:]) > 0.6


@each_kind
def test_sums_and_products_of_kernels_of_one_kind(kind):
    kernel, objects = KINDS[kind]
    kernel = kernel.resolve(objects).normalized()
    K = kernel(objects[:9])
    assert_allclose((0.5 * kernel**2 + kernel * kernel + 1)(objects[:9]), 1.5 * K**2 + 1)
    assert mercer.check_kernel(kernel, objects).is_psd


@pytest.mark.parametrize(
    ("kernel", "make"), [(Spectrum(1), list), (SetIntersection(), set)], ids=["lists", "sets"]
)
def test_a_model_does_not_change_with_the_lists_it_was_fitted_on(kernel, make):
    items = [make(word) for word in ("aab", "abb", "ccd", "cdd")]
    model = SVC(kernel=kernel).fit(items, [0, 0, 1, 1])
    before = model.decision_function([make("ab")])
    for item in items:
        item.clear()
    again = pickle.loads(pickle.dumps(model))  # without what was worked out before
    assert_array_equal(again.decision_function([make("ab")]), before)
