"""
A linear classifier: fine, with outliers, hopeless; and the kernel answer
=========================================================================

Lecture B, when to use kernels: a linear classifier fits excellently where the classes are two
clouds, does well with a few outliers, and all linear classifiers do horribly where one class
surrounds the other. A Gaussian kernel separates these as well.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC
from mercer.kernels import Gaussian, Linear
from mercer.plots import DecisionBoundaryDisplay, style

RANGE = (-3.2, 3.2)

# %%
# Two clouds, the same with points that lie in the wrong one, and a cloud within a ring.


def two_clouds(random, n, outliers=0):
    y = np.repeat([-1, 1], n // 2)
    X = np.outer(y, [1.3, 0.9]) + random.normal(0, 0.5, (n, 2))
    strays = np.resize([-1, 1], outliers)
    X_strays = -np.outer(strays, [1.3, 0.9]) + random.normal(0, 0.4, (outliers, 2))
    return np.vstack([X, X_strays]), np.concatenate([y, strays])


def ring(random, n):
    y = np.repeat([-1, 1], n // 2)
    radius = np.where(y < 0, random.uniform(0, 1.2, n), random.normal(2.3, 0.25, n))
    angle = random.uniform(0, 2 * np.pi, n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def numbers(n=80):
    random = np.random.default_rng(6)
    clouds, strays, circle = two_clouds(random, n), two_clouds(random, n, 6), ring(random, n + 20)
    cases = {
        "linear: two clouds": (Linear(), *clouds),
        "linear: a few outliers": (Linear(), *strays),
        "linear: a ring": (Linear(), *circle),
        "Gaussian kernel: the same ring": (Gaussian(0.3), *circle),
    }
    return {
        title: {"X": X, "y": y, "model": SVC(1.0, kernel=kernel).fit(X, y)}
        for title, (kernel, X, y) in cases.items()
    }


def mistakes(case):
    return int((case["model"].predict(case["X"]) != case["y"]).sum())


# %%
# Crosses mark the points that end up in the wrong class.


def draw(found):
    figure, panels = plt.subplots(1, 4, figsize=(13, 3.9), layout="constrained")
    for ax, (title, case) in zip(panels, found.items(), strict=True):
        DecisionBoundaryDisplay.from_estimator(
            case["model"],
            case["X"],
            case["y"],
            support=False,
            margin=False,
            limits=(RANGE, RANGE),
            ax=ax,
            legend=False,
        )
        ax.set_title(f"{title}\n{mistakes(case)} of {len(case['y'])} misclassified")
        ax.set_aspect("equal")
        ax.set_ylabel(ax.get_ylabel() if ax is panels[0] else "")
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for title, case in found.items():
        print(f"{title:34} {mistakes(case):3} of {len(case['y'])} points misclassified")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "linear_and_kernel.png")
