"""What the benchmarks share: the machine in a line, times, the peak of memory, running cases."""

from __future__ import annotations

import contextlib
import ctypes
import datetime
import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import scipy
import sklearn

import mercer
from mercer import _native


def processor() -> str:
    """Return the name of the processor."""
    model = platform.machine()
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as lines:
        model = next((line.split(":")[1].strip() for line in lines if "model name" in line), model)
    return model


def describe() -> str:
    """Return machine, versions and date in a line."""
    return (
        f"{processor()}, {mercer.num_threads()} threads, {_native.isa()}; "
        f"mercer {mercer.__version__}, NumPy {numpy.__version__}, SciPy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}; {datetime.date.today()}"
    )


def _status(field: str) -> int:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


@contextlib.contextmanager
def peak_memory() -> Iterator[Callable[[], int]]:
    """Yield a function that tells how far memory rose above where it stood (Linux)."""
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")  # the peak starts again from here
    before = _status("VmRSS")
    yield lambda: _status("VmHWM") - before


def keep_memory(size: float) -> None:
    """Touch so much memory and let this process keep it for what follows (Linux, glibc).

    A virtual machine may take seconds to hand out a gigabyte, and takes it back once it is free.
    """
    library = ctypes.CDLL(None)
    trim_threshold, mmap_max = -1, -4
    library.mallopt(mmap_max, 0)
    library.mallopt(trim_threshold, -1)
    numpy.ones(int(size), dtype="int8")


def best(run: Callable[[], Any], times: int = 3) -> float:
    """Return the fastest of several runs, in seconds; the first touches the memory."""
    run()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def timed(run: Callable[[], Any], times: int) -> tuple[float, Any]:
    """Return the fastest of several runs, in seconds, and what the last returned."""
    found, result = [], None
    for _ in range(times):
        start = time.perf_counter()
        result = run()
        found.append(time.perf_counter() - start)
    return min(found), result


def run_cases(names: dict[str, Any]) -> None:
    """Run the functions `case_…` whose name holds the first argument of the command line."""
    print(describe())
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, case in list(names.items()):
        if name.startswith("case_") and wanted in name:
            print(name.removeprefix("case_").replace("_", " "))
            for line in case():
                print(f"  {line}", flush=True)
