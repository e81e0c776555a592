"""What a user calls a table, as columns of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ....checks import Array, InputError, InputTypeError, sentence, show
from ....typing import PointsLike
from .values import Values, of_array, of_series

FRAMES = "a data frame of pandas, polars or arrow, a two-dimensional array, or a list of dicts"


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Columns of values, all of one length; names: of columns that have them, else None."""

    columns: tuple[Values, ...]
    n_rows: int
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return self.n_rows

    def take(self, rows: Array) -> Table:
        """Return some of the rows."""
        columns = tuple(column.take(rows) for column in self.columns)
        return Table(columns=columns, n_rows=len(rows), names=self.names)

    def label(self, position: int) -> str:
        """Return what a column is called in messages and among the features."""
        return f"x{position}" if self.names is None else self.names[position]


def spread_rows(count: int, most: int) -> Array:
    """Return the numbers of at most so many rows, spread evenly over all."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(most, count)).round().astype(np.intp))


def read_table(X: PointsLike, who: str) -> Table:
    """Return the columns of a table, or say what must be handed in."""
    if isinstance(X, Table):
        return X
    if scipy.sparse.issparse(X):
        must, told = f"X must be {FRAMES}", "Sparse data is of numbers only: standardise X itself."
        raise InputTypeError(sentence(who, must, "a sparse matrix", told))
    if isinstance(X, np.ndarray):
        return _of_array(X, who)
    if isinstance(X, list | tuple):
        return _of_list(X, who)
    return _of_frame(X, who)


def _of_array(X: Array, who: str) -> Table:
    if X.ndim != 2:
        told = "Reshape your data: one column with X.reshape(-1, 1), one row with (1, -1)."
        raise InputError(
            sentence(who, "X must be 2-D, one row per point", f"shape {X.shape}", told)
        )
    if X.dtype.kind == "c":
        raise InputTypeError(sentence(who, "X must be real. Complex data not supported", X.dtype))
    if X.shape[1] == 0:
        got = f"0 feature(s) (shape={X.shape}) while a minimum of 1 is required"
        raise InputError(sentence(who, "X must have columns", got))
    columns = tuple(of_array(X[:, place]) for place in range(X.shape[1]))
    return Table(columns=columns, n_rows=len(X))


def _of_list(X: Sequence[Any], who: str) -> Table:
    if X and all(isinstance(row, Mapping) for row in X):
        names = tuple(dict.fromkeys(name for row in X for name in row))
        columns = tuple(of_array(_objects([row.get(name) for row in X])) for name in names)
        return Table(columns=columns, n_rows=len(X), names=_texts(names, who))
    widths = {len(row) if isinstance(row, list | tuple | np.ndarray) else None for row in X}
    if X and (len(widths) > 1 or None in widths):
        must = "every row of X must be a list, and all of one length"
        raise InputError(sentence(who, must, f"{show(X[0])} first. {_reshape(widths)}".rstrip()))
    plain = np.asarray(X)
    if plain.dtype.kind in "US":
        plain = np.array(X, dtype=object)  # numbers among words stay numbers
    return _of_array(plain, who)


def _reshape(widths: set[int | None]) -> str:
    return "Reshape your data: one row per point" if widths == {None} else ""


def _objects(items: list[Any]) -> Array:
    array = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):  # one by one: a list of lists would become a table
        array[place] = item
    return array


def _of_frame(X: Any, who: str) -> Table:
    import narwhals.stable.v2 as narwhals

    try:
        frame = narwhals.from_native(X, eager_only=True, pass_through=True)
    except narwhals.exceptions.DuplicateError:
        got = f"columns {', '.join(map(str, X.columns))}"
        must = "every column of X must have a name of its own"
        raise InputError(sentence(who, must, got)) from None
    if not isinstance(frame, narwhals.DataFrame):
        if hasattr(X, "__array__") or (hasattr(X, "__len__") and hasattr(X, "__getitem__")):
            return _of_array(np.asarray(X), who)
        raise InputTypeError(sentence(who, f"X must be {FRAMES}", type(X).__name__))
    if not frame.columns:
        got = f"0 feature(s) (shape={frame.shape}) while a minimum of 1 is required"
        raise InputError(sentence(who, "X must have columns", got))
    columns = tuple(of_series(frame.get_column(name)) for name in frame.columns)
    return Table(columns=columns, n_rows=len(frame), names=_texts(frame.columns, who))


def _texts(names: Sequence[Any], who: str) -> tuple[str, ...]:
    """Return the names of columns as texts: those of pandas may be numbers."""
    texts = tuple(map(str, names))
    if len(set(texts)) < len(texts):
        must = "every column of X must have a name of its own"
        raise InputError(sentence(who, must, f"columns {', '.join(texts)}"))
    return texts
