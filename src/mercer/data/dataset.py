"""What was read from a data file: the points, the target and what the columns hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import scipy.sparse

from ..checks import Array
from ..inputs import Graph, Tree

if TYPE_CHECKING:
    import polars

Kind = Literal["table", "matrix", "strings", "trees", "graphs"]
Points: TypeAlias = (
    "polars.DataFrame | Array | scipy.sparse.csr_array | list[str] | list[Tree] | list[Graph]"
)
MOST_LEVELS = 50  # of a category are listed, which is how many `TableEncoder` keeps
SHOWN = 48  # characters of a list of levels


@dataclass(frozen=True, kw_only=True)
class ColumnSummary:
    """What one column of a table or a matrix holds.

    Attributes
    ----------
    name : str
        The name of the column; of a matrix x0, x1 and so on.
    type : str
        "number", "boolean", "category", "date" or "text", as `TableEncoder` takes it.
    missing : int
        How many rows have no value.
    low : float, str or None
        The least number, or the first date as text of ISO 8601; None of other types.
    high : float, str or None
        The greatest number, or the last date.
    levels : tuple of str
        The levels of a category, or True and False, the frequent ones first; at most 50.
    """

    name: str
    type: str
    missing: int
    low: float | str | None = None
    high: float | str | None = None
    levels: tuple[str, ...] = ()

    @property
    def values(self) -> str:
        """The range or the levels, in a few words.

        Returns
        -------
        str
            A text such as "18 to 161.5", or "red, blue, green".
        """
        if self.low is not None and self.high is not None:
            return f"{_number(self.low)} to {_number(self.high)}"
        return _shortened(self.levels)


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """Points read from a data file, with their target and what is known of the file.

    Attributes
    ----------
    X : polars data frame, ndarray, sparse array or list
        The points: a frame of kind "table", numbers of kind "matrix", else a list of objects.
    y : ndarray or None
        The target of each point; None: the file has none, or none was asked for.
    kind : str
        "table", "matrix", "strings", "trees" or "graphs".
    target : str or None
        The name of the target; "label" where the format has a place for it.
    source : str
        Where the data came from, as it was given; "-" for standard input.
    format : str
        The format, such as "csv".
    sha256 : str
        The digest of the bytes of the file, as `sha256sum` shows it. Of a block it covers the bytes
        read so far, and so those of the whole file with the last block.
    columns : tuple of ColumnSummary
        What the columns of X hold; none of sparse arrays and of objects.
    notes : tuple of str
        What a reader may want to know, in sentences.
    """

    X: Points
    y: Array | None
    kind: Kind
    target: str | None
    source: str
    format: str
    sha256: str
    columns: tuple[ColumnSummary, ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return count_points(self.X)

    def describe(self) -> str:
        """Return what was read, as lines of text with aligned columns.

        Returns
        -------
        str
            The size, the type and values of each column, the target, and the notes.
        """
        lines = [f"{self.source}: {self.format}, {self._size()}"]
        if self.columns:
            heads = ("column", "type", "missing", "values")
            rows = [(one.name, one.type, f"{one.missing:,}", one.values) for one in self.columns]
            lines += _aligned([heads, *rows])
        if self.y is not None:
            lines.append(f"target {self.target}: {_target_text(self.y)}")
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of the file, without the points, as JSON can hold it.

        Returns
        -------
        dict
            The keys source, format, kind, rows, target, sha256, columns and notes.
        """
        return {
            "source": self.source,
            "format": self.format,
            "kind": self.kind,
            "rows": len(self),
            "target": self.target,
            "sha256": self.sha256,
            "columns": [asdict(one) | {"levels": list(one.levels)} for one in self.columns],
            "notes": list(self.notes),
        }

    def _size(self) -> str:
        if isinstance(self.X, list):
            return _counted(len(self), self.kind.removesuffix("s"))
        rows, columns = _counted(len(self), "row"), _counted(self.X.shape[1], "column")
        if isinstance(self.X, scipy.sparse.csr_array):
            return f"{rows}, {columns}, {_counted(self.X.nnz, 'stored number')}"
        return f"{rows}, {columns}"


def count_points(X: Points) -> int:
    """Return how many points there are."""
    return len(X) if isinstance(X, list) else int(X.shape[0])


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _shortened(words: tuple[str, ...]) -> str:
    """Return words with commas between, as many as there is room for."""
    text = ""
    for place, word in enumerate(" ".join(one.split()) for one in words):  # each in one line
        longer = f"{text}, {word}" if text else word
        if len(longer) > SHOWN and place:
            return f"{text}, … ({len(words)}{' or more' if len(words) == MOST_LEVELS else ''})"
        text = longer if len(longer) <= SHOWN else f"{longer[: SHOWN - 1]}…"
    return text


def _aligned(rows: list[tuple[str, str, str, str]]) -> list[str]:
    """Return rows as lines; numbers of missing values stand at the right of their column."""
    names, types, missing = (max(len(row[place]) for row in rows) for place in range(3))
    return [
        f"  {name:<{names}}  {kind:<{types}}  {gone:>{missing}}  {values}".rstrip()
        for name, kind, gone, values in rows
    ]


def _target_text(y: Array) -> str:
    if y.dtype.kind in "iuf" and len(np.unique(y)) > 2:
        return f"number, {_number(float(y.min()))} to {_number(float(y.max()))}"
    levels, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return f"{_counted(len(levels), 'class').replace('classs', 'classes')}, " + _shortened(
        tuple(f"{_plain(levels[place])} ({counts[place]:,})" for place in order)
    )


def _plain(value: Any) -> str:
    return _number(float(value)) if isinstance(value, np.number) else str(value)
