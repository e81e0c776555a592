"""How wide the kernel of a feature machine is, its penalty, and how often its metric is renewed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...checks import Array
from ...grams import Prepared
from ...grams.sides import Side, View
from ...inputs import Matrix
from ...kernels import Kernel
from ...monitor import Monitor
from ...solvers import RidgeProblem
from ...solvers.ridge.refits import RidgeRefits
from .recursion import Recursion, ridge_fit

WIDTHS = (0.5, 1.0, 2.0, 4.0)
START, STEP = 0.1, 10.0**0.5  # of the penalties that are tried
LEAST, MOST = 1e-6, 1e4
AROUND = (1 / 10.0, 1.0, 10.0)  # penalties that are tried with a learned metric
FOLLOWED = 2  # widths with which metrics are learnt

Loss = Callable[[Array, Array], float]  # of scores and the rows they belong to


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One setting of a feature machine, and its loss on rows that it has not seen."""

    width: float
    alpha: float
    steps: int
    loss: float


@dataclass(kw_only=True)
class MetricSearch:
    """A search by the losses of rows that were not seen.

    X, targets, weight: the rows. loss: of scores. folds: pairs of training and held-out rows, for
    all that has a learned metric: an error left out in closed form would come from a metric that
    has seen the row. widths, alphas: to try; alphas of None are searched downhill. steps: how often
    a metric is renewed at most, or exactly where fixed is set. tried: what was found.
    """

    recursion: Recursion
    X: Array
    targets: Array
    weight: Array | None
    loss: Loss
    folds: Sequence[tuple[Array, Array]]
    widths: Sequence[float]
    alphas: Sequence[float] | None
    steps: int
    fixed: bool
    monitor: Monitor
    tried: list[Tried] = field(default_factory=list)

    def run(self) -> Tried:
        """Return the best setting."""
        plain = [self._without_metric(width) for width in self.widths]
        if not self.fixed or self.steps == 0:
            self.tried += plain
        if self.steps:
            for one in sorted(plain, key=lambda one: one.loss)[:FOLLOWED]:
                self._with_metric(one)
        return min(self.tried, key=lambda one: one.loss)

    def _without_metric(self, width: float) -> Tried:
        """Return the best alpha for a width where all columns count alike, by leaving out one."""
        d = self.X.shape[1]
        start = np.ones(d) if self.recursion.diagonal else np.eye(d)
        kernel = replace(self.recursion, width=width).scaled(start, self.X)
        K = gram_of(kernel, self.X, self.monitor)
        losses: dict[float, float] = {}

        def judge(alpha: float) -> float:
            problem = RidgeProblem(
                targets=self.targets,
                alpha=np.full(self.targets.shape[1], alpha),
                weight=self.weight,
                intercept=True,
            )
            refits = RidgeRefits(K, problem, [alpha], self.monitor, shared=False)
            scores = self.targets - refits.leave_one_out(alpha)
            return self._loss(scores, np.arange(len(scores)))

        if self.alphas is None:
            losses = downhill(judge, START)
        else:
            losses = {alpha: judge(alpha) for alpha in self.alphas}
        alpha = min(losses, key=lambda one: losses[one])
        return Tried(width=width, alpha=alpha, steps=0, loss=losses[alpha])

    def _with_metric(self, plain: Tried) -> None:
        """Try metrics learnt with the width and the alpha that were best without one."""
        recursion = replace(self.recursion, width=plain.width, alpha=plain.alpha)
        alphas = [plain.alpha]
        if self.alphas is None:
            alphas = [plain.alpha * factor for factor in AROUND]
        elif len(self.alphas) > 1:
            alphas = list(self.alphas)
        scores = np.full((self.steps + 1, len(alphas), *self.targets.shape), np.nan)
        for train, held in self.folds:
            self._fold(recursion, alphas, scores, train, held)
        rows = np.sort(np.concatenate([held for _, held in self.folds]))
        steps = [self.steps] if self.fixed else range(1, self.steps + 1)
        for step in steps:
            for place, alpha in enumerate(alphas):
                loss = self._loss(scores[step, place][rows], rows)
                self.tried.append(Tried(width=plain.width, alpha=alpha, steps=step, loss=loss))

    def _fold(
        self,
        recursion: Recursion,
        alphas: Sequence[float],
        scores: Array,
        train: Array,
        held: Array,
    ) -> None:
        """Fill in the scores of the rows of one fold, for every step and alpha."""
        weight = None if self.weight is None else self.weight[train]
        inside, new = Matrix(self.X[train]), Matrix(self.X[held])
        targets = self.targets[train]
        fits = recursion.fits(self.X[train], targets, weight, self.steps, self.monitor)
        for step, fit in enumerate(fits):
            if step == 0:
                continue
            for place, alpha in enumerate(alphas):
                own = fit
                if alpha != recursion.alpha:
                    own = ridge_fit(fit.kernel, inside, targets, weight, alpha, self.monitor)
                scores[step, place, held] = own.at(new, self.monitor)

    def _loss(self, scores: Array, rows: Array) -> float:
        return self.loss(scores, rows) if np.isfinite(scores).all() else np.inf


def downhill(judge: Callable[[float], float], start: float) -> dict[float, float]:
    """Return losses of penalties, from a start on as long as they fall."""
    losses = {start: judge(start)}
    for factor in (STEP, 1.0 / STEP):
        best, alpha = losses[start], start * factor
        while LEAST <= alpha <= MOST:
            losses[alpha] = judge(alpha)
            if not losses[alpha] < best:
                break
            best, alpha = losses[alpha], alpha * factor
        if min(losses, key=lambda one: losses[one]) != start:
            break
    return losses


def gram_of(kernel: Kernel, X: Array, monitor: Monitor) -> Array:
    """Return K of all rows, dense, in single precision."""
    prepared = Prepared(kernel, View(Side(Matrix(X))))
    return prepared.gram(dtype=np.float32, monitor=monitor).dense()
