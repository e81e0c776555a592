"""Scores of a saved model on labelled data, beside those of its card."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array
from ...data import read
from ...files import CardScore
from ...report.measure.scores import Draws, Score, measures_of, scores_of
from ...report.subject import values_of
from ..errors import data_error
from ..learn.judging import error_of
from ..learn.training import Reading, no_target
from ..outputs import STANDARD
from ..show.parts import bullet, heading, pairs, table, with_error
from ..show.scores import confusion_screen
from .models import Stored, class_names, read_model, require_predictor
from .predicting import Asked, Predictor

if TYPE_CHECKING:
    from ...data import Dataset
    from ..screen import Screen

WHO = "mercer evaluate"
CLEAR = 3.0  # standard errors of a difference that is no chance


def evaluate(
    screen: Screen, reading: Reading, *, path: str, source: str, target: str | None, seed: int
) -> None:
    """Score a model and show the result."""
    if path == source == STANDARD:
        from ..errors import usage

        raise usage(WHO, "MODEL and DATA must not both be standard input", "- and -")
    stored = read_model(path, WHO)
    require_predictor(stored, WHO)
    predictor = Predictor(stored, Asked(), WHO)
    found = _labelled(stored, predictor, source, target, reading)
    with screen.bar("Predicting"):
        truth, values = _values(stored, predictor, found)
    measures = measures_of(stored.is_classifier, _has_chances(stored))
    scores = scores_of(measures, truth, values, Draws.of(len(truth), None, seed))
    lines = [_line(stored, score) for score in scores]
    predictor.tell(screen)
    if stored.card is not None and found.sha256 == stored.card.sha256:
        screen.warn("These are the rows of the fit: the scores here are better than of any others.")
    worse = [line for line in lines if line["clearly_worse"]]
    _show(screen, stored, found, lines, worse)
    if stored.is_classifier and not screen.as_json:
        screen.show(*confusion_screen(truth, values.argmax(axis=1), class_names(stored)))
    screen.result |= {"rows": len(truth), "target": found.target, "scores": lines}
    screen.result["outside"] = predictor.outside


def _labelled(
    stored: Stored, predictor: Predictor, source: str, target: str | None, reading: Reading
) -> Dataset:
    """Return data with its truth."""
    options = predictor.options(source, reading)
    name = target
    if name is None and stored.points in ("", "table") and stored.columns is not None:
        name = None if stored.card is None else stored.card.target
    found = read(source, target=name, **options)
    if found.y is None:
        raise no_target(found, WHO)
    return found


def _has_chances(stored: Stored) -> bool:
    return stored.is_classifier and hasattr(stored.model, "predict_proba")


def _values(stored: Stored, predictor: Predictor, found: Dataset) -> tuple[Array, Array]:
    """Return the truth, as numbers of classes or as a column, and what is predicted."""
    points = predictor.points(found)
    if not stored.is_classifier:
        if found.y is None or found.y.dtype.kind not in "iuf":
            raise data_error(
                WHO, f"the target {found.target!r} must hold numbers", "something else"
            )
        return found.y.astype(np.float64)[:, None], values_of(stored.model, points, None)
    classes = np.asarray(stored.last.classes_)
    places = {str(label): place for place, label in enumerate(classes.tolist())}
    texts = [_label(one) for one in np.asarray(found.y).tolist()]
    strange = next((row for row, text in enumerate(texts) if text not in places), None)
    if strange is not None:
        must = f"every class must be one of those of the model, {', '.join(places)}"
        raise data_error(WHO, must, f"{texts[strange]!r} in row {strange}")
    truth = np.array([places[text] for text in texts], dtype=np.intp)
    return truth, values_of(stored.model, points, classes)


def _label(value: Any) -> str:
    """Return a class as a text: 1.0 is the class 1."""
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def _line(stored: Stored, score: Score) -> dict[str, Any]:
    """Return a score beside the one that the card has."""
    known = None if stored.card is None else _known(stored.card.scores, score.name)
    error = error_of(score)
    found: dict[str, Any] = {
        "measure": score.name,
        "value": score.value,
        "standard_error": error,
        "better": "higher" if score.larger_is_better else "lower",
        "at_fit": None if known is None else known.value,
        "at_fit_standard_error": None if known is None else known.error,
        "clearly_worse": False,
    }
    if known is not None and error is not None and known.error is not None:
        loss = (known.value - score.value) * (1 if score.larger_is_better else -1)
        found["clearly_worse"] = loss > CLEAR * math.hypot(error, known.error)
    return found


def _known(scores: tuple[CardScore, ...], name: str) -> CardScore | None:
    return next((one for one in scores if one.measure == name), None)


def _show(
    screen: Screen, stored: Stored, found: Dataset, lines: list[dict[str, Any]], worse: list[Any]
) -> None:
    rows = []
    for line in lines:
        fit = (
            ""
            if line["at_fit"] is None
            else with_error(line["at_fit"], line["at_fit_standard_error"])
        )
        mark = "clearly worse than at the fit" if line["clearly_worse"] else ""
        rows.append([line["measure"], with_error(line["value"], line["standard_error"]), fit, mark])
    screen.show(
        heading(stored.path, f"on {len(found):,} rows of {found.source}"),
        table(("", "here", "at the fit", ""), rows, right=(1, 2)),
    )
    if worse:
        screen.show(
            bullet(
                "These rows are not like those of the fit: see what is flagged above, or fit anew."
            )
        )
    how = [] if stored.card is None else list({one.how for one in stored.card.scores})
    if how:
        screen.show(pairs([("at the fit", how[0])]))
    screen.show("")
