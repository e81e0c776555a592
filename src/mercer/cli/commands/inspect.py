"""mercer inspect: what a model file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..options import as_command

if TYPE_CHECKING:
    from ..screen import Screen

EPILOG = """\b
Examples:
  mercer inspect sales.mercer
  mercer inspect sales.mercer --json | jq .result.card.columns
"""


@as_command("inspect", "Show what a model file holds.", epilog=EPILOG)
@click.argument("model")
@click.option("--columns", is_flag=True, help="Show all columns, also of a wide table.")
def command(screen: Screen, model: str, columns: bool) -> None:
    """Show what a model file holds: data, scores, kernel, certificate, versions."""
    from ..show.card import inspect_screen
    from ..stored.inspecting import inspection
    from ..stored.models import read_model

    stored = read_model(model, "mercer inspect")
    screen.show(*inspect_screen(stored, columns))
    screen.result |= inspection(stored)
