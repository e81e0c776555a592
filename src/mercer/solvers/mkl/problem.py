"""Multiple kernel learning: what the weights of kernels are to minimise.

J(d) is the least regularised loss with the kernel sum_m d_m k_m. It is convex in d, and its slope
is -q_m / 2, where q_m = sum_ij b_i b_j k_m(x_i, x_j) of the solution b for d.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from ...checks import Array
from ...monitor import Monitor, Stopped
from ...status import Status


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """J at the weights d.

    primal, dual: J lies between them. solution: b, one column per machine; measure: q of every
    kernel for such a b. Every b is a lower bound of J at all weights, J(d) >= height - d . q / 2,
    with height = dual + d . q / 2 here.
    """

    weights: Array
    primal: float
    dual: float
    solution: Array
    measure: Callable[[Array], Array]

    @cached_property
    def forms(self) -> Array:
        """The q of every kernel, computed when first asked for: that reads every matrix."""
        return self.measure(self.solution)

    @property
    def slopes(self) -> Array:
        """The derivatives of J."""
        return -self.forms / 2

    @property
    def height(self) -> float:
        """What the lower bound of J is at the weights 0."""
        return self.dual + float(self.weights @ self.forms) / 2


@dataclass(frozen=True, kw_only=True)
class Line(ABC):
    """J at the weights start + t along."""

    start: Array
    along: Array

    @abstractmethod
    def at(self, step: float, weights: Array) -> Evaluation:
        """Return J where t = step; the weights are those there, but for some that were made 0."""

    @abstractmethod
    def slope(self, found: Evaluation) -> float:
        """Return the derivative of J by t at weights on the line."""


class Oracle(Protocol):
    """J as a function of the weights."""

    def __call__(self, weights: Array) -> Evaluation:
        """Return J at any weights."""

    def line(self, start: Array, along: Array) -> Line:
        """Return J on a line; the one before is no longer used."""


def dual_norm(forms: Array, p: float) -> float:
    """Return the largest d . forms over d >= 0 with |d|_p <= 1."""
    if p == 1:
        return float(forms.max())
    scale = float(forms.max(initial=0.0))
    if scale <= 0:
        return 0.0
    power = p / (p - 1)
    return scale * float(((np.maximum(forms, 0.0) / scale) ** power).sum() ** (1 / power))


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step on the way: J, how far it may be from the least, the weights, the solves so far."""

    objective: float
    gap: float
    weights: Array
    solves: int


@dataclass(kw_only=True)
class Search:
    """What every way to the weights keeps: evaluations, the best so far, the gap, the history.

    p: weights have |d|_p = 1. tol: the gap to reach, relative to J. max_iter: steps.
    """

    oracle: Oracle
    count: int
    p: float
    tol: float
    max_iter: int
    monitor: Monitor
    solves: int = field(default=0, init=False)
    bound: float = field(default=-np.inf, init=False)  # J is nowhere below it
    height: float = field(default=-np.inf, init=False)  # of the lower bound that it comes from
    witness: Array | None = field(default=None, init=False)  # the b of that lower bound
    best: Evaluation | None = field(default=None, init=False)
    history: list[Step] = field(default_factory=list, init=False)

    def start(self) -> Array:
        """Return equal weights."""
        return np.full(self.count, float(self.count) ** (-1 / self.p))

    def evaluate(self, weights: Array) -> Evaluation:
        """Return J there, and take note of it and of its lower bound."""
        found = self._counted(self.oracle(weights))
        self.settle(found)
        return found

    def attempt(self, line: Line, step: float, weights: Array) -> Evaluation:
        """Return J on a line, and take note of it; its forms are not asked for."""
        return self._counted(line.at(step, weights))

    def settle(self, found: Evaluation) -> None:
        """Take note of the lower bound of an evaluation."""
        bound = found.height - dual_norm(found.forms, self.p) / 2
        self.raise_bound(bound, found.height, found.solution)

    def raise_bound(self, bound: float, height: float, solution: Array) -> None:
        """Take note of a bound of J and of the b that it comes from, if it is the best so far."""
        if bound > self.bound:
            self.bound, self.height, self.witness = bound, height, solution

    def _counted(self, found: Evaluation) -> Evaluation:
        self.solves += 1
        if self.best is None or found.primal < self.best.primal:
            self.best = found
        self.monitor.poll()
        return found

    @property
    def gap(self) -> float:
        """How far the best J may be from the least."""
        return np.inf if self.best is None else max(self.best.primal - self.bound, 0.0)

    def is_reached(self) -> bool:
        """Return whether the gap is small enough."""
        return self.best is not None and self.gap <= self.tol * abs(self.best.primal)

    def note(self, at: Evaluation) -> None:
        """Add a step to the history, and tell the monitor."""
        step = Step(objective=at.primal, gap=self.gap, weights=at.weights, solves=self.solves)
        self.history.append(step)
        relative = self.gap / max(abs(at.primal), np.finfo(float).tiny)
        self.monitor.iteration(
            {
                "stage": "kernel weights",
                "objective": at.primal,
                "gap": self.gap,
                "solves": self.solves,
                "fraction": float(np.clip(self.tol / max(relative, self.tol), 0.0, 1.0)),
            }
        )

    def ended(self, run: Callable[[], Status]) -> Status:
        """Return how a run over steps ended; a stop leaves the best so far."""
        try:
            return run()
        except Stopped as stop:
            return stop.reason
