"""Nearest neighbours and nearest class means in the space of a kernel.

    python examples/neighbors_and_prototypes.py [folder]

Lecture B, items B10 and B11: both need distances only, and ||phi(x) - phi(y)||² is
k(x, x) - 2 k(x, y) + k(y, y). With a radial kernel the nearest points are those of ordinary
distance; with (x.y)² a point and its opposite have distance 0. With both kernels the border between
the class means is curved. Writes neighbors_and_prototypes.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import STYLE, draw_points, draw_sides, output_folder, plane

from mercer import KernelNeighborsClassifier, KernelPrototypeClassifier
from mercer.kernels import Gaussian, Linear, Polynomial

RANGE = (-3.1, 3.1)
KERNELS = {
    "k = x·y": Linear(),
    "Gaussian kernel": Gaussian(sigma=1.0),
    "k = (x·y)²": Polynomial(2, gamma=1.0, coef0=0.0),
}


def wedges(random, n):
    """Return points with a class that depends on their direction; opposite points have the same."""
    X = random.uniform(-3, 3, (n, 2))
    return X, np.where(np.cos(2 * np.arctan2(X[:, 1], X[:, 0]) - 0.9) > 0, 1, -1)


def scores(model, grid):
    if isinstance(model, KernelPrototypeClassifier):
        return model.decision_function(grid)
    return model.predict_proba(grid)[:, 1] - 0.5


def main():
    random = np.random.default_rng(8)
    X, y = wedges(random, 60)
    test, truth = wedges(random, 4000)
    flipped = random.choice(60, 4, replace=False)
    y[flipped] *= -1
    x1, x2, grid = plane(RANGE, RANGE, 300)
    models = {
        "5 nearest neighbours": KernelNeighborsClassifier(5),
        "nearest class mean": KernelPrototypeClassifier(),
    }
    drawn = {}
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(2, 3, figsize=(11, 7.7))
        for row, (name, model) in zip(panels, models.items(), strict=True):
            for axes, (about, kernel) in zip(row, KERNELS.items(), strict=True):
                model.set_params(kernel=kernel).fit(X, y)
                drawn[name, about] = scores(model, grid)
                draw_sides(axes, x1, x2, drawn[name, about], margin=False)
                draw_points(axes, X, y, size=30)
                right = model.score(test, truth)
                axes.set(xlim=RANGE, ylim=RANGE, aspect="equal")
                axes.label_outer()
                axes.set_title(f"{name}, {about}\n{right:.0%} of new points right")
                print(f"{name:22} {about:16} {right:.1%} of new points right")
        path = output_folder() / "neighbors_and_prototypes.png"
        figure.savefig(path)

    plain, bell, square = (drawn["5 nearest neighbours", about] for about in KERNELS)
    assert np.array_equal(plain, bell)
    assert np.allclose(square.reshape(x1.shape), square.reshape(x1.shape)[::-1, ::-1])
    print("The neighbours of the Gaussian kernel are those of ordinary distance, at every point.")
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
