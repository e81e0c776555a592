"""
Digits by their kernel principal components
===========================================

Kernel PCA draws images of five digits in two dimensions. A pre-image is the picture whose image in
feature space is nearest to a given place: moving along the first component turns ones into zeros.
The spectrum says how many directions the data fill.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.plots import EmbeddingDisplay, SpectrumDisplay, style

# %%
# The kernel is as wide as neighbouring images are apart.


def numbers(n=900):
    known = load_digits(n_class=5)
    X, y = known.data[:n] / 16, known.target[:n]
    model = KernelPCA(8, kernel=Gaussian(0.2)).fit(X)
    share = np.cumsum(model.explained_variance_ratio_)
    return {"X": X, "y": y, "model": model, "share": share}


# %%
# The eigenvalues fall slowly: eight components tell two fifths of the variance.


def draw(found):
    figure, panels = plt.subplots(
        1, 2, figsize=(13, 5.6), width_ratios=[1.5, 1], layout="constrained"
    )
    EmbeddingDisplay.from_estimator(
        found["model"], found["X"], found["y"], n_preimages=9, image_shape=(8, 8), ax=panels[0]
    )
    SpectrumDisplay.from_estimator(found["model"], found["X"], alpha=1.0, ax=panels[1])
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    two, eight = found["share"][[1, 7]]
    print(f"Two components tell {two:.0%} of the variance, eight {eight:.0%}.")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "digits_embedding.png")
