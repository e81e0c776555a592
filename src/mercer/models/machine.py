"""What machines with any convex loss share."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import checks
from ..checks import Array, sentence
from ..fitting.budget import settings_of
from ..fitting.loss import SOLVERS, Found, MachineFit
from ..grams import limited_threads
from ..inputs import Input
from ..losses import (
    KINKED,
    check_loss,
)
from ..monitor import Monitor, to_stderr, warn
from ..solvers.loss.newton import LossProblem
from ..typing import (
    Callback,
    Seed,
)
from .base import Certificate, FunctionEstimator

ADVICE = {
    "iteration limit": "Raise max_iter, or loosen tol; a larger alpha converges sooner.",
    "time limit": "Raise time_limit, or choose solver='nystrom' for a smaller model.",
    "cancelled": "The fit was asked to stop; fit again to finish it.",
    "stagnated": "Rounding limits the accuracy: loosen tol, raise alpha, or hand in X as float64.",
}


@dataclass(frozen=True)
class MachineCertificate(Certificate):
    """How far the function is from the best one, and what it cost.

    With Nyström's method all distances are about functions of its centres.

    Attributes
    ----------
    status : str
        "exact", "converged", or the reason why neither.
    plan : str
        How the kernel matrix was held, and why.
    kernel_entries : int
        Number of kernel values that were computed.
    bytes : int
        Bytes that the plan allocates beyond the inputs.
    seconds : float
        Time that the fit took.
    solver : str
        The solver that was used.
    primal : float
        Value of the objective.
    gap : float
        The objective is at most this far above its minimum, by Fenchel duality.
    tol : float
        What was asked for: the gap over the objective, or with a dual solution the violation of the
        optimality conditions.
    error_bound : float
        No f(x) is further than this from that of the minimum, apart from the offset, for points
        whose k(x, x) is at most its largest value in training.
    iterations : int
        Number of steps of Newton's method, or of pairs of variables.
    products : int
        Number of passes over the kernel matrix.
    """

    solver: str
    primal: float
    gap: float
    tol: float
    error_bound: float
    iterations: int
    products: int


class KernelMachine(FunctionEstimator):
    """What machines with any loss share: parameters, the solution, the scores of new points."""

    loss: Any
    alpha: float
    fit_intercept: bool
    solver: str
    n_centers: int | None
    tol: float
    max_iter: int | None
    time_limit: float | None
    callback: Callback
    n_jobs: int | None
    random_state: Seed
    verbose: bool | int

    def _solve(self, points: Input, loss: Any, targets: Array, weight: Array | None) -> None:
        """Find the function, and keep what predictions need."""
        start, who = time.monotonic(), type(self).__name__
        settings = settings_of(self, SOLVERS, 200)
        alpha = checks.number(who, "alpha", self.alpha, above=0)
        if not isinstance(loss, KINKED):
            check_loss(who, loss, targets)
        progress = to_stderr(who) if self.verbose else None
        monitor = Monitor(settings.time_limit, progress, self.callback)
        prepared = self._prepare(points, weight)
        rows = np.arange(len(points))
        if weight is not None and not weight.all():  # a point without weight has no say
            rows = np.flatnonzero(weight)
            prepared, targets, weight = prepared.take(rows), targets[rows], weight[rows]
        weight = np.ones(len(rows)) if weight is None else weight
        problem = LossProblem(loss, targets, weight, alpha, bool(self.fit_intercept))
        with limited_threads(self.n_jobs, who):
            found = MachineFit(prepared, problem, settings, monitor).run()
            largest = float(np.sqrt(max(float(prepared.diag().max()), 0.0)))
        self._prepared = prepared
        self._store(found, rows)
        self._certify(found, settings.tol, largest, time.monotonic() - start)

    def _store(self, found: Found, rows: Array) -> None:
        solved = found.solution
        self.intercept_, self.n_iter_ = solved.intercept, max(solved.steps, 1)
        if hasattr(self, "coef_"):
            del self.coef_
        if found.way == "primal":
            # The map needs to know the columns of the points only, which any of them shows.
            self.coef_ = solved.t
            self.support_ = rows
            self._keep(np.arange(1))
        elif found.moved is not None:
            self.dual_coef_, self.support_ = solved.t, rows[found.centres]
            self._prepared = found.moved
        else:
            used = np.flatnonzero(solved.t.any(axis=1))
            used = used if len(used) else np.arange(1)  # one point shows the columns
            self.dual_coef_, self.support_ = solved.t[used], rows[used]
            self._keep(used)

    def _certify(self, found: Found, tol: float, largest: float, seconds: float) -> None:
        solved = found.solution
        self.certificate_ = MachineCertificate(
            solved.status,
            found.plan,
            found.entries,
            found.bytes,
            seconds,
            found.way,
            solved.primal,
            solved.gap,
            tol,
            largest * float(np.sqrt(2 * solved.gap / self.alpha)),
            solved.steps,
            solved.products,
        )
        if solved.status != "converged":
            must = f"the gap must reach {tol:g} of the objective"
            got = f"{solved.gap:.2g} of {solved.primal:.2g} ({solved.status}, {solved.steps} steps)"
            text = sentence(type(self).__name__, must, got, ADVICE.get(solved.status, ""))
            warn(text, ConvergenceWarning)
