"""What a terminal shows: bars while it works, colours, nothing of a bar in the end."""

import os
import pty
import select
import subprocess
import sys

import pytest

from mercer.cli.bars import LiveBar, NoBar
from mercer.cli.screen import Screen


def on_terminal(*words):
    """Run a command whose output is a terminal; return its exit code and all it has written."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "mercer", *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    written = b""
    while True:
        ready, _, _ = select.select([ours], [], [], 120)
        try:
            data = os.read(ours, 65536) if ready else b""
        except OSError:  # the terminal is closed
            data = b""
        if not data:
            break
        written += data
    os.close(ours)
    return process.wait(timeout=60), written.decode()


@pytest.fixture(scope="module")
def shown(home, tmp_path_factory):
    out = tmp_path_factory.mktemp("terminal") / "m.mercer"
    words = ("fit", home / "shop.csv", "-t", "sold", "--time-limit", "6", "--no-report")
    return on_terminal(*words, "--out", out)


def test_a_terminal_sees_a_bar_with_the_time_that_is_left(shown):
    code, text = shown
    assert code == 0
    assert "Fitting" in text
    assert " s left" in text
    assert "candidates" in text
    assert "\x1b[1m" in text  # bold headings


def test_the_bar_goes_away(shown):
    _, text = shown
    last = text.rpartition("Files")[2]
    assert "Fitting" not in last
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h")  # the cursor is back


def test_without_a_terminal_there_is_no_bar(capsys):
    with Screen().bar("Working", 5.0) as bar:
        assert isinstance(bar, NoBar)
        bar.tell("hello", 0.5)
    assert capsys.readouterr() == ("", "")


def test_a_bar_fills_with_time_or_with_what_is_done():
    from io import StringIO

    from rich.console import Console

    for seconds, word in ((100.0, "left"), (None, "so far")):
        file = StringIO()
        console = Console(file=file, force_terminal=True, width=90, color_system=None)
        with LiveBar(console, "Working", seconds) as bar:
            bar.tell("a part", None if seconds is None else 0.5)
        assert "Working" in file.getvalue()
        assert "a part" in file.getvalue()
        assert word in file.getvalue()
