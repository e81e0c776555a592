"""Points in single precision: results have the precision that scikit-learn gives them."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse
import sklearn.cluster
import sklearn.decomposition
import sklearn.discriminant_analysis
import sklearn.kernel_ridge
import sklearn.neighbors
import sklearn.svm
from sklearn.utils import get_tags

from mercer import models
from mercer.features import GramTransformer

random = np.random.default_rng(0)
X = random.normal(size=(30, 3))
CLASSES = np.arange(30) % 3
NUMBERS = X[:, 0] * 2

KINDS = {
    "SVC": (sklearn.svm.SVC(), CLASSES),
    "NuSVC": (sklearn.svm.NuSVC(), CLASSES),
    "SVR": (sklearn.svm.SVR(), NUMBERS),
    "NuSVR": (sklearn.svm.NuSVR(), NUMBERS),
    "OneClassSVM": (sklearn.svm.OneClassSVM(), None),
    "KernelRidge": (sklearn.kernel_ridge.KernelRidge(kernel="rbf"), NUMBERS),
    "KernelPCA": (sklearn.decomposition.KernelPCA(2, kernel="rbf"), None),
    "KernelKMeans": (sklearn.cluster.KMeans(3), None),
    "KernelNeighborsClassifier": (sklearn.neighbors.KNeighborsClassifier(), CLASSES),
    "KernelNeighborsRegressor": (sklearn.neighbors.KNeighborsRegressor(), NUMBERS),
}
OURS = {"KernelRidge": {"kernel": "rbf"}, "KernelPCA": {"n_components": 2, "kernel": "rbf"}}
OURS["KernelKMeans"] = {"n_clusters": 3}
METHODS = ["predict", "transform", "fit_transform", "score_samples"]
SCORES = {"SVC", "NuSVC", "OneClassSVM"}  # namesakes, whose decision_function is compared as well


def dtypes(model, points, y, new):
    """The precision of what every method returns, after a fit."""
    model.fit(points, y)
    methods = [*METHODS, *(["decision_function"] if type(model).__name__ in SCORES else [])]
    found = {}
    for name in methods:
        if hasattr(model, name):
            given = points if name.startswith("fit") else new
            found[name] = np.asarray(getattr(model, name)(given)).dtype
    return found


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("precisions", ["444", "488", "448", "484", "844", "888"])
def test_precision_is_that_of_scikit_learn(name, precisions):
    theirs, y = KINDS[name]
    fitted, target, new = (f"f{size}" for size in precisions)
    if y is NUMBERS:
        y = y.astype(target)
    if name == "KernelKMeans" and fitted != new:
        pytest.skip("scikit-learn's takes new points in the precision of the fit alone")
    ours = getattr(models, name)(**OURS.get(name, {}))
    points = X.astype(fitted)
    found = dtypes(ours, points, y, X.astype(new))
    wanted = dtypes(theirs, points, y, X.astype(new))
    assert found == wanted


@pytest.mark.parametrize("name", ["KernelPCA", "KernelKMeans", "KernelFisherDiscriminant"])
def test_transformers_declare_what_they_keep(name):
    model = getattr(models, name)()
    assert get_tags(model).transformer_tags.preserves_dtype == ["float64", "float32"]
    assert get_tags(GramTransformer()).transformer_tags.preserves_dtype == ["float64", "float32"]


def test_any_kind_of_single_precision_points():
    single = X.astype(np.float32)
    frame = pl.DataFrame({name: single[:, j] for j, name in enumerate("abc")})
    for points in (single, scipy.sparse.csr_array(single), frame):
        model = models.KernelPCA(2).fit(points)
        assert model.transform(points).dtype == np.float32
        assert model.fit_transform(points).dtype == np.float32
    K = (single @ single.T).astype(np.float32)
    model = models.KernelRidge(kernel="precomputed").fit(K, NUMBERS.astype(np.float32))
    assert model.predict(K).dtype == np.float32


def test_rows_come_back_in_their_precision():
    single = X.astype(np.float32)
    for options in ({}, {"fit_inverse_transform": True}):
        model = models.KernelPCA(2, kernel="rbf", **options).fit(single)
        parts = model.transform(single)
        assert model.inverse_transform(parts).dtype == np.float32
        assert model.inverse_transform(parts.astype(np.float64)).dtype == np.float64


def test_the_numbers_are_those_of_double_precision_rounded():
    single = X.astype(np.float32)
    for model in (models.KernelPCA(2), models.KernelKMeans(3)):
        rounded = model.fit(single).transform(single)
        exact = model.fit(single.astype(np.float64)).transform(single.astype(np.float64))
        assert np.allclose(rounded, exact, atol=2e-6)
    y = NUMBERS.astype(np.float32)
    rounded = models.KernelRidge(1e-6).fit(single, y).predict(single)
    exact = models.KernelRidge(1e-6).fit(single, y.astype(np.float64)).predict(single)
    assert exact.dtype == np.float64
    assert np.array_equal(rounded, exact.astype(np.float32))


def test_numbers_too_large_for_single_precision_stay_finite():
    single = np.array([[1.0], [2.0]], dtype=np.float32)
    y = np.array([1e37, 3e37], dtype=np.float32)
    model = models.KernelRidge(1e-9, kernel="linear").fit(single, y)
    found = model.predict(np.array([[40.0]], dtype=np.float32))
    assert np.isfinite(found).all()
    assert found[0] > np.finfo(np.float32).max
