"""mercer evaluate: how good a saved model is on labelled data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..options import READING, SEED, as_command
from .fit import reading_of

if TYPE_CHECKING:
    from ..screen import Screen

EPILOG = """\b
Examples:
  mercer evaluate sales.mercer sales-of-may.csv
  mercer evaluate churn.mercer may.parquet --target left --json
"""


@as_command("evaluate", "Score a saved model on labelled data.", epilog=EPILOG)
@click.argument("model")
@click.argument("data")
@click.option(
    "-t", "--target", metavar="COLUMN", help="The column with the truth; else the one of the fit."
)
@SEED
@READING
def command(screen: Screen, **options: Any) -> None:
    """Score a saved model on data whose truth is known.

    Scores come with standard errors over the rows, beside those that the model had when it was
    fitted; a clear difference says that these rows are not like those.
    """
    from ..stored.evaluating import evaluate

    reading = reading_of(options)
    evaluate(
        screen,
        reading,
        path=options["model"],
        source=options["data"],
        target=options["target"],
        seed=options["seed"],
    )
