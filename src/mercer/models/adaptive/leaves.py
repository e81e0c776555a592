"""Feature machines in the leaves of a tree, for many rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ... import checks
from ...checks import Array
from ...fitting.rfm.recursion import Sample
from ...fitting.rfm.tree import TEMPERATURES, Grower, Tree
from ...grams import limited_threads
from ...inputs import Input, Matrix
from ...kernels import Kernel
from ...run import Run
from ..ridge.regressor import RidgeEstimator
from .recursive import RecursiveMachine, importances

TRIAL_SHARE, TRIAL_MOST = 0.1, 2000  # rows kept aside to choose how leaves share rows
LEAST_SHARE = 0.01  # of a leaf in a row that it is asked about


class LeafMachine(RecursiveMachine):
    """A recursive feature machine that divides many rows into leaves."""

    leaf_rows: int | None
    overlap: float
    leaves_: tuple[Any, ...]
    tree_: Tree
    temperature_: float

    def _needs_leaves(self, n: int) -> bool:
        who = type(self).__name__
        checks.number(who, "overlap", self.overlap, least=0, most=0.5)
        if self.leaf_rows is None:
            return False
        return n > checks.whole(who, "leaf_rows", self.leaf_rows, least=100)

    def _fit_leaves(
        self, points: Input, sample: Sample, truth: Array, kernel: Kernel, run: Run
    ) -> None:
        """Fit a machine to the rows of each leaf of a tree, with settings chosen for all.

        sample: with the numbers that leaves predict. kernel: in the metric of all rows.
        """
        order = np.random.default_rng(run.seed).permutation(len(sample))
        aside = min(int(TRIAL_SHARE * len(sample)), TRIAL_MOST)
        trial, inside = sample.take(np.sort(order[:aside])), sample.take(np.sort(order[aside:]))
        choice = self.choice_
        grower = Grower(
            recursion=replace(self._recursion(run), width=choice.width, alpha=choice.alpha),
            leaf_rows=int(self.leaf_rows or len(sample)),
            overlap=float(self.overlap),
            monitor=run.monitor,
        )
        with limited_threads(run.n_jobs, run.who):
            self.tree_, parts = grower.grow(inside)
        leaves = []
        for rows in parts:
            run.monitor.poll()
            part = inside.take(rows)
            leaves.append(self._leaf_model().fit(part.X, part.targets, part.weight))
        self.leaves_ = tuple(leaves)
        self._prepare(points.take(np.arange(1)), None, kernel)
        self.temperature_ = self._best_temperature(trial, truth[np.sort(order[:aside])])
        self._publish_leaves()

    def _leaf_model(self) -> RidgeEstimator:
        """Return a machine for a leaf: the settings are chosen, and numbers are predicted."""
        raise NotImplementedError

    def _best_temperature(self, trial: Sample, truth: Array) -> float:
        """Return how far rows are shared between leaves, chosen on rows kept aside."""
        loss, rows = self._loss_of(trial.targets, truth), np.arange(len(trial))
        scores = [leaf._scores(trial.X) for leaf in self.leaves_]
        found = {}
        for temperature in TEMPERATURES:
            shares = self.tree_.shares(trial.X, temperature)
            mixed = sum(shares[:, [k]] * one for k, one in enumerate(scores))
            found[temperature] = loss(np.asarray(mixed), rows)
        return float(min(found, key=lambda one: found[one]))

    def _publish_leaves(self) -> None:
        """Set the mean of the metrics of the leaves, and the certificate of the worst."""
        self.metric_ = np.mean([leaf.metric_ for leaf in self.leaves_], axis=0)
        self.feature_importances_ = importances(self.metric_)
        self.kernel_ = self._kernel().metric(self.metric_)
        certificates = [leaf.certificate_ for leaf in self.leaves_]
        self.certificate_ = max(certificates, key=lambda one: one.residual)

    def _scores(self, X: Any) -> Array:
        if "leaves_" not in vars(self):
            return super()._scores(X)
        points = self._check_predict(X)
        assert isinstance(points, Matrix)
        rows = points.dense()
        shares = self.tree_.shares(rows, self.temperature_)
        shares = np.where(shares < LEAST_SHARE, 0.0, shares)
        shares /= shares.sum(axis=1, keepdims=True)
        out: Array = np.zeros((len(rows), 0))
        for k, leaf in enumerate(self.leaves_):
            asked = np.flatnonzero(shares[:, k])
            found = leaf._scores(rows[asked]) if len(asked) else np.zeros((0, out.shape[1]))
            out = out if out.shape[1] else np.zeros((len(rows), found.shape[1]))
            out[asked] += shares[asked, k, None] * found
        return out[:, 0] if getattr(self, "_flat", False) else out
