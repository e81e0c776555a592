"""The summand s(x, y) of every statistic as operators, element by element."""

from __future__ import annotations

from collections.abc import Callable

from ...checks import InputError, sentence
from ...kernels.pairs import (
    ABSOLUTE,
    CHI2,
    DOT,
    MINIMUM,
    ROOT_RATIO,
    SQUARED,
    UNEQUAL,
    Statistic,
)
from .graph import WHO, Graph

Summand = Callable[[Graph, str, str], str]


def summand(graph: Graph, what: Statistic, x: str, y: str) -> str:
    """Return s(x, y) of tensors that broadcast."""
    if what.family:
        return _FAMILIES[what.family](graph, x, y, what.exponent)
    rule = next((rule for known, rule in _SUMMANDS if known is what), None)
    if rule is None:
        raise InputError(sentence(WHO, "statistics must be those of mercer", what.name))
    return rule(graph, x, y)


def is_shift_invariant(what: Statistic) -> bool:
    """Return whether a summand is one of x - y, so that both may be moved."""
    return bool(what.family) or what is SQUARED or what is ABSOLUTE


def _distance(graph: Graph, x: str, y: str) -> str:
    return graph.call("Abs", graph.call("Sub", x, y))


def _squared(graph: Graph, x: str, y: str) -> str:
    gap = graph.call("Sub", x, y)
    return graph.call("Mul", gap, gap)


def _ratio(graph: Graph, top: str, bottom: str) -> str:
    """Return top / bottom with 0 / 0 = 0, where bottom is 0 only if top is."""
    zero, one = graph.floats(0.0), graph.floats(1.0)
    empty = graph.call("Equal", bottom, zero)
    safe = graph.call("Where", empty, one, bottom)
    return graph.call("Where", empty, zero, graph.call("Div", top, safe))


def _root_ratio(graph: Graph, x: str, y: str) -> str:
    return graph.call("Sqrt", _ratio(graph, graph.call("Min", x, y), graph.call("Max", x, y)))


def _unequal(graph: Graph, x: str, y: str) -> str:
    return graph.cast(graph.call("Not", graph.call("Equal", x, y)))


def _power(graph: Graph, x: str, y: str, exponent: float) -> str:
    gap = _distance(graph, x, y)
    return gap if exponent == 1.0 else graph.call("Pow", gap, graph.floats(exponent))


def _decay(graph: Graph, x: str, y: str, exponent: float) -> str:
    fallen = graph.call("Exp", graph.call("Neg", _power(graph, x, y, exponent)))
    return graph.call("Sub", graph.floats(1.0), fallen)


_SUMMANDS: tuple[tuple[Statistic, Summand], ...] = (
    (DOT, lambda graph, x, y: graph.call("Mul", x, y)),
    (SQUARED, _squared),
    (ABSOLUTE, _distance),
    (MINIMUM, lambda graph, x, y: graph.call("Min", x, y)),
    (ROOT_RATIO, _root_ratio),
    (CHI2, lambda graph, x, y: _ratio(graph, _squared(graph, x, y), graph.call("Add", x, y))),
    (UNEQUAL, _unequal),
)
_FAMILIES: dict[str, Callable[[Graph, str, str, float], str]] = {"power": _power, "decay": _decay}
