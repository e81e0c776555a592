"""The criterion of a ridge model as a function of the parameters of its kernel and of alpha."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ...checks import Array
from ...grams import gram
from ...grams.sides import Side, View
from ...grams.slopes.parameters import ParameterSlopes
from ...inputs import Input
from ...kernels import Kernel
from ...linalg.cholesky import NotPositiveDefinite
from ...monitor import Monitor
from ...solvers.ridge.criteria import Judged

PREFIX = "kernel__"


class Criterion(Protocol):
    """`LeaveOneOut` or `Evidence`."""

    def judge(
        self, K: Array, alpha: float, targets: Array, intercept: bool, slope: bool, monitor: Monitor
    ) -> Judged:
        """Return what is to be as small as can be, and its derivative."""


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

    points, targets: to fit; a column per output. rows: their numbers among all. kernel, alpha:
    where they are not searched.
    """

    points: Input
    rows: Array
    targets: Array
    kernel: Kernel
    alpha: float
    coordinates: tuple[Coordinate, ...]
    criterion: Criterion
    intercept: bool
    monitor: Monitor = field(default_factory=Monitor)

    def take(self, rows: Array) -> RidgeObjective:
        """Return the same of some of the points."""
        points, targets = self.points.take(rows), self.targets[rows]
        return replace(self, points=points, rows=self.rows[rows], targets=targets)

    def params(self, inner: Array) -> dict[str, Any]:
        """Return the parameters by name, from the numbers that are searched."""
        cuts = np.cumsum([one.size or 1 for one in self.coordinates])[:-1]
        parts = np.split(inner, cuts)
        pairs = zip(self.coordinates, parts, strict=True)
        return {one.name: one.outer(part) for one, part in pairs}

    def at(self, inner: Array, slope: bool = True) -> tuple[float, Array, Array]:
        """Return value, gradient and values of points left out; an infinite value where K fails."""
        params = self.params(inner)
        alpha = params.pop("alpha", self.alpha)
        changes = {name.removeprefix(PREFIX): value for name, value in params.items()}
        kernel = self.kernel.replace(**changes) if changes else self.kernel
        K = gram(kernel, self.points, dtype=np.float64, monitor=self.monitor).dense()
        try:
            found = self.criterion.judge(
                K, alpha, self.targets, self.intercept, slope=slope, monitor=self.monitor
            )
        except NotPositiveDefinite:
            return np.inf, np.zeros(len(inner)), np.zeros(self.targets.shape)
        gradient = np.zeros(len(inner))
        if found.by_kernel is not None:
            gradient = self._gradient(inner, kernel, list(changes), found.by_kernel)
        return found.value, gradient, found.left_out

    def _gradient(self, inner: Array, kernel: Kernel, names: list[str], G: Array) -> Array:
        by_name: dict[str, Any] = {"alpha": float(np.trace(G))}
        if names:
            slopes = ParameterSlopes(kernel, names, self.points)
            # Points with weights of columns are packed for every kernel anew: not to be kept.
            found = slopes.products(View(Side(self.points)), G, self.monitor)
            by_name |= {PREFIX + name: value for name, value in found.items()}
        parts = [np.atleast_1d(by_name[one.name]) for one in self.coordinates]
        values = self.params(inner)
        factors = [
            np.atleast_1d(values[one.name]) if one.is_log else np.ones(one.size or 1)
            for one in self.coordinates
        ]
        return np.asarray(np.concatenate(parts) * np.concatenate(factors))
