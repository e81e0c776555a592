"""What is to be learnt: numbers and classes, from lists, arrays and columns of data frames."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from ... import checks
from ...checks import Array, InputError, InputTypeError, sentence
from ...monitor import warn
from .parameters import class_factors

CLASSES = "hold classes, one for each point"


def given(who: str, y: Any) -> Any:
    """Return y, dense; refuse None in the words that scikit-learn's tests expect."""
    if y is None:
        raise InputError(f"{who} requires y to be passed, but the target y is None.")
    y = checks.here(y)
    return y.toarray() if hasattr(y, "toarray") else y


def _as_vector(column: Array) -> Array:
    """Return a table of one column as a vector, with the warning that scikit-learn gives."""
    warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples, ), for example using ravel().",
        DataConversionWarning,
    )
    return column.ravel()


def numbers_of(model: Any, y: Any, n: int) -> tuple[Array, bool]:
    """Return the numbers that a model is to predict, one column per output, and whether y was 1-D.

    Models of several outputs take a table of one column as one of them. `model._sizes` bounds the
    largest number, whose square is to be one, too.
    """
    who = type(model).__name__
    values = checks.floats(who, "y", given(who, y))
    if values.ndim == 2 and values.shape[1] == 1 and not isinstance(model, MultiOutputMixin):
        values = _as_vector(values)
    if values.ndim not in (1, 2) or values.shape[0] != n:
        must = f"y must have one row for each of the {n} points"
        raise InputError(sentence(who, must, f"shape {values.shape}"))
    if values.ndim == 2 and values.shape[1] == 0:
        raise InputError(sentence(who, "y must have a column", f"shape {values.shape}"))
    checks.finite(who, values, what="y")
    _check_size(who, values, *model._sizes)
    return values.reshape(n, -1).copy(), values.ndim == 1  # y may change afterwards


def _check_size(who: str, values: Array, least: float, most: float) -> None:
    """Refuse numbers to predict that are too large or too small to compute with."""
    size = float(np.abs(values).max(initial=0.0))
    if size > most or 0 < size < least:
        bounds = f"{least:g} to {most:g}" if least else f"0 to {most:g}"
        must = f"the largest y, without its sign, must be from {bounds}"
        advice = "Divide y by it, and multiply the predictions."
        raise InputError(sentence(who, must, f"{size:.3g}", advice))


def is_single(y: Any) -> bool:
    """Return whether all numbers to predict are in single precision."""
    return bool(np.asarray(y).dtype == np.float32)


def as_labels(who: str, y: Any, n: int) -> Array:
    """Return the class of every point, as given."""
    labels = checks.array(who, "y", given(who, y), CLASSES)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = _as_vector(labels)
    if labels.ndim != 1:
        must = "y must be 1-D, one class for each point"
        raise InputError(sentence(who, must, f"shape {labels.shape}"))
    if len(labels) != n:
        raise InputError(sentence(who, f"y must have {n} labels", len(labels)))
    missing = checks.first_missing(labels)
    if missing is not None:
        index, count = missing
        rows = "row" if count == 1 else "rows"
        got = f"{checks.show(labels[index])} in row {index} ({count} such {rows})"
        advice = "Drop the points whose class is not known, or give them a class of their own."
        raise InputError(sentence(who, "y must have a class for every point", got, advice))
    if labels.dtype.kind == "O" and all(isinstance(label, Real | np.bool_) for label in labels):
        labels = np.array(labels.tolist())  # numbers that came as objects are numbers
    if labels.dtype.kind == "f":
        checks.vector(who, "y", labels, n)
    return labels


def as_indicators(who: str, y: Any, n: int) -> Array | None:
    """Return y as a table of 0 and 1, a column for each of several labels; None for classes."""
    table = checks.array(who, "y", given(who, y), CLASSES)
    if table.ndim != 2 or table.shape[1] < 2 or table.dtype.kind not in "biuf":
        return None
    checks.finite(who, table, what="y")
    if type_of_target(table, input_name="y") != "multilabel-indicator":
        return None
    if len(table) != n:
        raise InputError(sentence(who, f"y must have {n} rows", len(table)))
    return np.asarray(table.astype(int))


def as_classes(who: str, y: Any, n: int) -> tuple[Array, Array]:
    """Return the classes and the class number of every point; there must be two classes."""
    labels = as_labels(who, y, n)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError):
        raise _several_types(who, labels) from None
    try:
        # Whole numbers and words are classes; where nearly each point has its own, it warns.
        if labels.dtype.kind not in "biuU" or 2 * len(classes) > len(labels):
            check_classification_targets(labels)
    except ValueError as error:
        advice = f"{error} Round or bin the numbers, or take a model of regression."
        got = f"{checks.show(labels[0])} in row 0, dtype {labels.dtype}"
        raise InputError(sentence(who, "y must hold classes", got, advice)) from None
    if len(classes) < 2:
        got = f"1 class, {checks.show(classes[0])}"
        raise InputError(sentence(who, "y must have at least two classes", got))
    return classes, codes


def class_weighted(model: Any, labels: Array, weight: Array | None) -> Array | None:
    """Return the weights of points times those of their classes; None: all are 1."""
    if model.class_weight is None:
        return weight
    factor = class_factors(type(model).__name__, model.class_weight, labels)
    return factor if weight is None else weight * factor


def class_totals(who: str, classes: Array, codes: Array, weight: Array | None) -> Array:
    """Return the weight of each class; refuse a class without any."""
    totals = np.bincount(codes, weight, len(classes))
    if (totals == 0).any():
        must = "every class must have a sample with a positive weight"
        got = f"class {checks.show(classes[int(np.argmin(totals))])} with weights that are all zero"
        advice = "Drop the class, or give one of its samples a weight."
        raise InputError(sentence(who, must, got, advice))
    return totals


def _several_types(who: str, labels: Array) -> InputTypeError:
    """Return the error of labels that cannot be put in order."""
    first = type(labels[0])
    other = next((i for i, label in enumerate(labels) if type(label) is not first), 0)
    got = f"{checks.show(labels[0])} ({first.__name__}) in row 0"
    if other:
        got += f" and {checks.show(labels[other])} ({type(labels[other]).__name__}) in row {other}"
    must = "the classes of y must be words, or numbers, that have an order"
    return InputTypeError(
        sentence(who, must, got, "Convert them to text with [str(c) for c in y].")
    )
