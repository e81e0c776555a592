"""Rows that enter a graph, beside the points of a model, through columns and representations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from ...checks import Array, InputError, sentence
from ...features import ExplicitMap, Nystrom, RandomFourier
from ...grams.sides import View
from ...grams.trace.lower import Path, Step
from ...inputs import Matrix
from ...kernels import Metric, Of, Periodic, SumPower
from ...kernels.pairs import as_matrix
from ...kernels.transforms import function_name
from .graph import WHO, Graph
from .scaling import SCALERS, scaled, shifted


class Rows:
    """A tensor of rows and the points of the model that they are compared with.

    Both are seen through the same path: that of the points is computed, that of the rows becomes
    operators.
    """

    def __init__(self, graph: Graph, tensor: str, view: View) -> None:
        self.graph, self.tensor, self.view = graph, tensor, view
        self._known: dict[Any, Rows] = {}

    @cached_property
    def points(self) -> Array:
        """The points of the model, dense and in double precision."""
        found: Array = as_matrix(self.view.points).dense().astype(np.float64, copy=False)
        return found

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return as_matrix(self.view.side.points).n_columns

    def centre(self) -> Array:
        """Return the means of the columns of the points as the graph can hold them exactly."""
        means = self.view.side.centre().astype(self.graph.dtype).astype(np.float64)
        return np.where(np.isfinite(means), means, 0.0)

    def centred(self) -> str:
        """Return the rows around the centre of the points: small numbers keep their digits."""
        centre = self.centre()
        if not centre.any():
            return self.tensor
        return self.graph.call("Sub", self.tensor, self.graph.floats(centre))

    def follow(self, path: Path) -> Rows:
        """Return the rows through the steps of a path."""
        rows = self
        for step in path:
            if step.key not in rows._known:
                tensor = _through(rows, step)
                view = rows.view.child(step.key, step.change)
                rows._known[step.key] = Rows(self.graph, tensor, view)
            rows = rows._known[step.key]
        return rows


def _through(rows: Rows, step: Step) -> str:
    """Return the tensor of the rows after a step."""
    if step.key[0] == "on":
        numbers = Matrix(np.arange(rows.n_columns, dtype=np.float64)[None], _names(rows))
        chosen = as_matrix(step.change(numbers)).values[0].astype(np.int64)
        return rows.graph.call("Gather", rows.tensor, rows.graph.wholes(chosen), axis=1)
    owner = getattr(step.key[1], "__self__", None)
    rule = _CHANGES.get(type(owner))
    if rule is None:
        _refuse_change(owner)
    return rule(rows, owner)


def _names(rows: Rows) -> tuple[str, ...] | None:
    return as_matrix(rows.view.side.points).names


def _refuse_change(owner: Any) -> NoReturn:
    must = "points must enter a kernel as they are, scaled, in a metric, or by a map that is known"
    raise InputError(sentence(WHO, must, f"{owner!r}"))


def _in_metric(rows: Rows, kernel: Metric) -> str:
    op = "Mul" if kernel.matrix.is_diagonal else "MatMul"
    return rows.graph.call(op, rows.tensor, rows.graph.floats(kernel.matrix.root))


def _in_lengths(rows: Rows, kernel: SumPower) -> str:
    length: Any = kernel.length_scale
    each = length if isinstance(length, tuple) else (float(length),) * rows.n_columns
    return rows.graph.call("Mul", rows.tensor, rows.graph.floats(1.0 / np.array(each)))


def _on_circles(rows: Rows, kernel: Periodic) -> str:
    """Return cosines and sines; the remainder first, as an angle of many turns loses digits."""
    graph = rows.graph
    period = np.broadcast_to(np.asarray(kernel.period, dtype=np.float64), (rows.n_columns,))
    lengths = graph.floats(period)
    turns = graph.call("Floor", graph.call("Div", rows.tensor, lengths))
    rest = graph.call("Sub", rows.tensor, graph.call("Mul", turns, lengths))
    angle = graph.call("Mul", rest, graph.floats(2.0 * np.pi / period))
    return graph.call("Concat", graph.call("Cos", angle), graph.call("Sin", angle), axis=1)


def _mapped(rows: Rows, kernel: Of) -> str:
    """Return what a map of points makes of the rows."""
    if type(kernel.phi) in SCALERS:
        return scaled(rows.graph, kernel.phi, rows.tensor)
    if type(kernel.phi) is RandomFourier:
        return _waves(rows, kernel.phi)
    if type(kernel.phi) in (Nystrom, ExplicitMap):
        from .maps import features_of_map  # which needs kernels, as these need rows

        return features_of_map(rows, kernel.phi)
    names = [kind.__name__ for kind in (*SCALERS, RandomFourier, Nystrom, ExplicitMap)]
    must = f"a map of points must be one of {', '.join(names)}"
    raise InputError(sentence(WHO, must, function_name(kernel.phi)))


def _waves(rows: Rows, phi: RandomFourier) -> str:
    """Return random Fourier features: waves of the rows around a centre."""
    graph, waves = rows.graph, phi._waves
    moved = shifted(graph, rows.tensor, waves.centre)
    angles = graph.call("MatMul", moved, graph.floats(waves.frequencies.T))
    if len(waves.phases):
        angles = graph.call("Add", angles, graph.floats(waves.phases))
    heights = graph.floats(waves.amplitudes)
    cosines = graph.call("Mul", graph.call("Cos", angles), heights)
    if len(waves.phases):
        return cosines
    return graph.call(
        "Concat", cosines, graph.call("Mul", graph.call("Sin", angles), heights), axis=1
    )


_CHANGES: dict[Any, Callable[[Rows, Any], str]] = {
    Metric: _in_metric,
    SumPower: _in_lengths,
    Periodic: _on_circles,
    Of: _mapped,
}
