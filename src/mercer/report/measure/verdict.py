"""How good a model is, against which baselines, and how sure that is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ...checks import Array
from ..clock import Clock, LeftOut, NotShown
from ..subject import Subject
from .baselines import CONSTANT, NAMES, baseline_values, judged_baseline, words_of
from .honest import Honest
from .scores import (
    Difference,
    Draws,
    Measure,
    Score,
    difference_of,
    loss_of,
    measures_of,
    scores_of,
)

BETTER, ALIKE, WORSE = "better", "alike", "worse"
TRAINING, TEST = "training", "test"
SEED_OF_TEST = 1  # added to the seed, for draws of other rows


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A simple model on the same rows.

    Attributes
    ----------
    name : str
        "constant", "linear" or "trees".
    words : str
        What it is.
    scores : tuple of Score
        Its scores.
    skill : float
        1 - its loss over that of the constant.
    difference : Difference
        The first score of the model minus that of the baseline.
    outcome : str
        Whether the model is "better" or "worse"; "alike" where the interval of the difference has
        0 inside.
    seconds : float or None
        Time that it took here, which is no part of the page: it would never be the same twice.
    """

    name: str
    words: str
    scores: tuple[Score, ...]
    skill: float
    difference: Difference
    outcome: str
    seconds: float | None = field(default=None, metadata={"twin": False})


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """How good a model is on rows that it has not seen.

    Attributes
    ----------
    on : str
        "training" for rows of the fit that were held out, "test" for rows that were handed in.
    rows : int
        How many rows were judged.
    how : str
        By whom they were predicted.
    scores : tuple of Score
        The scores of the model; the first one decides.
    skill : float
        1 - loss / loss of the constant, of the log loss, the squared error or the share of errors.
    baselines : tuple of Baseline
        What it is compared with.
    """

    on: str
    rows: int
    how: str
    scores: tuple[Score, ...]
    skill: float
    baselines: tuple[Baseline, ...]

    def score(self, name: str) -> Score | None:
        """Return a score by its name; None where it was not measured."""
        return next((one for one in self.scores if one.name == name), None)

    def baseline(self, name: str) -> Baseline | None:
        """Return a baseline by its name; None where there is none."""
        return next((one for one in self.baselines if one.name == name), None)


def judge_training(
    subject: Subject, honest: Honest, has_chances: bool, clock: Clock, seed: int
) -> Judgement:
    """Return how good the model is on rows of the fit."""

    def predict(name: str) -> Array | None:
        return judged_baseline(name, subject, honest, clock, seed)

    truth, groups = subject.truth[honest.rows], subject.groups
    if groups is not None:
        groups = np.unique(groups[honest.rows], return_inverse=True)[1]
    court = _Court(
        subject=subject,
        measures=measures_of(subject.classes is not None, has_chances),
        truth=truth,
        draws=Draws.of(len(truth), groups, seed),
        clock=clock,
    )
    return court.judgement(honest.values, predict, TRAINING, honest.how, honest.folds)


def judge_test(
    subject: Subject, test: Subject, values: Array, has_chances: bool, clock: Clock, seed: int
) -> Judgement:
    """Return how good the model is on other rows, which were not given to the fit."""

    def predict(name: str) -> Array | None:
        rows = np.arange(len(subject))
        return baseline_values(name, subject, rows, test.X, clock=clock, seed=seed)

    court = _Court(
        subject=subject,
        measures=measures_of(subject.classes is not None, has_chances),
        truth=test.truth,
        draws=Draws.of(len(test), None, seed + SEED_OF_TEST),
        clock=clock,
    )
    return court.judgement(values, predict, TEST, "that were handed in as test rows")


def skill_of(measure: Measure, truth: Array, values: Array, constant: Array) -> float:
    """Return 1 - loss / loss of the constant; 0 where the constant makes no error either."""
    least = loss_of(measure, truth, constant)
    return 1.0 - loss_of(measure, truth, values) / least if least > 0 else 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class _Court:
    """What predictions of the same rows are compared by."""

    subject: Subject
    measures: tuple[Measure, ...]
    truth: Array
    draws: Draws
    clock: Clock

    def judgement(
        self,
        values: Array,
        predict: Callable[[str], Array | None],
        on: str,
        how: str,
        folds: Array | None = None,
    ) -> Judgement:
        """Return the judgement of a model; predict: returns predictions of a baseline."""
        known: dict[str, Array] = {}
        taken: dict[str, float] = {}
        for name in NAMES:
            start = time.monotonic()
            try:
                found = predict(name)
            except NotShown as reason:
                words = f"the comparison with {words_of(name, self.subject)}"
                self.clock.left_out.append(LeftOut(part=words, why=str(reason)))
                continue
            if found is not None:
                known[name], taken[name] = found, time.monotonic() - start
        constant = known.get(CONSTANT, np.zeros_like(values))
        return Judgement(
            on=on,
            rows=len(values),
            how=how,
            scores=scores_of(self.measures, self.truth, values, self.draws, folds),
            skill=skill_of(self.measures[0], self.truth, values, constant),
            baselines=tuple(
                replace(self._baseline(name, values, known[name], constant), seconds=taken[name])
                for name in known
            ),
        )

    def _baseline(self, name: str, values: Array, others: Array, constant: Array) -> Baseline:
        first = self.measures[0]
        moved = difference_of(first, self.truth, values, others, self.draws)
        gain = (moved.low, moved.high) if first.larger else (-moved.high, -moved.low)
        outcome = BETTER if gain[0] > 0 else WORSE if gain[1] < 0 else ALIKE
        return Baseline(
            name=name,
            words=words_of(name, self.subject),
            scores=scores_of(self.measures, self.truth, others, self.draws),
            skill=skill_of(first, self.truth, others, constant),
            difference=moved,
            outcome=outcome,
        )
