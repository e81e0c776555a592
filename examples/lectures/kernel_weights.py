"""
SimpleMKL chooses widths and columns
====================================

Lecture E, multiple kernel learning (item E5). The classes depend on two of five columns: smoothly
on the second, in narrow stripes on the fourth. SimpleMKL starts from equal weights of 5 × 4
Gaussian kernels and ends with few of them; the level method ends at the same place with fewer
machines.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import MKLClassifier
from mercer.kernels import Gaussian
from mercer.plots import ConvergenceDisplay, KernelWeightsDisplay, style

GAMMAS, COLUMNS = (0.1, 1.0, 10.0, 100.0), 5
PAIRS = [(column, gamma) for column in range(COLUMNS) for gamma in GAMMAS]
KERNELS = [Gaussian(gamma).on([column]) for column, gamma in PAIRS]
NAMES = [f"column {column + 1}, γ = {gamma:g}" for column, gamma in PAIRS]

# %%
# Three ways to weigh the kernels: SimpleMKL, the level method, and equal weights.


def data(random, n):
    X = random.uniform(-1, 1, (n, COLUMNS))
    score = 1.6 * X[:, 1] + np.sin(9 * X[:, 3]) + random.normal(0, 0.1, n)
    return X, np.where(score > 0, 1, -1)


def numbers(n=500, gap=1e-3):
    random = np.random.default_rng(4)
    X, y = data(random, n)
    new, truth = data(random, 2000)
    models = {
        "SimpleMKL": MKLClassifier(KERNELS, C=2.0, algorithm="simple", gap_tol=gap).fit(X, y),
        "level method": MKLClassifier(KERNELS, C=2.0, algorithm="level", gap_tol=gap).fit(X, y),
        "equal weights": MKLClassifier(KERNELS, C=2.0, algorithm="average").fit(X, y),
    }
    return {
        "models": models,
        "scores": {name: model.score(new, truth) for name, model in models.items()},
        "table": models["SimpleMKL"].weights_.reshape(COLUMNS, len(GAMMAS)),
    }


# %%
# The least objective so far, the weights by step, and the weights in the end.


def draw_objective(ax, found):
    for place, name in enumerate(("SimpleMKL", "level method")):
        history = found["models"][name].history_
        best = np.minimum.accumulate(history["objective"])
        display = ConvergenceDisplay(
            steps=history["solves"], series={name: best}, log=False, name="machines solved"
        )
        display.plot(ax, legend=False)
        ax.lines[-1].set_color(style.colour_of(place))
    ax.set(title="objective", ylabel="least objective so far")
    style.add_legend(ax)


def draw_table(ax, table):
    image = ax.imshow(table, cmap=style.SHARES, vmin=0, aspect="auto")
    style.undress(ax)
    style.add_scale(ax, image, "weight")
    ax.set_xticks(range(len(GAMMAS)), [f"{gamma:g}" for gamma in GAMMAS])
    ax.set_yticks(range(COLUMNS), range(1, COLUMNS + 1))
    ax.set(xlabel="γ", ylabel="column", title="weights in the end")


def draw(found):
    figure, panels = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
    draw_objective(panels[0], found)
    simple = found["models"]["SimpleMKL"]
    KernelWeightsDisplay.from_estimator(simple, by="step", names=NAMES, most=4, ax=panels[1])
    panels[1].set_title("weights of SimpleMKL")
    draw_table(panels[2], found["table"])
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for name, model in found["models"].items():
        certificate = model.certificate_
        print(
            f"{name:14} {certificate.solves:3} machines, {certificate.active:2} kernels, "
            f"{found['scores'][name]:.1%} of new points right"
        )
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "kernel_weights.png")
