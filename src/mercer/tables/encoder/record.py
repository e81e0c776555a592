"""What the encoder learnt of one column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...checks import Array, InputError, sentence, show
from .codes import CalendarCode, CategoryCode, MissingCode, NumberCode, is_texts, require
from .kinds import BOOLEAN, CATEGORY, DATE, DROP, KINDS, NUMBER, TEXT
from .reading import as_dates, as_numbers, as_texts, as_truths
from .text import TextCode
from .values import NOTHING, Values

Code = NumberCode | CategoryCode | CalendarCode | TextCode | MissingCode


@dataclass(frozen=True, kw_only=True, eq=False)
class TableColumn:
    """What `TableEncoder` found in one column of a table, and what it does to it.

    Attributes
    ----------
    name : str
        The name of the column; of an array x0, x1 and so on.
    kind : str
        "number", "boolean", "category", "date", "text" or "drop".
    done : str
        What becomes of its values, in words.
    note : str
        What a reader may want to know, such as why it is left out; empty: nothing.
    start : int
        The first of its columns in the matrix.
    stop : int
        The one after the last of its columns; equal to `start` where it has none.
    form : str
        How its values were given in fit.
    strays : tuple of str
        Texts among its numbers that are read as missing values.
    zone : str or None
        The time zone of its dates; None: they have none.
    codes : tuple
        The rules that make numbers of its values, one after another.
    """

    name: str
    kind: str
    done: str
    note: str
    start: int
    stop: int
    form: str
    strays: tuple[str, ...]
    zone: str | None
    codes: tuple[Code, ...]

    def __post_init__(self) -> None:
        texts = (self.name, self.kind, self.done, self.note, self.form)
        require(all(isinstance(text, str) for text in texts), "texts must be texts")
        require(self.kind in (*KINDS, DROP), "kind must be one of a few")
        require(is_texts(self.strays), "strays must be distinct texts")
        require(self.zone is None or isinstance(self.zone, str), "zone must be a name")
        require(isinstance(self.codes, tuple), "codes must be a tuple")
        allowed = CODES.get(self.kind, ())
        require(all(isinstance(code, allowed) for code in self.codes), "codes must fit the kind")
        width = sum(code.width for code in self.codes)
        whole = type(self.start) is int and type(self.stop) is int
        require(
            whole and 0 <= self.start == self.stop - width, "columns must be those of the codes"
        )

    @property
    def names(self) -> list[str]:
        """The names of its columns in the matrix."""
        return [name for code in self.codes for name in code.names(self.name)]

    def encode(self, values: Values, who: str, out: Array) -> None:
        """Write the numbers of new values into the columns of a matrix."""
        where = f"{who}, column {self.name!r}"
        if not self.codes:
            return
        known = self.read(values, where)
        place = self.start
        for code in self.codes:
            out[:, place : place + code.width] = code.encode(known)  # type: ignore[arg-type]
            place += code.width
        block = out[:, self.start : self.stop]
        if not np.isfinite(block).all():
            row = int((~np.isfinite(block)).any(axis=1).argmax())
            must = "values must be of a size like those of fit"
            raise InputError(sentence(where, must, f"one in row {row} that overflows"))

    def read(self, values: Values, where: str) -> Array | list[str | None]:
        """Return values as this column was learnt: numbers, texts, or seconds since 1970."""
        if self.kind == NUMBER:
            return as_numbers(values, where, self.strays)
        if self.kind == BOOLEAN:
            return as_truths(values, where)
        if self.kind == DATE:
            return self._instants(as_dates(values, where), where)
        texts = as_texts(values, where)
        if self.kind == CATEGORY and values.form not in (self.form, NOTHING):
            self._require_levels(texts, values.form, where)
        return texts

    def _instants(self, dates: Values, where: str) -> Array:
        if (dates.zone is None) != (self.zone is None) and dates.form != NOTHING:
            must = (
                f"dates must be {'without' if self.zone is None else 'with'} a time zone, as in fit"
            )
            told = "Convert them: a clock without a zone may mean any time."
            raise InputError(sentence(where, must, f"zone {dates.zone}", told))
        return np.asarray(dates.data)

    def _require_levels(self, texts: list[str | None], form: str, where: str) -> None:
        """Refuse values of another type of which one is not a level: they mean something else."""
        levels = {
            level for code in self.codes if isinstance(code, CategoryCode) for level in code.levels
        }
        for row, text in enumerate(texts):
            if text is not None and text not in levels:
                must = f"values must be {self.form}, as in fit, or be known from there"
                raise InputError(sentence(where, must, f"{form}, {show(text)} in row {row}"))


# The codes that columns of a kind may have.
CODES: dict[str, tuple[type, ...]] = {
    NUMBER: (NumberCode, MissingCode),
    BOOLEAN: (CategoryCode,),
    CATEGORY: (CategoryCode,),
    DATE: (NumberCode, CalendarCode, MissingCode),
    TEXT: (TextCode, MissingCode),
}
