"""The perceptron with a budget of points: what it may not keep, it projects on what it keeps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import solve_triangular

from ...checks import Array, KernelError, sentence
from ...monitor import Monitor
from .passes import EPSILON, OnlineProblem, Walk, margins

DEPENDENT = 1e-10  # share of its squared length that a point must add to the span of the others


class BudgetWalk(Walk):
    """A walk that keeps so many points at most.

    Beyond them the update phi(x) of a mistake is replaced by its projection sum_i d_i phi(x_i) on
    the span of the points that are kept, d = K_kept^-1 k_kept(x), all with k + 1 in the place of k.
    `dropped` sums the norms of what projections leave out. A point that lies in the span adds
    nothing to it, and is projected even where there is room.
    """

    def __init__(self, problem: OnlineProblem, monitor: Monitor, budget: int) -> None:
        super().__init__(problem, monitor)
        self.budget, self.single, self.rounding = budget, False, (32 * EPSILON, EPSILON)
        room = min(self.budget, len(self.beta))
        self.kept = np.zeros(0, dtype=np.int64)
        self.places = np.full(len(self.beta), -1)
        self.factor = np.zeros((room, room))

    def begin(self) -> None:
        for point in range(self.first):
            row = self._between(np.array([point]))[0]
            beta, late = self.beta[point].copy(), self.late[point].copy()
            self.beta[point] = self.late[point] = 0.0
            self.offset -= beta
            self._take_in(point, row, beta, late)

    def visit_block(self, block: Array) -> None:
        count, own = len(self.kept), self.codes[block]
        K = np.empty((len(block), min(count + len(block), len(self.factor))))
        K[:, :count] = self._between(block)
        scores = K[:, :count] @ self.beta[self.kept]
        begun = self.steps
        for at, rival in self._misjudged(block, scores, own):
            self.steps = begun + at
            point, count = int(block[at]), len(self.kept)
            if self.places[point] >= 0:
                column = K[:, self.places[point]]
                self.update(point, int(own[at]), rival)
            else:
                vote = np.zeros(scores.shape[1])
                vote[[own[at], rival]] = 1.0, -1.0
                shares = self._take_in(point, K[at, :count], vote, self.steps * vote)
                self.note(point)
                if len(self.kept) > count:
                    K[:, count] = self.problem.double(block, np.array([point]))[:, 0] + 1.0
                    self.entries += len(block)
                column = K[:, : len(self.kept)] @ shares
            scores[at + 1 :, own[at]] += column[at + 1 :]
            scores[at + 1 :, rival] -= column[at + 1 :]
        self.steps = begun + len(block)
        self.seen[block] = scores

    def _misjudged(self, block: Array, scores: Array, own: Array) -> Iterator[tuple[int, int]]:
        """Yield each mistake: its place, and the class that won or tied.

        The caller brings the scores of the places behind it up to date before it goes on.
        """
        at = 0
        while at < len(block):
            close = np.flatnonzero(margins(scores[at:], own[at:]) <= self.width(block[at:]))
            for place in close:
                rival = self.judge(int(block[at + place]), scores[at + place])
                if rival is not None:
                    yield at + int(place), rival
                    at += int(place) + 1
                    break
            else:
                return

    def _between(self, points: Array) -> Array:
        """Return k + 1 between points and those that are kept."""
        self.entries += len(points) * len(self.kept)
        return self.problem.double(points, self.kept) + 1.0

    def _take_in(self, point: int, row: Array, beta: Array, late: Array) -> Array:
        """Keep a point with its votes, or project it; return its shares in the points kept.

        row: k + 1 between it and those kept so far, whose matrix has the Cholesky factor L.
        """
        count = len(self.kept)
        factor = self.factor[:count, :count]
        part = solve_triangular(factor, row, lower=True, check_finite=False) if count else row
        whole = float(self.problem.diagonal[point]) + 1.0
        left = whole - float(part @ part)
        if whole <= 0:
            must = "a budget takes a Mercer kernel, for which k(x, x) is at least 0"
            raise KernelError(sentence("KernelPerceptron", must, f"k(x, x) = {whole - 1:g}"))
        if count < self.budget and left > DEPENDENT * whole:
            self.factor[count, :count], self.factor[count, count] = part, np.sqrt(left)
            self.kept = np.append(self.kept, point)
            self.places[point] = count
            shares = np.zeros(count + 1)
            shares[-1] = 1.0
        else:
            shares = solve_triangular(factor, part, lower=True, trans=1, check_finite=False)
            self.dropped += float(np.sqrt(max(left, 0.0)) * np.abs(beta).max())
        self.beta[self.kept] += np.outer(shares, beta)
        self.late[self.kept] += np.outer(shares, late)
        self.offset += shares.sum() * beta
        return np.asarray(shares)
