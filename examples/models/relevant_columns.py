"""
A gamma per column finds the columns that matter
================================================

Lecture B, item B9: parameters of a kernel tuned automatically. Of 20 columns three decide on y.
``tune`` follows the gradient of the leave-one-out error by 20 gammas and the penalty; columns that
do not help lose their gamma, and the error on new points falls to a fraction.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge, PerColumn, tune
from mercer.kernels import Gaussian
from mercer.plots import ColumnRelevanceDisplay, PartialDependenceDisplay, ResidualsDisplay, style

COLUMNS, RELEVANT = 20, 3
ALPHA = (1e-4, 1e2)

# %%
# One gamma for all columns, then one for each.


def sample(seed, n):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, COLUMNS))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + np.cos(2 * X[:, 2])
    return X, y + random.normal(0, 0.1, n)


def numbers(n=400):
    X, y = sample(seed=0, n=n)
    X_new, y_new = sample(seed=1, n=400)
    model = KernelRidge(kernel=Gaussian(), fit_intercept=True)
    ways = {"one gamma": (1e-4, 1e1), "a gamma per column": PerColumn(1e-6, 1e1)}
    found = {
        name: tune(model, X, y, {"kernel__gamma": gammas, "alpha": ALPHA}, random_state=0)
        for name, gammas in ways.items()
    }
    errors = {
        name: float(np.mean((tuned.model.predict(X_new) - y_new) ** 2))
        for name, tuned in found.items()
    }
    return {"X": X, "X_new": X_new, "y_new": y_new, "tuned": found, "errors": errors}


# %%
# Which columns are left, how predictions depend on the first of them, and what is left over.


def draw(found):
    figure, panels = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    best = found["tuned"]["a gamma per column"].model
    ColumnRelevanceDisplay.from_estimator(best, most=8, ax=panels[0, 0])
    panels[0, 0].set_title("gammas of the first 8 columns: y depends on x₁ to x₃")
    PartialDependenceDisplay.from_estimator(best, found["X"], 0, ax=panels[0, 1])
    panels[0, 1].set_title("mean prediction by the first column")
    for ax, (name, tuned) in zip(panels[1], found["tuned"].items(), strict=True):
        ResidualsDisplay.from_estimator(
            tuned.model, found["X_new"], found["y_new"], ax=ax, legend=False
        )
        ax.set_title(f"{name}: mean squared error {found['errors'][name]:.3f}")
        ax.set_ylim(-4, 4)
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    gammas = np.array(found["tuned"]["a gamma per column"].params["kernel__gamma"])
    most = np.sort(np.argsort(gammas)[-RELEVANT:]) + 1
    print(f"Columns with the largest gamma: {', '.join(map(str, most))}.")
    print(f"Mean squared errors: {found['errors']}")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "relevant_columns.png")
