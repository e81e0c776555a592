"""Blocks of K for objects: products of counts, and programs that compute pair by pair."""

from __future__ import annotations

import time
from typing import Any, TypeGuard

import numpy as np
import scipy.sparse

from ... import _native
from ...checks import Array
from ...kernels import Constant, CountKernel
from ...kernels.base import Kernel
from ...kernels.objects.paired import PairKernel
from ...kernels.pairs import DOT, MINIMUM, STATISTICS
from ...monitor import Monitor
from ..sides import View
from ..trace.symbols import OPS

DENSE_GAIN = 16  # how much less an entry of a dense block costs than a product of sparse ones
FEW = 64  # rows for which looking for dense columns does not pay
DENSE = 64 * 10**6  # bytes of columns that are made dense together
SECONDS = 0.2  # between two reports of progress


def has_native_form(kernel: Kernel) -> TypeGuard[CountKernel | PairKernel]:
    """Return whether blocks of a kernel of objects are computed here."""
    return isinstance(kernel, CountKernel | PairKernel)


def is_of_objects(kernel: Kernel) -> bool:
    """Return whether all parts of an expression that look at points are such kernels."""
    if kernel.is_native or isinstance(kernel, Constant):
        return True
    return bool(kernel.children()) and all(is_of_objects(child) for child in kernel.children())


def object_block(
    kernel: CountKernel | PairKernel, left: View, right: View, monitor: Monitor
) -> Array:
    """Return K of two views of objects."""
    if isinstance(kernel, PairKernel):
        return _pairs(kernel, left, right, monitor)
    kernel.check_sides(left.side.points, right.side.points)
    rows = [view.cut(_counts(kernel, view)) for view in (left, right)]
    return sparse_products(
        *rows, same=left.same_rows(right), monitor=monitor, minimum=kernel.overlap
    )


def _counts(kernel: CountKernel, view: View) -> Any:
    """Return the counts of a whole side, in the columns of the training side."""
    side = view.side
    training = side if side.reference is None else side.reference
    vocabulary = kernel.vocabulary(training.points)
    return side.once(("counts", kernel), lambda: kernel.table(side.points).rows(vocabulary))


def _pairs(kernel: PairKernel, left: View, right: View, monitor: Monitor) -> Array:
    """Return k of all pairs by the kernel's program, reporting progress."""
    encoded = [kernel.encoded(view.side.points) for view in (left, right)]
    job = kernel.job(*encoded)
    rows, columns = (view.cut(np.arange(len(view.side.points))) for view in (left, right))
    out = np.empty((len(rows), len(columns)))
    first, step, same = 0, 1, left.same_rows(right)
    while first < len(rows):
        last = min(first + step, len(rows))
        started = time.monotonic()
        monitor.report(kernel.name, _done(first, len(rows), same))
        finished = job.store(
            rows, columns, same, first, last, out, lambda: monitor.stop_reason() is not None
        )
        if not finished:
            monitor.poll()
        pace = (time.monotonic() - started) / (last - first)
        first, step = last, min(4 * step, max(1, int(SECONDS / max(pace, 1e-9))))
    monitor.report(kernel.name, 1.0)
    return out


def _done(rows: int, of: int, same: bool) -> float:
    """Return the share of the pairs that so many rows are; of a symmetric block, of its half."""
    share = rows / of
    return 1.0 - (1.0 - share) ** 2 if same else share


def sparse_products(
    left: Any, right: Any, *, same: bool, monitor: Monitor, minimum: bool = False
) -> Array:
    """Return left @ right.T of sparse rows as a dense block, or the sums of minima.

    Columns that many rows have are multiplied as dense ones, the others entry by entry.
    """
    shape = (left.shape[0], right.shape[0])
    dense_columns = (
        _dense_columns(left, right) if min(shape) > FEW else np.zeros(left.shape[1], dtype=bool)
    )
    out = (
        _dense_part(left, right, dense_columns, same, minimum, monitor)
        if dense_columns.any()
        else np.zeros(shape)
    )
    sparse_parts = _without(left, dense_columns), _without(right, dense_columns)
    monitor.poll()
    if not _native.add_meetings(
        *sparse_parts[0],
        *sparse_parts[1],
        left.shape[1],
        minimum,
        same,
        out,
        lambda: monitor.stop_reason() is not None,
    ):
        monitor.poll()
    return out


def features_product(left: Any, right: Any, *, same: bool, monitor: Monitor) -> Array:
    """Return left @ right.T of two feature matrices, sparse or dense, as a dense block."""
    if scipy.sparse.issparse(left) and scipy.sparse.issparse(right):
        return sparse_products(left, right, same=same, monitor=monitor)
    with np.errstate(over="ignore", invalid="ignore"):  # the caller looks for it
        return np.asarray(left @ right.T)


def _dense_columns(left: Any, right: Any) -> Array:
    """Return which columns so many rows have that they are cheaper as dense columns."""
    counts = [np.bincount(rows.indices, minlength=rows.shape[1]) for rows in (left, right)]
    pairs = counts[0].astype(np.float64) * counts[1]
    return np.asarray(DENSE_GAIN * pairs > float(left.shape[0]) * right.shape[0])


def _dense_part(
    left: Any, right: Any, dense_columns: Array, same: bool, minimum: bool, monitor: Monitor
) -> Array:
    """Return what the dense columns add, as many at a time as memory for dense rows allows."""
    places = np.flatnonzero(dense_columns)
    step = max(FEW, DENSE // (8 * (left.shape[0] + right.shape[0])))
    out = np.zeros(0)
    for start in range(0, len(places), step):
        some = np.zeros_like(dense_columns)
        some[places[start : start + step]] = True
        block = _dense_block(left, right, some, same, minimum, monitor)
        out = block if start == 0 else np.add(out, block, out=out)
    return out


def _dense_block(
    left: Any, right: Any, dense_columns: Array, same: bool, minimum: bool, monitor: Monitor
) -> Array:
    sides = (left,) if same else (left, right)
    panels = [_native.Panels64.pack(_cut(rows, dense_columns), None, None) for rows in sides]
    job = _native.Job64(
        left.shape[0],
        right.shape[0],
        same,
        [STATISTICS.index(MINIMUM if minimum else DOT)],
        [panels[0]],
        [panels[-1]],
        [np.zeros(0)],
        [0.0],
        [np.array([[OPS.index("statistic"), 0, 0, 0]], dtype=np.int32)],
        [np.zeros((1, 2))],
        [],
        [],
        [],
    )
    out = np.empty((left.shape[0], right.shape[0]))
    if not job.store([out], lambda: monitor.stop_reason() is not None):
        monitor.poll()
    return out


def _cut(rows: Any, dense_columns: Array) -> Array:
    """Return the chosen columns of sparse rows as a dense matrix."""
    dense = np.zeros((rows.shape[0], int(dense_columns.sum())))
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    chosen = dense_columns[rows.indices]
    numbers = np.cumsum(dense_columns) - 1
    dense[owners[chosen], numbers[rows.indices[chosen]]] = rows.data[chosen]
    return dense


def _without(rows: Any, dense_columns: Array) -> tuple[Array, Array, Array]:
    """Return ends, columns and values of sparse rows without the dense columns."""
    rows = scipy.sparse.csr_array(rows)
    kept = ~dense_columns[rows.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[rows.indptr].astype(np.int64)
    values = np.ascontiguousarray(rows.data[kept], dtype=np.float64)
    return ends, np.ascontiguousarray(rows.indices[kept], dtype=np.int32), values
