"""What sections share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...facts import Excerpt, Facts
from ..markup import Html, element, paragraph


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page; kind: a class of its element."""

    key: str
    title: str
    body: Html
    kind: str = ""


def absences(facts: Facts, parts: Sequence[str]) -> list[Html]:
    """Return a sentence for each of these parts that is not there."""
    return [
        paragraph(f"Left out: {one.part}. {one.why}", class_="missing")
        for one in facts.left_out
        if one.part in parts
    ]


def shown_row(excerpt: Excerpt, row: int) -> list[str]:
    """Return the values of a row that an excerpt has, or as many dashes."""
    return list(excerpt.rows.get(row, ("–",) * len(excerpt.columns)))


def pictures(*found: Html) -> Html:
    """Return pictures side by side where there is room."""
    return element("div", *found, class_="pictures") if found else Html("")
