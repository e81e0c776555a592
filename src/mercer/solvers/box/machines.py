"""Support vector machines as box problems, and what their solutions say.

In all of them f(x) = sum_i b_i k(x_i, x) + offset.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...checks import Array
from ...status import Status
from .problem import BoxProblem, BoxSolution


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A solved machine.

    b, offset: of f; scores: f of every point. primal, dual: objectives, the same at the optimum.
    parameter: what the machine found besides f, C of nu-classification and epsilon of
    nu-regression. bound: the largest |b| each point may have. wrong: points on the wrong side.
    """

    b: Array
    offset: float
    scores: Array
    primal: float
    dual: float
    norm: float
    parameter: float
    bound: Array
    solution: BoxSolution
    wrong: int = 0

    @property
    def free(self) -> Array:
        """The support vectors that lie on the margin."""
        size = np.abs(self.b)
        return np.asarray((size > 0) & (size < self.bound))


def classification(y: Array, bounds: Array, offset: bool) -> BoxProblem:
    """Return max sum_i a_i - 1/2 a' Q a over 0 <= a_i <= C_i, y' a = 0, with b = y a; y: -1, 1."""
    lower, upper = np.where(y > 0, 0.0, -bounds), np.where(y > 0, bounds, 0.0)
    return BoxProblem(linear=-y, lower=lower, upper=upper, start=np.zeros(len(y)), offset=offset)


def regression(y: Array, bounds: Array, epsilon: float, offset: bool) -> BoxProblem:
    """Return min 1/2 b' K b - y' b + epsilon |b|_1 over |b_i| <= C_i."""
    return BoxProblem(
        linear=-y, lower=-bounds, upper=bounds, start=np.zeros(len(y)), kink=epsilon, offset=offset
    )


def quantile_regression(y: Array, bounds: Array, q: float, offset: bool) -> BoxProblem:
    """Return min 1/2 b' K b - y' b over (q - 1) C_i <= b_i <= q C_i."""
    return BoxProblem(
        linear=-y, lower=(q - 1) * bounds, upper=q * bounds, start=np.zeros(len(y)), offset=offset
    )


def nu_classification(y: Array, bounds: Array, nu: float) -> BoxProblem:
    """Return min 1/2 a' Q a over 0 <= a_i <= C_i, y' a = 0, sum a = nu sum C, with b = y a."""
    lower, upper = np.where(y > 0, 0.0, -bounds), np.where(y > 0, bounds, 0.0)
    total = nu * float(bounds.sum()) / 2
    start = filled(upper, total) - filled(-lower, total)
    return BoxProblem(linear=np.zeros(len(y)), lower=lower, upper=upper, start=start, split=True)


def hard_margin(y: Array, used: Array) -> BoxProblem:
    """Return min 1/2 b' K b with b >= 0 of sum 1 on one class and b <= 0 of sum -1 on the other.

    Halfway between the nearest points of the convex hulls of the classes lies the boundary
    with the widest margin, if the hulls do not meet. used: the points that count.
    """
    above, below = np.where((y > 0) & used, 1.0, 0.0), np.where((y < 0) & used, 1.0, 0.0)
    start = filled(above, 1.0) - filled(below, 1.0)
    # The sums alone keep |b| from exceeding 1: no bound is ever reached.
    return BoxProblem(
        linear=np.zeros(len(y)), lower=-2 * below, upper=2 * above, start=start, split=True
    )


def nu_regression(y: Array, bounds: Array, nu: float) -> BoxProblem:
    """Return min 1/2 b' K b - y' b over |b_i| <= C_i, sum |b| = nu sum C, sum b = 0."""
    total = nu * float(bounds.sum()) / 2
    order = np.argsort(y, kind="stable")
    start = np.zeros(len(y))
    start[order[::-1]] = filled(bounds[order[::-1]], total)
    left = np.where(start > 0, 0.0, bounds)
    start[order] -= filled(left[order], total)
    return BoxProblem(linear=-y, lower=-bounds, upper=bounds, start=start, split=True)


def one_class(bounds: Array, nu: float) -> BoxProblem:
    """Return min 1/2 b' K b over 0 <= b_i <= C_i, sum b = nu sum C."""
    n = len(bounds)
    start = filled(bounds, nu * float(bounds.sum()))
    return BoxProblem(linear=np.zeros(n), lower=np.zeros(n), upper=bounds, start=start)


def filled(bounds: Array, total: float) -> Array:
    """Return numbers of the given sum, the first ones at their bounds."""
    before = np.concatenate([[0.0], np.cumsum(bounds)[:-1]])
    return np.clip(total - before, 0.0, bounds)


def levels(problem: BoxProblem, found: BoxSolution) -> list[float]:
    """Return the slope that the free variables of each side share, or the middle of its range."""
    up, down = problem.slopes(found.b)
    shared = []
    for rises, falls in problem.sides(found.b):
        free = rises & falls & (up == down)
        count = np.count_nonzero(free)
        if count:
            shared.append(float((found.g[free] + up[free]).sum() / count))
            continue
        low = (found.g + up)[rises].min(initial=np.inf)
        high = (found.g + down)[falls].max(initial=-np.inf)
        known = [value for value in (low, high) if np.isfinite(value)]
        shared.append(float(np.mean(known)) if known else 0.0)
    return shared


def _machine(
    problem: BoxProblem, found: BoxSolution, offset: float, scale: float, losses: Array, **rest: Any
) -> Machine:
    """Return the machine with b / scale; losses: of each point, times its weight."""
    b = found.b / scale
    values = found.g - problem.linear
    norm = max(float(found.b @ values), 0.0) / scale**2
    bound = np.maximum(problem.upper, -problem.lower) / scale
    primal = norm / 2 + float(losses.sum())
    return Machine(
        b=b,
        offset=offset,
        scores=values / scale + offset,
        primal=primal,
        norm=float(np.sqrt(norm)),
        bound=bound,
        solution=found,
        **rest,
    )


def read_classification(problem: BoxProblem, found: BoxSolution) -> Machine:
    """Return the machine of `classification`."""
    y = -problem.linear
    offset = -levels(problem, found)[0] if problem.offset else 0.0
    bounds = np.maximum(problem.upper, -problem.lower)
    slack = np.maximum(0.0, 1 - y * (found.g + y + offset))
    return _machine(
        problem,
        found,
        offset,
        1.0,
        bounds * slack,
        dual=-found.objective,
        parameter=float(bounds.max()),
        wrong=int((slack >= 1).sum()),
    )


def read_regression(problem: BoxProblem, found: BoxSolution) -> Machine:
    """Return the machine of `regression`."""
    offset = -levels(problem, found)[0] if problem.offset else 0.0
    slack = np.maximum(0.0, np.abs(found.g + offset) - problem.kink)
    losses = problem.upper * slack
    return _machine(
        problem, found, offset, 1.0, losses, dual=-found.objective, parameter=problem.kink
    )


def read_quantile_regression(problem: BoxProblem, found: BoxSolution) -> Machine:
    """Return the machine of `quantile_regression`."""
    offset = -levels(problem, found)[0] if problem.offset else 0.0
    errors = -(found.g + offset)
    losses = np.maximum(problem.upper * errors, problem.lower * errors)
    return _machine(problem, found, offset, 1.0, losses, dual=-found.objective, parameter=0.0)


def read_nu_classification(problem: BoxProblem, found: BoxSolution, tol: float) -> Machine:
    """Return the machine of `nu_classification`, scaled so that the margin is at y f = 1."""
    above, below = levels(problem, found)
    margin = (above - below) / 2
    if margin <= tol:
        status = Status.NO_MARGIN if found.status == Status.CONVERGED else found.status
        margin, found = tol, replace(found, status=status)
    offset = -(above + below) / 2 / margin
    y = np.where(problem.upper > 0, 1.0, -1.0)
    bounds = np.maximum(problem.upper, -problem.lower) / margin
    losses = bounds * np.maximum(0.0, 1 - y * (found.g / margin + offset))
    norm = float(found.b @ found.g) / margin**2
    dual = float(np.abs(found.b).sum()) / margin - norm / 2
    wrong = int((y * (found.g / margin + offset) <= 0).sum())
    return _machine(
        problem, found, offset, margin, losses, dual=dual, parameter=1 / margin, wrong=wrong
    )


def read_hard_margin(problem: BoxProblem, found: BoxSolution) -> Machine:
    """Return the machine of `hard_margin`, its violation in units of the margin.

    Where the hulls meet the status is "unbounded", as the dual problem is.
    """
    above, below = levels(problem, found)
    margin = (above - below) / 2
    smallest = 1e-12 * max(float(np.abs(found.g).max()), np.finfo(np.float64).tiny)
    if margin <= max(smallest, 4 * found.rounding):  # no more than rounding
        margin, found = 1.0, replace(found, status=Status.UNBOUNDED)
    found = replace(found, violation=found.violation / margin, rounding=found.rounding / margin)
    offset = -(above + below) / 2 / margin
    norm = float(found.b @ found.g) / margin**2
    dual = float(np.abs(found.b).sum()) / margin - norm / 2
    machine = _machine(
        problem, found, offset, margin, np.zeros(1), dual=dual, parameter=np.inf, wrong=0
    )
    return replace(machine, bound=np.full(len(found.b), np.inf))


def read_nu_regression(problem: BoxProblem, found: BoxSolution) -> Machine:
    """Return the machine of `nu_regression`.

    Its epsilon is below 0 where no tube is needed to keep the sum: then `regression` with a tube
    of no width is what is wanted.
    """
    above, below = levels(problem, found)
    epsilon, offset = (below - above) / 2, -(above + below) / 2
    losses = problem.upper * np.maximum(0.0, np.abs(found.g + offset) - epsilon)
    dual = -found.objective - epsilon * float(np.abs(found.b).sum())
    return _machine(problem, found, offset, 1.0, losses, dual=dual, parameter=epsilon)


def read_one_class(problem: BoxProblem, found: BoxSolution) -> Machine:
    """Return the machine of `one_class`: f is positive inside."""
    rho = levels(problem, found)[0]
    losses = problem.upper * np.maximum(0.0, rho - found.g)
    losses = np.append(losses, -rho * float(found.b.sum()))
    return _machine(problem, found, -rho, 1.0, losses, dual=-found.objective, parameter=rho)
