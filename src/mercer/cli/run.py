"""One run of the command line, from its words to its exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence

import click

from .errors import ClosedPipe, Exit, code_of, text_of
from .group import cli
from .screen import Screen


def run(args: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    screen = Screen(as_json="--json" in args, debug="--debug" in args)
    screen.args = list(args)
    try:
        ended = cli.main(args=list(args), prog_name="mercer", standalone_mode=False, obj=screen)
        code = Exit.OK if not isinstance(ended, int) else Exit(ended)
        code = screen.code if code == Exit.OK else code
        screen.finish(code)
        sys.stdout.flush()
    except SystemExit as end:  # of a script that asks for completions
        return int(end.code or 0)
    except BaseException as error:
        code = _failed(error, screen)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    return int(code)


def _failed(error: BaseException, screen: Screen) -> Exit:
    """Say what went wrong, and return the exit code."""
    if isinstance(error, click.exceptions.Exit):
        return Exit(error.exit_code)
    code = code_of(error)
    if code == Exit.CLOSED_PIPE:
        _drop_stdout()
        return code
    text = text_of(error)
    try:
        if screen.debug:
            sys.stderr.write("".join(traceback.format_exception(error)))
        screen.fail(code, text)
        sys.stdout.flush()
    except (BrokenPipeError, ClosedPipe):
        _drop_stdout()
    return code


def _drop_stdout() -> None:
    """Let what is still to be written vanish: Python would complain of it at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
