"""Structural risk minimisation: margin errors, complexity and their sum, against C.

    python examples/risk_tradeoff.py [folder]

Lecture E, structural risk (item E3): with probability 0.95 the error on new points is at most the
mean of min(1, slack) of the training points plus a term that grows with |w| R, where R is the
radius of a ball that holds the points in feature space. The lecture's own formula holds where the
capacity h is known beforehand, and |w|^2 R^2 + 1 of the machine found is not: docs/svm.md says why.
Writes risk_tradeoff.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, GREY, INK, ORANGE, STYLE, draw_points, draw_sides, output_folder, plane

from mercer import enclosing_radius, svm_path, vc_bound
from mercer.kernels import Gaussian

KERNEL = Gaussian(1.0)
CS = np.logspace(-3.5, -0.5, 19)
RANGE = (-3.0, 3.0)
DRAWN = 400  # points of the small panels


def disc(n, seed):
    """Return points of a plane, the half near 0 of class 1; one label in 50 is turned."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    y = np.where((X**2).sum(axis=1) < 2 * np.log(2), 1, -1)
    return X, np.where(random.random(n) < 0.02, -y, y)


def draw_curves(axes, slack, new, bounds, shown):
    axes.semilogx(CS, bounds, color=INK, linewidth=2.4, label="bound, the sum of the next two")
    axes.semilogx(CS, bounds - slack, color=BLUE, linewidth=1.8, label="complexity term")
    axes.semilogx(
        CS, slack, color=ORANGE, linewidth=1.8, label="margin errors: mean of min(1, slack)"
    )
    axes.semilogx(CS, new, color=GREY, linewidth=1.5, linestyle="--", label="error on new points")
    for letter, place in shown.items():
        axes.scatter(CS[place], bounds[place], s=45, color=INK, zorder=3)
        axes.annotate(
            letter, (CS[place], bounds[place]), (0, 8), textcoords="offset points", ha="center"
        )
    axes.set(xlabel="C", ylabel="share of points", ylim=(0, 1.15), xlim=(CS[0], CS[-1] * 1.1))
    axes.legend(frameon=False, loc="upper left", ncols=2)


def draw_border(axes, title, model, X, y, x1, x2, grid):
    draw_sides(axes, x1, x2, model.decision_function(grid), margin=False)
    draw_points(axes, X[:DRAWN], y[:DRAWN], size=12)
    axes.set(xlim=RANGE, ylim=RANGE, aspect="equal", title=title)


def main():
    X, y = disc(10_000, seed=0)
    X_new, y_new = disc(10_000, seed=1)
    models = svm_path(X, y, KERNEL, CS)
    radius = enclosing_radius(models[0], X)
    margins = [y * model.decision_function(X) for model in models]
    slack = np.array([np.clip(1 - margin, 0, 1).mean() for margin in margins])
    new = np.array([np.mean(model.predict(X_new) != y_new) for model in models])
    bounds = np.array([vc_bound(model, X, y) for model in models])
    norms = np.array([model.certificate_.norm for model in models])
    best = int(bounds.argmin())
    shown = {"a": 3, "b": best, "c": len(CS) - 1}
    assert bounds.max() < 1, "the term is the bound less the slack only where it says something"

    x1, x2, grid = plane(RANGE, RANGE)
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(10, 8.4))
        panels = figure.subplot_mosaic("AAA\nabc", height_ratios=[1.25, 1])
        draw_curves(panels["A"], slack, new, bounds, shown)
        words = ("too simple", "smallest bound", "more than needed")
        for (letter, place), word in zip(shown.items(), words, strict=True):
            title = f"{letter}: {word}\nC = {CS[place]:.2g}, |w| R = {norms[place] * radius:.2g}"
            draw_border(panels[letter], title, models[place], X, y, x1, x2, grid)
        path = output_folder() / "risk_tradeoff.png"
        figure.savefig(path)

    assert (new <= bounds).all()
    print(f"R = {radius:.3f}, the smallest ball that holds {len(X)} points; about 0 it would be 1.")
    for place in range(0, len(CS), 3):
        print(
            f"C {CS[place]:8.2g}: |w| R {norms[place] * radius:5.2f}, margin errors "
            f"{slack[place]:.3f}, error on new points {new[place]:.3f}, at most "
            f"{bounds[place]:.3f} with probability 0.95"
        )
    print(
        f"The bound is smallest at C = {CS[best]:.2g}, the error on new points at C = "
        f"{CS[new.argmin()]:.2g}: the bound holds for any distribution, and is wide."
    )
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
