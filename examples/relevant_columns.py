"""Which of many columns matter: a gamma per column, tuned by the gradient of leave-one-out.

    python examples/relevant_columns.py [folder]

Lecture B, item B9: parameters of a kernel tuned automatically. Writes relevant_columns.png into the
folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, GREY, INK, ORANGE, STYLE, output_folder

from mercer import KernelRidge, PerColumn, tune
from mercer.kernels import Gaussian

COLUMNS, RELEVANT = 20, 3
ALPHA = (1e-4, 1e2)


def sample(seed, n=400):
    """Return rows of which the first three columns decide on y."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, COLUMNS))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2 + np.cos(2 * X[:, 2])
    return X, y + random.normal(0, 0.1, n)


def draw_gammas(axes, gamma, one):
    """Draw the gamma of every column."""
    colours = [ORANGE] * RELEVANT + [BLUE] * (COLUMNS - RELEVANT)
    axes.bar(np.arange(1, COLUMNS + 1), gamma, bottom=1e-6, color=colours)
    axes.axhline(one, color=GREY, linestyle="--", linewidth=1)
    axes.annotate(
        "best single gamma", (COLUMNS + 0.5, one), (0, 4), textcoords="offset points", ha="right"
    )
    axes.set(
        yscale="log",
        ylim=(1e-6, 10),
        xticks=[1, 2, 3, 5, 10, 15, 20],
        xlabel="column (y depends on 1 to 3)",
        ylabel="gamma",
        title="what was found",
    )


def draw_predictions(axes, found, title):
    """Draw predictions of new points against what they should be."""
    X, y = sample(seed=1)
    values = found.model.predict(X)
    ends = [y.min(), y.max()]
    axes.plot(ends, ends, color=GREY, linewidth=1)
    axes.scatter(y, values, s=8, color=INK, alpha=0.6, edgecolor="none")
    error = np.mean((values - y) ** 2)
    axes.set(title=f"{title}\nmean squared error {error:.3f}", xlabel="y", ylabel="predicted")


def draw_search(axes, found):
    """Draw the score of points left out along the search."""
    scores = 1 - np.array(found.table["mean_test_score"])
    axes.semilogy(np.minimum.accumulate(scores), color=BLUE, linewidth=2)
    axes.set(
        title=f"the search: {found.seconds:.1f} s",
        xlabel="evaluations",
        ylabel="1 − R² of points left out, best so far",
    )


def main():
    X, y = sample(seed=0)
    model = KernelRidge(kernel=Gaussian(), fit_intercept=True)
    one = tune(model, X, y, {"kernel__gamma": (1e-4, 1e1), "alpha": ALPHA}, random_state=0)
    space = {"kernel__gamma": PerColumn(1e-6, 1e1), "alpha": ALPHA}
    each = tune(model, X, y, space, random_state=0)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 4, figsize=(14, 3.8), width_ratios=[1.3, 1, 1, 1])
        draw_gammas(axes[0], np.array(each.params["kernel__gamma"]), one.params["kernel__gamma"])
        draw_search(axes[1], each)
        draw_predictions(axes[2], one, "one gamma")
        draw_predictions(axes[3], each, "a gamma per column")
        path = output_folder() / "relevant_columns.png"
        figure.savefig(path)
    most = np.sort(np.argsort(each.params["kernel__gamma"])[-RELEVANT:]) + 1
    print(f"Columns with the largest gamma: {', '.join(map(str, most))}.")
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
