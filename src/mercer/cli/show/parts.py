"""Tables, headings and numbers that all screens share."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..screen import safe


def heading(text: str, more: str = "") -> Text:
    """Return a heading, with something to say beside it."""
    return Text.assemble((safe(text), "bold"), (f"  {safe(more)}" if more else "", ""))


def indented(part: RenderableType) -> Padding:
    """Return something two places to the right."""
    return Padding(part, (0, 0, 0, 2), expand=False)


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str | Text]], right: Sequence[int] = ()
) -> Padding:
    """Return a table without lines; right: the columns whose entries stand at the right.

    Rich would break lines of other columns for the sake of an empty one at the end.
    """
    if not heads[-1] and not any(str(row[-1]) for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, head in enumerate(heads):
        found.add_column(head, justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        found.add_row(*(cell if isinstance(cell, Text) else Text(safe(cell)) for cell in row))
    return indented(found)


def pairs(rows: Sequence[tuple[str, str | Text]]) -> Padding:
    """Return names with what belongs to them."""
    found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    found.add_column(style="dim", no_wrap=True)
    found.add_column(overflow="fold")
    for name, what in rows:
        found.add_row(Text(name), what if isinstance(what, Text) else Text(safe(what)))
    return indented(found)


def lines(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Return names with what belongs to them as plain lines, which can be copied from."""
    wide = max((len(name) for name, _ in rows), default=0)
    return [f"  {name:<{wide}}  {what}" for name, what in rows]


def bullet(text: str, mark: str = "•", style: str = "") -> Padding:
    """Return a sentence with a mark before it."""
    return bullet_of(Text(safe(text)), mark, style)


def bullet_of(text: Text, mark: str, style: str) -> Padding:
    """Return words that have a style with a mark before them."""
    found = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
    found.add_row(Text(mark, style=style), text)
    return indented(found)


def figure(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits."""
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if value and (size >= 1e7 or size < 1e-4):
        return f"{value:.{digits - 1}e}"
    places = max(digits - 1 - (math.floor(math.log10(size)) if value else 0), 0)
    return f"{value:,.{min(places, 6)}f}"


def with_error(value: float, error: float | None) -> str:
    """Return a number with its standard error, to the digits that the error leaves."""
    if error is None or not math.isfinite(error):
        return figure(value)
    if error <= 1e-9 * abs(value):
        return f"{figure(value)} ± 0"
    places = min(max(1 - math.floor(math.log10(error)), 0), 6)
    return f"{value:,.{places}f} ± {error:,.{places}f}"


_METRIC = re.compile(r"\.metric\((M\d+x\d+_\w+|\[[^\]]*\])\)")
_NUMBER = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?")


def rounded(expression: str) -> str:
    """Return an expression with its numbers to four digits and no matrices, for a reader."""
    expression = _METRIC.sub(".metric(…)", expression)
    return _NUMBER.sub(lambda found: f"{float(found[0]):.4g}", expression)


def seconds(value: float) -> str:
    """Return a time."""
    if value < 100:
        return f"{value:.1f} s"
    return f"{int(value) // 60} min {int(value) % 60:02d} s"
