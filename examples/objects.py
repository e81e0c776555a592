"""Sets, strings, trees, graphs and images: a kernel for each, and the same learner for all.

    python examples/objects.py [folder]

Lecture B, items B3 to B8. A learner sees only similarities, so that from baskets to questions,
sentences, molecules and images only the kernel changes. For each kind: one or some of the objects,
the Gram matrix sorted by class, the first two kernel principal components, and the accuracy of a
support vector machine in five-fold cross-validation. Writes objects.png into the folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from objects_data import baskets, molecules, questions, sentences
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score
from style import COLOURS, GREY, INK, STYLE, output_folder

from mercer import SVC, KernelPCA
from mercer.kernels import SpatialPyramid, Subsequence, SubsetTree, Tanimoto, WeisfeilerLehman

SHADES = "viridis"


def word_maps(images, n_words=16):
    """Return images as maps of visual words: the nearest of a few typical 3 x 3 patches."""
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
    patches = windows.reshape(-1, 9)
    words = KMeans(n_words, n_init=1, random_state=0).fit(patches).predict(patches)
    return list(words.reshape(windows.shape[:3]).astype(np.int64))


def digits(n_each=30):
    """Return images of three digits as maps of words, the images, and the digits."""
    found = load_digits()
    chosen = np.concatenate([np.flatnonzero(found.target == d)[:n_each] for d in (3, 5, 8)])
    images = found.images[chosen]
    return word_maps(images), images, found.target[chosen].astype(str)


# --- objects of each kind ------------------------------------------------------------------------


def draw_texts(axes, texts, classes, n_each=4):
    """Write some texts of every class, in its colour."""
    place = 0.97
    for name, colour in zip(np.unique(classes), COLOURS, strict=False):
        chosen = [text for text, one in zip(texts, classes, strict=True) if one == name][:n_each]
        for line in (f"{name}:", *chosen):
            axes.text(0, place, line, va="center", color=colour, size=10, transform=axes.transAxes)
            place -= 0.063
        place -= 0.03
    axes.axis("off")


def draw_tree(axes, tree):
    """Draw a tree with its leaves in a row."""
    next_leaf, depth = [0.0], [0]

    def place(node, level):
        depth[0] = max(depth[0], level)
        below = [place(child, level + 1) for child in node.children]
        if below:
            x = float(np.mean(below))
        else:
            x, next_leaf[0] = next_leaf[0], next_leaf[0] + 1
        for end in below:
            axes.plot([x, end], [-level, -level - 1], color=GREY, linewidth=1, zorder=1)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        colour = INK if node.children else COLOURS[0]
        axes.text(x, -level, node.label, ha="center", va="center", color=colour, bbox=box, size=9)
        return x

    place(tree, 0)
    axes.set(xlim=(-0.7, next_leaf[0] - 0.3), ylim=(-depth[0] - 0.4, 0.4))
    axes.axis("off")


def draw_graph(axes, graph):
    """Draw a graph so that distances are about the numbers of steps between its nodes."""
    random = np.random.default_rng(3)
    hops = np.full((graph.n_nodes, graph.n_nodes), np.inf)
    np.fill_diagonal(hops, 0)
    for u, v in graph.edges:
        hops[u, v] = hops[v, u] = 1
    for middle in range(graph.n_nodes):
        hops = np.minimum(hops, hops[:, middle, None] + hops[None, middle])
    places = random.normal(size=(graph.n_nodes, 2))
    for _ in range(2000):
        gaps = places[:, None] - places[None]
        apart = np.maximum(np.linalg.norm(gaps, axis=2), 1e-9)
        pull = np.where(hops > 0, (apart - hops) / apart / np.maximum(hops, 1) ** 2, 0.0)
        places -= 0.05 * (pull[:, :, None] * gaps).sum(axis=1)
    for u, v in graph.edges:
        axes.plot(*places[[u, v]].T, color=GREY, linewidth=1.5, zorder=1)
    for label, (x, y) in zip(graph.node_labels, places, strict=True):
        colour = COLOURS[0] if label in "cC" else COLOURS[1]
        axes.scatter(x, y, s=170, color="white", edgecolor=colour, zorder=2)
        axes.text(x, y, label, ha="center", va="center", size=9, zorder=3)
    axes.set_aspect("equal")
    axes.axis("off")


def draw_images(axes, images):
    """Draw images in two rows, with white lines between them."""
    padded = np.pad(images, ((0, 0), (0, 1), (0, 1)))
    axes.imshow(np.vstack([np.hstack(padded[start::2]) for start in (0, 1)]), cmap="gray_r")
    axes.axis("off")


# --- what kernels make of them -------------------------------------------------------------------


def draw_matrix(axes, K, classes):
    """Draw K with the objects sorted by class, and the class names along both sides."""
    order = np.argsort(classes, kind="stable")
    image = axes.imshow(K[np.ix_(order, order)], cmap=SHADES, vmin=0, vmax=1)
    names, sizes = np.unique(classes, return_counts=True)
    ends = np.cumsum(sizes)
    for border in ends[:-1] - 0.5:
        axes.axhline(border, color="white", linewidth=0.8)
        axes.axvline(border, color="white", linewidth=0.8)
    middles = ends - sizes / 2 - 0.5
    axes.set_xticks(middles, names)
    axes.set_yticks(middles, names, rotation=90, va="center")
    axes.tick_params(length=0)
    axes.figure.colorbar(image, ax=axes, label="k(x, y)", shrink=0.9)


def draw_components(axes, kernel, objects, classes):
    Z = KernelPCA(2, kernel=kernel).fit_transform(objects)
    for name, colour, marker in zip(np.unique(classes), COLOURS, "o^s", strict=False):
        axes.scatter(*Z[classes == name].T, s=24, color=colour, marker=marker, label=name)
    axes.legend(frameon=False, fontsize=9, loc="best")
    axes.set(xlabel="kernel principal component 1", ylabel="component 2")
    axes.locator_params(nbins=5)


def main():
    sets, meals = baskets()
    texts, asked = questions()
    trees, forms = sentences()
    graphs, kinds = molecules()
    maps, images, names = digits()
    rows = [
        (
            "sets",
            Tanimoto(),
            sets,
            meals,
            lambda axes: draw_texts(axes, [", ".join(sorted(one)) for one in sets], meals),
        ),
        (
            "strings",
            Subsequence(3, 0.6).normalized(),
            texts,
            asked,
            lambda axes: draw_texts(axes, texts, asked),
        ),
        (
            "trees",
            SubsetTree(0.4).normalized(),
            trees,
            forms,
            lambda axes: draw_tree(axes, trees[1]),
        ),
        (
            "graphs",
            WeisfeilerLehman(2).normalized(),
            graphs,
            kinds,
            lambda axes: draw_graph(axes, graphs[14]),
        ),
        (
            "images",
            SpatialPyramid(2).normalized(),
            maps,
            names,
            lambda axes: draw_images(axes, images[[0, 1, 30, 31, 60, 61]]),
        ),
    ]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(len(rows), 3, figsize=(13, 17), width_ratios=[1.05, 1.1, 1])
        for line, (what, kernel, objects, classes, draw) in zip(panels, rows, strict=True):
            right = cross_val_score(SVC(kernel=kernel, C=10), objects, classes, cv=folds).mean()
            draw(line[0])
            shown = "one" if what in ("trees", "graphs") else "some"
            line[0].set_title(f"{shown} of {len(classes)} {what}")
            draw_matrix(line[1], kernel(objects), classes)
            line[1].set_title(repr(kernel))
            draw_components(line[2], kernel, objects, classes)
            line[2].set_title(f"SVC: {right:.0%} right in cross-validation")
            print(f"{what:8} {kernel!r:40} {right:.0%} right in cross-validation")
        path = output_folder() / "objects.png"
        figure.savefig(path)
    print(f"The picture is in {path}.")


if __name__ == "__main__":
    main()
