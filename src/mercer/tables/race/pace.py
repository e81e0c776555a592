"""How much time there is, and how fast this machine is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...monitor import Monitor

RATE = 3e10  # multiplications and additions per second, before a learner was timed


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long a race may take: as long as a monitor says, or so many candidates."""

    monitor: Monitor
    candidates: int | None

    @property
    def seconds(self) -> float | None:
        """Seconds from the start; None where there is no clock."""
        return self.monitor.time_limit

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return np.inf if self.seconds is None else self.seconds - self.monitor.seconds

    @property
    def share(self) -> float:
        """The share of the time that is over."""
        return 0.0 if self.seconds is None else min(self.monitor.seconds / self.seconds, 1.0)

    def room(self, judged: int) -> int | None:
        """Return how many more candidates there may be; None: as many as there are."""
        return None if self.candidates is None else max(self.candidates - judged, 0)

    def is_full(self, judged: int) -> bool:
        """Return whether there have been as many candidates as there may be."""
        return self.room(judged) == 0


@dataclass(kw_only=True)
class Pace:
    """Seconds per unit of work of each learner, as measured last."""

    rates: dict[str, float] = field(default_factory=dict)

    def note(self, learner: str, work: float, seconds: float) -> None:
        """Remember how long some work took."""
        self.rates[learner] = seconds / work

    def expected(self, learner: str, work: float) -> float:
        """Return the seconds that some work is likely to take."""
        known = self.rates.get(learner) or self.rates.get("ridge") or 1 / RATE
        return work * known
