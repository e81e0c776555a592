"""
Graphs: walks, neighbourhoods, paths, small subgraphs
=====================================================

Lecture B, item B5. Molecules are graphs: atoms are nodes, bonds are edges. ``RandomWalk`` counts
common walks, ``WeisfeilerLehman`` common neighbourhoods of atoms, ``ShortestPath`` common shortest
paths, and ``Graphlet`` connected subgraphs of four nodes, whatever their atoms are. ``HashGraph``
compares numbers at the atoms, here mass and electronegativity, instead of their names.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.csgraph import shortest_path
from sklearn.manifold import MDS
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import SVC, KernelPCA
from mercer.kernels import Graph, Graphlet, HashGraph, RandomWalk, ShortestPath, WeisfeilerLehman
from mercer.plots import EmbeddingDisplay, GramDisplay, style

KERNELS = {
    "RandomWalk(0.05)": RandomWalk(0.05),
    "WeisfeilerLehman(2)": WeisfeilerLehman(2),
    "ShortestPath()": ShortestPath(),
    "Graphlet(4)": Graphlet(4),
    "HashGraph()": HashGraph(WeisfeilerLehman(2)),
}

# %%
# In SMILES atoms in a row are bound, brackets branch off, equal digits close a ring.

MOLECULES = {
    "aromatic": """c1ccccc1 Cc1ccccc1 Oc1ccccc1 Nc1ccccc1 CCc1ccccc1 Cc1ccccc1C Oc1ccccc1C
        c1ccccc1Cl Nc1ccccc1C Cc1ccc(C)cc1 Oc1ccc(N)cc1 c1ccc(Cl)cc1O CC(C)c1ccccc1
        COc1ccccc1 OC(=O)c1ccccc1 CC(=O)c1ccccc1""",
    "chain": """CCCC CCCCC CCO CCCO CCCCO CC(C)C CC(C)CO CCN CCCN CC(=O)O CCC(=O)O CC(=O)C
        CCOCC CCCCCl OCCO CC(O)CN""",
    "ring": """C1CCCC1 C1CCCCC1 CC1CCCCC1 OC1CCCCC1 NC1CCCCC1 C1CCOC1 C1CCOCC1 CC1CCCC1
        OC1CCCC1 C1CCNCC1 CC1CCOCC1 O=C1CCCCC1 C1COCCO1 CC1CCCCC1C OC1CCCCC1O ClC1CCCCC1""",
}
NATURE = {"C": (12.0, 2.55), "N": (14.0, 3.04), "O": (16.0, 3.44), "L": (35.5, 3.16)}


def read_smiles(text, with_numbers=False):
    """Return a molecule as a graph, with names at its atoms and bonds, or numbers at its atoms."""
    atoms, edges, bonds, last, branches, open_rings, bond = [], [], [], None, [], {}, "-"
    for sign in text.replace("Cl", "L"):  # one letter per atom
        if sign.isalpha():
            atoms.append(sign)
            if last is not None:
                edges.append((last, len(atoms) - 1))
                bonds.append(bond)
            last, bond = len(atoms) - 1, "-"
        elif sign == "(":
            branches.append(last)
        elif sign == ")":
            last = branches.pop()
        elif sign == "=":
            bond = "="
        elif sign in open_rings:
            edges.append((open_rings.pop(sign), last))
            bonds.append("-")
        else:
            open_rings[sign] = last
    if with_numbers:
        return Graph(len(atoms), edges, node_attributes=[NATURE[atom.upper()] for atom in atoms])
    names = ["Cl" if atom == "L" else atom for atom in atoms]
    return Graph(len(atoms), edges, node_labels=names, edge_labels=bonds)


def molecules(with_numbers=False):
    pairs = [(text, kind) for kind, texts in MOLECULES.items() for text in texts.split()]
    graphs = [read_smiles(text, with_numbers) for text, _ in pairs]
    return graphs, np.array([kind for _, kind in pairs])


# %%
# Five kernels on the same molecules; the last of them sees the numbers only.


def numbers():
    graphs, kinds = molecules()
    plain, _ = molecules(with_numbers=True)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    points = {name: plain if name == "HashGraph()" else graphs for name in KERNELS}
    right = {}
    for name, kernel in KERNELS.items():
        model = SVC(10, kernel=kernel.normalized())
        right[name] = cross_val_score(model, points[name], kinds, cv=folds).mean()
    return {"graphs": graphs, "points": points, "kinds": kinds, "right": right}


# %%
# A molecule is drawn so that distances are about the numbers of bonds between its atoms.


def draw_graph(ax, graph):
    table = np.zeros((graph.n_nodes, graph.n_nodes))
    table[tuple(graph.edges.T)] = 1
    steps = shortest_path(table, directed=False)
    options = {"metric": "precomputed", "n_init": 1, "init": "classical_mds", "random_state": 0}
    places = MDS(2, **options).fit_transform(steps)
    for u, v in graph.edges:
        ax.plot(*places[[u, v]].T, color=style.GREY, linewidth=1.5, zorder=1)
    colours = [style.BLUE if label in "cC" else style.ORANGE for label in graph.node_labels]
    ax.scatter(*places.T, s=170, color="white", edgecolor=colours, zorder=2)
    for label, place in zip(graph.node_labels, places, strict=True):
        ax.text(*place, label, ha="center", va="center", size=9, zorder=3)
    ax.set_aspect("equal")
    ax.margins(0.2)
    ax.axis("off")


def draw(found):
    figure, panels = plt.subplots(2, 6, figsize=(19, 6.2), layout="constrained")
    kinds = found["kinds"]
    for ax, place in zip(panels[:, 0], (14, 44), strict=True):
        draw_graph(ax, found["graphs"][place])
        ax.set_title(f"{kinds[place]}, one of {len(kinds)}")
    for column, (name, kernel) in zip(panels.T[1:], KERNELS.items(), strict=True):
        unit, graphs = kernel.normalized(), found["points"][name]
        last = column[0] is panels[0, -1]
        GramDisplay.from_kernel(unit, graphs, kinds, title=name, scale=last, ax=column[0])
        model = KernelPCA(2, kernel=unit).fit(graphs)
        EmbeddingDisplay.from_estimator(model, graphs, kinds, ax=column[1], legend=False)
        column[1].set_title(f"SVC: {found['right'][name]:.0%} right")
        column[1].locator_params(nbins=4)
    marks = panels[1, 1].get_legend_handles_labels()
    figure.legend(*marks, frameon=False, loc="outside lower center", ncols=3)
    return figure


if __name__ == "__main__":
    found = numbers()
    figure = draw(found)
    for name, right in found["right"].items():
        print(f"{name:22} {right:.0%} right in cross-validation")
    if "sphinx_gallery" not in sys.modules:  # whose pages show the figure
        style.write(figure, Path(*sys.argv[1:2]) / "graphs.png")
