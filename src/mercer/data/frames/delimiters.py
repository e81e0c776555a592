"""Which character stands between the columns of a text, and what the columns are called."""

from __future__ import annotations

import csv
import re
from collections import Counter

import numpy as np

from ...checks import DataError
from ...tables.encoder.columns.reading import is_number
from ..sources import Source
from .records import Records

CANDIDATES = (",", ";", "\t", "|")
NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a blank"}
AGREEING = 0.9  # of the records must have as many fields as the first


def name_of(separator: str) -> str:
    """Return what a delimiter is called in a message."""
    return NAMES.get(separator, repr(separator))


def find_delimiter(source: Source, records: Records, given: str | None) -> str:
    """Return the delimiter of a text: the one that was given, if it is not wrong, or a guess."""
    best = _best(records)
    if given is not None:
        if records.fields(given)[0] == 1 and best is not None and best != given:
            count = int(records.fields(best)[0])
            got = f"one column, where {name_of(best)} makes {count}"
            must = f"{name_of(given)} must stand between the columns"
            raise source.fail(must, got, f"Say delimiter={best!r}.")
        return given
    if best is None:
        _refuse_blanks(source, records)
        return _absent(records)
    return best


def _best(records: Records) -> str | None:
    """Return the delimiter that makes the most of the records as wide as the first."""
    found, most = None, (False, 1)
    for separator in CANDIDATES:
        fields = records.fields(separator)
        agrees = bool(np.mean(fields == fields[0]) >= AGREEING)
        if fields[0] > 1 and (agrees, int(fields[0])) > most:
            found, most = separator, (agrees, int(fields[0]))
    return found


def _absent(records: Records) -> str:
    """Return a delimiter that does not occur, for a text of one column."""
    absent = (one for one in CANDIDATES if (records.fields(one) == 1).all())
    return next(absent, ",")


def _refuse_blanks(source: Source, records: Records) -> None:
    """Refuse numbers with blanks between them."""
    lines = [text.split() for text in records.texts(len(records.lines))]
    width = len(lines[0])
    numbers = [line for line in lines[1:] if len(line) == width and all(map(is_number, line))]
    if width > 1 and len(lines) > 1 and len(numbers) >= AGREEING * (len(lines) - 1):
        must = "a comma, a semicolon, a tab or a bar must stand between the columns"
        got = f"blanks, {width} numbers in line {int(records.lines[1])}"
        raise source.fail(must, got, 'Say delimiter=" " if there is one blank each time.')


def column_names(
    source: Source, first: str, separator: str, quote: str | None
) -> tuple[list[str], list[str]]:
    """Return the names of the columns from the first record, and notes about them."""
    names = [name.strip() for name in _split(first, separator, quote)]
    if all(map(is_number, names)):
        told = "Add a line of names, or say header=False: the columns are then x0, x1 and so on."
        raise source.fail("the first line must name the columns", f"numbers, {names[0]}", told)
    notes = []
    for place, name in enumerate(names):
        if not name:
            names[place] = f"column {place + 1}"
            notes.append(f"Column {place + 1} has no name; it is called 'column {place + 1}'.")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise duplicates(source, twice)
    return names, notes


def duplicates(source: Source, names: list[str]) -> DataError:
    """Return the error of names that several columns have."""
    must = "every column must have a name of its own"
    return source.fail(must, f"{', '.join(map(repr, names))} more than once", "Rename them.")


def _split(record: str, separator: str, quote: str | None) -> list[str]:
    if quote is None:
        return record.split(separator)
    lines = re.split("(?<=\n)", record)  # a name between quotes may have line ends in it
    return next(csv.reader(lines, delimiter=separator, quotechar=quote), [""])
