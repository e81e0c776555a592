"""Automatic learners and encoders of tables whose columns are numbers, as operators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...checks import InputError, sentence, show
from ...models import KernelEstimator
from ...tables import AutoKernelClassifier, AutoKernelRegressor, Member, TableEncoder
from ...tables.encoder.codes import CategoryCode, MissingCode, NumberCode
from ...tables.encoder.codes.numbers import BEND
from ...tables.encoder.columns import BOOLEAN, NUMBER
from ...tables.encoder.record import TableColumn
from ...tables.race.tasks import CHANCES, FLOOR, LOG, LOWEST, Units
from .graph import WHO, Graph, Output
from .outputs import chances_of, classes, family_of, numbers
from .scaling import shifted

AUTOMATIC = (AutoKernelClassifier, AutoKernelRegressor)
TRUTH = {"False": 0.0, "True": 1.0}


def automatic(model: Any, graph: Graph, X: str) -> list[Output]:
    """Return the outputs of the ensemble of an automatic learner."""
    views = {member.view: "" for member in model.members_}
    for name in views:
        views[name] = encoded(graph, model.encoders_[name], X)
    if isinstance(model, AutoKernelRegressor):
        columns = len(model.units_.low)
        values = [
            _units(graph, model.units_, member, _scores(graph, member, views[member.view]).tensor)
            for member in model.members_
        ]
        return numbers(graph, _average(graph, model.members_, values), columns)
    values = []
    for member in model.members_:
        scores = _scores(graph, member, views[member.view])
        count = 2 if scores.columns == 1 else len(model.classes_)
        read = _stated(graph, scores.tensor) if member.target == CHANCES else scores.tensor
        values.append(chances_of(graph, read, float(member.link), count))
    mean = _average(graph, model.members_, values)
    places = graph.call("ArgMax", mean, axis=1, keepdims=0)
    chances = graph.call("Div", mean, graph.sum_over(mean, 1, keep=True))
    return classes(graph, model.classes_, places, None, chances)


def _stated(graph: Graph, scores: str) -> str:
    """Return the logarithms of the chances that scores state, as `class_chances` reads them."""
    stated = graph.affine(scores, 0.5 / FLOOR, 0.5 / FLOOR)
    stated = graph.call("Max", stated, graph.floats(LOWEST))
    return graph.affine(graph.call("Log", graph.call("Softplus", stated)), 1.0, math.log(FLOOR))


def _scores(graph: Graph, member: Member, X: str) -> Output:
    """Return the scores of a member: those that it decides by, or its numbers."""
    family = family_of(member.model)
    if family is None or not isinstance(member.model, KernelEstimator):
        must = "the members of an automatic learner must be models with a kernel"
        raise InputError(sentence(WHO, must, show(member.model), "Fit with allow_trees=False."))
    return family(member.model, graph, X)[-1]


def _average(graph: Graph, members: tuple[Member, ...], values: list[str]) -> str:
    pairs = zip(members, values, strict=True)
    return graph.total([graph.affine(one, float(member.weight), 0.0) for member, one in pairs])


def _units(graph: Graph, units: Units, member: Member, scores: str) -> str:
    """Return scores as numbers in the units of y, within what y has been."""
    kind = member.target
    inner = graph.call("Mul", scores, graph.floats(units.spreads[kind]))
    inner = graph.call("Add", inner, graph.floats(units.means[kind]))
    if kind == LOG:
        within = graph.call("Min", inner, graph.floats(np.log(units.high)))
        inner = graph.affine(graph.call("Exp", within), float(member.link), 0.0)
    inner = graph.call("Max", inner, graph.floats(units.low))
    return graph.call("Min", inner, graph.floats(units.high))


# --- columns ------------------------------------------------------------------------------------


def encoded(graph: Graph, encoder: TableEncoder, X: str) -> str:
    """Return the numbers that an encoder makes of a table of numbers; NaN is a missing one."""
    parts = []
    for place, column in enumerate(encoder.columns_):
        if not column.codes:
            continue
        if column.kind not in (NUMBER, BOOLEAN):
            must = "the columns of the table must be numbers, or True and False as 1 and 0"
            got = f"column {column.name!r}, of kind {column.kind}"
            raise InputError(sentence(WHO, must, got, "Save the model with mercer.save instead."))
        own = graph.call("Gather", X, graph.wholes([place]), axis=1)
        parts += [_code(graph, code, column, own) for code in column.codes]
    return graph.call("Concat", *parts, axis=1)


def _code(graph: Graph, code: Any, column: TableColumn, values: str) -> str:
    missing = graph.call("IsNaN", values)
    if isinstance(code, MissingCode):
        size = code.size * math.sqrt(0.5)
        return graph.call("Where", missing, graph.floats(size), graph.floats(-size))
    if isinstance(code, CategoryCode):
        return _flags(graph, code, values, missing)
    image = _ranked(graph, code, values) if code.method == "rank" else _sized(graph, code, values)
    return graph.call("Where", missing, graph.floats(code.fill), image)


def _sized(graph: Graph, code: NumberCode, values: str) -> str:
    """Return numbers around a centre in units of a scale, bent where they are robust."""
    z = graph.affine(shifted(graph, values, np.array([code.centre])), 1.0 / code.scale, 0.0)
    if code.method != "robust":
        return z
    part = graph.affine(z, 1.0 / BEND, 0.0)
    bent = graph.call("Sqrt", graph.affine(graph.call("Mul", part, part), 1.0, 1.0))
    return graph.call("Div", z, bent)


def _ranked(graph: Graph, code: NumberCode, values: str) -> str:
    """Return scores of ranks: linear between the knots, constant outside.

    Values and knots are moved to where the knots lie, since knots are close to each other.
    """
    middle = np.median(code.knots).astype(graph.dtype).astype(np.float64)
    knots, scores = code.knots - middle, code.scores
    values = shifted(graph, values, middle)
    below = graph.as_wholes(graph.call("GreaterOrEqual", values, graph.floats(knots[None, 1:-1])))
    place = graph.call("ReduceSum", below, graph.wholes([1]), keepdims=1)
    left = graph.call("Gather", graph.floats(knots[:-1]), place, axis=0)
    width = graph.call("Gather", graph.floats(np.diff(knots)), place, axis=0)
    share = graph.call("Div", graph.call("Sub", values, left), width)
    share = graph.call("Clip", share, graph.floats(0.0), graph.floats(1.0))
    start = graph.call("Gather", graph.floats(scores[:-1]), place, axis=0)
    rise = graph.call("Gather", graph.floats(np.diff(scores)), place, axis=0)
    return graph.call("Add", start, graph.call("Mul", share, rise))


def _flags(graph: Graph, code: CategoryCode, values: str, missing: str) -> str:
    """Return truth values as columns; of two levels one column does, 0 for anything else."""
    is_level = [
        graph.cast(graph.call("Equal", values, graph.floats(TRUTH[level]))) for level in code.levels
    ]
    other = [graph.cast(missing)] if code.has_missing else []
    flags = [*is_level, *other]
    if code.count == 2:
        side = graph.call("Sub", flags[1], flags[0])
        return graph.affine(side, code.size * math.sqrt(0.5), 0.0)
    return graph.affine(graph.call("Concat", *flags, axis=1), code.size, 0.0)
