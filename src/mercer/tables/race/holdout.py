"""Judgement of candidates on rows that are kept aside, for tables with many rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from ...checks import Array
from ...fitting.costs import entry_seconds
from ...fitting.ridge.dense import dense_gram
from ...inputs import Matrix
from ...kernels import Kernel
from ...solvers.ridge.nystrom import DIRECT
from .judging import LEAST_SECONDS, TREES, Candidate, Judge, Judged, best_metrics, scores_of
from .ridges import HoldoutScores

USUAL_SIZE, MOST_SIZE = 4000, 6000
NEARLY = 1.5  # times that size, up to which candidates are fitted to all rows at once
FIT_TIME = 0.01  # of the time, that one fit may take
FIT_RATE = 1e11  # multiplications and additions per second of a factorisation
MOMENTS_RATE = 3e10  # the same, of the moments of few centres, each of which takes two
FEWEST_CENTRES, MOST_CENTRES = 200, 6000
CENTRES_SHARE = 0.5  # of the time, for passes over the values of the centres
MOST_WHOLE = 60_000  # rows whose K is kept in memory
PASSES = 25  # over K, that a fit takes
ENTRY_READ = 2.5e-10  # seconds to read one value of half of K


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

    @property
    def training_rows(self) -> list[Array]:
        """The rows that models which are judged are fitted to."""
        return [self.rows]

    @property
    def has_more(self) -> bool:
        """Whether there are more rows to learn from."""
        return len(self.splits.parts[0][0]) > self.size

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

    def promoted(self, judged: Judged, within: float) -> Judged:
        """Return a candidate fitted to all rows that are not kept aside; within: so many seconds.

        Its kernel stays, and its penalty unless rounding in single precision would hide it in the
        sum over so many rows. Where the time is too short for all of K, few centres do.
        """
        start, rows = time.monotonic(), self.splits.parts[0][0]
        hidden = len(rows) * float(np.finfo(np.float32).eps)
        candidate = replace(judged.candidate, penalty=max(judged.candidate.penalty, hidden))
        n, kernel, options = len(rows), judged.kernel, dict[str, object]()
        limit = max(within, LEAST_SECONDS) if np.isfinite(within) else None
        if limit is not None and (n > MOST_WHOLE or whole_seconds(n, self.width) > limit):
            options = {"solver": "nystrom", "n_centers": centres_for(n, self.width, limit)}
        model = self.fitted(candidate, kernel, rows, limit, **options)
        found = self._scored(candidate, kernel, self._scores(candidate, model), start)
        return replace(found, trained=n, model=model)


def whole_seconds(n: int, columns: int) -> float:
    """Return the seconds that conjugate gradients on all of K of n rows are likely to take."""
    return n * n * (entry_seconds(columns) + PASSES * ENTRY_READ)


def centres_for(n: int, columns: int, seconds: float) -> int:
    """Return how many centres a fit of n rows in so many seconds can have.

    Many take passes over their values, few the sum of their moments.
    """
    share = CENTRES_SHARE * seconds
    count = int(share / (PASSES * n * entry_seconds(columns)))
    if count <= DIRECT:
        count = min(count, int((share * MOMENTS_RATE / (2 * n)) ** 0.5))
    return min(max(count, FEWEST_CENTRES), MOST_CENTRES)


def size_for(rows: int, seconds: float | None) -> int:
    """Return how many of some rows candidates are fitted to first, in a race of so many seconds."""
    size = USUAL_SIZE
    if seconds is not None:
        size = int(min(max((3 * FIT_RATE * FIT_TIME * seconds) ** (1 / 3), 1000), MOST_SIZE))
    return rows if rows <= NEARLY * size else size
