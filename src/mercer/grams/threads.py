"""How many threads native loops and BLAS use."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from .. import _native, checks
from ..linalg.blas import blas_threads


def threads() -> int:
    """Return how many threads native loops use."""
    return _native.num_threads()


def processors() -> int:
    """Return how many processors this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share_threads(count: int) -> None:
    """Let native loops of this process, which is one of several, use so many threads."""
    _native.set_num_threads(count)


@contextlib.contextmanager
def limited_threads(count: int | None, who: str) -> Iterator[None]:
    """Use at most so many native and BLAS threads inside; None: as before, -1: all."""
    if count is None:
        yield
        return
    before = _native.num_threads()
    wanted = processors() if count == -1 else count
    wanted = checks.whole(who, "n_jobs", wanted, least=1, most=_native.MAX_THREADS)
    _native.set_num_threads(wanted)
    try:
        with blas_threads(wanted):
            yield
    finally:
        _native.set_num_threads(before)
