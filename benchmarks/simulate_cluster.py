"""Times of fits on clusters that are not here, from times and sizes that are measured here.

    python benchmarks/simulate_cluster.py [--small] [--gigabits 10]

A fit is a number of passes over the points. In a pass the driver sends a task for each block of
rows: the coefficients, through one link, and the time that scheduler and driver spend on a task. A
worker computes the block with one thread. Sums of up to 64 blocks come back through the same link;
those of more blocks are first added up on the workers, eight at a time, each such sum a task that
fetches its terms from other workers. The order is that of the blocks, so that the result does not
depend on who was first; at most `IN_FLIGHT` blocks per worker are on their way. At the end of a
pass the driver solves triangular systems with a row per centre. This is replayed task by task, as
`mercer.distributed` does it.

What is measured on two worker processes of this machine (`cluster_costs.py`): seconds of a kernel
value in a pass, of a task without work, and of the driver's systems; bytes of messages; what the
driver holds for each row. A real pass on both processes is simulated as well, as a check.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from mercer.distributed.blocks import IN_FLIGHT
from mercer.distributed.sums import AT_A_TIME, blocks_of_a_sum

SINGLE, DOUBLE = 4, 8  # bytes of a number
PROCESS = 3e8  # bytes of a worker that has mercer loaded, and of the bands it computes


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Workers with one thread each, and what joins them to the driver.

    bandwidth: bytes per second of the driver's link, and of a worker's, each way. latency: seconds
    of a message. task_seconds: what driver and scheduler spend on a task. worker_memory and
    driver_memory: bytes, in which a fit must have room.
    """

    workers: int
    bandwidth: float = 1.25e9
    latency: float = 2e-4
    task_seconds: float = 1e-3
    worker_memory: float = 8e9
    driver_memory: float = 128e9


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Conjugate gradients with centres: blocks of rows, and what a pass takes.

    entry_seconds: of a kernel value, used twice, on one thread. task_bytes, sum_bytes: of the
    messages there and back, beyond 8 bytes per centre. driver_seconds: of a pass, for the systems.
    passes: iterations, and two more. row_bytes: what the driver holds for each row.
    """

    rows: int
    block_rows: int
    centres: int
    columns: int = 20
    entry_seconds: float = 1e-9
    task_bytes: float = 0.0
    sum_bytes: float = 0.0
    driver_seconds: float = 0.0
    passes: int = 20
    row_bytes: float = 0.0

    @property
    def blocks(self) -> int:
        return math.ceil(self.rows / self.block_rows)

    def lengths(self) -> Iterator[int]:
        """Yield the rows of every block."""
        for start in range(0, self.rows, self.block_rows):
            yield min(self.block_rows, self.rows - start)

    def down(self) -> float:
        """Return the bytes that are sent with a task."""
        return DOUBLE * self.centres + self.task_bytes

    def up(self) -> float:
        """Return the bytes of the sums of a block."""
        return DOUBLE * self.centres + self.sum_bytes

    def seconds(self, rows: int) -> float:
        """Return the seconds of a block on one thread."""
        return rows * self.centres * self.entry_seconds


def serial(fit: Fit) -> float:
    """Return the seconds of a pass on one thread, with nothing sent."""
    return fit.rows * fit.centres * fit.entry_seconds + fit.driver_seconds


class Replay:
    """A pass, task by task: when links and workers are free, and when results are there."""

    def __init__(self, fit: Fit, cluster: Cluster) -> None:
        self.fit, self.cluster = fit, cluster
        self.sent = self.taken = 0.0  # when the links from the driver and to it are free
        self.free = [0.0] * cluster.workers
        self.sending = cluster.task_seconds + fit.down() / cluster.bandwidth
        self.receiving = fit.up() / cluster.bandwidth

    def seconds(self) -> float:
        """Return how long the pass takes."""
        most = IN_FLIGHT * self.cluster.workers
        running: deque[float] = deque()  # when blocks on their way are done
        sums: deque[float] = deque()  # when sums that were sent are there, in order
        lengths = list(self.fit.lengths())
        for group in groups_of(len(lengths)):
            done: list[float] = []
            for block in group:
                if len(running) == most:
                    self.sent = max(self.sent, running.popleft())
                done.append(self.block(block, lengths[block]))
                running.append(done[-1])
            sums.append(self.sum_of(done))
        for one in sums:
            self.taken = max(self.taken, one + self.cluster.latency) + self.receiving
        return self.taken + self.fit.driver_seconds

    def block(self, place: int, rows: int) -> float:
        """Send the task of a block; return when its sums are there."""
        self.sent += self.sending
        worker = place % len(self.free)
        start = max(self.free[worker], self.sent + self.cluster.latency)
        self.free[worker] = start + self.fit.seconds(rows)
        return self.free[worker]

    def sum_of(self, done: list[float]) -> float:
        """Send the tasks that add up results, a few at a time; return when the last is there."""
        while len(done) > 1:
            few = [done[i : i + AT_A_TIME] for i in range(0, len(done), AT_A_TIME)]
            done = []
            for terms in few:
                self.sent += self.cluster.task_seconds
                fetched = (len(terms) - 1) * self.receiving + self.cluster.latency
                done.append(max(self.sent, *terms) + fetched)
        return done[0]


def groups_of(blocks: int) -> list[range]:
    """Return the blocks whose sums come to the driver as one."""
    size = blocks_of_a_sum(blocks)
    return [range(first, min(first + size, blocks)) for first in range(0, blocks, size)]


def replay(fit: Fit, cluster: Cluster) -> float:
    """Return the seconds of a pass."""
    return Replay(fit, cluster).seconds()


def tasks(blocks: int) -> int:
    """Return the tasks of a pass: blocks, and sums of them."""
    total = blocks
    for group in groups_of(blocks):
        left = len(group)
        while left > 1:
            left = math.ceil(left / AT_A_TIME)
            total += left
    return total


def parts(fit: Fit, cluster: Cluster) -> dict[str, float]:
    """Return what a pass could not be shorter than, by what binds it."""
    most = math.ceil(fit.blocks / cluster.workers) * fit.block_rows
    back = len(groups_of(fit.blocks))
    return {
        "arithmetic": fit.seconds(min(most, fit.rows)),
        "network": max(fit.blocks * fit.down(), back * fit.up()) / cluster.bandwidth,
        "tasks": tasks(fit.blocks) * cluster.task_seconds,
        "driver": fit.driver_seconds,
    }


def worker_bytes(fit: Fit, cluster: Cluster) -> float:
    """Return what a worker holds: its points, another block, centres twice, and itself."""
    own = math.ceil(fit.blocks / cluster.workers) * fit.block_rows
    points = min(own, fit.rows) + fit.block_rows + 2 * fit.centres
    return SINGLE * fit.columns * points + PROCESS


def driver_bytes(fit: Fit) -> float:
    """Return what the driver holds: three matrices of the centres, and numbers of every row."""
    return 3 * DOUBLE * fit.centres**2 + fit.row_bytes * fit.rows


def outcome(fit: Fit, cluster: Cluster) -> dict[str, Any]:
    """Return what becomes of a fit on a cluster, and what binds it."""
    seconds, bounds = replay(fit, cluster), parts(fit, cluster)
    held = {"worker": worker_bytes(fit, cluster), "driver": driver_bytes(fit)}
    binds = max(bounds, key=bounds.__getitem__)
    if held["worker"] > cluster.worker_memory:
        binds = "memory of the workers"
    if held["driver"] > cluster.driver_memory:
        binds = "memory of the driver"
    return {
        "rows": fit.rows,
        "block_rows": fit.block_rows,
        "centres": fit.centres,
        "workers": cluster.workers,
        "pass_seconds": seconds,
        "fit_seconds": fit.passes * seconds,
        "speed_up": serial(fit) / seconds,
        "worker_bytes": held["worker"],
        "driver_bytes": held["driver"],
        "binds": binds,
    }


# --- from what was measured to tables ------------------------------------------------------------


ROWS = (10**6, 10**7, 10**8, 10**9)
WORKERS = (4, 16, 64, 256, 1000)
BLOCKS = (12_500, 25_000, 50_000, 100_000, 200_000, 400_000, 800_000)  # of rows


def fit_of(costs: dict[str, Any], **changes: Any) -> Fit:
    """Return the fit whose costs were measured."""
    names = ("block_rows", "centres", "entry_seconds", "task_bytes", "sum_bytes")
    kept = {name: costs[name] for name in (*names, "driver_seconds", "row_bytes")}
    return Fit(**kept | changes)


def here(costs: dict[str, Any]) -> tuple[float, float]:
    """Return the seconds of a pass on two processes of this machine, as measured and simulated."""
    fit = replace(fit_of(costs, rows=costs["real"]["rows"]), driver_seconds=0.0)
    cluster = Cluster(workers=2, bandwidth=1e10, latency=0, task_seconds=costs["task_seconds"])
    return costs["real"]["seconds"], replay(fit, cluster)


def grid(costs: dict[str, Any], bandwidth: float) -> Iterator[dict[str, Any]]:
    """Yield what becomes of fits of a million to a billion rows, with blocks of the best size."""
    for rows in ROWS:
        for workers in WORKERS:
            cluster = Cluster(
                workers=workers, bandwidth=bandwidth, task_seconds=costs["task_seconds"]
            )
            even = [math.ceil(rows / (count * workers)) for count in (1, 2, 4)]
            sizes = [size for size in (*BLOCKS, *even) if BLOCKS[0] <= size <= BLOCKS[-1]]
            found = [outcome(fit_of(costs, rows=rows, block_rows=b), cluster) for b in sizes]
            yield min(found, key=lambda one: one["pass_seconds"])


def line(found: dict[str, Any]) -> str:
    """Return an outcome as a row of the table in docs/how-to/sizing.md."""
    cells = [
        f"{found['rows']:,}",
        f"{found['workers']:,}",
        f"{found['block_rows']:,}",
        f"{found['pass_seconds']:.3g} s",
        f"{found['speed_up']:.3g} ×",
        found["binds"],
        f"{found['worker_bytes'] / 1e9:.2g} GB",
        f"{found['driver_bytes'] / 1e9:.2g} GB",
    ]
    return f"| {' | '.join(cells)} |"


def told(costs: dict[str, Any]) -> str:
    """Return what was measured, in words."""
    return (
        f"{costs['entry_seconds'] * 1e9:.2f} ns a kernel value on one thread, "
        f"{costs['task_seconds'] * 1e3:.2f} ms a task, {costs['driver_seconds'] * 1e3:.0f} ms for "
        f"the systems of a pass with {costs['centres']} centres; {costs['task_bytes']:.0f} bytes a "
        f"message beside its numbers; {costs['row_bytes']:.0f} bytes a row on the driver, "
        f"{costs['direct_row_bytes']:.0f} with normal equations"
    )


HEAD = """\
| rows | workers | rows per block | a pass | speed-up | bound by | a worker holds | the driver holds |
|--:|--:|--:|--:|--:|---|--:|--:|"""  # noqa: E501


def main() -> None:
    from cluster_costs import measure

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--small", action="store_true", help="measure with few rows and centres")
    parser.add_argument("--gigabits", type=float, default=10.0, help="of the driver's link")
    given = parser.parse_args()
    rows, block_rows, centres = (40_000, 10_000, 1000) if given.small else (400_000, 50_000, 5000)
    costs = measure(rows, block_rows, centres)
    measured, simulated = here(costs)
    print(f"a pass on two processes here: {measured:.3f} s measured, {simulated:.3f} s simulated")
    found = list(grid(costs, given.gigabits / 8 * 1e9))
    print(told(costs), HEAD, *map(line, found), sep="\n")
    print(json.dumps({"costs": costs, "simulated_seconds": simulated, "grid": found}))


if __name__ == "__main__":
    main()
