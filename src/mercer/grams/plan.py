"""Which kind of Gram fits the memory limit, and why; refused before anything is allocated."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import checks
from ..checks import KernelError, MemoryLimitError, bytes_text, sentence
from ..inputs import GRAM, ROWS, Matrix, RowBlocks
from ..kernels import Power, Product
from ..kernels.base import Kernel
from ..monitor import logger
from .blocks.objects import is_of_objects
from .engine import program_of
from .finite import too_wide
from .memory import limit_in_bytes
from .sides import View
from .trace.lower import Program

BAND = 64 * 10**6  # bytes of one band: large enough for BLAS, small enough for any machine
HALF_MARGIN = 300  # points near the diagonal whose entries are kept twice
COPIES = 10  # arrays of the size of a band that NumPy may keep alive while it is computed
OBJECT_BAND = 10**9  # the same for objects, where starting a band is expensive
OBJECT_COPIES = 4


@dataclass(frozen=True)
class Plan:
    """How a Gram matrix will be computed.

    Parameters
    ----------
    kind : str
        "stored", "half stored", "half stored in 16 bits", "partly stored in 16 bits", "on the fly",
        "low rank", "sparse features", "precomputed" or "row blocks".
    reason : str
        Why this kind was chosen.
    band_rows : int
        Rows that are computed together.
    bytes : int
        Memory that will be allocated beyond the inputs.
    limit : int
        Memory that may be allocated.
    kept : int
        Bytes of K that are kept, where it is half or partly stored.
    """

    kind: str
    reason: str
    band_rows: int
    bytes: int
    limit: int
    kept: int = 0


@dataclass(frozen=True)
class Question:
    """What is to be planned; sizes in bytes."""

    kernel: Kernel
    left: View
    right: View
    itemsize: int
    limit: int
    store: bool | str | None

    @cached_property
    def shape(self) -> tuple[int, int]:
        return len(self.left), len(self.right)

    @cached_property
    def program(self) -> Program | None:
        return program_of((self.kernel,), self.left, self.right)

    @cached_property
    def sides(self) -> int:
        """What both sides keep beyond the inputs: packed, centred and represented anew."""
        points = len(self.left) + (0 if self.left.side is self.right.side else len(self.right))
        program = self.program
        if program is not None:
            return points * (program.packed * self.itemsize + program.derived * 8)
        columns = sum(_widths(self.kernel, self.left))
        return points * 8 * (columns + 4)

    @cached_property
    def copies(self) -> int:
        """How many arrays of the size of a band are alive while it is computed."""
        if self.program is None and is_of_objects(self.kernel):
            return OBJECT_COPIES
        native = self.program is not None and not self.program.recorder.externals
        return 2 if native else COPIES

    @cached_property
    def whole(self) -> int:
        return self.shape[0] * self.shape[1] * self.itemsize

    @cached_property
    def half(self) -> int:
        size = 2 if self.store in ("16 bit", "part") else self.itemsize
        return (self.shape[0] // 2 + HALF_MARGIN) * self.shape[1] * size

    @cached_property
    def least(self) -> int:
        """What a band of one row needs."""
        return self.sides + self.shape[1] * 8 * self.copies

    def plan(self, kind: str, reason: str, kept: int) -> Plan:
        """Return a plan that keeps so many bytes and gives the rest to bands."""
        most = OBJECT_BAND if self.copies == OBJECT_COPIES else BAND
        size = min(most, max(self.limit - kept, 0)) / self.copies
        band = max(1, min(self.shape[0], int(size // max(self.shape[1] * 8, 1))))
        return Plan(kind, reason, band, kept, self.limit)


def make_plan(
    kernel: Kernel,
    left: View,
    right: View,
    dtype: Any,
    memory_limit: Any,
    store: bool | str | None = None,
    use: str = "many",
) -> Plan:
    """Return the first kind that pays and fits; refuse if none does."""
    if isinstance(store, str):
        checks.one_of("gram", "store", store, ("whole", "half", "16 bit", "part"))
    kinds = USES[checks.one_of("gram", "use", use, tuple(USES))]
    limit = limit_in_bytes("gram", memory_limit)
    asked = Question(kernel, left, right, np.dtype(dtype).itemsize, limit, store)
    for kind in kinds:
        plan = kind(asked)
        if plan is not None:
            if not logger.isEnabledFor(logging.DEBUG):
                return plan
            told = plan.kind, plan.reason, bytes_text(plan.bytes)
            logger.debug("plan of K, %d x %d, of %.200r: %s: %s, %s", *asked.shape, kernel, *told)
            return plan
    raise _refusal(asked)


def _as_given(asked: Question) -> Plan | None:
    if isinstance(asked.left.side.points, RowBlocks) or isinstance(
        asked.right.side.points, RowBlocks
    ):
        return asked.plan("row blocks", "the points arrive in blocks", 0)
    if asked.kernel.domain == GRAM:
        return asked.plan("precomputed", "the matrix is the input", 0)
    return None


def _by_features(asked: Question) -> Plan | None:
    """An exact map, where it is smaller than K."""
    if asked.store is not None or not asked.kernel.has_map() or _has_tensor(asked.kernel):
        return None
    basis = asked.right.side.basis(asked.kernel)
    if basis is None:
        return None
    rows, columns = asked.shape
    size = _sparse_bytes(asked) if basis.is_sparse else (rows + columns) * basis.width * 8
    pays = basis.is_sparse or rows > _rows_before(basis.width, columns)
    if not pays or size > asked.limit:
        return None
    reason = f"an exact map with {basis.width} features is cheaper than K"
    return asked.plan("sparse features" if basis.is_sparse else "low rank", reason, size)


def _rows_before(width: int, columns: int) -> float:
    """Return up to how many rows a map of so many features costs more than half of K does."""
    if columns <= 2 * width:
        return np.inf  # 2 width (rows + columns) <= rows columns cannot hold
    return -(-2 * width * columns // (columns - 2 * width)) - 1


def rows_before_features(kernel: Kernel, right: View) -> float:
    """Return up to how many new rows K is computed, and not made of an exact map."""
    if not kernel.has_map() or _has_tensor(kernel):
        return np.inf
    basis = right.side.basis(kernel)
    if basis is None:
        return np.inf
    return 0 if basis.is_sparse else _rows_before(basis.width, len(right))


def _sparse_bytes(asked: Question) -> int:
    """Return what the sparse features of both sides take, by the example of the training side."""
    held = asked.right.side.features(asked.kernel)
    size = int(held.data.nbytes + held.indices.nbytes + held.indptr.nbytes)
    if asked.left.side is asked.right.side:
        return size
    return size + size * len(asked.left.side.points) // max(int(held.shape[0]), 1)


def _has_tensor(kernel: Kernel) -> bool:
    """Return whether the map of objects is a tensor product, which grows beyond all bounds."""
    objects = kernel.children() and not kernel.domain & ROWS
    tensor = objects and isinstance(kernel, Product | Power)
    return bool(tensor) or any(_has_tensor(child) for child in kernel.children())


def _half_stored(asked: Question) -> Plan | None:
    wanted = asked.store in ("half", "16 bit", "part")
    if asked.store in (False, "whole") or not (wanted or asked.half < asked.whole):
        return None
    if not _packable(asked.kernel, asked.left, asked.right):
        if wanted:
            must = f"store={asked.store!r} takes a native kernel of one collection of points"
            raise KernelError(sentence("gram", must, repr(asked.kernel)))
        return None
    kept, need, limit = asked.half, bytes_text(asked.half), bytes_text(asked.limit)
    kind = "half stored in 16 bits" if asked.store == "16 bit" else "half stored"
    reason = f"half of K needs {need}, the limit is {limit}"
    if asked.store == "part":
        kept = min(kept, asked.limit - asked.least)
        kind = "partly stored in 16 bits"
        reason = (
            f"of {need} for half of K {bytes_text(max(kept, 0))} are kept, the limit is {limit}"
        )
    if kept <= 0 or kept + asked.least > asked.limit:
        return None
    return replace(asked.plan(kind, reason, asked.sides + kept), kept=kept)


def _stored(asked: Question) -> Plan | None:
    unwanted = asked.store in (False, "half", "16 bit", "part")
    if unwanted or asked.whole + asked.least > asked.limit:
        return None
    reason = f"K needs {bytes_text(asked.whole)}, the limit is {bytes_text(asked.limit)}"
    return asked.plan("stored", reason, asked.sides + asked.whole)


def _on_the_fly(asked: Question) -> Plan | None:
    if asked.store or asked.least > asked.limit:
        return None
    reason = f"K would need {bytes_text(asked.whole)}, the limit is {bytes_text(asked.limit)}"
    if asked.store is False:
        reason = "storing was not wanted"
    plan = asked.plan("on the fly", reason, asked.sides)
    return replace(plan, bytes=plan.bytes + plan.band_rows * asked.shape[1] * 8 * asked.copies)


# What a Gram is wanted for, and the kinds that serve it, in the order in which they are tried.
USES: dict[str, tuple[Callable[[Question], Plan | None], ...]] = {
    "once": (_as_given, _by_features, _on_the_fly),
    "many": (_as_given, _by_features, _half_stored, _stored, _on_the_fly),
    "rows": (_as_given, _on_the_fly),
}


def precision(kernel: Kernel, left: View, right: View) -> np.dtype[Any]:
    """Return the precision of K: that of the points.

    Points in single precision for which that has no room ask for double precision.
    """
    common: np.dtype[Any] = np.result_type(left.dtype, right.dtype)
    if common == np.float32 and any(_is_wide(kernel, view) for view in (left, right)):
        return np.dtype(np.float64)
    return common


def _is_wide(kernel: Kernel, view: View) -> bool:
    side = view.side
    return bool(side.once(("wide", kernel), lambda: too_wide(kernel, side.points)))


def _packable(kernel: Kernel, left: View, right: View) -> bool:
    """Return whether the engine can keep half of K."""
    program = program_of((kernel,), left, right) if left.same_rows(right) else None
    return program is not None and not program.recorder.externals


def _widths(kernel: Kernel, view: View) -> list[int]:
    """Return the columns of every matrix that the expression sees, by the example of two points.

    Of sparse rows the stored numbers count, twice: they are copied with their positions.
    """
    try:
        seen = kernel.walk(view.side.points.take(slice(0, 2)))
    except KernelError:  # told when all points are looked at
        return []
    matrices = {id(points): points for _, points in seen if isinstance(points, Matrix)}.values()
    whole = view.side.points
    stored = whole.values.nnz // max(len(whole), 1) if view.is_sparse else 0  # type: ignore[attr-defined]
    return [2 * stored if matrix.is_sparse else matrix.n_columns for matrix in matrices]


def _refusal(asked: Question) -> MemoryLimitError:
    half = asked.store is True and asked.half < asked.whole
    half = half and _packable(asked.kernel, asked.left, asked.right)
    if half or asked.store in ("half", "16 bit"):
        kept = asked.half
    else:
        kept = asked.whole if asked.store else 0
    need = asked.least + kept
    advice = f"Raise memory_limit to {bytes_text(need)}"
    if kept:
        advice += f", or leave out store: on the fly it fits in {bytes_text(asked.least)}"
    what = "storing it" if kept else "computing it band by band"
    rows, columns = asked.shape
    return MemoryLimitError(
        f"gram: {what} must fit memory_limit; a {rows} x {columns} Gram matrix needs at least "
        f"{bytes_text(need)}, the limit is {bytes_text(asked.limit)}. {advice}."
    )
