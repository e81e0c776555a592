"""
Three explicit maps that make their data linear
===============================================

Lecture B, item B14: ``x -> (x, |x|)`` and ``(x, y) -> (x, y², x²)`` make classes separable that no
line separates, and ``x -> (1, x, x²)`` fits a parabola by a plane. The kernel of a map is
``Linear().of(map)``, and the sum of the coefficients times the mapped points is what was learnt.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull

from mercer import SVC, KernelRidge
from mercer.kernels import Linear
from mercer.plots import DecisionBoundaryDisplay, style

P, Q = 2.0, 1.0  # the parabola of the lecture, (x - P)**2 + Q

# %%
# The maps, and data that each of them is made for.


def fold(X):
    return np.column_stack([X, np.abs(X)])


def squares(X):
    return np.column_stack([X[:, 0], X[:, 1] ** 2, X[:, 0] ** 2])


def powers(X):
    return np.column_stack([np.ones(len(X)), X, X**2])


def between(random):
    """Return points of a line, one class between the others."""
    near, far = random.uniform(-0.8, 0.8, 18), random.uniform(1.25, 2.8, 22)
    x = np.concatenate([near, far * random.choice([-1, 1], 22)])
    return x[:, None], np.repeat([-1, 1], [18, 22])


def ellipse(random):
    """Return points within and around an ellipse, none of them near its border."""
    X = random.uniform((-1.2, -1.6), (2.4, 1.6), (110, 2))
    height = ((X[:, 0] - 0.6) / 1.3) ** 2 + X[:, 1] ** 2 - 1
    keep = np.abs(height) > 0.25
    return X[keep], np.sign(height[keep]).astype(int)


def parabola(random):
    x = np.sort(random.uniform(-0.5, 4.5, 40))
    return x[:, None], (x - P) ** 2 + Q + random.normal(0, 0.35, 40)


def numbers():
    random = np.random.default_rng(4)
    found = {}
    for name, phi, (X, y) in (
        ("fold", fold, between(random)),
        ("squares", squares, ellipse(random)),
    ):
        model = SVC(np.inf, kernel=Linear().of(phi)).fit(X, y)
        w = model.dual_coef_[0] @ phi(X[model.support_])
        found[name] = {"X": X, "y": y, "model": model, "w": w}
    X, y = parabola(random)
    model = KernelRidge(1e-6, kernel=Linear().of(powers)).fit(X, y)
    found["powers"] = {"X": X, "y": y, "model": model, "w": model.dual_coef_ @ powers(X)}
    return found


# %%
# Above: the data as they are. Below: the same data in the new space.


def draw_fold(above, below, X, y, model, w):
    row = np.column_stack([X, np.full(len(X), 1.3)])
    x1, x2 = np.linspace(-3, 3, 200), np.linspace(-0.4, 3, 200)
    along = np.tile(model.decision_function(x1[:, None]), (200, 1))
    options = {"x1": x1, "x2": x2, "classes": [-1, 1], "y": y}
    DecisionBoundaryDisplay(scores=along, X=row, **options).plot(above, legend=False)
    above.set(xlabel="x", ylabel="", yticks=[], title="x: no single threshold separates them")
    above.spines["left"].set_visible(False)
    plane = w[0] * x1[None] + w[1] * x2[:, None] + model.intercept_[0]
    folded = DecisionBoundaryDisplay(scores=plane, X=fold(X), margin=True, **options)
    folded.plot(below, legend=False)
    below.plot([-3, 0, 3], [3, 0, 3], color=style.GREY, linewidth=0.8)
    margin = model.certificate_.margin
    below.set(xlabel="x", ylabel="|x|", title=f"x ↦ (x, |x|): margin {margin:.2f}")


def draw_squares(above, below, X, y, model, w):
    DecisionBoundaryDisplay.from_estimator(model, X, y, support=False, ax=above, legend=False)
    above.set(xlabel="x", ylabel="y", title="(x, y): no straight line separates them")
    for label, code in ((-1, 0), (1, 1)):
        marks = {"color": style.colour_of(code), "marker": style.mark_of(code), "s": 18}
        below.scatter(*squares(X)[y == label].T, **marks, depthshade=False)
    offset = model.intercept_[0]
    draw_plane(below, (-1.2, 2.4), (0, 2.6), 6, lambda a, b: -(w[0] * a + w[1] * b + offset) / w[2])
    below.set(xlabel="x", ylabel="y²", zlabel="x²")
    below.set_title(f"(x, y) ↦ (x, y², x²): margin {model.certificate_.margin:.2f}")
    below.view_init(24, -140)


def draw_powers(above, below, X, y, model, w):
    style.dress(above)
    grid = np.linspace(-0.8, 4.8, 200)
    straight = np.polynomial.Polynomial.fit(X[:, 0], y, 1)
    above.plot(grid, straight(grid), color=style.GREY, linestyle="--", label="best straight line")
    above.plot(grid, model.predict(grid[:, None]), color=style.BLUE, linewidth=2, label="ridge")
    above.scatter(X, y, s=18, color=style.INK, zorder=3)
    style.add_legend(above, "upper center")
    above.set(xlabel="x", ylabel="y", title="x: no straight line fits")
    below.scatter(X[:, 0], X[:, 0] ** 2, y, s=18, color=style.INK, depthshade=False)
    below.plot(grid, grid**2, model.predict(grid[:, None]), color=style.BLUE, linewidth=1.5)
    draw_plane(below, (-1, 5), (0, 24), 10, lambda a, b: w[0] + w[1] * a + w[2] * b)
    below.set(xlabel="x", ylabel="x²", zlabel="y", title="x ↦ (1, x, x²): a plane fits")
    below.view_init(24, -105)


def draw_plane(ax, a_range, b_range, top, height):
    """Draw the part of the plane height(a, b) that lies in a box of this top."""
    a, b = np.meshgrid(np.linspace(*a_range, 200), np.linspace(*b_range, 200))
    inside = (height(a, b) >= 0) & (height(a, b) <= top)
    corners = np.column_stack([a[inside], b[inside], height(a, b)[inside]])
    border = ConvexHull(corners[:, :2]).vertices
    ax.add_collection3d(
        Poly3DCollection([corners[border]], facecolor=style.GREY, edgecolor=style.INK, alpha=0.35)
    )
    ax.set(xlim=a_range, ylim=b_range, zlim=(0, top))
    ax.set_box_aspect((1, 1, 0.85), zoom=0.95)
    ax.locator_params(nbins=5)
    ax.tick_params(pad=1, labelsize=9)


def draw(found):
    figure = plt.figure(figsize=(13, 8.4), layout="constrained")
    places = figure.add_gridspec(2, 3, height_ratios=[1, 1.35])
    drawn = {"fold": draw_fold, "squares": draw_squares, "powers": draw_powers}
    for column, (name, draw_one) in enumerate(drawn.items()):
        deep = {"projection": "3d"} if column else {}
        above, below = (
            figure.add_subplot(places[0, column]),
            figure.add_subplot(places[1, column], **deep),
        )
        draw_one(above, below, **found[name])
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for name, one in found.items():
        print(f"{name:8} w = ({', '.join(f'{value:.2f}' for value in one['w'])})")
    print(f"Of (x - p)² + q it is (p² + q, -2p, 1) = ({P**2 + Q:g}, {-2 * P:g}, 1).")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "explicit_maps.png")
