"""What models that choose themselves keep, take and refuse."""

import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import KernelRidge, KernelRidgeClassifierCV, KernelRidgeCV
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Linear, Polynomial, Spectrum

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(40, 2))
Y = X[:, 0] - X[:, 1] ** 2 + 0.1 * RANDOM.normal(size=40)


def test_the_chosen_model_is_the_one_that_is_fitted():
    kernels = [Gaussian(gamma=0.3), Linear()]
    model = KernelRidgeCV([1e-3, 1.0], kernel=kernels).fit(X, Y)
    same = KernelRidge(model.alpha_, kernel=model.kernel_).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    table = model.cv_results_
    best = table["params"][model.best_index_]
    assert best == {"kernel": model.kernel_, "alpha": model.alpha_}
    assert model.best_score_ == table["mean_test_score"].max()
    assert table["rank_test_score"][model.best_index_] == 1
    assert sorted(table["rank_test_score"]) == [1, 2, 3, 4]
    assert len(table["param_kernel"]) == len(table["param_alpha"]) == 4


def test_ranks_of_equal_scores_are_equal():
    model = KernelRidgeCV([1.0, 1.0, 10.0], kernel=Linear()).fit(X, Y)
    assert list(model.cv_results_["rank_test_score"]) in ([1, 1, 3], [2, 2, 1])


def test_cross_validation_picks_the_line():
    x = np.linspace(-1, 1, 25)[:, None]
    y = 2 * x[:, 0] + np.random.default_rng(1).normal(scale=0.7, size=25)
    kernels = [Polynomial(order) for order in (1, 3, 5, 7)]
    assert KernelRidgeCV([1e-3, 1e-1], kernel=kernels).fit(x, y).kernel_ == Polynomial(1)


def test_deviation_of_the_chosen_model():
    model = KernelRidgeCV([0.1], kernel=Gaussian(gamma=1.0)).fit(X, Y)
    same = KernelRidge(0.1, kernel=Gaussian(gamma=1.0)).fit(X, Y)
    for found, wanted in zip(model.predict(X, True), same.predict(X, True), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_scale_is_settled_on_all_points():
    model = KernelRidgeCV([0.1]).fit(X, Y)
    assert model.kernel_ == Gaussian().resolve(X)


def test_kernels_of_different_kinds_are_compared():
    kernels = [Gaussian(gamma=0.3), Gaussian(gamma=3.0), Linear(), lambda A, B: A @ B.T]
    model = KernelRidgeCV([0.1, 1.0], kernel=kernels).fit(X, Y)
    scores = model.cv_results_["mean_test_score"]
    np.testing.assert_allclose(scores[4:6], scores[6:8], rtol=1e-10)


def test_words_and_precomputed_matrices():
    words = ["anna", "banana", "ananas", "cocoa", "coco", "rococo"]
    numbers = np.arange(6.0)
    model = KernelRidgeCV([0.1, 1.0], kernel=[Spectrum(1), Spectrum(2)], cv=3).fit(words, numbers)
    kernel = model.kernel_
    K = kernel(words, words)
    given = KernelRidgeCV([0.1, 1.0], kernel="precomputed", cv=3).fit(K, numbers)
    index = [p["kernel"] == kernel for p in model.cv_results_["params"]]
    np.testing.assert_allclose(
        given.cv_results_["mean_test_score"], model.cv_results_["mean_test_score"][index]
    )
    np.testing.assert_allclose(given.predict(K), model.predict(words), atol=1e-9)


def test_groups_reach_the_splitter():
    groups = np.arange(40) % 4
    model = KernelRidgeCV([0.1], kernel=Linear(), cv=GroupKFold(4)).fit(X, Y, groups=groups)
    same = KernelRidgeCV([0.1], kernel=Linear(), cv=list(GroupKFold(4).split(X, Y, groups)))
    assert model.best_score_ == same.fit(X, Y).best_score_


def test_it_is_an_estimator_among_others():
    model = KernelRidgeCV([0.1, 1.0], kernel=[Linear(), Gaussian()])
    assert clone(model).get_params() == model.get_params()
    assert len(cross_val_score(model, X, Y, cv=3)) == 3


def test_little_memory_uses_the_smaller_model():
    points = RANDOM.normal(size=(1500, 3))
    values = np.sin(points[:, 0])
    model = KernelRidgeCV([1e-2, 1.0], kernel=Gaussian(gamma=0.3), memory_limit="20MB")
    assert model.fit(points, values).best_score_ > 0.95


@parametrize_with_checks([KernelRidgeCV(), KernelRidgeClassifierCV()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alphas": []}, "alphas must be a list of numbers"),
        ({"alphas": [1.0, -1.0]}, "alphas must be"),
        ({"alphas": [[1.0]]}, "alphas must be a list of numbers"),
        ({"alphas": [np.nan]}, "alphas must be"),
        ({"kernel": []}, "kernel must name at least one"),
        (
            {"cv": [(np.arange(20), np.arange(10, 40))]},
            "training and test rows of a fold must differ",
        ),
        ({"cv": [([0, 0, 1], [2, 3])]}, "each training row used once"),
        ({"cv": [(np.arange(40), [])]}, "every fold must have training and test rows"),
        ({"cv": []}, "cv must give at least one fold"),
    ],
)
def test_bad_parameters_are_refused(change, words):
    with pytest.raises(mercer.InputError, match=words):
        KernelRidgeCV(**({"alphas": [1.0]} | change)).fit(X, Y)


def test_weights_that_empty_a_fold_are_refused():
    weight = np.ones(40)
    weight[:10] = 0
    with pytest.raises(mercer.InputError, match="rows with a weight; got 30 and 0 in fold 0"):
        KernelRidgeCV([1.0], cv=KFold(4)).fit(X, Y, weight)


def test_one_point_cannot_be_left_out():
    with pytest.raises(mercer.InputError, match="at least two points"):
        KernelRidgeCV([1.0], kernel=Linear()).fit(X[:1], Y[:1])


def test_an_unknown_scorer_is_refused():
    with pytest.raises(ValueError, match="nonsense"):
        KernelRidgeCV([1.0], scoring="nonsense").fit(X, Y)


def test_a_parameter_of_one_kernel_is_not_set_on_a_list():
    model = KernelRidgeCV([1.0], kernel=[Linear(), Gaussian(gamma=1.0)])
    with pytest.raises(mercer.InputError, match="kernel__gamma must be set on a single kernel"):
        model.set_params(kernel__gamma=2.0)
    assert len(model.kernel) == 2
    model.set_params(kernel=Gaussian(gamma=1.0), kernel__gamma=2.0)
    assert model.kernel == Gaussian(gamma=2.0)


@pytest.mark.parametrize("cv", [None, 4])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_kernel_that_is_zero_predicts_the_mean_or_nothing(cv, intercept):
    nothing = np.zeros((40, 2))
    model = KernelRidgeCV([0.1, 1.0], kernel=Linear(), cv=cv, fit_intercept=intercept)
    found = model.fit(nothing, Y).predict(nothing[:1])
    np.testing.assert_allclose(found, Y.mean() if intercept else 0.0, atol=1e-12)
    assert np.isfinite(model.best_score_)


@pytest.mark.parametrize("cv", [None, 4])
def test_an_alpha_that_cannot_be_solved_is_passed_over(cv):
    twice = np.repeat(X[:12], 2, axis=0)
    model = KernelRidgeCV([0.0, 1.0], kernel=Gaussian(gamma=1.0), cv=cv).fit(twice, twice[:, 0])
    assert np.isnan(model.cv_results_["mean_test_score"][0])
    assert model.alpha_ == 1.0


def test_points_that_arrive_in_blocks():
    kernels = [Gaussian(gamma=0.3), Gaussian(gamma=3.0)]
    whole = KernelRidgeCV([0.1, 1.0], kernel=kernels).fit(X, Y)
    parts = KernelRidgeCV([0.1, 1.0], kernel=kernels).fit(RowBlocks([X[:15], X[15:]]), Y)
    np.testing.assert_allclose(
        parts.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"], atol=1e-9
    )


# On a busy machine the fit that follows may have no time left, and says so.
@pytest.mark.filterwarnings("ignore:KernelRidgeCV. the relative residual")
def test_a_time_limit_ends_a_long_search():
    points = RANDOM.normal(size=(600, 3))
    kernels = [Gaussian(gamma=gamma) for gamma in np.logspace(-3, 3, 60)]
    model = KernelRidgeCV(np.logspace(-3, 3, 30), kernel=kernels, time_limit=1.0)
    with pytest.warns(ConvergenceWarning, match="of 1800 pairs of kernel and alpha were scored"):
        model.fit(points, points[:, 0])
    assert 0 < len(model.cv_results_["params"]) < 1800
    assert np.isfinite(model.predict(points)).all()


def test_a_search_without_time_for_anything_still_gives_a_model():
    def slow(A, B):
        time.sleep(0.3)
        return A @ B.T

    model = KernelRidgeCV([0.1, 1.0, 10.0], kernel=[slow, Linear()], time_limit=0.1)
    with pytest.warns(ConvergenceWarning) as told:
        model.fit(X, Y)
    assert "0 of 6 pairs" in str(told[0].message)
    assert model.alpha_ == 1.0
    assert np.isnan(model.best_score_)


def test_progress_is_told():
    told = []
    model = KernelRidgeCV([0.1, 1.0], kernel=[Linear(), Gaussian()], callback=told.append)
    model.fit(X, Y)
    assert [record["fraction"] for record in told] == [0.25, 0.5, 0.75, 1.0]
    assert {record["stage"] for record in told} == {"cross-validation"}


def test_a_callback_ends_a_search():
    model = KernelRidgeCV([0.1, 1.0, 5.0], kernel=Linear(), callback=lambda record: True)
    with pytest.warns(ConvergenceWarning, match="1 of 3 pairs"):
        model.fit(X, Y)
    assert model.alpha_ == 0.1
