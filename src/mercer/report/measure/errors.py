"""Where a model errs: residuals of numbers; confusions and calibration of classes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...checks import Array
from ...plots import CalibrationDisplay
from ..subject import Subject

MOST_SHOWN = 2000  # residuals that are drawn
WORST = 5  # rows that are named
BINS = 10
MOST_PAIRS = 8  # confusions that are named


@dataclass(frozen=True, kw_only=True, eq=False)
class Miss:
    """A row that was predicted badly.

    Attributes
    ----------
    row : int
        Its number, from 0.
    truth : float or str
        What came true.
    predicted : float or str
        What was predicted.
    size : float
        The error, or the probability that was given to what came true.
    """

    row: int
    truth: float | str
    predicted: float | str
    size: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Residuals:
    """Errors of numbers, truth minus prediction, of the first output.

    Attributes
    ----------
    truth : ndarray of shape (n,)
        What came true, of the rows that are drawn.
    predicted : ndarray of shape (n,)
        What was predicted for them.
    bias : float
        The mean error of all judged rows.
    quantiles : dict of float
        Quantiles of the errors, by their level.
    spread_ratio : float
        The mean absolute error among the largest quarter of the predictions over that among the
        smallest.
    worst : tuple of Miss
        The rows with the largest errors.
    """

    truth: Array
    predicted: Array
    bias: float
    quantiles: dict[str, float]
    spread_ratio: float | None
    worst: tuple[Miss, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Confusions:
    """Which classes are taken for which.

    Attributes
    ----------
    labels : tuple of str
        The classes.
    counts : ndarray of shape (n_classes, n_classes)
        How many judged rows of each class, one per line, were given each class.
    recall : tuple of float or None
        The share of the rows of each class that was found.
    precision : tuple of float or None
        The share of the rows given each class that are of it.
    pairs : tuple of tuple
        The most frequent confusions: true class, given class, rows.
    worst : tuple of Miss
        The rows whose class was given the least probability.
    """

    labels: tuple[str, ...]
    counts: Array
    recall: tuple[float | None, ...]
    precision: tuple[float | None, ...]
    pairs: tuple[tuple[str, str, int], ...]
    worst: tuple[Miss, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Calibration:
    """Whether probabilities are what they say.

    Attributes
    ----------
    event : str
        What the probabilities are of: a class, or the class predicted.
    predicted : tuple of float
        The mean probability in each of ten bins of equal width, without those that are empty.
    observed : tuple of float
        How often it came true.
    counts : tuple of int
        Rows of each bin.
    error : float
        The mean difference of both, weighted by rows.
    expected_error : float
        The same for probabilities that are right, with so many rows: chance alone.
    probabilities : ndarray of shape (n,)
        The probabilities of all judged rows, which only the picture needs.
    outcomes : ndarray of bool of shape (n,)
        Whether each came true.
    """

    event: str
    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    counts: tuple[int, ...]
    error: float
    expected_error: float
    probabilities: Array = field(metadata={"twin": False})
    outcomes: Array = field(metadata={"twin": False})


def residuals_of(subject: Subject, rows: Array, values: Array) -> Residuals:
    """Return the errors of honest predictions of rows."""
    truth, predicted = subject.truth[rows, 0], values[:, 0]
    errors = truth - predicted
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    low, high = np.quantile(predicted, [0.25, 0.75])
    below, above = np.abs(errors[predicted <= low]), np.abs(errors[predicted >= high])
    ratio = float(above.mean() / below.mean()) if below.size and below.mean() > 0 else None
    shown = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_SHOWN)).astype(np.intp))
    worst = np.argsort(-np.abs(errors), kind="stable")[:WORST]
    return Residuals(
        truth=truth[shown],
        predicted=predicted[shown],
        bias=float(errors.mean()),
        quantiles={f"{level:g}": float(np.quantile(errors, level)) for level in levels},
        spread_ratio=ratio,
        worst=tuple(
            Miss(
                row=int(rows[one]),
                truth=float(truth[one]),
                predicted=float(predicted[one]),
                size=float(errors[one]),
            )
            for one in worst
        ),
    )


def confusions_of(subject: Subject, rows: Array, values: Array) -> Confusions:
    """Return how often each class was taken for each other one."""
    labels, truth, given = subject.labels, subject.truth[rows], values.argmax(axis=1)
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, (truth, given), 1)
    off = counts * (1 - np.eye(len(labels), dtype=np.int64))
    places = np.argsort(-off, axis=None, kind="stable")[:MOST_PAIRS]
    pairs = [np.unravel_index(place, off.shape) for place in places]
    chances = values[np.arange(len(rows)), truth]
    wrong = np.flatnonzero(given != truth)
    worst = wrong[np.argsort(chances[wrong], kind="stable")][:WORST]
    return Confusions(
        labels=labels,
        counts=counts,
        recall=_shares(np.diag(counts), counts.sum(axis=1)),
        precision=_shares(np.diag(counts), counts.sum(axis=0)),
        pairs=tuple((labels[i], labels[j], int(off[i, j])) for i, j in pairs if off[i, j]),
        worst=tuple(
            Miss(
                row=int(rows[one]),
                truth=labels[truth[one]],
                predicted=labels[given[one]],
                size=float(chances[one]),
            )
            for one in worst
        ),
    )


def _shares(part: Array, whole: Array) -> tuple[float | None, ...]:
    return tuple(
        float(p / w) if w else None for p, w in zip(part.tolist(), whole.tolist(), strict=True)
    )


def calibration_of(subject: Subject, rows: Array, values: Array) -> Calibration:
    """Return whether probabilities come true as often as they say."""
    truth, two = subject.truth[rows], len(subject.labels) == 2
    chances = np.clip(values[:, 1] if two else values.max(axis=1), 0.0, 1.0)
    came = (truth == 1) if two else (values.argmax(axis=1) == truth)
    event = f"class {subject.labels[1]}" if two else "the class predicted"
    bins = CalibrationDisplay(probabilities=chances, outcomes=came, bins=BINS, event=event)
    places = np.minimum((chances * BINS).astype(int), BINS - 1)
    variances = np.bincount(places, chances * (1.0 - chances))
    # The mean of |z| of a normal z is sqrt(2 / pi) deviations.
    by_chance = np.sqrt(2.0 / np.pi) * np.sqrt(variances).sum() / len(rows)
    return Calibration(
        event=event,
        predicted=tuple(bins.predicted.tolist()),
        observed=tuple(bins.observed.tolist()),
        counts=tuple(bins.counts.tolist()),
        error=bins.error,
        expected_error=float(by_chance),
        probabilities=chances,
        outcomes=came,
    )
