"""Support vector machines in scikit-learn's hands: its checks, any input, refusals, stops."""

import pickle

import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import mercer
from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.fitting import rows as svm_rows
from mercer.kernels import Categorical, Gaussian, SetIntersection, Spectrum
from mercer.models.svm.base import SupportVectorEstimator
from mercer.solvers import BoxSizes

random = np.random.default_rng(23)
N = 60
X, NEW = random.normal(size=(N, 3)), random.normal(size=(15, 3))
TARGET = np.sin(2 * X[:, 0]) + X[:, 1]
TWO = np.where(TARGET > 0, "yes", "no")
THREE = np.array(["low", "mid", "top"])[np.digitize(TARGET, np.quantile(TARGET, [0.33, 0.67]))]
MODELS = {
    "C": (SVC(), TWO),
    "three classes": (SVC(probability=True), THREE),
    "one against the rest": (SVC(multiclass="ovr"), THREE),
    "nu": (NuSVC(0.3), THREE),
    "tube": (SVR(), TARGET),
    "nu tube": (NuSVR(), TARGET),
    "region": (OneClassSVM(), None),
}


def fresh(name, **parameters):
    model, y = MODELS[name]
    return clone(model).set_params(**parameters), y


def values(model, points):
    return getattr(model, "decision_function", model.predict)(points)


# --- scikit-learn's contract ------------------------------------------------------------------

INFEASIBLE = "nu=0.5 is infeasible for the classes of this check, as it is for sklearn.svm.NuSVC"
REPEATED = "a point that is there twice is known to the machine that has not seen one of the two"
EQUIVALENCE = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]


def expected_failures(model):
    if isinstance(model, NuSVC):
        return dict.fromkeys([*EQUIVALENCE, "check_class_weight_classifiers"], INFEASIBLE)
    return dict.fromkeys(EQUIVALENCE, REPEATED) if getattr(model, "probability", False) else {}


@pytest.mark.filterwarnings("ignore:NuSVC. not converged .no margin")
@estimator_checks.parametrize_with_checks(
    [SVC(), NuSVC(), SVR(), NuSVR(), OneClassSVM(), SVC(probability=True, multiclass="ovr")],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", MODELS)
def test_copies_and_files_predict_the_same(name, tmp_path):
    model, y = fresh(name, kernel=Gaussian(0.5))
    model.fit(X, y)
    mercer.save(model, tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(model)), mercer.load(tmp_path / "model")):
        assert np.array_equal(values(other, NEW), values(model, NEW))
        assert np.array_equal(other.predict(NEW), model.predict(NEW))
        assert other.get_params() == model.get_params()
        assert repr(other.certificate_) == repr(model.certificate_)
        for kept in ("support_", "dual_coef_", "intercept_", "n_support_", "support_vectors_"):
            assert np.array_equal(getattr(other, kept), getattr(model, kept))
        if name == "three classes":
            assert np.array_equal(other.predict_proba(NEW), model.predict_proba(NEW))
    assert not hasattr(clone(model), "support_")
    assert clone(model).get_params() == model.get_params()


def test_searches_and_pipelines():
    model = make_pipeline(StandardScaler(), SVC(kernel=Gaussian(1.0)))
    grid = {"svc__C": [1e-4, 10.0], "svc__kernel__gamma": [0.3, 300.0]}
    search = GridSearchCV(model, grid, cv=3).fit(X, TWO)
    assert search.best_params_ == {"svc__C": 10.0, "svc__kernel__gamma": 0.3}
    assert search.best_estimator_[-1].kernel == Gaussian(0.3)
    scores = [
        GridSearchCV(SVR(kernel=kernel), {"C": [0.1, 5.0]}, cv=3)
        .fit(points, TARGET)
        .cv_results_["mean_test_score"]
        for kernel, points in ((Gaussian(0.4), X), ("precomputed", Gaussian(0.4)(X)))
    ]
    assert np.allclose(*scores, rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_again_with_any_number_of_threads(name):
    fits = []
    for jobs in (1, 1, 2, None):
        model, y = fresh(name, n_jobs=jobs, random_state=3, kernel=Gaussian(0.5))
        fits.append(model.fit(X, y))
    assert np.array_equal(fits[0].dual_coef_, fits[1].dual_coef_)
    assert np.array_equal(values(fits[0], NEW), values(fits[1], NEW))
    for other in fits[2:]:
        assert np.allclose(values(fits[0], NEW), values(other, NEW), rtol=0, atol=1e-10)


# --- any input --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_every_container_gives_the_same_model(name):
    model, y = fresh(name, kernel=Gaussian(0.5))
    wanted = model.fit(X, y)
    for points, new in (
        (X.tolist(), NEW.tolist()),
        (scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(NEW)),
        (np.asfortranarray(X), NEW),
        (pd.DataFrame(X, columns=list("abc")), pd.DataFrame(NEW, columns=list("abc"))),
    ):
        found = clone(model).fit(points, y)
        assert np.allclose(values(found, new), values(wanted, NEW), rtol=0, atol=1e-8)
        rows = found.support_vectors_
        rows = rows.toarray() if scipy.sparse.issparse(rows) else rows
        assert np.array_equal(rows, X[found.support_])


WORDS = ["".join(random.choice(list("ab" if i % 2 else "bc"), 7)) for i in range(40)]
KINDS = np.arange(40) % 2
TABLE = {"size": random.normal(size=40) + KINDS, "word": WORDS, "side": ["l", "r"] * 20}
OBJECTS = {
    "strings": (Spectrum(3), WORDS, lambda u, v: oracles.spectrum(u, v, 3)),
    "sets": (SetIntersection(), [set(w[:4]) for w in WORDS], oracles.common),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects(kind):
    kernel, points, formula = OBJECTS[kind]
    K = oracles.gram(formula, points)
    train, new = slice(0, 30), slice(30, 40)
    for model, y in ((SVC(2.0), KINDS), (SVR(2.0), TABLE["size"]), (OneClassSVM(0.3), None)):
        y = None if y is None else y[train]
        found = clone(model).set_params(kernel=kernel, tol=1e-8).fit(points[train], y)
        wanted = clone(model).set_params(kernel="precomputed", tol=1e-8).fit(K[train, train], y)
        assert np.allclose(values(found, points[new]), values(wanted, K[new, train]), atol=1e-6)
        with pytest.raises(AttributeError, match="support_vectors_ exist for rows of numbers"):
            _ = found.support_vectors_
    assert len(found.support_) < 30


def test_a_mixed_table():
    frame = pd.DataFrame(TABLE)
    kernel = Gaussian(0.5).on("size") + 0.1 * Spectrum(2).on("word") + Categorical().on("side")
    model = SVC(kernel=kernel, tol=1e-8).fit(frame[:30], KINDS[:30])
    K = kernel(frame)
    wanted = SVC(kernel="precomputed", tol=1e-8).fit(K[:30, :30], KINDS[:30])
    found = model.decision_function(frame[30:])
    assert np.allclose(found, wanted.decision_function(K[30:, :30]), rtol=0, atol=1e-6)
    assert model.feature_names_in_.tolist() == list(TABLE)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_need_the_support_vectors_alone(name):
    seen = []

    def kernel(A, B):
        seen.append(B)
        return Gaussian(0.5).formula(A, B)

    points = X.copy()
    model, y = fresh(name, kernel=kernel)
    model.fit(points, y)
    points[:] = np.nan
    seen.clear()
    assert np.isfinite(values(model, NEW)).all()
    used = np.vstack([B for B in seen if len(B) != len(NEW) or not np.array_equal(B, NEW)])
    assert {tuple(row) for row in used} == {tuple(row) for row in X[model.support_]}


# --- refused ----------------------------------------------------------------------------------


def spoiled(array, place, value):
    array = np.array(array)
    array[place] = value
    return array


WRONG = [
    (SVC(), X, ["one"] * N, "SVC: y must have at least two classes; got 1 class, 'one'"),
    (SVC(), X[:1], TWO[:1], "SVC: y must have at least two classes; got 1 class"),
    (SVC(), X[:0], TWO[:0], "SVC: there must be at least one point; got 0 sample"),
    (SVC(), spoiled(X, (7, 1), np.nan), TWO, "SVC: X must have finite .* NaN in row 7, column 1"),
    (SVR(), spoiled(X, (7, 1), np.inf), TARGET, "SVR: X must have finite .* row 7, column 1"),
    (SVR(), X, spoiled(TARGET, 3, np.nan), "SVR: y must have finite numbers only; got NaN"),
    (SVR(), X, np.column_stack([TARGET, TARGET]), "SVR: y must"),
    (NuSVR(), X, np.column_stack([TARGET, TARGET]), "NuSVR: y must"),
    (SVC(), X, None, "SVC requires y to be passed, but the target y is None"),
    (SVC(), X, TWO[:-1], "SVC: y must have 60 labels; got 59"),
    (SVC(0), X, TWO, "SVC: C must be a finite number above 0; got 0"),
    (SVC(-1.0), X, TWO, "SVC: C must be a finite number above 0; got -1"),
    (SVC(np.nan), X, TWO, "SVC: C must be a finite number above 0; got nan"),
    (SVC("1"), X, TWO, "SVC: C must be a finite number above 0; got '1'"),
    (SVR(-1.0), X, TARGET, "SVR: C must be a finite number above 0; got -1"),
    (SVR(float("inf")), X, TARGET, "SVR: C must be a finite number above 0; got inf"),
    (NuSVR(C=0), X, TARGET, "NuSVR: C must be a finite number above 0; got 0"),
    (NuSVR(C=float("inf")), X, TARGET, "NuSVR: C must be a finite number above 0; got inf"),
    (SVR(epsilon=-0.1), X, TARGET, "SVR: epsilon must be a finite number at least 0; got -0.1"),
    (NuSVC(0), X, TWO, "NuSVC: nu must be a finite number above 0 and at most 1; got 0"),
    (NuSVC(1.5), X, TWO, "NuSVC: nu must be a finite number above 0 and at most 1; got 1.5"),
    (NuSVR(0.0), X, TARGET, "NuSVR: nu must be .* above 0 and at most 1; got 0"),
    (NuSVR(2), X, TARGET, "NuSVR: nu must be .* above 0 and at most 1; got 2"),
    (OneClassSVM(0.0), X, None, "OneClassSVM: nu must be .* above 0 and at most 1; got 0"),
    (OneClassSVM(-1), X, None, "OneClassSVM: nu must be .* above 0 and at most 1; got -1"),
    (NuSVC(0.5), X, np.arange(N) < 12, "nu must be at most 0.4, .* nu=0.5 is infeasible. Lower"),
    (SVC(multiclass="pairs"), X, TWO, "SVC: multiclass must be one of 'ovr', 'ovo'; got 'pairs'"),
    (SVC(decision_function_shape="ovx"), X, TWO, "SVC: decision_function_shape must be .* 'ovx'"),
    (SVC(tol=0), X, TWO, "SVC: tol must be a finite number above 0; got 0"),
    (SVC(max_iter=0), X, TWO, "SVC: max_iter must be a whole number at least 1; got 0"),
    (SVC(max_iter=2.5), X, TWO, "SVC: max_iter must be a whole number at least 1; got 2.5"),
    (SVC(time_limit=-1), X, TWO, "time_limit must be a finite number above 0; got -1"),
    (SVC(memory_limit="lots"), X, TWO, "memory_limit must be"),
    (SVC(n_jobs=0), X, TWO, "SVC: n_jobs must be .* got 0"),
    (SVC(kernel="rdf"), X, TWO, "got 'rdf'. Did you mean 'rbf'"),
    (SVC(kernel=Gaussian(1.0), gamma=0.1), X, TWO, "gamma must be left out when kernel is not"),
    (SVC(kernel="precomputed"), X, TWO, r"must be square to fit, .* got shape \(60, 3\)"),
    (
        SVC(kernel="precomputed"),
        spoiled(X @ X.T, (4, 9), 50),
        TWO,
        r"SVC: a precomputed Gram must be symmetric; got K\[4, 9\] = 50 but",
    ),
]


@pytest.mark.parametrize(("model", "points", "y", "told"), WRONG)
def test_bad_input(model, points, y, told):
    with pytest.raises(ValueError, match=told) as caught:
        model.fit(points, y)
    assert str(caught.value).startswith(type(model).__name__)


@pytest.mark.parametrize("name", MODELS)
def test_bad_weights(name):
    model, y = fresh(name)
    for weight, told in (
        (np.zeros(N), "sample_weight must be above 0 for at least one .* all weights zero"),
        (np.arange(N) - 3.0, "sample_weight must be at least 0; got -3 at index 0"),
        (np.ones(3), r"sample_weight must have shape \(60,\); got shape \(3,\)"),
        (spoiled(np.ones(N), 2, np.nan), "sample_weight must be finite; got nan at index 2"),
    ):
        with pytest.raises(ValueError, match=f"{type(model).__name__}: {told}"):
            model.fit(X, y, sample_weight=weight)


def test_a_class_without_weight_is_refused():
    told = "every class must have a sample with a positive weight; got class 'no' with weights"
    with pytest.raises(ValueError, match=f"SVC: {told} that are all zero. Drop the class"):
        SVC().fit(X, TWO, sample_weight=TWO == "yes")
    with pytest.raises(ValueError, match=r"NuSVC: every class must .* got class 'mid' with"):
        NuSVC(0.3, class_weight={"mid": 0.0}).fit(X, THREE)


def test_few_points():
    assert SVR().fit(X[:1], [2.5]).predict(NEW) == pytest.approx(np.full(15, 2.5))
    assert NuSVR().fit(X[:1], [2.5]).predict(NEW) == pytest.approx(np.full(15, 2.5))
    assert OneClassSVM().fit(X[:1]).predict(X[:1]).tolist() == [1]
    for model in (SVC(10.0), NuSVC(0.5)):
        found = model.set_params(probability=True).fit(X[:2], ["a", "b"])
        assert found.predict(X[:2]).tolist() == ["a", "b"]
        assert found.decision_function(X[:2]) == pytest.approx([-1, 1], abs=1e-3)
        assert found.n_support_.tolist() == [1, 1]
    assert SVR(10.0, epsilon=0.1).fit(X[:2], [0.0, 1.0]).predict(X[:2]) == pytest.approx([0.1, 0.9])


@pytest.mark.parametrize("model", [SVR(), NuSVR(), NuSVR(1.0), NuSVR(0.1)], ids=repr)
def test_targets_that_do_not_vary(model):
    found = clone(model).fit(X, np.full(N, 2.5))
    assert found.predict(NEW) == pytest.approx(np.full(15, 2.5))
    assert found.certificate_.status == "converged"


def test_regions_of_all_points():
    model = OneClassSVM(1.0, kernel=Gaussian(0.5)).fit(X)
    assert model.dual_coef_.tolist() == [[1.0] * N]
    sums = Gaussian(0.5)(NEW, X).sum(axis=1)
    assert model.score_samples(NEW) == pytest.approx(sums)


def test_contradictions_are_errors_and_no_more():
    twice = np.vstack([X, X, X])
    opposite = np.concatenate([TWO, np.where(TWO == "yes", "no", "yes"), TWO])
    for kernel in ("rbf", "linear"):
        model = SVC(kernel=kernel).fit(twice, opposite)
        assert model.certificate_.status == "converged"
        assert np.isfinite(model.decision_function(NEW)).all()
        tube = SVR(kernel=kernel).fit(twice, np.concatenate([TARGET, -TARGET, TARGET]))
        assert tube.certificate_.status == "converged"
    same = SVC(probability=True).fit(np.ones((20, 2)), np.arange(20) % 2)
    assert np.allclose(same.decision_function(np.ones((2, 2))), 0, atol=1e-9)
    assert same.predict_proba(np.ones((1, 2))) == pytest.approx(np.full((1, 2), 0.5))


def test_predictions_check_their_points():
    for model, y in MODELS.values():
        with pytest.raises(ValueError, match="not fitted"):
            clone(model).predict(NEW)
        fitted = clone(model).fit(X, y)
        for new, told in (
            (NEW[:, :2], f"X has 2 features, but {type(model).__name__} is expecting 3"),
            (spoiled(NEW, (1, 0), np.nan), "NaN in row 1, column 0"),
            (NEW[0], "X must be 2-D"),
        ):
            with pytest.raises(ValueError, match=told):
                fitted.predict(new)


# --- stopped ----------------------------------------------------------------------------------


@pytest.fixture
def blocks(monkeypatch):
    monkeypatch.setattr(SupportVectorEstimator, "_sizes_of_box", BoxSizes(whole=30, block=20))
    monkeypatch.setattr(svm_rows, "DENSE", 10)


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_without_time_is_usable(name):
    model, y = fresh(name, time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"not converged .time limit.*Raise time_limit"):
        model.fit(X, y)
    assert model.certificate_.status == "time limit"
    assert np.isfinite(values(model, NEW)).all()
    assert model.predict(NEW).shape == (15,)


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_with_few_steps_is_usable(name):
    model, y = fresh(name, max_iter=2, tol=1e-8)
    with pytest.warns(ConvergenceWarning, match=r"not converged .iteration limit.*Raise max_iter"):
        model.fit(X, y)
    assert model.certificate_.status == "iteration limit"
    assert model.certificate_.violation > 1e-8
    assert np.all(model.n_iter_ <= 2)
    assert np.isfinite(values(model, NEW)).all()
    assert np.allclose(
        values(clone(model).set_params(max_iter=-1).fit(X, y), NEW),
        values(clone(model).set_params(max_iter=None).fit(X, y), NEW),
    )


@pytest.mark.parametrize("name", ["C", "three classes", "tube", "region"])
def test_a_callback_stops_a_fit(name, blocks):
    told = []

    def callback(record):
        told.append(record)
        return len(told) == 2

    model, y = fresh(name, callback=callback, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"not converged .cancelled"):
        model.fit(X, y)
    assert model.certificate_.status == "cancelled"
    assert np.isfinite(values(model, NEW)).all()
    assert {"stage", "fraction", "iterations", "violation"} <= set(told[0])


def test_progress_goes_to_stderr(capsys, blocks):
    SVC(verbose=True).fit(X, TWO)
    printed = capsys.readouterr()
    assert "SVC: SVM" in printed.err
    assert printed.out == ""
    SVC().fit(X, TWO)
    assert capsys.readouterr().err == ""
