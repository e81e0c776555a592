"""Which columns matter, and how predictions depend on them."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from mercer import (
    SVC,
    AutoKernelClassifier,
    KernelRidge,
    KernelRidgeClassifier,
    RFMRegressor,
)
from mercer.checks import InputError
from mercer.kernels import Gaussian, Linear, Matern, Spectrum
from mercer.plots import ColumnRelevanceDisplay, PartialDependenceDisplay

random = np.random.default_rng(7)
X = random.normal(size=(60, 3)) * [1, 2, 1]
Y = np.sin(X[:, 1]) + 0.1 * X[:, 0]
MODEL = KernelRidge(0.1, kernel=Gaussian(0.3)).fit(X, Y)


class Doubles(RegressorMixin, BaseEstimator):
    """Predicts twice the first column, of arrays and of frames."""

    def predict(self, X):
        return 2.0 * np.asarray(X, dtype=object)[:, 0].astype(float)


# --- relevance -----------------------------------------------------------------------------------


def test_importances_of_a_model():
    model = RFMRegressor(steps=1, width=1.0, alpha=0.1).fit(X, Y)
    display = ColumnRelevanceDisplay.from_estimator(model)
    assert np.array_equal(display.values, model.feature_importances_)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    order = np.argsort(-model.feature_importances_)
    assert names == [["x₁", "x₂", "x₃"][place] for place in order]


def test_a_gamma_per_column():
    model = KernelRidge(kernel=2 * Gaussian((0.1, 3.0, 0.0))).fit(X, Y)
    display = ColumnRelevanceDisplay.from_estimator(model, names=["a", "b", "c"])
    assert display.values.tolist() == [0.1, 3.0, 0.0]
    assert display.measure == "gamma"
    wide = KernelRidge(kernel=Matern(1.5, (1.0, 2.0, 4.0))).fit(X, Y)
    assert ColumnRelevanceDisplay.from_estimator(wide).values.tolist() == [1.0, 0.25, 0.0625]


def test_the_mean_size_of_the_gradient():
    display = ColumnRelevanceDisplay.from_estimator(MODEL, X)
    wanted = np.abs(MODEL.gradient(X)).mean(axis=0) * X.std(axis=0)
    assert np.allclose(display.values, wanted)
    assert display.values.argmax() == 1
    several = KernelRidgeClassifier().fit(X, np.arange(60) % 3)
    wanted = np.abs(several.gradient(X)).mean(axis=(0, 2)) * X.std(axis=0)
    assert np.allclose(ColumnRelevanceDisplay.from_estimator(several, X).values, wanted)


def test_shuffled_columns():
    display = ColumnRelevanceDisplay.from_estimator(Doubles(), X, 2 * X[:, 0])
    assert display.values[0] > 0.5
    assert display.values[1:].tolist() == [0.0, 0.0]  # they are not looked at
    assert display.spread[1:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_shuffled_columns_of_a_frame(make):
    frame = make({"size": X[:, 0], "word": np.where(X[:, 1] > 0, "p", "q")})
    display = ColumnRelevanceDisplay.from_estimator(Doubles(), frame, 2 * X[:, 0], max_points=50)
    assert display.names == ("size", "word")
    assert display.values[0] > 0.5
    assert display.values[1] == 0.0


def test_names_of_the_model_and_a_limit():
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    model = KernelRidge(kernel=Gaussian((0.1, 3.0, 0.5))).fit(frame, Y)
    display = ColumnRelevanceDisplay.from_estimator(model, most=2)
    assert display.names == ("a", "b", "c")
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["b", "c"]
    assert display.ax_.get_title() == "the first 2 of 3 columns"


def test_wrong_relevance():
    words = SVC(kernel=Spectrum(2)).fit(["ab", "ba", "abab"], [0, 1, 0])
    with pytest.raises(InputError, match=r"must have feature_importances_.*Hand in X"):
        ColumnRelevanceDisplay.from_estimator(words)
    with pytest.raises(InputError, match="method='gamma' needs a model that has it; got KernelRid"):
        ColumnRelevanceDisplay.from_estimator(MODEL, X, method="gamma")
    with pytest.raises(InputError, match="method='permutation' needs a model that has it; X and y"):
        ColumnRelevanceDisplay.from_estimator(MODEL, X, method="permutation")
    with pytest.raises(InputError, match="names must have one name for each of 2 columns; got 1"):
        ColumnRelevanceDisplay(values=[1.0, 2.0], names=["a"])


# --- dependence ----------------------------------------------------------------------------------


def mean_prediction(model, rows, column, value):
    moved = rows.copy()
    moved[:, column] = value
    return model.predict(moved).mean()


def test_means_and_slopes_by_definition():
    display = PartialDependenceDisplay.from_estimator(MODEL, X, 1)
    assert len(display.values) == 15
    for value, mean, slope in zip(display.values, display.mean, display.slopes, strict=True):
        assert mean == pytest.approx(mean_prediction(MODEL, X, 1, value))
        step = 1e-5
        ahead, behind = (mean_prediction(MODEL, X, 1, value + s) for s in (step, -step))
        assert slope == pytest.approx((ahead - behind) / (2 * step), abs=1e-6)


def test_the_curve_through_means_and_slopes():
    display = PartialDependenceDisplay.from_estimator(MODEL, X, 1)
    x, y = display.curve(50)
    wanted = [mean_prediction(MODEL, X, 1, value) for value in x]
    assert np.abs(y - wanted).max() < 0.05 * np.ptp(wanted)
    plain = PartialDependenceDisplay.from_estimator(MODEL, X, 1, method="prediction")
    assert plain.slopes is None
    assert len(plain.values) > 15
    assert np.allclose(plain.mean, [mean_prediction(MODEL, X, 1, v) for v in plain.values])


def test_a_line_is_a_line():
    model = KernelRidge(1e-9, kernel=Linear(), fit_intercept=True).fit(X, 3 * X[:, 2] - X[:, 0])
    display = PartialDependenceDisplay.from_estimator(model, X, 2)
    assert np.allclose(display.slopes, 3.0, atol=1e-6)
    x, y = display.curve()
    assert np.allclose(np.diff(y) / np.diff(x), 3.0, atol=1e-5)


def test_two_classes():
    model = SVC(kernel=Gaussian(0.3)).fit(X, np.where(Y > 0, "up", "down"))
    up = PartialDependenceDisplay.from_estimator(model, X, 1)
    down = PartialDependenceDisplay.from_estimator(model, X, 1, target="down")
    assert up.response == "mean score of up"
    assert np.allclose(up.mean, -down.mean)
    assert np.allclose(up.slopes, -down.slopes)
    moved = X.copy()
    moved[:, 1] = up.values[0]
    assert up.mean[0] == pytest.approx(model.decision_function(moved).mean())


def test_probabilities_of_several_classes():
    y = np.digitize(X[:, 1], [-1, 1])
    model = KernelRidgeClassifier().fit(X, y)
    display = PartialDependenceDisplay.from_estimator(model, X, 1, target=2, steps=5)
    moved = X.copy()
    moved[:, 1] = display.values[-1]
    assert display.mean[-1] == pytest.approx(model.predict_proba(moved)[:, 2].mean())
    assert display.response == "mean probability of 2"


def test_columns_of_every_type():
    n = 60
    frame = pl.DataFrame(
        {
            "size": X[:, 0],
            "rooms": random.integers(1, 4, n),
            "kind": random.choice(["flat", "house"], n),
            "day": [datetime.date(2024, 1, 1) + datetime.timedelta(days=k) for k in range(n)],
        }
    )
    model = AutoKernelClassifier(max_candidates=1).fit(frame, Y > 0)
    kind = PartialDependenceDisplay.from_estimator(model, frame, "kind")
    assert kind.is_categorical
    assert sorted(kind.values) == ["flat", "house"]
    place = list(kind.values).index("house")
    changed = frame.with_columns(pl.lit("house").alias("kind"))
    assert kind.mean[place] == pytest.approx(model.predict_proba(changed)[:, 1].mean())
    rooms = PartialDependenceDisplay.from_estimator(model, frame, "rooms")
    assert rooms.values.tolist() == [1.0, 2.0, 3.0]
    day = PartialDependenceDisplay.from_estimator(model, frame, "day", steps=4)
    assert day.values.dtype.kind == "M"
    assert len(day.mean) == 4


def test_missing_values_are_no_places():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0, 2.0], "b": [0.0, 0.0, 0.0, 0.0]})

    class First(RegressorMixin, BaseEstimator):
        def predict(self, rows):
            return np.nan_to_num(rows["a"].to_numpy())

    display = PartialDependenceDisplay.from_estimator(First(), frame, "a")
    assert display.values.tolist() == display.mean.tolist() == [1.0, 2.0, 3.0]


def test_wrong_dependence():
    frame = pl.DataFrame({"a": X[:, 0], "b": [f"text {k}" for k in range(60)]})
    three = KernelRidgeClassifier().fit(X, np.arange(60) % 3)
    several = KernelRidge().fit(X, np.column_stack([Y, Y]))
    with pytest.raises(InputError, match=r"column must be one of 'a', 'b'; got 'c'"):
        PartialDependenceDisplay.from_estimator(Doubles(), frame, "c")
    with pytest.raises(InputError, match="target must be one of the classes 0, 1, 2; got None"):
        PartialDependenceDisplay.from_estimator(three, X, 0)
    with pytest.raises(InputError, match="target must be one of the classes 0, 1, 2; got 7"):
        PartialDependenceDisplay.from_estimator(three, X, 0, target=7)
    with pytest.raises(InputError, match="method='gradient' needs a column of numbers"):
        PartialDependenceDisplay.from_estimator(Doubles(), X, 0, method="gradient")
    with pytest.raises(InputError, match="texts that are all different"):
        PartialDependenceDisplay.from_estimator(Doubles(), frame, "b")
    with pytest.raises(InputError, match="must predict one number per point"):
        PartialDependenceDisplay.from_estimator(several, X, 0, method="prediction")
    with pytest.raises(InputError, match="values must rise"):
        PartialDependenceDisplay(values=[1.0, 1.0], mean=[0.0, 0.0])
