"""
Lifting the plane into space
============================

Lecture C (item C3). The kernel ``(u·v)²`` is the dot product after the map ``(u₁², √2 u₁u₂, u₂²)``
from the plane into space. A circle in the plane becomes the cut of a flat plane with the cone on
which all mapped points lie, so that a linear machine in space separates what no line in the plane
does.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull

from mercer import SVC
from mercer.kernels import Linear
from mercer.plots import DecisionBoundaryDisplay, style

KERNEL = Linear() ** 2

# %%
# Points within an ellipse and around it, and the map of the lecture; its two equal columns
# ``u₁u₂`` are one here, times the root of 2.


def lift(X):
    return np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])


def data(n, seed=1):
    random = np.random.default_rng(seed)
    X = random.uniform(-1.5, 1.5, (n, 2))
    height = (X[:, 0] ** 2 + X[:, 0] * X[:, 1] + 1.5 * X[:, 1] ** 2) - 1
    keep = np.abs(height) > 0.15
    return X[keep], np.where(height[keep] > 0, 1, -1)


def numbers(n=160):
    X, y = data(n)
    model = SVC(np.inf, kernel=KERNEL).fit(X, y)
    w = model.dual_coef_[0] @ lift(X[model.support_])
    return {"X": X, "y": y, "Z": lift(X), "model": model, "w": w, "b": model.intercept_[0]}


# %%
# Left: the machine with the kernel, in the plane. Right: the same machine in space, where its
# border is flat.


def draw(found):
    figure = plt.figure(figsize=(11, 5), layout="constrained")
    flat = figure.add_subplot(1, 2, 1)
    X, y, w, b = found["X"], found["y"], found["w"], found["b"]
    DecisionBoundaryDisplay.from_estimator(found["model"], X, y, ax=flat, legend=False)
    flat.set_aspect("equal")
    flat.set(title="the kernel (u·v)² in the plane", xlabel="u₁", ylabel="u₂")
    deep = figure.add_subplot(1, 2, 2, projection="3d")
    for label, code in ((-1, 0), (1, 1)):
        marks = {"color": style.colour_of(code), "marker": style.mark_of(code), "s": 18}
        deep.scatter(*found["Z"][y == label].T, **marks, depthshade=False)
    first, second = np.meshgrid(np.linspace(0, 2.3, 200), np.linspace(-2, 2, 200))
    height = -(w[0] * first + w[1] * second + b) / w[2]
    inside = (height >= 0) & (height <= 2.3)
    corners = np.column_stack([first[inside], second[inside], height[inside]])
    border = corners[ConvexHull(corners[:, :2]).vertices]
    deep.add_collection3d(
        Poly3DCollection([border], facecolor=style.GREY, edgecolor=style.INK, alpha=0.35)
    )
    deep.set(xlabel="u₁²", ylabel="√2 u₁u₂", zlabel="u₂²", zlim=(0, 2.3))
    deep.locator_params(nbins=5)
    deep.set_title(f"lifted: a plane, margin {found['model'].certificate_.margin:.2f}")
    deep.set_box_aspect((1, 1, 0.8), zoom=1.0)
    deep.view_init(28, -50)
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    gap = np.abs(found["Z"] @ found["Z"].T - KERNEL(found["X"])).max()
    print(f"Dot products in space are the kernel of the plane, within {gap:.0e}.")
    print(f"w = ({', '.join(f'{value:.2f}' for value in found['w'])}), offset {found['b']:.2f}.")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "lifting.png")
