"""What the columns of a table or a matrix hold, in a few values each."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..checks import Array, DataError, InputError
from ..tables.encoder.columns import (
    BOOLEAN,
    CATEGORY,
    DATE,
    NUMBER,
    Values,
    as_dates,
    as_numbers,
    as_texts,
    guess,
    read_table,
    strays,
)
from .dataset import MOST_LEVELS, ColumnSummary

_EPOCH = datetime.datetime(1970, 1, 1)


def summarize(X: Any, types: Mapping[str, str], who: str) -> tuple[ColumnSummary, ...]:
    """Return a summary of each column of a frame or an array, by types that are told or guessed."""
    table = read_table(X, who)
    found = []
    for place, values in enumerate(table.columns):
        name = table.label(place)
        kind = types.get(name) or guess(values, MOST_LEVELS)
        try:
            found.append(_summary(name, kind, values, f"{who}, column {name!r}"))
        except InputError as error:  # a type that was told and does not fit
            raise DataError(str(error)) from None
    return tuple(found)


def _summary(name: str, kind: str, values: Values, where: str) -> ColumnSummary:
    if kind in (NUMBER, DATE):
        if kind == NUMBER:
            numbers = as_numbers(values, where, strays(values) or ())
        else:
            numbers = np.asarray(as_dates(values, where).data)
        known = numbers[~np.isnan(numbers)]
        low, high = (known.min(), known.max()) if len(known) else (None, None)
        words: Any = _date if kind == DATE else float
        return ColumnSummary(
            name=name,
            type=kind,
            missing=len(numbers) - len(known),
            low=None if low is None else words(low),
            high=None if high is None else words(high),
        )
    levels: tuple[str, ...] = ()
    if kind in (CATEGORY, BOOLEAN):
        counts = Counter(text for text in as_texts(values, where) if text is not None)
        order = sorted(counts, key=lambda level: (-counts[level], level))
        levels = tuple(order[:MOST_LEVELS])
    return ColumnSummary(name=name, type=kind, missing=_n_missing(values), levels=levels)


def _n_missing(values: Values) -> int:
    if isinstance(values.data, list):
        return sum(one is None for one in values.data)
    gone: Array = np.isnan(values.data)
    return int(gone.sum())


def _date(seconds: float) -> str:
    moment = _EPOCH + datetime.timedelta(seconds=float(seconds))
    return moment.isoformat(" ").removesuffix(" 00:00:00")
