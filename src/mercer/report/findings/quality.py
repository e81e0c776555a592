"""Findings about how good a model is: M001 to M009."""

from __future__ import annotations

from ..facts import Facts
from ..measure.baselines import CONSTANT, LINEAR, TREES
from ..measure.scores import Score
from ..measure.verdict import BETTER, TRAINING, WORSE, Baseline, Judgement
from ..words import count, number, removal, seconds, share
from .record import HIGH, LOW, MEDIUM, Finding

GAP, LARGE_GAP = 0.2, 0.4  # of the skill on rows of the fit above that on others
LITTLE = 0.05  # skill by which a baseline must be ahead for a model to be too stiff
SLOWER, LEAST_SECONDS = 10.0, 1.0
OFF, BEYOND_CHANCE = 0.05, 2.0  # error of probabilities, and over what chance makes of it
FEW_ROWS = 100
UNEVEN = 3.0  # times the errors of large predictions over those of small ones


def overfitting(facts: Facts) -> Finding | None:
    """M001: much better on rows of the fit than on others."""
    judged, seen = _held_out(facts), facts.model.training_skill
    if judged is None or seen is None or seen - judged.skill < GAP:
        return None
    linear = judged.baseline(LINEAR)
    lost = linear is not None and linear.outcome == WORSE
    severity = HIGH if lost else MEDIUM if seen - judged.skill >= LARGE_GAP else LOW
    return Finding(
        code="M001",
        severity=severity,
        title="Better on its own rows than on new ones",
        found=(
            f"On rows of the fit the model {removal(seen)}; on rows it had not seen it "
            f"{removal(judged.skill)}."
        ),
        advice=(
            "Raise the penalty, take a wider kernel or drop columns that only name rows; more rows "
            "help as well. The score on new rows is the one to trust."
        ),
        numbers={"training_skill": seen, "skill": judged.skill},
    )


def underfitting(facts: Facts) -> Finding | None:
    """M002: a baseline does better on new rows than the model on its own."""
    judged, seen = _held_out(facts), facts.model.training_skill
    if judged is None or seen is None:
        return None
    best = max(judged.baselines, key=lambda one: one.skill, default=None)
    if best is None or seen > best.skill - LITTLE:
        return None
    return Finding(
        code="M002",
        severity=MEDIUM,
        title="Too stiff for these data",
        found=(
            f"Even on rows of the fit the model only {removal(seen)}, where a baseline, "
            f"{best.words}, {removal(best.skill)} on rows it had not seen."
        ),
        advice="Lower the penalty, take a narrower kernel, or let mercer search for both.",
        numbers={"training_skill": seen, "baseline_skill": best.skill, "baseline": best.name},
    )


def no_better_than_constant(facts: Facts) -> Finding | None:
    """M003: not better than a constant."""
    found = _baseline(facts, CONSTANT)
    if found is None or found.outcome == BETTER:
        return None
    return Finding(
        code="M003",
        severity=HIGH,
        title="Not better than a constant",
        found=f"{_versus(facts, found)}: on new rows the model is not better than a constant.",
        advice=(
            "Do not use it. Either the columns say nothing about the target, or there are too few "
            "rows to learn it from, or the judged rows are of another kind."
        ),
        numbers=_numbers(facts, found),
    )


def against_linear(facts: Facts) -> Finding | None:
    """M004: a linear model is better, or as good."""
    found = _baseline(facts, LINEAR)
    if found is None or found.outcome == BETTER:
        return None
    worse = found.outcome == WORSE
    verb = "is better" if worse else "does as well, as far as these rows can tell"
    return Finding(
        code="M004",
        severity=MEDIUM if worse else LOW,
        title="A linear model is better" if worse else "A linear model does as well",
        found=f"{_versus(facts, found)}: a linear model {verb}.",
        advice=(
            "Take the linear model, or check penalty and width of the kernel."
            if worse
            else "Take the linear model, which is easier to explain, unless more rows decide."
        ),
        numbers=_numbers(facts, found),
    )


def against_trees(facts: Facts) -> Finding | None:
    """M005: boosted trees are better."""
    found = _baseline(facts, TREES)
    if found is None or found.outcome != WORSE:
        return None
    return Finding(
        code="M005",
        severity=MEDIUM,
        title="Boosted trees are better",
        found=f"{_versus(facts, found)}: boosted trees are better on the same rows.",
        advice=(
            "Give the search more time, allow trees in the ensemble (allow_trees=True), or take "
            "the trees."
        ),
        numbers=_numbers(facts, found),
    )


def slower_than_trees(facts: Facts) -> Finding | None:
    """M006: much slower than boosted trees, and not better."""
    found, took = _baseline(facts, TREES), facts.provenance.fit_seconds
    theirs = _tree_seconds(facts, found)
    if found is None or took is None or theirs is None or found.outcome == BETTER:
        return None
    if took < LEAST_SECONDS or took < SLOWER * theirs:
        return None
    times = float(f"{took / theirs:.1g}")  # one digit: times are never the same twice
    return Finding(
        code="M006",
        severity=LOW,
        title="Slower than boosted trees, and not better",
        found=(
            f"The fit took {seconds(took)}, about {number(times)} times as long as boosted trees, "
            "which are not worse."
        ),
        advice="Lower the time limit, or take the trees.",
        numbers={"fit_seconds": took, "times": times},
    )


def uncalibrated(facts: Facts) -> Finding | None:
    """M007: probabilities are not what they say."""
    found = facts.calibration
    if found is None or found.error < OFF or found.error < BEYOND_CHANCE * found.expected_error:
        return None
    sure = sum(p * n for p, n in zip(found.predicted, found.counts, strict=True))
    true = sum(o * n for o, n in zip(found.observed, found.counts, strict=True))
    way = "too high" if sure > true else "too low"
    return Finding(
        code="M007",
        severity=MEDIUM,
        title="Probabilities are off",
        found=(
            f"Probabilities differ from how often they come true by {share(found.error)} on "
            f"average, where chance explains {share(found.expected_error)}; they are {way} overall."
        ),
        advice=(
            "Use the order of the predictions and not the numbers, or calibrate them on rows kept "
            "aside, for example with sklearn.calibration.CalibratedClassifierCV."
        ),
        numbers={"error": found.error, "expected_error": found.expected_error},
    )


def few_judged_rows(facts: Facts) -> Finding | None:
    """M008: the score itself is a rough one."""
    judged = facts.judgement
    if judged is None or judged.rows >= FEW_ROWS:
        return None
    return Finding(
        code="M008",
        severity=LOW,
        title="Judged on few rows",
        found=f"The scores are of {count(judged.rows)} rows, {_range(judged.scores[0])}.",
        advice="Read the intervals rather than the scores, and judge again with more rows.",
        numbers={"rows": judged.rows},
    )


def uneven_errors(facts: Facts) -> Finding | None:
    """M009: errors grow with what is predicted."""
    found = facts.residuals
    if found is None or found.spread_ratio is None or found.spread_ratio < UNEVEN:
        return None
    return Finding(
        code="M009",
        severity=LOW,
        title="Errors grow with the prediction",
        found=(
            "The largest quarter of the predictions is off by "
            f"{number(found.spread_ratio, 2)} times as much as the smallest quarter."
        ),
        advice=(
            "Fit the logarithm of the target, or read errors as shares of the prediction; "
            "intervals of one width are too wide for small values and too narrow for large ones."
        ),
        numbers={"spread_ratio": found.spread_ratio},
    )


RULES = (
    no_better_than_constant,
    overfitting,
    underfitting,
    against_linear,
    against_trees,
    slower_than_trees,
    uncalibrated,
    few_judged_rows,
    uneven_errors,
)


def _held_out(facts: Facts) -> Judgement | None:
    """Return the judgement on rows like those of the fit, where there is one."""
    found = [one for one in facts.judgements if one.on == TRAINING]
    return found[0] if found else facts.judgement


def _baseline(facts: Facts, name: str) -> Baseline | None:
    return None if facts.judgement is None else facts.judgement.baseline(name)


def _tree_seconds(facts: Facts, found: Baseline | None) -> float | None:
    if facts.leaderboard is not None:
        lines = [one.seconds for one in facts.leaderboard.lines if one.name.startswith("boosted")]
        return min(lines, default=None)
    return None if found is None else found.seconds


def _versus(facts: Facts, found: Baseline) -> str:
    first = facts.judgement.scores[0] if facts.judgement is not None else found.scores[0]
    ours, theirs = number(first.value), number(found.scores[0].value)
    return f"The {first.name} is {ours}, that of {found.words} {theirs}"


def _numbers(facts: Facts, found: Baseline) -> dict[str, float | int | str | None]:
    own = None if facts.judgement is None else facts.judgement.scores[0].value
    return {
        "score": own,
        "baseline_score": found.scores[0].value,
        "difference_low": found.difference.low,
        "difference_high": found.difference.high,
    }


def _range(score: Score) -> str:
    return f"with a {score.name} from {number(score.low)} to {number(score.high)} at 95 %"
