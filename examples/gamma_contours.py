"""The Gaussian kernel from wide to narrow: contours, Gram matrices, and the nearest neighbour.

    python examples/gamma_contours.py [folder]

Lecture D, radial basis functions (items D3 and D7): with a small gamma the border is that of linear
regression with a free intercept, with a large one K is the identity and the nearest training point
decides. Writes gamma_contours.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier
from style import BLUE, INK, ORANGE, STYLE, TINTS, draw_points, output_folder, plane

from mercer import KernelRidgeClassifier
from mercer.kernels import Gaussian, Linear

GAMMAS = [1e-4, 0.1, 3.0, 200.0]  # exp(-gamma d**2) must not vanish on the plane that is drawn
LAMBDA = 1.0  # of the linear model
SCORES = LinearSegmentedColormap.from_list("scores", [BLUE, "white", ORANGE])


def fit(gamma, X, y):
    """Fit with alpha = 2 gamma lambda, at most 0.1: small gamma is linear ridge, with an offset."""
    alpha = min(2 * gamma * LAMBDA, 0.1)
    return KernelRidgeClassifier(alpha, kernel=Gaussian(gamma)).fit(X, y)


def draw_scores(axes, X, y, x1, x2, scores):
    """Draw contours of the scores, the border and the points."""
    scores = scores.reshape(x1.shape)
    levels = np.linspace(-1.5, 1.5, 13)
    axes.contourf(x1, x2, np.clip(scores, -1.5, 1.5), levels=levels, cmap=SCORES, alpha=0.8)
    axes.contour(x1, x2, scores, levels=[0], colors=INK, linewidths=1.4)
    draw_points(axes, X, y)


def draw_gram(axes, K):
    image = axes.imshow(K, cmap="viridis", vmin=0, vmax=1)
    mean = K[~np.eye(len(K), dtype=bool)].mean()
    axes.set(xticks=[], yticks=[], xlabel="60 points, sorted by class")
    axes.set_title(f"K, off the diagonal\n{mean:.2g} on average")
    return image


def draw_nearest(axes, X, y, x1, x2, nearest):
    axes.contourf(x1, x2, nearest.reshape(x1.shape), levels=[-2, 0, 2], colors=TINTS)
    draw_points(axes, X, y)
    axes.set(title="nearest neighbour", ylabel="", yticklabels=[])


def undecided(X, y, grid, by):
    """Return where the nearest points of both classes are almost equally far."""
    squares = ((grid[:, None] - X) ** 2).sum(axis=-1)
    return np.abs(squares[:, y == -1].min(axis=1) - squares[:, y == 1].min(axis=1)) < by


def main():
    X, y = make_moons(60, noise=0.2, random_state=1)
    X, y = X[np.argsort(y)], 2 * np.sort(y) - 1
    x1, x2, grid = plane((-1.9, 2.9), (-1.5, 1.9), 150)
    linear = KernelRidgeClassifier(LAMBDA, kernel=Linear(), fit_intercept=True).fit(X, y)
    straight = linear.predict(grid)
    nearest = KNeighborsClassifier(1).fit(X, y).predict(grid)

    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(2, 5, figsize=(13, 5.6))
        for column, gamma in zip(panels.T, GAMMAS, strict=False):
            model = fit(gamma, X, y)
            draw_scores(column[0], X, y, x1, x2, model.decision_function(grid))
            column[0].set_title(f"f(x), gamma = {gamma:g}")
            if gamma != GAMMAS[0]:
                column[0].set(ylabel="", yticklabels=[])
            image = draw_gram(column[1], model.kernel_(X))
            guess = model.predict(grid)
            print(
                f"gamma {gamma:6g}: same class as linear ridge on {(guess == straight).mean():.2%} "
                f"of the plane, as the nearest neighbour on {(guess == nearest).mean():.2%}"
            )
        draw_nearest(panels[0, 4], X, y, x1, x2, nearest)
        panels[1, 4].axis("off")
        figure.colorbar(image, cax=panels[1, 4].inset_axes([0.1, 0.1, 0.12, 0.8]), label="k(x, y)")
        path = output_folder() / "gamma_contours.png"
        figure.savefig(path)

    by = 4 / GAMMAS[-1]
    clear = ~undecided(X, y, grid, by)
    assert (guess == nearest)[clear].all()
    print(
        f"At gamma {GAMMAS[-1]:g} they differ only where the nearest points of both classes are "
        f"equally far: squared distances within {by:.2g} of each other."
    )
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
