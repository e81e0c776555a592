"""Small drawings within lines and tables."""

from __future__ import annotations

from collections.abc import Sequence

from ..words import number
from .markup import Html, element

BAR, GAP, TALL = 6, 1, 24


def histogram(bars: Sequence[int], label: str) -> Html:
    """Return counts as small bars."""
    if not bars:
        return Html("")
    top = max(max(bars), 1)
    drawn = []
    for place, count in enumerate(bars):
        high = round(TALL * count / top, 1) if count else 0.0
        high = max(high, 1.0) if count else high
        drawn.append(
            element("rect", x=place * (BAR + GAP), y=round(TALL - high, 1), width=BAR, height=high)
        )
    width = len(bars) * (BAR + GAP)
    return element(
        "svg",
        *drawn,
        class_="bars",
        viewBox=f"0 0 {width} {TALL}",
        width=width,
        height=TALL,
        role="img",
        aria_label=label,
    )


def whisker(
    value: float, low: float | None, high: float | None, ends: tuple[float, float], strong: bool
) -> Html:
    """Return a value with its interval on a line; one that is beyond its ends is hollow."""
    span = (ends[1] - ends[0]) or 1.0

    def place(one: float) -> float:
        return round(6.0 + 188.0 * min(max((one - ends[0]) / span, 0.0), 1.0), 1)

    parts = [element("line", class_="rail", x1=2, x2=198, y1=10, y2=10)]
    text = number(value)
    if low is not None and high is not None:
        parts.append(element("line", class_="reach", x1=place(low), x2=place(high), y1=10, y2=10))
        text += f", 95 % interval {number(low)} to {number(high)}"
    beyond = "beyond" if not ends[0] <= value <= ends[1] else None
    parts.append(element("circle", class_=beyond, cx=place(value), cy=10, r=5))
    return element(
        "svg",
        *parts,
        class_="whisker strong" if strong else "whisker",
        viewBox="0 0 200 20",
        width=200,
        height=20,
        role="img",
        aria_label=text,
    )


def meter(share: float, label: str) -> Html:
    """Return a share as a bar."""
    width = round(60.0 * min(max(share, 0.0), 1.0), 1)
    return element(
        "svg",
        element("rect", class_="whole", x=0, y=3, width=60, height=8, rx=2),
        element("rect", x=0, y=3, width=width, height=8, rx=2),
        class_="meter",
        viewBox="0 0 60 14",
        width=60,
        height=14,
        role="img",
        aria_label=label,
    )
