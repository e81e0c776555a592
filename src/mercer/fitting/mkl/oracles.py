"""J(d), the least regularised loss with given weights of kernels, found from the last solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...checks import Array
from ...grams import Gram, prepare
from ...grams.stacks.matrices import MatrixStack
from ...kernels import Precomputed
from ...monitor import Monitor
from ...solvers import BoxSolver, Cholesky, DenseRows, Machine, RidgeProblem
from ...solvers.mkl.problem import Evaluation
from ..machines import MachineSpec

UNLIMITED = 2**62


@dataclass(kw_only=True)
class MachineOracle:
    """J of support vector machines: the sum over machines that share the weights.

    factors: what each matrix is multiplied by. specs: the machines. points: the rows of K that each
    machine is about.
    """

    stack: MatrixStack
    factors: Array
    specs: Sequence[MachineSpec]
    points: Sequence[Array]
    tol: float
    monitor: Monitor
    machines: list[Machine] = field(default_factory=list, init=False)
    _block: Any = field(default=None, init=False)

    def __call__(self, weights: Array) -> Evaluation:
        K = self.stack.weighted(weights * self.factors)
        B = np.zeros((self.stack.size, len(self.specs)))
        machines = []
        for place, (spec, rows) in enumerate(zip(self.specs, self.points, strict=True)):
            machine = self._solve(K, spec, rows, place)
            machines.append(machine)
            B[rows, place] = machine.b
        self.machines = machines
        forms = self.factors * self.stack.forms(B)
        return Evaluation(
            weights=weights,
            primal=sum(machine.primal for machine in machines),
            dual=sum(machine.dual for machine in machines),
            forms=np.maximum(forms, 0.0),
        )

    def _solve(self, K: Array, spec: MachineSpec, rows: Array, place: int) -> Machine:
        solver = BoxSolver(DenseRows(K, rows), self.tol, UNLIMITED, self.monitor, block=self._block)
        self._block = solver.block
        problem = spec.problem
        if self.machines:  # the bounds are the same, so that the last solution is feasible
            problem = replace(problem, start=self.machines[place].b)
        return spec.read(problem, solver.solve(problem))


@dataclass(kw_only=True)
class RidgeOracle:
    """J of ridge regression, 1/2 sum_i w_i (y_i - f(x_i) - b)**2 + alpha/2 ||f||**2.

    With a the coefficients of f, J >= alpha (a' y - a' K a / 2 - alpha / 2 sum_i a_i**2 / w_i) for
    every a of sum 0, so that alpha a' K_m a are the forms.
    """

    stack: MatrixStack
    factors: Array
    problem: RidgeProblem
    tol: float
    monitor: Monitor
    coefficients: Array = field(default_factory=lambda: np.zeros((0, 1)), init=False)
    intercept: Array = field(default_factory=lambda: np.zeros(1), init=False)

    def __call__(self, weights: Array) -> Evaluation:
        values = self.stack.weighted(weights * self.factors)
        K: Gram = prepare(Precomputed(), values).gram(monitor=self.monitor)
        found = Cholesky(self.tol).solve(K, self.problem, self.monitor)
        a, y, alpha = found.coefficients, self.problem.targets, float(self.problem.alpha[0])
        self.coefficients, self.intercept = a, found.intercept
        products = np.asarray(K @ a)
        errors = y - products - found.intercept
        weight = self.problem.roots**2
        norm = float((a * products).sum())
        rest = float((a**2 / np.where(weight > 0, weight, 1.0)).sum())
        forms = alpha * self.factors * self.stack.forms(a)
        return Evaluation(
            weights=weights,
            primal=float((weight * errors**2).sum()) / 2 + alpha * norm / 2,
            dual=alpha * (float((a * y).sum()) - norm / 2 - alpha * rest / 2),
            forms=np.maximum(forms, 0.0),
        )
