"""The command line called within a test, or as a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from click.testing import CliRunner

from mercer.cli.run import run

QUICK = ("--max-candidates", "2", "--no-report", "--quiet")  # a fit in a second, the same each time


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it wrote."""

    code: int
    data: bytes
    err: str

    @property
    def out(self):
        """Standard output as text."""
        return self.data.decode()

    @property
    def json(self):
        """The object of --json, which is all that standard output has."""
        return json.loads(self.out)


def call(*args, stdin=None):
    """Run a command in this process, as the entry point does."""
    with CliRunner().isolation(input=stdin) as streams:
        code = run([str(arg) for arg in args])
        sys.stdout.flush()
        out, err = streams[0].getvalue(), streams[1].getvalue()
    return Ended(code, out, err.decode())


def start(*args, **options):
    """Start a command as a process of its own, in the same environment."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    words = [sys.executable, "-m", "mercer", *map(str, args)]
    return subprocess.Popen(words, env=environment, **{**pipes, **options})
