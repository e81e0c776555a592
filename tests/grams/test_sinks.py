"""Sinks: what each makes of the bands of a matrix, however it is cut, and what they refuse."""

import numpy as np
import pytest
import sklearn

from mercer.checks import InputError
from mercer.grams import Multiply, Normal, Sink, Sums, TopK, gram
from mercer.kernels import Gaussian, Linear, Precomputed

pytestmark = pytest.mark.native

K = np.random.default_rng(3).normal(size=(11, 7))
BANDS = {
    "whole": [(0, 11)],
    "rows": [(i, i + 1) for i in range(11)],
    "mixed": [(8, 11), (0, 3), (3, 8)],
}


@pytest.fixture(params=BANDS)
def feed(request):
    """Hand a matrix to a sink in bands, in some order."""

    def run(sink, matrix=K):
        sink.start(matrix.shape, matrix.dtype)
        for start, stop in BANDS[request.param]:
            sink.take(slice(start, stop), matrix[start:stop])
        return sink.result()

    return run


def test_multiply(feed):
    V = np.arange(14.0).reshape(7, 2)
    assert np.allclose(feed(Multiply(V)), K @ V, rtol=1e-14, atol=1e-14)
    assert np.allclose(feed(Multiply(V[:, 0])), K @ V[:, 0], rtol=1e-14, atol=1e-14)
    assert feed(Multiply([1, 0, 0, 0, 0, 0, 0])).tolist() == K[:, 0].tolist()
    assert feed(Multiply(np.eye(7, dtype=bool)))[:, 3].tolist() == K[:, 3].tolist()


def test_multiply_keeps_the_wider_type(feed):
    single = K.astype(np.float32)
    assert feed(Multiply(np.ones(7, np.float32)), single).dtype == np.float32
    assert feed(Multiply(np.ones(7)), single).dtype == np.float64
    assert feed(Multiply(np.ones(7, int)), single).dtype == np.float64


def test_normal(feed):
    V, Y = np.arange(14.0).reshape(7, 2), np.arange(22.0).reshape(11, 2)
    wanted = K.T @ (K @ V - Y)
    assert np.allclose(feed(Normal(V, Y)), wanted, rtol=1e-12)
    found = feed(Normal(V[:, 0], Y[:, 0]), K.astype(np.float32))
    assert found.dtype == np.float64
    assert np.allclose(found, wanted[:, 0], rtol=1e-5)


def test_normal_with_weights(feed):
    V, Y = np.arange(14.0).reshape(7, 2), np.arange(22.0).reshape(11, 2)
    weights = np.linspace(0, 2, 11)
    found = feed(Normal(V, Y, weights))
    assert np.allclose(found, K.T @ (weights[:, None] * (K @ V - Y)), rtol=1e-12)
    wanted = K.T @ (weights[:, None] * (K @ V))
    assert np.allclose(feed(Normal(V, weights=weights)), wanted, rtol=1e-12)
    single = feed(Normal(V[:, 0], weights=weights), K.astype(np.float32))
    assert np.allclose(single, wanted[:, 0], rtol=1e-5)


def test_sums(feed):
    groups, weights = np.array([0, 2, 2, 0, 2, 0, 0]), np.arange(7.0)
    wanted = np.column_stack([K[:, groups == g] @ weights[groups == g] for g in range(4)])
    assert np.allclose(feed(Sums(groups, 4, weights)), wanted, rtol=1e-13, atol=1e-14)
    assert feed(Sums(groups, 4))[:, 1].tolist() == [0.0] * 11
    # Sums of many single-precision entries are made in double precision.
    ones = np.full((11, 7), 0.1, dtype=np.float32)
    found = feed(Sums(np.zeros(7, int), 1), ones)
    assert found.dtype == np.float64
    assert np.allclose(found, 7 * float(np.float32(0.1)), rtol=1e-15)


# --- the k best --------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 7])
def test_top_k(feed, k):
    order = np.argsort(-K, axis=1, kind="stable")[:, :k]
    indices, values = feed(TopK(k))
    assert np.array_equal(indices, order)
    assert np.array_equal(values, np.take_along_axis(K, order, axis=1))


def test_top_k_ties_go_to_the_smaller_index(feed):
    ties = np.zeros((11, 7))
    ties[:, [2, 5]] = 1.0
    indices, values = feed(TopK(4), ties)
    assert indices.tolist() == [[2, 5, 0, 1]] * 11
    assert values.tolist() == [[1.0, 1.0, 0.0, 0.0]] * 11
    assert feed(TopK(1), np.ones((11, 7)))[0].tolist() == [[0]] * 11


def test_top_k_by_distance(feed):
    shift = np.linspace(0, 3, 7)
    distances = shift - 2 * K
    order = np.argsort(distances, axis=1, kind="stable")[:, :3]
    indices, values = feed(TopK(3, shift))
    assert np.array_equal(indices, order)
    assert np.array_equal(values, np.take_along_axis(distances, order, axis=1))


def test_nearest_points_by_distance_in_feature_space():
    X = np.random.default_rng(0).normal(size=(30, 2))
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    for kernel in (Linear(), Gaussian(0.5)):
        Q = gram(kernel, X, store=False)
        indices, values = Q.reduce(TopK(4, shift=Q.diag()))
        assert np.array_equal(indices[:, 0], np.arange(30))
        assert np.array_equal(indices, np.argsort(squares, axis=1, kind="stable")[:, :4])
        wanted = np.take_along_axis(kernel.distance(X, squared=True), indices, axis=1)
        assert np.allclose(values + Q.diag()[:, None], wanted, atol=1e-13)


def test_top_k_puts_what_is_not_a_number_last(feed):
    gaps = K.copy()
    gaps[2, [1, 4]] = np.nan
    gaps[5] = np.nan
    indices, values = feed(TopK(6), gaps)
    assert indices.shape == values.shape == (11, 6)
    assert set(indices[2, :5]) == {0, 2, 3, 5, 6}
    assert np.array_equal(np.isnan(values[2]), [False] * 5 + [True])
    assert np.isnan(values[5]).all()
    assert sorted(indices[0]) == sorted(np.argsort(-K[0])[:6])


def test_missing_numbers_pass_through_every_kind():
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[3, 1] = np.nan
    bad = np.zeros((20, 20), bool)
    bad[3, :] = bad[:, 3] = True
    with sklearn.config_context(assume_finite=True):
        for kernel in (Gaussian(0.5), Linear(), Gaussian(0.5) + Linear()):
            for store in (True, False):
                Q = gram(kernel, X, store=store)
                assert np.array_equal(np.isnan(Q.dense()), bad)
                assert np.array_equal(np.isnan(Q.diag()), bad[3] & (np.arange(20) == 3))
                assert np.isnan(Q @ np.ones(20)).all()
                assert np.isnan(Q.rows([0, 3])).sum() == 21


# --- refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Multiply(np.ones(6)), r"Multiply: it must have 7 rows; got shape \(6,\)"),
        (lambda: Multiply(np.ones((7, 1, 1))), "Multiply: it must have 7 rows"),
        (lambda: Multiply(np.ones(7) * 1j), "Multiply: it must hold real numbers; got complex128"),
        (lambda: Multiply(5.0), "Multiply: it must have 7 rows"),
        (lambda: Normal(np.ones(7), np.ones(10)), "Normal Y: it must have 11 rows"),
        (lambda: Normal(np.ones(8), np.ones(11)), "Normal V: it must have 7 rows"),
        (lambda: Normal(np.ones((7, 2)), np.ones(11)), "V and Y must have the same columns"),
        (lambda: Normal(np.ones(7), weights=np.ones(10)), "Normal weights: it must have 11 rows"),
        (
            lambda: Normal(np.ones(7), weights=np.ones((11, 1))),
            "must be one number per row",
        ),
        (lambda: TopK(8), "k must be at most the number of columns; got 8 > 7"),
        (lambda: TopK(0), "k must be a whole number at least 1; got 0"),
        (lambda: TopK(2.0), "k must be a whole number"),
        (lambda: TopK(2, shift=np.ones(6)), r"shift must have shape \(7,\)"),
        (lambda: Sums(np.zeros(6, int), 2), "groups must be 7 whole numbers"),
        (lambda: Sums(np.zeros(7), 2), "groups must be 7 whole numbers; got float64"),
        (lambda: Sums(np.full(7, 2), 2), r"groups must lie in 0\.\.1; got 2 to 2"),
        (lambda: Sums(np.full(7, -1), 2), r"groups must lie in 0\.\.1"),
        (lambda: Sums(np.zeros(7, int), 0), "n_groups must be a whole number at least 1"),
        (lambda: Sums(np.zeros(7, int), 1, [1.0]), r"weights must have shape \(7,\)"),
    ],
)
def test_sinks_say_what_must_hold(make, told):
    with pytest.raises(InputError, match=told):
        make().start((11, 7), np.float64)


def test_a_sink_of_the_users_own():
    class Largest(Sink):
        def start(self, shape, dtype):
            self.best = -np.inf

        def take(self, rows, band):
            self.best = max(self.best, float(band.max()))

        def result(self):
            return self.best

    S = K @ K.T
    assert gram(Precomputed(), S).reduce(Largest()) == S.max()
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert gram(Linear(), X, store=False).reduce(Largest()) == pytest.approx(
        (X**2).sum(axis=1).max(), rel=1e-14
    )
