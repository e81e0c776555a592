"""What has been judged so far, and the ensemble that it makes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...checks import Array
from .greedy import (
    BAGS,
    FEW_BAGS,
    SLOW_BAGS,
    bagged_weights,
    crossed_mean,
    crossed_weights,
)
from .judging import TREES, Judge, Judged


@dataclass(kw_only=True)
class Results:
    """Candidates with their judgement, in the order in which they were judged."""

    judged: list[Judged] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.judged)

    def add(self, found: list[Judged]) -> None:
        """Add those that came to a loss."""
        self.judged += [one for one in found if np.isfinite(one.loss)]

    def ranked(self) -> list[Judged]:
        """Return all, the best first."""
        return sorted(self.judged, key=lambda one: one.loss)

    def kernel_models(self) -> list[Judged]:
        """Return all but trees, the best first."""
        return [one for one in self.ranked() if one.candidate.learner != TREES]

    def ridges(self) -> list[Judged]:
        """Return the ridge models with a fixed kernel, the best first."""
        return [one for one in self.ranked() if one.candidate.learner == "ridge"]

    def widths(self) -> dict[str, float]:
        """Return the best width of each family of kernels."""
        found: dict[str, float] = {}
        for one in self.ridges():
            found.setdefault(one.candidate.family, one.candidate.width)
        return found

    def ensemble(self, judge: Judge, allow_trees: bool) -> Ensemble:
        """Return the candidates of the ensemble, and how good it is."""
        task, rows = judge.task, judge.splits.rows
        able = self.ranked() if allow_trees else self.kernel_models()
        evidence, seed = np.stack([one.evidence for one in able]), judge.run.seed

        def losses(some: Array, places: Array) -> Array:
            return task.losses(some, rows[places])

        bags, few = (BAGS, FEW_BAGS) if task.score is None else (SLOW_BAGS, SLOW_BAGS)
        weights = bagged_weights(evidence, losses, seed, bags)
        crossed = crossed_weights(evidence, losses, seed, few)
        chosen = [(one, float(w)) for one, w in zip(able, weights, strict=True) if w > 0]
        return Ensemble(
            chosen=tuple(chosen),
            values=crossed_mean(np.stack([one.values for one in able]), crossed),
            loss=task.loss(crossed_mean(evidence, crossed), rows),
        )


@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """The candidates of an ensemble with their weights.

    values, loss: of the judged rows, by ensembles whose weights were chosen without them.
    """

    chosen: tuple[tuple[Judged, float], ...]
    values: Array
    loss: float
