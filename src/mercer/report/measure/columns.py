"""Which columns matter, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array, MercerError
from ...tables.encoder.apply import read_column
from ..clock import Clock, NotShown
from ..subject import Fitted, Learner, Subject, replaced, taken, values_of
from .honest import Honest
from .scores import loss_of, measures_of
from .splits import folds_of, thinned

REPEATS = 5
MOST_TRAIN, MOST_HELD = 2000, 800
GRID, MOST_LEVELS = 15, 12
AVERAGED = 200  # rows over which a dependence is averaged
SHOWN = 6  # columns whose dependence is shown
LEAST_RISE = 0.002  # of the loss, of a column that is worth a picture
OBJECTS = "The points are not rows of a table, so that there are no columns to look at."


@dataclass(frozen=True, kw_only=True)
class Relevance:
    """How much a column matters.

    Attributes
    ----------
    name : str
        The column.
    rise : float
        By how much the loss of rows that the model has not seen rises when the values of the
        column change places, over the loss of the constant.
    deviation : float
        The standard deviation over repeats.
    alone : float or None
        The skill of a small model that sees this column only: R², or the share of the errors of
        the most frequent class that it avoids.
    """

    name: str
    rise: float
    deviation: float
    alone: float | None


@dataclass(frozen=True, kw_only=True)
class Relevances:
    """The columns by how much they matter, those that matter most first.

    Attributes
    ----------
    how : str
        How it was measured, in a sentence.
    columns : tuple of Relevance
        One for each column.
    """

    how: str
    columns: tuple[Relevance, ...]


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """What the model predicts on average when all rows have the same value in a column.

    Attributes
    ----------
    name : str
        The column.
    kind : str
        "number", "date" or "category".
    values : tuple of float or str
        The values of the column; of dates the seconds since 1970.
    means : tuple of float
        The mean prediction at each value.
    slopes : tuple of float or None
        The mean derivative of the prediction by the column, from the model's own gradient; None
        where the model has none.
    output : str
        The class whose probability is predicted; "" for numbers.
    """

    name: str
    kind: str
    values: tuple[float, ...] | tuple[str, ...]
    means: tuple[float, ...]
    slopes: tuple[float, ...] | None
    output: str


# --- permutation -----------------------------------------------------------------------------


def relevances(
    subject: Subject,
    honest: Honest,
    learner: Learner,
    has_chances: bool,
    alone: dict[str, float],
    clock: Clock,
    seed: int,
) -> Relevances:
    """Return how much the honest loss rises when a column is shuffled."""
    if subject.table is None:
        raise NotShown(OBJECTS)
    if len(subject.table.columns) < 2:
        raise NotShown("There is one column only.")
    models, how = _models(subject, honest, learner, clock, seed)
    shuffle = _Shuffle(subject=subject, models=models, has_chances=has_chances, seed=seed)
    names = [subject.table.label(place) for place in range(len(subject.table.columns))]
    found: list[Relevance] = []
    # Those that say most alone come first: there may be no time for all.
    for place in sorted(range(len(names)), key=lambda place: -alone.get(names[place], 0.0)):
        if clock.left <= 0 and found:
            how += f"; there was time for {len(found):,d} of {len(names):,d} columns"
            break
        clock.poll()
        rises = shuffle.rises(place)
        rise, deviation = float(rises.mean()), float(rises.std(ddof=1))
        own = alone.get(names[place])
        found.append(Relevance(name=names[place], rise=rise, deviation=deviation, alone=own))
    found.sort(key=lambda one: -one.rise)
    return Relevances(how=how, columns=tuple(found))


def _models(
    subject: Subject, honest: Honest, learner: Learner, clock: Clock, seed: int
) -> tuple[list[tuple[Fitted, Array]], str]:
    """Return models with rows that they have not seen, and how they came about in words."""
    codes = subject.codes
    if honest.fitted:
        pairs = list(zip(honest.fitted, (held for _, held in honest.parts), strict=True))
        each = max(MOST_HELD // len(pairs), 1)
        judged = [(model, thinned(held, each, codes, seed)) for model, held in pairs]
        return judged, "the models of the cross-validation, each on rows that it has not seen"
    train, held = honest.parts[0]
    if len(honest.parts) > 1:
        train, held = folds_of(len(subject), 3, codes, subject.groups, seed)[0]
    train, held = thinned(train, MOST_TRAIN, codes, seed), thinned(held, MOST_HELD, codes, seed)
    model = learner.fitted(train, clock.left)
    how = f"{learner.what}, to {len(train):,d} rows and judged on {len(held):,d} others"
    return [(model, held)], how


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shuffle:
    """Changes the places of the values of a column among rows that models have not seen."""

    subject: Subject
    models: list[tuple[Fitted, Array]]
    has_chances: bool
    seed: int

    def rises(self, position: int) -> Array:
        """Return by how much the loss rises, over that of a constant, in each repeat."""
        measure = measures_of(self.subject.classes is not None, self.has_chances)[0]
        random = np.random.default_rng((self.seed, position))
        total, weight = np.zeros(REPEATS), 0
        for model, held in self.models:
            X, truth = taken(self.subject.X, held), self.subject.truth[held]
            before = loss_of(measure, truth, model.values(X))
            for repeat in range(REPEATS):
                changed = replaced(X, position, random.permutation(len(held)))
                total[repeat] += len(held) * (
                    loss_of(measure, truth, model.values(changed)) - before
                )
            weight += len(held)
        return total / weight / self._unit(measure.name)

    def _unit(self, name: str) -> float:
        """Return the loss of the best constant."""
        truth = self.subject.truth
        if self.subject.classes is None:
            return float(truth.var(axis=0).mean()) or 1.0
        shares = np.bincount(truth) / len(truth)
        shares = shares[shares > 0]
        entropy = float(-(shares * np.log(shares)).sum())
        return (entropy if name == "log loss" else 1.0 - float(shares.max())) or 1.0


# --- dependence ------------------------------------------------------------------------------


def dependences(
    subject: Subject, found: Relevances | None, clock: Clock, seed: int
) -> tuple[Dependence, ...]:
    """Return how predictions depend on the columns that matter most, or on the first ones."""
    if subject.table is None or subject.encoder is None:
        raise NotShown(OBJECTS)
    table, encoder = subject.table, subject.encoder
    names = [table.label(place) for place in range(len(table.columns))]
    order = names if found is None else _that_matter(found)
    kinds = {column.name: column.kind for column in encoder.columns_}
    rows = thinned(np.arange(len(subject)), AVERAGED, subject.codes, seed)
    shown: list[Dependence] = []
    for name in order:
        if len(shown) == SHOWN:
            break
        try:
            clock.poll()
        except NotShown:
            if not shown:
                raise
            break
        if kinds.get(name) in ("number", "date", "category", "boolean"):
            one = _dependence(subject, names.index(name), kinds[name], rows)
            if one is not None:
                shown.append(one)
    return tuple(shown)


def _that_matter(found: Relevances) -> list[str]:
    """Return the columns whose rise is no chance, and the first one in any case."""
    sure = [one.name for one in found.columns if one.rise > max(2 * one.deviation, LEAST_RISE)]
    return sure or [found.columns[0].name]


def _dependence(subject: Subject, position: int, kind: str, rows: Array) -> Dependence | None:
    if subject.table is None:
        return None
    where = _levels if kind in ("category", "boolean") else _quantiles
    places, values = where(subject, position)
    if len(places) < 2:
        return None
    means: list[Array] = []
    slopes: list[float | None] = []
    for place in places:
        # The values of one row in the column for all, in what holds the table.
        some = taken(subject.X, np.append(rows, place))
        changed = replaced(some, position, np.full(len(rows) + 1, len(rows)))
        means.append(values_of(subject.model, changed, subject.classes)[:-1].mean(axis=0))
        slopes.append(_slope(subject, changed, position))
    found = np.array(means)
    output = _output(subject, found)
    return Dependence(
        name=subject.table.label(position),
        kind="category" if kind == "boolean" else kind,
        values=values,
        means=tuple(found[:, output].tolist()),
        slopes=None if None in slopes else tuple(one for one in slopes if one is not None),
        output=subject.labels[output] if subject.labels else "",
    )


def _slope(subject: Subject, X: Any, position: int) -> float | None:
    """Return the mean derivative of the prediction of a number by a column; None: not known."""
    if subject.classes is not None or not hasattr(subject.model, "gradient"):
        return None
    try:
        found = np.asarray(subject.model.gradient(X))
    except MercerError:  # a kernel without a derivative, or points that are no numbers
        return None
    return float(found[:-1, position].mean()) if found.ndim == 2 else None


def _output(subject: Subject, means: Array) -> int:
    """Return the output that is shown: of several classes the one that changes most."""
    if subject.classes is None:
        return 0
    return 1 if len(subject.classes) == 2 else int(np.ptp(means, axis=0).argmax())


def _quantiles(subject: Subject, position: int) -> tuple[list[int], tuple[float, ...]]:
    """Return rows at quantiles of a column of numbers or dates, and their values."""
    data = _read(subject, position)
    known = np.flatnonzero(np.isfinite(data))
    if not len(known):
        return [], ()
    order = known[np.argsort(data[known], kind="stable")]
    picks = np.linspace(0.02, 0.98, GRID) * (len(order) - 1)
    rows = order[np.unique(picks.round().astype(np.intp))]
    values, first = np.unique(data[rows], return_index=True)
    return rows[first].tolist(), tuple(values.tolist())


def _levels(subject: Subject, position: int) -> tuple[list[int], tuple[str, ...]]:
    """Return one row for each of the most frequent levels of a category, and the levels."""
    texts = _read(subject, position)
    rows: dict[str, int] = {}
    counts: dict[str, int] = {}
    for row, text in enumerate(texts):
        if text is not None:
            rows.setdefault(text, row)
            counts[text] = counts.get(text, 0) + 1
    levels = sorted(counts, key=lambda text: -counts[text])[:MOST_LEVELS]
    return [rows[text] for text in levels], tuple(levels)


def _read(subject: Subject, position: int) -> Any:
    if subject.encoder is None or subject.table is None:
        return np.empty(0)
    column = next(
        one for one in subject.encoder.columns_ if one.name == subject.table.label(position)
    )
    return read_column(column, subject.table.columns[position], "make_report")
