"""The Gram matrix as solvers see it, whatever is behind it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..checks import Array, InputError, bytes_text, sentence
from ..inputs import Rows
from ..kernels.base import Kernel
from ..kernels.pairs import Diagonal, broadcast
from ..monitor import Monitor
from .blocks import BlockPairs
from .counted import features_product, is_of_objects
from .finite import is_finite, refuse, refuse_product
from .native import NativeTile, program_of, tile
from .plan import Plan
from .sinks import Multiply, Normal, Sink, TopK
from .views import View, index


@dataclass(frozen=True)
class Explanation:
    """How a Gram matrix is computed and why; prints as a few lines."""

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
    """A matrix K(X, Y) of kernel values. Solvers know nothing else.

    A kind gives `tile(I, J)`, a dense block; the rest follows, and may be done better.
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
        """Return the dense block K[rows, columns]; do not write into it."""

    @abstractmethod
    def diag(self) -> Array:
        """Return k(x, x) for every row of a square Gram."""

    @abstractmethod
    def restrict(self, rows: Any, columns: Any) -> Gram:
        """Return the Gram of chosen points."""

    def cells(self, rows: Sequence[Any], columns: Sequence[Any]) -> list[list[Gram]]:
        """Return the Grams between parts of the rows and of the columns, each part taken once."""
        return [[self.restrict(r, c) for c in columns] for r in rows]

    @abstractmethod
    def explain(self) -> Explanation:
        """Return how it is computed."""

    def bands(self) -> Iterator[tuple[slice, Array]]:
        """Yield K in bands of whole rows."""
        step = self.plan.band_rows
        for start in range(0, self.shape[0], step):
            rows = slice(start, min(start + step, self.shape[0]))
            self.monitor.report("kernel", start / self.shape[0])
            yield rows, self.tile(rows, slice(None))
        self.monitor.report("kernel", 1.0)

    def reduce(self, sink: Sink) -> Any:
        """Return what the sink makes of all bands."""
        sink.start(self.shape, self.dtype)
        for rows, band in self.bands():
            sink.take(rows, band)
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
        """Return whole rows, dense."""
        return self.tile(index(rows, self.shape[0], "rows"), slice(None))

    def fill_rows(self, rows: Any, out: Array) -> None:
        """Write whole rows into the array `out`."""
        out[:] = self.rows(rows)

    def rows_are_native(self) -> bool:
        """Return whether a few rows at a time cost no more than as many of the whole matrix."""
        return False

    def block(self, rows: Any, columns: Any) -> Array:
        """Return a block, dense."""
        return self.tile(
            index(rows, self.shape[0], "rows"), index(columns, self.shape[1], "columns")
        )

    def dense(self, out: Array | None = None) -> Array:
        """Return the whole matrix as an array of its own, or in the array `out`."""
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


class _Computed(Gram):
    """A Gram made from a kernel and two views."""

    def __init__(
        self, kernel: Kernel, left: View, right: View, plan: Plan, dtype: Any, monitor: Monitor
    ) -> None:
        self.kernel, self.left, self.right = kernel, left, right
        self.plan, self.monitor = plan, monitor
        self.dtype = np.dtype(dtype)
        self.shape = (len(left), len(right))
        self.symmetric = left.same_rows(right)
        self.mirrors = self.symmetric and not kernel.is_from_outside()

    def diag(self) -> Array:
        if not self.symmetric:
            raise InputError(
                sentence("diag", "K must be the Gram of one collection", f"shape {self.shape}")
            )
        whole = self.left.side.once(("diag", self.kernel), self._diagonal)
        if self.checked and not is_finite(whole):
            refuse(self.kernel, [self.left.side.points], np.float64)
        return np.asarray(self.left.cut(whole))

    def _diagonal(self) -> Array:
        points = self.left.side.points
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            return broadcast(self.kernel.profile(Diagonal(points)), (len(points),))

    def restrict(self, rows: Any, columns: Any) -> Gram:
        left = self.left.take(index(rows, self.shape[0], "rows"))
        right = self.right.take(index(columns, self.shape[1], "columns"))
        return self._between(left, right)

    def cells(self, rows: Sequence[Any], columns: Sequence[Any]) -> list[list[Gram]]:
        left = [self.left.take(index(r, self.shape[0], "rows")) for r in rows]
        same = self.symmetric and rows is columns
        right = (
            left if same else [self.right.take(index(c, self.shape[1], "columns")) for c in columns]
        )
        return [[self._between(r, c) for c in right] for r in left]

    def _between(self, left: View, right: View) -> Gram:
        return type(self)(self.kernel, left, right, self.plan, self.dtype, self.monitor)

    def explain(self) -> Explanation:
        program = program_of((self.kernel,), self.left)
        if program is not None:
            native = program.statistics + program.externals(native=True)
            return explanation(self.kernel, self, native, program.externals(native=False))
        used: tuple[list[str], list[str]] = ([], [])
        if self.shape[0] and self.shape[1]:
            one = self.left.take(slice(0, 1)), self.right.take(slice(0, 1))
            pairs = BlockPairs(*one, self.monitor)
            self.kernel.profile(pairs)
            used = pairs.used()
        return explanation(self.kernel, self, *used)


def explanation(kernel: Kernel, gram: Gram, native: list[str], numpy: list[str]) -> Explanation:
    """Return the explanation of a planned Gram."""
    plan = gram.plan
    return Explanation(
        repr(kernel),
        gram.shape,
        str(gram.dtype),
        plan.kind,
        plan.reason,
        plan.bytes,
        plan.band_rows,
        tuple(native),
        tuple(numpy),
    )


class TiledGram(_Computed):
    """K computed anew whenever a block of it is needed."""

    _job: NativeTile | None = None

    def tile(self, rows: Rows, columns: Rows) -> Array:
        everything = isinstance(columns, slice) and columns == slice(None)
        right = self.right if everything else self.right.take(columns)
        return self._block(self.left.take(rows), right)

    def _block(self, left: View, right: View) -> Array:
        return tile((self.kernel,), left, right, self.dtype, self.monitor, self.checked)[0]

    def _whole(self) -> NativeTile | None:
        """Return the whole matrix as one native job, where no part of it is left to NumPy."""
        program = program_of((self.kernel,), self.left)
        if program is None or program.recorder.externals:
            return None
        views = self.left, self.right
        return NativeTile(program, (self.kernel,), *views, self.dtype, self.monitor, self.checked)

    def rows(self, rows: Any) -> Array:
        chosen = np.arange(self.shape[0])[index(rows, self.shape[0], "rows")]
        if self._handle() is None:
            return super().rows(chosen)
        out = np.empty((len(chosen), self.shape[1]), dtype=self.dtype)
        self.fill_rows(chosen, out)
        return out

    def rows_are_native(self) -> bool:
        return self._handle() is not None

    def fill_rows(self, rows: Any, out: Array) -> None:
        whole = self._handle()
        if whole is None or out.dtype != self.dtype or not out.flags.c_contiguous:
            super().fill_rows(rows, out)
        else:
            whole.fill_rows(np.arange(self.shape[0])[rows], out, self.monitor)

    def _handle(self) -> NativeTile | None:
        """Return the job that rows are asked of, kept because they are asked for again."""
        if self._job is None:
            self._job = self._whole()
        return self._job

    def dense(self, out: Array | None = None) -> Array:
        whole = self._whole()
        one_band = out is None and self.plan.band_rows >= self.shape[0]
        if one_band and is_of_objects(self.kernel):
            return np.ascontiguousarray(self._block(self.left, self.right))
        if whole is None:
            return super().dense(out)
        room = np.empty(self.shape, dtype=self.dtype) if out is None else self._room(out)
        self.monitor.report("kernel", 0.0)
        whole.store([room], self.monitor)
        self.monitor.report("kernel", 1.0)
        return room

    def reduce(self, sink: Sink) -> Any:
        whole = self._whole() if isinstance(sink, Multiply | TopK) else None
        if whole is None:
            return super().reduce(sink)
        sink.start(self.shape, self.dtype)
        self.monitor.report("kernel", 0.0)
        if isinstance(sink, Multiply):
            sink.put(whole.multiply(sink.V, self.monitor))
        elif isinstance(sink, TopK):
            everything = slice(0, self.shape[0])
            sink.put(everything, *whole.top(sink.k, sink.shift, self.monitor))
        self.monitor.report("kernel", 1.0)
        return sink.result()


class StoredGram(_Computed):
    """K computed once, when first needed, and kept."""

    _values: Array | None = None

    @property
    def values(self) -> Array:
        if self._values is None:
            source = TiledGram(
                self.kernel, self.left, self.right, self.plan, self.dtype, self.monitor
            )
            self._values = source.dense()
        values: Array = self._values
        return values

    def tile(self, rows: Rows, columns: Rows) -> Array:
        if isinstance(rows, slice) or isinstance(columns, slice):
            part: Array = self.values[rows, columns]
            return part
        block: Array = self.values[np.ix_(rows, columns)]
        return block

    def _times(self, V: Any) -> Array:
        sink = Multiply(V)
        sink.start(self.shape, self.dtype)
        sink.take(slice(0, self.shape[0]), self.values)
        return sink.result()

    def reduce(self, sink: Sink) -> Any:
        if not isinstance(sink, Normal) or sink.Y is not None:
            return super().reduce(sink)
        sink.start(self.shape, self.dtype)
        sink.take(slice(0, self.shape[0]), self.values)
        return sink.result()

    def dense(self, out: Array | None = None) -> Array:
        room = np.empty(self.shape, dtype=self.dtype) if out is None else self._room(out)
        room[:] = self.values
        return room

    def restrict(self, rows: Any, columns: Any) -> Gram:
        made = super().restrict(rows, columns)
        if isinstance(made, StoredGram) and self._values is not None:
            made._values = self.block(rows, columns)
        return made


class FeaturesGram(_Computed):
    """K = F G' from exact feature maps: low rank, or sparse features of objects."""

    def tile(self, rows: Rows, columns: Rows) -> Array:
        left, right = self._maps()
        first = left[rows]
        slices = isinstance(rows, slice) and isinstance(columns, slice)
        same = self.symmetric and slices and rows == columns
        second = first if same else right[columns]
        block = features_product(first, second, same=same, monitor=self.monitor)
        with np.errstate(over="ignore"):
            block = block.astype(self.dtype, copy=False)
        if self.checked and not is_finite(block):
            refuse(self.kernel, [self.left.side.points, self.right.side.points], self.dtype)
        return block

    def _maps(self) -> tuple[Any, Any]:
        left = self.left.cut(self.left.side.features(self.kernel))
        if self.symmetric:
            return left, left
        return left, self.right.cut(self.right.side.features(self.kernel))

    def _times(self, V: Any) -> Array:
        sink = Multiply(V)
        sink.start(self.shape, self.dtype)
        left, right = self._maps()
        return np.asarray(left @ (right.T @ sink.V))

    def explain(self) -> Explanation:
        maps = self._maps()[0]
        what = "sparse" if scipy.sparse.issparse(maps) else "dense"
        return explanation(
            self.kernel, self, [], [f"an exact map, {maps.shape[1]} {what} features"]
        )
