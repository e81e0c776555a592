"""A metric in front of a kernel: values by hand and by definition, text, files, bad input."""

import pickle

import forgery
import numpy as np
import pandas
import pytest
import scipy.sparse

from mercer import SVC, InputError, KernelError, KernelRidge, load, parse, save, tune
from mercer.checks import FileError, InputTypeError
from mercer.grams import prepare
from mercer.kernels import (
    Chi2,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    MetricMatrix,
    Polynomial,
    Spectrum,
    from_spec,
)

random = np.random.default_rng(11)
X = random.normal(size=(40, 3))
Y = random.normal(size=(7, 3))
HALF = random.normal(size=(3, 2))
FULL = HALF @ HALF.T  # of rank 2
WEIGHTS = [1.0, 0.25, 0.0]
METRICS = [WEIGHTS, FULL]


def distances(A, B, M):
    """Squared distances one by one: (a - b)' M (a - b)."""
    return np.array([[(a - b) @ M @ (a - b) for b in B] for a in A])


def test_hand_values():
    kernel = Laplacian(gamma=0.5).metric([1.0, 0.25])
    assert kernel.pair([0.0, 0.0], [1.0, 2.0]) == pytest.approx(np.exp(-1.0), rel=1e-15)
    matrix = [[2.0, 1.0], [1.0, 2.0]]
    assert Linear().metric(matrix).pair([1.0, 0.0], [3.0, 5.0]) == pytest.approx(11.0, rel=1e-14)
    # The root of this matrix is [[2, 1], [1, 2]].
    squared = [[5.0, 4.0], [4.0, 5.0]]
    got = Laplacian(1.0).metric(squared).pair([1.0, 0.0], [0.0, 0.0])
    assert got == pytest.approx(np.exp(-3.0), rel=1e-14)


@pytest.mark.parametrize("M", METRICS, ids=["weights", "full"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_mahalanobis_distances(M, dtype):
    matrix = np.diag(M) if np.ndim(M) == 1 else M
    a, b = X.astype(dtype), Y.astype(dtype)
    wanted = np.exp(-0.7 * distances(a.astype(float), b.astype(float), matrix))
    found = Gaussian(0.7).metric(M)(a, b)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, atol=1e-14 if dtype == np.float64 else 2e-6)


def test_weights_are_those_of_gamma():
    weights = np.array([1.0, 0.5, 3.0])
    np.testing.assert_allclose(
        Gaussian(0.7).metric(weights)(X, Y), Gaussian(tuple(0.7 * weights))(X, Y), atol=1e-14
    )
    np.testing.assert_allclose(
        Laplacian(0.7).metric(weights)(X, Y),
        Laplacian(tuple(0.7 * np.sqrt(weights)))(X, Y),
        atol=1e-14,
    )


@pytest.mark.parametrize("kernel", [Laplacian(0.5), Polynomial(2), Matern(0.5), Chi2(0.3)])
@pytest.mark.parametrize("M", METRICS, ids=["weights", "full"])
def test_sparse_rows(kernel, M):
    points = np.abs(X) * (X > 0.3)
    if isinstance(kernel, Chi2):
        M = WEIGHTS  # what a full metric makes of points need not be positive
    sparse = scipy.sparse.csr_array(points)
    seen = kernel.metric(M).child_input(kernel.metric(M).admit(sparse))
    assert seen.is_sparse == (np.ndim(M) == 1)
    wanted = kernel.metric(M).formula(points)
    np.testing.assert_allclose(kernel.metric(M)(sparse), wanted, atol=1e-13)


def test_words_are_settled_in_the_metric():
    kernel = Gaussian("scale").metric(FULL)
    assert kernel.unresolved() == ["Gaussian.gamma"]
    seen = X @ np.asarray(kernel.matrix.root)
    assert kernel.resolve(X).inner.gamma == pytest.approx(1 / (3 * seen.var()), rel=1e-12)


def test_it_runs_natively():
    for M in METRICS:
        plan = str(prepare(Laplacian(0.5).metric(M), X).gram().explain())
        assert "L1 distance in a new representation" in plan


def test_a_finite_map_stays():
    kernel = Polynomial(2).metric(FULL)
    features = kernel.features(X)
    np.testing.assert_allclose(features @ features.T, kernel.formula(X), atol=1e-11)


def test_values():
    one, other = (Laplacian(0.5).metric(FULL) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != Laplacian(0.5).metric(2 * FULL)
    assert one != Laplacian(0.5)
    assert Linear().metric([0.0, 1.0]) == Linear().metric([-0.0, 1.0])
    assert Linear().metric([1.0]) != Linear().metric([[1.0]])
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.replace(gamma=2.0) == Laplacian(2.0).metric(FULL)
    assert one.replace(gamma=2.0).M is one.M  # the root is not computed again
    np.testing.assert_array_equal(np.asarray(one.M), FULL)
    with pytest.raises(ValueError, match="read-only"):
        one.matrix.values[0, 0] = 3.0
    given = np.ones(3)
    kernel = Linear().metric(given)
    given[0] = 5.0
    assert kernel == Linear().metric(np.ones(3))


@pytest.mark.parametrize("M", METRICS, ids=["weights", "full"])
def test_text(M):
    kernel = 2.0 * (Laplacian(0.5) + Linear()).metric(M) + 1.0
    assert parse(repr(kernel)) == kernel
    assert from_spec(kernel.spec()) == kernel
    assert repr(Laplacian(gamma=0.5).metric([1, 0.25])) == (
        "Laplacian(gamma=0.5).metric([1.0, 0.25])"
    )
    assert repr(Linear().metric(np.eye(2))) == "Linear().metric([[1.0, 0.0], [0.0, 1.0]])"


def test_a_large_matrix_has_a_name():
    kernel = Linear().metric(np.eye(60))
    text = repr(kernel)
    assert len(text) < 60
    assert text == repr(Linear().metric(np.eye(60)))
    assert text != repr(Linear().metric(2 * np.eye(60)))
    assert parse(text, {repr(kernel.M): np.eye(60)}) == kernel
    with pytest.raises(KernelError, match="unknown name 'M60x60_"):
        parse(text)


@pytest.mark.parametrize("M", METRICS, ids=["weights", "full"])
def test_files(M, tmp_path):
    kernel = Laplacian("scale").metric(M) + Laplacian(0.1).metric([1.0, 1.0, 1.0])
    forgery.round_trip(KernelRidge(kernel=kernel).fit(X, X[:, 0]), tmp_path, Y)


def test_a_matrix_of_a_file_is_one_tensor(tmp_path):
    M = np.eye(100)
    M[0, 1] = M[1, 0] = 1 / 3
    model = KernelRidge(kernel=Linear().metric(M)).fit(np.eye(100)[:5], np.arange(5.0))
    save(model, tmp_path / "model.mercer")
    manifest, tensors = forgery.content(tmp_path / "model.mercer")
    assert sum(tensor.shape == (100, 100) for tensor in tensors.values()) == 1
    assert len(str(manifest)) < 20_000


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ([-1.0, 2.0, 3.0], "a metric must be valid.*weights must be at least 0"),
        ([1.0, 2.0], "X must have 2 columns, as many as M"),
    ],
)
def test_a_file_with_another_metric_is_refused(changed, message, tmp_path):
    model = KernelRidge(kernel=Linear().metric([1.0, 2.0, 3.0])).fit(X, X[:, 0])
    path = tmp_path / "model.mercer"
    save(model, path)
    manifest, tensors = forgery.content(path)
    (name,) = [name for name, one in tensors.items() if one.tolist() == [1.0, 2.0, 3.0]]
    forgery.forge(path, manifest, {**tensors, name: np.array(changed)})
    with pytest.raises(FileError, match=message):
        load(path)


def test_tune_and_frames():
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    kernel = Laplacian(0.5).metric([2.0, 1.0]).on(["a", "c"])
    np.testing.assert_allclose(
        kernel(frame), Laplacian(0.5).metric([2.0, 1.0])(X[:, [0, 2]]), atol=1e-14
    )
    y = np.sin(X[:, 0])
    found = tune(
        KernelRidge(kernel=Gaussian(1.0).metric(FULL)), X, y, {"kernel__gamma": (0.01, 10.0)}
    )
    assert MetricMatrix(FULL) == found.model.kernel_.M
    assert SVC(kernel=kernel).fit(frame, y > 0).predict(frame).shape == (40,)


@pytest.mark.parametrize(
    ("M", "error", "message"),
    [
        ([1.0, -0.5], InputError, "weights must be at least 0; got -0.5 at 1"),
        ([1.0, np.nan], InputError, r"finite numbers only; got nan at \(1,\)"),
        ([[1.0, 0.0], [0.0, np.inf]], InputError, r"finite numbers only; got inf at \(1, 1\)"),
        ([[1.0, 2.0], [0.0, 1.0]], InputError, "M must be symmetric; got entries that differ by 2"),
        ([[1.0, 2.0], [2.0, 1.0]], InputError, "positive semi-definite; got an eigenvalue of -1"),
        (np.ones((2, 3)), InputError, r"square matrix; got shape \(2, 3\)"),
        (np.ones((2, 2, 2)), InputError, r"got shape \(2, 2, 2\)"),
        ([], InputError, r"got shape \(0,\)"),
        (np.ones((0, 0)), InputError, r"got shape \(0, 0\)"),
        (2.0, InputError, r"got shape \(\)"),
        ("scale", InputTypeError, "M must be a vector or a matrix of numbers"),
        ([[1.0], [1.0, 2.0]], InputTypeError, "M must be a vector or a matrix of numbers"),
        (None, InputError, "M must"),
    ],
)
def test_bad_matrices(M, error, message):
    with pytest.raises(error, match=message):
        Linear().metric(M)


def test_rounding_is_no_indefiniteness():
    M = np.outer(X[0], X[0])
    M[0, 0] *= 1 - 1e-12
    root = MetricMatrix(M).root
    np.testing.assert_allclose(root @ root, M, atol=1e-11 * np.abs(M).max())


def test_bad_points():
    kernel = Laplacian(0.5).metric([1.0, 2.0])
    with pytest.raises(InputError, match="X must have 2 columns, as many as M; got 3"):
        kernel(X)
    with pytest.raises(InputError, match="X must have 2 columns, as many as M; got 3"):
        KernelRidge(kernel=kernel).fit(X, X[:, 0])
    with pytest.raises(KernelError, match="metric: the kernel must take rows of numbers"):
        Spectrum(2).metric([1.0])
