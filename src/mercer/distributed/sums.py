"""Sums of results that lie in the memory of workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

AT_A_TIME = 8  # results that a worker adds up
MOST_HERE = 64  # results of a pass that come here one by one; of more blocks, only sums do


def added_up(*results: Any) -> Any:
    """Return the sum of results, arrays or tuples and lists of them, in their order.

    None, of a block of which there was nothing to do, does not count.
    """
    total = None
    for found in results:
        total = found if total is None else _plus(total, found)
    return total


def _plus(total: Any, found: Any) -> Any:
    if found is None:
        return total
    if isinstance(found, tuple | list):
        return type(found)(_plus(a, b) for a, b in zip(total, found, strict=True))
    return total + found


def blocks_of_a_sum(blocks: int) -> int:
    """Return of how many blocks the results are added up before they come here."""
    size = 1
    while blocks > MOST_HERE * size:
        size *= AT_A_TIME
    return size


@dataclass(kw_only=True)
class Group:
    """Blocks, one after another, whose results become one: by a tree, in the order of the blocks.

    submit: sends the work of a block. add: sends `added_up` of futures. running: tasks of blocks
    that may not be done yet.
    """

    blocks: range
    submit: Callable[[int], Any]
    add: Callable[[list[Any]], Any]
    running: deque[Any] = field(default_factory=deque)
    levels: list[list[Any]] = field(default_factory=lambda: [[]])

    def send(self, block: int) -> None:
        """Send the work of the next block, and the sums that it completes."""
        future = self.submit(block)
        self.running.append(future)
        self.levels[0].append(future)
        place = 0
        while len(self.levels[place]) == AT_A_TIME:
            if place + 1 == len(self.levels):
                self.levels.append([])
            self.levels[place + 1].append(self.add(self.levels[place]))
            self.levels[place] = []
            place += 1

    def again(self) -> Group:
        """Return the same blocks, whose work is sent once more."""
        found = Group(blocks=self.blocks, submit=self.submit, add=self.add)
        for block in self.blocks:
            found.send(block)
        return found

    def result(self) -> Any:
        """Return the future of the sum over all blocks, all of which were sent."""
        left: list[Any] = []
        for level in self.levels:  # what is left on a level comes after what is on the next one
            left = [*level, *left]
            left = left if len(left) < 2 else [self.add(left)]
        return left[0]

    def wait(self) -> None:
        """Wait for the block that was sent first of those that run."""
        from distributed import wait
        from distributed.client import FutureCancelledError

        with suppress(FutureCancelledError, OSError):  # whoever asks for the result will hear
            wait([self.running.popleft()])  # type: ignore[no-untyped-call]


def groups(
    blocks: int, sums: bool, submit: Callable[[int], Any], add: Callable[[list[Any]], Any]
) -> Iterator[Group]:
    """Yield the blocks in groups, each with one result."""
    size = blocks_of_a_sum(blocks) if sums else 1
    for first in range(0, blocks, size):
        inside = range(first, min(first + size, blocks))
        yield Group(blocks=inside, submit=submit, add=add)
