"""Categories as numbers that are equal where the categories are."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array, InputError, InputTypeError, sentence
from . import advice

# What may stand for a missing category, in a column of such a kind.
FILLS = {advice.NUMBERS: "-1", advice.TEXT: '"missing"', advice.WRITTEN: '"missing"'}


def category_codes(values: Iterable[Any], who: str) -> Array:
    """Return a number for every category that depends on nothing but itself.

    A number is its own code; for anything else it is a hash of the text. Two categories share a
    code with probability 2**-53, so train and test need no common table. A missing value becomes
    NaN, which `check_categories` then names.
    """
    items = list(values)
    codes = np.empty(len(items))
    known: dict[Any, float] = {}
    for index, value in enumerate(items):
        try:
            if value not in known:
                known[value] = _code(value)
        except TypeError:
            must = "a category given as an argument must be a string, a number or hashable"
            got = f"{checks.show(value)} ({type(value).__name__}) in row {index}"
            raise InputTypeError(sentence(who, must, got)) from None
        codes[index] = known[value]
    return codes


def check_categories(who: str, codes: Array, names: Sequence[str], fills: Sequence[str]) -> None:
    """Refuse missing categories, naming the row and the column; fills: what may stand for them."""
    missing = np.argwhere(np.isnan(codes))
    if len(missing) == 0 or checks.assume_finite():
        return
    row, column = missing[0]
    entries = "entry" if len(missing) == 1 else "entries"
    got = f"a missing one in row {row}, column {names[column]} ({len(missing)} such {entries})"
    told, fill = "Drop the rows with something missing", fills[column]
    if fill:
        told += (
            f", or make it a category of its own, with .fillna({fill}) in pandas or "
            f".fill_null({fill}) in polars"
        )
    raise InputError(sentence(who, "every category must be known", got, f"{told}."))


def _code(value: Any) -> float:
    if isinstance(value, numbers.Real | np.bool_):
        return float(value)
    if checks.is_missing(value):
        return float(np.nan)
    digest = hashlib.blake2b(str(value).encode(), digest_size=8).digest()
    return float(int.from_bytes(digest, "little") >> 11)
