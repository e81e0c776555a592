"""Scores of a mixture of Gaussians: how vectors would move its weights, means and deviations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from ...checks import Array, InputError, sentence
from ...inputs import ROWS, VECTOR_SETS, Input, Matrix
from .arrays import WHO, dimensions, nested, numbers, probabilities

AT_ONCE = 1 << 19  # numbers of vectors, as all components see them, that are held together
SYMMETRY = 1e-8  # share of the largest entry by which a covariance may miss its transpose


@dataclass(frozen=True, eq=False)
class Mixture:
    """Weights (K), means (K, D), and covariances: variances (K, D) or full matrices (K, D, D).

    `roots` are standard deviations, or the lower triangles L of covariances L L'.
    """

    weights: Array
    means: Array
    covariances: Array
    roots: Array

    domain = ROWS | VECTOR_SETS

    @classmethod
    def read(cls, weights: Any, means: Any, covariances: Any) -> Mixture:
        """Return the mixture of checked arrays."""
        w = probabilities("weights", weights, (None,))
        if w.min() <= 0:
            got = f"{w.min():g} at index {int(w.argmin())}"
            must = "every component of a mixture must have a weight above 0"
            raise InputError(sentence(WHO, must, got, "Drop the component."))
        mu = numbers("means", means, (len(w), None))
        full = dimensions(covariances) == 3
        shape = (*mu.shape, mu.shape[1]) if full else mu.shape
        spread = numbers("covariances", covariances, shape)
        return cls(w, mu, spread, _triangles(spread) if full else _deviations(spread))

    @property
    def plain(self) -> tuple[Any, ...]:
        """The arrays as a value that is frozen and can be written down."""
        return ("mixture", *map(nested, (self.weights, self.means, self.covariances)))

    @property
    def width(self) -> int:
        """The number of parameters, each with a score."""
        return len(self.weights) * (1 + self._columns + self._spreads)

    @property
    def _columns(self) -> int:
        return int(self.means.shape[1])

    @property
    def _full(self) -> bool:
        return self.roots.ndim == 3

    @property
    def _spreads(self) -> int:
        """The number of parameters of one covariance."""
        D = self._columns
        return D * (D + 1) // 2 if self._full else D

    def scores(self, points: Input) -> Array:
        """Return the normalised scores of every row, or the mean of those of every set."""
        vectors, sizes = self._stacked(points)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        result = np.zeros((len(sizes), self.width))
        step = max(1, AT_ONCE // self.means.size)
        for start in range(0, len(vectors), step):
            some = slice(start, start + step)
            self._add(vectors[some], owners[some], result)
        result /= np.maximum(sizes, 1)[:, None]
        return result

    def _stacked(self, points: Input) -> tuple[Array, Array]:
        """Return all vectors, and how many of them each point has."""
        D = self._columns
        if isinstance(points, Matrix):
            if points.n_columns != D:
                must = f"X must have {D} columns, as the means of the mixture have"
                raise InputError(sentence(WHO, must, f"{points.n_columns}"))
            return points.dense().astype(np.float64), np.ones(len(points), dtype=np.int64)
        for index, item in enumerate(points.raw):
            if item.shape[1] != D:
                must = f"vectors must have {D} numbers, as the means of the mixture have"
                raise InputError(
                    sentence(WHO, must, f"{item.shape[1]} in the set at index {index}")
                )
        parts = [np.zeros((0, D)), *points.raw]
        sizes = np.array([len(item) for item in points.raw], dtype=np.int64)
        return np.concatenate(parts).astype(np.float64), sizes

    def _add(self, vectors: Array, owners: Array, result: Array) -> None:
        """Add the scores of vectors to those of the points they belong to: gamma - w, gamma z and
        gamma (z z' - 1), each over the root of its variance, w, w and 2 w."""
        first = np.flatnonzero(np.diff(owners, prepend=-1))
        points = owners[first]

        def add(column: int, values: Array) -> None:
            sums = values if len(first) == len(values) else np.add.reduceat(values, first)
            result[points, column : column + values.shape[1]] += sums

        with np.errstate(over="ignore", invalid="ignore"):  # what is too far is refused
            whitened = list(self._whitened(vectors))
            squares = np.stack([np.einsum("ij,ij->i", z, z) for z in whitened], axis=1)
        _check_near(squares, owners)
        shares = self._shares(squares)
        root = np.sqrt(self.weights)
        add(0, (shares - self.weights) / root)
        K, D = self.means.shape
        for k, (share, z) in enumerate(zip((shares / root).T[:, :, None], whitened, strict=True)):
            add(K + k * D, share * z)
            add(K + K * D + k * self._spreads, share * self._spread(z))

    def _whitened(self, vectors: Array) -> Iterator[Array]:
        """Yield z = (x - mu) / sigma, or L^-1 (x - mu), for every component."""
        for mean, root in zip(self.means, self.roots, strict=True):
            moved = vectors - mean
            if self._full:
                yield scipy.linalg.solve_triangular(root, moved.T, lower=True, check_finite=False).T
            else:
                yield moved / root

    def _shares(self, squares: Array) -> Array:
        """Return the probability that each component made each vector, from z'z."""
        roots = np.diagonal(self.roots, axis1=1, axis2=2) if self._full else self.roots
        constant = np.log(self.weights) - np.log(roots).sum(axis=1)
        logs = constant - 0.5 * squares
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _spread(self, z: Array) -> Array:
        """Return (z**2 - 1) / sqrt(2), and z_i z_j for the pairs i > j of a full covariance."""
        own: Array = (z**2 - 1.0) / np.sqrt(2.0)
        if not self._full:
            return own
        i, j = np.tril_indices(z.shape[1], -1)
        return np.hstack([own, z[:, i] * z[:, j]])

    def gradients(self, scores: Array) -> Array:
        """Return the derivatives of log p that belong to normalised scores.

        They are those by the logits of the weights, by the means, and by the deviations, or the
        lower triangles of full covariances (diagonal first).
        """
        K, D = self.means.shape
        root = np.sqrt(self.weights)
        by_weight, by_mean, by_spread = np.split(scores, [K, K + K * D], axis=1)
        by_mean = by_mean.reshape(-1, K, D) * root[:, None]
        by_spread = by_spread.reshape(-1, K, self._spreads) * root[:, None]
        if self._full:
            by_mean, by_spread = self._unwhitened(by_mean, by_spread)
        else:
            by_mean, by_spread = by_mean / self.roots, np.sqrt(2.0) * by_spread / self.roots
        n = len(scores)
        return np.hstack([by_weight * root, by_mean.reshape(n, -1), by_spread.reshape(n, -1)])

    def _unwhitened(self, by_mean: Array, by_spread: Array) -> tuple[Array, Array]:
        """Return L^-T z and the lower triangle of L^-T (z z' - 1) of every component."""
        D = self.means.shape[1]
        i, j = np.tril_indices(D, -1)
        own = np.arange(D)
        moments = np.zeros((*by_mean.shape, D))
        moments[..., own, own] = np.sqrt(2.0) * by_spread[..., :D]
        moments[..., i, j] = moments[..., j, i] = by_spread[..., D:]
        inverse = np.linalg.inv(self.roots)
        by_root = np.einsum("kba,nkbc->nkac", inverse, moments)
        packed = np.concatenate([by_root[..., own, own], by_root[..., i, j]], axis=-1)
        return np.einsum("kba,nkb->nka", inverse, by_mean), packed


def _check_near(squares: Array, owners: Array) -> None:
    """Refuse vectors whose scores no number can hold."""
    far = np.flatnonzero(np.isinf(squares).any(axis=1))  # NaN is a missing value, and stays one
    if len(far):
        must = "vectors must be within 1e150 deviations of the means"
        raise InputError(sentence(WHO, must, f"one further away at index {owners[far[0]]}"))


def _deviations(variances: Array) -> Array:
    if variances.min() <= 0:
        place = np.unravel_index(int(variances.argmin()), variances.shape)
        got = f"{variances.min():g} in component {place[0]}, column {place[1]}"
        raise InputError(sentence(WHO, "variances must be above 0", got))
    return np.sqrt(variances)


def _triangles(covariances: Array) -> Array:
    found = np.empty_like(covariances)
    for index, matrix in enumerate(covariances):
        try:
            if np.abs(matrix - matrix.T).max() > SYMMETRY * np.abs(matrix).max():
                raise np.linalg.LinAlgError
            found[index] = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            must = "covariances must be symmetric and positive definite"
            raise InputError(sentence(WHO, must, f"another in component {index}")) from None
    return found


def of_estimator(model: Any) -> Mixture:
    """Return the mixture of a fitted sklearn.mixture.GaussianMixture, or one like it."""
    means = numbers("means_", model.means_, (None, None))
    spread = np.asarray(model.covariances_, dtype=np.float64)
    kind = getattr(model, "covariance_type", "")
    if kind == "spherical":
        spread = np.broadcast_to(spread.reshape(-1, 1), means.shape)
    elif kind == "tied":
        spread = np.broadcast_to(spread, (*means.shape, means.shape[1]))
    elif kind not in ("diag", "full"):
        must = "covariance_type must be 'diag', 'spherical', 'full' or 'tied'"
        raise InputError(sentence(WHO, must, repr(kind)))
    return Mixture.read(model.weights_, means, spread)
