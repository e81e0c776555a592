"""SimpleMKL chooses widths and columns: the objective and the weights, step by step.

    python examples/kernel_weights.py [folder]

Lecture E, multiple kernel learning (item E5). The classes depend on two of five columns: smoothly
on the second, in narrow stripes on the fourth. SimpleMKL starts from equal weights of 5 x 4
Gaussian kernels and ends with few of them; the level method ends at the same place with fewer
machines. Writes kernel_weights.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, COLOURS, GREY, INK, ORANGE, STYLE, output_folder

from mercer import MKLClassifier
from mercer.kernels import Gaussian

GAMMAS = (0.1, 1.0, 10.0, 100.0)
COLUMNS = 5


def data(random, n):
    X = random.uniform(-1, 1, (n, COLUMNS))
    score = 1.6 * X[:, 1] + np.sin(9 * X[:, 3]) + random.normal(0, 0.1, n)
    return X, np.where(score > 0, 1, -1)


def draw_objective(axes, simple, level):
    for model, colour, name in ((simple, BLUE, "SimpleMKL"), (level, ORANGE, "level method")):
        best = np.minimum.accumulate(model.history_["objective"])
        axes.plot(model.history_["solves"], best, "o-", color=colour, markersize=3.5, label=name)
    last = simple.history_["objective"][-1]
    axes.axhline(last, color=GREY, linewidth=0.8, zorder=0)
    axes.set(xlabel="machines solved", ylabel="least objective so far", title="Objective")
    axes.legend(frameon=False)


def draw_weights(axes, model, kernels):
    weights = model.history_["weights"]
    solves = model.history_["solves"]
    names = iter(COLOURS)
    for place in np.argsort(-weights[-1]):
        final = weights[-1, place] > 0.06
        column, gamma = kernels[place]
        colour = next(names, INK) if final else GREY
        axes.plot(
            solves,
            weights[:, place],
            color=colour,
            linewidth=1.8 if final else 0.6,
            label=f"column {column + 1}, γ = {gamma:g}" if final else None,
        )
    axes.set(xlabel="machines solved", ylabel="weight", title="Weights of SimpleMKL", ylim=(0, 1))
    axes.legend(frameon=False, loc="upper right")


def draw_table(axes, model, kernels):
    table = np.zeros((COLUMNS, len(GAMMAS)))
    for weight, (column, gamma) in zip(model.weights_, kernels, strict=True):
        table[column, GAMMAS.index(gamma)] = weight
    picture = axes.imshow(table, cmap="Blues", vmin=0, aspect="auto")
    axes.set_xticks(range(len(GAMMAS)), [f"{gamma:g}" for gamma in GAMMAS])
    axes.set_yticks(range(COLUMNS), range(1, COLUMNS + 1))
    axes.set(xlabel="γ", ylabel="column", title="Final weights")
    axes.spines[:].set_visible(False)
    axes.figure.colorbar(picture, ax=axes, shrink=0.8)


def main():
    random = np.random.default_rng(4)
    X, y = data(random, 500)
    new, truth = data(random, 2000)
    kernels = [(column, gamma) for column in range(COLUMNS) for gamma in GAMMAS]
    values = [Gaussian(gamma).on([column]) for column, gamma in kernels]
    simple = MKLClassifier(values, C=2.0, algorithm="simple", gap_tol=1e-3).fit(X, y)
    level = MKLClassifier(values, C=2.0, algorithm="level", gap_tol=1e-3).fit(X, y)
    even = MKLClassifier(values, C=2.0, algorithm="average").fit(X, y)
    plt.rcParams.update(STYLE)
    figure, axes = plt.subplots(1, 3, figsize=(13, 4))
    draw_objective(axes[0], simple, level)
    draw_weights(axes[1], simple, kernels)
    draw_table(axes[2], level, kernels)
    path = output_folder() / "kernel_weights.png"
    figure.savefig(path)
    print(path)
    for name, model in (("SimpleMKL", simple), ("level method", level), ("equal weights", even)):
        found = model.certificate_
        score = model.score(new, truth)
        print(f"{name}: {found.solves} machines, {found.active} kernels, accuracy {score:.3f}")


if __name__ == "__main__":
    main()
