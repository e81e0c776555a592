"""New rows beside what a card says of the training rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from ...checks import Array, InputError
from ...tables.encoder.columns import DATE, Table, read_table
from ...typing import PointsLike
from .columns import date_text, readable
from .record import CardColumn
from .rules import date_seconds

if TYPE_CHECKING:
    from .record import ModelCard

SHOWN_LEVELS = 3
KEPT_LEVELS = 10_000  # different ones, beyond which new ones are only counted


@dataclass(kw_only=True)
class _Tally:
    """What was found in one column, over all rows so far."""

    column: CardColumn
    count: int = 0
    beyond: int = 0
    low: float = np.inf
    high: float = -np.inf
    missing: int = 0
    unseen: int = 0
    levels: Counter[str] = field(default_factory=Counter)

    def add(self, read: Array | list[str | None]) -> None:
        """Count values that are outside."""
        self.count += len(read)
        if isinstance(read, list):
            self._add_texts(read)
            return
        known = read[~np.isnan(read)]
        self.missing += len(read) - len(known)
        if self.column.low is None or not len(known):
            return
        low, high = self._range()
        self.beyond += int(np.count_nonzero((known < low) | (known > high)))
        self.low, self.high = min(self.low, known.min()), max(self.high, known.max())

    def _add_texts(self, texts: list[str | None]) -> None:
        counts = Counter(texts)
        self.missing += counts.pop(None, 0)
        if self.column.levels is None:
            return
        levels = set(self.column.levels)
        for text, count in counts.items():
            if text is not None and text not in levels:
                self.unseen += count
                if text in self.levels or len(self.levels) < KEPT_LEVELS:
                    self.levels[text] += count

    def _range(self) -> tuple[float, float]:
        low, high = self.column.low, self.column.high
        if self.column.kind == DATE:
            return date_seconds(str(low)), date_seconds(str(high))
        return float(low or 0.0), float(high or 0.0)

    def sentences(self) -> list[str]:
        """Return what is to be said of the column."""
        found, name = [], f"Column {self.column.name!r}"
        if self.beyond:
            found.append(
                f"{name}: {_of(self.beyond, self.count)} outside {self._shown(*self._range())}, "
                f"the range of the training rows ({self._ends()})."
            )
        if self.unseen:
            shown = ", ".join(
                f"{_short(text)} ({count})" for text, count in self.levels.most_common(SHOWN_LEVELS)
            )
            more = ", …" if len(self.levels) > SHOWN_LEVELS else ""
            found.append(
                f"{name}: {_of(self.unseen, self.count)} of levels that the training rows did not "
                f"have: {shown}{more}."
            )
        if self.missing and self.column.missing == 0.0:
            found.append(
                f"{name}: {_of(self.missing, self.count)} missing; no training row lacked one."
            )
        return found

    def _shown(self, *ends: float) -> str:
        return " to ".join(self._one(end) for end in ends)

    def _one(self, value: float) -> str:
        return date_text(value) if self.column.kind == DATE else f"{value:.6g}"

    def _ends(self) -> str:
        low, high = self._range()
        parts = [f"down to {self._one(self.low)}"] if self.low < low else []
        parts += [f"up to {self._one(self.high)}"] if self.high > high else []
        return " and ".join(parts)


def _of(count: int, total: int) -> str:
    return f"{count:,} of {total:,} values {'is' if count == 1 else 'are'}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


class Outside:
    """Counts, over any number of blocks of rows, the values that a card does not know.

    Parameters
    ----------
    card : ModelCard
        The card of the training rows.

    Examples
    --------
    >>> from mercer.files import CardColumn, ModelCard, Outside
    >>> town = CardColumn(name="town", kind="category", missing=0.0, levels=("Bern", "Oslo"))
    >>> card = ModelCard(task="regression", points="table", rows=90, columns=(town,))
    >>> watch = Outside(card)
    >>> watch.add([{"town": "Bern"}])
    >>> watch.add([{"town": "Rome"}, {"town": "Oslo"}])
    >>> print(*watch.sentences())
    Column 'town': 1 of 3 values is of levels that the training rows did not have: 'Rome' (1).
    """

    def __init__(self, card: ModelCard) -> None:
        self._tallies = {column.name: _Tally(column=column) for column in card.columns}
        self._names = [column.name for column in card.columns]

    def add(self, X: PointsLike) -> None:
        """Look at a block of rows.

        Parameters
        ----------
        X : data frame, array-like of shape (n, n_columns) or list of dicts
            The rows; of anything else nothing is said.
        """
        if not self._tallies or scipy.sparse.issparse(X):
            return
        try:
            table = read_table(X, "ModelCard")
        except InputError:
            return  # not a table: the model itself says what it takes
        for name, place in self._places(table).items():
            tally = self._tallies[name]
            read = readable(tally.column.kind, table.columns[place])
            if read is not None:
                tally.add(read)

    def _places(self, table: Table) -> dict[str, int]:
        """Return where the columns of the card are: by name, or by position without names."""
        if table.names is None:
            return {name: place for place, name in enumerate(self._names[: len(table.columns)])}
        return {name: place for place, name in enumerate(table.names) if name in self._tallies}

    def sentences(self) -> list[str]:
        """Tell what was found so far.

        Returns
        -------
        list of str
            What `ModelCard.outside` returns for all these rows together.
        """
        return [line for tally in self._tallies.values() for line in tally.sentences()]
