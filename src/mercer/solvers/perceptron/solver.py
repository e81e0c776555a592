"""The perceptron in feature space: passes over the points until one makes no mistake."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...monitor import Monitor, Stopped
from ...status import Status
from ..box.rows import DenseRows
from .passes import SINGLE, TIE, DensePass, OnlineProblem, RowPass, Votes, Walk, margins
from .projectron import BudgetWalk

NEAREST = 64  # points at the boundary whose distance is computed in double precision
SUSPECTS = 256  # points with mistakes that are compared with all others
TOGETHER = 64  # of them at a time


@dataclass(frozen=True, kw_only=True)
class PerceptronSolution:
    """What a walk found.

    support: the points that carry f, with their votes. mistakes: the points in the order of the
    mistakes; by_pass: how many each pass made. margin: the least distance of a point to the
    boundary, in units of the norm of f, after a pass without a mistake (else NaN); bound: on the
    mistakes of any order, from that margin. dropped: the norms that projections cut off, summed.
    examined: how many close scores were summed anew in double precision.
    """

    support: Array
    votes: Votes
    mistakes: Array
    by_pass: tuple[int, ...]
    status: Status
    margin: float
    bound: float
    dropped: float
    examined: int
    entries: int


@dataclass(frozen=True)
class Perceptron:
    """Passes over the points until one makes no mistake.

    seed: of the order of the visits, drawn anew for each pass; None: as the points come.
    budget: how many points may carry f; None: all.
    """

    max_iter: int
    seed: tuple[int, int] | None = None
    budget: int | None = None

    def solve(self, problem: OnlineProblem, monitor: Monitor) -> PerceptronSolution:
        """Return what a walk finds."""
        walk = self._walk(problem, monitor)
        order = np.arange(walk.first, len(walk.codes))
        random = None if self.seed is None else np.random.default_rng(self.seed)
        by_pass: list[int] = []
        status = Status.ITERATION_LIMIT
        try:
            walk.begin()
            for turn in range(1, self.max_iter + 1):
                visits = order if random is None else random.permutation(order)
                before = len(walk.mistakes)
                walk.visit(visits, f"pass {turn}")
                by_pass.append(len(walk.mistakes) - before)
                status = status if by_pass[-1] else Status.CONVERGED
                record = {"stage": "perceptron", "passes": turn, "mistakes": by_pass[-1]}
                walk.monitor.iteration(record | {"fraction": 1 - by_pass[-1] / len(order)})
                if status == Status.CONVERGED:
                    break
        except Stopped as stop:
            status = status if status == Status.CONVERGED else stop.reason
            if sum(by_pass) < len(walk.mistakes) or not by_pass:  # in the middle of a pass
                by_pass.append(len(walk.mistakes) - sum(by_pass))
        return _solution(walk, tuple(by_pass), status)

    def _walk(self, problem: OnlineProblem, monitor: Monitor) -> Walk:
        if self.budget is not None:
            return BudgetWalk(problem, monitor, self.budget)
        is_whole = isinstance(problem.rows, DenseRows)
        return DensePass(problem, monitor) if is_whole else RowPass(problem, monitor)


def _solution(walk: Walk, by_pass: tuple[int, ...], status: Status) -> PerceptronSolution:
    support = np.flatnonzero(walk.beta.any(axis=1))
    margin = math.nan
    if status == Status.CONVERGED and walk.first == 0:
        with contextlib.suppress(Stopped):  # no time is left to measure it
            margin = _margin(walk)
    return PerceptronSolution(
        support=support,
        votes=Votes(walk.beta[support], walk.late[support], walk.steps),
        mistakes=np.array(walk.mistakes, dtype=np.int64),
        by_pass=by_pass,
        status=status,
        margin=margin,
        bound=(float(walk.problem.diagonal.max()) + 1) / margin**2 if margin != 0 else math.inf,
        dropped=walk.dropped,
        examined=walk.examined,
        entries=walk.entries,
    )


def _margin(walk: Walk) -> float:
    """Return the least distance to the boundary after a pass without a mistake.

    Stacked over the classes, f has the squared norm sum_ic beta_ic f_c(x_i), and an update the
    squared length 2 (k(x, x) + 1): of two classes both are twice those of the one function.
    """
    scores, support = walk.seen, np.flatnonzero(walk.beta.any(axis=1))
    if walk.single:
        near = np.argsort(margins(scores, walk.codes), kind="stable")[:NEAREST]
        for some in (support, near):
            K = walk.problem.exact.restrict(some, support)
            scores[some] = K @ walk.beta[support] + walk.offset
            walk.entries += len(some) * len(support)
    norm = math.sqrt(max(float((walk.beta * scores).sum()), 0.0))
    least = float(margins(scores, walk.codes).min())
    return least / norm / math.sqrt(2) if norm > 0 else math.nan


def contradiction(problem: OnlineProblem, mistakes: Array) -> tuple[int, int] | None:
    """Return two points that are one in feature space and have different classes, if some have.

    Of such a pair one is misjudged in every pass, so it is enough to look at the last mistakes.
    """
    first = len(problem.diagonal) - len(problem.codes)
    codes = np.concatenate([np.full(first, -1), problem.codes])
    suspects = np.unique(mistakes)[:SUSPECTS]
    step = min(TOGETHER, problem.rows.room)
    for start in range(0, len(suspects), step):
        some = suspects[start : start + step]
        squares = _squares(problem, some, problem.rows.values[problem.rows.fetch(some)])
        differ = (codes[some, None] != codes) & (codes >= 0)
        for row, other in np.argwhere((squares <= 4 * SINGLE) & differ):
            pair = some[row : row + 1], np.array([other])
            if _squares(problem, pair[0], problem.double(*pair), pair[1])[0, 0] <= TIE:
                return int(some[row]), int(other)
    return None


def _squares(problem: OnlineProblem, left: Array, K: Array, right: Any = slice(None)) -> Array:
    """Return squared distances in feature space, against the squared lengths."""
    rows, columns = problem.diagonal[left, None], problem.diagonal[right]
    lengths = np.maximum(np.abs(rows) + np.abs(columns), np.finfo(np.float64).tiny)
    return np.asarray((rows + columns - 2.0 * K) / lengths)
