"""mercer predict: predictions of new rows, as many as there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..options import FORCE, READING, as_command
from .fit import reading_of

if TYPE_CHECKING:
    from ..learn.training import Reading
    from ..screen import Screen
    from ..stored.predicting import Predictor

FORMATS = ("csv", "tsv", "jsonl", "parquet", "npy")  # of predictions
EPILOG = """\b
Examples:
  mercer predict sales.mercer new.csv --out predictions.csv
  mercer predict churn.mercer new.parquet --proba --keep customer --out churn.parquet
  cat new.csv | mercer predict sales.mercer - --interval 0.9 | head
"""


@as_command("predict", "Predict new rows with a saved model.", epilog=EPILOG)
@click.argument("model")
@click.argument("data")
@click.option("--proba", is_flag=True, help="Add the probability of each class.")
@click.option("--std", is_flag=True, help="Add the standard deviation of each number.")
@click.option(
    "--interval",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    help="Add an interval that has the number with this probability, such as 0.9.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="A column of DATA to write beside the predictions.",
)
@click.option(
    "-o", "--out", default="-", metavar="FILE", help="Where to write; else standard output, as CSV."
)
@click.option(
    "--output-format",
    type=click.Choice(FORMATS),
    help="What to write, where the name of OUT does not tell.",
)
@FORCE
@READING
def command(screen: Screen, **options: Any) -> None:
    """Predict new rows with a saved model.

    Rows are read, predicted and written a block at a time, so that a file of any size fits into
    memory. Columns are found by their names. Values outside the range of the training rows and
    categories that they did not have are flagged on standard error.
    """
    from ..errors import usage
    from ..outputs import STANDARD, check_outputs
    from ..stored.models import read_model, require_predictor
    from ..stored.predicting import Asked, Predictor

    who, reading = "mercer predict", reading_of(options)
    source, data, out = options["model"], options["data"], options["out"]
    if source == data == STANDARD:
        raise usage(who, "MODEL and DATA must not both be standard input", "- and -")
    if screen.as_json and out == STANDARD:
        must = "with --json predictions must go to a file"
        raise usage(who, must, "standard output", "Write --out, or --output-format jsonl.")
    check_outputs(who, {"--out": out}, options["force"], [source, data])
    if options["output_format"] is None and out != STANDARD:
        _require_ending(out, who)
    stored = read_model(source, who)
    require_predictor(stored, who)
    asked = Asked(
        proba=options["proba"],
        std=options["std"],
        coverage=options["interval"],
        keep=options["keep"],
    )
    predictor = Predictor(stored, asked, who)
    written = _write(screen, predictor, options, reading)
    predictor.tell(screen)
    screen.result |= {"rows": predictor.rows, "out": out, "format": written}
    screen.result |= {"outside": predictor.outside, "ignored_columns": predictor.extra}
    if out != STANDARD:
        screen.note(f"{predictor.rows:,} predictions are in {out}.")


def _require_ending(out: str, who: str) -> None:
    """Refuse a name that does not tell the format of predictions."""
    from ...checks import DataError
    from ...data.formats import format_of_name
    from ..errors import usage

    try:
        found = format_of_name(Path(out))
    except DataError:  # of what can neither be read nor written
        found = None
    if found not in FORMATS:
        must = f"--out must end in .{', .'.join(FORMATS)}"
        raise usage(who, must, repr(out), "Rename it, or write --output-format csv.")


def _write(screen: Screen, predictor: Predictor, options: dict[str, Any], reading: Reading) -> str:
    """Write the predictions block by block, and return their format."""
    from ...data import TableWriter
    from ..outputs import writing

    screen.has_bars = options["out"] != "-"  # which would stand among the predictions
    with (
        screen.bar("Predicting") as bar,
        writing(),
        TableWriter(options["out"], format=options["output_format"], force=True) as writer,
    ):
        for columns in predictor.blocks(options["data"], reading, bar):
            writer.write(columns)
        return writer.format
