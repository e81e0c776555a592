"""Which kind of Gram fits the memory limit, and why; refused before anything is allocated."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks
from ..checks import MemoryLimitError, bytes_text
from ..inputs import GRAM, Matrix, RowBlocks
from ..kernels.base import Basis, Kernel
from .views import View

SHARE = 0.6  # of the memory that is free, when no limit is given
BAND = 64 * 10**6  # bytes of one band: large enough for BLAS, small enough for any machine
COPIES = 6  # arrays of the size of a band that are alive while it is computed


@dataclass(frozen=True)
class Plan:
    """How a Gram matrix will be computed.

    kind: "stored", "on the fly", "low rank", "sparse features", "precomputed" or "row blocks".
    bytes: what will be allocated beyond the inputs. limit: what may be.
    """

    kind: str
    reason: str
    band_rows: int
    bytes: int
    limit: int


def available_memory() -> int:
    """Return the bytes this process may still take: free memory within its control group."""
    found = [_meminfo(), _control_group()]
    known = [value for value in found if value is not None]
    if known:
        return min(known)
    if sys.platform == "darwin":
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) // 2
    return 4 * 10**9


def _meminfo() -> int | None:
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def _control_group() -> int | None:
    try:
        with (
            open("/sys/fs/cgroup/memory.max") as top,
            open("/sys/fs/cgroup/memory.current") as used,
        ):
            limit = top.read().strip()
            return None if limit == "max" else max(int(limit) - int(used.read()), 0)
    except (OSError, ValueError):
        return None


def make_plan(
    kernel: Kernel, left: View, right: View, dtype: Any, memory_limit: Any, store: bool | None
) -> Plan:
    """Return the first kind that pays and fits: explicit features, stored, on the fly."""
    given = checks.memory_limit("gram", memory_limit)
    limit = int(available_memory() * SHARE) if given is None else given
    rows, columns = len(left), len(right)
    sides = _side_bytes(left) + (0 if left.side is right.side else _side_bytes(right))
    stored = rows * columns * np.dtype(dtype).itemsize
    least = sides + columns * 8 * COPIES
    if isinstance(left.side.points, RowBlocks) or isinstance(right.side.points, RowBlocks):
        return Plan("row blocks", "the points arrive in blocks", _band(limit, columns), 0, limit)
    if kernel.domain == GRAM:
        return Plan("precomputed", "the matrix is the input", _band(limit, columns), 0, limit)
    basis = right.side.basis(kernel) if store is None and kernel.has_map() else None
    if basis is not None and _pays(basis, rows, columns):
        kind = "sparse features" if basis.is_sparse else "low rank"
        size = 0 if basis.is_sparse else (rows + columns) * basis.width * 8
        if size <= limit:
            reason = f"an exact map with {basis.width} features is cheaper than K"
            return Plan(kind, reason, _band(limit, columns), size, limit)
    if store is not False and sides + stored + min(BAND, least) <= limit:
        band = _band(limit - sides - stored, columns)
        reason = f"K needs {bytes_text(stored)}, the limit is {bytes_text(limit)}"
        return Plan("stored", reason, band, sides + stored, limit)
    if store or least > limit:
        raise _refusal(stored if store else 0, least, rows, columns, limit)
    reason = f"K would need {bytes_text(stored)}, the limit is {bytes_text(limit)}"
    if store is False:
        reason = "storing was not wanted"
    band = _band(limit - sides, columns)
    return Plan("on the fly", reason, band, sides + band * columns * 8 * COPIES, limit)


def _side_bytes(view: View) -> int:
    """Return what a side keeps: centred float64 rows and a few vectors."""
    points = view.side.points
    if isinstance(points, Matrix):
        return len(points) * 8 * (4 + (0 if points.is_sparse else points.n_columns))
    return 0


def _band(room: float, columns: int) -> int:
    """Return how many rows a band may have."""
    size = min(BAND, max(room, 0)) / COPIES
    return max(1, int(size // max(columns * 8, 1)))


def _pays(basis: Basis, rows: int, columns: int) -> bool:
    return basis.is_sparse or 2 * basis.width * (rows + columns) <= rows * columns


def _refusal(stored: int, least: int, rows: int, columns: int, limit: int) -> MemoryLimitError:
    what = "storing it" if stored else "computing it band by band"
    need = least + stored
    advice = f"Raise memory_limit to {bytes_text(need)}"
    if stored:
        advice += f", or leave out store=True: on the fly it fits in {bytes_text(least)}"
    return MemoryLimitError(
        f"gram: {what} must fit memory_limit; a {rows} x {columns} Gram matrix needs at least "
        f"{bytes_text(need)}, the limit is {bytes_text(limit)}. {advice}."
    )
