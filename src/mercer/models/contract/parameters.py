"""Checks of the parameters that many estimators have, by one table."""

from __future__ import annotations

import functools
import numbers
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils.class_weight import compute_sample_weight

from ... import checks
from ...checkpoints import Checkpoint
from ...checks import Array, InputError, InputTypeError, sentence, show
from ...monitor import Monitor, to_stderr
from ...run import Run

THREADS_MOST = 1024


def check_parameters(model: Any) -> None:
    """Refuse a parameter of an estimator that is none of the values it may have, by its name.

    The table has the parameters whose values do not depend on the data; estimators check the rest
    where they use it.
    """
    who = type(model).__name__
    kind: Any = type(model)
    for name in _checked_names(kind):
        CHECKS[name](who, name, getattr(model, name))


@functools.cache
def _checked_names(kind: Any) -> tuple[str, ...]:
    """Return the parameters of a class of estimators that the table has."""
    return tuple(name for name in kind._get_param_names() if name in CHECKS)


def _optional(check: Callable[[str, str, Any], Any]) -> Callable[[str, str, Any], Any]:
    return lambda who, name, value: None if value is None else check(who, name, value)


def _seconds(who: str, name: str, value: Any) -> None:
    checks.number(who, name, value, above=0)


def _callable(who: str, name: str, value: Any) -> None:
    if not callable(value) or isinstance(value, type):
        must = f"{name} must be None or a function of the record of an iteration"
        raise InputTypeError(sentence(who, must, show(value)))


def _threads(who: str, name: str, value: Any) -> None:
    every = isinstance(value, numbers.Integral) and int(value) == -1
    if not every:
        advice = "None is all that are allowed, -1 one for each processor."
        checks.whole(who, name, value, least=1, most=THREADS_MOST, advice=advice)


def _verbosity(who: str, name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_):
        checks.whole(who, name, value, least=0, advice="False is silent.")


def _random_state(who: str, name: str, value: Any) -> None:
    seed_of(who, value, draw=False)


def _class_weight(who: str, name: str, value: Any) -> None:
    """Refuse what is no weight for each class; of several labels there may be a list of these."""
    for weights in value if isinstance(value, list) and value else [value]:
        if not isinstance(weights, Mapping):
            continue
        for label, weight in weights.items():
            checks.number(who, f"{name}[{show(label)}]", weight, least=0)
    mappings = isinstance(value, list) and value and all(isinstance(v, Mapping) for v in value)
    if not (isinstance(value, Mapping) or mappings or _is_text(value, "balanced")):
        must = f"{name} must be None, 'balanced' or a weight for each class"
        advice = checks.nearest(value, ["balanced"]) if isinstance(value, str) else ""
        raise InputTypeError(sentence(who, must, show(value), advice))


def _is_text(value: Any, text: str) -> bool:
    return isinstance(value, str) and value == text


def _memory(who: str, name: str, value: Any) -> None:
    checks.memory_limit(who, value)


def _scoring(who: str, name: str, value: Any) -> None:
    if isinstance(value, str):
        if value not in get_scorer_names():
            must = f"{name} must be None, a function or the name of a scorer of scikit-learn"
            advice = checks.nearest(value, get_scorer_names())
            raise InputError(sentence(who, must, show(value), advice))
    elif not callable(value) or isinstance(value, type):
        must = f"{name} must be None, the name of a scorer or a function of model, X and y"
        raise InputTypeError(sentence(who, must, show(value)))


def _checkpoint(who: str, name: str, value: Any) -> None:
    if not isinstance(value, str | os.PathLike | Checkpoint):
        must = f"{name} must be None, a path or a mercer.Checkpoint"
        raise InputTypeError(sentence(who, must, show(value)))


def _approximation(who: str, name: str, value: Any) -> None:
    fits = all(hasattr(value, method) for method in ("fit", "transform", "kernel", "get_params"))
    if isinstance(value, type) or not fits:
        must = f"{name} must be None or a feature map such as RandomFourier() or Nystrom()"
        raise InputTypeError(sentence(who, must, show(value)))


CHECKS: dict[str, Callable[[str, str, Any], Any]] = {
    "allow_trees": checks.flag,
    "approximation": _optional(_approximation),
    "average": checks.flag,
    "break_ties": checks.flag,
    "callback": _optional(_callable),
    "center": checks.flag,
    "checkpoint": _optional(_checkpoint),
    "class_weight": _optional(_class_weight),
    "fit_intercept": checks.flag,
    "fit_inverse_transform": checks.flag,
    "memory_limit": _memory,
    "n_jobs": _optional(_threads),
    "phase": checks.flag,
    "probability": checks.flag,
    "random_state": _optional(_random_state),
    "refit": checks.flag,
    "remove_zero_eig": checks.flag,
    "scoring": _optional(_scoring),
    "shuffle": checks.flag,
    "time_limit": _optional(_seconds),
    "verbose": _verbosity,
}


def seed_of(who: str, state: Any, draw: bool = True) -> int:
    """Return the seed that random_state stands for; None is a fixed one.

    draw: whether to draw from a generator; each draw makes the next one another.
    """
    if state is None:
        return 0
    if isinstance(state, numbers.Integral) and not isinstance(state, bool):
        return checks.whole(who, "random_state", state, least=0)
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**31)) if draw else 0
    if state is np.random:  # as scikit-learn calls NumPy's own generator
        state = np.random.mtrand._rand
    if isinstance(state, np.random.RandomState):
        return int(state.randint(2**31 - 1)) if draw else 0
    must = "random_state must be None, a whole number or a generator of NumPy"
    raise InputTypeError(sentence(who, must, show(state)))


def run_of(model: Any) -> Run:
    """Return the run that an estimator's parameters ask for; its clock starts now."""
    who, limit = type(model).__name__, getattr(model, "time_limit", None)
    limit = None if limit is None else checks.number(who, "time_limit", limit, above=0)
    progress = to_stderr(who) if getattr(model, "verbose", False) else None
    return Run(
        who=who,
        seed=seed_of(who, getattr(model, "random_state", None)),
        memory_limit=model.memory_limit,
        n_jobs=getattr(model, "n_jobs", None),
        monitor=Monitor(limit, progress, getattr(model, "callback", None)),
    )


def class_factors(who: str, class_weight: Any, labels: Array) -> Array:
    """Return the weight of the class of each point; labels: the classes, or a table of 0 and 1."""
    try:
        return np.asarray(compute_sample_weight(class_weight, labels))
    except ValueError as error:  # such as a class that is not there
        known = show(np.unique(labels).tolist())
        must = f"class_weight must be 'balanced' or have weights for the classes {known}"
        got = f"{show(class_weight)} ({error})"
        raise InputError(sentence(who, must, got)) from None


def splits_of(who: str, cv: Any, truth: Array, groups: Any, classes: bool) -> list[Any]:
    """Return the (train, test) rows that cv stands for; classes: whether to keep their shares."""
    members = None if groups is None else checks.array(who, "groups", groups)
    if members is not None and len(members) != len(truth):
        must = f"groups must have one entry for each of the {len(truth)} points"
        raise InputError(sentence(who, must, len(members)))
    try:
        splitter = check_cv(cv, truth, classifier=classes)
        splits = [(train, test) for train, test in splitter.split(truth, truth, members)]
        for rows in (rows for pair in splits for rows in pair):
            _check_rows(np.asarray(rows), len(truth))
    except (TypeError, ValueError, AttributeError) as error:
        must = "cv must be a number of folds, a splitter or a list of (train, test)"
        raise InputError(sentence(who, must, f"{show(cv)} ({error})")) from None
    return splits


def _check_rows(rows: Array, n: int) -> None:
    """Refuse what chooses no rows of n: neither numbers of rows nor a mask."""
    if rows.dtype == bool and rows.shape == (n,):
        return
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise ValueError(f"{show(rows)} are no rows")
    if len(rows) and (rows.min() < -n or rows.max() >= n):
        raise ValueError(f"rows from {rows.min()} to {rows.max()} of {n}")


def is_usual(value: Any, usual: Any) -> bool:
    """Return whether a parameter has its default, whatever a user has put there."""
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return bool(value is usual or value == usual)
    return False
