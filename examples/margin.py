"""Margin, support vectors and slack: hard, soft, and with the Gaussian kernel.

    python examples/margin.py [folder]

Lecture E, support vector machines (item E4). A point has a = 0 if it lies outside the margin,
0 < a < C if it lies on the margin, and a = C if it lies inside the margin or on the wrong side; its
slack says how far. Writes margin.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from style import GREY, INK, STYLE, draw_points, draw_sides, output_folder, plane

from mercer import SVC
from mercer.kernels import Gaussian, Linear

RANGE = (-3.1, 3.1)


def clouds(random, spread):
    y = np.repeat([-1, 1], 22)
    return np.outer(y, [1.0, 0.8]) + random.normal(0, spread, (44, 2)), y


def arch(random):
    """Return points under a parabola and above it, with noise."""
    X = random.uniform(-2.9, 2.9, (70, 2))
    height = X[:, 1] - 0.5 * X[:, 0] ** 2 + 0.8
    keep = np.abs(height) > 0.15
    return X[keep], np.where(height + random.normal(0, 0.4, 70) > 0, 1, -1)[keep]


def states(model, C, n):
    """Return a of every point, and which points are free and which at the bound."""
    a = np.zeros(n)
    a[model.support_] = np.abs(model.dual_coef_[0])
    return a, (a > 0) & (a < C), a == C


def draw_slack(axes, model, X, y, slack):
    """Draw a line from each point with slack to the margin of its class (linear kernel only)."""
    w = model.dual_coef_[0] @ X[model.support_]
    for x, label, length in zip(X, y, slack, strict=True):
        if length > 1e-6:
            foot = x + label * length * w / (w @ w)
            axes.plot(*np.column_stack([x, foot]), color=INK, linewidth=0.9, zorder=1.5)


def draw(axes, title, C, kernel, X, y, x1, x2, grid):
    model = SVC(C, kernel=kernel).fit(X, y)
    a, free, bound = states(model, C, len(y))
    score = y * model.decision_function(X)
    slack = np.maximum(0, 1 - score)
    draw_sides(axes, x1, x2, model.decision_function(grid))
    if kernel == Linear():
        draw_slack(axes, model, X, y, slack)
    draw_points(axes, X, y, size=26)
    axes.scatter(*X[free].T, s=95, facecolor="none", edgecolor=INK, linewidth=1.5)
    axes.scatter(*X[bound].T, s=85, marker="s", facecolor="none", edgecolor=GREY, linewidth=1.1)
    axes.set(xlim=RANGE, ylim=RANGE, aspect="equal")
    axes.label_outer()
    axes.set_title(
        f"{title}\nmargin {model.certificate_.margin:.2f}, total slack {slack.sum():.1f}"
    )

    assert (score[a == 0] >= 1 - 1e-6).all()
    assert np.abs(score[free] - 1).max() < 1e-6
    assert (score[bound] <= 1 + 1e-6).all()
    found = model.certificate_
    print(
        f"{title:28} {(a == 0).sum():2} with a = 0, {free.sum():2} with 0 < a < C, {bound.sum():2} "
        f"with a = C; violation {found.violation:.0e}, duality gap {found.gap:.0e}"
    )


def explain(figure):
    """Add one legend for all panels."""
    ring = {"linestyle": "none", "markerfacecolor": "none", "markersize": 9}
    marks = [
        Line2D([], [], color=INK, linewidth=1.6, label="f(x) = 0"),
        Line2D([], [], color=GREY, linewidth=1, linestyle="--", label="f(x) = ±1 (margin)"),
        Line2D([], [], marker="o", markeredgecolor=INK, **ring, label="0 < a < C, on the margin"),
        Line2D([], [], marker="s", markeredgecolor=GREY, **ring, label="a = C, y f(x) ≤ 1"),
        Line2D([], [], color=INK, linewidth=0.9, label="slack"),
    ]
    figure.legend(handles=marks, frameon=False, loc="outside lower center", ncols=5)


def main():
    random = np.random.default_rng(11)
    cases = [
        ("hard margin, C = ∞", np.inf, Linear(), *clouds(random, 0.45)),
        ("soft margin, C = 1", 1.0, Linear(), *clouds(random, 0.85)),
        ("Gaussian kernel, C = 1", 1.0, Gaussian(0.3), *arch(random)),
    ]
    x1, x2, grid = plane(RANGE, RANGE)
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 3, figsize=(12, 5.0))
        for axes, case in zip(panels, cases, strict=True):
            draw(axes, *case, x1, x2, grid)
        explain(figure)
        path = output_folder() / "margin.png"
        figure.savefig(path)
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
