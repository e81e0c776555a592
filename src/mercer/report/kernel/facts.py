"""The kernel of a model as facts of a report: formula, penalty, leaderboard, weights of kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...models.adaptive.base import KernelLearner
from ..subject import Core, Subject
from .formula import Pieces, formula_of, plain

LONGEST = 2000  # characters of a kernel in text


@dataclass(frozen=True, kw_only=True)
class KernelFacts:
    """The kernel of a model.

    Attributes
    ----------
    of : str
        Whose kernel it is; "" for the model itself.
    text : str
        The kernel as mercer writes it.
    formula : str
        The kernel as mathematics, in one line of text.
    notes : tuple of str
        What its symbols mean.
    penalty : str or None
        The name of the penalty of the model.
    penalty_value : float or None
        Its value.
    weights : tuple of tuple
        Kernels with their weights, where several are combined.
    pieces : tuple
        The formula as it is set on the page.
    """

    of: str
    text: str
    formula: str
    notes: tuple[str, ...]
    penalty: str | None
    penalty_value: float | None
    weights: tuple[tuple[str, float], ...]
    pieces: Pieces = field(metadata={"twin": False})


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a leaderboard.

    Attributes
    ----------
    name : str
        What was tried.
    loss : float or None
        Its loss on rows that it has not seen.
    weight : float
        Its share in the ensemble.
    seconds : float
        Time that it took to judge it.
    kernel : str
        Its kernel.
    penalty : float
        Its penalty.
    """

    name: str
    loss: float | None
    weight: float
    seconds: float
    kernel: str
    penalty: float


@dataclass(frozen=True, kw_only=True)
class LeaderboardFacts:
    """All that an automatic learner has tried.

    Attributes
    ----------
    measure : str
        What the losses are.
    lines : tuple of Line
        One for each candidate, the best first.
    loss : float
        The loss of the ensemble.
    """

    measure: str
    lines: tuple[Line, ...]
    loss: float


def kernel_facts(core: Core | None) -> KernelFacts | None:
    """Return the kernel of a model; None where it has none."""
    if core is None:
        return None
    pieces, notes = formula_of(core.kernel)
    text = repr(core.kernel)
    weights: list[tuple[str, float]] = []
    if isinstance(core.model, KernelLearner):
        terms = getattr(core.kernel, "terms", (core.kernel,))
        named = [repr(getattr(term, "inner", term)) for term in terms]
        coefficients = [float(getattr(term, "coef", 1.0)) for term in terms]
        weights = list(zip(named, coefficients, strict=True))
    penalty = core.penalty
    return KernelFacts(
        of=core.place,
        text=text if len(text) <= LONGEST else text[: LONGEST - 1] + "…",
        formula=plain(pieces),
        notes=notes,
        penalty=None if penalty is None else penalty[0],
        penalty_value=None if penalty is None else penalty[1],
        weights=tuple(weights),
        pieces=pieces,
    )


def leaderboard_facts(subject: Subject) -> LeaderboardFacts | None:
    """Return what an automatic learner has tried; None for other models."""
    if not subject.is_automatic:
        return None
    board = subject.model.leaderboard_
    return LeaderboardFacts(
        measure=board.measure,
        lines=tuple(
            Line(
                name=one.name,
                loss=float(one.loss) if np.isfinite(one.loss) else None,
                weight=float(one.weight),
                seconds=float(one.seconds),
                kernel=one.kernel,
                penalty=float(one.penalty),
            )
            for one in board
        ),
        loss=float(subject.model.certificate_.loss),
    )
