"""Quick answers: products with K(x, training points) for a few new rows, planned beforehand.

A fitted model is asked for one row at a time more often than for many. All that such an answer
needs but the row itself is made once and kept with the training points: the program, the packed
points, their centre. The engine is that of every other Gram, and so are the numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _native
from ..checks import Array, MemoryLimitError
from ..inputs import ROWS, Input, Matrix
from ..kernels.base import Kernel
from ..monitor import Monitor
from .engine import NativeTile, frame, program_of
from .finite import WIDE, WIDE_VALUE, constant_diagonal
from .plan import make_plan, precision, rows_before_features
from .sides import Side, View
from .trace.lower import Program

MOST_PRODUCTS = 1 << 24  # of numbers: some milliseconds, beside which planning costs nothing
PROGRAM = 16  # products that the program of a pair of points costs


@dataclass(frozen=True)
class Answers:
    """K(x, y) V and the best y for a few rows x, where the points y stay.

    What is unusual about rows (NaN, a negative entry where none may be, numbers beyond a
    precision) makes the answer None: a Gram then says what is wrong, or knows what to do.

    functions: of the rows, for the program. width: of the rows. columns: how many points y there
    are. most_rows: beyond which a Gram may do better.
    largest: what the sum of squares of all entries may be; bounded: whether k(x, x) is too.
    """

    kernel: Kernel
    native: Any
    dtype: np.dtype[Any]
    functions: tuple[Callable[[Input], Array], ...]
    width: int
    columns: int
    most_rows: int
    nonnegative: bool
    largest: float | None
    bounded: bool

    def multiply(self, points: Matrix, V: Array) -> Array | None:
        """Return K(x, y) V in double precision, or None."""
        if len(V) != self.columns or V.dtype != np.float64 or not self._fits(points):
            return None
        right = np.ascontiguousarray(V.reshape(self.columns, -1))
        out = np.empty((len(points), right.shape[1]))
        if not self.native.multiply(points.values, self._vectors(points), right, out):
            return None
        return out.reshape(len(points), *V.shape[1:])

    def top(self, points: Matrix, k: int, shift: Array | None) -> tuple[Array, Array] | None:
        """Return what `TopK` does, or None."""
        if k > self.columns or not self._fits(points):
            return None
        shape = len(points), k
        columns, keys = np.empty(shape, dtype=np.int64), np.empty(shape)
        if not self.native.top(points.values, self._vectors(points), shift, columns, keys):
            return None
        return columns, keys if shift is not None else -keys

    def _fits(self, points: Matrix) -> bool:
        rows = points.values
        few = 0 < len(rows) <= self.most_rows
        if not few or rows.shape[1] != self.width or not rows.flags.c_contiguous:
            return False
        if self.nonnegative and rows.min() < 0:
            return False
        if self.largest is not None and not np.vdot(rows, rows) <= self.largest:
            return False
        return self.bounded or bool(self.kernel.diag(points).max() <= WIDE_VALUE)

    def _vectors(self, points: Matrix) -> list[Array]:
        if not self.functions:
            return []
        with np.errstate(over="ignore", invalid="ignore"):  # the products are checked
            found = [function(points) for function in self.functions]
            return [np.ascontiguousarray(values, dtype=self.dtype) for values in found]


def answers_of(
    kernel: Kernel, right: View, dtype: np.dtype[Any], memory_limit: Any, part: slice | None = None
) -> Answers | None:
    """Return the answers for rows of a precision, made once for the training points.

    part: of the training points. None: only a Gram can answer.
    """
    bounds = None if part is None else (part.start, part.stop)
    known: dict[Any, Any] = right.side.once("answers", dict)
    kept = known.get((dtype.char, bounds))
    if kept is not None and kept[0] is kernel:
        limit, ready = kept[1:]
        if type(limit) is type(memory_limit) and limit == memory_limit:
            return ready  # type: ignore[no-any-return]
    found = _make(kernel, right if part is None else right.take(part), dtype, memory_limit)
    known[dtype.char, bounds] = kernel, memory_limit, found
    return found


def _make(kernel: Kernel, right: View, dtype: np.dtype[Any], memory_limit: Any) -> Answers | None:
    points = right.side.points
    if not isinstance(points, Matrix) or points.is_sparse or not kernel.domain & ROWS:
        return None
    left = View(Side(Matrix(points.values[:1].astype(dtype)), right.side))
    program = program_of((kernel,), left, right)
    if program is None or not _is_plain(program):
        return None
    wanted = precision(kernel, left, right)
    try:
        plan = make_plan(kernel, left, right, wanted, memory_limit, use="rows")
    except MemoryLimitError:  # said again by the Gram of the rows that were asked about
        return None
    columns = len(right)
    each = program.packed * wanted.itemsize + program.derived * 8
    most = min(
        MOST_PRODUCTS // (columns * (program.packed + PROGRAM)),
        (plan.limit - plan.bytes) // each,
        rows_before_features(kernel, right),
    )
    single = wanted == np.float32
    steady = constant_diagonal(kernel)
    recorder = program.recorder
    return Answers(
        kernel=kernel,
        native=_native_answers(program, kernel, left, right, wanted),
        dtype=wanted,
        functions=tuple(function for _, function in recorder.sides),
        width=points.n_columns,
        columns=columns,
        most_rows=int(most),
        nonnegative=kernel.needs_nonnegative(),
        largest=WIDE**2 if single else np.finfo(np.float64).max if recorder.sides else None,
        bounded=not single or (steady is not None and steady <= WIDE_VALUE),
    )


def _is_plain(program: Program) -> bool:
    """Return whether the program needs nothing but the rows as they are."""
    recorder = program.recorder
    paths = [path for path, *_ in (*recorder.statistics, *recorder.sides)]
    return not recorder.externals and not any(paths)


def _native_answers(
    program: Program, kernel: Kernel, left: View, right: View, dtype: np.dtype[Any]
) -> Any:
    """Return the native job of any rows; left: one row, in the place of those to come."""
    pattern = NativeTile(program, (kernel,), left, right, dtype, Monitor())
    asked = program.recorder.statistics
    frames = [frame(right, statistic, weights) for _, statistic, weights in asked]
    kind: Any = _native.Answers32 if dtype == np.float32 else _native.Answers64
    return kind(pattern.job, [centre for centre, _ in frames], [scale for _, scale in frames])
