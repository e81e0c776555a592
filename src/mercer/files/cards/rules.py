"""What the fields of a card must be: plain values, finite, and not too many."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...checks import InputError, InputTypeError, sentence, show

TEXT_LIMIT = 1000  # characters of a name, a level, a sentence
COMMAND_LIMIT = 10_000  # characters of a command line or a kernel
COLUMN_LIMIT = 5000
LEVEL_LIMIT = 200  # of one column
CLASS_LIMIT = 10_000
ITEM_LIMIT = 200  # scores, notes, versions, figures
LARGEST = 2**53  # whole number that every reader of JSON can hold

_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,6})?)?", re.ASCII)


def text(what: str, value: Any, limit: int = TEXT_LIMIT) -> str:
    """Return a text that is not too long and that every reader can decode."""
    if not isinstance(value, str):
        raise InputTypeError(sentence("ModelCard", f"{what} must be a text", show(value)))
    if len(value) > limit:
        must = f"{what} must have at most {limit} characters"
        raise InputError(sentence("ModelCard", must, len(value)))
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InputError(sentence("ModelCard", f"{what} must be valid Unicode", ascii(value)[:60]))
    return value


def real(what: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a finite number within bounds."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or not (abs(value) <= LARGEST or isinstance(value, float)):
        raise InputTypeError(sentence("ModelCard", f"{what} must be a number", show(value)))
    if not math.isfinite(value) or not least <= value <= most:
        bounds = "" if least == -math.inf else f" from {least:g} to {most:g}"
        raise InputError(sentence("ModelCard", f"{what} must be finite{bounds}", show(value)))
    return float(value)


def whole(what: str, value: Any) -> int:
    """Return a whole number from 0 on."""
    if type(value) is not int or not 0 <= value <= LARGEST:
        must = f"{what} must be a whole number from 0 to 2**53"
        raise InputTypeError(sentence("ModelCard", must, show(value)))
    return value


def word(what: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return one of a few words."""
    if not isinstance(value, str) or value not in allowed:
        must = f"{what} must be one of {', '.join(map(repr, allowed))}"
        raise InputError(sentence("ModelCard", must, show(value)))
    return value


def date(what: str, value: Any) -> str:
    """Return a date such as 2024-03-09 or 2024-03-09T18:30:00."""
    if is_date(value):
        return str(value)
    raise InputError(sentence("ModelCard", f"{what} must be a date of ISO 8601", show(value)))


def is_date(value: Any) -> bool:
    """Return whether this is a date as a card has it, of the years 0 to 9999."""
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return False
    try:
        np.datetime64(value)
    except ValueError:  # such as the 30th of February
        return False
    return True


def date_seconds(text: str) -> float:
    """Return the seconds since 1970 of a date of a card."""
    return float(np.datetime64(text, "us").astype(np.int64)) / 1e6


def items(what: str, value: Any, kind: type, limit: int = ITEM_LIMIT) -> tuple[Any, ...]:
    """Return a tuple of not too many items of one type."""
    if not isinstance(value, tuple) or not all(type(one) is kind for one in value):
        must = f"{what} must be a tuple of {kind.__name__}"
        raise InputTypeError(sentence("ModelCard", must, show(value)))
    if len(value) > limit:
        raise InputError(sentence("ModelCard", f"{what} must be at most {limit}", len(value)))
    return value


def texts(what: str, value: Any, limit: int = ITEM_LIMIT) -> tuple[str, ...]:
    """Return a tuple of texts."""
    return tuple(text(what, one) for one in items(what, value, str, limit))


def pairs(what: str, value: Any) -> Mapping[str, Any]:
    """Return a mapping of not too many names."""
    if not isinstance(value, Mapping):
        raise InputTypeError(sentence("ModelCard", f"{what} must be a mapping", show(value)))
    if len(value) > ITEM_LIMIT:
        must = f"{what} must be at most {ITEM_LIMIT}"
        raise InputError(sentence("ModelCard", must, len(value)))
    return {text(f"a name in {what}", name): one for name, one in value.items()}
