"""Clusters, prototypes and Fisher's direction in feature space, next to their linear forms.

    python examples/clusters.py [folder]

Lecture B, learning with a kernel (items B11 and B12). All need only distances to means in feature
space, which are sums of kernel values. Writes clusters.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, INK, ORANGE, STYLE, draw_points, draw_sides, output_folder, plane

from mercer import KernelFisherDiscriminant, KernelKMeans, KernelPrototypeClassifier
from mercer.kernels import Gaussian, Linear

RANGE = (-1.55, 1.55)


def ring(random):
    """Return a ring of points (class -1) around a cloud (class 1)."""
    y = np.repeat([-1, 1], 120)
    angle = random.uniform(0, 2 * np.pi, 240)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * 1.2
    spread = np.where(y > 0, 0.17, 0.09)[:, None]
    return np.where(y[:, None] > 0, 0, circle) + random.normal(0, 1, (240, 2)) * spread, y


def clouds(random):
    """Return two classes of two clouds each, at opposite corners."""
    centres = np.array([[-0.85, -0.7], [0.75, 0.85], [-0.7, 0.8], [0.85, -0.75]])
    kind = np.arange(160) % 4
    return centres[kind] + random.normal(0, 0.24, (160, 2)), np.where(kind < 2, -1, 1)


def draw_clusters(axes, kernel, X, truth, title, x1, x2, grid):
    """Colour the points by cluster and the plane by the nearer centre."""
    model = KernelKMeans(2, kernel, n_init=10).fit(X)
    first = model.labels_[truth == 1][0]
    y = np.where(model.labels_ == first, 1, -1)
    far = model.transform(grid)
    draw_sides(axes, x1, x2, far[:, 1 - first] - far[:, first], margin=False)
    draw_points(axes, X, y)
    right = np.mean(y == truth)
    axes.set(xlim=RANGE, ylim=RANGE, aspect="equal")
    axes.set_title(f"{title}\n{right:.0%} in their true group")
    found = model.certificate_
    print(
        f"{title:34} {found.status}, {found.iterations} steps, objective {found.objective:.2f}, "
        f"rise {found.rise:.0e}"
    )
    return right


def draw_prototypes(axes, X, y, x1, x2, grid):
    """Draw the border between the nearest prototypes, and that between the two means."""
    one = KernelPrototypeClassifier(Linear()).fit(X, y)
    two = KernelPrototypeClassifier(Linear(), n_prototypes=2).fit(X, y)
    draw_sides(axes, x1, x2, two.decision_function(grid), margin=False)
    draw_points(axes, X, y)
    centres = two.dual_coef_.T @ X
    axes.scatter(*centres.T, s=150, marker="*", c="white", edgecolor=INK, linewidth=1.1, zorder=3)
    scores = one.score(X, y), two.score(X, y)
    axes.set(xlim=RANGE, ylim=RANGE, aspect="equal")
    axes.set_title(
        f"two prototypes per class: {scores[1]:.0%} right\none per class: {scores[0]:.0%} right"
    )
    print(f"prototypes: {scores[0]:.0%} right with one per class, {scores[1]:.0%} with two")
    return scores


def draw_direction(axes, kernel, name, X, y):
    """Draw how both classes are distributed along Fisher's direction."""
    model = KernelFisherDiscriminant(kernel=kernel).fit(X, y)
    along, right = model.transform(X)[:, 0], model.score(X, y)
    edges = np.linspace(along.min(), along.max(), 33)
    for label, colour in ((-1, BLUE), (1, ORANGE)):
        axes.hist(along[y == label], edges, color=colour, alpha=0.75)
    axes.set(ylabel="points per bin", title=f"Fisher, {name}: {right:.0%} right")
    print(f"Fisher, {name}: {right:.0%} right, residual {model.certificate_.eigen_residual:.0e}")
    return right


def main():
    random = np.random.default_rng(3)
    X, truth = ring(random)
    place = plane(RANGE, RANGE)
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(14.5, 4.3))
        panels = figure.subplot_mosaic("ABCD;ABCE")
        linear = draw_clusters(panels["A"], Linear(), X, truth, "k-means", *place)
        curved = draw_clusters(panels["B"], Gaussian(2.0), X, truth, "kernel k-means", *place)
        scores = draw_prototypes(panels["C"], *clouds(random), *place)
        draw_direction(panels["D"], Linear(), "linear", X, truth)
        direction = draw_direction(panels["E"], Gaussian(2.0), "Gaussian kernel", X, truth)
        panels["E"].set_xlabel(
            "position along Fisher's direction,\nring and centre of the first panel"
        )
        path = output_folder() / "clusters.png"
        figure.savefig(path)
    assert linear < 0.8 < 0.99 < curved
    assert scores[0] < 0.8 < 0.97 < scores[1]
    assert direction == 1.0
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
