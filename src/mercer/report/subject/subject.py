"""The model and its data, checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ... import checks
from ...checks import Array, InputError, InputTypeError, sentence
from ...models.contract.targets import as_labels
from ...tables import AutoKernelClassifier, AutoKernelRegressor, TableEncoder
from ...tables.encoder.columns import Table, read_table
from ...typing import LabelsLike, PointsLike, TargetsLike
from .points import size_of

WHO = "make_report"
AUTOMATIC = (AutoKernelClassifier, AutoKernelRegressor)


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """A fitted model with points and what is known of them.

    y: as it is fitted. truth: the number of the class of each point, or one column of numbers per
    output. classes: None for numbers. table: the columns of the points; None where they are none.
    target: the name of what is predicted, "" where it is not known.
    """

    model: Any
    X: Any
    y: Array
    truth: Array
    classes: Array | None
    groups: Array | None
    table: Table | None
    target: str

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def is_automatic(self) -> bool:
        """Whether the model is an ensemble that was found by mercer."""
        return isinstance(self.model, AUTOMATIC)

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes as texts."""
        return () if self.classes is None else tuple(str(label) for label in self.classes)

    @property
    def codes(self) -> Array | None:
        """The number of the class of each point; None for numbers."""
        return None if self.classes is None else self.truth

    @property
    def is_pairwise(self) -> bool:
        """Whether X is a Gram matrix."""
        tags = getattr(self.model, "__sklearn_tags__", None)
        return tags is not None and bool(tags().input_tags.pairwise)

    @cached_property
    def encoder(self) -> TableEncoder | None:
        """What the columns of the table are: by the model's own encoder, or by a guess."""
        if self.table is None:
            return None
        found = _own_encoder(self.model)
        return TableEncoder().fit(self.table) if found is None else found

    def encode(self, rows: Array) -> Array:
        """Return some rows of the table as numbers."""
        if self.encoder is None or self.table is None:
            raise InputError(sentence(WHO, "X must be a table", "other points"))
        return np.asarray(self.encoder.transform(self.table.take(rows)), dtype=np.float64)


def last_of(model: Any) -> Any:
    """Return the best model of a search, and of a pipeline the last step."""
    model = getattr(model, "best_estimator_", model)
    return last_of(model[-1]) if isinstance(model, Pipeline) else model


def _own_encoder(model: Any) -> TableEncoder | None:
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, AUTOMATIC):
        return model.encoders_["standard"]
    first = model[0] if isinstance(model, Pipeline) else None
    return first if isinstance(first, TableEncoder) else None


def make_subject(model: Any, X: PointsLike, y: Any, groups: LabelsLike | None = None) -> Subject:
    """Return the model with its data, or say what must be handed in."""
    if not (is_classifier(model) or is_regressor(model)):
        must = "model must be a fitted classifier or regressor"
        raise InputTypeError(sentence(WHO, must, type(model).__name__))
    check_is_fitted(model)
    n = size_of(X)
    if n < 2:
        raise InputError(sentence(WHO, "there must be at least two points", n))
    classes = np.asarray(model.classes_) if is_classifier(model) else None
    known = checks.array(WHO, "y", y) if classes is None else as_labels(WHO, y, n)
    return Subject(
        model=model,
        X=X,
        y=known,
        truth=_numbers(known, n) if classes is None else _codes(known, classes),
        classes=classes,
        groups=None if groups is None else _group_numbers(groups, n),
        table=_table_of(model, X),
        target=str(getattr(y, "name", None) or ""),
    )


def same_kind(subject: Subject, X: PointsLike, y: TargetsLike | LabelsLike | None) -> Subject:
    """Return other points of the same kind as those of a subject, with the same model.

    Without y the truth is empty.
    """
    n = size_of(X)
    truth, known = np.empty((0, 1)), np.empty(0)
    if y is not None and subject.classes is not None:
        known = as_labels(WHO, y, n)
        truth = _codes(known, subject.classes)
    elif y is not None:
        known = checks.array(WHO, "y_test", y)
        truth = _numbers(known, n)
    table = None if subject.table is None else read_table(X, WHO)
    return Subject(
        model=subject.model,
        X=X,
        y=known,
        truth=truth,
        classes=subject.classes,
        groups=None,
        table=table,
        target=subject.target,
    )


def _numbers(y: Array, n: int) -> Array:
    values = np.asarray(y, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.shape[0] != n or values.ndim != 2:
        must = f"y must have a number for each of the {n} points"
        raise InputError(sentence(WHO, must, f"shape {y.shape}"))
    checks.finite(WHO, values, what="y")
    return values


def _codes(labels: Array, classes: Array) -> Array:
    """Return the number of the class of each point."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    found = [places.get(label, -1) for label in labels.tolist()]
    if -1 in found:
        must = f"every class must be one of those of the model, {checks.show(classes.tolist())}"
        got = f"{checks.show(labels[found.index(-1)])} in row {found.index(-1)}"
        raise InputError(sentence(WHO, must, got))
    return np.array(found, dtype=np.intp)


def _group_numbers(groups: LabelsLike, n: int) -> Array:
    members = checks.array(WHO, "groups", groups)
    if members.shape != (n,):
        must = f"groups must have one entry for each of the {n} points"
        raise InputError(sentence(WHO, must, f"shape {members.shape}"))
    found = np.asarray(np.unique(members, return_inverse=True)[1])
    if found.max() == 0:
        raise InputError(sentence(WHO, "groups must name at least two groups", "one"))
    return found


def _table_of(model: Any, X: Any) -> Table | None:
    """Return the columns of a table; None where points are something else."""
    tags = getattr(model, "__sklearn_tags__", None)
    if tags is not None and tags().input_tags.pairwise:
        return None
    try:
        table = read_table(X, WHO)
    except InputError:
        return None
    known = {"numbers", "booleans", "dates", "text", "nothing"}
    return table if any(column.form in known for column in table.columns) else None
