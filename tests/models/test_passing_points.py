"""Learners that read points in passes, in the span of a few centres."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from mercer import KernelKMeans, KernelPCA, KernelRidge, load, prepare, save
from mercer.checks import InputError
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Linear
from mercer.monitor import Monitor
from mercer.solvers.kmeans_passes import PassingMeans

random = np.random.default_rng(0)
CORNERS = 4 * random.normal(size=(4, 3))
X = CORNERS[random.integers(0, 4, 400)] + random.normal(size=(400, 3))
BLOCKS = RowBlocks.split(X, 90)
WEIGHT = random.uniform(0.2, 2.0, len(X))
KERNEL = Gaussian(0.1)
NEW = random.normal(size=(20, 3))


def projected(centres):
    """Return the Gram matrix of what the centres span of phi(x)."""
    cross = KERNEL(X, centres)
    return cross @ cho_solve(cho_factor(KERNEL(centres)), cross.T)


# --- components ----------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
def test_components_are_those_of_the_projections(weight):
    model = KernelPCA(3, kernel=KERNEL, n_centers=40).fit(BLOCKS, sample_weight=weight)
    w = np.ones(len(X)) if weight is None else weight
    P = np.eye(len(X)) - np.outer(np.ones(len(X)), w / w.sum())
    A = np.sqrt(np.outer(w, w)) * (P @ projected(model._prepared.points.values) @ P.T)
    values, vectors = np.linalg.eigh(A)
    assert model.eigenvalues_ == pytest.approx(values[:-4:-1], rel=1e-9)
    scores = model.transform(X)
    wanted = vectors[:, :-4:-1] * np.sqrt(values[:-4:-1]) / np.sqrt(w)[:, None]
    assert np.allclose(np.abs(scores), np.abs(wanted), atol=1e-8)
    assert (scores[np.abs(scores).argmax(axis=0), range(3)] > 0).all()
    certificate = model.certificate_
    assert (certificate.solver, certificate.status) == ("nystrom", "exact")
    assert certificate.residual < 1e-12
    assert "the points arrive in blocks" in certificate.plan


def test_with_all_points_as_centres_they_are_exact():
    kernel = Gaussian(2.0)  # K is far from singular
    exact = KernelPCA(4, kernel=kernel, eigen_solver="dense").fit(X)
    model = KernelPCA(4, kernel=kernel, eigen_solver="nystrom", n_centers=len(X)).fit(X)
    assert model.eigenvalues_ == pytest.approx(exact.eigenvalues_, rel=1e-10)
    ratios = exact.explained_variance_ratio_
    assert model.explained_variance_ratio_ == pytest.approx(ratios, rel=1e-10)
    assert np.allclose(model.transform(NEW), exact.transform(NEW), atol=1e-10)


def test_shares_are_of_the_whole_variance():
    few = KernelPCA(kernel=KERNEL, n_centers=5).fit(BLOCKS)
    all_of_it = KernelPCA(kernel=KERNEL, eigen_solver="dense").fit(X)
    assert few.explained_variance_ratio_.sum() < 1
    shares = all_of_it.explained_variance_ratio_[: len(few.eigenvalues_)]
    assert (few.explained_variance_ratio_ <= shares + 1e-6).all()


def test_fewer_centres_than_components_leave_zeros():
    with pytest.warns(UserWarning, match="rank of the centred kernel matrix"):
        model = KernelPCA(5, kernel=Linear(), n_centers=50).fit(BLOCKS)
    exact = KernelPCA(3, kernel=Linear()).fit(X)
    assert model.eigenvalues_[:3] == pytest.approx(exact.eigenvalues_)
    assert (model.eigenvalues_[3:] == 0).all()
    assert model.transform(NEW).shape == (20, 5)


def test_blocks_and_rows_give_the_same_components(tmp_path):
    there = KernelPCA(3, kernel=KERNEL, n_centers=40, random_state=3).fit(BLOCKS)
    here = KernelPCA(3, kernel=KERNEL, n_centers=40, random_state=3, eigen_solver="nystrom").fit(X)
    assert np.allclose(there.transform(NEW), here.transform(NEW), atol=1e-12)
    assert np.allclose(there.fit_transform(BLOCKS), there.transform(X), atol=1e-12)
    save(there, tmp_path / "model.mercer")
    assert np.array_equal(load(tmp_path / "model.mercer").transform(NEW), there.transform(NEW))


def test_rows_are_found_back_where_that_was_learnt():
    model = KernelPCA(3, kernel=KERNEL, eigen_solver="nystrom", n_centers=100).fit(X)
    with pytest.raises(InputError, match="Fit with fit_inverse_transform=True"):
        model.inverse_transform(model.transform(X))
    model.set_params(fit_inverse_transform=True, n_components=60, alpha=1e-4).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert np.sqrt(((back - X) ** 2).mean()) < 0.3


# --- clusters ------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
def test_clusters_are_those_of_lloyd_on_the_projections(weight):
    model = KernelKMeans(4, KERNEL, n_centers=30).fit(BLOCKS, sample_weight=weight)
    w = np.ones(len(X)) if weight is None else weight
    centres = model._prepared.points.values
    U = solve_triangular(np.linalg.cholesky(KERNEL(centres)), KERNEL(centres, X), lower=True).T
    means = np.array(
        [np.average(U[model.labels_ == c], axis=0, weights=w[model.labels_ == c]) for c in range(4)]
    )
    distances = ((U[:, None] - means) ** 2).sum(axis=2)
    assert np.array_equal(distances.argmin(axis=1), model.labels_)
    lost = KERNEL.diag(X) - (U**2).sum(axis=1)  # what is off the span
    assert model.inertia_ == pytest.approx(w @ (distances.min(axis=1) + lost), rel=1e-10)
    assert np.allclose(model.transform(X) ** 2, distances + lost[:, None], atol=1e-10)
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.certificate_.status == "converged"


def test_blocks_and_rows_give_the_same_clusters(tmp_path):
    there = KernelKMeans(4, KERNEL, n_centers=30, random_state=3).fit(BLOCKS)
    here = KernelKMeans(4, KERNEL, n_centers=30, random_state=3).fit(X)
    assert np.array_equal(there.labels_, here.labels_)
    assert there.inertia_ == pytest.approx(here.inertia_, rel=1e-12)
    assert np.allclose(there.fit_transform(BLOCKS), there.transform(X))
    save(there, tmp_path / "model.mercer")
    assert np.array_equal(load(tmp_path / "model.mercer").predict(NEW), there.predict(NEW))


def test_blocks_whose_k_does_not_fit_are_clustered_in_passes():
    exact = KernelKMeans(4, KERNEL).fit(X)
    model = KernelKMeans(4, KERNEL, memory_limit=400_000).fit(BLOCKS)
    assert model.certificate_.plan.startswith("means in the span of")
    assert exact.inertia_ <= model.inertia_ * (1 + 1e-9) <= 1.2 * exact.inertia_


def test_steps_go_on_from_any_means_and_fill_what_is_empty():
    few = prepare(KERNEL, X[:60])
    lower = np.linalg.cholesky(KERNEL(X[:60]))
    solver = PassingMeans(lower=lower, diagonal=KERNEL.diag(X), weight=None, max_iter=100, tol=0.0)
    U = solve_triangular(lower, KERNEL(X[:60], X), lower=True).T
    far = np.full((1, 60), 1e3)  # the nearest mean of no point
    start = np.vstack([U[0], U[1], far])
    found = solver.solve(few.gram(X), start, Monitor())
    assert (found.assigned.totals > 0).all()
    assert found.status == "converged"
    assert found.rise < 1e-9
    stopped = PassingMeans(
        lower=lower, diagonal=KERNEL.diag(X), weight=None, max_iter=1, tol=0.0
    ).solve(few.gram(X), start, Monitor())
    assert (stopped.status, stopped.iterations) == ("iteration limit", 1)


def test_bad_numbers_of_centres():
    for model in (KernelPCA(n_centers=0, eigen_solver="nystrom"), KernelKMeans(2, n_centers=0)):
        with pytest.raises(InputError, match="n_centers must be"):
            model.fit(X)


# --- columns -------------------------------------------------------------------------------------


def test_columns_of_blocks_are_known_and_looked_at():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = KernelRidge(kernel=KERNEL).fit(RowBlocks([frame[:200], frame[200:]]), X[:, 0])
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert np.array_equal(model.predict(RowBlocks([frame])), model.predict(frame))
    with pytest.raises(InputError, match="the columns must be those of the fit, a, b, c; got b"):
        model.predict(RowBlocks([frame[["b", "a", "c"]]]))
    with pytest.raises(InputError, match="X has 2 features, but KernelRidge is expecting 3"):
        model.predict(RowBlocks([X[:, :2]]))
    model.fit(BLOCKS, X[:, 0])
    assert not hasattr(model, "feature_names_in_")
