"""Whether a target is a class or a number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ..errors import data_error, usage

CLASSES, NUMBERS = "classification", "regression"
FEW_VALUES = 10  # different whole numbers that may be classes
ROWS_EACH = 5  # rows that each of them must have on average


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is to be learnt.

    kind: "classification" or "regression". why: it was decided so, in words. y: the target as the
    models take it.
    """

    kind: str
    why: str
    y: Array


def decide_task(y: Array, target: str, asked: str, who: str) -> Task:
    """Return what kind of target this is; asked: "auto" or what the user says.

    Texts and truth values are classes. So are whole numbers of which there are at most 10 different
    ones, with at least five rows each on average. All other numbers are numbers.
    """
    is_number = y.dtype.kind in "iuf"
    if asked == NUMBERS and not is_number:
        must = f"the target {target!r} must hold numbers for --task regression"
        raise data_error(who, must, f"{str(y[0])!r} first")
    distinct = np.unique(y) if is_number else np.array(sorted({str(one) for one in y}))
    if len(distinct) < 2:
        must = f"the target {target!r} must have at least two different values"
        raise data_error(who, must, f"{distinct[0] if len(distinct) else 'none'} in every row")
    if asked != "auto":
        kind, why = asked, "as --task says"
    elif not is_number:
        words = "true or false" if y.dtype.kind == "b" else "texts"
        kind, why = CLASSES, f"its values are {words}"
    elif _are_classes(distinct, len(y)):
        kind, why = CLASSES, f"whole numbers with {len(distinct)} different values"
    else:
        kind, why = NUMBERS, f"numbers with {len(distinct):,} different values"
    if kind == CLASSES:
        _require_repeats(distinct, len(y), target, who)
        y = _labels(y, distinct)
    elif y.dtype.kind != "f":
        y = y.astype(np.float64)
    return Task(kind=kind, why=why, y=y)


def _are_classes(distinct: Array, n: int) -> bool:
    few = len(distinct) <= FEW_VALUES and len(distinct) * ROWS_EACH <= n
    return few and bool((distinct == np.round(distinct)).all())


def _require_repeats(distinct: Array, n: int, target: str, who: str) -> None:
    """Refuse a target that names rows."""
    if len(distinct) > max(n // 2, 2):
        must = f"the classes of the target {target!r} must repeat"
        got = f"{len(distinct):,} different values in {n:,} rows"
        raise data_error(who, must, got, "For numbers write --task regression.")


def _labels(y: Array, distinct: Array) -> Array:
    """Return classes: whole numbers as such, texts as texts."""
    if y.dtype.kind == "f" and bool((distinct == np.round(distinct)).all()):
        return y.astype(np.int64)
    return y.astype(str) if y.dtype.kind == "O" else y


def check_model(model: str, kind: str, asked: str, who: str) -> None:
    """Refuse a model that is for targets of the other kind."""
    only = ONLY.get(model)
    if only is not None and only != kind:
        other = {"svc": "svr", "svr": "svc"}.get(model, "auto")
        must = f"--model {model} is for {only}, and so the target must be"
        raise usage(who, must, kind, f"Write --model {other}, or --task {only}.")


ONLY = {
    "svc": CLASSES,
    "svr": NUMBERS,
    "prototype": CLASSES,
    "perceptron": CLASSES,
    "fisher": CLASSES,
}
