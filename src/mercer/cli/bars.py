"""Bars that show how far a command has come, with the time that is left."""

from __future__ import annotations

from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress_bar import ProgressBar
from rich.text import Text


class Bar(Protocol):
    """What a command tells while it works."""

    def tell(self, text: str, done: float | None = None) -> None:
        """Say what is happening; done: the share that is done, where it is known."""


class NoBar:
    """Says nothing."""

    def tell(self, text: str, done: float | None = None) -> None:
        """Say nothing."""


class _Clock(BarColumn):
    """A bar that fills with the time, where there is a limit, or with what is done."""

    def render(self, task: Task) -> ProgressBar:
        """Return the bar of a task."""
        limit = task.fields["seconds"]
        if limit is None:
            return super().render(task)
        elapsed = min(task.elapsed or 0.0, limit)
        return ProgressBar(total=limit, completed=elapsed, width=self.bar_width)


class _Left(ProgressColumn):
    """The time that is left."""

    def render(self, task: Task) -> Text:
        """Return the time in words."""
        limit, elapsed = task.fields["seconds"], task.elapsed or 0.0
        left = task.time_remaining if limit is None else max(limit - elapsed, 0.0)
        if left is None:
            return Text(f"{_time(elapsed)} so far", style="dim")
        return Text(f"{_time(left)} left", style="dim")


def _time(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60:02d} s"


class LiveBar:
    """A line on a terminal that goes away when the work is done."""

    def __init__(self, console: Console, what: str, seconds: float | None) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.fields[what]}", markup=False),
            _Clock(bar_width=24),
            _Left(),
            TextColumn("{task.description}", markup=False, style="dim"),
            console=console,
            transient=True,
        )
        total = None if seconds is None else 1.0
        self._task = self._progress.add_task("", total=total, what=what, seconds=seconds)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def tell(self, text: str, done: float | None = None) -> None:
        """Say what is happening."""
        if done is not None:
            self._progress.update(self._task, total=1.0, completed=done)
        self._progress.update(self._task, description=text)
