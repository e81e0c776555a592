"""
Structural risk: margin errors, complexity and their sum
========================================================

Lecture E, structural risk (item E3). With probability 0.95 the error on new points is at most the
mean of min(1, slack) over the training points plus a term that grows with ``|w| R``, where R is the
radius of a ball that holds the points in feature space. The formula that the lecture prints holds
where the capacity is known beforehand, which that of the machine found is not; :doc:`/svm` says
why.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import enclosing_radius, svm_path, vc_bound
from mercer.kernels import Gaussian
from mercer.plots import DecisionBoundaryDisplay, style

KERNEL = Gaussian(1.0)
DRAWN = 200  # points of the small panels

# %%
# Points of a plane, the half near 0 of class 1; one label in 50 is turned. All C share one pass
# over the kernel matrix.


def disc(n, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    y = np.where((X**2).sum(axis=1) < 2 * np.log(2), 1, -1)
    return X, np.where(random.random(n) < 0.02, -y, y)


def numbers(n=10_000, steps=19):
    Cs = np.logspace(-3.5, -0.5, steps)
    X, y = disc(n, seed=0)
    X_new, y_new = disc(n, seed=1)
    models = svm_path(X, y, KERNEL, Cs)
    margins = [y * model.decision_function(X) for model in models]
    return {
        "X": X, "y": y, "Cs": Cs, "models": models, "radius": enclosing_radius(models[0], X),
        "slack": np.array([np.clip(1 - margin, 0, 1).mean() for margin in margins]),
        "new": np.array([np.mean(model.predict(X_new) != y_new) for model in models]),
        "bounds": np.array([vc_bound(model, X, y) for model in models]),
        "norms": np.array([model.certificate_.norm for model in models]),
    }  # fmt: skip


# %%
# The bound is smallest in between: b. With a smaller C the machine is too simple, a; with a larger
# one it is more than the points can prove, c.


def draw_curves(ax, found, shown):
    style.dress(ax)
    Cs, bounds, slack = found["Cs"], found["bounds"], found["slack"]
    ax.semilogx(Cs, bounds, color=style.INK, linewidth=2.4, label="bound, the sum of the next two")
    ax.semilogx(Cs, bounds - slack, color=style.BLUE, linewidth=1.8, label="complexity term")
    ax.semilogx(Cs, slack, color=style.ORANGE, linewidth=1.8, label="mean of min(1, slack)")
    ax.semilogx(Cs, found["new"], color=style.GREY, linestyle="--", label="error on new points")
    for letter, place in shown.items():
        at = (Cs[place], bounds[place])
        ax.scatter(*at, s=45, color=style.INK, zorder=3)
        ax.annotate(letter, at, (0, 8), textcoords="offset points", ha="center")
    ax.set(xlabel="C", ylabel="share of points", ylim=(0, 1), xlim=(Cs[0], Cs[-1] * 1.1))
    ax.legend(frameon=False, loc="upper center", ncols=4)


def draw(found):
    shown = {"a": 3, "b": int(found["bounds"].argmin()), "c": len(found["Cs"]) - 1}
    words = ("too simple", "smallest bound", "more than needed")
    figure = plt.figure(figsize=(11, 8.4), layout="constrained")
    panels = figure.subplot_mosaic("AAA\nabc", height_ratios=[1.25, 1])
    draw_curves(panels["A"], found, shown)
    X, y = found["X"][:DRAWN], found["y"][:DRAWN]
    for (letter, place), word in zip(shown.items(), words, strict=True):
        DecisionBoundaryDisplay.from_estimator(
            found["models"][place], X, y, margin=False, support=False, limits=((-3, 3), (-3, 3)),
            ax=panels[letter], legend=False,
        )  # fmt: skip
        size = found["norms"][place] * found["radius"]
        panels[letter].set_title(
            f"{letter}: {word}\nC = {found['Cs'][place]:.2g}, |w| R = {size:.2g}"
        )
        panels[letter].set_aspect("equal")
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    best, least = found["bounds"].argmin(), found["new"].argmin()
    print(f"R = {found['radius']:.3f}, the smallest ball that holds {len(found['X'])} points.")
    print(
        f"The bound is smallest at C = {found['Cs'][best]:.2g}, the error on new points at C = "
        f"{found['Cs'][least]:.2g}: the bound holds for any distribution, and is wide."
    )
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "risk_tradeoff.png")
