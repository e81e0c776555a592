"""Labels that a format has a place for, and columns of a matrix that serve as a target."""

from __future__ import annotations

import numpy as np

from ...checks import Array, DataError, nearest, sentence, show
from ...tables.encoder.columns.reading import is_number
from ..pieces import Options, Piece
from ..sources import Source

LABEL = "label"


def check_label(who: str, options: Options) -> None:
    """Refuse a target that is not the label, and types, which only tables have."""
    if options.target not in (None, LABEL):
        must = f"the target of this format is {LABEL!r}"
        raise DataError(sentence(who, must, show(options.target), "Leave target out."))
    check_types(who, options)


def check_types(who: str, options: Options) -> None:
    """Refuse types where there are no columns of several types."""
    if options.types:
        must = "types are said of the columns of tables"
        raise DataError(sentence(who, must, show(dict(options.types)), "Leave types out."))


class LabelReader:
    """Reads labels as numbers if the first ones all are, else as texts."""

    def __init__(self, source: Source, options: Options) -> None:
        check_label(source.who, options)
        self.source, self.is_wanted = source, options.target == LABEL
        self.is_number: bool | None = None

    def read(self, piece: Piece) -> Array | None:
        """Return the labels of a piece; y: texts, or None where there are none."""
        if piece.y is None:
            if self.is_wanted:
                must = "the labels must be in the file"
                raise self.source.fail(must, "points without labels")
            return None
        texts = piece.y.tolist()
        fits = [is_number(text) for text in texts]
        if self.is_number is None:
            self.is_number = all(fits)
        if not self.is_number:
            return np.array(texts)
        if not all(fits):
            row = fits.index(False)
            got = f"{show(texts[row])} in {piece.place(row)}"
            raise self.source.fail("every label must be a number, as the first ones", got)
        numbers = np.array(list(map(float, texts)))
        whole = np.all(numbers == np.rint(numbers)) and np.all(np.abs(numbers) < 2.0**53)
        return numbers.astype(np.int64) if whole else numbers


def column_of(source: Source, target: str, width: int) -> int:
    """Return the number of a column of a matrix by its name, such as x3."""
    names = [f"x{place}" for place in range(width)]
    if target in names:
        return names.index(target)
    must = f"the target must be a column, from 'x0' to 'x{width - 1}'"
    raise source.fail(must, repr(target), nearest(target, names[:1000]))
