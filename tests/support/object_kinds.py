"""Forty objects of each kind in two classes, and a kernel for them."""

import numpy as np

from mercer.kernels import (
    Fisher,
    Gaussian,
    GlobalAlignment,
    Graph,
    Graphlet,
    HashGraph,
    Mismatch,
    PartialTree,
    PyramidMatch,
    RandomWalk,
    ShortestPath,
    SpatialPyramid,
    Spectrum,
    Subsequence,
    SubsetTree,
    Substring,
    Subtree,
    Tree,
    WeisfeilerLehman,
)

random = np.random.default_rng(5)
N = 40
SIDE = np.arange(N) % 2
WORDS = ["".join(random.choice(list("abc" if side else "bcd"), 7)) for side in SIDE]
TREES = [
    Tree.parse(f"(S (A {w[0]}) ({'B' if s else 'C'} {w[1]}))")
    for w, s in zip(WORDS, SIDE, strict=True)
]


def ring(side):
    n = int(random.integers(4, 9))
    edges = [(i, (i + 1) % n) for i in range(n if side else n - 1)]
    return Graph(n, edges, node_labels=random.choice(list("xy"), n).tolist())


GRAPHS = [ring(side) for side in SIDE]
SERIES = [np.cumsum(random.normal(side, 1, (int(random.integers(3, 9)), 2)), 0) for side in SIDE]
MAPS = [random.integers(0, 3 + 2 * side, (6, 5)) for side in SIDE]
VECTORS = [random.normal(3 * side, 2, (int(random.integers(1, 7)), 2)) for side in SIDE]
ATTRIBUTED = [
    Graph(x.n_nodes, x.edges, node_attributes=random.normal(side, 1, (x.n_nodes, 2)))
    for x, side in zip(GRAPHS, SIDE, strict=True)
]
MIXTURE = ("mixture", (0.5, 0.5), ((0.0, 0.0), (3.0, 3.0)), ((2.0, 2.0), (2.0, 2.0)))

KINDS = {
    "strings": (Spectrum(2), WORDS),
    "mismatches": (Mismatch(2, 1, "abcd"), WORDS),
    "substrings": (Substring(0.5), WORDS),
    "subsequences": (Subsequence(2, 0.5), WORDS),
    "complete subtrees": (Subtree(), TREES),
    "trees": (SubsetTree(), TREES),
    "partial trees": (PartialTree(), TREES),
    "graphs": (WeisfeilerLehman(2), GRAPHS),
    "assigned graphs": (WeisfeilerLehman(2, "assignment"), GRAPHS),
    "paths": (ShortestPath(), GRAPHS),
    "graphlets": (Graphlet(4), GRAPHS),
    "walks": (RandomWalk(0.05), GRAPHS),
    "hashed graphs": (HashGraph(), ATTRIBUTED),
    "paths of attributes": (ShortestPath(node_kernel=Gaussian(0.5)), ATTRIBUTED),
    "walks of attributes": (RandomWalk(0.05, node_kernel=Gaussian(0.5)), ATTRIBUTED),
    "series": (GlobalAlignment(), SERIES),
    "images": (SpatialPyramid(1), MAPS),
    "sets of vectors": (PyramidMatch(2), VECTORS),
    "Fisher vectors": (Fisher(MIXTURE), VECTORS),
}
