"""Three explicit maps: data that no line separates or fits, and a line or plane in the new space.

    python examples/explicit_maps.py [folder]

Lecture B, item B14: x -> (x, |x|), (x, y) -> (x, y², x²) and x -> (1, x, x²). The kernel of a map
is Linear().of(map), and w = sum of a_i phi(x_i) is what it learned. Writes explicit_maps.png into
the folder.
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


def draw_plane(axes, a_range, b_range, top, height):
    """Draw the part of the plane height(a, b) that lies in a box of this top."""
    a, b, _ = plane(a_range, b_range)
    inside = (height(a, b) >= 0) & (height(a, b) <= top)
    corners = np.column_stack([a[inside], b[inside], height(a, b)[inside]])
    border = ConvexHull(corners[:, :2]).vertices
    sheet = Poly3DCollection([corners[border]], facecolor=GREY, edgecolor=INK, alpha=0.35)
    axes.add_collection3d(sheet)
    axes.set(xlim=a_range, ylim=b_range, zlim=(0, top))
    axes.set_box_aspect((1, 1, 0.85), zoom=0.9)
    axes.locator_params(nbins=5)
    axes.tick_params(pad=1, labelsize=9)


def draw_fold(above, below, random):
    """Draw points on a line, one class between the others; then the same points, folded."""
    near, far = random.uniform(-0.8, 0.8, 18), random.uniform(1.25, 2.8, 22)
    x = np.concatenate([near, far * random.choice([-1, 1], 22)])
    y = np.repeat([-1, 1], [18, 22])
    model, w = separate(fold, x[:, None], y)
    x1, x2, grid = plane((-3, 3), (-0.4, 3))
    draw_sides(above, x1, x2, model.decision_function(grid[:, :1]), margin=False)
    draw_points(above, np.column_stack([x, np.full(40, 1.3)]), y, size=34)
    above.set(
        xlabel="x", ylabel="", yticks=[], title="x: no single threshold separates the classes"
    )
    above.spines["left"].set_visible(False)

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
    X = random.uniform((-1.2, -1.6), (2.4, 1.6), (110, 2))
    height = ((X[:, 0] - 0.6) / 1.3) ** 2 + X[:, 1] ** 2 - 1
    keep = np.abs(height) > 0.25
    X, y = X[keep], np.sign(height[keep]).astype(int)
    model, w = separate(squares, X, y)
    x1, x2, grid = plane((-1.3, 2.5), (-1.7, 1.7))
    draw_sides(above, x1, x2, model.decision_function(grid))
    draw_points(above, X, y, size=28)
    above.set(xlabel="x", ylabel="y", title="(x, y): no straight line separates them")

    mapped = squares(X)
    for label, colour, marker in ((-1, BLUE, "o"), (1, ORANGE, "^")):
        below.scatter(*mapped[y == label].T, s=18, color=colour, marker=marker, depthshade=False)
    offset = model.intercept_[0]
    draw_plane(below, (-1.2, 2.4), (0, 2.6), 6, lambda a, b: -(w[0] * a + w[1] * b + offset) / w[2])
    below.set(xlabel="x", ylabel="y²", zlabel="x²")
    below.set_title(f"(x, y) ↦ (x, y², x²): margin {model.certificate_.margin:.2f}")
    below.view_init(24, -140)
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
    above.plot(
        grid, line(grid), color=GREY, linewidth=1.2, linestyle="--", label="best straight line"
    )
    above.plot(
        grid, model.predict(grid[:, None]), color=INK, linewidth=1.8, label="ridge with the map"
    )
    above.scatter(x, y, s=24, color=BLUE, edgecolor="white", linewidth=0.5, zorder=3)
    above.legend(frameon=False, loc="upper center")
    above.set(xlabel="x", ylabel="y", title="x: no straight line fits")

    below.scatter(x, x**2, y, s=18, color=BLUE, depthshade=False)
    below.plot(grid, grid**2, model.predict(grid[:, None]), color=INK, linewidth=1.5)
    draw_plane(below, (-1, 5), (0, 24), 10, lambda a, b: w[0] + w[1] * a + w[2] * b)
    below.set(xlabel="x", ylabel="x²", zlabel="y")
    below.set_title("x ↦ (1, x, x²): a plane fits")
    below.view_init(24, -105)
    wanted = np.array([P**2 + Q, -2 * P, 1])
    assert np.abs(w - wanted).max() < 0.5
    terms = ", ".join(f"{one:.2f}" for one in w)
    print(f"(1, x, x²): w = ({terms}); of (x - p)² + q it is [p² + q, -2p, 1] = {wanted.tolist()}")


def main():
    random = np.random.default_rng(4)
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(13, 8.4))
        places = figure.add_gridspec(2, 3, height_ratios=[1, 1.35])
        for column, draw in enumerate((draw_fold, draw_squares, draw_powers)):
            deep = {"projection": "3d"} if column else {}
            above = figure.add_subplot(places[0, column])
            draw(above, figure.add_subplot(places[1, column], **deep), random)
        path = output_folder() / "explicit_maps.png"
        figure.savefig(path)
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
