"""What `bench_scale.py` runs in processes of their own.

    python benchmarks/scale_runs.py < case.json

A case is a dictionary with the name of a run; a dictionary of what was found is the last line of
the output. At the top only what earlier versions of mercer have is imported: they run this too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scale_data import GAMMA, draw, npy_files, parquet_files, test_rows

from mercer import KernelRidge
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian

Case = dict[str, Any]
ALPHA = 1.0
TOL = 1e-4


def few_centres(case: Case) -> KernelRidge:
    """Return the model of the cases with centres."""
    return KernelRidge(
        ALPHA,
        kernel=Gaussian(GAMMA),
        solver="nystrom",
        n_centers=case["centres"],
        tol=TOL,
        memory_limit=case["limit"],
        random_state=0,
    )


def seconds_of(fit: Any) -> float:
    """Return the seconds of a call."""
    start = time.perf_counter()
    fit()
    return time.perf_counter() - start


def found_by(model: KernelRidge, seconds: float) -> Case:
    """Return what is told of a fit to made up rows; the error is against targets without noise."""
    X, y = test_rows()
    values = model.predict(X)
    record = model.certificate_
    return {
        "seconds": seconds,
        "error": float(np.sqrt(np.mean((values - y) ** 2))),
        "status": str(record.status),
        "plan": record.plan,
        "iterations": record.iterations,
        "residual": record.residual,
        "rank": record.rank,
        "kernel_entries": record.kernel_entries,
    }


def keep(case: Case, model: KernelRidge, name: str) -> None:
    """Keep coefficients and predictions, by which runs are compared."""
    if case.get("keep"):
        values = {"predictions": model.predict(test_rows()[0]), "dual_coef": model.dual_coef_}
        np.savez(Path(case["folder"]) / f"{name}.npz", **values, intercept=model.intercept_)


def run_memmap(case: Case) -> Case:
    """Fit to blocks of a memory map; the targets, a number per row, are held in memory."""
    points, targets = npy_files(Path(case["folder"]), case["rows"])
    X, y = RowBlocks.split(np.load(points, mmap_mode="r"), case["block"]), np.load(targets)
    model = few_centres(case)
    seconds = seconds_of(lambda: model.fit(X, y))
    keep(case, model, "memmap")
    return found_by(model, seconds)


def run_memory(case: Case) -> Case:
    """Fit to the same rows in memory."""
    points, targets = npy_files(Path(case["folder"]), case["rows"])
    X, y = np.load(points), np.load(targets)
    model = few_centres(case)
    return found_by(model, seconds_of(lambda: model.fit(X, y)))


def run_parquet(case: Case) -> Case:
    """Fit to Parquet files; the pass that notes the targets is a part of the time."""
    from mercer.data import row_blocks

    paths = parquet_files(Path(case["folder"]), case["rows"], case["block"])
    model = few_centres(case)
    start = time.perf_counter()
    X, y = row_blocks(paths, target="y", rows=case["block"])
    noted = time.perf_counter() - start
    seconds = seconds_of(lambda: model.fit(X, y))
    return found_by(model, noted + seconds) | {"noting_seconds": noted}


def run_exact(case: Case) -> Case:
    """Solve the whole system, K not stored."""
    X, y = draw(case["rows"], 0)
    model = KernelRidge(ALPHA, kernel=Gaussian(GAMMA), solver="cg", tol=TOL, random_state=0)
    model.set_params(memory_limit=case["limit"])
    seconds = seconds_of(lambda: model.fit(X, y))
    keep(case, model, f"exact-{case['version']}")
    return found_by(model, seconds)


def run_compare_exact(case: Case) -> Case:
    """Return objectives and true residuals of both solutions, from one pass over K in doubles."""
    from mercer.grams import gram

    X, y = draw(case["rows"], 0)
    solutions = [np.load(Path(case["folder"]) / f"exact-{name}.npz") for name in case["versions"]]
    C = np.column_stack([one["dual_coef"].ravel() for one in solutions]).astype(np.float64)
    b = np.array([float(one["intercept"].item()) for one in solutions])
    KC = gram(Gaussian(GAMMA), X, store=False) @ C
    errors = y[:, None] - b - KC
    objectives = 0.5 * (errors**2).sum(axis=0) + 0.5 * ALPHA * np.einsum("ij,ij->j", C, KC)
    residuals = np.linalg.norm(errors - ALPHA * C, axis=0) / np.linalg.norm(y - y.mean())
    values = [one["predictions"] for one in solutions]
    return {
        "objectives": objectives.tolist(),
        "residuals": residuals.tolist(),
        "coefficients_differ_by": relative(C[:, 0], C[:, -1]),
        "predictions_differ_by": relative(values[0], values[-1]),
    }


def relative(a: Any, b: Any) -> float:
    """Return the difference of two arrays, relative to the largest number of the first."""
    return float(np.abs(a - b).max() / np.abs(a).max())


# --- a cluster of two processes -----------------------------------------------------------------


def chunks_of(case: Case) -> tuple[Any, Any]:
    """Return the memory map as a Dask array that each worker reads its chunks of, and targets."""
    import dask.array as da
    from dask.delayed import delayed

    points, targets = npy_files(Path(case["folder"]), case["rows"])
    rows, block = case["rows"], case["block"]
    read = delayed(_part_of)
    columns = np.load(points, mmap_mode="r").shape[1]
    parts = [
        da.from_delayed(
            read(str(points), start, min(start + block, rows)),
            (min(block, rows - start), columns),
            np.float32,
        )
        for start in range(0, rows, block)
    ]
    return da.concatenate(parts), np.load(targets)


def _part_of(path: str, start: int, stop: int) -> Any:
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def loopback_bytes() -> int:
    """Return how many bytes have come in over the loopback of this machine."""
    with open("/proc/net/dev") as lines:
        return next(int(line.split()[1]) for line in lines if line.strip().startswith("lo:"))


def run_dask(case: Case) -> Case:
    """Fit on a cluster of processes with a thread each; again, and kill a worker meanwhile.

    kill_after: the share of the time of the first fit after which the worker is killed.
    """
    from distributed import Client, LocalCluster

    options = {"n_workers": case["workers"], "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        X, y = chunks_of(case)
        model = few_centres(case)
        pids = client.run(os.getpid)
        before = loopback_bytes()
        seconds = seconds_of(lambda: model.fit(X, y))
        found = found_by(model, seconds) | {"loopback_bytes": loopback_bytes() - before}
        found["worker_bytes"] = [resident(pid) for pid in pids.values()]
        keep(case, model, "dask")
        if not case.get("kill_after"):
            return found
        victim = sorted(pids.values())[0]
        timer = threading.Timer(case["kill_after"] * seconds, os.kill, (victim, signal.SIGKILL))
        model = few_centres(case)
        timer.start()
        found["killed_seconds"] = seconds_of(lambda: model.fit(X, y))
        timer.cancel()
        found["was_killed"] = victim not in client.run(os.getpid).values()
        keep(case, model, "dask-killed")
    return found


def resident(pid: int) -> Case:
    """Return the peak of what a process has held, and its own memory now."""
    with open(f"/proc/{pid}/status") as lines:
        fields = dict(line.split(":", 1) for line in lines)
    return {name: int(fields[name].split()[0]) * 1024 for name in ("VmHWM", "RssAnon")}


RUNS = {
    name.removeprefix("run_"): run for name, run in list(globals().items()) if name[:4] == "run_"
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = json.load(sys.stdin)
    if given["run"].startswith("rossmann"):
        import scale_rossmann

        RUNS |= scale_rossmann.RUNS
    if given["run"] == "descent":
        import scale_descent

        RUNS |= scale_descent.RUNS
    if given["run"] == "rates":
        import scale_roof

        RUNS |= scale_roof.RUNS
    answer = RUNS[given["run"]](given)
    print("\n" + json.dumps(answer), flush=True)
