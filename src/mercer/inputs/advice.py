"""What columns of data frames hold, in words, and what to do with those that are not numbers."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..checks import dates_advice, is_missing

NUMBERS, TEXT, WRITTEN = "numbers", "text", "numbers as text"
DATES, DURATIONS, COMPLEX = "dates", "durations", "complex numbers"
WRAPPED, NOTHING = "numbers as objects", "missing values only"


def kind_of(column: Any) -> str:
    """Return in words what a column of a frame holds; column: a series of narwhals."""
    kind = column.dtype
    if kind.is_numeric() or str(kind) == "Boolean":
        return NUMBERS
    name = str(kind).partition("(")[0]
    if name in ("Datetime", "Date", "Duration"):
        return DURATIONS if name == "Duration" else DATES
    if name in ("Categorical", "Enum"):
        return TEXT
    return kind_of_values(column.drop_nulls().head(100).to_list(), name)


def kind_of_values(values: Iterable[Any], name: str = "objects") -> str:
    """Return in words what values are, by the first that is there; name: of anything else."""
    first = next((value for value in values if not is_missing(value)), None)
    if first is None:
        return NOTHING
    if isinstance(first, str):
        return WRITTEN if _is_number(first) else TEXT
    if isinstance(first, datetime.date | datetime.datetime):
        return DATES
    if isinstance(first, datetime.timedelta):
        return DURATIONS
    if isinstance(first, complex):
        return COMPLEX
    if isinstance(first, numbers.Number):
        return WRAPPED
    known = {"Unknown": "objects", "Object": "objects", "List": "lists", "Time": "times of day"}
    return known.get(name, name)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def listed(kinds: Mapping[Any, str]) -> str:
    """Return columns by what they hold: "text in 'dna' and 'site', dates in 'born'"."""
    parts = []
    for kind in dict.fromkeys(kinds.values()):
        names = [repr(name) for name, other in kinds.items() if other == kind]
        shown = names if len(names) <= 5 else [*names[:4], f"{len(names) - 4} others"]
        text = " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
        parts.append(f"{kind} in {text}")
    return ", ".join(parts)


def for_columns(kinds: Mapping[Any, str], right: Sequence[Any]) -> str:
    """Return what to do with columns that are not numbers; right: those that are."""
    told = [_for_column(kind, name) for kind, name in _firsts(kinds).items()]
    if right:
        shown = ", ".join(repr(name) for name in right[:5]) + (", …" if len(right) > 5 else "")
        told.append(f"This kernel can have the numbers with .on([{shown}]).")
    return " ".join(told)


def _firsts(kinds: Mapping[Any, str]) -> dict[str, Any]:
    """Return the first column of every kind."""
    found: dict[str, Any] = {}
    for name, kind in kinds.items():
        found.setdefault(kind, name)
    return found


def _for_column(kind: str, name: Any) -> str:
    if kind == TEXT:
        return (
            f"Give text a kernel of its own: Categorical().on({name!r}) where it is equal or not, "
            f"Spectrum(3).on({name!r}) where parts of it count."
        )
    if kind in (WRITTEN, WRAPPED):
        return f"Convert {kind} with .astype(float) in pandas or .cast(float) in polars."
    if kind == NOTHING:
        return f"Drop {name!r}: nothing in it is known."
    if kind == DATES:
        return dates_advice(f"X[{name!r}]")
    if kind == DURATIONS:
        return f"Turn durations into numbers with X[{name!r}].dt.total_seconds()."
    if kind == COMPLEX:
        return "Complex data not supported: take real and imaginary parts as two columns."
    return f"Give {name!r} a kernel of its own with .on({name!r}), or drop it."
