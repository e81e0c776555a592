"""
Strings: n-grams, mismatches, substrings, subsequences
======================================================

Lecture B, item B4. Four kernels compare questions letter by letter. ``Spectrum`` counts n-grams,
``Mismatch`` also those that differ in one letter, ``Substring`` common substrings of every length,
and ``Subsequence`` letters in the same order with gaps between them. None of them knows a word of
English.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import SVC, KernelPCA
from mercer.kernels import Mismatch, Spectrum, Subsequence, Substring
from mercer.plots import EmbeddingDisplay, GramDisplay, style

LETTERS = "abcdefghijklmnopqrstuvwxyz ?"
KERNELS = {
    "Spectrum(3)": Spectrum(3),
    "Mismatch(4, 1)": Mismatch(4, 1, LETTERS),
    "Substring(0.6)": Substring(0.6),
    "Subsequence(3, 0.6)": Subsequence(3, 0.6),
}

# %%
# Questions that ask for a person, a place or a number; some of them begin in the same way.

QUESTIONS = {
    "who": """who wrote the first novel in english?; who discovered the moons of jupiter?;
        who was the last emperor of rome?; who painted the ceiling of the chapel?;
        who invented the electric telegraph?; what person first climbed the mountain alone?;
        who founded the oldest university?; who composed the opera about a barber?;
        what queen ruled the longest?; who sailed around the world first?;
        what inventor built the first engine?; who wrote the song about the river?;
        what painter cut off his own ear?; who was the first woman in space?""",
    "where": """where is the highest waterfall?; what country has the longest coast?;
        what city lies on two continents?; where do penguins live?;
        what river flows through the capital of austria?; where was paper first made?;
        what is the largest island in the mediterranean?; where is the oldest bridge?;
        what country grows the most coffee?; where does the river nile begin?;
        what city has the busiest harbour?; what is the capital of the smallest country?;
        where were the first coins struck?; what mountain lies on the border of nepal?""",
    "how many": """how many planets have rings?; how many strings does a violin have?;
        how many bones are in the hand?; how many legs does a lobster have?;
        how far is it to the moon?; how many people speak basque?;
        how many keys does a piano have?; how old is the oldest tree?;
        how many days did the voyage last?; how tall is the tallest tower?;
        how many sides does a cube have?; how many stars can one see?;
        how long does an egg take to boil?; how many languages are written from the right?""",
}


def questions():
    pairs = [
        (" ".join(one.split()), kind) for kind, text in QUESTIONS.items() for one in text.split(";")
    ]
    return [text for text, _ in pairs], np.array([kind for _, kind in pairs])


# %%
# Longer questions have more of everything, so that all kernels are normalised.


def numbers():
    texts, kinds = questions()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    right = {
        name: cross_val_score(SVC(10, kernel=kernel.normalized()), texts, kinds, cv=folds).mean()
        for name, kernel in KERNELS.items()
    }
    return {"texts": texts, "kinds": kinds, "right": right}


def draw(found):
    texts, kinds = found["texts"], found["kinds"]
    figure, panels = plt.subplots(2, 4, figsize=(15, 6.6), layout="constrained")
    for column, (name, kernel) in zip(panels.T, KERNELS.items(), strict=True):
        unit = kernel.normalized()
        last = column[0] is panels[0, -1]
        GramDisplay.from_kernel(unit, texts, kinds, title=name, scale=last, ax=column[0])
        model = KernelPCA(2, kernel=unit).fit(texts)
        EmbeddingDisplay.from_estimator(model, texts, kinds, ax=column[1], legend=False)
        column[1].set_title(f"SVC: {found['right'][name]:.0%} right in cross-validation")
    marks = panels[1, 0].get_legend_handles_labels()
    figure.legend(*marks, frameon=False, loc="outside lower center", ncols=3)
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for name, right in found["right"].items():
        print(f"{name:22} {right:.0%} right in cross-validation")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "strings.png")
