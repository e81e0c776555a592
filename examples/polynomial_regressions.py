"""Polynomials of four orders fitted to data from a line; cross-validation picks the line.

    python examples/polynomial_regressions.py [folder]

Lecture A, figure 2 (item A5). Writes polynomial_regressions.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, COLOURS, GREY, INK, STYLE, output_folder

from mercer import KernelRidge, KernelRidgeCV
from mercer.kernels import Polynomial

ORDERS = [1, 3, 5, 7]
KERNELS = [Polynomial(order) for order in ORDERS]  # (x y + 1)**order
ALPHAS = np.logspace(-5, 1, 19)
LITTLE = 1e-4  # alpha of the curves, so small that they follow the noise
DRAWS = 50


def line_with_noise(seed):
    """Return 12 points of a line, with noise."""
    random = np.random.default_rng(seed)
    x = np.linspace(-1, 1, 12)
    return x[:, None], 0.3 + 0.9 * x + random.normal(0, 0.25, len(x))


def name(order):
    return "linear" if order == 1 else f"order {order}"


def draw_fit(axes, order, x, y):
    """Draw the polynomial of one order; its title has the leave-one-out error."""
    model = KernelRidge(LITTLE, kernel=Polynomial(order)).fit(x, y)
    judged = KernelRidgeCV([LITTLE], kernel=Polynomial(order)).fit(x, y)
    error = judged.cv_results_["mean_squared_error"][0]
    grid = np.linspace(-1.1, 1.1, 300)[:, None]
    axes.plot(grid, 0.3 + 0.9 * grid, color=GREY, linewidth=1, linestyle="--", label="true line")
    axes.plot(grid, model.predict(grid), color=BLUE, linewidth=2, label=f"fit, alpha {LITTLE:g}")
    axes.scatter(x, y, color=INK, s=18, zorder=3)
    axes.set(
        title=f"{name(order)}: leave-one-out error {error:.2g}",
        ylim=(-1.6, 2.2),
        xticks=[-1, 0, 1],
        xlabel="x",
        ylabel="y",
    )


def draw_choice(axes, search):
    """Draw the leave-one-out error of every order and alpha, with the choice circled."""
    errors = search.cv_results_["mean_squared_error"].reshape(len(ORDERS), -1)
    for order, row, colour in zip(ORDERS, errors, COLOURS, strict=True):
        axes.loglog(ALPHAS, row, color=colour, label=name(order), linewidth=1.8)
    best = errors.ravel()[search.best_index_]
    axes.scatter(
        search.alpha_, best, s=90, facecolor="none", edgecolor=INK, linewidth=1.5, zorder=3
    )
    axes.annotate(
        "chosen", (search.alpha_, best), (0, -14), textcoords="offset points", ha="center", va="top"
    )
    axes.set(title="choice of order and alpha", xlabel="alpha", ylim=(0.05, 5))
    axes.set_ylabel("leave-one-out mean squared error")
    axes.legend(frameon=False)


def main():
    x, y = line_with_noise(seed=2)
    search = KernelRidgeCV(ALPHAS, kernel=KERNELS).fit(x, y)
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(11, 5.4))
        panels = figure.subplot_mosaic("ABE\nCDE", width_ratios=[1, 1, 1.3])
        for letter, order in zip("ABCD", ORDERS, strict=True):
            draw_fit(panels[letter], order, x, y)
            panels[letter].label_outer()
        panels["A"].legend(frameon=False, loc="upper left", fontsize=9)
        draw_choice(panels["E"], search)
        path = output_folder() / "polynomial_regressions.png"
        figure.savefig(path)

    assert search.kernel_ == Polynomial(1), search.kernel_
    print(f"Cross-validation picks {search.kernel_} with alpha {search.alpha_:.2g}: linear.")
    picks = [
        KernelRidgeCV(ALPHAS, kernel=KERNELS).fit(*line_with_noise(s)).kernel_ for s in range(DRAWS)
    ]
    shares = ", ".join(f"{name(k.degree)} {picks.count(k) / DRAWS:.0%}" for k in KERNELS)
    print(f"With only 12 points the choice varies. Over {DRAWS} draws of the noise: {shares}.")
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
