"""Candidates are judged one after another, the most promising first, until the time is over."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ...checks import Array
from ...monitor import Stopped
from .greedy import bagged_weights
from .holdout import HoldoutJudge
from .judging import TREES, Candidate, FoldJudge, Judge, Judged
from .portfolio import FIRST, STANDARD, WIDE, by_promise, by_turns, fixed, learned, machines, trees

SCREENED = 800  # rows on which kernels are compared where there are many more
SCREEN_FROM = 2000
SCREEN_SHARE = 0.25  # of the time
RATE = 3e10  # multiplications and additions per second of a solver, before one was timed
MEMBERS = 8  # that are likely to be fitted to all rows
TREE_WORK = 4e6  # of boosted trees, per row, before they were timed
RESORT = Candidate(learner="ridge", view=STANDARD, family="linear", width=1.0)
RESORT_ROWS = 500
PROMOTED = 3  # candidates that are fitted to all rows where there is no clock


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long a race may take: so many seconds from the start, or so many candidates."""

    started: float
    seconds: float | None
    candidates: int | None

    @property
    def left(self) -> float:
        """Seconds that are left."""
        if self.seconds is None:
            return np.inf
        return self.started + self.seconds - time.monotonic()


@dataclass(kw_only=True)
class Race(ABC):
    """Judges candidates within limits.

    judged: what was found. skipped: kinds of candidates for which there was no time.
    """

    judge: Judge
    limits: Limits
    judged: list[Judged] = field(default_factory=list)
    skipped: set[str] = field(default_factory=set)
    _rates: dict[str, float] = field(default_factory=dict)

    def run(self) -> Race:
        """Judge as many candidates as the limits allow."""
        try:
            for candidate in self._order():
                if self._is_over():
                    break
                if self.expected(candidate) > self.limits.left - self.reserve():
                    self.skipped.add(candidate.learner)
                    continue
                self._take(candidate)
            self._finish()
        except Stopped:
            self.skipped.add("the last one")
        if not self.kernel_models():
            self.judged += self._last_resort()
        return self

    def _is_over(self) -> bool:
        most = self.limits.candidates
        return most is not None and len(self.judged) >= most

    def _take(self, candidate: Candidate) -> None:
        start = time.monotonic()
        found = self._judge(candidate)
        self.judged += [one for one in found if np.isfinite(one.loss)]
        self._rates[candidate.learner] = (time.monotonic() - start) / self.work(candidate)
        loss = min(one.loss for one in found)
        self.judge.monitor.iteration({"candidate": candidate.name, "loss": loss})

    @abstractmethod
    def _judge(self, candidate: Candidate) -> list[Judged]: ...

    @abstractmethod
    def _finish(self) -> None:
        """Do what comes after the last candidate."""

    @abstractmethod
    def _last_resort(self) -> list[Judged]:
        """Return a candidate judged in next to no time, where there was none for others."""

    # --- what it costs ----------------------------------------------------------------------

    @abstractmethod
    def work(self, candidate: Candidate) -> float:
        """Return how much is to be computed for a candidate, in units of its learner."""

    def expected(self, candidate: Candidate) -> float:
        """Return the seconds that a candidate is likely to take."""
        known = self._rates.get(candidate.learner) or self._rates.get("ridge") or 1 / RATE
        return self.work(candidate) * known

    def reserve(self) -> float:
        """Return the seconds that are needed after the last candidate, to fit members."""
        best = sorted(self.judged, key=lambda one: one.loss)[:MEMBERS]
        return sum(one.fit_seconds for one in best)

    # --- who is next ------------------------------------------------------------------------

    def _order(self) -> Iterator[Candidate]:
        """Yield candidates; what comes later depends on how the former were judged."""
        listed = fixed(self.judge.task.kinds)
        first = len(listed)
        if len(self.judge.task) > SCREEN_FROM:
            listed, first = self._screened(listed), FIRST
        yield from listed[:first]
        rest = iter(listed[first:])
        if self.judged:
            yield from trees(self.judge.task)
            for candidate in self._others():
                yield candidate
                yield from (one for _, one in zip(range(2), rest, strict=False))
        yield from rest

    def _screened(self, listed: list[Candidate]) -> list[Candidate]:
        """Return the candidates by how they do on a few rows, as many as are tried in time."""
        small, screened = self._few(), list[Judged]()
        until = self.limits.left * (1 - SCREEN_SHARE)
        for candidate in listed:
            if screened and self.limits.left < until:
                break
            penalty = screened[-1].candidate.penalty if screened else candidate.penalty
            screened += small.judge(replace(candidate, penalty=penalty))
        return by_promise(screened)

    def _few(self) -> FoldJudge:
        judge = self.judge
        random = np.random.default_rng(judge.run.seed)
        rows = (
            np.arange(len(judge.task)) if len(judge.splits.parts) > 1 else judge.splits.parts[0][0]
        )
        rows = np.sort(random.choice(rows, min(SCREENED, len(rows)), replace=False))
        return few_of(judge, rows)

    def _others(self) -> Iterator[Candidate]:
        """Yield learned metrics and machines by turns."""
        wide = max(view.X.shape[1] for view in self.judge.views.values()) > WIDE
        metrics = learned(self.best(), self._widths(), wide)
        others = machines(self.ridges(), self.judge.task)
        yield from by_turns(metrics, others)

    def ridges(self) -> list[Judged]:
        """Return the ridge models, the best first."""
        found = [one for one in self.judged if one.candidate.learner == "ridge"]
        return sorted(found, key=lambda one: one.loss)

    def best(self) -> Judged:
        """Return the best kernel model."""
        return min(self.kernel_models(), key=lambda one: one.loss)

    def kernel_models(self) -> list[Judged]:
        """Return all but trees."""
        return [one for one in self.judged if one.candidate.learner != TREES]

    def _widths(self) -> dict[str, float]:
        """Return the best width of each family."""
        found: dict[str, float] = {}
        for one in self.ridges():
            found.setdefault(one.candidate.family, one.candidate.width)
        return found

    # --- who wins ---------------------------------------------------------------------------

    def chosen(self, allow_trees: bool) -> list[tuple[Judged, float]]:
        """Return the candidates of the ensemble, with their weights."""
        task, rows = self.judge.task, self.judge.splits.rows
        able = self.judged if allow_trees else self.kernel_models()
        weights = bagged_weights(
            np.stack([one.evidence for one in able]),
            lambda evidence, places: task.losses(evidence, rows[places]),
            self.judge.run.seed,
        )
        return [(one, float(w)) for one, w in zip(able, weights, strict=True) if w > 0]


class FoldRace(Race):
    """A race on a table of which all rows are judged."""

    judge: FoldJudge

    def _judge(self, candidate: Candidate) -> list[Judged]:
        return self.judge.judge(candidate)

    def _finish(self) -> None:
        """All is done: members are fitted later."""

    def _last_resort(self) -> list[Judged]:
        return self.judge.without_limit().judge(RESORT)

    def work(self, candidate: Candidate) -> float:
        """Return the cubes of rows that are solved for."""
        inside = sum(len(train) ** 3 for train, _ in self.judge.splits.parts)
        if candidate.learner == TREES:
            return float(TREE_WORK * sum(len(train) for train, _ in self.judge.splits.parts))
        if candidate.learner == "ridge":
            n = len(self.judge.task)
            return 4 / 3 * (2 * n**3 if self.judge.splits.one_by_one else inside)
        return inside / 3 * (candidate.steps + 1 if candidate.learner == "rfm" else 4)


class HoldoutRace(Race):
    """A race on a table of which some rows are kept aside: on few rows first, then on all."""

    judge: HoldoutJudge

    def _judge(self, candidate: Candidate) -> list[Judged]:
        return self.judge.judge(candidate)

    def _last_resort(self) -> list[Judged]:
        return replace(self.judge.without_limit(), size=RESORT_ROWS).judge(RESORT)

    def work(self, candidate: Candidate) -> float:
        """Return the cubes of rows that are solved for."""
        one = len(self.judge.rows) ** 3 / 3
        if candidate.learner == TREES:
            return float(TREE_WORK * len(self.judge.rows))
        return one * (candidate.steps + 1 if candidate.learner == "rfm" else 4)

    def reserve(self) -> float:
        """Return the seconds that the best candidates may have on all rows."""
        if self.limits.seconds is None or not self._has_more():
            return super().reserve()
        return 0.5 * self.limits.seconds

    def _has_more(self) -> bool:
        return len(self.judge.splits.parts[0][0]) > self.judge.size

    def _finish(self) -> None:
        """Fit the best candidates to all rows."""
        if not self._has_more():
            return
        seen: set[tuple[str, str]] = set()
        longest = 0.0
        for one in sorted(self.judged, key=lambda one: one.loss):
            kind = (one.candidate.family, one.candidate.learner)
            if kind in seen or one.candidate.learner not in ("ridge", "rfm"):
                continue
            if self._is_enough(len(seen), longest):
                break
            seen.add(kind)
            start = time.monotonic()
            within = None if self.limits.seconds is None else max(self.limits.left, 0.1)
            self.judged.append(self.judge.promoted(one, within))
            longest = max(longest, time.monotonic() - start)

    def _is_enough(self, promoted: int, longest: float) -> bool:
        """Return whether no more candidates are fitted to all rows; longest: of those before."""
        if self.limits.seconds is None:
            return promoted >= PROMOTED
        return self.limits.left < 1.2 * longest


def few_of(judge: Judge, rows: Array) -> FoldJudge:
    """Return a judge of few rows of a table, each left out by itself."""
    views = {name: view.take(rows) for name, view in judge.views.items()}
    whole = len(judge.splits.parts) > 1
    splits = judge.splits.within(rows) if whole else judge.splits.one_by_one_of(len(rows))
    return FoldJudge(task=judge.task.take(rows), views=views, splits=splits, run=judge.run)
