"""Values worked out by hand of kernels that are expressions, and of functions that are none."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import check_kernel
from mercer.kernels import (
    FunctionKernel,
    Intersection,
    Linear,
    PyramidMatch,
    SetIntersection,
    Tanimoto,
)

A, B = {1, 2, 3}, {2, 3, 4, 5}


def dice(x, y):
    return 2 * len(x & y) / (len(x) + len(y))


@pytest.mark.parametrize(
    ("kernel", "value"),
    [
        (SetIntersection(), 2),
        (SetIntersection().normalized(), 2 / np.sqrt(12)),
        (Tanimoto(), 0.4),
        (FunctionKernel(dice, pairwise=True), 4 / 7),
        ((np.log(2) * SetIntersection()).exp(), 4),  # the common subsets: 2**|A & B|
    ],
    ids=["common", "cosine", "Tanimoto", "Dice", "subsets"],
)
def test_sets(kernel, value):
    """Lecture B3."""
    assert_allclose(kernel([A], [B])[0, 0], value, rtol=1e-14)
    subsets = [set(s) for n in range(1, 5) for s in itertools.combinations(range(4), n)]
    assert check_kernel(kernel, subsets).is_psd


def test_sets_by_the_smaller_one_are_no_kernel():
    def overlap(x, y):
        return len(x & y) / min(len(x), len(y))

    found = check_kernel(FunctionKernel(overlap, pairwise=True), [{0}, {1}, {0, 1}])
    assert not found.is_psd
    assert found.min_eigenvalue == pytest.approx(1 - np.sqrt(2), rel=1e-12)


def shares(X):
    return X / X.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("kernel", "value"),
    [
        (Intersection(), 2),
        (Intersection().of(shares), 5 / 12),
        (Intersection().normalized(), 2 / np.sqrt(24)),
        (Tanimoto(), 0.25),
    ],
    ids=["plain", "shares", "cosine", "Ruzicka"],
)
def test_histograms(kernel, value):
    """Lecture B3."""
    x, y = np.array([[1.0, 2, 0, 3]]), np.array([[2.0, 1, 1, 0]])
    assert_allclose(kernel(x, y)[0, 0], value, rtol=1e-14)
    grid = np.array(list(itertools.product(range(3), repeat=3))[1:], dtype=float)
    assert check_kernel(kernel, grid).is_psd


def test_histograms_by_the_smaller_one_are_no_kernel():
    grid = np.array(list(itertools.product(range(3), repeat=3))[1:], dtype=float)
    least = np.minimum(grid.sum(axis=1)[:, None], grid.sum(axis=1)[None])
    found = check_kernel(Intersection()(grid) / least)
    assert not found.is_psd
    assert found.min_eigenvalue == pytest.approx(-2.40, abs=0.005)


def edits(x, y):
    """The Levenshtein distance."""
    row = list(range(len(y) + 1))
    for i, a in enumerate(x, start=1):
        before, row[0] = row[0], i
        for j, b in enumerate(y, start=1):
            least = min(before + (a != b), row[j] + 1, row[j - 1] + 1)
            before, row[j] = row[j], least
    return row[-1]


@pytest.mark.parametrize(
    ("gamma", "least"), [(0.1, -0.117), (0.5, -0.226), (1.0, -0.043), (2.0, 0.476)]
)
def test_a_bell_of_edit_distances_is_no_kernel(gamma, least):
    words = ["".join(letters) for n in range(1, 5) for letters in itertools.product("01", repeat=n)]
    kernel = FunctionKernel(lambda x, y: np.exp(-gamma * edits(x, y)), pairwise=True)
    found = check_kernel(kernel, words)
    assert found.min_eigenvalue == pytest.approx(least, abs=5e-4)
    assert found.is_psd == (least > 0)


def test_nodes_of_one_graph():
    """(aI - L)**p of the normalised Laplacian L of a path of three nodes, a = p = 2."""
    root = np.sqrt(0.5)
    L = np.array([[1, -root, 0], [-root, 1, -root], [0, -root, 1]])
    two, half = np.sqrt(2), 0.5
    wanted = [[1.5, two, half], [two, 2.0, two], [half, two, 1.5]]
    K = Linear()(2 * np.eye(3) - L)
    assert_allclose(K, wanted, atol=1e-14)
    assert check_kernel(K).is_psd


@pytest.mark.parametrize(("levels", "value"), [(1, 4.0), (3, 2.0)])
def test_graphs_by_where_their_eigenvectors_put_the_nodes(levels, value):
    """P2 and P4: coordinates in [0, 1], each cut into 2**levels cells, matched coordinate by
    coordinate."""
    embedded = []
    for n in (2, 4):
        path = np.diag(np.ones(n - 1), 1)
        embedded.append(np.abs(np.linalg.eigh(path + path.T)[1][:, [-1, 0]]))
    assert sorted(set(embedded[1].round(4).ravel())) == [0.3717, 0.6015]
    kernel = PyramidMatch(levels, side=0.5**levels)
    total = sum(kernel.pair(embedded[0][:, [c]], embedded[1][:, [c]]) for c in range(2))
    assert total == value
