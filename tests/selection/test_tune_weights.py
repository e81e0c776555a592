"""Searches with weights of samples and of classes."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier

from mercer import SVC, InputError, KernelRidge, KernelRidgeClassifier, KernelRidgeCV, tune
from mercer.kernels import Gaussian
from mercer.selection import draws

random = np.random.default_rng(6)
X = random.normal(size=(80, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * random.normal(size=80)
labels = np.where(y > 0.8, "high", "low")
COPIES = random.integers(1, 4, 80)
WEIGHT = random.uniform(0.2, 2.0, 80)
SPACE = {"kernel__gamma": (1e-3, 1e2), "alpha": (1e-4, 10.0)}
ALPHAS = np.geomspace(1e-3, 10.0, 41)


def close(found, wanted):
    for name, value in wanted.params.items():
        assert found.params[name] == pytest.approx(value, rel=0.02)


@pytest.mark.parametrize("intercept", [False, True])
def test_weights_are_repeated_points(intercept):
    model = KernelRidge(kernel=Gaussian(0.3), fit_intercept=intercept)
    found = tune(model, X, y, SPACE, sample_weight=COPIES, random_state=0)
    rows = np.repeat(np.arange(80), COPIES)
    wanted = tune(model, X[rows], y[rows], SPACE, random_state=0)
    assert (found.method, found.rows) == ("gradient", 80)
    close(found, wanted)
    assert found.score == pytest.approx(wanted.score, abs=1e-4)
    assert np.allclose(found.model.predict(X), wanted.model.predict(X), atol=1e-2)


def test_weights_of_samples_choose_as_a_search_over_alphas():
    kernel, space = Gaussian(0.3), {"alpha": (1e-3, 10.0)}
    found = tune(KernelRidge(kernel=kernel), X, y, space, sample_weight=COPIES)
    rows = np.repeat(np.arange(80), COPIES)
    grid = KernelRidgeCV(alphas=ALPHAS, kernel=kernel).fit(X[rows], y[rows])
    assert 0.75 < found.params["alpha"] / grid.alpha_ < 1.35


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "evidence"])
def test_points_without_weight_take_no_part(scoring):
    kept = np.arange(80) % 4 > 0
    weight = np.where(kept, WEIGHT, 0.0)
    wild = np.where(kept, labels, labels[::-1])
    for options in ({}, {"class_weight": {"high": 3.0, "low": 1.0}}):
        model = KernelRidgeClassifier(kernel=Gaussian(0.3), **options)
        settings = {"scoring": scoring, "n_iter": 3, "random_state": 0}
        found = tune(model, X, wild, SPACE, sample_weight=weight, **settings)
        wanted = tune(model, X[kept], wild[kept], SPACE, sample_weight=weight[kept], **settings)
        assert found.rows == kept.sum()
        assert found.params == wanted.params
        assert found.score == wanted.score


def test_weights_of_classes_are_weights_of_samples_left_out_whole():
    factor = np.where(labels == "high", 0.9, 0.3)  # below 1, a sample is left out whole as well
    kernel = Gaussian(0.3)
    by_class = KernelRidgeClassifier(kernel=kernel, class_weight={"high": 0.9, "low": 0.3})
    found = tune(by_class, X, labels, SPACE, method="gradient", random_state=0)
    plain = KernelRidgeClassifier(kernel=kernel)
    wanted = tune(plain, X, labels, SPACE, sample_weight=factor, random_state=0)
    assert found.params == wanted.params


def test_scores_of_class_weights_are_those_of_refits():
    model = KernelRidgeClassifier(kernel=Gaussian(0.3), class_weight={"high": 5.0, "low": 1.0})
    found = tune(model, X, labels, SPACE, random_state=0)
    assert found.method == "gradient"
    one = {name: [value] for name, value in found.params.items()}
    wanted = tune(model, X, labels, one, cv=KFold(80))
    assert found.score == pytest.approx(wanted.score, abs=1e-12)


def test_a_scorer_without_weights():
    def largest(model, points, truth):
        return -float(np.abs(model.predict(points) - truth).max())

    settings = {"scoring": largest, "cv": 4, "sample_weight": WEIGHT}
    found = tune(KernelRidge(kernel=Gaussian(0.3)), X, y, {"alpha": [0.1, 1.0]}, **settings)
    assert found.score < 0.0


def test_balanced_classes_are_found_more_often():
    plain, balanced = (
        tune(KernelRidgeClassifier(class_weight=w), X, labels, SPACE, random_state=0)
        for w in (None, "balanced")
    )
    high = [(found.model.predict(X) == "high").mean() for found in (plain, balanced)]
    assert high[1] >= high[0]
    assert balanced.method == "gradient"


@pytest.mark.parametrize("model", [SVC(kernel=Gaussian(1.0)), LogisticRegression()], ids=repr)
def test_lists_score_as_scikit_learn_does(model):
    space = {"C": [0.1, 1.0, 10.0]}
    found = tune(model, X, labels, space, sample_weight=WEIGHT)
    wanted = GridSearchCV(model, space).fit(X, labels, sample_weight=WEIGHT)
    scores = found.table["mean_test_score"]
    by_fold = [wanted.cv_results_[f"split{fold}_test_score"] for fold in range(5)]
    assert np.allclose(scores, np.mean(by_fold, axis=0))
    again = model.set_params(**found.params).fit(X, labels, sample_weight=WEIGHT)
    assert np.array_equal(found.model.predict(X), again.predict(X))


@pytest.mark.parametrize("method", ["grid", "random", "halving"])
def test_folds_leave_out_points_without_weight(method, monkeypatch):
    monkeypatch.setattr(draws, "LEAST_POINTS", 5)
    kept = np.arange(80) % 3 > 0
    wild = np.where(kept, y, 1e6)
    space = {"alpha": [0.1, 1.0] if method == "grid" else (0.1, 1.0)}
    model = KernelRidge(kernel=Gaussian(0.3))
    weight = kept.astype(float)
    found = tune(model, X, wild, space, sample_weight=weight, method=method, n_iter=4, cv=4)
    assert found.method == method
    assert found.rows == kept.sum()
    assert found.score > 0.5
    masks = [(np.arange(80) % 4 != fold, np.arange(80) % 4 == fold) for fold in range(4)]
    by_masks = tune(model, X, wild, space, sample_weight=weight, method=method, n_iter=4, cv=masks)
    assert by_masks.score > 0.5


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(80), "at least 0"),
        (np.ones(79), "80"),
        (np.zeros(80), "all weights zero"),
        (np.full(80, np.nan), "sample_weight"),
    ],
)
def test_weights_that_are_none(weight, message):
    with pytest.raises(InputError, match=message):
        tune(KernelRidge(), X, y, SPACE, sample_weight=weight)


def test_other_refusals():
    with pytest.raises(InputError, match="fit must take sample_weight; got KNeighborsClassifier"):
        tune(KNeighborsClassifier(), X, labels, {"n_neighbors": [1]}, sample_weight=WEIGHT)
    first = np.arange(80) < 20
    with pytest.raises(InputError, match="training and test points with a weight; got 0 and 20"):
        tune(
            KernelRidge(),
            X,
            y,
            {"alpha": [1.0]},
            cv=[(np.flatnonzero(~first), np.flatnonzero(first))],
            sample_weight=first.astype(float),
        )
    only = (labels == "low").astype(float)
    with pytest.raises(InputError, match="two classes"):
        tune(KernelRidgeClassifier(), X, labels, SPACE, sample_weight=only)
