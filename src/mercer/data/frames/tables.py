"""From columns of texts to a table, with types that stay the same in every block."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...checks import Array, DataError
from ...tables.encoder.columns import DROP
from ..library import require_polars
from ..pieces import Content, Options, Piece
from ..sources import Source
from ..summaries import summarize
from .columns import ColumnReader
from .targets import target_values

if TYPE_CHECKING:
    import polars

MOST_NAMES = 3  # suggested for a misspelt one


class TableReader(ABC):
    """Reads a table in pieces; what was found out about its columns holds for later pieces."""

    reads_commas = False  # whether a number may have a comma before its decimals

    def __init__(self, source: Source, options: Options) -> None:
        self.source, self.options = source, options
        require_polars(source.who)
        self.readers: dict[str, ColumnReader] = {}
        self.notes: list[str] = []  # about the file, for the first piece

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """Yield frames whose columns may still be texts."""

    def finish(self, piece: Piece) -> Content:
        """Return a piece with a type for each column, and without its target."""
        import polars

        notes, self.notes = self.notes, []
        frame: polars.DataFrame = piece.X
        target = self.options.target
        if not self.readers:
            self._make_readers(frame.columns, notes)
        frame = self._aligned(frame, notes)
        columns = {}
        for name, reader in self.readers.items():
            columns[name] = reader.read(frame.get_column(name), piece, notes)
        y: Array | None = None
        if target is not None:
            y = target_values(self.source, columns.pop(target), piece, target)
        typed = polars.DataFrame(columns)
        summaries = summarize(typed, self.options.types, self.source.who)
        notes += [
            f"Column {one.name!r} has no values." for one in summaries if one.missing == len(piece)
        ]
        return Content(
            X=typed, y=y, kind="table", target=target, columns=summaries, notes=tuple(notes)
        )

    def _make_readers(self, names: Sequence[str], notes: list[str]) -> None:
        """Check the names that the user gave, and make a reader for every column that is kept."""
        target, types = self.options.target, self.options.types
        if target is not None and target not in names:
            raise self._unknown("the target must be a column", target, names)
        for name in types:
            if name not in names:
                error = self._unknown("types must name columns", name, names)
                if self.options.is_strict:
                    raise error
                notes.append(f"There is no column {name!r}, of which types says what it is.")
        for name in names:
            if types.get(name) != DROP:
                self.readers[name] = ColumnReader(
                    self.source, name, types.get(name), self.reads_commas
                )
        if target is not None and target not in self.readers:
            must = "the target must not be dropped"
            raise self.source.fail(must, f'types={{{target!r}: "drop"}}')
        if not set(self.readers) - {target}:
            raise self.source.fail("there must be a column beside the target", "none")

    def _unknown(self, must: str, name: str, names: Sequence[str]) -> DataError:
        lower = {one.lower(): one for one in reversed(names)}
        near = difflib.get_close_matches(name.lower(), lower, n=MOST_NAMES, cutoff=0.6)
        told = f"Did you mean {' or '.join(repr(lower[one]) for one in near)}?" if near else ""
        shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
        return self.source.fail(f"{must}, here {shown}", repr(name), told)

    def _aligned(self, frame: polars.DataFrame, notes: list[str]) -> polars.DataFrame:
        """Return a frame with the columns of the first one, empty where it lacks them."""
        import polars

        known = {*self.readers, *self.options.types}
        new = [name for name in frame.columns if name not in known]
        if new:
            shown = ", ".join(map(repr, new))
            notes.append(f"Columns that the rows before did not have are left out: {shown}.")
        lacking = [name for name in self.readers if name not in frame.columns]
        return frame.with_columns(polars.lit(None).alias(name) for name in lacking)
