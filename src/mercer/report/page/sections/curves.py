"""Learning and validation curves."""

from __future__ import annotations

import numpy as np

from ....plots import LearningCurveDisplay, ValidationCurveDisplay
from ...facts import Facts
from ...measure.curves import LearningCurve, ValidationCurve
from ...words import count, number
from ..markup import Html
from ..pictures import figure
from .base import Section, absences, pictures

PARTS = ("the learning curve", "the validation curve")
FLAT = 0.01  # a gain that is none


def curves_section(facts: Facts) -> Section:
    """Return what more rows or other parameters would do."""
    drawn = [] if facts.learning_curve is None else [_learning(facts.learning_curve)]
    drawn += [_validation(one, place) for place, one in enumerate(facts.validation_curves)]
    body = pictures(*drawn) + "".join(absences(facts, PARTS))
    return Section(key="curves", title="More rows, other parameters", body=Html(body))


def _learning(curve: LearningCurve) -> Html:
    held = curve.held_out.mean(axis=1)
    gain = float(held[-1] - held[-2])
    hint = "more rows are likely to help" if gain > FLAT else "more rows of the kind add little"
    text = (
        f"Learning curve: {curve.measure} on rows left out, from {number(held[0], 3)} with "
        f"{count(curve.sizes[0])} rows to {number(held[-1], 3)} with {count(curve.sizes[-1])}; the "
        f"last step brought {number(gain, 2)}, so {hint}. Fitted: {curve.what}."
    )
    display = LearningCurveDisplay(
        sizes=np.array(curve.sizes, dtype=np.float64),
        train_scores=curve.training,
        test_scores=curve.held_out,
        score=curve.measure,
    )
    return figure(display, "learning", text, label=f"Learning curve of {curve.measure}")


def _validation(curve: ValidationCurve, place: int) -> Html:
    held = curve.held_out.mean(axis=1)
    best = int(held.argmax())
    at = int(np.argmin(np.abs(np.log(np.array(curve.values) / curve.chosen))))
    text = (
        f"Validation curve of {curve.parameter}: the model has {number(curve.chosen, 3)}, where "
        f"{curve.measure} on rows left out is {number(held[at], 3)}; the best of "
        f"{len(curve.values)} values is {number(curve.values[best], 3)} with "
        f"{number(held[best], 3)}, with {count(curve.rows)} rows to learn from."
    )
    display = ValidationCurveDisplay(
        values=np.array(curve.values),
        train_scores=curve.training,
        test_scores=curve.held_out,
        name=curve.parameter,
        score=curve.measure,
    )
    return figure(
        display, f"validation{place}", text, label=f"Validation curve of {curve.parameter}"
    )
