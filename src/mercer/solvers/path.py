"""Ridge regression for every alpha at once, and its cross-validation in closed form."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from ..checks import Array
from .linear import FeatureRidge
from .problem import RidgeProblem

Rows = slice | Array

SMALL = 1e-8  # alpha against the largest eigenvalue


class RidgePath:
    """S K S = U diag(values) U', from which the solution for any alpha takes one product.

    Solves: the errors y_i - f(x_i) of models fitted without some of the points, without fitting
    them. With the hat matrix H of all points, those of a set F held out are (I - H_FF)**-1 r_F,
    where r are the errors of the model of all points.
    Given: orthonormal vectors U; complete: whether they span everything (with the intercept's).

    Rifkin, Lippert, "Notes on regularized least squares" (2007).
    """

    def __init__(
        self, values: Array, vectors: Array, problem: RidgeProblem, complete: bool
    ) -> None:
        self.values, self.vectors, self.complete = np.maximum(values, 0.0), vectors, complete
        self.roots = problem.roots
        self.weight = self.roots[:, 0] ** 2
        targets = self.roots * problem.targets
        self.unit = np.zeros((len(targets), 0))
        if problem.intercept:
            self.unit = self.roots / np.linalg.norm(self.roots)
        self._squared: Array | None = None
        self.inside = vectors.T @ targets
        self.outside = np.zeros_like(targets)
        if not complete:
            self.outside = targets - vectors @ self.inside - self.unit @ (self.unit.T @ targets)

    @classmethod
    def of_gram(cls, K: Array, problem: RidgeProblem) -> RidgePath:
        """Return the path of a dense K, which is overwritten."""
        roots = problem.roots
        if problem.weight is not None:
            K *= roots * roots[:, 0]
        if problem.intercept:
            unit = roots / np.linalg.norm(roots)
            product = K @ unit
            half = product - unit * (float(unit[:, 0] @ product[:, 0]) / 2)
            # The constant direction has no penalty. An eigenvalue below all others sets it apart.
            apart = max(float(np.diagonal(K).max()), 1.0)
            K -= half @ unit.T + unit @ half.T + apart * (unit @ unit.T)
        values, vectors = eigh(K, overwrite_a=True, check_finite=False, driver="evd")
        if problem.intercept:
            values, vectors = values[1:], vectors[:, 1:]
        return cls(values, vectors, problem, complete=True)

    @classmethod
    def of_features(cls, ridge: FeatureRidge) -> RidgePath:
        """Return the path of a ridge problem in an explicit feature space."""
        values, turn = ridge.spectrum()
        kept = values > len(values) * np.finfo(np.float64).eps * values.max(initial=0.0)
        values, turn = values[kept], turn[:, kept]
        vectors = np.empty((len(ridge.problem.targets), len(values)))
        for rows, turned in ridge.turned(turn):
            vectors[rows] = ridge.problem.roots[rows] * turned / np.sqrt(values)
        return cls(values, vectors, ridge.problem, complete=False)

    def _shrink(self, alpha: float) -> Array:
        """Return what I - H leaves of each direction; of a complete basis, over alpha."""
        with np.errstate(divide="ignore"):
            share = 1 / (self.values + alpha)
        return share if self.complete else alpha * share

    def residuals(self, alpha: float, rows: Rows = slice(None)) -> Array:
        """Return S (y - f) of the model of all points; of a complete basis, over alpha."""
        directions = self._shrink(alpha)[:, None] * self.inside
        return np.asarray(self.outside[rows] + self.vectors[rows] @ directions)

    def leave_one_out(self, alpha: float) -> Array:
        """Return y_i - f(x_i) of the models without point i, or without one unit of its weight."""
        diagonal = (self._squares @ self._shrink(alpha) + self._rest)[:, None]
        scale = alpha if self.complete else 1.0
        weight = self.weight[:, None]
        heavy = weight > 1
        denominator = np.where(heavy, (1 - 1 / weight) + scale * diagonal / weight, diagonal)
        numerator = np.where(heavy, scale, 1.0) * self.residuals(alpha)
        return np.asarray(numerator / denominator / self.roots)

    @property
    def _squares(self) -> Array:
        if self._squared is None:
            self._squared = self.vectors**2
        squared: Array = self._squared
        return squared

    @property
    def _rest(self) -> Array:
        """The diagonal of what lies outside the vectors."""
        if self.complete:
            return np.zeros(len(self.vectors))
        return np.asarray(1 - self._squares.sum(axis=1) - (self.unit**2).sum(axis=1))

    def hold_out(self, alpha: float, rows: Array) -> Array:
        """Return y_i - f(x_i) of the points in `rows`, of the model without all of them."""
        residuals = self.residuals(alpha, rows)
        if self.complete and alpha <= SMALL * self.values.max(initial=0.0):
            # I - H is small everywhere: a sum of small terms, not a difference of large ones.
            scaled = self.vectors[rows] * np.sqrt(self._shrink(alpha))
            factor = cho_factor(scaled @ scaled.T, check_finite=False)
            errors = cho_solve(factor, residuals, check_finite=False)
        else:
            errors = self._held_out(alpha, rows, residuals * (alpha if self.complete else 1.0))
        return np.asarray(errors / self.roots[rows])

    def _held_out(self, alpha: float, rows: Array, residuals: Array) -> Array:
        """Return (I - H_FF)**-1 r with H_FF = Z Z', as many unknowns as Z has rows or columns."""
        shares = self.values / (self.values + alpha)
        seen = shares > np.finfo(np.float64).eps / 4  # the others add nothing
        Z = np.hstack([self.vectors[np.ix_(rows, seen)] * np.sqrt(shares[seen]), self.unit[rows]])
        if Z.shape[0] <= Z.shape[1]:
            factor = cho_factor(np.eye(len(Z)) - Z @ Z.T, check_finite=False)
            return np.asarray(cho_solve(factor, residuals, check_finite=False))
        factor = cho_factor(np.eye(Z.shape[1]) - Z.T @ Z, check_finite=False)
        return np.asarray(residuals + Z @ cho_solve(factor, Z.T @ residuals, check_finite=False))
