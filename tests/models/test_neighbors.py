"""Neighbours in feature space: by hand, by double loops, with ties."""

import numpy as np
import oracles
import pytest
import scipy.sparse
import sklearn

from mercer import KernelNeighborsClassifier, KernelNeighborsRegressor
from mercer.fitting.neighbours import Nearest
from mercer.grams.blocks.pointwise import is_rounded, matched_values
from mercer.grams.sides import Side, View
from mercer.inputs import Matrix
from mercer.kernels import (
    Categorical,
    Chi2,
    FunctionKernel,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    SetIntersection,
    Spectrum,
)

random = np.random.default_rng(31)
N = 90
X, NEW = random.normal(size=(N, 4)), random.normal(size=(25, 4))
LABELS = np.array(["red", "green", "blue"])[random.integers(0, 3, N)]
TARGET = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])
GRID = random.integers(0, 4, size=(300, 3)).astype(float)


def ranked(squares, k):
    """Indices of the k smallest of each row, ties by the smaller index."""
    return np.argsort(squares, axis=1, kind="stable")[:, :k]


def squared_distances(kernel, points, new=None):
    """k(x, x) - 2 k(x, y) + k(y, y) by loops over a function of two points."""
    own = np.array([kernel(y, y) for y in points])
    theirs = own if new is None else np.array([kernel(x, x) for x in new])
    return theirs[:, None] - 2 * oracles.gram(kernel, points if new is None else new, points) + own


@pytest.fixture
def second_looks(monkeypatch):
    """How many rows were looked at again in double precision."""
    seen = []
    again = Nearest._again

    def spy(self, points, rows, k, own):
        seen.append(len(rows))
        return again(self, points, rows, k, own)

    monkeypatch.setattr(Nearest, "_again", spy)
    return seen


# --- by hand ----------------------------------------------------------------------------------


def test_four_points_by_hand():
    points, y = np.array([[0.0], [1.0], [3.0], [-1.0]]), ["a", "b", "b", "a"]
    model = KernelNeighborsClassifier(3, Linear()).fit(points, y)
    distances, indices = model.kneighbors([[0.5], [2.5]])
    assert indices.tolist() == [[0, 1, 3], [2, 1, 0]]  # 0 and 1 are as near: the first comes first
    assert distances.tolist() == [[0.5, 0.5, 1.5], [0.5, 1.5, 2.5]]
    assert model.predict([[0.5], [2.5]]).tolist() == ["a", "b"]
    assert np.allclose(model.predict_proba([[0.5], [2.5]]), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    # x -> x**2: the distance in H is |x**2 - y**2|, and -1 is where 1 is.
    model.set_params(kernel=Polynomial(2, 1.0, 0.0)).fit(points, y)
    distances, indices = model.kneighbors([[-2.0]])
    assert indices.tolist() == [[1, 3, 0]]
    assert distances.tolist() == [[3.0, 3.0, 4.0]]


def test_sets_by_hand():
    # |A| - 2 |A & B| + |B|, the number of elements in one of the two only.
    model = KernelNeighborsClassifier(2, SetIntersection()).fit([{1, 2}, {1, 3}, {4}], [0, 0, 1])
    distances, indices = model.kneighbors([{1}, {4, 5}])
    assert indices.tolist() == [[0, 1], [2, 0]]
    assert np.array_equal(distances**2, [[1, 1], [1, pytest.approx(4, rel=1e-15)]])


# --- against double loops ---------------------------------------------------------------------

KERNELS = [
    (Gaussian(0.3), lambda x, y: oracles.gaussian(x, y, *[0.3] * len(x))),
    (Laplacian(0.5), lambda x, y: oracles.laplacian(x, y, *[0.5] * len(x))),
    (Linear(), oracles.dot),
    (Polynomial(3, 0.5, 1.0), lambda x, y: oracles.polynomial(x, y, 3, 0.5, 1.0)),
    (
        Gaussian(0.2) + 0.1 * Linear(),
        lambda x, y: oracles.gaussian(x, y, *[0.2] * len(x)) + 0.1 * oracles.dot(x, y),
    ),
    (
        Linear().normalized(),
        lambda x, y: oracles.dot(x, y) / np.sqrt(oracles.dot(x, x) * oracles.dot(y, y)),
    ),
    (Matern(2.2, 1.5), lambda x, y: oracles.matern(oracles.scaled_distance(x, y, *[1.5] * 4), 2.2)),
    (Gaussian(0.4).on([0, 2]), lambda x, y: oracles.gaussian(x[::2], y[::2], 0.4, 0.4)),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("kernel", "function"), KERNELS, ids=[repr(k) for k, _ in KERNELS])
def test_the_neighbours_are_those_of_the_definition(kernel, function, dtype):
    points, new = X.astype(dtype), NEW.astype(dtype)
    model = KernelNeighborsClassifier(6, kernel).fit(points, LABELS)
    squares = squared_distances(function, points.astype(float), new.astype(float))
    wanted = ranked(squares, 6)
    distances, indices = model.kneighbors(new)
    assert np.array_equal(indices, wanted)
    assert np.allclose(distances**2, np.take_along_axis(squares, wanted, 1), rtol=1e-9, atol=1e-12)
    assert np.array_equal(model.kneighbors(new, 3, return_distance=False), wanted[:, :3])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_far_from_the_origin_and_among_near_copies(dtype, second_looks):
    # Neighbours that differ by less than single precision tells of k.
    centre = 50 + random.normal(size=(1, 4))
    points = (centre + 1e-3 * random.normal(size=(200, 4))).astype(dtype)
    new = (centre + 1e-3 * random.normal(size=(30, 4))).astype(dtype)
    model = KernelNeighborsClassifier(5, Gaussian(0.01)).fit(points, np.arange(200) % 2)
    gaps = new[:, None].astype(float) - points[None].astype(float)
    k = np.exp(-0.01 * (gaps**2).sum(axis=-1))
    assert np.array_equal(model.kneighbors(new, return_distance=False), ranked(-k, 5))
    assert (sum(second_looks) > 0) == (dtype == np.float32)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("kernel", "squares"),
    [
        (Gaussian(0.3), lambda A, B: ((A[:, None] - B[None]) ** 2).sum(axis=-1)),
        (Laplacian(0.3), lambda A, B: np.abs(A[:, None] - B[None]).sum(axis=-1)),
        (Categorical(0.7), lambda A, B: (A[:, None] != B[None]).sum(axis=-1)),
        (Linear(), lambda A, B: ((A[:, None] - B[None]) ** 2).sum(axis=-1)),
        (Intersection(), lambda A, B: np.abs(A[:, None] - B[None]).sum(axis=-1)),
    ],
    ids=["Gaussian", "Laplacian", "Categorical", "Linear", "Intersection"],
)
def test_ties_go_to_the_smaller_index(kernel, squares, dtype, second_looks):
    model = KernelNeighborsClassifier(7, kernel).fit(GRID.astype(dtype), GRID[:, 0] > 1)
    new = GRID[:40] + np.array([0.0, 1.0, 0.0])
    indices = model.kneighbors(new.astype(dtype), return_distance=False)
    assert np.array_equal(indices, ranked(squares(new, GRID), 7))
    own = squares(GRID, GRID).astype(float)
    np.fill_diagonal(own, np.inf)
    assert np.array_equal(model.kneighbors(return_distance=False), ranked(own, 7))
    assert sum(second_looks) > 100


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cosines_that_cancel(dtype, second_looks):
    # Turned axes: most cosines are 0 but for rounding, which ranks them.
    axes = np.linalg.qr(random.normal(size=(6, 6)))[0]
    points = (axes[random.integers(0, 6, 200)] * random.choice([-1, 1], (200, 1))).astype(dtype)
    kernel = Linear().normalized()
    model = KernelNeighborsClassifier(50, kernel).fit(points, np.arange(200) % 2)
    wanted = ranked(-kernel.formula(points[:20], points), 50)
    assert np.array_equal(model.kneighbors(points[:20], return_distance=False), wanted)
    assert second_looks == [20]


def test_rows_that_are_not_numbers_do_not_spoil_others():
    new = np.concatenate([NEW[:3], np.full((1, 4), np.nan)])
    model = KernelNeighborsClassifier(3, Gaussian(0.3)).fit(X, LABELS)
    with sklearn.config_context(assume_finite=True):
        distances, indices = model.kneighbors(new)
    wanted = model.kneighbors(NEW[:3])
    assert np.array_equal(distances[:3], wanted[0])
    assert np.array_equal(indices[:3], wanted[1])
    assert np.isnan(distances[3]).all()
    assert len(set(indices[3].tolist())) == 3


def test_a_narrow_kernel_still_tells_neighbours_apart():
    # k(x, y) is far below what 2 - 2 k could tell from 2, and below single precision.
    points, new = X.astype(np.float32), NEW.astype(np.float32)
    gaps = new[:, None].astype(float) - points[None].astype(float)
    squares = (gaps**2).sum(axis=-1)
    wanted = ranked(squares, 3)
    widest = 700 / np.sort(squares, axis=1)[:, 2].max()  # what double precision can hold
    for gamma in (widest / 3, widest):
        model = KernelNeighborsClassifier(3, Gaussian(gamma)).fit(points, LABELS)
        distances, indices = model.kneighbors(new)
        assert np.array_equal(indices, wanted)
    assert np.allclose(distances.max(), np.sqrt(2), rtol=1e-15)
    # Where nothing at all is left of k, all points are as far, and the first are taken.
    model = KernelNeighborsClassifier(3, Gaussian(1e6)).fit(points, LABELS)
    assert model.kneighbors(new[:4], return_distance=False).tolist() == [[0, 1, 2]] * 4


def test_all_training_points_as_neighbours():
    model = KernelNeighborsRegressor(N, Gaussian(0.3)).fit(X, TARGET)
    assert np.allclose(model.predict(NEW), TARGET.mean(axis=0), rtol=1e-13)
    assert np.array_equal(np.sort(model.kneighbors(NEW, return_distance=False)), [range(N)] * 25)
    distances, indices = model.kneighbors(n_neighbors=N - 1)
    assert not (indices == np.arange(N)[:, None]).any()
    assert (np.diff(distances, axis=1) >= 0).all()


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in KERNELS] + [Chi2(0.5)], ids=repr)
def test_matched_values_are_the_bits_of_the_definition(kernel):
    points, new = View(Side(Matrix(np.abs(X)))), View(Side(Matrix(np.abs(NEW))))
    i, j = random.integers(0, 25, 300), random.integers(0, N, 300)
    found = matched_values(kernel, new, i, points, j)
    assert np.array_equal(found, kernel.formula(new.points, points.points)[i, j])
    assert is_rounded(kernel)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Gaussian((0.1,) * 2000), Chi2(0.5), Linear()])
def test_matched_values_of_wide_sparse_rows(kernel):
    rows = scipy.sparse.random_array((60, 2000), density=0.005, rng=random, format="csr")
    i, j = random.integers(0, 60, 300), random.integers(0, 60, 300)
    thin, thick = View(Side(Matrix(rows))), View(Side(Matrix(rows.toarray())))
    wanted = kernel.formula(rows.toarray())[i, j]
    for left, right in ((thin, thin), (thick, thin), (thick, thick)):
        assert np.array_equal(matched_values(kernel, left, i, right, j), wanted)


@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        (Spectrum(2), ["abab", "ba", "", "abba"]),
        (
            Spectrum(1).normalized() * SetIntersection().of(lambda T: [set(t) for t in T]),
            ["ab", "b"],
        ),
        (FunctionKernel(lambda A, B: np.tanh(A @ B.T)) + 1, X[:6]),
        (Precomputed(), np.eye(3)),
    ],
    ids=["counts", "normalised counts", "function", "precomputed"],
)
def test_matched_values_of_anything(kernel, points):
    view = View(Side(kernel.admit(points)))
    i, j = np.divmod(np.arange(len(points) ** 2), len(points))
    found = matched_values(kernel, view, i, view, j).reshape(len(points), -1)
    assert np.allclose(found, kernel.formula(points), rtol=1e-15)
    assert not is_rounded(kernel) or kernel.is_user_defined()
