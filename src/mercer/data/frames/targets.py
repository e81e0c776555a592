"""The target of a table as an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...checks import Array
from ..pieces import Piece
from ..sources import Source

if TYPE_CHECKING:
    import polars

SHOWN = 5  # rows without a target that are named
EXACT = 2.0**53  # up to which a whole number is a double


def target_values(source: Source, column: polars.Series, piece: Piece, name: str) -> Array:
    """Return a column as an array of numbers, truth values or texts, all of them known."""
    if column.dtype.is_temporal():
        must = f"the target {name!r} must be numbers or classes"
        told = "Turn it into a number first, such as days since a date."
        raise source.fail(must, f"dates, {column.drop_nulls()[0]} first", told)
    gone = column.is_null()
    if column.dtype.is_float():
        gone = gone | column.is_nan().fill_null(True)
    refuse_gaps(source, np.flatnonzero(gone.to_numpy()), piece, name)
    if column.dtype.is_integer():
        return column.to_numpy()
    if column.dtype.is_numeric():
        return _numbers(column.cast(float).to_numpy())
    values = column.to_list()
    return np.array(values if str(column.dtype) == "Boolean" else list(map(str, values)))


def refuse_gaps(source: Source, rows: Array, piece: Piece, name: str) -> None:
    """Refuse rows without a target, naming the first of them."""
    if len(rows) == 0:
        return
    places = ", ".join(piece.place(int(row)) for row in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    must = f"the target {name!r} must be known in every row"
    raise source.fail(must, f"no value in {places}{more}", "Drop these rows, or fill them.")


def _numbers(values: Array) -> Array:
    """Return whole numbers as such, so that classes 0 and 1 are not called 0.0 and 1.0."""
    whole = bool(np.all(values == np.rint(values)) and np.all(np.abs(values) < EXACT))
    return values.astype(np.int64) if whole else values
