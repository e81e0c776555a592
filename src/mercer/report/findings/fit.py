"""Findings about the fit (M021 to M023) and about test rows (M031 to M034)."""

from __future__ import annotations

from ..facts import Facts
from ..kernel.certificate import SEARCH
from ..measure.verdict import TEST, TRAINING
from ..words import count, listed, number, plural, quoted, removal, share
from .record import HIGH, LOW, MEDIUM, Finding

SURE = 0.01  # p-value below which samples differ
OUTSIDE = 0.05  # share of test rows beyond the range of training rows
SHARED = 0.01
FALLEN = 0.1  # skill on test rows below that on held-out rows


def not_converged(facts: Facts) -> Finding | None:
    """M021: a fit that did not come to its end."""
    found = [one for one in facts.certificates if not one.is_good and one.of != SEARCH]
    if not found:
        return None
    one = found[0]
    return Finding(
        code="M021",
        severity=HIGH,
        title="The fit did not converge",
        found=f"The fit of {one.of} ended by “{one.status}” and not by reaching its accuracy.",
        advice=one.sentences[-2] if len(one.sentences) > 2 else "Fit again with wider limits.",
        numbers={"status": one.status},
    )


def at_the_edge(facts: Facts) -> Finding | None:
    """M022: a parameter at the end of what was tried."""
    if not facts.edges:
        return None
    names = [
        f"{one.parameter} = {number(one.value)} (tried {number(one.low)} to {number(one.high)})"
        for one in facts.edges
    ]
    inside = all(one.of for one in facts.edges)
    return Finding(
        code="M022",
        severity=LOW if inside else MEDIUM,
        title="A parameter at the edge of the search",
        found=f"The best value is the last one that was tried: {listed(names)}.",
        advice=(
            "Try values beyond it with mercer.tune and the kernel shown below: the race has "
            "its own range, and other members of the ensemble make up for some of it."
            if inside
            else "Search beyond it: a better value may lie outside."
        ),
        numbers={one.parameter: one.value for one in facts.edges},
    )


def search_cut(facts: Facts) -> Finding | None:
    """M023: a search that the clock has ended."""
    found = [one for one in facts.certificates if one.of == SEARCH and not one.is_good]
    if not found:
        return None
    tried = len(facts.leaderboard.lines) if facts.leaderboard is not None else 0
    return Finding(
        code="M023",
        severity=LOW,
        title="The search was cut short",
        found=f"The search ended by “{found[0].status}” after {plural(tried, 'candidate')}.",
        advice="Raise the time limit if the score matters more than the time.",
        numbers={"status": found[0].status, "candidates": tried},
    )


def drift(facts: Facts) -> Finding | None:
    """M031: test rows are not like training rows."""
    found = facts.drift
    if found is None:
        return None
    columns = [one for one in found.columns if one.drifts]
    sure = found.p_value is not None and found.p_value <= SURE
    if not columns and not sure:
        return None
    parts = []
    if columns:
        names = [f"{quoted(one.name)} (by {share(one.shift)})" for one in columns]
        parts.append(f"{plural(len(columns), 'column has', 'columns have')} moved: {listed(names)}")
    if sure:
        parts.append(f"the two-sample test of the kernel has p = {number(found.p_value, 2)}")
    text = "; ".join(parts)
    return Finding(
        code="M031",
        severity=HIGH if columns and columns[0].shift > 0.3 else MEDIUM,
        title="Test rows differ from training rows",
        found=f"{text[0].upper()}{text[1:]}.",
        advice=(
            "Find out what has changed. Scores on rows of the fit do not hold for rows that differ "
            "from them; fit again with newer rows."
        ),
        numbers={"columns": len(columns), "p_value": found.p_value},
    )


def shared_rows(facts: Facts) -> Finding | None:
    """M032: test rows that were in the fit."""
    found = facts.drift
    if found is None or not found.shared:
        return None
    part = found.shared / found.rows
    return Finding(
        code="M032",
        severity=HIGH if part >= SHARED else LOW,
        title="Test rows that the model has seen",
        found=(
            f"{count(found.shared)} of {count(found.rows)} test rows ({share(part)}) are copies of "
            "training rows."
        ),
        advice="Take them out of the test: the model may know their answers by heart.",
        numbers={"shared": found.shared, "rows": found.rows},
    )


def fallen_score(facts: Facts) -> Finding | None:
    """M033: worse on test rows than on held-out rows."""
    by_name = {one.on: one for one in facts.judgements}
    if TEST not in by_name or TRAINING not in by_name:
        return None
    test, held = by_name[TEST], by_name[TRAINING]
    if held.skill - test.skill < FALLEN:
        return None
    return Finding(
        code="M033",
        severity=MEDIUM,
        title="Worse on the test than in the fit",
        found=(
            f"On test rows the model {removal(test.skill)}; on held-out rows of the fit it "
            f"{removal(held.skill)}."
        ),
        advice="Trust the test. Look for drift, for groups that folds tore apart, and for leaks.",
        numbers={"test_skill": test.skill, "skill": held.skill},
    )


def outside(facts: Facts) -> Finding | None:
    """M034: test rows beyond what the model has seen."""
    found = (
        [] if facts.drift is None else [one for one in facts.drift.columns if one.outside > OUTSIDE]
    )
    if not found:
        return None
    names = [f"{quoted(one.name)} ({share(one.outside)})" for one in found]
    return Finding(
        code="M034",
        severity=MEDIUM,
        title="Test rows beyond the range of the fit",
        found=f"Test rows have values or levels that the fit has not seen: {listed(names)}.",
        advice="Do not trust predictions there: a kernel falls back to the mean far from its rows.",
        numbers={"columns": len(found), "largest_share": max(one.outside for one in found)},
    )


RULES = (not_converged, at_the_edge, search_cut, drift, shared_rows, fallen_score, outside)
