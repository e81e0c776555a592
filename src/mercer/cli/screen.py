"""What a command shows: results on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import shlex
import sys
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .errors import WORDS, Exit

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from .bars import Bar

SCHEMA = 1  # the version of what --json prints
WIDTH = 100  # of lines that go to a file or to another program

# What could make a terminal do something: names and values of files are shown as they are.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def safe(text: object) -> str:
    """Return a text without characters that a terminal would obey."""
    return _CONTROL.sub("\ufffd", str(text))


class Screen:
    """Where a command writes to.

    as_json: one object of JSON is printed in the end, in the place of results for readers. quiet:
    only results, warnings and errors are shown. code: the exit code of a command that did its work.
    """

    def __init__(self, *, as_json: bool = False, debug: bool = False) -> None:
        self.start = time.monotonic()  # of the command, before anything large is loaded
        self.as_json, self.debug, self.quiet, self.verbosity = as_json, debug, False, 0
        self.command = ""
        self.args: list[str] = []
        self.code = Exit.OK
        self.results_to_stderr, self.has_bars = False, True
        self.result: dict[str, Any] = {}
        self.warnings: list[str] = []

    # --- consoles ---------------------------------------------------------------------------

    def _console(self, *, stderr: bool) -> Console:
        from rich.console import Console

        file = sys.stderr if stderr else sys.stdout
        width = None if file.isatty() else WIDTH
        return Console(file=file, width=width, highlight=False, markup=False, emoji=False)

    @property
    def line(self) -> str:
        """The command line as it was typed."""
        return shlex.join(["mercer", *self.args])

    @property
    def is_live(self) -> bool:
        """Whether bars may be drawn: on a terminal, and where they are wanted."""
        return sys.stderr.isatty() and self.has_bars and not self.quiet and not self.as_json

    # --- what is said -----------------------------------------------------------------------

    def show(self, *parts: RenderableType) -> None:
        """Print results for a reader; with --json they are only in the object."""
        if self.as_json:
            return
        console = self._console(stderr=self.results_to_stderr)
        file = console.file
        with contextlib.nullcontext() if file.isatty() else console.capture() as captured:
            for part in parts:
                is_text = isinstance(part, str)
                console.print(safe(part) if is_text else part, soft_wrap=is_text)
        if captured is not None:  # without the blanks that fill lines
            file.writelines(line.rstrip() + "\n" for line in captured.get().splitlines())

    def note(self, text: str) -> None:
        """Say something by the way, on standard error."""
        if not self.quiet:
            self._say(("", ""), text, "dim")

    def warn(self, text: str) -> None:
        """Say what should be minded, once."""
        text = safe(text)
        if text in self.warnings:
            return
        self.warnings.append(text)
        self._say(("warning: ", "bold yellow"), text)

    def fail(self, code: Exit, text: str) -> None:
        """Say why a command ends without its result."""
        if text:
            self._say(("error: ", "bold red"), text)
        if self.as_json:
            error = {"kind": WORDS.get(code, "failure"), "message": safe(text)}
            self._print_json(code, None, error)

    def problem(self, text: str) -> None:
        """Say why the exit code is not 0 although there is a result."""
        self.result["problem"] = text
        self._say(("error: ", "bold red"), text)

    def _say(self, mark: tuple[str, str], text: str, style: str = "") -> None:
        """Write a sentence to standard error; lines are broken on a terminal only."""
        from rich.text import Text

        console = self._console(stderr=True)
        line = Text.assemble(mark, (safe(text), style))
        console.print(line, soft_wrap=not console.is_terminal)

    def finish(self, code: Exit) -> None:
        """Print the object of --json."""
        if self.as_json and self.command:
            error = None
            if code != Exit.OK:
                message = self.result.pop("problem", "")
                error = {"kind": WORDS.get(code, "failure"), "message": message}
            self._print_json(code, self.result, error)

    def _print_json(
        self, code: Exit, result: dict[str, Any] | None, error: dict[str, str] | None
    ) -> None:
        from importlib.metadata import version

        found = {
            "version": SCHEMA,
            "mercer": version("mercer"),
            "command": self.command,
            "exit_code": int(code),
            "error": error,
            "warnings": self.warnings,
            "result": result,
        }
        file = sys.stderr if self.results_to_stderr else sys.stdout
        file.write(json.dumps(plain(found), allow_nan=False, ensure_ascii=False) + "\n")

    @contextlib.contextmanager
    def bar(self, what: str, seconds: float | None = None) -> Iterator[Bar]:
        """Show how far something has come; seconds: that it may take, where there is a limit."""
        from .bars import LiveBar, NoBar

        if not self.is_live:
            yield NoBar()
            return
        with LiveBar(self._console(stderr=True), what, seconds) as bar:
            yield bar


@contextlib.contextmanager
def listening(screen: Screen) -> Iterator[None]:
    """Show warnings of the library as sentences, and its records with -v."""
    logger, handler = logging.getLogger("mercer"), logging.StreamHandler(sys.stderr)
    before = logger.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *rest, **named: screen.warn(str(message))
        if screen.verbosity:
            logger.addHandler(handler)
            logger.setLevel(logging.INFO if screen.verbosity == 1 else logging.DEBUG)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)


def plain(value: Any) -> Any:
    """Return a value as data of JSON: arrays as lists, numbers that are not finite as null."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # of NumPy
        return plain(value.tolist())
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
