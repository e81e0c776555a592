"""A tree that splits many rows into leaves, along directions in which what is learnt changes most.

Beaglehole, Holzmüller, Radhakrishnan, Belkin, "xRFM: accurate, scalable, and interpretable feature
learning models for tabular data" (2025).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ...checks import Array
from ...monitor import Monitor
from .recursion import Recursion, Sample, ridge_fit

SAMPLE = 2000  # rows of a node from which its direction is found
TEMPERATURES = (0.0, *np.geomspace(0.025, 1.0, 7).tolist())


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Splits of rows: those with x . direction above a threshold go to the right.

    Parameters
    ----------
    directions : ndarray of shape (n_splits, d)
        One for each split, of length 1.
    thresholds : ndarray of shape (n_splits,)
        The median of x . direction over the rows of the split.
    spreads : ndarray of shape (n_splits,)
        The standard deviation of x . direction over the rows of the split.
    children : ndarray of shape (n_splits, 2)
        The number of the split on either side, or minus one minus the number of the leaf.
    """

    directions: Array
    thresholds: Array
    spreads: Array
    children: Array

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return len(self.thresholds) + 1

    def shares(self, X: Array, temperature: float) -> Array:
        """Return how much each leaf has to say about each row.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The rows.
        temperature : float
            0 leads each row to one leaf; else a row near a threshold, in units of the spread times
            the temperature, is shared by both sides.

        Returns
        -------
        ndarray of shape (n, n_leaves)
            The shares, of sum 1 in each row.
        """
        out = np.zeros((len(X), self.n_leaves))
        if not len(self.thresholds):
            return out + 1.0
        far = (X @ self.directions.T - self.thresholds) / self.spreads
        right = (far > 0).astype(np.float64) if temperature == 0 else expit(far / temperature)
        waiting = [(0, np.ones(len(X)))]
        while waiting:
            place, share = waiting.pop()
            for side, part in enumerate((1.0 - right[:, place], right[:, place])):
                child = int(self.children[place, side])
                if child >= 0:
                    waiting.append((child, share * part))
                else:
                    out[:, -1 - child] = share * part
        return out


@dataclass(frozen=True, kw_only=True)
class Grower:
    """How a tree is grown.

    recursion: a feature machine whose first step tells the direction of a node. leaf_rows: how many
    a leaf has at most. overlap: the share of the rows of a node, around its threshold, that both
    sides get.
    """

    recursion: Recursion
    leaf_rows: int
    overlap: float
    monitor: Monitor

    def grow(self, sample: Sample) -> tuple[Tree, list[Array]]:
        """Return the tree, and the rows of every leaf."""
        X = sample.X
        random = np.random.default_rng(self.recursion.seed)
        nodes: list[tuple[Array, float, float, list[int]]] = []
        leaves: list[Array] = []

        def split(rows: Array) -> int:
            if len(rows) <= self.leaf_rows:
                leaves.append(rows)
                return -len(leaves)
            some = random.choice(rows, SAMPLE, replace=False) if len(rows) > SAMPLE else rows
            direction = self.direction(sample.take(some))
            along = X[rows] @ direction
            threshold, spread = float(np.median(along)), float(along.std())
            left, right = self._sides(rows, along, threshold)
            if spread == 0.0 or max(len(left), len(right)) == len(rows):  # all alike: any halves do
                left, right = np.array_split(random.permutation(rows), 2)
            place = len(nodes)
            nodes.append((direction, threshold, spread or 1.0, [0, 0]))
            nodes[place][3][:] = [split(np.sort(left)), split(np.sort(right))]
            return place

        split(np.arange(len(X)))
        d = X.shape[1]
        tree = Tree(
            directions=np.array([node[0] for node in nodes]).reshape(-1, d),
            thresholds=np.array([node[1] for node in nodes]),
            spreads=np.array([node[2] for node in nodes]),
            children=np.array([node[3] for node in nodes], dtype=np.int64).reshape(-1, 2),
        )
        return tree, leaves

    def direction(self, sample: Sample) -> Array:
        """Return the direction in which a first fit changes most."""
        d = sample.X.shape[1]
        kernel = self.recursion.scaled(self.recursion.start(d), sample.X)
        fit = ridge_fit(kernel, sample, self.recursion.alpha, self.monitor)
        random = np.random.default_rng(self.recursion.seed)
        G = self.recursion.next_metric(fit, random, self.monitor)
        found = np.eye(d)[int(np.argmax(G))] if G.ndim == 1 else np.linalg.eigh(G)[1][:, -1]
        return np.asarray(found * np.sign(found[int(np.argmax(np.abs(found)))]))

    def _sides(self, rows: Array, along: Array, threshold: float) -> tuple[Array, Array]:
        """Return the rows on either side, those around the threshold on both."""
        low, high = np.quantile(along, [0.5 - self.overlap / 2, 0.5 + self.overlap / 2])
        return rows[along <= max(high, threshold)], rows[along > min(low, threshold)]
