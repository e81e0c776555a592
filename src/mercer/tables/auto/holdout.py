"""Judgement of candidates on rows that are kept aside, for tables with many rows."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from ...checks import Array
from ...kernels import Kernel
from .judging import TREES, Candidate, Judge, Judged, best_metrics, scores_of

FEWEST_CENTRES, MOST_CENTRES = 500, 5000
CENTRE_RATE = 4e10  # multiplications and additions per second with few centres


@dataclass(frozen=True, kw_only=True)
class HoldoutJudge(Judge):
    """Judges rows that are kept aside by models of some of the others.

    size: how many others, in the order of the splits, which is random.
    """

    size: int

    @property
    def rows(self) -> Array:
        """The rows that models are fitted to."""
        return self.splits.parts[0][0][: self.size]

    def judge(self, candidate: Candidate) -> list[Judged]:
        """Return the candidate judged; of an "rfm" one for each number of steps."""
        start = time.monotonic()
        if candidate.learner != "rfm":
            kernel = self.kernel_of(candidate)
            if candidate.learner == TREES:
                return [self.tried(candidate, kernel, start)]
            return [self.best(candidate, lambda one: self.tried(one, kernel, start))]
        train, held = self.rows, self.splits.rows
        places = np.arange(len(train)), np.arange(len(train), len(train) + len(held))
        search = self.metric_search(candidate, np.concatenate([train, held]), [places])
        return [
            self.tried(one, found.kernel, start) for one, found in best_metrics(search, candidate)
        ]

    def tried(self, candidate: Candidate, kernel: Kernel | None, start: float) -> Judged:
        """Return a candidate judged with its penalty."""
        return self._judged(candidate, kernel, self.fitted(candidate, kernel, self.rows), start)

    def promoted(self, judged: Judged, within: float | None) -> Judged:
        """Return a candidate fitted to all rows that are not kept aside; within: so many seconds.

        Its kernel and its penalty stay.
        """
        start = time.monotonic()
        rows = self.splits.parts[0][0]
        model = self.fitted(judged.candidate, judged.kernel, rows, within)
        found = self._judged(judged.candidate, judged.kernel, model, start)
        return replace(found, trained=len(rows))

    def _judged(
        self, candidate: Candidate, kernel: Kernel | None, model: BaseEstimator, start: float
    ) -> Judged:
        held = self.splits.rows
        scores = scores_of(model, self.views[candidate.view].X[held])
        found = self.judged(candidate, scores, time.monotonic() - start)
        return replace(found, trained=len(self.rows), kernel=kernel, model=model)


def centres_for(n: int, seconds: float) -> int:
    """Return how many centres a fit of n rows in so many seconds can have."""
    count = int(np.sqrt(seconds * CENTRE_RATE / n))
    return min(max(count, FEWEST_CENTRES), MOST_CENTRES)
