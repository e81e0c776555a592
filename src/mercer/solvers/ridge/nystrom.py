"""Ridge regression with functions of a few centres: Nyström's method."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...grams import Gram, Normal
from ...linalg.blas import half_square
from ...linalg.cg import Operator, System, conjugate_gradients
from ...linalg.cholesky import NotPositiveDefinite, TileCholesky, dense_bands, pivoted_cholesky
from ...monitor import Monitor, Stopped
from ...status import Status
from .features import FeatureRidge, certify
from .moments import Errors, Transposed, unwhiten, whiten
from .problem import RidgeProblem, Solution, unsolved

BLOCK = 512
DIRECT = 2500  # centres up to which the normal equations cost less than conjugate gradients


def independent(K: Array, eps: float, monitor: Monitor) -> tuple[Array, Array]:
    """Return the centres that the others do not span, and the lower Cholesky factor of their K.

    eps: the relative precision of kernel values; what is smaller is rounding.
    """
    least = len(K) * eps * float(np.diag(K).max(initial=0.0))
    with contextlib.suppress(NotPositiveDefinite):
        lower = TileCholesky(dense_bands(K), np.float64, monitor).dense()
        if (np.diag(lower) ** 2 > least).all():
            return np.arange(len(K)), lower
    return pivoted_cholesky(K, least, monitor)


@dataclass(frozen=True)
class Nystrom:
    """min over t, b of sum_i w_i (y_i - sum_j k(x_i, z_j) t_j - b)**2 + alpha t' K_zz t.

    Few centres: normal equations, exact. Many: conjugate gradients with one pass over K(x, z) in
    each iteration, preconditioned by what the centres say about all points.

    Rudi, Carratino, Rosasco, "FALKON: an optimal large scale kernel method" (2017).
    """

    tol: float
    max_iter: int
    leave_one_out: bool = False

    def solve(
        self,
        cross: Gram,
        lower: Array,
        problem: RidgeProblem,
        monitor: Monitor,
        share: Array | None = None,
    ) -> Solution:
        """Given: cross = K(points, centres) and the Cholesky factor of K(centres, centres).

        share: how many points each centre stands for, to make the preconditioner from; None: each
        as many.
        """
        try:
            if len(lower) <= DIRECT or self.leave_one_out:
                return self._direct(cross, lower, problem, monitor)
            return _Centres(
                settings=self,
                cross=cross,
                lower=lower,
                problem=problem,
                monitor=monitor,
                share=share,
            ).solve()
        except Stopped as stop:
            return unsolved(problem, stop.reason, len(lower))

    def _direct(
        self, cross: Gram, lower: Array, problem: RidgeProblem, monitor: Monitor
    ) -> Solution:
        ridge = FeatureRidge(cross, problem, monitor, lower)
        found = ridge.solve(self.tol)
        if self.leave_one_out:
            found.keep["leave_one_out"] = ridge.leave_one_out(found.keep["errors"])
        return found


class _Centres:
    """Conjugate gradients in coordinates where the penalty is the identity."""

    def __init__(
        self,
        settings: Nystrom,
        cross: Gram,
        lower: Array,
        problem: RidgeProblem,
        monitor: Monitor,
        share: Array | None,
    ) -> None:
        self.settings, self.cross, self.lower = settings, cross, lower
        self.problem, self.monitor = problem, monitor
        self.weight = problem.roots[:, 0] ** 2
        self.known_weight = None if problem.weight is None else self.weight
        self.total = float(self.weight.sum())
        share = np.ones(len(lower)) if share is None else share
        self.share = share * (self.total / share.sum())
        self.shift = np.zeros(len(lower))
        means = np.zeros(problem.targets.shape[1])
        weighted = self.weight[:, None] * np.hstack(
            [problem.targets, np.ones((len(self.weight), 1))]
        )
        # An error of the mean would count once for every point, and could exceed alpha.
        products = self.cross.reduce(Transposed(weighted, wide=True))
        if problem.intercept:
            means = self.weight @ problem.targets / self.total
            self.shift = products[:, -1]
        self.means = means
        self.right = whiten(self.lower, products[:, :-1] - np.outer(self.shift, means))
        self.second_moments = np.empty((0, 0))

    def _apply(self, V: Array) -> Array:
        """Return L**-1 K' W C K L**-T V with C taking off the mean, in one pass."""
        t = unwhiten(self.lower, V)
        total = self.cross.reduce(Normal(t, weights=self.known_weight))
        return whiten(self.lower, total - np.outer(self.shift, self.shift @ t / self.total))

    def _second_moments(self, dtype: Any) -> Array:
        """Return L' C L with C the share of each centre, centred: what the centres say about Z' Z.

        Row blocks of L end at the diagonal, so that a third of the products is enough.
        """
        m = len(self.lower)
        total = np.zeros((m, m), dtype=dtype, order="F")
        for start in range(0, m, BLOCK):
            rows = slice(start, min(start + BLOCK, m))
            scaled = self.lower[rows, : rows.stop] * np.sqrt(self.share[rows, None])
            part = half_square(scaled.astype(total.dtype).T)
            for first in range(0, rows.stop, BLOCK):
                columns = slice(first, first + BLOCK)
                total[first : rows.stop, columns] += part[first:, columns]
            self.monitor.poll()
        if self.problem.intercept:
            mean = self.share @ self.lower / self.share.sum()
            total -= np.tril(np.outer(self.share.sum() * mean, mean)).astype(total.dtype)
        return total

    def _precision(self) -> Any:
        """Return float32 where its rounding is far below alpha, else float64."""
        trace = float(self.share @ np.einsum("ij,ij->i", self.lower, self.lower))
        rounding = float(np.finfo(np.float32).eps) * trace
        return np.float32 if self.problem.alpha.min() > 10 * rounding else np.float64

    def _preconditioner(self, alpha: float) -> Operator:
        """Return r -> M**-1 r with M = L' C L + alpha I."""
        try:
            factor = self._factor(alpha)
        except NotPositiveDefinite:
            if self.second_moments.dtype == np.float64:
                raise
            self.second_moments = self._second_moments(np.float64)  # rounding hid alpha
            factor = self._factor(alpha)
        return lambda R: factor.solve(R).astype(np.float64)

    def _factor(self, alpha: float) -> TileCholesky:
        M = self.second_moments.copy()
        M[np.diag_indices(len(M))] += alpha
        return TileCholesky(dense_bands(M), M.dtype, self.monitor)

    def solve(self) -> Solution:
        problem, tol = self.problem, self.settings.tol
        self.second_moments = self._second_moments(self._precision())
        operators = {float(a): self._preconditioner(float(a)) for a in np.unique(problem.alpha)}
        theta, left, iterations, before = np.zeros_like(self.right), self.right, 0, np.inf
        while True:
            step, left, iterations, status = self._step(left, operators, iterations)
            theta = theta + step
            t = unwhiten(self.lower, theta)
            b = self.means - self.shift @ t / self.total if problem.intercept else self.means
            try:
                left = self._gradient(t, b, theta)
            except Stopped as stop:  # what the iteration itself carries along is close to it
                status = stop.reason
            measured = certify(left, self.right, problem.alpha, problem.intercept)
            if status != Status.CONVERGED or measured["residual"] <= tol:
                break
            if measured["residual"] > before / 2:
                status = Status.STAGNATED
                break
            before = measured["residual"]
        return Solution(
            coefficients=t,
            intercept=b,
            status=status,
            **measured,
            iterations=iterations,
            rank=len(t),
        )

    def _step(
        self, left: Array, operators: dict[float, Operator], done: int
    ) -> tuple[Array, Array, int, Status]:
        """Return what takes off what is left of the right side, what is left then, and the status.

        Passes in single precision may leave more than they say; then another step follows.
        done: iterations that were made before.
        """
        alphas, systems = self.problem.alpha, []
        for alpha, operator in operators.items():
            scale = np.linalg.norm(self.right[:, alphas == alpha], axis=0)
            systems.append(
                System(
                    alpha=alpha,
                    right=left[:, alphas == alpha],
                    targets=0.7 * self.settings.tol * scale,
                    precondition=operator,
                    scale=scale,
                )
            )
        iterations, status = conjugate_gradients(
            self._apply, systems, self.settings.max_iter, self.monitor, done
        )
        step, rest = np.empty_like(self.right), np.empty_like(self.right)
        for system in systems:
            step[:, alphas == system.alpha] = system.X
            rest[:, alphas == system.alpha] = system.Q @ system.rho
        return step, rest, iterations, status

    def _gradient(self, t: Array, b: Array, theta: Array) -> Array:
        """Return L**-1 K' W (y - K t - b) - alpha theta, in double precision."""
        errors = Errors(t, b, self.problem.targets, self.known_weight)
        total, _ = self.cross.reduce(errors)
        return np.asarray(whiten(self.lower, total) - self.problem.alpha * theta)
