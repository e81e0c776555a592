"""
Series of any length: all alignments at once
============================================

``GlobalAlignment`` compares two series by summing over all ways to align them, so that shapes which
come earlier or later, slower or faster, are still alike. The series here are of three shapes:
a plateau, a slow rise and a slow fall, which begin and end at random.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import SVC, KernelPCA
from mercer.kernels import Gaussian, GlobalAlignment
from mercer.plots import EmbeddingDisplay, GramDisplay, style

SHAPES = ("cylinder", "bell", "funnel")
LENGTH = 48  # to which series are resampled for a kernel of rows

# %%
# Cylinder, bell and funnel: a classic collection, here with lengths from 44 to 56.


def cylinder_bell_funnel(each, seed=0):
    random, series, shapes = np.random.default_rng(seed), [], []
    for shape in SHAPES:
        for _ in range(each):
            length = int(random.integers(44, 57))
            start = int(random.integers(4, 20))
            end = start + int(random.integers(14, length - start - 2))
            time = np.arange(length)
            inside = (time >= start) & (time <= end)
            rise = (time - start) / (end - start)
            level = {"cylinder": 1.0, "bell": rise, "funnel": 1 - rise}[shape]
            height = random.normal(4, 0.7) * inside * level
            series.append(height + random.normal(0, 0.5, length))
            shapes.append(shape)
    return series, np.array(shapes)


def resampled(series):
    """Return the series as rows of one length, as a kernel of rows needs them."""
    return np.array(
        [np.interp(np.linspace(0, 1, LENGTH), np.linspace(0, 1, len(x)), x) for x in series]
    )


# %%
# The Gaussian kernel of resampled series compares moment by moment; alignments do better.


def numbers(each=30):
    series, shapes = cylinder_bell_funnel(each)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    kernel = GlobalAlignment().resolve(series)
    return {
        "series": series, "shapes": shapes, "kernel": kernel,
        "aligned": cross_val_score(SVC(10, kernel=kernel), series, shapes, cv=folds).mean(),
        "rows": cross_val_score(
            SVC(10, kernel=Gaussian()), resampled(series), shapes, cv=folds
        ).mean(),
    }  # fmt: skip


def draw(found):
    series, shapes, kernel = found["series"], found["shapes"], found["kernel"]
    figure = plt.figure(figsize=(13, 4.4), layout="constrained")
    panels = figure.subplot_mosaic("agz;bgz;cgz", width_ratios=[1, 1.15, 1.15])
    for code, (name, letter) in enumerate(zip(sorted(SHAPES), "abc", strict=True)):
        style.dress(panels[letter])
        for place in np.flatnonzero(shapes == name)[:4]:
            panels[letter].plot(series[place], color=style.colour_of(code), linewidth=0.9)
        panels[letter].set(ylabel=name, xlim=(0, 60), ylim=(-2, 8), yticks=[])
    panels["a"].set_title(f"some of {len(series)} series")
    panels["c"].set_xlabel("time")
    GramDisplay.from_kernel(kernel, series, shapes, ax=panels["g"])
    model = KernelPCA(2, kernel=kernel).fit(series)
    EmbeddingDisplay.from_estimator(model, series, shapes, ax=panels["z"], legend=False)
    panels["z"].set_title(
        f"SVC: {found['aligned']:.0%} right in cross-validation,\n"
        f"{found['rows']:.0%} with a kernel of resampled rows"
    )
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    print(f"{found['kernel']!r}: {found['aligned']:.0%} right in cross-validation")
    print(f"Resampled to {LENGTH} moments, Gaussian kernel: {found['rows']:.0%}")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "series.png")
