"""
Data near a line, a plane, a curved surface: PCA and kernel PCA
===============================================================

Lecture B, when to use kernels (item B12). Where data lie near a line or a plane, PCA finds it;
where they lie near a curved surface, PCA flattens it and kernel PCA does not. Noisy points are
projected on the components and brought back by ``inverse_transform``: what is left of the noise is
their distance from the surface.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA
from mercer.kernels import Gaussian, Linear
from mercer.plots import style

NOISE = 0.12
ALONG, ACROSS = np.array([1.2, 0.8, 0.5]), np.array([[1.2, 0.3, 0.1], [-0.2, 0.9, 0.5]])

# %%
# Three surfaces, each with the distance of any point from it.


def line(u, v):
    return np.outer(u, ALONG)


def plane(u, v):
    return np.column_stack([u, v]) @ ACROSS


def tube(u, v):
    """Return points of a sheet that is rolled to about two thirds of a tube."""
    return np.column_stack([np.cos(2.2 * u), 1.3 * v, np.sin(2.2 * u)])


def from_line(X):
    along = ALONG / np.linalg.norm(ALONG)
    return np.linalg.norm(X - np.outer(X @ along, along), axis=1)


def from_plane(X):
    normal = np.cross(*ACROSS)
    return np.abs(X @ normal) / np.linalg.norm(normal)


def from_tube(X):
    return np.abs(np.linalg.norm(X[:, [0, 2]], axis=1) - 1)


# Surface, distance from it, components of PCA and of kernel PCA, view.
CASES = {
    "a line": (line, from_line, 1, 2, (22, -62)),
    "a plane": (plane, from_plane, 2, 5, (14, -28)),
    "a curved surface": (tube, from_tube, 2, 12, (18, -72)),
}


def typical(distances):
    return float(np.sqrt((distances**2).mean()))


def numbers(n=350):
    random, found = np.random.default_rng(7), {}
    for name, (surface, distance, flat, curved, _) in CASES.items():
        u, v = random.uniform(-1, 1, (2, n))
        X = surface(u, v) + random.normal(0, NOISE, (n, 3))
        found[name] = {"X": X, "u": u, "before": typical(distance(X))}
        for way, count, kernel in (("PCA", flat, Linear()), ("kernel PCA", curved, Gaussian(0.5))):
            model = KernelPCA(count, kernel=kernel).fit(X)
            back = model.inverse_transform(model.transform(X))
            found[name][way] = {"count": count, "back": back, "after": typical(distance(back))}
    return found


# %%
# Grey points are the data, coloured ones what comes back.


def draw_one(ax, name, found, back):
    surface, *_, view = CASES[name]
    if surface is line:
        ax.plot(*line(np.array([-1, 1]), None).T, color=style.GREY, linewidth=1)
    else:
        u, v = np.meshgrid(np.linspace(-1, 1, 40), np.linspace(-1, 1, 12))
        x, y, z = (part.reshape(u.shape) for part in surface(u.ravel(), v.ravel()).T)
        ax.plot_wireframe(x, y, z, color="#AAAAAA", linewidth=0.5, rstride=1, cstride=3)
    ax.scatter(*found["X"].T, s=4, color="#BBBBBB", depthshade=False)
    ax.scatter(*back.T, s=14, c=found["u"], cmap=style.SEQUENTIAL, depthshade=False)
    ax.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), zlim=(-1.2, 1.2))
    ax.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1], zticks=[-1, 0, 1])
    ax.set(xlabel="x₁", ylabel="x₂", zlabel="x₃")
    ax.tick_params(pad=0, labelsize=9)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.labelpad = -2
    ax.set_box_aspect((1, 1, 0.85), zoom=1.06)
    ax.view_init(*view)


def draw(found):
    shape = {"figsize": (13, 8.8), "subplot_kw": {"projection": "3d"}, "layout": "constrained"}
    figure, panels = plt.subplots(2, 3, **shape)
    for column, (name, one) in zip(panels.T, found.items(), strict=True):
        for ax, way in zip(column, ("PCA", "kernel PCA"), strict=True):
            result = one[way]
            draw_one(ax, name, one, result["back"])
            noun = "component" if result["count"] == 1 else "components"
            ax.set_title(
                f"near {name}: {way}, {result['count']} {noun}\n"
                f"typical distance from it {result['after']:.2f}, before {one['before']:.2f}"
            )
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for name, one in found.items():
        after = ", ".join(f"{one[way]['after']:.3f} after {way}" for way in ("PCA", "kernel PCA"))
        print(f"near {name:16} typical distance {one['before']:.3f} with noise, {after}")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "principal_components.png")
