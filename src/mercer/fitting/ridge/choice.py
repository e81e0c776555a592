"""Which way a kernel ridge problem is solved, and why."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ...checks import Array, InputError, KernelError, MemoryLimitError, bytes_text, sentence
from ...grams import Gram, Prepared
from ...inputs import RowBlocks
from ...linalg.cholesky import SINGLE_FROM, TILE
from ...linalg.eigen import extreme_eigenvalues
from ...solvers import RidgeProblem
from ..budget import GramBudget, Settings

EXPLAINED = 20_000  # points up to which a refusal tells the eigenvalues of K
SOLVERS = ("auto", "primal", "cholesky", "cg", "nystrom")


class RidgeChoice(GramBudget):
    """A problem with its limits: what each way would cost, and which one is taken."""

    def __init__(self, prepared: Prepared, problem: RidgeProblem, settings: Settings) -> None:
        super().__init__(prepared, problem.targets.shape[1], settings.run)
        self.settings = settings
        self.problem = problem

    def choose(self, leave_one_out: bool) -> tuple[str, str]:
        """Return the way, as asked for or the cheapest that fits, and the reason."""
        asked = self.settings.solver
        width = self.prepared.map_width()
        if asked == "primal" and width is None:
            must = "solver='primal' needs a kernel with a finite feature map"
            raise KernelError(
                sentence(self.who, must, repr(self.prepared.kernel), "Use solver='auto'.")
            )
        if asked == "cholesky" and self._cholesky_bytes() > self.limit:
            need, limit = bytes_text(self._cholesky_bytes()), bytes_text(self.limit)
            raise MemoryLimitError(
                f"{self.who}: a Cholesky factor of {self.n} points must fit memory_limit; "
                f"it needs {need}, the limit is {limit}. Raise it, or use solver='auto'."
            )
        if asked != "auto":
            return asked, "as asked"
        if width is not None and width < self.n and self._primal_bytes(width) <= self.limit:
            return "primal", f"an exact map with {width} features is smaller than {self.n} points"
        if isinstance(self.prepared.points, RowBlocks):
            return "nystrom", "the points arrive in blocks"
        if self._outlasts_an_interval():
            return "cg", "a factor takes longer than the interval of the checkpoint"
        if self._is_late() or self._cholesky_bytes() > self.limit:
            return "cg", ""
        return self._cheapest(leave_one_out)

    def _cheapest(self, leave_one_out: bool) -> tuple[str, str]:
        """Return the way to solve the whole system that costs least, where all of them are open."""
        costs, factor = self.settings.costs, self._factor_cost()
        if leave_one_out and self.n <= costs.exact_rows:
            return "cholesky", f"the errors of {self.n} points left out are exact"
        if factor <= costs.quick:
            return "cholesky", f"a factor of {self.n} points is quick"
        gradients = costs.gradients(*self._system(), self.settings.tol)
        if factor * (1 + leave_one_out) <= gradients:
            return "cholesky", f"{self.n} points, where a factor costs less than iterations"
        return "cg", ""

    def _is_late(self) -> bool:
        """Return whether a factor would take most of the time limit."""
        most = self.monitor.time_limit
        return most is not None and self._factor_cost() > most / 3

    def _outlasts_an_interval(self) -> bool:
        """Return whether a factor, of which no checkpoint holds a part, is too much to lose."""
        stages = self.monitor.stages
        return stages is not None and self._factor_cost() > stages.every

    def _factor_cost(self) -> float:
        return self.settings.costs.factor(self.n) * len(self.problem.groups())

    def _system(self) -> tuple[int, int, int, int]:
        """Return the points, right sides, bytes per entry and rank of conjugate gradients."""
        columns = sum(len(columns) for _, columns in self.problem.groups())
        return self.n, columns, self.itemsize, self._rank(self.outputs)

    def _primal_bytes(self, width: int) -> int:
        return width * width * 8 * 3 + 2 * 4096 * width * 8

    def _cholesky_bytes(self) -> int:
        """Half of K, the tiles of the factors in one or both precisions, two bands on their way."""
        factors = self.n * (self.n + TILE) // 2 * (8 if self.n < SINGLE_FROM else 12)
        bands = 2 * min(TILE, self.n) * self.n * self.itemsize
        return int(self._half_bytes() + factors + bands + self._vectors())

    def _too_slow(self) -> bool:
        """Return whether passes over a K that is computed anew take too long."""
        seconds = self._pass_seconds()
        limit = self.monitor.time_limit
        late = limit is not None and 25 * seconds > limit
        return late or seconds > self.settings.costs.pass_seconds

    def refusal(self) -> InputError:
        """Say that K + alpha I is not positive definite and, of few points, from which alpha on."""
        must = "K + alpha I must be positive definite"
        if self.n > EXPLAINED:
            advice = "Raise alpha, or hand in X in double precision."
            return InputError(
                sentence(self.who, must, f"alpha = {self.problem.alpha.min():g}", advice)
            )
        K = self.prepared.gram(dtype=np.float64, store=False)
        roots = self.problem.roots
        values = self._extremes(K, roots[:, 0])
        least = max(-values[0], 0.0) + 10 * self.n * np.finfo(np.float64).eps * values[-1]
        if self.itemsize == 4:
            least += self.n * float(np.finfo(np.float32).eps) * float(K.diag().max())
        return InputError(
            sentence(
                self.who,
                must,
                f"alpha = {self.problem.alpha.min():g} and eigenvalues of K from {values[0]:.2g} "
                f"to {values[-1]:.2g}",
                f"The smallest alpha that works here is about {least:.2g}.",
            )
        )

    def _extremes(self, K: Gram, roots: Array) -> Array:
        """Return the smallest and the largest eigenvalue of S K S, roughly where K is large."""
        if self.n <= 2000:
            return np.array(extreme_eigenvalues(K.dense() * roots * roots[:, None]))
        shape = (self.n, self.n)
        operator = LinearOperator(shape, lambda v: roots * (K @ (roots * v.ravel())))
        found = []
        for end in ("SA", "LA"):
            try:
                options = {"which": end, "tol": 1e-2, "maxiter": 5, "return_eigenvectors": False}
                found.append(float(eigsh(operator, 1, **options)[0]))
            except ArpackNoConvergence:  # many eigenvalues near zero: rounding, no more
                found.append(0.0 if end == "SA" else float(self.n * K.diag().max()))
        return np.array(found)
