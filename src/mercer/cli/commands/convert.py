"""mercer convert: models of other programs in, models for other programs out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..options import FORCE, as_command

if TYPE_CHECKING:
    from ..screen import Screen

EPILOG = """\b
Examples:
  mercer convert a.model a.mercer          a model file of LIBSVM's svm-train
  mercer convert a.mercer a.model          for LIBSVM's svm-predict
  mercer convert a.mercer a.onnx           for ONNX Runtime, of rows of numbers
"""


@as_command("convert", "Convert models: LIBSVM, ONNX.", epilog=EPILOG)
@click.argument("source")
@click.argument("target")
@click.option(
    "--to",
    type=click.Choice(["mercer", "libsvm", "onnx"]),
    help="What TARGET is, where its name does not tell.",
)
@FORCE
def command(screen: Screen, source: str, target: str, to: str | None, force: bool) -> None:
    """Convert a model: LIBSVM to mercer, mercer to LIBSVM, mercer to ONNX.

    What SOURCE is, its first bytes tell. TARGET is ONNX if it ends in .onnx, a file of mercer if it
    ends in .mercer, and one of LIBSVM if it ends in .model, .libsvm or .txt.
    """
    from ..stored.converting import run_convert

    run_convert(screen, source, target, to, force)
