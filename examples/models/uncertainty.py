"""
A regression that says how sure it is
=====================================

Kernel ridge regression is also the mean of a Gaussian process, so that it knows the standard
deviation of a new y. An automatic learner has intervals instead, from errors on rows that its
members have not seen. Where there are no data, the first band widens; the second keeps
its width, since it knows errors only where there are rows.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import AutoKernelRegressor, KernelRidgeCV
from mercer.kernels import Gaussian
from mercer.plots import RegressionBandDisplay, ResidualsDisplay, style

# %%
# A wave whose noise is known, with a gap in the data.


def wave(x):
    return np.sin(2 * x) + 0.4 * x


def sample(seed, n):
    random = np.random.default_rng(seed)
    x = np.concatenate([random.uniform(-3, 0, n // 2), random.uniform(1.2, 3, n - n // 2)])
    return x[:, None], wave(x) + random.normal(0, 0.25, n)


def numbers(n=120, new=2000):
    X, y = sample(0, n)
    X_new, y_new = sample(1, new)
    kernels = [Gaussian(gamma) for gamma in (0.3, 1.0, 3.0)]
    ridge = KernelRidgeCV(kernel=kernels).fit(X, y)
    auto = AutoKernelRegressor(max_candidates=4, random_state=0).fit(X, y)
    mean, spread = ridge.predict(X_new, return_std=True)
    low, high = auto.predict_interval(X_new, 0.9)
    return {
        "X": X, "y": y, "X_new": X_new, "y_new": y_new, "ridge": ridge, "auto": auto,
        "within": float(np.mean(np.abs(y_new - mean) <= 2 * spread)),
        "covered": float(np.mean((low <= y_new) & (y_new <= high))),
    }  # fmt: skip


# %%
# Both bands hold about as many new points as they promise: 95 % of a normal distribution within two
# deviations, and 90 %.


def draw(found):
    figure, panels = plt.subplots(1, 3, figsize=(15, 4.4), layout="constrained")
    X, y = found["X"], found["y"]
    for ax, name, share in ((panels[0], "ridge", "within"), (panels[1], "auto", "covered")):
        RegressionBandDisplay.from_estimator(found[name], X, y, ax=ax)
        ax.set_title(f"{type(found[name]).__name__}: {found[share]:.0%} of new y in the band")
    ResidualsDisplay.from_estimator(found["ridge"], found["X_new"], found["y_new"], ax=panels[2])
    panels[2].set_title("residuals of new points")
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    print(
        f"Within two deviations: {found['within']:.1%} of new y; in the interval of 90 %: "
        f"{found['covered']:.1%}."
    )
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "uncertainty.png")
