"""J(d), the least regularised loss with given weights of kernels, found from the last solution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...checks import Array
from ...grams import Gram, prepare
from ...grams.stacks.factors import FactorStack
from ...grams.stacks.matrices import MatrixStack
from ...grams.stacks.sums import WeightedSums
from ...kernels import Precomputed
from ...monitor import Monitor
from ...solvers import BoxSolver, Cholesky, DenseRows, Machine, RidgeProblem
from ...solvers.box.problem import BoxProblem
from ...solvers.box.rows import KernelRows, RowStore
from ...solvers.mkl.problem import Evaluation, Line
from ..machines import MachineSpec

UNLIMITED = 2**62

# Rows of K among some points for a problem, and its slopes at the start where they are known.
Source = Callable[[Array, BoxProblem], tuple[KernelRows, Array | None]]


@dataclass(kw_only=True)
class StackOracle(ABC):
    """J of what is solved with a weighted sum of matrices.

    factors: what each matrix is multiplied by. The weights that are asked about belong to the
    matrices whose factor is not 0.
    """

    stack: MatrixStack
    factors: Array

    @cached_property
    def sums(self) -> WeightedSums:
        """Sums of the matrices, as they are asked for."""
        return WeightedSums(self.stack)

    @abstractmethod
    def solve(self, weights: Array, K: Array) -> Evaluation:
        """Return J with the sum K of these weights; K is left as it is."""

    def __call__(self, weights: Array) -> Evaluation:
        return self.solve(weights, self.sums.of(self.scaled(weights)))

    def line(self, start: Array, along: Array) -> Line:
        """Return J on a line; the one before is no longer used."""
        self.sums.follow(self.scaled(start), self.scaled(along))
        return StackLine(oracle=self, start=start, along=along)

    def scaled(self, weights: Array) -> Array:
        """Return what every matrix is multiplied by at these weights."""
        found = self.factors.copy()
        found[found != 0] *= weights
        return found

    def measure(self, B: Array) -> Array:
        """Return <K_m, B B'> of every scaled matrix whose factor is not 0."""
        forms = np.maximum(self.factors * self.stack.forms(B), 0.0)
        return np.asarray(forms[self.factors != 0])


@dataclass(frozen=True, kw_only=True)
class StackLine(Line):
    """J on a line, from sums that are kept."""

    oracle: StackOracle

    def at(self, step: float, weights: Array) -> Evaluation:
        return self.oracle.solve(weights, self.oracle.sums.at(step, self.oracle.scaled(weights)))

    def slope(self, found: Evaluation) -> float:
        return -self.oracle.sums.slope(found.solution) / 2


@dataclass(kw_only=True)
class MachineOracle(StackOracle):
    """J of support vector machines: the sum over machines that share the weights.

    specs: the machines. points: the rows of K that each machine is about.
    """

    specs: Sequence[MachineSpec]
    points: Sequence[Array]
    tol: float
    monitor: Monitor
    machines: list[Machine] = field(default_factory=list, init=False)
    _block: Any = field(default=None, init=False)

    def solve(self, weights: Array, K: Array) -> Evaluation:
        return self._solved(weights, lambda rows, problem: (DenseRows(K, rows), None))

    def _solved(self, weights: Array, source: Source) -> Evaluation:
        B = np.zeros((self.stack.size, len(self.specs)))
        machines = []
        for place, (spec, rows) in enumerate(zip(self.specs, self.points, strict=True)):
            problem = spec.problem
            if self.machines:  # the bounds are the same, so that the last solution is feasible
                problem = replace(problem, start=self.machines[place].b)
            K, g = source(rows, problem)
            solver = BoxSolver(K, self.tol, UNLIMITED, self.monitor, block=self._block)
            self._block = solver.block
            machine = spec.read(problem, solver.solve(problem, g))
            machines.append(machine)
            B[rows, place] = machine.b
        self.machines = machines
        return Evaluation(
            weights=weights,
            primal=sum(machine.primal for machine in machines),
            dual=sum(machine.dual for machine in machines),
            solution=B,
            measure=self.measure,
        )


@dataclass(kw_only=True)
class FactorOracle(MachineOracle):
    """J of support vector machines with matrices of low rank, whose sum is computed by rows."""

    stack: FactorStack

    @cached_property
    def buffer(self) -> Array:
        """Where rows of a sum are kept."""
        return np.empty(self.stack.room // 4, dtype=np.float32)

    def __call__(self, weights: Array) -> Evaluation:
        K = self.stack.sum(self.scaled(weights))

        def source(rows: Array, problem: BoxProblem) -> tuple[KernelRows, Array]:
            part, n = K.among(rows), len(rows)
            room = len(self.buffer) // n
            store = RowStore(part.rows, n, n, room, np.float32, buffer=self.buffer)
            return store, part.product(problem.start) + problem.linear

        return self._solved(weights, source)

    def line(self, start: Array, along: Array) -> Line:
        return FactorLine(oracle=self, start=start, along=along)


@dataclass(frozen=True, kw_only=True)
class FactorLine(Line):
    """J on a line, where forms cost little."""

    oracle: FactorOracle

    def at(self, step: float, weights: Array) -> Evaluation:
        return self.oracle(weights)

    def slope(self, found: Evaluation) -> float:
        return float(found.slopes @ self.along)


@dataclass(kw_only=True)
class RidgeOracle(StackOracle):
    """J of ridge regression, 1/2 sum_i w_i (y_i - f(x_i) - b)**2 + alpha/2 ||f||**2.

    With a the coefficients of f, J >= alpha (a' y - a' K a / 2 - alpha / 2 sum_i a_i**2 / w_i) for
    every a of sum 0, so that alpha a' K_m a are the forms.
    """

    problem: RidgeProblem
    tol: float
    monitor: Monitor
    coefficients: Array = field(default_factory=lambda: np.zeros((0, 1)), init=False)
    intercept: Array = field(default_factory=lambda: np.zeros(1), init=False)

    def solve(self, weights: Array, K: Array) -> Evaluation:
        gram: Gram = prepare(Precomputed(), K).gram(monitor=self.monitor)
        found = Cholesky(self.tol).solve(gram, self.problem, self.monitor)
        a, y, alpha = found.coefficients, self.problem.targets, float(self.problem.alpha[0])
        self.coefficients, self.intercept = a, found.intercept
        products = np.asarray(gram @ a)
        errors = y - products - found.intercept
        weight = self.problem.roots**2
        norm = float((a * products).sum())
        rest = float((a**2 / np.where(weight > 0, weight, 1.0)).sum())
        return Evaluation(
            weights=weights,
            primal=float((weight * errors**2).sum()) / 2 + alpha * norm / 2,
            dual=alpha * (float((a * y).sum()) - norm / 2 - alpha * rest / 2),
            solution=np.sqrt(alpha) * a,
            measure=self.measure,
        )
