"""
Margin, support vectors and slack
=================================

Lecture E, support vector machines (item E4): hard margin, soft margin, and a Gaussian kernel. A
point has ``a = 0`` if it lies outside the margin, ``0 < a < C`` if it lies on the margin, and
``a = C`` if it lies inside the margin or on the wrong side; its slack says how far.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from mercer import SVC
from mercer.kernels import Gaussian, Linear
from mercer.plots import DecisionBoundaryDisplay, style

RANGE = (-3.1, 3.1)

# %%
# Two clouds apart, two clouds that overlap, and a parabola with noise.


def clouds(random, n, spread):
    y = np.repeat([-1, 1], n)
    return np.outer(y, [1.0, 0.8]) + random.normal(0, spread, (2 * n, 2)), y


def arch(random, n):
    X = random.uniform(-2.9, 2.9, (3 * n, 2))
    height = X[:, 1] - 0.5 * X[:, 0] ** 2 + 0.8
    keep = np.abs(height) > 0.15
    return X[keep], np.where(height + random.normal(0, 0.4, 3 * n) > 0, 1, -1)[keep]


def numbers(n=22):
    random = np.random.default_rng(11)
    cases = {
        "hard margin, C = ∞": (np.inf, Linear(), *clouds(random, n, 0.45)),
        "soft margin, C = 1": (1.0, Linear(), *clouds(random, n, 0.85)),
        "Gaussian kernel, C = 1": (1.0, Gaussian(0.3), *arch(random, n)),
    }
    found = {}
    for title, (C, kernel, X, y) in cases.items():
        model = SVC(C, kernel=kernel).fit(X, y)
        a = np.zeros(len(y))
        a[model.support_] = np.abs(model.dual_coef_[0])
        slack = np.maximum(0, 1 - y * model.decision_function(X))
        found[title] = {"X": X, "y": y, "C": C, "model": model, "a": a, "slack": slack}
    return found


# %%
# Lines show the slack of the linear machines, square to the border.


def draw_slack(ax, model, X, y, slack):
    w = model.dual_coef_[0] @ X[model.support_]
    for x, label, length in zip(X, y, slack, strict=True):
        if length > 1e-6:
            foot = x + label * length * w / (w @ w)
            ax.plot(*np.column_stack([x, foot]), color=style.INK, linewidth=0.9, zorder=1.5)


def draw_one(ax, title, X, y, C, model, a, slack):
    display = DecisionBoundaryDisplay.from_estimator(
        model, X, y, support=False, limits=(RANGE, RANGE)
    )
    display.support = np.flatnonzero((a > 0) & (a < C))
    display.mistakes = None
    display.plot(ax, legend=False)
    if model.kernel_ == Linear():
        draw_slack(ax, model, X, y, slack)
    bound = X[a == C].T
    ax.scatter(*bound, s=85, marker="s", facecolor="none", edgecolor=style.GREY, linewidth=1.1)
    margin, total = model.certificate_.margin, abs(slack[slack > 1e-6].sum())
    ax.set_title(f"{title}\nmargin {margin:.2f}, total slack {total:.1f}")
    ax.set_aspect("equal")


def explain(figure):
    ring = {"linestyle": "none", "markerfacecolor": "none", "markersize": 9}
    marks = [
        Line2D([], [], color=style.INK, linewidth=1.5, label="f(x) = 0"),
        Line2D([], [], color=style.GREY, linewidth=1, linestyle="--", label="margin, f(x) = ±1"),
        Line2D([], [], marker="o", markeredgecolor=style.INK, **ring, label="0 < a < C"),
        Line2D([], [], marker="s", markeredgecolor=style.GREY, **ring, label="a = C"),
        Line2D([], [], color=style.INK, linewidth=0.9, label="slack"),
    ]
    figure.legend(handles=marks, frameon=False, loc="outside lower center", ncols=5)


def draw(found):
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.8), layout="constrained")
    for ax, (title, case) in zip(panels, found.items(), strict=True):
        draw_one(ax, title, **case)
    explain(figure)
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for title, case in found.items():
        certificate = case["model"].certificate_
        print(
            f"{title:24} {certificate.zero:2} with a = 0, {certificate.free:2} on the margin, "
            f"{certificate.bound:2} with a = C; duality gap {certificate.gap:.0e}"
        )
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "margin.png")
