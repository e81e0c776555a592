"""The main job on a table that comes with mercer."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from ...data import flats, write_table
from ..errors import usage
from ..outputs import writing
from ..show.parts import heading, lines, table
from .fitjob import FitJob, FitSettings
from .models import read_model
from .predicting import Asked, Predictor
from .training import Columns, Reading

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


def run_demo(
    screen: Screen,
    *,
    folder: str,
    rows: int,
    time_limit: float,
    max_candidates: int | None,
    seed: int,
    force: bool,
) -> None:
    """Write the table, fit it, predict new rows, and say where everything is."""
    paths = _paths(folder, force)
    with writing():
        write_table(paths["flats.csv"], flats(rows, seed), force=True)
        fresh = flats(NEW_ROWS, seed + 1)
        fresh.pop(TARGET)  # which is to be predicted
        write_table(paths["new_flats.csv"], fresh, force=True)
    words = ["mercer", "fit", paths["flats.csv"], "--target", TARGET]
    words += ["--out", paths["flats.mercer"], "--report", paths["flats-report.html"]]
    words += [] if time_limit == USUAL_TIME else ["--time-limit", f"{time_limit:g}"]
    words += [] if max_candidates is None else ["--max-candidates", str(max_candidates)]
    _say(screen, "A table of flats to rent, which are made up, and what you would type:", words)
    settings = FitSettings(
        data=paths["flats.csv"],
        columns=Columns(target=TARGET),
        time_limit=time_limit,
        max_candidates=max_candidates,
        seed=seed,
        out=paths["flats.mercer"],
        report=paths["flats-report.html"],
        force=True,
        who=WHO,
    )
    screen.args = words[1:]
    fitted = FitJob(screen, settings, has_nexts=False).run()
    words = ["mercer", "predict", paths["flats.mercer"], paths["new_flats.csv"]]
    words += ["--interval", str(COVERAGE), "--out", paths["predictions.csv"]]
    _say(screen, "New flats, whose rent is not known:", words)
    count, first = _predict(screen, paths)
    screen.show(
        table(
            ("area", "district", "rent", f"with {COVERAGE:.0%}"), _rows(fresh, first), right=(0, 2)
        ),
        "",
        heading("Done"),
        *lines(
            [
                (
                    "report",
                    f"{os.path.abspath(paths['flats-report.html'])}  (open it in a browser)",
                ),
                ("model", paths["flats.mercer"]),
                ("predictions", f"{paths['predictions.csv']} ({count:,} rows)"),
                ("tables", f"{paths['flats.csv']}, {paths['new_flats.csv']}"),
            ]
        ),
        "",
        "Now with a table of your own:  mercer fit FILE --target COLUMN",
    )
    screen.result |= {"folder": folder, "files": paths, "predicted": count}
    screen.result["seconds"] = fitted.seconds


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
