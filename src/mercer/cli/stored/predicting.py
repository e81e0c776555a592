"""Predictions of any number of rows, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array, nearest
from ...data import Dataset, read_blocks
from ...data.formats import format_of_name
from ...files import Outside
from ..errors import data_error, usage
from ..learn.training import Reading
from .models import Stored, chances, class_names

if TYPE_CHECKING:
    import polars

    from ..bars import Bar
    from ..screen import Screen

BLOCK = 20_000  # rows
SHOWN_WARNINGS = 10
EXACT = 2**53  # up to which a float is a whole number without doubt
TABLES = ("csv", "tsv", "parquet", "jsonl")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is wanted for each row.

    keep: columns of the data that are written beside the predictions. coverage: of an interval.
    """

    proba: bool = False
    std: bool = False
    coverage: float | None = None
    keep: Sequence[str] = ()


class Kept:
    """The columns of the data that are written beside the predictions."""

    def __init__(self, names: Sequence[str], who: str) -> None:
        self.names, self.who = names, who
        self._fractions: set[str] = set()  # those that have had a number that is not whole

    def columns(self, frame: Any) -> dict[str, Any]:
        """Return them for a block of the data."""
        if self.names and not hasattr(frame, "get_column"):
            raise usage(self.who, "--keep is for columns of tables", "other data")
        for name in self.names:
            if name not in frame.columns:
                must = f"--keep {name} must be a column of the data"
                raise data_error(self.who, must, "none of that name", nearest(name, frame.columns))
        return {name: self._as_written(frame.get_column(name)) for name in self.names}

    def _as_written(self, column: polars.Series) -> list[Any]:
        """Return the values of a column; numbers that have all been whole so far stay so."""
        values = column.to_list()
        if column.dtype.is_float() and column.name not in self._fractions:
            if all(one is None or (one.is_integer() and abs(one) < EXACT) for one in values):
                return [None if one is None else int(one) for one in values]
            self._fractions.add(column.name)
        return values


class Predictor:
    """Predicts blocks of rows, and notes what is outside of what the model knows."""

    def __init__(self, stored: Stored, asked: Asked, who: str) -> None:
        self.stored, self.asked, self.who = stored, asked, who
        self.rows = 0
        self.extra: list[str] = []
        self._kept = Kept(asked.keep, who)
        self._watch = None if stored.card is None else Outside(stored.card)
        self._chances = chances(stored, who) if asked.proba else None
        self._check()

    def _check(self) -> None:
        """Refuse what the model cannot tell, before any row is read."""
        asked, last = self.asked, self.stored.last
        if (asked.std or asked.coverage) and self.stored.is_classifier:
            option = "--std" if asked.std else "--interval"
            must = f"{option} is for models of numbers"
            raise usage(self.who, must, type(last).__name__, "For classes write --proba.")
        has_std, has_interval = hasattr(last, "_posterior"), hasattr(last, "predict_interval")
        if asked.std and not has_std:
            advice = "Write --interval 0.9." if has_interval else "Fit with --model ridge."
            must = "the model must know its standard deviation for --std"
            raise usage(self.who, must, type(last).__name__, advice)
        if asked.coverage and not (has_std or has_interval):
            must = "the model must know how far off it may be for --interval"
            raise usage(self.who, must, type(last).__name__, "Fit with --model auto or ridge.")

    def blocks(self, source: str, reading: Reading, bar: Bar) -> Iterator[dict[str, Any]]:
        """Yield columns of predictions for each block of a file."""
        for block in read_blocks(source, rows=BLOCK, **self.options(source, reading)):
            yield self._one(block)
            bar.tell(f"{self.rows:,} rows")

    def points(self, found: Dataset) -> Any:
        """Return what the model takes of data, looked at."""
        points, _ = self.pair_of(found)
        if self._watch is not None:
            self._watch.add(points)
        return points

    def options(self, source: str, reading: Reading) -> dict[str, Any]:
        """Return how data is to be read so that it is like that of the fit."""
        options, card = reading.options(), self.stored.card
        width = getattr(self.stored.last, "n_features_in_", None)
        if self.stored.points in ("", "matrix") and width is not None:
            options["n_features"] = int(width)
        if card is not None and card.points == "table":
            self._require_table(source, options.get("format"))
            kinds = {column.name: column.kind for column in card.columns}
            options["types"] = {name: kind for name, kind in kinds.items() if kind != "drop"}
        return options

    def _require_table(self, source: str, given: str | None) -> None:
        """Refuse a file that cannot be a table."""
        name = given or format_of_name(Path(source))
        if name not in (None, *TABLES):
            must = "the data must be a table, as that of the fit was"
            raise data_error(self.who, must, f"{source!r}, of format {name}")

    def _one(self, block: Dataset) -> dict[str, Any]:
        points, kept = self.pair_of(block)
        if self._watch is not None:
            self._watch.add(points)
        found = self._kept.columns(kept)
        found |= self._answers(points)
        self.rows += len(block)
        return found

    def pair_of(self, block: Dataset) -> tuple[Any, Any]:
        """Return what the model takes of a block, and the block itself."""
        names = self.stored.columns
        if block.kind != "table" or names is None:
            return block.X, block.X
        frame: Any = block.X
        missing = [name for name in names if name not in frame.columns]
        needed = [name for name in missing if name in self.stored.needed]
        if needed:
            got = f"none called {', '.join(map(repr, needed[:5]))}"
            must = "the data must have the columns of the fit"
            raise data_error(self.who, must, got, nearest(needed[0], frame.columns))
        self._note_extra(frame.columns, names)
        return frame.select([name for name in names if name in frame.columns]), frame

    def _note_extra(self, given: Sequence[str], names: Sequence[str]) -> None:
        known = {*names, *self.asked.keep, *([self.stored.card.target] if self.stored.card else [])}
        self.extra = [name for name in given if name not in known]

    def _answers(self, points: Any) -> dict[str, Any]:
        """Return the columns of predictions."""
        model, asked = self.stored.model, self.asked
        found: dict[str, Any] = {}
        if asked.std or (asked.coverage and not hasattr(model, "predict_interval")):
            values, deviation = model.predict(points, return_std=True)
            found |= _numbers("prediction", np.asarray(values))
            if asked.std:
                found |= _numbers("std", np.asarray(deviation))
            if asked.coverage:
                half = _quantile(asked.coverage) * np.asarray(deviation)
                found |= _numbers("low", values - half) | _numbers("high", values + half)
            return found
        found |= _numbers("prediction", np.asarray(model.predict(points)))
        if asked.coverage:
            low, high = model.predict_interval(points, coverage=asked.coverage)
            found |= _numbers("low", low) | _numbers("high", high)
        if self._chances is not None:
            shares = np.asarray(self._chances(points))
            for place, name in enumerate(class_names(self.stored)):
                found[f"probability {name}"] = shares[:, place]
        return found

    def tell(self, screen: Screen) -> None:
        """Say what the model had not seen in its training."""
        if self.extra:
            shown = ", ".join(map(repr, self.extra[:5])) + (", …" if len(self.extra) > 5 else "")
            screen.note(f"Columns that the model does not know are ignored: {shown}.")
        lines = self.outside
        for line in lines[:SHOWN_WARNINGS]:
            screen.warn(line)
        if len(lines) > SHOWN_WARNINGS:
            more = len(lines) - SHOWN_WARNINGS
            screen.warn(f"It is alike in {more:,} more columns, which --json lists.")

    @property
    def outside(self) -> list[str]:
        """What was outside, in sentences."""
        return [] if self._watch is None else self._watch.sentences()


def _numbers(name: str, values: Array) -> dict[str, Array]:
    """Return one column, or one for each output."""
    if values.ndim == 1:
        return {name: values}
    return {f"{name} {place}": values[:, place] for place in range(values.shape[1])}


def _quantile(coverage: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf(0.5 + coverage / 2))
