"""Which classes are taken for which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from ...checks import Array
from .parts import heading, table

MOST_CLASSES = 8


def confusion_screen(truth: Array, said: Array, names: Sequence[str]) -> Iterator[RenderableType]:
    """Yield a table of true and predicted classes, where there are few."""
    count = len(names)
    if count > MOST_CLASSES:
        return
    cells = np.zeros((count, count), dtype=int)
    np.add.at(cells, (truth, said), 1)
    rows: list[list[str | Text]] = []
    for place, name in enumerate(names):
        numbers: list[str | Text] = [
            Text(f"{cells[place, other]:,}", "bold" if place == other else "")
            for other in range(count)
        ]
        rows.append([f"is {name}", *numbers])
    yield heading("Classes")
    heads = ["", *(f"said {name}" for name in names)]
    yield table(heads, rows, right=range(1, count + 1))
