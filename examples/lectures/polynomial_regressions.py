"""
Polynomials of four orders, and the one that cross-validation picks
===================================================================

Lecture A, figure 2 (item A5). Polynomials of order 1, 3, 5 and 7 are fitted to 12 points of a line
with noise. The higher the order, the nearer the curve comes to the points, and the larger is its
error on points left out.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge, KernelRidgeCV
from mercer.kernels import Polynomial
from mercer.plots import RegressionBandDisplay, style

ORDERS = [1, 3, 5, 7]
KERNELS = [Polynomial(order) for order in ORDERS]  # (x y + 1)**order
ALPHAS = np.logspace(-5, 1, 19)
LITTLE = 1e-4  # alpha of the curves, so small that they follow the noise

# %%
# Leave-one-out errors have a closed form, so that every order and every alpha is judged by them.


def line_with_noise(seed):
    random = np.random.default_rng(seed)
    x = np.linspace(-1, 1, 12)
    return x[:, None], 0.3 + 0.9 * x + random.normal(0, 0.25, len(x))


def numbers(draws=50):
    x, y = line_with_noise(seed=2)
    judged = [KernelRidgeCV([LITTLE], kernel=kernel).fit(x, y) for kernel in KERNELS]
    picks = [
        KernelRidgeCV(ALPHAS, kernel=KERNELS).fit(*line_with_noise(seed)).kernel_.degree
        for seed in range(draws)
    ]
    return {
        "x": x,
        "y": y,
        "models": [KernelRidge(LITTLE, kernel=kernel).fit(x, y) for kernel in KERNELS],
        "errors": [model.cv_results_["mean_squared_error"][0] for model in judged],
        "search": KernelRidgeCV(ALPHAS, kernel=KERNELS).fit(x, y),
        "shares": {order: picks.count(order) / max(draws, 1) for order in ORDERS},
    }


# %%
# The curves, each with its leave-one-out error; and the error of every order against alpha.


def name(order):
    return "linear" if order == 1 else f"order {order}"


def draw_fit(ax, order, model, error, x, y):
    grid = np.linspace(-1.1, 1.1, 300)
    display = RegressionBandDisplay(x=grid, mean=model.predict(grid[:, None]), X=x[:, 0], y=y)
    display.plot(ax, legend=False)
    ax.plot(grid, 0.3 + 0.9 * grid, color=style.GREY, linewidth=1, linestyle="--")
    ax.set(title=f"{name(order)}: leave-one-out error {error:.2g}", ylim=(-1.6, 2.2))
    ax.label_outer()


def draw_choice(ax, search):
    style.dress(ax)
    errors = search.cv_results_["mean_squared_error"].reshape(len(ORDERS), -1)
    for place, (order, row) in enumerate(zip(ORDERS, errors, strict=True)):
        ax.loglog(ALPHAS, row, color=style.colour_of(place), label=name(order), linewidth=1.8)
    best = errors.ravel()[search.best_index_]
    ax.scatter(search.alpha_, best, s=90, facecolor="none", edgecolor=style.INK, zorder=3)
    ax.annotate("chosen", (search.alpha_, best), (0, -18), textcoords="offset points", ha="center")
    ax.set(title="choice of order and alpha", xlabel="alpha", ylim=(0.05, 5))
    ax.set_ylabel("leave-one-out mean squared error")
    style.add_legend(ax)


def draw(found):
    figure = plt.figure(figsize=(11, 5.4), layout="constrained")
    panels = figure.subplot_mosaic("ABE\nCDE", width_ratios=[1, 1, 1.3])
    for place, letter in enumerate("ABCD"):
        model, error = found["models"][place], found["errors"][place]
        draw_fit(panels[letter], ORDERS[place], model, error, found["x"], found["y"])
    draw_choice(panels["E"], found["search"])
    return figure


# %%
# The dashed line is the truth. With only 12 points the choice depends on the noise.

if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    print(f"Picked: {found['search'].kernel_} with alpha {found['search'].alpha_:.2g}.")
    shares = ", ".join(f"{name(order)} {share:.0%}" for order, share in found["shares"].items())
    print(f"Over 50 draws of the noise: {shares}.")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "polynomial_regressions.png")
