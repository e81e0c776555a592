"""mercer tune: search the parameters of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..options import FORCE, READING, PairType, as_command
from .fit import COLUMNS, LEARNER, LIMITS, columns_of, reading_of

if TYPE_CHECKING:
    from ..screen import Screen

EPILOG = """\b
What of a parameter is tried:
  --param C=0.1,1,10,100          these values
  --param kernel__gamma=1e-3:10   numbers between bounds, by their logarithm
  --param kernel__gamma=each:1e-3:10   one number for each column, between bounds
Examples:
  mercer tune sales.csv -t price --model ridge --param alpha=1e-6:1 --param kernel__gamma=1e-3:10
  mercer tune a.svmlight --model svc --param C=1,10,100 --param kernel__gamma=0.01,0.1,1
"""


@as_command("tune", "Search the parameters of a model.", epilog=EPILOG)
@click.argument("data")
@COLUMNS
@LEARNER
@click.option(
    "--param",
    "params",
    multiple=True,
    required=True,
    type=PairType("VALUES"),
    help="A parameter and what to try of it; may be given several times.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "grid", "random", "halving", "gradient"]),
    default="auto",
    show_default=True,
)
@click.option("--scoring", help="A scorer of scikit-learn, or evidence.")
@click.option(
    "--folds",
    type=click.IntRange(2),
    metavar="N",
    default=5,
    help="Of the cross-validation; else 5.",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    metavar="N",
    default=20,
    help="Random candidates; else 20.",
)
@LIMITS
@click.option("-o", "--out", metavar="FILE", help="Save the best model here.")
@FORCE
@READING
def command(screen: Screen, **options: Any) -> None:
    """Search the parameters of one kind of model by scores on rows that it has not seen."""
    from ..learn.tuning import TuneSettings, run_tuning

    columns, reading = columns_of(options), reading_of(options)
    run_tuning(screen, TuneSettings(columns=columns, reading=reading, **options))
