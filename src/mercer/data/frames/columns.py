"""One column of a table, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...checks import DataError, show
from ...tables.encoder.columns import BOOLEAN, CATEGORY, DATE, NUMBER, TEXT
from ...tables.encoder.columns.kinds import MOST_STRAYS, NEARLY_ALL
from ..pieces import Piece
from ..sources import Source
from .rules import SLASHED, Rule, apply, find_rule, is_mixture, numbers_of, told_rule

if TYPE_CHECKING:
    import polars

_NOUNS = {NUMBER: "a number", BOOLEAN: "true or false", DATE: "a date such as 2024-12-31"}
_WRITTEN = {"": "decimal commas", ",": "commas at thousands"}
_WRITTEN |= {".": "decimal commas and points at thousands"}
_NESTED = {"List": "lists", "Array": "lists", "Struct": "records", "Binary": "bytes"}
_NESTED |= {"Object": "objects"}
_WIDE = ("Int128", "UInt128")  # for which NumPy has no type


class ColumnReader:
    """Reads a column by the rule that its first values settle, or that the user says."""

    def __init__(self, source: Source, name: str, told: str | None, reads_commas: bool) -> None:
        self.source, self.name, self.told, self.reads_commas = source, name, told, reads_commas
        self.rule: Rule | None = None
        self.n_known = 0  # values so far
        self.strays: dict[str, int] = {}  # texts among numbers that are read as missing

    def read(self, column: polars.Series, piece: Piece, notes: list[str]) -> polars.Series:
        """Return the values of a piece, of one type for all pieces."""
        import polars

        kind = str(column.dtype).partition("(")[0]
        if kind in _NESTED:
            raise self._nested(column, kind, piece)
        if column.dtype in (polars.Categorical, polars.Enum) and self.told in (None, CATEGORY):
            return column
        if kind == "Null":
            return column.cast(polars.String)
        if column.dtype != polars.String:
            return self._typed(column, piece)
        if self.rule is None:
            self.rule = self._find(column, piece, notes)
        return column if self.rule is None else self._read_texts(column, self.rule, piece, notes)

    def _typed(self, column: polars.Series, piece: Piece) -> polars.Series:
        """Return a column that the file itself has a type for."""
        import polars

        if self.rule is not None and self.rule.form in (TEXT, CATEGORY):  # as the rows before
            return apply(self.rule, column.cast(polars.String))
        if column.dtype.is_float():
            infinite = column.is_infinite().fill_null(False)
            if infinite.any():
                got = f"infinity in {piece.place(infinite.arg_max() or 0)}"
                told = "Leave a missing value out, or write NaN."
                raise self._fail("numbers must be finite or missing", got, told)
        is_wide = column.dtype.is_decimal() or str(column.dtype) in _WIDE
        return column.cast(polars.Float64) if is_wide else column

    def _find(self, texts: polars.Series, piece: Piece, notes: list[str]) -> Rule | None:
        if self.told in (NUMBER, BOOLEAN, DATE, CATEGORY):
            return told_rule(self.told, texts, self.reads_commas)
        if self.told == TEXT:
            return Rule(form=TEXT)
        rule = find_rule(texts, self.reads_commas)
        if rule is not None and rule.form == TEXT:
            self._look_at_texts(texts, piece, notes)
        if rule is not None and (rule.has_commas or rule.thousands):
            notes.append(f"Column {self.name!r} is of numbers with {_WRITTEN[rule.thousands]}.")
        return rule

    def _look_at_texts(self, texts: polars.Series, piece: Piece, notes: list[str]) -> None:
        """Refuse numbers and words that are mixed; note dates that are not read as dates."""
        known = texts.drop_nulls()
        numbers = numbers_of(known)
        if is_mixture(known, numbers):
            row = (texts.is_not_null() & numbers_of(texts).is_null()).arg_max() or 0
            got = f"{show(texts[row])} in {piece.place(row)} among numbers"
            told = (
                f'Correct the values, or say types={{{self.name!r}: "category"}}; what stands for '
                f"a missing value belongs into missing=."
            )
            raise self._fail("values must be of one type", got, told)
        if known.str.contains(SLASHED).all():
            notes.append(
                f"Column {self.name!r} is read as text: {show(known[0])} may be a date, but day "
                f"and month are uncertain. Write dates as 2024-12-31."
            )

    def _read_texts(
        self, texts: polars.Series, rule: Rule, piece: Piece, notes: list[str]
    ) -> polars.Series:
        values = apply(rule, texts)
        self.n_known += len(texts) - texts.null_count()
        lost = texts.is_not_null() & values.is_null()
        if lost.any():
            row = lost.arg_max() or 0
            if rule.form != NUMBER:
                raise self._unreadable(rule, texts[row], piece.place(row))
            self._count_strays(texts.filter(lost), rule, texts[row], piece.place(row))
            shown = ", ".join(map(repr, texts.filter(lost).unique(maintain_order=True)))
            notes.append(
                f"Column {self.name!r} is of numbers; {shown} there, first in {piece.place(row)}, "
                f"is read as missing."
            )
        return values

    def _count_strays(self, others: polars.Series, rule: Rule, first: str, place: str) -> None:
        """Refuse texts among numbers where these are not few."""
        for text in others.to_list():
            self.strays[text] = self.strays.get(text, 0) + 1
        many = sum(self.strays.values()) > (1.0 - NEARLY_ALL) * self.n_known
        if many or len(self.strays) > MOST_STRAYS:
            raise self._unreadable(rule, first, place)

    def _unreadable(self, rule: Rule, text: str, place: str) -> DataError:
        told = (
            f'Correct the values, or say types={{{self.name!r}: "text"}}; what stands for '
            f"a missing value belongs into missing=."
        )
        return self._fail(
            f"every value must be {_NOUNS[rule.form]}", f"{show(text)} in {place}", told
        )

    def _nested(self, column: polars.Series, kind: str, piece: Piece) -> DataError:
        row = column.is_not_null().arg_max() or 0
        got = f"{_NESTED[kind]}, first in {piece.place(row)}"
        told = f'Take them apart, or say types={{{self.name!r}: "drop"}}.'
        return self._fail("values must be numbers, truth values, dates or text", got, told)

    def _fail(self, must: str, got: object, advice: str) -> DataError:
        return self.source.fail(f"column {self.name!r}: {must}", got, advice)
