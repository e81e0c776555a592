"""mercer demo: the main job on a table that comes with mercer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..options import FORCE, SEED, TimeType, as_command

if TYPE_CHECKING:
    from ..screen import Screen


@as_command("demo", "See it all on a sample table.")
@click.argument("folder", default="demo-output")
@click.option("--rows", type=click.IntRange(60), default=1000, show_default=True)
@click.option("--time-limit", type=TimeType(), default="60", show_default=True)
@click.option(
    "--max-candidates", type=click.IntRange(1), metavar="N", help="No clock: the same each time."
)
@SEED
@FORCE
def command(screen: Screen, **options: Any) -> None:
    """Fit, explain and predict on a sample table, in about a minute.

    Writes a table of flats to rent into FOLDER, runs `mercer fit` on it as you would on a table of
    your own, and predicts new rows. The table has numbers, categories, dates, texts and missing
    values.
    """
    from ..tools.demonstrating import Demo, run_demo

    run_demo(screen, Demo(**options))
