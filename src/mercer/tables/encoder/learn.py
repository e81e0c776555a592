"""What is learnt of the columns of a table, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...checks import Array, InputError, InputTypeError, sentence
from ...inputs.advice import listed
from .apply import read_column
from .codes import (
    CalendarCode,
    CategoryCode,
    Code,
    Method,
    MissingCode,
    NumberCode,
    is_zone,
    learn_numbers,
    learn_text,
    varying,
)
from .columns import (
    BOOLEAN,
    CATEGORY,
    DATE,
    DROP,
    FORMS,
    NUMBER,
    TEXT,
    Table,
    Values,
    as_dates,
    guess,
    strays,
)
from .record import TableColumn

LEFT_OUT = "left out"
MOST_RARE = 0.95  # of the rows may have rare levels: beyond, they are names and not categories
SCALES = {
    "standard": "(x - {code.centre:.4g}) / {code.scale:.4g}",
    "robust": "z = (x - {code.centre:.4g}) / {code.scale:.4g}, then z / sqrt(1 + (z / 3)**2)",
    "rank": "the normal score of its rank",
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of the encoder, checked; min_count as a number."""

    numbers: Method
    category_scale: float
    max_levels: int
    min_count: int
    has_calendar: bool
    is_text_kernel: bool
    text_width: int
    has_indicator: bool


def learn_columns(
    table: Table, settings: Settings, types: Mapping[int, str], who: str
) -> tuple[TableColumn, ...]:
    """Return what becomes of each column; types: the kinds of those that are not to be guessed."""
    kinds = [
        types.get(place) or guess(values, settings.max_levels)
        for place, values in enumerate(table.columns)
    ]
    _require_readable(table, kinds, who)
    found: list[TableColumn] = []
    start = 0
    seen: dict[Any, list[int]] = {}
    for place, (values, kind) in enumerate(zip(table.columns, kinds, strict=True)):
        name = table.label(place)
        column = _begin(name, kind, values, start)
        twin = None if kind == DROP else _twin(place, kind, table, seen)
        if kind == DROP:
            column = _left_out(column, "its type says so")
        elif twin is not None:
            column = _left_out(column, f"it equals {table.label(twin)!r}")
        else:
            column = _learn(column, values, settings, f"{who}, column {name!r}")
        found.append(column)
        start = column.stop
    return tuple(found)


def _require_readable(table: Table, kinds: list[str], who: str) -> None:
    """Refuse columns of types that no rule is for, all of them at once."""
    wrong = {
        table.label(place): values.form
        for place, (values, kind) in enumerate(zip(table.columns, kinds, strict=True))
        if values.form not in FORMS and kind != DROP
    }
    if wrong:
        must = "columns must hold numbers, truth values, categories, dates or text"
        first = next(iter(wrong))
        told = f'Drop them, or say so with types={{{first!r}: "drop"}}.'
        raise InputTypeError(sentence(who, must, listed(wrong), told))


def _begin(name: str, kind: str, values: Values, start: int) -> TableColumn:
    return TableColumn(
        name=name,
        kind=kind,
        done="",
        note="",
        start=start,
        stop=start,
        form=values.form,
        strays=(strays(values) or ()) if kind == NUMBER else (),
        zone=None,
        codes=(),
    )


def _left_out(column: TableColumn, why: str) -> TableColumn:
    note = f"Column {column.name!r} is left out: {why}."
    return replace(column, done=LEFT_OUT, note=note)


def _twin(place: int, kind: str, table: Table, seen: dict[Any, list[int]]) -> int | None:
    """Return the earlier column of the same kind and the same values, if there is one."""
    values = table.columns[place]
    key = (kind, values.form, values.zone, tuple(map(str, values.data[:16])))
    for other in seen.setdefault(key, []):
        known = table.columns[other].data
        equal_nan = isinstance(known, np.ndarray)
        if (
            np.array_equal(known, values.data, equal_nan=True)
            if equal_nan
            else known == values.data
        ):
            return other
    seen[key].append(place)
    return None


def _learn(column: TableColumn, values: Values, settings: Settings, where: str) -> TableColumn:
    if column.kind == DATE:
        dates = as_dates(values, where)
        if dates.zone is not None and not is_zone(dates.zone):
            told = 'Convert the column to "UTC".'
            raise InputError(
                sentence(
                    where, "its time zone must be one that this system knows", dates.zone, told
                )
            )
        column = replace(column, zone=dates.zone)
    read: Any = read_column(column, values, where)  # an array or a list, as the kind has it
    return _LEARNERS[column.kind](column, read, settings)


def _finish(column: TableColumn, codes: list[Code], done: str, note: str = "") -> TableColumn:
    width = sum(code.width for code in codes)
    return replace(column, codes=tuple(codes), stop=column.start + width, done=done, note=note)


# --- each kind ---------------------------------------------------------------------------------


def _learn_numbers(column: TableColumn, read: Array, settings: Settings) -> TableColumn:
    """Learn numbers, or dates, which are seconds and what the calendar says."""
    is_date, gone = column.kind == DATE, np.isnan(read)
    code = learn_numbers(read, "standard" if is_date else settings.numbers)
    codes: list[Code] = [] if code is None else [code]
    done = [] if code is None else [_scale_text(code, is_date)]
    if is_date and code is not None and settings.has_calendar:
        periods = varying(read[~gone], column.zone)
        if periods:
            codes.append(CalendarCode(periods=periods, zone=column.zone))
            done.append(f"its place in the {' and the '.join(periods)}")
    if settings.has_indicator and gone.any() and not gone.all():
        codes.append(MissingCode(size=settings.category_scale))
        done.append("whether it is missing")
    if not codes:
        why = "nothing in it is known" if gone.all() else "all its values are the same"
        return _left_out(column, why)
    return _finish(column, codes, ", ".join(done), _strays_note(column))


def _scale_text(code: NumberCode, is_date: bool) -> str:
    return "the time on one scale" if is_date else SCALES[code.method].format(code=code)


def _strays_note(column: TableColumn) -> str:
    if not column.strays:
        return ""
    shown = ", ".join(map(repr, column.strays))
    return f"Column {column.name!r} is of numbers as text; {shown} there is read as missing."


def _learn_category(column: TableColumn, read: list[str | None], settings: Settings) -> TableColumn:
    counts = Counter(text for text in read if text is not None)
    missing = len(read) - counts.total()
    is_flag = column.kind == BOOLEAN
    least, most = (1, 2) if is_flag else (settings.min_count, settings.max_levels)
    by_count = sorted(counts, key=lambda level: (-counts[level], level))
    levels = [level for level in by_count if counts[level] >= least][:most]
    rare = len(counts) - len(levels)
    kept = sum(counts[level] for level in levels) + missing
    if len(levels) + (rare > 0) + (missing > 0) < 2 or kept < (1.0 - MOST_RARE) * len(read):
        return _left_out(column, _why_one_level(counts, rare))
    code = CategoryCode(
        levels=tuple(sorted(levels)),
        has_rare=rare > 0,
        has_missing=missing > 0,
        size=settings.category_scale,
        is_flag=is_flag,
    )
    done = "true or false" if is_flag else f"one-hot: {len(levels)} levels"
    note = ""
    if rare:
        done += ", a rare one" if rare == 1 else f", {rare} rare ones as one"
        told = "a rare level" if rare == 1 else f"{rare} rare levels, which are taken as one"
        note = f"Column {column.name!r} has {told}; levels never seen will count as rare."
    done += ", missing as one" if missing else ""
    return _finish(column, [code], done, note)


def _why_one_level(counts: Counter[str], rare: int) -> str:
    if not counts:
        return "nothing in it is known"
    return "nearly all its values are rare" if rare else "all its values are the same"


def _learn_text(column: TableColumn, read: list[str | None], settings: Settings) -> TableColumn:
    known = [text for text in read if text is not None]
    if len(set(known)) <= 1 and (not known or len(known) == len(read)):
        return _left_out(
            column, "all its values are the same" if known else "nothing in it is known"
        )
    if settings.is_text_kernel:
        note = (
            f"Column {column.name!r} has missing texts, which a string kernel refuses: fill them."
        )
        told = "compared by a string kernel, outside of the matrix"
        return _finish(column, [], told, note if len(known) < len(read) else "")
    code = learn_text(read, settings.text_width)
    codes: list[Code] = [] if code is None else [code]
    done = [] if code is None else [f"n-grams in {code.width} directions"]
    if settings.has_indicator and 0 < len(known) < len(read):
        codes.append(MissingCode(size=settings.category_scale))
        done.append("whether it is missing")
    if not codes:
        return _left_out(column, "its texts do not differ in their words")
    return _finish(column, codes, ", ".join(done))


_LEARNERS: dict[str, Callable[[TableColumn, Any, Settings], TableColumn]] = {
    NUMBER: _learn_numbers,
    DATE: _learn_numbers,
    BOOLEAN: _learn_category,
    CATEGORY: _learn_category,
    TEXT: _learn_text,
}
