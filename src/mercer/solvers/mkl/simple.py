"""SimpleMKL: descent along reduced gradients on the simplex of weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...status import Status
from .problem import Evaluation, Line, Search

TINY = 1e-8  # a weight, against the largest, that counts as 0
TRIALS = 40  # evaluations of a line search, at most
SHARE = 0.3  # of the gap: what a line search may leave to gain
FLAT = 0.5  # of the slope at the start: where a line search may end


def direction(weights: Array, slopes: Array) -> Array:
    """Return the reduced gradient: a descent direction that keeps the sum and the signs."""
    top = int(weights.argmax())
    found = np.where((weights <= 0) & (slopes > slopes[top]), 0.0, slopes[top] - slopes)
    found[top] = 0.0
    found[top] = -found.sum()
    return np.asarray(found)


def longest(weights: Array, along: Array) -> tuple[float, int]:
    """Return the largest step that keeps the weights at least 0, and the weight that gets 0."""
    falling = np.flatnonzero(along < 0)
    ratios = -weights[falling] / along[falling]
    first = int(ratios.argmin())
    return float(ratios[first]), int(falling[first])


def dropped(along: Array, gone: Array, top: int) -> Array:
    """Return the direction without some weights; the top takes over what they had."""
    found = np.where(gone, 0.0, along)
    found[top] += along[gone].sum()
    return np.asarray(found)


def moved(line: Line, step: float, zero: int | None = None) -> Array:
    """Return the weights there, of sum 1; those that are next to nothing are 0, and so is one."""
    weights = np.maximum(line.start + step * line.along, 0.0)
    weights[weights < TINY * weights.max()] = 0.0  # a step to 0 would be too short to gain
    if zero is not None:
        weights[zero] = 0.0
    weights[weights.argmax()] += 1 - weights.sum()
    return np.asarray(weights)


@dataclass
class SimpleMKL:
    """min J(d) over the simplex, as Rakotomamonjy and others have it.

    From the weights a direction leads downhill; weights that reach 0 on it are dropped from it as
    long as J falls, and a line search finds the best step along what is left.

    A. Rakotomamonjy, F. Bach, S. Canu, Y. Grandvalet, "SimpleMKL", Journal of Machine Learning
    Research 9 (2008).
    """

    search: Search

    def run(self) -> Status:
        """Return how it ended; the search has the rest."""
        search = self.search
        at = search.evaluate(search.start())
        search.note(at)
        for _ in range(search.max_iter):
            if search.is_reached():
                return Status.CONVERGED
            found = self._step(at)
            if found is at:
                return Status.CONVERGED if search.is_reached() else Status.STAGNATED
            at = found
            search.settle(at)
            search.note(at)
        return Status.CONVERGED if search.is_reached() else Status.ITERATION_LIMIT

    def _step(self, at: Evaluation) -> Evaluation:
        """Return J after one step downhill; the same evaluation where there is none."""
        search, along = self.search, direction(at.weights, at.slopes)
        if not (along < 0).any():
            return at
        along /= np.abs(along).max()
        top = int(at.weights.argmax())
        while True:
            line = search.oracle.line(at.weights, along)
            most, last = longest(at.weights, along)
            beyond = search.attempt(line, most, moved(line, most, zero=last))
            if beyond.primal >= at.primal:
                return self._line(line, at, most, beyond)
            at = beyond  # J fell all the way: drop the weights that got 0, and go on
            gone = (at.weights <= 0) & (along < 0)
            if gone[top] or search.is_reached():  # without the top, there is no such direction
                return at
            along = dropped(along, gone, top)
            if not (along < 0).any():
                return at

    def _line(self, line: Line, at: Evaluation, most: float, beyond: Evaluation) -> Evaluation:
        """Return the best J between two weights, where the slope along the line is nearly 0.

        The slope rises from below 0; the next trial is where a line through the slopes at both
        ends is 0, each end being taken down where the other one stays (Illinois).
        """
        low, high = 0.0, most
        slope_low, slope_high = line.slope(at), line.slope(beyond)
        best, steepest = (at if at.primal <= beyond.primal else beyond), abs(slope_low)
        for _ in range(TRIALS):
            if slope_high <= 0 or slope_low >= 0:  # no more to gain between them
                break
            middle = low - slope_low * (high - low) / (slope_high - slope_low)
            found = self.search.attempt(line, middle, moved(line, middle))
            best = found if found.primal < best.primal else best
            slope = line.slope(found)
            small = abs(slope) * (high - low) <= SHARE * self.search.gap
            if best is not at and (small or abs(slope) <= FLAT * steepest):
                break
            if slope < 0:
                low, slope_low, slope_high = middle, slope, slope_high / 2
            else:
                high, slope_high, slope_low = middle, slope, slope_low / 2
        return best
