"""K-means in scikit-learn's hands: its checks, any input, memory, refusals, stops, files."""

import pickle

import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import estimator_checks
from test_kmeans import FLAT, NEW, WEIGHT, X, slow_objective

import mercer
from mercer import KernelKMeans
from mercer.inputs import RowBlocks
from mercer.kernels import Categorical, Gaussian, SetIntersection, Spectrum

random = np.random.default_rng(32)

# --- every input ---------------------------------------------------------------------------------


def test_every_container_gives_the_same_clusters():
    wanted = KernelKMeans(4, Gaussian(0.2)).fit(X)
    for points, new in (
        (X.tolist(), NEW.tolist()),
        (scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(NEW)),
        (pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(NEW, columns=["a", "b"])),
        (RowBlocks.split(X, 50), RowBlocks.split(NEW, 7)),
        (RowBlocks.split(X, 50), NEW),
    ):
        found = KernelKMeans(4, Gaussian(0.2)).fit(points)
        assert np.array_equal(found.labels_, wanted.labels_)
        assert np.allclose(found.transform(new), wanted.transform(NEW), atol=1e-7)
        assert found.inertia_ == pytest.approx(wanted.inertia_, rel=1e-10)


def test_single_precision():
    wanted = KernelKMeans(4, Gaussian(0.2)).fit(X)
    found = KernelKMeans(4, Gaussian(0.2)).fit(X.astype(np.float32))
    assert adjusted_rand_score(found.labels_, wanted.labels_) == 1.0
    assert found.inertia_ == pytest.approx(wanted.inertia_, rel=1e-6)
    assert np.array_equal(found.predict(X.astype(np.float32)), found.labels_)


def test_precomputed_and_functions():
    wanted = KernelKMeans(4, Gaussian(0.2)).fit(X)
    K, cross = Gaussian(0.2)(X), Gaussian(0.2)(NEW, X)
    given = KernelKMeans(4, "precomputed").fit(K)
    assert np.array_equal(given.labels_, wanted.labels_)
    assert np.array_equal(given.predict(cross), wanted.predict(NEW))
    distances = KernelKMeans(4, "precomputed").fit_transform(K)
    assert np.allclose(distances, wanted.transform(X), atol=1e-7)
    with pytest.raises(mercer.InputError, match="known for training points only"):
        given.transform(cross)
    function = KernelKMeans(4, lambda A, B: Gaussian(0.2).formula(A, B)).fit(X)
    assert np.array_equal(function.labels_, wanted.labels_)
    assert np.allclose(function.transform(NEW), wanted.transform(NEW), atol=1e-7)
    named = KernelKMeans(4, "rbf").fit(X)
    assert named.kernel_ == Gaussian(0.5)


WORDS = ["".join(random.choice(list("ab" if i % 2 else "cd"), 8)) for i in range(40)]


@pytest.mark.parametrize(
    ("kernel", "points", "formula"),
    [
        (Spectrum(2), WORDS, lambda u, v: oracles.spectrum(u, v, 2)),
        (SetIntersection(), [set(w[:5]) for w in WORDS], oracles.common),
    ],
    ids=["strings", "sets"],
)
def test_objects(kernel, points, formula):
    model = KernelKMeans(2, kernel).fit(points)
    K = oracles.gram(formula, points)
    assert model.inertia_ == pytest.approx(slow_objective(K, model.labels_), rel=1e-10)
    assert adjusted_rand_score(np.arange(40) % 2, model.labels_) == 1.0
    assert np.array_equal(model.predict(points), model.labels_)


def test_a_mixed_table():
    frame = pd.DataFrame({"size": random.normal(size=40), "word": WORDS, "side": ["l", "r"] * 20})
    kernel = Gaussian(0.5).on("size") + 0.1 * Spectrum(2).on("word") + Categorical().on("side")
    model = KernelKMeans(3, kernel).fit(frame)
    assert model.inertia_ == pytest.approx(slow_objective(kernel(frame), model.labels_), rel=1e-9)
    assert model.feature_names_in_.tolist() == ["size", "word", "side"]
    assert np.array_equal(model.predict(frame[:5]), model.labels_[:5])


# --- memory --------------------------------------------------------------------------------------


def test_a_low_rank_matrix_takes_the_place_of_k(monkeypatch):
    exact = KernelKMeans(4, Gaussian(0.02)).fit(X)
    model = KernelKMeans(4, Gaussian(0.02), memory_limit=120_000).fit(X)
    certificate = model.certificate_
    assert 4 <= certificate.rank == len(model.support_) < 60
    assert certificate.plan.startswith("low rank, ")
    assert "K does not fit 120.0 kB" in certificate.plan
    K = Gaussian(0.02)(X)
    true = slow_objective(K, model.labels_)
    assert certificate.least == pytest.approx(true, rel=1e-10)
    assert true <= model.inertia_ * (1 + 1e-12)
    assert certificate.objective == model.inertia_
    assert adjusted_rand_score(exact.labels_, model.labels_) > 0.9
    assert np.array_equal(model.predict(X), model.labels_)
    squares = model.transform(X) ** 2
    assert squares.min(axis=1).sum() == pytest.approx(model.inertia_, rel=1e-8)
    again = model.fit_transform(X)
    assert np.allclose(again**2, squares, atol=1e-9)
    monkeypatch.setattr(mercer.fitting.clusters, "EXACT", 10)
    quick = KernelKMeans(4, Gaussian(0.02), memory_limit=120_000).fit(X)
    assert quick.inertia_ == model.inertia_
    assert 0 < quick.certificate_.least < true
    monkeypatch.setattr(mercer.fitting.clusters, "RANK", 1)
    assert KernelKMeans(4, Gaussian(0.02), memory_limit=120_000).fit(X).certificate_.rank == 1


def test_half_precision_before_low_rank():
    big = np.random.default_rng(0).normal(size=(700, 2))
    whole = KernelKMeans(3, Gaussian(0.5), n_init=1).fit(big)
    model = KernelKMeans(3, Gaussian(0.5), n_init=1, memory_limit="2.3MB").fit(big)
    assert model.certificate_.plan.startswith("half stored")
    assert model.certificate_.rank == 0
    assert model.inertia_ == pytest.approx(whole.inertia_, rel=1e-5)


def test_limits_that_cannot_hold():
    with pytest.raises(mercer.MemoryLimitError, match=r"KernelKMeans: a few columns of K must fit"):
        KernelKMeans(4, Gaussian(0.2), memory_limit=23_500).fit(X)
    with pytest.raises(mercer.MemoryLimitError, match="Raise"):
        KernelKMeans(4, Gaussian(0.2), memory_limit=100).fit(X)


# --- refused -------------------------------------------------------------------------------------


def spoiled(array, place, value):
    array = np.array(array)
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("model", "points", "told"),
    [
        (KernelKMeans(9), X[:8], "n_clusters must be at most the number of points .* 8; got 9"),
        (KernelKMeans(0), X, "n_clusters must be a whole number at least 1; got 0"),
        (KernelKMeans(2.5), X, "n_clusters must be a whole number at least 1; got 2.5"),
        (KernelKMeans(n_init=0), X, "n_init must be a whole number at least 1; got 0"),
        (KernelKMeans(max_iter=0), X, "max_iter must be a whole number at least 1; got 0"),
        (KernelKMeans(tol=-1.0), X, "tol must be a finite number at least 0; got -1"),
        (KernelKMeans(time_limit=0), X, "time_limit must be a finite number above 0; got 0"),
        (KernelKMeans(memory_limit="lots"), X, "memory_limit must be"),
        (KernelKMeans(n_jobs=0), X, "n_jobs must be .* got 0"),
        (KernelKMeans(random_state=-1), X, "random_state must be .* got -1"),
        (KernelKMeans(), X[:0], "there must be at least one point; got 0 sample"),
        (KernelKMeans(), spoiled(X, (3, 1), np.nan), "finite .* NaN in row 3, column 1"),
        (KernelKMeans(2, "precomputed"), X, r"must be square to fit, .* got shape \(120, 2\)"),
        (KernelKMeans(2, "rdf"), X, "got 'rdf'. Did you mean 'rbf'"),
    ],
)
def test_bad_input(model, points, told):
    with pytest.raises(ValueError, match=told) as caught:
        model.fit(points)
    assert str(caught.value).startswith(("KernelKMeans", "gram"))


def test_bad_weights():
    for weight, told in (
        (np.arange(120) - 3.0, "sample_weight must be at least 0; got -3 at index 0"),
        (np.zeros(120), "above 0 for at least one sample"),
        (np.ones(3), r"shape \(120,\)"),
        (spoiled(np.zeros(120), [1, 2], 1.0), "n_clusters must be .* with a weight, 2; got 8"),
    ):
        with pytest.raises(ValueError, match=f"KernelKMeans: .*{told}"):
            KernelKMeans().fit(X, sample_weight=weight)


# --- stopped -------------------------------------------------------------------------------------


def test_a_fit_without_time_is_usable():
    model = KernelKMeans(4, Gaussian(0.2), time_limit=1e-9)
    with pytest.warns(ConvergenceWarning, match="got time limit after 0 steps. Raise time_limit"):
        model.fit(X, sample_weight=WEIGHT)
    assert model.certificate_.status == "time limit"
    assert "stopped at once" in model.certificate_.plan
    assert np.array_equal(model.predict(X), model.labels_)
    assert sorted(set(model.labels_)) == [0, 1, 2, 3]
    squares = model.transform(X) ** 2
    assert model.inertia_ == pytest.approx(WEIGHT @ squares.min(axis=1), rel=1e-9)
    assert (WEIGHT[model.support_] > 0).all()


@pytest.mark.parametrize("when", [1, 3, 7])
def test_a_callback_stops_a_fit(when):
    told = []

    def callback(record):
        told.append(record)
        return len(told) == when

    model = KernelKMeans(6, Gaussian(0.2), callback=callback)
    with pytest.warns(ConvergenceWarning, match="points must stop moving .* got cancelled"):
        model.fit(X)
    assert len(told) == when
    assert model.certificate_.status == "cancelled"
    assert model.inertia_ == min(record["objective"] for record in told)
    K = Gaussian(0.2)(X)
    assert model.inertia_ == pytest.approx(slow_objective(K, model.labels_), rel=1e-10)


def test_few_steps_and_a_tolerance():
    with pytest.warns(ConvergenceWarning, match="iteration limit after 1 steps. Raise max_iter"):
        short = KernelKMeans(6, Gaussian(0.5), max_iter=1, n_init=1).fit(FLAT)
    assert short.certificate_.status == "iteration limit"
    long = KernelKMeans(6, Gaussian(0.5), n_init=1).fit(FLAT)
    loose = KernelKMeans(6, Gaussian(0.5), n_init=1, tol=0.005).fit(FLAT)
    assert long.n_iter_ > loose.n_iter_ > short.n_iter_
    assert long.inertia_ < loose.inertia_ < short.inertia_
    assert loose.certificate_.status == "converged"


def test_progress_goes_to_stderr(capsys):
    KernelKMeans(3, verbose=True).fit(X)
    printed = capsys.readouterr()
    assert "KernelKMeans: clusters" in printed.err
    assert printed.out == ""


# --- the same again, files, scikit-learn ---------------------------------------------------------


def test_the_same_again_with_any_number_of_threads():
    fits = [KernelKMeans(5, random_state=3, n_jobs=jobs).fit(X) for jobs in (1, 1, 2, None)]
    for other in fits[1:]:
        assert np.array_equal(other.labels_, fits[0].labels_)
        assert other.inertia_ == pytest.approx(fits[0].inertia_, rel=1e-13)
    assert fits[0].inertia_ == fits[1].inertia_
    assert fits[0].certificate_.starts == fits[1].certificate_.starts
    assert KernelKMeans(5, random_state=4).fit(X).certificate_.starts != fits[0].certificate_.starts


@pytest.mark.parametrize("limit", ["auto", 120_000], ids=["exact", "low rank"])
def test_copies_and_files(limit, tmp_path):
    points = X.copy()
    model = KernelKMeans(4, memory_limit=limit).fit(points)
    wanted = model.transform(NEW)
    points[:] = np.nan
    mercer.save(model, tmp_path / "model")
    for other in (model, pickle.loads(pickle.dumps(model)), mercer.load(tmp_path / "model")):
        assert np.array_equal(other.transform(NEW), wanted)
        assert np.array_equal(other.labels_, model.labels_)
        assert repr(other.certificate_) == repr(model.certificate_)
        assert other.get_params() == model.get_params()


# Seedings draw points: others where points are repeated. sklearn.cluster.KMeans fails them too.
DRAWN = dict.fromkeys(
    [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")],
    "the seeding draws other points",
)


@estimator_checks.parametrize_with_checks(
    [KernelKMeans(2)], expected_failed_checks=lambda model: DRAWN
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
