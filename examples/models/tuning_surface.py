"""
The surface of C and gamma
==========================

A support vector machine with a Gaussian kernel has two parameters, and they work against each
other: a larger gamma makes the border more flexible, a larger C makes it follow single points. The
best pairs lie along a slope of the surface; the curves show a cut through it.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import SVC, tune
from mercer.kernels import Gaussian
from mercer.plots import (
    DecisionBoundaryDisplay,
    SearchSurfaceDisplay,
    ValidationCurveDisplay,
    style,
)

# %%
# All pairs of values are judged in five folds.


def numbers(n=300, steps=9):
    X, y = make_moons(n, noise=0.3, random_state=0)
    space = {"kernel__gamma": np.logspace(-2, 2, steps), "C": np.logspace(-2, 3, steps)}
    found = tune(SVC(kernel=Gaussian()), X, y, space, cv=5, random_state=0)
    return {"X": X, "y": y, "tuned": found, "gammas": space["kernel__gamma"]}


# %%
# The surface, the cut at the best C, and the border of the best machine.


def draw(found):
    X, y, tuned = found["X"], found["y"], found["tuned"]
    figure, panels = plt.subplots(1, 3, figsize=(15, 4.3), layout="constrained")
    SearchSurfaceDisplay.from_search(tuned, x="kernel__gamma", y="C", ax=panels[0])
    ValidationCurveDisplay.from_estimator(
        SVC(tuned.params["C"], kernel=Gaussian(1.0)), X, y, name="kernel__gamma",
        values=found["gammas"], cv=5, ax=panels[1],
    )  # fmt: skip
    panels[1].set_title(f"C = {tuned.params['C']:.3g}")
    DecisionBoundaryDisplay.from_estimator(tuned.model, X, y, ax=panels[2])
    panels[2].set_title(f"gamma = {tuned.params['kernel__gamma']:.3g}: {tuned.score:.1%} right")
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    print(f"Best of {len(found['tuned'].table['params'])}: {found['tuned'].params}")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "tuning_surface.png")
