"""What a column is: a guess from its values."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .reading import is_date, is_number
from .values import BOOLEANS, DATES, NUMBERS, TEXTS, Values

NUMBER, BOOLEAN, CATEGORY, DATE, TEXT, DROP = (
    "number",
    "boolean",
    "category",
    "date",
    "text",
    "drop",
)
KINDS = (NUMBER, BOOLEAN, CATEGORY, DATE, TEXT)
NEARLY_ALL = 0.95  # of the values must be numbers for the others to be strays
MOST_STRAYS = 10  # different ones
WORDS, LETTERS = 2.0, 25.0  # on average, above which values that differ are texts

_BY_FORM = {NUMBERS: NUMBER, BOOLEANS: BOOLEAN, DATES: DATE}


def guess(values: Values, max_levels: int) -> str:
    """Return the kind of a column.

    Texts that nearly all are plain numbers are numbers, and those that all are ISO dates are dates.
    Others are text where there are more of them than levels are kept, or where most rows have one
    of their own, and they have several words or are long; else they are categories.
    """
    if values.form in _BY_FORM:
        return _BY_FORM[values.form]
    if values.form != TEXTS or values.is_labelled:
        return CATEGORY
    counts = Counter(text for text in values.data if text is not None)
    if all(map(is_date, counts)):
        return DATE
    if strays(values) is not None:
        return NUMBER
    total = counts.total()
    if len(counts) <= min(max_levels, total / 2):
        return CATEGORY
    words = np.mean([len(text.split()) for text in counts])
    letters = np.mean([len(text) for text in counts])
    return TEXT if words > WORDS or letters > LETTERS else CATEGORY


def strays(values: Values) -> tuple[str, ...] | None:
    """Return the texts among numbers that are none; None: the column is not one of numbers."""
    if values.form != TEXTS:
        return ()
    counts = Counter(text for text in values.data if text is not None)
    others = [text for text in counts if not is_number(text)]
    few = len(others) <= MOST_STRAYS and len(others) < len(counts)
    if few and sum(counts[text] for text in others) <= (1.0 - NEARLY_ALL) * counts.total():
        return tuple(sorted(others))
    return None
