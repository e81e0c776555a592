"""What a pass over the points of a cluster costs, measured on two processes of this machine.

For `simulate_cluster.py`: seconds of a kernel value, of a task without work and of the driver's
systems; bytes of messages as they pass the loopback; what the driver holds for each row.
"""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
from machine import best
from scale_data import COLUMNS, GAMMA, draw
from simulate_cluster import tasks

import mercer
from mercer import KernelRidge
from mercer.grams import Normal, gram, prepare
from mercer.inputs import Matrix, RowBlocks
from mercer.kernels import Gaussian
from mercer.linalg.blas import solve_lower
from mercer.solvers.ridge import nystrom

Costs = dict[str, Any]
EMPTY, FEW = 400, 20  # tasks without work, and their centres
PASSES = 5


def entry_seconds(rows: int, centres: int) -> float:
    """Return the seconds of a kernel value in a pass of conjugate gradients, on one thread."""
    X, _ = draw(rows, 0)
    K, v = gram(Gaussian(GAMMA), X, X[:centres], store=False), np.ones(centres)
    before = mercer.num_threads()
    mercer.set_num_threads(1)
    try:
        return best(lambda: K.reduce(Normal(v))) / (rows * centres)
    finally:
        mercer.set_num_threads(before)


def driver_seconds(centres: int) -> float:
    """Return the seconds of the triangular systems of an iteration: four with one right side."""
    lower, v = np.asfortranarray(np.eye(centres)), np.ones((centres, 1))
    return 4 * best(lambda: solve_lower(lower, v))


def row_bytes(direct: bool, rows: int = 200_000) -> float:
    """Return the bytes that the driver holds for each row at the peak of a fit to blocks.

    From two sizes, as NumPy's allocations are traced. direct: by normal equations.
    """
    peaks, before = [], nystrom.DIRECT
    nystrom.DIRECT = before if direct else 10
    try:
        for count in (rows, 2 * rows):
            X, y = np.random.default_rng(0).normal(size=(count, 1)), np.ones(count)
            blocks = RowBlocks.split(X, 10_000)
            model = KernelRidge(1.0, kernel=Gaussian(1.0), n_centers=12, tol=1e-2, random_state=0)
            tracemalloc.start()
            model.fit(blocks, y)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    finally:
        nystrom.DIRECT = before
    return (peaks[1] - peaks[0]) / rows + y.itemsize


def on_a_cluster(client: Any, rows: int, blocks: int, centres: int) -> Costs:
    """Return seconds and loopback bytes of a pass on a client's workers, the least of some."""
    import dask.array as da

    X, _ = draw(rows, 0)
    few = prepare(Gaussian(GAMMA), Matrix(draw(centres, 1)[0]))
    lazy = da.from_array(X, chunks=(-(-rows // blocks), COLUMNS))
    K, v = few.gram(mercer.distributed.row_blocks(lazy, client)), np.ones((centres, 1))
    passed: list[int] = []

    def one_pass() -> None:
        before = loopback_bytes()
        K.reduce(Normal(v))
        passed.append(loopback_bytes() - before)

    seconds = best(one_pass, PASSES)
    return {"rows": rows, "blocks": blocks, "seconds": seconds, "bytes": min(passed)}


def loopback_bytes() -> int:
    """Return how many bytes have come in over the loopback of this machine."""
    with open("/proc/net/dev") as lines:
        return next(int(line.split()[1]) for line in lines if line.strip().startswith("lo:"))


def measure(rows: int, block_rows: int, centres: int) -> Costs:
    """Return all costs; rows: of a real pass on two processes, which a simulation should repeat.

    A task without work has few rows and few centres; there are many, so that workers add up. Its
    bytes pass the loopback twice, by way of the scheduler; on a cluster where that is beside the
    driver they cross the network once.
    """
    from distributed import Client, LocalCluster

    found: Costs = {"centres": centres, "block_rows": block_rows}
    found["entry_seconds"] = entry_seconds(min(block_rows, rows), centres)
    found["driver_seconds"] = driver_seconds(centres)
    found["row_bytes"], found["direct_row_bytes"] = row_bytes(False), row_bytes(True)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        empty = on_a_cluster(client, EMPTY, EMPTY, FEW)
        found["empty"], found["wide"] = empty, on_a_cluster(client, EMPTY, EMPTY, centres)
        found["real"] = on_a_cluster(client, rows, -(-rows // block_rows), centres)
    found["task_seconds"] = empty["seconds"] / tasks(EMPTY)
    beside = empty["bytes"] / tasks(EMPTY) - 4 * 8 * FEW
    found["task_bytes"] = found["sum_bytes"] = beside / 4
    return found
