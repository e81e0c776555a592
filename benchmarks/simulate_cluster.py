"""Times of fits on clusters that are not here, from times and sizes that are measured here.

    python benchmarks/simulate_cluster.py [--small] [--gigabits 10]

A fit is a number of passes over the points. In a pass the driver sends a task for each block of
rows: the coefficients, through one link, and the time that scheduler and driver spend on a task. A
worker computes the block with one thread. The sums come back through the same link and are added in
the order of the blocks, so that the result does not depend on who was first; at most `IN_FLIGHT`
tasks per worker are on their way. At the end of a pass the driver solves triangular systems with a
row per centre. This is replayed task by task (`replay`), as `mercer.distributed` does it.

`tree` is what another plan would take: coefficients go from worker to worker along a tree, each
worker adds up its own blocks, and the sums come back along the tree, one task per worker. It tells
when such a plan would pay.

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

IN_FLIGHT = 2  # as in mercer.distributed
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


def replay(fit: Fit, cluster: Cluster) -> float:
    """Return the seconds of a pass, task by task, results taken in the order of the blocks."""
    sending = cluster.task_seconds + fit.down() / cluster.bandwidth
    receiving = fit.up() / cluster.bandwidth
    free = [0.0] * cluster.workers  # when each worker is free
    waiting: deque[float] = deque()  # when the tasks under way are done, in order
    now = taken = 0.0  # of the link from the driver, and of the link to it
    most = IN_FLIGHT * cluster.workers
    for place, rows in enumerate(fit.lengths()):
        if len(waiting) == most:
            taken = max(taken, waiting.popleft() + cluster.latency) + receiving
            now = max(now, taken)
        now += sending
        worker = place % cluster.workers
        free[worker] = max(free[worker], now + cluster.latency) + fit.seconds(rows)
        waiting.append(free[worker])
    for done in waiting:
        taken = max(taken, done + cluster.latency) + receiving
    return taken + fit.driver_seconds


def tree(fit: Fit, cluster: Cluster) -> float:
    """Return the seconds of a pass with sums along a tree, one task per worker."""
    workers = min(cluster.workers, fit.blocks)
    steps = math.ceil(math.log2(workers)) if workers > 1 else 0
    hops = (steps + 1) * (2 * cluster.latency + (fit.down() + fit.up()) / cluster.bandwidth)
    most = math.ceil(fit.blocks / workers) * fit.block_rows
    work = fit.seconds(min(most, fit.rows))
    return hops + workers * cluster.task_seconds + work + fit.driver_seconds


def parts(fit: Fit, cluster: Cluster) -> dict[str, float]:
    """Return what a pass could not be shorter than, by what binds it."""
    most = math.ceil(fit.blocks / cluster.workers) * fit.block_rows
    return {
        "arithmetic": fit.seconds(min(most, fit.rows)),
        "network": fit.blocks * max(fit.down(), fit.up()) / cluster.bandwidth,
        "tasks": fit.blocks * cluster.task_seconds,
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
        "tree_seconds": tree(fit, cluster),
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
        f"{found['tree_seconds']:.3g} s",
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
| rows | workers | rows per block | a pass | speed-up | bound by | a worker holds | the driver holds | a pass along a tree |
|--:|--:|--:|--:|--:|---|--:|--:|--:|"""  # noqa: E501


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
