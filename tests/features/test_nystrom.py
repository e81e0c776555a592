"""Nyström's map: its formula for every kernel, where centres come from, what it refuses."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from samples import graphs, sets, strings, time_series, trees
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

from mercer import prepare
from mercer.checks import InputError, InputTypeError, KernelError, MemoryLimitError
from mercer.features import Nystrom, centers
from mercer.features import nystrom as room
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Categorical,
    ExpDot,
    Gaussian,
    GlobalAlignment,
    Intersection,
    Laplacian,
    Linear,
    Polynomial,
    RandomWalk,
    SetIntersection,
    Spectrum,
    SubsetTree,
    WeisfeilerLehman,
)

random = np.random.default_rng(3)
X, NEW = random.normal(size=(60, 3)), random.normal(size=(13, 3))
WORDS = ["".join(random.choice(list("abc"), 6)) for _ in range(30)]


def projected(k, A, B, Z):
    """k_Z(a)' K_ZZ**-1 k_Z(b) from the definition of the kernel, with a pseudo-inverse."""
    inverse = np.linalg.pinv(k.formula(Z), rcond=1e-12, hermitian=True)
    return k.formula(A, Z) @ inverse @ k.formula(Z, B)


# --- the formula --------------------------------------------------------------------------------


def test_two_centres_by_hand():
    # k = x.y, centres (2, 0) and (0, 1): K_ZZ = diag(4, 1), L = diag(2, 1), phi(x) = x.
    phi = Nystrom(Linear(), centers=[[2.0, 0.0], [0.0, 1.0]]).fit([[5.0, 6.0]])
    assert phi.transform([[3.0, 4.0], [-1.0, 7.0]]).tolist() == [[3.0, 4.0], [-1.0, 7.0]]
    assert phi.center_indices_ is None
    assert phi.trace_error_ == 0.0
    # One centre z = 1 of exp(x y): phi(x) = exp(x) / sqrt(e).
    phi = Nystrom(ExpDot(), centers=[[1.0]]).fit([[0.0], [1.0]])
    assert np.allclose(phi.transform([[0.0], [1.0], [3.0]])[:, 0], np.exp([-0.5, 0.5, 2.5]))
    # trace(K) = 1 + e, trace(K_hat) = 1/e + e.
    assert np.isclose(phi.trace_error_, (1 - np.exp(-1)) / (1 + np.e))


KERNELS = [
    Gaussian(0.3),
    Laplacian(0.2),
    Polynomial(2),
    ExpDot(0.1),
    Gaussian(0.1) + 0.5 * Linear(),
]


@pytest.mark.parametrize("how", ["rpcholesky", "uniform", "kmeans"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_products_are_the_projection_onto_the_centres(kernel, how):
    phi = Nystrom(kernel, 9, centers=how, random_state=4).fit(X)
    F, G, Z = phi.transform(X), phi.transform(NEW), phi.centers_
    size = kernel.diag(X).max()
    assert np.allclose(F @ G.T, projected(kernel, X, NEW, Z), rtol=0, atol=1e-10 * size)
    left = kernel.formula(X) - F @ F.T
    assert np.linalg.eigvalsh(left).min() > -1e-10 * size * len(X)
    wanted = np.trace(left) / kernel.diag(X).sum()
    assert np.isclose(phi.trace_error_, wanted, rtol=1e-6, atol=1e-12)
    # Exact at the centres.
    at = phi.transform(Z)
    assert np.allclose(at @ at.T, kernel.formula(Z), rtol=0, atol=1e-10 * size)


OBJECTS = {
    "strings": (Spectrum(2), strings()),
    "sets": (SetIntersection() + 1, sets()),
    "trees": (SubsetTree(0.5), trees()),
    "graphs": (WeisfeilerLehman(2), graphs()),
    "walks": (RandomWalk(0.05, steps=3), graphs()),
    "series": (GlobalAlignment(1.0), time_series()),
    "words": (Spectrum(2).normalized(), WORDS),
}


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("how", ["rpcholesky", "uniform", "own", "blocks"])
def test_objects_of_every_kind(name, how):
    kernel, points = OBJECTS[name]
    own = how == "own"
    phi = Nystrom(kernel, None if own else 3, centers=points[1:4] if own else "rpcholesky")
    if how == "uniform":
        phi.set_params(centers=how)
    phi.fit(RowBlocks([points[:2], points[2:]]) if how == "blocks" else points)
    F = phi.transform(points)
    assert F.dtype == np.float64
    wanted = projected(kernel, points, points, phi.centers_)
    assert np.allclose(F @ F.T, wanted, rtol=0, atol=1e-8 * kernel.diag(points).max())


def test_tables_and_given_matrices():
    table = pd.DataFrame({"word": WORDS, "age": np.arange(30.0), "side": ["l", "r", "m"] * 10})
    kernel = Spectrum(2).on("word") + Gaussian(0.1).on(["age"]) + Categorical(1.0).on("side")
    for how in ("rpcholesky", "uniform", table[:6]):
        phi = Nystrom(kernel, 6, centers=how).fit(table)
        F = phi.transform(table)
        wanted = projected(kernel, table, table, phi.centers_)
        assert np.allclose(F @ F.T, wanted, rtol=0, atol=1e-9)
    K = Gaussian(0.4)(X)
    given, plain = Nystrom("precomputed", 7).fit(K), Nystrom(Gaussian(0.4), 7).fit(X)
    assert given.center_indices_.tolist() == plain.center_indices_.tolist()
    cross = Gaussian(0.4)(NEW, X)
    assert np.allclose(given.transform(cross), plain.transform(NEW), rtol=0, atol=1e-10)


def test_all_centres_give_the_kernel_itself():
    phi = Nystrom(Gaussian(2.0), len(X)).fit(X)
    F = phi.transform(X)
    assert np.allclose(F @ F.T, Gaussian(2.0).formula(X), rtol=0, atol=1e-10)
    assert phi.trace_error_ < 1e-12


def test_functions_are_kernels_too():
    phi = Nystrom(lambda A, B: A @ B.T, 3).fit(X)
    F = phi.transform(X)
    assert np.allclose(F @ F.T, X @ X.T)


# --- the centres --------------------------------------------------------------------------------


def test_centres_are_the_points_that_their_indices_say():
    for how in ("rpcholesky", "uniform"):
        phi = Nystrom(Gaussian(1.0), 12, centers=how, random_state=2).fit(X)
        assert np.array_equal(phi.centers_, X[phi.center_indices_])
        assert len(set(phi.center_indices_.tolist())) == 12
    assert Nystrom(Gaussian(1.0), 12, centers="kmeans").fit(X).center_indices_ is None


def test_the_first_pivots_are_a_choice_of_their_own():
    phi = Nystrom(Gaussian(0.5), 12).fit(X)
    few = Nystrom(Gaussian(0.5), centers=phi.centers_[:5]).fit(X)
    assert np.allclose(phi.transform(NEW)[:, :5], few.transform(NEW), rtol=0, atol=1e-10)


def test_seeds_decide():
    for how in ("rpcholesky", "uniform", "kmeans"):
        one, same, other = (
            Nystrom(Gaussian(1.0), 12, centers=how, random_state=seed).fit(X).transform(NEW)
            for seed in (1, 1, 2)
        )
        assert np.array_equal(one, same)
        assert not np.array_equal(one, other)


def test_pivots_follow_what_is_left():
    # A cluster of 57 equal points and three others: one centre is enough for the cluster.
    points = np.vstack([np.zeros((57, 2)), [[50.0, 0], [0, 50.0], [50.0, 50.0]]])
    phi = Nystrom(Gaussian(1.0), 4).fit(points)
    assert sorted(phi.center_indices_[phi.center_indices_ > 56].tolist()) == [57, 58, 59]
    assert phi.trace_error_ < 1e-12


def test_centres_that_others_span_are_dropped():
    phi = Nystrom(Linear(), 40, centers="uniform").fit(X)
    assert phi.transform(X).shape == (60, 3)
    assert phi.certificate_.rank == 3
    assert phi.certificate_.dropped == 37
    assert np.allclose(phi.transform(X) @ phi.transform(NEW).T, X @ NEW.T)
    twice = np.vstack([X[:4], X[:4]])
    assert Nystrom(Gaussian(1.0), centers=twice).fit(X).transform(X).shape == (60, 4)


def test_a_kernel_that_is_0_has_one_feature_that_is_0():
    for how in ("rpcholesky", "uniform"):
        phi = Nystrom(Linear(), 3, centers=how).fit(np.zeros((5, 2)))
        assert phi.transform(np.zeros((2, 2))).tolist() == [[0.0], [0.0]]
        assert phi.trace_error_ == 0.0


def test_means_are_near_the_groups():
    groups = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], 20, axis=0)
    points = groups + random.normal(size=(60, 2)) * 0.1
    wanted = np.array([points[i : i + 20].mean(axis=0) for i in (0, 20, 40)])
    best = Nystrom(Gaussian(0.01), 3, centers="kmeans", random_state=1).fit(points).centers_
    assert max(np.abs(best - mean).max(axis=1).min() for mean in wanted) < 0.2
    sparse = Nystrom(Gaussian(0.01), 3, centers="kmeans", random_state=1).fit(
        scipy.sparse.csr_array(points)
    )
    assert np.allclose(sparse.centers_.toarray(), best)


def test_many_points_are_chosen_among_a_part(monkeypatch):
    monkeypatch.setattr(centers, "MANY", 40)
    monkeypatch.setattr(room, "SAMPLE", 25)
    phi = Nystrom(Gaussian(0.5), 6).fit(X)
    assert "among 40 of 60 points" in phi.certificate_.plan
    assert phi.certificate_.trace_points == 25
    F = phi.transform(X)
    assert abs(phi.trace_error_ - (1 - np.trace(F @ F.T) / 60)) < 0.1
    blocks = Nystrom(Gaussian(0.5), 6).fit(RowBlocks.split(X, 7))
    assert np.allclose(blocks.transform(X), F, rtol=0, atol=1e-12)


def test_it_is_not_worse_than_scikit_learn():
    points = random.normal(size=(400, 4))
    ours, theirs = [], []
    for seed in range(5):
        phi = Nystrom(Gaussian(0.2), 40, random_state=seed).fit(points)
        peer = Nystroem(gamma=0.2, n_components=40, random_state=seed).fit_transform(points)
        ours.append(phi.trace_error_)
        theirs.append(1 - (peer**2).sum() / 400)
    assert np.mean(ours) < np.mean(theirs)


# --- products and gradients ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_without_the_features(dtype):
    phi = Nystrom(Gaussian(0.3), 9).fit(X.astype(dtype))
    new = NEW.astype(dtype)
    F, width = phi.transform(new), 9
    tolerance = 1e-9 if dtype == np.float64 else 1e-3
    for shape in ((width,), (width, 2)):
        c = random.normal(size=shape)
        found = phi.product(new, c)
        assert found.shape == (13, *shape[1:])
        assert np.allclose(found, F @ c, rtol=0, atol=tolerance)
        blocks = phi.product(RowBlocks.split(new, 5), c)
        assert np.allclose(blocks, found, rtol=0, atol=tolerance)
    with pytest.raises(InputError, match=r"coefficients must have one row for each of the 9 feat"):
        phi.product(new, np.ones(4))


def test_gradients_are_those_of_differences():
    phi, c, step = Nystrom(Gaussian(0.3), 9).fit(X), random.normal(size=9), 1e-6
    found = phi.gradient(NEW, c)
    for column in range(3):
        ahead, behind = NEW.copy(), NEW.copy()
        ahead[:, column] += step
        behind[:, column] -= step
        wanted = (phi.product(ahead, c) - phi.product(behind, c)) / (2 * step)
        assert np.allclose(found[:, column], wanted, rtol=0, atol=1e-5)
    assert phi.gradient(NEW, c[:, None]).shape == (13, 3, 1)


def test_a_linear_model_on_words():
    kinds = np.array([word.count("a") > 2 for word in WORDS])
    pipe = make_pipeline(Nystrom(Spectrum(1), 3), RidgeClassifier(alpha=1e-3))
    assert pipe.fit(WORDS, kinds).score(WORDS, kinds) > 0.9


# --- refused ------------------------------------------------------------------------------------


def test_numbers_of_centres():
    told = r"Nystrom: n_components must be at most the number of points, 60; got 61\. None takes"
    with pytest.raises(InputError, match=told):
        Nystrom(n_components=61).fit(X)
    with pytest.raises(InputError, match="n_components must be a whole number at least 1; got 0"):
        Nystrom(n_components=0).fit(X)
    with pytest.raises(InputError, match="n_components must be None or 5, the number of the cent"):
        Nystrom(n_components=6, centers=X[:5]).fit(X)
    assert Nystrom(Gaussian(5.0)).fit(X).transform(X).shape == (60, 60)
    many = random.normal(size=(150, 3))
    assert Nystrom(Gaussian(5.0)).fit(many).transform(NEW).shape == (13, 100)


def test_centres_of_another_kind():
    with pytest.raises(InputError, match="Nystrom: centers must be one of 'rpcholesky', 'unif"):
        Nystrom(centers="rpcholeski").fit(X)
    with pytest.raises(InputError, match="centers must have the 3 columns of X; got 2 columns"):
        Nystrom(centers=X[:, :2]).fit(X)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(InputError, match="centers must have the columns of X, a, b, c; got c, b"):
        Nystrom(centers=frame[["c", "b", "a"]]).fit(frame)
    with pytest.raises(InputError, match="Nystrom centers: X must be "):
        Nystrom(Spectrum(2), centers=X).fit(WORDS)
    with pytest.raises(InputError, match="Nystrom centers: X must be rows of numbers"):
        Nystrom(centers=WORDS).fit(X)
    with pytest.raises(InputError, match=r"centers must be 'rpcholesky' or 'uniform' for a prec"):
        Nystrom("precomputed", centers=X).fit(X @ X.T)
    with pytest.raises(InputError, match="centers must be at least one point; got none"):
        Nystrom(centers=X[:0]).fit(X)
    with pytest.raises(InputError, match="no negative entries"):
        Nystrom(Intersection(), centers=-X).fit(np.abs(X))
    with pytest.raises(InputTypeError, match="Nystrom centers"):
        Nystrom(centers=None).fit(X)


@pytest.mark.parametrize("name", ["strings", "graphs"])
def test_objects_have_no_means(name):
    kernel, points = OBJECTS[name]
    told = r"centers='kmeans' takes rows of numbers, which have means; .*Use centers='rpcholesky'"
    with pytest.raises(InputError, match=told):
        Nystrom(kernel, 2, centers="kmeans").fit(points)
    with pytest.raises(InputError, match="which have means"):
        Nystrom(Categorical(1.0), 2, centers="kmeans").fit([["a"], ["b"], ["c"]])
    with pytest.raises(InputError, match="which have means"):
        Nystrom("precomputed", 2, centers="kmeans").fit(X @ X.T)


def test_limits_of_memory():
    with pytest.raises(MemoryLimitError, match=r"the factor of 50 centres must fit memory_limit"):
        Nystrom(Gaussian(1.0), 50, memory_limit=5000).fit(X)
    with pytest.raises(MemoryLimitError, match=r"choosing 50 centres must fit mem.*uniform"):
        Nystrom(Gaussian(1.0), 50, memory_limit=100_000).fit(X)
    few = Nystrom(Gaussian(1.0), 8, memory_limit=200_000).fit(X)
    assert "of 60 points" in few.certificate_.plan


def test_kernels_without_a_derivative():
    phi = Nystrom(Spectrum(2), 2).fit(WORDS)
    with pytest.raises((KernelError, InputError), match="rows of numbers"):
        phi.gradient(WORDS, [1.0, 2.0])


def test_the_certificate_counts():
    phi = Nystrom(Gaussian(1.0), 10).fit(X)
    record = phi.certificate_
    assert record.status == "exact"
    assert record.kernel_entries == 60 * 10 + 100
    assert record.rank == 10
    assert record.trace_points == 60
    assert record.trace_error == phi.trace_error_
    assert record.plan == "10 centres: random pivots among all of 60 points"
    assert prepare(Gaussian(1.0), X).kernel == phi.kernel_
