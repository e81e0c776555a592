"""Influential points, Gram matrix and spectrum."""

from __future__ import annotations

import numpy as np

from ....plots import GramDisplay, SpectrumDisplay
from ...facts import Facts
from ...kernel.gram import GramFacts
from ...kernel.influence import LEAVE_ONE_OUT, Influence
from ...words import count, number, share
from ..markup import Html, paragraph, table
from ..pictures import WIDTH, figure, words
from .base import Section, absences, pictures, shown_row


def influence_section(facts: Facts) -> Section:
    """Return the training points that matter most."""
    found = facts.influence
    parts: list[Html] = []
    if found is not None:
        parts = [paragraph(_explained(found)), _table(facts, found)]
    parts += absences(facts, ["influential points"])
    return Section(key="influence", title="The most influential rows", body=Html("".join(parts)))


def _explained(found: Influence) -> str:
    of = f" of {found.of}" if found.of else ""
    text = (
        f"{count(found.carriers)} of {count(found.total)} training points carry the function{of}; "
    )
    text += f"the most influential tenth of them has {share(found.top_share)} of all influence. "
    if found.measure == LEAVE_ONE_OUT:
        return text + (
            "Influence is by how much the function at a point moves when the point is left out, "
            "from the closed form of leave-one-out; look at the first rows for wrong entries."
        )
    return text + (
        "Influence is the size of the term of a point in the function, |a| √k(x, x) with its "
        "coefficient a; look at the first rows for wrong entries."
    )


def _table(facts: Facts, found: Influence) -> Html:
    head = ["row", "truth", "influence", *facts.excerpt.columns]
    rows = []
    for one in found.points:
        truth = one.truth if isinstance(one.truth, str) else number(one.truth)
        line = [count(one.row), truth, number(one.size, 3)]
        rows.append(line + shown_row(facts.excerpt, one.row))
    numbers = (0, 2) if facts.is_class else (0, 1, 2)
    return table(head, rows, label="The most influential rows", numbers=numbers)


def gram_section(facts: Facts) -> Section:
    """Return the Gram matrix and its spectrum."""
    found = facts.gram
    body = Html("") if found is None else pictures(_gram(facts, found), _spectrum(found))
    missing = "".join(absences(facts, ["the Gram matrix"]))
    return Section(key="gram", title="How the kernel sees the data", body=Html(body + missing))


def _gram(facts: Facts, found: GramFacts) -> Html:
    kind = "Centred Gram matrix" if found.centred else "Gram matrix"
    text = f"{kind} of {count(len(found.rows))} rows, ordered by {found.order}. "
    text += f"Kernel values go from {number(found.low, 3)} to {number(found.high, 3)}."
    labels = None
    if found.blocks:
        names = words([one.label for one in found.blocks])
        labels = np.repeat(names, [one.points for one in found.blocks])
        pairs = [
            f"{one.label} {number(one.within, 2)} within and {number(one.across, 2)} across"
            for one in found.blocks[:4]
        ]
        text += (
            f" Mean values: {'; '.join(pairs)}. {_hint(found)} are classes that the kernel sees."
        )
    else:
        text += f" {_hint(found)} along the diagonal are rows that the kernel takes for alike."
    caption = "rows, sorted by clusters" if labels is None else ""
    display = GramDisplay(matrix=found.K, labels=labels, caption=caption)
    return figure(display, "gram", text, label="Gram matrix as a heat map", size=(WIDTH, 3.6))


def _hint(found: GramFacts) -> str:
    return "Red blocks" if found.centred or found.low < 0 else "Bright blocks"


def _spectrum(found: GramFacts) -> Html:
    text = (
        f"Spectrum of that matrix, divided by {count(len(found.rows))}: {count(found.near_all)} "
        "eigenvalues make up 99 % of their sum."
    )
    if found.dimension is not None:
        text += (
            f" With the penalty of the model, {number(found.penalty, 2)} on this scale, the "
            f"effective dimension is {number(found.dimension, 3)}: so many directions are used."
        )
    display = SpectrumDisplay(eigenvalues=np.array(found.eigenvalues), alpha=found.penalty)
    return figure(
        display, "spectrum", text, label="Eigenvalues of the Gram matrix", size=(WIDTH, 3.6)
    )
