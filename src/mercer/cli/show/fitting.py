"""The screen of `mercer fit`: data, verdict, files, what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from ..learn.judging import error_of
from ..learn.tasks import CLASSES
from ..screen import safe
from .parts import bullet, bullet_of, figure, heading, indented, lines, pairs, table, with_error

if TYPE_CHECKING:
    from ...data import Dataset
    from ...report import Finding
    from ...report.measure.sentences import Verdict
    from ...report.measure.verdict import Judgement
    from ..learn.training import Training

SHOWN_COLUMNS = 30
SHOWN_CLASSES = 6
MARKS = {
    "better": ("better", "green"),
    "alike": ("no clear difference", "yellow"),
    "worse": ("worse", "red"),
}
SEVERE = {"high": "bold red", "medium": "bold yellow"}
SHOWN_FINDINGS = 5
GRADES = {"good": "bold green", "mixed": "bold yellow", "bad": "bold red"}


def data_screen(training: Training) -> Iterator[RenderableType]:
    """Yield what was read, and what it was taken for."""
    read = training.read
    yield heading(_name(read.source), size_text(read))
    taken = set(training.taken)
    columns = [column for column in read.columns if column.name not in taken]
    if columns:
        rows = [
            (one.name, one.type, f"{one.missing:,}" if one.missing else "", one.values)
            for one in columns[:SHOWN_COLUMNS]
        ]
        yield table(("column", "type", "missing", "values"), rows, right=(2,))
        if len(columns) > SHOWN_COLUMNS:
            yield indented(Text(f"… and {len(columns) - SHOWN_COLUMNS:,} more columns", "dim"))
    yield ""
    yield Text.assemble(
        ("target ", "dim"),
        (training.target, "bold"),
        f": {training.task.kind}, since {training.task.why}"
        if training.task.why != "as --task says"
        else f": {training.task.kind}, as --task says",
        f" ({_target(training)})",
    )
    for note in (*training.notes, *read.notes):
        yield bullet(note, style="dim")
    yield ""


def size_text(read: Dataset) -> str:
    """Return how much there is, in words."""
    rows = f"{len(read):,}"
    if isinstance(read.X, list):
        return f"{rows} {read.kind}, {read.format}"
    return f"{rows} rows × {read.X.shape[1]:,} columns, {read.format}"


def _name(source: str) -> str:
    return "standard input" if source == "-" else source


def _target(training: Training) -> str:
    y = training.y
    if training.task.kind != CLASSES:
        return f"from {figure(float(y.min()))} to {figure(float(y.max()))}"
    labels, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:SHOWN_CLASSES]
    shown = ", ".join(f"{labels[place]} {counts[place]:,}" for place in order)
    return shown + (f", … {len(labels)} classes" if len(labels) > SHOWN_CLASSES else "")


def verdict_screen(judgement: Judgement, verdict: Verdict) -> Iterator[RenderableType]:
    """Yield how good the model is, against what."""
    yield Text(verdict.headline, style=GRADES.get(verdict.grade, "bold"))
    names = [score.name for score in judgement.scores]
    rows: list[list[str | Text]] = [
        [Text("mercer", "bold"), *_cells(judgement.scores, names), ""],
    ]
    for one in reversed(judgement.baselines):
        words, style = MARKS[one.outcome]
        rows.append([one.words, *_cells(one.scores, names), Text(f"mercer: {words}", style)])
    yield table(["", *names, ""], rows, right=range(1, len(names) + 1))
    for sentence in verdict.sentences[:2]:
        yield indented(Text(sentence))
    yield ""


def _cells(scores: Sequence[Any], names: Sequence[str]) -> list[str]:
    known = {score.name: score for score in scores}
    return [
        with_error(known[name].value, error_of(known[name])) if name in known else ""
        for name in names
    ]


def model_screen(facts: Sequence[tuple[str, str]]) -> Iterator[RenderableType]:
    """Yield what the model is."""
    yield heading("Model")
    yield pairs(facts)
    yield ""


def findings_screen(findings: Sequence[Finding]) -> Iterator[RenderableType]:
    """Yield what a reader should mind; of what is only good to know the title."""
    if not findings:
        return
    yield heading("To mind")
    for one in findings[:SHOWN_FINDINGS]:
        words = Text.assemble((f"{one.code} ", "dim"), (f"{safe(one.title)}.", "bold"))
        if one.severity in SEVERE:
            words.append(f" {safe(one.found)} {safe(one.advice)}")
        yield bullet_of(words, "!", SEVERE.get(one.severity, "dim"))
    more = len(findings) - SHOWN_FINDINGS
    if more > 0:
        yield indented(Text(f"and {more} more, in the report", "dim"))
    yield ""


def notes_screen(notes: Sequence[str]) -> Iterator[RenderableType]:
    """Yield what should be known."""
    if notes:
        yield heading("To know")
        for note in notes:
            yield bullet(note)
        yield ""


def files_screen(
    files: Sequence[tuple[str, str]], nexts: Sequence[str]
) -> Iterator[RenderableType]:
    """Yield where the files are, and what to type next."""
    if files:
        yield heading("Files")
        yield from lines(files)
        yield ""
    if nexts:
        yield heading("Next")
        for line in nexts:
            yield f"  {line}"
