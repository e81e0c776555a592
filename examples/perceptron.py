"""The kernel perceptron: four mistakes, and what each of them does to the boundary.

    python examples/perceptron.py [folder]

Lecture A, kernel perceptron (items A1 and A2): k(x, x') = exp(-|x - x'|^2 / 2), the points visited
in turn. Writes perceptron.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import GREY, INK, STYLE, draw_points, draw_sides, output_folder, plane

from mercer import KernelPerceptron
from mercer.kernels import Gaussian

X_RANGE, Y_RANGE = (-2.9, 2.9), (-2.3, 2.3)
KERNEL = Gaussian(sigma=1)


def half_circles(random, n):
    """Return points on two half circles that reach into one another, in a mixed order."""
    angle = np.pi * random.random(n)
    y = np.repeat([1, -1], n // 2)
    X = np.column_stack([np.cos(angle) - 0.5 * y, y * (np.sin(angle) - 0.28)])
    X = 1.45 * X + random.normal(0, 0.12, (n, 2))
    order = random.permutation(n)
    return X[order], y[order]


def ring(axes, points, **look):
    axes.scatter(*points.T, facecolor="none", edgecolor=INK, zorder=3, **look)


def draw_result(axes, model, X, y, x1, x2, grid):
    """Draw the final boundary; the mistakes are circled, and numbered in their order."""
    draw_sides(axes, x1, x2, model.decision_function(grid), margin=False)
    draw_points(axes, X, y, size=42)
    ring(axes, X[model.mistakes_], s=190, linewidth=1.8)
    for number, x in enumerate(X[model.mistakes_], start=1):
        axes.annotate(number, x, (-18, 10), textcoords="offset points", fontweight="bold")
    axes.set(xlim=X_RANGE, ylim=Y_RANGE, aspect="equal")
    axes.set_title(f"{len(y)} points, {model.n_mistakes_} mistakes, then a pass without one")


def draw_step(axes, count, model, X, y, x1, x2, grid):
    """Draw f after so many mistakes, each of which added y [k(x, .) + 1]."""
    made = model.mistakes_[:count]
    draw_sides(axes, x1, x2, y[made] @ (KERNEL(X[made], grid) + 1), margin=False)
    axes.scatter(*X.T, s=5, color=GREY, linewidth=0)
    draw_points(axes, X[made], y[made], size=34)
    ring(axes, X[made[-1:]], s=120, linewidth=1.5)
    axes.set(xlim=X_RANGE, ylim=Y_RANGE, aspect="equal")
    axes.set_title(f"after mistake {count}", fontsize=10)
    axes.label_outer()


def main():
    X, y = half_circles(np.random.default_rng(212), 40)
    model = KernelPerceptron(KERNEL).fit(X, y)
    x1, x2, grid = plane(X_RANGE, Y_RANGE)
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(11, 4.7))
        panels = figure.subplot_mosaic("EEAB;EECD")
        draw_result(panels["E"], model, X, y, x1, x2, grid)
        for count, name in enumerate("ABCD", start=1):
            draw_step(panels[name], count, model, X, y, x1, x2, grid)
        path = output_folder() / "perceptron.png"
        figure.savefig(path)

    assert model.n_mistakes_ == 4
    assert model.converged_
    assert np.array_equal(model.predict(X), y)
    found = model.certificate_
    print(f"Mistakes on the points {model.mistakes_.tolist()}; alpha = 1 there and 0 elsewhere.")
    print(f"Margin {found.margin:.3f}: no order of visits makes more than {found.bound:.0f}.")
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
