"""What is inside a model: the parts of a report that come after the verdict."""

from __future__ import annotations

from .kernel.gram import GramFacts, gram_facts
from .kernel.influence import Influence, influence_of
from .measure.columns import Dependence, Relevances, dependences, relevances
from .measure.curves import LearningCurve, ValidationCurve, learning_curve, validation_curves
from .measure.honest import Honest
from .parts import Parts
from .table.alone import skills_alone
from .table.drift import Drift, drift_of


def look_at_columns(parts: Parts) -> dict[str, float]:
    """Return what each column says by itself."""
    found = parts.clock.attempt(
        "what columns say alone",
        lambda: skills_alone(parts.subject, parts.clock, parts.seed),
        0.2,
    )
    return found or {}


def look_at_relevance(
    parts: Parts, honest: Honest | None, alone: dict[str, float]
) -> Relevances | None:
    """Return which columns matter."""
    if honest is None:
        return None
    return parts.clock.attempt(
        "which columns matter",
        lambda: relevances(
            parts.subject,
            honest,
            parts.learner,
            parts.has_chances,
            alone,
            clock=parts.clock,
            seed=parts.seed,
        ),
        0.4,
    )


def look_at_dependence(parts: Parts, found: Relevances | None) -> tuple[Dependence, ...]:
    """Return how predictions depend on columns."""
    shown = parts.clock.attempt(
        "how predictions depend on columns",
        lambda: dependences(parts.subject, found, parts.clock, parts.seed),
        0.4,
    )
    return shown or ()


def look_at_drift(parts: Parts) -> Drift | None:
    """Return how test rows differ from training rows."""
    test = parts.test
    if test is None:
        return None
    return parts.clock.attempt(
        "the comparison of test rows with training rows",
        lambda: drift_of(parts.subject, test, parts.core, parts.clock, parts.seed),
        0.3,
    )


def look_at_influence(parts: Parts) -> Influence | None:
    """Return the training points that matter most."""
    return parts.clock.attempt(
        "influential points", lambda: influence_of(parts.subject, parts.core), 0.3
    )


def look_at_gram(parts: Parts) -> GramFacts | None:
    """Return the Gram matrix and its spectrum."""
    return parts.clock.attempt(
        "the Gram matrix", lambda: gram_facts(parts.subject, parts.core, parts.seed), 0.3
    )


def look_at_parameters(parts: Parts) -> tuple[ValidationCurve, ...]:
    """Return scores by penalty and width."""
    found = parts.clock.attempt(
        "the validation curve",
        lambda: validation_curves(parts.subject, parts.core, parts.clock, parts.seed),
        0.5,
    )
    return found or ()


def look_at_sizes(parts: Parts) -> LearningCurve | None:
    """Return scores by the number of rows."""
    return parts.clock.attempt(
        "the learning curve",
        lambda: learning_curve(parts.subject, parts.learner, parts.clock, parts.seed),
    )
