"""The data, and how test rows differ from them."""

from __future__ import annotations

from ...facts import Facts
from ...table.drift import ColumnShift, Drift
from ...table.summary import ColumnFacts
from ...words import count, entry, number, plural, share
from ..markup import Html, element, folded, joined, paragraph, table
from ..small import histogram, meter
from .base import Section, absences

MOST, MOST_LISTED = 40, 200  # columns that are shown at once, and at all
LEVELS = 4  # of a category that are named


def data_section(facts: Facts) -> Section:
    """Return what the data are."""
    data = facts.data
    size = f"{plural(data.rows, 'point')}, {data.points}"
    if data.columns:
        size = f"{plural(data.rows, 'row')} of {plural(len(data.columns), 'column')}"
    parts = [paragraph(f"The model was fitted to {size}. {_copies(facts)}".strip())]
    parts.append(_target(facts))
    if data.columns:
        head = ["column", "kind", "missing", "distinct", "values", "distribution"]
        rows = [_row(one) for one in data.columns]
        label = "The columns of the data"
        options = {"label": label, "numbers": (2, 3), "class_": "columns"}
        parts.append(table(head, rows[:MOST], **options))  # type: ignore[arg-type]
        if len(rows) > MOST:
            rest = table(head, rows[MOST:MOST_LISTED], **options)  # type: ignore[arg-type]
            more = f"{count(min(len(rows), MOST_LISTED) - MOST)} more columns"
            parts.append(folded(more, rest))
        if len(rows) > MOST_LISTED:
            text = f"{count(len(rows) - MOST_LISTED)} further columns are in the JSON file only."
            parts.append(paragraph(text, class_="how"))
    else:
        parts.append(
            paragraph(
                "The points are not rows of a table, so there are no columns to summarise.",
                class_="missing",
            )
        )
    return Section(key="data", title="The data", body=Html("".join(parts)))


def _copies(facts: Facts) -> str:
    copies = facts.data.duplicates
    if copies is None:
        return ""
    if copies == 0:
        return "No row is a copy of another."
    return f"{plural(copies, 'row is a copy', 'rows are copies')} of an earlier one."


def _target(facts: Facts) -> Html:
    one, parts = facts.data.target, []
    drawn = histogram(one.bars[:24], _bars_label(one))
    if facts.is_class:
        shown = [f"{label} ({count(size)})" for label, size in one.levels[:8]]
        more = "" if len(one.levels) <= 8 else f" and {count(len(one.levels) - 8)} more"
        parts.append(f"{plural(len(one.levels), 'class', 'classes')}: {', '.join(shown)}{more}.")
    else:
        several = "" if facts.data.outputs == 1 else f" (the first of {facts.data.outputs} outputs)"
        parts.append(
            f"Numbers from {_end(one.low)} to {_end(one.high)}, median {_end(one.middle)}{several}."
        )
    name = element("strong", one.name)
    body = paragraph("Predicted: ", name, ". ", *parts)
    return joined([body, element("p", drawn)])


def _end(value: float | str | None) -> str:
    return value if isinstance(value, str) else entry(value)


def _bars_label(one: ColumnFacts) -> str:
    return f"Distribution of {one.name}: {', '.join(count(bar) for bar in one.bars)} rows"


def _row(one: ColumnFacts) -> list[str]:
    """Return the line of a column."""
    if one.kind == "drop":
        kind: str = "left out"
    else:
        kind = one.kind
    values = _values(one)
    note = element("div", one.note, class_="levels") if one.note else Html("")
    missing = share(one.missing) if one.missing else "0"
    drawn = histogram(one.bars, _bars_label(one))
    return [one.name, kind, missing, count(one.distinct), joined([values, note]), drawn]


def _values(one: ColumnFacts) -> Html:
    if one.levels:
        shown = [f"{label} ({count(size)})" for label, size in one.levels[:LEVELS]]
        more = ", …" if one.distinct > LEVELS else ""
        return element("span", ", ".join(shown) + more, class_="levels")
    if one.low is None:
        return Html("")
    return joined([f"{_end(one.low)} … {_end(one.middle)} … {_end(one.high)}"])


# --- test rows -------------------------------------------------------------------------------

DRIFT = "the comparison of test rows with training rows"


def drift_section(facts: Facts) -> Section | None:
    """Return how test rows differ from training rows; None where there are none."""
    found = facts.drift
    missing = absences(facts, [DRIFT])
    if found is None:
        if not missing:
            return None
        return Section(key="drift", title="Test rows", body=Html("".join(missing)))
    parts = [paragraph(_tested(found))]
    if found.columns:
        head = ["column", "shift", "", "p-value", "beyond the fit", "missing"]
        rows = [_shift_row(one) for one in found.columns[:MOST]]
        parts.append(table(head, rows, label="Shifts of columns", numbers=(1, 3, 4, 5)))
        parts.append(
            paragraph(
                "The shift is the largest difference between the shares of rows below a number, or "
                "half the sum of the differences of the shares of levels: 0 where both samples "
                "agree, 100 % where they have nothing in common. “Beyond the fit” is the share of "
                "test rows outside the range, or with a level that the fit has not seen.",
                class_="how",
            )
        )
    return Section(key="drift", title="Test rows against training rows", body=Html("".join(parts)))


def _tested(found: Drift) -> str:
    texts = [f"{plural(found.rows, 'test row')} were compared with the rows of the fit."]
    if found.shared is not None:
        texts.append(f"{plural(found.shared, 'is a copy', 'are copies')} of a training row.")
    if found.p_value is not None:
        texts.append(
            f"The two-sample test of the model's kernel on {count(found.compared)} rows of each "
            f"gives p = {number(found.p_value, 2)}: "
            + ("the samples differ." if found.p_value <= 0.01 else "no difference is proved.")
        )
    return " ".join(texts)


def _shift_row(one: ColumnShift) -> list[str]:
    return [
        one.name,
        share(one.shift),
        joined([meter(one.shift, f"shift {share(one.shift)}"), " drifts" if one.drifts else ""]),
        number(one.p_value, 2),
        share(one.outside),
        ("+" if one.missing > 0 else "") + share(one.missing) if one.missing else "0",
    ]
