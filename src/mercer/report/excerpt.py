"""Some rows of the data, as texts that a page can show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import show
from .facts import Excerpt
from .measure.columns import Relevances
from .subject import Subject
from .table.summary import date_text
from .words import NOTHING, entry

COLUMNS = 4  # that are shown of a row
LONGEST = 60  # characters of a value


def excerpt_of(subject: Subject, found: Relevances | None, rows: Sequence[int]) -> Excerpt:
    """Return rows with the columns that matter most; of objects a short text each."""
    table = subject.table
    if table is None:
        if subject.is_pairwise or hasattr(subject.X, "shape"):
            return Excerpt(columns=(), rows={})
        texts: dict[int, tuple[str, ...]] = {row: (show(subject.X[row], LONGEST),) for row in rows}
        return Excerpt(columns=("point",), rows=texts)
    names = [table.label(place) for place in range(len(table.columns))]
    order = names if found is None else [one.name for one in found.columns]
    chosen = tuple(order[:COLUMNS])
    columns = [table.columns[names.index(name)] for name in chosen]
    return Excerpt(
        columns=chosen,
        rows={row: tuple(_text(one.form, one.data[row]) for one in columns) for row in rows},
    )


def _text(form: str, value: Any) -> str:
    if value is None or (isinstance(value, float | np.floating) and not np.isfinite(value)):
        return NOTHING
    if form == "text":
        text = str(value)
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    if form == "booleans":
        return "True" if value else "False"
    return date_text(float(value), np.inf) if form == "dates" else entry(float(value))
