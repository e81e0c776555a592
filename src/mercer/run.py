"""What a computation is told beside its problem: who asks for it, and within which limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .monitor import Monitor, warn


@dataclass(frozen=True, kw_only=True)
class Run:
    """One fit, or another computation that may take long.

    who: asks for it, in messages. seed: of whatever is random. memory_limit: as a user gave it;
    `limit_in_bytes` reads it. n_jobs: threads; None is all that are allowed. monitor: its clock,
    its time limit, its progress and its callback.
    """

    who: str
    seed: int = 0
    memory_limit: Any = "auto"
    n_jobs: int | None = None
    monitor: Monitor = field(default_factory=Monitor)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self.monitor.seconds

    def part(self, share: float) -> Run:
        """Return a run with a share of the time, from now on."""
        limit = self.monitor.time_limit
        return self._within(None if limit is None else share * limit)

    def rest(self) -> Run:
        """Return a run with the time that is left, which is never less than a tenth of all."""
        limit = self.monitor.time_limit
        return self._within(None if limit is None else max(limit - self.seconds, limit / 10))

    def _within(self, limit: float | None) -> Run:
        watch = self.monitor
        if watch.stages is not None:
            watch.stages.has_stopped = False
        monitor = Monitor(limit, watch.progress, watch.callback, watch.stages)
        return replace(self, monitor=monitor)

    def elsewhere(self) -> Run:
        """Return the run of a task in another process: silent, with the time that is left."""
        limit = self.monitor.time_limit
        left = None if limit is None else max(limit - self.seconds, 1e-3)
        return replace(self, monitor=Monitor(left))

    def warn(self, text: str, category: type[Warning] = UserWarning) -> None:
        """Warn at the line of the user that led here."""
        warn(text, category)
