"""Machines on the training points of folds, scored on those held out, with one kernel matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from ..checks import Array
from ..fitting.cross_validation import HeldOut, HeldOutClasses, HeldOutNumbers, as_score
from ..fitting.machines import MachineSolver
from ..grams import threads
from ..inputs import GramRows
from ..models.svm.classes import class_pairs
from ..models.svm.regressor import SVR

LONG = 400  # points of a machine, on average, from which on two threads are faster than one


@dataclass(frozen=True, kw_only=True)
class _Machine:
    """One machine of a fold: its training points, what it is to find, and their weights.

    column: where its values stand among those of the other machines of the fold.
    """

    fold: int
    column: int
    points: Array
    targets: Array
    weights: Array


class FoldMachines:
    """Machines of models that differ in C, on the training points of folds.

    Points are in an order where those of a class follow one another, so that what a machine reads
    of K does too.
    """

    def __init__(
        self, models: Sequence[Any], X: Any, y: Any, folds: Sequence[tuple[Array, Array]]
    ) -> None:
        self.models = models
        self.by_cost = sorted(range(len(models)), key=lambda place: models[place].C)
        model = models[self.by_cost[-1]]  # the largest C decides on the precision of K
        self.regression = isinstance(model, SVR)
        if self.regression:
            self.points = model._check_fit(X)
            self.truth = model._numbers(y, len(self.points))
            order = np.arange(len(self.points))
        else:
            order = self._take_classes(model, model._labelled(X, y, None))
        self.solver = self._solver(model)
        place_of = np.argsort(order)
        self.tests = [place_of[test] for _, test in folds]
        self.machines = [
            machine
            for fold, (train, _) in enumerate(folds)
            for machine in self._machines(model, fold, np.sort(place_of[train]))
        ]

    def _take_classes(self, model: Any, data: Any) -> Array:
        order = np.argsort(data.codes, kind="stable")
        if isinstance(data.points, GramRows):  # to order its columns too would copy it
            order = np.arange(len(data.codes))
        self.points, self.codes = data.points.take(order), data.codes[order]
        self.classes = model.classes_
        self.truth = self.classes[self.codes]
        for other in self.models:
            other.classes_, other._by_pairs = model.classes_, model._by_pairs
        return order

    def _solver(self, model: Any) -> MachineSolver:
        found: MachineSolver = model._machine_solver(
            self.points, None, [np.arange(len(self.points))]
        )
        return found

    def _machines(self, model: Any, fold: int, train: Array) -> list[_Machine]:
        if self.regression:
            everyone = np.ones(len(train))
            return [
                _Machine(
                    fold=fold, column=0, points=train, targets=self.truth[train], weights=everyone
                )
            ]
        codes = self.codes[train]
        weights = model._weights(codes, None)[1]
        k = len(self.classes)
        if k > 2 and model._by_pairs:
            chosen = [(codes == a, (codes == a) | (codes == b)) for a, b in class_pairs(k)]
        else:
            everyone = np.ones(len(codes), dtype=bool)
            chosen = [(codes == c, everyone) for c in (range(k) if k > 2 else [1])]
        return [
            _Machine(
                fold=fold,
                column=column,
                points=train[of],
                targets=np.where(first[of], 1.0, -1.0),
                weights=weights[of],
            )
            for column, (first, of) in enumerate(chosen)
        ]

    def scores(self, scoring: Any) -> Array:
        """Return the score of every model in every fold; machines are found side by side."""
        count = sum(machine.fold == 0 for machine in self.machines)
        values = [np.empty((len(self.models), len(test), count)) for test in self.tests]
        workers = min(threads(), len(self.machines)) if self._are_long() else 1
        if workers == 1:
            self._find(0, self.machines, values)
        else:
            with ThreadPoolExecutor(workers) as pool:
                jobs = [
                    pool.submit(self._find, worker, self.machines[worker::workers], values)
                    for worker in range(workers)
                ]
                for job in jobs:
                    job.result()
        scores = np.empty((len(self.models), len(self.tests)))
        for fold, test in enumerate(self.tests):
            rows = np.argsort(np.argsort(test))  # values are in the order of the points
            for place, model in enumerate(self.models):
                known = self._estimator(model, values[fold][place])
                found = check_scoring(known, scoring)(known, rows, self.truth[test])
                scores[place, fold] = as_score("tune", found)
        return scores

    def _are_long(self) -> bool:
        """Return whether machines take so long that threads seldom wait for the interpreter.

        Rows of a K that is not stored are for one thread: two would compute them twice.
        """
        long = sum(len(machine.points) for machine in self.machines) > LONG * len(self.machines)
        return long and self.solver.rows.dense is not None

    def _find(self, worker: int, machines: Iterable[_Machine], values: list[Array]) -> None:
        """Write the values that machines of all models give to the points held out."""
        solver = self.solver
        if worker > 0:
            solver = solver.copy()
        models = [self.models[place] for place in self.by_cost]
        costs = np.array([model.C for model in models], dtype=np.float64)
        ratios = np.append(1.0, costs[1:] / costs[:-1]).tolist()
        for machine in machines:
            specs = [self._spec(model, machine) for model in models]
            test = np.sort(self.tests[machine.fold])  # columns that follow one another in K
            found = solver.on(machine.points).path(specs, ratios, test)
            values[machine.fold][self.by_cost, :, machine.column] = found

    def _spec(self, model: Any, machine: _Machine) -> Any:
        if self.regression:
            return model._spec(machine.targets, machine.weights)
        return model._spec((0,), machine.targets, machine.weights)

    def _estimator(self, model: Any, values: Array) -> HeldOut:
        """Return an estimator of the points held out, by their numbers."""
        if self.regression:
            return HeldOutNumbers(values[:, 0])

        def decide(some: Array) -> Array:
            return np.asarray(self.classes[model._winners(some)])

        return HeldOutClasses(values, self.classes, decide, shape=model._shaped)
