"""The criterion of a ridge model as a function of the parameters of its kernel and of alpha."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...checks import Array
from ...grams import gram
from ...grams.sides import Side, View
from ...grams.slopes.parameters import ParameterSlopes
from ...inputs import Input
from ...kernels import Kernel
from ...linalg.cholesky import NotPositiveDefinite
from ...monitor import Monitor
from ...solvers.ridge.criteria import Criterion, Judged
from ...solvers.ridge.inverses import Inverse, NystromInverse, WholeInverse
from ...solvers.ridge.problem import RidgeProblem

PREFIX = "kernel__"


@dataclass(frozen=True, kw_only=True)
class Coordinate:
    """A parameter that is searched: "alpha", or one of the kernel as in "kernel__gamma".

    size: how many numbers it is; None is one number that stands alone. low, high: its bounds.
    It is searched by its logarithm where both are above 0.
    """

    name: str
    low: float
    high: float
    size: int | None = None

    @property
    def is_log(self) -> bool:
        """Whether it is searched by its logarithm."""
        return self.low > 0

    def bounds(self) -> list[tuple[float, float]]:
        """Return the bounds of the numbers that are searched."""
        ends = np.array([self.low, self.high])
        low, high = (np.log(ends) if self.is_log else ends).tolist()
        return [(low, high)] * (self.size or 1)

    def inner(self, value: Any) -> Array:
        """Return the numbers that are searched, within their bounds, from a value."""
        found = np.clip(np.full(self.size or 1, value, dtype=np.float64), self.low, self.high)
        return np.log(found) if self.is_log else found

    def outer(self, inner: Array) -> Any:
        """Return the value of the parameter."""
        found = np.exp(inner) if self.is_log else inner
        found = np.clip(found, self.low, self.high)  # rounding may leave the bounds
        return float(found[0]) if self.size is None else tuple(found.tolist())


@dataclass(frozen=True, kw_only=True)
class RidgeObjective:
    """What a search minimises.

    points: to fit. rows: their numbers among all. problem: their targets and weights, and alpha
    where it is not searched. kernel: with the parameters that are not searched. centres: numbers of
    the points that functions are made of, as in Nyström's method; None for all.
    """

    points: Input
    rows: Array
    problem: RidgeProblem
    kernel: Kernel
    coordinates: tuple[Coordinate, ...]
    criterion: Criterion
    centres: Array | None = None
    monitor: Monitor = field(default_factory=Monitor)

    def take(self, rows: Array) -> RidgeObjective:
        """Return the same of some of the points, all of which functions are made of."""
        points, problem = self.points.take(rows), self.problem.take(rows)
        return replace(self, points=points, rows=self.rows[rows], problem=problem, centres=None)

    def only(self, coordinate: Coordinate, params: dict[str, Any]) -> RidgeObjective:
        """Return the same as a function of one parameter, with given values of the others."""
        others = {name: value for name, value in params.items() if name != coordinate.name}
        alpha = np.full(len(self.problem.alpha), others.pop("alpha", self.problem.alpha[0]))
        return replace(
            self,
            kernel=_changed(self.kernel, others),
            problem=replace(self.problem, alpha=alpha),
            coordinates=(coordinate,),
        )

    def params(self, inner: Array) -> dict[str, Any]:
        """Return the parameters by name, from the numbers that are searched."""
        cuts = np.cumsum([one.size or 1 for one in self.coordinates])[:-1]
        parts = np.split(inner, cuts)
        pairs = zip(self.coordinates, parts, strict=True)
        return {one.name: one.outer(part) for one, part in pairs}

    def at(self, inner: Array, slope: bool = True) -> tuple[float, Array, Array]:
        """Return value, gradient and values of points left out; an infinite value where K fails."""
        params = self.params(inner)
        alpha = params.pop("alpha", float(self.problem.alpha[0]))
        problem = replace(self.problem, alpha=np.full(len(self.problem.alpha), alpha))
        kernel = _changed(self.kernel, params)
        try:
            found = self.criterion.judge(self._inverse(kernel, problem), problem, slope)
        except NotPositiveDefinite:
            return np.inf, np.zeros(len(inner)), np.zeros(problem.targets.shape)
        gradient = np.zeros(len(inner))
        if found.by_kernel is not None:
            gradient = self._gradient(inner, kernel, found)
        return found.value, gradient, found.left_out

    @cached_property
    def _pairs(self) -> list[tuple[Input, Input | None]]:
        """The points of rows and of columns of the kernel matrices that P is made from."""
        if self.centres is None:
            return [(self.points, None)]
        centres = self.points.take(self.centres)
        return [(self.points, centres), (centres, None)]

    def _inverse(self, kernel: Kernel, problem: RidgeProblem) -> Inverse:
        matrices = [
            gram(kernel, *pair, use="once", dtype=np.float64, monitor=self.monitor).dense()
            for pair in self._pairs
        ]
        if self.centres is None:
            return WholeInverse(matrices[0], problem, self.monitor)
        return NystromInverse(matrices[0], matrices[1], problem, self.monitor)

    def _gradient(self, inner: Array, kernel: Kernel, found: Judged) -> Array:
        by_name: dict[str, Any] = {"alpha": found.by_alpha}
        names = [one.name.removeprefix(PREFIX) for one in self.coordinates if one.name != "alpha"]
        by_name |= {PREFIX + name: 0.0 for name in names}
        if names:
            slopes = ParameterSlopes(kernel, names, self.points)
            for pair, G in zip(self._pairs, found.by_kernel or (), strict=True):
                part = slopes.products(*_views(*pair), G, self.monitor)
                for name, value in part.items():
                    by_name[PREFIX + name] = by_name[PREFIX + name] + value
        parts = [np.atleast_1d(by_name[one.name]) for one in self.coordinates]
        values = self.params(inner)
        factors = [
            np.atleast_1d(values[one.name]) if one.is_log else np.ones(one.size or 1)
            for one in self.coordinates
        ]
        return np.asarray(np.concatenate(parts) * np.concatenate(factors))


def _changed(kernel: Kernel, params: dict[str, Any]) -> Kernel:
    """Return the kernel with parameters that are named as those of a model."""
    changes = {name.removeprefix(PREFIX): value for name, value in params.items()}
    return kernel.replace(**changes) if changes else kernel


def _views(left: Input, right: Input | None) -> tuple[View, View]:
    """Return views of the points of rows and of columns.

    Points with weights of columns are packed for every kernel anew: nothing of them is kept.
    """
    if right is None:
        view = View(Side(left))
        return view, view
    side = Side(right)
    return View(Side(left, side)), View(side)
