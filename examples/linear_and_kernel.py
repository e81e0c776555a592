"""A linear classifier on easy data, with outliers, and where it must fail; then a kernel.

    python examples/linear_and_kernel.py [folder]

Lecture B, when to use kernels: "Linear classifier fits excellently", "even with a few outliers",
"all linear classifiers would do horribly". Writes linear_and_kernel.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import INK, STYLE, draw_points, draw_sides, output_folder, plane

from mercer import SVC
from mercer.kernels import Gaussian, Linear

RANGE = (-3.2, 3.2)


def two_clouds(random, outliers=0):
    """Return two clouds apart from each other, and outliers that lie in the wrong one."""
    y = np.repeat([-1, 1], 40)
    X = np.outer(y, [1.3, 0.9]) + random.normal(0, 0.5, (80, 2))
    strays = np.resize([-1, 1], outliers)
    X_strays = -np.outer(strays, [1.3, 0.9]) + random.normal(0, 0.4, (outliers, 2))
    return np.vstack([X, X_strays]), np.concatenate([y, strays])


def ring(random):
    """Return a cloud, and a ring around it."""
    y = np.repeat([-1, 1], 50)
    radius = np.where(y < 0, random.uniform(0, 1.2, 100), random.normal(2.3, 0.25, 100))
    angle = random.uniform(0, 2 * np.pi, 100)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def main():
    random = np.random.default_rng(6)
    clouds, strays, circle = two_clouds(random), two_clouds(random, outliers=6), ring(random)
    cases = [
        ("linear: the clouds are separable", Linear(), clouds),
        ("linear: a few outliers", Linear(), strays),
        ("linear: no line separates a ring", Linear(), circle),
        ("Gaussian kernel: the same points", Gaussian(0.3), circle),
    ]
    x1, x2, grid = plane(RANGE, RANGE)
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 4, figsize=(13, 3.95))
        for axes, (title, kernel, (X, y)) in zip(panels, cases, strict=True):
            model = SVC(1.0, kernel=kernel).fit(X, y)
            wrong = model.predict(X) != y
            draw_sides(axes, x1, x2, model.decision_function(grid), margin=False)
            draw_points(axes, X, y, size=26)
            axes.scatter(*X[wrong].T, s=80, facecolor="none", edgecolor=INK, linewidth=1)
            axes.set(xlim=RANGE, ylim=RANGE, aspect="equal")
            axes.set_title(f"{title}\n{wrong.sum()} of {len(y)} misclassified (circled)")
            axes.label_outer()
            print(f"{title:34} {wrong.sum():3} of {len(y)} points misclassified")
        path = output_folder() / "linear_and_kernel.png"
        figure.savefig(path)
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
