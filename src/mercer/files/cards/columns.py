"""The columns of training rows as a card has them, and values of new rows read the same way."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...checks import Array, InputError
from ...tables.encoder.columns import (
    BOOLEAN,
    CATEGORY,
    DATE,
    DROP,
    NUMBER,
    Table,
    Values,
    as_dates,
    as_texts,
    as_truths,
    guess,
)
from ...tables.encoder.columns.reading import is_number
from ...tables.encoder.columns.values import NOTHING, NUMBERS, TEXTS
from . import rules
from .record import CardColumn

GUESSED_LEVELS = 30  # as `TableEncoder` has it
LETTERS_LIMIT = 200_000  # of all levels of a card together


def card_columns(table: Table, kinds: Mapping[str, str] | None = None) -> tuple[CardColumn, ...]:
    """Return what a card says of the columns of a table; kinds: of those that are known by name.

    Of a table with too many columns nothing is said.
    """
    if len(table.columns) > rules.COLUMN_LIMIT:
        return ()
    known = kinds or {}
    found, letters = [], 0
    for place, values in enumerate(table.columns):
        name = table.label(place)[: rules.TEXT_LIMIT]
        kind = known.get(name) or guess(values, GUESSED_LEVELS)
        column = _column(name, kind, values)
        letters += sum(map(len, column.levels or ()))
        if letters > LETTERS_LIMIT:
            column = CardColumn(name=name, kind=kind, missing=column.missing)
        found.append(column)
    return tuple(found)


def _column(name: str, kind: str, values: Values) -> CardColumn:
    read = readable(kind, values)
    if read is None or not len(values):
        return CardColumn(name=name, kind=DROP, missing=0.0)
    if isinstance(read, list):
        missing = read.count(None) / len(read)
        levels = _levels(read) if kind == CATEGORY else None
        return CardColumn(name=name, kind=kind, missing=missing, levels=levels)
    present = read[~np.isnan(read)]
    missing = 1.0 - len(present) / len(read)
    if not len(present):
        return CardColumn(name=name, kind=kind, missing=missing)
    low, high = float(present.min()), float(present.max())
    if kind != DATE:
        return CardColumn(name=name, kind=kind, missing=missing, low=low, high=high)
    first, last = date_text(low), date_text(high)
    if not (rules.is_date(first) and rules.is_date(last)):  # beyond the year 9999
        return CardColumn(name=name, kind=kind, missing=missing)
    return CardColumn(name=name, kind=kind, missing=missing, low=first, high=last)


def _levels(texts: list[str | None]) -> tuple[str, ...] | None:
    found = sorted({text for text in texts if text is not None})
    few = len(found) <= rules.LEVEL_LIMIT
    return tuple(found) if few and all(len(one) <= rules.TEXT_LIMIT for one in found) else None


def readable(kind: str, values: Values) -> Array | list[str | None] | None:
    """Return values as numbers or texts, as their kind asks for; None: they cannot be read so.

    Texts among numbers that are not numbers count as missing.
    """
    try:
        if kind == NUMBER:
            return _numbers(values)
        if kind == DATE:
            return np.asarray(as_dates(values, "ModelCard").data, dtype=np.float64)
        if kind == DROP:
            return None
        return (as_truths if kind == BOOLEAN else as_texts)(values, "ModelCard")
    except InputError:
        return None


def _numbers(values: Values) -> Array | None:
    if values.form == TEXTS:
        found = {
            text: float(text) if text is not None and is_number(text) else np.nan
            for text in dict.fromkeys(values.data)
        }
        numbers = np.array([found[text] for text in values.data], dtype=np.float64)
    elif values.form in (NUMBERS, NOTHING, "booleans"):
        numbers = np.asarray(values.data, dtype=np.float64)
    else:
        return None
    return None if np.isinf(numbers).any() else numbers


def date_text(seconds: float) -> str:
    """Return seconds since 1970 as a date, with the time where it is not midnight."""
    moment = np.datetime64(round(seconds * 1e6), "us")
    if moment == moment.astype("M8[D]"):
        return str(moment.astype("M8[D]"))
    return str(moment.astype("M8[s]") if moment == moment.astype("M8[s]") else moment)
