"""
Trees: which fragments two sentences share
==========================================

Lecture B, item B6. Sentences are parsed into trees. ``Subtree`` counts complete subtrees that two
trees share, ``SubsetTree`` fragments whose nodes keep all children or none, so that it also sees
grammar without words, and ``PartialTree`` fragments that may leave out children.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import SVC, KernelPCA
from mercer.kernels import PartialTree, SubsetTree, Subtree, Tree
from mercer.plots import EmbeddingDisplay, GramDisplay, style

KERNELS = [Subtree(0.7), SubsetTree(0.4), PartialTree(0.4, 0.4)]
NOUNS, VERBS = ("dog", "child", "bird", "farmer"), ("saw", "found", "called", "fed")
PAST = {"saw": "seen", "found": "found", "called": "called", "fed": "fed"}

# %%
# Sentences of three forms. Words are drawn at random and tell nothing about the form.


def sentences(each, seed=2):
    random = np.random.default_rng(seed)

    def noun():
        word = f"(NN {random.choice(NOUNS)})"
        return f"(NP (DT the) {random.choice(['', '(JJ old) ', '(JJ small) '])}{word})"

    trees, forms = [], []
    for _ in range(each):
        verb = random.choice(VERBS)
        past = f"(VBN {PAST[verb]})"
        for form, text in {
            "active": f"(S {noun()} (VP (VBD {verb}) {noun()}))",
            "passive": f"(S {noun()} (VP (VBD was) (VP {past} (PP (IN by) {noun()}))))",
            "question": f"(SQ (WP who) (VP (VBD {verb}) {noun()}))",
        }.items():
            trees.append(Tree.parse(text))
            forms.append(form)
    return trees, np.array(forms)


def numbers(each=16):
    trees, forms = sentences(each)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    right = [
        cross_val_score(SVC(10, kernel=kernel.normalized()), trees, forms, cv=folds).mean()
        for kernel in KERNELS
    ]
    return {"trees": trees, "forms": forms, "right": right}


# %%
# One of the trees, Gram matrices sorted by form, and the first two principal components.


def draw_tree(ax, tree):
    """Draw a tree with its leaves in a row."""
    leaves = iter(range(1000))

    def place(node, level):
        ends = [place(child, level + 1) for child in node.children]
        x = float(np.mean([end for end, _ in ends])) if ends else next(leaves)
        for end, _ in ends:
            ax.plot([x, end], [-level, -level - 1], color=style.GREY, linewidth=1, zorder=1)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        colour = style.INK if node.children else style.BLUE
        ax.text(x, -level, node.label, ha="center", va="center", color=colour, bbox=box, size=9)
        return x, max([level, *(deep for _, deep in ends)])

    _, depth = place(tree, 0)
    ax.set(xlim=(-0.6, next(leaves) - 0.4), ylim=(-depth - 0.4, 0.4))
    ax.axis("off")


def draw(found):
    trees, forms = found["trees"], found["forms"]
    figure = plt.figure(figsize=(16, 6.6), layout="constrained")
    panels = figure.subplot_mosaic("tabc;tdef", width_ratios=[1.75, 1, 1, 1])
    draw_tree(panels["t"], trees[1])
    panels["t"].set_title(f"one of {len(trees)} trees: {forms[1]}")
    for kernel, right, above, below in zip(KERNELS, found["right"], "abc", "def", strict=True):
        unit = kernel.normalized()
        GramDisplay.from_kernel(
            unit, trees, forms, title=repr(kernel), scale=above == "c", ax=panels[above]
        )
        model = KernelPCA(2, kernel=unit).fit(trees)
        EmbeddingDisplay.from_estimator(model, trees, forms, ax=panels[below], legend=False)
        panels[below].set_title(f"SVC: {right:.0%} right in cross-validation")
    marks = panels["d"].get_legend_handles_labels()
    figure.legend(*marks, frameon=False, loc="outside lower right", ncols=3)
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for kernel, right in zip(KERNELS, found["right"], strict=True):
        print(f"{kernel!r:46} {right:.0%} right in cross-validation")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "trees.png")
