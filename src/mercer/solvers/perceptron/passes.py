"""Walks of the perceptron: points are visited in turn, and those misjudged get votes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _native
from ...checks import Array
from ...grams import Gram
from ...monitor import Monitor
from ..box.rows import DenseRows, KernelRows

AT_ONCE = 4096  # visits between two looks at the clock
ENTRIES = 4_000_000  # of K that may be read between them
BLOCK = 256  # points whose scores are looked at together
BATCH = 128  # points with mistakes whose rows of K are computed together
UNPACKED = 256  # points that carry f and may be packed for one row of K
EPSILON = float(np.finfo(np.float64).eps)
TIE = 16 * EPSILON  # scores this near, against what they are sums of, are equal
SINGLE = 1e-6  # rounding of single-precision kernel values, with something to spare
SAMPLE = 64  # points between which it is measured
SAFETY = 2.0  # times what was measured, and times the rounding of a single number at least
HALF_SINGLE = float(np.finfo(np.float32).eps) / 2


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


@dataclass(frozen=True, kw_only=True)
class OnlineProblem:
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

    def __init__(self, problem: OnlineProblem, monitor: Monitor) -> None:
        n, k = len(problem.diagonal), problem.classes
        first = n - len(problem.codes)
        self.problem, self.monitor, self.first = problem, monitor, first
        self.codes = np.concatenate([np.full(first, -1), problem.codes])
        self.roots = np.sqrt(np.abs(problem.diagonal))
        self.beta, self.late = np.zeros((n, k)), np.zeros((n, k))
        self.beta[:first], self.late[:first] = problem.votes.beta, problem.votes.late
        self.steps = problem.votes.steps
        self.offset = problem.votes.beta.sum(axis=0)
        each = np.abs(problem.votes.beta).max(axis=1, initial=0.0)
        # |f_c(x)| is at most length sqrt(k(x, x)) + count, and so is what rounding is relative to.
        self.length, self.count = float(each @ self.roots[:first]), float(each.sum())
        self.at_once = BLOCK
        self.seen = np.zeros((n, k))
        self.mistakes: list[int] = []
        self.dropped, self.examined, self.entries = 0.0, 0, 0
        self.scores = np.zeros((k, n))  # of all points, without the offset
        self.single = problem.rows.values.dtype == np.float32
        # Of a score, against what it is a sum of: at once, and more with each update.
        self.rounding = (SINGLE, 0.0) if self.single else (32 * EPSILON, EPSILON)

    @abstractmethod
    def begin(self) -> None:
        """Make ready for the first visit, under the votes that are there already."""

    @abstractmethod
    def visit_block(self, block: Array) -> None:
        """Visit a few points once each."""

    def visit(self, order: Array, stage: str) -> None:
        """Visit points once each."""
        for start in range(0, len(order), self.at_once):
            self.monitor.report(stage, start / len(order))
            self.visit_block(order[start : start + self.at_once])
        self.monitor.report(stage, 1.0)

    def scale(self, points: Any) -> Any:
        """Return what the scores of points are sums of, at most."""
        return self.length * self.roots[points] + self.count

    def width(self, points: Any) -> Any:
        """Return how far off the scores of points may be."""
        once, each = self.rounding
        return (once + each * self.count) * self.scale(points)

    def judge(self, point: int, scores: Array) -> int | None:
        """Return the class that won against the point's own or tied with it; None if none did.

        Scores nearer than rounding can tell are summed anew, in double precision.
        """
        own, width = self.codes[point], self.width(point)
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
        return np.asarray(self.problem.double(np.array([point]), carriers)[0] @ self.beta[carriers])

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


@dataclass(frozen=True, kw_only=True)
class Field:
    """Some points, the whole of K between them, and their scores without the offset."""

    points: Array
    K: Array
    scores: Array
    codes: Array
    roots: Array


class CoreWalk(Walk):
    """A walk in the core, over fields of points, up to one whose scores are too close to tell."""

    def cross(self, field: Field, order: Array) -> None:
        """Visit points of a field; each mistake brings the scores of the whole field up to date."""
        places = np.empty(len(order), dtype=np.int64)
        rivals = np.empty(len(order), dtype=np.int64)
        at = 0
        while at < len(order):
            visited, made = _native.walk(
                field.K,
                order[at:],
                field.codes,
                field.scores,
                self.offset,
                field.roots,
                self.length,
                self.count,
                *self.rounding,
                places,
                rivals,
            )
            points = field.points[order[at + places[:made]]]
            self._update_all(points, places[:made], rivals[:made])
            self.steps += visited
            at += visited
            if at < len(order):
                self._visit_close(field, int(order[at]))
                at += 1

    def _update_all(self, points: Array, places: Array, rivals: Array) -> None:
        own = self.codes[points]
        self.beta[points, own] += 1.0
        self.beta[points, rivals] -= 1.0
        self.late[points, own] += self.steps + places
        self.late[points, rivals] -= self.steps + places
        self.count += len(points)
        self.length += float(self.roots[points].sum())
        self.mistakes += points.tolist()

    def _visit_close(self, field: Field, place: int) -> None:
        point, own = int(field.points[place]), int(field.codes[place])
        rival = self.judge(point, field.scores[:, place] + self.offset)
        if rival is not None:
            self.update(point, own, rival)
            field.scores[own] += field.K[place]
            field.scores[rival] -= field.K[place]
        self.steps += 1


class DensePass(CoreWalk):
    """A walk with the whole of K at hand: all points are one field."""

    def begin(self) -> None:
        K = self.problem.rows.values
        self.scores += self.beta[: self.first].T @ K[: self.first]
        self.at_once = min(max(ENTRIES // len(K), 1), AT_ONCE)
        self.field = Field(
            points=np.arange(len(K)), K=K, scores=self.scores, codes=self.codes, roots=self.roots
        )

    def visit_block(self, block: Array) -> None:
        self.cross(self.field, block)
        self.seen[block] = self.scores[:, block].T + self.offset


class RowPass(CoreWalk):
    """A walk in blocks, each a field, that computes rows of K for points with mistakes.

    It does so for many points at a time. Until then their votes are pending: a block adds them to
    its scores by itself.
    """

    def begin(self) -> None:
        self.known = self.beta.copy()  # the votes in the scores
        self.packed = np.zeros(0, dtype=np.int64)
        self.to_packed = self.problem.exact
        self.pending: dict[int, None] = {}
        self.room = np.empty((BATCH, len(self.beta)), dtype=self.problem.rows.values.dtype)
        self._measure_rounding()
        if self.first:
            old, new = np.arange(self.first), np.arange(self.first, len(self.beta))
            cross = self.problem.gram.restrict(new, old)
            self.scores[:, new] = (cross @ self.beta[old]).T
            self.entries += len(old) * len(new)

    def _measure_rounding(self) -> None:
        """Learn from some entries of K how far off single precision is; others may be worse."""
        if self.single:
            some = np.unique(np.linspace(0, len(self.roots) - 1, SAMPLE).astype(np.int64))
            gap = np.abs(self.problem.gram.block(some, some) - self.problem.exact.block(some, some))
            sizes = np.outer(self.roots[some], self.roots[some])
            largest = float(np.divide(gap, sizes, out=np.zeros(gap.shape), where=sizes > 0).max())
            self.rounding = SAFETY * max(largest, HALF_SINGLE), 0.0
            self.entries += 2 * gap.size

    def visit(self, order: Array, stage: str) -> None:
        if self.pending:
            self._push()
        super().visit(order, stage)

    def visit_block(self, block: Array) -> None:
        scores, own = np.ascontiguousarray(self.scores[:, block]), self.codes[block]
        made = len(self.mistakes)
        if self.pending or (margins(scores.T + self.offset, own) <= self.width(block)).any():
            size, late = len(block), np.array(list(self.pending), dtype=np.int64)
            everyone = [np.concatenate([block, late])]
            near = self.problem.gram.cells(everyone, everyone)[0][0].dense()
            self.entries += near.size
            scores += (self.beta[late] - self.known[late]).T @ near[size:, :size]
            K = np.ascontiguousarray(near[:size, :size])
            self.cross(
                Field(points=block, K=K, scores=scores, codes=own, roots=self.roots[block]),
                np.arange(size),
            )
        else:
            self.steps += len(block)
        self.seen[block] = scores.T + self.offset
        self.pending.update(dict.fromkeys(self.mistakes[made:]))
        if len(self.pending) >= BATCH:
            self._push()

    def products(self, point: int, carriers: Array) -> Array:
        # Packing the points that carry f costs more than one row between them; most stay the same.
        if not self.problem.gram.rows_are_native():
            return super().products(point, carriers)
        others = np.setdiff1d(carriers, self.packed, assume_unique=True)
        if len(others) > UNPACKED:
            self.packed, others = carriers, carriers[:0]
            everyone = np.arange(len(self.beta))
            self.to_packed = self.problem.exact.restrict(everyone, carriers)
        found = np.zeros(len(self.offset))
        if len(self.packed):
            row = self.to_packed.block(np.array([point]), slice(None))[0]
            found += row @ self.beta[self.packed]
        return found + super().products(point, others) if len(others) else found

    def _push(self) -> None:
        """Bring the scores of all points up to date, by the rows of the points with mistakes.

        Most points are misjudged once. A row is kept when it is asked for again.
        """
        rows = self.problem.rows
        points = np.array(sorted(self.pending), dtype=np.int64)
        again = self.known[points].any(axis=1)
        old, new = points[again], points[~again]
        for start in range(0, len(old), rows.room):
            some = old[start : start + rows.room]
            self._add(rows.values, rows.fetch(some), some)
        for start in range(0, len(new), BATCH):
            some = new[start : start + BATCH]
            room = self.room[: len(some)]
            self.problem.gram.fill_rows(some, room)
            self.entries += room.size
            self._add(room, np.arange(len(some)), some)
        self.known[points] = self.beta[points]
        self.pending.clear()

    def _add(self, rows: Array, places: Array, points: Array) -> None:
        """Add the votes of points that scores do not know yet, by their rows of K."""
        change, everyone = self.beta[points] - self.known[points], np.arange(len(self.beta))
        for label in range(len(self.scores)):
            moved = np.flatnonzero(change[:, label])
            if len(moved):
                weights = np.ascontiguousarray(change[moved, label])
                _native.add_rows(rows, places[moved], weights, everyone, self.scores[label])


def margins(scores: Array, own: Array) -> Array:
    """Return by how much the own class of each row beats the best other."""
    everyone = np.arange(len(own))
    others = scores.copy()
    others[everyone, own] = -np.inf
    return np.asarray(scores[everyone, own] - others.max(axis=1))
