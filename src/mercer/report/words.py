"""Numbers, shares and times as a reader wants them, in plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NOTHING = "–"
MINUS = "−"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many significant digits; large ones have commas."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e9 or size < 1e-4:
        head, _, power = f"{value:.{max(digits - 2, 0)}e}".partition("e")
        return f"{head}×10{str(int(power)).translate(_RAISED)}".replace("-", MINUS)
    places = max(digits - 1 - math.floor(math.log10(size)), 0)
    text = f"{value:,.{places}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def entry(value: float | None) -> str:
    """Return a number that stands in the data; of up to four digits it may be a year."""
    text = number(value)
    return text.replace(",", "") if value is not None and abs(value) < 10_000 else text


def count(value: int) -> str:
    """Return a whole number with commas."""
    return f"{value:,d}"


def share(value: float | None) -> str:
    """Return a share as a percentage."""
    if value is None or not math.isfinite(value):
        return NOTHING
    percent = 100.0 * value
    if percent != 0 and abs(percent) < 0.1:
        return "< 0.1 %" if percent > 0 else f"> {MINUS}0.1 %"
    near_an_end = abs(percent) < 10 or 99 < abs(percent) < 100
    text = f"{percent:.1f}" if near_an_end else f"{percent:.0f}"
    return f"{text.removesuffix('.0').replace('-', MINUS)} %"


def seconds(value: float | None) -> str:
    """Return a time."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value >= 120:
        whole = round(value)
        return f"{whole // 60} min {whole % 60} s"
    return f"{number(value, 2 if value < 10 else 3)} s"


def removal(skill: float) -> str:
    """Return what a skill means, as a verb: what is removed of the loss of a constant."""
    if skill < 0:
        return f"has {number(1.0 - skill, 2)} times the loss of a constant"
    return f"removes {share(skill)} of the loss of a constant"


def listed(words: Sequence[str], most: int = 6) -> str:
    """Return words as a list in a sentence; beyond so many only their number is told."""
    if len(words) > most:
        return f"{', '.join(words[: most - 1])} and {len(words) - most + 1} more"
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def plural(n: int, one: str, many: str = "") -> str:
    """Return a number of things."""
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def quoted(name: str, limit: int = 40) -> str:
    """Return the name of a column or a level in quotes, cut where it is long."""
    return f"“{name if len(name) <= limit else name[: limit - 1] + '…'}”"
