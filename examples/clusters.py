"""Clusters, prototypes and Fisher's direction in feature space, beside their linear forms.

    python examples/clusters.py [folder]

Lecture B, learning with a kernel (items B11 and B12). All need only distances to means in feature
space, which are sums of kernel values. Writes clusters.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, GREY, INK, ORANGE, STYLE, draw_points, draw_sides, output_folder, plane

from mercer import KernelFisherDiscriminant, KernelKMeans, KernelPrototypeClassifier
from mercer.kernels import Gaussian, Linear

RANGE = (-1.55, 1.55)


def ring(random):
    """Return a ring, -1, and what lies in its middle, 1."""
    y = np.repeat([-1, 1], 120)
    angle = random.uniform(0, 2 * np.pi, 240)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * 1.2
    spread = np.where(y > 0, 0.17, 0.09)[:, None]
    return np.where(y[:, None] > 0, 0, circle) + random.normal(0, 1, (240, 2)) * spread, y


def lumps(random):
    """Return two classes of two lumps each, across one another."""
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
    axes.set_title(f"{title}\n{right:.0%} as they were made")
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
        f"two prototypes a class: {scores[1]:.0%} right\nthe mean of each class: {scores[0]:.0%}"
    )
    print(f"prototypes: {scores[0]:.0%} right with one a class, {scores[1]:.0%} with two")
    return scores


def draw_direction(axes, X, y):
    """Draw where both classes fall along Fisher's direction, with and without the kernel."""
    for kernel, name, bottom in ((Linear(), "linear", 1.3), (Gaussian(2.0), "Gaussian", 0.0)):
        model = KernelFisherDiscriminant(kernel=kernel).fit(X, y)
        along = model.transform(X)[:, 0]
        along = (along - along.min()) / np.ptp(along)
        edges = np.linspace(0, 1, 33)
        counts = [np.histogram(along[y == label], edges)[0] for label in (-1, 1)]
        for heights, colour in zip(counts, (BLUE, ORANGE), strict=True):
            heights = bottom + heights / np.max(counts)
            axes.stairs(heights, edges, baseline=bottom, fill=True, color=colour, alpha=0.75)
        axes.axhline(bottom, color=GREY, linewidth=0.8)
        right = model.score(X, y)
        axes.text(0.5, bottom + 1.08, f"{name}: {right:.0%} right", color=INK, ha="center")
        print(
            f"Fisher, {name}: {right:.0%} right, residual {model.certificate_.eigen_residual:.0e}"
        )
    axes.set(xticks=[], yticks=[], ylim=(-0.02, 2.6), xlabel="along the direction")
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set_title("Fisher's direction for the same points\nhow many fall where")
    return right


def main():
    random = np.random.default_rng(3)
    X, truth = ring(random)
    x1, x2, grid = plane(RANGE, RANGE)
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(1, 4, figsize=(14.5, 4.1))
        place = (x1, x2, grid)
        linear = draw_clusters(panels[0], Linear(), X, truth, "k-means", *place)
        curved = draw_clusters(panels[1], Gaussian(2.0), X, truth, "kernel k-means", *place)
        scores = draw_prototypes(panels[2], *lumps(random), *place)
        direction = draw_direction(panels[3], X, truth)
        path = output_folder() / "clusters.png"
        figure.savefig(path)
    assert linear < 0.8 < 0.99 < curved
    assert scores[0] < 0.8 < 0.97 < scores[1]
    assert direction == 1.0
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
