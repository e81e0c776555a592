"""mercer compress: a small model with nearly the same predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..options import FORCE, MEMORY, READING, TimeType, as_command
from .fit import reading_of

if TYPE_CHECKING:
    from ..screen import Screen

EPILOG = """\b
Examples:
  mercer compress sales.mercer --centers 200 --out small.mercer
  mercer compress sales.mercer --tol 0.01 --out small.mercer
  mercer compress sales.mercer --centers 100 --data sales.csv --out small.mercer
"""


@as_command("compress", "Make a saved model small.", epilog=EPILOG)
@click.argument("model")
@click.option(
    "--centers", type=click.IntRange(1), metavar="N", help="How many points carry the small model."
)
@click.option(
    "--tol", type=click.FloatRange(0.0, min_open=True), help="Largest relative error of a function."
)
@click.option(
    "--data",
    metavar="FILE",
    help="Rows whose predictions are to be met; they also measure the change.",
)
@click.option("--time-limit", type=TimeType(), help="Such as 90s or 5m.")
@MEMORY
@click.option("-o", "--out", required=True, metavar="FILE", help="Where to write the small model.")
@FORCE
@READING
def command(screen: Screen, **options: Any) -> None:
    """Make a saved model small: fewer points, nearly the same predictions."""
    from ..stored.compressing import run_compress

    run_compress(screen, reading_of(options), **options)
