"""The Gram matrix as solvers see it, whatever is behind it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import Array, InputError, bytes_text, sentence
from ..inputs import Rows
from ..kernels.base import Kernel
from ..monitor import Monitor
from .finite import is_finite, refuse_product
from .plan import Plan
from .sides import index
from .sinks import Multiply, Sink, note_rows, rows_known


@dataclass(frozen=True)
class Explanation:
    """How a Gram matrix is computed and why; prints as a few lines.

    Parameters
    ----------
    kernel : str
        The kernel as text.
    shape : tuple of int
        Rows and columns.
    dtype : str
        The precision.
    kind : str
        "stored", "half stored", "on the fly", "low rank" and so on.
    reason : str
        Why this kind was chosen.
    bytes : int
        Memory that it takes beyond the inputs.
    band_rows : int
        Rows that are computed together.
    statistics : tuple of str
        What native code computes.
    numpy : tuple of str
        What NumPy computes.

    Examples
    --------
    >>> from mercer import gram
    >>> print(gram("linear", [[1.0], [2.0]], memory_limit="1GB").explain())
    K of shape 2 x 2, float64, for Linear()
      stored: K needs 32 bytes, the limit is 1.0 GB
      bands of 2 rows; 80 bytes beyond the inputs
      native: dot
    """

    kernel: str
    shape: tuple[int, int]
    dtype: str
    kind: str
    reason: str
    bytes: int
    band_rows: int
    statistics: tuple[str, ...]
    numpy: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            f"K of shape {self.shape[0]} x {self.shape[1]}, {self.dtype}, for {self.kernel}",
            f"  {self.kind}: {self.reason}",
            f"  bands of {self.band_rows} rows; {bytes_text(self.bytes)} beyond the inputs",
        ]
        lines += [f"  native: {text}" for text in self.statistics]
        return "\n".join(lines + [f"  NumPy: {text}" for text in self.numpy])


class Gram(ABC):
    """A matrix K(X, Y) of kernel values, whatever is behind it.

    `gram` makes it. Solvers know nothing else of kernels and data. K @ V multiplies, np.asarray(K)
    is the whole matrix. A kind of Gram gives `tile(I, J)`, a dense block; the rest follows from it,
    and a kind may do it better.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import gram
    >>> K = gram("linear", [[1.0], [2.0]])
    >>> np.asarray(K)
    array([[1., 2.],
           [2., 4.]])
    >>> K.rows([1])
    array([[2., 4.]])
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    symmetric: bool  # of one collection of points
    mirrors = False  # half of it may be computed and mirrored
    checked = True  # values that are not finite are refused
    kernel: Kernel
    plan: Plan
    monitor: Monitor

    @abstractmethod
    def tile(self, rows: Rows, columns: Rows) -> Array:
        """Return the dense block K[rows, columns]; do not write into it.

        Parameters
        ----------
        rows : slice or ndarray of int
            Which rows.
        columns : slice or ndarray of int
            Which columns.

        Returns
        -------
        ndarray
            The block.
        """

    @abstractmethod
    def diag(self) -> Array:
        """Return k(x, x) for every row of a square Gram.

        Returns
        -------
        ndarray of shape (n,)
            The diagonal.
        """

    @abstractmethod
    def restrict(self, rows: Any, columns: Any) -> Gram:
        """Return the Gram of chosen points.

        Parameters
        ----------
        rows : slice or array-like of int
            Which rows.
        columns : slice or array-like of int
            Which columns.

        Returns
        -------
        Gram
            The smaller matrix.
        """

    def cells(self, rows: Sequence[Any], columns: Sequence[Any]) -> list[list[Gram]]:
        """Return the Grams between parts of the rows and of the columns, each part taken once.

        Parameters
        ----------
        rows : sequence of slice or array-like of int
            Parts of the rows.
        columns : sequence of slice or array-like of int
            Parts of the columns.

        Returns
        -------
        list of list of Gram
            One Gram for each part of the rows and each part of the columns.
        """
        return [[self.restrict(r, c) for c in columns] for r in rows]

    @abstractmethod
    def explain(self) -> Explanation:
        """Return how it is computed, and why.

        Returns
        -------
        Explanation
            Prints as a few lines.
        """

    def bands(self, first: int = 0) -> Iterator[tuple[slice, Array]]:
        """Yield K in bands of whole rows.

        Parameters
        ----------
        first : int, default=0
            The row to begin with.

        Yields
        ------
        rows : slice
            Which rows.
        band : ndarray
            These rows.
        """
        step = self.plan.band_rows
        for start in range(first, self.shape[0], step):
            rows = slice(start, min(start + step, self.shape[0]))
            self.monitor.report("kernel", start / self.shape[0])
            yield rows, self.tile(rows, slice(None))
        self.monitor.report("kernel", 1.0)

    def reduce(self, sink: Sink) -> Any:
        """Return what a sink makes of all bands.

        Parameters
        ----------
        sink : Sink
            Takes bands one after another, such as `Multiply` or `TopK`.

        Returns
        -------
        object
            The result of the sink.
        """
        sink.start(self.shape, self.dtype)
        with self.monitor.stage("pass") as stage:
            for rows, band in self.bands(rows_known(sink, stage)):
                sink.take(rows, band)
                note_rows(sink, stage, rows)
        return sink.result()

    def __matmul__(self, V: Any) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):  # checked at once
            found = self._times(V)
        if self.checked and not is_finite(found):
            refuse_product(self.kernel)
        return found

    def _times(self, V: Any) -> Array:
        return np.asarray(self.reduce(Multiply(V)))

    def rows(self, rows: Any) -> Array:
        """Return whole rows, dense.

        Parameters
        ----------
        rows : slice or array-like of int
            Which rows.

        Returns
        -------
        ndarray
            The rows.
        """
        return self.tile(index(rows, self.shape[0], "rows"), slice(None))

    def fill_rows(self, rows: Any, out: Array) -> None:
        """Write whole rows into an array.

        Parameters
        ----------
        rows : slice or array-like of int
            Which rows.
        out : ndarray
            Where to write them.
        """
        out[:] = self.rows(rows)

    def rows_are_native(self) -> bool:
        """Return whether a few rows at a time cost no more than as many rows of the whole matrix.

        Returns
        -------
        bool
            True if native code computes single rows.
        """
        return False

    def block(self, rows: Any, columns: Any) -> Array:
        """Return a block, dense.

        Parameters
        ----------
        rows : slice or array-like of int
            Which rows.
        columns : slice or array-like of int
            Which columns.

        Returns
        -------
        ndarray
            The block.
        """
        return self.tile(
            index(rows, self.shape[0], "rows"), index(columns, self.shape[1], "columns")
        )

    def dense(self, out: Array | None = None) -> Array:
        """Return the whole matrix as an array of its own, or in the array `out`.

        Parameters
        ----------
        out : ndarray, default=None
            Where to write it; None makes a new array.

        Returns
        -------
        ndarray
            The whole matrix.
        """
        out = np.empty(self.shape, dtype=self.dtype) if out is None else self._room(out)
        for rows, band in self._half_bands() if self.mirrors else self.bands():
            out[rows, rows.start if self.mirrors else 0 :] = band
            if self.mirrors:
                out[rows.start :, rows] = band.T
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the whole matrix, as NumPy asks for it."""
        if copy is False:
            raise ValueError("a Gram becomes an array only by a copy; leave out copy=False.")
        return self.dense().astype(self.dtype if dtype is None else dtype, copy=False)

    def _room(self, out: Array) -> Array:
        fits = out.shape == self.shape and out.dtype == self.dtype and out.flags.c_contiguous
        if not fits or not out.flags.writeable:
            must = f"out must be a writeable array of {self.dtype}, shape {self.shape}, row by row"
            raise InputError(sentence("dense", must, f"{out.dtype} of shape {out.shape}"))
        return out

    def _half_bands(self) -> Iterator[tuple[slice, Array]]:
        step = self.plan.band_rows
        for start in range(0, self.shape[0], step):
            rows = slice(start, min(start + step, self.shape[0]))
            self.monitor.report("kernel", start / self.shape[0])
            yield rows, self.tile(rows, slice(start, self.shape[0]))
        self.monitor.report("kernel", 1.0)
