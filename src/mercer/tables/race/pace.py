"""How much time there is, and how fast this machine is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

RATE = 3e10  # multiplications and additions per second, before a learner was timed


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long a race may take: so many seconds from the start, or so many candidates.

    started: a moment of `time.monotonic`.
    """

    started: float
    seconds: float | None
    candidates: int | None

    @property
    def left(self) -> float:
        """Seconds that are left."""
        if self.seconds is None:
            return np.inf
        return self.started + self.seconds - time.monotonic()

    @property
    def share(self) -> float:
        """The share of the time that is over."""
        if self.seconds is None:
            return 0.0
        return min((time.monotonic() - self.started) / self.seconds, 1.0)

    def is_full(self, judged: int) -> bool:
        """Return whether there have been as many candidates as there may be."""
        return self.candidates is not None and judged >= self.candidates


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
