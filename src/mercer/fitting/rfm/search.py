"""How wide the kernel of a feature machine is, its penalty, and how often its metric is renewed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...checks import Array
from ...inputs import Matrix
from ...kernels import Kernel
from ...monitor import Monitor
from ...solvers.ridge.refits import RidgeRefits
from ..penalties import downhill
from ..ridge.dense import dense_gram, ridge_problem
from .recursion import Fit, Recursion, Sample, precision, ridge_fit

WIDTHS = (0.5, 1.0, 2.0, 4.0)
START = 0.1  # of the penalties that are tried
PATIENCE = 2  # steps without a better loss after which no more are tried
FOLLOWED = 2  # widths with which metrics are learnt

Loss = Callable[[Array, Array], float]  # of scores and the rows they belong to


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One setting of a feature machine, and its loss on rows that it has not seen.

    scores, rows: what these rows got, and which they are; None where nothing was tried. kernel: in
    the metric of the last fold.
    """

    width: float
    alpha: float
    steps: int
    loss: float = np.nan
    scores: Array | None = None
    rows: Array | None = None
    kernel: Kernel | None = None


@dataclass(kw_only=True)
class MetricSearch:
    """A search by the losses of rows that were not seen.

    sample: the rows. loss: of scores. folds: pairs of training and held-out rows: an error left out
    in closed form would come from a metric that has seen the row. widths, alphas: to try; alphas of
    None are searched downhill. steps: how often a metric is renewed at most, or exactly where fixed
    is set. tried: what folds have judged.
    """

    recursion: Recursion
    sample: Sample
    loss: Loss
    folds: Sequence[tuple[Array, Array]]
    widths: Sequence[float]
    alphas: Sequence[float] | None
    steps: int
    fixed: bool
    monitor: Monitor
    tried: list[Tried] = field(default_factory=list)

    @property
    def best(self) -> Tried:
        """The best setting so far."""
        return min(self.tried, key=lambda one: one.loss)

    def run(self) -> Tried:
        """Return the best setting, by folds; errors left out one by one only tell where to look."""
        plain, start = list[Tried](), START
        for width in self.widths:
            plain.append(self._without_metric(width, start))
            start = plain[-1].alpha
        for one in sorted(plain, key=lambda one: one.loss)[:FOLLOWED]:
            self.follow(one, plain=not self.fixed or self.steps == 0)
        return self.best

    def _without_metric(self, width: float, start: float) -> Tried:
        """Return the best alpha for a width where all columns count alike, by leaving out one."""
        sample = self.sample
        kernel = replace(self.recursion, width=width).plain(sample)
        dtype = precision(len(sample))
        K = dense_gram(kernel, Matrix(sample.X), self.monitor, dtype=dtype)
        rows, found = np.arange(len(sample)), dict[float, Tried]()

        def judge(alpha: float) -> float:
            problem = ridge_problem(sample.targets, sample.weight, alpha)
            refits = RidgeRefits(K, problem, [alpha], self.monitor, shared=False)
            scores = sample.targets - refits.leave_one_out(alpha)
            found[alpha] = self._judged(Tried(width=width, alpha=alpha, steps=0), scores, rows)
            return found[alpha].loss

        if self.alphas is None:
            downhill(judge, start)
        else:
            for alpha in self.alphas:
                judge(alpha)
        return min(found.values(), key=lambda one: one.loss)

    def follow(self, setting: Tried, plain: bool = False) -> None:
        """Try metrics learnt with the width and the alpha of a setting without one.

        All folds go one step at a time, as long as that helps; then other alphas are tried with the
        best metrics. plain: whether to try the setting without a metric, too.
        """
        recursion = replace(self.recursion, width=setting.width, alpha=setting.alpha)
        folds = [
            recursion.fits(self.sample.take(train), self.steps, self.monitor)
            for train, _ in self.folds
        ]
        best, fits = None, list[Fit]()
        for step in range(self.steps + 1):
            now = [next(fold) for fold in folds]
            if (step == 0 and not plain) or (self.fixed and step < self.steps):
                continue
            found = self._held_out(replace(setting, steps=step), now)
            self.tried.append(found)
            if best is None or found.loss < best.loss:
                best, fits = found, now
            elif step >= best.steps + PATIENCE:
                break
        if best is not None:
            self._other_alphas(best, fits)

    def _other_alphas(self, best: Tried, fits: Sequence[Fit]) -> None:
        """Try other alphas with the metrics of the best step, one for each fold."""

        def judge(alpha: float) -> float:
            if alpha == best.alpha:
                return best.loss
            again = [
                ridge_fit(fit.kernel, self.sample.take(train), alpha, self.monitor)
                for fit, (train, _) in zip(fits, self.folds, strict=True)
            ]
            self.tried.append(self._held_out(replace(best, alpha=alpha), again))
            return self.tried[-1].loss

        if self.alphas is None:
            downhill(judge, best.alpha)
        else:
            for alpha in self.alphas:
                judge(alpha)

    def _held_out(self, setting: Tried, fits: Sequence[Fit]) -> Tried:
        """Return a setting judged by what its fits give the rows that they have not seen."""
        scores = np.full(self.sample.targets.shape, np.nan)
        for fit, (_, held) in zip(fits, self.folds, strict=True):
            scores[held] = fit.at(self.sample.X[held], self.monitor)
        rows = np.sort(np.concatenate([held for _, held in self.folds]))
        found = self._judged(setting, scores[rows], rows)
        return replace(found, kernel=fits[-1].kernel)

    def _judged(self, setting: Tried, scores: Array, rows: Array) -> Tried:
        loss = self.loss(scores, rows) if np.isfinite(scores).all() else np.inf
        return replace(setting, loss=loss, scores=scores, rows=rows)
