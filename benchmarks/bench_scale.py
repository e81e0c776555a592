"""More rows than memory, and more than one process: peaks of memory, times, errors.

    python benchmarks/bench_scale.py [case ...] [--small] [--before PYTHON] [--results FILE]

Cases: memmap, parquet, exact, dask, kills, rossmann, simulate; all of them without a name. --small
takes a twentieth of the rows, to try the benchmark. --before names the Python of another
environment, in which an earlier version of mercer is installed; `exact` runs there as well. Files
of made up rows are written once, into build/scale. Every result is added to a file at once.

Every fit runs in a process of its own, with which nothing else competes. Its memory is read from
outside every 10 ms. `own` is the peak of RssAnon, what the process itself has allocated and
touched. `resident` is VmHWM, the peak of all its pages that were in memory at one time, as the
kernel notes it: to its own they add pages of libraries and of mapped files, which take no room from
others, since they can be dropped at any time. Both hold the interpreter, NumPy and the targets of
all rows.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe
from scale_data import npy_files, parquet_files
from scale_roof import conjugate_gradient_roof, normal_equation_roof

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
import kill_fits

Case = dict[str, Any]
HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "build" / "scale"
RESULTS = HERE / "results" / "scale.jsonl"
BLOCK = 50_000
LIMIT = "1.3GB"  # beyond inputs and what is there before a fit
WIDER = "2GB"  # of which 1.6 are reserved for numbers of ten million rows, and less is used
SMALLER = 20
EVERY = 0.01  # seconds between two looks at the memory of a process


class Runner:
    """Starts processes, notes what they find, and writes it down."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.small, self.before, self.results = given.small, given.before, given.results
        self.machine = describe()

    def size(self, count: int) -> int:
        return count // SMALLER if self.small else count

    def __call__(self, run: str, python: str = sys.executable, **options: Any) -> Case:
        """Return what a run finds, with its peaks of memory."""
        case = {"run": run, "folder": str(FOLDER)} | options
        process = subprocess.Popen(
            [python, str(HERE / "scale_runs.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(case).encode())
        process.stdin.close()
        process.stdin = None
        peaks = watch(process)
        text, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{run} ended with {process.returncode}")
        return json.loads(text.splitlines()[-1]) | peaks

    def note(self, case: str, **found: Any) -> None:
        """Write a result down."""
        entry = {"case": case, "small": self.small, "machine": self.machine}
        entry |= {"time": datetime.datetime.now().isoformat(timespec="seconds")} | found
        self.results.parent.mkdir(parents=True, exist_ok=True)
        with self.results.open("a") as stream:
            stream.write(json.dumps(entry) + "\n")


def watch(process: subprocess.Popen[bytes]) -> Case:
    """Return the peaks of the memory of a process, which is waited for."""
    own = resident = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as lines:
                fields = dict(line.split(":", 1) for line in lines)
            own = max(own, int(fields["RssAnon"].split()[0]) * 1024)
            resident = max(resident, int(fields["VmHWM"].split()[0]) * 1024)
        except (KeyError, OSError):  # it has just ended
            pass
        time.sleep(EVERY)
    return {"own_bytes": own, "resident_bytes": resident}


def told(found: Case) -> str:
    """Return times and peaks in words."""
    return (
        f"{found['seconds']:.1f} s, own memory {found['own_bytes'] / 1e9:.2f} GB, resident "
        f"{found['resident_bytes'] / 1e9:.2f} GB"
    )


def case_memmap(run: Runner) -> Iterator[str]:
    yield "wanted: at most 2 GB; 60 % of the roof; test error within 2 % of the run in memory"
    rows, centres = run.size(1_000_000), run.size(5000) if not run.small else 2600
    npy_files(FOLDER, rows)
    options = {"rows": rows, "centres": centres, "block": BLOCK, "limit": LIMIT}
    rates = run("rates", centres=centres)
    yield (
        f"{rates['entries'] / 1e9:.2f} G kernel entries a second; products of matrices "
        f"{rates['single'] / 1e9:.0f} and {rates['double'] / 1e9:.0f} GFLOP/s"
    )
    found, memory = run("memmap", keep=True, **options), run("memory", **options)
    roof = conjugate_gradient_roof(rows, found["rank"], found["iterations"], rates)
    yield f"{rows} rows in a memory map: {told(found)}; {found['status']}; {found['plan']}"
    yield f"roof {roof:.1f} s: {100 * roof / found['seconds']:.0f} %"
    yield f"in memory: {told(memory)}; {memory['status']}; {memory['plan']}"
    ratio = found["error"] / memory["error"]
    yield f"test errors {found['error']:.5f} and {memory['error']:.5f}: ratio {ratio:.4f}"
    run.note("memmap", blocks=found, memory=memory, rates=rates, roof_seconds=roof)


def case_parquet(run: Runner) -> Iterator[str]:
    yield "wanted: at most 2 GB; 8 to 12 x the time of the tenth of the rows"
    rows, centres = run.size(10_000_000), run.size(2000)
    rates, found = run("rates", centres=centres), []
    for count in (rows // 10, rows):
        folder = FOLDER / f"parquet-{count}"
        parquet_files(folder, count, BLOCK)
        options = {"rows": count, "centres": centres, "block": BLOCK, "limit": WIDER}
        found.append(run("parquet", **options | {"folder": str(folder)}))
        roof = normal_equation_roof(count, found[-1]["rank"], rates)
        yield (
            f"{count} rows: {told(found[-1])}, of which {found[-1]['noting_seconds']:.1f} s to "
            f"note the targets; roof {roof:.1f} s; {found[-1]['status']}; test error "
            f"{found[-1]['error']:.5f}; {found[-1]['plan']}"
        )
    yield f"ratio {found[1]['seconds'] / found[0]['seconds']:.2f}"
    run.note("parquet", tenth=found[0], whole=found[1], rates=rates)


def case_exact(run: Runner) -> Iterator[str]:
    yield "wanted: half of the time before, converged"
    pythons = {"now": sys.executable} | ({"before": run.before} if run.before else {})
    options = {"rows": run.size(200_000), "limit": "60MB" if run.small else "auto"}
    found = {}
    for version, python in pythons.items():
        found[version] = run("exact", python, version=version, keep=True, **options)
        yield f"{version}: {told(found[version])}; {found[version]['iterations']} iterations, "
        yield f"  {found[version]['status']}, residual {found[version]['residual']:.1e}; "
        yield f"  {found[version]['plan']}"
    same = run("compare_exact", versions=list(pythons), **options)
    told_values = ", ".join(f"{value:.9g}" for value in same["objectives"])
    yield f"objectives {told_values}; true residuals {same['residuals']}"
    if run.before:
        yield f"ratio {found['now']['seconds'] / found['before']['seconds']:.2f}"
        yield (
            f"coefficients differ by {same['coefficients_differ_by']:.1e} of the largest, "
            f"predictions by {same['predictions_differ_by']:.1e}"
        )
    descent = run("descent", seconds=2 * found["now"]["seconds"], **options)
    yield (
        f"block coordinate descent, twice that time: residual {descent['residual']:.1e} after "
        f"{descent['passes']:.1f} passes over K"
    )
    run.note("exact", **found, same=same, descent=descent)


def case_dask(run: Runner) -> Iterator[str]:
    yield "wanted: equal to 1e-8; 1.3 x the time here; the same after a worker is killed"
    rows, centres = run.size(1_000_000), run.size(5000) if not run.small else 2600
    npy_files(FOLDER, rows)
    options = {"rows": rows, "centres": centres, "block": run.size(BLOCK), "limit": LIMIT}
    here = run("memmap", keep=True, **options)
    there = run("dask", keep=True, workers=2, kill_after=0.5, **options)
    yield f"here, two threads: {told(here)}; {here['iterations']} iterations"
    yield f"two processes: {told(there)}; {there['iterations']} iterations; workers: "
    for worker in there["worker_bytes"]:
        yield f"  own {worker['RssAnon'] / 1e9:.2f} GB, resident {worker['VmHWM'] / 1e9:.2f} GB"
    yield f"ratio {there['seconds'] / here['seconds']:.2f}"
    yield f"{there['loopback_bytes'] / 1e6:.1f} MB over the loopback of the machine"
    yield f"a worker killed midway ({there['was_killed']}): {there['killed_seconds']:.1f} s"
    differences = {}
    for name in ("dask", "dask-killed"):
        differences[name] = difference("memmap", name)
        yield f"{name}: predictions differ by {differences[name]:.1e} of the largest"
    run.note("dask", here=here, there=there, differences=differences)


def difference(first: str, second: str) -> float:
    """Return the largest difference of the predictions of two runs, relative to the largest."""
    a, b = (np.load(FOLDER / f"{name}.npz")["predictions"] for name in (first, second))
    return float(np.abs(a - b).max() / np.abs(a).max())


def case_kills(run: Runner) -> Iterator[str]:
    yield "wanted: 20 of 20 fits that were killed go on and find the same, to 1e-3 of the largest"
    rows = 5_000 if run.small else 15_000
    command = [sys.executable, str(HERE / "scale_kept.py"), str(rows)]
    start = time.perf_counter()
    counts, failures = kill_fits.run(command, 3 if run.small else 20, tolerance=1e-3)
    yield f"{rows} rows: {counts} in {time.perf_counter() - start:.0f} s"
    yield f"not as a fit that nothing has stopped: {failures or 'none'}"
    run.note("kills", counts=counts, failures=failures, rows=rows)


def case_rossmann(run: Runner) -> Iterator[str]:
    yield "a kernel model beside boosted trees on the last six weeks of Rossmann's sales"
    rows = run.size(1_017_209) if run.small else None
    models = {
        "kernel": {"centres": run.size(2500), "limit": LIMIT},
        "trees": {"trees": 50 if run.small else None},
    }
    found = {name: run(f"rossmann_{name}", rows=rows, **one) for name, one in models.items()}
    for name, one in found.items():
        yield (
            f"{name}: search {one['search_seconds']:.1f} s, fit {told(one)}, predictions "
            f"{one['predict_seconds']:.2f} s; RMSE of log sales {one['rmse_log']:.4f}, RMSPE "
            f"{one['rmspe']:.4f}; {one['rows']} rows; {one['chosen']}"
        )
    run.note("rossmann", **found)


def case_simulate(run: Runner) -> Iterator[str]:
    yield "passes on 4 to 1,000 workers, from costs that are measured here"
    script = [sys.executable, str(HERE / "simulate_cluster.py"), *["--small"] * run.small]
    done = subprocess.run(script, stdout=subprocess.PIPE, text=True, check=True)
    *lines, found = done.stdout.splitlines()
    yield from lines
    run.note("simulate", **json.loads(found))


CASES: dict[str, Callable[[Runner], Iterator[str]]] = {
    name.removeprefix("case_"): case
    for name, case in list(globals().items())
    if name[:5] == "case_"
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--small", action="store_true", help="a twentieth of the rows")
    parser.add_argument("--before", help="the Python of an environment with an earlier version")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    unknown = set(given.cases) - set(CASES)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    given.results = given.results or (FOLDER / "small.jsonl" if given.small else RESULTS)
    FOLDER.mkdir(parents=True, exist_ok=True)
    run = Runner(given)
    print(run.machine)
    for name in given.cases or CASES:
        print(name)
        for line in CASES[name](run):
            print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
