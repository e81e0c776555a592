"""The commands by name, each loaded when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

import click

HELP = """Kernel methods from the command line: a data file in; a good, explained, saved model out.

\b
    mercer fit sales.csv --target price
    mercer predict sales.mercer new.csv --out predictions.csv
    mercer inspect sales.mercer

Data files may be CSV, TSV, Parquet, JSON lines, svmlight, npy, npz, FASTA, bracketed trees or
folders of graphs; - is standard input or output. Results go to standard output, everything else to
standard error. Each command has its own --help.
"""


class Commands(click.Group):
    """A group whose commands are modules, in the order in which one meets them."""

    names: ClassVar[tuple[str, ...]] = (
        "fit",
        "predict",
        "evaluate",
        "inspect",
        "tune",
        "check",
        "compress",
        "convert",
        "bench",
        "demo",
        "completion",
    )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, loaded now."""
        if cmd_name not in self.names:
            return None
        found: click.Command = import_module(f"{__package__}.commands.{cmd_name}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is meant, or suggest the nearest one."""
        if args and args[0] not in self.names and not args[0].startswith("-"):
            from ..checks import nearest

            advice = nearest(args[0], self.names)
            known = ", ".join(self.names)
            text = f"the command must be one of {known}; got {args[0]!r}. {advice}"
            raise click.UsageError(text.rstrip(), ctx=ctx)
        return super().resolve_command(ctx, args)


def _version(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"mercer {version('mercer')}")
        context.exit()


@click.command(cls=Commands, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Choose a command."""
