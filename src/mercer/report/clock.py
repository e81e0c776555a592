"""The time that a report may take, and what was left out of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ..checks import MercerError
from ..monitor import Monitor, muted

Found = TypeVar("Found")


class NotShown(MercerError):
    """A part of a report cannot be shown; its text is the sentence that stands in its place."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A part of a report that is not there.

    Attributes
    ----------
    part : str
        What is left out.
    why : str
        The reason, in a sentence.
    """

    part: str
    why: str


NO_TIME = "There was no time for it within the time limit of the report."


@dataclass(kw_only=True)
class Clock:
    """Runs the parts of a report one after another, as long as there is time.

    monitor: its time limit and progress. parts: how many there are to be. A part has the share of
    the time that is left when it begins; what it does not need is for those after it.
    """

    monitor: Monitor
    parts: int
    left_out: list[LeftOut] = field(default_factory=list)
    _done: int = 0
    _until: float | None = None

    @property
    def left(self) -> float:
        """Seconds until the end of the report, or of the part that is running."""
        limit = self.monitor.time_limit if self._until is None else self._until
        return np.inf if limit is None else limit - self.monitor.seconds

    def poll(self) -> None:
        """Raise `NotShown` if the time of the part is over."""
        if self.left <= 0:
            raise NotShown(NO_TIME)

    def attempt(self, part: str, compute: Callable[[], Found], share: float = 1.0) -> Found | None:
        """Return what a part computes; None with a note where it cannot, or not in its time."""
        if self.monitor.progress is not None:
            self.monitor.progress(part, self._done / self.parts)
        self._done += 1
        self._until = None
        if self.monitor.time_limit is not None:
            self._until = self.monitor.seconds + share * max(self.left, 0.0)
        try:
            self.poll()
            with muted(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of fits to parts of the rows
                return compute()
        except (MercerError, np.linalg.LinAlgError) as error:
            self.left_out.append(LeftOut(part=part, why=str(error)))
            return None
        finally:
            self._until = None
