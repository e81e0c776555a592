"""Running a program on the native engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _native
from ..checks import Array, KernelError
from ..inputs import GRAM, Matrix
from ..kernels.base import Kernel
from ..kernels.pairs import DOT, SQUARED, UNEQUAL, Statistic, as_matrix, native_code
from ..monitor import Monitor
from .blocks import numpy as blocks
from .finite import is_finite, refuse
from .sides import Side, View
from .trace.lower import Program, follow, lower, packed_columns


def program_of(kernels: tuple[Kernel, ...], left: View, right: View) -> Program | None:
    """Return the program of kernels for points like these, made once for the training side."""
    if any(kernel.domain == GRAM for kernel in kernels) or too_sparse(left):
        return None
    # New points of another kind than those of the training may need another program.
    alike = type(left.side.points) is type(right.side.points)
    side = right.side if alike else left.side

    def make() -> Program | None:
        # Two points show what all are like; a new representation of all can wait.
        sample = View(Side(side.points.take(slice(0, 2))))
        try:
            return lower(kernels, sample, _native.MAX_REGISTERS, _native.MAX_TERMS)
        except KernelError:  # NumPy will raise it again, and can name all points
            return None

    found: Program | None = side.once(("program", kernels), lambda: _known(kernels, side, make))
    return found


MOST_PROGRAMS = 256  # that are kept from one fit to the next
_programs: dict[tuple[tuple[Kernel, ...], int], Program] = {}


def _known(
    kernels: tuple[Kernel, ...], side: Side, make: Callable[[], Program | None]
) -> Program | None:
    """Return a program, that of an earlier fit where points are dense rows as wide as then.

    What a kernel does to such rows is known from their width. Functions of users are not kept.
    """
    points = side.points
    lasting = isinstance(points, Matrix) and isinstance(points.values, np.ndarray)
    if not lasting or any(kernel.is_user_defined() for kernel in kernels):
        return make()
    key = (kernels, as_matrix(points).n_columns)
    if key not in _programs:
        found = make()
        if found is None:
            return None
        if len(_programs) >= MOST_PROGRAMS:
            _programs.clear()
        _programs[key] = found
    return _programs[key]


def too_sparse(view: View) -> bool:
    """Return whether packing would blow up sparse rows; SciPy's products then do better."""
    if not view.is_sparse:
        return False
    values = as_matrix(view.side.points).values
    dense = values.shape[0] * values.shape[1]
    return bool(dense > 20 * values.nnz and dense > 10**6)


def tile(
    kernels: tuple[Kernel, ...],
    left: View,
    right: View,
    dtype: Any,
    monitor: Monitor,
    checked: bool = True,
) -> list[Array]:
    """Return the block K(left, right) of each kernel, natively if there is a program.

    checked: whether values that are not finite are refused.
    """
    program = program_of(kernels, left, right)
    if program is None:
        found = blocks.numpy_tile(kernels, left, right, dtype, monitor)
        for kernel, block in zip(kernels, found, strict=True):
            if checked and not is_finite(block):
                refuse(kernel, [left.side.points, right.side.points], dtype)
        return found
    outs = [np.empty((len(left), len(right)), dtype=dtype) for _ in kernels]
    NativeTile(program, kernels, left, right, dtype, monitor, checked).store(outs, monitor)
    return outs


class NativeTile:
    """One block of K, ready to run: packed points, vectors and external blocks in place.

    kernels: what the program computes. checked: whether values that are not finite are refused.
    """

    def __init__(
        self,
        program: Program,
        kernels: tuple[Kernel, ...],
        left: View,
        right: View,
        dtype: Any,
        monitor: Monitor,
        checked: bool = True,
    ) -> None:
        self.kernels, self.left, self.right, self.checked = kernels, left, right, checked
        recorder = program.recorder
        single = np.dtype(dtype) == np.float32
        self.dtype = np.dtype(dtype)
        self.shape = (len(left), len(right))
        statistics, exponents, lefts, rights, weights = [], [], [], [], []
        for path, statistic, columns in recorder.statistics:
            a, b = follow(left, path), follow(right, path)
            width = packed_columns(a, columns, b)
            lefts.append(packed(a, b, statistic, columns, self.dtype))
            rights.append(packed(b, b, statistic, columns, self.dtype))
            statistics.append(native_code(statistic))
            exponents.append(statistic.exponent)
            unequal = np.ones(width) if columns is None else np.array(columns)
            weights.append((unequal if statistic is UNEQUAL else unequal[:0]).astype(self.dtype))
        self.job = (_native.Job32 if single else _native.Job64)(
            *self.shape,
            left.same_rows(right),
            statistics,
            lefts,
            rights,
            weights,
            recorder.factors,
            program.codes,
            program.constants,
            [self._vector(follow(left, path), function) for path, function in recorder.sides],
            [self._vector(follow(right, path), function) for path, function in recorder.sides],
            [
                self._block(follow(left, path), follow(right, path), kernel, monitor)
                for path, kernel in recorder.externals
            ],
            exponents,
        )

    def _vector(self, view: View, function: Any) -> Array:
        values = view.cut(view.side.values(function))
        with np.errstate(over="ignore"):  # what it makes of K is looked at
            return np.ascontiguousarray(values, dtype=self.dtype)

    def _block(self, left: View, right: View, kernel: Kernel, monitor: Monitor) -> Array:
        block = blocks.numpy_tile((kernel,), left, right, self.dtype, monitor)[0]
        return np.ascontiguousarray(block)

    def _run(self, monitor: Monitor, job: Callable[[Callable[[], bool]], bool]) -> None:
        """Run a job, and refuse values that are not finite: each is looked at while in cache."""
        run(monitor, job)
        if self.checked and not self.job.finite:
            self._refuse()

    def _refuse(self) -> None:
        refuse(self.kernels[0], [self.left.side.points, self.right.side.points], self.dtype)

    def store(self, outs: list[Array], monitor: Monitor) -> None:
        """Write K of each kernel into its array."""
        self._run(monitor, lambda stop: self.job.store(outs, stop))

    def multiply(self, V: Array, monitor: Monitor) -> Array:
        """Return K V in double precision."""
        found = product(self.job, self.shape[0], V, monitor)
        if self.checked and self.shape[1] and not is_finite(found):
            self.top(1, None, monitor)  # looks at each value, and refuses
        return found

    def normal(self, V: Array, weights: Array, monitor: Monitor) -> Array:
        """Return K' W K V in double precision."""
        right = np.ascontiguousarray(V.reshape(len(V), -1), dtype=np.float64)
        out = np.zeros(right.shape)
        run(monitor, lambda stop: self.job.normal(weights, right, out, stop))
        if self.checked and not is_finite(out):
            self.top(1, None, monitor)  # looks at each value, and refuses
        return out.reshape(V.shape)

    def fill_rows(self, chosen: Array, out: Array, monitor: Monitor) -> None:
        """Write whole rows of K into `out`."""
        places = np.ascontiguousarray(chosen, dtype=np.int64)
        self._run(monitor, lambda stop: self.job.rows(places, out, stop))

    def top(self, k: int, shift: Array | None, monitor: Monitor) -> tuple[Array, Array]:
        """Return the k best columns of each row, and what they were compared by."""
        columns = np.empty((self.shape[0], k), dtype=np.int64)
        keys = np.empty((self.shape[0], k))
        self._run(monitor, lambda stop: self.job.top(shift, columns, keys, stop))
        return columns, keys

    def pack(self, narrow: bool, most: int, monitor: Monitor) -> Any:
        """Return K of one collection, half of it kept or so much of that as fits `most` bytes.

        narrow: in 16 bits per number.
        """
        kind: Any = _native.Packed32 if self.dtype == np.float32 else _native.Packed64
        made: list[Any] = []

        def job(stop: Callable[[], bool]) -> bool:
            made.append(kind.make(self.job, narrow, most, stop))
            return bool(made[0].complete)

        self._run(monitor, job)
        return made[0]


def product(matrix: Any, rows: int, V: Array, monitor: Monitor) -> Array:
    """Return a native matrix times V in double precision."""
    right = np.ascontiguousarray(V.reshape(len(V), -1), dtype=np.float64)
    out = np.empty((rows, right.shape[1]))
    run(monitor, lambda stop: matrix.multiply(right, out, stop))
    return out.reshape(rows, *V.shape[1:])


def run(monitor: Monitor, job: Callable[[Callable[[], bool]], bool]) -> None:
    """Run a native job that asks now and then whether to stop."""
    monitor.poll()
    if not job(lambda: monitor.stop_reason() is not None):
        monitor.poll()


def packed(
    view: View, reference: View, statistic: Any, weights: tuple[float, ...] | None, dtype: Any
) -> Any:
    """Return the rows of a view packed for a statistic, kept for as long as the view is.

    Squared distances are taken around the training centre; weights are folded into the columns.
    """
    centred = statistic is SQUARED
    scaled = weights is not None and statistic is not UNEQUAL
    kept = DOT if statistic in (DOT, UNEQUAL) or not (scaled or centred) else statistic
    key = ("packed", kept, weights if scaled else None, np.dtype(dtype).char)

    def pack() -> Any:
        return pack_rows(as_matrix(view.points), dtype, *frame(reference, statistic, weights))

    return view.once(key, pack)


def pack_rows(points: Matrix, dtype: Any, centre: Array | None, scale: Array | None) -> Any:
    """Return rows of numbers packed for the engine: minus the centre, times the scale."""
    rows = points.values
    kind = _native.Panels32 if np.dtype(dtype) == np.float32 else _native.Panels64
    if points.is_sparse:
        return kind.pack_sparse(rows.data, rows.indices, rows.indptr, rows.shape[1], centre, scale)
    apart = rows.strides[0] >= rows.shape[1] * rows.itemsize
    if not apart or rows.strides[1] != rows.itemsize or not rows.dtype.isnative:
        rows = np.ascontiguousarray(rows, dtype=rows.dtype.newbyteorder("="))
    return kind.pack(rows, centre, scale)


def frame(
    reference: View, statistic: Statistic, weights: tuple[float, ...] | None
) -> tuple[Array | None, Array | None]:
    """Return what a statistic takes from the columns of a point, and what it multiplies them by."""
    centre = reference.side.centre() if statistic is SQUARED else None
    if weights is None or statistic is UNEQUAL:
        return centre, None
    root = 0.5 if statistic in (SQUARED, DOT) else 1.0 / statistic.exponent
    return centre, np.array(weights) ** root
