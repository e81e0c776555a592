"""More rows, another penalty, another width: would they help?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array, InputError
from ..clock import Clock, NotShown
from ..subject import Core, Learner, Subject, taken
from .scores import ACCURACY, BY_NAME, R2, Measure
from .splits import folds_of, thinned

MOST_ROWS = 2000  # that models of curves are fitted to
MOST_HELD = 1000
SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)
REPEATS = 3
FEWEST_SIZES = 3
FEWEST_ROWS = 8
FACTORS = tuple(10.0 ** np.arange(-3.0, 3.5, 1.0))
CURVE_ROWS = 800  # that models of a validation curve are fitted to


@dataclass(frozen=True, kw_only=True, eq=False)
class LearningCurve:
    """Scores of models fitted to more and more rows.

    Attributes
    ----------
    measure : str
        What is measured: "R²" or "accuracy".
    sizes : tuple of int
        How many rows models were fitted to.
    training : ndarray of shape (n_sizes, n_repeats)
        The score on these rows themselves.
    held_out : ndarray of shape (n_sizes, n_repeats)
        The score on rows that the models have not seen.
    what : str
        Which model was fitted.
    """

    measure: str
    sizes: tuple[int, ...]
    training: Array
    held_out: Array
    what: str


@dataclass(frozen=True, kw_only=True, eq=False)
class ValidationCurve:
    """Scores of models with other values of one parameter.

    Attributes
    ----------
    parameter : str
        Which one.
    chosen : float
        Its value in the model.
    measure : str
        What is measured: "R²" or "accuracy".
    values : tuple of float
        The values that were tried.
    training : ndarray of shape (n_values, n_folds)
        The score on rows that the models were fitted to.
    held_out : ndarray of shape (n_values, n_folds)
        The score on rows that the models have not seen.
    rows : int
        How many rows models were fitted to.
    """

    parameter: str
    chosen: float
    measure: str
    values: tuple[float, ...]
    training: Array
    held_out: Array
    rows: int


def learning_curve(subject: Subject, learner: Learner, clock: Clock, seed: int) -> LearningCurve:
    """Return scores by the number of rows; of fewer sizes or repeats where time is short."""
    measure = _measure(subject)
    codes = subject.codes
    splits = folds_of(len(subject), 5, codes, subject.groups, seed)[:REPEATS]
    splits = [
        (thinned(train, MOST_ROWS, codes, seed), thinned(held, MOST_HELD, codes, seed))
        for train, held in splits
    ]
    most = min(len(train) for train, _ in splits)
    sizes = sorted({max(round(one * most), FEWEST_ROWS) for one in SHARES if one * most >= 4})
    scores: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
    try:
        for train, held in splits:
            for size in sizes:
                clock.poll()
                some = thinned(train, size, codes, seed)
                if codes is not None and len(np.unique(codes[some])) < 2:
                    continue
                model = learner.fitted(some, clock.left)
                scores[size].append(
                    (
                        measure.of(subject.truth[some], model.at(some)),
                        measure.of(subject.truth[held], model.at(held)),
                    )
                )
    except NotShown:
        if not scores[sizes[-1]]:
            raise
    return _curve(measure, scores, learner.what)


def _curve(
    measure: Measure, scores: dict[int, list[tuple[float, float]]], what: str
) -> LearningCurve:
    """Return the curve of the repeats that all sizes have."""
    repeats = max(len(found) for found in scores.values())
    whole = min(len(found) for found in scores.values() if found)
    kept = {size: found[:whole] for size, found in scores.items() if found}
    if len(kept) < FEWEST_SIZES or repeats == 0:
        raise NotShown("There are too few rows for models of growing size.")
    both = np.array(list(kept.values()))
    return LearningCurve(
        measure=measure.name,
        sizes=tuple(kept),
        training=both[:, :, 0],
        held_out=both[:, :, 1],
        what=what,
    )


def validation_curves(
    subject: Subject, core: Core | None, clock: Clock, seed: int
) -> tuple[ValidationCurve, ...]:
    """Return scores by the penalty and by the width of the kernel, those there is time for."""
    if core is None:
        raise NotShown("The model has no kernel whose penalty or width could be varied.")
    trial = _Trial.of(subject, core, clock, seed)
    found: list[ValidationCurve] = []
    for vary in (trial.penalties, trial.widths):
        try:
            curve = vary()
        except NotShown:
            if not found:
                raise
            break
        if curve is not None:
            found.append(curve)
    if not found:
        raise NotShown("The model has neither a penalty nor a width that is one number.")
    return tuple(found)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Trial:
    """Fits models with other parameters to some of the rows."""

    subject: Subject
    core: Core
    clock: Clock
    rows: Array
    parts: list[tuple[Array, Array]]

    @staticmethod
    def of(subject: Subject, core: Core, clock: Clock, seed: int) -> _Trial:
        codes, groups = subject.codes, subject.groups
        rows = thinned(np.arange(len(subject)), round(CURVE_ROWS * 1.5), codes, seed)
        some = None if codes is None else codes[rows]
        parts = folds_of(len(rows), 3, some, None if groups is None else groups[rows], seed)
        return _Trial(subject=subject, core=core, clock=clock, rows=rows, parts=parts)

    def penalties(self) -> ValidationCurve | None:
        """Return the curve of the penalty."""
        named = self.core.penalty
        if named is None or named[1] <= 0:
            return None
        name, chosen = named
        if name == "nu":
            values = sorted({*np.round(np.linspace(0.05, 0.95, 7), 2), chosen})
        elif name == "n_neighbors":
            most = min(len(train) for train, _ in self.parts)
            values = sorted({min(max(1, round(chosen * f)), most) for f in (0.2, 0.5, 1, 2, 5, 10)})
        else:
            values = [chosen * factor for factor in FACTORS]
        models = [self.core.twin(penalty=value) for value in values]
        return self._scored(name, chosen, values, models)

    def widths(self) -> ValidationCurve | None:
        """Return the curve of the width of the kernel."""
        named = self.core.width
        if named is None:
            return None
        name, chosen = named
        values = [chosen * factor for factor in FACTORS]
        kernels = [self.core.kernel.replace(**{name: value}) for value in values]
        return self._scored(name, chosen, values, [self.core.twin(kernel) for kernel in kernels])

    def _scored(
        self, name: str, chosen: float, values: Sequence[float], models: Sequence[Any]
    ) -> ValidationCurve:
        measure = _measure(self.subject)
        scores: dict[float, list[tuple[float, float]]] = {}
        for value, model in zip(values, models, strict=True):
            with suppress(InputError):  # a value that the model refuses, such as too large a nu
                scores[float(value)] = [
                    self._fit(model, self.rows[train], self.rows[held], measure)
                    for train, held in self.parts
                ]
        both = np.array(list(scores.values()))
        if len(both) < FEWEST_SIZES:
            raise NotShown(f"There are too few values of {name} that the model takes.")
        return ValidationCurve(
            parameter=name,
            chosen=chosen,
            measure=measure.name,
            values=tuple(scores),
            training=both[:, :, 0],
            held_out=both[:, :, 1],
            rows=len(self.parts[0][0]),
        )

    def _fit(self, model: Any, train: Array, held: Array, measure: Measure) -> tuple[float, float]:
        """Return the scores of a model fitted to rows, on them and on others."""
        self.clock.poll()
        target = self.core.fitted_to(self.subject)
        model.fit(_points(self.core, train, train), target[train])
        scores = []
        for rows in (train, held):
            values = self.core.values(model, _points(self.core, rows, train), self.subject)
            scores.append(measure.of(self.subject.truth[rows], values))
        return scores[0], scores[1]


def _measure(subject: Subject) -> Measure:
    """Return a score, not an error, that is easy to read."""
    return BY_NAME[R2 if subject.classes is None else ACCURACY]


def _points(core: Core, rows: Array, train: Array) -> Any:
    if core.is_pairwise:
        return np.asarray(core.points)[np.ix_(rows, train)]
    return taken(core.points, rows)
