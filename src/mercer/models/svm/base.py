"""What support vector machines share: parameters, the solution, scores, the certificate."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ... import checks
from ...checkpoints import CheckpointLike
from ...checks import Array, InputError, sentence
from ...fitting.machines import MachineSolver, MachineSpec
from ...fitting.rows import SharedRows
from ...grams import limited_threads
from ...inputs import Input, Matrix
from ...kernels import Kernel, Linear
from ...linalg.cholesky import negative_eigenvalue
from ...monitor import Monitor, Stopped, warn
from ...run import Run
from ...solvers import BoxSizes, Machine
from ...status import Status, first_bad
from ...typing import Callback, Seed
from ..base import Certificate, KernelEstimator
from ..contract.approximation import (
    has_approximation,
    note_price,
    products_of_features,
    sum_of_features,
)
from ..contract.gradient import HasGradient
from ..contract.parameters import run_of, seed_of

UNLIMITED = 2**62


@dataclass(frozen=True, kw_only=True)
class SvmCertificate(Certificate):
    """How far a support vector machine is from its optimum, and what it cost.

    For several machines counts and objectives are sums, `violation` and `rounding` are the largest,
    `margin` is the smallest.

    Attributes
    ----------
    status : str
        "converged", or the reason why not.
    plan : str
        How the kernel matrix was held, and why.
    kernel_entries : int
        Number of kernel values that were computed.
    bytes : int
        Bytes that the plan allocates beyond the inputs.
    seconds : float
        Time that the fit took.
    primal : float
        Value of the objective that is minimised.
    dual : float
        Value of the dual objective, which is equal at the optimum.
    gap : float
        The difference of both, which bounds the distance from the optimum.
    violation : float
        Largest violation of the Karush-Kuhn-Tucker conditions; at most `tol` after convergence.
    tol : float
        The violation that was asked for.
    zero : int
        Number of coefficients that are 0.
    free : int
        Number of coefficients strictly between their bounds.
    bound : int
        Number of coefficients at a bound.
    margin : float
        1 / norm.
    norm : float
        The norm of w.
    iterations : int
        Number of steps of the solver.
    rows_reused : int
        Number of rows of the kernel matrix that were needed again and not computed again.
    n : int
        Number of training points.
    training_error : float
        Share of the training points on the wrong side of the one machine of two classes; NaN for
        several machines.
    radius : float
        Radius of a ball about 0 that holds the images of the training points.
    rounding : float
        What rounding of kernel values and of their sums may amount to; nothing else is left of the
        violation where the status is "rounding".
    """

    primal: float
    dual: float
    gap: float
    violation: float
    tol: float
    zero: int
    free: int
    bound: int
    margin: float
    norm: float
    iterations: int
    rows_reused: int
    n: int
    training_error: float
    radius: float
    rounding: float = 0.0


class MachineGradient(HasGradient):
    """The gradient of the functions of support vector machines."""

    def _terms(self) -> tuple[Array, bool]:
        model: Any = self
        by_point = self._of_points()
        if not has_approximation(model):
            return by_point, False
        return sum_of_features(model._prepared, by_point), True

    def _of_points(self) -> Array:
        """Return the coefficients of the support vectors, one column per machine of several."""
        model: Any = self
        by_row: Array = model.dual_coef_
        k = len(getattr(model, "classes_", ()))
        if k > 2 and not in_all_machines(model):
            by_row = _rows_of_pairs(model._support_of_classes(), by_row)
        if by_row.shape[1] == 0:  # no support vector: one point shows the columns
            by_row = np.zeros((len(by_row), 1))
        return by_row[0] if len(by_row) == 1 else by_row.T


def in_all_machines(model: Any) -> bool:
    """Return whether every vector has a coefficient in every machine.

    Of machines for two of several classes a support vector is in those of its own class only, k - 1
    of k (k - 1) / 2. The centres of a compressed model are in all.
    """
    return len(model.dual_coef_) == len(model.intercept_)


def _rows_of_pairs(groups: list[slice], dual: Array) -> Array:
    """Return one row for each machine of two classes, from those of scikit-learn's order."""
    firsts, seconds = np.triu_indices(len(groups), 1)
    rows = np.zeros((len(firsts), dual.shape[1]))
    for row, first, second in zip(rows, firsts, seconds, strict=True):
        row[groups[first]] = dual[second - 1, groups[first]]
        row[groups[second]] = dual[first, groups[second]]
    return rows


class SupportVectorEstimator(MachineGradient, KernelEstimator):
    """A kernel estimator whose function is carried by some of the training points."""

    tol: float
    max_iter: int | None
    time_limit: float | None
    callback: Callback
    n_jobs: int | None
    random_state: Seed
    verbose: bool | int
    checkpoint: CheckpointLike
    dual_coef_: Array
    intercept_: Array
    support_: Array
    n_support_: Array
    certificate_: SvmCertificate
    n_iter_: Array
    _sizes_of_box: ClassVar[BoxSizes] = BoxSizes()
    _of_names: ClassVar[dict[str, Any]] = {"gamma": "scale", "degree": 3, "coef0": 0.0}

    def _cost(self, C: Any, endless: bool = True) -> float:
        """Return C, checked; endless: whether it may be infinite."""
        if endless and isinstance(C, float | np.floating) and np.inf == C:
            return float(np.inf)
        return checks.number(type(self).__name__, "C", C, above=0)

    def _bounds(self, C: Any, weight: Array | None, n: int, endless: bool = False) -> Array:
        """Return C times the weight of each point; endless: whether C may be infinite."""
        bound = self._cost(C, endless)
        if weight is None:
            return np.full(n, bound)
        return np.multiply(bound, weight, out=np.zeros(n), where=weight > 0)

    def _share(self, name: str) -> float:
        """Return a parameter between 0 and 1."""
        value = getattr(self, name)
        return checks.number(type(self).__name__, name, value, above=0, most=1)

    def _machine_solver(
        self,
        points: Input,
        weight: Array | None,
        parts: list[Array],
        *,
        kernel: Kernel | None = None,
        run: Run | None = None,
        max_iter: int | None = None,
    ) -> MachineSolver:
        """Return what solves machines on groups of these points.

        kernel, max_iter: where they are not the parameters. run: where the work has begun.
        """
        who = type(self).__name__
        tol = checks.number(who, "tol", self.tol, above=0)
        given = self.max_iter if max_iter is None else max_iter
        unlimited = given is None or (isinstance(given, Integral) and given == -1)
        most = UNLIMITED if unlimited else checks.whole(who, "max_iter", given, least=1)
        run = run_of(self) if run is None else run
        prepared = self._prepare(points, weight, kernel)
        with limited_threads(run.n_jobs, who):
            reach = self._cost(getattr(self, "C", 1.0))
            rows = SharedRows(prepared, parts, run, tol, reach)
        if rows.dense is not None and self.kernel_.is_user_defined():
            with contextlib.suppress(Stopped):  # the solver then says so
                self._check_mercer(rows.dense, run.monitor)
        return MachineSolver(
            rows=rows, tol=tol, max_iter=most, monitor=run.monitor, sizes=self._sizes_of_box
        )

    def _check_mercer(self, K: Array, monitor: Monitor) -> None:
        """Warn where a matrix that was handed in has a negative eigenvalue that matters."""
        scale = float(np.abs(np.diagonal(K)).max(initial=0.0))
        smallest = negative_eigenvalue(K, 1e-6 * scale, monitor)
        if smallest < 0:
            warn(
                f"{type(self).__name__}: the kernel matrix is not positive semi-definite, its "
                f"smallest eigenvalue is {smallest:.3g}: the machine found need not be the best, "
                "and certificate_ bounds nothing. mercer.repair(K) returns the nearest matrix "
                "that is.",
                UserWarning,
            )

    def _run(
        self,
        solver: MachineSolver,
        specs: list[MachineSpec],
        start: float,
        with_loo_scores: bool = False,
    ) -> list[Machine]:
        """Solve the machines one after another, and certify them.

        start: when the work began. with_loo_scores: note the scores that points would get from
        machines that have not seen them.
        """
        who, machines = type(self).__name__, []
        random = None
        if with_loo_scores:
            seed = solver.monitor.kept("seed", lambda: {"seed": seed_of(who, self.random_state)})
            random = np.random.default_rng(int(seed["seed"]))
        with limited_threads(self.n_jobs, who):
            for spec in specs:
                machine = solver.solve(spec)
                machines.append(
                    machine if random is None else solver.with_loo_scores(spec, machine, random)
                )
            self._certify(machines, solver, time.monotonic() - start)
        return machines

    def _certify(self, machines: list[Machine], solver: MachineSolver, seconds: float) -> None:
        who, rows, tol = type(self).__name__, solver.rows, solver.tol
        self.n_iter_ = np.array([machine.solution.iterations for machine in machines])
        states = [machine.solution.status for machine in machines]
        if Status.UNBOUNDED in states:
            raise InputError(
                sentence(
                    who,
                    "with C=inf the classes must be separable under the kernel",
                    "classes that overlap",
                    "Use a finite C.",
                )
            )
        status = first_bad(states)
        primal, dual = sum(m.primal for m in machines), sum(m.dual for m in machines)
        free = sum(int(machine.free.sum()) for machine in machines)
        zero = sum(int((machine.b == 0).sum()) for machine in machines)
        norm = max(machine.norm for machine in machines)
        violation = max(machine.solution.violation for machine in machines)
        radius = np.sqrt(max(self._prepared.largest(), 0.0))
        self.certificate_ = SvmCertificate(
            status=status,
            plan=rows.plan,
            kernel_entries=rows.entries,
            bytes=rows.bytes,
            seconds=seconds,
            primal=primal,
            dual=dual,
            gap=primal - dual,
            violation=violation,
            tol=tol,
            zero=zero,
            free=free,
            bound=sum(len(machine.b) for machine in machines) - free - zero,
            margin=1 / norm if norm > 0 else np.inf,
            norm=norm,
            iterations=int(self.n_iter_.sum()),
            rows_reused=rows.reused,
            n=len(self._prepared),
            training_error=machines[0].wrong / len(self._prepared)
            if len(machines) == 1
            else np.nan,
            radius=float(radius),
            rounding=max(machine.solution.rounding for machine in machines),
        )
        if status != Status.CONVERGED:
            self._tell(self.certificate_)

    def _tell(self, certificate: SvmCertificate) -> None:
        """Warn that machines have not converged."""
        violation, tol, status = certificate.violation, certificate.tol, certificate.status
        reached = f"the largest violation of the optimality conditions is {violation:.1e}"
        if violation > tol:
            reached += f", above tol={tol:g}"
        warn(
            f"{type(self).__name__}: not converged ({status}): {reached}; the duality gap is "
            f"{certificate.gap:.1e}. {status.advice('machines')}",
            ConvergenceWarning,
        )

    def _keep_support(self, support: Array) -> None:
        """Keep the support vectors; where there are none, one point that shows the columns."""
        self.support_ = support.astype(np.int32)
        self._keep(support if len(support) else np.arange(1))
        if has_approximation(self) and len(support):
            note_price(self, self._prepared, self._of_points().reshape(len(support), -1), 0)

    @property
    def support_vectors_(self) -> Any:
        """The support vectors of rows of numbers, in a matrix of the kind that was fitted."""
        check_is_fitted(self)
        points = self._prepared.points
        if not isinstance(points, Matrix):
            raise AttributeError(
                f"{type(self).__name__}: support_vectors_ exist for rows of numbers; "
                "support_ has the numbers of the points."
            )
        return points.values[: len(self.support_)]

    @property
    def coef_(self) -> Any:
        """The vector w of each machine, a row each, with the linear kernel only."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError(
                f"{type(self).__name__}: coef_ exists for the linear kernel; got {self.kernel_}."
            )
        return self._weights_of(self.support_vectors_)

    def _weights_of(self, vectors: Any) -> Any:
        """Return the sum of support vectors times coefficients, a row for each machine."""
        return self.dual_coef_ @ vectors

    def _products(self, X: Any, groups: list[slice], coefficients: list[Array]) -> list[Array]:
        """Return K(X, support vectors of a group) times its coefficients, for each group."""
        points = self._check_predict(X)
        if len(self.support_) == 0:
            return [np.zeros((len(points), c.shape[1])) for c in coefficients]
        if has_approximation(self):
            return products_of_features(self._prepared, points, groups, coefficients)
        if len(groups) == 1:
            return [self._prepared.times(points, coefficients[0], self.memory_limit)]
        return self._prepared.times_parts(points, groups, coefficients, self.memory_limit)
