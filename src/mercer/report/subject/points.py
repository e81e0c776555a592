"""Some of the points, and other values in one column, whatever holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...checks import Array
from ...plots.base import count_of as size_of
from ...plots.base import replaced as replaced_column
from ...plots.base import take as taken

__all__ = ["replaced", "size_of", "taken"]


def replaced(X: Any, position: int, rows: Array) -> Any:
    """Return the points with other values in one column: those that the column has in rows.

    rows: one per point. Values are never made up, so that every column keeps its type.
    """
    if not isinstance(X, list):
        return replaced_column(X, position, rows)
    if isinstance(X[0], Mapping):
        name = list(dict.fromkeys(name for row in X for name in row))[position]
        values = [X[row].get(name) for row in rows.tolist()]
        return [{**row, name: value} for row, value in zip(X, values, strict=True)]
    values = [X[row][position] for row in rows.tolist()]
    lists = [list(row) for row in X]
    for row, value in zip(lists, values, strict=True):
        row[position] = value
    return lists
