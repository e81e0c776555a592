"""Regression with the Gaussian kernel as a sum of local fits, and a surface learned from points.

    python examples/local_fits.py [folder]

Lecture C, regression with radial basis functions (items C2 and C4). Writes local_fits.png into the
folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, GREY, INK, ORANGE, STYLE, TINTS, output_folder

from mercer import KernelRidge, KernelRidgeCV
from mercer.kernels import Gaussian

NOISE = 0.15


def wave(x):
    return np.sin(1.5 * x) + 0.3 * x


def hills(X):
    """Return the height of two hills and a hollow."""
    tops = np.array([[-1.0, -0.8], [1.2, 0.6], [-0.6, 1.3]])
    squares = ((X[:, None] - tops) ** 2).sum(axis=-1)
    return np.exp(-squares / [0.5, 0.9, 0.4]) @ [1.0, 1.3, -0.7]


def draw_line(axes):
    """Draw every a_i k(x_i, x), their sum and a band; return how far the sum is from predict."""
    random = np.random.default_rng(5)
    x = np.concatenate([np.linspace(-3, 0.4, 9), np.linspace(1.8, 3, 4)])[:, None]
    y = wave(x[:, 0]) + random.normal(0, NOISE, len(x))
    model = KernelRidge(NOISE**2, kernel=Gaussian(sigma=0.5)).fit(x, y)

    grid = np.linspace(-3.6, 3.6, 400)[:, None]
    local = model.kernel_(grid, x) * model.dual_coef_  # one column per point
    mean, deviation = model.predict(grid, return_std=True)

    low, high = mean - 2 * deviation, mean + 2 * deviation
    axes.fill_between(
        grid[:, 0], low, high, color=TINTS[0], label="± 2 standard deviations of a new y"
    )
    axes.plot(grid, local, color=ORANGE, linewidth=0.7, alpha=0.8)
    axes.plot([], [], color=ORANGE, linewidth=0.7, label=r"each $a_i\,k(x_i, x)$")
    axes.plot(grid, mean, color=BLUE, linewidth=2.5, label="their sum, f(x)")
    axes.plot(grid, wave(grid), color=GREY, linewidth=1, linestyle="--", label="true function")
    axes.scatter(x, y, color=INK, s=20, zorder=3, label="training points")
    axes.set(title="A sum of local fits", xlabel="x", ylabel="y", xlim=(-3.6, 3.6))
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
    return np.abs(local.sum(axis=1) - mean).max()


def draw_surface(axes):
    """Draw a surface learned from points of a plane; return the model and its error."""
    random = np.random.default_rng(3)
    X = random.uniform(-2, 2, (150, 2))
    y = hills(X) + random.normal(0, 0.05, len(X))
    model = KernelRidgeCV(kernel=[Gaussian(gamma) for gamma in (0.1, 0.3, 1, 3, 10)]).fit(X, y)
    side = np.linspace(-2, 2, 60)
    x1, x2 = np.meshgrid(side, side)
    grid = np.column_stack([x1.ravel(), x2.ravel()])
    height = model.predict(grid)
    axes.plot_surface(
        x1,
        x2,
        height.reshape(x1.shape),
        cmap="viridis",
        alpha=0.75,
        linewidth=0,
        rstride=1,
        cstride=1,
    )
    axes.scatter(*X.T, y, color=INK, s=7, depthshade=False)
    axes.view_init(32, -60)
    axes.set_box_aspect((1, 1, 0.55), zoom=1.1)
    axes.set(title="A surface learned from 150 points", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    axes.set(xlabel="x₁", ylabel="x₂", zlabel="f(x)", zticks=[-0.5, 0, 0.5, 1])
    return model, np.sqrt(np.mean((height - hills(grid)) ** 2))


def main():
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(11, 4.6))
        gap = draw_line(figure.add_subplot(1, 2, 1))
        model, error = draw_surface(figure.add_subplot(1, 2, 2, projection="3d"))
        path = output_folder() / "local_fits.png"
        figure.savefig(path)
    print(f"The local fits add up to the prediction, within {gap:.0e}.")
    print(
        f"The surface: leave-one-out picks {model.kernel_}, alpha {model.alpha_:.2g}; on a grid "
        f"its root mean square error is {error:.3f}; the noise has the deviation 0.05."
    )
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
