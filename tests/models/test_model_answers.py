"""Fitted models asked for a few rows: quick answers are those of the long way."""

import copy
import pickle
import threading
import warnings

import numpy as np
import pandas
import pytest
import sklearn
from estimators import CLASSIFIERS, ESTIMATORS, OF_GAMMA, OF_SOME, target, with_kernel
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer import SVC, KernelRidge, files
from mercer.checks import InputError, MemoryLimitError
from mercer.features import AdditiveMap
from mercer.grams.answers import answers_of
from mercer.kernels import Gaussian, Laplacian, Polynomial
from mercer.models import KernelNeighborsClassifier, KernelRidgeClassifier

random = np.random.default_rng(1)
X = random.normal(size=(60, 4))
NEW = random.normal(size=(9, 4))
NUMBERS = X[:, 0] - X[:, 1] ** 2
FEW = np.arange(60) % 2
SEVERAL = np.arange(60) % 4
METHODS = ("predict", "decision_function", "transform", "predict_proba", "kneighbors")
KERNELS = [Gaussian(0.3), Laplacian(0.2), Polynomial(2, 0.5, 1.0).normalized()]


def answers(model, rows):
    """All that a model says about rows."""
    found = []
    for name in METHODS:
        if hasattr(model, name):
            said = getattr(model, name)(rows)
            said = said.toarray() if hasattr(said, "toarray") else said
            found += list(said) if isinstance(said, tuple) else [said]
    return found


def same(one, other):
    return len(one) == len(other) and all(map(np.array_equal, one, other))


def is_quick(model, rows=NEW):
    kept = model._prepared
    made = answers_of(kept.kernel, kept.view, rows.dtype, model.memory_limit)
    return made is not None and len(rows) <= made.most_rows


def apart(rows):
    """Return rows that are not one after another in memory, which take the long way."""
    wide = np.zeros((len(rows), 2 * rows.shape[1]), dtype=rows.dtype)
    wide[:, : rows.shape[1]] = rows
    return wide[:, : rows.shape[1]]


def fitted(kind, kernel, points, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how well they converge is tested elsewhere
        return kind(**with_kernel(kind, kernel)).fit(points, y)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_estimator_answers_the_same_both_ways(kind, dtype):
    targets = [FEW, SEVERAL] if kind in CLASSIFIERS else [NUMBERS]
    for y in targets:
        for kernel in KERNELS:
            rows, points = NEW.astype(dtype), X.astype(dtype)
            if kind is AdditiveMap:
                rows, points = abs(rows), abs(points)
            model = fitted(kind, kernel, points, y)
            if not hasattr(model, "coef_") and kind not in (*OF_SOME, *OF_GAMMA):
                assert is_quick(model, rows)
            assert same(answers(model, rows), answers(model, apart(rows)))


def test_a_row_alone_is_answered_as_among_others():
    model = SVC().fit(X, SEVERAL)
    whole = model.decision_function(NEW)
    each = np.vstack([model.decision_function(NEW[i : i + 1]) for i in range(len(NEW))])
    assert np.allclose(each, whole, rtol=0, atol=1e-12)


def test_a_refit_answers_anew():
    model = KernelRidge().fit(X, NUMBERS)
    before = model.predict(NEW)
    model.fit(X + 1.0, NUMBERS)
    assert np.array_equal(model.predict(NEW), KernelRidge().fit(X + 1.0, NUMBERS).predict(NEW))
    assert not np.array_equal(model.predict(NEW), before)
    model.fit(X.astype("f4"), NUMBERS)
    wanted = KernelRidge().fit(X.astype("f4"), NUMBERS).predict(NEW)
    assert np.array_equal(model.predict(NEW), wanted)


def test_parameters_set_after_a_fit_wait_for_the_next():
    model = KernelRidge(kernel=Gaussian(0.3)).fit(X, NUMBERS)
    before = model.predict(NEW)
    model.set_params(kernel=Gaussian(3.0), alpha=7.0)
    assert np.array_equal(model.predict(NEW), before)
    model.set_params(memory_limit=2000)
    with pytest.raises(MemoryLimitError, match="memory_limit"):
        model.predict(NEW)
    model.set_params(memory_limit=np.nan)
    with pytest.raises(InputError, match="memory_limit"):
        model.predict(NEW)
    model.set_params(memory_limit="1GB")
    assert np.array_equal(model.predict(NEW), before)


def test_coefficients_are_those_that_the_model_has_now():
    model = KernelRidge().fit(X, NUMBERS)
    before = model.predict(NEW)
    model.dual_coef_ = 2.0 * model.dual_coef_
    assert np.allclose(model.predict(NEW), 2.0 * before, rtol=1e-12)


@pytest.mark.parametrize("kind", [SVC, KernelRidge, KernelNeighborsClassifier])
def test_copies_and_files_answer_the_same(kind, tmp_path):
    y = NUMBERS if kind is KernelRidge else FEW
    model = kind().fit(X, y)
    wanted = answers(model, NEW)
    state = set(vars(model))
    path = tmp_path / "model.mercer"
    files.save(model, path)
    for made in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), files.load(path)):
        assert same(answers(made, NEW), wanted)
        assert is_quick(made)
    assert same(answers(clone(model).fit(X, y), NEW), wanted)
    assert set(vars(model)) == state  # what was made to answer quickly is no part of the model


@pytest.mark.parametrize("rows", [NEW, apart(NEW), NEW[:1]], ids=["few", "long", "one"])
def test_bad_rows_are_refused_in_the_same_words(rows):
    model = SVC().fit(X, FEW)
    missing = apart(rows) if rows.base is not None else rows.copy()
    missing[0, 2] = np.nan
    with pytest.raises(InputError, match=r"SVC: X must have finite numbers only; got NaN in row 0"):
        model.predict(missing)
    missing[0, 2] = np.inf
    with pytest.raises(InputError, match="infinity in row 0, column 2"):
        model.predict(missing)
    with pytest.raises(InputError, match="X has 3 features, but SVC is expecting 4"):
        model.predict(rows[:, :3])
    with pytest.raises(InputError, match="2-D"):
        model.predict(rows[0])


def test_rows_taken_on_trust_are_those_of_the_long_way():
    model = KernelRidge(kernel=Gaussian(0.3)).fit(X, NUMBERS)
    missing = NEW.copy()
    missing[2, 1] = np.nan
    with sklearn.config_context(assume_finite=True):
        found, wanted = model.predict(missing), model.predict(apart(missing))
    assert np.array_equal(found, wanted, equal_nan=True)
    assert np.isnan(found[2])


def test_scores_that_overflow_are_refused():
    model = KernelRidge(kernel=Polynomial(3, 1.0, 1.0), solver="cholesky").fit(X, NUMBERS)
    with pytest.raises(InputError, match="overflow"):
        model.predict(NEW * 1e110)
    model.intercept_ = np.inf
    with pytest.raises(InputError, match="scores must be finite"):
        model.predict(NEW)


def test_names_of_columns_are_compared():
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = SVC().fit(frame, FEW)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = model.predict(NEW)
    assert np.array_equal(found, model.predict(pandas.DataFrame(NEW, columns=list("abcd"))))
    plain = SVC().fit(X, FEW)
    with pytest.warns(UserWarning, match="has feature names"):
        plain.predict(pandas.DataFrame(NEW, columns=list("abcd")))


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_before_a_fit_there_is_no_answer(kind):
    model = kind()
    for name in METHODS:
        if hasattr(model, name):
            with pytest.raises(NotFittedError):
                getattr(model, name)(NEW)
    assert target(kind) is not None


def test_threads_share_a_model():
    model = KernelRidgeClassifier().fit(X, SEVERAL)
    wanted = [model.decision_function(NEW[i : i + 1]) for i in range(len(NEW))]
    fresh = pickle.loads(pickle.dumps(model))  # its answers are made by all threads at once
    wrong = []

    def ask(start):
        for turn in range(50):
            i = (start + turn) % len(NEW)
            if not np.array_equal(fresh.decision_function(NEW[i : i + 1]), wanted[i]):
                wrong.append(i)

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("classes", [3, 4, 7])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_votes_are_those_that_are_counted_one_by_one(classes, shape):
    y = np.arange(60) % classes
    model = SVC(decision_function_shape="ovo", break_ties=False).fit(X, y)
    scores = model.decision_function(NEW)
    votes = np.zeros((len(NEW), classes))
    sums = np.zeros_like(votes)
    column = 0
    for a in range(classes):
        for b in range(a + 1, classes):
            for row in range(len(NEW)):
                votes[row, a if scores[row, column] >= 0 else b] += 1
                sums[row, a] += scores[row, column]
                sums[row, b] -= scores[row, column]
            column += 1
    if shape == "ovo":
        assert np.array_equal(model.predict(NEW), votes.argmax(axis=1))
    else:
        model.set_params(decision_function_shape="ovr")
        wanted = votes + sums / (3 * (np.abs(sums) + 1))
        assert np.allclose(model.decision_function(NEW), wanted, rtol=1e-12)
