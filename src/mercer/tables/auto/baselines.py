"""What an ensemble must beat: a constant, a linear model, boosted trees; and columns that leak."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...checks import Array
from ..encoder import TableEncoder
from ..encoder.columns.table import spread_rows
from ..race.judging import TREES, Judge, Judged
from ..race.tasks import PLAIN, ClassTask, Task

BASELINES = {"linear": "A linear model", TREES: "Boosted trees"}
SAME = 1.0 - 1e-9  # correlation of a column with the target from which on it is the target
GLANCE = 2000  # rows that tell most columns of many values from those of few
FEW = 5  # rows that a value of a column must have on average to be a code of the class


def baseline_values(judge: Judge, judged: Sequence[Judged]) -> dict[str, Array]:
    """Return what each baseline predicts for the judged rows; judged: the best first."""
    task, splits = judge.task, judge.splits
    rows = splits.rows
    constant = np.zeros((len(task), task.constant(rows).shape[1]))
    for train, held in splits.parts:
        constant[held] = task.constant(train)
    found = {"constant": constant[rows]}
    for name in BASELINES:
        values = [one.values for one in judged if one.candidate.family == name]
        if values:
            found[name] = values[0]
    return found


def leaking_columns(encoder: TableEncoder, X: Array, task: Task) -> list[str]:
    """Return the names of columns that determine the target by themselves.

    A number does where it is a linear function of y; a column of few values does where each value
    goes with one class. Of few rows nobody can tell.
    """
    found: list[str] = []
    if len(X) <= FEW:
        return found
    for column in encoder.columns_:
        part = X[:, column.start : column.stop]
        if part.shape[1] and (_is_class(part, task) or _is_number(part, task)):
            found.append(column.name)
    return found


def _is_number(part: Array, task: Task) -> bool:
    if isinstance(task, ClassTask):
        return False
    y, x = task.targets(PLAIN)[:, 0], part[:, 0].astype(np.float64)
    sizes = np.linalg.norm(x - x.mean()) * np.linalg.norm(y - y.mean())
    return bool(sizes > 0 and abs((x - x.mean()) @ (y - y.mean())) >= SAME * sizes)


def _is_class(part: Array, task: Task) -> bool:
    if not isinstance(task, ClassTask):
        return False
    if not _has_few_values(part[spread_rows(len(part), GLANCE)]) or not _has_few_values(part):
        return False
    values, place = np.unique(part, axis=0, return_inverse=True)
    table = np.zeros((len(values), task.count))
    np.add.at(table, (place.ravel(), task.codes), 1.0)
    return bool(((table > 0).sum(axis=1) == 1).all())


def _has_few_values(part: Array) -> bool:
    return len(np.unique(part, axis=0)) * FEW <= len(part)
