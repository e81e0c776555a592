"""One object through every long computation: stop, time limit, progress, callbacks, checkpoints.

Here is also what mercer says besides errors: records of `logger`, and warnings.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

from . import checks
from .checks import MercerError
from .stages import Stage, Stages, State
from .status import Status

logger = logging.getLogger("mercer")

KEPT = 2**28  # bytes of a result that is worth writing to each checkpoint

# Packages through which a user's line may lead to ours: warnings are not about their lines.
_BETWEEN = (__name__.partition(".")[0], "sklearn", "sklearnex", "joblib")


class Line(NamedTuple):
    """A line of a program, as `warnings.warn_explicit` takes it."""

    filename: str
    lineno: int
    module: str
    registry: dict[Any, Any]


class _Speaker(threading.local):
    """Whose line the warnings of a thread are about; None: the one that led there."""

    line: Line | None = None
    is_muted: bool = False


_speaker = _Speaker()


def user_line() -> Line:
    """Return the line outside mercer and scikit-learn that led here; if none did, the first."""
    if _speaker.line is not None:
        return _speaker.line
    frame = sys._getframe(1)
    while frame.f_back is not None and _name(frame).partition(".")[0] in _BETWEEN:
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    return Line(frame.f_code.co_filename, frame.f_lineno, _name(frame), registry)


def speak_for(line: Line) -> None:
    """Make warnings of this thread, one that we started, be about a line that led to it."""
    _speaker.line = line


def warn(text: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user that led here, and leave a record.

    The record is of level INFO: whoever reads the warning need not read it twice.
    """
    logger.info("warning: %s", text)
    if not _speaker.is_muted:
        warnings.warn_explicit(text, category, *user_line())


@contextmanager
def muted() -> Iterator[None]:
    """Leave only records of what this thread would warn of: of fits that are a part of another."""
    before, _speaker.is_muted = _speaker.is_muted, True
    try:
        yield
    finally:
        _speaker.is_muted = before


def _name(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "<string>")


class Stopped(MercerError):
    """A computation was asked to stop; `reason` is "time limit" or "cancelled"."""

    def __init__(self, reason: Status) -> None:
        self.reason = reason
        super().__init__(f"stopped: {reason}")

    def __reduce__(self) -> tuple[type[Stopped], tuple[Status]]:
        return Stopped, (self.reason,)  # from another process, too


@dataclass
class Monitor:
    """Watches a computation and can end it.

    time_limit: seconds from `start`. progress: called with (what, fraction done).
    callback: called after each iteration with its record; returning True asks to stop.
    stages: keep what another process would need to go on; None: nobody will.
    """

    time_limit: float | None = None
    progress: Callable[[str, float], None] | None = None
    callback: Callable[[dict[str, Any]], bool | None] | None = None
    stages: Stages | None = None
    _started: float = field(default_factory=time.monotonic, init=False, repr=False)
    _cancelled: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.time_limit is not None:
            self.time_limit = checks.number("Monitor", "time_limit", self.time_limit, above=0)

    def start(self) -> Monitor:
        """Begin to count time."""
        self._started = time.monotonic()
        return self

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def cancel(self) -> None:
        """Ask the computation to stop; safe from another thread."""
        self._cancelled = True

    def stop_reason(self) -> Status | None:
        """Return why the computation should stop, or None."""
        if self._cancelled:
            return Status.CANCELLED
        if self.time_limit is not None and self.seconds >= self.time_limit:
            return Status.TIME_LIMIT
        return None

    def quiet(self) -> Monitor:
        """Return the monitor of a part of the work: it stops with this one, and tells nothing."""
        return _Quiet(self)

    def poll(self) -> None:
        """Raise `Stopped` if the computation should stop; where it stands is kept."""
        reason = self.stop_reason()
        if reason is not None:
            if self.stages is not None:
                self.stages.stop()
            raise Stopped(reason)

    def report(self, what: str, fraction: float) -> None:
        """Tell how far a stage has come, and stop it if asked to."""
        if self.progress is not None:
            self.progress(what, fraction)
        self.poll()

    def iteration(self, record: dict[str, Any]) -> None:
        """Note a finished iteration: callback, then stop if asked to."""
        if self.progress is not None and "fraction" in record:
            self.progress(record.get("stage", "solve"), record["fraction"])
        if self.callback is not None and self.callback(record):
            self.cancel()
        self.poll()

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Begin a stage of the work, which may be known from an earlier process."""
        if self.stages is None:
            yield Stage(name)
        else:
            with self.stages.stage(name) as stage:
                yield stage

    def kept(self, name: str, make: Callable[[], State]) -> State:
        """Return what `make` returns, or what it has returned in an earlier process.

        What is too large to be written again and again is made again instead.
        """
        with self.stage(name) as stage:
            if stage.known is not None:
                return stage.known
            found = make()
            if sum(value.nbytes for value in found.values() if hasattr(value, "nbytes")) <= KEPT:
                stage.reached(found)
            return found


class _Quiet(Monitor):
    """The monitor of a part of the work of another."""

    def __init__(self, whole: Monitor) -> None:
        super().__init__()
        self._whole = whole

    def stop_reason(self) -> Status | None:
        return self._whole.stop_reason()


def to_stderr(who: str) -> Callable[[str, float], None]:
    """Return a `progress` that keeps one line on stderr up to date."""
    shown = ""

    def show(what: str, fraction: float) -> None:
        nonlocal shown
        text = f"{who}: {what} {100 * fraction:3.0f} %"
        if text != shown and sys.stderr is not None:
            end = "\n" if fraction >= 1 else ""
            sys.stderr.write(f"\r{text:<60}{end}")
            sys.stderr.flush()
            shown = text

    return show
