"""The perceptron in feature space: points are visited in turn, and those misjudged are counted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import Array
from ..grams import Gram
from ..monitor import Monitor, Stopped
from .rows import DenseRows, KernelRows

BLOCK = 512  # points whose scores are looked at together
BATCH = 128  # points with mistakes whose rows of K are computed together
AHEAD = 64  # points of a block whose entries of K are computed before a mistake is certain
EPSILON = float(np.finfo(np.float64).eps)
TIE = 16 * EPSILON  # scores this near, against what they are sums of, are equal
SINGLE = 1e-6  # rounding of single-precision kernel values, with something to spare
NEAREST = 64  # points at the boundary whose distance is computed in double precision
SUSPECTS = 256  # points with mistakes that are compared with all others


@dataclass(frozen=True)
class Votes:
    """What a perceptron has learnt: f_c(x) = sum_i beta_ic (k(x_i, x) + 1).

    late: each change of beta times the visits before it, summed; steps: visits in all. The mean of
    beta over all visits is then beta - late / steps.
    """

    beta: Array
    late: Array
    steps: int

    def mean(self) -> Array:
        """Return the mean of beta over all visits."""
        return np.asarray(self.beta - self.late / max(self.steps, 1))


@dataclass(frozen=True)
class Lesson:
    """Points to learn from: their kernel matrix, their classes, and what is known of the first.

    rows: of K, kept; gram: K in their precision; exact: K in double precision; diagonal: k(x, x).
    codes: the class of every point to be visited, which are the last ones; votes: of the points
    before them, which are not visited again.
    """

    rows: KernelRows
    gram: Gram
    exact: Gram
    diagonal: Array
    codes: Array
    classes: int
    votes: Votes

    def double(self, left: Array, right: Array) -> Array:
        """Return K between some points and some others in double precision."""
        if isinstance(self.rows, DenseRows) and self.rows.values.dtype == np.float64:
            return np.asarray(self.rows.values[np.ix_(left, right)])
        return self.exact.block(left, right)


@dataclass(frozen=True)
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
    status: str
    margin: float
    bound: float
    dropped: float
    examined: int
    entries: int


class Walk:
    """Visits points in turn; the sequence of updates is that of one point at a time.

    A point is misjudged if its own class is not the strict winner. Then its own class gets a vote
    more for it, and the best other class one less. Of two classes that is the perceptron with
    f = f_1 = -f_0 and f <- f + y (k(x, .) + 1).
    """

    def __init__(self, lesson: Lesson, monitor: Monitor) -> None:
        n, k = len(lesson.diagonal), lesson.classes
        first = n - len(lesson.codes)
        self.lesson, self.monitor, self.first = lesson, monitor, first
        self.codes = np.concatenate([np.full(first, -1), lesson.codes])
        self.roots = np.sqrt(np.abs(lesson.diagonal))
        self.beta, self.late = np.zeros((n, k)), np.zeros((n, k))
        self.beta[:first], self.late[:first] = lesson.votes.beta, lesson.votes.late
        self.steps = lesson.votes.steps
        self.offset = lesson.votes.beta.sum(axis=0)
        each = np.abs(lesson.votes.beta).max(axis=1, initial=0.0)
        # |f_c(x)| is at most length sqrt(k(x, x)) + count, and so is what rounding is relative to.
        self.length, self.count = float(each @ self.roots[:first]), float(each.sum())
        self.seen = np.zeros((n, k))
        self.mistakes: list[int] = []
        self.dropped, self.examined, self.entries = 0.0, 0, 0
        self.begin()

    def begin(self) -> None:
        """Find the scores of all points under the votes that are there already."""
        n, k = self.beta.shape
        self.scores = np.zeros((k, n))  # of the votes below, without the offset
        self.known = self.beta.copy()
        self.pending: dict[int, None] = {}
        self.batch = 1 if isinstance(self.lesson.rows, DenseRows) else BATCH
        self.single = self.lesson.rows.values.dtype == np.float32
        if self.first:
            old, new = np.arange(self.first), np.arange(self.first, n)
            cross = self.lesson.gram.restrict(new, old)
            self.scores[:, new] = (cross @ self.beta[old]).T
            self.entries += len(old) * len(new)

    def scale(self, points: Any) -> Any:
        """Return what the scores of points are sums of, at most."""
        return self.length * self.roots[points] + self.count

    def rounding(self) -> float:
        """Return how far off a score may be, relative to what it is a sum of."""
        return SINGLE if self.single else EPSILON * (32 + self.count)

    def visit(self, order: Array, stage: str) -> None:
        """Visit points once each."""
        for start in range(0, len(order), BLOCK):
            self.monitor.report(stage, start / len(order))
            self.visit_block(order[start : start + BLOCK])
        self.monitor.report(stage, 1.0)

    def visit_block(self, block: Array) -> None:
        """Visit points whose scores are found at once and corrected after each mistake."""
        near = Neighbourhood(self.lesson, block, np.array(list(self.pending), dtype=np.int64))
        scores, own = self.scores[:, block].T + self.offset, self.codes[block]
        if self.pending:
            scores += near.late().T @ (self.beta[near.others] - self.known[near.others])
        begun = self.steps
        for at, rival, close in self.misjudged(block, scores, own):
            self.steps = begun + at
            self.update(int(block[at]), int(own[at]), rival)
            column = near.column(at, close)[at + 1 :] + 1.0
            scores[at + 1 :, own[at]] += column
            scores[at + 1 :, rival] -= column
            self.pending[int(block[at])] = None
        self.steps = begun + len(block)
        self.seen[block] = scores
        self.entries += near.entries
        if len(self.pending) >= self.batch:
            self._push()

    def misjudged(
        self, block: Array, scores: Array, own: Array
    ) -> Iterator[tuple[int, int, Array]]:
        """Yield each mistake: its place, the class that won or tied, and places that look alike.

        The caller brings the scores of the places behind it up to date before it goes on.
        """
        at = 0
        while at < len(block):
            width = self.rounding() * self.scale(block[at:])
            close = np.flatnonzero(margins(scores[at:], own[at:]) <= width)
            for place in close:
                rival = self.judge(int(block[at + place]), scores[at + place], width[place])
                if rival is not None:
                    yield at + int(place), rival, at + close[close >= place]
                    at += int(place) + 1
                    break
            else:
                return

    def judge(self, point: int, scores: Array, width: float) -> int | None:
        """Return the class that won against the point's own or tied with it; None if none did.

        Scores nearer than rounding can tell are summed anew, in double precision.
        """
        own = self.codes[point]
        others = scores.copy()
        others[own] = -np.inf
        top = others.max()
        near = np.count_nonzero(others >= top - width)
        if abs(scores[own] - top) <= width or near > 1:
            self.examined += 1
            scores = self.precise_scores(point)
            others = scores.copy()
            others[own] = -np.inf
            top = others.max()
        tie = TIE * self.scale(point)
        return None if scores[own] - top > tie else int(np.argmax(others >= top - tie))

    def precise_scores(self, point: int) -> Array:
        """Return the scores of one point, summed anew in double precision."""
        carriers = np.flatnonzero(self.beta.any(axis=1))
        if len(carriers) == 0:
            return np.zeros(len(self.offset))
        self.entries += len(carriers)
        values = self.lesson.double(np.array([point]), carriers)[0]
        return np.asarray(values @ self.beta[carriers] + self.offset)

    def update(self, point: int, own: int, rival: int) -> None:
        """Give the point's class a vote more and its rival one less."""
        for label, vote in ((own, 1.0), (rival, -1.0)):
            self.beta[point, label] += vote
            self.late[point, label] += self.steps * vote
            self.offset[label] += vote
        self.note(point)

    def note(self, point: int) -> None:
        """Note a mistake."""
        self.mistakes.append(point)
        self.count += 1.0
        self.length += float(self.roots[point])

    def _push(self) -> None:
        """Bring the scores of all points up to date, by the rows of the points with mistakes."""
        rows = self.lesson.rows
        points = np.array(sorted(self.pending), dtype=np.int64)
        for start in range(0, len(points), rows.room):
            some = points[start : start + rows.room]
            places, change = rows.fetch(some), self.beta[some] - self.known[some]
            for label in range(len(self.scores)):
                moved = np.flatnonzero(change[:, label])
                if len(moved):
                    weights = np.ascontiguousarray(change[moved, label])
                    rows.add(places[moved], weights, self.scores[label])
            self.known[some] = self.beta[some]
        self.pending.clear()


class Neighbourhood:
    """K between the points of a block, and between them and some others, as far as it is needed."""

    def __init__(self, lesson: Lesson, block: Array, others: Array) -> None:
        self.lesson, self.block, self.others = lesson, block, others
        self.entries = 0
        self._columns: dict[int, Array] = {}
        self._gram: Gram | None = None

    def late(self) -> Array:
        """Return K between the others and the block."""
        return self._rows(len(self.block) + np.arange(len(self.others)), self.others)

    def column(self, at: int, close: Array) -> Array:
        """Return K between one point of the block and all of it.

        close: places that may be asked for next; they are computed along with it.
        """
        if at not in self._columns:
            wanted = close[: 1 if isinstance(self.lesson.rows, DenseRows) else AHEAD]
            wanted = np.array([place for place in wanted if place not in self._columns])
            values = self._rows(wanted, self.block[wanted])
            self._columns.update(zip(wanted.tolist(), values, strict=True))
        return self._columns[at]

    def _rows(self, places: Array, points: Array) -> Array:
        rows = self.lesson.rows
        if isinstance(rows, DenseRows):
            return rows.values[points[:, None], self.block].astype(np.float64)
        if self._gram is None:  # one collection, so that its points are packed once
            everyone = [np.concatenate([self.block, self.others])]
            self._gram = self.lesson.gram.cells(everyone, everyone)[0][0]
        values = self._gram.rows(places)[:, : len(self.block)]
        self.entries += values.size
        return values.astype(np.float64)


def margins(scores: Array, own: Array) -> Array:
    """Return by how much the own class of each row beats the best other."""
    everyone = np.arange(len(own))
    others = scores.copy()
    others[everyone, own] = -np.inf
    return np.asarray(scores[everyone, own] - others.max(axis=1))


@dataclass(frozen=True)
class Perceptron:
    """Passes over the points until one makes no mistake.

    seed: of the order of the visits, drawn anew for each pass; None: as the points come.
    """

    max_iter: int
    seed: tuple[int, int] | None = None

    def solve(self, walk: Walk) -> PerceptronSolution:
        """Return what a walk finds."""
        order = np.arange(walk.first, len(walk.codes))
        random = None if self.seed is None else np.random.default_rng(self.seed)
        by_pass: list[int] = []
        status = "iteration limit"
        try:
            for turn in range(1, self.max_iter + 1):
                visits = order if random is None else random.permutation(order)
                walk.visit(visits, f"pass {turn}")
                by_pass.append(len(walk.mistakes) - sum(by_pass))
                status = status if by_pass[-1] else "converged"
                record = {"stage": "perceptron", "passes": turn, "mistakes": by_pass[-1]}
                walk.monitor.iteration(record | {"fraction": 1 - by_pass[-1] / len(order)})
                if status == "converged":
                    break
        except Stopped as stop:
            status = status if status == "converged" else stop.reason
            if sum(by_pass) < len(walk.mistakes) or not by_pass:  # in the middle of a pass
                by_pass.append(len(walk.mistakes) - sum(by_pass))
        return _solution(walk, tuple(by_pass), status)


def _solution(walk: Walk, by_pass: tuple[int, ...], status: str) -> PerceptronSolution:
    support = np.flatnonzero(walk.beta.any(axis=1))
    margin = _margin(walk) if status == "converged" and walk.first == 0 else math.nan
    return PerceptronSolution(
        support,
        Votes(walk.beta[support], walk.late[support], walk.steps),
        np.array(walk.mistakes, dtype=np.int64),
        by_pass,
        status,
        margin,
        (float(walk.lesson.diagonal.max()) + 1) / margin**2 if margin != 0 else math.inf,
        walk.dropped,
        walk.examined,
        walk.entries,
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
            K = walk.lesson.exact.restrict(some, support)
            scores[some] = K @ walk.beta[support] + walk.offset
            walk.entries += len(some) * len(support)
    norm = math.sqrt(max(float((walk.beta * scores).sum()), 0.0))
    least = float(margins(scores, walk.codes).min())
    return least / norm / math.sqrt(2) if norm > 0 else math.nan


def contradiction(lesson: Lesson, mistakes: Array) -> tuple[int, int] | None:
    """Return two points that are one in feature space and have different classes, if some have.

    Of such a pair one is misjudged in every pass, so it is enough to look at the last mistakes.
    """
    first = len(lesson.diagonal) - len(lesson.codes)
    codes = np.concatenate([np.full(first, -1), lesson.codes])
    suspects = np.unique(mistakes)[:SUSPECTS]
    step = min(AHEAD, lesson.rows.room)
    for start in range(0, len(suspects), step):
        some = suspects[start : start + step]
        squares = _squares(lesson, some, lesson.rows.values[lesson.rows.fetch(some)])
        differ = (codes[some, None] != codes) & (codes >= 0)
        for row, other in np.argwhere((squares <= 4 * SINGLE) & differ):
            pair = some[row : row + 1], np.array([other])
            if _squares(lesson, pair[0], lesson.double(*pair), pair[1])[0, 0] <= TIE:
                return int(some[row]), int(other)
    return None


def _squares(lesson: Lesson, left: Array, K: Array, right: Any = slice(None)) -> Array:
    """Return squared distances in feature space, against the squared lengths."""
    rows, columns = lesson.diagonal[left, None], lesson.diagonal[right]
    lengths = np.maximum(np.abs(rows) + np.abs(columns), np.finfo(np.float64).tiny)
    return np.asarray((rows + columns - 2.0 * K) / lengths)
