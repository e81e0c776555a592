"""What is to be predicted, and how good predictions are: classes or numbers.

Candidates are fitted to *targets* and give *scores*. A *link* that is fitted to honest scores turns
them into *values*: probabilities of classes, or numbers in the units of y. An ensemble averages
values. Its loss is a function of their *evidence*, which is linear in the values, so that the
evidence of an average is the average of the evidence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...checks import Array
from ...postfit.calibration import fit_slope, probabilities

PLAIN, LOG, CHANCES = "plain", "log", "chances"
LEAST_CHANCE = 1e-6  # of the class that came true, in a logarithm
FLOOR = 0.1  # below which a chance that a ridge model states is bent upwards
LOWEST = -30.0  # of such a chance, in units of that floor: a smaller one has no logarithm
SKEWED = 1.0  # skewness of y from which on its logarithm may be the better target

Score = Callable[[Array, Array, Array | None], float]  # values, truth and weights to a loss


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """What is to be predicted of each row.

    weight: of the rows, or None. score: the loss that a user asks for, of values; None is the usual
    one of the task.
    """

    weight: Array | None = None
    score: Score | None = None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, rows: Array) -> Task:
        """Return the task of some rows, with the same units."""

    @property
    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """The kinds of targets that are worth a try, "plain" first."""

    @abstractmethod
    def truth(self, rows: Array) -> Array:
        """Return what came true in rows: the numbers of classes, or y."""

    @abstractmethod
    def targets(self, kind: str) -> Array:
        """Return what is fitted, one row per point and one column per output."""

    @abstractmethod
    def link(self, scores: Array, rows: Array, kind: str) -> float:
        """Return the number that turns scores of rows into values best."""

    @abstractmethod
    def values(self, scores: Array, link: float, kind: str) -> Array:
        """Return values from scores."""

    @abstractmethod
    def constant(self, rows: Array) -> Array:
        """Return the values, one row, that predict these rows best without looking at X."""

    @abstractmethod
    def evidence(self, values: Array, rows: Array) -> Array:
        """Return what the loss needs to know of values of rows."""

    @abstractmethod
    def _errors(self, evidence: Array, rows: Array) -> Array:
        """Return the usual loss of each row; evidence: of one or, in a leading axis, of many."""

    def losses(self, evidence: Array, rows: Array) -> Array:
        """Return the mean loss of rows for each of many predictions; the smaller, the better.

        evidence: of all predictions, along the first axis.
        """
        if self.score is not None:
            truth, weight = self.truth(rows), self.weights(rows)
            return np.array([self.score(one, truth, weight) for one in evidence])
        return np.average(self._errors(evidence, rows), axis=1, weights=self.weights(rows))

    def loss(self, evidence: Array, rows: Array) -> float:
        """Return the mean loss of rows; the smaller, the better."""
        return float(self.losses(evidence[None], rows)[0])

    def weights(self, rows: Array) -> Array | None:
        """Return the weights of rows."""
        return None if self.weight is None else self.weight[rows]


@dataclass(frozen=True, kw_only=True)
class ClassTask(Task):
    """One of several classes per row.

    codes: the class of each row, a number from 0. count: how many classes there are. The usual loss
    is the log loss.
    """

    codes: Array
    count: int

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Array) -> ClassTask:
        """Return the task of some rows."""
        return replace(self, codes=self.codes[rows], weight=self.weights(rows))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Classes have one kind of targets: -1 and 1."""
        return (PLAIN,)

    def truth(self, rows: Array) -> Array:
        """Return the numbers of the classes."""
        return self.codes[rows]

    @cached_property
    def _targets(self) -> Array:
        signs = np.where(self.codes[:, None] == np.arange(self.count), 1.0, -1.0)
        return signs[:, 1:] if self.count == 2 else signs

    def targets(self, kind: str) -> Array:
        """Return -1 and 1: one column for two classes, otherwise one per class."""
        return self._targets

    def link(self, scores: Array, rows: Array, kind: str) -> float:
        """Return the slope that makes the classes of rows most likely."""
        return fit_slope(_read(scores, kind), self.codes[rows], self.weights(rows))

    def values(self, scores: Array, link: float, kind: str) -> Array:
        """Return probabilities, one column per class."""
        return class_chances(scores, link, kind)

    def constant(self, rows: Array) -> Array:
        """Return the shares of the classes."""
        shares = np.bincount(self.codes[rows], self.weights(rows), self.count)
        return np.asarray(shares / shares.sum()).reshape(1, -1)

    def evidence(self, values: Array, rows: Array) -> Array:
        """Return the probability of the class that came true; all for a loss of the user."""
        if self.score is not None:
            return values
        return values[np.arange(len(rows)), self.codes[rows]]

    def _errors(self, evidence: Array, rows: Array) -> Array:
        """Return the log loss of each row."""
        return np.asarray(-np.log(np.maximum(evidence, LEAST_CHANCE)))


@dataclass(frozen=True, kw_only=True)
class Units:
    """What turns scores into numbers in the units of y, for each kind of target.

    means, spreads: of y and of its logarithm, by the kind of target; low, high: ends of y; all have
    one number per output.
    """

    means: dict[str, Array]
    spreads: dict[str, Array]
    low: Array
    high: Array

    @staticmethod
    def of(y: Array, kinds: Sequence[str], weight: Array | None) -> Units:
        """Return those of y, one column per output."""
        means, spreads = {}, {}
        for kind in kinds:
            inner = np.log(y) if kind == LOG else y
            means[kind] = np.average(inner, axis=0, weights=weight)
            spread = np.sqrt(np.average((inner - means[kind]) ** 2, axis=0, weights=weight))
            spreads[kind] = np.where(spread > 0, spread, 1.0)
        return Units(means=means, spreads=spreads, low=y.min(axis=0), high=y.max(axis=0))

    def targets(self, y: Array, kind: str) -> Array:
        """Return y, or its logarithm, with mean 0 and variance 1."""
        inner = np.log(y) if kind == LOG else y
        return np.asarray((inner - self.means[kind]) / self.spreads[kind])

    def values(self, scores: Array, link: float, kind: str) -> Array:
        """Return numbers within what y has been."""
        inner = self.means[kind] + self.spreads[kind] * scores
        if kind == LOG:
            inner = link * np.exp(np.minimum(inner, np.log(self.high)))
        return np.asarray(np.clip(inner, self.low, self.high))


@dataclass(frozen=True, kw_only=True)
class NumberTask(Task):
    """Numbers per row.

    y: one column per output. The usual loss is the squared error, of each output in units of its
    variance.
    """

    y: Array

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Array) -> NumberTask:
        """Return the task of some rows, with the same units."""
        found = replace(self, y=self.y[rows], weight=self.weights(rows))
        found.__dict__.update(kinds=self.kinds, units=self.units)
        return found

    def truth(self, rows: Array) -> Array:
        """Return the numbers."""
        return self.y[rows]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The logarithm is worth a try where y is positive with a long tail of large values."""
        if self.y.shape[1] != 1 or not (self.y > 0).all():
            return (PLAIN,)
        moved = self.y[:, 0] - self.y[:, 0].mean()
        spread = float(np.sqrt(np.mean(moved**2)))
        skewed = spread > 0 and float(np.mean((moved / spread) ** 3)) > SKEWED
        return (PLAIN, LOG) if skewed else (PLAIN,)

    @cached_property
    def units(self) -> Units:
        """What turns scores into values."""
        return Units.of(self.y, self.kinds, self.weight)

    def targets(self, kind: str) -> Array:
        """Return y, or its logarithm, with mean 0 and variance 1."""
        return self.units.targets(self.y, kind)

    def link(self, scores: Array, rows: Array, kind: str) -> float:
        """Return the factor of least squares for exponentials, and 1 otherwise.

        The exponential of a mean of logarithms is below the mean of the numbers.
        """
        if kind == PLAIN:
            return 1.0
        found, y = self.values(scores, 1.0, kind)[:, 0], self.y[rows, 0]
        weight = self.weights(rows)
        weighted = found if weight is None else weight * found
        return float(weighted @ y / (weighted @ found))

    def values(self, scores: Array, link: float, kind: str) -> Array:
        """Return numbers in the units of y, within what y has been."""
        return self.units.values(scores, link, kind)

    def constant(self, rows: Array) -> Array:
        """Return the mean of each output."""
        means = np.average(self.y[rows], axis=0, weights=self.weights(rows))
        return np.asarray(means).reshape(1, -1)

    def evidence(self, values: Array, rows: Array) -> Array:
        """Return the values."""
        return values

    def _errors(self, evidence: Array, rows: Array) -> Array:
        """Return the squared error of each row against the variance, the mean over outputs."""
        errors = (self.y[rows] - evidence) / self.units.spreads[PLAIN]
        return np.asarray((errors**2).mean(axis=-1))


def loss_of(task: Task, values: Array, rows: Array) -> float:
    """Return the loss of values of rows."""
    return task.loss(task.evidence(values, rows), rows)


def readings(task: Task, kind: str, is_ridge: bool) -> tuple[str, ...]:
    """Return the kinds of targets as which scores may be read.

    Those of a ridge model of several classes may be chances, whatever they are fitted to.
    """
    if not isinstance(task, ClassTask):
        return (kind,)
    return (PLAIN, CHANCES) if is_ridge and task.count > 2 else (PLAIN,)


def class_chances(scores: Array, link: float, kind: str) -> Array:
    """Return the probability of each class from scores that are read as a kind of target."""
    return probabilities(_read(scores, kind), link)


def _read(scores: Array, kind: str) -> Array:
    """Return scores that grow in proportion to the logarithms of the chances of the classes.

    A ridge model that is fitted to -1 and 1 states the chance c = (1 + s)/2 of a class itself. Its
    logarithm is that of FLOOR ln(1 + exp(c/FLOOR)), which is c where c is large, and positive.
    """
    if kind == CHANCES:
        stated = np.maximum((1.0 + scores) / (2.0 * FLOOR), LOWEST)
        return np.asarray(np.log(FLOOR * np.logaddexp(0.0, stated)))
    return scores[:, 0] if scores.shape[1] == 1 else scores
