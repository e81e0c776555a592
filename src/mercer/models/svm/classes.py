"""Classes from support vector machines for two of them at a time, or one against the rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate, pairwise
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ... import checks
from ...checks import Array
from ...fitting.machines import MachineSpec
from ...inputs import Input
from ...postfit.calibration import fit_slope, probabilities, slopes_of
from ...solvers import Machine
from ...typing import ClassWeight, PointsLike
from ..contract.anywhere import anywhere
from ..contract.resuming import resumable
from ..contract.targets import as_classes, class_totals, class_weighted
from .base import SupportVectorEstimator, in_all_machines

SHAPES = ("ovr", "ovo")

Products = Callable[[list[slice], list[Array]], list[Array]]


def _has_probability(model: Any) -> bool:
    return bool(model.probability)


@cache
def _pairs_of(k: int) -> tuple[Array, Array]:
    """Return the first and the second class of every machine for two of k classes."""
    return np.triu_indices(k, 1)


def class_pairs(k: int) -> list[tuple[int, int]]:
    """Return the two classes of every machine for two of k classes."""
    first, second = _pairs_of(k)
    return list(zip(first.tolist(), second.tolist(), strict=True))


@cache
def _machines_of(k: int) -> tuple[Array, Array]:
    """Return the machines that each of k classes is in, and 1 where it is the first, else -1."""
    first, second = _pairs_of(k)
    own = np.equal.outer(np.arange(k), first) | np.equal.outer(np.arange(k), second)
    machines = np.nonzero(own)[1].reshape(k, k - 1)
    return machines, np.where(first[machines] == np.arange(k)[:, None], 1.0, -1.0)


def groups_of(sizes: Array) -> list[slice]:
    """Return where the support vectors of each class stand among all."""
    stops = [0, *accumulate(sizes.tolist())]
    return [slice(start, stop) for start, stop in pairwise(stops)]


def scores_of_pairs(
    products: Products, groups: list[slice], dual_coef: Array, intercept: Array
) -> Array:
    """Return f of every machine for two classes, from coefficients in LIBSVM's order.

    products: K(X, vectors of a group) times coefficients, for groups and their coefficients.
    """
    k = len(groups)
    used = [c for c, group in enumerate(groups) if group.stop > group.start] or [0]
    found = products([groups[c] for c in used], [dual_coef[:, groups[c]].T for c in used])
    by_class = np.zeros((k, *found[0].shape))
    for c, product in zip(used, found, strict=True):
        by_class[c] = product
    first, second = _pairs_of(k)
    columns = by_class[first, :, second - 1] + by_class[second, :, first]
    return np.asarray(columns.T + intercept)


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Training points with their classes.

    codes: the class of each. weight: of samples, as given; weights: times those of classes.
    parts: the points of each class. groups: those that machines are about.
    """

    points: Input
    codes: Array
    weight: Array | None
    weights: Array
    parts: list[Array]
    groups: list[Array]


class SupportVectorClassifier(ClassifierMixin, SupportVectorEstimator):  # type: ignore[misc]
    """Classes by machines for two of them at a time, or for one against all others."""

    multiclass: str
    probability: bool
    class_weight: ClassWeight
    decision_function_shape: str
    break_ties: bool
    classes_: Array
    class_weight_: Array
    slopes_: Array
    _by_pairs: bool
    _tie_order: Array  # of a model from another program: the classes as it decides equal votes

    def _spec(self, groups: tuple[int, ...], y: Array, weight: Array) -> MachineSpec:
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        start = time.monotonic()
        data = self._labelled(X, y, sample_weight)
        classes, loo = self.classes_[data.codes], bool(self.probability)
        with resumable(self, data.points, y=classes, sample_weight=data.weight) as run:
            solver = self._machine_solver(data.points, data.weight, data.groups, run=run)
            specs = self._specs(data)
            self._finish(data, self._run(solver, specs, start, with_loo_scores=loo))
        return self

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> Labelled:
        """Return the training points with their classes and weights, checked."""
        points = self._check_fit(X)
        who = type(self).__name__
        checks.one_of(who, "decision_function_shape", self.decision_function_shape, SHAPES)
        self._by_pairs = checks.one_of(who, "multiclass", self.multiclass, SHAPES) == "ovo"
        weight = checks.sample_weight(who, sample_weight, len(points))
        self.classes_, codes = as_classes(who, y, len(points))
        self.class_weight_, weights = self._weights(codes, weight)
        parts = [np.flatnonzero(codes == c) for c in range(len(self.classes_))]
        whole = len(parts) == 2 or not self._by_pairs
        groups = [np.arange(len(codes))] if whole else parts
        return Labelled(
            points=points, codes=codes, weight=weight, weights=weights, parts=parts, groups=groups
        )

    def _specs(self, data: Labelled) -> list[MachineSpec]:
        """Return the machines to be found."""
        k = len(data.parts)
        if k == 2 or not self._by_pairs:
            signs = [np.where(data.codes == c, 1.0, -1.0) for c in (range(k) if k > 2 else [1])]
            return [self._spec((0,), sign, data.weights) for sign in signs]
        specs = []
        for a, b in class_pairs(k):
            both = np.concatenate([data.parts[a], data.parts[b]])
            sign = np.repeat([1.0, -1.0], [len(data.parts[a]), len(data.parts[b])])
            specs.append(self._spec((a, b), sign, data.weights[both]))
        return specs

    def _finish(self, data: Labelled, machines: list[Machine]) -> None:
        """Keep what predictions need."""
        self.intercept_ = np.array([machine.offset for machine in machines])
        self._keep_rows(self._coefficients(machines, data.parts), data.parts)
        if self.probability:
            self._calibrate(data, machines)

    def _weights(self, codes: Array, weight: Array | None) -> tuple[Array, Array]:
        """Return the weight of each class and of each point; refuse a class without weight."""
        k = len(self.classes_)
        of_class, factor = np.ones(k), class_weighted(self, self.classes_[codes], None)
        if factor is not None:
            of_class = factor[[np.flatnonzero(codes == c)[0] for c in range(k)]]
        weights = of_class[codes] * (1.0 if weight is None else weight)
        class_totals(type(self).__name__, self.classes_, codes, weights)
        return of_class, weights

    # --- what is kept -----------------------------------------------------------------------

    def _coefficients(self, machines: list[Machine], parts: list[Array]) -> list[Array]:
        """Return the coefficients of the points of each class, one row per machine they are in.

        Of machines for two classes each point is in k - 1, in the order of the other classes.
        """
        k = len(parts)
        if k == 2 or not self._by_pairs:
            b = np.array([machine.b for machine in machines])
            return [b[:, part] for part in parts]
        rows = [np.zeros((k - 1, len(part))) for part in parts]
        for (first, second), machine in zip(class_pairs(k), machines, strict=True):
            size = len(parts[first])
            rows[first][second - 1], rows[second][first] = machine.b[:size], machine.b[size:]
        return rows

    def _keep_rows(self, rows: list[Array], parts: list[Array]) -> None:
        used = [np.flatnonzero(row.any(axis=0)) for row in rows]
        self.n_support_ = np.array([len(u) for u in used], dtype=np.int32)
        self.dual_coef_ = np.hstack([row[:, u] for row, u in zip(rows, used, strict=True)])
        self._keep_support(np.concatenate([part[u] for part, u in zip(parts, used, strict=True)]))

    # --- scores -----------------------------------------------------------------------------

    def _machine_scores(self, X: Any) -> Array:
        """Return f(x) of every machine."""
        self._require_fit()
        if in_all_machines(self):
            everything = [slice(0, len(self.support_))]
            found = self._products(X, everything, [self.dual_coef_.T])[0]
            return np.asarray(found + self.intercept_)
        groups = self._support_of_classes()
        return scores_of_pairs(partial(self._products, X), groups, self.dual_coef_, self.intercept_)

    def _support_of_classes(self) -> list[slice]:
        return groups_of(self.n_support_)

    def _weights_of(self, vectors: Any) -> Any:
        if in_all_machines(self):
            return super()._weights_of(vectors)
        groups = self._support_of_classes()
        of_class = [self.dual_coef_[:, group] @ vectors[group] for group in groups]
        rows = [of_class[a][b - 1] + of_class[b][a] for a, b in class_pairs(len(groups))]
        return np.vstack([np.asarray(row).reshape(1, -1) for row in rows])

    def _class_scores(self, scores: Array) -> Array:
        """Return one column per class: votes, and by how much they were won as a fraction."""
        if not self._by_pairs:
            return scores
        own, signs = self._by_class(scores)
        votes = np.where(signs > 0, own >= 0, own > 0).sum(axis=2)
        sums = own.sum(axis=2)
        return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))

    def _by_class(self, scores: Array) -> tuple[Array, Array]:
        """Return the k - 1 scores of each class, positive where it wins, and their signs before."""
        columns, signs = _machines_of(len(self.classes_))
        return scores[:, columns] * signs, signs

    def _margins(self, scores: Array) -> Array:
        """Return what probabilities are made of, largest for the class predicted.

        Of machines for two classes: by how much a class wins against the strongest of the others.
        A class that beats all others is the one with most votes; where there is none, the one with
        most is put first.
        """
        if len(self.classes_) == 2:
            return np.asarray(scores[:, 0])
        if not self._by_pairs:
            return scores
        least: Array = self._by_class(scores)[0].min(axis=2)
        rows, first = np.arange(len(scores)), self._winners(scores)
        ahead = least.max(axis=1)
        ahead += 1e-9 * (1 + np.abs(ahead))
        least[rows, first] = np.where(
            least[rows, first] < least.max(axis=1), ahead, least[rows, first]
        )
        return least

    @anywhere
    def decision_function(self, X: PointsLike) -> Array:
        """Compute the scores f(x) of points.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_machines)
            For two classes one score per point, positive for `classes_[1]`. For more classes, with
            `decision_function_shape="ovr"` one column per class, largest for the class predicted;
            with "ovo" one column per pair of classes, in the order (0, 1), (0, 2), …, positive for
            the first class of the pair.
        """
        return self._shaped(self._machine_scores(X))

    def _shaped(self, scores: Array) -> Array:
        """Return the scores of the machines in the shape that was asked for."""
        if len(self.classes_) == 2:
            return np.asarray(scores[:, 0])
        if self.decision_function_shape == "ovo" and self._by_pairs:
            return scores
        return self._class_scores(scores)

    @anywhere
    def predict(self, X: PointsLike) -> Array:
        """Predict the class of each point.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n,)
            The classes.
        """
        winners = self._winners(self._machine_scores(X))
        return np.asarray(self.classes_[winners])

    def _winners(self, scores: Array) -> Array:
        """Return the number of the class that the scores of the machines speak for."""
        if len(self.classes_) == 2:
            return np.asarray((scores[:, 0] > 0).astype(int))
        found = self._class_scores(scores)
        if self._by_pairs and not self.break_ties:
            found = np.rint(found)  # votes alone; of equal ones the first class wins
            if "_tie_order" in vars(self):
                return np.asarray(self._tie_order[found[:, self._tie_order].argmax(axis=1)])
        return np.asarray(found.argmax(axis=1))

    def _calibrate(self, data: Labelled, machines: list[Machine]) -> None:
        """Fit the slope of the probabilities to scores of machines that have not seen the point."""
        if len(data.groups) == 1:
            scores = np.column_stack([machine.scores for machine in machines])
        else:
            scores = self._machine_scores(data.points)
            pairs = zip(class_pairs(len(data.parts)), machines, strict=True)
            for column, (pair, machine) in enumerate(pairs):
                both = np.concatenate([data.parts[c] for c in pair])
                scores[both, column] = machine.scores
        self.slopes_ = np.array([fit_slope(self._margins(scores), data.codes, data.weight)])

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    @anywhere
    def predict_proba(self, X: PointsLike) -> Array:
        """Estimate the probability of each class; needs `probability=True`.

        One slope turns scores into probabilities. It is the most likely one given the scores that
        training points get from machines that have not seen them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            The n points, of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The probabilities; the largest of a row is that of the class predicted.
        """
        slopes = slopes_of(self)
        return probabilities(self._margins(self._machine_scores(X)), float(slopes[0]))
