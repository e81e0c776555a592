"""Sparse rows in the text format of SVMlight and LIBSVM, read by the core."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse

from ... import _native
from ...checks import Array, DataError, show
from ..pieces import Content, Options, Piece
from ..sources import Source, line_pieces
from .labels import LABEL, check_label

AT_ONCE = 2**23  # bytes, of which the core gives every thread a megabyte at a time
_MUST = {
    "label": "a line must start with a number, the label",
    "query": "qid: must be followed by a whole number",
    "pair": "a label must be followed by pairs index:value",
    "index": "an index must be a whole number from 0 to 2147483646",
    "order": "indices must ascend within a line, each once",
    "value": "a value must be a number",
    "infinite": "numbers must be finite",
}
_ADVICE = {
    "infinite": "Leave out what is missing: it counts as 0.",
    "order": "Sort the pairs of the line, and leave out repeated ones.",
}


class SvmlightReader:
    """Reads lines `label qid:n index:value … # comment`; what is not there is 0."""

    def __init__(self, source: Source, options: Options) -> None:
        check_label(source.who, options)
        self.source, self.options = source, options
        auto = options.zero_based == "auto"
        self.base: int | None = None if auto else int(not options.zero_based)
        self.width = options.n_features or 0
        self.has_queries = False
        self.zero_line: int | None = None  # the first line with an index 0

    def pieces(self) -> Iterator[Piece]:
        """Yield sparse rows, whose columns are the indices as they stand in the file."""
        has_rows = False
        pieces = line_pieces(self.source, self.options.encoding, size=AT_ONCE, is_checked=False)
        for text, line in pieces:
            piece = self._parse(text, line)
            if len(piece):
                has_rows = True
                yield piece
        if not has_rows:
            raise self.source.fail("there must be rows of data", "none")

    def _parse(self, text: bytes, first_line: int) -> Piece:
        rows = _native.SvmlightRows()
        rows.read(np.frombuffer(text, dtype=np.uint8))
        if rows.mistake is not None:
            raise self._wrong(rows.mistake, text, first_line)
        labels, ends = np.empty(rows.rows), np.empty(rows.rows + 1, dtype=np.int64)
        columns, values = np.empty(rows.entries, dtype=np.int32), np.empty(rows.entries)
        shape = (rows.rows, max(rows.highest + 1, 1))
        self.has_queries = self.has_queries or rows.has_queries
        if self.zero_line is None and rows.zero_line >= 0:
            self.zero_line = first_line + rows.zero_line
        rows.take(labels, ends, columns, values, 0)
        X = scipy.sparse.csr_array((values, columns, _narrow(ends)), shape=shape)
        return Piece(X=X, y=labels)

    def finish(self, piece: Piece) -> Content:
        """Return the rows with columns that count from 0, as wide as the widest so far."""
        X = piece.X
        has_zero = self.zero_line is not None and bool(X.nnz and X.indices.min() == 0)
        if self.base is None:
            self.base = int(not has_zero)
        if has_zero and self.base == 1:
            told = "Say zero_based=True if all indices count from 0."
            raise self.source.fail("indices must count from 1", f"0 in line {self.zero_line}", told)
        width = X.shape[1] - self.base
        if self.options.n_features is not None and width > self.options.n_features:
            must = f"indices must be those of {self.options.n_features} columns"
            raise self.source.fail(must, f"one of column {width - 1}, counted from 0")
        self.width = max(self.width, width, 1)
        X.indices -= self.base  # a piece is nobody else's
        X.resize(len(piece), self.width)
        return Content(
            X=X,
            y=piece.y,
            kind="matrix",
            target=LABEL,
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        notes = [f"Indices count from {self.base}."]
        if self.has_queries:
            notes.append("Query numbers (qid) are left out.")
        return tuple(notes)

    def _wrong(self, mistake: tuple[str, int, int, int], text: bytes, line: int) -> DataError:
        problem, offset, start, end = mistake
        word = show(text[start:end].decode("utf-8", "replace"))
        got = f"{word} in line {line + offset}"
        return self.source.fail(_MUST[problem], got, _ADVICE.get(problem, ""))


def _narrow(ends: Array) -> Array:
    """Return ends in 32 bits where these are enough, as the columns are."""
    return ends.astype(np.int32) if ends[-1] <= np.iinfo(np.int32).max else ends
