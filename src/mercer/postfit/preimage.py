"""From components back to rows of numbers: points whose image in feature space is nearest."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import Array, InputError, MercerError, sentence
from ..grams import Prepared
from ..inputs import ROWS, Input, Matrix, as_input
from ..kernels import Gaussian, Kernel, Linear
from ..linalg.blas import product

MOVES = 300
STILL = 1e-7  # a move, in units of the spread of the rows, that ends the iteration
AT_ONCE = 2 * 10**6  # numbers in an array of combinations


def rows_of(who: str, points: Input) -> Array:
    """Return the rows of numbers that the points are, or refuse."""
    if not isinstance(points, Matrix) or points.is_sparse:
        got = "sparse rows" if isinstance(points, Matrix) else points.kind
        must = "inverse_transform returns dense rows of numbers, so it needs such points"
        raise InputError(sentence(who, must, got))
    return points.dense()


def checked_components(who: str, Z: Any, wanted: int) -> Array:
    """Return rows of so many components."""
    found = rows_of(who, as_input(Z, ROWS, who)).astype(np.float64)
    if found.shape[1] != wanted:
        must = f"inverse_transform takes {wanted} components a row"
        raise InputError(sentence(who, must, found.shape[1]))
    return found


def check_computable(who: str, kernel: Kernel) -> None:
    """Refuse kernels whose pre-images are only learnt."""
    if not isinstance(kernel, Gaussian | Linear):
        must = "inverse_transform is computed for the kernels Gaussian and Linear"
        advice = "Use fit_inverse_transform=True, which learns it by ridge regression."
        raise InputError(sentence(who, must, repr(kernel), advice))


def backward_kernel(kernel: Kernel, components: Array) -> Kernel:
    """Return the forward kernel, with its parameters, where it takes rows of components.

    It does not where it wants other columns, or no negative numbers.
    """
    try:
        kernel(components[:2])
    except MercerError:
        return Gaussian()
    return kernel


class PreImages:
    """Rows x whose phi(x) is nearest to mu + sum_j z_j v_j = sum_i g_i phi(x_i).

    mean: the weight of each point in mu. coefficients: of the points in each v_j. components:
    those of the points themselves.
    """

    def __init__(
        self, prepared: Prepared, rows: Array, mean: Array, coefficients: Array, components: Array
    ) -> None:
        self.prepared, self.rows = prepared, rows.astype(np.float64, copy=False)
        self.mean, self.coefficients, self.components = mean, coefficients, components

    def of(self, Z: Array) -> Array:
        """Return the pre-images of rows of components."""
        if isinstance(self.prepared.kernel, Linear):
            return np.asarray(Z @ (self.coefficients.T @ self.rows) + self.mean @ self.rows)
        found = np.empty((len(Z), self.rows.shape[1]))
        step = max(1, AT_ONCE // len(self.rows))
        for start in range(0, len(Z), step):
            part = slice(start, start + step)
            found[part] = self._climb(Z[part])
        return found

    def _climb(self, Z: Array) -> Array:
        """Maximise phi(x) . sum_i g_i phi(x_i) from the training points nearest by components.

        At a maximum x is the mean of the x_i with weights g_i k(x, x_i). Going to that mean is a
        way up where the weights have a positive sum; where it leads too far, part of it is gone.

        Mika, Schölkopf, Smola, Müller, Scholz, Rätsch, "Kernel PCA and de-noising in feature
        spaces" (1999).
        """
        G = product(Z, self.coefficients.T) + self.mean
        x = self.rows[self._nearest(Z)]
        spread = float(self.rows.std()) or 1.0
        shares = self._shares(G, x)
        step, moving = np.ones(len(x)), np.arange(len(x))
        for _ in range(MOVES):
            now = shares[moving]
            sums, sizes = now.sum(axis=1), np.abs(now).sum(axis=1)
            by = np.where(sums > 1e-8 * sizes, sums, np.maximum(sizes, 1e-300))
            ahead = (now @ self.rows - sums[:, None] * x[moving]) / by[:, None]
            move = step[moving, None] * ahead
            tried = self._shares(G[moving], x[moving] + move)
            better = tried.sum(axis=1) >= sums
            up = moving[better]
            x[up] += move[better]
            shares[up] = tried[better]
            step[moving] = np.where(better, np.minimum(2 * step[moving], 1.0), step[moving] / 4)
            moving = moving[np.abs(move).max(axis=1) > STILL * spread]
            if len(moving) == 0:
                break
        return x

    def _nearest(self, Z: Array) -> Array:
        """Return the training points whose components are nearest."""
        squares = np.einsum("ij,ij->i", self.components, self.components)
        return np.asarray((squares - 2 * product(Z, self.components.T)).argmin(axis=1))

    def _shares(self, G: Array, x: Array) -> Array:
        """Return g_i k(x, x_i) of each x."""
        return np.asarray(G * self.prepared.gram(x, store=False, dtype=np.float64).dense())
