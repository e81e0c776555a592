"""Neighbours in scikit-learn's hands: beside its own, any input, files, refusals."""

import pickle

import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import estimator_checks
from test_neighbors import ranked, squared_distances

import mercer
from mercer import KernelNeighborsClassifier, KernelNeighborsRegressor, KernelRidge
from mercer.checks import FileError, InputError, MemoryLimitError
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Categorical,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    SetIntersection,
    Spectrum,
    Tanimoto,
)

random = np.random.default_rng(31)
N = 90
X, NEW = random.normal(size=(N, 4)), random.normal(size=(25, 4))
LABELS = np.array(["red", "green", "blue"])[random.integers(0, 3, N)]
TARGET = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])


# --- beside scikit-learn ----------------------------------------------------------------------


def inverse_square(distances):
    return 1 / (1e-3 + distances**2)


@pytest.mark.parametrize("weights", ["uniform", "distance", inverse_square])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_explicit_features_give_the_same_votes(weights, dtype):
    points = X.astype(dtype)
    new = np.concatenate([NEW, X[:5]]).astype(dtype)  # also points that were trained on
    for kernel in (Linear(), Polynomial(2), Polynomial(3, 0.5, 2.0)):
        F, G = (kernel.features(rows.astype(float)) for rows in (points, new))
        ours = KernelNeighborsClassifier(4, kernel, weights=weights).fit(points, LABELS)
        theirs = KNeighborsClassifier(4, weights=weights, algorithm="kd_tree").fit(F, LABELS)
        gaps, wanted = theirs.kneighbors(G)
        distances, indices = ours.kneighbors(new)
        assert np.array_equal(indices, wanted)
        assert np.allclose(distances, gaps, rtol=1e-7, atol=1e-6)
        assert (distances[-5:, 0] == 0).all()
        assert np.allclose(ours.predict_proba(new), theirs.predict_proba(G), rtol=1e-6, atol=1e-8)
        assert np.array_equal(ours.predict(new), theirs.predict(G))
        line = KernelNeighborsRegressor(4, kernel, weights=weights).fit(points, TARGET)
        mean = KNeighborsRegressor(4, weights=weights, algorithm="kd_tree").fit(F, TARGET)
        assert np.allclose(line.predict(new), mean.predict(G), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_radial_kernels_have_the_neighbours_of_ordinary_distance(dtype):
    points, new = X.astype(dtype), NEW.astype(dtype)
    for kernel, metric, k in (
        (Gaussian(0.3), "euclidean", lambda d: np.exp(-0.3 * d**2)),
        (Matern(1.5), "euclidean", lambda d: (1 + np.sqrt(3) * d) * np.exp(-np.sqrt(3) * d)),
        (Laplacian(0.3), "manhattan", lambda d: np.exp(-0.3 * d)),
    ):
        ours = KernelNeighborsClassifier(5, kernel).fit(points, LABELS)
        theirs = KNeighborsClassifier(5, metric=metric, algorithm="brute").fit(points, LABELS)
        assert np.array_equal(ours.predict(new), theirs.predict(new))
        assert np.array_equal(ours.predict_proba(new), theirs.predict_proba(new))
        assert ours.score(points, LABELS) == theirs.score(points, LABELS)
        for given in (new, None):
            gaps, wanted = theirs.kneighbors(given)
            distances, indices = ours.kneighbors(given)
            assert np.array_equal(indices, wanted)
            rounding = 1e-6 if dtype == np.float32 else 1e-12
            assert np.allclose(distances**2, 2 - 2 * k(gaps), rtol=0, atol=rounding)


def test_ridge_with_a_narrow_kernel_is_the_nearest_neighbour():
    # Lecture D7: where gamma is large, f(x) is about k(x, x_i) y_i of the nearest x_i alone.
    gamma, sign = 400.0, np.where(TARGET[:, 0] > 0, 1.0, -1.0)
    new = NEW[:, :2] * 0.5
    points = X[:, :2]
    squares = ((new[:, None] - points[None]) ** 2).sum(axis=-1)
    near = np.sort(squares, axis=1)
    clear = gamma * (near[:, 1] - near[:, 0]) > np.log(N)  # the others together weigh less
    assert clear.sum() >= 5
    assert gamma * near[clear, 0].max() < 700  # nothing underflows
    ridge = KernelRidge(1e-12, kernel=Gaussian(gamma)).fit(points, sign)
    nearest = KernelNeighborsClassifier(1, Gaussian(gamma)).fit(points, sign)
    mean = KernelNeighborsRegressor(1, Gaussian(gamma)).fit(points, sign)
    assert np.array_equal(np.sign(ridge.predict(new[clear])), nearest.predict(new[clear]))
    assert np.array_equal(mean.predict(new), nearest.predict(new))


@estimator_checks.parametrize_with_checks(
    [
        KernelNeighborsClassifier(3),
        KernelNeighborsRegressor(3),
        KernelNeighborsClassifier(2, Polynomial(2), weights="distance"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_searches():
    grid = {"n_neighbors": [1, 9], "kernel__gamma": [0.3, 1.0]}
    search = GridSearchCV(KernelNeighborsRegressor(kernel=Gaussian(1.0)), grid, cv=3)
    assert search.fit(X, TARGET).best_estimator_.n_neighbors == 9
    scores = [
        GridSearchCV(KernelNeighborsClassifier(kernel=kernel), {"n_neighbors": [2, 5]}, cv=3)
        .fit(points, LABELS)
        .cv_results_["mean_test_score"]
        for kernel, points in ((Linear(), X), ("precomputed", X @ X.T))
    ]
    assert np.array_equal(*scores)


# --- any input --------------------------------------------------------------------------------


def test_every_container_gives_the_same_neighbours():
    model = KernelNeighborsRegressor(4, Polynomial(2), weights="distance")
    wanted, fitted = model.fit(X, TARGET).predict(NEW), model.kneighbors()
    blocks = RowBlocks.split(X, 20), RowBlocks([NEW[:3], NEW[3:]])
    frames = pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(NEW, columns=list("abcd"))
    for points, new in (
        (X.tolist(), NEW.tolist()),
        (scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(NEW)),
        (scipy.sparse.csr_matrix(X), NEW),
        (np.asfortranarray(X), NEW[:, ::-1][:, ::-1]),
        frames,
        blocks,
        (X, blocks[1]),
        (blocks[0], NEW),
    ):
        found = clone(model).fit(points, TARGET)
        assert np.allclose(found.predict(new), wanted, rtol=1e-9)
        distances, indices = found.kneighbors()
        assert np.array_equal(indices, fitted[1])
        assert np.allclose(distances, fitted[0], rtol=1e-9)


def test_blocks_of_single_precision_are_compared_in_double():
    points, new = X.astype(np.float32), NEW.astype(np.float32)
    wanted = KernelNeighborsClassifier(5).fit(points, LABELS)
    found = KernelNeighborsClassifier(5).fit(RowBlocks.split(points, 20), LABELS)
    assert np.array_equal(found.kneighbors(new)[1], wanted.kneighbors(new)[1])
    same = found.kneighbors(points[:7], 1)
    assert np.array_equal(same[1][:, 0], np.arange(7))
    assert (same[0] == 0).all()


WORDS = ["".join(random.choice(list("ab" if i % 2 else "bc"), 7)) for i in range(40)]
KINDS = np.arange(40) % 2
SIZES = (random.normal(size=40) + KINDS).tolist()
TABLE = pd.DataFrame({"size": SIZES, "word": WORDS, "side": ["l", "r"] * 20})


def mixed(x, y):
    counted = oracles.spectrum(x[1], y[1], 2)
    return oracles.gaussian(x[:1], y[:1], 0.5) + 0.1 * counted + np.exp(-(x[2] != y[2]))


@pytest.mark.parametrize(
    ("kernel", "points", "function"),
    [
        (Spectrum(2), WORDS, lambda u, v: oracles.spectrum(u, v, 2)),
        (SetIntersection(), [set(word) for word in WORDS], lambda u, v: float(len(u & v))),
        (
            Gaussian(0.5).on("size") + 0.1 * Spectrum(2).on("word") + Categorical(1.0).on("side"),
            TABLE,
            mixed,
        ),
        (
            FunctionKernel(lambda u, v: float(len(u) * (u[0] == v[0])), pairwise=True),
            WORDS,
            lambda u, v: float(len(u) * (u[0] == v[0])),
        ),
    ],
    ids=["strings", "sets", "a mixed table", "a function"],
)
def test_objects_and_mixed_tables(kernel, points, function):
    model = KernelNeighborsClassifier(3, kernel).fit(points, KINDS)
    items = points.to_numpy().tolist() if isinstance(points, pd.DataFrame) else points
    squares = squared_distances(function, items)
    distances, indices = model.kneighbors(points)
    wanted = ranked(np.round(squares, 12), 3)
    assert np.array_equal(indices, wanted)
    near = np.maximum(np.take_along_axis(squares, wanted, 1), 0)
    assert np.allclose(distances**2, near, rtol=1e-12, atol=1e-14)
    assert (distances[:, 0] == 0).all()
    np.fill_diagonal(squares, np.inf)
    assert np.array_equal(model.kneighbors()[1], ranked(np.round(squares, 12), 3))
    assert model.score(points, KINDS) > 0.6


def test_sets_and_rows_of_zeros_and_ones_are_the_same_points():
    rows = random.integers(0, 2, size=(40, 6))
    sets = [set(np.flatnonzero(row).tolist()) for row in rows]
    found = KernelNeighborsClassifier(5, Tanimoto()).fit(sets, KINDS).kneighbors()
    wanted = KernelNeighborsClassifier(5, Tanimoto()).fit(rows, KINDS).kneighbors()
    assert np.array_equal(found[1], wanted[1])
    assert np.array_equal(found[0], wanted[0])


def test_precomputed_is_the_kernel():
    k = Polynomial(2, 0.5, 1.0)
    K, cross = k(X), k(NEW, X)
    wanted = KernelNeighborsClassifier(4, k).fit(X, LABELS)
    model = KernelNeighborsClassifier(4, "precomputed").fit(K, LABELS)
    assert np.array_equal(model.predict(cross), wanted.predict(NEW))
    found = model.kneighbors(cross, return_distance=False)
    assert np.array_equal(found, wanted.kneighbors(NEW)[1])
    assert np.array_equal(model.kneighbors()[1], wanted.kneighbors()[1])
    assert np.allclose(model.kneighbors()[0], wanted.kneighbors()[0], rtol=1e-9)
    with pytest.raises(InputError, match=r"k\(x, x\) is known for training points only"):
        model.kneighbors(cross)
    with pytest.raises(InputError, match=r"k\(x, x\) is known for training points only"):
        model.set_params(weights="distance").predict(cross)


# --- kept, refused ----------------------------------------------------------------------------


def test_copies_and_files_predict_the_same(tmp_path):
    for model, y in (
        (KernelNeighborsClassifier(3, Polynomial(2), weights="distance"), LABELS),
        (KernelNeighborsRegressor(3), TARGET),
        (KernelNeighborsRegressor(3), TARGET[:, 0]),
    ):
        model.fit(X, y)
        mercer.save(model, tmp_path / "model")
        for other in (pickle.loads(pickle.dumps(model)), mercer.load(tmp_path / "model")):
            assert np.array_equal(other.predict(NEW), model.predict(NEW))
            assert np.array_equal(other.kneighbors()[0], model.kneighbors()[0])
            assert other.get_params() == model.get_params()
            assert other.certificate_ == model.certificate_


@pytest.mark.filterwarnings("ignore:save")
def test_a_file_without_its_function_of_weights_says_so(tmp_path):
    model = KernelNeighborsRegressor(3, weights=inverse_square).fit(X, TARGET)
    mercer.save(model, tmp_path / "model")
    with pytest.raises(FileError, match=r"handed in; got none\. Write load\(path, functions="):
        mercer.load(tmp_path / "model")
    other = mercer.load(tmp_path / "model", functions={"inverse_square": inverse_square})
    assert np.array_equal(other.predict(NEW), model.predict(NEW))


def test_the_same_again_with_any_threads_memory_or_batch():
    points, new = X.astype(np.float32), NEW.astype(np.float32)
    wanted = KernelNeighborsClassifier(5).fit(points, LABELS).kneighbors(new)
    for options in ({"n_jobs": 1}, {"n_jobs": 2}, {"memory_limit": 20_000}):
        found = KernelNeighborsClassifier(5, **options).fit(points, LABELS).kneighbors(new)
        assert np.array_equal(found[1], wanted[1])
        assert np.array_equal(found[0], wanted[0])
    model = KernelNeighborsClassifier(5).fit(points, LABELS)
    alone = [model.kneighbors(new[[row]]) for row in range(len(new))]
    assert np.array_equal(np.concatenate([one[1] for one in alone]), wanted[1])
    assert np.array_equal(np.concatenate([one[0] for one in alone]), wanted[0])


def test_points_are_copied():
    points = X.copy()
    model = KernelNeighborsClassifier(3).fit(points, LABELS)
    wanted = model.kneighbors(NEW)
    points[:] = 0.0
    assert np.array_equal(model.kneighbors(NEW)[0], wanted[0])


def test_attributes_and_certificate():
    model = KernelNeighborsClassifier().fit(X, LABELS)
    assert model.n_samples_fit_ == N
    assert model.kernel_ == Gaussian(1 / (4 * X.var()))
    assert model.classes_.tolist() == ["blue", "green", "red"]
    found = model.certificate_
    assert (found.status, found.kernel_entries) == ("exact", N)
    assert found.seconds > 0
    assert found.plan.startswith("kept: new points are compared with all")


@pytest.mark.parametrize("kind", [KernelNeighborsClassifier, KernelNeighborsRegressor])
@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number at least 1; got 0"),
        ({"n_neighbors": 2.0}, "n_neighbors must be a whole number"),
        (
            {"n_neighbors": N + 1},
            f"n_neighbors must be at most {N}, .*; got {N + 1} with n_samples = {N}. Lower",
        ),
        ({"weights": "distanced"}, "got 'distanced'. Did you mean 'distance'"),
        ({"weights": None}, "weights must be 'uniform', 'distance' or a function"),
        ({"weights": [1.0, 2.0]}, "weights must be 'uniform', 'distance' or a function"),
        ({"memory_limit": "lots"}, "memory_limit must be"),
        ({"kernel": "rdf"}, "Did you mean 'rbf'"),
        ({"kernel": "precomputed"}, "must be square"),
    ],
)
def test_bad_parameters(kind, parameters, told):
    with pytest.raises(ValueError, match=f"{kind.__name__}: .*{told}"):
        kind(**parameters).fit(X, np.arange(N) % 2)


def test_bad_questions():
    model = KernelNeighborsClassifier(N, Gaussian(1.0)).fit(X, LABELS)
    with pytest.raises(
        InputError, match=f"must be at most {N - 1}, .*; got {N} with n_samples = {N}"
    ):
        model.kneighbors()
    with pytest.raises(InputError, match=f"must be at most {N}, .*; got {N + 1}"):
        model.kneighbors(NEW, N + 1)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(NEW[:, :3])
    with pytest.raises(InputError, match="NaN in row 1, column 0"):
        model.predict(np.where(np.arange(25)[:, None] == 1, np.nan, NEW))
    with pytest.raises(MemoryLimitError, match="Raise memory_limit to"):
        model.set_params(memory_limit=500).predict(NEW)
    model = KernelNeighborsRegressor(3, weights=lambda d: d[:, 0]).fit(X, TARGET)
    with pytest.raises(InputError, match=r"one number a distance, shape \(25, 3\); got shape"):
        model.predict(NEW)
    for labels, told in ((None, "requires y"), (LABELS[:5], f"must have {N} labels; got 5")):
        with pytest.raises(InputError, match=told):
            KernelNeighborsClassifier().fit(X, labels)
    with pytest.raises(InputError, match=f"one row for each of the {N} points"):
        KernelNeighborsRegressor().fit(X, TARGET[:5])
