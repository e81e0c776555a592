"""Options that commands share, and what their values may be."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .errors import ClosedPipe
from .screen import Screen, listening

if TYPE_CHECKING:
    from ..kernels import Kernel

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # older ones do not say of what they are

Function = TypeVar("Function", bound=Callable[..., Any])

FORMATS = ("csv", "tsv", "parquet", "jsonl", "svmlight", "npy", "npz", "trees", "fasta", "tu")
COLUMN_KINDS = ("number", "boolean", "category", "date", "text", "drop")
_TIME = re.compile(r"([0-9]*\.?[0-9]+)\s*(s|sec|m|min|h)?", re.ASCII)
_UNITS = {None: 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class KernelType(ParamType):
    """A kernel as an expression."""

    name = "expression"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Kernel:
        """Return the kernel, or say where the expression is wrong."""
        from ..checks import MercerError
        from ..kernels import Kernel, parse

        if isinstance(value, Kernel):
            return value
        try:
            return parse(value)
        except MercerError as error:
            self.fail(str(error), param, ctx)


class MemoryType(ParamType):
    """An amount of memory such as 4GB."""

    name = "memory"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text, once it is known to be an amount."""
        from ..checks import InputError, memory_limit

        try:
            memory_limit("--memory-limit", value)
        except InputError as error:
            self.fail(str(error), param, ctx)
        return str(value)


class TimeType(ParamType):
    """A time such as 60, 90s, 5m or 1h."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds."""
        if isinstance(value, int | float):
            return float(value)
        found = _TIME.fullmatch(value.strip().lower())
        if found is None or float(found[1]) <= 0:
            self.fail(f"it must be a time such as 60, 90s, 5m or 1h; got {value!r}.", param, ctx)
        return float(found[1]) * _UNITS[found[2]]


class PairType(ParamType):
    """NAME=VALUE."""

    def __init__(self, value: str, allowed: tuple[str, ...] = ()) -> None:
        self.name, self.allowed = f"NAME={value}", allowed

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return name and value."""
        if isinstance(value, tuple):
            return value
        name, equals, word = value.rpartition("=")
        if not (name and equals and word):
            self.fail(f"it must be {self.name}; got {value!r}.", param, ctx)
        if self.allowed and word not in self.allowed:
            known = ", ".join(self.allowed)
            self.fail(f"the word after = must be one of {known}; got {word!r}.", param, ctx)
        return name, word


def several(options: Sequence[Callable[[Any], Any]]) -> Callable[[Function], Function]:
    """Return a decorator that adds options in this order."""

    def add(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


COMMON = several(
    [
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("-q", "--quiet", is_flag=True, help="No progress, no remarks."),
        click.option("-v", "--verbose", count=True, help="Tell more; -vv tells most."),
        click.option("--debug", is_flag=True, help="Show a traceback when something fails."),
    ]
)
READING = several(
    [
        click.option(
            "--format",
            "data_format",
            type=click.Choice(FORMATS),
            help="What DATA is, where its name does not tell.",
        ),
        click.option("--delimiter", metavar="C", help="What separates the columns of a CSV file."),
        click.option(
            "--encoding", metavar="NAME", help="The encoding of a text file, such as latin-1."
        ),
        click.option("--missing", multiple=True, help="A text that stands for a missing value."),
        click.option("--no-header", is_flag=True, help="The first line of a CSV file is data."),
    ]
)
FORCE = click.option("--force", is_flag=True, help="Replace files that exist.")
SEED = click.option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    metavar="N",
    default=0,
    help="Of whatever is random; else 0.",
)
MEMORY = click.option(
    "--memory-limit",
    type=MemoryType(),
    default="auto",
    help="Such as 4GB; else a share of what is free.",
)
KERNEL = click.option(
    "--kernel",
    type=KernelType(),
    help='Such as "Gaussian(gamma=0.05) + (Linear() + 1)**2", of rows as numbers.',
)


def _with_common(function: Any) -> Any:
    """Return a function with the options of all commands after its own."""
    own = list(getattr(function, "__click_params__", []))
    function.__click_params__ = []
    COMMON(function)
    function.__click_params__ += own  # click shows the last first
    return function


def as_command(
    name: str, summary: str, **settings: Any
) -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator that makes a command of a function of the screen and the options.

    summary: what `mercer --help` shows of it.
    """

    def make(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def run(**options: Any) -> None:
            screen = click.get_current_context().find_object(Screen) or Screen()
            screen.command = name
            screen.as_json, screen.quiet = options.pop("as_json"), options.pop("quiet")
            screen.verbosity, screen.debug = options.pop("verbose"), options.pop("debug")
            try:
                with listening(screen):
                    function(screen, **options)
            except BrokenPipeError:  # click would make a failure of it
                raise ClosedPipe from None

        context = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
        decorate: Callable[[Any], click.Command] = click.command(
            name, short_help=summary, context_settings=context, **settings
        )
        return decorate(_with_common(run))

    return make
