"""Values as what a column was learnt as: numbers, texts or dates, or the first that is not one."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection
from typing import Any

import numpy as np

from ....checks import Array, InputError, InputTypeError, sentence, show
from .values import BOOLEANS, DATES, NOTHING, NUMBERS, TEXTS, Values, number_text, of_objects

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_CODE = re.compile(r"\s*[+-]?0\d")  # such as of a post office: its zeros say something
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_TRUTH = {"true": "True", "false": "False", "1": "True", "0": "False"}


def is_number(text: str) -> bool:
    """Return whether a text is a plain number, such as "-3.5" or "1e6", and not a code."""
    return _NUMBER.fullmatch(text) is not None and _CODE.match(text) is None


def is_date(text: str) -> bool:
    """Return whether a text is a date of ISO 8601, with or without a time."""
    try:
        _date(text)
    except ValueError:
        return False
    return True


def _date(text: str) -> datetime.datetime:
    if not _DATE.fullmatch(text):
        raise ValueError("not one of the forms that are read")
    return datetime.datetime.fromisoformat(text)


def as_numbers(values: Values, where: str, strays: Collection[str] = ()) -> Array:
    """Return the values as numbers; strays: texts that stand for a missing one."""
    must = "every value must be a number"
    if values.form == DATES:
        raise InputTypeError(sentence(where, must, "dates"))
    if values.form != TEXTS:
        _require_known(values, where, must)
        return _finite(values.data, where)
    found: dict[str | None, float] = {None: np.nan} | dict.fromkeys(strays, np.nan)
    for text in dict.fromkeys(values.data):
        if text in found:
            continue
        if not _NUMBER.fullmatch(text):
            raise _unread(where, must, values.data, text)
        found[text] = float(text)
    return _finite(np.array([found[text] for text in values.data]), where)


def as_texts(values: Values, where: str) -> list[str | None]:
    """Return the values as texts; a number is written in its shortest form."""
    if values.form == TEXTS:
        found: list[str | None] = values.data
        return found
    if values.form == DATES:
        told = "Turn them into texts, or leave the column as it was."
        raise InputTypeError(sentence(where, "values must be categories or text", "dates", told))
    _require_known(values, where, "values must be categories or text")
    data = values.data if values.form == NOTHING else _finite(values.data, where)
    if values.form == BOOLEANS:
        words = {0.0: "False", 1.0: "True"}
        return [words.get(value) for value in data.tolist()]
    unique, places = np.unique(data, return_inverse=True)
    texts = [None if np.isnan(value) else number_text(value) for value in unique]
    return [texts[place] for place in places]


def as_truths(values: Values, where: str) -> list[str | None]:
    """Return the values as "True" and "False"; 1 and 0 are read as these."""
    texts = as_texts(values, where)
    words: dict[str | None, str | None] = {None: None}
    for text in dict.fromkeys(texts):
        if text is not None:
            words[text] = _TRUTH.get(text.lower())
            if words[text] is None:
                raise _unread(where, "every value must be true or false", texts, text)
    return [words[text] for text in texts]


def as_dates(values: Values, where: str) -> Values:
    """Return the values as dates, from texts where these are dates of ISO 8601."""
    must = "every value must be a date"
    if values.form in (DATES, NOTHING):
        return values
    if values.form != TEXTS:
        _require_known(values, where, must)
        raise InputTypeError(sentence(where, must, values.form))
    found: dict[str | None, Any] = {None: None}
    for text in dict.fromkeys(values.data):
        if text is None:
            continue
        try:
            found[text] = _date(text)
        except ValueError:
            raise _unread(where, must, values.data, text) from None
    dates = of_objects([found[text] for text in values.data])
    _require_known(dates, where, must)
    return dates


def _finite(numbers: Array, where: str) -> Array:
    infinite = np.isinf(numbers)
    if infinite.any():
        got = f"infinity in row {int(infinite.argmax())}"
        told = "Write a missing value as NaN or None."
        raise InputError(sentence(where, "numbers must be finite or missing", got, told))
    return numbers


def _require_known(values: Values, where: str, must: str) -> None:
    if values.form not in (NUMBERS, BOOLEANS, DATES, TEXTS, NOTHING):
        raise InputTypeError(sentence(where, must, values.form))


def _unread(where: str, must: str, texts: list[str | None], wrong: str) -> InputError:
    return InputError(sentence(where, must, f"{show(wrong)} in row {texts.index(wrong)}"))
