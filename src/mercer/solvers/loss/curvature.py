"""How losses bend: W, the second derivatives of every point, with and without an offset."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...checks import Array
from ...losses import Loss, Softmax


class Curvature(Protocol):
    """W, one block per point between its outputs.

    weights: the diagonals of the blocks, (points, outputs). total: the sum of the blocks.
    leaves_mean: whether what all outputs of a point have in common has no curvature.
    """

    weights: Array
    total: Array
    leaves_mean: bool

    def apply(self, V: Array, rows: slice = slice(None)) -> Array:
        """Return W V, where V belongs to some of the points."""

    def take(self, rows: slice) -> Curvature:
        """Return the blocks of some of the points."""


class Diagonal:
    """Outputs that have nothing to do with one another."""

    def __init__(self, weights: Array) -> None:
        self.weights, self.total = weights, np.diag(weights.sum(axis=0))
        self.leaves_mean = False

    def apply(self, V: Array, rows: slice = slice(None)) -> Array:
        return np.asarray(self.weights[rows] * V)

    def take(self, rows: slice) -> Diagonal:
        return Diagonal(self.weights[rows])


class Coupled:
    """Probabilities p of classes: w (diag(p) - p p')."""

    def __init__(self, p: Array, weight: Array) -> None:
        self.p, self.weight, self.weighted = p, weight, weight[:, None] * p
        self.weights = self.weighted * (1 - p)
        self.leaves_mean = True
        self.total = np.diag(self.weighted.sum(axis=0)) - self.weighted.T @ p

    def apply(self, V: Array, rows: slice = slice(None)) -> Array:
        mean = np.einsum("ij,ij->i", self.p[rows], V)[:, None]
        return np.asarray(self.weighted[rows] * (V - mean))

    def take(self, rows: slice) -> Coupled:
        return Coupled(self.p[rows], self.weight[rows])


FLAT = 1e-290  # curvature whose inverse is not finite


def curvature_of(loss: Loss, F: Array, Y: Array, weight: Array) -> Curvature:
    """Return w times the second derivatives of the loss at F."""
    if isinstance(loss, Softmax):
        return Coupled(loss.probabilities(F), weight)
    return Diagonal(weight[:, None] * loss.curvature(F, Y))


def inverse(total: Array) -> Array:
    """Return the inverse of a sum of blocks; what all of them leave out stays 0.

    Probabilities do not change when all scores do by the same: one direction is always left out.
    """
    if not np.abs(total).max(initial=0.0) > FLAT:
        return np.zeros_like(total)
    return np.asarray(np.linalg.pinv(total, rcond=1e-12, hermitian=True))


class FreeOffset:
    """W with an offset that is the best one for every change of f.

    That is W - W 1 (1' W 1)**-1 1' W; without an offset it is W.
    """

    def __init__(self, curvature: Curvature, offset: bool) -> None:
        self.curvature, self.offset = curvature, offset
        self.inverse = inverse(curvature.total)

    def apply(self, V: Array) -> Array:
        """Return the centred W times V."""
        found = self.curvature.apply(V)
        if not self.offset:
            return found
        sums = self.inverse @ found.sum(axis=0)
        return found - self.curvature.apply(np.broadcast_to(sums, V.shape))

    def best_offset(self, slopes: Array, values: Array) -> Array:
        """Return the change of the offset that goes with a change of f by `values`.

        slopes: the sum of the gradients of each output.
        """
        if not self.offset:
            return np.zeros(len(slopes))
        return np.asarray(-self.inverse @ (slopes + self.curvature.apply(values).sum(axis=0)))
