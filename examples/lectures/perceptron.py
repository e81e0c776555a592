"""
The kernel perceptron makes four mistakes
=========================================

Lecture A, figure 1 (items A1 and A2). The kernel perceptron visits the points in turn. Where
``y f(x) <= 0`` it has made a mistake, and adds ``y [k(x, .) + 1]`` to f. With the Gaussian kernel
it makes four mistakes on these 40 points; then a whole pass makes none, and it stops.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPerceptron
from mercer.kernels import Gaussian
from mercer.plots import DecisionBoundaryDisplay, style

KERNEL = Gaussian(sigma=1)

# %%
# The points lie on two half circles that reach into one another, in a mixed order.


def half_circles(n, seed=212):
    random = np.random.default_rng(seed)
    angle = np.pi * random.random(n)
    y = np.repeat([1, -1], n // 2)
    X = np.column_stack([np.cos(angle) - 0.5 * y, y * (np.sin(angle) - 0.28)])
    X = 1.45 * X + random.normal(0, 0.12, (n, 2))
    order = random.permutation(n)
    return X[order], y[order]


def numbers(n=40):
    X, y = half_circles(n)
    return {"X": X, "y": y, "model": KernelPerceptron(KERNEL).fit(X, y)}


# %%
# After some of the mistakes f is known: a sum over the points where they were made.


def scores_after(count, model, X, y, grid):
    made = model.mistakes_[:count]
    return y[made] @ (KERNEL(X[made], grid) + 1)


def draw_step(ax, count, display, model, X, y):
    grid = np.column_stack([part.ravel() for part in np.meshgrid(display.x1, display.x2)])
    scores = scores_after(count, model, X, y, grid).reshape(display.scores.shape)
    made = model.mistakes_[:count]
    step = DecisionBoundaryDisplay(
        x1=display.x1, x2=display.x2, scores=scores, classes=[-1, 1], X=X[made], y=y[made],
        support=[count - 1],
    )  # fmt: skip
    step.plot(ax, legend=False)
    ax.scatter(*X.T, s=5, color=style.GREY, linewidth=0, zorder=1)
    ax.set_title(f"after mistake {count}")
    ax.set_aspect("equal")
    ax.label_outer()


def draw(found):
    X, y, model = found["X"], found["y"], found["model"]
    figure = plt.figure(figsize=(11, 4.7), layout="constrained")
    panels = figure.subplot_mosaic("EEAB;EECD")
    display = DecisionBoundaryDisplay.from_estimator(model, X, y, ax=panels["E"], legend=False)
    for number, x in enumerate(X[model.mistakes_], start=1):
        panels["E"].annotate(number, x, (-16, 8), textcoords="offset points", fontweight="bold")
    panels["E"].set_title(f"{len(y)} points, {model.n_mistakes_} mistakes, then a pass without one")
    panels["E"].set_aspect("equal")
    for count, name in enumerate("ABCD"[: model.n_mistakes_], start=1):
        draw_step(panels[name], count, display, model, X, y)
    return figure


# %%
# The mistakes are ringed and numbered; the small panels show f after each of them.

if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    certificate = found["model"].certificate_
    print(f"Mistakes on the points {found['model'].mistakes_.tolist()}; alpha is 1 there.")
    print(f"Margin {certificate.margin:.3f}: no order makes more than {certificate.bound:.0f}.")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "perceptron.png")
