"""How good a model is: the parts of a report that come first, each within its share of time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .. import checks
from ..checks import Array
from .clock import Clock
from .facts import Facts, ModelFacts
from .measure.baselines import constant_values
from .measure.errors import calibration_of, confusions_of, residuals_of
from .measure.honest import Honest, honest_predictions
from .measure.scores import measures_of
from .measure.splits import thinned
from .measure.verdict import TEST, Judgement, judge_test, judge_training, skill_of
from .subject import Core, Learner, Subject, core_of, learner_of, taken, values_of

OWN_ROWS = 2000  # of the fit, on which a model is judged to see how closely it follows them
LONGEST = 600  # characters of a model with its parameters
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # of functions, which differs from run to run


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """Computes the parts of a report; test: other points of the same kind."""

    subject: Subject
    test: Subject | None
    clock: Clock
    seed: int

    @cached_property
    def learner(self) -> Learner:
        """What fits models like that of the subject."""
        return learner_of(self.subject)

    @cached_property
    def core(self) -> Core | None:
        """The kernel model at the heart of it."""
        return core_of(self.subject)

    @property
    def has_chances(self) -> bool:
        """Whether the model gives probabilities."""
        return self.subject.classes is not None and hasattr(self.subject.model, "predict_proba")

    def honest(self) -> Honest | None:
        """Return honest predictions of rows of the fit."""
        subject, clock, seed = self.subject, self.clock, self.seed
        return clock.attempt(
            "the judgement on rows of the fit",
            lambda: honest_predictions(subject, self.learner, clock, seed),
            0.4,
        )

    def judgements(self, honest: Honest | None) -> tuple[Judgement, ...]:
        """Return the judgements, that on test rows first."""
        subject, test, clock, seed = self.subject, self.test, self.clock, self.seed
        found: list[Judgement | None] = []
        if test is not None and len(test):
            found.append(
                clock.attempt(
                    "the judgement on test rows",
                    lambda: judge_test(
                        subject,
                        test,
                        self._values(test),
                        self.has_chances,
                        clock=clock,
                        seed=seed,
                    ),
                    0.4,
                )
            )
        if honest is not None:
            found.append(
                clock.attempt(
                    "the baselines",
                    lambda: judge_training(subject, honest, self.has_chances, clock, seed),
                    0.5,
                )
            )
        return tuple(one for one in found if one is not None)

    def _values(self, test: Subject) -> Array:
        return values_of(self.subject.model, test.X, self.subject.classes)

    def model(self) -> ModelFacts:
        """Return what the model is, and how closely it follows its own rows."""
        model = self.subject.model
        return ModelFacts(
            name=type(model).__name__,
            text=_ADDRESS.sub("", " ".join(checks.show(model, LONGEST).split())),
            task="regression" if self.subject.classes is None else "classification",
            training_skill=self.clock.attempt("the score on rows of the fit", self._own_skill, 0.5),
            notes=tuple(getattr(model, "notes_", ())),
        )

    def _own_skill(self) -> float:
        subject = self.subject
        rows = thinned(np.arange(len(subject)), OWN_ROWS, subject.codes, self.seed)
        points = np.asarray(subject.X)[rows] if subject.is_pairwise else taken(subject.X, rows)
        values = values_of(subject.model, points, subject.classes)
        constant = constant_values(subject, rows, len(rows))
        measure = measures_of(subject.classes is not None, self.has_chances)[0]
        return skill_of(measure, subject.truth[rows], values, constant)

    def with_errors(self, facts: Facts, honest: Honest | None) -> Facts:
        """Return facts with where the model errs, on the rows that count."""
        subject = self.subject
        if self.test is not None and facts.judgement is not None and facts.judgement.on == TEST:
            subject = self.test
            rows, values = np.arange(len(subject)), self._values(subject)
        elif honest is not None:
            rows, values = honest.rows, honest.values
        else:
            return facts
        if subject.classes is None:
            return replace(facts, residuals=residuals_of(subject, rows, values))
        calibration = calibration_of(subject, rows, values) if self.has_chances else None
        confusions = confusions_of(subject, rows, values)
        return replace(facts, confusions=confusions, calibration=calibration)
