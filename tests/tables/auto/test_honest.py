"""Predictions of training rows by ensembles that have not seen them."""

import io

import numpy as np
import pytest
from sklearn.metrics import log_loss

from mercer import AutoKernelClassifier, AutoKernelRegressor, load, save

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(90, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * RANDOM.normal(size=90)
LABELS = np.array(["low", "middle", "top"])[np.digitize(Y, [-0.7, 0.7])]


@pytest.fixture(scope="module")
def classifier():
    return AutoKernelClassifier(max_candidates=14).fit(X, LABELS)


@pytest.fixture(scope="module")
def regressor():
    return AutoKernelRegressor(max_candidates=14).fit(X, Y)


def test_the_loss_of_the_certificate_is_that_of_the_predictions(classifier, regressor):
    known = classifier.out_of_sample_
    assert np.array_equal(known.rows, np.arange(90))
    np.testing.assert_allclose(known.values.sum(axis=1), 1.0)
    loss = log_loss(LABELS, known.values, labels=classifier.classes_)
    assert np.isclose(loss, classifier.certificate_.loss)
    known = regressor.out_of_sample_
    error = np.mean((Y - known.values[:, 0]) ** 2) / Y.var()
    assert np.isclose(error, regressor.certificate_.loss)


def test_the_losses_of_baselines_are_those_of_their_predictions(classifier, regressor):
    known = classifier.out_of_sample_.baselines
    assert known.keys() == classifier.baselines_.keys() >= {"constant", "linear"}
    for name, values in known.items():
        loss = log_loss(LABELS, values, labels=classifier.classes_)
        assert np.isclose(loss, classifier.baselines_[name])
    for name, values in regressor.out_of_sample_.baselines.items():
        assert np.isclose(np.mean((Y - values[:, 0]) ** 2) / Y.var(), regressor.baselines_[name])


def test_they_are_worse_than_predictions_of_rows_that_were_seen(regressor):
    honest = np.mean((Y - regressor.out_of_sample_.values[:, 0]) ** 2)
    assert np.mean((Y - regressor.predict(X)) ** 2) < honest


def test_noise_is_not_predicted():
    noise = np.random.default_rng(8).normal(size=90)
    model = AutoKernelRegressor(max_candidates=10).fit(X, noise)
    found = np.corrcoef(model.out_of_sample_.values[:, 0], noise)[0, 1]
    assert found < 4 / np.sqrt(90)  # seen rows would give nearly 1


def test_rows_are_those_of_the_user():
    weight = np.where(np.arange(90) < 20, 0.0, 1.0)
    model = AutoKernelRegressor(max_candidates=3).fit(X, Y, sample_weight=weight)
    assert np.array_equal(model.out_of_sample_.rows, np.arange(20, 90))
    model = AutoKernelRegressor(max_candidates=3, split="time").fit(X, Y)
    assert np.array_equal(model.out_of_sample_.rows, np.arange(72, 90))
    assert len(model.out_of_sample_.values) == 18


def test_a_file_keeps_them(classifier, regressor):
    for model in (classifier, regressor):
        buffer = io.BytesIO()
        save(model, buffer)
        known, found = model.out_of_sample_, load(buffer.getvalue()).out_of_sample_
        assert np.array_equal(found.rows, known.rows)
        assert np.array_equal(found.values, known.values)
        assert found.baselines.keys() == known.baselines.keys()
        for name, values in known.baselines.items():
            assert np.array_equal(found.baselines[name], values)
