"""
Sets: what two baskets have in common
=====================================

Lecture B, item B3. ``SetIntersection`` counts the elements that two sets share, so that large sets
are similar to many others; divided by the lengths in feature space it is a cosine. ``Tanimoto``
divides by the size of the union instead. All are kernels, so that a support vector machine and
kernel principal components take sets as they are.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import SVC, KernelPCA
from mercer.kernels import SetIntersection, Tanimoto
from mercer.plots import EmbeddingDisplay, GramDisplay, style

KERNELS = [SetIntersection(), SetIntersection().normalized(), Tanimoto()]

# %%
# Ingredients of 36 meals of three kinds.

BASKETS = {
    "breakfast": """milk oats honey; bread butter jam; eggs bread butter; oats banana milk;
        yoghurt honey nuts; bread jam coffee milk; eggs bacon bread; yoghurt banana oats;
        coffee milk bread honey; butter jam bread tea; oats nuts milk banana; eggs butter tea""",
    "pasta": """spaghetti tomato garlic basil; penne cream bacon; spaghetti garlic oil chilli;
        tomato basil oil penne; spaghetti eggs bacon cheese; penne tomato chilli garlic;
        cheese cream garlic spaghetti; oil basil cheese garlic; tomato oil onion penne;
        spaghetti tomato onion basil; penne cheese basil cream; garlic chilli tomato oil""",
    "curry": """rice chicken coconut chilli; lentils onion garlic cumin; rice lentils cumin;
        chicken onion ginger cumin; coconut ginger chilli garlic; rice onion peas cumin;
        lentils coconut ginger; chicken cream ginger chilli; rice chilli onion ginger;
        peas potato cumin onion; potato lentils cumin ginger; coconut rice peas chicken""",
}


def baskets():
    pairs = [(set(one.split()), meal) for meal, text in BASKETS.items() for one in text.split(";")]
    return [basket for basket, _ in pairs], np.array([meal for _, meal in pairs])


def numbers():
    sets, meals = baskets()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    right = [cross_val_score(SVC(10, kernel=kernel), sets, meals, cv=folds) for kernel in KERNELS]
    return {"sets": sets, "meals": meals, "right": [scores.mean() for scores in right]}


# %%
# Above: Gram matrices, sorted by class. Below: the first two principal components in feature space.


def write_some(ax, sets, meals, each=4):
    place = 0.97
    for code, meal in enumerate(np.unique(meals)):
        chosen = [one for one, kind in zip(sets, meals, strict=True) if kind == meal][:each]
        for line in (f"{meal}:", *(", ".join(sorted(one)) for one in chosen)):
            ax.text(0, place, line, color=style.colour_of(code), fontsize=9)
            place -= 0.063
        place -= 0.03
    ax.axis("off")


def draw(found):
    sets, meals = found["sets"], found["meals"]
    figure = plt.figure(figsize=(14, 6.6), layout="constrained")
    panels = figure.subplot_mosaic("tabc;tdef", width_ratios=[0.95, 1, 1, 1])
    write_some(panels["t"], sets, meals)
    panels["t"].set_title(f"some of {len(sets)} baskets")
    for kernel, right, above, below in zip(KERNELS, found["right"], "abc", "def", strict=True):
        GramDisplay.from_kernel(kernel, sets, meals, ax=panels[above])
        model = KernelPCA(2, kernel=kernel).fit(sets)
        EmbeddingDisplay.from_estimator(model, sets, meals, ax=panels[below], legend=False)
        panels[below].set_title(f"SVC: {right:.0%} right in cross-validation")
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for kernel, right in zip(KERNELS, found["right"], strict=True):
        print(f"{kernel!r:32} {right:.0%} right in cross-validation")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "sets.png")
