"""Kernel ridge regression on the whole Gram matrix: direct, or by conjugate gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...grams import Gram, Multiply, partial_factor, spanned_columns
from ...linalg.cg import LowRankPreconditioner, Operator, Patience, System, conjugate_gradients
from ...linalg.cholesky import SINGLE_FROM, TILE, NotPositiveDefinite, TileCholesky
from ...monitor import Monitor, Stopped
from ...stages import State
from ...status import Status
from .problem import RidgeProblem, Solution, assess, left_out_errors, unsolved
from .worth import Worth

REFINEMENTS = 30
PRECISE_BELOW = 2e-5  # residuals that single-precision sums cannot tell


def symmetric_operator(K: Gram, problem: RidgeProblem, precise: bool = True) -> Operator:
    """Return V -> S K S V in double precision.

    A native product with a single-precision K sums in single precision inside a tile. `precise`
    takes K in bands instead and converts them; otherwise V is handed over in two parts, so that at
    least it is not rounded.
    """
    roots = problem.roots

    def apply(V: Array) -> Array:
        scaled = roots * V
        if K.dtype == np.float64:
            return np.asarray(roots * (K @ scaled))
        if precise:
            return np.asarray(roots * Gram.reduce(K, Multiply(scaled)))
        high = scaled.astype(np.float32).astype(np.float64)
        parts = K @ np.hstack([high, scaled - high])
        return np.asarray(roots * (parts[:, : V.shape[1]] + parts[:, V.shape[1] :]))

    return apply


def weighted_bands(K: Gram, problem: RidgeProblem) -> Iterator[tuple[slice, Array]]:
    """Yield the lower half of S K S in bands of rows."""
    n, roots = len(problem.targets), problem.roots
    for start in range(0, n, TILE):
        rows = slice(start, min(start + TILE, n))
        band = K.rows(rows)[:, : rows.stop]
        if problem.weight is not None:
            band = band * roots[rows] * roots[: rows.stop, 0]
        yield rows, band


@dataclass(frozen=True)
class Cholesky:
    """Factor K + alpha I once for each alpha, and refine the solution in double precision.

    The factor is in single precision for large K; iterative refinement brings the full accuracy,
    and a double-precision factor is made where it does not.
    leave_one_out: also find the errors of the models that leave out one point each.
    single_from: the points from which on the factor is in single precision.

    Higham, Pranesh, "Exploiting lower precision arithmetic in solving symmetric positive definite
    linear systems" (2021).
    """

    tol: float = 1e-6
    leave_one_out: bool = False
    single_from: int = SINGLE_FROM

    def solve(self, K: Gram, problem: RidgeProblem, monitor: Monitor) -> Solution:
        apply = symmetric_operator(K, problem)
        right = problem.right_sides()
        solved, diagonals, applied = [], [], np.empty_like(right)
        try:
            for alpha, columns in problem.groups():
                found, left, factor = self._one(
                    K=K,
                    problem=problem,
                    alpha=alpha,
                    right=right[:, columns],
                    apply=apply,
                    monitor=monitor,
                )
                solved.append(found)
                applied[:, columns] = right[:, columns] - left - alpha * found
                if self.leave_one_out:
                    diagonals.append(factor.inverse_diagonal())
            c, b, ones = problem.join(solved)
            if problem.intercept:  # c is another vector than those that were solved for
                applied = apply(c)
            certificate = assess(problem, c, b, ones, applied)
        except Stopped as stop:
            return unsolved(problem, stop.reason)
        status = Status.EXACT if certificate["residual"] <= self.tol else Status.STAGNATED
        keep = {}
        if self.leave_one_out:
            keep["leave_one_out"] = self._left_out(problem, c, ones, solved, diagonals)
        return Solution(
            coefficients=problem.roots * c, intercept=b, status=status, **certificate, keep=keep
        )

    def _one(
        self,
        K: Gram,
        problem: RidgeProblem,
        alpha: float,
        right: Array,
        apply: Operator,
        monitor: Monitor,
    ) -> tuple[Array, Array, TileCholesky]:
        """Return the solution of (S K S + alpha I) C = right, what is left of it, the factor."""
        single = len(right) >= self.single_from
        goal = min(self.tol, 1e-12 if K.dtype == np.float64 else 1e-7)
        for dtype in [np.float32, np.float64] if single else [np.float64]:
            try:
                factor = TileCholesky(weighted_bands(K, problem), dtype, monitor, alpha)
            except NotPositiveDefinite:
                if dtype == np.float32:
                    continue
                raise
            found, left, residual = refine(apply, factor, alpha, right, goal)
            if residual <= self.tol:
                break
        return found, left, factor

    def _left_out(
        self,
        problem: RidgeProblem,
        c: Array,
        ones: Array,
        solved: list[Array],
        diagonals: list[Array],
    ) -> Array:
        """Return y_i - f_i of the models without sample i: the point, or one of its copies."""
        errors = np.empty_like(c)
        for (alpha, columns), found, diagonal in zip(
            problem.groups(), solved, diagonals, strict=True
        ):
            own = columns[:-1] if problem.intercept else columns
            inverse = diagonal[:, None]
            if problem.intercept:
                inverse = inverse - found[:, -1:] ** 2 / ones[own]
            errors[:, own] = left_out_errors(problem, alpha, c[:, own], inverse)
        return errors


def refine(
    apply: Operator, factor: TileCholesky, alpha: float, right: Array, goal: float
) -> tuple[Array, Array, float]:
    """Improve the solution of a factor until its residual reaches the goal or stops falling.

    Returns the solution, what is left of the right side, and the largest relative size of that.
    """
    scale = np.linalg.norm(right, axis=0)
    scale[scale == 0] = 1.0
    X, left, best = np.zeros(right.shape), right, np.inf
    for _ in range(REFINEMENTS):
        step = factor.solve(left)
        if not np.isfinite(step).all():
            break
        new = X + step
        rest = right - apply(new) - alpha * new
        size = float((np.linalg.norm(rest, axis=0) / scale).max())
        if not size < best:
            break
        X, left, best, before = new, rest, size, best
        if size <= goal or size > before / 2:
            break
    return X, left, best


@dataclass(frozen=True, kw_only=True)
class ConjugateGradients:
    """Conjugate gradients on all outputs at once, with a randomly pivoted partial Cholesky factor
    as preconditioner.

    rank: of the preconditioner, at most. iteration: what one of them costs, in multiplications of
    a large matrix product: columns that cost more than they save are left out. exact: the matrix
    that decides, where K itself is stored with fewer digits; the solution is then refined against
    it. alternative: what another way costs, as a number of iterations; `TooSlow` is raised where
    those still to come look like more.

    Diaz, Epperly, Frangella, Tropp, Webber, "Robust, randomized preconditioning for kernel ridge
    regression" (2023).
    """

    tol: float
    max_iter: int
    rank: int
    random_state: int
    iteration: float = np.inf
    alternative: float = np.inf

    def solve(
        self, K: Gram, problem: RidgeProblem, monitor: Monitor, exact: Gram | None = None
    ) -> Solution:
        work = _Refinement(self, K, problem, monitor, exact)
        try:
            operators = work.preconditioners()
        except Stopped as stop:
            return unsolved(problem, stop.reason)
        status = work.run(operators)
        c, b, ones = problem.join(work.solutions)
        certificate = assess(problem, c, b, ones, work.applied())
        return Solution(
            coefficients=problem.roots * c,
            intercept=b,
            status=status,
            **certificate,
            iterations=work.iterations,
            rank=work.rank,
        )


class _Refinement:
    """Solve with K, correct against the exact matrix, until the residual is small."""

    def __init__(
        self,
        settings: ConjugateGradients,
        K: Gram,
        problem: RidgeProblem,
        monitor: Monitor,
        exact: Gram | None,
    ) -> None:
        self.settings, self.problem, self.monitor = settings, problem, monitor
        self.K = K
        precise = settings.tol < PRECISE_BELOW
        self.reference = symmetric_operator(K if exact is None else exact, problem, precise)
        self.floor = 1e-10 if K.dtype == np.float64 else 1e-5
        if exact is not None:
            self.floor = 1e-4 if exact.dtype == K.dtype else 1e-5
        self.right = problem.right_sides()
        self.groups = problem.groups()
        self.scales = [np.linalg.norm(self.right[:, columns], axis=0) for _, columns in self.groups]
        self.solutions = [np.zeros((len(self.right), len(c))) for _, c in self.groups]
        self.residuals = [self.right[:, columns] for _, columns in self.groups]
        self.iterations = self.rank = 0
        self.patience = Patience(settings.tol, settings.alternative)

    def _apply(self, V: Array) -> Array:
        roots = self.problem.roots
        return np.asarray(roots * (self.K @ (roots * V)))

    def preconditioners(self) -> list[Operator]:
        """Return one for each group, from one partial factor of K."""
        random = np.random.default_rng(self.settings.random_state)
        roots = None if self.problem.weight is None else self.problem.roots[:, 0]

        def factor() -> State:
            worth = self._worth()
            pivots, lower = partial_factor(self.K, self.settings.rank, random, roots, worth)
            return {"pivots": pivots, "lower": lower}

        found = self.monitor.kept("preconditioner", factor)
        pivots, lower = np.asarray(found["pivots"]), np.asarray(found["lower"])
        self.rank = len(pivots)
        bands = spanned_columns(self.K, pivots, lower, roots)
        preconditioner = LowRankPreconditioner(bands, self.rank, lower.dtype, self.monitor)
        return [preconditioner.at(alpha) for alpha, _ in self.groups]

    def _worth(self) -> Worth:
        return Worth(
            points=len(self.right),
            alpha=min(alpha for alpha, _ in self.groups),
            tol=self.settings.tol,
            iteration=self.settings.iteration,
        )

    def run(self, operators: list[Operator]) -> Status:
        """Return the status; solutions and residuals are those of the last full correction."""
        with self.monitor.stage("refinement") as stage:
            self._go_on(stage.known)
            while True:
                before = self._worst()
                status = self._solve_for_residual(operators)
                if status.was_stopped:
                    return status
                if self._worst() <= 1:
                    return Status.CONVERGED
                if self.iterations >= self.settings.max_iter:
                    return Status.ITERATION_LIMIT
                if self._worst() > before / 2:
                    return Status.STAGNATED
                stage.reached(self._state())

    def _state(self) -> State:
        """Return what it takes to go on: the solutions, and what is left of the right sides."""
        found = {f"x{i}": x for i, x in enumerate(self.solutions)}
        left = {f"r{i}": r for i, r in enumerate(self.residuals)}
        return {"iterations": self.iterations, **found, **left}

    def _go_on(self, known: State | None) -> None:
        """Take up what is known from an earlier process."""
        if known is not None:
            groups = range(len(self.groups))
            self.iterations = int(known["iterations"])
            self.solutions = [np.asarray(known[f"x{i}"]) for i in groups]
            self.residuals = [np.asarray(known[f"r{i}"]) for i in groups]

    def _worst(self) -> float:
        """Return the largest residual as a multiple of what is allowed."""
        found = [
            float((np.linalg.norm(r, axis=0) / np.where(s > 0, s, 1.0)).max(initial=0.0))
            for r, s in zip(self.residuals, self.scales, strict=True)
        ]
        return max(found) / self.settings.tol

    def _solve_for_residual(self, operators: list[Operator]) -> Status:
        """Add what K says about the residual to the solutions."""
        systems = []
        for (alpha, _), residual, scale, operator in zip(
            self.groups, self.residuals, self.scales, operators, strict=True
        ):
            wanted = np.maximum(
                0.7 * self.settings.tol * scale, self.floor * np.linalg.norm(residual, axis=0)
            )
            systems.append(
                System(
                    alpha=alpha, right=residual, targets=wanted, precondition=operator, scale=scale
                )
            )
        before = self.iterations
        self.iterations, status = conjugate_gradients(
            self._apply,
            systems,
            self.settings.max_iter,
            self.monitor,
            done=before,
            patience=self.patience,
        )
        if self.iterations == 0 and status != Status.CONVERGED:
            # Stopped in the first product: what the preconditioner says is all there is.
            self.solutions = [s.precondition(s.right) for s in systems]
            self.residuals = [np.full_like(s.right, np.nan) for s in systems]
            return status
        self.solutions = [x + s.X for x, s in zip(self.solutions, systems, strict=True)]
        try:
            if status.was_stopped:
                raise Stopped(status)
            self._find_residuals()
        except Stopped as stop:
            # No time for another product: what the iteration itself carries along is close to it.
            self.residuals = [s.Q @ s.rho for s in systems]
            return stop.reason
        return status

    def _find_residuals(self) -> None:
        cuts = np.cumsum([x.shape[1] for x in self.solutions])[:-1]
        products = np.split(self.reference(np.hstack(self.solutions)), cuts, axis=1)
        self.residuals = [
            self.right[:, columns] - product - alpha * x
            for (alpha, columns), product, x in zip(
                self.groups, products, self.solutions, strict=True
            )
        ]

    def applied(self) -> Array:
        """Return S K S c for the joined solution, from the residuals that are known."""
        joined = [
            self.right[:, columns] - residual - alpha * x
            for (alpha, columns), residual, x in zip(
                self.groups, self.residuals, self.solutions, strict=True
            )
        ]
        products = np.empty_like(self.problem.targets, dtype=np.float64)
        _, b, _ = self.problem.join(self.solutions)
        for (_, columns), part in zip(self.groups, joined, strict=True):
            own = columns[:-1] if self.problem.intercept else columns
            products[:, own] = part[:, : len(own)]
            if self.problem.intercept:
                products[:, own] -= part[:, -1:] * b[own]
        return products
