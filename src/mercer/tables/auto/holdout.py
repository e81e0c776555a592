"""Judgement of candidates on rows that are kept aside, for tables with many rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from ...checks import Array
from ...inputs import Matrix
from ...kernels import Kernel
from .judging import TREES, Candidate, Judge, Judged, best_metrics, scores_of
from .ridges import HoldoutScores, dense_gram

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
        """Return the candidate judged; of an "rfm" with several metrics."""
        start = time.monotonic()
        kernel = self.kernel_of(candidate)
        if candidate.learner == "ridge" and kernel is not None:
            scores = self._ridge(candidate, kernel)
            return [self.best(candidate, lambda one: self._scored(one, kernel, scores(one), start))]
        if candidate.learner == "rfm":
            return self._recursive(candidate, start)
        if candidate.learner == TREES:
            return [self._fitted(candidate, kernel, start)]
        return [self.best(candidate, lambda one: self._fitted(one, kernel, start))]

    def _ridge(self, candidate: Candidate, kernel: Kernel) -> Callable[[Candidate], Array]:
        """Return what gives the scores of a ridge model for any penalty."""
        sample = self.sample_of(candidate, self.rows)
        points, others = Matrix(sample.X), Matrix(self.views[candidate.view].X[self.splits.rows])
        scores = HoldoutScores(
            K=dense_gram(kernel, points, self.monitor),
            cross=dense_gram(kernel, points, self.monitor, others),
            targets=sample.targets,
            weight=sample.weight,
            monitor=self.monitor,
        )
        return lambda one: scores.at(one.penalty)

    def _recursive(self, candidate: Candidate, start: float) -> list[Judged]:
        train, held = self.rows, self.splits.rows
        places = np.arange(len(train)), np.arange(len(train), len(train) + len(held))
        search = self.metric_search(candidate, np.concatenate([train, held]), [places])
        return [
            self._scored(one, tried.kernel, np.asarray(tried.scores), start)
            for one, tried in best_metrics(search, candidate)
        ]

    def _fitted(self, candidate: Candidate, kernel: Kernel | None, start: float) -> Judged:
        model = self.fitted(candidate, kernel, self.rows)
        found = self._scored(candidate, kernel, self._scores(candidate, model), start)
        return replace(found, model=model)

    def _scores(self, candidate: Candidate, model: BaseEstimator) -> Array:
        return scores_of(model, self.views[candidate.view].X[self.splits.rows])

    def _scored(
        self, candidate: Candidate, kernel: Kernel | None, scores: Array, start: float
    ) -> Judged:
        found = self.judged(candidate, scores, time.monotonic() - start)
        return replace(found, trained=len(self.rows), kernel=kernel)

    def promoted(self, judged: Judged, within: float | None) -> Judged:
        """Return a candidate fitted to all rows that are not kept aside; within: so many seconds.

        Its kernel and its penalty stay.
        """
        start, candidate = time.monotonic(), judged.candidate
        rows = self.splits.parts[0][0]
        model = self.fitted(candidate, judged.kernel, rows, within)
        found = self._scored(candidate, judged.kernel, self._scores(candidate, model), start)
        return replace(found, trained=len(rows), model=model)


def centres_for(n: int, seconds: float) -> int:
    """Return how many centres a fit of n rows in so many seconds can have."""
    count = int(np.sqrt(seconds * CENTRE_RATE / n))
    return min(max(count, FEWEST_CENTRES), MOST_CENTRES)
