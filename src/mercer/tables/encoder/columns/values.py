"""The values of a column in one of few forms, whatever library they came from."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....checks import Array, is_missing

NUMBERS, BOOLEANS, DATES, TEXTS, NOTHING = "numbers", "booleans", "dates", "text", "nothing"
FORMS = (NUMBERS, BOOLEANS, DATES, TEXTS, NOTHING)

_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = 86400.0
_EXACT = 2.0**53  # beyond it a number may stand for others
_WORDS = {"List": "lists", "Array": "arrays", "Struct": "records"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Values:
    """The values of one column.

    form: one of `FORMS`, or in words what a column holds that cannot be read. data: numbers, with
    NaN where a value is missing (of booleans 0 and 1, of dates seconds since 1970); of texts a list
    with None where one is missing. zone: the time zone of dates. is_labelled: the frame itself says
    that they are categories.
    """

    form: str
    data: Any
    zone: str | None = None
    is_labelled: bool = False

    def __len__(self) -> int:
        return len(self.data)

    def take(self, rows: Array) -> Values:
        """Return the values of some rows."""
        if self.form == TEXTS:
            return replace(self, data=[self.data[row] for row in rows])
        return replace(self, data=self.data[rows])


def of_series(column: Any) -> Values:
    """Return the values of a column of a frame; column: a series of narwhals."""
    kind = str(column.dtype).partition("(")[0]
    if column.dtype.is_numeric() or kind == "Boolean":
        array = np.asarray(column.to_numpy())
        if array.dtype.kind == "O":  # with missing values among them
            array = np.array(_present(column), dtype=np.float64)  # None becomes NaN
        return Values(form=BOOLEANS if kind == "Boolean" else NUMBERS, data=_floats(array))
    if kind in ("Datetime", "Date", "Duration"):
        return of_array(np.asarray(column.to_numpy()), getattr(column.dtype, "time_zone", None))
    items = _present(column)
    if kind in ("Categorical", "Enum"):
        return Values(form=TEXTS, data=[_text(item) for item in items], is_labelled=True)
    return of_objects(items, _WORDS.get(kind, ""))


def of_array(column: Array, zone: str | None = None) -> Values:
    """Return the values of a one-dimensional array; zone: of times, which NumPy has in UTC."""
    kind = column.dtype.kind
    if kind in "biuf":
        return Values(form=BOOLEANS if kind == "b" else NUMBERS, data=_floats(column))
    if kind in "mM":
        seconds = column.astype(f"{kind}8[us]").astype(np.int64) / 1e6
        seconds[np.isnat(column)] = np.nan
        return Values(form=DATES if kind == "M" else NUMBERS, data=seconds, zone=zone)
    if kind == "c":
        return Values(form="complex numbers", data=column)
    items = column.tolist()
    return of_objects([None if is_missing(item) else item for item in items])


def of_objects(items: Sequence[Any], words: str = "") -> Values:
    """Return the values of Python objects, None where one is missing.

    words: what objects of an unknown type are called.
    """
    kinds = {type(item) for item in items} - {type(None)}
    if not kinds:
        return Values(form=NOTHING, data=np.full(len(items), np.nan))
    if all(issubclass(kind, str) for kind in kinds):
        return Values(form=TEXTS, data=[None if item is None else str(item) for item in items])
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return Values(form=BOOLEANS, data=np.array(items, dtype=np.float64))
    if all(_is_real(kind) for kind in kinds):
        return Values(form=NUMBERS, data=np.array([_number(item) for item in items]))
    if all(issubclass(kind, datetime.timedelta) for kind in kinds):
        seconds = [np.nan if item is None else item.total_seconds() for item in items]
        return Values(form=NUMBERS, data=np.array(seconds))
    if all(issubclass(kind, datetime.date | datetime.time | np.datetime64) for kind in kinds):
        return _dates(items)
    if all(_is_real(kind) or issubclass(kind, str | np.bool_) for kind in kinds):
        return Values(form=TEXTS, data=[_text(item) for item in items])
    strange = sorted(kind.__name__ for kind in kinds if not issubclass(kind, str))
    return Values(form=words or f"objects of type {strange[0]}", data=np.full(len(items), np.nan))


def number_text(value: float) -> str:
    """Return the text that stands for a number, the same for 3 and 3.0."""
    whole = abs(value) < _EXACT and value == int(value)  # neither NaN nor infinity is
    return str(int(value)) if whole else repr(float(value))


def _text(item: Any) -> str | None:
    if item is None or isinstance(item, str):
        return item
    is_number = isinstance(item, numbers.Real) and not isinstance(item, bool)
    return number_text(float(item)) if is_number else str(item)


def _is_real(kind: type) -> bool:
    """Return whether values of a type are numbers; those of `decimal` are not Real to Python."""
    return issubclass(kind, numbers.Real) or kind.__name__ == "Decimal"


def _number(item: Any) -> float:
    """Return a number in double precision, NaN for None; a whole number may be too large for it."""
    try:
        return np.nan if item is None else float(item)
    except OverflowError:
        return np.inf


def _floats(array: Array) -> Array:
    with np.errstate(over="ignore"):  # beyond double precision it is infinite, and refused as that
        return array.astype(np.float64)


def _present(column: Any) -> list[Any]:
    """Return the values of a column, None for the missing ones, whatever they were."""
    pairs = zip(column.to_list(), column.is_null().to_list(), strict=True)
    return [
        None if missing or (type(item) is float and item != item) else item
        for item, missing in pairs
    ]


# --- dates that are objects of Python ----------------------------------------------------------


def _dates(items: Sequence[Any]) -> Values:
    zones = {_zone(item) for item in items if item is not None}
    if None in zones and len(zones) > 1:
        return Values(form="dates with and without a time zone", data=np.full(len(items), np.nan))
    seconds = [np.nan if item is None else _seconds(item) for item in items]
    zone = next(iter(zones)) if len(zones) == 1 else "UTC"
    return Values(form=DATES, data=np.array(seconds), zone=zone)


def _zone(item: Any) -> str | None:
    zone = getattr(item, "tzinfo", None)
    return None if zone is None else str(zone)


def _seconds(item: Any) -> float:
    """Return the seconds since 1970; a time of day is one of the first day."""
    if isinstance(item, np.datetime64):
        return float(item.astype("M8[us]").astype(np.int64)) / 1e6
    if isinstance(item, datetime.time):
        return item.hour * 3600.0 + item.minute * 60.0 + item.second + item.microsecond / 1e6
    if not isinstance(item, datetime.datetime):
        return float(item.toordinal() - _EPOCH.toordinal()) * _DAY
    if item.tzinfo is not None:
        return float(item.timestamp())
    return float((item - _EPOCH).total_seconds())
