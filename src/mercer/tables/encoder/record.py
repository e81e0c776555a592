"""What the encoder learnt of one column."""

from __future__ import annotations

from dataclasses import dataclass

from .codes import (
    CalendarCode,
    CategoryCode,
    Code,
    MissingCode,
    NumberCode,
    TextCode,
    is_texts,
    require,
)
from .columns import BOOLEAN, CATEGORY, DATE, DROP, KINDS, NUMBER, TEXT


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
        """The names of its columns in the matrix.

        Returns
        -------
        list of str
            One name per column.
        """
        return [name for code in self.codes for name in code.names(self.name)]


# The codes that columns of a kind may have.
CODES: dict[str, tuple[type, ...]] = {
    NUMBER: (NumberCode, MissingCode),
    BOOLEAN: (CategoryCode,),
    CATEGORY: (CategoryCode,),
    DATE: (NumberCode, CalendarCode, MissingCode),
    TEXT: (TextCode, MissingCode),
}
