"""
Is it a kernel?
===============

A function of two points is a kernel if no Gram matrix of it has a negative eigenvalue (lectures B
and D, items B1 and D2). Two functions that look alike, on the five points (0, 0), (±1, 0), (0, ±1):
with the city-block distance in the exponent it is a kernel, with its square, as one of the lectures
prints it, it is not. ``check_kernel`` finds the combination of points that refutes it.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import check_kernel
from mercer.kernels import FunctionKernel, Laplacian
from mercer.plots import GramDisplay, style

POINTS = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=float)

# %%
# The second function looks like a kernel, and is symmetric and largest for equal points.


def squared_city_block(X, Y):
    return np.exp(-0.25 * np.abs(X[:, None] - Y[None]).sum(axis=-1) ** 2)


KERNELS = {
    "exp(−‖x − y‖₁ / 4)": Laplacian(0.25),
    "exp(−‖x − y‖₁² / 4)": FunctionKernel(squared_city_block),
}


def numbers():
    return {
        title: {
            "matrix": kernel(POINTS),
            "values": np.linalg.eigvalsh(kernel(POINTS))[::-1],
            "certificate": check_kernel(kernel, POINTS),
        }
        for title, kernel in KERNELS.items()
    }


# %%
# The Gram matrices hardly differ. Their eigenvalues do: one negative is enough, since no feature
# space has such dot products.


def draw_values(ax, values, certificate):
    style.dress(ax)
    colours = [style.ORANGE if value < 0 else style.BLUE for value in values]
    bars = ax.bar(range(1, len(values) + 1), values, color=colours, width=0.6)
    ax.bar_label(bars, [f"{value:.2f}".replace("-", "−") for value in values], padding=3)
    ax.axhline(0, color=style.INK, linewidth=1)
    verdict = "a kernel on these points" if certificate.is_psd else "not a kernel"
    ax.set(title=verdict, xlabel="eigenvalues, largest first", ylabel="value", ylim=(-0.75, 4.3))
    ax.spines["bottom"].set_visible(False)


def draw(found):
    figure, panels = plt.subplots(1, 4, figsize=(15, 3.8), layout="constrained")
    for pair, (title, one) in zip(panels.reshape(2, 2), found.items(), strict=True):
        GramDisplay(matrix=one["matrix"], title=title, caption="five points").plot(pair[0])
        draw_values(pair[1], one["values"], one["certificate"])
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for title, one in found.items():
        print(title, one["certificate"], sep="\n")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "validity.png")
