"""Recursive feature machines: what they find, what they choose it by, what bad input gets."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from oracles import ridge
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

from mercer import (
    InputError,
    KernelError,
    KernelRidge,
    RFMClassifier,
    RFMRegressor,
    compress,
)
from mercer.kernels import Gaussian, Laplacian, Linear, Spectrum
from mercer.models.adaptive import recursive
from mercer.models.adaptive.recursive import deviations, standardised

random = np.random.default_rng(3)
N = 150
X = random.normal(size=(N, 6))
NEW = random.normal(size=(200, 6))
GIVEN = {"width": 1.0, "alpha": 0.1, "steps": 2}


def signal(rows):
    return np.sin(2 * rows[:, 1]) + rows[:, 4] ** 2


NUMBERS = signal(X) + 0.05 * random.normal(size=N)
TWO = np.where(X[:, 1] * X[:, 4] > 0, "same", "other")
THREE = np.digitize(signal(X), [0.0, 1.0])


# --- numbers ------------------------------------------------------------------------------------


def test_it_finds_the_columns_and_beats_ridge_without_a_metric():
    model = RFMRegressor().fit(X, NUMBERS)
    assert set(np.argsort(model.feature_importances_)[-2:]) == {1, 4}
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.choice_.steps > 0
    plain = RFMRegressor(steps=0).fit(X, NUMBERS)
    assert plain.feature_importances_ == pytest.approx(np.full(6, 1 / 6))
    # By the median: no kernel of distances knows what lies outside the training points.
    errors = [np.median(np.abs(one.predict(NEW) - signal(NEW))) for one in (model, plain)]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("kernel", ["laplacian", "exponential", "gaussian", Gaussian(), None])
def test_a_full_metric_finds_a_direction(kernel):
    hidden = np.array([0.6, 0.0, 0.8, 0.0, 0.0, 0.0])
    y = np.sin(2 * X @ hidden)
    model = RFMRegressor(kernel, metric="full", width=2.0, alpha=0.01, steps=4).fit(X, y)
    assert model.metric_.shape == (6, 6)
    assert abs(np.linalg.eigh(model.metric_)[1][:, -1] @ hidden) > 0.97
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_function_is_ridge_regression_in_the_metric(fit_intercept):
    model = RFMRegressor(**GIVEN, fit_intercept=fit_intercept).fit(X, NUMBERS)
    assert model.kernel_ == Laplacian(1.0).metric(model.metric_)
    a, b = ridge(model.kernel_.formula(X), NUMBERS, 0.1, intercept=fit_intercept)
    wanted = model.kernel_.formula(NEW, X) @ a + b
    np.testing.assert_allclose(model.predict(NEW), wanted[:, 0], atol=1e-8)
    other = KernelRidge(0.1, kernel=model.kernel_, fit_intercept=fit_intercept).fit(X, NUMBERS)
    np.testing.assert_allclose(model.predict(NEW), other.predict(NEW), atol=1e-8)
    for one, same in zip(
        model.predict(NEW, return_std=True), other.predict(NEW, return_std=True), strict=True
    ):
        np.testing.assert_allclose(one, same, atol=1e-8)


def test_settings_that_are_given_are_not_chosen():
    model = RFMRegressor(**GIVEN).fit(X, NUMBERS)
    choice = model.choice_
    assert (choice.width, choice.alpha, choice.steps, choice.tried) == (1.0, 0.1, 2, ())
    assert np.isnan(choice.loss)
    assert model.alpha_ == 0.1


def test_settings_are_chosen_from_lists():
    model = RFMRegressor(width=[0.5, 3.0], alpha=[0.01, 1.0], steps=1).fit(X, NUMBERS)
    tried = np.array(model.choice_.tried)
    assert set(tried[:, 0]) == {0.5, 3.0}
    assert set(tried[:, 1]) == {0.01, 1.0}
    assert set(tried[:, 2]) == {1.0}
    best = tried[tried[:, 3].argmin()]
    choice = model.choice_
    assert (choice.width, choice.alpha, choice.steps, choice.loss) == tuple(best)


def test_the_loss_of_the_choice_is_honest():
    noise = random.normal(size=N)
    model = RFMRegressor(steps=2, width=1.0).fit(random.normal(size=(N, 20)), noise)
    assert model.choice_.loss > 0.9  # of a variance of 1: there is nothing to be found


def test_outputs_count_alike_whatever_their_units():
    both = np.column_stack([np.sin(2 * X[:, 1]), np.sin(2 * X[:, 4])])
    one = RFMRegressor(**GIVEN).fit(X, both)
    other = RFMRegressor(**GIVEN).fit(X, both * [1.0, 1e6] + [5.0, -3.0])
    np.testing.assert_allclose(other.feature_importances_, one.feature_importances_, rtol=1e-6)
    assert set(np.argsort(other.feature_importances_)[-2:]) == {1, 4}
    assert other.predict(NEW).shape == (200, 2)
    wanted = one.predict(NEW) * [1.0, 1e6] + [5.0, -3.0]
    np.testing.assert_allclose(other.predict(NEW), wanted, rtol=1e-5, atol=1e-2)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_targets_of_any_size(size):
    model = RFMRegressor(**GIVEN).fit(X, size * NUMBERS)
    wanted = RFMRegressor(**GIVEN).fit(X, NUMBERS).predict(NEW)
    np.testing.assert_allclose(model.predict(NEW) / size, wanted, atol=1e-6)


def test_a_constant_target():
    model = RFMRegressor().fit(X, np.full(N, 7.0))
    np.testing.assert_allclose(model.predict(NEW), 7.0)
    np.testing.assert_allclose(model.feature_importances_, 1 / 6)


def test_units_by_hand():
    y = np.array([[1.0, 4.0], [3.0, 4.0]])
    assert deviations(y, None).tolist() == [1.0, 4.0]
    assert standardised(y, None).tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    assert deviations(y, np.array([3.0, 1.0]))[0] == pytest.approx(np.sqrt(0.75))


# --- weights ------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [GIVEN, {}], ids=["given", "chosen"])
def test_a_point_without_weight_is_not_there(given):
    wild = np.r_[X, 50 + 1e3 * random.normal(size=(30, 6))]
    y, weight = np.r_[NUMBERS, 1e6 * random.normal(size=30)], np.r_[np.ones(N), np.zeros(30)]
    one = RFMRegressor(**given).fit(wild, y, weight)
    other = RFMRegressor(**given).fit(X, NUMBERS)
    np.testing.assert_allclose(one.metric_, other.metric_, rtol=1e-6)
    np.testing.assert_allclose(one.predict(NEW), other.predict(NEW), atol=1e-6)
    assert len(one.support_) == N


def test_weights_tell_what_matters():
    half = random.random(N) < 0.5
    y = np.where(half, np.sin(2 * X[:, 0]), np.sin(2 * X[:, 3]))
    for few, column in ((half, 0), (~half, 3)):
        model = RFMRegressor(**GIVEN).fit(X, y, np.where(few, 1.0, 1e-3))
        assert np.argmax(model.feature_importances_) == column


def test_class_weights_are_weights():
    weight = np.where(TWO == "same", 4.0, 1.0)
    one = RFMClassifier(class_weight={"same": 4.0, "other": 1.0}).fit(X, TWO)
    other = RFMClassifier().fit(X, TWO, weight)
    np.testing.assert_allclose(one.metric_, other.metric_, rtol=1e-6)
    np.testing.assert_allclose(one.slopes_, other.slopes_, rtol=1e-6)
    plain = RFMClassifier().fit(X, TWO)
    assert np.mean(one.predict(NEW) == "same") > np.mean(plain.predict(NEW) == "same")


# --- classes ------------------------------------------------------------------------------------


def test_two_classes():
    model = RFMClassifier().fit(X, TWO)
    assert set(np.argsort(model.feature_importances_)[-2:]) == {1, 4}
    truth = np.where(NEW[:, 1] * NEW[:, 4] > 0, "same", "other")
    assert model.score(NEW, truth) > 0.85
    assert model.decision_function(NEW).shape == (200,)
    chances = model.predict_proba(NEW)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[chances.argmax(axis=1)], model.predict(NEW))
    honest = log_loss(truth, chances)
    assert honest < 0.45
    assert honest == pytest.approx(model.choice_.loss, abs=0.15)


def test_three_classes():
    model = RFMClassifier().fit(X, THREE)
    truth = np.digitize(signal(NEW), [0.0, 1.0])
    assert model.score(NEW, truth) > 0.75
    assert model.predict_proba(NEW).shape == (200, 3)
    assert model.slopes_.shape == (1,)


def test_several_labels():
    labels = np.column_stack([X[:, 1] > 0, X[:, 4] > 0.5]).astype(int)
    model = RFMClassifier().fit(X, labels)
    truth = np.column_stack([NEW[:, 1] > 0, NEW[:, 4] > 0.5])
    assert np.mean(model.predict(NEW) == truth) > 0.9
    assert model.slopes_.shape == (2,)
    assert ((model.predict_proba(NEW) > 0.5) == (model.predict(NEW) == 1)).all()


def test_slopes_are_of_scores_that_were_not_seen():
    noise = random.integers(2, size=N)
    model = RFMClassifier(steps=2, width=1.0).fit(random.normal(size=(N, 20)), noise)
    assert np.abs(model.predict_proba(NEW @ np.ones((6, 20))) - 0.5).max() < 0.3
    assert model.choice_.loss > 0.6


def test_probabilities_where_all_is_given_and_where_there_are_none():
    model = RFMClassifier(**GIVEN).fit(X, TWO)
    assert model.predict_proba(NEW).shape == (200, 2)
    model = RFMClassifier(**GIVEN, probability=False).fit(X, TWO)
    assert not hasattr(model, "slopes_")
    assert not hasattr(model, "predict_proba")


def test_a_class_of_one_point():
    rare = np.r_[["rare"], np.where(X[1:, 1] > 0, "up", "down")]
    model = RFMClassifier().fit(X, rare)
    assert model.predict_proba(NEW).shape == (200, 3)


# --- folds --------------------------------------------------------------------------------------


def test_rows_in_the_order_of_y_do_no_harm():
    order = np.argsort(NUMBERS)
    model = RFMRegressor().fit(X[order], NUMBERS[order])
    assert model.choice_.loss < 0.5


def test_folds_of_the_user_are_about_all_points(monkeypatch):
    monkeypatch.setattr(recursive, "SEARCH_ROWS", 60)
    seen = []
    search = recursive.MetricSearch
    monkeypatch.setattr(
        recursive, "MetricSearch", lambda **given: seen.append(given) or search(**given)
    )
    RFMRegressor(steps=1, width=1.0, cv=TimeSeriesSplit(3)).fit(X, NUMBERS)
    sample, folds = seen[0]["sample"], seen[0]["folds"]
    assert len(sample) == 60
    place = {row.tobytes(): number for number, row in enumerate(X)}
    numbers = np.array([place[row.tobytes()] for row in sample.X])
    for train, held in folds:
        assert numbers[train].max() < numbers[held].min()


def test_folds_without_points_are_refused():
    weight = np.r_[np.zeros(75), np.ones(75)]
    with pytest.raises(InputError, match="RFMRegressor: cv must have points with a weight"):
        RFMRegressor(cv=[(np.arange(50, 75), np.arange(50))]).fit(X, NUMBERS, weight)
    with pytest.raises(InputError, match=r"at least two points .* got 1 sample"):
        RFMRegressor().fit(X[:1], [1.0])
    assert RFMRegressor(**GIVEN).fit(X[:1], [1.0]).predict(X[:1]) == pytest.approx(1.0)


# --- kinds of rows ------------------------------------------------------------------------------


def test_kinds_of_rows_agree():
    wanted = RFMRegressor(**GIVEN).fit(X, NUMBERS)
    sparse = RFMRegressor(**GIVEN).fit(scipy.sparse.csr_array(X), NUMBERS)
    np.testing.assert_allclose(sparse.predict(NEW), wanted.predict(NEW), atol=1e-8)
    frame = RFMRegressor(**GIVEN).fit(pd.DataFrame(X, columns=list("abcdef")), NUMBERS)
    assert frame.feature_names_in_.tolist() == list("abcdef")
    single = RFMRegressor(**GIVEN).fit(X.astype(np.float32), NUMBERS.astype(np.float32))
    found = single.predict(NEW.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted.predict(NEW), atol=1e-3)


def test_constant_and_binary_columns():
    rows = np.column_stack([np.ones(N), np.arange(N) % 20 == 0, X[:, 1] > 0.8])
    for metric in ("diagonal", "full"):
        model = RFMClassifier(metric=metric).fit(rows, rows[:, 2] == 1)
        assert model.score(rows, rows[:, 2] == 1) == 1.0
        assert np.argmax(model.feature_importances_) == 2


def test_the_same_seed_gives_the_same_model():
    given = {"gradient_rows": 20, "steps": 2}
    one, same = (RFMRegressor(random_state=1, **given).fit(X, NUMBERS) for _ in range(2))
    other = RFMRegressor(random_state=2, **given).fit(X, NUMBERS)
    assert np.array_equal(one.predict(NEW), same.predict(NEW))
    assert not np.array_equal(one.metric_, other.metric_)


def test_it_is_cross_validated():
    assert cross_val_score(RFMRegressor(steps=1, width=1.0), X, NUMBERS, cv=3).min() > 0.5


def test_the_kernel_serves_others():
    model = RFMRegressor().fit(X, NUMBERS)
    other = KernelRidge(model.alpha_, kernel=model.kernel_, fit_intercept=True).fit(X, NUMBERS)
    np.testing.assert_allclose(other.predict(NEW), model.predict(NEW), atol=1e-6)


# --- what follows a fit -------------------------------------------------------------------------


def test_gradients_and_compression():
    model = RFMRegressor("gaussian", **GIVEN).fit(X, NUMBERS)
    found, step = model.gradient(NEW[:4]), 1e-5 * np.eye(6)[1]
    rise = model.predict(NEW[:4] + step) - model.predict(NEW[:4] - step)
    np.testing.assert_allclose(found[:, 1], rise / 2e-5, atol=1e-6)
    small = compress(model, tol=0.05)
    assert small.compression_.centers < N
    assert np.abs(small.predict(NEW) - model.predict(NEW)).max() <= small.compression_.bound
    assert small.choice_ == model.choice_
    classes = compress(RFMClassifier(**GIVEN).fit(X, THREE), n_centers=40)
    assert classes.predict_proba(NEW).shape == (200, 3)


def test_time_that_is_up_leaves_a_warning_and_a_model():
    with pytest.warns(ConvergenceWarning) as told:
        model = RFMRegressor(time_limit=1e-6).fit(X, NUMBERS)
    assert "RFMRegressor: the metric must be learnt within time_limit" in str(told[0].message)
    assert model.choice_.steps == 0
    assert np.isfinite(model.predict(NEW)).all()
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        given = RFMRegressor(time_limit=1e-6, **GIVEN).fit(X, NUMBERS)
    assert (given.choice_.steps, given.alpha_) == (0, 0.1)


def test_a_search_that_is_stopped_gives_the_best_so_far(monkeypatch):
    search = recursive.MetricSearch

    class Short(search):
        def run(self):
            self.follow(recursive.Tried(width=2.0, alpha=0.5, steps=0))
            raise recursive.Stopped("time limit")

    monkeypatch.setattr(recursive, "MetricSearch", Short)
    with pytest.warns(ConvergenceWarning, match="within time_limit"):
        model = RFMRegressor().fit(X, NUMBERS)
    assert model.choice_.width == 2.0
    assert model.choice_.loss == min(one[3] for one in model.choice_.tried)


# --- bad input ----------------------------------------------------------------------------------

BAD = [
    ({"metric": "diag"}, "metric must be one of 'diagonal', 'full'; got 'diag'"),
    ({"steps": "many"}, "steps must be one of 'auto'"),
    ({"steps": -1}, "steps must be a whole number at least 0"),
    ({"width": 0}, "width must be a finite number above 0"),
    ({"width": []}, "width must have a number or more; got an empty list"),
    ({"width": "wide"}, "width must be one of 'auto'"),
    ({"alpha": 0.0}, "alpha must be a finite number above 0"),
    ({"alpha": [1.0, -1.0]}, "alpha must be a finite number above 0"),
    ({"cv": 1}, "cv must be a whole number at least 2"),
    ({"cv": "five"}, "cv must be a number of folds"),
    ({"gradient_rows": 0}, "gradient_rows must be a whole number at least 1"),
    ({"leaf_rows": 10}, "leaf_rows must be a whole number at least 100"),
    ({"overlap": 0.6}, "overlap must be a finite number at least 0 and at most 0.5"),
    ({"kernel": "laplace"}, "kernel"),
]


@pytest.mark.parametrize(("given", "told"), BAD, ids=str)
@pytest.mark.parametrize("kind", [RFMRegressor, RFMClassifier])
def test_bad_parameters(kind, given, told):
    with pytest.raises((InputError, KernelError), match=told):
        kind(**given).fit(X, NUMBERS if kind is RFMRegressor else TWO)


def test_bad_kernels_and_points():
    with pytest.raises(KernelError, match="must fall from 1 to 0"):
        RFMRegressor(Linear()).fit(X, NUMBERS)
    with pytest.raises(InputError, match="RFMRegressor: X must be rows of numbers"):
        RFMRegressor(Spectrum(2)).fit(["ab", "ba", "aa"], [0.0, 1.0, 2.0])
    with pytest.raises(InputError, match="RFMRegressor: X must be rows of numbers"):
        RFMRegressor("precomputed").fit(np.eye(4), np.arange(4.0))
    with pytest.raises(InputError, match="at least two classes must have a sample"):
        RFMClassifier().fit(X, TWO, (TWO == "same").astype(float))
    with pytest.raises(InputError, match="features"):
        RFMRegressor(**GIVEN).fit(X, NUMBERS).predict(X[:, :2])
