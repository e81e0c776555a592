"""What the readers of formats yield, and how it is put together into blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import scipy.sparse

from ..checks import Array
from .dataset import ColumnSummary, Kind, Points, count_points

_Item = TypeVar("_Item")


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a file is to be read, as `read` describes it; is_strict: misspelt names are errors."""

    target: str | None
    types: Mapping[str, str]
    rows: int | None
    max_rows: int | None
    delimiter: str | None
    quote: str | None
    has_header: bool
    encoding: str
    missing: tuple[str, ...]
    n_features: int | None
    zero_based: bool | Literal["auto"]
    is_strict: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """Some points of a file, their labels, and the lines they stand in; None: there are none."""

    X: Any
    y: Array | None = None
    lines: Array | None = None

    def __len__(self) -> int:
        return count_points(self.X)

    def cut(self, start: int, stop: int | None = None) -> Piece:
        """Return the points from one to before another."""
        y = None if self.y is None else self.y[start:stop]
        lines = None if self.lines is None else self.lines[start:stop]
        return Piece(X=self.X[start:stop], y=y, lines=lines)

    def place(self, row: int) -> str:
        """Return where a point stands, in words."""
        return f"row {row}" if self.lines is None else f"line {int(self.lines[row])}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """What was made of a piece: the fields of a `Dataset` that depend on the format."""

    X: Points
    y: Array | None
    kind: Kind
    target: str | None
    columns: tuple[ColumnSummary, ...] = ()
    notes: tuple[str, ...] = ()


class Reader(Protocol):
    """What reads one format."""

    def pieces(self) -> Iterator[Piece]:
        """Yield what the file holds, in pieces of any size."""
        ...

    def finish(self, piece: Piece) -> Content:
        """Return what a piece holds, with types that agree with those of earlier pieces."""
        ...


def regroup(pieces: Iterator[Piece], rows: int | None, most: int | None) -> Iterator[Piece]:
    """Yield pieces of so many rows each, the last of fewer; most: stop after so many in all.

    A piece is held back until more is known to follow, so that the last one is the last one that
    was read.
    """
    waiting: list[Piece] = []
    seen = 0
    for piece in pieces:
        part = piece if most is None else piece.cut(0, most - seen)
        seen += len(part)
        waiting.append(part)
        if rows is not None and sum(map(len, waiting)) > rows:
            whole, start = join(waiting), 0
            while len(whole) - start > rows:
                yield whole.cut(start, start + rows)
                start += rows
            waiting = [whole.cut(start)]
        if most is not None and seen >= most:
            break
    if waiting:
        yield join(waiting)


def with_last(items: Iterator[_Item]) -> Iterator[tuple[_Item, bool]]:
    """Yield each item with whether it is the last one."""
    waiting: list[_Item] = []
    for item in items:
        if waiting:
            yield waiting.pop(), False
        waiting.append(item)
    if waiting:
        yield waiting.pop(), True


def join(pieces: Sequence[Piece]) -> Piece:
    """Return pieces one after another as one."""
    if len(pieces) == 1:
        return pieces[0]
    labels = [piece.y for piece in pieces if piece.y is not None]
    lines = [piece.lines for piece in pieces if piece.lines is not None]
    return Piece(
        X=_join_points([piece.X for piece in pieces]),
        y=np.concatenate(labels) if labels else None,
        lines=np.concatenate(lines) if lines else None,
    )


def _join_points(parts: list[Any]) -> Any:
    first = parts[0]
    if isinstance(first, list):
        return [point for part in parts for point in part]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if scipy.sparse.issparse(first):
        return _join_sparse(parts)
    import polars

    return polars.concat(parts, how="diagonal_relaxed")


def _join_sparse(parts: list[Any]) -> scipy.sparse.csr_array:
    """Return sparse rows one after another; the widest part says how many columns there are."""
    starts = np.cumsum([0, *(part.nnz for part in parts)])
    ends = [part.indptr[1:] + start for part, start in zip(parts, starts, strict=False)]
    shape = (sum(part.shape[0] for part in parts), max(part.shape[1] for part in parts))
    indices = np.concatenate([part.indices for part in parts])
    content = (np.concatenate([part.data for part in parts]), indices, np.concatenate([[0], *ends]))
    return scipy.sparse.csr_array(content, shape=shape)
