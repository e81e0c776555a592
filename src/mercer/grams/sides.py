"""What is computed once about each side of a Gram matrix and used in every tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import Array, InputError, sentence
from ..inputs import Input, Matrix, RowBlocks, Rows
from ..kernels.base import Basis, Kernel
from ..kernels.pairs import as_matrix
from .finite import roomy


class Side:
    """One collection of points with what kernels derive from it, each derived once.

    `reference` is the training side: the centre and the vocabulary come from there, so that one
    new row and a batch of them agree.
    """

    def __init__(self, points: Input, reference: Side | None = None) -> None:
        self.points = points
        self.reference = reference
        self._known: dict[Any, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        # What was derived is derived again where it is needed; some of it cannot be copied.
        return self.__dict__ | {"_known": {}}

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return the value kept under the key, computed the first time."""
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def child(self, key: Any, change: Callable[[Input], Input]) -> Side:
        """Return the same points through a change of representation."""
        reference = self.reference.child(key, change) if self.reference else None
        made: Side = self.once(("side", key), lambda: Side(change(self.points), reference))
        return made

    def values(self, function: Callable[[Input], Array]) -> Array:
        """Return f(x) of every point."""
        found: Array = self.once(("values", function), lambda: function(self.points))
        return found

    def centre(self) -> Array:
        """Return the column means of the training rows."""
        if self.reference is not None:
            return self.reference.centre()
        mean: Array = self.once("centre", lambda: column_means(as_matrix(self.points)))
        return mean

    def centred(self) -> Array:
        """Return dense float64 rows around the training centre."""
        found: Array = self.once(
            "centred",
            lambda: as_matrix(self.points).dense().astype(np.float64) - self.centre(),
        )
        return found

    def squares(self, weights: tuple[float, ...] | None) -> Array:
        """Return sum_c w_c x_c**2 of every row: centred if dense, as it is if sparse."""
        return np.asarray(self.once(("squares", weights), lambda: self._squares(weights)))

    def _squares(self, weights: tuple[float, ...] | None) -> Array:
        rows = as_matrix(self.points)
        if rows.is_sparse:
            squared = rows.values.astype(np.float64).power(2)
            scale = np.ones(rows.n_columns) if weights is None else np.array(weights)
            return np.asarray(squared @ scale).ravel()
        centred = self.centred()
        scaled = centred if weights is None else centred * np.array(weights)
        return np.asarray(np.einsum("ij,ij->i", centred, scaled))

    def basis(self, kernel: Kernel) -> Basis | None:
        """Return the basis of the training side."""
        if self.reference is not None:
            return self.reference.basis(kernel)
        found: Basis | None = self.once(("basis", kernel), lambda: kernel.basis(self.points))
        return found

    def features(self, kernel: Kernel) -> Any:
        """Return phi(X) in the columns of the training side."""
        basis = self.basis(kernel)
        if basis is None:
            raise ValueError(f"{kernel!r} has no finite map")
        return self.once(
            ("features", kernel), lambda: kernel.expand(roomy(kernel, self.points), basis)
        )


def column_means(rows: Matrix) -> Array:
    """Return the mean of each column; any number will do where a missing one spoils it."""
    if len(rows) == 0:
        return np.zeros(rows.n_columns)
    with np.errstate(invalid="ignore", over="ignore"):
        means = np.asarray(rows.values.mean(axis=0, dtype=np.float64)).ravel()
    return np.where(np.isfinite(means), means, 0.0)


class View:
    """Some rows of a side: what a tile sees."""

    def __init__(self, side: Side, rows: Rows | None = None) -> None:
        self.side, self.rows = side, rows
        self._known: dict[Any, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_known": {}}

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return what is kept for these rows: with the side if they are all, else with the view."""
        if self.rows is None:
            return self.side.once(key, compute)
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def __len__(self) -> int:
        return len(self.side.points) if self.rows is None else len(self._index())

    def _index(self) -> Any:
        everything = range(len(self.side.points))
        return everything[self.rows] if isinstance(self.rows, slice) else self.rows

    def take(self, rows: Rows) -> View:
        """Return some of these rows."""
        if self.rows is None:
            return View(self.side, rows)
        index = self._index()[rows] if isinstance(rows, slice) else np.asarray(self._index())[rows]
        if isinstance(index, range):
            return View(self.side, slice(index.start, index.stop, index.step))
        return View(self.side, index)

    def cut(self, values: Any) -> Any:
        """Return the part of something kept for the whole side that belongs to these rows."""
        return values if self.rows is None else values[self.rows]

    @property
    def points(self) -> Input:
        return self.side.points if self.rows is None else self.side.points.take(self.rows)

    def child(self, key: Any, change: Callable[[Input], Input]) -> View:
        """Return the same rows through a change of representation."""
        made: View = self.once(("view", key), lambda: View(self.side.child(key, change), self.rows))
        return made

    @property
    def is_sparse(self) -> bool:
        points = self.side.points
        return isinstance(points, Matrix) and points.is_sparse

    @property
    def dtype(self) -> np.dtype[Any]:
        points = self.side.points
        if isinstance(points, RowBlocks):
            points = points.first()
        values = getattr(points, "values", None)
        return np.dtype(np.float64 if values is None else values.dtype)

    def same_rows(self, other: View) -> bool:
        """Return whether both views show the same points."""
        if self.side is not other.side:
            return False
        if isinstance(self.rows, np.ndarray) and isinstance(other.rows, np.ndarray):
            return np.array_equal(self.rows, other.rows)
        return type(self.rows) is type(other.rows) and bool(self.rows == other.rows)


def index(chosen: Any, length: int, what: str) -> Rows:
    """Return a choice of rows or columns as a slice or an array of positions, checked."""
    if isinstance(chosen, slice):
        return chosen
    found = np.asarray(chosen)
    if found.dtype == bool and found.shape == (length,):
        return np.flatnonzero(found)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and len(found)):
        got = f"{found.dtype} of shape {found.shape}"
        raise InputError(sentence("gram", f"{what} must be a slice, positions or a mask", got))
    if len(found) and not (-length <= found.min() and found.max() < length):
        got = f"{found.min()} to {found.max()}"
        raise InputError(sentence("gram", f"{what} must lie in 0..{length - 1}", got))
    return np.asarray(found, dtype=np.intp) % max(length, 1)
