"""Small points of every kind for the tests; seeded, so that a failure is the same tomorrow."""

import datetime

import numpy as np

from mercer.inputs import Tree
from mercer.kernels import Graph


def rows(n=8, columns=3, seed=0):
    """Rows of numbers, negative ones too, with a repeated row."""
    made = np.random.default_rng(seed).normal(size=(n, columns))
    made[-1] = made[0]
    return made


def counts(n=8, columns=4, seed=1):
    """Rows of counts with many zeros, a row of zeros and a repeated row."""
    made = np.random.default_rng(seed).poisson(0.8, size=(n, columns)).astype(float)
    made[1] = 0.0
    made[-1] = made[0]
    return made


def histograms(n=8, columns=4, seed=2):
    """Rows of non-negative numbers, some of them zero."""
    made = np.random.default_rng(seed).random((n, columns))
    made[made < 0.2] = 0.0
    return made


def levels(n=8, columns=3, seed=3):
    """Rows of a few categories, as numbers."""
    return np.random.default_rng(seed).integers(0, 3, size=(n, columns)).astype(float)


def sets():
    """Sets of mixed elements, one empty, one repeated."""
    return [
        {1, 2, 3},
        frozenset({2, 3, 4, 5}),
        set(),
        {"a", "b"},
        {1, "a", (2, 3)},
        {3},
        {1, 2, 3},
    ]


def strings():
    """Strings with an empty one, one letter, repeats, and letters beyond ASCII."""
    return ["abab", "baba", "", "a", "statistics", "computation", "Straße", "日本語日本", "abab"]


def vector_sets(columns=3, seed=6):
    """Sets of vectors of several sizes, one empty."""
    sizes = (4, 1, 0, 6, 3, 2)
    generator = np.random.default_rng(seed)
    return [generator.normal(size=(size, columns)) for size in sizes]


def mixture(components=2, columns=3, seed=7, full=False):
    """A mixture of Gaussians as the Fisher kernel takes it."""
    generator = np.random.default_rng(seed)
    weights = generator.dirichlet(np.ones(components))
    means = generator.normal(size=(components, columns))
    roots = generator.normal(size=(components, columns, columns)) + 2.0 * np.eye(columns)
    covariances = roots @ roots.transpose(0, 2, 1)
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    return ("mixture", weights, means, covariances if full else variances)


def chain(states=2, symbols=4, seed=8):
    """A hidden Markov model as start, transition and emission."""
    generator = np.random.default_rng(seed)
    return (
        generator.dirichlet(np.ones(states)),
        generator.dirichlet(np.ones(states), states),
        generator.dirichlet(np.ones(symbols), states),
    )


def graphs():
    """Graphs with labels, weights, loops and none of these; one empty, one node, two parts."""
    triangle = [(0, 1), (1, 2), (2, 0)]
    return [
        Graph(3, [(0, 1), (1, 2)], ["a", "b", "a"]),
        Graph(3, triangle, ["a", "a", "b"]),
        Graph(0, []),
        Graph(1, [], ["é"]),
        Graph(4, triangle),
        Graph(6, [*triangle, (3, 4), (4, 5), (4, 4)]),
        Graph(3, triangle, ["a", "a", "b"], edge_labels=["x", "y", "x"]),
        Graph(4, [*triangle, (2, 3)], edge_weights=[0.1, 0.2, 0.5, 1.0]),
        Graph(
            7, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 5), (5, 6)], [1, 2, 1, 2, 1, (3,), 2]
        ),
        Graph(3, [(0, 2), (1, 2)], ["a", "a", "b"]),
    ]


def attributed_graphs(columns=2, seed=9):
    """Graphs with attributes of nodes, and labels, weights and loops or none; one has no nodes."""
    triangle = [(0, 1), (1, 2), (2, 0)]
    random = np.random.default_rng(seed)
    shapes = [
        (3, [(0, 1), (1, 2)], ["a", "b", "a"], None, None),
        (3, triangle, ["a", "a", "b"], ["x", "y", "x"], None),
        (0, [], None, None, None),
        (1, [], ["é"], None, None),
        (4, triangle, None, None, None),
        (5, [*triangle, (3, 4), (4, 4)], None, None, None),
        (4, [*triangle, (2, 3)], None, None, [0.5, 1.0, 0.5, 1.0]),
        (3, triangle, ["a", "a", "b"], None, None),
    ]
    made = [
        Graph(n, edges, labels, lines, random.normal(size=(n, columns)), weights)
        for n, edges, labels, lines, weights in shapes
    ]
    return [*made, made[0]]


def trees():
    """Trees with an empty one, a leaf, a repeat, a word that is also a symbol, other alphabets."""
    texts = ["(S (A a) (B b))", "(S (A a) (B c))", "()", "a", "(S (A (C c)) (B b))", "(S A (B b))"]
    texts += ["(S (B b) (B b) (A (C c)))", "(日本 (ß a) 🙂)", "(S (A a) (B b))"]
    return [Tree.parse(text) for text in texts]


def time_series(width=2, seed=4):
    """Series of different lengths, one empty, one of a single moment, one repeated."""
    random = np.random.default_rng(seed)
    made = [random.normal(size=(length, width)) for length in (3, 1, 0, 5, 4)]
    return [*made, made[0].copy()]


def word_maps(seed=5):
    """Maps of visual words of different sizes: one empty, one without words, one repeated."""
    random = np.random.default_rng(seed)
    made = [random.integers(-1, 4, size=shape) for shape in ((4, 4), (5, 3), (1, 7), (0, 2))]
    return [*made, np.full((2, 2), -1), made[0].copy()]


def frame_columns():
    """Columns of a mixed data frame; hand them to pandas.DataFrame or polars.DataFrame."""
    return {
        "dna": ["acgt", "acgg", "ttga", "cgta", "ccca", "acgt"],
        "age": [31.0, 42.5, 27.0, 64.0, 58.5, 31.0],
        "dose": [1, 3, 2, 2, 5, 1],
        "colour": ["red", "blue", "red", "green", "blue", "red"],
        "tags": [["x", "y"], ["y"], [], ["x", "z"], ["y", "z"], ["x", "y"]],
    }


def table_columns():
    """Columns of every kind for `TableEncoder`, of twelve rows."""
    month = [datetime.datetime(2024, 1 + row % 6, 1 + row, row) for row in range(12)]
    words = ["red brick house by the sea", "small flat in the old town", "farm with a large garden"]
    return {
        "area": [31.0, None, 27.0, 64.0, 58.5, 31.0, 80.0, 45.0, None, 120.0, 52.0, 33.0],
        "rooms": ["2", "3", "1", "4", "3", "2", "5", "3", "2", "6", "3", "2"],
        "garden": [True, False, False, True, True, False, True, False, False, True, False, False],
        "town": ["Bern", "Oslo", "Rome"] * 3 + ["Lima", None, "Oslo"],
        "sold": [None, *month[1:]],
        "told": [f"{words[row % 3]} number {row}" for row in range(11)] + [None],
        "land": ["x"] * 12,
    }


# Functions for kernels that take one; those of rows serve dense and sparse rows alike.


def halved(X):
    return X * 0.5


def shrinking(X):
    return 1.0 / (1.0 + np.asarray(abs(X).sum(axis=1)).ravel())


def row_product(X, Y):
    return X @ Y.T


def letter_counts(texts):
    return [[text.count(letter) for letter in "abst"] for text in texts]


def shared_letters(x, y):
    return float(len(set(x) & set(y)))
