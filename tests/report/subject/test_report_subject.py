"""Models with their data: points, fits to parts of them, the kernel model inside."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from report_samples import flats, rows
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer import (
    SVC,
    SVR,
    AutoKernelClassifier,
    AutoKernelRegressor,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeCV,
    MKLRegressor,
    TableEncoder,
)
from mercer.checks import InputError
from mercer.kernels import Gaussian, Laplacian, Linear, Spectrum
from mercer.report.subject import (
    core_of,
    learner_of,
    make_subject,
    replaced,
    same_kind,
    size_of,
    taken,
    values_of,
)

X, Y, LABELS = rows(60)
FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]}, index=[7, 7, 9])
HOLDERS = {
    "pandas": FRAME,
    "polars": pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]}),
    "dicts": [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}, {"a": 3.0, "b": "z"}],
    "lists": [[1.0, "x"], [2.0, "y"], [3.0, "z"]],
    "array": np.array([[1.0, "x"], [2.0, "y"], [3.0, "z"]], dtype=object),
}


def plain(held):
    """The rows of any holder as lists."""
    if isinstance(held, pd.DataFrame):
        return held.to_numpy().tolist()
    if isinstance(held, pl.DataFrame):
        return [list(row) for row in held.rows()]
    if isinstance(held, np.ndarray):
        return held.tolist()
    return [list(row.values()) if isinstance(row, dict) else row for row in held]


@pytest.mark.parametrize("holder", HOLDERS)
def test_rows_and_columns_of_any_holder(holder):
    held = HOLDERS[holder]
    assert size_of(held) == 3
    assert plain(taken(held, np.array([2, 0]))) == [[3.0, "z"], [1.0, "x"]]
    moved = replaced(held, 1, np.array([2, 2, 0]))
    assert plain(moved) == [[1.0, "z"], [2.0, "z"], [3.0, "x"]]
    assert plain(held)[0] == [1.0, "x"]  # what was handed in stays as it is


def test_sparse_rows_are_taken():
    some = taken(scipy.sparse.csr_matrix(np.eye(3)), np.array([1]))
    assert some.toarray().tolist() == [[0.0, 1.0, 0.0]]


def test_classes_are_numbered_as_the_model_has_them():
    model = SVC(kernel=Linear()).fit(X, LABELS)
    subject = make_subject(model, X, LABELS.astype(object))
    assert subject.labels == ("high", "low")
    assert subject.codes.tolist() == [int(label == "low") for label in LABELS]


def test_the_target_has_the_name_of_its_column():
    frame, rent = flats(30)
    model = make_pipeline(TableEncoder(), KernelRidge()).fit(frame, rent)
    assert make_subject(model, frame, rent).target == "rent"
    assert make_subject(model, frame, rent.to_numpy()).target == ""


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (X, Y[:-1], "y must have a number for each of the 60 points"),
        (X[:1], Y[:1], "there must be at least two points; got 1"),
        (X, np.where(Y > 0, np.nan, Y), "y must have finite numbers only"),
    ],
)
def test_wrong_numbers_are_refused(X, y, words):
    model = KernelRidge().fit(*rows(60)[:2])
    with pytest.raises(InputError, match=words):
        make_subject(model, X, y)


def test_a_class_that_the_model_does_not_know_is_refused():
    model = SVC().fit(X, LABELS)
    wrong = np.where(np.arange(60) == 3, "other", LABELS)
    with pytest.raises(InputError, match=r"got 'other' in row 3"):
        make_subject(model, X, wrong)


def test_groups_must_be_groups():
    model = KernelRidge().fit(X, Y)
    with pytest.raises(InputError, match="one entry for each of the 60 points"):
        make_subject(model, X, Y, groups=[1, 2])
    with pytest.raises(InputError, match="at least two groups"):
        make_subject(model, X, Y, groups=np.ones(60))


def test_what_is_no_predictor_is_refused():
    with pytest.raises(InputError, match="classifier or regressor; got KernelPCA"):
        make_subject(KernelPCA().fit(X), X, Y)


def test_test_points_have_the_classes_of_the_model():
    subject = make_subject(SVC().fit(X, LABELS), X, LABELS)
    test = same_kind(subject, X[:3], ["low", "low", "high"])
    assert test.truth.tolist() == [1, 1, 0]
    assert len(same_kind(subject, X[:3], None)) == 0


# --- fits to parts ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [AutoKernelRegressor, AutoKernelClassifier])
def test_an_ensemble_fitted_again_to_all_rows_is_itself(kind):
    frame, rent = flats(80)
    y = rent if kind is AutoKernelRegressor else (rent > 1100).map({True: "dear", False: "cheap"})
    model = kind(max_candidates=12, random_state=0).fit(frame, y)
    subject = make_subject(model, frame, y)
    again = learner_of(subject).fitted(np.arange(80), np.inf)
    expected = values_of(model, frame, subject.classes)
    np.testing.assert_allclose(again.at(np.arange(80)), expected, rtol=2e-2, atol=2e-2)


def test_a_fit_to_some_rows_is_that_of_a_clone():
    subject = make_subject(KernelRidge(0.1).fit(X, Y), X, Y)
    some = np.arange(0, 60, 2)
    found = learner_of(subject).fitted(some, np.inf).at(np.arange(60))
    expected = KernelRidge(0.1).fit(X[some], Y[some]).predict(X)
    np.testing.assert_allclose(found[:, 0], expected)


def test_a_gram_matrix_is_cut_on_both_sides():
    K = Gaussian(0.5)(X)
    model = SVR(kernel="precomputed").fit(K, Y)
    subject = make_subject(model, K, Y)
    some = np.arange(40)
    found = learner_of(subject).fitted(some, np.inf).at(np.arange(40, 60))
    expected = SVR(kernel=Gaussian(0.5)).fit(X[:40], Y[:40]).predict(X[40:])
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-2)


def test_a_search_is_not_run_again():
    search = GridSearchCV(KernelRidge(), {"alpha": [0.1, 1.0]}).fit(X, Y)
    learner = learner_of(make_subject(search, X, Y))
    fitted = learner.fitted(np.arange(60), np.inf)
    assert isinstance(fitted.model, KernelRidge)
    assert fitted.model.alpha == search.best_params_["alpha"]


def test_a_class_that_a_part_lacks_has_no_probability():
    model = KernelRidgeClassifier(probability=True).fit(X, LABELS)
    found = values_of(model, X[:2], np.array(["high", "low", "other"]))
    assert found.shape == (2, 3)
    assert (found[:, 2] == 0).all()


# --- the kernel model inside --------------------------------------------------------------------


def cores():
    frame, rent = flats(50)
    piped = make_pipeline(TableEncoder(), SVC(kernel="rbf", gamma=0.2))
    dear = np.where(rent > 1100, "dear", "cheap")
    return {
        "ridge": (KernelRidge(0.2, kernel="poly", degree=2).fit(X, Y), X, Y),
        "search": (KernelRidgeCV(kernel=Gaussian(0.5)).fit(X, Y), X, Y),
        "machine": (SVC(kernel=Laplacian(0.5), C=3.0).fit(X, LABELS), X, LABELS),
        "kernels": (MKLRegressor([Linear(), Gaussian(0.5)], C=4.0).fit(X, Y), X, Y),
        "squares": (MKLRegressor([Gaussian(0.5), Linear()], loss="squared").fit(X, Y), X, Y),
        "pipeline": (piped.fit(frame, dear), frame, dear),
    }


@pytest.mark.parametrize("name", cores())
def test_a_twin_of_the_kernel_model_predicts_the_same(name):
    model, points, y = cores()[name]
    subject = make_subject(model, points, y)
    core = core_of(subject)
    twin = core.twin().fit(core.points, core.fitted_to(subject))
    found = core.values(twin, core.points, subject)
    expected = values_of(model, points, subject.classes)
    np.testing.assert_allclose(found, expected, atol=5e-3)


def test_the_heaviest_member_is_the_core_of_an_ensemble(automatic):
    model, frame, rent, _ = automatic
    core = core_of(make_subject(model, frame, rent))
    assert core.member is model.members_[0]
    assert core.points.shape[0] == len(frame)
    assert core.penalty == ("alpha", pytest.approx(model.members_[0].model.alpha))


def test_strings_have_no_table():
    texts = ["abab", "baba", "aabb", "bbaa"] * 3
    model = SVC(kernel=Spectrum(2)).fit(texts, [0, 1, 0, 1] * 3)
    subject = make_subject(model, texts, [0, 1, 0, 1] * 3)
    assert subject.table is None
    assert core_of(subject).width is None
