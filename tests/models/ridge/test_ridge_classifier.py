"""Classification by kernel ridge regression: scores, weights, calibrated probabilities."""

import pickle

import numpy as np
import oracles
import pytest
import scipy.sparse
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import estimator_checks
from sklearn.utils.class_weight import compute_sample_weight

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.checks import InputError
from mercer.fitting.ridge import fit as ridge_fit
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Linear, Polynomial, Spectrum
from mercer.solvers.ridge import nystrom

random = np.random.default_rng(12)
N = 36
CODES = np.arange(N) % 3
X = random.normal(size=(N, 2)) + 1.2 * np.array([[0, 0], [2, 0], [0, 2]])[CODES]
NEW = random.normal(size=(15, 2)) * 3
LABELS = np.array(["red", "green", "blue"])[CODES]
TWO = np.where(LABELS == "red", "yes", "no")
NOISY = X @ random.normal(size=(2, 4)) + 0.4 * random.normal(size=(N, 4))
MANY = (np.quantile(NOISY, 0.6, axis=0) < NOISY).astype(int)
WEIGHT = random.uniform(0.3, 2.5, size=N)
K = oracles.gram(lambda x, y: oracles.gaussian(x, y, 0.3, 0.3), X)
CROSS = oracles.gram(lambda x, y: oracles.gaussian(x, y, 0.3, 0.3), NEW, X)
KERNEL = Gaussian(0.3)
TARGETS = {
    "two": (TWO, np.where(TWO == "yes", 1.0, -1.0)[:, None]),
    "three": (LABELS, 2.0 * (LABELS[:, None] == ["blue", "green", "red"]) - 1),
    "labels": (MANY, 2.0 * MANY - 1),
}
KINDS = pytest.mark.parametrize(("y", "targets"), TARGETS.values(), ids=TARGETS)


# --- scores -----------------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("solver", ["cholesky", "cg", "nystrom"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
@pytest.mark.parametrize("intercept", [False, True], ids=["through zero", "offset"])
def test_it_is_regression_on_minus_one_and_one(y, targets, solver, weight, intercept):
    model = KernelRidgeClassifier(
        0.4, kernel=KERNEL, solver=solver, n_centers=N, tol=1e-10, fit_intercept=intercept
    ).fit(X, y, sample_weight=weight)
    a, b = oracles.ridge(K, targets, 0.4, weight, intercept)
    wanted = CROSS @ a + b
    scores = model.decision_function(NEW)
    assert scores.shape == ((15,) if targets.shape[1] == 1 else (15, targets.shape[1]))
    assert np.allclose(scores.reshape(15, -1), wanted, rtol=0, atol=1e-7)
    if targets.shape[1] == 1:
        assert np.array_equal(model.predict(NEW), np.where(wanted[:, 0] > 0, "yes", "no"))
    elif targets.shape[1] == 3:
        assert model.classes_.tolist() == ["blue", "green", "red"]
        assert np.array_equal(model.predict(NEW), model.classes_[wanted.argmax(axis=1)])
    else:
        assert np.array_equal(model.predict(NEW), wanted > 0)


def test_it_is_the_ridge_classifier_of_scikit_learn():
    iris, y = load_iris(return_X_y=True)
    ours = KernelRidgeClassifier(2.0, kernel=Linear(), fit_intercept=True).fit(iris, y)
    theirs = RidgeClassifier(2.0).fit(iris, y)
    assert ours.certificate_.solver == "primal"
    wanted = theirs.decision_function(iris)
    assert np.allclose(ours.decision_function(iris), wanted, rtol=0, atol=1e-9)
    assert np.array_equal(ours.predict(iris), theirs.predict(iris))


def test_one_alpha_for_each_output():
    alphas = [0.1, 1.0, 10.0]
    model = KernelRidgeClassifier(alphas, kernel=KERNEL).fit(X, LABELS)
    a, _ = oracles.ridge(K, TARGETS["three"][1], alphas)
    assert np.allclose(model.decision_function(NEW), CROSS @ a, rtol=0, atol=1e-8)


def test_labels_of_every_type():
    for labels in (LABELS.tolist(), LABELS == "red", CODES, CODES.astype(float)):
        model = KernelRidgeClassifier(kernel=KERNEL).fit(X, labels)
        assert set(model.predict(NEW)) <= set(np.asarray(labels).tolist())
    dense = KernelRidgeClassifier(kernel=KERNEL).fit(X, MANY)
    sparse = KernelRidgeClassifier(kernel=KERNEL).fit(X, scipy.sparse.csr_array(MANY))
    assert np.array_equal(dense.predict_proba(NEW), sparse.predict_proba(NEW))
    assert dense.classes_.tolist() == [0, 1, 2, 3]


# --- weights of classes -----------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", ["balanced", {"yes": 5.0, "no": 0.5}], ids=repr)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
def test_class_weights_are_sample_weights(class_weight, weight):
    counts = {name: (name == TWO).sum() for name in ("yes", "no")}
    if class_weight == "balanced":
        factor = np.array([N / (2 * counts[name]) for name in TWO])
    else:
        factor = np.array([class_weight[name] for name in TWO])
    factor = factor if weight is None else factor * weight
    wanted = KernelRidgeClassifier(0.4, kernel=KERNEL).fit(X, TWO, sample_weight=factor)
    model = KernelRidgeClassifier(0.4, kernel=KERNEL, class_weight=class_weight)
    model.fit(X, TWO, sample_weight=weight)
    assert np.array_equal(model.decision_function(NEW), wanted.decision_function(NEW))
    assert not np.allclose(
        model.decision_function(NEW),
        KernelRidgeClassifier(0.4, kernel=KERNEL).fit(X, TWO, weight).decision_function(NEW),
    )


def test_a_class_weight_makes_no_copies_of_a_point_that_is_left_out():
    factor = np.where(TWO == "yes", 5.0, 0.5)
    targets = np.where(TWO == "yes", 1.0, -1.0)
    scores = np.empty(N)
    for i in range(N):
        less = np.where(np.arange(N) == i, 0.0, factor)
        a, b = oracles.ridge(K, targets, 0.4, less)
        scores[i] = (K[i] @ a + b)[0]
    wanted = likeliest_slope(
        np.column_stack([-scores / 2, scores / 2]), (targets > 0).astype(int), factor
    )
    for solver in ("cholesky", "nystrom"):
        model = KernelRidgeClassifier(
            0.4, kernel=KERNEL, solver=solver, n_centers=N, class_weight={"yes": 5.0, "no": 0.5}
        )
        assert model.fit(X, TWO).slopes_ == pytest.approx([wanted], rel=1e-5)


def test_labels_are_balanced_together():
    model = KernelRidgeClassifier(0.4, kernel=KERNEL, class_weight="balanced").fit(X, MANY)
    weight = compute_sample_weight("balanced", MANY)
    a, _ = oracles.ridge(K, 2.0 * MANY - 1, 0.4, weight)
    assert np.allclose(model.decision_function(NEW), CROSS @ a, rtol=0, atol=1e-8)


def test_zero_weights_leave_points_out_of_the_probabilities_too():
    weight = (np.arange(N) % 5 > 0).astype(float)
    used = weight > 0
    for y in (TWO, LABELS, MANY):
        some = KernelRidgeClassifier(0.4, kernel=KERNEL).fit(X, y, sample_weight=weight)
        fewer = KernelRidgeClassifier(0.4, kernel=KERNEL).fit(X[used], y[used])
        assert np.allclose(some.predict_proba(NEW), fewer.predict_proba(NEW), rtol=0, atol=1e-9)


# --- probabilities ----------------------------------------------------------------------------


def likeliest_slope(scores, codes, weight):
    """The t of P(c) ~ exp(t s_c) with the largest likelihood; 1 / (n + 2) of it is for the others.

    scores: one column a class; binary ones are s / 2 and -s / 2.
    """
    weight = np.ones(len(codes)) if weight is None else weight
    others = 1 / (weight.sum() + 2)
    wanted = np.full(scores.shape, others / (scores.shape[1] - 1))
    wanted[np.arange(len(codes)), codes] = 1 - others

    def loss(log_slope):
        scaled = np.exp(log_slope) * scores
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        chances = np.exp(scaled) / np.exp(scaled).sum(axis=1, keepdims=True)
        return -float(weight @ (wanted * np.log(np.maximum(chances, 1e-300))).sum(axis=1))

    found = minimize_scalar(loss, bounds=(-8, 8), method="bounded", options={"xatol": 1e-9})
    return np.exp(found.x)


@KINDS
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
@pytest.mark.parametrize("intercept", [False, True], ids=["through zero", "offset"])
def test_the_slope_is_the_likeliest_for_points_left_out(y, targets, weight, intercept):
    scores = oracles.left_out(K, targets, 0.4, weight, intercept)
    if targets.shape[1] == 3:
        wanted = [likeliest_slope(scores, targets.argmax(axis=1), weight)]
    else:
        halves = [np.column_stack([-s / 2, s / 2]) for s in scores.T]
        codes = [(one > 0).astype(int) for one in targets.T]
        wanted = [likeliest_slope(s, c, weight) for s, c in zip(halves, codes, strict=True)]
    model = KernelRidgeClassifier(0.4, kernel=KERNEL, fit_intercept=intercept)
    model.fit(X, y, sample_weight=weight)
    assert np.allclose(model.slopes_, wanted, rtol=1e-5)
    found, values = model.predict_proba(NEW), model.decision_function(NEW)
    if targets.shape[1] == 1:
        chance = 1 / (1 + np.exp(-wanted[0] * values))
        expected = np.column_stack([1 - chance, chance])
    elif targets.shape[1] == 3:
        raised = np.exp(wanted[0] * values)
        expected = raised / raised.sum(axis=1, keepdims=True)
    else:
        expected = 1 / (1 + np.exp(-np.array(wanted) * values))
    assert np.allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2)], ids=repr)
@pytest.mark.parametrize("solver", ["primal", "cholesky", "nystrom"])
def test_every_solver_calibrates_alike(kernel, solver):
    options = {"kernel": kernel, "fit_intercept": True, "n_centers": N}
    wanted = KernelRidgeClassifier(0.4, solver="cholesky", **options).fit(X, LABELS)
    found = KernelRidgeClassifier(0.4, solver=solver, **options).fit(X, LABELS)
    assert np.allclose(found.slopes_, wanted.slopes_, rtol=1e-6)


@pytest.mark.parametrize("solver", ["cg", "nystrom"])
def test_large_models_are_calibrated_on_a_smaller_one(solver, monkeypatch):
    # With all points among its centres, the smaller model is the model itself.
    wanted = KernelRidgeClassifier(0.4, kernel=KERNEL).fit(X, LABELS).slopes_
    if solver == "nystrom":
        monkeypatch.setattr(nystrom, "DIRECT", 20)
        monkeypatch.setattr(ridge_fit, "DIRECT", 20)
    model = KernelRidgeClassifier(0.4, kernel=KERNEL, solver=solver, n_centers=N).fit(X, LABELS)
    assert model.certificate_.iterations > 0
    assert np.allclose(model.slopes_, wanted, rtol=1e-5 if solver == "cg" else 0.3)
    assert len(model.support_) == N


@pytest.mark.parametrize("kernel", [Gaussian(0.05), Gaussian(30.0), Linear()], ids=repr)
@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e6])
def test_the_likeliest_class_is_the_one_predicted(kernel, alpha):
    noise = random.integers(0, 3, size=N)  # labels without any sense, too
    for y in (TWO, LABELS, noise):
        model = KernelRidgeClassifier(alpha, kernel=kernel, fit_intercept=True).fit(X, y)
        for points in (X, NEW, NEW * 100):
            chances = model.predict_proba(points)
            assert np.allclose(chances.sum(axis=1), 1.0, rtol=1e-12)
            assert np.array_equal(model.classes_[chances.argmax(axis=1)], model.predict(points))
    labels = KernelRidgeClassifier(alpha, kernel=kernel, fit_intercept=True).fit(X, MANY)
    chances = labels.predict_proba(NEW)
    assert chances.shape == (15, 4)
    assert np.array_equal(chances > 0.5, labels.predict(NEW) == 1)


def test_probabilities_are_frequencies():
    # A third of the labels near the origin are wrong; a quarter of a unit away, none is.
    draw = np.random.default_rng(0)
    points = draw.uniform(-1, 1, size=(800, 1))
    y = draw.random(800) < 1 / (1 + np.exp(-4 * points[:, 0]))
    model = KernelRidgeClassifier(1.0, kernel=Gaussian(1.0)).fit(points, y)
    grid = np.linspace(-0.9, 0.9, 19)[:, None]
    true = 1 / (1 + np.exp(-4 * grid[:, 0]))
    assert np.abs(model.predict_proba(grid)[:, 1] - true).max() < 0.08


def test_probabilities_can_be_left_out():
    model = KernelRidgeClassifier(kernel=KERNEL, probability=False).fit(X, LABELS)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "slopes_")
    wanted = KernelRidgeClassifier(kernel=KERNEL).fit(X, LABELS)
    assert np.array_equal(model.predict(NEW), wanted.predict(NEW))


def test_scores_that_say_nothing_give_even_chances():
    # Left out, a point of two such classes is nearest to the other one.
    points = np.repeat(np.arange(6.0), 2)[:, None]
    model = KernelRidgeClassifier(1e-3, kernel=Gaussian(50.0)).fit(points, [0, 1] * 6)
    assert (model.slopes_ > 0).all()
    assert np.allclose(model.predict_proba(points), 0.5, atol=1e-3)


def test_points_that_are_all_right_have_finite_slopes():
    apart = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = KernelRidgeClassifier(1e-3, kernel=Gaussian(1.0)).fit(apart, [0, 0, 1, 1])
    assert np.isfinite(model.slopes_).all()
    chances = model.predict_proba(apart)
    assert np.isfinite(chances).all()
    assert chances.max() < 1


# --- scikit-learn, inputs, refusals -----------------------------------------------------------


@estimator_checks.parametrize_with_checks(
    [
        KernelRidgeClassifier(),
        KernelRidgeClassifier(kernel="linear", fit_intercept=True),
        KernelRidgeClassifier(kernel=Gaussian(), solver="nystrom", probability=False),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_copies_and_searches():
    model = KernelRidgeClassifier(0.4, kernel=KERNEL).fit(X, LABELS)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    assert clone(model).get_params() == model.get_params()
    grid = {"alpha": [0.1, 10.0], "kernel__gamma": [0.3, 500.0]}
    search = GridSearchCV(KernelRidgeClassifier(kernel=KERNEL), grid, cv=3).fit(X, LABELS)
    assert search.best_params_["kernel__gamma"] == 0.3
    wanted = cross_val_score(KernelRidgeClassifier(0.4, kernel=KERNEL), X, LABELS, cv=3)
    scores = cross_val_score(KernelRidgeClassifier(0.4, kernel="precomputed"), K, LABELS, cv=3)
    assert np.array_equal(scores, wanted)


def test_strings_blocks_and_sparse_rows():
    words = ["".join(random.choice(list("aab" if c else "abb"), 9)) for c in CODES % 2]
    model = KernelRidgeClassifier(1.0, kernel=Spectrum(1)).fit(words, CODES % 2)
    assert model.predict(["aaaaaabbb", "bbbbbbaaa"]).tolist() == [1, 0]
    wanted = KernelRidgeClassifier(0.4, kernel=Linear(), fit_intercept=True).fit(X, LABELS)
    for points in (scipy.sparse.csr_array(X), RowBlocks.split(X, 10), X.tolist()):
        found = clone(wanted).fit(points, LABELS)
        assert np.allclose(found.predict_proba(NEW), wanted.predict_proba(NEW), rtol=0, atol=1e-9)


def test_the_regressor_is_no_classifier():
    assert not hasattr(KernelRidge(), "predict_proba")


@pytest.mark.parametrize(
    ("labels", "weight", "told"),
    [
        (np.zeros(N), None, "y must have at least two classes; got 1 class, 0.0"),
        (LABELS[:-1], None, "y must have 36 labels; got 35"),
        (MANY[:-1], None, "y must have 36 rows; got 35"),
        (None, None, "requires y to be passed, but the target y is None"),
        (X[:, 0], None, "Unknown label type: continuous"),
        (
            np.where(CODES == 1, np.nan, 1.0),
            None,
            "y must have a class .* nan in row 1",
        ),
        (TWO, (TWO == "yes") * 1.0, "two classes must have .* positive weight; got 1 class"),
        (TWO, np.zeros(N), "sample_weight must be above 0"),
        (TWO, -np.ones(N), "sample_weight must be at least 0; got -1 at index 0"),
    ],
)
def test_bad_labels_and_weights(labels, weight, told):
    with pytest.raises(ValueError, match=told):
        KernelRidgeClassifier(kernel=KERNEL).fit(X, labels, sample_weight=weight)


def test_class_weights_that_leave_one_class():
    with pytest.raises(InputError, match="at least two classes must have a sample"):
        KernelRidgeClassifier(class_weight={"yes": 1.0, "no": 0.0}).fit(X, TWO)
    with pytest.raises(ValueError, match="class_weight"):
        KernelRidgeClassifier(class_weight="equal").fit(X, TWO)
