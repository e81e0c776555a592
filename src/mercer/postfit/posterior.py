"""The Gaussian-process view of ridge regression: how sure a prediction is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from ..checks import Array, InputError, sentence
from ..fitting.budget import Settings
from ..grams import Prepared
from ..inputs import Input
from ..linalg.blas import solve_lower
from ..linalg.cholesky import dense_bands
from ..monitor import Monitor
from ..solvers import ConjugateGradients, NotPositiveDefinite, RidgeProblem, Solution, TileCholesky
from ..solvers.ridge.nystrom import DIRECT
from ..solvers.ridge.whole import weighted_bands

IN_FEATURES = ("primal", "nystrom")
AT_ONCE = 256  # query points whose systems are solved together
OTHERS = 0.1  # share of points that are no centres, from which on they are enough
SAMPLE = 500  # training points that are left out to find the scale, where not all are


class Posterior:
    """The variance of a new y at x, for f drawn with covariance s k, noise of variance s alpha /
    w_i, and any offset b equally likely.

    It is s (q + v(x)), for an observation of mean weight, whose noise is q = alpha / mean(w), with
    v(x) = k(x, x) - k_x' A**-1 k_x + (1 - 1' A**-1 k_x)**2 / 1' A**-1 1 and A = K + alpha W**-1.
    The scale s of each output, whose root is kept, is the weighted mean of e_i**2 / (q + v_i),
    where e_i is y_i less the prediction, and v_i the variance, of the model without point i: the
    errors of points left out are as large as the model says. With few features or centres the same
    in their space; with features alone, in units of the noise, so that alpha may be 0.
    What it takes is computed when first asked for, and kept.

    Bachoc, "Cross validation and maximum likelihood estimations of hyper-parameters of Gaussian
    processes with model misspecification" (2013).
    """

    scale: Array | None = None

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

    def deviation(
        self, points: Input, prepared: Prepared, coefficients: Array, settings: Settings
    ) -> Array:
        """Return the standard deviation of a new y: one column for each output."""
        try:
            units = self._units(points, prepared, settings)
            if self.scale is None and self.way not in IN_FEATURES:
                self.scale = self._scale_of_points(prepared, coefficients, settings)
        except (NotPositiveDefinite, LinAlgError):
            must = "return_std needs K + alpha I that is positive definite"
            got = f"rounding that hides alpha = {self.alphas.min():g}"
            raise InputError(sentence(settings.run.who, must, got, "Raise alpha.")) from None
        return np.asarray(np.sqrt(units[:, self.place]) * self._known(settings.run.who))

    def _units(self, points: Input, prepared: Prepared, settings: Settings) -> Array:
        """Return q + v(x) for each alpha."""
        if self.way not in IN_FEATURES:
            return self._noise + self._in_points(points, prepared, settings)
        if self.moments is None:
            must = f"return_std needs at most {DIRECT} features or centres"
            advice = f"Fit with n_centers={DIRECT}."
            raise InputError(sentence(settings.run.who, must, "more", advice))
        g, rest = self._in_features(points, prepared)
        return rest + self._noise * (1 + self._mean_weight * g)

    def _known(self, who: str) -> Array:
        if self.scale is None or not np.isfinite(self.scale).all():
            must = "return_std needs points that can be left out of the fit"
            raise InputError(
                sentence(who, must, "none that the others predict", "Fit more points.")
            )
        return self.scale

    @property
    def _noise(self) -> Array:
        """The noise of an observation of mean weight in the units of the scale, for each alpha."""
        if self.way == "primal":
            return np.ones_like(self.alphas)
        return np.asarray(self.alphas / self._mean_weight)

    @property
    def _mean_weight(self) -> float:
        return 1.0 if self.weight is None else float(self.weight.mean())

    # --- the scale --------------------------------------------------------------------------

    def learn(
        self, points: Input, prepared: Prepared, errors: Array, centres: Array, seed: int
    ) -> None:
        """Find the scale of a model in the space of features, whose points are not kept.

        points, errors: of the training. prepared: what the model keeps. centres: which points
        these are: no new point is explained as they are, so that others are left out to learn from.
        """
        if self.moments is None:
            return
        rows = np.setdiff1d(np.arange(len(errors)), centres)
        rows = rows if len(rows) > OTHERS * len(errors) else np.arange(len(errors))
        rows = rows[_some(len(rows), seed)]
        weight = np.ones(len(errors)) if self.weight is None else self.weight
        w = weight[rows, None]
        g, rest = self._in_features(points.take(rows), prepared)
        left = 1 - w * g
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            variance = rest + self._noise * (1 + self._mean_weight * g / left)
            ratios = errors[rows] / left[:, self.place] / np.sqrt(variance[:, self.place])
        possible = (left > 1e-10) & (variance > 0)
        self.scale = _root_mean_square(ratios, possible[:, self.place], w)

    def _scale_of_points(
        self, prepared: Prepared, coefficients: Array, settings: Settings
    ) -> Array:
        """Return the scale from the coefficients: with c = S**-1 a and B of docs/ridge.md,
        "Leaving points out", e_i = c_i / (s_i B_ii) and v_i = (1 / B_ii - alpha) / w_i.
        """
        n = len(prepared)
        problem = RidgeProblem(
            targets=np.zeros((n, 1)),
            alpha=np.zeros(1),
            weight=self.weight,
            intercept=self.intercept,
        )
        few = n <= settings.costs.exact_rows
        rows = np.arange(n) if few else _some(n, settings.run.seed, AT_ONCE)
        w = problem.roots[rows] ** 2
        c = (coefficients / problem.roots)[rows]
        ratios, possible = np.empty_like(c), np.empty(c.shape, dtype=bool)
        for place, alpha in enumerate(self.alphas):
            B, whole = self._inverse(float(alpha), rows, prepared, problem, settings)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                found = c / np.sqrt(B * (1 + alpha * B * (w / self._mean_weight - 1)))
            own = self.place == place
            ratios[:, own] = found[:, own]
            possible[:, own] = whole * 1e-10 < B
        return _root_mean_square(ratios, possible, w)

    def _inverse(
        self,
        alpha: float,
        rows: Array,
        prepared: Prepared,
        problem: RidgeProblem,
        settings: Settings,
    ) -> tuple[Array, Array]:
        """Return the entries of the diagonal of B, and of (S K S + alpha I)**-1, as columns."""
        if len(prepared) <= settings.costs.exact_rows:
            ones = self._solve(alpha, problem.roots, prepared, problem, settings)
            whole = self._factors[alpha].inverse_diagonal()[:, None]
        else:
            right = np.zeros((len(prepared), len(rows) + 1))
            right[rows, np.arange(len(rows))], right[:, -1:] = 1.0, problem.roots
            solved = self._solve(alpha, right, prepared, problem, settings)
            ones, whole = solved[:, -1:], solved[rows, np.arange(len(rows))][:, None]
        if not self.intercept:
            return whole, whole
        return whole - ones[rows] ** 2 / float(problem.roots[:, 0] @ ones[:, 0]), whole

    # --- the variance -----------------------------------------------------------------------

    def _in_features(self, points: Input, prepared: Prepared) -> tuple[Array, Array]:
        """Return z' (H + alpha)**-1 z for each alpha, with z = L**-1 k_x or phi(x), centred where
        there is an offset, which adds 1 / sum w; and what z does not explain of k(x, x).
        """
        spread = np.full((len(points), len(self.alphas)), self.intercept / max(self.total, 1e-300))
        rest = np.zeros((len(points), 1))
        if self.way == "primal":
            bands, lower = prepared.map_bands(points), None
        else:
            bands = prepared.gram(points, dtype=np.float64).bands()
            K = prepared.gram(dtype=np.float64, store=False).dense()
            lower = TileCholesky(dense_bands(K), np.float64, Monitor()).dense()
            rest += prepared.diag(points)[:, None]
        moments = np.asarray(self.moments)
        factors = [
            TileCholesky(dense_bands(moments), np.float64, Monitor(), float(alpha))
            for alpha in self.alphas
        ]
        for rows, band in bands:
            for first in range(0, rows.stop - rows.start, AT_ONCE):
                few = slice(rows.start + first, min(rows.start + first + AT_ONCE, rows.stop))
                part = band[first : first + AT_ONCE]
                raw = np.asarray(part.toarray() if hasattr(part, "toarray") else part).T
                centred = raw - self.shift[:, None]
                if lower is not None:
                    z = solve_lower(lower, raw)
                    centred = solve_lower(lower, centred)
                    rest[few] -= (z**2).sum(axis=0)[:, None]
                centred -= self.mean[:, None]
                for column, factor in enumerate(factors):
                    spread[few, column] += (centred * factor.solve(centred)).sum(axis=0)
        return spread, np.maximum(rest, 0.0)

    def _in_points(self, points: Input, prepared: Prepared, settings: Settings) -> Array:
        """Return v(x) for each alpha."""
        n = len(prepared)
        problem = RidgeProblem(
            targets=np.zeros((n, 1)),
            alpha=np.zeros(1),
            weight=self.weight,
            intercept=self.intercept,
        )
        variance = np.empty((len(points), len(self.alphas)))
        diagonal = prepared.diag(points)
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
        return np.maximum(variance, 0.0)

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
        if len(right) <= settings.costs.exact_rows:
            if alpha not in self._factors:
                K = prepared.gram(store=False, dtype=np.float64)
                bands = weighted_bands(K, problem)
                self._factors[alpha] = TileCholesky(bands, np.float64, monitor, alpha)
            return self._factors[alpha].solve(right)
        K = prepared.gram(memory_limit=settings.run.memory_limit)
        plain = RidgeProblem(
            targets=right / problem.roots, alpha=np.full(right.shape[1], alpha), weight=self.weight
        )
        solver = ConjugateGradients(
            tol=settings.tol, max_iter=settings.max_iter, rank=1000, random_state=settings.run.seed
        )
        return solver.solve(K, plain, monitor).coefficients / problem.roots


def _some(n: int, seed: int, most: int = SAMPLE) -> Array:
    """Return the numbers of all points, or of some of them."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def _root_mean_square(ratios: Array, possible: Array, weight: Array) -> Array:
    """Return the weighted one of each column over what is possible; NaN where nothing is."""
    share, ratios = np.where(possible, weight, 0.0), np.where(possible, ratios, 0.0)
    total = share.sum(axis=0)
    largest = np.maximum(np.abs(ratios).max(axis=0, initial=0.0), np.finfo(np.float64).tiny)
    with np.errstate(invalid="ignore"):
        squares = (share * (ratios / largest) ** 2).sum(axis=0)  # of numbers that can be squared
    nothing = np.full(len(total), np.nan)
    return np.asarray(largest * np.sqrt(np.divide(squares, total, out=nothing, where=total > 0)))
