"""
Regression with the Gaussian kernel is a sum of local fits
==========================================================

Lecture C, regression with radial basis functions (items C2 and C4). The prediction is a sum of one
bump per training point, ``f(x) = sum of a_i k(x_i, x)``. Where there are no points, it falls back
to 0 and the band of a new y widens. In two dimensions the same sum is a surface.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge, KernelRidgeCV
from mercer.kernels import Gaussian
from mercer.plots import RegressionBandDisplay, style

NOISE = 0.15

# %%
# A wave with a gap in the data, and three hills of which one is a hollow.


def wave(x):
    return np.sin(1.5 * x) + 0.3 * x


def hills(X):
    tops = np.array([[-1.0, -0.8], [1.2, 0.6], [-0.6, 1.3]])
    squares = ((X[:, None] - tops) ** 2).sum(axis=-1)
    return np.exp(-squares / [0.5, 0.9, 0.4]) @ [1.0, 1.3, -0.7]


def numbers(n=150):
    random = np.random.default_rng(5)
    x = np.concatenate([np.linspace(-3, 0.4, 9), np.linspace(1.8, 3, 4)])[:, None]
    y = wave(x[:, 0]) + random.normal(0, NOISE, len(x))
    curve = KernelRidge(NOISE**2, kernel=Gaussian(sigma=0.5)).fit(x, y)
    grid = np.linspace(-3.6, 3.6, 400)[:, None]
    random = np.random.default_rng(3)
    X = random.uniform(-2, 2, (n, 2))
    heights = hills(X) + random.normal(0, 0.05, n)
    kernels = [Gaussian(gamma) for gamma in (0.1, 0.3, 1, 3, 10)]
    surface = KernelRidgeCV(kernel=kernels).fit(X, heights)
    square = np.stack(np.meshgrid(*[np.linspace(-2, 2, 60)] * 2), axis=-1)
    truth = hills(square.reshape(-1, 2)).reshape(60, 60)
    found = surface.predict(square.reshape(-1, 2)).reshape(60, 60)
    return {
        "x": x, "y": y, "curve": curve, "grid": grid,
        "bumps": curve.kernel_(grid, x) * curve.dual_coef_,  # one column per point
        "X": X, "heights": heights, "surface": surface, "square": square, "found": found,
        "error": float(np.sqrt(np.mean((found - truth) ** 2))),
    }  # fmt: skip


# %%
# The bumps, their sum and the band on the left, the learnt surface on the right.


def draw_line(ax, found):
    grid, curve = found["grid"], found["curve"]
    mean, spread = curve.predict(grid, return_std=True)
    display = RegressionBandDisplay(
        x=grid[:, 0], mean=mean, low=mean - 2 * spread, high=mean + 2 * spread,
        band="± 2 standard deviations", X=found["x"][:, 0], y=found["y"],
    )  # fmt: skip
    display.plot(ax, legend=False)
    ax.plot(grid, found["bumps"], color=style.ORANGE, linewidth=0.8, alpha=0.8)
    ax.plot([], [], color=style.ORANGE, linewidth=0.8, label=r"each $a_i\,k(x_i, x)$")
    ax.plot(grid, wave(grid), color=style.GREY, linewidth=1, linestyle="--", label="truth")
    ax.set_title("a sum of local fits")
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=4)


def draw_surface(ax, found):
    x1, x2 = np.moveaxis(found["square"], 2, 0)
    look = {"cmap": style.SEQUENTIAL, "alpha": 0.75, "linewidth": 0, "rstride": 1, "cstride": 1}
    ax.plot_surface(x1, x2, found["found"], **look)
    ax.scatter(*found["X"].T, found["heights"], color=style.INK, s=7, depthshade=False)
    ax.view_init(32, -60)
    ax.set_box_aspect((1, 1, 0.55), zoom=1.08)
    ax.set(xticks=[-2, 0, 2], yticks=[-2, 0, 2], zticks=[-0.5, 0, 0.5, 1])
    ax.set(xlabel="x₁", ylabel="x₂", zlabel="f(x)")
    ax.set_title(f"a surface learnt from {len(found['X'])} points")


def draw(found):
    figure = plt.figure(figsize=(12, 4.8), layout="constrained")
    draw_line(figure.add_subplot(1, 2, 1), found)
    draw_surface(figure.add_subplot(1, 2, 2, projection="3d"), found)
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    surface = found["surface"]
    print(f"Leave-one-out picks {surface.kernel_} and alpha {surface.alpha_:.2g} for the surface.")
    print(f"Its error is {found['error']:.3f}; the noise has the deviation 0.05.")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "local_fits.png")
