"""Independent computations, in other processes where joblib has been told to use some."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from .grams.threads import processors, share_threads

Item = TypeVar("Item")
Found = TypeVar("Found")
LOCAL = ("LokyBackend", "MultiprocessingBackend")  # whose processes share this machine


def processes() -> int:
    """Return how many processes `each` uses; 1 is this one.

    They are those of `joblib.parallel_config(backend=...)`. Threads are none: native loops have
    theirs. A task that runs in one of them computes there what it needs.
    """
    backend, asked = get_active_backend()
    if getattr(backend, "supports_sharedmem", False) or backend.nesting_level or _is_task():
        return 1
    return max(int(backend.effective_n_jobs(asked or backend.default_n_jobs)), 1)


def _is_task() -> bool:
    """Return whether this is done by a worker of Dask."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def each(
    function: Callable[..., Found],
    items: Sequence[Item],
    shared: tuple[Any, ...] = (),
    in_waves: bool = False,
) -> Iterator[Found]:
    """Yield function(item, *shared) of each item, in order, from as many processes as there are.

    in_waves: one item per process at a time, for whoever may stop in between.
    """
    count = min(processes(), len(items))
    if count < 2:
        yield from (function(item, *shared) for item in items)
        return
    backend = get_active_backend()[0]
    at_once = max(processors() // count, 1) if type(backend).__name__ in LOCAL else 1
    task = Task(function=function, threads=at_once, process=os.getpid())
    size = count if in_waves else len(items)
    for first in range(0, len(items), size):
        yield from Parallel()(delayed(task)(item, *shared) for item in items[first : first + size])


@dataclass(frozen=True, kw_only=True)
class Task:
    """A function for another process, where native loops use so many threads."""

    function: Callable[..., Any]
    threads: int
    process: int

    def __call__(self, *given: Any) -> Any:
        if os.getpid() != self.process:
            share_threads(self.threads)
        return self.function(*given)
