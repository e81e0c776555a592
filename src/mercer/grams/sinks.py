"""What can be done with a Gram matrix while it passes by in bands of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from .. import _native, checks
from ..checks import Array, InputError, sentence
from ..linalg import blas
from ..monitor import Monitor
from ..stages import Stage, State


class Sink(ABC):
    """Receives K in bands of whole rows, once each, in any order."""

    @abstractmethod
    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        """Make room for the result."""

    @abstractmethod
    def take(self, rows: slice, band: Array) -> None:
        """Use the band K[rows, :]."""

    @abstractmethod
    def result(self) -> Any:
        """Return the result after the last band."""


class JointSink(Sink):
    """A sink whose result is put together from those of parts of the rows.

    So rows may pass by elsewhere: a part can be sent to where they are, and its result comes back.
    common: what is large and the same for all parts. It is sent to each place once, and a part is
    given it there. is_sum: whether the results of parts, arrays or tuples and lists of them, are
    added up; then this may be done in several places. kept: the attributes that hold the sums so
    far, by which a pass can go on in another process; None: it begins anew there.
    """

    common: Any = None
    is_sum = False
    kept: ClassVar[tuple[str, ...] | None] = None

    @abstractmethod
    def part(self, rows: slice) -> Sink:
        """Return a sink for some of the rows, which it knows as its first ones; before `start`."""

    @abstractmethod
    def join(self, rows: slice, found: Any) -> None:
        """Use the result of such a part; after `start`."""

    def state(self) -> State:
        """Return copies of the sums so far."""
        return {name: np.copy(getattr(self, name)) for name in self.kept or ()}

    def go_on(self, state: State) -> None:
        """Take up the sums of an earlier process; after `start`."""
        for name in self.kept or ():
            getattr(self, name)[...] = state[name]


def rows_known(sink: Sink, stage: Stage) -> int:
    """Return how many rows have passed by in an earlier process, whose sums the sink takes up."""
    known = stage.known
    if known is None or not isinstance(sink, JointSink) or sink.kept is None:
        return 0
    sink.go_on(known)
    return int(known["rows"])


def note_rows(sink: Sink, stage: Stage, rows: slice) -> None:
    """Note that all rows up to the last of these have passed by."""
    if isinstance(sink, JointSink) and sink.kept is not None:
        stage.reached(lambda: {**sink.state(), "rows": rows.stop})


@dataclass(frozen=True)
class WithCommon:
    """Work that gives a part of a sink what is common to all parts, before it begins."""

    work: Callable[[Any, Sink], Any]
    common: Any

    def __call__(self, block: Any, sink: JointSink) -> Any:
        sink.common = self.common
        return self.work(block, sink)


@dataclass(frozen=True)
class Unknown:
    """Work that is done where there is a sink for it: not for rows that are known."""

    work: Callable[[Any, Any], Any]

    def __call__(self, block: Any, sink: Any) -> Any:
        return None if sink is None else self.work(block, sink)


class Each(Protocol):
    """The way to all blocks of some points, as `RowBlocks.each`."""

    def __call__(
        self, work: Callable[[Any, Any], Any], part: Callable[[slice], Any], sums: bool = False, /
    ) -> Iterator[tuple[slice, Any]]: ...


def joined(
    sink: JointSink,
    shape: tuple[int, int],
    each: Each,
    work: Callable[[Any, Sink], Any],
    monitor: Monitor,
) -> Any:
    """Return what a sink that has started makes of rows in blocks, but for those that are known."""
    with monitor.stage("pass") as stage:
        done = rows_known(sink, stage)
        task = work_for(sink, work)

        def part(rows: slice) -> Sink | None:
            return sink.part(rows) if rows.stop > done else None

        if done:
            task = Unknown(task)
        for rows, found in each(task, part, sink.is_sum) if done < shape[0] else ():
            if rows.stop > done:
                sink.join(rows, found)
                note_rows(sink, stage, rows)
            monitor.report("kernel", rows.stop / shape[0])
    return sink.result()


def work_for(sink: JointSink, work: Callable[[Any, Sink], Any]) -> Callable[[Any, Any], Any]:
    """Return work for the parts of a sink, which brings them what they have in common."""
    return work if sink.common is None else WithCommon(work, sink.common)


def some(values: Any, rows: slice) -> Any:
    """Return what belongs to some rows, of values that may be None or one for all rows."""
    return None if values is None else values[rows]


def _columns(who: str, values: Any, rows: int) -> Array:
    """Return a matrix with the given number of rows; a vector counts as one column."""
    found = np.asarray(values)
    if found.ndim not in (1, 2) or found.shape[0] != rows:
        raise InputError(sentence(who, f"it must have {rows} rows", f"shape {found.shape}"))
    if found.dtype.kind not in "biuf":
        raise InputError(sentence(who, "it must hold real numbers", found.dtype))
    if found.dtype not in (np.float32, np.float64):
        found = found.astype(np.float64)
    return found


PART = 1024  # columns whose products are taken at once


def product(band: Array, V: Array) -> Array:
    """Return band V in double precision; a single-precision band is converted in parts.

    Where V is in single precision too, so is the product.
    """
    if band.dtype == np.float64:
        return np.asarray(band @ V)
    if V.dtype == np.float32:
        flat = blas.product(band, V.reshape(len(V), -1))
        return flat.reshape(len(band), *V.shape[1:])
    total = np.zeros((len(band), *V.shape[1:]))
    for start in range(0, band.shape[1], PART):
        columns = slice(start, start + PART)
        total += band[:, columns].astype(np.float64) @ V[columns]
    return total


class Multiply(JointSink):
    """K V."""

    kept = ("_out",)

    def __init__(self, V: Any) -> None:
        self.V = V

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        self.V = _columns("Multiply", self.V, shape[1])
        result_type = np.result_type(dtype, self.V.dtype)
        self._out = np.empty((shape[0], *self.V.shape[1:]), dtype=result_type)

    def take(self, rows: slice, band: Array) -> None:
        self._out[rows] = product(band, self.V)

    def put(self, product: Array) -> None:
        """Use K V, where the whole product was computed at once."""
        self._out[:] = product

    def part(self, rows: slice) -> Multiply:
        return Multiply(self.V)

    def join(self, rows: slice, found: Array) -> None:
        self._out[rows] = found

    def result(self) -> Array:
        return self._out


class Normal(JointSink):
    """K' W (K V - Y), the gradient of least squares, in one pass.

    Y: None is 0; then products are taken in the precision of K. weights: one per row, or None.
    """

    is_sum = True
    kept = ("_out",)

    def __init__(self, V: Any, Y: Any = None, weights: Any = None) -> None:
        self.V, self.Y, self.weights = V, Y, weights

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        self.V = _columns("Normal V", self.V, shape[1])
        weights = np.ones(shape[0]) if self.weights is None else self.weights
        self.weights = _columns("Normal weights", weights, shape[0]).astype(np.float64)
        if self.weights.ndim != 1:
            rule = "weights must be one number per row"
            raise InputError(sentence("Normal", rule, f"shape {self.weights.shape}"))
        self._out = np.zeros((shape[1], *self.V.shape[1:]))
        if self.Y is not None:
            self.Y = _columns("Normal Y", self.Y, shape[0])
            if self.V.shape[1:] != self.Y.shape[1:]:
                got = f"{self.V.shape} and {self.Y.shape}"
                raise InputError(sentence("Normal", "V and Y must have the same columns", got))

    def take(self, rows: slice, band: Array) -> None:
        if self.Y is not None:
            errors = band @ self.V - self.Y[rows]
            self._out += band.T @ (self.weights[rows] * errors.T).T
            return
        V = np.ascontiguousarray(self.V.reshape(len(self.V), -1), dtype=np.float64)
        part = np.empty(V.shape)
        K = np.ascontiguousarray(band)
        _native.normal_product(K, np.ascontiguousarray(self.weights[rows]), V, part, None)
        self._out += part.reshape(self._out.shape)

    def part(self, rows: slice) -> Normal:
        return Normal(self.V, some(self.Y, rows), some(self.weights, rows))

    def join(self, rows: slice, found: Array) -> None:
        self._out += found

    def result(self) -> Array:
        return self._out


class TopK(JointSink):
    """The k largest entries of every row, or the k smallest of `shift` - 2 K (distances).

    result: (indices, values), each (n, k), best first; ties go to the smaller index.
    shift: k(y, y) of every column, to rank by the distance in feature space.
    """

    kept = ("_indices", "_values")

    def __init__(self, k: int, shift: Any = None) -> None:
        self.k = checks.whole("TopK", "k", k, least=1)
        self.shift = shift

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        if self.k > shape[1]:
            raise InputError(
                sentence(
                    "TopK", "k must be at most the number of columns", f"{self.k} > {shape[1]}"
                )
            )
        if self.shift is not None:
            self.shift = checks.vector("TopK", "shift", self.shift, shape[1])
        self._indices = np.empty((shape[0], self.k), dtype=np.intp)
        self._values = np.empty(
            (shape[0], self.k), dtype=np.float64 if self.shift is not None else dtype
        )

    def take(self, rows: slice, band: Array) -> None:
        key = -band if self.shift is None else self.shift - 2.0 * band
        key[np.isnan(key)] = np.inf
        # Everything up to the kth value, so that ties at the border go to the smaller index.
        border = np.partition(key, self.k - 1, axis=1)[:, self.k - 1]
        for row, (line, last) in enumerate(zip(key, border, strict=True), start=rows.start):
            found = np.flatnonzero(line <= last)
            best = found[np.argsort(line[found], kind="stable")[: self.k]]
            self.put(slice(row, row + 1), best[None], line[best][None])

    def put(self, rows: slice, indices: Array, keys: Array) -> None:
        """Use the best columns of some rows and what they were compared by."""
        self._indices[rows] = indices
        found = np.where(keys == np.inf, np.nan, keys)
        self._values[rows] = -found if self.shift is None else found

    def part(self, rows: slice) -> TopK:
        return TopK(self.k, self.shift)

    def join(self, rows: slice, found: tuple[Array, Array]) -> None:
        self._indices[rows], self._values[rows] = found

    def result(self) -> tuple[Array, Array]:
        return self._indices, self._values


class Sums(Multiply):
    """Row sums by group of columns: S[i, g] = sum of w_j K[i, j] over the j in group g."""

    def __init__(self, groups: Any, n_groups: int, weights: Any = None) -> None:
        self.groups, self.weights = np.asarray(groups), weights
        self.n_groups = checks.whole("Sums", "n_groups", n_groups, least=1)

    def start(self, shape: tuple[int, int], dtype: Any) -> None:
        labels = self.groups
        if labels.shape != (shape[1],) or labels.dtype.kind not in "iu":
            got = f"{labels.dtype} of shape {labels.shape}"
            raise InputError(sentence("Sums", f"groups must be {shape[1]} whole numbers", got))
        if len(labels) and not (labels.min() >= 0 and labels.max() < self.n_groups):
            got = f"{labels.min()} to {labels.max()}"
            raise InputError(sentence("Sums", f"groups must lie in 0..{self.n_groups - 1}", got))
        indicator = np.zeros((shape[1], self.n_groups))
        weights: Any = 1.0
        if self.weights is not None:
            weights = checks.vector("Sums", "weights", self.weights, shape[1])
        indicator[np.arange(shape[1]), labels] = weights
        self.V = indicator
        super().start(shape, dtype)
