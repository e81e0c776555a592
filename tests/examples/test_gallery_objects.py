"""The numbers that the pictures of sets, strings, trees, graphs, images and series show."""

import itertools

import numpy as np
import pytest


def test_sets(load):
    script = load("objects/sets")
    found = script.numbers()
    first, second = found["sets"][0], found["sets"][3]
    shared = len(first & second)
    values = [kernel([first, second])[0, 1] for kernel in script.KERNELS]
    assert values == pytest.approx(
        [shared, shared / np.sqrt(len(first) * len(second)), shared / len(first | second)]
    )
    assert len(found["sets"]) == 36
    assert min(found["right"]) > 0.9


def test_strings(load):
    script = load("objects/strings")
    found = script.numbers()
    assert set("".join(found["texts"])) <= set(script.LETTERS)
    assert min(found["right"].values()) > 0.7
    one, two = "how many", "how tall"

    def grams(text, n):
        return [text[place : place + n] for place in range(len(text) - n + 1)]

    spectrum = sum(a == b for a in grams(one, 3) for b in grams(two, 3))
    assert script.KERNELS["Spectrum(3)"]([one, two])[0, 1] == spectrum
    common = sum(
        0.6**n for n in range(1, 9) for a in grams(one, n) for b in grams(two, n) if a == b
    )
    assert script.KERNELS["Substring(0.6)"]([one, two])[0, 1] == pytest.approx(common)


def test_trees(load):
    found = load("objects/trees").numbers(each=8)
    assert len(found["trees"]) == 24
    assert min(found["right"]) > 0.9
    words = [str(tree) for tree in found["trees"][:3]]
    assert ["SQ" in text for text in words] == [False, False, True]


def test_graphs(load):
    script = load("objects/graphs")
    benzene = script.read_smiles("c1ccccc1")
    assert benzene.n_nodes == len(benzene.edges) == 6
    acid = script.read_smiles("CC(=O)O")
    assert acid.node_labels == ("C", "C", "O", "O")
    assert sorted(map(tuple, acid.edges.tolist())) == [(0, 1), (1, 2), (1, 3)]
    assert acid.edge_labels == ("-", "=", "-")
    chloride = script.read_smiles("CCl", with_numbers=True)
    assert chloride.node_attributes.tolist() == [[12.0, 2.55], [35.5, 3.16]]
    found = script.numbers()
    assert found["right"]["WeisfeilerLehman(2)"] > 0.9
    assert found["right"]["Graphlet(4)"] < 0.7  # it sees no atoms, and rings of five look open
    pair = [script.read_smiles(text) for text in ("CCO", "CC(=O)O")]
    assert script.KERNELS["ShortestPath()"](pair)[0, 1] == shortest_paths(*pair)


def shortest_paths(one, two):
    """Pairs of paths with equal ends and lengths, by trying all pairs of nodes."""

    def paths(graph):
        steps = np.full((graph.n_nodes, graph.n_nodes), np.inf)
        for u, v in graph.edges:
            steps[u, v] = steps[v, u] = 1
        for middle in range(graph.n_nodes):
            steps = np.minimum(steps, steps[:, [middle]] + steps[[middle]])
        return [
            (graph.node_labels[u], graph.node_labels[v], steps[u, v])
            for u, v in itertools.permutations(range(graph.n_nodes), 2)
        ]

    return sum(a == b for a in paths(one) for b in paths(two))


def test_images(load):
    script = load("objects/images")
    found = script.numbers(each=15)
    assert found["by_level"][0] <= found["by_level"][2]  # where the words are helps
    assert found["right"]["SpatialPyramid(2)"] == found["by_level"][2]
    maps = found["points"]["SpatialPyramid(2)"]
    kernel = script.SpatialPyramid(0)
    counts = [np.bincount(one.ravel(), minlength=16) for one in maps[:2]]
    assert kernel(maps[:2])[0, 1] == np.minimum(*counts).sum()
    places = found["points"]["PyramidMatch(3)"][0]
    assert (found["images"][0][tuple(places.astype(int).T)] > 8).all()


def test_series(load):
    script = load("objects/series")
    found = script.numbers()
    assert len({len(one) for one in found["series"]}) > 1
    assert found["aligned"] > found["rows"] + 0.05
    assert script.resampled([np.array([0.0, 1.0])])[0] == pytest.approx(np.linspace(0, 1, 48))


def test_fisher(load):
    found = load("objects/fisher").numbers(each=15)
    assert found["sets of vectors"]["right"] > 0.9
    assert found["sequences"]["right"] > 0.7
    for one in found.values():
        kernel, some = one["kernel"], one["points"][:4]
        features = kernel.features(some)
        assert np.allclose(features @ features.T, kernel(some))
