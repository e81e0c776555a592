"""
Which classes are confused, and whether probabilities come true
===============================================================

A kernel ridge classifier on handwritten digits: the confusion matrix names the pairs of digits that
it mixes up, the reliability curve compares the probability of the predicted digit with how often it
is right, and the learning curve says whether more digits would help.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mercer import KernelRidgeClassifier
from mercer.kernels import Gaussian
from mercer.plots import CalibrationDisplay, ConfusionDisplay, LearningCurveDisplay, style

# %%
# A few hundred digits to learn from, so that something is left to be confused.


def numbers(n=300):
    X, y = load_digits(return_X_y=True)
    X_train, X_new, y_train, y_new = train_test_split(
        X / 16, y, train_size=n, stratify=y, random_state=0
    )
    model = KernelRidgeClassifier(0.3, kernel=Gaussian(0.1)).fit(X_train, y_train)
    return {
        "X_train": X_train, "y_train": y_train, "X_new": X_new, "y_new": y_new, "model": model,
        "accuracy": model.score(X_new, y_new),
    }  # fmt: skip


# %%
# All three are drawn from the same model; the first two on digits that it has not seen.


def draw(found):
    figure, panels = plt.subplots(1, 3, figsize=(16, 4.8), layout="constrained")
    new = found["X_new"], found["y_new"]
    ConfusionDisplay.from_estimator(found["model"], *new, ax=panels[0])
    CalibrationDisplay.from_estimator(found["model"], *new, ax=panels[1])
    train = found["X_train"], found["y_train"]
    LearningCurveDisplay.from_estimator(found["model"], *train, cv=4, ax=panels[2])
    panels[2].set_title("learning curve")
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    print(f"{found['accuracy']:.1%} of {len(found['y_new'])} new digits right")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "probabilities.png")
