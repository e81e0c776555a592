"""Tables as text: CSV, TSV and their like, by polars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...checks import Array, show
from ..formats import TSV
from ..pieces import Options, Piece, with_last
from ..sources import Source, text_chunks
from .delimiters import column_names, find_delimiter, name_of
from .records import Records, bad_quote, record_pieces, split_records
from .tables import TableReader

if TYPE_CHECKING:
    import polars

LOOKED_AT = 1000  # records from which the delimiter is guessed


class DelimitedReader(TableReader):
    """Reads text with a delimiter between columns, a record per line, and a line of names."""

    def __init__(self, source: Source, options: Options, format: str) -> None:
        super().__init__(source, options)
        given = options.delimiter
        self.delimiter = "\t" if given is None and format == TSV else given
        self.names: list[str] = []

    def pieces(self) -> Iterator[Piece]:
        """Yield the records as texts, each column of them a column of the frame."""
        quote = self.options.quote
        chunks = text_chunks(self.source, self.options.encoding)
        has_rows = False
        for (text, line), is_last in with_last(record_pieces(self.source, chunks, quote)):
            self._refuse_returns(text)
            records = split_records(text, quote, line)
            rows = self._rows(records, is_last)
            self._check(records, rows)
            if len(rows):
                has_rows = True
                yield Piece(X=self._frame(records.text_of(rows)), lines=records.lines[rows])
        if not has_rows:
            got = f"the names of {len(self.names)} columns only" if self.names else "an empty file"
            raise self.source.fail("there must be rows of data", got)

    def _rows(self, records: Records, is_last: bool) -> Array:
        """Return which records are rows: neither that of the names nor blank ones.

        In a table of one column a blank line is a missing value, but for those at the end.
        """
        filled, start = np.flatnonzero(~records.blank()), 0
        if not self.names and len(filled):
            self._begin(records, filled)
            start = int(filled[0]) + self.options.has_header
        rows = filled[filled >= start]
        if len(self.names) != 1:
            return rows
        end = len(records.lines)
        if is_last:
            end = int(rows[-1]) + 1 if len(rows) else start
        return np.arange(start, end)

    def _begin(self, records: Records, filled: Array) -> None:
        """Find the delimiter and the names."""
        quote, first = self.options.quote, int(filled[0])
        some = split_records(records.text_of(filled[:LOOKED_AT]), quote, int(records.lines[first]))
        self.delimiter = find_delimiter(self.source, some, self.delimiter)
        self.reads_commas = self.delimiter != ","
        if not self.options.has_header:
            count = int(some.fields(self.delimiter)[0])
            self.names = [f"x{place}" for place in range(count)]
            return
        place = bad_quote(some, quote, self.delimiter) if quote else None
        if place is not None and place <= some.ends[0]:
            raise self._quote_error(records, first, quote or "")
        self.names, notes = column_names(self.source, some.texts(1)[0], self.delimiter, quote)
        self.notes += notes

    def _check(self, records: Records, rows: Array) -> None:
        """Refuse quotes within values, and records that are longer or shorter than the first."""
        quote, delimiter = self.options.quote, self.delimiter or ","
        place = None if quote is None else bad_quote(records, quote, delimiter)
        if place is not None:
            record = int(np.searchsorted(records.ends, place))
            raise self._quote_error(records, record, quote or "")
        fields = records.fields(delimiter)[rows]
        wrong = np.flatnonzero(fields != len(self.names))
        if len(wrong):
            record = rows[wrong[0]]
            got = f"{int(fields[wrong[0]])} in line {int(records.lines[record])}"
            must = f"every line must have {len(self.names)} values, as the first has"
            told = f"Put values with {name_of(delimiter)} in them between quotes."
            raise self.source.fail(must, got, told)

    def _quote_error(self, records: Records, record: int, quote: str) -> Exception:
        text = records.text[records.starts[record] : records.ends[record]].decode("utf-8")
        got = f"{show(text)} in line {int(records.lines[record])}"
        told = f"Write {quote * 2} within a value, or say quote=None where no value is quoted."
        must = "quotes must stand around whole values, without blanks outside"
        return self.source.fail(must, got, told)

    def _refuse_returns(self, text: bytes) -> None:
        """Refuse lines that end as on computers of the last century."""
        if not self.names and text.count(b"\n") == 1 and text.rstrip(b"\r\n").count(b"\r") > 1:
            must, got = "lines must end with a line feed", "carriage returns alone"
            raise self.source.fail(must, got, "Convert the line ends, as with: tr '\\r' '\\n'.")

    def _frame(self, text: bytes) -> polars.DataFrame:
        import polars

        try:
            frame = polars.read_csv(
                text,
                has_header=False,
                new_columns=self.names,
                separator=self.delimiter or ",",
                quote_char=self.options.quote,
                infer_schema_length=0,  # every column as text
            )
        except polars.exceptions.PolarsError as error:
            raise self.source.fail("the text must be a table", error) from None
        texts = polars.all().str.strip_chars()
        gone = ["", *self.options.missing]
        plain = polars.when(texts.is_in(gone)).then(None).otherwise(texts)
        return frame.select(plain.name.keep())
