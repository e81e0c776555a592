"""Tables as JSON lines: an object per line, by polars."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import show
from ..pieces import Piece
from ..sources import line_pieces
from .tables import TableReader

if TYPE_CHECKING:
    import polars


class JsonLinesReader(TableReader):
    """Reads objects whose values are numbers, texts, truth values or null."""

    def pieces(self) -> Iterator[Piece]:
        """Yield the objects as frames; a key that an object lacks is a missing value."""
        has_rows = False
        forms: dict[str, str] = {}
        for text, first in line_pieces(self.source, self.options.encoding):
            lines = [
                (first + place, line)
                for place, line in enumerate(text.split(b"\n"))
                if line and not line.isspace()
            ]
            if not lines:
                continue
            frame = self._frame(text, lines, forms)
            has_rows = True
            yield Piece(X=frame, lines=np.array([number for number, _ in lines]))
        if not has_rows:
            raise self.source.fail("there must be rows of data", "blank lines only")

    def _frame(
        self, text: bytes, lines: list[tuple[int, bytes]], forms: dict[str, str]
    ) -> polars.DataFrame:
        import polars

        try:
            frame = polars.read_ndjson(text, infer_schema_length=None)
        except polars.exceptions.PolarsError:
            return self._read_slowly(lines, forms)
        for name, kind in frame.schema.items():
            form = "boolean" if kind == polars.Boolean else "other"
            if kind != polars.Null and forms.setdefault(name, form) != form:
                return self._read_slowly(lines, forms)  # which finds the line
        return frame

    def _read_slowly(
        self, lines: list[tuple[int, bytes]], forms: dict[str, str]
    ) -> polars.DataFrame:
        """Return the frame of what polars refuses, or say which line is wrong."""
        import polars

        rows = [self._row(number, line) for number, line in lines]
        columns: dict[str, list[Any]] = {name: [] for row in rows for name in row}
        for (number, _), row in zip(lines, rows, strict=True):
            for name, values in columns.items():
                value = row.get(name)
                form = "boolean" if isinstance(value, bool) else "other"
                if value is not None and forms.setdefault(name, form) != form:
                    must = f"column {name!r}: values must be of one type"
                    got = f"{show(value)} in line {number} after other values"
                    told = f'Correct them, or say types={{{name!r}: "drop"}}.'
                    raise self.source.fail(must, got, told)
                values.append(value)
        return polars.DataFrame([_column(name, columns[name]) for name in columns])

    def _row(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            got = f"{show(line.decode('utf-8').strip())} in line {number} ({error})"
            raise self.source.fail("every line must be a JSON object", got) from None
        if not isinstance(row, dict):
            got = f"{show(row)} in line {number}"
            raise self.source.fail("every line must be a JSON object", got)
        return row


def _column(name: str, values: list[Any]) -> polars.Series:
    """Return a column of Python's values: numbers of any size, or what there is else."""
    import polars

    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {int, float}:
        return polars.Series(name, list(map(_number, values)), dtype=polars.Float64)
    if kinds <= {int, float, str}:
        texts = [None if value is None else str(value) for value in values]
        return polars.Series(name, texts, dtype=polars.String)
    return polars.Series(name, values, strict=False)


def _number(value: int | float | None) -> float | None:
    """Return a number in double precision; Python reads NaN, which JSON does not have."""
    if value is None or value != value:
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf")
