"""Maps by chance: sketches of polynomials, random grids. Right on average, with a known spread."""

import numpy as np
import pytest
import scipy.sparse
from scipy.stats import norm

from mercer.checks import InputError, KernelError, MemoryLimitError
from mercer.features import PolynomialSketch, RandomBinning
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial

random = np.random.default_rng(6)
X = random.normal(size=(8, 5)) * 0.7
SEEDS = 400


def products(phi, points, seeds=SEEDS):
    """phi(x).phi(y) for many seeds."""
    found = []
    for seed in range(seeds):
        F = phi.set_params(random_state=seed).fit_transform(points)
        found.append((F @ F.T).toarray() if scipy.sparse.issparse(F) else F @ F.T)
    return np.array(found)


def assert_right_on_average(found, wanted):
    """No mean is further off than chance allows, for all pairs together."""
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    allowed = norm.ppf(1 - 0.001 / wanted.size)
    assert (np.abs(found.mean(axis=0) - wanted) <= allowed * error + 1e-12).all()


# --- sketches -----------------------------------------------------------------------------------

POLYNOMIALS = [
    Linear(),
    Polynomial(2),
    Polynomial(3, gamma=0.5, coef0=0.3),
    Polynomial(2, coef0=0.0),
    (Linear() + 1) ** 3,
    0.5 * (2 * Linear() + 0.1) ** 2,
    (Linear() + 1) * Linear() * 3,
    (0.5 * Linear() + Linear() + 1 + 2) ** 2,
]


@pytest.mark.parametrize("kernel", POLYNOMIALS, ids=repr)
def test_sketches_are_right_on_average(kernel):
    found = products(PolynomialSketch(kernel, 32), X)
    assert_right_on_average(found, kernel.formula(X))


@pytest.mark.parametrize("kernel", [Polynomial(2), (Linear() + 1) ** 3], ids=repr)
def test_the_variance_is_within_its_bound(kernel):
    p = 2 if kernel == Polynomial(2) else 3
    found = products(PolynomialSketch(kernel, 64), X)
    diagonal = kernel.diag(X)
    bound = (2 + 3**p) * np.outer(diagonal, diagonal) / 64
    assert (found.var(axis=0) <= bound).all()
    more = products(PolynomialSketch(kernel, 512), X, 100)
    assert 4 < found.var(axis=0).sum() / more.var(axis=0).sum() < 16  # 8 times as many features


def test_a_sketch_by_hand():
    # One factor is a count sketch: column c goes to its place with its sign.
    phi = PolynomialSketch(Linear(), 7, random_state=3).fit(X)
    wanted = np.zeros((8, 7))
    for c in range(5):
        wanted[:, phi.indices_[0, c]] += phi.signs_[0, c] * X[:, c]
    assert np.allclose(phi.transform(X), wanted, atol=1e-14)
    # Two factors: the convolution of two such, on a circle of 7.
    phi = PolynomialSketch(Linear() ** 2, 7, random_state=3).fit(X)
    wanted = np.zeros((8, 7))
    for a in range(5):
        for b in range(5):
            place = (phi.indices_[0, a] + phi.indices_[1, b]) % 7
            wanted[:, place] += phi.signs_[0, a] * phi.signs_[1, b] * X[:, a] * X[:, b]
    assert np.allclose(phi.transform(X), wanted, atol=1e-13)


def test_the_constant_is_a_column_of_its_own():
    kernel = Polynomial(3, gamma=0.5, coef0=2.0)
    phi = PolynomialSketch(kernel, 16, random_state=1).fit(X)
    assert phi.indices_.shape == phi.signs_.shape == (3, 6)
    assert set(np.unique(phi.signs_)) <= {-1.0, 1.0}
    wide = np.hstack([np.sqrt(0.5) * X, np.full((8, 1), np.sqrt(2.0))])
    other = PolynomialSketch(Linear() ** 3, 16).fit(wide)
    other.indices_, other.signs_ = (
        np.hstack([part, part[:, :1]]) for part in (phi.indices_, phi.signs_)
    )
    assert np.allclose(other.transform(wide), phi.transform(X), atol=1e-13)


def test_sparse_rows_are_not_made_dense():
    wide = scipy.sparse.random_array((20, 200_000), density=1e-4, random_state=0, format="csr")
    phi = PolynomialSketch(Polynomial(2), 64).fit(wide)
    found = phi.transform(wide)
    assert found.shape == (20, 64)
    few = np.unique(wide.indices)
    small = PolynomialSketch(Polynomial(2), 64).fit(wide[:, few].toarray())
    chosen = np.r_[few, 200_000]
    small.indices_, small.signs_ = phi.indices_[:, chosen], phi.signs_[:, chosen]
    assert np.allclose(small.transform(wide[:, few].toarray()), found, atol=1e-12)


def test_seeds_and_sizes_of_sketches():
    one, same, other = (
        PolynomialSketch(random_state=seed).fit(X).transform(X) for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert one.shape == (8, 100)
    assert PolynomialSketch(n_components=1).fit(X).transform(X).shape == (8, 1)
    phi = PolynomialSketch(Polynomial(2, gamma="scale")).fit(X)
    assert phi.kernel_ == Polynomial(2, gamma="scale").resolve(X)


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Linear() + Linear() ** 2, Linear().exp()], ids=repr
)
def test_kernels_that_are_no_power(kernel):
    told = r"PolynomialSketch: the kernel must be a polynomial .*\(Linear\(\) \+ 1\) \*\* 3; got"
    with pytest.raises(KernelError, match=told):
        PolynomialSketch(kernel).fit(X)


def test_bad_sketches():
    with pytest.raises(InputError, match="n_components must be a whole number at least 1; got 0"):
        PolynomialSketch(n_components=0).fit(X)
    with pytest.raises(InputError, match="kernel values must be finite"):
        PolynomialSketch(Polynomial(40)).fit(X * 1e9)
    with pytest.raises(MemoryLimitError, match="1 x 10000000 numbers"):
        PolynomialSketch(n_components=10**7, memory_limit="1MB").fit(X)


# --- grids --------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.3, (0.2, 0.0, 1.0, 0.1, 0.5)])
def test_grids_are_right_on_average_with_the_spread_of_coins(gamma):
    found = products(RandomBinning(gamma, 25), X)
    K = Laplacian(gamma).formula(X)
    assert_right_on_average(found, K)
    apart = ~np.eye(8, dtype=bool)
    spread = found.std(axis=0)[apart] / np.sqrt(K * (1 - K) / 25)[apart]
    assert spread.min() > 0.85
    assert spread.max() < 1.15


def test_every_point_has_one_cell_in_each_grid():
    phi = RandomBinning(0.5, 16).fit(X)
    F = phi.transform(X)
    assert isinstance(F, scipy.sparse.csr_array)
    assert F.has_sorted_indices
    assert np.array_equal(np.diff(F.indptr), np.full(8, 16))
    assert np.allclose(F.data, 0.25)
    assert np.allclose((F @ F.T).diagonal(), 1.0)
    assert F.shape[1] == len(phi.cells_) == len(phi.get_feature_names_out())
    # By hand: two points share a feature of a grid where all whole parts agree.
    scaled = 0.5 * X
    shared = np.zeros((8, 8))
    for pitch, shift in zip(phi.pitches_, phi.shifts_, strict=True):
        cells = np.floor((scaled - shift) / pitch)
        shared += (cells[:, None] == cells[None]).all(axis=2)
    assert np.allclose((F @ F.T).toarray(), shared / 16)


def test_new_points_in_new_cells_have_fewer_features():
    phi = RandomBinning(1.0, 50).fit(X)
    far = phi.transform(X + 1e6)
    assert far.nnz == 0
    assert far.shape == (8, len(phi.cells_))
    near = phi.transform(X + 1e-9)
    assert np.allclose((phi.transform(X) @ near.T).diagonal(), 1.0)
    huge = phi.transform(np.full((1, 5), 1e300))
    assert huge.nnz == 0


def test_rules_seeds_and_bad_grids():
    assert RandomBinning().fit(X).kernel_ == Laplacian().resolve(X)
    one, same, other = (RandomBinning(1.0, 9, random_state=s).fit(X).cells_ for s in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    with pytest.raises(InputError, match="RandomBinning: gamma must be a finite number above 0"):
        RandomBinning(-1.0).fit(X)
    with pytest.raises(InputError, match="n_components must be a whole number at least 1; got 0"):
        RandomBinning(n_components=0).fit(X)
    told = r"RandomBinning: the cells of all points must fit memory_limit; n_components = 1000000"
    with pytest.raises(MemoryLimitError, match=told):
        RandomBinning(n_components=10**6, memory_limit="1MB").fit(X)
