"""Parameters that were chosen at the end of what was tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...fitting.penalties import LEAST, MOST, STEP
from ...models.adaptive.recursive import RecursiveMachine
from ...models.ridge.search import RidgeSearch
from ...tables.race.portfolio import WIDTHS
from ..subject import Core, Subject

FEWEST = 3  # values of a parameter that make a search


@dataclass(frozen=True, kw_only=True)
class Edge:
    """A parameter at the end of its range.

    Attributes
    ----------
    parameter : str
        Which one.
    value : float
        What was chosen.
    low : float
        The smallest value that was tried.
    high : float
        The largest value that was tried.
    of : str
        Which model it belongs to; "" for the model itself.
    """

    parameter: str
    value: float
    low: float
    high: float
    of: str = ""


def edges_of(subject: Subject, core: Core | None) -> tuple[Edge, ...]:
    """Return the parameters of a model that a search has left at an end of its range."""
    found: list[Edge | None] = []
    model = subject.model
    if hasattr(model, "cv_results_") and hasattr(model, "best_params_"):
        found += _of_search(model.cv_results_, model.best_params_)
    if core is not None and isinstance(core.model, RidgeSearch):
        found.append(_edge("alpha", core.model.alpha_, core.model._check_alphas()))
    if core is not None and isinstance(core.model, RecursiveMachine):
        choice = core.model.choice_
        found.append(_edge("width", choice.width, [one[0] for one in choice.tried]))
        found.append(_edge("alpha", choice.alpha, [one[1] for one in choice.tried]))
    if core is not None and core.member is not None:
        found += _of_member(core)
    return tuple(one for one in found if one is not None)


def _edge(name: str, value: float, tried: Sequence[float], of: str = "") -> Edge | None:
    values = sorted({float(one) for one in tried})
    if len(values) < FEWEST or float(value) not in (values[0], values[-1]):
        return None
    return Edge(parameter=name, value=float(value), low=values[0], high=values[-1], of=of)


def _of_search(table: Mapping[str, Any], best: Mapping[str, Any]) -> list[Edge | None]:
    """Return the edges of a search of scikit-learn."""
    found = []
    for name, value in best.items():
        tried = list(table.get(f"param_{name}", ()))
        if all(isinstance(one, int | float) and not isinstance(one, bool) for one in tried):
            found.append(_edge(name, value, tried))
    return found


def _of_member(core: Core) -> list[Edge | None]:
    """Return the edges of the heaviest member: its name says the width in units of distances."""
    if core.member is None:
        return []
    words, of = core.member.name.split(), core.member.name
    found: list[Edge | None] = []
    widths = WIDTHS.get(words[1], ()) if len(words) > 2 else ()
    if len(widths) >= FEWEST:
        found.append(_edge("width", float(words[2]), widths, of))
    penalty = core.penalty
    # The search goes in steps, so that the last one may stop short of the end.
    if penalty is not None and words[0] in ("ridge", "rfm"):
        name, value = penalty
        inside = LEAST * STEP <= value <= MOST / STEP
        edge = Edge(parameter=name, value=value, low=LEAST, high=MOST, of=of)
        found.append(None if inside else edge)
    return found
