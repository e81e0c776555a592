"""
Handwritten digits with the whole Gaussian kernel
=================================================

Lecture D calls the kernel matrix of MNIST, 60,000² numbers, too large (item D5). Here it is used in
full, on two cores and within a limit of memory, and the certificate says how exact the result is.

The script reads the files of MNIST from ``$MERCER_DATA/mnist``, all 60,000 rows or as many as the
second argument says; all of them take minutes and about 8 GB of memory. Without that variable it
says so, and draws the small digits of scikit-learn instead.
"""

import gzip
import os
import sys
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mercer import KernelRidgeClassifier
from mercer.checks import bytes_text
from mercer.kernels import Gaussian
from mercer.plots import ConvergenceDisplay, style

ALPHA, TOL, SHOWN = 0.3, 1e-4, 10

# %%
# The format of MNIST: a magic number, the shape, bytes.


def read_idx(path):
    raw = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(raw, ">i4", raw[3], offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def mnist(folder, rows):
    found = {"name": "MNIST", "gamma": 0.02}
    for part, prefix, count in (("train", "train", rows), ("new", "t10k", 10_000)):
        images = read_idx(folder / f"{prefix}-images-idx3-ubyte.gz")[:count]
        found[f"X_{part}"] = (images.reshape(len(images), -1) / 255).astype(np.float32)
        found[f"y_{part}"] = read_idx(folder / f"{prefix}-labels-idx1-ubyte.gz")[:count]
    return found


def small_digits(rows):
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split((images / 16).astype(np.float32), labels, random_state=0)
    names = ("X_train", "X_new", "y_train", "y_new")
    found = dict(zip(names, parts, strict=True)) | {"name": "scikit-learn's digits", "gamma": 0.2}
    return found | {name: found[name][:rows] for name in ("X_train", "y_train")}


# %%
# Conjugate gradients on the whole matrix; a callback notes the residual of each iteration.


def numbers(rows=60_000, folder=None):
    found = small_digits(rows) if folder is None else mnist(Path(folder), rows)
    records = []
    model = KernelRidgeClassifier(
        ALPHA, kernel=Gaussian(found["gamma"]), solver="cg", tol=TOL, callback=records.append
    ).fit(found["X_train"], found["y_train"])
    chances = model.predict_proba(found["X_new"])
    guess, sure = model.classes_[chances.argmax(axis=1)], chances.max(axis=1)
    wrong = np.flatnonzero(guess != found["y_new"])
    return found | {
        "model": model,
        "records": records,
        "guess": guess,
        "sure": sure,
        "worst": wrong[np.argsort(-sure[wrong])][:SHOWN],  # the most confident errors
        "accuracy": float((guess == found["y_new"]).mean()),
    }


def summary(found):
    """Return the certificate as lines of text."""
    model, n = found["model"], len(found["X_train"])
    known = model.certificate_
    plan = textwrap.wrap(known.plan, 44)
    return [
        f"{found['name']}, {n:,} rows, {found['accuracy']:.2%} right",
        f"{model.kernel_}, alpha {ALPHA}",
        "",
        f"status         {known.status}, {known.iterations} iterations",
        f"residual       {known.residual:.1e} (tol {known.tol:g})",
        f"error bound    {known.error_bound:.1e} for any score",
        f"memory         {bytes_text(known.bytes)}; K in doubles: {bytes_text(8 * n * n)}",
        f"time           {known.seconds:.1f} s",
        *(f"{'plan' if place == 0 else '':14} {line}" for place, line in enumerate(plan)),
    ]


# %%
# New digits with the predicted class and its probability, then the most confident errors.


def draw_digits(panels, found, chosen):
    side = int(found["X_new"].shape[1] ** 0.5)
    for ax, row in zip(panels, chosen, strict=False):
        ax.imshow(found["X_new"][row].reshape(side, side), cmap="gray_r")
        said, label, chance = found["guess"][row], found["y_new"][row], found["sure"][row]
        text = f"{said}: {chance:.0%}" + ("" if said == label else f"\ntruth {label}")
        ax.set_title(text, fontsize=9, color=style.BLUE if said == label else style.ORANGE)
    for ax in panels:
        ax.axis("off")


def draw(found):
    figure = plt.figure(figsize=(11, 6.6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1, 1.15])
    panels = top.subplots(2, SHOWN)
    draw_digits(panels[0], found, np.arange(SHOWN))
    draw_digits(panels[1], found, found["worst"])
    top.suptitle(
        "new digits, predicted class and its probability; below: the most confident errors"
    )
    left, right = bottom.subplots(1, 2, width_ratios=[1, 1.3])
    ConvergenceDisplay.from_records(found["records"], tol=TOL, ax=left)
    left.set_title("conjugate gradients")
    right.axis("off")
    lines = "\n".join(summary(found))
    right.text(0, 1, lines, va="top", family="monospace", fontsize=9, color=style.INK)
    return figure


if __name__ == "__main__":
    data = os.environ.get("MERCER_DATA")
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 60_000
    if not data:
        print("MERCER_DATA is not set: these are the small digits of scikit-learn, not MNIST.")
    found = numbers(rows, Path(data) / "mnist" if data else None)
    figure = draw(found)
    print(*summary(found), sep="\n")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "mnist_full_kernel.png")
