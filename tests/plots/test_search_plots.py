"""Scores of searches, learning curves, validation curves."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.model_selection import (
    GridSearchCV,
    cross_validate,
    learning_curve,
)

from mercer import SVC, KernelRidge, KernelRidgeCV, tune
from mercer.checks import InputError
from mercer.kernels import Gaussian, Linear, Spectrum
from mercer.plots import LearningCurveDisplay, SearchSurfaceDisplay, ValidationCurveDisplay

X, Y = make_moons(60, noise=0.2, random_state=0)
GRID = {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.1, 1.0]}
SEARCH = GridSearchCV(SVC(kernel=Gaussian(1.0)), GRID, cv=3).fit(X, Y)


def cells(display):
    return np.asarray(display.ax_.collections[0].get_array()).reshape(-1)


def test_a_grid_of_scikit_learn():
    display = SearchSurfaceDisplay.from_search(SEARCH)
    assert display.names == ("C", "kernel__gamma")
    wanted = SEARCH.cv_results_["mean_test_score"].reshape(3, 2)  # C changes last
    assert np.allclose(cells(display), wanted.T.ravel())
    assert display.best == (SEARCH.best_params_["C"], SEARCH.best_params_["kernel__gamma"])
    assert display.ax_.get_xscale() == "log"


def test_the_result_of_tune():
    found = tune(SVC(kernel=Gaussian(1.0)), X, Y, GRID)
    display = SearchSurfaceDisplay.from_search(found, x="kernel__gamma", y="C")
    assert display.best == (found.params["kernel__gamma"], found.params["C"])
    assert np.array_equal(np.sort(display.scores), np.sort(found.table["mean_test_score"]))


def test_kernels_and_penalties():
    model = KernelRidgeCV([0.1, 1.0], kernel=[Linear(), Gaussian(1.0)]).fit(X, X[:, 0] ** 2)
    display = SearchSurfaceDisplay.from_estimator(model)
    texts = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert texts == ["Gaussian(gamma=1.0)", "Linear()"]
    assert display.best == (str(model.kernel_), model.alpha_)


def test_points_that_are_no_grid():
    display = SearchSurfaceDisplay(x=[1, 2, 3], y=[1, 5, 2], scores=[0.1, 0.3, 0.2])
    display.plot()
    marks = display.ax_.collections[0]
    assert np.asarray(marks.get_array()).tolist() == [0.1, 0.2, 0.3]  # the best on top
    assert marks.get_offsets()[-1].tolist() == [2, 5]


def test_one_parameter_takes_the_best_of_the_others():
    display = SearchSurfaceDisplay.from_search(SEARCH, x="C")
    line = display.ax_.lines[0]
    wanted = SEARCH.cv_results_["mean_test_score"].reshape(3, 2).max(axis=1)
    assert line.get_xdata().tolist() == pytest.approx([0.1, 1.0, 10.0])
    assert np.allclose(line.get_ydata(), wanted)
    assert display.best[0] == SEARCH.best_params_["C"]


def test_parameters_that_only_some_candidates_have():
    grids = [{"kernel": [Linear()], "C": [1.0, 2.0]}, {"kernel": ["rbf"], "gamma": [0.1, 1.0]}]
    search = GridSearchCV(SVC(), grids, cv=3).fit(X, Y)
    display = SearchSurfaceDisplay.from_search(search, x="C")
    assert display.x.tolist() == [1.0, 2.0]


def test_a_few_bad_scores_do_not_take_all_colours():
    x, y = np.meshgrid(np.arange(5.0), np.arange(4.0))
    scores = 0.9 - 0.01 * np.arange(20.0)
    scores[-1] = -50.0
    display = SearchSurfaceDisplay(x=x.ravel(), y=y.ravel(), scores=scores)
    display.plot()
    assert display.ax_.collections[0].get_clim()[0] > 0.5


def test_wrong_searches():
    with pytest.raises(InputError, match=r"must be fitted and have a table.*got SVC"):
        SearchSurfaceDisplay.from_search(SVC().fit(X, Y))
    with pytest.raises(InputError, match=r"one of 'C', 'kernel__gamma'; got 'kernel__gama'\. Did"):
        SearchSurfaceDisplay.from_search(SEARCH, x="kernel__gama")
    with pytest.raises(InputError, match="a parameter of the search must vary"):
        SearchSurfaceDisplay.from_search({"param_C": [1.0, 1.0], "mean_test_score": [0.1, 0.1]})
    with pytest.raises(InputError, match="x must have 2 values, one for each score; got 1"):
        SearchSurfaceDisplay(x=[1.0], scores=[1.0, 2.0])


# --- curves --------------------------------------------------------------------------------------


def test_a_learning_curve():
    display = LearningCurveDisplay.from_estimator(SVC(), X, Y, sizes=[0.3, 1.0], cv=3)
    sizes, train, test = learning_curve(
        SVC(), X, Y, train_sizes=[0.3, 1.0], cv=3, shuffle=True, random_state=0
    )
    assert display.sizes.tolist() == sizes.tolist()
    assert np.array_equal(display.train_scores, train)
    assert np.array_equal(display.test_scores, test)
    assert display.score == "accuracy"
    line = display.ax_.lines[1]
    assert np.allclose(line.get_ydata(), test.mean(axis=1))


def test_a_learning_curve_of_strings():
    words, y = ["abab", "baba", "xyxy", "yxyx"] * 5, [0, 0, 1, 1] * 5
    model = SVC(kernel=Spectrum(2))
    display = LearningCurveDisplay.from_estimator(model, words, y, sizes=[1.0], cv=2)
    assert display.test_scores.mean() == 1.0


def test_a_validation_curve():
    model = KernelRidge(0.1, kernel=Gaussian(1.0))
    y, gammas = np.sin(3 * X[:, 0]), [10.0, 0.1]
    display = ValidationCurveDisplay.from_estimator(
        model, X, y, name="kernel__gamma", values=gammas, cv=3, scoring="neg_mean_squared_error"
    )
    assert display.values.tolist() == [0.1, 10.0]  # rising
    for place, gamma in enumerate(display.values):
        model.set_params(kernel__gamma=gamma)
        options = {"cv": 3, "scoring": "neg_mean_squared_error", "return_train_score": True}
        wanted = cross_validate(model, X, y, **options)
        assert np.allclose(display.test_scores[place], wanted["test_score"])
        assert np.allclose(display.train_scores[place], wanted["train_score"])
    assert display.score == "neg mean squared error"
    assert display.ax_.get_xscale() == "log"


def test_wrong_curves():
    with pytest.raises(InputError, match=r"must be a parameter of the model; got 'gamme'\. Did"):
        ValidationCurveDisplay.from_estimator(SVC(), X, Y, name="gamme", values=[1.0])
    with pytest.raises(InputError, match=r"test_scores must have the shape \(1, 2\)"):
        LearningCurveDisplay(sizes=[1], train_scores=[[1.0, 2.0]], test_scores=[[1.0]])
    with pytest.raises(InputError, match="values must have at least one entry"):
        ValidationCurveDisplay(values=[], train_scores=[], test_scores=[])
