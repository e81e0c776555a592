"""How commands end: the one place that turns exceptions into exit codes and sentences."""

from __future__ import annotations

import errno
import re
import shlex
from enum import IntEnum

import click

# `mercer.checks` loads NumPy, which `mercer --help` has no use for: it is loaded with an error.


def _type_option(found: re.Match[str]) -> str:
    return f"--type {shlex.quote(found[1] or found[2] or '')}={found[3]}"


def _plain_option(found: re.Match[str]) -> str:
    return f"--{found[1]} {shlex.quote(found[2])}"


class Exit(IntEnum):
    """The exit codes of the command line."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    DATA = 3
    NOT_CONVERGED = 4
    LIMIT = 5
    INTERRUPTED = 130
    CLOSED_PIPE = 141


WORDS = {
    Exit.FAILURE: "failure",
    Exit.USAGE: "usage",
    Exit.DATA: "data",
    Exit.NOT_CONVERGED: "not converged",
    Exit.LIMIT: "limit",
    Exit.INTERRUPTED: "interrupted",
    Exit.CLOSED_PIPE: "closed pipe",
}


class CommandError(Exception):
    """A command ends with a given exit code."""

    def __init__(self, code: Exit, text: str) -> None:
        self.code = code
        super().__init__(text)


class ClosedPipe(Exception):
    """Whoever read our output has gone."""


def usage(who: str, must: str, got: object, advice: str = "") -> CommandError:
    """Return the error of a command line that cannot be meant."""
    from ..checks import sentence

    return CommandError(Exit.USAGE, sentence(who, must, got, advice))


def data_error(who: str, must: str, got: object, advice: str = "") -> CommandError:
    """Return the error of a file that cannot be used."""
    from ..checks import sentence

    return CommandError(Exit.DATA, sentence(who, must, got, advice))


def code_of(error: BaseException) -> Exit:
    """Return the exit code that an exception stands for."""
    if isinstance(error, CommandError):
        return error.code
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return Exit.INTERRUPTED
    if isinstance(error, ClosedPipe | BrokenPipeError):
        return Exit.CLOSED_PIPE
    if isinstance(error, click.ClickException):
        return Exit.USAGE if error.exit_code == Exit.USAGE else Exit.FAILURE
    return _code_of_library(error)


def _code_of_library(error: BaseException) -> Exit:
    from ..checks import DataError, FileError, InputError, KernelError

    if isinstance(error, MemoryError):
        return Exit.LIMIT
    if isinstance(error, KernelError):
        return Exit.USAGE
    if isinstance(error, DataError | FileError | InputError):
        return Exit.DATA
    return Exit.FAILURE


def text_of(error: BaseException) -> str:
    """Return the sentence for an exception; empty where nothing is to be said."""
    if isinstance(error, ClosedPipe | BrokenPipeError):
        return ""
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return "mercer: stopped by Ctrl-C. Files that were there before are as they were."
    if isinstance(error, click.ClickException):
        return _of_click(error)
    if isinstance(error, CommandError):
        return str(error)
    return _text_of_library(error)


def _text_of_library(error: BaseException) -> str:
    from ..checks import MercerError, sentence

    if isinstance(error, MemoryError) and not isinstance(error, MercerError):
        advice = "Set --memory-limit, or take fewer rows."
        return sentence("mercer", "there must be enough memory", str(error) or "none", advice)
    if isinstance(error, OSError) and not isinstance(error, MercerError):
        return _of_system(error)
    if isinstance(error, ModuleNotFoundError) and not isinstance(error, MercerError):
        advice = 'Install what is missing, for example with pip install "mercer[app]".'
        must = f"the package {error.name} must be installed"
        return sentence("mercer", must, "none", advice)
    if isinstance(error, MercerError):
        return in_options(str(error))
    advice = "This is a fault of mercer: please report it with the output of --debug."
    return sentence(
        "mercer", "a command must not fail so", f"{type(error).__name__}: {error}", advice
    )


# How advice for Python is written on a command line.
_IN_PYTHON = (
    (re.compile(r"""types=\{(?:'([^']*)'|"([^"]*)"): ["'](\w+)["']\}"""), _type_option),
    (re.compile(r"""\b(encoding|format|delimiter)=["']([^"']+)["']"""), _plain_option),
    (re.compile(r"\bmissing="), "--missing"),
    (re.compile(r"\bmemory_limit\b"), "--memory-limit"),
    (re.compile(r"\btime_limit\b"), "--time-limit"),
)


def in_options(text: str) -> str:
    """Return a sentence with options of the command line in the place of arguments of Python."""
    for pattern, words in _IN_PYTHON:
        text = pattern.sub(words, text)
    return text


def _of_click(error: click.ClickException) -> str:
    text = error.format_message()
    context = getattr(error, "ctx", None)
    if context is None:
        return f"mercer: {text}"
    if "\n" in text:  # which shows a place in an expression
        return f"{context.command_path}: {text}"
    return f"{context.command_path}: {text} Try '{context.command_path} --help'."


def _of_system(error: OSError) -> str:
    """Return the sentence for what the system refused."""
    from ..checks import sentence

    name = "" if error.filename is None else f" {str(error.filename)!r}"
    reason = error.strerror or type(error).__name__
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        advice = "Make room; a file that was there before is as it was."
        must = f"there must be room on the disk{' for' if name else ''}{name}"
        return sentence("mercer", must, reason, advice)
    return sentence("mercer", f"the file{name} must be readable or writable", reason)
