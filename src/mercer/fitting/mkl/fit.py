"""Which matrices are kept, how kernels are scaled, and which way to the weights is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array, KernelError, MemoryLimitError, bytes_text, sentence
from ...grams import GramStack, limit_in_bytes
from ...grams.stacks.factors import FactorStack, factor_columns
from ...grams.stacks.matrices import (
    ComputedStack,
    GivenStack,
    MatrixStack,
    StoredStack,
    is_mercer,
    stack_bytes,
    sums_bytes,
)
from ...inputs import Input
from ...kernels import Kernel
from ...linalg.cholesky import negative_eigenvalue
from ...monitor import Stopped
from ...run import Run
from ...solvers import BoxSolver, DenseRows
from ...solvers.box.machines import hard_margin
from ...solvers.mkl.closed import ClosedForm
from ...solvers.mkl.level import LevelMethod
from ...solvers.mkl.problem import Oracle, Search, Step, dual_norm
from ...solvers.mkl.simple import SimpleMKL
from ...status import Status

ALGORITHMS = ("auto", "simple", "level", "lp", "easy", "average")
SCALINGS = ("diagonal", "trace", "variance")
PRECISE = 512 * 2**20  # bytes up to which matrices are kept in double precision
LEAST_RANK = 8  # of a factor that stands for a matrix
UNLIMITED = 2**62
SMALL = 1e-8  # weights below are 0

WAYS: dict[str, Callable[[Search], SimpleMKL | LevelMethod | ClosedForm]] = {
    "simple": SimpleMKL,
    "level": LevelMethod,
    "lp": ClosedForm,
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the weights are learnt, as the estimators' parameters say.

    algorithm: one of `ALGORITHMS`. p: of the norm of the weights. tol: the gap to reach, relative
    to the objective. share: of the identity in EasyMKL. offset: whether functions have an offset.
    """

    run: Run
    algorithm: str
    p: float
    scaling: str | None
    tol: float
    max_iter: int
    share: float
    offset: bool


@dataclass(frozen=True, kw_only=True)
class Learned:
    """Weights of kernels, and how they were found.

    weights: of the scaled kernels; factors: by which they were scaled, 0 for kernels without any
    say. gap: how far the objective may be from the least, NaN where the algorithm has another aim.
    """

    weights: Array
    factors: Array
    algorithm: str
    status: Status
    objective: float
    gap: float
    solves: int
    history: list[Step]
    plan: str
    bytes: int
    entries: int

    @property
    def coefficients(self) -> Array:
        """What the kernels themselves are multiplied by."""
        return self.weights * self.factors


def make_stack(
    kernels: Sequence[Kernel], points: Input, run: Run, *, low_rank: bool
) -> tuple[MatrixStack, str]:
    """Return the matrices of the kernels, kept where they fit, and why they are kept or not.

    low_rank: whether factors will do where not even sums of matrices fit.
    """
    n, count = len(points), len(kernels)
    limit, sums = limit_in_bytes(run.who, run.memory_limit), sums_bytes(n, np.float32)
    if sums > limit:
        known = low_rank and all(is_mercer(kernel) for kernel in kernels)
        if not known or factor_columns(n, limit) < LEAST_RANK * count:
            raise _no_room(n, np.float32, run)
        stack = FactorStack(kernels, points, run.monitor, limit=limit)
        reason = f"{count} matrices as factors of rank {min(stack.ranks)} to {max(stack.ranks)}"
        return stack, f"{reason}, which leave out {100 * stack.left:.2g} % of a trace at most"
    for dtype in (np.float64, np.float32):
        size = stack_bytes(count, n, dtype)
        fits = size + sums_bytes(n, dtype) <= limit
        if fits and (dtype == np.float32 or size <= PRECISE):
            reason = f"half of {count} matrices kept in {np.dtype(dtype).name}"
            return StoredStack(kernels, points, dtype, run.monitor), reason
    reason = f"{count} matrices computed anew: they do not fit {bytes_text(limit)}"
    return ComputedStack(kernels, points, np.float32, run.monitor, limit=limit - sums), reason


def given_stack(stack: GramStack, run: Run) -> tuple[MatrixStack, str]:
    """Return matrices that were handed in."""
    if sums_bytes(len(stack), stack.dtype) > limit_in_bytes(run.who, run.memory_limit):
        raise _no_room(len(stack), stack.dtype, run)
    return GivenStack(stack, run.monitor), f"{stack.n_kernels} matrices as given"


def _no_room(n: int, dtype: Any, run: Run) -> MemoryLimitError:
    """Return what to do where weighted sums of matrices do not fit."""
    need, limit = sums_bytes(n, dtype), limit_in_bytes(run.who, run.memory_limit)
    must = f"weighted sums of the matrices of {n} points must fit memory_limit"
    got = f"{bytes_text(need)} for them, a limit of {bytes_text(limit)}"
    advice = "Raise it, or learn the weights on fewer points and fit SVC with kernel_ on all."
    return MemoryLimitError(sentence(run.who, must, got, advice))


def equal_weights(count: int, status: Status) -> Learned:
    """Return what there is where there was no time to look at a matrix."""
    return Learned(
        weights=np.full(count, 1 / count),
        factors=np.ones(count),
        algorithm="average",
        status=status,
        objective=np.nan,
        gap=np.nan,
        solves=0,
        history=[],
        plan="stopped at once",
        bytes=0,
        entries=0,
    )


class KernelWeights:
    """Learns the weights of the matrices of a stack.

    names: of the kernels, in messages. oracle: makes J from the factors of the kernels. signs: of
    the classes of each machine, with its points, for EasyMKL. weight: how much each point counts in
    the scale of a kernel.
    """

    def __init__(
        self,
        stack: MatrixStack,
        names: Sequence[str],
        settings: Settings,
        *,
        oracle: Callable[[MatrixStack, Array], Oracle],
        signs: Sequence[tuple[Array, Array]] = (),
        weight: Array | None = None,
    ) -> None:
        self.stack, self.names, self.settings = stack, names, settings
        self.oracle, self.signs = oracle, signs
        count = np.ones(stack.size) if weight is None else weight
        self.total = float(count.sum())
        self.shares = count / self.total

    def run(self, plan: str) -> Learned:
        """Return the weights; plan: why the matrices are kept or not."""
        settings, run = self.settings, self.settings.run
        factors = self._factors()
        used = np.flatnonzero(factors)
        algorithm = settings.algorithm
        if algorithm == "auto":
            algorithm = "level" if settings.p == 1 else "lp"
        if len(used) == 1 or algorithm == "average":
            return self._fixed(factors, plan, (factors > 0) / len(used), "average")
        if algorithm == "easy":
            return self._fixed(factors, plan, self._easy(factors), "easy")
        search = Search(
            oracle=self.oracle(self.stack, factors),
            count=len(used),
            p=settings.p,
            tol=settings.tol,
            max_iter=settings.max_iter,
            monitor=run.monitor,
        )
        status, gap = search.ended(WAYS[algorithm](search).run), search.gap
        best = search.best
        if isinstance(self.stack, FactorStack):
            status, gap = self._whole_gap(self.stack, factors, search, status)
        weights = np.zeros(self.stack.count)
        weights[used] = search.start() if best is None else best.weights
        weights[weights < SMALL * weights.max()] = 0.0
        return Learned(
            weights=weights / (weights**settings.p).sum() ** (1 / settings.p),
            factors=factors,
            algorithm=algorithm,
            status=status,
            objective=np.nan if best is None else best.primal,
            gap=gap,
            solves=search.solves,
            history=[_spread(step, used, self.stack.count) for step in search.history],
            plan=f"{algorithm}: {plan}",
            bytes=self.stack.kept + self.stack.beside,
            entries=self.stack.count * self.stack.size**2,
        )

    def _whole_gap(
        self, stack: FactorStack, factors: Array, search: Search, status: Status
    ) -> tuple[Status, float]:
        """Return how far J may be from the least J of whole matrices, and whether that will do.

        A whole matrix is at least that of its factor, so that J with factors is an upper bound of
        J; the forms of whole matrices give the lower bound.
        """
        if search.best is None or search.witness is None:
            return status, np.inf
        try:
            forms = np.maximum(factors * stack.whole_forms(search.witness), 0.0)[factors != 0]
        except Stopped as stop:
            return stop.reason, np.inf
        bound = search.height - dual_norm(forms, self.settings.p) / 2
        gap = max(search.best.primal - bound, 0.0)
        enough = gap <= self.settings.tol * abs(search.best.primal)
        return (status if enough or not status.is_good else Status.MEMORY_LIMIT), gap

    def _fixed(self, factors: Array, plan: str, weights: Array, algorithm: str) -> Learned:
        """Return weights that no search over J has found, with J there."""
        found = None
        status = Status.COMPLETE
        try:
            found = self.oracle(self.stack, factors)(weights[factors != 0])
        except Stopped as stop:
            status = stop.reason
        history = []
        if found is not None:
            history = [Step(objective=found.primal, gap=np.nan, weights=weights, solves=1)]
        return Learned(
            weights=weights,
            factors=factors,
            algorithm=algorithm,
            status=status,
            objective=np.nan if found is None else found.primal,
            gap=np.nan,
            solves=1,
            history=history,
            plan=f"{algorithm}: {plan}",
            bytes=self.stack.kept + self.stack.beside,
            entries=self.stack.count * self.stack.size**2,
        )

    def _easy(self, factors: Array) -> Array:
        """Return weights by the margin that each kernel has between the classes (EasyMKL).

        The nearest points of the convex hulls of the classes, in the space of the sum of all
        kernels with a share of the identity, are apart in the space of each kernel by its form.

        F. Aiolli, M. Donini, "EasyMKL: a scalable multiple kernel learning algorithm",
        Neurocomputing 169 (2015).
        """
        share, stack = self.settings.share, self.stack
        K = stack.weighted((1 - share) * factors)
        K.flat[:: stack.size + 1] += K.dtype.type(share)
        B = np.zeros((stack.size, len(self.signs)))
        for place, (rows, y) in enumerate(self.signs):
            problem = hard_margin(y, np.ones(len(y), dtype=bool))
            solver = BoxSolver(DenseRows(K, rows), 1e-6, UNLIMITED, self.settings.run.monitor)
            B[rows, place] = solver.solve(problem).b
        forms = np.maximum(factors * stack.forms(B), 0.0)
        return np.asarray(forms / forms.sum())

    # --- scales -----------------------------------------------------------------------------

    def _factors(self) -> Array:
        """Return what each kernel is multiplied by, 0 for those that say nothing."""
        stack, settings = self.stack, self.settings
        diagonals = stack.diagonals()
        self._check_mercer(diagonals)
        shares = self.shares[:, None]
        means = diagonals @ self.shares
        eps = float(np.finfo(stack.dtype).eps)
        variances = means - stack.forms(shares)
        flat = variances <= 100 * eps * means if settings.offset else means <= 0
        dropped = tuple(np.flatnonzero(flat | (means <= 0)).tolist())
        if len(dropped) == stack.count:
            must = "a kernel must tell the points apart"
            got = f"kernels that are constant or zero on them, n_samples = {stack.size}"
            raise KernelError(sentence(settings.run.who, must, got, "Give other kernels."))
        for m in dropped:
            settings.run.warn(
                f"{settings.run.who}: {self.names[m]} is constant on these points and is left out."
            )
        scales = {
            "diagonal": means,
            "trace": means * self.total,
            "variance": variances,
            None: np.ones(stack.count),
        }[settings.scaling]
        factors = np.zeros(stack.count)
        kept = np.ones(stack.count, dtype=bool)
        kept[list(dropped)] = False
        factors[kept] = 1 / scales[kept]
        return factors

    def _check_mercer(self, diagonals: Array) -> None:
        """Refuse matrices of users that are not positive semi-definite."""
        stack = self.stack
        for m in stack.doubtful():
            scale = float(np.abs(diagonals[m]).max(initial=0.0))
            lowest = negative_eigenvalue(stack.matrix(m), 1e-6 * scale, self.settings.run.monitor)
            if lowest < 0:
                must = "every kernel must be positive semi-definite on the points"
                got = f"{self.names[m]} with the eigenvalue {lowest:.3g}"
                advice = "check_kernel tells more; repair(K) returns the nearest matrix that is."
                raise KernelError(sentence(self.settings.run.who, must, got, advice))


def _spread(step: Step, used: Array, count: int) -> Step:
    """Return a step whose weights are those of all kernels."""
    weights = np.zeros(count)
    weights[used] = step.weights
    return Step(objective=step.objective, gap=step.gap, weights=weights, solves=step.solves)
