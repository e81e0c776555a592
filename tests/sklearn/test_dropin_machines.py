"""Support vector machines under scikit-learn's names: its attributes and results, our solver."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as theirs
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

import mercer.sklearn as ours
from mercer.sklearn import machines
from mercer.sklearn.libsvm.answering import Answering
from mercer.sklearn.libsvm.engines import fitted

pytestmark = pytest.mark.usefixtures("engine")

X2, Y2 = make_classification(90, 6, random_state=0)
X3, Y3 = load_iris(return_X_y=True)
XR, YR = make_regression(80, 5, noise=5.0, random_state=0)
YR = YR / YR.std()
TOL = 1e-7  # so exact that both solvers agree
KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.2},
]
LEARNERS = [
    ("SVC", {"C": 2.0}, X2, Y2),
    ("SVC", {"C": 0.7, "class_weight": {0: 1.0, 1: 3.0}}, X2, Y2),
    ("SVC", {"C": 1.0}, X3, Y3),
    ("SVC", {"class_weight": "balanced", "decision_function_shape": "ovo"}, X3[20:], Y3[20:]),
    ("NuSVC", {"nu": 0.3}, X2, Y2),
    ("NuSVC", {"nu": 0.27}, X3, Y3),
    ("SVR", {"C": 3.0, "epsilon": 0.05}, XR, YR),
    ("NuSVR", {"C": 3.0, "nu": 0.4}, XR, YR),
    ("OneClassSVM", {"nu": 0.3}, XR, None),
]
CASES = [
    (*learner, kernel)
    for learner in LEARNERS
    for kernel in KERNELS
    if (learner[0], kernel["kernel"]) != ("OneClassSVM", "linear")  # takes LIBSVM a minute
]
ATTRIBUTES = ["support_", "n_support_", "support_vectors_", "dual_coef_", "intercept_"]
ATTRIBUTES += ["fit_status_", "shape_fit_", "n_iter_", "n_features_in_", "class_weight_"]


def dense(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def both(name, options, X, y, **more):
    """The two classes fitted to the same points."""
    pair = getattr(theirs, name)(**options, tol=TOL), getattr(ours, name)(**options, tol=TOL)
    return [model.fit(X, y, **more) for model in pair]


def decide(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize(("name", "options", "X", "y", "kernel"), CASES)
def test_results_are_those_of_libsvm(name, options, X, y, kernel, fallbacks):
    if kernel["kernel"] == "poly":
        X = X / 3.0  # keeps LIBSVM quick at this tolerance
    one, other = both(name, options | kernel, X, y)
    assert fallbacks() == []
    assert sorted(vars(one)) == sorted(set(vars(other)) - {"_answering"})
    scale = max(1.0, np.abs(decide(one, X)).max())
    np.testing.assert_allclose(decide(other, X), decide(one, X), atol=3e-5 * scale)
    # Points on the margin have any sign; elsewhere predictions are the same.
    scores = decide(one, X)
    clear = np.abs(scores) > 1e-4 * scale
    clear = clear.all(axis=1) if clear.ndim > 1 else clear
    if name.endswith("SVR"):
        np.testing.assert_allclose(other.predict(X), one.predict(X), atol=3e-5 * scale)
    else:
        assert np.array_equal(other.predict(X)[clear], one.predict(X)[clear])
    np.testing.assert_allclose(other.intercept_, one.intercept_, atol=1e-4 * scale)
    for attribute in ATTRIBUTES:
        if hasattr(one, attribute):
            mine, its = getattr(other, attribute), getattr(one, attribute)
            assert type(mine) is type(its), attribute
            assert getattr(mine, "dtype", None) == getattr(its, "dtype", None), attribute
            assert np.ndim(mine) == np.ndim(its), attribute


def test_coefficients_are_those_of_libsvm():
    one, other = both("SVC", {"C": 2.0, "gamma": 0.3}, X3, Y3)
    assert np.array_equal(one.support_, other.support_)
    assert np.array_equal(one.n_support_, other.n_support_)
    np.testing.assert_allclose(other.dual_coef_, one.dual_coef_, atol=1e-3)
    np.testing.assert_array_equal(other.support_vectors_, one.support_vectors_)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.csc_array])
def test_sparse_rows_give_sparse_attributes(kind, fallbacks):
    one, other = both("SVC", {"gamma": 0.3}, kind(X3), Y3)
    assert fallbacks() == []
    for name in ("dual_coef_", "support_vectors_"):
        assert type(getattr(one, name)) is type(getattr(other, name))
        np.testing.assert_allclose(
            getattr(other, name).toarray(), getattr(one, name).toarray(), atol=1e-3
        )
    np.testing.assert_allclose(
        other.decision_function(kind(X3)), one.decision_function(kind(X3)), atol=3e-5
    )


def test_many_sparse_rows_stay_sparse(monkeypatch, fallbacks):
    dense_model = ours.SVC(tol=TOL).fit(sp.csr_array(X3), Y3)
    monkeypatch.setattr("mercer.sklearn.libsvm.answering.FEW_ENTRIES", 0)
    sparse_model = ours.SVC(tol=TOL).fit(sp.csr_array(X3), Y3)
    np.testing.assert_allclose(
        sparse_model.decision_function(sp.csr_array(X3)),
        dense_model.decision_function(sp.csr_array(X3)),
        atol=3e-5,
    )
    assert fallbacks() == []


def test_precomputed_matrices_and_functions(fallbacks):
    K = rbf_kernel(X2, gamma=0.3)
    given, made = ours.SVC(kernel="precomputed", tol=TOL), ours.SVC(kernel=rbf_function, tol=TOL)
    named = theirs.SVC(gamma=0.3, tol=TOL).fit(X2, Y2).decision_function(X2)
    np.testing.assert_allclose(given.fit(K, Y2).decision_function(K), named, atol=3e-5)
    np.testing.assert_allclose(made.fit(X2, Y2).decision_function(X2), named, atol=3e-5)
    assert np.array_equal(made.predict(X2), given.predict(K))
    assert fallbacks() == []
    with pytest.raises(TypeError, match="Sparse precomputed"):
        given.fit(sp.csr_array(K), Y2)


def rbf_function(X, Y):
    return rbf_kernel(X, Y, gamma=0.3)


@pytest.mark.parametrize(
    ("name", "X", "y"),
    [("SVC", X2, Y2), ("SVC", X3, Y3), ("SVR", XR, YR), ("OneClassSVM", XR, None)],
)
def test_weights_zero_and_negative_ones_leave_points_out(name, X, y, fallbacks):
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    weight[::7], weight[3::11] = 0.0, -1.0
    one, other = both(name, {}, X, y, sample_weight=weight)
    assert fallbacks() == []
    np.testing.assert_allclose(decide(other, X), decide(one, X), atol=3e-5)
    assert (weight[other.support_] > 0).all()


def test_infinite_bounds(fallbacks):
    one, other = both("SVC", {"C": np.inf, "kernel": "rbf", "gamma": 1.0}, X2, Y2)
    assert fallbacks() == []
    np.testing.assert_allclose(decide(other, X2), decide(one, X2), atol=3e-5)
    inseparable = np.zeros((6, 1)), [0, 1, 0, 1, 0, 1]
    with pytest.warns(ConvergenceWarning):  # LIBSVM's, which goes on for ever
        ours.SVC(C=np.inf, kernel="linear", max_iter=50).fit(*inseparable)
    assert "coefficients" in fallbacks()[0]


def test_probabilities_are_calibrated(fallbacks):
    X, y = make_classification(600, 6, flip_y=0.2, random_state=1)
    options = {"probability": True, "random_state": 0}
    with pytest.warns(FutureWarning, match="probability"):
        one = theirs.SVC(**options).fit(X[:300], y[:300])
    with pytest.warns(FutureWarning, match="probability"):
        other = ours.SVC(**options).fit(X[:300], y[:300])
    assert fallbacks() == []
    # The folds are drawn differently, so that the sigmoids are alike, not equal.
    assert np.abs(other.predict_proba(X[300:]) - one.predict_proba(X[300:])).max() < 0.15
    assert np.allclose(other.predict_proba(X).sum(axis=1), 1)
    assert np.allclose(np.exp(other.predict_log_proba(X)), other.predict_proba(X))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"kernel": "sigmoid"}, "'sigmoid' is not served"),
        ({"kernel": "poly", "coef0": -1.0}, "'poly' is not served"),
        ({"max_iter": 3}, "max_iter=3"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_not_served_is_left_to_libsvm(options, reason, fallbacks):
    one, other = theirs.SVC(**options).fit(X2, Y2), ours.SVC(**options).fit(X2, Y2)
    assert reason in fallbacks()[0]
    np.testing.assert_array_equal(other.dual_coef_, one.dual_coef_)
    np.testing.assert_allclose(other.decision_function(X2), one.decision_function(X2), atol=1e-10)


def test_ignored_parameters_are_ignored():
    plain = ours.SVC(tol=TOL).fit(X2, Y2).decision_function(X2)
    for options in ({"degree": 2}, {"coef0": 2.0}, {"cache_size": 1}, {"shrinking": False}):
        other = ours.SVC(tol=TOL, **options).fit(X2, Y2).decision_function(X2)
        np.testing.assert_allclose(other, plain, atol=1e-9)


def test_votes_and_broken_ties():
    for ties in (False, True):
        one, other = both("SVC", {"break_ties": ties, "gamma": 5.0}, X3, Y3)
        grid = np.random.default_rng(0).uniform(X3.min(0), X3.max(0), (300, 4))
        assert (one.predict(grid) == other.predict(grid)).mean() > 0.99


def test_copies_answer_alike(fallbacks):
    model = ours.SVC(gamma=0.3).fit(X3, Y3)
    answer = model.decision_function(X3)
    copied = pickle.loads(pickle.dumps(model))
    assert isinstance(model._answering, Answering)
    assert copied._answering is None
    np.testing.assert_array_equal(copied.decision_function(X3), answer)
    assert fallbacks() == []
    assert clone(model).get_params() == model.get_params()


def test_changed_by_hand():
    model = ours.SVC(kernel="linear").fit(X2, Y2)
    before = model.decision_function(X2)
    model._dual_coef_ = 2.0 * model._dual_coef_
    model._intercept_ = 2.0 * model._intercept_
    np.testing.assert_allclose(model.decision_function(X2), 2.0 * before)


def test_small_problems_are_libsvms(monkeypatch, fallbacks):
    monkeypatch.setattr("mercer.sklearn.serving.ALWAYS", False)
    one, other = theirs.SVC().fit(X2, Y2), ours.SVC().fit(X2, Y2)
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(one.predict(X2), other.predict(X2))
    assert len(fallbacks()) == 2
    # A model of LIBSVM's answers for many points by the engine.
    many = np.tile(X2, (40, 1))
    np.testing.assert_allclose(
        other.decision_function(many), one.decision_function(many), atol=1e-10
    )
    assert isinstance(other._answering, Answering)


def test_a_large_fit_is_ours(monkeypatch, fallbacks):
    monkeypatch.setattr("mercer.sklearn.serving.ALWAYS", False)
    calls = []
    monkeypatch.setattr(machines, "fitted", lambda *rest: calls.append(1) or fitted(*rest))
    X, y = make_classification(1200, 20, random_state=0)
    ours.SVC().fit(X, y).predict(X)
    assert calls == [1]
    assert fallbacks() == []


@pytest.mark.parametrize(
    ("options", "X", "y", "error"),
    [
        ({"C": -1}, X2, Y2, ValueError),
        ({"kernel": "bad"}, X2, Y2, ValueError),
        ({}, X2, Y2[:-1], ValueError),
        ({}, X2, np.zeros(90), ValueError),
        ({}, X2[:, :0], Y2, ValueError),
        ({}, np.full((90, 2), np.nan), Y2, ValueError),
        ({}, "text", Y2, ValueError),
        ({"kernel": "precomputed"}, X2, Y2, ValueError),
    ],
)
def test_bad_input(options, X, y, error):
    for module in (theirs, ours):
        with pytest.raises(error):
            module.SVC(**options).fit(X, y)


def test_other_errors_and_warnings():
    with pytest.raises(NotFittedError):
        ours.SVC().predict(X2)
    with pytest.raises(ValueError, match="nu is infeasible"):
        ours.NuSVC(nu=0.99).fit(np.r_[X2[Y2 == 0][:3], X2[Y2 == 1]], [0] * 3 + [1] * sum(Y2 == 1))
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        ours.SVC(max_iter=1).fit(X2, Y2)
    model = ours.SVC().fit(X2, Y2)
    with pytest.raises(ValueError, match="features"):
        model.predict(X2[:, :2])
