"""A race on tables: mercer's automatic learner, boosted trees and kernel methods, in equal time.

    python benchmarks/bench_tables.py describe
    python benchmarks/bench_tables.py run --suite dev --seconds 20 [--methods a,b] [--tables x,y]
    python benchmarks/bench_tables.py report [--out file.md]
    python benchmarks/bench_tables.py intervals | limits | rfm

`run` takes hours: each method searches for so many seconds on each of three outer folds of each
table, in a process of its own with two threads, imports not counted. Every result is written at
once, so that a run may be stopped and taken up again, and methods may be added later. `--cpu`
gives each method twice the seconds in processor time instead, for a busy machine; such results
never meet the others in a report. Without a command it reports what there is.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import tables_extras
from machine import processor
from tables_data import FOLDS, SUITES, load
from tables_peers import BOOSTERS, METHODS
from tables_report import Entry, case, read, report, scores
from tables_search import Job, Part

THREADS = 2
RESULTS = Path("build/tables/results.jsonl")
DISTRIBUTIONS = {"sklearn": "scikit-learn", "xgboost": "xgboost-cpu"}
PATIENCE = 5  # a child is ended after so many times its seconds, and two minutes


def version(package: str) -> str:
    """The version of a method's package; mercer's says which commit as well."""
    found = importlib.metadata.version(DISTRIBUTIONS.get(package, package))
    if package != "mercer":
        return found
    folder = Path(__file__).parent
    commit = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--exclude=*"]
    named = subprocess.run(commit, capture_output=True, text=True, check=False).stdout.strip()
    return f"{found}+{named}" if named else found


def count_processor_time() -> None:
    """Let every clock of this process show its processor time per thread."""

    def clock() -> float:
        return time.process_time() / THREADS

    time.perf_counter = time.monotonic = time.time = clock


def one(entry: Entry) -> Entry:
    """Run a case in this process; return it with scores, times and the peak of memory."""
    _, method = METHODS[entry["method"]]
    reason = missing(entry["method"])  # imports what it looks for, before the clock starts
    if reason:
        raise ImportError(reason)
    table = load(entry["suite"], entry["table"])
    rows, held = table.fold(entry["fold"])
    whole = Part(X=table.X, y=table.y)
    part, test = whole.rows(rows), whole.rows(held)
    job = Job(part=part, n_classes=table.n_classes, seconds=entry["seconds"], threads=THREADS)
    entry |= {"n_classes": table.n_classes, "rows": len(rows)}
    if entry["budget"] == "processor":
        count_processor_time()
    start = time.perf_counter()
    predict = method(job)
    fitted = time.perf_counter()
    found = np.asarray(predict(test.X), dtype=np.float64)
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    entry |= {"fit_seconds": fitted - start, "predict_seconds": done - fitted, "peak_bytes": peak}
    return entry | {"scores": scores(test.y, found, table.n_classes)}


def child() -> None:
    """Read a case from the input, run it, write the result as the last line of the output."""
    warnings.simplefilter("ignore")
    entry = json.load(sys.stdin)
    if entry["budget"] == "processor":
        most = THREADS * int(limit(entry))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    try:
        entry = one(entry)
    except Exception as error:
        entry |= {"error": f"{type(error).__name__}: {error}"[:300], "n_classes": 0}
    print("\n" + json.dumps(entry), flush=True)


def limit(entry: Entry) -> float:
    """Seconds after which a case has failed."""
    return PATIENCE * entry["seconds"] + 120


def spawn(entry: Entry) -> Entry:
    """Run a case in a fresh process with two threads."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MERCER_NUM_THREADS")
    environment = os.environ | dict.fromkeys(threads, str(THREADS))
    if entry["budget"] == "processor":
        environment["OMP_WAIT_POLICY"] = "PASSIVE"  # threads that spin would spend it
    try:
        done = subprocess.run(
            [sys.executable, __file__, "child"],
            input=json.dumps(entry),
            env=environment,
            capture_output=True,
            text=True,
            timeout=None if entry["budget"] == "processor" else limit(entry),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return entry | {"error": f"ended after {limit(entry):.0f} s", "n_classes": 0}
    if done.returncode:
        return entry | {"error": f"exit code {done.returncode}", "n_classes": 0}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def missing(method: str) -> str | None:
    """Why a method cannot run here."""
    try:
        importlib.import_module(METHODS[method][0])
        if method == "mercer":
            importlib.import_module("mercer").AutoKernelClassifier  # noqa: B018
    except (ImportError, AttributeError) as error:
        return str(error)
    return None


def run(given: argparse.Namespace) -> None:
    """Run what is asked for and has no result yet."""
    methods = []
    for method in given.methods or METHODS:
        reason = missing(method)
        if reason:
            print(f"{method} is missing: {reason}")
        else:
            methods.append(method)
    given.results.parent.mkdir(parents=True, exist_ok=True)
    done = {case(entry) for entry in read(given.results)}
    here, versions = processor(), {method: version(METHODS[method][0]) for method in methods}
    for table in given.tables or SUITES[given.suite]:
        for fold in given.folds:
            for method in methods:
                entry: Entry = {
                    "suite": given.suite,
                    "table": table,
                    "fold": fold,
                    "method": method,
                    "seconds": given.seconds,
                    "budget": "processor" if given.cpu else "wall",
                    "version": versions[method],
                    "machine": here,
                }
                if case(entry) in done:
                    continue
                entry = spawn(entry)
                with given.results.open("a") as stream:
                    stream.write(json.dumps(entry) + "\n")
                print(line(entry), flush=True)


def line(entry: Entry) -> str:
    head = f"{entry['table']} {entry['fold']} {entry['method']}: "
    if "error" in entry:
        return head + entry["error"]
    found = ", ".join(f"{name} {value:.4g}" for name, value in entry["scores"].items())
    return head + f"{found}; {entry['fit_seconds']:.1f} + {entry['predict_seconds']:.2f} s"


def describe(given: argparse.Namespace) -> None:
    """Print rows, columns, kinds and target of every table."""
    for suite, tables in SUITES.items():
        print(suite)
        for name in tables:
            table = load(suite, name)
            rows, columns = table.X.shape
            kinds = ", ".join(f"{count} {kind}" for kind, count in table.kinds().items())
            print(f"  {name}: {rows} x {columns} ({kinds}); {table.target}, {table.kind}")


def show(given: argparse.Namespace) -> None:
    """Print the report, or write it to a file; of several versions of a method, the last one's."""
    entries = read(given.results)
    last = {(entry["suite"], entry["method"]): entry["version"] for entry in entries}
    entries = [
        entry
        for entry in entries
        if entry["version"] == last[entry["suite"], entry["method"]]
        and entry["method"] in (given.methods or METHODS)
        and entry["table"] in (given.tables or [entry["table"]])
    ]
    text = "\n".join(report(entries, BOOSTERS)) or f"no results in {given.results}"
    if given.out:
        given.out.write_text(text + "\n")
    else:
        print(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.set_defaults(command="report", results=RESULTS, methods=None, tables=None, out=None)
    commands = parser.add_subparsers(dest="command")
    names = lambda text: text.split(",")  # noqa: E731
    runs, reports = commands.add_parser("run"), commands.add_parser("report")
    for part in (runs, reports):
        part.add_argument("--results", type=Path, default=RESULTS)
        part.add_argument("--methods", type=names, help=",".join(METHODS))
        part.add_argument("--tables", type=names)
    runs.add_argument("--suite", choices=list(SUITES), default="dev")
    runs.add_argument("--seconds", type=float, default=20.0)
    folds = lambda text: [int(fold) for fold in text.split(",")]  # noqa: E731
    runs.add_argument("--folds", type=folds, default=list(range(FOLDS)))
    runs.add_argument("--cpu", action="store_true", help="processor time, twice the seconds")
    reports.add_argument("--out", type=Path)
    for name in ("describe", "child", *tables_extras.COMMANDS):
        commands.add_parser(name)
    given = parser.parse_args()
    given.command = given.command or "report"
    return given


def main() -> None:
    given = arguments()
    commands: dict[str, Any] = {"run": run, "report": show, "describe": describe}
    if given.command == "child":
        child()
    elif given.command in commands:
        commands[given.command](given)
    else:
        for text in tables_extras.COMMANDS[given.command]():
            print(text, flush=True)


if __name__ == "__main__":
    main()
