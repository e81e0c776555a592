"""How test rows differ from training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp

from ...checks import Array, MercerError
from ...diagnostics import mmd_test
from ...tables import TableColumn
from ...tables.encoder.apply import read_column
from ..clock import Clock
from ..measure.splits import thinned
from ..subject import Core, Subject, core_of, taken
from .summary import row_keys

TESTED = 300  # points of each sample that the kernel compares
PERMUTATIONS = 499
LEVEL = 0.01  # of all columns together
LEAST_SHIFT = 0.1  # below it a difference is of no matter, however sure


@dataclass(frozen=True, kw_only=True)
class ColumnShift:
    """How a column differs between training and test rows.

    Attributes
    ----------
    name : str
        The column.
    shift : float
        The largest difference of the shares of rows below a number, or half the sum of the
        differences of the shares of levels; from 0 for equal to 1 for apart.
    p_value : float
        How likely such a difference is where there is none, by the test of Kolmogorov and Smirnov
        or the chi-squared test.
    outside : float
        The share of test rows beyond the range of the training rows, or with a level that these do
        not have.
    missing : float
        The share of test rows without a value minus that of training rows.
    drifts : bool
        Whether the difference is both sure and large.
    """

    name: str
    shift: float
    p_value: float
    outside: float
    missing: float
    drifts: bool


@dataclass(frozen=True, kw_only=True)
class Drift:
    """How test rows differ from training rows.

    Attributes
    ----------
    rows : int
        How many test rows there are.
    p_value : float or None
        Of the two-sample test of the kernel on some rows of each; None where it was not run.
    statistic : float or None
        The squared distance of the means in feature space.
    compared : int
        How many rows of each sample the kernel has compared.
    columns : tuple of ColumnShift
        Each column, the largest shift first.
    shared : int or None
        How many test rows are copies of a training row.
    """

    rows: int
    p_value: float | None
    statistic: float | None
    compared: int
    columns: tuple[ColumnShift, ...]
    shared: int | None


def drift_of(subject: Subject, test: Subject, core: Core | None, clock: Clock, seed: int) -> Drift:
    """Return how the points of a test differ from those of the fit."""
    shifts: list[ColumnShift] = []
    if subject.table is not None and test.table is not None and subject.encoder is not None:
        new = {test.table.label(place): one for place, one in enumerate(test.table.columns)}
        columns = [one for one in subject.encoder.columns_ if one.name in new]
        for position, column in enumerate(subject.encoder.columns_):
            clock.poll()
            is_used = column.kind != "text" and column.stop > column.start
            if not is_used or column.name not in new:
                continue
            old = read_column(column, subject.table.columns[position], "make_report")
            now = read_column(column, new[column.name], "make_report")
            shifts.append(_shift(column, old, now, LEVEL / len(columns)))
    shifts.sort(key=lambda one: -one.shift)
    tested = _test(subject, test, core, seed)
    size = len(test.X) if test.table is None else len(test.table)
    return Drift(
        rows=size,
        p_value=None if tested is None else tested[0],
        statistic=None if tested is None else tested[1],
        compared=0 if tested is None else tested[2],
        columns=tuple(shifts),
        shared=_shared(subject, test),
    )


def _shift(column: TableColumn, old: Any, new: Any, level: float) -> ColumnShift:
    compare = _texts if isinstance(old, list) else _numbers
    shift, p_value, outside, missing = compare(old, new)
    return ColumnShift(
        name=column.name,
        shift=shift,
        p_value=p_value,
        outside=outside,
        missing=missing,
        drifts=p_value < level and shift > LEAST_SHIFT,
    )


def _numbers(old: Array, new: Array) -> tuple[float, float, float, float]:
    known, fresh = old[np.isfinite(old)], new[np.isfinite(new)]
    missing = float(np.mean(~np.isfinite(new)) - np.mean(~np.isfinite(old)))
    if not len(known) or not len(fresh):
        return abs(missing), 1.0, 0.0, missing
    test = ks_2samp(known, fresh, method="asymp")
    outside = float(np.mean((fresh < known.min()) | (fresh > known.max())))
    return float(test.statistic), float(test.pvalue), outside, missing


def _texts(old: list[str | None], new: list[str | None]) -> tuple[float, float, float, float]:
    levels = sorted({*old, *new}, key=lambda text: (text is not None, text or ""))
    place = {text: number for number, text in enumerate(levels)}
    counts = np.zeros((2, len(levels)))
    for line, texts in enumerate((old, new)):
        np.add.at(counts[line], [place[text] for text in texts], 1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    known = set(old)
    outside = float(np.mean([text is not None and text not in known for text in new]))
    p_value = float(chi2_contingency(counts).pvalue) if len(levels) > 1 else 1.0
    missing = float(shares[1][place[None]] - shares[0][place[None]]) if None in place else 0.0
    return float(np.abs(shares[1] - shares[0]).sum() / 2), p_value, outside, missing


def _test(
    subject: Subject, test: Subject, core: Core | None, seed: int
) -> tuple[float, float, int] | None:
    """Return p-value, statistic and sample size of the two-sample test with the model's kernel."""
    if core is None or core.is_pairwise:
        return None
    fresh = core_of(test)
    if fresh is None:
        return None
    n_test = fresh.points.shape[0] if hasattr(fresh.points, "shape") else len(fresh.points)
    size = min(TESTED, len(subject), n_test)
    if size < 2:
        return None
    old = thinned(np.arange(len(subject)), size, None, seed)
    new = thinned(np.arange(n_test), size, None, seed)
    try:
        found = mmd_test(
            taken(core.points, old),
            taken(fresh.points, new),
            core.kernel,
            n_permutations=PERMUTATIONS,
            random_state=seed,
        )
    except MercerError:  # such as points that the kernel cannot compare without a fit
        return None
    return found.p_value, found.statistic, size


def _shared(subject: Subject, test: Subject) -> int | None:
    """Return how many test points are copies of training points."""
    old, new = row_keys(subject), row_keys(test)
    if old is None or new is None:
        return None
    return int(np.isin(new, old).sum())
