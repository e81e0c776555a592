"""Kernel principal components: by hand, by NumPy, by scikit-learn; any input; and back again."""

import warnings

import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse
from sklearn import decomposition
from sklearn.base import clone

import mercer
from mercer import KernelPCA
from mercer.checks import InputError, MemoryLimitError
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Categorical,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    SetIntersection,
    Sigmoid,
    Spectrum,
)

random = np.random.default_rng(31)
N = 60
X = random.normal(size=(N, 4)) * [3, 2, 1, 0.5] + 2
NEW = random.normal(size=(15, 4)) * [3, 2, 1, 0.5] + 2
WAYS = ["dense", "krylov"]


def components(K, cross, count):
    """The definition: eigenvectors of the centred matrix, and projections of centred rows."""
    n = len(K)
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(H @ K @ H)
    values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)])
    rows = cross - K.mean(axis=0)
    return values, vectors, (rows - rows.mean(axis=1, keepdims=True)) @ (vectors / np.sqrt(values))


def close(found, wanted, tol=1e-8):
    return np.allclose(found, wanted, rtol=0, atol=tol * np.abs(wanted).max())


# --- the definition ---------------------------------------------------------------------------


def test_three_points_by_hand():
    # Centred: -2, 0, 2 along a line; 8 is the sum of squares, and the direction is (1, 1) / sqrt 2.
    points = np.array([[0.0, 0.0], [np.sqrt(2), np.sqrt(2)], [2 * np.sqrt(2), 2 * np.sqrt(2)]])
    model = KernelPCA(1, kernel=Linear())
    assert np.allclose(np.abs(model.fit_transform(points)[:, 0]), [2, 0, 2])
    assert model.eigenvalues_ == pytest.approx([8.0])
    assert np.allclose(np.abs(model.eigenvectors_[:, 0]), [0.5**0.5, 0, 0.5**0.5])
    assert model.explained_variance_ratio_ == pytest.approx([1.0])
    sign = np.sign(model.transform(points)[2, 0])
    assert np.allclose(model.transform([[0.0, 2.0]]), [[sign * (np.sqrt(2) - 2)]])
    assert np.allclose(model.inverse_transform([[sign * 1.0]]), 1.5 * np.sqrt(2))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "kernel", [Gaussian(0.05), Gaussian(), Laplacian(0.1), Polynomial(3), Linear()], ids=repr
)
def test_it_is_the_definition(kernel, way):
    model = KernelPCA(4, kernel=kernel, eigen_solver=way, tol=1e-11)
    scores = model.fit_transform(X)
    resolved = model.kernel_
    K = resolved.formula(X)
    values, vectors, projections = components(K, resolved.formula(NEW, X), 4)
    assert close(model.eigenvalues_, values)
    assert close(model.eigenvectors_, vectors)
    assert close(model.transform(NEW), projections)
    assert close(scores, vectors * np.sqrt(values))
    assert close(model.transform(X), scores, 1e-12)
    everything = np.trace(K) - K.sum() / N
    assert np.allclose(model.explained_variance_ratio_, values / everything, rtol=1e-9)
    assert model.certificate_.solver == way
    assert model.certificate_.status == {"dense": "exact", "krylov": "converged"}[way]


@pytest.mark.parametrize("way", WAYS)
def test_the_certificate_is_what_it_says(way):
    model = KernelPCA(3, kernel=Gaussian(0.05), eigen_solver=way, tol=1e-4).fit(X)
    H, U = np.eye(N) - 1 / N, model.eigenvectors_
    A = H @ Gaussian(0.05).formula(X) @ H
    left = np.linalg.norm(A @ U - U * model.eigenvalues_, axis=0) / model.eigenvalues_[0]
    found = model.certificate_
    assert np.allclose(found.residuals, left, rtol=1e-3, atol=1e-13)
    assert found.residual == max(found.residuals) <= found.tol == 1e-4
    assert (found.rank, found.kernel_entries) == (3, N * N)
    assert found.plan.startswith(f"{way}, K ")
    assert model.n_iter_ == max(found.iterations, 1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("linear", {}),
        ("rbf", {"gamma": 0.03}),
        ("rbf", {}),
        ("poly", {}),
        ("poly", {"degree": 2, "coef0": 0.5, "gamma": 0.1}),
        ("cosine", {}),
        ("precomputed", {}),
        (lambda A, B: np.exp(-np.abs(A[:, None] - B[None]).sum(axis=-1) / 9), {}),
    ],
)
def test_it_is_scikit_learn(name, parameters, way):
    points, new = (X, NEW)
    if name == "precomputed":
        points, new = Gaussian(0.1)(X), Gaussian(0.1)(NEW, X)
    theirs = decomposition.KernelPCA(4, kernel=name, **parameters)
    if callable(name):
        theirs.set_params(kernel="precomputed").fit(name(X, X))
        wanted = theirs.transform(name(NEW, X))
    else:
        wanted = theirs.fit(points).transform(new)
    ours = KernelPCA(4, kernel=name, eigen_solver=way, tol=1e-11, **parameters).fit(points)
    assert close(ours.eigenvalues_, theirs.eigenvalues_)
    assert close(ours.eigenvectors_, theirs.eigenvectors_)
    assert close(ours.transform(new), wanted)


def test_all_components_are_those_of_scikit_learn():
    ours, theirs = KernelPCA(kernel="rbf").fit(X), decomposition.KernelPCA(kernel="rbf").fit(X)
    assert ours.eigenvalues_.shape == theirs.eigenvalues_.shape == (N - 1,)
    assert close(ours.eigenvalues_, theirs.eigenvalues_)
    assert ours.explained_variance_ratio_.sum() == pytest.approx(1)
    # All components together keep every distance in feature space.
    scores = ours.transform(X)
    gaps = ((scores[:, None] - scores[None]) ** 2).sum(axis=-1)
    assert np.allclose(gaps, 2 - 2 * ours.kernel_.formula(X), atol=1e-9)


def test_the_linear_kernel_is_principal_component_analysis():
    ours, theirs = KernelPCA(3, kernel="linear").fit(X), decomposition.PCA(3).fit(X)
    signs = np.sign((ours.transform(X) * theirs.transform(X)).sum(axis=0))
    assert close(ours.transform(NEW) * signs, theirs.transform(NEW), 1e-10)
    assert np.allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert np.allclose(ours.eigenvalues_ / (N - 1), theirs.explained_variance_)
    back = theirs.inverse_transform(theirs.transform(NEW))
    assert close(ours.inverse_transform(ours.transform(NEW)), back, 1e-10)
    assert KernelPCA(kernel="linear").fit(X).eigenvalues_.shape == (4,)


@pytest.mark.parametrize("way", WAYS)
def test_weights_are_repetitions(way):
    weight = random.integers(0, 4, N)
    weight[:3] = 0, 1, 3
    model = KernelPCA(3, kernel=Gaussian(), eigen_solver=way, tol=1e-10)
    again = clone(model).fit(np.repeat(X, weight, axis=0))
    scores = model.fit_transform(X, sample_weight=weight.astype(float))
    assert model.kernel_.gamma == pytest.approx(again.kernel_.gamma)
    assert close(model.eigenvalues_, again.eigenvalues_)
    assert np.allclose(model.explained_variance_ratio_, again.explained_variance_ratio_)
    assert close(model.transform(NEW), again.transform(NEW))
    assert scores.shape == (N, 3)
    assert close(scores, again.transform(X))
    assert close(
        clone(model).fit(X, sample_weight=np.ones(N)).transform(NEW), model.fit(X).transform(NEW)
    )
    positive = weight + 0.5
    model.fit(X, sample_weight=positive)
    assert close(model.fit_transform(X, sample_weight=positive), model.transform(X), 1e-12)


def test_weights_of_a_matrix_of_kernel_values():
    weight = np.arange(N) % 3.0
    K, cross = Gaussian(0.1)(X), Gaussian(0.1)(NEW, X)
    ours = KernelPCA(3, kernel="precomputed")
    scores = ours.fit_transform(K, sample_weight=weight)
    wanted = KernelPCA(3, kernel=Gaussian(0.1)).fit(X, sample_weight=weight)
    assert close(scores, wanted.transform(X))
    assert close(ours.transform(cross), wanted.transform(NEW))


def test_signs_do_not_depend_on_the_way():
    dense, passes = (
        KernelPCA(5, kernel=Gaussian(0.05), eigen_solver=way).fit_transform(X) for way in WAYS
    )
    assert close(dense, passes, 1e-5)
    assert (dense[np.abs(dense).argmax(axis=0), np.arange(5)] > 0).all()


def test_the_same_again():
    for way in WAYS:
        models = [
            KernelPCA(3, eigen_solver=way, n_jobs=jobs, random_state=4).fit(X) for jobs in (1, 1, 2)
        ]
        assert np.array_equal(models[0].eigenvectors_, models[1].eigenvectors_)
        assert np.array_equal(models[0].transform(NEW), models[1].transform(NEW))
        assert np.allclose(models[0].transform(NEW), models[2].transform(NEW), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_row_by_row_is_the_batch(dtype):
    model = KernelPCA(3).fit((X + 100).astype(dtype))
    new = (NEW + 100).astype(dtype)
    batch = model.transform(new)
    alone = np.vstack([model.transform(new[[i]]) for i in range(len(new))])
    assert np.abs(alone - batch).max() <= 8 * np.finfo(dtype).eps * np.abs(batch).max()


def test_the_way_is_chosen_by_size():
    points = random.normal(size=(900, 3))
    few, many = KernelPCA(3).fit(points), KernelPCA(300).fit(points)
    assert few.certificate_.plan == "krylov, K stored: 3 components of 900 points"
    assert many.certificate_.plan == "dense, K stored: 900 points, 300 components"
    assert np.allclose(few.eigenvalues_, many.eigenvalues_[:3], rtol=1e-6)
    assert close(few.transform(points), few.fit_transform(points), 1e-10)
    tiny = KernelPCA(3, eigen_solver="krylov").fit(points[:13])  # a block would be all points
    assert tiny.certificate_.solver == "dense"


def test_memory_is_limited():
    points = random.normal(size=(900, 3))
    wanted = KernelPCA(3, kernel=Gaussian(0.2)).fit(points)
    small = KernelPCA(3, kernel=Gaussian(0.2), memory_limit="8MB").fit(points)
    assert "on the fly" in small.certificate_.plan
    assert small.certificate_.bytes < 8e6 < wanted.certificate_.bytes
    assert close(small.transform(NEW[:, :3]), wanted.transform(NEW[:, :3]), 1e-4)
    told = r"KernelPCA: decomposing .* 900 points need .* the limit is 8.0 MB. Give a smaller n_c"
    with pytest.raises(MemoryLimitError, match=told):
        KernelPCA(memory_limit="8MB").fit(points)
    assert KernelPCA(100, memory_limit="16MB").fit(points).certificate_.solver == "krylov"
    told = r"KernelPCA: finding 100 components of 900 points must fit memory_limit; .* 8.0 MB. Ask"
    with pytest.raises(MemoryLimitError, match=told):
        KernelPCA(100, eigen_solver="krylov", memory_limit="8MB").fit(points)


def test_the_precision_of_the_kernel():
    points = random.normal(size=(700, 3)).astype(np.float32)
    single = KernelPCA(2, kernel=Gaussian(0.1)).fit(points)
    double = KernelPCA(2, kernel=Gaussian(0.1), tol=1e-9).fit(points)
    exact = KernelPCA(2, kernel=Gaussian(0.1), eigen_solver="dense").fit(points.astype(float))
    assert single.certificate_.status == double.certificate_.status == "converged"
    assert double.certificate_.residual <= 1e-9
    assert np.allclose(single.eigenvalues_, exact.eigenvalues_, rtol=1e-5)
    assert np.allclose(double.eigenvalues_, exact.eigenvalues_, rtol=1e-9)


# --- few components ---------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_more_components_than_the_rank(way):
    model = KernelPCA(6, kernel="linear", eigen_solver=way)
    told = "KernelPCA: n_components must be at most the rank of the centred kernel matrix, 4; got 6"
    with pytest.warns(UserWarning, match=told):
        scores = model.fit_transform(X)
    assert scores.shape == (N, 6)
    assert (model.eigenvalues_[4:] == 0).all()
    assert (scores[:, 4:] == 0).all()
    assert (model.transform(NEW)[:, 4:] == 0).all()
    assert model.certificate_.rank == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        short = model.set_params(remove_zero_eig=True).fit_transform(X)
    assert close(short, scores[:, :4])
    assert model.get_feature_names_out().tolist() == [f"kernelpca{i}" for i in range(4)]


@pytest.mark.parametrize(("points", "count"), [(np.ones((8, 2)), 3), (X[:1], 1)])
def test_points_that_are_all_the_same(points, count):
    told = "KernelPCA: points must differ under the kernel; got points with one image for all"
    for wanted, shape in ((None, 0), (count, count)):
        model = KernelPCA(wanted)
        with pytest.warns(UserWarning, match=told):
            model.fit(points)
        assert model.transform(points).shape == (len(points), shape)
        assert not model.transform(points).any()
        assert not model.explained_variance_ratio_.any()


def test_constant_points_in_passes():
    with pytest.warns(UserWarning, match="points must differ"):
        model = KernelPCA(2, eigen_solver="krylov").fit(np.ones((40, 2)))
    assert model.certificate_.solver == "krylov"
    assert not model.transform(np.ones((3, 2))).any()


def test_two_points():
    model = KernelPCA(kernel=Gaussian(0.5)).fit([[0.0], [1.0]])
    assert model.eigenvalues_ == pytest.approx([1 - np.exp(-0.5)])
    assert np.allclose(model.transform([[0.5]]), 0)
    assert np.allclose(np.abs(model.transform([[0.0], [1.0]])), np.sqrt((1 - np.exp(-0.5)) / 2))


@pytest.mark.parametrize("way", WAYS)
def test_a_matrix_that_is_no_kernel(way):
    K = np.tanh(X @ X.T / 10 - 1)
    lowest = np.linalg.eigvalsh(K - K.mean(0) - K.mean(1)[:, None] + K.mean()).min()
    with pytest.warns(UserWarning, match="KernelPCA: the kernel matrix is not positive semi"):
        model = KernelPCA(2, kernel="precomputed", eigen_solver=way).fit(K)
    with pytest.warns(UserWarning, match=rf"at most {lowest:.2f}.*mercer.repair"):
        KernelPCA(2, kernel=Sigmoid(0.1, -1.0), eigen_solver=way, tol=1e-10).fit(X)
    assert (model.eigenvalues_ > 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPCA(2, kernel="precomputed", eigen_solver=way).fit(mercer.repair(K))


# --- any input --------------------------------------------------------------------------------


def test_every_container_gives_the_same_model():
    wanted = KernelPCA(3).fit(X).transform(NEW)
    names = list("abcd")
    for points, new in (
        (X.tolist(), NEW.tolist()),
        (scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(NEW)),
        (np.asfortranarray(X), NEW),
        (pd.DataFrame(X, columns=names), pd.DataFrame(NEW, columns=names)),
    ):
        assert np.allclose(KernelPCA(3).fit(points).transform(new), wanted, atol=1e-10)
    blocks = RowBlocks([X[:25], X[25:40], X[40:]])
    for way in WAYS:
        model = KernelPCA(3, kernel=Gaussian(0.1), eigen_solver=way, tol=1e-9)
        found = model.fit(blocks).transform(NEW)
        assert np.allclose(
            found, KernelPCA(3, kernel=Gaussian(0.1)).fit(X).transform(NEW), atol=1e-7
        )


WORDS = ["".join(random.choice(list("ab" if i % 2 else "bc"), 7)) for i in range(40)]
TABLE = pd.DataFrame({"size": random.normal(size=40), "word": WORDS, "side": ["l", "r"] * 20})
OBJECTS = {
    "strings": (Spectrum(2), WORDS, lambda u, v: oracles.spectrum(u, v, 2)),
    "sets": (SetIntersection(), [set(w[:4]) for w in WORDS], oracles.common),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", OBJECTS)
def test_objects(kind, way):
    kernel, points, formula = OBJECTS[kind]
    K = oracles.gram(formula, points)
    model = KernelPCA(2, kernel=kernel, eigen_solver=way, tol=1e-10).fit(points[:30])
    _, _, wanted = components(K[:30, :30], K[30:, :30], 2)
    assert close(model.transform(points[30:]), wanted, 1e-7)
    with pytest.raises(InputError, match="inverse_transform returns dense rows of numbers"):
        model.inverse_transform(wanted)


def test_a_mixed_table():
    kernel = Gaussian(0.5).on("size") + 0.1 * Spectrum(2).on("word") + Categorical().on("side")
    model = KernelPCA(3, kernel=kernel).fit(TABLE[:30])
    K = kernel(TABLE)
    wanted = KernelPCA(3, kernel="precomputed").fit(K[:30, :30])
    assert close(model.transform(TABLE[30:]), wanted.transform(K[30:, :30]))
    with pytest.raises(InputError, match="inverse_transform returns dense rows of numbers"):
        KernelPCA(3, kernel=kernel, fit_inverse_transform=True).fit(TABLE)


def test_the_points_may_change_afterwards():
    points = X.copy()
    model = KernelPCA(2).fit(points)
    before = model.transform(NEW)
    points[:] = np.nan
    assert np.array_equal(model.transform(NEW), before)
