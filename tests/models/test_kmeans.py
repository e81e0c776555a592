"""K-means in feature space: against Lloyd's algorithm on explicit features, and by hand."""

import itertools

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_circles
from sklearn.metrics import adjusted_rand_score

from mercer import KernelKMeans
from mercer.grams import prepare
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial
from mercer.monitor import Monitor
from mercer.solvers import KernelMeans, kmeans

random = np.random.default_rng(31)
CORNERS = np.array([[0, 0], [5, 0], [0, 5], [5, 5]])
X = random.normal(size=(120, 2)) + CORNERS[np.arange(120) % 4]
NEW = random.normal(size=(30, 2)) * 4
FLAT = random.uniform(size=(150, 2)) * 4  # no clusters to speak of: many steps
WEIGHT = random.integers(0, 4, size=120).astype(float)


def slow_objective(K, labels, weight=None):
    """The sum of w |phi(x) - mean|**2 by double loops over each cluster."""
    weight = np.ones(len(K)) if weight is None else weight
    total = 0.0
    for c in np.unique(labels):
        members = [i for i in range(len(K)) if labels[i] == c and weight[i] > 0]
        size = sum(weight[i] for i in members)
        for i in members:
            cross = sum(weight[j] * K[i, j] for j in members) / size
            own = sum(weight[j] * weight[m] * K[j, m] for j in members for m in members) / size**2
            total += weight[i] * (K[i, i] - 2 * cross + own)
    return total


def slow_squares(K, cross, diagonal, labels, k, weight=None):
    """|phi(x) - mean of cluster c|**2 of new points; cross: K(new, training points)."""
    weight = np.ones(len(K)) if weight is None else weight
    columns = []
    for c in range(k):
        share = np.where(labels == c, weight, 0.0)
        share /= share.sum()
        columns.append(diagonal - 2 * cross @ share + share @ K @ share)
    return np.column_stack(columns)


# --- the same as k-means of explicit features ----------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Polynomial(3, 0.1, 1.0)], ids=repr)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_it_is_lloyd_on_explicit_features(kernel, weight):
    F = kernel.features(X)
    K = prepare(kernel, X).gram(store=True)
    weights = np.ones(120) if weight is None else weight
    first = kmeans.seed(K, weights, 5, np.random.default_rng(3))
    centres = np.array([np.average(F[first == c], 0, weights[first == c]) for c in range(5)])
    wanted = KMeans(5, init=centres, n_init=1, max_iter=300, tol=0, algorithm="lloyd")
    wanted.fit(F, sample_weight=weight)
    solver = KernelMeans(n_clusters=5, room=120)
    found = solver.solve(K, weight, np.random.default_rng(3), Monitor())
    assert np.array_equal(found.labels, wanted.labels_)
    assert found.objective == pytest.approx(wanted.inertia_, rel=1e-9)
    assert found.status == "converged"
    assert np.allclose(np.sqrt(found.distances), wanted.transform(F), rtol=1e-6, atol=1e-6)


def test_seeding_is_greedy_kmeans_plus_plus_on_explicit_features():
    # The same draws, looked up in distances of explicit features.
    found = kmeans.seed(prepare(Linear(), X).gram(store=True), np.ones(120), 6, rng := fixed())
    state, again = rng.random(), fixed()
    chosen = [int(again.random(1)[0] * 120)]
    for _ in range(5):
        squares = ((X[:, None] - X[chosen]) ** 2).sum(axis=2).min(axis=1)
        ends = np.cumsum(squares)
        drawn = sorted({int(np.sum(ends <= u * ends[-1])) for u in again.random(3)})
        totals = [np.minimum(squares, ((X - X[i]) ** 2).sum(axis=1)).sum() for i in drawn]
        chosen.append(drawn[int(np.argmin(totals))])
    assert again.random() == state
    assert np.array_equal(found, ((X[:, None] - X[chosen]) ** 2).sum(axis=2).argmin(axis=1))


def fixed():
    return np.random.default_rng(8)


@pytest.mark.parametrize("kernel", [Gaussian(0.2), Laplacian(0.3), Linear()], ids=repr)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_attributes_are_the_definition(kernel, weight):
    model = KernelKMeans(4, kernel).fit(X, sample_weight=weight)
    K, cross = kernel.formula(X, X), kernel.formula(NEW, X)
    assert model.inertia_ == pytest.approx(slow_objective(K, model.labels_, weight), rel=1e-10)
    gaps = slow_squares(K, cross, np.diag(kernel.formula(NEW, NEW)), model.labels_, 4, weight)
    assert np.allclose(model.transform(NEW), np.sqrt(gaps), rtol=1e-8)
    assert np.array_equal(model.predict(NEW), gaps.argmin(axis=1))
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.score(NEW) == pytest.approx(-gaps.min(axis=1).sum(), rel=1e-10)
    assert model.score(X, sample_weight=weight) == pytest.approx(-model.inertia_, rel=1e-9)
    assert np.allclose(model.fit_transform(X, sample_weight=weight), model.transform(X), atol=1e-7)
    used = np.arange(120) if weight is None else np.flatnonzero(weight)
    assert np.array_equal(model.support_, used)
    assert np.allclose(model.dual_coef_.sum(axis=0), 1, rtol=1e-14)
    assert model.get_feature_names_out().tolist() == [f"kernelkmeans{c}" for c in range(4)]
    certificate = model.certificate_
    assert (certificate.status, certificate.shift, certificate.rank) == ("converged", 0.0, 0)
    assert certificate.objective == certificate.least == model.inertia_ == min(certificate.starts)
    assert len(certificate.starts) == 4
    assert certificate.iterations == model.n_iter_ >= 1
    assert certificate.kernel_entries == 120**2


def test_no_point_is_nearer_to_another_centre():
    for kernel in (Gaussian(0.2), Polynomial(2)):
        model = KernelKMeans(6, kernel, random_state=2).fit(X)
        assert np.array_equal(model.transform(X).argmin(axis=1), model.labels_)


@pytest.mark.parametrize("room", [0, 7, 150], ids=["passes", "few rows", "rows"])
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Linear(), Laplacian(0.2)], ids=repr)
def test_the_objective_never_rises(kernel, room, monkeypatch):
    monkeypatch.setattr(kmeans, "FEW", 1)
    monkeypatch.setattr(kmeans, "UPDATES", 3)
    told = []
    weight = np.arange(150) % 4 + 0.5
    K = prepare(kernel, FLAT).gram(store=True)
    solver = KernelMeans(n_clusters=5, n_init=5, room=room)
    found = solver.solve(K, weight, np.random.default_rng(0), Monitor(callback=told.append))
    dense = kernel.formula(FLAT, FLAT)
    for start in range(5):
        steps = [record for record in told if record["start"] == start]
        values = np.array([record["objective"] for record in steps])
        assert len(values) > 2
        assert np.all(np.diff(values) <= 1e-13 * values[0])
        assert [record["iteration"] for record in steps] == list(range(len(steps)))
    assert found.rise <= 1e-13 * found.objective
    assert found.objective == pytest.approx(slow_objective(dense, found.labels, weight), rel=1e-11)
    assert found.moves == sum(record["moved"] for record in told)
    assert found.starts[int(np.argmin(found.starts))] == found.objective


def test_rows_and_passes_find_the_same(monkeypatch):
    monkeypatch.setattr(kmeans, "FEW", 1)
    K = prepare(Gaussian(0.5), FLAT).gram(store="half")
    found = [
        KernelMeans(n_clusters=7, n_init=3, room=room).solve(
            K, None, np.random.default_rng(4), Monitor()
        )
        for room in (0, 5, 150)
    ]
    for other in found[1:]:
        assert np.array_equal(found[0].labels, other.labels)
        assert other.objective == pytest.approx(found[0].objective, rel=1e-13)


def test_the_best_of_all_partitions_by_hand():
    points = np.array([[0.0], [1.0], [5.0], [6.0], [20.0]])
    K = points @ points.T
    every = itertools.product(range(3), repeat=5)
    least = min(slow_objective(K, np.array(labels)) for labels in every if len(set(labels)) == 3)
    model = KernelKMeans(3, Linear()).fit(points)
    assert model.inertia_ == pytest.approx(least) == pytest.approx(1.0)
    assert len(set(model.labels_[:2])) == len(set(model.labels_[2:4])) == 1
    assert np.sort(model.squared_norms_) == pytest.approx([0.25, 5.5**2, 400.0])


def test_it_finds_what_a_line_cannot_part():
    points, ring = make_circles(300, factor=0.3, noise=0.05, random_state=0)
    flat = KernelKMeans(2, Linear()).fit_predict(points)
    model = KernelKMeans(2, lambda A, B: np.outer((A**2).sum(axis=1), (B**2).sum(axis=1)))
    model.fit(points)
    assert adjusted_rand_score(ring, flat) < 0.1
    assert adjusted_rand_score(ring, model.labels_) == 1.0
    assert (
        adjusted_rand_score(load_iris().target, KernelKMeans(3).fit_predict(load_iris().data)) > 0.6
    )


# --- weights, empty clusters, duplicates ---------------------------------------------------------


def test_weights_are_repetition():
    weight = WEIGHT.astype(int)
    for kernel in (Gaussian(0.2), Linear()):
        model = KernelKMeans(4, kernel).fit(X, sample_weight=weight)
        repeated = KernelKMeans(4, kernel).fit(np.repeat(X, weight, axis=0))
        assert repeated.inertia_ == pytest.approx(model.inertia_, rel=1e-10)
        same = adjusted_rand_score(repeated.labels_, np.repeat(model.labels_, weight))
        assert same == 1.0
    number = KernelKMeans(4, Linear()).fit(X, sample_weight=2.0)
    assert number.inertia_ == pytest.approx(2 * KernelKMeans(4, Linear()).fit(X).inertia_)


def test_empty_clusters_get_the_farthest_point():
    # All points leave cluster 2, whose mean lies between the others.
    points = np.array([[0.0], [1.0], [10.0], [11.0], [4.0], [7.0]])
    K = prepare(Linear(), points).gram(store=True)
    lloyd = kmeans.Lloyd(K, None, KernelMeans(n_clusters=3), Monitor())
    here = lloyd.measure(*lloyd.fresh(np.array([0, 0, 1, 1, 2, 2])))
    labels = np.array([0, 0, 1, 1, 0, 1])
    far = np.array([0.5, 0.5, 0.5, 0.6, 3.0, 2.0])
    lloyd._refill(labels, far)
    assert labels.tolist() == [0, 0, 1, 1, 2, 1]
    assert here.objective == pytest.approx(0.5 + 0.5 + 4.5)
    two = np.array([0, 0, 0, 0, 0, 0])
    lloyd._refill(two, far)
    assert two.tolist() == [0, 0, 0, 0, 1, 2]


def test_a_run_through_an_empty_cluster_never_rises():
    told = []
    points = np.array([[0.0], [10.0], [4.4], [5.6], [0.2], [9.8], [100.0], [100.5], [101.0]])
    K = prepare(Linear(), points).gram(store=True)
    lloyd = kmeans.Lloyd(K, None, KernelMeans(n_clusters=4), Monitor(callback=told.append))
    # The mean of cluster 2 is 5; its points are nearer to 4.3 and 5.7, the means of 0 and 1.
    labels = np.array([2, 2, 0, 1, 0, 1, 3, 3, 3])
    sums = lloyd.measure(*lloyd.fresh(labels))
    run = kmeans.Run(start=0, here=sums)
    lloyd.run(run)
    values = [record["objective"] for record in told]
    assert np.all(np.diff(values) < 0)
    assert len(set(run.here.labels)) == 4
    assert run.status == "converged"


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Linear()], ids=repr)
def test_few_different_points(kernel):
    points = np.repeat([[0.0, 1.0], [3.0, 1.0]], 6, axis=0)
    model = KernelKMeans(4, kernel).fit(points)
    assert model.inertia_ == pytest.approx(0, abs=1e-12)
    assert np.bincount(model.labels_, minlength=4).min() >= 1
    assert model.certificate_.status == "converged"
    same = KernelKMeans(3, kernel).fit(np.ones((5, 2)))
    assert sorted(set(same.labels_)) == [0, 1, 2]
    assert np.allclose(same.transform(np.ones((1, 2))), 0, atol=1e-7)


def test_as_many_clusters_as_points_and_only_one():
    all_apart = KernelKMeans(30, Gaussian(1.0)).fit(X[:30])
    assert sorted(all_apart.labels_) == list(range(30))
    assert all_apart.inertia_ == pytest.approx(0, abs=1e-12)
    one = KernelKMeans(1, Linear()).fit(X)
    assert one.labels_.tolist() == [0] * 120
    assert one.inertia_ == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-11)
    single = KernelKMeans(1, Gaussian(1.0)).fit(X[:1])
    assert single.predict(NEW).tolist() == [0] * 30


def test_points_without_weight_only_get_a_label():
    weight = np.ones(120)
    weight[::3] = 0
    model = KernelKMeans(4, Gaussian(0.2)).fit(X, sample_weight=weight)
    alone = KernelKMeans(4, Gaussian(0.2)).fit(X[weight > 0])
    assert model.inertia_ == pytest.approx(alone.inertia_, rel=1e-12)
    assert np.array_equal(model.predict(X[::3]), model.labels_[::3])
    assert adjusted_rand_score(alone.predict(X), model.labels_) == 1.0


# --- kernels that are not Mercer ----------------------------------------------------------------


def test_an_indefinite_matrix_still_falls():
    A = np.random.default_rng(5).normal(size=(60, 60))
    K = A + A.T
    told = []
    model = KernelKMeans(4, "precomputed", n_init=3, callback=told.append).fit(K)
    assert model.certificate_.status == "converged"
    assert model.certificate_.shift > 0
    assert model.inertia_ == pytest.approx(slow_objective(K, model.labels_), rel=1e-9)
    for start in range(3):
        values = [record["objective"] for record in told if record["start"] == start]
        assert np.all(np.diff(values) <= 1e-12 * np.abs(values[0]))
    # A shift of the diagonal leaves the order of partitions alone, and -min eigenvalue suffices.
    least = -np.linalg.eigvalsh(K)[0]
    shifted = KernelKMeans(4, "precomputed").fit(K + least * np.eye(60))
    assert shifted.certificate_.shift == 0
    one, other = np.arange(60) % 4, np.arange(60) // 15
    before = slow_objective(K, one) - slow_objective(K, other)
    moved = K + least * np.eye(60)
    assert slow_objective(moved, one) - slow_objective(moved, other) == pytest.approx(before)
