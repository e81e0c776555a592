"""
Random features: how they converge, and the network that they are
=================================================================

Lecture D, items D6 and D7. Waves of random frequencies have dot products that tend to the Gaussian
kernel, with an error that falls like one over the root of their number; points of a Sobol sequence
do better than independent draws. A model on such features is a network of two layers whose first
layer is fixed.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge
from mercer.features import Nystrom, RandomFourier
from mercer.kernels import Gaussian
from mercer.plots import FeatureConvergenceDisplay, RegressionBandDisplay, style

COLUMNS = 8
KERNEL = Gaussian(gamma=1 / (2 * COLUMNS))
WAYS = {
    "cos(v·x + b)": RandomFourier(KERNEL, method="iid", phase=True),
    "cosines and sines": RandomFourier(KERNEL, method="iid"),
    "orthogonal": RandomFourier(KERNEL, method="orthogonal"),
    "Sobol": RandomFourier(KERNEL, method="sobol"),
}

# %%
# Errors of the kernel, a kernel along a line, a network, and errors of models.


def kernel_along(widths=(8, 64, 1024)):
    """Return phi(x)·phi(0) along a line, for few and for many features."""
    line, zero = np.linspace(-4, 4, 300)[:, None], np.zeros((1, 1))
    products = {}
    for width in widths:
        phi = RandomFourier(Gaussian(0.5), width, method="iid", random_state=3).fit(line)
        products[width] = phi.transform(line) @ phi.transform(zero)[0]
    return {"x": line[:, 0], "kernel": Gaussian(0.5)(line, zero)[:, 0], "products": products}


def network():
    """Return a model of 16 features, and each of them times its weight."""
    random = np.random.default_rng(1)
    x = np.sort(random.uniform(-3, 3, 60))
    y = np.sin(2 * x) + 0.3 * x + random.normal(0, 0.15, 60)
    phi = RandomFourier(n_components=16, phase=True, method="sobol")
    model = KernelRidge(0.1, kernel=Gaussian(1.0), approximation=phi).fit(x[:, None], y)
    grid = np.linspace(-3.5, 3.5, 400)[:, None]
    units = model.coef_ * model.approximation_.transform(grid)
    return {"x": x, "y": y, "grid": grid, "model": model, "units": units}


def model_errors(n, widths):
    """Return mean squared errors of ridge regression on new points, by number of features."""
    random = np.random.default_rng(2)
    X = random.normal(size=(n + 500, COLUMNS))
    y = np.sin(X[:, 0]) * X[:, 1] + np.cos(X[:, 2]) + random.normal(0, 0.05, n + 500)

    def error(approximation):
        model = KernelRidge(0.01, kernel=KERNEL, approximation=approximation).fit(X[:n], y[:n])
        return float(np.mean((model.predict(X[n:]) - y[n:]) ** 2))

    found = {
        kind.__name__: [error(kind(n_components=width)) for width in widths]
        for kind in (RandomFourier, Nystrom)
    }
    return {"widths": list(widths), "errors": found, "whole": error(None)}


def numbers(points=128, repeats=8, n=1000, widths=(32, 64, 128, 256, 512)):
    return {
        "X": np.random.default_rng(0).normal(size=(points, COLUMNS)),
        "repeats": repeats,
        "along": kernel_along(),
        "network": network(),
        "models": model_errors(n, widths),
    }


# %%
# The bands are the smallest and the largest error of several draws.


def draw_along(ax, along):
    style.dress(ax)
    for place, (width, values) in enumerate(along["products"].items()):
        ax.plot(along["x"], values, color=style.colour_of(place), label=f"D = {width}")
    ax.plot(along["x"], along["kernel"], "--", color=style.INK, label="the kernel")
    ax.set(title="φ(x)·φ(0)", xlabel="x")
    style.add_legend(ax)


def draw_network(ax, found):
    x, y, grid, model, units = (found[k] for k in ("x", "y", "grid", "model", "units"))
    curve = RegressionBandDisplay(x=grid[:, 0], mean=model.predict(grid), X=x, y=y)
    curve.plot(ax, legend=False)
    ax.plot(grid, units / np.abs(units).max() - 4, color=style.ORANGE, alpha=0.6, linewidth=0.8)
    ax.annotate("16 units times their weights", (-3.4, -2.8), color=style.ORANGE)
    ax.set(title="two layers, the first one fixed", ylim=(-5.3, 2), yticks=[-1, 0, 1, 2])


def draw_models(ax, found):
    style.dress(ax)
    for place, (name, errors) in enumerate(found["errors"].items()):
        look = {"color": style.colour_of(place), "marker": style.mark_of(place), "markersize": 4}
        ax.loglog(found["widths"], errors, label=name, **look)
    ax.axhline(found["whole"], color=style.INK, linestyle="--", linewidth=1, label="whole kernel")
    ax.set_xticks(found["widths"], map(str, found["widths"]))
    ax.minorticks_off()
    ax.set(title="ridge on features, new points", xlabel="number of features")
    ax.set_ylabel("mean squared error")
    style.add_legend(ax)


def draw(found):
    figure, panels = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    FeatureConvergenceDisplay.from_estimator(
        WAYS, found["X"], widths=[32, 64, 128, 256, 512, 1024], n_repeats=found["repeats"],
        ax=panels[0, 0],
    )  # fmt: skip
    panels[0, 0].set_title("error of the kernel")
    draw_along(panels[0, 1], found["along"])
    draw_network(panels[1, 0], found["network"])
    draw_models(panels[1, 1], found["models"])
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    models = found["models"]
    for name, errors in models["errors"].items():
        text = ", ".join(f"{error:.3f}" for error in errors)
        print(f"{name:14} errors {text}; the whole kernel {models['whole']:.3f}")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "random_features.png")
