"""Which columns matter, and how."""

from __future__ import annotations

import numpy as np

from ....checks import Array
from ....plots import ColumnRelevanceDisplay, PartialDependenceDisplay
from ...facts import Facts
from ...measure.columns import Dependence, Relevances
from ...table.summary import date_text
from ...words import entry, number, quoted, share
from ..markup import Html, element, folded, paragraph, table
from ..pictures import WIDTH, figure, word, words
from .base import Section, absences, pictures

MOST, MOST_LISTED = 15, 200  # columns of the picture and of the table
PARTS = ("which columns matter", "how predictions depend on columns", "what columns say alone")


def columns_section(facts: Facts) -> Section:
    """Return which columns matter, and how predictions depend on them."""
    parts: list[Html] = []
    if facts.relevances is not None:
        parts += _relevances(facts, facts.relevances)
    if facts.dependences:
        parts.append(element("h3", "How predictions depend on them"))
        parts.append(paragraph(_averaged(facts), class_="how"))
        drawn = [_dependence(facts, one, place) for place, one in enumerate(facts.dependences)]
        parts.append(pictures(*drawn))
    parts += absences(facts, PARTS)
    return Section(key="columns", title="Which columns matter", body=Html("".join(parts)))


def _averaged(facts: Facts) -> str:
    text = "Each curve is the mean prediction over rows of the data when all of them are given the "
    text += "same value in one column."
    if any(one.slopes is not None for one in facts.dependences):
        text += " Dots have their slope from the gradient of the model."
    return text


def _relevances(facts: Facts, found: Relevances) -> list[Html]:
    first = found.columns[0]
    explained = (
        "A column matters by how much the loss rises when its values change places among the rows, "
        f"as a share of the loss of a constant. Measured with {found.how}."
    )
    text = (
        f"Rise of the loss when a column is shuffled, with its deviation over repeats. "
        f"{quoted(first.name)} matters most: {share(first.rise)}."
    )
    shown = found.columns[:MOST]
    display = ColumnRelevanceDisplay(
        values=np.array([one.rise for one in shown]),
        names=words([one.name for one in shown], 28),
        spread=np.array([one.deviation for one in shown]),
        measure="rise of the loss, over that of a constant",
        most=MOST,
    )
    size = (WIDTH, max(1.5, 0.8 + 0.24 * len(shown)))
    alone = "R² alone" if not facts.is_class else "errors avoided alone"
    rows = [
        [one.name, share(one.rise), share(one.deviation), share(one.alone)]
        for one in found.columns[:MOST_LISTED]
    ]
    numbers = table(
        ["column", "rise of the loss", "deviation", alone],
        rows,
        label="Relevance of columns",
        numbers=(1, 2, 3),
    )
    note = (
        "The last number is what a small model (a tree, nearest rows, a line) reaches with this "
        "column only, on rows that it has not seen."
    )
    return [
        paragraph(explained),
        pictures(figure(display, "relevance", text, label="Relevance of columns", size=size)),
        folded("The columns in numbers", numbers, paragraph(note, class_="how")),
    ]


def _dependence(facts: Facts, one: Dependence, place: int) -> Html:
    low, high = int(np.argmin(one.means)), int(np.argmax(one.means))
    what = f"probability of {one.output}" if one.output else facts.data.target.name
    text = (
        f"{quoted(one.name)}: the mean {what} goes from {number(one.means[low], 3)} at "
        f"{_value(one, low)} to {number(one.means[high], 3)} at {_value(one, high)}."
    )
    display = PartialDependenceDisplay(
        values=_values(one),
        mean=np.array(one.means),
        slopes=None if one.slopes is None else np.array(one.slopes),
        name=word(one.name, 40),
        response=f"mean {word(what, 32)}",
    )
    return figure(
        display,
        f"dependence{place}",
        text,
        label=f"Dependence of the prediction on {one.name}",
        size=(WIDTH, 2.6),
    )


def _values(one: Dependence) -> Array:
    if one.kind == "date":
        return np.array([round(1e6 * float(value)) for value in one.values]).astype("M8[us]")
    if one.kind == "category":
        return np.array([word(str(value)) for value in one.values], dtype=str)
    return np.array(one.values, dtype=np.float64)


def _value(one: Dependence, place: int) -> str:
    value = one.values[place]
    if isinstance(value, str):
        return quoted(value)
    return date_text(value, np.inf) if one.kind == "date" else entry(value)
