"""Confusion and calibration, counted by hand."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from mercer import SVC, KernelRidge, KernelRidgeClassifier
from mercer.checks import InputError
from mercer.plots import CalibrationDisplay, ConfusionDisplay

random = np.random.default_rng(1)
X = random.normal(size=(120, 2))
Y = np.digitize(X[:, 0] + random.normal(0, 0.5, 120), [-0.5, 0.5])


def test_counts():
    model = KernelRidgeClassifier().fit(X, Y)
    display = ConfusionDisplay.from_estimator(model, X, Y)
    assert np.array_equal(display.counts, confusion_matrix(Y, model.predict(X)))
    assert np.allclose(display.shares.sum(axis=1), 1.0)
    right = 100 * np.mean(model.predict(X) == Y)
    assert display.ax_.get_title() == f"{right:.1f} % right"
    written = [text.get_text() for text in display.ax_.texts]
    assert written == [f"{count:g}" for count in display.counts.ravel() if count]


def test_classes_in_an_order_of_ones_own():
    display = ConfusionDisplay.from_predictions(["a", "b"], ["a", "a"], classes=["c", "b", "a"])
    assert display.counts.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 1]]
    assert display.shares[0].tolist() == [0, 0, 0]  # a class without points


def test_wrong_counts():
    with pytest.raises(InputError, match=r"counts must have the shape \(2, 2\)"):
        ConfusionDisplay(counts=[[1.0]], classes=["a", "b"])
    with pytest.raises(InputError, match="counts must be at least 0; got -1"):
        ConfusionDisplay(counts=[[-1.0]], classes=["a"])
    with pytest.raises(InputError, match="classes must be among a; got 'b' in row 1"):
        ConfusionDisplay.from_predictions(["a", "b"], ["a", "a"], classes=["a"])
    with pytest.raises(InputError, match=r"guess must have shape \(1,\)"):
        ConfusionDisplay.from_predictions(["a"], ["a", "a"])
    with pytest.raises(InputError, match="must be a fitted classifier; got KernelRidge"):
        ConfusionDisplay.from_estimator(KernelRidge().fit(X, Y), X, Y)


# --- calibration ---------------------------------------------------------------------------------


def test_bins_by_hand():
    display = CalibrationDisplay(
        probabilities=[0.0, 0.1, 0.6, 0.7, 0.8, 1.0],
        outcomes=[False, True, True, False, True, True],
        bins=2,
    )
    assert display.counts.tolist() == [2, 4]
    assert display.predicted == pytest.approx([0.05, 0.775])
    assert display.observed == pytest.approx([0.5, 0.75])
    assert display.error == pytest.approx((2 * 0.45 + 4 * 0.025) / 6)


def test_intervals_of_wilson():
    # 5 of 10: (0.5 + z^2/20 ± z sqrt(0.025 + z^2/400)) / (1 + z^2/10) = 0.2366 and 0.7634.
    display = CalibrationDisplay(probabilities=[0.5] * 10, outcomes=[0, 1] * 5)
    assert display.intervals[0] == pytest.approx([0.2366, 0.7634], abs=1e-4)


def test_empty_bins_are_left_out():
    display = CalibrationDisplay(probabilities=[0.05, 0.95], outcomes=[False, True])
    assert len(display.counts) == 2
    assert display.plot().has_data()


def test_probabilities_of_a_model():
    two = SVC(probability=True).fit(X, Y > 0)
    display = CalibrationDisplay.from_estimator(two, X, Y > 0)
    assert np.allclose(display.probabilities, two.predict_proba(X)[:, 1])
    assert display.event == "class True"
    three = KernelRidgeClassifier().fit(X, Y)
    display = CalibrationDisplay.from_estimator(three, X, Y)
    chances = three.predict_proba(X)
    assert np.allclose(display.probabilities, chances.max(axis=1))
    assert np.array_equal(display.outcomes, chances.argmax(axis=1) == Y)


def test_wrong_probabilities():
    with pytest.raises(InputError, match=r"probabilities must be from 0 to 1; got 1\.5"):
        CalibrationDisplay(probabilities=[1.5], outcomes=[True])
    with pytest.raises(InputError, match="outcomes must be True or False; got 2"):
        CalibrationDisplay(probabilities=[0.5], outcomes=[2])
    with pytest.raises(InputError, match="bins must be a whole number at least 1"):
        CalibrationDisplay(probabilities=[0.5], outcomes=[True], bins=0)
    with pytest.raises(InputError, match=r"method predict_proba; got SVC.*probability=True"):
        CalibrationDisplay.from_estimator(SVC().fit(X, Y), X, Y)
