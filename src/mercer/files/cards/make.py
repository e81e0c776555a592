"""A card from a model and what it was fitted to."""

from __future__ import annotations

import dataclasses
import math
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.pipeline import Pipeline

from ...checks import Array, InputError
from ...inputs import Graph, Tree
from ...tables.encoder import TableEncoder
from ...tables.encoder.columns import Table, read_table
from ...typing import LabelsLike, PointsLike, TargetsLike
from . import rules
from .columns import card_columns
from .record import CardScore, ModelCard
from .words import certificate_words

PACKAGES = ("mercer", "numpy", "scipy", "scikit-learn")


def make_card(
    model: Any,
    X: PointsLike,
    y: TargetsLike | LabelsLike | None = None,
    *,
    target: str | None = None,
    source: str = "",
    sha256: str = "",
    scores: Sequence[CardScore] = (),
    baselines: Sequence[CardScore] = (),
    notes: Sequence[str] = (),
    command: str = "",
    seed: int | None = None,
    created: str | None = None,
) -> ModelCard:
    """Return a card that says what a fitted model was fitted to.

    Columns, their kinds and ranges, classes, kernel, certificate and versions are found out; the
    rest is handed in. Names and levels of columns, ranges and classes are data: they are in the
    file of a model with a card, as training points are.

    Parameters
    ----------
    model : estimator
        A fitted model of mercer, or a pipeline that ends in one.
    X : array-like, sparse matrix, data frame or sequence of objects
        The n training points.
    y : array-like of shape (n,) or (n, n_outputs), default=None
        What was to be predicted.
    target : str, default=None
        Its name.
    source : str, default=""
        The name of the data; of a path only the last part is kept.
    sha256 : str, default=""
        The SHA-256 of the bytes of the data, in hexadecimal digits.
    scores : sequence of CardScore, default=()
        How good the model is.
    baselines : sequence of CardScore, default=()
        How good simpler models are.
    notes : sequence of str, default=()
        What else should be known.
    command : str, default=""
        The command line that made the model.
    seed : int, default=None
        The seed of whatever was random.
    created : str, default=None
        The date, as in 2026-03-09.

    Returns
    -------
    ModelCard
        The card, which `save` takes.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.files import make_card
    >>> X, y = [[0.0, 5.0], [1.0, 7.0], [3.0, 6.0]], ["no", "yes", "yes"]
    >>> card = make_card(SVC().fit(X, y), X, y, target="sold")
    >>> card.task, card.classes, card.columns[1].low, card.columns[1].high
    ('classification', ('no', 'yes'), 5.0, 7.0)
    """
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    certificate = getattr(last, "certificate_", None)
    points, table = _points(X)
    return ModelCard(
        task=_task(last),
        points=points,
        rows=_length(X),
        columns=() if table is None else card_columns(table, _kinds(model)),
        target=None if target is None else target[: rules.TEXT_LIMIT],
        source=source.replace("\\", "/").rstrip("/").rpartition("/")[2][: rules.TEXT_LIMIT],
        sha256=sha256,
        estimator=type(last).__name__,
        kernel=repr(getattr(last, "kernel_", ""))[: rules.COMMAND_LIMIT].strip("'"),
        scores=tuple(scores),
        baselines=tuple(baselines),
        certificate=certificate_words(certificate)[: rules.TEXT_LIMIT],
        figures=_figures(certificate),
        notes=tuple(note[: rules.TEXT_LIMIT] for note in notes)[: rules.ITEM_LIMIT],
        versions=_versions(),
        command=command[: rules.COMMAND_LIMIT],
        seed=seed,
        created=created,
        **_targets(last, y),
    )


def _task(model: Any) -> str:
    kind = getattr(model, "_estimator_type", None)
    if kind is None and hasattr(model, "__sklearn_tags__"):
        kind = model.__sklearn_tags__().estimator_type
    return {"classifier": "classification", "regressor": "regression"}.get(str(kind), "")


def _length(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def _points(X: Any) -> tuple[str, Table | None]:
    """Return what kind of data this is, and its columns where it has any."""
    if scipy.sparse.issparse(X):
        return "matrix", None
    first = X[0] if isinstance(X, list | tuple) and len(X) else None
    if isinstance(first, str | bytes):
        return "strings", None
    if isinstance(first, Tree | Graph):
        return "trees" if isinstance(first, Tree) else "graphs", None
    try:
        table = read_table(X, "ModelCard")
    except InputError:
        return "matrix", None
    return "matrix" if table.names is None else "table", table


def _kinds(model: Any) -> dict[str, str] | None:
    """Return the kinds of columns that the encoder of a model has found, by name."""
    encoder = next(iter(getattr(model, "encoders_", {}).values()), None)
    for _, step in model.steps if isinstance(model, Pipeline) else ():
        encoder = step if isinstance(step, TableEncoder) else encoder
    if not isinstance(encoder, TableEncoder):
        return None
    return {column.name: column.kind if column.codes else "drop" for column in encoder.columns_}


def _targets(model: Any, y: Any) -> dict[str, Any]:
    """Return classes with their numbers of rows, or the range of numbers."""
    if hasattr(model, "classes_"):
        labels = model.classes_
        if not isinstance(labels, np.ndarray) or len(labels) > rules.CLASS_LIMIT:
            return {}
        texts = tuple(str(one)[: rules.TEXT_LIMIT] for one in labels.tolist())
        given = None if y is None else np.asarray(y)
        if given is None or given.ndim != 1:
            return {"classes": texts}
        counts = tuple(int(np.count_nonzero(given == one)) for one in labels)
        return {"classes": texts, "class_rows": counts}
    if y is None or _task(model) != "regression":
        return {}
    numbers: Array = np.asarray(y, dtype=np.float64)
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        return {}
    return {"target_range": (float(numbers.min()), float(numbers.max()))}


def _figures(certificate: Any) -> dict[str, float]:
    """Return the numbers of a certificate that are finite."""
    if not dataclasses.is_dataclass(certificate):
        return {}
    values = {one.name: getattr(certificate, one.name) for one in dataclasses.fields(certificate)}
    return {
        name: value if isinstance(value, int) else float(value)
        for name, value in values.items()
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and name not in ("seconds",)  # the same fit must give the same file
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a package may be there without its metadata
            continue
    return found
