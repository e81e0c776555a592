"""Ridge regression for every alpha at once, and its cross-validation in closed form.

Products and factors are SciPy's alone: its BLAS and NumPy's, used in turn, would fight for the
processors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import lapack

from ...checks import Array
from ...grams import partial_cholesky
from ...linalg.blas import half_square, mirror, product
from ...linalg.cholesky import TILE, NotPositiveDefinite, TileCholesky, dense_bands
from ...linalg.eigen import eigh
from ...monitor import Monitor
from .features import FeatureRidge
from .problem import RidgeProblem

SMALL = 1e-8  # alpha against the largest eigenvalue
IGNORED = 1e-11  # share of a direction, against what I - H leaves at least
NEGLIGIBLE = 1e-6  # trace of what may be left out of K, against the smallest alpha


class HeldOutPath(Protocol):
    """Errors of models fitted without some of the points, for any alpha of a path."""

    weight: Array

    def part(self, rows: Array) -> Any:
        """Return what is needed to hold out these points."""

    def hold_out(self, alpha: float, held: Any) -> Array:
        """Return y_i - f(x_i) of the points held out, of the model without all of them."""

    def leave_one_out(self, alpha: float) -> Array:
        """Return y_i - f(x_i) of the models without sample i."""

    def leave_one_out_of_rest(self, alpha: float, held: Any) -> tuple[Array, Array]:
        """Return the other points, and their errors left out of the model without those held."""


@dataclass(frozen=True)
class Part:
    """Some points, to be held out together, and their rows of the vectors.

    inner: the products of the columns of these rows, on and below the diagonal, with that of the
    intercept as the last one; None where there are fewer rows.
    """

    rows: Array
    vectors: Array
    inner: Array | None = None


class RidgePath:
    """S K S = U diag(values) U', from which the solution for any alpha takes one product.

    Solves: the errors y_i - f(x_i) of models fitted without some of the points, without fitting
    them. With the hat matrix H of all points, those of a set F held out are (I - H_FF)**-1 r_F,
    where r are the errors of the model of all points.
    Given: orthonormal vectors U, by growing values; complete: whether they span everything, with
    the direction of the intercept.

    Rifkin, Lippert, "Notes on regularized least squares" (2007).
    """

    def __init__(
        self, values: Array, vectors: Array, problem: RidgeProblem, complete: bool
    ) -> None:
        self.values, self.vectors, self.complete = np.maximum(values, 0.0), vectors, complete
        self.roots = problem.roots
        self.weight, self.share = self.roots[:, 0] ** 2, problem.left_out
        targets = self.roots * problem.targets
        self.unit = np.zeros((len(targets), 0))
        if problem.intercept:
            self.unit = self.roots / np.linalg.norm(self.roots)
        self._squared: Array | None = None
        self.inside = product(vectors.T, targets)
        self.outside = np.zeros_like(targets)
        if not complete:
            self.outside = targets - product(vectors, self.inside)
            self.outside -= self.unit @ (self.unit.T @ targets)

    @classmethod
    def of_spectrum(cls, K: Array, problem: RidgeProblem, monitor: Monitor) -> RidgePath:
        """Return the path from all eigenvectors of a dense K, which is changed."""
        roots = problem.roots
        if problem.weight is not None:
            K *= roots * roots[:, 0]
        if problem.intercept:
            _set_apart(K, roots / np.linalg.norm(roots))
        values, vectors = eigh(K, monitor, overwrite=True)
        if problem.intercept:
            values, vectors = values[1:], vectors[:, 1:]
        return cls(values, vectors, problem, complete=True)

    @classmethod
    def of_low_rank(
        cls, K: Array, problem: RidgeProblem, least: float, most: int, monitor: Monitor
    ) -> RidgePath | None:
        """Return the path where K is, next to the smallest alpha, of a rank of at most `most`.

        What is left out, E, changes predictions by |E| / alpha of their size; |E| is at most the
        trace of E, mostly a hundredth of it.
        """
        weight = problem.roots[:, 0] ** 2
        if least <= SMALL * float(weight @ np.diagonal(K)):
            return None
        enough = NEGLIGIBLE * least
        roots = None if problem.weight is None else problem.roots[:, 0]
        factor = partial_cholesky(K, most, np.random.default_rng(0), roots, enough=enough)
        if factor.remaining.sum() > enough:
            return None
        Z = np.ascontiguousarray(factor.values.T)
        if problem.intercept:
            unit = problem.roots / np.linalg.norm(problem.roots)
            Z -= unit @ product(unit.T, Z)
        monitor.poll()
        values, turn = eigh(mirror(half_square(Z.T)), monitor, overwrite=True)
        kept = values > 1e-14 * values.max(initial=0.0)
        vectors = product(Z, turn[:, kept]) / np.sqrt(values[kept])
        return cls(values[kept], vectors, problem, complete=False)

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

    def residuals(self, alpha: float) -> Array:
        """Return S (y - f) of the model of all points; of a complete basis, over alpha."""
        return self._residuals(alpha, self.outside, self.vectors)

    def _residuals(self, alpha: float, outside: Array, vectors: Array) -> Array:
        return outside + product(vectors, self._shrink(alpha)[:, None] * self.inside)

    def leave_one_out(self, alpha: float) -> Array:
        """Return y_i - f(x_i) of the models without sample i: the point, or one of its copies."""
        everything = slice(None)
        return self._left_out(alpha, everything, self._diagonal(alpha), self.residuals(alpha))

    def _left_out(self, alpha: float, rows: Any, diagonal: Array, residuals: Array) -> Array:
        """Return the errors of samples left out, given I - H and the residuals of the points."""
        scale = alpha if self.complete else 1.0
        share = self.share[rows]
        part = share < 1
        denominator = np.where(part, (1 - share) + scale * diagonal * share, diagonal)
        numerator = np.where(part, scale, 1.0) * residuals
        return np.asarray(numerator / denominator / self.roots[rows])

    def _diagonal(self, alpha: float) -> Array:
        """Return the diagonal of I - H as a column; of a complete basis, over alpha."""
        return np.asarray((self._squares @ self._shrink(alpha) + self._rest)[:, None])

    def leave_one_out_of_rest(self, alpha: float, held: Part) -> tuple[Array, Array]:
        """Return the points that are not held out, and their errors left out one by one of the
        model without those held out.

        Without F, I - H of the rest is N_TT - N_TF N_FF**-1 N_FT with N = I - H of all points.
        """
        inside = np.setdiff1d(np.arange(len(self.vectors)), held.rows)
        rest, vectors = self._shrink(alpha), self.vectors[inside]
        between = product(held.vectors * (rest if self.complete else rest - 1), vectors.T)
        own = product(held.vectors * (rest if self.complete else rest - 1), held.vectors.T)
        if not self.complete:
            between -= product(self.unit[held.rows], self.unit[inside].T)
            own += np.eye(len(own)) - product(self.unit[held.rows], self.unit[held.rows].T)
        residuals = self.residuals(alpha)
        right = np.hstack([between, residuals[held.rows]])
        solved = _solve(np.tril(own), right)
        diagonal = self._diagonal(alpha)[inside, 0]
        diagonal = diagonal - np.einsum("ij,ij->j", between, solved[:, : len(inside)])
        residuals = residuals[inside] - product(between.T, solved[:, len(inside) :])
        return inside, self._left_out(alpha, inside, diagonal[:, None], residuals)

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

    def part(self, rows: Array) -> Part:
        """Return what is needed to hold out these points, for any number of alphas."""
        vectors, unit = self.vectors[rows], self.unit[rows]
        few = len(rows) <= vectors.shape[1] + unit.shape[1]
        return Part(rows, vectors, None if few else half_square(np.hstack([vectors, unit]).T))

    def hold_out(self, alpha: float, held: Part) -> Array:
        """Return y_i - f(x_i) of the points held out, of the model without all of them."""
        rows = held.rows
        residuals = self._residuals(alpha, self.outside[rows], held.vectors)
        if self.complete and alpha <= SMALL * self.values.max(initial=0.0):
            # I - H is small everywhere: a sum of small terms, not a difference of large ones.
            scaled = held.vectors * np.sqrt(self._shrink(alpha))
            errors = _solve(half_square(scaled), residuals)
        else:
            errors = self._held_out(alpha, held, residuals * (alpha if self.complete else 1.0))
        return np.asarray(errors / self.roots[rows])

    def _held_out(self, alpha: float, held: Part, residuals: Array) -> Array:
        """Return (I - H_FF)**-1 r with H_FF = Z Z', as many unknowns as Z has rows or columns."""
        shares = self.values / (self.values + alpha)
        # Directions that change no digit that matters: I - H is at least 1 - max(shares).
        first = int(np.searchsorted(shares, IGNORED * (1 - shares.max(initial=0.0))))
        scale = np.sqrt(np.append(shares[first:], np.ones(self.unit.shape[1])))
        Z = np.hstack([held.vectors[:, first:], self.unit[held.rows]]) * scale
        if Z.shape[0] <= Z.shape[1]:
            return _solve(_rest(half_square(Z)), residuals)
        if held.inner is None:
            inner = half_square(Z.T)
        else:
            inner = np.array(held.inner[first:, first:] * scale * scale[:, None], order="F")
        inside = _solve(_rest(inner), product(Z.T, residuals))
        return residuals + product(Z, inside)


def _set_apart(K: Array, unit: Array) -> None:
    """Take the constant direction, which has no penalty, out of K and give it the least value."""
    sums = product(K, unit)
    half = sums - unit * (float(unit[:, 0] @ sums[:, 0]) / 2)
    half += unit * (max(float(np.diagonal(K).max()), 1.0) / 2)
    for start in range(0, len(K), TILE):
        rows = slice(start, start + TILE)
        K[rows] -= half[rows] @ unit.T + unit[rows] @ half.T


def _rest(half: Array) -> Array:
    """Return I - A of a matrix given on and below its diagonal."""
    np.negative(half, out=half)
    half[np.diag_indices(len(half))] += 1.0
    return half


def _solve(half: Array, right: Array) -> Array:
    """Return A**-1 right of a matrix given on and below its diagonal, zeros above."""
    if len(half) == 0:
        return right
    if len(half) > TILE:
        return _solve_in_tiles(half, right)
    _, found, failed = lapack.dposv(half, right, lower=1)
    if failed:  # not positive in floating point: scores of what rounding made of it are bad enough
        _, _, found, singular = lapack.dsysv(half, right, lower=1)
        if singular:
            raise np.linalg.LinAlgError("I - H is singular")
    return np.asarray(found)


def _solve_in_tiles(half: Array, right: Array) -> Array:
    """Return the same for a matrix that is so large that it must be possible to stop."""
    try:
        return TileCholesky(dense_bands(half), np.float64, Monitor()).solve(right)
    except NotPositiveDefinite:
        values, vectors = eigh(mirror(half))
        return product(vectors, product(vectors.T, right) / values[:, None])
