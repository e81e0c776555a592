"""The model: leaderboard, kernel, certificate."""

from __future__ import annotations

import numpy as np

from ....plots import KernelWeightsDisplay
from ...facts import Facts
from ...kernel.certificate import SEARCH
from ...kernel.facts import KernelFacts, LeaderboardFacts, Line
from ...words import count, number, plural, seconds, share
from ..formulas import set_formula
from ..markup import Html, element, folded, items, joined, paragraph, table
from ..pictures import figure, words
from ..small import meter
from .base import Section, pictures

MOST = 10  # lines of a leaderboard that are shown at once


def model_section(facts: Facts) -> Section:
    """Return what the model is, and how it was found."""
    parts: list[Html] = []
    if facts.leaderboard is not None:
        parts += _leaderboard(facts.leaderboard)
    if facts.kernel is not None:
        parts += _kernel(facts.kernel)
    else:
        parts.append(paragraph("The model has no kernel that could be shown.", class_="missing"))
    for one in facts.certificates:
        parts.append(element("h3", f"Certificate of {one.of}: {one.status}"))
        parts.append(paragraph(" ".join(one.sentences)))
        if one.of != SEARCH:
            parts.append(paragraph("How it was computed: ", one.plan, class_="how"))
    if facts.model.notes:
        parts.append(element("h3", "What the model says of itself"))
        parts.append(items(facts.model.notes))
    parts.append(folded("The model with its parameters", element("pre", facts.model.text)))
    return Section(key="model", title="The model", body=Html("".join(parts)))


def _leaderboard(board: LeaderboardFacts) -> list[Html]:
    members = sum(one.weight > 0 for one in board.lines)
    text = (
        f"{plural(len(board.lines), 'candidate was', 'candidates were')} judged on rows not seen "
        f"before; "
        f"{plural(members, 'one is', 'are')} in the ensemble, whose own {board.measure} is "
        f"{number(board.loss)}."
    ).replace("1 one is", "one is")
    explained = (
        "A name says the learner (ridge; rfm, ridge with a learned metric; svm), the kernel, its "
        "width in median distances of two rows, the scale of the numbers, and of a learned metric "
        "whether it is a full matrix or a diagonal, and its rounds."
    )
    head = ["candidate", board.measure, "weight", "", "penalty", "time"]
    options = {"label": "Leaderboard", "numbers": (1, 2, 4, 5)}
    rows = [_line(one) for one in board.lines]
    found = [
        element("h3", "Leaderboard"),
        paragraph(text),
        table(head, rows[:MOST], **options),  # type: ignore[arg-type]
        paragraph(explained, class_="how"),
    ]
    if len(rows) > MOST:
        rest = table(head, rows[MOST:], **options)  # type: ignore[arg-type]
        found.append(folded(f"{count(len(rows) - MOST)} more candidates", rest))
    return found


def _line(one: Line) -> list[str]:
    weight = share(one.weight) if one.weight else "–"
    bar = meter(one.weight, f"weight {weight}") if one.weight else Html("")
    return [one.name, number(one.loss), weight, bar, number(one.penalty, 3), seconds(one.seconds)]


def _kernel(kernel: KernelFacts) -> list[Html]:
    of = f" of {kernel.of}" if kernel.of else ""
    parts = [element("h3", "The kernel"), paragraph(f"The kernel{of}:")]
    parts.append(set_formula(kernel.pieces))
    parts += [paragraph(text, class_="how") for text in kernel.notes]
    if kernel.penalty is not None:
        parts.append(
            paragraph(f"Its penalty is {kernel.penalty} = {number(kernel.penalty_value)}.")
        )
    if len(kernel.weights) > 1:
        parts.append(_weights(kernel))
    text = "As mercer writes it, to be read by mercer.parse"
    parts.append(folded(text, element("pre", kernel.text)))
    return parts


def _weights(kernel: KernelFacts) -> Html:
    """Return the weights of kernels that are combined."""
    names = [name for name, _ in kernel.weights]
    values = [value for _, value in kernel.weights]
    heaviest = max(kernel.weights, key=lambda one: one[1])
    text = f"Weights of {len(names)} kernels; {heaviest[0]} is the heaviest, "
    text += f"with {number(heaviest[1])}."
    display = KernelWeightsDisplay(weights=np.array(values), names=words(names, 40))
    drawn = figure(display, "weights", text, label="Weights of kernels")
    return joined([pictures(drawn)])
