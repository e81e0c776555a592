"""Rows of kernel matrices for support vector machines: kept, dropped, shared, within a limit."""

import numpy as np
import pytest

from mercer import SVC, SVR, NuSVC, NuSVR, OneClassSVM, prepare
from mercer.fitting import rows as svm_rows
from mercer.fitting.rows import SharedRows
from mercer.kernels import FunctionKernel, Gaussian
from mercer.models.svm.base import SupportVectorEstimator
from mercer.run import Run
from mercer.solvers import BoxSizes, DenseRows, RowStore

random = np.random.default_rng(41)
N = 240
X, NEW = random.normal(size=(N, 3)), random.normal(size=(30, 3))
TARGET = np.sin(X[:, 0]) + X[:, 1] / 2 + 0.3 * random.normal(size=N)
CODES = np.digitize(TARGET, [-0.5, 0.1, 0.8])
K = Gaussian(0.5)(X)
PARTS = [np.flatnonzero(np.equal(CODES, c)) for c in range(4)]


@pytest.fixture
def small(monkeypatch):
    """Settings under which a few hundred points are many."""
    monkeypatch.setattr(SupportVectorEstimator, "_sizes_of_box", BoxSizes(whole=30, block=20))
    monkeypatch.setattr(svm_rows, "DENSE", 10)
    monkeypatch.setattr(svm_rows, "LEAST", 24)


def shared(parts, limit, tol=1e-8, kernel=None):
    prepared = prepare(kernel or Gaussian(0.5), X)
    return SharedRows(prepared, parts, Run(who="test", memory_limit=limit), tol)


# --- stores -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("room", [7, 20, 240, 1000])
def test_a_store_has_the_rows_asked_for(dtype, room):
    matrix, asked = K.astype(dtype), []

    def fill(wanted, out):
        asked.extend(wanted.tolist())
        out[:] = matrix[wanted]

    rows = RowStore(fill, N, N, room, dtype)
    assert rows.room == min(room, N)
    draw = np.random.default_rng(room)
    total = 0
    for _ in range(60):
        wanted = draw.choice(N, draw.integers(1, rows.room + 1), replace=False)
        places = rows.fetch(wanted)
        assert len(set(places)) == len(wanted)
        assert np.array_equal(rows.values[places], matrix[wanted])
        total += len(wanted)
        g = np.ones(N)
        weights = draw.normal(size=len(wanted))
        rows.add(places, weights, g)
        assert np.allclose(g, 1 + weights @ matrix[wanted].astype(float), rtol=0, atol=1e-12)
    assert rows.computed == len(asked)
    assert rows.computed + rows.reused == total
    if room >= N:
        assert len(set(asked)) == len(asked)


def test_the_rows_not_used_for_longest_go_first():
    asked = []

    def fill(wanted, out):
        asked.append(wanted.tolist())
        out[:] = K[wanted]

    rows = RowStore(fill, N, N, 4, float)
    for wanted in ([0, 1], [2, 3], [0], [4], [1]):
        rows.fetch(np.array(wanted))
    assert asked == [[0, 1], [2, 3], [4], [1]]
    asked.clear()
    rows.fetch(np.array([0, 4]))
    assert asked == []


def test_a_dense_matrix_is_rows_of_a_part_of_it():
    chosen = random.permutation(N)[:50]
    for rows, matrix in ((DenseRows(K), K), (DenseRows(K, chosen), K[np.ix_(chosen, chosen)])):
        wanted = np.array([3, 0, 49])
        places, columns = rows.fetch(wanted), rows.columns(np.arange(len(matrix)))
        assert np.array_equal(rows.values[np.ix_(places, columns)], matrix[wanted])
        g = np.zeros(len(matrix))
        rows.add(places, np.array([1.0, -2.0, 0.5]), g)
        assert np.allclose(g, matrix[3] - 2 * matrix[0] + matrix[49] / 2, rtol=0, atol=1e-14)
        assert rows.room == len(matrix)


# --- shared -----------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", ["1GB", "200kB"])
@pytest.mark.parametrize("dense", [True, False], ids=["dense", "rows"])
def test_every_two_groups_have_their_rows(limit, dense, small, monkeypatch):
    monkeypatch.setattr(svm_rows, "DENSE", 1000 if dense else 10)
    rows = shared(PARTS, limit)
    for a in range(4):
        for b in range(a + 1, 4):
            points = np.concatenate([PARTS[a], PARTS[b]])
            source, n = rows.of(a, b), len(points)
            for wanted in (np.arange(n)[::-1][:24], random.permutation(n)[:20], np.array([n - 1])):
                places, columns = source.fetch(wanted), source.columns(np.arange(n))
                found = source.values[np.ix_(places, columns)]
                assert np.allclose(found, K[np.ix_(points[wanted], points)], rtol=0, atol=1e-12)
    stored = dense and limit == "1GB"
    assert (rows.dense is not None) == stored
    assert rows.plan == (
        "K stored: it is small" if stored else f"rows of K, kept within {limit[:-2]}.0 {limit[-2:]}"
    )
    assert rows.bytes <= rows.limit


def test_what_lies_within_a_group_is_computed_once(small):
    rows = shared(PARTS, "1GB")
    for a in range(4):
        for b in range(a + 1, 4):
            n = len(PARTS[a]) + len(PARTS[b])
            rows.of(a, b).fetch(np.arange(n))
    assert rows.entries == N * N


def test_kernels_without_rows_of_their_own_are_stored(small):
    calls = []

    def values(A, B):
        calls.append(len(A) * len(B))
        return Gaussian(0.5).formula(A, B)

    rows = shared([np.arange(N)], "1GB", kernel=FunctionKernel(values))
    assert rows.plan == "K stored: it fits the limit"
    assert np.allclose(rows.dense, K, rtol=0, atol=1e-12)
    assert rows.entries == N * N


def test_precision_follows_the_tolerance(small):
    assert shared(PARTS, "1GB", 1e-3).dtype == np.float32
    assert shared(PARTS, "1GB", 1e-8).dtype == np.float64
    svm_rows.DENSE = 1000
    assert shared(PARTS, "1GB", 1e-3).dtype == np.float64


# --- models -----------------------------------------------------------------------------------

MODELS = {
    "two classes": (SVC(1.5), TARGET > 0),
    "four classes": (SVC(1.5), CODES),
    "one against the rest": (SVC(1.5, multiclass="ovr"), CODES),
    "through zero": (SVC(1.5, fit_intercept=False), TARGET > 0),
    "nu": (NuSVC(0.3), CODES),
    "tube": (SVR(1.5, epsilon=0.2), TARGET),
    "nu tube": (NuSVR(0.4, C=1.5), TARGET),
    "region": (OneClassSVM(0.3), None),
}


def values(model, points):
    return getattr(model, "decision_function", model.predict)(points)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("limit", ["1GB", "130kB"])
@pytest.mark.parametrize("weight", [None, np.arange(N) % 5 * 0.4], ids=["plain", "weights"])
def test_blocks_on_kept_rows_are_the_whole(name, limit, weight, small):
    model, y = MODELS[name]
    settings = {"kernel": Gaussian(0.5), "tol": 1e-7, "memory_limit": limit}
    parameters = {**model.get_params(deep=False), **settings}
    found = type(model)(**parameters).fit(X, y, sample_weight=weight)
    SupportVectorEstimator._sizes_of_box, svm_rows.DENSE = BoxSizes(), 1000
    wanted = type(model)(**{**parameters, "memory_limit": "1GB"}).fit(X, y, sample_weight=weight)
    assert found.certificate_.plan.startswith("rows of K, kept within")
    assert wanted.certificate_.plan == "K stored: it is small"
    assert found.certificate_.status == wanted.certificate_.status == "converged"
    assert found.certificate_.violation <= 1e-7
    assert found.certificate_.dual == pytest.approx(wanted.certificate_.dual, rel=1e-6)
    scale = max(1.0, np.abs(values(wanted, NEW)).max())
    assert np.abs(values(found, NEW) - values(wanted, NEW)).max() <= 1e-4 * scale
    assert found.certificate_.rows_reused > 0
    if limit == "1GB":
        assert found.certificate_.kernel_entries <= wanted.certificate_.kernel_entries == N * N


@pytest.mark.parametrize("name", ["two classes", "four classes", "tube", "region"])
def test_single_precision_is_good_for_a_rough_tolerance(name, small):
    model, y = MODELS[name]
    parameters = {**model.get_params(deep=False), "kernel": Gaussian(0.5)}
    found = type(model)(**{**parameters, "tol": 1e-3, "memory_limit": "1GB"}).fit(X, y)
    SupportVectorEstimator._sizes_of_box, svm_rows.DENSE = BoxSizes(), 1000
    wanted = type(model)(**parameters).fit(X, y)
    assert found.certificate_.status == "converged"
    assert found.certificate_.bytes <= 4 * N * N
    scale = max(1.0, np.abs(values(wanted, NEW)).max())
    assert np.abs(values(found, NEW) - values(wanted, NEW)).max() <= 0.03 * scale


def test_probabilities_from_kept_rows(small):
    parameters = {"kernel": Gaussian(0.5), "tol": 1e-7, "probability": True}
    found = [
        SVC(**parameters, memory_limit=limit).fit(X, CODES).predict_proba(NEW)
        for limit in ("1GB", "130kB")
    ]
    SupportVectorEstimator._sizes_of_box, svm_rows.DENSE = BoxSizes(), 1000
    wanted = SVC(**parameters).fit(X, CODES).predict_proba(NEW)
    for chances in found:
        assert np.abs(chances - wanted).max() <= 1e-3


def test_a_limit_below_anything_is_refused():
    for model, y in MODELS.values():
        model = type(model)(**{**model.get_params(), "memory_limit": "1kB"})
        with pytest.raises(MemoryError, match="Raise memory_limit to"):
            model.fit(X, y)
