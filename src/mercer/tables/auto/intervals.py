"""Intervals that have the number to predict with a given probability, by conformal prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...checks import Array

JUDGED = 0.9  # the coverage for which the shorter kind of interval is chosen


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """Honest errors, sorted, of each output.

    Parameters
    ----------
    errors : ndarray of shape (n, n_outputs)
        The values y - f(x), or y / f(x), ascending in each column.
    ratio : tuple of bool
        Whether the errors of an output are ratios.
    """

    errors: Array
    ratio: tuple[bool, ...]

    def around(self, values: Array, coverage: float) -> tuple[Array, Array]:
        """Return the lower and the upper ends of intervals around predictions.

        Parameters
        ----------
        values : ndarray of shape (n, n_outputs)
            The predictions.
        coverage : float
            The probability with which an interval has the number.

        Returns
        -------
        low : ndarray of shape (n, n_outputs)
            The lower ends.
        high : ndarray of shape (n, n_outputs)
            The upper ends.
        """
        ends = np.array([_ends(column, coverage) for column in self.errors.T])
        low, high = (np.where(self.ratio, values * end, values + end) for end in ends.T)
        return low, high


def _ends(errors: Array, coverage: float) -> tuple[float, float]:
    """Return the two errors that as many leave out at either end; one more row is to come."""
    n = len(errors)
    out = (1.0 - coverage) / 2.0
    first = int(np.floor((n + 1) * out)) - 1
    first = max(first, 0)
    return float(errors[first]), float(errors[n - 1 - first])


def fit_intervals(y: Array, values: Array) -> Intervals:
    """Return the errors of honest predictions, of the kind that makes shorter intervals."""
    columns, ratio = [], []
    for truth, found in zip(y.T, values.T, strict=True):
        plain = np.sort(truth - found)
        low, high = _ends(plain, JUDGED)
        chosen, is_ratio = plain, False
        if (truth > 0).all() and (found > 0).all():
            ratios = np.sort(truth / found)
            below, above = _ends(ratios, JUDGED)
            if (above - below) * found.mean() < high - low:
                chosen, is_ratio = ratios, True
        columns.append(chosen)
        ratio.append(is_ratio)
    return Intervals(errors=np.column_stack(columns), ratio=tuple(ratio))
