"""mercer bench: how fast mercer is on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..options import SEED, as_command

if TYPE_CHECKING:
    from ..screen import Screen


@as_command("bench", "Compare with scikit-learn on this machine.")
@click.option(
    "--scale",
    type=click.FloatRange(0.01, 4.0),
    default=1.0,
    show_default=True,
    help="Times the number of rows.",
)
@SEED
def command(screen: Screen, scale: float, seed: int) -> None:
    """Compare mercer with scikit-learn on this machine, in less than a minute.

    Each task is done by both, in turn, the best of three times. That both came to the same result
    is checked and shown; a ratio without it would say nothing.
    """
    from ..tools.benching import run_bench

    run_bench(screen, scale, seed)
