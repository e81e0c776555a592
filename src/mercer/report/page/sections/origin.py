"""Time, memory, command, seed, versions, hash."""

from __future__ import annotations

from ....checks import bytes_text
from ...facts import Facts
from ...words import count, plural, seconds
from ..markup import Html, definitions, element, items, paragraph
from .base import Section


def origin_section(facts: Facts) -> Section:
    """Return what it took, and what it was made of."""
    one = facts.provenance
    size = plural(one.rows, "row")
    if one.columns is not None:
        size += f", {plural(one.columns, 'column')}"
    hashed = "" if one.hashed == "file" else " (of the values in memory)"
    pairs = [
        ("Data", one.source or ""),
        ("Size", size),
        ("SHA-256", element("span", f"{one.sha256}{hashed}", class_="code") if one.sha256 else ""),
        ("Command", element("code", one.command) if one.command else ""),
        ("Seed of the fit", "" if one.seed is None else str(one.seed)),
        ("Seed of the report", str(one.random_state)),
        ("Time of the fit", "" if one.fit_seconds is None else seconds(one.fit_seconds)),
        ("Memory of the fit", _memory(one.fit_bytes, one.members)),
        ("Cost of a prediction", _cost(one.kernel_values, one.members)),
        ("Versions", ", ".join(f"{name} {text}" for name, text in one.versions.items())),
    ]
    parts = [definitions(pairs)]
    if facts.left_out:
        parts.append(element("h3", "What is left out of this report"))
        parts.append(items([f"{found.part}: {found.why}" for found in facts.left_out]))
    parts.append(
        paragraph("All numbers of this page are in the JSON file of the same name.", class_="how")
    )
    return Section(key="origin", title="Time, memory, origin", body=Html("".join(parts)))


def _memory(size: int | None, members: int | None) -> str:
    if size is None:
        return ""
    return f"{bytes_text(size)} {'beyond the data' if members is None else 'for the encoded rows'}"


def _cost(values: int | None, members: int | None) -> str:
    if values is None:
        return ""
    models = "" if members is None else f", by {plural(members, 'model')}"
    return f"{count(values)} kernel values for each row{models}"
