"""Where the model errs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....plots import CalibrationDisplay, ConfusionDisplay, ResidualsDisplay
from ...facts import Facts
from ...measure.errors import Calibration, Confusions, Miss, Residuals
from ...words import NOTHING, count, number, quoted, share
from ..markup import Html, element, paragraph, table
from ..pictures import WIDTH, figure, word, words
from .base import Section, absences, pictures, shown_row

MOST_CLASSES = 12  # that a picture of confusions can name


def errors_section(facts: Facts) -> Section:
    """Return residuals of numbers, or confusions and calibration of classes."""
    parts: list[Html] = []
    if facts.residuals is not None:
        parts += _residuals(facts, facts.residuals)
    if facts.confusions is not None:
        parts += _classes(facts, facts.confusions)
    if not parts:
        parts.append(
            paragraph(
                "There are no honest predictions whose errors could be shown.", class_="missing"
            )
        )
    parts += absences(facts, ["the judgement on rows of the fit"]) if not facts.judgements else []
    return Section(key="errors", title="Where it errs", body=Html("".join(parts)))


def _residuals(facts: Facts, found: Residuals) -> list[Html]:
    quantiles = found.quantiles
    text = (
        f"Errors of {count(len(found.truth))} rows that the model had not seen, against what it "
        f"predicted. Half of all errors are between {number(quantiles['0.25'], 3)} and "
        f"{number(quantiles['0.75'], 3)}, nine in ten between {number(quantiles['0.05'], 3)} and "
        f"{number(quantiles['0.95'], 3)}; the mean error is {number(found.bias, 2)}."
    )
    display = ResidualsDisplay(predicted=found.predicted, truth=found.truth)
    drawn = figure(
        display, "residuals", text, label="Errors against predictions", size=(WIDTH, 3.3)
    )
    return [pictures(drawn), *_worst(facts, found.worst, "error", "Largest errors")]


def _classes(facts: Facts, found: Confusions) -> list[Html]:
    drawn = []
    total, hits = int(found.counts.sum()), int(np.trace(found.counts))
    if len(found.labels) <= MOST_CLASSES:
        text = (
            f"Confusions of {count(total)} rows that the model had not seen: rows are the classes "
            f"that came true, columns those that were given. {count(hits)} are right. "
            f"{_pairs(found)}"
        ).strip()
        side = 3.3 + 0.15 * max(len(found.labels) - 4, 0)
        display = ConfusionDisplay(counts=found.counts, classes=words(found.labels))
        drawn.append(
            figure(display, "confusions", text, label="Confusion matrix", size=(WIDTH, side))
        )
    if facts.calibration is not None:
        drawn.append(_calibration(facts.calibration))
    parts = [pictures(*drawn)]
    if facts.calibration is None:
        text = "The model gives no probabilities, so that there is no calibration to show."
        parts.append(paragraph(text, class_="missing"))
    parts.append(_by_class(found))
    if facts.calibration is None:
        return parts + _worst(facts, found.worst, "", "Some mistakes")
    return parts + _worst(facts, found.worst, "probability", "Most confident mistakes")


def _pairs(found: Confusions) -> str:
    if not found.pairs:
        return ""
    true, given, rows = found.pairs[0]
    return f"The most frequent confusion is {quoted(true)} taken for {quoted(given)}, {rows} times."


def _calibration(found: Calibration) -> Html:
    text = (
        f"Calibration: how often {found.event} came true against the probability that was given to "
        f"it, in {len(found.counts)} bins. The two differ by {share(found.error)} on average; "
        f"chance alone makes it {share(found.expected_error)}."
    )
    display = CalibrationDisplay(
        probabilities=found.probabilities, outcomes=found.outcomes, event=word(found.event)
    )
    return figure(display, "calibration", text, label="Calibration curve", size=(WIDTH, 3.5))


def _by_class(found: Confusions) -> Html:
    """Return how well each class is found."""
    rows = []
    for place, label in enumerate(found.labels):
        size = int(found.counts[place].sum())
        given = int(found.counts[:, place].sum())
        rows.append(
            [
                label,
                count(size),
                share(found.recall[place]),
                count(given),
                share(found.precision[place]),
            ]
        )
    head = ["class", "rows", "found (recall)", "given", "right (precision)"]
    return table(head, rows, label="Each class", numbers=(1, 2, 3, 4))


def _worst(facts: Facts, worst: Sequence[Miss], measure: str, title: str) -> list[Html]:
    if not worst:
        return []
    columns = facts.excerpt.columns if facts.judgement and facts.judgement.on != "test" else ()
    head = ["row", "truth", "predicted", *([measure] if measure else []), *columns]
    rows = []
    for one in worst:
        line = [count(one.row), _text(one.truth), _text(one.predicted)]
        line += [number(one.size, 3)] if measure else []
        rows.append(line + (shown_row(facts.excerpt, one.row) if columns else []))
    numbers = (0, 1, 2, 3) if not facts.is_class else (0, 3) if measure else (0,)
    which = "test rows" if not columns and facts.judgement else "the data"
    note = f"Rows of {which} are numbered from 0."
    return [
        element("h3", title),
        table(head, rows, label=title, numbers=numbers),
        paragraph(note, class_="how"),
    ]


def _text(value: float | str) -> str:
    if isinstance(value, str):
        return value or NOTHING
    return number(value)
