"""The verdict: the first thing on the page."""

from __future__ import annotations

from ...facts import Facts
from ...measure.baselines import CONSTANT
from ...measure.scores import ACCURACY, AREA, BALANCED, R2, Score
from ...measure.verdict import ALIKE, BETTER, TEST, Baseline, Judgement
from ...words import MINUS, count, number, share
from ..markup import Html, element, paragraph, table
from ..small import whisker
from .base import Section, absences

STAMPS = {"good": "Verdict: good", "mixed": "Verdict: mixed", "bad": "Verdict: not usable as it is"}
OUTCOMES = {BETTER: "model better", ALIKE: "no clear difference"}
SHARES = (ACCURACY, BALANCED)
MEANINGS = {
    "log loss": "log loss, smaller is better",
    "RMSE": "root mean square error",
    R2: "R², share of variance explained",
    AREA: "area under the ROC curve",
}


def verdict_section(facts: Facts) -> Section:
    """Return how good the model is, against what."""
    verdict, judged = facts.verdict, facts.judgement
    if verdict is None or judged is None:
        body = element("h2", "No verdict")
        missing = absences(facts, [one.part for one in facts.left_out])
        return Section(
            key="verdict", title="Verdict", body=Html(body + "".join(missing)), kind="verdict mixed"
        )
    parts = [
        paragraph(STAMPS[verdict.grade], class_="stamp"),
        element("h2", verdict.headline),
        paragraph(verdict.sentences[0], class_="lead"),
        element("ul", *(_tile(one) for one in judged.scores[:4]), class_="tiles"),
        *(paragraph(text) for text in verdict.sentences[1:]),
        _compared(facts, judged),
        *_others(facts),
        *absences(
            facts,
            [one.part for one in facts.left_out if one.part.startswith("the comparison with")],
        ),
        *absences(facts, ["the judgement on rows of the fit", "the baselines"]),
    ]
    return Section(
        key="verdict",
        title="Verdict",
        body=Html("".join(parts)),
        kind=f"verdict {verdict.grade}",
    )


def _text(score: Score, value: float | None) -> str:
    if score.name in SHARES:
        return share(value)
    if score.name in (R2, AREA) and value is not None:
        return f"{value:.3f}".replace("-", MINUS)
    return number(value, 3)


def _tile(score: Score) -> Html:
    parts = [
        element("span", MEANINGS.get(score.name, score.name), class_="what"),
        element("span", _text(score, score.value), class_="value"),
    ]
    if score.low is not None:
        ends = f"95 %: {_text(score, score.low)} to {_text(score, score.high)}"
        parts.append(element("span", ends, class_="interval"))
    if score.folds:
        low, high = min(score.folds), max(score.folds)
        text = f"{len(score.folds)} folds: {_text(score, low)} to {_text(score, high)}"
        parts.append(element("span", text, class_="interval"))
    return element("li", *parts, class_="tile")


def _compared(facts: Facts, judged: Judgement) -> Html:
    """Return the model and its baselines in a table with intervals."""
    first = judged.scores[0]
    everyone: list[tuple[str, tuple[Score, ...], Baseline | None]] = []
    everyone.append(("this model", judged.scores, None))
    everyone += [(one.words, one.scores, one) for one in judged.baselines]
    # A constant is often so far away that nothing else could be told apart beside it.
    near = everyone if len(everyone) < 3 else [one for one in everyone if not _is_constant(one[2])]
    reach = [
        value
        for _, scores, _ in near
        for value in (scores[0].value, scores[0].low, scores[0].high)
        if value is not None
    ]
    ends = (min(reach), max(reach))
    rows = []
    for name, scores, baseline in everyone:
        own = scores[0]
        line = [
            name,
            _text(own, own.value),
            whisker(own.value, own.low, own.high, ends, not baseline),
        ]
        line += [_text(one, one.value) for one in scores[1:3]]
        line.append(_outcome(first, baseline))
        rows.append(line)
    head = [
        "",
        first.name,
        "with its 95 % interval",
        *(one.name for one in judged.scores[1:3]),
        "model − baseline",
    ]
    found = table(
        head,
        rows,
        label="The model and its baselines",
        numbers=(1, 3, 4) if len(head) == 6 else (1, 3),
    )
    return Html(found.replace("<tbody><tr>", '<tbody><tr class="own">', 1))


def _is_constant(baseline: Baseline | None) -> bool:
    return baseline is not None and baseline.name == CONSTANT


def _outcome(first: Score, baseline: Baseline | None) -> str:
    if baseline is None:
        return "–"
    moved = baseline.difference
    word = OUTCOMES.get(baseline.outcome, "model worse")
    return f"{word} ({_signed(moved.low)} to {_signed(moved.high)})"


def _signed(value: float) -> str:
    text = number(value, 2)
    return text if value <= 0 else f"+{text}"


def _others(facts: Facts) -> list[Html]:
    """Return what was measured on other rows than those that count."""
    found = []
    for one in facts.judgements[1:]:
        what = "test rows" if one.on == TEST else "held-out rows of the fit"
        scores = ", ".join(f"{score.name} {_text(score, score.value)}" for score in one.scores[:3])
        text = f"For comparison, on {count(one.rows)} {what}: {scores}."
        found.append(paragraph(text, class_="how"))
    return found
