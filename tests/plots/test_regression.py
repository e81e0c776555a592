"""Curves with bands, and residuals with quantiles."""

import numpy as np
import polars as pl
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor

from mercer import SVR, AutoKernelRegressor, KernelRidge
from mercer.checks import InputError
from mercer.kernels import Gaussian, Linear
from mercer.plots import RegressionBandDisplay, ResidualsDisplay

random = np.random.default_rng(3)
X = np.sort(random.uniform(-3, 3, 30))[:, None]
Y = np.sin(X[:, 0]) + random.normal(0, 0.1, 30)
MODEL = KernelRidge(0.1, kernel=Gaussian(1.0)).fit(X, Y)


def test_the_band_is_two_deviations():
    display = RegressionBandDisplay.from_estimator(MODEL, X, Y, steps=20)
    mean, deviation = MODEL.predict(display.x[:, None], return_std=True)
    assert np.allclose(display.mean, mean)
    assert np.allclose(display.low, mean - 2 * deviation)
    assert np.allclose(display.high, mean + 2 * deviation)
    assert display.x[0] < X.min() < X.max() < display.x[-1]
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["± 2 standard deviations of a new y", "prediction"]


def test_other_bands():
    wide = RegressionBandDisplay.from_estimator(MODEL, X[:, 0], Y, steps=20, deviations=3)
    narrow = RegressionBandDisplay.from_estimator(MODEL, X[:, 0], Y, steps=20, deviations=1)
    assert np.allclose(wide.high - wide.mean, 3 * (narrow.high - narrow.mean))


def test_an_interval():
    model = AutoKernelRegressor(max_candidates=1).fit(X, Y)
    display = RegressionBandDisplay.from_estimator(model, X, Y, steps=10, coverage=0.8)
    low, high = model.predict_interval(display.x[:, None], 0.8)
    assert np.allclose(display.low, low)
    assert np.allclose(display.high, high)
    assert display.band == "80 % of new y"


def test_a_model_without_a_band():
    display = RegressionBandDisplay.from_estimator(SVR().fit(X, Y), X, steps=10)
    assert display.low is None
    assert display.high is None
    assert display.X is None


def test_a_model_of_scikit_learn():
    model = GaussianProcessRegressor(optimizer=None).fit(X, Y)
    display = RegressionBandDisplay.from_estimator(model, X, Y, steps=10)
    assert np.allclose(
        display.high, display.mean + 2 * model.predict(display.x[:, None], return_std=True)[1]
    )


def test_one_of_several_columns():
    frame = pl.DataFrame({"a": X[:, 0], "b": 5 + random.normal(size=30)})
    model = KernelRidge(1.0, kernel=Linear(), fit_intercept=True).fit(frame, Y)
    display = RegressionBandDisplay.from_estimator(model, frame, Y, column="b", steps=10)
    assert display.names[0] == "b"
    point = pl.DataFrame({"a": [frame["a"].mean()], "b": [display.x[3]]})
    assert display.mean[3] == pytest.approx(model.predict(point)[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mean": [1.0]}, r"mean must have shape \(2,\)"),
        ({"low": [0.0, 0.0]}, "low and high must be given together; got low only"),
        ({"high": [0.0, 0.0]}, "low and high must be given together; got high only"),
        ({"y": [0.0]}, "X and y must be given together; got y only"),
        ({"x": []}, "x must have at least one entry"),
        ({"x": [0.0, np.inf]}, "x must be finite"),
    ],
)
def test_wrong_numbers(change, message):
    with pytest.raises(InputError, match=message):
        RegressionBandDisplay(**{"x": [0.0, 1.0], "mean": [0.0, 1.0]} | change)


def test_wrong_models_and_points():
    with pytest.raises(InputError, match=r"got 2 columns\. Say column=0\."):
        RegressionBandDisplay.from_estimator(MODEL, np.column_stack([X, X]), Y)
    several = KernelRidge().fit(X, np.column_stack([Y, Y]))
    with pytest.raises(InputError, match="must predict one number per point"):
        RegressionBandDisplay.from_estimator(several, X)
    with pytest.raises(InputError, match="deviations must be a finite number above 0"):
        RegressionBandDisplay.from_estimator(MODEL, X, deviations=0)
    with pytest.raises(InputError, match="must have a method predict; got Gaussian"):
        RegressionBandDisplay.from_estimator(Gaussian(), X)


# --- residuals -----------------------------------------------------------------------------------


def test_residuals_of_a_model():
    display = ResidualsDisplay.from_estimator(MODEL, X, Y)
    assert np.allclose(display.residuals, Y - MODEL.predict(X))
    assert np.allclose(display.quantiles, np.quantile(Y - MODEL.predict(X), [0.05, 0.5, 0.95]))


def test_quantiles_in_parts():
    predicted = random.permutation(1000.0 + np.arange(400))
    truth = predicted + (predicted - 1000) * random.choice([-1, 1], 400)
    display = ResidualsDisplay(predicted=predicted, truth=truth, levels=(0.1, 0.5, 0.9))
    assert display.quantiles.shape == (10, 3)
    order = np.argsort(predicted)
    for part in range(10):
        rows = order[40 * part : 40 * part + 40]
        assert display.centres[part] == np.median(predicted[rows])
        wanted = np.quantile(truth[rows] - predicted[rows], [0.1, 0.5, 0.9])
        assert np.allclose(display.quantiles[part], wanted)
    spread = display.quantiles[:, 2] - display.quantiles[:, 0]
    assert (np.diff(spread) > 0).all()


def test_wrong_residuals():
    with pytest.raises(InputError, match=r"truth must have shape \(1,\)"):
        ResidualsDisplay(predicted=[1.0], truth=[1.0, 2.0])
    with pytest.raises(InputError, match="levels must be a finite number at least 0 and at most 1"):
        ResidualsDisplay(predicted=[1.0], truth=[1.0], levels=(5,))
    with pytest.raises(InputError, match="predicted must have at least one entry"):
        ResidualsDisplay(predicted=[], truth=[])
