"""How large a preconditioner should be."""

from __future__ import annotations

import math

LEAST = 3  # blocks of columns that are seen before anything is concluded


class Worth:
    """Tells whether further columns of a preconditioner save more than they cost.

    With lambda the part of the trace that the last columns took off, each, conjugate gradients need
    about log(2 / tol) / 2 sqrt(1 + lambda / alpha) iterations. From half of the columns to all of
    them that number falls as a power of theirs, which is taken to go on.

    points: how many there are. alpha: the smallest one. iteration: its cost, in multiplications;
    a column more, among r, costs 2 r multiplications per point.
    """

    def __init__(self, *, points: int, alpha: float, tol: float, iteration: float) -> None:
        self.points, self.alpha, self.iteration = points, alpha, iteration
        self.digits = max(math.log(2 / tol) / 2, 1.0)
        self.seen: list[tuple[int, float]] = []  # columns, and what remained of the trace
        self.steps: list[tuple[int, float]] = []  # columns, and the iterations with them

    def __call__(self, rank: int, remaining: float) -> bool:
        """Use what remains of the trace with `rank` columns; return whether to go on."""
        if self.seen and rank > self.seen[-1][0]:
            before, more = self.seen[-1]
            each = max(more - remaining, 0.0) / (rank - before)
            needed = self.digits * math.sqrt(1 + each / self.alpha) if self.alpha > 0 else math.inf
            self.steps.append((rank, needed))
        self.seen.append((rank, remaining))
        return len(self.steps) < LEAST or self._pays()

    def _pays(self) -> bool:
        rank, now = self.steps[-1]
        earlier, then = min(self.steps, key=lambda step: abs(step[0] - rank / 2))
        if not math.isfinite(now) or then <= now:
            return not math.isfinite(now)
        power = math.log(then / now) / math.log(rank / earlier)
        return self.iteration * power * now / rank > 2 * rank * self.points
