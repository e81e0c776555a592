"""Findings about the data: M011 to M019."""

from __future__ import annotations

from ..facts import Facts
from ..words import count, listed, number, plural, quoted, share
from .record import HIGH, LOW, MEDIUM, Finding

GIVES_AWAY = 0.98  # skill of one column alone from which on it is likely to be the target itself
NO_USE, SAYS_NOTHING = 0.001, 0.02  # rise of the loss when shuffled, and skill alone
MISSING, MOSTLY_MISSING = 0.2, 0.5
FREQUENT, VERY_FREQUENT = 0.8, 0.95
RARE = 10  # rows of a class
COPIES = 0.01
MANY_LEVELS = 0.5  # distinct values over rows


def leak(facts: Facts) -> Finding | None:
    """M011: a column gives the answer away."""
    found = {name: skill for name, skill in facts.alone.items() if skill > GIVES_AWAY}
    if not found or len(facts.data.columns) < 2:
        return None
    worst = max(found, key=lambda name: found[name])
    reached = f"an R² of {number(found[worst])}"
    if facts.is_class:
        reached = f"{share(found[worst])} fewer errors than naming the most frequent class"
    return Finding(
        code="M011",
        severity=HIGH,
        title="A column gives the answer away",
        found=(
            f"{listed([quoted(name) for name in found])} alone predicts the target almost without "
            f"an error: a small model of {quoted(worst)} reaches {reached} on rows it had not seen."
        ),
        advice=(
            "Is it known before the target is? If not, this is a leak: drop it and fit again, or "
            "the scores of this report mean nothing."
        ),
        numbers={"columns": len(found), "alone": found[worst], "column": worst},
    )


def useless_columns(facts: Facts) -> Finding | None:
    """M012: columns that could go."""
    if facts.relevances is None:
        return None
    found = [
        one
        for one in facts.relevances.columns
        if one.rise < max(NO_USE, 2 * one.deviation)
        and one.rise < 10 * NO_USE
        and (one.alone is not None and one.alone < SAYS_NOTHING)
    ]
    if not found or len(found) == len(facts.relevances.columns):
        return None
    most = max(one.rise for one in found)
    return Finding(
        code="M012",
        severity=LOW,
        title="Columns without use",
        found=(
            f"{plural(len(found), 'column')} could be shuffled at no cost that can be told from "
            f"chance (at most {share(max(most, 0.0))} of the loss of a constant): "
            f"{listed([quoted(one.name) for one in found])}."
        ),
        advice="Leave them out: the model gets simpler and cheaper, and often a little better.",
        numbers={"columns": len(found), "largest_rise": most},
    )


def dropped_columns(facts: Facts) -> Finding | None:
    """M013: columns that were left out."""
    found = [one for one in facts.data.columns if one.kind == "drop"]
    if not found:
        return None
    constant = sum(one.distinct <= 1 for one in found)
    return Finding(
        code="M013",
        severity=LOW,
        title="Columns were left out",
        found=(
            f"{plural(len(found), 'column says', 'columns say')} nothing and "
            f"{'was' if len(found) == 1 else 'were'} left out ({count(constant)} with one value or "
            f"none): {listed([quoted(one.name) for one in found])}."
        ),
        advice="Drop them from the file, or check why they are empty, constant or copies.",
        numbers={"columns": len(found), "constant": constant},
    )


def missing_values(facts: Facts) -> Finding | None:
    """M014: many missing values."""
    found = sorted(
        (one for one in facts.data.columns if one.missing >= MISSING and one.kind != "drop"),
        key=lambda one: -one.missing,
    )
    if not found:
        return None
    names = listed([f"{quoted(one.name)} ({share(one.missing)})" for one in found])
    return Finding(
        code="M014",
        severity=MEDIUM if found[0].missing >= MOSTLY_MISSING else LOW,
        title="Many missing values",
        found=f"{plural(len(found), 'column lacks', 'columns lack')} many values: {names}.",
        advice=(
            "Find out why they are missing, and whether they will be for new rows as well: that a "
            "value is missing is used as information."
        ),
        numbers={"columns": len(found), "largest_share": found[0].missing},
    )


def imbalance(facts: Facts) -> Finding | None:
    """M015: one class has most of the rows."""
    levels = facts.data.target.levels
    if not facts.is_class or len(levels) < 2:
        return None
    label, size = levels[0]
    most = size / max(facts.data.rows, 1)
    if most < FREQUENT:
        return None
    return Finding(
        code="M015",
        severity=MEDIUM if most >= VERY_FREQUENT else LOW,
        title="One class has most of the rows",
        found=f"{share(most)} of the rows are of class {quoted(label)}.",
        advice=(
            "Do not read the accuracy: look at the balanced accuracy, the log loss and the "
            "confusions, and weigh the classes (class_weight='balanced') if errors cost alike."
        ),
        numbers={"share": most, "class": label},
    )


def rare_classes(facts: Facts) -> Finding | None:
    """M016: classes of few rows."""
    if not facts.is_class:
        return None
    found = [(label, size) for label, size in facts.data.target.levels if size < RARE]
    if not found:
        return None
    names = listed([f"{quoted(label)} ({size})" for label, size in found])
    return Finding(
        code="M016",
        severity=MEDIUM,
        title="Classes with few rows",
        found=f"{plural(len(found), 'class has', 'classes have')} fewer than {RARE} rows: {names}.",
        advice="Collect more of them, join them with like classes, or do not rely on their scores.",
        numbers={"classes": len(found), "fewest": min(size for _, size in found)},
    )


def duplicates(facts: Facts) -> Finding | None:
    """M017: rows that are there more than once."""
    copies, conflicts = facts.data.duplicates, facts.data.conflicts or 0
    if copies is None or copies < COPIES * facts.data.rows:
        return None
    return Finding(
        code="M017",
        severity=MEDIUM if conflicts < copies else LOW,
        title="Copies of rows",
        found=(
            f"{plural(copies, 'row is a copy', 'rows are copies')} of an earlier one "
            f"({share(copies / facts.data.rows)}); {count(conflicts)} rows have a copy with "
            "another target."
        ),
        advice=(
            "Remove copies, or name what belongs together by groups: a copy on either side of a "
            "split makes scores look better than they are."
        ),
        numbers={"copies": copies, "conflicts": conflicts},
    )


def row_names(facts: Facts) -> Finding | None:
    """M018: a category with nearly as many levels as rows."""
    found = [
        one
        for one in facts.data.columns
        if one.kind == "category" and one.distinct > MANY_LEVELS * facts.data.rows
    ]
    if not found:
        return None
    names = listed([f"{quoted(one.name)} ({count(one.distinct)} levels)" for one in found])
    return Finding(
        code="M018",
        severity=LOW,
        title="Categories that nearly name the rows",
        found=f"Most levels have a single row: {names} in {count(facts.data.rows)} rows.",
        advice="Drop what only names rows, or cut it to a part that repeats, such as a prefix.",
        numbers={"columns": len(found), "levels": max(one.distinct for one in found)},
    )


RULES = (
    leak,
    useless_columns,
    dropped_columns,
    missing_values,
    imbalance,
    rare_classes,
    duplicates,
    row_names,
)
