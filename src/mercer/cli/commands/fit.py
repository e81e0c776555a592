"""mercer fit: a data file in; a good, explained, saved model out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..options import (
    COLUMN_KINDS,
    FORCE,
    KERNEL,
    MEMORY,
    READING,
    SEED,
    PairType,
    TimeType,
    as_command,
    several,
)

if TYPE_CHECKING:
    from ..learn.fitjob import FitSettings
    from ..screen import Screen

MODELS = (
    "auto",
    "ridge",
    "svc",
    "svr",
    "mkl",
    "rfm",
    "machine",
    "knn",
    "prototype",
    "perceptron",
    "fisher",
)
EPILOG = """\b
Examples:
  mercer fit sales.csv --target price
  mercer fit visits.parquet --target churned --group customer --time-limit 5m
  mercer fit a.svmlight --model svc --kernel "Gaussian(gamma=0.05)" --out a.mercer
  mercer fit genes.fasta --model svc --kernel "Spectrum(4).normalized()"
  xz -dc log.csv.xz | mercer fit - --target seconds --out log.mercer
"""

COLUMNS = several(
    [
        click.option(
            "-t",
            "--target",
            metavar="COLUMN",
            help="The column to predict; not needed where DATA has labels.",
        ),
        click.option(
            "--task",
            type=click.Choice(["auto", "classification", "regression"]),
            default="auto",
            show_default=True,
            help="auto: texts, truth values and whole numbers of few values are classes.",
        ),
        click.option(
            "--group", metavar="COLUMN", help="Rows with the same value here are judged together."
        ),
        click.option(
            "--time",
            "time_column",
            metavar="COLUMN",
            help="Rows are judged by those before them in this column.",
        ),
        click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out."),
        click.option(
            "--type",
            "types",
            multiple=True,
            type=PairType("KIND", COLUMN_KINDS),
            help=f"What a column is: {', '.join(COLUMN_KINDS)}.",
        ),
    ]
)
LEARNER = several(
    [
        click.option(
            "--model",
            type=click.Choice(MODELS),
            default="auto",
            show_default=True,
            help="auto tries many kernel models on tables and averages the best.",
        ),
        KERNEL,
        click.option("--raw", is_flag=True, help="Take the numbers of a matrix as they are."),
    ]
)
LIMITS = several(
    [
        click.option(
            "--time-limit",
            type=TimeType(),
            default="60",
            show_default=True,
            help="For everything, such as 90s, 5m or 1h.",
        ),
        MEMORY,
        click.option(
            "--max-candidates",
            type=click.IntRange(1),
            help="Judge so many candidates and use no clock: the same result each time.",
        ),
        SEED,
    ]
)


@as_command("fit", "Learn a model from a data file.", epilog=EPILOG)
@click.argument("data")
@COLUMNS
@LEARNER
@LIMITS
@click.option(
    "-o", "--out", metavar="FILE", help="The model file; else DATA's name with .mercer, here."
)
@click.option(
    "--report", metavar="FILE", help="The page about the model; else OUT's name with -report.html."
)
@click.option("--no-report", is_flag=True, help="Write no page.")
@click.option("--strict", is_flag=True, help="Exit code 4 if a fit did not reach its optimum.")
@FORCE
@READING
def command(screen: Screen, **options: Any) -> None:
    """Learn a model from a data file, judge it, save it and explain it.

    DATA is a table (CSV, TSV, Parquet, JSON lines), a matrix (npy, npz, svmlight), strings (FASTA),
    bracketed trees or a folder of graphs; - is standard input.
    """
    from ..learn.fitjob import FitJob

    FitJob(screen, settings_of(options)).run()


def settings_of(options: dict[str, Any]) -> FitSettings:
    """Return what was asked for."""
    from ..errors import usage
    from ..learn.fitjob import FitSettings

    columns, reading = columns_of(options), reading_of(options)
    if options["report"] is not None and options["no_report"]:
        raise usage("mercer fit", "--report and --no-report exclude each other", "both")
    return FitSettings(columns=columns, reading=reading, **options)


def columns_of(options: dict[str, Any]) -> Any:
    """Take the options about columns out of all options."""
    from ..learn.training import Columns

    types = dict(options.pop("types"))
    types |= dict.fromkeys(options.pop("drop"), "drop")
    return Columns(
        target=options.pop("target"),
        group=options.pop("group"),
        time=options.pop("time_column"),
        types=types,
    )


def reading_of(options: dict[str, Any]) -> Any:
    """Take the options about reading out of all options."""
    from ..learn.training import Reading

    names = ("data_format", "delimiter", "encoding", "missing", "no_header")
    return Reading(**{name: options.pop(name) for name in names})
