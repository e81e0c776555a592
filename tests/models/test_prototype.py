"""The prototype classifier: nearest class mean in feature space, by hand and by explicit maps."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise
from sklearn.neighbors import NearestCentroid

from mercer import KernelPrototypeClassifier
from mercer.checks import InputError, InputTypeError, KernelError, MemoryLimitError
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Chi2,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    SetIntersection,
    Sigmoid,
    Spectrum,
)

random = np.random.default_rng(6)
LABELS = np.array(["red", "green", "blue"])[np.arange(45) % 3]
X = random.normal(size=(45, 2)) + 2 * np.array([[0, 0], [2, 0], [0, 2]])[np.arange(45) % 3]
NEW = random.normal(size=(20, 2)) * 3
CLASSES = ["blue", "green", "red"]


def means(F, y=LABELS, weights=None):
    weights = np.ones(len(F)) if weights is None else weights
    return np.array([np.average(F[y == c], axis=0, weights=weights[y == c]) for c in np.unique(y)])


# --- by hand -----------------------------------------------------------------------------------


def test_three_points_by_hand():
    # phi is the identity: the means are (1, 0) and (0, 4), with squares 1 and 16.
    points, y = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0]]), np.array([0, 0, 1])
    model = KernelPrototypeClassifier(Linear()).fit(points, y)
    assert model.squared_norms_.tolist() == [1.0, 16.0]
    assert model.dual_coef_.tolist() == [[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]]
    assert model.certificate_.separation == pytest.approx(np.sqrt(17), rel=1e-15)
    # phi(x).mu_1 - 16/2 - (phi(x).mu_0 - 1/2) at (1, 1) and (3, 3).
    assert model.decision_function([[1.0, 1.0], [3.0, 3.0]]).tolist() == [-4.5, 1.5]
    assert model.predict([[1.0, 1.0], [3.0, 3.0]]).tolist() == [0, 1]
    assert model.distances([[1.0, 1.0]]).tolist() == [[1.0, pytest.approx(np.sqrt(10))]]


def test_sets_by_hand():
    # One common element of three, against none: |A & B| averaged over a class.
    sets, y = [{1, 2}, {1, 3}, {4}], ["odd", "odd", "even"]
    model = KernelPrototypeClassifier(SetIntersection()).fit(sets, y)
    assert model.classes_.tolist() == ["even", "odd"]
    assert model.squared_norms_.tolist() == [1.0, (2 + 1 + 1 + 2) / 4]
    assert model.decision_function([{1}, {4}]).tolist() == [1 - 0.75 + 0.5, -0.75 - 1 + 0.5]
    assert model.predict([{1}, {4}]).tolist() == ["odd", "even"]


# The polynomial maps have a constant column, of which scikit-learn warns.
@pytest.mark.filterwarnings("ignore:self.within_class_std_dev_ has at least 1 zero")
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Polynomial(3, 0.5, 2.0)], ids=repr)
def test_it_is_the_nearest_centroid_of_the_explicit_features(kernel):
    F, G = kernel.features(X), kernel.features(NEW)
    model = KernelPrototypeClassifier(kernel).fit(X, LABELS)
    centroid = NearestCentroid().fit(F, LABELS)
    assert np.array_equal(model.predict(NEW), centroid.predict(G))
    mu = means(F)
    gaps = np.linalg.norm(G[:, None] - mu[None], axis=-1)
    assert np.allclose(model.distances(NEW), gaps, rtol=1e-9)
    assert np.allclose(model.decision_function(NEW), G @ mu.T - (mu**2).sum(axis=1) / 2, rtol=1e-10)
    assert np.allclose(model.squared_norms_, (mu**2).sum(axis=1), rtol=1e-12)
    between = np.linalg.norm(mu[:, None] - mu[None], axis=-1)
    assert model.certificate_.separation == pytest.approx(between[between > 0].min(), rel=1e-10)


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        (Gaussian(0.3), lambda A, B: pairwise.rbf_kernel(A, B, 0.3)),
        (Laplacian(0.3), lambda A, B: pairwise.laplacian_kernel(A, B, 0.3)),
        (FunctionKernel(lambda A, B: np.tanh(A @ B.T)), lambda A, B: np.tanh(A @ B.T)),
    ],
)
def test_it_is_the_double_sum_of_the_definition(kernel, formula):
    K, cross = formula(X, X), formula(NEW, X)
    model = KernelPrototypeClassifier(kernel).fit(X, LABELS)
    for c, name in enumerate(CLASSES):
        member = name == LABELS
        third = K[np.ix_(member, member)].mean()
        assert model.squared_norms_[c] == pytest.approx(third, rel=1e-12)
        scores = cross[:, member].mean(axis=1) - third / 2
        assert np.allclose(model.decision_function(NEW)[:, c], scores, rtol=1e-11, atol=1e-13)


def test_two_classes_give_one_score():
    two = np.where(LABELS == "red", "yes", "no")
    model = KernelPrototypeClassifier(Gaussian(0.3)).fit(X, two)
    scores = model.decision_function(NEW)
    assert scores.shape == (20,)
    assert np.array_equal(model.predict(NEW), np.where(scores > 0, "yes", "no"))
    nearest = model.distances(NEW).argmin(axis=1)
    assert np.array_equal(model.predict(NEW), model.classes_[nearest])


def test_a_tie_goes_to_the_first_class():
    model = KernelPrototypeClassifier(Linear()).fit([[-1.0], [1.0]], ["b", "a"])
    assert model.predict([[0.0]]).tolist() == ["a"]
    model = KernelPrototypeClassifier(Gaussian(1.0)).fit([[0.0]] * 3, ["c", "a", "b"])
    assert model.predict([[3.0]]).tolist() == ["a"]


def test_it_learns():
    X, y = load_iris(return_X_y=True)
    for kernel in (None, "linear", Matern(1.5), Polynomial(2) + Gaussian(0.5)):
        assert KernelPrototypeClassifier(kernel).fit(X, y).score(X, y) > 0.85


# --- the same model, however it is computed ----------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian(), Linear(), Laplacian() + Gaussian(0.1)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_row_by_row_is_the_batch(kernel, dtype):
    model = KernelPrototypeClassifier(kernel).fit((X + 100).astype(dtype), LABELS)
    new = (NEW + 100).astype(dtype)
    batch = model.decision_function(new)
    alone = np.concatenate([model.decision_function(new[[i]]) for i in range(20)])
    size = np.abs(batch).max()
    assert np.abs(alone - batch).max() <= 8 * np.finfo(dtype).eps * size
    assert np.array_equal(
        np.concatenate([model.predict(new[[i]]) for i in range(20)]), model.predict(new)
    )


@pytest.mark.parametrize("limit", ["auto", 20_000, "30kB"])
def test_the_memory_limit_does_not_change_the_model(limit):
    wanted = KernelPrototypeClassifier(Gaussian()).fit(X, LABELS)
    found = KernelPrototypeClassifier(Gaussian(), memory_limit=limit).fit(X, LABELS)
    assert np.allclose(found.decision_function(NEW), wanted.decision_function(NEW), rtol=1e-12)
    assert found.kernel_ == wanted.kernel_ == Gaussian(1 / (2 * X.var()))
    assert found.kernel == Gaussian()


def test_every_container_gives_the_same_model():
    wanted = KernelPrototypeClassifier(Gaussian()).fit(X, LABELS).decision_function(NEW)
    sparse = scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(NEW)
    blocks = RowBlocks.split(X, 10), RowBlocks([NEW[:3], NEW[3:]])
    for train, new in (
        (X.tolist(), NEW.tolist()),
        sparse,
        blocks,
        (blocks[0], NEW),
        (X, blocks[1]),
        (sparse[0], NEW),
    ):
        model = KernelPrototypeClassifier(Gaussian()).fit(train, LABELS)
        assert np.allclose(model.decision_function(new), wanted, rtol=1e-10, atol=1e-12)


def test_precomputed_is_the_kernel():
    wanted = KernelPrototypeClassifier(Gaussian(0.3)).fit(X, LABELS)
    K, cross = Gaussian(0.3)(X), Gaussian(0.3)(NEW, X)
    model = KernelPrototypeClassifier("precomputed").fit(K, LABELS)
    assert np.allclose(model.decision_function(cross), wanted.decision_function(NEW), rtol=1e-12)
    assert model.n_features_in_ == 45
    double = KernelPrototypeClassifier(2.0 * Precomputed()).fit(K, LABELS)
    assert np.allclose(double.decision_function(cross), 2 * wanted.decision_function(NEW))
    # As many new points as training points: still new ones, whose k(x, x) is not known.
    other = Gaussian(0.3)(X[::-1] + 1, X)
    assert np.allclose(model.decision_function(other), wanted.decision_function(X[::-1] + 1))
    with pytest.raises(InputError, match="known for training points only"):
        model.distances(other)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        (None, Gaussian()),
        ("linear", Linear()),
        ("poly", Polynomial(3, 0.5, 1.0)),
        ("polynomial", Polynomial(3, 0.5, 1.0)),
        ("rbf", Gaussian(0.5)),
        ("laplacian", Laplacian(0.5)),
        ("sigmoid", Sigmoid(0.5, 1.0)),
        ("cosine", Linear().normalized()),
        ("chi2", Chi2(1.0)),
    ],
)
def test_scikit_learn_names(name, kernel):
    points = np.abs(X)
    named = KernelPrototypeClassifier(name).fit(points, LABELS)
    wanted = KernelPrototypeClassifier(kernel).fit(points, LABELS)
    assert named.kernel_ == wanted.kernel_
    if name is not None:
        K = pairwise.pairwise_kernels(points, metric=name)
        assert np.allclose(named.kernel_(points), K, rtol=1e-10)


def test_functions_are_kernels():
    model = KernelPrototypeClassifier(lambda A, B: A @ B.T).fit(X, LABELS)
    wanted = KernelPrototypeClassifier(Linear()).fit(X, LABELS)
    assert np.allclose(model.decision_function(NEW), wanted.decision_function(NEW), rtol=1e-12)
    words = KernelPrototypeClassifier(
        lambda A, B: np.array([[float(a[0] == b[0]) for b in B] for a in A])
    ).fit(["ab", "ac", "bc"], [0, 0, 1])
    assert words.predict(["ax", "bx"]).tolist() == [0, 1]
    wrong = KernelPrototypeClassifier(lambda A, B: A[:, :1])
    with pytest.raises(KernelError, match=r"must return a matrix of shape \(45, 45\)"):
        wrong.fit(X, LABELS)


# --- weights -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Gaussian(), Linear(), Polynomial(2), "rbf"], ids=repr)
def test_weights_are_repetition(kernel):
    weights = np.arange(45) % 4
    weights[:3] = 1
    weighted = KernelPrototypeClassifier(kernel).fit(X, LABELS, sample_weight=weights)
    repeated = KernelPrototypeClassifier(kernel).fit(
        np.repeat(X, weights, axis=0), np.repeat(LABELS, weights)
    )
    wanted = repeated.decision_function(NEW)
    assert np.allclose(weighted.decision_function(NEW), wanted, rtol=1e-9, atol=1e-12)
    assert np.allclose(weighted.squared_norms_, repeated.squared_norms_, rtol=1e-11)
    assert np.allclose(weighted.dual_coef_.sum(axis=0), 1, rtol=1e-14)


def test_weights_are_means():
    weights = random.uniform(0, 2, size=45)
    model = KernelPrototypeClassifier(Linear()).fit(X, LABELS, sample_weight=weights)
    assert np.allclose(model.dual_coef_.T @ X, means(X, weights=weights), rtol=1e-12)
    same = KernelPrototypeClassifier(Gaussian()).fit(X, LABELS, sample_weight=3.0)
    plain = KernelPrototypeClassifier(Gaussian()).fit(X, LABELS)
    assert np.allclose(same.decision_function(NEW), plain.decision_function(NEW), rtol=1e-12)


# --- what is known after a fit -----------------------------------------------------------------


def test_attributes_and_certificate():
    model = KernelPrototypeClassifier(Gaussian()).fit(X, LABELS)
    assert model.classes_.tolist() == CLASSES
    assert model.dual_coef_.shape == (45, 3)
    assert np.array_equal(model.support_, np.arange(45))
    certificate = model.certificate_
    assert certificate.status == "exact"
    assert certificate.kernel_entries == 45 * 45
    assert certificate.plan.startswith("stored: K needs 16.2 kB")
    assert certificate.bytes >= 45 * 45 * 8
    assert certificate.seconds > 0
    with pytest.raises(AttributeError):
        certificate.status = "other"
    assert KernelPrototypeClassifier(Linear()).fit(X, LABELS).certificate_.plan.startswith("low")


def test_labels_of_every_type():
    for labels in (
        LABELS,
        LABELS.tolist(),
        pd.Series(LABELS),
        (LABELS == "red"),
        np.arange(45) % 2,
    ):
        model = KernelPrototypeClassifier(Linear()).fit(X, labels)
        assert set(model.predict(NEW)) <= set(np.asarray(labels).tolist())


# --- refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "points", "labels", "told"),
    [
        (None, X, np.zeros(45), "y must have at least two classes; got 1 class"),
        (None, X, LABELS[:44], "y must have 45 labels; got 44"),
        (None, X, None, "requires y to be passed, but the target y is None"),
        (None, X, random.normal(size=45), "Unknown label type: continuous"),
        (
            None,
            X,
            np.where(LABELS == "red", np.nan, 1.0),
            "must have a class .* nan in row 0",
        ),
        (None, X[:, 0], LABELS, "X must be 2-D"),
        (None, np.empty((0, 2)), [], "at least one point; got 0 sample"),
        (Spectrum(2), [], [], "at least one point; got 0 sample"),
        ("precomputed", X, LABELS, r"must be square to fit, .* got shape \(45, 2\)"),
        ("rdf", X, LABELS, "kernel must be one of .* got 'rdf'. Did you mean 'rbf'"),
        ("additive_chi2", X, LABELS, "only conditionally so"),
        (Chi2(1.0), X, LABELS, "X must have no negative entries"),
        (Gaussian(1.0).on(["a"]), X, LABELS, "a data frame with named columns"),
        (Spectrum(2), ["ab", None, "b"], [0, 1, 0], r"None \(NoneType\) at index 1"),
        (Spectrum(2), "abc", [0, 1, 0], "one string. Put it into a list"),
    ],
)
def test_bad_input(kernel, points, labels, told):
    with pytest.raises(ValueError, match=told):
        KernelPrototypeClassifier(kernel).fit(points, labels)


def test_a_class_without_weight_is_named():
    weights = (LABELS != "green").astype(float)
    with pytest.raises(InputError, match="class 'green' with weights that are all zero") as caught:
        KernelPrototypeClassifier().fit(X, LABELS, sample_weight=weights)
    assert "Drop the class" in str(caught.value)
    for bad, told in (
        ([1.0], r"shape \(45,\)"),
        (-np.ones(45), "at least 0"),
        (np.zeros(45), "above 0"),
    ):
        with pytest.raises(InputError, match=f"sample_weight must .*{told}"):
            KernelPrototypeClassifier().fit(X, LABELS, sample_weight=bad)


def test_missing_numbers_are_named_and_may_pass_when_assumed_away():
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(InputError, match=r"KernelPrototypeClassifier: .* NaN in row 7, column 1"):
        KernelPrototypeClassifier().fit(bad, LABELS)
    model = KernelPrototypeClassifier(Gaussian(0.3)).fit(X, LABELS)
    with pytest.raises(InputError, match="NaN in row 7, column 1"):
        model.predict(bad)
    with pytest.raises(InputError, match="NaN in row 7, column 'b'"):
        KernelPrototypeClassifier().fit(pd.DataFrame(bad, columns=["a", "b"]), LABELS)
    with sklearn.config_context(assume_finite=True):
        scores = model.decision_function(bad)
    assert np.isnan(scores[7]).all()
    assert np.isfinite(np.delete(scores, 7, axis=0)).all()


def test_an_asymmetric_gram_matrix_names_the_entry():
    K = X @ X.T
    K[4, 9] += 1.0
    with pytest.raises(InputError, match=r"must be symmetric; got K\[4, 9\] = .* mercer\.repair"):
        KernelPrototypeClassifier("precomputed").fit(K, LABELS)
    model = KernelPrototypeClassifier("precomputed").fit(X @ X.T, LABELS)
    with pytest.raises(ValueError, match=r"X has 44 features, but .* is expecting 45"):
        model.predict(K[:3, :44])


def test_a_class_in_the_place_of_a_kernel():
    with pytest.raises(InputTypeError, match=r"Write Gaussian\(\), with brackets"):
        KernelPrototypeClassifier(Gaussian).fit(X, LABELS)
    with pytest.raises(InputTypeError, match="kernel must be None, a kernel, a name or a function"):
        KernelPrototypeClassifier(3.0).fit(X, LABELS)


def test_a_limit_that_cannot_hold():
    with pytest.raises(MemoryLimitError, match="Raise memory_limit to"):
        KernelPrototypeClassifier(Gaussian(), memory_limit=500).fit(X, LABELS)
    with pytest.raises(InputError, match="memory_limit must be"):
        KernelPrototypeClassifier(Gaussian(), memory_limit="lots").fit(X, LABELS)
