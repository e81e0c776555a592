"""Training data as a command asks for it: points, target, groups, in the order of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array, nearest
from ...data import Dataset, read
from ...data.reading import MISSING
from ..errors import CommandError, data_error, usage
from .tasks import Task, decide_task

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a data file is to be read."""

    data_format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    no_header: bool = False

    def options(self) -> dict[str, Any]:
        """Return what `read` is called with."""
        given = {
            "format": self.data_format,
            "delimiter": _character(self.delimiter),
            "encoding": self.encoding,
            "header": False if self.no_header else None,
        }
        found: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if self.missing:
            found["missing"] = (*MISSING, *self.missing)
        return found


def _character(delimiter: str | None) -> str | None:
    r"""Return a delimiter; \t and the word tab are a tabulator, which few can type."""
    return "\t" if delimiter in ("\\t", "tab") else delimiter


@dataclass(frozen=True, kw_only=True, eq=False)
class Training:
    """What a model is fitted to.

    read: the file. X: without the columns that were taken out. groups: the group of each row, or
    None. by_time: whether rows are in the order of time. notes: what was done, in sentences.
    """

    read: Dataset
    X: Any
    task: Task
    groups: Array | None
    by_time: bool
    taken: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def y(self) -> Array:
        """The target."""
        return self.task.y

    @property
    def target(self) -> str:
        """The name of the target."""
        return self.read.target or "target"

    def kept_types(self, types: dict[str, str] | None) -> dict[str, str]:
        """Return the types of columns that are there; those to be dropped have not been read."""
        if self.read.kind != "table":
            return {}
        return {name: kind for name, kind in (types or {}).items() if name in self.X.columns}


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Columns that are not for the model, by name."""

    target: str | None = None
    group: str | None = None
    time: str | None = None
    types: dict[str, str] | None = None


def read_training(
    source: str, columns: Columns, reading: Reading, asked: str, who: str
) -> Training:
    """Read a file and take out of it what is not for the model."""
    options = reading.options()
    if columns.types:
        options["types"] = columns.types
    found = read(source, target=columns.target, **options)
    if found.y is None:
        raise no_target(found, who)
    special = _special(columns, found, who)
    X: Any = found.X
    y, groups, notes = found.y, None, []
    if columns.time is not None:
        order = _order_of_time(X, columns.time, who)
        X, y = X[order], y[order]
        notes.append(
            f"Rows are in the order of {columns.time!r}; the last are judged by the first."
        )
    if columns.group is not None:
        groups = _groups(X, columns.group, who)
        notes.append(
            f"Rows of one {columns.group!r} are judged together: {groups.max() + 1} groups."
        )
    if special:
        X = X.drop(special)
        if not X.columns:
            raise data_error(who, "there must be columns left to learn from", "none")
    task = decide_task(y, found.target or "target", asked, who)
    return Training(
        read=found,
        X=X,
        task=task,
        groups=groups,
        by_time=columns.time is not None,
        taken=tuple(special),
        notes=tuple(notes),
    )


def _special(columns: Columns, found: Dataset, who: str) -> list[str]:
    """Return the columns of groups and of time, which must be there."""
    special = [name for name in (columns.group, columns.time) if name is not None]
    if special and found.kind != "table":
        raise usage(who, "--group and --time are for tables", f"{found.kind} in {found.source!r}")
    for name in special:
        _require_column(found.X, name, found.target, who)
    return special


def no_target(found: Dataset, who: str) -> CommandError:
    """Return the error of data without a target, with what to do about it."""
    advice = "Put a label to each of them: docs/data-files.md says where."
    if found.kind in ("table", "matrix"):
        names = ", ".join(repr(column.name) for column in found.columns[:8])
        more = ", …" if len(found.columns) > 8 else ""
        advice = f"Name its column with --target: {names}{more}." if names else "Name it."
    return data_error(who, "there must be a target", f"none in {found.source!r}", advice)


def _require_column(X: Any, name: str, target: str | None, who: str) -> None:
    if name == target:
        raise usage(who, f"{name!r} must have one purpose", "the target as well")
    if name not in X.columns:
        must = f"{name!r} must be a column of the table"
        raise data_error(who, must, "none of that name", nearest(name, X.columns))


def _order_of_time(X: polars.DataFrame, name: str, who: str) -> Array:
    column = X.get_column(name)
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        must = f"the column {name!r} must hold dates or numbers for --time"
        raise data_error(who, must, f"{column[0]!r} first")
    if column.null_count():
        must = f"the column {name!r} must have a time in every row"
        raise data_error(who, must, f"{column.null_count()} rows without one")
    return np.asarray(column.to_frame().with_row_index().sort(name, maintain_order=True)["index"])


def _groups(X: polars.DataFrame, name: str, who: str) -> Array:
    words = np.array([str(one) for one in X.get_column(name).to_list()])
    found = np.unique(words, return_inverse=True)[1]
    if found.max() == 0:
        must = f"the column {name!r} must name at least two groups"
        raise data_error(who, must, "one")
    return np.asarray(found)
