"""The verdict in plain words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..words import count, number, share
from .baselines import CONSTANT, LINEAR, TREES
from .scores import ACCURACY, MAE, R2, RMSE, Score
from .verdict import ALIKE, BETTER, TEST, WORSE, Baseline, Judgement

GOOD, MIXED, BAD = "good", "mixed", "bad"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a reader should take away.

    Attributes
    ----------
    grade : str
        "good": better than the simple baselines and not worse than boosted trees; "mixed": a
        linear model does as well, or it or boosted trees are better; "bad": not better than a
        constant.
    headline : str
        The verdict in a few words.
    sentences : tuple of str
        How good, on which rows, against what.
    """

    grade: str
    headline: str
    sentences: tuple[str, ...]


def verdict_of(judgement: Judgement, target: str, frequent: float | None) -> Verdict:
    """Return the verdict; frequent: the share of the most frequent class, None for numbers."""
    grade, headline = _grade(judgement)
    sentences = (
        _how_good(judgement, target, frequent),
        _judged_on(judgement),
        _compared(judgement),
    )
    return Verdict(
        grade=grade, headline=headline, sentences=tuple(text for text in sentences if text)
    )


def _grade(judgement: Judgement) -> tuple[str, str]:
    outcomes = {one.name: one.outcome for one in judgement.baselines}
    words = {one.name: one.words for one in judgement.baselines}
    if outcomes.get(CONSTANT) != BETTER:
        return BAD, f"Not better than {words.get(CONSTANT, 'a constant')}"
    if outcomes.get(LINEAR) == WORSE:
        return MIXED, "Useful, but a linear model is better"
    if outcomes.get(TREES) == WORSE:
        return MIXED, "Useful, but boosted trees are better"
    if outcomes.get(LINEAR) == ALIKE:
        return MIXED, "Useful, but a linear model does as well"
    if LINEAR not in outcomes:
        return GOOD, f"Better than {words[CONSTANT]}"
    if TREES not in outcomes:
        return GOOD, f"Better than {words[CONSTANT]} and a linear model"
    if outcomes[TREES] == ALIKE:
        return GOOD, "Better than a linear model, as good as boosted trees"
    return GOOD, "Better than every baseline"


def _between(score: Score, show: Callable[[float], str]) -> str:
    if score.low is None or score.high is None:
        return ""
    return f" (95 % interval {show(score.low)} to {show(score.high)})"


def _how_good(judgement: Judgement, target: str, frequent: float | None) -> str:
    accuracy = judgement.score(ACCURACY)
    if accuracy is not None:
        known = ""
        if frequent is not None:
            known = f", where always naming the most frequent class would be for {share(frequent)}"
        return (
            f"The class is right for {share(accuracy.value)} of the rows that the model had not "
            f"seen{_between(accuracy, share)}{known}."
        )
    error, explained = judgement.score(RMSE), judgement.score(R2)
    typical = judgement.score(MAE)
    if error is None or explained is None or typical is None:
        return ""
    what = f" of {target}" if target else ""
    return (
        f"On rows that the model had not seen its predictions{what} are off by "
        f"{number(typical.value, 3)} on average and by {number(error.value, 3)} as a root mean "
        f"square{_between(error, lambda value: number(value, 3))}; they explain "
        f"{share(max(explained.value, 0.0))} of the variance."
    )


def _judged_on(judgement: Judgement) -> str:
    if judgement.on == TEST:
        return f"It was judged on {count(judgement.rows)} rows {judgement.how}."
    return f"It was judged on {count(judgement.rows)} rows of the data, {judgement.how}."


def _compared(judgement: Judgement) -> str:
    parts = [_against(judgement.scores[0], one) for one in judgement.baselines]
    if not parts:
        return ""
    *before, last = parts
    text = f"{', '.join(before)} and {last}" if before else last
    return f"Its {judgement.scores[0].name} is {text}."


def _against(score: Score, baseline: Baseline) -> str:
    """Return how a score compares with that of a baseline, such as "12 % lower than …"."""
    other = baseline.scores[0].value
    if score.larger_is_better:
        points = 100.0 * (score.value - other)
        size = f"{number(abs(points), 2)} points {'higher' if points >= 0 else 'lower'} than"
    else:
        ratio = (score.value - other) / other if other else 0.0
        size = f"{share(abs(ratio))} {'lower' if ratio <= 0 else 'higher'} than"
    chance = " (which may be chance)" if baseline.outcome == ALIKE else ""
    name = "that of" if baseline.name != CONSTANT else "with"
    return f"{size} {name} {baseline.words}{chance}"
