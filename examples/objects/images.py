"""
Images: pyramids of visual words and of points
==============================================

Lecture B, item B7. Both kernels are combinations of intersection kernels. ``SpatialPyramid``
compares which visual words two images have, in the whole and in ever smaller parts of it.
``PyramidMatch`` compares two sets of points, here the places of dark pixels, in ever larger bins.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import SVC, KernelPCA
from mercer.kernels import PyramidMatch, SpatialPyramid
from mercer.plots import EmbeddingDisplay, GramDisplay, style

DIGITS = (3, 5, 8)
LEVELS = (0, 1, 2)  # of the spatial pyramid; 0 is a bag of words
KERNELS = {
    "SpatialPyramid(2)": SpatialPyramid(2).normalized(),
    "PyramidMatch(3)": PyramidMatch(3).normalized(),
}

# %%
# A visual word is the nearest of a few typical patches of 3 x 3 pixels.


def word_maps(images, n_words=16):
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
    patches = windows.reshape(-1, 9)
    words = KMeans(n_words, n_init=1, random_state=0).fit(patches).predict(patches)
    return list(words.reshape(windows.shape[:3]).astype(np.int64))


def dark_places(images):
    return [np.argwhere(image > 8).astype(float) for image in images]


def numbers(each=30):
    known = load_digits()
    chosen = np.concatenate([np.flatnonzero(known.target == digit)[:each] for digit in DIGITS])
    images, digits = known.images[chosen], known.target[chosen]
    maps, places = word_maps(images), dark_places(images)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def right(kernel, points):
        return cross_val_score(SVC(10, kernel=kernel), points, digits, cv=folds).mean()

    points = {"SpatialPyramid(2)": maps, "PyramidMatch(3)": places}
    return {
        "images": images, "digits": digits, "points": points,
        "right": {name: right(kernel, points[name]) for name, kernel in KERNELS.items()},
        "by_level": [right(SpatialPyramid(level).normalized(), maps) for level in LEVELS],
    }  # fmt: skip


# %%
# Three digits that are easily confused, what both kernels make of them, and how much the places of
# the words help.


def draw(found):
    images, digits = found["images"], found["digits"]
    figure = plt.figure(figsize=(14, 6.6), layout="constrained")
    panels = figure.subplot_mosaic("iab;lcd", width_ratios=[1, 1.2, 1.2])
    some = images[[0, 1, len(images) // 3, len(images) // 3 + 1, -1, -2]]
    padded = np.pad(some, ((0, 0), (0, 1), (0, 1)))
    rows = np.vstack([np.hstack(padded[start::2]) for start in (0, 1)])
    panels["i"].imshow(rows, cmap="gray_r")
    panels["i"].axis("off")
    panels["i"].set_title(f"some of {len(images)} images")
    style.dress(panels["l"])
    panels["l"].bar(range(len(LEVELS)), 100 * np.array(found["by_level"]), color=style.BLUE)
    panels["l"].set_xticks(range(len(LEVELS)), LEVELS)
    panels["l"].set(xlabel="levels of SpatialPyramid", ylabel="% right in cross-validation")
    for (name, kernel), above, below in zip(KERNELS.items(), "ab", "cd", strict=True):
        points = found["points"][name]
        GramDisplay.from_kernel(kernel, points, digits, title=name, ax=panels[above])
        model = KernelPCA(2, kernel=kernel).fit(points)
        EmbeddingDisplay.from_estimator(model, points, digits, ax=panels[below])
        panels[below].set_title(f"SVC: {found['right'][name]:.0%} right in cross-validation")
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for name, right in found["right"].items():
        print(f"{name:20} {right:.0%} right in cross-validation")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "images.png")
