"""The kernel perceptron in scikit-learn's hands: streams, any input, refusals, stops."""

import pickle
import warnings

import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks
from test_conformance import CASES

import mercer
from mercer import KernelPerceptron
from mercer.fitting import rows as svm_rows
from mercer.inputs import RowBlocks
from mercer.kernels import Categorical, Gaussian, Linear, SetIntersection, Spectrum
from mercer.solvers.perceptron import passes as walks

random = np.random.default_rng(31)
N = 60
X, NEW = random.normal(size=(N, 3)), random.normal(size=(15, 3))
TARGET = np.sin(2 * X[:, 0]) + X[:, 1]
TWO = np.where(TARGET > 0, "yes", "no")
THREE = np.array(["low", "mid", "top"])[np.digitize(TARGET, np.quantile(TARGET, [0.33, 0.67]))]
MODELS = {
    "two": (KernelPerceptron(Gaussian(2.0)), TWO),
    "three": (KernelPerceptron(Gaussian(2.0)), THREE),
    "mean": (KernelPerceptron(Gaussian(2.0), average=True, shuffle=True), THREE),
    "budget": (KernelPerceptron(Gaussian(2.0), budget=12, max_iter=3), TWO),
}


def fit(model, points, y):
    """Fit, whether it converges or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(points, y)


@pytest.mark.filterwarnings("ignore:KernelPerceptron. not converged")
@estimator_checks.parametrize_with_checks(
    [KernelPerceptron(), KernelPerceptron(max_iter=5, average=True, budget=40, shuffle=True)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", MODELS)
def test_copies_and_files_predict_and_go_on_the_same(name, tmp_path):
    model, y = MODELS[name]
    model = fit(clone(model), X, y)
    mercer.save(model, tmp_path / "model")
    others = [pickle.loads(pickle.dumps(model)), mercer.load(tmp_path / "model")]
    for other in others:
        assert np.array_equal(other.decision_function(NEW), model.decision_function(NEW))
        assert other.get_params() == model.get_params()
        assert repr(other.certificate_) == repr(model.certificate_)
        for kept in ("alpha_", "mistakes_", "support_", "dual_coef_", "intercept_", "classes_"):
            assert np.array_equal(getattr(other, kept), getattr(model, kept))
    model.partial_fit(NEW, y[:15])
    for other in others:
        assert np.array_equal(other.partial_fit(NEW, y[:15]).mistakes_, model.mistakes_)
        assert np.array_equal(other.dual_coef_, model.dual_coef_)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_again_with_any_number_of_threads(name):
    model, y = MODELS[name]
    fits = [fit(clone(model).set_params(n_jobs=jobs), X, y) for jobs in (1, 1, 2, None)]
    for other in fits[1:]:
        assert np.array_equal(fits[0].mistakes_, other.mistakes_)
        assert np.array_equal(fits[0].dual_coef_, other.dual_coef_)


def test_seeds():
    made = [
        KernelPerceptron(Gaussian(2.0), shuffle=True, random_state=seed).fit(X, TWO).mistakes_
        for seed in (None, 0, 1)
    ]
    assert np.array_equal(made[0], made[1])
    assert not np.array_equal(made[0][:10], made[2][:10])


def test_searches():
    grid = {"kernel__gamma": [1e-4, 1.0], "average": [True]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KernelPerceptron(Gaussian(1.0), max_iter=5)
        search = GridSearchCV(model, grid, cv=3).fit(X, TWO)
    assert search.best_estimator_.kernel == Gaussian(1.0)


# --- any input --------------------------------------------------------------------------------

WORDS = ["".join(random.choice(list("ab" if i % 2 else "bc"), 7)) for i in range(40)]
KINDS = np.arange(40) % 2
TABLE = {"size": random.normal(size=40) + KINDS, "word": WORDS, "side": ["l", "r"] * 20}


@pytest.mark.parametrize("name", MODELS)
def test_every_container_gives_the_same_model(name):
    model, y = MODELS[name]
    wanted = fit(clone(model), X, y)
    for points, new in (
        (X.tolist(), NEW.tolist()),
        (scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(NEW)),
        (np.asfortranarray(X), NEW),
        (pd.DataFrame(X, columns=list("abc")), pd.DataFrame(NEW, columns=list("abc"))),
        (RowBlocks.split(X, 11), RowBlocks.split(NEW, 4)),
    ):
        found = fit(clone(model), points, y)
        assert np.array_equal(found.mistakes_, wanted.mistakes_)
        assert np.allclose(found.decision_function(new), wanted.decision_function(NEW), atol=1e-9)
    K = Gaussian(2.0).formula(X, X)
    for kernel, points, new in (
        ("precomputed", K, Gaussian(2.0).formula(NEW, X)),
        (Gaussian(2.0).formula, X, NEW),
    ):
        found = fit(clone(model).set_params(kernel=kernel), points, y)
        assert np.array_equal(found.mistakes_, wanted.mistakes_)
        assert np.allclose(found.decision_function(new), wanted.decision_function(NEW), atol=1e-9)


def test_what_was_kept_is_told(monkeypatch):
    whole = KernelPerceptron(Gaussian(2.0)).fit(X, TWO).certificate_
    assert whole.plan == "K stored: it is small"
    assert (whole.bytes, whole.kernel_entries) == (8 * N**2, N**2)
    monkeypatch.setattr(svm_rows, "DENSE", 10)
    monkeypatch.setattr(walks, "BATCH", 1)
    model = KernelPerceptron(Gaussian(0.5)).fit(X, TWO)
    assert model.certificate_.plan.startswith("rows of K, kept within")
    again = np.count_nonzero(model.alpha_ > 1)  # rows of the others were used once
    assert model.certificate_.bytes == 4 * N * again > 0
    assert model.certificate_.kernel_entries > N * len(model.support_)
    few = fit(KernelPerceptron(Gaussian(2.0), budget=7, max_iter=2), X, TWO).certificate_
    assert few.plan == "parts of K computed when needed"
    assert few.bytes == 8 * 7**2


def test_rows_of_row_blocks_and_functions(monkeypatch):
    monkeypatch.setattr(svm_rows, "DENSE", 10)
    wanted = KernelPerceptron(Gaussian(2.0)).fit(X, THREE)
    for points, kernel in ((RowBlocks.split(X, 11), Gaussian(2.0)), (X, Gaussian(2.0).formula)):
        found = KernelPerceptron(kernel, memory_limit=12_000).fit(points, THREE)
        assert found.certificate_.plan.startswith("rows of K")
        assert np.array_equal(found.mistakes_, wanted.mistakes_)


@pytest.mark.parametrize("kind", ["strings", "sets", "mixed"])
def test_objects(kind):
    kernel, points = {
        "strings": (Spectrum(3), WORDS),
        "sets": (SetIntersection(), [set(w[:4]) for w in WORDS]),
        "mixed": (
            Gaussian(0.5).on("size") + 0.1 * Spectrum(2).on("word") + Categorical().on("side"),
            pd.DataFrame(TABLE),
        ),
    }[kind]
    K = kernel(points)
    if kind == "strings":
        assert np.array_equal(K, oracles.gram(lambda u, v: oracles.spectrum(u, v, 3), points))
    found = fit(KernelPerceptron(kernel, max_iter=20), points[:30], KINDS[:30])
    wanted = fit(KernelPerceptron("precomputed", max_iter=20), K[:30, :30], KINDS[:30])
    assert np.array_equal(found.mistakes_, wanted.mistakes_)
    assert np.allclose(
        found.decision_function(points[30:]), wanted.decision_function(K[30:, :30]), atol=1e-9
    )


@pytest.mark.parametrize(("kind", "kernel", "points"), CASES)
def test_every_kernel(kind, kernel, points):
    prepared = mercer.prepare(kernel, points)
    K, y = prepared.gram(dtype=np.float64).dense(), np.arange(len(prepared)) % 2
    found = fit(KernelPerceptron(kernel, max_iter=4), points, y)
    wanted = fit(KernelPerceptron("precomputed", max_iter=4), K, y)
    assert np.array_equal(found.mistakes_, wanted.mistakes_)
    assert np.allclose(found.decision_function(points), wanted.decision_function(K), rtol=1e-6)


def test_predictions_need_the_support_alone():
    points = X.copy()
    model = KernelPerceptron(Gaussian(2.0)).fit(points, TWO)
    wanted = model.decision_function(NEW)
    points[:] = np.nan
    assert np.array_equal(model.decision_function(NEW), wanted)
    assert len(model._prepared) == len(model.support_) < N


# --- refused ----------------------------------------------------------------------------------


def spoiled(array, place, value):
    array = np.array(array)
    array[place] = value
    return array


P = KernelPerceptron
WRONG = [
    (P(), X, ["one"] * N, "y must have at least two classes; got 1 class, 'one'"),
    (P(), X[:0], TWO[:0], "there must be at least one point; got 0 sample"),
    (P(), spoiled(X, (7, 1), np.nan), TWO, "X must have finite .* NaN in row 7, column 1"),
    (P(), X, None, "KernelPerceptron requires y to be passed, but the target y is None"),
    (P(), X, TWO[:-1], "y must have 60 labels; got 59"),
    (P(max_iter=0), X, TWO, "max_iter must be a whole number at least 1; got 0"),
    (P(max_iter=1.5), X, TWO, "max_iter must be a whole number at least 1; got 1.5"),
    (P(budget=0), X, TWO, "budget must be a whole number at least 1; got 0"),
    (P(budget=0.5), X, TWO, "budget must be a whole number at least 1; got 0.5"),
    (
        P("precomputed", budget=5),
        -X @ X.T,
        TWO,
        r"budget takes a Mercer kernel, .* got k\(x, x\) = ",
    ),
    (P(time_limit=0), X, TWO, "time_limit must be a finite number above 0; got 0"),
    (P(memory_limit="lots"), X, TWO, "memory_limit must be"),
    (P(n_jobs=0), X, TWO, "n_jobs must be .* got 0"),
    (P(random_state=-1, shuffle=True), X, TWO, "random_state must be .* got -1"),
    (P("rdf"), X, TWO, "got 'rdf'. Did you mean 'rbf'"),
    (P("precomputed"), X, TWO, r"must be square to fit, .* got shape \(60, 3\)"),
]


@pytest.mark.parametrize(("model", "points", "y", "told"), WRONG)
def test_bad_input(model, points, y, told):
    with pytest.raises(ValueError, match=told) as caught:
        model.fit(points, y)
    assert str(caught.value).startswith("KernelPerceptron")


def test_predictions_check_their_points():
    with pytest.raises(ValueError, match="not fitted"):
        KernelPerceptron().predict(NEW)
    with pytest.raises(ValueError, match="not fitted"):
        _ = KernelPerceptron().alpha_
    with pytest.raises(ValueError, match="X has 2 features"):
        KernelPerceptron().fit(X, TWO).predict(NEW[:, :2])
    with pytest.raises(TypeError, match="sample_weight"):
        KernelPerceptron().fit(X, TWO, sample_weight=np.ones(N))


# --- not converged, stopped -------------------------------------------------------------------


def test_passes_run_out():
    told = r"not converged \(iteration limit\): \d+ mistakes in pass 2, the last allowed; the data "
    told += r"may not be separable under the kernel\. Raise max_iter, .* larger gamma"
    with pytest.warns(ConvergenceWarning, match=told):
        model = KernelPerceptron(Linear(), max_iter=2).fit(X, TWO)
    assert not model.converged_
    assert model.n_iter_ == 2
    assert model.certificate_.status == "iteration limit"
    assert fit(KernelPerceptron(max_iter=1), X, TWO).certificate_.status == "iteration limit"
    assert np.isnan(model.certificate_.margin)
    assert np.isnan(model.certificate_.bound)


@pytest.mark.parametrize("dense", [10, 4000])
def test_contradictions_are_told(dense, monkeypatch):
    monkeypatch.setattr(svm_rows, "DENSE", dense)
    points = np.vstack([X, X[41:42]])
    y = np.append(TWO, "no" if TWO[41] == "yes" else "yes")
    told = r"Points (41 and 60|60 and 41) are the same to the kernel and have different labels"
    with pytest.warns(ConvergenceWarning, match=told):
        KernelPerceptron(Gaussian(2.0), max_iter=40).fit(points, y)
    y[60] = y[41]
    KernelPerceptron(Gaussian(2.0)).fit(points, y)
    points[60] += 1e-4
    y[60] = "no" if y[41] == "yes" else "yes"
    with pytest.warns(ConvergenceWarning) as caught:
        KernelPerceptron(Gaussian(2.0), max_iter=40).fit(points, y)
    assert "same to the kernel" not in str(caught[0].message)


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_without_time_is_usable(name):
    model, y = MODELS[name]
    model = clone(model).set_params(time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"not converged .time limit.*Raise time_limit"):
        model.fit(X, y)
    assert model.certificate_.status == "time limit"
    assert model.predict(NEW).shape == (15,)
    assert np.isfinite(model.decision_function(NEW)).all()
    model.set_params(time_limit=None).partial_fit(X, y)
    assert model.certificate_.mistakes > 0
    with pytest.warns(ConvergenceWarning, match=r"not converged .time limit"):
        model.set_params(time_limit=1e-9).partial_fit(X, y)


def test_a_callback_stops_a_fit():
    told = []

    def callback(record):
        told.append(record)
        return len(told) == 2

    with pytest.warns(ConvergenceWarning, match=r"not converged .cancelled.: \d+ mistakes? in p"):
        model = KernelPerceptron(Gaussian(2.0), callback=callback).fit(X, TWO)
    assert model.certificate_.status == "cancelled"
    assert model.n_iter_ == 2
    assert [record["passes"] for record in told] == [1, 2]
    assert [record["mistakes"] for record in told] == list(model.certificate_.by_pass)
    wanted = fit(KernelPerceptron(Gaussian(2.0), max_iter=2), X, TWO)
    assert np.array_equal(model.mistakes_, wanted.mistakes_)


def test_a_stop_in_the_middle_of_a_pass_counts_the_visits(monkeypatch):
    monkeypatch.setattr(walks, "AT_ONCE", 10)
    mean = KernelPerceptron(Gaussian(2.0), average=True)
    reports = []

    def stop(monitor, stage, fraction):
        reports.append(round(N * fraction))
        if len(reports) == 5:
            monitor.cancel()
        monitor.poll()

    monkeypatch.setattr("mercer.monitor.Monitor.report", stop)
    with pytest.warns(ConvergenceWarning, match="not converged .cancelled"):
        mean.fit(X, TWO)
    monkeypatch.undo()
    seen = reports[-1]
    wanted = fit(clone(mean).set_params(max_iter=1), X[:seen], TWO[:seen])
    assert 0 < seen < N
    assert np.array_equal(mean.mistakes_, wanted.mistakes_)
    assert np.allclose(mean.dual_coef_, wanted.dual_coef_)


def test_no_time_left_for_the_margin(monkeypatch):
    monkeypatch.setattr(svm_rows, "DENSE", 10)
    wanted = KernelPerceptron(Gaussian(2.0)).fit(X, TWO)

    def callback(record):
        return record["mistakes"] == 0

    model = KernelPerceptron(Gaussian(2.0), callback=callback).fit(X, TWO)
    assert model.converged_
    assert np.isnan(model.certificate_.margin)
    assert np.array_equal(model.mistakes_, wanted.mistakes_)
    assert wanted.certificate_.margin > 0


def test_progress_goes_to_stderr(capsys):
    KernelPerceptron(Gaussian(2.0), verbose=True).fit(X, TWO)
    printed = capsys.readouterr()
    assert "KernelPerceptron: pass 1" in printed.err
    assert printed.out == ""
