"""The held-out errors of ridge models with several kernels, each in the way that costs least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...checks import Array
from ...grams import Prepared, gram_family, limit_in_bytes, prepare
from ...grams.sides import Side, View
from ...inputs import Input, RowBlocks
from ...kernels import Kernel
from ...monitor import Monitor
from ...solvers import HeldOutPath, RidgePath, RidgeProblem, RidgeRefits
from ...solvers.ridge.passing import PassingPath
from ..budget import Settings
from ..costs import SearchCosts
from .fit import MAP_MOST, RidgeFit

AT_ONCE = 8  # kernels whose matrices are computed together


@dataclass(frozen=True, kw_only=True)
class KernelPaths:
    """The paths of every kernel: of K itself for few points, else of features or few centres.

    problems: one for each weighting of the points. held: how many points each fold holds out; None
    leaves out one at a time.
    """

    points: Input
    problems: list[RidgeProblem]
    alphas: Sequence[float]
    held: tuple[int, ...] | None
    settings: Settings

    @property
    def monitor(self) -> Monitor:
        """What watches the search."""
        return self.settings.run.monitor

    def of(self, kernels: Sequence[Kernel]) -> Iterator[tuple[Kernel, Iterator[HeldOutPath]]]:
        """Yield every kernel with its path for each problem."""
        n = len(self.points)
        limit = limit_in_bytes(self.settings.run.who, self.settings.run.memory_limit)
        few = n <= self.settings.costs.search_rows and 40 * n * n <= limit
        together = max(1, min(AT_ONCE, limit // (8 * n * n) - 4))
        for first in range(0, len(kernels), together):
            some = kernels[first : first + together]
            ready = [prepare(kernel, self.points, self.problems[0].weight) for kernel in some]
            wide = [few and not self._has_small_map(one) for one in ready]
            chosen = [one for one, whole in zip(ready, wide, strict=True) if whole]
            matrices = iter(self._dense(chosen))
            for kernel, one, whole in zip(some, ready, wide, strict=True):
                yield kernel, self._of_gram(next(matrices)) if whole else self._in_features(one)

    def _has_small_map(self, prepared: Prepared) -> bool:
        """Return whether an exact map has few features, and fewer than there are points."""
        width = prepared.map_width()
        return width is not None and width < min(len(prepared), MAP_MOST)

    def _dense(self, prepared: Sequence[Prepared]) -> list[Array]:
        """Return K of every kernel; what they have in common is computed once."""
        if isinstance(self.points, RowBlocks) and prepared:  # they are few
            view = View(Side(self.points.take(slice(None))))
            prepared = [replace(one, view=view) for one in prepared]
        kernels = [one.checked().kernel for one in prepared]
        shared = all(kernel.domain == kernels[0].domain for kernel in kernels)
        if len(kernels) > 1 and shared:
            family = gram_family(kernels, prepared[0], dtype=np.float64, monitor=self.monitor)
            return list(family.dense())
        return [
            one.gram(dtype=np.float64, store=False, monitor=self.monitor).dense()
            for one in prepared
        ]

    def _of_gram(self, K: Array) -> Iterator[HeldOutPath]:
        """Yield the path of each problem."""
        costs = SearchCosts(
            rates=self.settings.costs,
            points=len(K),
            held=self.held,
            alphas=len(self.alphas),
            weightings=len(self.problems),
        )
        way, most, least = costs.cheapest()[0], costs.most_rank(), min(self.alphas)
        # Below this, rounding decides whether there is a factor; eigenvectors can do without.
        total = max(float(p.roots[:, 0] ** 2 @ np.diagonal(K)) for p in self.problems)
        if least <= len(K) * np.finfo(np.float64).eps * total:
            way = "spectrum"
        for problem in self.problems:
            self.monitor.poll()
            low = RidgePath.of_low_rank(K, problem, least, most, self.monitor)
            if low is not None:
                yield low
            elif way == "spectrum":
                own = K if problem is self.problems[-1] else K.copy()
                yield RidgePath.of_spectrum(own, problem, self.monitor)
            else:
                yield RidgeRefits(K, problem, self.alphas, self.monitor, shared=way == "bands")

    def _in_features(self, prepared: Prepared) -> Iterator[HeldOutPath]:
        prepared.checked()
        for problem in self.problems:
            fit = RidgeFit(prepared, problem, self.settings)
            if isinstance(self.points, RowBlocks):
                yield self._passing(fit, problem)
            else:
                yield RidgePath.of_features(fit.features())

    def _passing(self, fit: RidgeFit, problem: RidgeProblem) -> PassingPath:
        """Return the path of points that pass by."""
        each = 8 * len(self.points) * (problem.targets.shape[1] + 1)
        at_once = max(1, int(fit.limit // 4 // each))
        folds = 1 if self.held is None else len(self.held) + 1
        Z, lower = fit.passing(matrices=2 * folds + 3)
        return PassingPath(
            Z=Z,
            problem=problem,
            lower=lower,
            alphas=self.alphas,
            at_once=at_once,
            monitor=self.monitor,
        )
