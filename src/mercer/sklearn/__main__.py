"""`python -m mercer.sklearn script.py ...` runs a program with mercer's estimators."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from .patching import patch_sklearn

USAGE = """\
usage: python -m mercer.sklearn SCRIPT [ARGUMENT ...]
       python -m mercer.sklearn -m MODULE [ARGUMENT ...]
       python -m mercer.sklearn -c CODE [ARGUMENT ...]

Runs a Python program unchanged; the estimators that it imports from scikit-learn are mercer's."""


def main() -> None:
    """Patch scikit-learn and run the program that the command line names."""
    given = sys.argv[1:]
    if not given or given[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if given else sys.stderr)
        raise SystemExit(0 if given else 2)
    takes_value = given[0] in ("-m", "-c")
    if takes_value and len(given) == 1:
        print(f"python -m mercer.sklearn: {given[0]} needs a value.\n\n{USAGE}", file=sys.stderr)
        raise SystemExit(2)
    patch_sklearn()
    if given[0] == "-m":
        sys.argv = given[1:]
        runpy.run_module(given[1], run_name="__main__", alter_sys=True)
    elif given[0] == "-c":
        sys.argv = ["-c", *given[2:]]
        exec(compile(given[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        run_file(Path(given[0]), given)


def run_file(script: Path, argv: list[str]) -> None:
    """Run a file as Python itself would: its folder comes first among those of modules."""
    if not script.exists():
        print(f"python -m mercer.sklearn: there is no file {script}.", file=sys.stderr)
        raise SystemExit(2)
    sys.argv = argv
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()
