"""The Gaussian-process view of ridge regression: how sure a prediction is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import Array, InputError, sentence
from ..grams import Prepared
from ..grams.blas import solve_lower
from ..inputs import Input
from ..monitor import Monitor
from ..solvers import ConjugateGradients, RidgeProblem, Solution, TileCholesky
from ..solvers.cholesky import dense_bands
from ..solvers.nystrom import DIRECT
from ..solvers.ridge import shifted_bands
from .ridge_fit import CHOLESKY_ROWS
from .spaces import Settings

AT_ONCE = 256  # query points whose systems are solved together


class Posterior:
    """The variance of f(x) + b for f drawn with covariance k, noise of variance alpha / w_i, and
    any b equally likely.

    v(x) = k(x, x) - k_x' A**-1 k_x + (1 - 1' A**-1 k_x)**2 / 1' A**-1 1 with A = K + alpha W**-1.
    With few features or centres the same in their space. What it takes is computed when first
    asked for, and kept.
    """

    def __init__(self, way: str, problem: RidgeProblem, found: Solution) -> None:
        self.way, self.intercept = way, problem.intercept
        self.alphas = np.unique(problem.alpha)
        self.place = np.searchsorted(self.alphas, problem.alpha)
        self.weight = problem.weight
        self.moments = found.keep.get("moments") if len(found.coefficients) <= DIRECT else None
        nothing = np.zeros(0)
        self.shift, self.mean = found.keep.get("shift", nothing), found.keep.get("mean", nothing)
        self.total = found.keep.get("total", 0.0)
        self._factors: dict[float, TileCholesky] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_factors": {}}

    def deviation(self, points: Input, prepared: Prepared, settings: Settings) -> Array:
        """Return sqrt(v(x)): one number a point, or one an output where alphas differ."""
        if self.way in ("primal", "nystrom"):
            found = self._in_features(points, prepared, settings.who)
        else:
            found = self._in_points(points, prepared, settings)
        deviations = np.sqrt(np.maximum(found, 0.0))
        return np.asarray(deviations[:, 0] if len(self.alphas) == 1 else deviations[:, self.place])

    def _in_features(self, points: Input, prepared: Prepared, who: str) -> Array:
        """Return v(x) = k - z' z + alpha z' (H + alpha)**-1 z, with z = L**-1 k_x or phi(x)."""
        if self.moments is None:
            must = f"return_std needs at most {DIRECT} features or centres"
            raise InputError(sentence(who, must, "more", f"Fit with n_centers={DIRECT}."))
        variance = np.zeros((len(points), len(self.alphas)))
        if self.way == "primal":
            bands, lower = prepared.map_bands(points), None
        else:
            bands = prepared.gram(points, dtype=np.float64).bands()
            K = prepared.gram(dtype=np.float64, store=False).dense()
            lower = TileCholesky(dense_bands(K), np.float64, Monitor()).dense()
            variance += prepared.kernel.diag(points)[:, None]
        factors = [
            TileCholesky(dense_bands(self.moments, float(alpha)), np.float64, Monitor())
            for alpha in self.alphas
        ]
        for rows, band in bands:
            raw = np.asarray(band.toarray() if hasattr(band, "toarray") else band).T
            centred = raw - self.shift[:, None]
            if lower is not None:
                z = solve_lower(lower, raw)
                centred = solve_lower(lower, centred)
                variance[rows] -= (z**2).sum(axis=0)[:, None]
            centred = centred - self.mean[:, None]
            for column, (alpha, factor) in enumerate(zip(self.alphas, factors, strict=True)):
                spread = (centred * factor.solve(centred)).sum(axis=0)
                variance[rows, column] += alpha * (
                    spread + self.intercept / max(self.total, 1e-300)
                )
        return variance

    def _in_points(self, points: Input, prepared: Prepared, settings: Settings) -> Array:
        n = len(prepared)
        problem = RidgeProblem(np.zeros((n, 1)), np.zeros(1), self.weight, self.intercept)
        variance = np.empty((len(points), len(self.alphas)))
        diagonal = prepared.kernel.diag(points)
        for start in range(0, len(points), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            K = prepared.gram(points.take(rows), dtype=np.float64, store=False).dense().T
            right = np.hstack([problem.roots * K, problem.roots])
            for column, alpha in enumerate(self.alphas):
                solved = self._solve(float(alpha), right, prepared, problem, settings)
                explained = (right[:, :-1] * solved[:, :-1]).sum(axis=0)
                variance[rows, column] = diagonal[rows] - explained
                if self.intercept:
                    ones = problem.roots[:, 0] @ solved
                    variance[rows, column] += (1 - ones[:-1]) ** 2 / ones[-1]
        return variance

    def _solve(
        self,
        alpha: float,
        right: Array,
        prepared: Prepared,
        problem: RidgeProblem,
        settings: Settings,
    ) -> Array:
        """Return (S K S + alpha I)**-1 right."""
        monitor = Monitor()
        if len(right) <= CHOLESKY_ROWS:
            if alpha not in self._factors:
                K = prepared.gram(store=False, dtype=np.float64)
                bands = shifted_bands(K, problem, alpha)
                self._factors[alpha] = TileCholesky(bands, np.float64, monitor)
            return self._factors[alpha].solve(right)
        K = prepared.gram(memory_limit=settings.memory_limit)
        plain = RidgeProblem(right / problem.roots, np.full(right.shape[1], alpha), self.weight)
        solver = ConjugateGradients(settings.tol, settings.max_iter, 1000, settings.seed)
        return solver.solve(K, plain, monitor).coefficients / problem.roots
