"""The main job on a table that comes with mercer."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from ...data import flats, write_table
from ..errors import usage
from ..learn.fitjob import FitJob, FitSettings
from ..learn.training import Columns, Reading
from ..outputs import writing
from ..show.parts import heading, lines, table
from ..stored.models import read_model
from ..stored.predicting import Asked, Predictor

if TYPE_CHECKING:
    from ..screen import Screen

WHO = "mercer demo"
TARGET = "rent"
NEW_ROWS = 200
COVERAGE = 0.9
USUAL_TIME = 60.0  # of `mercer fit`
SHOWN = 3  # new flats
NAMES = (
    "flats.csv",
    "new_flats.csv",
    "flats.mercer",
    "flats-report.html",
    "flats-report.json",
    "predictions.csv",
)


@dataclass(frozen=True, kw_only=True)
class Demo:
    """What `mercer demo` is asked for."""

    folder: str
    rows: int
    time_limit: float
    max_candidates: int | None
    seed: int
    force: bool


def run_demo(screen: Screen, demo: Demo) -> None:
    """Write the table, fit it, predict new rows, and say where everything is."""
    paths = _paths(demo.folder, demo.force)
    fresh = _write_tables(demo, paths)
    words = _fit_words(demo, paths)
    _say(screen, "A table of flats to rent, which are made up, and what you would type:", words)
    screen.args = words[1:]
    fitted = FitJob(screen, _settings(demo, paths), has_nexts=False).run()
    words = ["mercer", "predict", paths["flats.mercer"], paths["new_flats.csv"]]
    words += ["--interval", str(COVERAGE), "--out", paths["predictions.csv"]]
    _say(screen, "New flats, whose rent is not known:", words)
    count, first = _predict(screen, paths)
    heads = ("area", "district", "rent", f"with {COVERAGE:.0%}")
    screen.show(table(heads, _rows(fresh, first), right=(0, 2)), "", *_end(paths, count))
    screen.result |= {"folder": demo.folder, "files": paths, "predicted": count}
    screen.result["seconds"] = fitted.seconds


def _write_tables(demo: Demo, paths: dict[str, str]) -> dict[str, list[Any]]:
    """Write the flats and the new ones, whose rent is to be predicted; return the new ones."""
    fresh = flats(NEW_ROWS, demo.seed + 1)
    fresh.pop(TARGET)
    with writing():
        write_table(paths["flats.csv"], flats(demo.rows, demo.seed), force=True)
        write_table(paths["new_flats.csv"], fresh, force=True)
    return fresh


def _fit_words(demo: Demo, paths: dict[str, str]) -> list[str]:
    """Return the command line of the fit."""
    words = ["mercer", "fit", paths["flats.csv"], "--target", TARGET]
    words += ["--out", paths["flats.mercer"], "--report", paths["flats-report.html"]]
    words += [] if demo.time_limit == USUAL_TIME else ["--time-limit", f"{demo.time_limit:g}"]
    most = demo.max_candidates
    return words + ([] if most is None else ["--max-candidates", str(most)])


def _settings(demo: Demo, paths: dict[str, str]) -> FitSettings:
    return FitSettings(
        data=paths["flats.csv"],
        columns=Columns(target=TARGET),
        time_limit=demo.time_limit,
        max_candidates=demo.max_candidates,
        seed=demo.seed,
        out=paths["flats.mercer"],
        report=paths["flats-report.html"],
        force=True,
        who=WHO,
    )


def _end(paths: dict[str, str], count: int) -> Iterator[RenderableType]:
    yield heading("Done")
    page = os.path.abspath(paths["flats-report.html"])
    yield from lines(
        [
            ("report", f"{page}  (open it in a browser)"),
            ("model", paths["flats.mercer"]),
            ("predictions", f"{paths['predictions.csv']} ({count:,} rows)"),
            ("tables", f"{paths['flats.csv']}, {paths['new_flats.csv']}"),
        ]
    )
    yield ""
    yield "Now with a table of your own:  mercer fit FILE --target COLUMN"


def _paths(folder: str, force: bool) -> dict[str, str]:
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise usage(WHO, "FOLDER must be a folder", f"{folder!r}, a file")
    paths = {name: os.path.join(folder, name) for name in NAMES}
    there = [path for path in paths.values() if os.path.exists(path)]
    if there and not force:
        must = "FOLDER must not have files of the demo yet"
        raise usage(WHO, must, repr(there[0]), "Write --force to replace them.")
    os.makedirs(folder, exist_ok=True)
    return paths


def _say(screen: Screen, text: str, words: list[str]) -> None:
    screen.show(heading(text), f"  $ {shlex.join(words)}", "")


def _rows(fresh: dict[str, list[Any]], first: dict[str, Any]) -> list[list[str]]:
    """Return the first new flats and what is predicted for them."""
    return [
        [
            f"{fresh['area'][row]:g} m²",
            str(fresh["district"][row]),
            f"{first['prediction'][row]:,.0f} €",
            f"{first['low'][row]:,.0f} to {first['high'][row]:,.0f} €",
        ]
        for row in range(SHOWN)
    ]


def _predict(screen: Screen, paths: dict[str, str]) -> tuple[int, dict[str, Any]]:
    """Write the predictions; return how many there are, and the first of them."""
    from ...data import TableWriter

    predictor = Predictor(read_model(paths["flats.mercer"], WHO), Asked(coverage=COVERAGE), WHO)
    with (
        screen.bar("Predicting") as bar,
        writing(),
        TableWriter(paths["predictions.csv"], force=True) as writer,
    ):
        blocks = list(predictor.blocks(paths["new_flats.csv"], Reading(), bar))
        for columns in blocks:
            writer.write(columns)
    predictor.tell(screen)
    return predictor.rows, blocks[0]
