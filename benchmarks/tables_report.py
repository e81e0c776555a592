"""Scores of `bench_tables.py` and the tables of its report, in Markdown."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import log_loss

Entry = dict[str, Any]

BINS = 15
LEAST_PROBABILITY = 1e-15


def calibration_error(y: np.ndarray, found: np.ndarray) -> float:
    """Expected calibration error of the likeliest class, in 15 bins of equal width."""
    sure, right = found.max(axis=1), found.argmax(axis=1) == y
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=right - sure, minlength=BINS)
    return float(np.abs(gaps).sum() / len(y))


def scores(y: np.ndarray, found: np.ndarray, n_classes: int) -> dict[str, float]:
    """Return the scores of predictions; the first is the one that ranks."""
    if not np.isfinite(found).all():
        raise ValueError("predictions are not finite")
    if not n_classes:
        error = y - found
        return {
            "rmse": float(np.sqrt(np.mean(error**2))),
            "mae": float(np.mean(np.abs(error))),
            "r2": float(1 - np.mean(error**2) / np.var(y)),
        }
    found = np.clip(found, LEAST_PROBABILITY, 1)
    found = found / found.sum(axis=1, keepdims=True)
    return {
        "log_loss": float(log_loss(y, found, labels=np.arange(n_classes))),
        "accuracy": float(np.mean(found.argmax(axis=1) == y)),
        "brier": float(np.mean(np.sum((found - np.eye(n_classes)[y]) ** 2, axis=1))),
        "ece": calibration_error(y, found),
    }


def read(path: Path) -> list[Entry]:
    """Return the entries of a file of results; of two for the same case, the later."""
    lines = path.read_text().splitlines() if path.exists() else []
    return list({case(entry): entry for entry in map(json.loads, lines)}.values())


def case(entry: Entry) -> tuple[Any, ...]:
    """What makes a result another one."""
    names = ("suite", "table", "fold", "method", "seconds", "budget", "version", "machine")
    return tuple(entry[name] for name in names)


def _markdown(head: list[str], rows: list[list[Any]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" + "--:|" * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"
    yield ""


class Race:
    """The results of one suite and budget: tables by methods.

    A method that failed on a fold is last on that table. Ranks need every method on a table; what
    is incomplete is listed and left out.
    """

    def __init__(self, entries: list[Entry], boosters: tuple[str, ...]) -> None:
        self.boosters = boosters
        self.found: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in entries:
            self.found[entry["table"], entry["method"]].append(entry)
        self.methods = list(dict.fromkeys(entry["method"] for entry in entries))
        tables = dict.fromkeys(entry["table"] for entry in entries)
        folds = max(len(one) for one in self.found.values())
        complete = {t: all(len(self.found[t, m]) == folds for m in self.methods) for t in tables}
        self.tables = [table for table in tables if complete[table]]
        self.incomplete = [table for table in tables if not complete[table]]
        means = [[self.mean(table, method) for method in self.methods] for table in self.tables]
        self.losses = np.array(means).reshape(len(self.tables), len(self.methods))

    def mean(self, table: str, method: str, name: str | None = None) -> float:
        """A score averaged over the folds, the primary one by default; infinite after a failure."""
        entries = self.found[table, method]
        if any("scores" not in entry for entry in entries):
            return np.inf
        keys = [name or next(iter(entry["scores"])) for entry in entries]
        return float(np.mean([e["scores"][key] for e, key in zip(entries, keys, strict=True)]))

    def is_classification(self, table: str) -> bool:
        return any(e["n_classes"] for method in self.methods for e in self.found[table, method])

    def ranks(self) -> Iterator[str]:
        ranks = rankdata(self.losses, axis=1)
        classify = np.array([self.is_classification(table) for table in self.tables])
        finite = np.where(np.isfinite(self.losses), self.losses, np.nan)
        low, high = np.nanmin(finite, axis=1), np.nanmax(finite, axis=1)
        shares = (high[:, None] - finite) / np.where(high > low, high - low, 1)[:, None]
        shares = np.nan_to_num(shares)
        rows = []
        for place in np.argsort(ranks.mean(axis=0)):
            parts = [ranks[kept, place] for kept in (classify, ~classify)]
            means = [f"{part.mean():.2f}" if len(part) else "" for part in parts]
            rows += [
                [
                    self.methods[place],
                    f"{ranks[:, place].mean():.2f}",
                    *means,
                    f"{shares[:, place].mean():.3f}",
                    int((ranks[:, place] == 1).sum()),
                    int(np.isinf(self.losses[:, place]).sum()),
                ]
            ]
        counts = f"classification ({classify.sum()})", f"regression ({(~classify).sum()})"
        head = ["method", f"mean rank of {len(self.methods)}", *counts]
        yield from _markdown([*head, "score from 0 (last) to 1 (first)", "first", "failed"], rows)

    def duels(self) -> Iterator[str]:
        """How many tables each method wins and loses against each other and the boosters' mean."""
        here = [self.methods.index(name) for name in self.boosters if name in self.methods]
        others = {name: self.losses[:, place] for place, name in enumerate(self.methods)}
        if len(here) == len(self.boosters):
            others["mean of " + ", ".join(self.boosters)] = self.losses[:, here].mean(axis=1)
            others["best of them"] = self.losses[:, here].min(axis=1)
        rows = []
        for place, name in enumerate(self.methods):
            mine = self.losses[:, place]
            cells = [f"{(mine < o).sum()}/{(mine > o).sum()}" for o in others.values()]
            rows += [
                [
                    name,
                    *("" if other == name else c for other, c in zip(others, cells, strict=True)),
                ]
            ]
        yield from _markdown(["wins/losses against", *others], rows)

    def per_table(self) -> Iterator[str]:
        rows = []
        for table, losses in zip(self.tables, self.losses, strict=True):
            cells = [f"{loss:.4g}" if np.isfinite(loss) else "failed" for loss in losses]
            cells[int(losses.argmin())] = f"**{cells[int(losses.argmin())]}**"
            kind = "log loss" if self.is_classification(table) else "RMSE"
            rows += [[f"{table} ({kind})", *cells]]
        yield from _markdown(["table", *self.methods], rows)

    def calibration(self) -> Iterator[str]:
        tables = [table for table in self.tables if self.is_classification(table)]
        if not tables:
            return
        names = ("log_loss", "brier", "ece", "accuracy")
        rows = []
        for method in self.methods:
            means = [np.mean([self.mean(t, method, name) for t in tables]) for name in names]
            rows += [[method, *(f"{mean:.4f}" for mean in means)]]
        yield from _markdown(["mean over tables", *names], rows)

    def times(self) -> Iterator[str]:
        rows = []
        for method in self.methods:
            entries = [e for (_, m), es in self.found.items() if m == method for e in es]
            done = [entry for entry in entries if "fit_seconds" in entry]
            if not done:
                continue
            fits = [entry["fit_seconds"] for entry in done]
            answers = [entry["predict_seconds"] for entry in done]
            peak = max(entry["peak_bytes"] for entry in done) / 1e9
            cells = [f"{np.mean(fits):.1f}", f"{max(fits):.1f}", f"{np.mean(answers):.2f}"]
            versions = ", ".join(sorted({entry["version"] for entry in done}))
            rows += [[method, versions, *cells, f"{peak:.2f}"]]
        head = ["method", "version", "fit, mean s", "longest s", "predict, mean s", "peak GB"]
        yield from _markdown(head, rows)

    def failures(self) -> Iterator[str]:
        for (table, method), entries in self.found.items():
            for entry in entries:
                if "error" in entry:
                    yield f"- {method} on {table}, fold {entry['fold']}: {entry['error']}"


def on_one_machine(entries: list[Entry]) -> Iterator[Entry]:
    """Yield of each fold of a table the results of one machine: the last with most methods."""
    cases: dict[tuple[Any, ...], dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in entries:
        cases[entry["table"], entry["fold"]][entry["machine"]] += [entry]
    for machines in cases.values():
        yield from max(reversed(list(machines.values())), key=len)


def report(entries: list[Entry], boosters: tuple[str, ...]) -> Iterator[str]:
    """Yield the report: a section for each suite, time and kind of budget.

    Folds may have run on different machines, all methods of a fold on the same one.
    """
    races: dict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry["method"] == "constant":  # there to compare with by hand
            continue
        races[tuple(entry[name] for name in ("suite", "seconds", "budget"))] += [entry]
    for (suite, seconds, budget), some in races.items():
        some = list(on_one_machine(some))
        race = Race(some, boosters)
        machines = ", ".join(sorted({entry["machine"] for entry in some}))
        yield f"## {suite}: {seconds:g} s of {budget} time per fit, {machines}"
        yield ""
        if race.incomplete:
            yield f"Left out, not complete: {', '.join(race.incomplete)}."
            yield ""
        if race.tables:
            for part in (race.ranks, race.duels, race.per_table, race.calibration, race.times):
                yield from part()
        yield from race.failures()
        yield ""
