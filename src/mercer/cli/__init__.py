"""The command line `mercer`.

Only this room prints. Whatever a command needs beside click is loaded when the command runs, so
that `mercer --help` is there at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

__all__ = ["main"]

NEEDED = ("click", "rich", "polars")


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code.

    Parameters
    ----------
    args : sequence of str, default=None
        The words after `mercer`; None takes those that the process was started with.

    Raises
    ------
    SystemExit
        Always, with the exit code: 0 ok, 1 failure, 2 usage, 3 data, 4 not converged with
        `--strict`, 5 limit refused, 130 Ctrl-C, 141 closed pipe.

    Examples
    --------
    >>> from mercer.cli import main
    >>> try:
    ...     main(["--version"])  # doctest: +ELLIPSIS
    ... except SystemExit as end:
    ...     print(end.code)
    mercer ...
    0
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"mercer: the command line needs {', '.join(NEEDED)}; got no {', no '.join(missing)}. "
            'Install what is missing: pip install "mercer[app]".\n'
        )
        sys.exit(1)
    from .run import run

    sys.exit(run(sys.argv[1:] if args is None else args))
