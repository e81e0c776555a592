"""Making a report: the parts one after another, within the time limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array, InputError, sentence
from ..monitor import Monitor
from ..typing import LabelsLike, PointsLike, TargetsLike
from .clock import Clock
from .excerpt import excerpt_of
from .facts import Facts, ModelFacts
from .findings.rules import findings_of
from .kernel.certificate import certificates_of
from .kernel.facts import kernel_facts, leaderboard_facts
from .kernel.gram import gram_facts
from .kernel.influence import influence_of
from .measure.baselines import CONSTANT, baseline_values
from .measure.columns import dependences, relevances
from .measure.curves import learning_curve, validation_curves
from .measure.edges import edges_of
from .measure.errors import calibration_of, confusions_of, residuals_of
from .measure.honest import Honest, honest_predictions
from .measure.scores import measures_of
from .measure.sentences import verdict_of
from .measure.splits import thinned
from .measure.verdict import Judgement, judge_test, judge_training, skill_of
from .provenance import Provenance, cost_of, versions
from .report import Report
from .subject import (
    Core,
    Learner,
    Subject,
    core_of,
    learner_of,
    make_subject,
    same_kind,
    taken,
    values_of,
)
from .subject.subject import WHO
from .table.alone import skills_alone
from .table.drift import Drift, drift_of
from .table.summary import data_facts, hash_of

PARTS = 12  # of a report, that take time
OWN_ROWS = 2000  # of the fit, on which a model is judged to see how closely it follows them


def make_report(
    model: Any,
    X: PointsLike,
    y: TargetsLike | LabelsLike,
    *,
    title: str | None = None,
    X_test: PointsLike | None = None,
    y_test: TargetsLike | LabelsLike | None = None,
    groups: LabelsLike | None = None,
    command: str | None = None,
    seed: int | None = None,
    source: str | None = None,
    sha256: str | None = None,
    time_limit: float | None = 20.0,
    progress: Callable[[str, float], None] | None = None,
    random_state: int = 0,
) -> Report:
    """Make a report about a fitted model: how good it is, what to mind, how it decides.

    The model is judged on rows that it has not seen: an automatic learner by its own honest
    predictions, any other model by a cross-validation of clones, and on test rows where there are
    any. A constant, a linear model and boosted trees are judged on the same rows, and differences
    have intervals from a bootstrap [1]_. What there is no time for is left out, with a sentence.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor of mercer, also within a pipeline or a search.
    X : data frame, array-like, sparse matrix or sequence of objects
        The points that it was fitted to.
    y : array-like of shape (n,) or (n, n_outputs)
        Their classes or numbers.
    title : str, default=None
        The title of the page; None makes one of the model and the target.
    X_test : data frame, array-like, sparse matrix or sequence of objects, default=None
        Other points, which are compared with X.
    y_test : array-like, default=None
        Their classes or numbers; the model is then judged on them.
    groups : array-like of shape (n,), default=None
        The group of each point: points of one group are never judged by each other.
    command : str, default=None
        The command that made the model, to be shown.
    seed : int, default=None
        The seed of the fit, to be shown; None takes that of the model.
    source : str, default=None
        Where the data are from, to be shown.
    sha256 : str, default=None
        The hash of the data file, to be shown; None takes that of the values of a table.
    time_limit : float, default=20.0
        Seconds that the report may take, roughly; None takes as long as it needs.
    progress : callable, default=None
        Called with the name of a part and the share of the work that is done.
    random_state : int, default=0
        Seed of folds and resamples.

    Returns
    -------
    Report
        The report, which gives a page and its numbers.

    Raises
    ------
    InputError
        If the model is not a fitted classifier or regressor, or the data are not what it takes.

    References
    ----------
    .. [1] B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", 1993.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.report import make_report
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(120, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> report = make_report(SVC(C=10.0).fit(X, y), X, y)
    >>> report.verdict.headline
    'Better than every baseline'
    >>> report.html().startswith("<!DOCTYPE html>")
    True
    """
    if y_test is not None and X_test is None:
        raise InputError(sentence(WHO, "y_test must come with X_test", "y_test alone"))
    random_state = checks.whole(WHO, "random_state", random_state, least=0, most=2**31 - 1)
    subject = make_subject(model, X, y, groups)
    clock = Clock(Monitor(time_limit, progress), PARTS)
    maker = _Maker(
        subject=subject,
        test=None if X_test is None else same_kind(subject, X_test, y_test),
        clock=clock,
        seed=random_state,
    )
    provenance = Provenance(
        source=source,
        sha256=hash_of(subject) if sha256 is None else sha256,
        hashed="values" if sha256 is None else "file",
        rows=len(subject),
        columns=None if subject.table is None else len(subject.table.columns),
        command=command,
        seed=_seed_of(model) if seed is None else seed,
        random_state=random_state,
        versions=versions(),
        **cost_of(subject),
    )
    facts = maker.facts(title or _title(subject), provenance)
    if progress is not None:
        progress("done", 1.0)
    return Report(facts=replace(facts, findings=findings_of(facts)))


def _title(subject: Subject) -> str:
    name = type(subject.model).__name__
    return f"{name} for {subject.target}" if subject.target else f"Report on {name}"


def _seed_of(model: Any) -> int | None:
    found = getattr(model, "random_state", None)
    return int(found) if isinstance(found, int | np.integer) else None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Maker:
    """Computes the parts of a report, those that matter most first."""

    subject: Subject
    test: Subject | None
    clock: Clock
    seed: int

    @cached_property
    def learner(self) -> Learner:
        return learner_of(self.subject)

    @cached_property
    def core(self) -> Core | None:
        return core_of(self.subject)

    @property
    def has_chances(self) -> bool:
        return self.subject.classes is not None and hasattr(self.subject.model, "predict_proba")

    def facts(self, title: str, provenance: Provenance) -> Facts:
        """Return all facts but the findings."""
        subject, seed, attempt = self.subject, self.seed, self.clock.attempt
        honest = attempt("the judgement on rows of the fit", self._honest, 0.4)
        judgements = self._judgements(honest)
        alone = attempt(
            "what columns say alone", lambda: skills_alone(subject, self.clock, seed), 0.2
        )
        found = None
        if honest is not None:
            found = attempt(
                "which columns matter",
                lambda: relevances(
                    subject, honest, self.learner, self.has_chances, alone or {}, self.clock, seed
                ),
                0.4,
            )
        facts = Facts(
            title=title,
            model=self._model(),
            verdict=None,
            judgements=judgements,
            data=data_facts(subject),
            leaderboard=leaderboard_facts(subject),
            kernel=kernel_facts(self.core),
            certificates=certificates_of(subject, self.core),
            edges=edges_of(subject, self.core),
            alone=alone or {},
            relevances=found,
            drift=self._drift(),
            influence=attempt("influential points", lambda: influence_of(subject, self.core), 0.3),
            gram=attempt("the Gram matrix", lambda: gram_facts(subject, self.core, seed), 0.3),
            dependences=attempt(
                "how predictions depend on columns",
                lambda: dependences(subject, found, self.clock, seed),
                0.4,
            )
            or (),
            excerpt=excerpt_of(subject, None, ()),
            provenance=provenance,
        )
        return self._finished(self._with_curves(self._with_errors(facts, honest)))

    # --- parts ------------------------------------------------------------------------------

    def _honest(self) -> Honest:
        return honest_predictions(self.subject, self.learner, self.clock, self.seed)

    def _judgements(self, honest: Honest | None) -> tuple[Judgement, ...]:
        """Return the judgements, that on test rows first."""
        found: list[Judgement | None] = []
        if self.test is not None and len(self.test.truth):
            found.append(self.clock.attempt("the judgement on test rows", self._judge_test, 0.4))
        if honest is not None:
            found.append(
                self.clock.attempt("the baselines", lambda: self._judge_training(honest), 0.5)
            )
        return tuple(one for one in found if one is not None)

    def _judge_training(self, honest: Honest) -> Judgement:
        return judge_training(self.subject, honest, self.has_chances, self.clock, self.seed)

    def _judge_test(self) -> Judgement:
        test = self.test
        if test is None:
            raise InputError(sentence(WHO, "there must be test rows", "none"))
        values = values_of(self.subject.model, test.X, self.subject.classes)
        return judge_test(self.subject, test, values, self.has_chances, self.clock, self.seed)

    def _drift(self) -> Drift | None:
        test = self.test
        if test is None:
            return None
        return self.clock.attempt(
            "the comparison of test rows with training rows",
            lambda: drift_of(self.subject, test, self.core, self.clock, self.seed),
            0.3,
        )

    def _with_errors(self, facts: Facts, honest: Honest | None) -> Facts:
        """Return facts with where the model errs, on the rows that count."""
        subject = self.subject
        if self.test is not None and facts.judgement is not None and facts.judgement.on == "test":
            subject, rows = self.test, np.arange(len(self.test))
            values = values_of(subject.model, subject.X, subject.classes)
        elif honest is not None:
            rows, values = honest.rows, honest.values
        else:
            return facts
        if subject.classes is None:
            return replace(facts, residuals=residuals_of(subject, rows, values))
        calibration = calibration_of(subject, rows, values) if self.has_chances else None
        return replace(
            facts, confusions=confusions_of(subject, rows, values), calibration=calibration
        )

    def _with_curves(self, facts: Facts) -> Facts:
        subject, clock, seed = self.subject, self.clock, self.seed
        validation = clock.attempt(
            "the validation curve", lambda: validation_curves(subject, self.core, clock, seed), 0.5
        )
        learning = clock.attempt(
            "the learning curve", lambda: learning_curve(subject, self.learner, clock, seed)
        )
        return replace(facts, learning_curve=learning, validation_curves=validation or ())

    def _finished(self, facts: Facts) -> Facts:
        """Return facts with the verdict, the rows that are named, and what was left out."""
        rows: set[int] = set()
        on_test = facts.judgement is not None and facts.judgement.on == "test"
        errors = facts.residuals or facts.confusions
        if errors is not None and not on_test:
            rows |= {one.row for one in errors.worst}
        if facts.influence is not None:
            rows |= {one.row for one in facts.influence.points}
        verdict = None
        if facts.judgement is not None:
            frequent = None
            if facts.is_class:
                frequent = facts.data.target.levels[0][1] / facts.data.rows
            verdict = verdict_of(facts.judgement, self.subject.target, frequent)
        return replace(
            facts,
            verdict=verdict,
            excerpt=excerpt_of(self.subject, facts.relevances, sorted(rows)),
            left_out=tuple(self.clock.left_out),
        )

    def _model(self) -> ModelFacts:
        subject = self.subject
        skill = self.clock.attempt("the score on rows of the fit", self._training_skill, 0.5)
        text = checks.show(subject.model, 600)
        return ModelFacts(
            name=type(subject.model).__name__,
            text=" ".join(text.split()),
            task="regression" if subject.classes is None else "classification",
            training_skill=skill,
            notes=tuple(getattr(subject.model, "notes_", ())),
        )

    def _training_skill(self) -> float:
        subject = self.subject
        rows = thinned(np.arange(len(subject)), OWN_ROWS, subject.codes, self.seed)
        X: Any = subject.X
        points = np.asarray(X)[rows] if subject.is_pairwise else taken(X, rows)
        values = values_of(subject.model, points, subject.classes)
        constant = baseline_values(CONSTANT, subject, rows, rows, self.clock, self.seed)
        measure = measures_of(subject.classes is not None, self.has_chances)[0]
        fallback: Array = np.zeros_like(values)
        return skill_of(
            measure, subject.truth[rows], values, fallback if constant is None else constant
        )
