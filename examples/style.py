"""How the pictures of the examples look, and where they go."""

import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

BLUE, ORANGE, INK, GREY = "#0072B2", "#D55E00", "#222222", "#777777"  # for any colour vision
COLOURS = [BLUE, ORANGE, "#009E73", "#CC79A7"]
TINTS = ["#CFE5F2", "#FBE0CC"]  # of the first two
STYLE = {
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 144,
}


def output_folder():
    """Return the folder given on the command line; create it if it does not exist."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def draw_points(axes, X, y, size=22):
    """Draw points of the plane in two classes, -1 and 1."""
    for label, colour, marker in ((-1, BLUE, "o"), (1, ORANGE, "^")):
        axes.scatter(
            *X[y == label].T, s=size, c=colour, marker=marker, edgecolor="white", linewidth=0.5
        )
    axes.set(xlabel="x₁", ylabel="x₂")
    axes.locator_params(nbins=5)


def plane(x_range, y_range, steps=240):
    """Return a grid of points: its two coordinates as matrices, and the points as rows."""
    x1, x2 = np.meshgrid(np.linspace(*x_range, steps), np.linspace(*y_range, steps))
    return x1, x2, np.column_stack([x1.ravel(), x2.ravel()])


def draw_sides(axes, x1, x2, scores, margin=True):
    """Tint the two sides of f(x) = 0, and draw that line and f(x) = -1, 1."""
    scores = scores.reshape(x1.shape)
    axes.contourf(x1, x2, scores, levels=[-np.inf, 0, np.inf], colors=TINTS, zorder=0)
    axes.contour(x1, x2, scores, levels=[0], colors=INK, linewidths=1.6, zorder=1)
    if margin:
        dashes = {"linewidths": 1, "linestyles": "--", "zorder": 1}
        axes.contour(x1, x2, scores, levels=[-1, 1], colors=GREY, **dashes)
