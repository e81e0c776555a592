"""Ridge regression fitted anew for every fold; what the fits of a fold share is computed once."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike

from ...checks import Array
from ...linalg.banded import Banded
from ...linalg.blas import product
from ...linalg.cholesky import (
    TILE,
    DenseCholesky,
    NotPositiveDefinite,
    TileCholesky,
    dense_bands,
)
from ...monitor import Monitor
from .problem import RidgeProblem, left_out_errors

Factor = DenseCholesky | TileCholesky

IN_ONE_PIECE = 3000  # rows whose factor takes a moment
SINGLE_ENOUGH = 1e-3  # relative residual with which a solution in single precision is taken


def factored(A: Array, alpha: float, right: Array, monitor: Monitor) -> tuple[Factor, Array]:
    """Return the factor of A + alpha I, and the solution of its equations.

    Of an A in single precision both are, too, where the equations are then met to SINGLE_ENOUGH.
    """
    if A.dtype == np.float32:
        with contextlib.suppress(NotPositiveDefinite):
            factor = _factor(A, np.float32, alpha, monitor)
            solved = factor.solve(right)
            left = right - product(A, solved) - alpha * solved
            if np.linalg.norm(left) <= SINGLE_ENOUGH * np.linalg.norm(right):
                return factor, solved.astype(np.float64)
    factor = _factor(A, np.float64, alpha, monitor)
    return factor, factor.solve(right)


def _factor(A: Array, dtype: DTypeLike, alpha: float, monitor: Monitor) -> Factor:
    monitor.poll()
    if len(A) <= IN_ONE_PIECE:
        return DenseCholesky(A, dtype, alpha)
    return TileCholesky(dense_bands(A), dtype, monitor, alpha)


@dataclass(frozen=True)
class Refit:
    """Points that were held out together, and their errors for each alpha that has a solution."""

    rows: Array
    errors: dict[float, Array]


class RidgeRefits:
    """The errors y_i - f(x_i) of models fitted without some of the points, one fit after another.

    Solves: the equations of the points of each fit by a Cholesky factor for each alpha; or, where
    shared is set, by one reduction to a band for all of them, four times the work of a factor.
    With few folds that is less than the eigenvectors of all points, from which `RidgePath` takes
    the same errors.
    Given: a dense K, which is left as it is, and the alphas to come. Factors are those of
    `factored`.
    """

    def __init__(
        self,
        K: Array,
        problem: RidgeProblem,
        alphas: Sequence[float],
        monitor: Monitor,
        shared: bool,
    ) -> None:
        self.K, self.problem, self.alphas = K, problem, alphas
        self.monitor, self.shared = monitor, shared
        self.weight = problem.roots[:, 0] ** 2

    def part(self, rows: Array) -> Refit:
        """Return the errors of these points, of the models without them."""
        rest = self._rest(rows)
        inside = self._within(rest)
        solve = self._by_band if self.shared else self._by_factors
        solved = solve(rest, inside.right_sides())
        if not solved:
            return Refit(rows, {})
        joined = [inside.join([found])[:2] for _, found in solved]
        values = self._predict(rows, rest, np.hstack([inside.roots * c for c, _ in joined]))
        values += np.concatenate([b for _, b in joined])
        parts = np.split(values, len(solved), axis=1)
        targets = self.problem.targets[rows]
        errors = {alpha: targets - part for (alpha, _), part in zip(solved, parts, strict=True)}
        return Refit(rows, errors)

    def hold_out(self, alpha: float, held: Refit) -> Array:
        """Return y_i - f(x_i) of the points held out, of the model without all of them."""
        if alpha not in held.errors:
            raise np.linalg.LinAlgError("K + alpha I is not positive definite")
        return held.errors[alpha]

    def leave_one_out(self, alpha: float) -> Array:
        """Return y_i - f(x_i) of the models without sample i: the point, or one of its copies."""
        return self._left_out(alpha, np.arange(len(self.K)))

    def leave_one_out_of_rest(self, alpha: float, held: Refit) -> tuple[Array, Array]:
        """Return the points that are not held out, and their errors left out one by one of the
        model without those held out.
        """
        rest = self._rest(held.rows)
        return rest, self._left_out(alpha, rest)

    def _left_out(self, alpha: float, rows: Array) -> Array:
        inside = self._within(rows)
        try:
            right = inside.right_sides()
            factor, solved = factored(self._weighted(rows), alpha, right, self.monitor)
        except NotPositiveDefinite:
            return np.full(inside.targets.shape, np.nan)
        c, _, ones = inside.join([solved])
        inverse = factor.inverse_diagonal()[:, None]
        if inside.intercept:
            inverse = inverse - solved[:, -1:] ** 2 / ones
        return left_out_errors(inside, alpha, c, inverse)

    def _rest(self, rows: Array) -> Array:
        return np.setdiff1d(np.arange(len(self.K)), rows)

    def _within(self, rows: Array) -> RidgeProblem:
        """Return the problem of some of the points."""
        problem = self.problem
        return replace(
            problem,
            targets=problem.targets[rows],
            weight=None if problem.weight is None else problem.weight[rows],
            copies=None if problem.copies is None else problem.copies[rows],
        )

    def _weighted(self, rows: Array) -> Array:
        """Return S K S of some of the points."""
        A = self.K if len(rows) == len(self.K) else self.K[np.ix_(rows, rows)]
        if self.problem.weight is not None:
            roots = self.problem.roots[rows].astype(A.dtype)
            A = A * roots * roots[:, 0]
        return np.asarray(A)

    def _by_factors(self, rows: Array, right: Array) -> list[tuple[float, Array]]:
        """Return each alpha with the solution of its equations, where there is one."""
        found, A = [], self._weighted(rows)
        for alpha in self.alphas:
            with contextlib.suppress(NotPositiveDefinite):
                found.append((alpha, factored(A, alpha, right, self.monitor)[1]))
        return found

    def _by_band(self, rows: Array, right: Array) -> list[tuple[float, Array]]:
        """Return the same from one reduction to a band."""
        band = Banded(self._weighted(rows).T, self.monitor)
        turned = band.to_band(right)
        alphas, solved = [], []
        for alpha in self.alphas:
            try:
                solved.append(band.solve(alpha, turned))
            except NotPositiveDefinite:
                continue
            alphas.append(alpha)
        if not alphas:
            return []
        back = band.from_band(np.hstack(solved))
        return list(zip(alphas, np.split(back, len(alphas), axis=1), strict=True))

    def _predict(self, rows: Array, trained: Array, coefficients: Array) -> Array:
        """Return K(rows, trained) coefficients."""
        full = np.zeros((len(self.K), coefficients.shape[1]))
        full[trained] = coefficients
        out = np.empty((len(rows), coefficients.shape[1]))
        for start in range(0, len(rows), TILE):
            part = slice(start, start + TILE)
            out[part] = product(self.K[rows[part]], full.astype(self.K.dtype))
            self.monitor.poll()
        return out
