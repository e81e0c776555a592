"""How good a model is, as the report measures it, for the screen and for the card."""

from __future__ import annotations

from typing import Any

from ...files import CardScore
from ...monitor import Monitor
from ...report.clock import Clock
from ...report.measure.honest import honest_predictions
from ...report.measure.scores import Score
from ...report.measure.sentences import Verdict, verdict_of
from ...report.measure.verdict import Judgement, judge_training
from ...report.subject import learner_of, make_subject
from .training import Training

NORMAL = 2 * 1.96  # standard errors in an interval of 95 %
THIS = "this model"


def judge(model: Any, training: Training, seconds: float | None, seed: int) -> Judgement | None:
    """Return how good a model is on rows that it has not seen; None where there is no time."""
    subject = make_subject(model, training.X, training.y, training.groups)
    clock = Clock(monitor=Monitor(seconds).start(), parts=1)
    has_chances = subject.classes is not None and hasattr(model, "predict_proba")

    def found() -> Judgement:
        honest = honest_predictions(subject, learner_of(subject), clock, seed)
        return judge_training(subject, honest, has_chances, clock, seed)

    return clock.attempt("the judgement", found)


def words(judgement: Judgement, target: str, frequent: float | None) -> Verdict:
    """Return the verdict in words; frequent: the share of the most frequent class."""
    return verdict_of(judgement, target, frequent)


def error_of(score: Score) -> float | None:
    """Return the standard error that the interval of a score stands for."""
    if score.low is None or score.high is None:
        return None
    return (score.high - score.low) / NORMAL


def card_scores(judgement: Judgement | None) -> tuple[list[CardScore], list[CardScore]]:
    """Return the scores of the model and of its baselines for a card."""
    if judgement is None:
        return [], []
    how = f"{judgement.rows:,} rows, {judgement.how}"
    own = [_card_score(THIS, score, how) for score in judgement.scores]
    others = [
        _card_score(baseline.words, score, how)
        for baseline in judgement.baselines
        for score in baseline.scores
    ]
    return own, others


def _card_score(model: str, score: Score, how: str) -> CardScore:
    return CardScore(
        model=model,
        measure=score.name,
        value=score.value,
        error=error_of(score),
        better="higher" if score.larger_is_better else "lower",
        how=how,
    )


def judgement_json(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as data of JSON."""
    own, others = card_scores(judgement)
    return {
        "rows": judgement.rows,
        "how": judgement.how,
        "scores": [_json(score) for score in own],
        "baselines": [_json(score) for score in others],
        "outcomes": {one.words: one.outcome for one in judgement.baselines},
    }


def _json(score: CardScore) -> dict[str, Any]:
    return {
        "model": score.model,
        "measure": score.measure,
        "value": score.value,
        "standard_error": score.error,
        "better": score.better,
    }
