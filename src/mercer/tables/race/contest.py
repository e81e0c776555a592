"""Candidates are judged one after another, the most promising first, until the time is over."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ...checks import InputError, sentence
from ...jobs import each, processes
from ...monitor import Stopped, logger
from ...status import Status
from .holdout import HoldoutJudge
from .judging import RIDGES, TREES, Candidate, FoldJudge, Judged, sees_all_classes
from .pace import Limits, Pace
from .portfolio import FIRST, STANDARD, by_promise, by_turns, fixed, learned, machines, trees
from .results import Results
from .splits import Splits

SCREENED = 800  # rows on which kernels are compared first
SCREEN_SHARE = 0.25  # of the time
SCREENED_EACH = 4  # kernels for each of a given number of candidates
MEMBERS = 8  # that are likely to be fitted to all rows
PROMOTED_SHARE = 0.5  # of the time, for fits to all of many rows
CAREFUL = 0.85  # of the time that is left, for a fit that takes long to stop
PROMOTED = 3  # candidates that are fitted to all of many rows where there is no clock
RESORT = Candidate(learner="ridge", view=STANDARD, family="linear", width=1.0)
RESORT_ROWS = 500
TREE_WORK = 4e6  # of boosted trees, per row


@dataclass(kw_only=True)
class Race(ABC):
    """Judges candidates within limits.

    skipped: kinds of candidates for which there was no time. cancelled: whether a callback ended
    the race.
    """

    judge: FoldJudge | HoldoutJudge
    limits: Limits
    results: Results = field(default_factory=Results)
    skipped: set[str] = field(default_factory=set)
    cancelled: bool = False
    pace: Pace = field(default_factory=Pace)

    def run(self) -> Results:
        """Judge as many candidates as the limits allow."""
        try:
            for batch in self._batches():
                if self.limits.is_full(len(self.results)):
                    break
                in_time = self._in_time(batch[: self.limits.room(len(self.results))])
                judge = self.judge
                if len(in_time) > 1:
                    judge = replace(judge, run=judge.run.elsewhere())
                found = each(_judged, in_time, (judge,))
                for candidate, (judged, seconds) in zip(in_time, found, strict=False):
                    self._take(candidate, judged, seconds)
            self._finish()
        except Stopped as stopped:
            self.cancelled = stopped.reason == Status.CANCELLED
            if not self.cancelled:
                self.skipped.add("the last candidate")
        if not self.results.kernel_models():
            self._warn_of_haste()
            self.results.add(self._last_resort())
        return self.results

    def _in_time(self, batch: list[Candidate]) -> list[Candidate]:
        """Return the candidates for which there is time; note the others."""
        left = self.limits.left - self.reserve()
        late = [one for one in batch if self._expected(one) > left]
        self.skipped.update(one.learner for one in late)
        return [one for one in batch if one not in late]

    def _take(self, candidate: Candidate, found: list[Judged], seconds: float) -> None:
        self.results.add(found)
        self.pace.note(candidate.learner, self.work(candidate), seconds)
        loss = min(one.loss for one in found)
        record = {"candidate": candidate.name, "loss": loss, "judged": len(self.results)}
        if self.limits.seconds is not None:
            record |= {"stage": self._progress(), "fraction": self.limits.share}
        self.judge.monitor.iteration(record)

    def _warn_of_haste(self) -> None:
        run, seconds = self.judge.run, self.limits.seconds
        if seconds is not None:
            must = "time_limit must be long enough for one candidate"
            advice = "The model is a rough one, of few rows. Raise time_limit."
            run.warn(sentence(run.who, must, f"{seconds:g} s", advice))

    def _progress(self) -> str:
        """Return how far the race has come, in a few words."""
        best = self.results.ranked()[0] if len(self.results) else None
        told = "" if best is None else f", best loss {best.loss:.4g}"
        return f"{len(self.results)} candidates{told}, {max(self.limits.left, 0):.0f} s left,"

    def _expected(self, candidate: Candidate) -> float:
        return self.pace.expected(candidate.learner, self.work(candidate))

    def reserve(self) -> float:
        """Return the seconds that are needed after the last candidate, to fit members."""
        return sum(one.fit_seconds for one in self.results.ranked()[:MEMBERS])

    @abstractmethod
    def work(self, candidate: Candidate) -> float:
        """Return how much is to be computed for a candidate, in units of its learner."""

    @abstractmethod
    def _batches(self) -> Iterator[list[Candidate]]:
        """Yield candidates; what comes later depends on how the former were judged.

        Several come at once where none of them depends on how the others are judged.
        """

    @abstractmethod
    def _finish(self) -> None:
        """Do what comes after the last candidate."""

    @abstractmethod
    def _last_resort(self) -> list[Judged]:
        """Return a candidate judged in next to no time, where there was none for others."""

    def _others(self) -> Iterator[Candidate]:
        """Yield trees for comparison, then learned metrics and machines by turns."""
        task, best = self.judge.task, self.results.kernel_models()
        if not best:
            return
        metrics = learned(best[0], self.results.widths(), self.judge.width)
        if not sees_all_classes(self.judge):
            yield from metrics
            return
        yield from trees(task)
        yield from by_turns(metrics, machines(self.results.ridges(), task))


class FoldRace(Race):
    """A race on a table of which all rows are judged."""

    judge: FoldJudge

    def _batches(self) -> Iterator[list[Candidate]]:
        listed, count = fixed(self.judge.task.kinds), processes()
        yield from (listed[first : first + count] for first in range(0, len(listed), count))
        yield from ([candidate] for candidate in self._others())

    def _finish(self) -> None:
        """All is done: members are fitted later."""

    def _last_resort(self) -> list[Judged]:
        return self.judge.without_limit().judge(RESORT)

    def work(self, candidate: Candidate) -> float:
        """Return the multiplications and additions, roughly."""
        sizes = [len(train) for train, _ in self.judge.splits.parts]
        inside, n = sum(size**3 for size in sizes), len(self.judge.task)
        if candidate.learner == TREES:
            return TREE_WORK * sum(sizes)
        if candidate.learner == "ridge":
            return 4 / 3 * (2 * n**3 if self.judge.splits.one_by_one else inside)
        return inside / 3 * (candidate.steps + 1 if candidate.learner == "rfm" else 4)


@dataclass(kw_only=True)
class HoldoutRace(Race):
    """A race on a table of which some rows are kept aside: on few rows first, then on all.

    screened: how fixed kernels did on the first few rows.
    """

    judge: HoldoutJudge
    screened: Results = field(default_factory=Results)

    def _batches(self) -> Iterator[list[Candidate]]:
        yield from ([candidate] for candidate in self._order())

    def _order(self) -> Iterator[Candidate]:
        listed = self._screened()
        yield from listed[:FIRST]
        rest = iter(listed[FIRST:])
        for candidate in self._others():
            yield candidate
            yield from (one for _, one in zip(range(2), rest, strict=False))
        yield from rest

    def _screened(self) -> list[Candidate]:
        """Return the fixed kernels by how they do on few rows, as many as are tried in time."""
        small = self._few()
        until = self.limits.left * (1 - SCREEN_SHARE)
        for candidate in fixed(self.judge.task.kinds):
            known = self.screened.judged
            enough = self.limits.is_full(len(known) // SCREENED_EACH)
            if known and (enough or self.limits.left < until):
                break
            penalty = known[-1].candidate.penalty if known else candidate.penalty
            self.screened.add(small.judge(replace(candidate, penalty=penalty)))
        return by_promise(self.screened.judged)

    def _few(self) -> FoldJudge:
        """Return a judge of few rows, each left out by itself."""
        judge = self.judge
        rows = np.sort(judge.rows[:SCREENED])
        return FoldJudge(
            task=judge.task.take(rows),
            views={name: view.take(rows) for name, view in judge.views.items()},
            splits=Splits.of_single_rows(len(rows)),
            run=judge.run,
        )

    def work(self, candidate: Candidate) -> float:
        """Return the multiplications and additions, roughly."""
        rows = len(self.judge.rows)
        if candidate.learner == TREES:
            return TREE_WORK * rows
        return rows**3 / 3 * (candidate.steps + 1 if candidate.learner == "rfm" else 4)

    def reserve(self) -> float:
        """Return the seconds for members or, of many rows, for fits to all of them.

        Before there is a candidate to be fitted nothing is kept.
        """
        if self.limits.seconds is None or not self.judge.has_more or not len(self.results):
            return super().reserve()
        return PROMOTED_SHARE * self.limits.seconds

    def _finish(self) -> None:
        """Fit the best candidates, one of each kind, to all of many rows."""
        if not self.judge.has_more or not len(self.results):
            return
        member = self.results.ranked()[0].fit_seconds  # which may have to be fitted in the end
        seen, longest = set[tuple[str, str]](), 0.0
        for one in self.results.kernel_models():
            kind = (one.candidate.family, one.candidate.learner)
            if kind in seen or one.candidate.learner not in RIDGES:
                continue
            if self.limits.seconds is None and len(seen) >= PROMOTED:
                break
            if seen and self.limits.left < 1.2 * longest:
                break
            seen.add(kind)
            start = time.monotonic()
            try:
                within = CAREFUL * (self.limits.left - member)
                self.results.add([self.judge.promoted(one, within)])
            except InputError as error:  # rounding hides its penalty where there are more rows
                logger.info("%s with all rows: %s", one.name, error)
                self.skipped.add(one.candidate.learner)
            longest = max(longest, time.monotonic() - start)

    def _last_resort(self) -> list[Judged]:
        known = self.screened.ranked()
        candidate = known[0].candidate if known else RESORT
        return replace(self.judge.without_limit(), size=RESORT_ROWS).judge(candidate)


def _judged(candidate: Candidate, judge: FoldJudge | HoldoutJudge) -> tuple[list[Judged], float]:
    """Return a candidate judged, and the seconds that this took."""
    start = time.monotonic()
    found = judge.judge(candidate)
    return found, time.monotonic() - start
