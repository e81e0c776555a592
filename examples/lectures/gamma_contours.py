"""
The Gaussian kernel from wide to narrow
=======================================

Lecture D, radial basis functions (items D3 and D7). With a small gamma the border is that of linear
ridge regression with a free intercept. As gamma grows, f follows single points and the Gram matrix
comes to the identity; in the end the nearest training point decides.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import KernelNeighborsClassifier, KernelRidgeClassifier
from mercer.kernels import Gaussian, Linear
from mercer.plots import DecisionBoundaryDisplay, GramDisplay, style

GAMMAS = [1e-4, 0.1, 3.0, 200.0]  # exp(-gamma d**2) must not vanish on the plane that is drawn
LAMBDA = 1.0  # penalty of the linear model

# %%
# With alpha = 2 gamma lambda the kernel model tends to linear ridge regression with the penalty
# lambda; a larger alpha than 0.1 is not needed.


def numbers(n=60, steps=150):
    X, y = make_moons(n, noise=0.2, random_state=1)
    order = np.argsort(y, kind="stable")
    X, y = X[order], 2 * y[order] - 1
    models = {
        gamma: KernelRidgeClassifier(min(2 * gamma * LAMBDA, 0.1), kernel=Gaussian(gamma)).fit(X, y)
        for gamma in GAMMAS
    }
    linear = KernelRidgeClassifier(LAMBDA, kernel=Linear(), fit_intercept=True).fit(X, y)
    nearest = KernelNeighborsClassifier(1).fit(X, y)
    x1, x2 = np.linspace(-1.9, 2.9, steps), np.linspace(-1.5, 1.9, steps)
    grid = np.column_stack([part.ravel() for part in np.meshgrid(x1, x2)])
    guesses = {gamma: model.predict(grid) for gamma, model in models.items()}
    return {
        "X": X, "y": y, "x1": x1, "x2": x2, "grid": grid, "models": models, "nearest": nearest,
        "as_linear": {g: np.mean(guesses[g] == linear.predict(grid)) for g in GAMMAS},
        "as_nearest": {g: np.mean(guesses[g] == nearest.predict(grid)) for g in GAMMAS},
        "beside": {g: off_diagonal(Gaussian(g)(X)).mean() for g in GAMMAS},
    }  # fmt: skip


def off_diagonal(K):
    return K[~np.eye(len(K), dtype=bool)]


# %%
# Colours are the score f(x), the black line its sign; below, the Gram matrix of the same points.


def draw_scores(ax, found, model):
    scores = model.decision_function(found["grid"]).reshape(len(found["x2"]), -1)
    style.dress(ax)
    filled = ax.contourf(
        found["x1"], found["x2"], np.clip(scores, -1.5, 1.5), levels=np.linspace(-1.5, 1.5, 13),
        cmap=style.score_colours(), alpha=0.8,
    )  # fmt: skip
    filled.set_rasterized(True)
    ax.contour(found["x1"], found["x2"], scores, levels=[0], colors=style.INK, linewidths=1.4)
    style.draw_classes(ax, found["X"], (found["y"] + 1) // 2, ["-1", "1"], size=18)
    ax.set(xlabel="x₁", ylabel="x₂")


def draw(found):
    figure, panels = plt.subplots(2, 5, figsize=(14, 5.8), layout="constrained")
    for column, (gamma, model) in zip(panels.T, found["models"].items(), strict=False):
        draw_scores(column[0], found, model)
        column[0].set_title(f"f(x), gamma = {gamma:g}")
        K = model.kernel_(found["X"])
        text = f"K: beside the diagonal\n{found['beside'][gamma]:.2g} on average"
        display = GramDisplay(
            matrix=K, title=text, caption=f"{len(K)} points by class", scale=False
        )
        image = display.plot(column[1]).images[0]
        image.set_clim(0, 1)
    DecisionBoundaryDisplay.from_estimator(
        found["nearest"], found["X"], found["y"], support=False, ax=panels[0, 4], legend=False
    )
    panels[0, 4].set_title("nearest neighbour")
    panels[1, 4].axis("off")
    place = panels[1, 4].inset_axes([0.1, 0.1, 0.1, 0.8])
    figure.colorbar(image, cax=place, label="k(x, y)")
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for gamma in GAMMAS:
        print(
            f"gamma {gamma:6g}: as linear ridge on {found['as_linear'][gamma]:.2%} of the plane, "
            f"as the nearest point on {found['as_nearest'][gamma]:.2%}"
        )
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "gamma_contours.png")
