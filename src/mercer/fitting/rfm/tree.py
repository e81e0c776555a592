"""A tree that splits many rows into leaves, along directions in which what is learnt changes most.

Beaglehole, Holzmüller, Radhakrishnan, Belkin, "xRFM: accurate, scalable, and interpretable feature
learning models for tabular data" (2025).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ...checks import Array
from ...monitor import Monitor, Stopped
from .recursion import Recursion, Sample

SAMPLE = 2000  # rows of a node from which its direction is found
LEAST_SIDE = 0.1  # of the rows of a split, on the side that has fewer
TEMPERATURES = (0.0, *np.geomspace(0.025, 1.0, 7).tolist())


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Splits of rows: those with x . direction above a threshold go to the right.

    Parameters
    ----------
    directions : ndarray of shape (n_splits, d)
        One for each split, of length 1; of length 0 where no direction divides the rows, so that
        they were divided at random and either side has half a say.
    thresholds : ndarray of shape (n_splits,)
        The median of x . direction over the rows of the split, or a value near it.
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
            0 leads each row to one leaf, but where rows were divided at random; else a row near a
            threshold, in units of the spread times the temperature, is shared by both sides.

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
        right[:, ~self.directions.any(axis=1)] = 0.5
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

    recursion: a feature machine whose first step tells the direction of a node. usual: the
    direction to take where time is up. leaf_rows: how many a leaf has at most. overlap: the share
    of the rows of a node, around its threshold, that both sides get.
    """

    recursion: Recursion
    usual: Array
    leaf_rows: int
    overlap: float
    monitor: Monitor

    def grow(self, sample: Sample) -> tuple[Tree, list[Array]]:
        """Return the tree, and the rows of every leaf."""
        X, d = sample.X, sample.X.shape[1]
        random = np.random.default_rng(self.recursion.seed)
        nodes: list[tuple[Array, float, float, list[int]]] = []
        leaves: list[Array] = []

        def split(rows: Array) -> int:
            if len(rows) <= self.leaf_rows:
                leaves.append(rows)
                return -len(leaves)
            some = random.choice(rows, SAMPLE, replace=False) if len(rows) > SAMPLE else rows
            direction = self.direction(sample.take(some))
            along = X[rows].astype(np.float64) @ direction
            threshold, spread = threshold_of(along), float(along.std())
            if threshold is None:
                direction, threshold, spread = np.zeros(d), 0.0, 1.0
                left, right = np.array_split(random.permutation(rows), 2)
            else:
                left, right = self._sides(rows, along, threshold)
            children = [0, 0]
            place = len(nodes)
            nodes.append((direction, threshold, spread, children))
            children[:] = [split(np.sort(left)), split(np.sort(right))]
            return place

        split(np.arange(len(X)))
        tree = Tree(
            directions=np.array([node[0] for node in nodes]).reshape(-1, d),
            thresholds=np.array([node[1] for node in nodes], dtype=np.float64),
            spreads=np.array([node[2] for node in nodes], dtype=np.float64),
            children=np.array([node[3] for node in nodes], dtype=np.int64).reshape(-1, 2),
        )
        return tree, leaves

    def direction(self, sample: Sample) -> Array:
        """Return the direction in which a first fit changes most."""
        try:
            fit = next(self.recursion.fits(sample, 0, self.monitor))
            random = np.random.default_rng(self.recursion.seed)
            return leading(self.recursion.next_metric(fit, random, self.monitor))
        except Stopped:
            return self.usual

    def _sides(self, rows: Array, along: Array, threshold: float) -> tuple[Array, Array]:
        """Return the rows on either side, and on both those around the threshold."""
        order = np.argsort(along, kind="stable")
        below, n = int((along <= threshold).sum()), len(rows)
        shared = min(int(n * self.overlap / 2), below // 2, (n - below) // 2)
        return rows[order[: below + shared]], rows[order[below - shared :]]


def threshold_of(along: Array) -> float | None:
    """Return the median, or the next value below it, that leaves enough numbers on both sides.

    None: neither does, as where most are alike.
    """
    median = float(np.median(along))
    for threshold in (median, float(np.max(along, where=along < median, initial=-np.inf))):
        share = float((along > threshold).mean())
        if LEAST_SIDE <= share <= 1 - LEAST_SIDE:
            return threshold
    return None


def leading(metric: Array) -> Array:
    """Return the direction of a metric that counts most, of length 1."""
    if metric.ndim == 1:
        return np.asarray(np.eye(len(metric))[int(np.argmax(metric))])
    found = np.linalg.eigh(metric)[1][:, -1]
    return np.asarray(found * np.sign(found[int(np.argmax(np.abs(found)))]))
