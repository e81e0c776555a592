"""What the columns of a table are, and the target."""

from __future__ import annotations

import datetime
import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...checks import Array
from ...tables import TableColumn, TableEncoder
from ...tables.encoder.apply import read_column
from ...tables.encoder.columns import DROP, Table, Values
from ..subject import Subject

BARS = 16  # of a histogram, at most
LEVELS = 8  # of a category that are counted one by one
_MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number without a pattern
_EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True, kw_only=True)
class ColumnFacts:
    """One column.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        "number", "boolean", "category", "date", "text", or "drop" where it is left out.
    missing : float
        The share of the rows without a value.
    distinct : int
        How many different values there are.
    low : float or str or None
        The smallest number or the first date.
    middle : float or str or None
        The median.
    high : float or str or None
        The largest number or the last date.
    levels : tuple of tuple
        The most frequent levels of a category, each with its number of rows.
    bars : tuple of int
        How many rows are in each of equally wide parts of the range, or of each of `levels`.
    note : str
        What is to be known of it, such as why it is left out.
    """

    name: str
    kind: str
    missing: float
    distinct: int
    low: float | str | None
    middle: float | str | None
    high: float | str | None
    levels: tuple[tuple[str, int], ...]
    bars: tuple[int, ...]
    note: str


@dataclass(frozen=True, kw_only=True)
class DataFacts:
    """The data that a model was fitted to.

    Attributes
    ----------
    rows : int
        How many points there are.
    columns : tuple of ColumnFacts
        The columns; empty where points are not rows of a table.
    target : ColumnFacts
        What is predicted.
    outputs : int
        How many numbers are predicted for each point.
    points : str
        What points are, in words.
    duplicates : int or None
        How many rows are copies of an earlier row, without the target.
    conflicts : int or None
        How many rows have a copy with another target.
    """

    rows: int
    columns: tuple[ColumnFacts, ...]
    target: ColumnFacts
    outputs: int
    points: str
    duplicates: int | None
    conflicts: int | None


def data_facts(subject: Subject) -> DataFacts:
    """Return what the data are."""
    table, encoder = subject.table, subject.encoder
    columns: list[ColumnFacts] = []
    if table is not None and encoder is not None:
        known = {column.name: column for column in encoder.columns_}
        for position, values in enumerate(table.columns):
            name = table.label(position)
            column = known.get(name)
            facts = _column_facts(name, values, column)
            columns.append(replace(facts, kind=DROP) if _is_out(column, encoder) else facts)
    duplicates, conflicts = _copies(subject)
    return DataFacts(
        rows=len(subject),
        columns=tuple(columns),
        target=_target_facts(subject),
        outputs=1 if subject.classes is not None else subject.truth.shape[1],
        points=_points(subject),
        duplicates=duplicates,
        conflicts=conflicts,
    )


def _is_out(column: TableColumn | None, encoder: TableEncoder) -> bool:
    """Return whether a column is left out; a kernel may take texts that the matrix is without."""
    if column is None or column.kind == DROP:
        return True
    return column.start == column.stop and not (column.kind == "text" and encoder.text == "kernel")


def _points(subject: Subject) -> str:
    if subject.table is not None:
        return "rows of a table"
    if subject.is_pairwise:
        return "points known by their kernel values"
    shape = getattr(subject.X, "shape", None)
    if shape is not None and len(shape) == 2:
        return f"sparse rows of {shape[1]:,d} numbers"
    kinds = sorted({type(one).__name__ for one in list(subject.X)[:100]})
    return f"objects of type {' or '.join(kinds)}"


def _column_facts(name: str, values: Values, column: TableColumn | None) -> ColumnFacts:
    kind = DROP if column is None else column.kind
    data: Any = values.data
    if column is not None and kind != DROP:
        data = read_column(column, values, f"make_report, column {name!r}")
    elif values.form not in ("numbers", "booleans", "dates", "text", "nothing"):
        data = np.full(len(values), np.nan)
    note = "" if column is None else column.note
    if isinstance(data, list):
        return _of_texts(name, kind, data, note)
    is_date = kind == "date" or (kind == DROP and values.form == "dates")
    return _of_numbers(name, kind, np.asarray(data, dtype=np.float64), note, is_date)


def _of_texts(name: str, kind: str, data: list[str | None], note: str) -> ColumnFacts:
    counts: dict[str, int] = {}
    for text in data:
        if text is not None:
            counts[text] = counts.get(text, 0) + 1
    order = sorted(counts, key=lambda text: (-counts[text], text))
    top = tuple((text, counts[text]) for text in order[:LEVELS])
    rest = sum(counts[text] for text in order[LEVELS:])
    show = kind != "text"
    return ColumnFacts(
        name=name,
        kind=kind,
        missing=sum(text is None for text in data) / max(len(data), 1),
        distinct=len(counts),
        low=None,
        middle=None,
        high=None,
        levels=top if show else (),
        bars=tuple(size for _, size in top) + ((rest,) if rest else ()) if show else (),
        note=note,
    )


def _of_numbers(name: str, kind: str, data: Array, note: str, is_date: bool) -> ColumnFacts:
    known = data[np.isfinite(data)]
    distinct = len(np.unique(known))
    low = middle = high = None
    bars: tuple[int, ...] = ()
    if len(known):
        low, middle, high = float(known.min()), float(np.median(known)), float(known.max())
        if high > low and np.isfinite(high - low):
            bars = tuple(np.histogram(known, bins=min(BARS, max(distinct, 2)))[0].tolist())
    ends: list[Any] = [low, middle, high]
    if is_date and low is not None and high is not None:
        ends = [date_text(one, high - low) for one in ends]
    return ColumnFacts(
        name=name,
        kind=kind,
        missing=float(1.0 - len(known) / max(len(data), 1)),
        distinct=distinct,
        low=ends[0],
        middle=ends[1],
        high=ends[2],
        levels=(),
        bars=bars,
        note=note,
    )


def date_text(seconds: float, span: float = 0.0) -> str:
    """Return an instant as text, with the time of day where all are within a few days."""
    try:
        found = _EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return f"{seconds:g} s"
    return found.isoformat(" ", "minutes") if span < 4 * 86400 else found.date().isoformat()


def _target_facts(subject: Subject) -> ColumnFacts:
    name = subject.target or "the target"
    if subject.classes is None:
        return _of_numbers(name, "number", subject.truth[:, 0], "", False)
    labels = subject.labels
    counts = np.bincount(subject.truth, minlength=len(labels))
    order = np.argsort(-counts, kind="stable")
    return ColumnFacts(
        name=name,
        kind="category",
        missing=0.0,
        distinct=int((counts > 0).sum()),
        low=None,
        middle=None,
        high=None,
        levels=tuple((labels[place], int(counts[place])) for place in order),
        bars=tuple(counts[order].tolist()),
        note="",
    )


# --- copies of rows --------------------------------------------------------------------------


def row_keys(subject: Subject) -> Array | None:
    """Return a number for each point that is equal for equal points; None where nothing is.

    Hashes of 64 bits are as good as equality here: of a million rows two that differ would have
    the same one in one of ten million tables.
    """
    if subject.table is not None:
        found = np.zeros(len(subject.table), dtype=np.uint64)
        for values in subject.table.columns:
            found = (found ^ _keys(values)) * _MIX
            found ^= found >> np.uint64(29)
        return found
    if subject.is_pairwise or hasattr(subject.X, "shape"):
        return None
    try:
        return np.array([hash(one) for one in subject.X], dtype=np.int64).view(np.uint64)
    except TypeError:
        return None


def _keys(values: Values) -> Array:
    if isinstance(values.data, list):
        hashes = [hash(text) if text is not None else 0 for text in values.data]
        return np.array(hashes, dtype=np.int64).view(np.uint64)
    numbers = np.asarray(values.data, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
    return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)


def _copies(subject: Subject) -> tuple[int | None, int | None]:
    """Return how many rows are copies, and how many have a copy with another target."""
    keys = row_keys(subject)
    if keys is None:
        return None, None
    _, place, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    differs = np.zeros(len(sizes), dtype=bool)
    for target in np.atleast_2d(subject.truth.T):
        first = np.empty(len(sizes), dtype=target.dtype)
        first[place] = target  # one of the targets of equal rows
        differs[place[target != first[place]]] = True
    return int((sizes - 1).sum()), int(sizes[differs].sum())


def hash_of(subject: Subject) -> str | None:
    """Return the SHA-256 of the values of a table and its target; None for other points."""
    if subject.table is None:
        return None
    found = hashlib.sha256()
    table: Table = subject.table
    for position, values in enumerate(table.columns):
        found.update(repr((table.label(position), values.form)).encode())
        if isinstance(values.data, list):
            found.update(repr(values.data).encode())
        else:
            found.update(np.ascontiguousarray(values.data).astype("<f8").tobytes())
    found.update(repr([str(one) for one in subject.y.tolist()]).encode())
    return found.hexdigest()
