"""Losses: hand values, derivatives, refusals, and the conformance suite on mistakes."""

from dataclasses import dataclass

import numpy as np
import pytest

from mercer import InputError
from mercer.losses import (
    OF_CLASSES,
    OF_NUMBERS,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Quantile,
    SmoothedHinge,
    Softmax,
    Squared,
    SquaredHinge,
    check_loss,
    to_loss,
)
from mercer.testing import LOSS_CHECKS, check_loss_conformance

SIGNS, NUMBERS = np.array([-1.0, 1.0]), np.array([-1.3, 0.0, 0.4, 2.5])
INDICATORS = np.eye(3)[[0, 2, 1, 1]]
SMOOTH = [
    (Squared(), NUMBERS),
    (Logistic(), SIGNS),
    (Softmax(), INDICATORS),
    (SquaredHinge(), SIGNS),
    (SmoothedHinge(), SIGNS),
    (SmoothedHinge(2.0), SIGNS),
    (Huber(), NUMBERS),
    (Huber(0.3), NUMBERS),
    (Poisson(), np.array([0.0, 1.0, 4.0])),
]


@pytest.mark.parametrize(
    ("loss", "f", "y", "value"),
    [
        (Squared(), 3.0, 1.0, 2.0),
        (Logistic(), 0.0, -1.0, np.log(2)),
        (Logistic(), 800.0, -1.0, 800.0),  # no overflow
        (SquaredHinge(), -1.0, 1.0, 4.0),
        (SquaredHinge(), 1.5, 1.0, 0.0),
        (SmoothedHinge(0.5), 0.75, 1.0, 0.0625),
        (SmoothedHinge(0.5), 0.0, 1.0, 0.75),
        (Hinge(), 0.25, -1.0, 1.25),
        (Huber(1.0), 0.5, 0.0, 0.125),
        (Huber(1.0), -3.0, 0.0, 2.5),
        (EpsilonInsensitive(0.1), 1.0, 0.5, 0.4),
        (EpsilonInsensitive(0.1), 0.55, 0.5, 0.0),
        (Quantile(0.9), 0.0, 2.0, 1.8),
        (Quantile(0.9), 2.0, 0.0, 0.2),
        (Poisson(), 0.0, 3.0, 1.0),
    ],
)
def test_values_by_hand(loss, f, y, value):
    assert loss.value(np.array([[f]]), np.array([[y]]))[0, 0] == pytest.approx(value, rel=1e-12)


def test_softmax_by_hand():
    f, y = np.log([[1.0, 2.0, 5.0]]), np.array([[0.0, 1.0, 0.0]])
    assert Softmax().value(f, y) == pytest.approx(np.log(4))
    assert np.allclose(Softmax().gradient(f, y), [[1 / 8, 2 / 8 - 1, 5 / 8]])
    assert np.allclose(Softmax().probabilities(f + 700), [[1 / 8, 2 / 8, 5 / 8]])


@pytest.mark.parametrize(("loss", "y"), SMOOTH, ids=lambda item: str(item)[:20])
def test_conformance(loss, y):
    assert check_loss_conformance(loss, y) == [check.__name__ for check in LOSS_CHECKS]


@dataclass(frozen=True)
class Mistaken(Squared):
    """A squared loss with one mistake."""

    slope: float = 1.0
    bend: float = 1.0
    wave: float = 0.0
    writes: bool = False
    narrow: bool = False

    def value(self, f, y):
        found = (f - y) ** 2 / 2 + self.wave * np.cos(f)
        return found.sum() if self.narrow else found

    def gradient(self, f, y):
        if self.writes:
            f += 1e-9
        return self.slope * (f - y) - self.wave * np.sin(f)

    def curvature(self, f, y):
        return np.full_like(f, self.bend)


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (Mistaken(slope=1.01), "gradient of a loss must be the derivative of its value"),
        (Mistaken(slope=-1.0), "gradient of a loss must be the derivative of its value"),
        (Mistaken(bend=-1.0), "curvature of a loss must not be negative"),
        (Mistaken(bend=0.5), "curvature must not be below the second derivative"),
        (Mistaken(bend=np.inf), "curvature of a loss must be finite"),
        (Mistaken(wave=3.0), "must be convex"),
        (Mistaken(writes=True), "must not be written to"),
        (Mistaken(narrow=True), "value of a loss must be finite, of the shape"),
    ],
)
def test_the_suite_catches_mistakes(loss, told):
    with pytest.raises(AssertionError, match=told):
        check_loss_conformance(loss, NUMBERS)


def test_a_curvature_that_bounds_is_allowed():
    check_loss_conformance(Mistaken(bend=2.0), NUMBERS)


def test_a_loss_is_tried_at_the_targets_of_a_fit():
    with pytest.raises(InputError, match="KernelX: the gradient of a loss must be the derivative"):
        check_loss("KernelX", Mistaken(slope=0.9), NUMBERS[:, None])


def test_names_and_objects():
    assert to_loss("Model", "huber", OF_NUMBERS) == Huber()
    assert to_loss("Model", Huber(3), OF_NUMBERS) == Huber(3)
    assert to_loss("Model", Hinge(), OF_CLASSES) == Hinge()
    own = Mistaken()
    assert to_loss("Model", own, OF_CLASSES) is own


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        ("hubber", "loss must be one of"),
        (object(), "without value, gradient, curvature"),
        (Squared, "a loss must be one of squared"),
        (3.0, "a loss must be one of"),
    ],
)
def test_what_is_no_loss_is_refused(loss, told):
    with pytest.raises(InputError, match=told):
        to_loss("Model", loss, OF_NUMBERS)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Huber(0), "delta must be a finite number above 0"),
        (lambda: SmoothedHinge(-1), "width must be a finite number above 0"),
        (lambda: EpsilonInsensitive(-0.1), "epsilon must be a finite number at least 0"),
        (lambda: Quantile(0), "q must be a finite number above 0"),
        (lambda: Quantile(1), "q must be below 1"),
        (lambda: Quantile(1.5), "q must be"),
        (lambda: Poisson().check("Model", np.array([1.0, -2.0])), "y must not be negative"),
    ],
)
def test_parameters_and_targets_that_mean_nothing_are_refused(make, told):
    with pytest.raises(InputError, match=told):
        make()
