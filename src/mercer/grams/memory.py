"""How much memory there is, and what a limit stands for."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from .. import checks

SHARE = 0.6  # of the memory that is free, when no limit is given
FRESH = 0.05  # seconds for which what was seen holds: little memory can be filled in that time


_last: tuple[float, int] = (float("-inf"), 0)  # when memory was looked at, and what was free


def available_memory() -> int:
    """Return the bytes this process may still take: free memory within its control group.

    What was seen a moment ago is not looked up again.
    """
    global _last
    seen, free = _last
    if time.monotonic() - seen >= FRESH:
        free = _look()
        _last = time.monotonic(), free
    return free


def _look() -> int:
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


def limit_in_bytes(who: str, memory_limit: Any) -> int:
    """Return the bytes that a limit stands for; "auto" is a share of the memory that is free."""
    given = checks.memory_limit(who, memory_limit)
    return int(available_memory() * SHARE) if given is None else given
