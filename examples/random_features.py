"""Random features: how they converge to a kernel, and the network of two layers that they are.

    python examples/random_features.py [folder]

Lecture D, items D6 and D7. Writes random_features.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, GREY, INK, ORANGE, STYLE, output_folder

from mercer import KernelRidge
from mercer.features import Nystrom, RandomFourier
from mercer.kernels import Gaussian

COLUMNS = 8
KERNEL = Gaussian(gamma=1 / (2 * COLUMNS))
WIDTHS = [32, 64, 128, 256, 512, 1024, 2048]


def draw_convergence(axes):
    """Draw the error of the kernel against the number of features."""
    X = np.random.default_rng(0).normal(size=(128, COLUMNS))
    ways = {
        "cos(v·x + b), independent": {"method": "iid", "phase": True},
        "cosines and sines, independent": {"method": "iid"},
        "orthogonal": {"method": "orthogonal"},
        "Sobol": {"method": "sobol"},
    }
    for (label, options), colour in zip(ways.items(), [GREY, INK, BLUE, ORANGE], strict=True):
        errors = [
            np.mean(
                [
                    RandomFourier(KERNEL, width, random_state=s, **options).fit(X).measured_error_
                    for s in range(8)
                ]
            )
            for width in WIDTHS
        ]
        axes.loglog(WIDTHS, errors, "o-", color=colour, markersize=3, label=label)
    axes.loglog(WIDTHS, 0.7 / np.sqrt(WIDTHS), color=GREY, linestyle=":", label="∝ 1/√D")
    axes.set(title="error of the kernel", xlabel="features D", ylabel="root mean square")
    axes.legend(fontsize=7)


def draw_kernel(axes):
    """Draw φ(x)·φ(0) along a line, for few and for many features."""
    line = np.linspace(-4, 4, 300)[:, None]
    for width, colour in ((8, GREY), (64, BLUE), (1024, ORANGE)):
        phi = RandomFourier(Gaussian(0.5), width, method="iid", random_state=3).fit(line)
        products = phi.transform(line) @ phi.transform(np.zeros((1, 1)))[0]
        axes.plot(line, products, color=colour, label=f"D = {width}")
    axes.plot(line, Gaussian(0.5)(line, np.zeros((1, 1))), "--", color=INK, label="the kernel")
    axes.set(title="φ(x)·φ(0) and exp(−γx²)", xlabel="x")
    axes.legend(fontsize=7)


def draw_network(axes):
    """Draw a few units of the fixed first layer, and their weighted sum."""
    random = np.random.default_rng(1)
    x = np.sort(random.uniform(-3, 3, 60))
    y = np.sin(2 * x) + 0.3 * x + random.normal(0, 0.15, 60)
    line = np.linspace(-3.5, 3.5, 400)[:, None]
    phi = RandomFourier(n_components=16, phase=True, method="sobol")
    model = KernelRidge(0.1, kernel=Gaussian(1.0), approximation=phi).fit(x[:, None], y)
    units = model.coef_ * model.approximation_.transform(line)
    axes.plot(line, units / np.abs(units).max() - 4, color=BLUE, alpha=0.5, linewidth=0.8)
    axes.scatter(x, y, s=8, color=INK)
    axes.plot(line, model.predict(line), color=ORANGE, linewidth=2)
    axes.annotate("16 units times their weights", (-3.4, -2.8), fontsize=8, color=BLUE)
    axes.set(title="two layers, the first one fixed", xlabel="x", yticks=[-1, 0, 1, 2])


def draw_models(axes):
    """Draw the test error of ridge regression against the number of features."""
    random = np.random.default_rng(2)
    X = random.normal(size=(1500, COLUMNS))
    y = np.sin(X[:, 0]) * X[:, 1] + np.cos(X[:, 2]) + random.normal(0, 0.05, 1500)
    model = KernelRidge(0.01, kernel=KERNEL)

    def error(approximation):
        model.set_params(approximation=approximation).fit(X[:1000], y[:1000])
        return np.mean((model.predict(X[1000:]) - y[1000:]) ** 2)

    widths = [32, 64, 128, 256, 512]
    for kind, colour in ((RandomFourier, BLUE), (Nystrom, ORANGE)):
        errors = [error(kind(n_components=width)) for width in widths]
        axes.loglog(widths, errors, "o-", color=colour, markersize=3, label=kind.__name__)
    axes.axhline(error(None), color=INK, linestyle="--", linewidth=1, label="whole kernel")
    axes.set(title="ridge on features, new points", xlabel="features", ylabel="mean squared error")
    axes.set_xticks(widths, map(str, widths))
    axes.set_yticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
    axes.minorticks_off()
    axes.legend(fontsize=7)


def main():
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 4, figsize=(15, 3.8))
        draw_convergence(axes[0])
        draw_kernel(axes[1])
        draw_network(axes[2])
        draw_models(axes[3])
        path = output_folder() / "random_features.png"
        figure.savefig(path)
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
