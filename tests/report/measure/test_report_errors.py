"""Residuals, confusions and calibration against direct computations."""

import numpy as np
import pytest
from report_samples import rows
from sklearn.metrics import confusion_matrix

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.report.measure.errors import calibration_of, confusions_of, residuals_of
from mercer.report.subject import make_subject

X, Y, LABELS = rows(120)
EVERY = np.arange(120)


def test_residuals():
    model = KernelRidge(0.1).fit(X, Y)
    values = Y[:, None] + np.linspace(-1.0, 3.0, 120)[:, None]
    found = residuals_of(make_subject(model, X, Y), EVERY, values)
    assert found.bias == pytest.approx(-1.0)
    assert found.quantiles["0.5"] == pytest.approx(-1.0)
    assert found.worst[0].row == 119
    assert found.worst[0].size == pytest.approx(-3.0)
    np.testing.assert_array_equal(found.truth, Y)


def test_errors_that_grow_with_the_prediction():
    predicted = np.linspace(1.0, 100.0, 400)
    truth = predicted * (1 + 0.1 * np.where(np.arange(400) % 2, 1, -1))
    points = predicted[:, None]
    subject = make_subject(KernelRidge().fit(points, truth), points, truth)
    found = residuals_of(subject, np.arange(400), predicted[:, None])
    above, below = predicted[predicted >= np.quantile(predicted, 0.75)], predicted[:100]
    assert found.spread_ratio == pytest.approx(above.mean() / below.mean(), rel=0.02)


def test_confusions():
    model = KernelRidgeClassifier(probability=True).fit(X, LABELS)
    values = model.predict_proba(X)
    found = confusions_of(make_subject(model, X, LABELS), EVERY, values)
    np.testing.assert_array_equal(found.counts, confusion_matrix(LABELS, model.predict(X)))
    assert found.recall[0] == pytest.approx(found.counts[0, 0] / found.counts[0].sum())
    assert found.precision[1] == pytest.approx(found.counts[1, 1] / found.counts[:, 1].sum())
    wrong = found.counts.sum() - np.trace(found.counts)
    assert sum(rows for *_, rows in found.pairs) == wrong
    assert all(one.truth != one.predicted for one in found.worst)
    assert list(found.worst) == sorted(found.worst, key=lambda one: one.size)


def test_a_class_that_is_never_given_has_no_precision():
    subject = make_subject(KernelRidgeClassifier().fit(X, LABELS), X, LABELS)
    found = confusions_of(subject, EVERY, np.tile([1.0, 0.0], (120, 1)))
    assert found.precision[1] is None
    assert found.recall == (1.0, 0.0)


def test_probabilities_that_are_right_are_calibrated():
    random = np.random.default_rng(0)
    chance = random.random(4000)
    y = np.where(random.random(4000) < chance, "yes", "no")
    points = chance[:, None]
    subject = make_subject(KernelRidgeClassifier().fit(points, y), points, y)
    right = calibration_of(subject, np.arange(4000), np.column_stack([1 - chance, chance]))
    assert right.event == "class yes"
    assert sum(right.counts) == 4000
    assert right.error == pytest.approx(right.expected_error, rel=0.8)
    moved = np.clip(chance + 0.2, 0, 1)
    wrong = calibration_of(subject, np.arange(4000), np.column_stack([1 - moved, moved]))
    assert wrong.error == pytest.approx(0.18, abs=0.03)
    assert wrong.error > 5 * wrong.expected_error
