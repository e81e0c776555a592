"""mercer check: is it a Mercer kernel on these points?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..options import READING, KernelType, as_command
from .fit import reading_of

if TYPE_CHECKING:
    from ..screen import Screen

EPILOG = """\b
Examples:
  mercer check "Gaussian(gamma=0.5)" points.npy
  mercer check "Sigmoid(gamma=1)" sales.csv --drop price
  mercer check "Spectrum(3)" genes.fasta
"""


@as_command("check", "Check that a kernel is Mercer on points.", epilog=EPILOG)
@click.argument("kernel", type=KernelType())
@click.argument("data")
@click.option(
    "--drop", multiple=True, metavar="COLUMN", help="A column to leave out, such as the target."
)
@click.option(
    "--rows", type=click.IntRange(2), metavar="N", help="Look at this many random rows only."
)
@click.option("--alpha", type=click.FloatRange(0.0, min_open=True), default=1.0, show_default=True)
@click.option("--raw", is_flag=True, help="Take the numbers of a matrix as they are.")
@READING
def command(screen: Screen, **options: Any) -> None:
    """Check that a kernel is symmetric and positive semi-definite on the points of a file.

    The exit code is 0 if it is and 1 if it is not. The rows of a table are first made numbers, as
    mercer fit does; a kernel of named columns, such as Spectrum(3).on("name"), takes them as they
    are.
    """
    from ..tools.checking import run_check

    run_check(screen, reading_of(options), **options)
