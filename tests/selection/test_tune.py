"""Searches over parameters: the same scores as scikit-learn's, refusals, limits."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from mercer import SVC, SVR, InputError, KernelRidgeCV, gram, tune
from mercer.fitting import rows as svm_rows
from mercer.kernels import Gaussian, Spectrum
from mercer.selection import tuning

random = np.random.default_rng(5)
X = random.normal(size=(90, 3))
y = np.where(X[:, 0] ** 2 + X[:, 1] + 0.3 * random.normal(size=90) > 0.6, "in", "out")
three = np.digitize(X[:, 0], [-0.5, 0.5])
numbers = np.sin(2 * X[:, 0]) + X[:, 1]
SPACE = {"C": [10.0, 0.1, 1.0], "kernel__gamma": [0.1, 1.0]}


def brute_force(model, labels, **options):
    return GridSearchCV(model, SPACE, **options).fit(X, labels)


def same_table(found, wanted):
    for params, score in zip(
        wanted.cv_results_["params"], wanted.cv_results_["mean_test_score"], strict=True
    ):
        place = found.table["params"].index(params)
        assert found.table["mean_test_score"][place] == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("scoring", [None, "roc_auc", "balanced_accuracy"])
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}])
def test_two_classes_on_one_matrix_score_as_refitted_machines(scoring, options):
    model = SVC(kernel=Gaussian(1.0), tol=1e-9, **options)
    labels = (y == "in").astype(int)
    found = tune(model, X, labels, SPACE, scoring=scoring)
    wanted = brute_force(model, labels, scoring=scoring, cv=5)
    same_table(found, wanted)
    assert found.score == pytest.approx(wanted.best_score_, abs=1e-9)
    assert found.status == "complete"
    assert found.model.score(X, labels) == wanted.best_estimator_.score(X, labels)


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize(
    "options",
    [{}, {"multiclass": "ovr"}, {"break_ties": False}, {"decision_function_shape": "ovo"}],
    ids=str,
)
def test_several_classes_on_one_matrix_score_as_refitted_machines(scores, options):
    def mean_score(model, rows, truth):  # sees the shape and the numbers of the scores
        found = model.decision_function(rows)
        return float(np.mean(found[np.arange(len(truth)), truth]))

    model = SVC(kernel=Gaussian(1.0), tol=1e-9, **options)
    scorer = mean_score if scores else None
    found = tune(model, X, three, SPACE, scoring=scorer)
    same_table(found, brute_force(model, three, scoring=scorer, cv=5))


def test_words_as_classes():
    found = tune(SVC(kernel=Gaussian(1.0)), X, y, SPACE, cv=StratifiedKFold(3))
    same_table(found, brute_force(SVC(kernel=Gaussian(1.0)), y, cv=StratifiedKFold(3)))
    assert set(found.model.predict(X)) == {"in", "out"}


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_regression_on_one_matrix_scores_as_refitted_machines(scoring):
    model = SVR(kernel=Gaussian(1.0), tol=1e-9, epsilon=0.05)
    found = tune(model, X, numbers, SPACE, scoring=scoring, cv=KFold(4))
    same_table(found, brute_force(model, numbers, scoring=scoring, cv=KFold(4)))


def test_machines_share_a_matrix_only_where_that_changes_nothing(monkeypatch):
    shared = []
    whole = tuning._Search._on_one_matrix
    monkeypatch.setattr(
        tuning._Search, "_on_one_matrix", lambda self, c: shared.append(c) or whole(self, c)
    )
    tune(SVC(kernel=Gaussian(1.0)), X, y, {"C": [1.0]})
    assert len(shared) == 1
    tune(SVC(), X, y, {"C": [1.0]})  # gamma depends on the points of the fold
    tune(SVC(kernel=Gaussian(1.0), probability=True), X, y, {"C": [1.0]})
    tune(SVC(kernel=Gaussian(1.0)), X, y, {"C": [1.0, np.inf]})
    rare = np.where(np.arange(90) == 7, 3, three)
    folds = list(KFold(3).split(X))
    tune(SVC(kernel=Gaussian(1.0)), X, rare, {"C": [1.0]}, cv=folds)
    assert len(shared) == 1


@pytest.mark.parametrize("labels", [three, y], ids=["three", "two"])
def test_other_searches_fit_one_by_one(labels):
    found = tune(SVC(), X, labels, {"C": [0.1, 1.0]}, cv=3)
    wanted = GridSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=3).fit(X, labels)
    same_table(found, wanted)
    logistic = tune(LogisticRegression(), X, labels, {"C": [0.1, 1.0]}, cv=3)
    assert logistic.params["C"] in (0.1, 1.0)


@pytest.mark.parametrize("labels", [three, y], ids=["three", "two"])
@pytest.mark.parametrize("options", [{}, {"probability": True}], ids=["shared", "one by one"])
def test_a_matrix_handed_in(labels, options):
    K = np.asarray(gram(Gaussian(1.0), X))
    model = SVC(kernel="precomputed", tol=1e-9, **options)
    space = {"C": [0.1, 1.0]}
    same_table(tune(model, K, labels, space), GridSearchCV(model, space).fit(K, labels))


def test_objects():
    words = ["abra", "cadabra", "abba", "barb", "xyz", "xyy", "zyx", "yyzz"] * 3
    found = tune(SVC(kernel=Spectrum(2)), words, [0, 0, 0, 0, 1, 1, 1, 1] * 3, {"C": [1.0, 9.0]})
    assert found.score == 1.0


def test_a_seed_shuffles_folds():
    one, two = (tune(SVC(), X, y, {"C": [1.0]}, random_state=seed) for seed in (0, 1))
    again = tune(SVC(), X, y, {"C": [1.0]}, random_state=0)
    splits = [f"split{fold}_test_score" for fold in range(5)]
    assert [one.table[s][0] for s in splits] == [again.table[s][0] for s in splits]
    assert [one.table[s][0] for s in splits] != [two.table[s][0] for s in splits]


def test_a_time_limit_takes_the_best_so_far():
    found = tune(SVC(), X, y, {"C": [0.1, 1.0, 10.0]}, time_limit=1e-9)
    assert found.status == "time limit"
    assert len(found.table["params"]) == 1
    assert found.model.predict(X).shape == (90,)


@pytest.mark.parametrize(
    ("space", "told"),
    [
        ({}, "space must name the values"),
        ([1, 2], "space must name the values"),
        ({"C": 1.0}, r"space\['C'\] must be a list"),
        ({"C": []}, r"space\['C'\] must be a list"),
        ({"kernel": "rbf"}, r"space\['kernel'\] must be a list"),
    ],
)
def test_spaces_that_say_nothing_are_refused(space, told):
    with pytest.raises(InputError, match=told):
        tune(SVC(), X, y, space)


def test_a_parameter_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="Invalid parameter"):
        tune(SVC(), X, y, {"D": [1.0]})


@pytest.mark.parametrize("model", [SVC(), SVC(kernel=Gaussian(1.0)), SVR(kernel=Gaussian(1.0))])
def test_values_that_a_parameter_cannot_have_are_refused_by_name(model):
    with pytest.raises(ValueError, match=r"SV[CR]: C must be a finite number above 0; got .a."):
        tune(model, X, three, {"C": ["a"]})


@pytest.mark.parametrize("model", [SVC(), SVC(kernel=Gaussian(1.0))], ids=["one by one", "shared"])
@pytest.mark.parametrize("found", [None, "0.5", {"a": 1.0}, [0.5]], ids=repr)
def test_a_scorer_must_return_a_number(model, found):
    with pytest.raises(InputError, match=r"tune: the scorer must return a number; got"):
        tune(model, X, y, {"C": [1.0]}, scoring=lambda model, rows, truth: found)


@pytest.mark.parametrize("found", [1, True, np.float32(0.5), np.array(0.5)], ids=repr)
def test_a_scorer_may_return_any_number(found):
    best = tune(SVC(), X, y, {"C": [1.0]}, scoring=lambda model, rows, truth: found)
    assert best.score == float(found)


def test_a_search_by_ridge_refuses_scores_that_are_not_numbers():
    model = KernelRidgeCV(kernel=Gaussian(1.0), cv=3, scoring=lambda model, rows, truth: None)
    with pytest.raises(InputError, match="the scorer must return a number; got None"):
        model.fit(X, numbers)


@pytest.mark.parametrize("limit", ["auto", "1 MB"], ids=["stored", "rows"])
def test_a_matrix_that_is_not_stored_gives_the_same_scores(limit, monkeypatch):
    monkeypatch.setattr(svm_rows, "DENSE", 10)
    model = SVC(kernel=Gaussian(1.0), tol=1e-9, memory_limit=limit)
    same_table(
        tune(model, X, three, SPACE), brute_force(SVC(kernel=Gaussian(1.0), tol=1e-9), three)
    )


def test_one_matrix_serves_all_folds_classes_and_costs(monkeypatch):
    made = []
    whole = svm_rows.SharedRows.__init__
    monkeypatch.setattr(
        svm_rows.SharedRows, "__init__", lambda self, *a: made.append(a) or whole(self, *a)
    )
    tune(SVC(kernel=Gaussian(1.0)), X, three, SPACE, cv=3)
    assert len(made) == 2 + 1  # the kernels, and the fit of the best on all points
