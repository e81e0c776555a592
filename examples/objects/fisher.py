"""
The Fisher kernel: how a point would change a model
===================================================

Lecture B, item B4. A probabilistic model turns any object into the gradient of its log-likelihood:
the direction in which the object would move the parameters. ``Fisher`` is the dot product of such
gradients. On the left the objects are sets of vectors and the model is a mixture of Gaussians; on
the right they are sequences and the model is a hidden Markov model.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import SVC, KernelPCA
from mercer.kernels import Fisher
from mercer.plots import EmbeddingDisplay, GramDisplay, style

# %%
# Sets of 10 to 40 vectors. All have the same mean; the classes differ in spread and direction.

SPREADS = {"round": np.eye(2), "wide": np.diag([2.0, 0.5]), "slanted": [[1.2, 0.9], [0.0, 0.6]]}


def clouds(each, seed=0):
    random, sets, classes = np.random.default_rng(seed), [], []
    for name, factor in SPREADS.items():
        for _ in range(each):
            sets.append(random.normal(size=(random.integers(10, 41), 2)) @ np.asarray(factor))
            classes.append(name)
    return sets, np.array(classes)


# %%
# Sequences over acgt. A hidden state is rich in c and g or not; classes differ in how long it
# stays, which no count of single letters sees.

START, EMISSION = [0.5, 0.5], [[0.4, 0.1, 0.1, 0.4], [0.1, 0.4, 0.4, 0.1]]
STAYS = {"short runs": 0.6, "long runs": 0.95}


def sequences(each, seed=1):
    random, texts, classes = np.random.default_rng(seed), [], []
    for name, stay in STAYS.items():
        for _ in range(each):
            state, letters = random.integers(2), []
            for _ in range(random.integers(60, 121)):
                letters.append("acgt"[random.choice(4, p=EMISSION[state])])
                state = state if random.random() < stay else 1 - state
            texts.append("".join(letters))
            classes.append(name)
    return texts, np.array(classes)


def numbers(each=30):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    sets, shapes = clouds(each)
    mixture = GaussianMixture(3, covariance_type="full", random_state=0).fit(np.vstack(sets))
    texts, runs = sequences(each)
    model = (START, [[0.8, 0.2], [0.2, 0.8]], EMISSION)  # between both classes
    found = {
        "sets of vectors": (Fisher(mixture, improved=True), sets, shapes),
        "sequences": (Fisher(model, symbols="acgt").normalized(), texts, runs),
    }
    return {
        name: {
            "kernel": kernel, "points": points, "classes": classes,
            "right": cross_val_score(SVC(10, kernel=kernel), points, classes, cv=folds).mean(),
        }
        for name, (kernel, points, classes) in found.items()
    }  # fmt: skip


# %%
# Gram matrices sorted by class, and the first two principal components.


def draw(found):
    figure, panels = plt.subplots(2, 2, figsize=(10.5, 8), layout="constrained")
    for column, (name, one) in zip(panels.T, found.items(), strict=True):
        kernel, points, classes = one["kernel"], one["points"], one["classes"]
        GramDisplay.from_kernel(kernel, points, classes, title=f"Fisher, {name}", ax=column[0])
        model = KernelPCA(2, kernel=kernel).fit(points)
        EmbeddingDisplay.from_estimator(model, points, classes, ax=column[1])
        column[1].set_title(f"SVC: {one['right']:.0%} right in cross-validation")
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for name, one in found.items():
        print(f"Fisher kernel of {name}: {one['right']:.0%} right in cross-validation")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "fisher.png")
