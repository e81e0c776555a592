"""Three explicit maps: what no line can do, a line or plane does in the new space.

    python examples/explicit_maps.py [folder]

Lecture B, item B14: x -> (x, |x|), (x, y) -> (x, y², x²) and x -> (1, x, x²). The kernel of a map
is Linear().of(map), and w = sum of a_i phi(x_i) is what it learned. The planes are seen almost from
their edge. Writes explicit_maps.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull
from style import BLUE, GREY, INK, ORANGE, STYLE, draw_points, draw_sides, output_folder, plane

from mercer import SVC, KernelRidge
from mercer.kernels import Linear

P, Q = 2.0, 1.0  # the parabola of the lecture, (x - P)**2 + Q


def fold(X):
    return np.column_stack([X, np.abs(X)])


def squares(X):
    return np.column_stack([X[:, 0], X[:, 1] ** 2, X[:, 0] ** 2])


def powers(X):
    return np.column_stack([np.ones(len(X)), X, X**2])


def separate(phi, X, y):
    """Return the hard-margin machine in the new space, and its w."""
    model = SVC(np.inf, kernel=Linear().of(phi)).fit(X, y)
    assert (model.predict(X) == y).all()
    return model, model.dual_coef_[0] @ phi(X[model.support_])


def draw_plane(axes, a, b, height, top):
    """Draw the part of a plane that lies in the box."""
    inside = (height >= 0) & (height <= top)
    corners = np.column_stack([a[inside], b[inside], height[inside]])
    border = ConvexHull(corners[:, :2]).vertices
    axes.add_collection3d(Poly3DCollection([corners[border]], facecolor=GREY, alpha=0.35))
    axes.set(zlim=(0, top), xticks=[], yticks=[], zticks=[])
    axes.set_box_aspect((1, 1, 0.85), zoom=1.1)
    axes.xaxis.labelpad = axes.yaxis.labelpad = -8


def draw_fold(above, below, random):
    """Draw points on a line, the one class between the others; then the same, folded."""
    near, far = random.uniform(-0.8, 0.8, 18), random.uniform(1.25, 2.8, 22)
    x = np.concatenate([near, far * random.choice([-1, 1], 22)])
    y = np.repeat([-1, 1], [18, 22])
    model, w = separate(fold, x[:, None], y)
    draw_points(above, np.column_stack([x, np.zeros(40)]), y, size=34)
    above.axhline(0, color=GREY, linewidth=0.8, zorder=0)
    ends = -model.intercept_ / np.array([w[0] - w[1], w[0] + w[1]])
    above.vlines(ends, -0.2, 0.2, color=INK, linewidth=1.6)
    above.text(0, -0.4, "f(x) = 0 with the map", ha="center", color=INK)
    above.set(ylim=(-1, 1), xlim=(-3, 3), title="no single threshold")
    above.text(2.9, -0.16, "x", ha="right")
    above.spines[["left", "bottom"]].set_visible(False)

    x1, x2, grid = plane((-3, 3), (-0.4, 3))
    draw_sides(below, x1, x2, grid @ w + model.intercept_)
    below.plot([-3, 0, 3], [3, 0, 3], color=GREY, linewidth=0.8)
    draw_points(below, fold(x[:, None]), y, size=34)
    below.set(
        xlabel="x", ylabel="|x|", title=f"x ↦ (x, |x|): margin {model.certificate_.margin:.2f}"
    )
    print(
        f"(x, |x|): w = ({w[0]:.2f}, {w[1]:.2f}), offset {model.intercept_[0]:.2f}: all separated"
    )


def draw_squares(above, below, random):
    """Draw points within and around an ellipse; then the same, and the plane, in the new space."""
    X = random.uniform((-1.4, -1.9), (2.6, 1.9), (110, 2))
    height = ((X[:, 0] - 0.6) / 1.3) ** 2 + X[:, 1] ** 2 - 1
    keep = np.abs(height) > 0.25
    X, y = X[keep], np.sign(height[keep]).astype(int)
    model, w = separate(squares, X, y)
    x1, x2, grid = plane((-1.6, 2.8), (-2.1, 2.1))
    draw_sides(above, x1, x2, model.decision_function(grid))
    draw_points(above, X, y, size=28)
    above.set(xlabel="x", ylabel="y", title="no straight line, but an ellipse")

    mapped = squares(X)
    for label, colour, marker in ((-1, BLUE, "o"), (1, ORANGE, "^")):
        below.scatter(*mapped[y == label].T, s=18, color=colour, marker=marker, depthshade=False)
    a, b = np.meshgrid(np.linspace(-1.4, 2.6, 80), np.linspace(0, 3.6, 80))
    draw_plane(below, a, b, -(w[0] * a + w[1] * b + model.intercept_) / w[2], 7)
    below.set(xlabel="x", ylabel="y²")
    below.set_zlabel("x²", labelpad=-12)
    below.set_title(f"(x, y) ↦ (x, y², x²): margin {model.certificate_.margin:.2f}")
    below.view_init(10, -142)
    terms = ", ".join(f"{one:.2f}" for one in w)
    print(f"(x, y², x²): w = ({terms}), offset {model.intercept_[0]:.2f}: all separated")


def draw_powers(above, below, random):
    """Draw points near a parabola and what is fitted; then the same as a plane over (x, x²)."""
    x = np.sort(random.uniform(-0.5, 4.5, 40))
    y = (x - P) ** 2 + Q + random.normal(0, 0.35, 40)
    model = KernelRidge(1e-6, kernel=Linear().of(powers)).fit(x[:, None], y)
    w = model.dual_coef_ @ powers(x[:, None])
    grid = np.linspace(-0.8, 4.8, 200)
    line = np.polynomial.Polynomial.fit(x, y, 1)
    above.plot(grid, line(grid), color=GREY, linewidth=1.2, linestyle="--", label="the best line")
    above.plot(grid, model.predict(grid[:, None]), color=INK, linewidth=1.8, label="with the map")
    above.scatter(x, y, s=24, color=BLUE, edgecolor="white", linewidth=0.5, zorder=3)
    above.legend(frameon=False, loc="upper center")
    above.set(xlabel="x", ylabel="y", title="no straight line fits")

    below.scatter(x, x**2, y, s=18, color=BLUE, depthshade=False)
    below.plot(grid, grid**2, model.predict(grid[:, None]), color=INK, linewidth=1.5)
    a, b = np.meshgrid(np.linspace(-0.8, 4.8, 80), np.linspace(0, 23, 80))
    draw_plane(below, a, b, w[0] + w[1] * a + w[2] * b, 9)
    below.set(xlabel="x", ylabel="x²")
    below.set_zlabel("y", labelpad=-12)
    below.set_title("x ↦ (1, x, x²): a plane")
    below.view_init(12, -150)
    wanted = np.array([P**2 + Q, -2 * P, 1])
    assert np.abs(w - wanted).max() < 0.5
    terms = ", ".join(f"{one:.2f}" for one in w)
    print(f"(1, x, x²): w = ({terms}); of (x - p)² + q it is [p² + q, -2p, 1] = {wanted.tolist()}")


def main():
    random = np.random.default_rng(4)
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(12, 7.4))
        for column, draw in enumerate((draw_fold, draw_squares, draw_powers), start=1):
            above = figure.add_subplot(2, 3, column)
            deep = {} if column == 1 else {"projection": "3d"}
            draw(above, figure.add_subplot(2, 3, 3 + column, **deep), random)
        path = output_folder() / "explicit_maps.png"
        figure.savefig(path)
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
