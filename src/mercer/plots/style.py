"""Colours, marks and the look of axes. Nothing here changes a setting of matplotlib.

All text and lines are drawn in `INK`, and areas in colours that let the page shine through, so
that a page with a dark ground only has to replace one colour.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..checks import Array, InputTypeError, MercerError, sentence, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

INK = "#222222"  # text and lines; a page may replace it by its own colour of text
GREY = "#777777"  # lines that only help to read
ON_LIGHT, ON_DARK = "#111111", "#FFFFFF"  # text on a coloured ground, which stays as it is

# Told apart by any colour vision (Okabe and Ito); classes also differ in their marks.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
AMBER, SKY, BROWN = "#E69F00", "#56B4E9", "#8C564B"
COLOURS = (BLUE, ORANGE, GREEN, PINK, AMBER, SKY, BROWN)
MARKS = ("o", "^", "s", "D", "v", "P", "X")
TINT = 0.2  # how much of a colour an area has

SEQUENTIAL, DIVERGING, SHARES = "viridis", "RdBu_r", "Blues"
NAMED = 20  # classes up to which a legend names them
MANY = 500  # points from which on a drawing in vectors becomes a picture of them
_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class PackageError(MercerError, ImportError):
    """A package that a part of mercer needs is not installed."""


def require_matplotlib() -> None:
    """Refuse to draw without matplotlib, and say how to get it."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        advice = 'Install it: pip install "mercer[plot]".'
        text = sentence("mercer.plots", "matplotlib must be installed to draw", "none", advice)
        raise PackageError(text) from None


def new_axes(size: tuple[float, float]) -> Axes:
    """Return the axes of a new figure without a ground, of which pyplot knows nothing."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", facecolor="none")
    return figure.add_subplot(facecolor="none")


def checked_axes(who: str, ax: object) -> Axes:
    """Return axes that a user has handed in."""
    require_matplotlib()
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        advice = "Take ax from figure.add_subplot(), or leave it out."
        raise InputTypeError(sentence(who, "ax must be Axes of matplotlib", show(ax), advice))
    return ax


def dress(ax: Axes) -> None:
    """Draw frame, ticks and text of axes in ink, without a frame above and on the right."""
    for place, spine in ax.spines.items():
        spine.set_color(INK)
        if place in ("top", "right"):
            spine.set_visible(False)
    ax.tick_params(which="both", color=INK, labelcolor=INK)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_color(INK)


def undress(ax: Axes) -> None:
    """Leave out the whole frame and the ticks, around pictures."""
    ax.spines[:].set_visible(False)
    ax.tick_params(which="both", length=0)


def add_legend(ax: Axes, where: str = "best", size: float | None = None) -> None:
    """Add a legend without a frame to axes that have something to explain.

    where: a place inside, as matplotlib names them, or "right" for beside the axes.
    """
    if not ax.get_legend_handles_labels()[0]:
        return
    aside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.0}
    place = aside if where == "right" else {"loc": where}
    ax.legend(frameon=False, labelcolor=INK, fontsize=size, **place)


def add_scale(ax: Axes, image: ScalarMappable, label: str, *, below: bool = False) -> None:
    """Add what the colours of an image mean, at its right; below: whether smaller values exist."""
    place = ax.inset_axes((1.03, 0.0, 0.05, 1.0))  # as high as the axes, whatever their aspect
    extend = "min" if below else "neither"
    bar = ax.figure.colorbar(image, cax=place, label=label, extend=extend)
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=INK, labelcolor=INK)
    bar.ax.yaxis.label.set_color(INK)


def colour_of(code: int) -> str:
    """Return the colour of a class by its number."""
    return COLOURS[code % len(COLOURS)]


def mark_of(code: int) -> str:
    """Return the mark of a class by its number; it changes where the colours begin again."""
    return MARKS[(code + code // len(COLOURS)) % len(MARKS)]


def score_colours() -> Colormap:
    """Return colours from the first class over white to the second."""
    require_matplotlib()
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("scores", [BLUE, "#FFFFFF", ORANGE])


def draw_classes(
    ax: Axes, X: Array, codes: Array, names: Sequence[str], size: float = 24.0
) -> None:
    """Draw points of the plane, a colour and a mark for each class; codes: numbers of classes."""
    for code, name in enumerate(names):
        chosen = X[codes == code]
        if len(chosen):
            ax.scatter(
                chosen[:, 0],
                chosen[:, 1],
                s=size,
                color=colour_of(code),
                marker=mark_of(code),
                edgecolor="#FFFFFF",
                linewidth=0.4,
                label=name if code < NAMED else None,
                rasterized=len(X) > MANY,
                zorder=2,
            )


def class_codes(y: Array) -> tuple[Array, list[str]]:
    """Return the number of the class of each point, and the names of the classes."""
    names, codes = np.unique(y, return_inverse=True)
    return codes.reshape(-1), [str(name) for name in names]


def kernel_text(kernel: object, most: int = 56) -> str:
    """Return a kernel as a title: numbers to four digits, and no longer than fits."""
    text = re.sub(r"\d+\.\d{4,}(e[-+]?\d+)?", lambda found: f"{float(found[0]):.4g}", str(kernel))
    return text if len(text) <= most else text[: most - 1] + "…"


def column_name(place: int) -> str:
    """Return the name of a column that has none: x₁, x₂, …"""
    return "x" + str(place + 1).translate(_DIGITS)


def write(figure: Figure, path: str | Path, dpi: float = 144.0) -> Path:
    """Write a figure to a file on a white ground, making its folder where there is none."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi, facecolor="#FFFFFF")
    return path
