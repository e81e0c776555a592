"""Feature machines in the leaves of a tree, for many points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ... import checks
from ...checks import Array, InputError, sentence
from ...fitting.rfm.tree import TEMPERATURES, Grower, Tree, leading
from ...grams import limited_threads
from ...inputs import Input
from ...kernels.pairs import as_matrix
from ...monitor import muted
from ...run import Run
from ..ridge.regressor import RidgeCertificate
from .recursive import Learnt, Lesson, RecursiveMachine, importances

TRIAL_SHARE, TRIAL_MOST = 0.1, 2000  # points kept aside to choose how leaves share points
LEAST_SHARE = 0.01  # of a leaf in a point that it is asked about


class LeafMachine(RecursiveMachine):
    """A recursive feature machine that divides many points into leaves."""

    leaf_rows: int | None
    overlap: float
    leaves_: tuple[RecursiveMachine, ...]
    tree_: Tree
    temperature_: float

    def _needs_leaves(self, lesson: Lesson) -> bool:
        who = type(self).__name__
        checks.number(who, "overlap", self.overlap, least=0, most=0.5)
        if self.leaf_rows is None:
            return False
        return len(lesson.kept) > checks.whole(who, "leaf_rows", self.leaf_rows, least=100)

    def _fit_leaves(self, lesson: Lesson, learnt: Learnt, run: Run) -> Learnt:
        """Fit a machine to the points of each leaf of a tree, with settings chosen for all.

        Returns scores of points that were kept aside in the place of those of the search.
        """
        order = np.random.default_rng(run.seed).permutation(lesson.kept)
        aside = min(int(TRIAL_SHARE * len(order)), TRIAL_MOST)
        trial, inside = np.sort(order[:aside]), np.sort(order[aside:])
        base = replace(
            self._recursion(learnt.kernel.inner, run), width=self.choice_.width, alpha=learnt.alpha
        )
        grower = Grower(
            recursion=base,
            usual=leading(self.metric_),
            leaf_rows=int(self.leaf_rows or len(order)),
            overlap=float(self.overlap),
            monitor=run.rest().monitor,
        )
        with limited_threads(run.n_jobs, run.who):
            self.tree_, parts = grower.grow(lesson.scaled.take(inside))
        self.leaves_ = self._fitted_leaves([inside[part] for part in parts], lesson, learnt, run)
        self._publish(lesson.points, learnt, run)
        return replace(learnt, scores=self._choose_temperature(lesson, trial), rows=trial)

    def _fitted_leaves(
        self, parts: Sequence[Array], lesson: Lesson, learnt: Learnt, run: Run
    ) -> tuple[RecursiveMachine, ...]:
        """Return a machine for each part, within an equal share of the time that is left."""
        leaves = list[RecursiveMachine]()
        for part in parts:
            sample, left = lesson.sample.take(part), run.rest().monitor.time_limit
            model = self._leaf_model().set_params(
                kernel=learnt.kernel.inner,
                time_limit=None if left is None else left / (len(parts) - len(leaves)),
                random_state=run.seed,
            )
            with muted():
                leaves.append(model.fit(sample.X, sample.targets, sample.weight))
            leaves[-1].set_params(time_limit=None)
        return tuple(leaves)

    def _leaf_model(self) -> Any:
        """Return a machine for a leaf: the settings are chosen, and numbers are predicted."""
        raise NotImplementedError

    def _publish(self, points: Input, learnt: Learnt, run: Run) -> None:
        """Set the mean of the metrics of the leaves, and the certificate of the worst."""
        self.metric_ = np.mean([leaf.metric_ for leaf in self.leaves_], axis=0)
        self.feature_importances_ = importances(self.metric_)
        self._prepare(points.take(np.arange(1)), None, learnt.kernel.inner.metric(self.metric_))
        found = [leaf.certificate_ for leaf in self.leaves_]
        self.certificate_ = replace(
            max(found, key=_badness),
            seconds=run.seconds,
            kernel_entries=sum(one.kernel_entries for one in found),
            bytes=max(one.bytes for one in found),
        )
        if any(leaf.choice_.steps < self.choice_.steps for leaf in self.leaves_):
            self._warn_of_time(run)
        status = self.certificate_.status
        if not status.is_good:
            must = f"the relative residual of each leaf must reach tol = {self.tol:g}"
            got = f"{self.certificate_.residual:.2g} ({status})"
            run.warn(sentence(run.who, must, got, status.advice("ridge")), ConvergenceWarning)

    # --- shares -----------------------------------------------------------------------------

    def _choose_temperature(self, lesson: Lesson, trial: Array) -> Array:
        """Choose how far points are shared between leaves, on points kept aside.

        Returns the scores of these.
        """
        sample, rows = lesson.sample.take(trial), np.arange(len(trial))
        loss = self._loss_of(sample, lesson.truth[trial])
        scores = [leaf._scores(sample.X) for leaf in self.leaves_]
        best, best_loss = np.zeros(sample.targets.shape), np.inf
        for temperature in TEMPERATURES:
            shares = shares_of(self.tree_, sample.X, temperature)
            mixed = np.asarray(sum(shares[:, [k]] * one for k, one in enumerate(scores)))
            if temperature == 0 or loss(mixed, rows) < best_loss:
                best, best_loss, self.temperature_ = mixed, loss(mixed, rows), float(temperature)
        return best

    def _scores(self, X: Any) -> Array:
        if "leaves_" not in vars(self):
            return super()._scores(X)
        points = self._check_predict(X)
        rows = as_matrix(points).dense()
        shares = shares_of(self.tree_, rows, self.temperature_)
        out = np.zeros((len(rows), len(self.leaves_[0].intercept_)))
        for k, leaf in enumerate(self.leaves_):
            asked = np.flatnonzero(shares[:, k])
            if len(asked):
                out[asked] += shares[asked, k, None] * leaf._scores(rows[asked])
        return out[:, 0] if getattr(self, "_flat", False) else out

    def _terms(self) -> tuple[Array, bool]:
        if "leaves_" in vars(self):
            must = "a gradient must be that of one function for all points"
            advice = "Ask one of leaves_, or fit with leaf_rows=None."
            got = f"{len(self.leaves_)} leaves"
            raise InputError(sentence(type(self).__name__, must, got, advice))
        return super()._terms()


def shares_of(tree: Tree, X: Array, temperature: float) -> Array:
    """Return how much each leaf has to say about each row, without leaves that hardly have any."""
    shares = tree.shares(X, temperature)
    shares = np.where(shares < LEAST_SHARE * shares.max(axis=1, keepdims=True), 0.0, shares)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _badness(certificate: RidgeCertificate) -> tuple[bool, float]:
    """Return what is larger, the further a fit is from its optimum."""
    residual = certificate.residual
    return not certificate.status.is_good, np.inf if np.isnan(residual) else residual
