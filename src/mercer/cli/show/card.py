"""The screen of `mercer inspect`."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from ...files import CardColumn, CardScore, ModelCard
from ..outputs import STANDARD
from ..stored.inspecting import inspection
from ..stored.models import Stored
from .parts import bullet, figure, heading, indented, pairs, rounded, table, with_error

SHOWN_COLUMNS = 30
SHOWN_LEVELS = 6


def inspect_screen(stored: Stored, all_columns: bool) -> Iterator[RenderableType]:
    """Yield what a model file holds."""
    from ...checks import bytes_text

    found, card = inspection(stored), stored.card
    name = "standard input" if stored.path == STANDARD else stored.path
    yield heading(name, f"{found['estimator']}, {bytes_text(stored.size)}")
    if card is None:
        yield indented(Text("The file has no card: nothing is known of its data.", "dim"))
    else:
        yield from _data(card, all_columns)
        yield from _scores(card)
    yield heading("Model")
    facts = [("kernel", rounded(found["kernel"]))] if found["kernel"] else []
    of = f" of {len(found['members'])} members" if len(found["members"]) > 1 else ""
    facts += [("carried by", f"{found['training_points']:,} points{of}, which are in the file")]
    facts += [("certificate", found["certificate"])] if found["certificate"] else []
    yield pairs(facts)
    if found["members"]:
        rows = [
            (f"{100 * one['weight']:.0f} %", one["name"], rounded(one["kernel"]))
            for one in found["members"]
        ]
        yield table(("weight", "member", "kernel"), rows, right=(0,))
    yield ""
    if card is not None:
        yield from _notes(card)
        yield from _origin(card)


def _data(card: ModelCard, all_columns: bool) -> Iterator[RenderableType]:
    yield ""
    yield heading("Data", f"{card.rows:,} {_noun(card)}")
    facts = []
    if card.source:
        facts.append(("file", card.source))
    if card.sha256:
        facts.append(("SHA-256", card.sha256))
    if card.target is not None:
        facts.append((card.task or "target", f"{card.target}{_target(card)}"))
    yield pairs(facts)
    most = len(card.columns) if all_columns else SHOWN_COLUMNS
    if card.columns:
        rows = [_column(one) for one in card.columns[:most]]
        yield table(("column", "kind", "missing", "values"), rows, right=(2,))
    if len(card.columns) > most:
        more = f"… and {len(card.columns) - most:,} more; --columns shows them"
        yield indented(Text(more, "dim"))
    yield ""


def _noun(card: ModelCard) -> str:
    return "rows" if card.points in ("table", "matrix") else card.points


def _target(card: ModelCard) -> str:
    if card.classes:
        shown = [
            f"{name} {count:,}" if card.class_rows else name
            for name, count in zip(
                card.classes, card.class_rows or [0] * len(card.classes), strict=True
            )
        ]
        more = ", …" if len(shown) > SHOWN_LEVELS else ""
        return f": {', '.join(shown[:SHOWN_LEVELS])}{more}"
    if card.target_range is not None:
        low, high = card.target_range
        return f": from {figure(low)} to {figure(high)}"
    return ""


def _column(column: CardColumn) -> tuple[str, str, str, str]:
    missing = f"{100 * column.missing:.1f} %" if column.missing else ""
    kind = "left out" if column.kind == "drop" else column.kind
    values = ""
    if column.low is not None and column.high is not None:
        ends = (column.low, column.high)
        values = " to ".join(end if isinstance(end, str) else f"{end:.6g}" for end in ends)
    elif column.levels is not None:
        shown = ", ".join(" ".join(one.split()) for one in column.levels[:SHOWN_LEVELS])
        count = len(column.levels)
        values = shown if count <= SHOWN_LEVELS else f"{shown}, … ({count})"
    return column.name, kind, missing, values


def _scores(card: ModelCard) -> Iterator[RenderableType]:
    if not card.scores:
        return
    yield heading("Scores", card.scores[0].how)
    measures = list(dict.fromkeys(one.measure for one in card.scores))
    by_model: dict[str, dict[str, CardScore]] = {}
    for one in (*card.scores, *card.baselines):
        by_model.setdefault(one.model, {})[one.measure] = one
    rows = [
        [
            name,
            *(
                with_error(known[measure].value, known[measure].error) if measure in known else ""
                for measure in measures
            ),
        ]
        for name, known in by_model.items()
    ]
    yield table(["", *measures], rows, right=range(1, len(measures) + 1))
    yield ""


def _notes(card: ModelCard) -> Iterator[RenderableType]:
    if card.notes:
        yield heading("To know")
        for note in card.notes:
            yield bullet(note)
        yield ""


def _origin(card: ModelCard) -> Iterator[RenderableType]:
    facts = [("command", card.command)] if card.command else []
    facts += [] if card.seed is None else [("seed", str(card.seed))]
    facts += [] if card.created is None else [("created", card.created)]
    versions = ", ".join(f"{name} {text}" for name, text in card.versions.items())
    facts += [("versions", versions)] if versions else []
    if facts:
        yield heading("Origin")
        yield pairs(facts)
