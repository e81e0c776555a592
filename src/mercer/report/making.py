"""Making a report: the parts one after another, within the time limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import checks
from ..checks import InputError, sentence
from ..monitor import Monitor
from ..typing import LabelsLike, PointsLike, TargetsLike
from .clock import Clock
from .excerpt import excerpt_of
from .facts import Facts
from .findings.rules import findings_of
from .kernel.certificate import certificates_of
from .kernel.facts import kernel_facts, leaderboard_facts
from .looks import (
    look_at_columns,
    look_at_dependence,
    look_at_drift,
    look_at_gram,
    look_at_influence,
    look_at_parameters,
    look_at_relevance,
    look_at_sizes,
)
from .measure.baselines import CONSTANT
from .measure.edges import edges_of
from .measure.scores import ACCURACY
from .measure.sentences import verdict_of
from .measure.verdict import TRAINING
from .parts import Parts
from .provenance import Provenance, provenance_of
from .report import Report
from .subject import Subject, make_subject, same_kind
from .subject.subject import WHO
from .table.summary import data_facts

TIMED = 12  # parts of a report that take time


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
    >>> report.verdict.grade
    'good'
    >>> report.html().startswith("<!DOCTYPE html>")
    True
    """
    if y_test is not None and X_test is None:
        raise InputError(sentence(WHO, "y_test must come with X_test", "y_test alone"))
    random_state = checks.whole(WHO, "random_state", random_state, least=0, most=2**31 - 1)
    subject = make_subject(model, X, y, groups)
    parts = Parts(
        subject=subject,
        test=None if X_test is None else same_kind(subject, X_test, y_test),
        clock=Clock(monitor=Monitor(time_limit, progress), parts=TIMED),
        seed=random_state,
    )
    provenance = replace(
        provenance_of(subject, sha256, random_state),
        source=source,
        command=command,
        seed=_seed_of(model) if seed is None else seed,
    )
    facts = _facts(parts, title or _title(subject), provenance)
    if progress is not None:
        progress("done", 1.0)
    return Report(facts=replace(facts, findings=findings_of(facts)))


def _facts(parts: Parts, title: str, provenance: Provenance) -> Facts:
    """Return all facts but the findings; the parts that matter most have the first of the time."""
    subject, core = parts.subject, parts.core
    honest = parts.honest()
    judgements = parts.judgements(honest)
    alone = look_at_columns(parts)
    found = look_at_relevance(parts, honest, alone)
    facts = Facts(
        title=title,
        model=parts.model(),
        verdict=None,
        judgements=judgements,
        data=data_facts(subject),
        leaderboard=leaderboard_facts(subject),
        kernel=kernel_facts(core),
        certificates=certificates_of(subject, core),
        edges=edges_of(subject, core),
        alone=alone,
        relevances=found,
        drift=look_at_drift(parts),
        influence=look_at_influence(parts),
        gram=look_at_gram(parts),
        dependences=look_at_dependence(parts, found),
        excerpt=excerpt_of(subject, None, ()),
        provenance=provenance,
    )
    facts = parts.with_errors(facts, honest)
    facts = replace(
        facts, validation_curves=look_at_parameters(parts), learning_curve=look_at_sizes(parts)
    )
    return _finished(parts, facts)


def _finished(parts: Parts, facts: Facts) -> Facts:
    """Return facts with the verdict, the rows that are named, and what was left out."""
    rows: set[int] = set()
    errors, judged = facts.residuals or facts.confusions, facts.judgement
    if errors is not None and judged is not None and judged.on == TRAINING:
        rows |= {one.row for one in errors.worst}
    if facts.influence is not None:
        rows |= {one.row for one in facts.influence.points}
    verdict = None
    if judged is not None:
        constant = judged.baseline(CONSTANT)
        scores = () if constant is None else constant.scores
        frequent = [one.value for one in scores if one.name == ACCURACY]
        verdict = verdict_of(judged, parts.subject.target, frequent[0] if frequent else None)
    return replace(
        facts,
        verdict=verdict,
        excerpt=excerpt_of(parts.subject, facts.relevances, sorted(rows)),
        left_out=tuple(parts.clock.left_out),
    )


def _title(subject: Subject) -> str:
    name = type(subject.model).__name__
    return f"{name} for {subject.target}" if subject.target else f"Report on {name}"


def _seed_of(model: Any) -> int | None:
    found = getattr(model, "random_state", None)
    return int(found) if isinstance(found, int | np.integer) else None
