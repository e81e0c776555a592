"""
Clusters, prototypes and Fisher's direction in feature space
============================================================

Lecture B, learning with a kernel (items B11 and B12). All of these need only distances to means in
feature space, which are sums of kernel values. With a Gaussian kernel, k-means tells a ring from
the cloud within it; two prototypes per class separate opposite corners even with the linear kernel;
and along Fisher's direction the classes of the first panel fall apart.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelFisherDiscriminant, KernelKMeans, KernelPrototypeClassifier
from mercer.kernels import Gaussian, Linear
from mercer.plots import DecisionBoundaryDisplay, style

KERNELS = {"linear": Linear(), "Gaussian kernel": Gaussian(2.0)}

# %%
# A ring around a cloud, and two classes of two clouds each, at opposite corners.


def ring(random, n):
    y = np.repeat([-1, 1], n // 2)
    angle = random.uniform(0, 2 * np.pi, n)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * 1.2
    spread = np.where(y > 0, 0.17, 0.09)[:, None]
    return np.where(y[:, None] > 0, 0, circle) + random.normal(0, 1, (n, 2)) * spread, y


def corners(random, n):
    centres = np.array([[-0.85, -0.7], [0.75, 0.85], [-0.7, 0.8], [0.85, -0.75]])
    kind = np.arange(n) % 4
    return centres[kind] + random.normal(0, 0.24, (n, 2)), np.where(kind < 2, -1, 1)


def numbers(n=240):
    random = np.random.default_rng(3)
    X, y = ring(random, n)
    found = {"X": X, "y": y, "clusters": {}, "directions": {}}
    for name, kernel in KERNELS.items():
        model = KernelKMeans(2, kernel, n_init=10).fit(X)
        own = model.labels_[y == 1][0]
        right = np.mean((model.labels_ == own) == (y == 1))
        found["clusters"][name] = {"model": model, "own": own, "right": right}
        line = KernelFisherDiscriminant(kernel=kernel).fit(X, y)
        found["directions"][name] = {"along": line.transform(X)[:, 0], "right": line.score(X, y)}
    Z, kinds = corners(random, 2 * n // 3)
    models = {k: KernelPrototypeClassifier(Linear(), n_prototypes=k).fit(Z, kinds) for k in (1, 2)}
    scores = {k: model.score(Z, kinds) for k, model in models.items()}
    return found | {"Z": Z, "kinds": kinds, "prototypes": models, "scores": scores}


# %%
# The plane is coloured by the nearer centre. Stars are prototypes.


def draw_clusters(ax, name, X, model, own, right):
    x1, x2 = (np.linspace(-1.6, 1.6, 150) for _ in range(2))
    grid = np.column_stack([part.ravel() for part in np.meshgrid(x1, x2)])
    far = model.transform(grid)
    scores = (far[:, 1 - own] - far[:, own]).reshape(150, 150)
    classes = np.where(model.labels_ == own, 1, -1)
    display = DecisionBoundaryDisplay(
        x1=x1, x2=x2, scores=scores, classes=[-1, 1], X=X, y=classes
    )  # fmt: skip
    display.plot(ax, legend=False)
    ax.set_title(f"k-means, {name}:\n{right:.0%} in their true group")
    ax.set_aspect("equal")


def draw_direction(ax, name, y, along, right):
    style.dress(ax)
    edges = np.linspace(along.min(), along.max(), 33)
    for label, code in ((-1, 0), (1, 1)):
        ax.hist(along[y == label], edges, color=style.colour_of(code), alpha=0.75)
    ax.set(ylabel="points", title=f"Fisher, {name}: {right:.0%} right")


def draw(found):
    figure = plt.figure(figsize=(15, 4.3), layout="constrained")
    panels = figure.subplot_mosaic("ABCD;ABCE")
    for letter, (name, one) in zip("AB", found["clusters"].items(), strict=True):
        draw_clusters(panels[letter], name, found["X"], **one)
    two = found["prototypes"][2]
    DecisionBoundaryDisplay.from_estimator(
        two, found["Z"], found["kinds"], support=False, ax=panels["C"], legend=False
    )
    centres = two.dual_coef_.T @ found["Z"]
    look = {"marker": "*", "color": "white", "edgecolor": style.INK, "zorder": 5}
    panels["C"].scatter(*centres.T, s=150, **look)
    one, more = found["scores"][1], found["scores"][2]
    panels["C"].set_title(f"two prototypes per class: {more:.0%} right\none per class: {one:.0%}")
    panels["C"].set_aspect("equal")
    for letter, (name, line) in zip("DE", found["directions"].items(), strict=True):
        draw_direction(panels[letter], name, found["y"], **line)
    panels["E"].set_xlabel("position along Fisher's direction")
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for name, one in found["clusters"].items():
        known = one["model"].certificate_
        print(
            f"k-means, {name}: {known.status}, {known.iterations} steps, {one['right']:.0%} right"
        )
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "clusters.png")
