"""What was learnt of a column, applied to new values of it."""

from __future__ import annotations

import numpy as np

from ...checks import Array, InputError, sentence, show
from .codes import CategoryCode
from .columns import (
    BOOLEAN,
    CATEGORY,
    DATE,
    NOTHING,
    NUMBER,
    Values,
    as_dates,
    as_numbers,
    as_texts,
    as_truths,
)
from .record import TableColumn


def encode_column(column: TableColumn, values: Values, who: str, out: Array) -> None:
    """Write the numbers of a column into its place in a matrix."""
    where = f"{who}, column {column.name!r}"
    known = read_column(column, values, where)
    place = column.start
    for code in column.codes:
        out[:, place : place + code.width] = code.encode(known)  # type: ignore[arg-type]
        place += code.width
    finite = np.isfinite(out[:, column.start : column.stop]).all(axis=1)
    if not finite.all():
        must = "values must be of a size like those of fit"
        got = f"one in row {int(finite.argmin())} that overflows"
        raise InputError(sentence(where, must, got))


def read_column(column: TableColumn, values: Values, where: str) -> Array | list[str | None]:
    """Return values as a column was learnt: numbers, texts, or seconds since 1970."""
    if column.kind == NUMBER:
        return as_numbers(values, where, column.strays)
    if column.kind == BOOLEAN:
        return as_truths(values, where)
    if column.kind == DATE:
        return _instants(column, as_dates(values, where), where)
    texts = as_texts(values, where)
    if column.kind == CATEGORY and values.form not in (column.form, NOTHING):
        _require_levels(column, texts, values.form, where)
    return texts


def _instants(column: TableColumn, dates: Values, where: str) -> Array:
    if (dates.zone is None) != (column.zone is None) and dates.form != NOTHING:
        must = (
            f"dates must be {'without' if column.zone is None else 'with'} a time zone, as in fit"
        )
        got = "dates without one" if dates.zone is None else f"dates of {dates.zone}"
        told = "Convert them: a clock without a zone may mean any time."
        raise InputError(sentence(where, must, got, told))
    return np.asarray(dates.data)


def _require_levels(column: TableColumn, texts: list[str | None], form: str, where: str) -> None:
    """Refuse values of another type of which one is not a level: they mean something else."""
    codes = [code for code in column.codes if isinstance(code, CategoryCode)]
    levels = {None, *(level for code in codes for level in code.levels)}
    for row, text in enumerate(texts):
        if text not in levels:
            must = f"values must be {column.form}, as in fit, or be known from there"
            raise InputError(sentence(where, must, f"{form}, {show(text)} in row {row}"))
