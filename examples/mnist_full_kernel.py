"""Handwritten digits with the whole Gaussian kernel, which lecture D calls too large (item D5).

    python examples/mnist_full_kernel.py [folder [rows]]

Uses the idx files in $MERCER_DATA/mnist if that variable is set, all 60,000 rows or as many as
given (all of them take minutes and about 8 GB of memory); otherwise the small digits that come with
scikit-learn. Writes mnist_full_kernel.png into the folder.
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
from style import BLUE, GREY, INK, ORANGE, STYLE, output_folder

from mercer import KernelRidgeClassifier
from mercer.kernels import Gaussian

ALPHA, TOL = 0.3, 1e-4
SHOWN = 10


def read_idx(path):
    """Return the array in a file of MNIST's format: a magic number, the shape, bytes."""
    raw = gzip.decompress(path.read_bytes())
    dimensions = raw[3]
    shape = np.frombuffer(raw, ">i4", dimensions, offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def digits():
    """Return a name, a gamma, the training rows and labels, and the test rows and labels."""
    data = os.environ.get("MERCER_DATA")
    if not data:
        images, labels = load_digits(return_X_y=True)
        parts = train_test_split((images / 16).astype(np.float32), labels, random_state=0)
        return "scikit-learn's digits", 0.2, parts[0], parts[2], parts[1], parts[3]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 60_000
    found = []
    for part, count in (("train", rows), ("t10k", 10_000)):
        folder = Path(data) / "mnist"
        images = read_idx(folder / f"{part}-images-idx3-ubyte.gz")[:count]
        found.append((images.reshape(len(images), -1) / 255).astype(np.float32))
        found.append(read_idx(folder / f"{part}-labels-idx1-ubyte.gz")[:count])
    return "MNIST", 0.02, *found


def draw_digits(panels, rows, truth, guess, chances):
    """Draw images with the predicted class and its probability."""
    side = int(rows.shape[1] ** 0.5)
    for axes, row, label, said, chance in zip(panels, rows, truth, guess, chances, strict=False):
        axes.imshow(row.reshape(side, side), cmap="gray_r")
        right = said == label
        text = f"{said}: {chance:.0%}" + ("" if right else f"\ntruth {label}")
        axes.set_title(text, fontsize=9, color=BLUE if right else ORANGE)
    for axes in panels:
        axes.axis("off")


def draw_residuals(axes, residuals):
    axes.semilogy(range(1, len(residuals) + 1), residuals, color=BLUE, marker="o", markersize=4)
    axes.axhline(TOL, color=GREY, linestyle="--", linewidth=1)
    axes.annotate("tol", (1, TOL), (0, 4), textcoords="offset points", color=GREY)
    axes.set(title="conjugate gradients", xlabel="iteration", ylabel="relative residual")
    axes.xaxis.get_major_locator().set_params(integer=True)


def size(count):
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def summary(name, model, n, accuracy):
    """Return the certificate as lines of text."""
    found = model.certificate_
    return [
        f"{name}, {n:,} rows, {accuracy:.2%} of new digits right",
        f"{model.kernel_}, alpha {ALPHA}",
        "",
        f"status         {found.status}, {found.iterations} iterations, rank {found.rank}",
        f"residual       {found.residual:.1e} (tol {found.tol:g})",
        f"error bound    {found.error_bound:.1e} for any prediction",
        f"objective gap  {found.objective_gap:.1e}",
        f"memory         {size(found.bytes)}; K in doubles: {size(8 * n * n)}",
        f"time           {found.seconds:.1f} s",
        *textwrap.wrap(
            found.plan, 52, initial_indent="plan           ", subsequent_indent=" " * 15
        ),
    ]


def main():
    name, gamma, X, y, X_new, y_new = digits()
    residuals = []
    model = KernelRidgeClassifier(
        ALPHA,
        kernel=Gaussian(gamma),
        solver="cg",
        tol=TOL,
        callback=lambda record: residuals.append(record["residual"]),
    ).fit(X, y)
    chances = model.predict_proba(X_new)
    guess = model.classes_[chances.argmax(axis=1)]
    sure = chances.max(axis=1)
    wrong = np.flatnonzero(guess != y_new)
    worst = wrong[np.argsort(-sure[wrong])][:SHOWN]
    text = summary(name, model, len(X), (guess == y_new).mean())

    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(11, 6.4))
        top, bottom = figure.subfigures(2, 1, height_ratios=[1, 1.15])
        panels = top.subplots(2, SHOWN)
        for row, chosen in zip(panels, (np.arange(SHOWN), worst), strict=True):
            draw_digits(row, X_new[chosen], y_new[chosen], guess[chosen], sure[chosen])
        top.suptitle(
            "new digits, predicted class and its probability; below: the most confident errors",
            fontsize=11,
        )
        left, right = bottom.subplots(1, 2, width_ratios=[1, 1.3])
        draw_residuals(left, residuals)
        right.axis("off")
        right.text(0, 1, "\n".join(text), va="top", family="monospace", fontsize=9, color=INK)
        path = output_folder() / "mnist_full_kernel.png"
        figure.savefig(path)
    print(*text, sep="\n")
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
