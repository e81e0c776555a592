"""
Nearest neighbours and nearest class means in the space of a kernel
===================================================================

Lecture B, items B10 and B11. Both methods need distances only, and ``|phi(x) - phi(y)|²`` is
``k(x, x) - 2 k(x, y) + k(y, y)``. With a radial kernel the nearest points are those of ordinary
distance; with ``(x·y)²`` a point and its opposite have the distance 0. The border between two class
means is curved with both.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelNeighborsClassifier, KernelPrototypeClassifier
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.plots import DecisionBoundaryDisplay, style

KERNELS = {
    "x·y": Linear(),
    "Gaussian": Gaussian(sigma=1.0),
    "(x·y)²": Polynomial(2, gamma=1.0, coef0=0.0),
}
LEARNERS = {
    "5 nearest neighbours": KernelNeighborsClassifier(5),
    "nearest class mean": KernelPrototypeClassifier(),
}

# %%
# The class depends on the direction of a point, and opposite points have the same; four labels of
# the training points are turned.


def wedges(random, n):
    X = random.uniform(-3, 3, (n, 2))
    return X, np.where(np.cos(2 * np.arctan2(X[:, 1], X[:, 0]) - 0.9) > 0, 1, -1)


def numbers(n=60, new=4000):
    random = np.random.default_rng(8)
    X, y = wedges(random, n)
    test, truth = wedges(random, new)
    y[random.choice(n, 4, replace=False)] *= -1
    models, scores = {}, {}
    for learner, model in LEARNERS.items():
        for name, kernel in KERNELS.items():
            made = type(model)(**model.get_params()).set_params(kernel=kernel).fit(X, y)
            models[learner, name] = made
            scores[learner, name] = made.score(test, truth)
    return {"X": X, "y": y, "models": models, "scores": scores}


# %%
# The same points six times: two learners, three kernels.


def draw(found):
    figure, panels = plt.subplots(2, 3, figsize=(11, 7.7), layout="constrained")
    for ax, (key, model) in zip(panels.ravel(), found["models"].items(), strict=True):
        DecisionBoundaryDisplay.from_estimator(model, found["X"], found["y"], ax=ax, legend=False)
        right = found["scores"][key]
        ax.set_title(f"{key[0]}, k = {key[1]}\n{right:.0%} of new points right")
        ax.set_aspect("equal")
        ax.label_outer()
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for (learner, name), right in found["scores"].items():
        print(f"{learner:22} {name:10} {right:.1%} of new points right")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "neighbors_and_prototypes.png")
