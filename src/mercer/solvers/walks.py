"""Walks of the perceptron: points are visited in turn, and those misjudged get votes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _native
from ..checks import Array
from ..grams import Gram
from ..monitor import Monitor
from .rows import DenseRows, KernelRows

AT_ONCE = 4096  # visits between two looks at the clock
ENTRIES = 4_000_000  # of K that may be read between them
BLOCK = 512  # points whose scores are looked at together
BATCH = 128  # points with mistakes whose rows of K are computed together
AHEAD = 64  # points of a block whose entries of K are computed before a mistake is certain
UNPACKED = 256  # points that carry f and may be packed for one row of K
EPSILON = float(np.finfo(np.float64).eps)
TIE = 16 * EPSILON  # scores this near, against what they are sums of, are equal
SINGLE = 1e-6  # rounding of single-precision kernel values, with something to spare


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


class Walk(ABC):
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
        self.scores = np.zeros((k, n))  # of all points, without the offset
        self.single = lesson.rows.values.dtype == np.float32

    @abstractmethod
    def begin(self) -> None:
        """Make ready for the first visit, under the votes that are there already."""

    @abstractmethod
    def visit(self, order: Array, stage: str) -> None:
        """Visit points once each."""

    def scale(self, points: Any) -> Any:
        """Return what the scores of points are sums of, at most."""
        return self.length * self.roots[points] + self.count

    def rounding(self) -> float:
        """Return how far off a score may be, relative to what it is a sum of."""
        return SINGLE if self.single else EPSILON * (32 + self.count)

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
        return np.asarray(self.products(point, carriers) + self.offset)

    def products(self, point: int, carriers: Array) -> Array:
        """Return the scores of one point without the offsets, in double precision."""
        return np.asarray(self.lesson.double(np.array([point]), carriers)[0] @ self.beta[carriers])

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


class WholeWalk(Walk):
    """A walk with the whole of K at hand: each mistake brings the scores of all points up to date.

    The core does it, up to a point whose scores are too close to tell.
    """

    def begin(self) -> None:
        self.K = self.lesson.rows.values
        self.scores += self.beta[: self.first].T @ self.K[: self.first]
        self.places = np.empty(AT_ONCE, dtype=np.int64)
        self.rivals = np.empty(AT_ONCE, dtype=np.int64)

    def visit(self, order: Array, stage: str) -> None:
        some = min(max(ENTRIES // len(self.codes), 1), AT_ONCE)
        at = 0
        while at < len(order):
            self.monitor.report(stage, at / len(order))
            part = order[at : at + some]
            visited = self._run(part)
            at += visited
            if visited < len(part):
                self._visit_close(int(order[at]))
                at += 1
        self.monitor.report(stage, 1.0)
        self.seen = (self.scores.T + self.offset).copy()

    def _run(self, order: Array) -> int:
        """Visit points up to one that is close to a tie; return how many that were."""
        rounding, drift = (SINGLE, 0.0) if self.single else (32 * EPSILON, EPSILON)
        visited, made = _native.walk(
            self.K,
            order,
            self.codes,
            self.scores,
            self.offset,
            self.roots,
            self.length,
            self.count,
            rounding,
            drift,
            self.places,
            self.rivals,
        )
        places, rivals = self.places[:made], self.rivals[:made]
        points = order[places]
        own = self.codes[points]
        self.beta[points, own] += 1.0
        self.beta[points, rivals] -= 1.0
        self.late[points, own] += self.steps + places
        self.late[points, rivals] -= self.steps + places
        self.count += made
        self.length += float(self.roots[points].sum())
        self.mistakes += points.tolist()
        self.steps += visited
        return visited

    def _visit_close(self, point: int) -> None:
        own = int(self.codes[point])
        scores = self.scores[:, point] + self.offset
        rival = self.judge(point, scores, self.rounding() * self.scale(point))
        if rival is not None:
            self.update(point, own, rival)
            self.scores[own] += self.K[point]
            self.scores[rival] -= self.K[point]
        self.steps += 1


class BlockWalk(Walk):
    """A walk in blocks of points, whose scores are found at once and corrected on the way."""

    def visit(self, order: Array, stage: str) -> None:
        for start in range(0, len(order), BLOCK):
            self.monitor.report(stage, start / len(order))
            self.visit_block(order[start : start + BLOCK])
        self.monitor.report(stage, 1.0)

    @abstractmethod
    def visit_block(self, block: Array) -> None:
        """Visit points whose scores are found at once and corrected after each mistake."""

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


class RowWalk(BlockWalk):
    """A walk that computes rows of K for points with mistakes, many at a time.

    Until then their votes are pending: a block adds them to its scores by itself.
    """

    def begin(self) -> None:
        self.known = self.beta.copy()  # the votes in the scores
        self.packed = np.zeros(0, dtype=np.int64)
        self.to_packed = self.lesson.exact
        self.pending: dict[int, None] = {}
        if self.first:
            old, new = np.arange(self.first), np.arange(self.first, len(self.beta))
            cross = self.lesson.gram.restrict(new, old)
            self.scores[:, new] = (cross @ self.beta[old]).T
            self.entries += len(old) * len(new)

    def visit_block(self, block: Array) -> None:
        near = Neighbourhood(self.lesson, block, np.array(list(self.pending), dtype=np.int64))
        scores, own = self.scores[:, block].T + self.offset, self.codes[block]
        if self.pending:
            scores += near.late().T @ (self.beta[near.others] - self.known[near.others])
        begun = self.steps
        for at, rival, close in self.misjudged(block, scores, own):
            self.steps = begun + at
            self.update(int(block[at]), int(own[at]), rival)
            self.steps += 1
            column = near.column(at, close)[at + 1 :] + 1.0
            scores[at + 1 :, own[at]] += column
            scores[at + 1 :, rival] -= column
            self.pending[int(block[at])] = None
        self.steps = begun + len(block)
        self.seen[block] = scores
        self.entries += near.entries
        if len(self.pending) >= BATCH:
            self._push()

    def products(self, point: int, carriers: Array) -> Array:
        # Packing the points that carry f costs more than one row between them; most stay the same.
        if not self.lesson.gram.rows_are_native():
            return super().products(point, carriers)
        others = np.setdiff1d(carriers, self.packed, assume_unique=True)
        if len(others) > UNPACKED:
            self.packed, others = carriers, carriers[:0]
            everyone = np.arange(len(self.beta))
            self.to_packed = self.lesson.exact.restrict(everyone, carriers)
        found = np.zeros(len(self.offset))
        if len(self.packed):
            row = self.to_packed.block(np.array([point]), slice(None))[0]
            found += row @ self.beta[self.packed]
        return found + super().products(point, others) if len(others) else found

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
        return self._rows(len(self.block) + np.arange(len(self.others)))

    def column(self, at: int, close: Array) -> Array:
        """Return K between one point of the block and all of it.

        close: places that may be asked for next; they are computed along with it.
        """
        if at not in self._columns:
            wanted = np.array([place for place in close[:AHEAD] if place not in self._columns])
            values = self._rows(wanted)
            self._columns.update(zip(wanted.tolist(), values, strict=True))
        return self._columns[at]

    def _rows(self, places: Array) -> Array:
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
