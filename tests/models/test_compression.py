"""Compressed models are ordinary ones: same class, near predictions, files, and honest records."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    SVC,
    SVR,
    InputError,
    KernelFisherDiscriminant,
    KernelKMeans,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelPCA,
    KernelPerceptron,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeCV,
    MemoryLimitError,
    MKLClassifier,
    MKLOneClassSVM,
    MKLRegressor,
    NuSVC,
    NuSVR,
    OneClassSVM,
    compress,
    load,
    save,
    vc_bound,
)
from mercer.features import GramTransformer
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Linear, Spectrum

random = np.random.default_rng(11)
X = random.normal(size=(120, 3))
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * random.normal(size=120), [-0.5, 0.5])]
TWO = THREE == "a"
NUMBERS = np.sin(X[:, 0]) + 0.1 * random.normal(size=120)
TABLE = np.column_stack([NUMBERS, 1000 * X[:, 1]])
NEW = random.normal(size=(200, 3))
G = Gaussian(0.3)

FITTED = {
    "SVC": SVC(kernel=G, probability=True).fit(X, THREE),
    "SVC ovo": SVC(kernel=G, decision_function_shape="ovo").fit(X, THREE),
    "SVC ovr": SVC(kernel=G, multiclass="ovr").fit(X, THREE),
    "SVC two": SVC(kernel=G).fit(X, TWO),
    "NuSVC": NuSVC(0.3, kernel=G).fit(X, THREE),
    "SVR": SVR(kernel=G).fit(X, NUMBERS),
    "NuSVR": NuSVR(kernel=G).fit(X, NUMBERS),
    "OneClassSVM": OneClassSVM(kernel=G).fit(X),
    "KernelRidge": KernelRidge(0.1, kernel=G).fit(X, NUMBERS),
    "KernelRidge table": KernelRidge(0.1, kernel=G, fit_intercept=True).fit(X, TABLE),
    "KernelRidgeCV": KernelRidgeCV(kernel=G).fit(X, NUMBERS),
    "KernelRidgeClassifier": KernelRidgeClassifier(kernel=G).fit(X, THREE),
    "KernelMachineClassifier": KernelMachineClassifier(kernel=G).fit(X, THREE),
    "KernelMachineRegressor": KernelMachineRegressor("huber", kernel=G).fit(X, NUMBERS),
    "KernelPCA": KernelPCA(3, kernel=G).fit(X, None, random.random(120) + 0.5),
    "KernelFisherDiscriminant": KernelFisherDiscriminant(kernel=G).fit(X, THREE),
    "KernelPerceptron": KernelPerceptron(G, budget=60).fit(X, X[:, 0] > 0.1),
    "KernelPerceptron three": KernelPerceptron(G, average=True, budget=60).fit(X, X[:, 0].round()),
    "KernelKMeans": KernelKMeans(3, kernel=G).fit(X),
    "KernelPrototypeClassifier": KernelPrototypeClassifier(G).fit(X, THREE),
    "MKLClassifier": MKLClassifier([G, Linear()]).fit(X, THREE),
    "MKLRegressor": MKLRegressor([G, Linear()]).fit(X, NUMBERS),
    "MKLOneClassSVM": MKLOneClassSVM([G, Gaussian(1.0)]).fit(X),
    "SVC strings": SVC(kernel=Spectrum(2)).fit(["abab", "bbaa", "cabc", "ccab"], [0, 1, 2, 1]),
}
OF_ROWS = [name for name in FITTED if "strings" not in name]


def functions_of(model, points):
    """What the record is about: the functions, each with its offset."""
    if isinstance(model, (SVC, NuSVC, MKLClassifier)):
        return model._machine_scores(points)
    for name in ("decision_function", "transform", "predict"):
        if hasattr(model, name) and not isinstance(model, KernelFisherDiscriminant):
            return np.asarray(getattr(model, name)(points))
    return model.transform(points)


@pytest.mark.parametrize("name", OF_ROWS)
def test_a_tolerance_is_met_and_bounds_the_changes(name):
    model = FITTED[name]
    small = compress(model, tol=0.05, max_iter=10)
    assert type(small) is type(model)
    assert small.get_params() == model.get_params()
    record = small.compression_
    assert max(record.relative_errors) <= 0.05
    assert record.points == len(model._prepared)
    assert record.centers == len(small._prepared) < record.points
    assert record.moved == record.centers
    if not isinstance(model, (KernelKMeans, KernelPrototypeClassifier)):
        change = np.abs(functions_of(model, NEW) - functions_of(small, NEW))
        assert change.max() <= record.bound
    assert not hasattr(model, "compression_")


@pytest.mark.parametrize("name", OF_ROWS)
def test_moved_centres_are_no_training_rows(name):
    small = compress(FITTED[name], n_centers=6, max_iter=5)
    assert small.compression_.moved == 6
    kept = small._prepared.points.values
    assert not (kept[:, None] == X).all(axis=2).any()
    stay = compress(FITTED[name], n_centers=6, polish=False)
    assert stay.compression_.moved == 0
    assert (stay._prepared.points.values[:, None] == X).all(axis=2).any(axis=1).all()


@pytest.mark.parametrize("name", list(FITTED))
def test_files_hold_compressed_models(name, tmp_path):
    points = ["abca", "cc"] if "strings" in name else NEW[:5]
    small = compress(FITTED[name], n_centers=3, max_iter=3)
    save(small, tmp_path / "small.mercer")
    again = load(tmp_path / "small.mercer")
    assert again.compression_ == small.compression_
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(small, method):
            wanted = getattr(small, method)(points)
            assert np.array_equal(getattr(again, method)(points), wanted)


@pytest.mark.parametrize("name", OF_ROWS)
def test_scores_are_met_at_points_that_are_handed_in(name):
    model = FITTED[name]
    small = compress(model, n_centers=10, X=X, max_iter=10)
    record = small.compression_
    assert len(record.score_errors) == len(record.errors)
    assert max(record.score_errors) <= record.bound


def test_a_fit_forgets_the_compression():
    small = compress(FITTED["SVC"], n_centers=5, max_iter=2)
    assert not hasattr(small.fit(X, THREE), "compression_")
    assert np.array_equal(small.predict(NEW), FITTED["SVC"].predict(NEW))


# --- what the families keep -----------------------------------------------------------------------


def test_centres_of_pairs_are_in_all_machines():
    model = FITTED["SVC ovo"]
    small = compress(model, n_centers=12, polish=False)
    assert small.dual_coef_.shape == (3, 12)
    assert small.support_vectors_.shape == (12, 3)
    assert small.n_support_.sum() == 12
    assert set(small.support_) <= set(model.support_)
    groups = np.repeat(small.classes_, small.n_support_)
    assert np.array_equal(groups, THREE[small.support_])
    wanted = G(NEW, small.support_vectors_) @ small.dual_coef_.T + small.intercept_
    np.testing.assert_allclose(small.decision_function(NEW), wanted, atol=1e-12)
    slopes = small.gradient(NEW[:4])
    step = 1e-6 * np.eye(3)[1]
    rise = small.decision_function(NEW[:4] + step) - small.decision_function(NEW[:4] - step)
    np.testing.assert_allclose(slopes[:, 1], rise / 2e-6, atol=1e-6)


def test_weights_of_linear_machines_stay():
    model = SVC(kernel=Linear()).fit(X, THREE)
    small = compress(model, n_centers=3, polish=False)
    np.testing.assert_allclose(small.coef_, model.coef_, atol=1e-9)
    assert small.certificate_.norm == pytest.approx(model.certificate_.norm)


def test_probabilities_hardly_move():
    small = compress(FITTED["SVC"], tol=0.01)
    gap = small.predict_proba(NEW) - FITTED["SVC"].predict_proba(NEW)
    assert np.abs(gap).max() < 0.02
    assert small.slopes_ is FITTED["SVC"].slopes_


def test_bounds_of_certificates_take_the_compression_in():
    model, small = FITTED["KernelRidge"], compress(FITTED["KernelRidge"], n_centers=20)
    added = small.compression_.bound
    assert small.certificate_.error_bound == model.certificate_.error_bound + added
    machine = FITTED["SVC two"]
    few = compress(machine, n_centers=20)
    assert few.certificate_.norm <= machine.certificate_.norm + 1e-9
    assert 0 < vc_bound(few, X, TWO) <= 1


def test_deviations_need_the_training_points():
    small = compress(FITTED["KernelRidge"], n_centers=20)
    with pytest.raises(InputError, match=r"return_std needs the training points.*compressed"):
        small.predict(NEW, return_std=True)


def test_components_stay_centred_and_go_back_only_where_that_was_learnt(tmp_path):
    model = KernelPCA(2, kernel=G, fit_inverse_transform=True).fit(X)
    small = compress(model, n_centers=25)
    np.testing.assert_allclose(small.transform(X).mean(axis=0), 0, atol=1e-10)
    gap = small.inverse_transform(NEW[:5, :2]) - model.inverse_transform(NEW[:5, :2])
    assert np.abs(gap).max() < 0.2 * np.abs(X).max()
    assert len(small._inverse._prepared) == 25
    save(small, tmp_path / "small.mercer")
    with pytest.raises(InputError, match=r"inverse_transform needs the training points"):
        compress(FITTED["KernelPCA"], n_centers=5, max_iter=2).inverse_transform(NEW)


def test_prototypes_keep_their_distances():
    model = FITTED["KernelKMeans"]
    small = compress(model, tol=0.01)
    np.testing.assert_allclose(small.transform(NEW), model.transform(NEW), atol=0.02)
    assert np.mean(small.predict(NEW) == model.predict(NEW)) > 0.98


def test_a_stream_goes_on_after_compression():
    labels = X[:, 0].round()
    model = FITTED["KernelPerceptron three"]
    small = compress(model, tol=0.05)
    before = small.decision_function(NEW)
    small.partial_fit(X[:10], labels[:10])
    assert small.n_samples_seen_ == model.n_samples_seen_ + 10
    assert small.decision_function(NEW).shape == before.shape
    assert not hasattr(small, "compression_")


def test_single_precision_stays_single():
    model = SVC(kernel=G).fit(X.astype(np.float32), THREE)
    small = compress(model, n_centers=8, max_iter=5)
    assert small.support_vectors_.dtype == np.float32
    assert small.compression_.moved == 8


def test_sparse_rows_stay_where_they_are():
    model = SVC(kernel=G).fit(csr_array(np.maximum(X, 0)), THREE)
    small = compress(model, n_centers=8)
    assert small.compression_.moved == 0
    assert small.support_vectors_.shape == (8, 3)


def test_time_ends_the_polish():
    small = compress(FITTED["SVC"], n_centers=20, time_limit=1e-9)
    assert small.compression_.iterations == 0
    assert small.compression_.centers == 20


def test_compressed_models_can_be_compressed_again():
    once = compress(FITTED["SVC"], n_centers=20, max_iter=5)
    twice = compress(once, n_centers=5, max_iter=5)
    assert (twice.compression_.points, twice.compression_.centers) == (20, 5)
    small = compress(FITTED["KernelPCA"], n_centers=5, max_iter=2)
    with pytest.raises(InputError, match="Compress the model before"):
        compress(small, n_centers=3)


def test_one_point_stays():
    model = KernelRidge(kernel=G).fit(X[:1], [1.0])
    for given in ({"tol": 0.1}, {"n_centers": 1}):
        small = compress(model, **given)
        assert small.compression_.errors == (0.0,)
        np.testing.assert_allclose(small.predict(NEW), model.predict(NEW))


# --- neighbours -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_condensed_neighbours_classify_the_training_points_as_before(k, weights, tmp_path):
    model = KernelNeighborsClassifier(k, G, weights=weights).fit(X, THREE)
    small = compress(model, tol=0)
    assert np.array_equal(small.predict(X), model.predict(X))
    record = small.compression_
    assert record.changed == 0
    assert record.centers == small.n_samples_fit_ < record.points == 120
    save(small, tmp_path / "small.mercer")
    assert np.array_equal(load(tmp_path / "small.mercer").predict(NEW), small.predict(NEW))


def test_condensing_says_how_many_change():
    model = KernelNeighborsClassifier(1, G).fit(X, THREE)
    small = compress(model, n_centers=10)
    assert small.n_samples_fit_ == 10
    assert small.compression_.changed == (small.predict(X) != THREE).sum()
    loose = compress(model, tol=0.1)
    assert loose.compression_.changed <= 12
    assert loose.n_samples_fit_ < compress(model, tol=0).n_samples_fit_


def test_strings_are_condensed():
    words = ["abab", "babab", "aabb", "cdcd", "dcdc", "ccdd"]
    model = KernelNeighborsClassifier(1, Spectrum(1)).fit(words, [0, 0, 0, 1, 1, 1])
    small = compress(model, tol=0)
    assert small.n_samples_fit_ == 2
    assert small.predict(words).tolist() == [0, 0, 0, 1, 1, 1]


# --- bad input ------------------------------------------------------------------------------------

BAD = [
    ({}, "either tol or n_centers must be given; got neither"),
    ({"tol": 0.1, "n_centers": 3}, "either tol or n_centers must be given; got tol=0.1 and n_cent"),
    ({"n_centers": 0}, "n_centers must be a whole number at least 1 and at most"),
    ({"n_centers": 1000}, "n_centers must be .*got 1000. The model is carried by"),
    ({"n_centers": 2.5}, "n_centers must be"),
    ({"tol": -1}, "tol must be"),
    ({"tol": "small"}, "tol must be"),
    ({"n_centers": 3, "polish": "yes"}, "polish must be"),
    ({"n_centers": 3, "max_iter": 0}, "max_iter must be"),
    ({"n_centers": 3, "time_limit": -1}, "time_limit must be"),
    ({"tol": 0.1, "X": X}, "X must be left out where tol is given"),
    ({"n_centers": 3, "X": X[:, :2]}, "2 features"),
    ({"n_centers": 3, "X": RowBlocks.split(X, 2)}, "X must have points in memory; got blocks"),
]


@pytest.mark.parametrize(("given", "told"), BAD)
def test_bad_parameters(given, told):
    with pytest.raises(InputError, match=told):
        compress(FITTED["SVC"], **given)


def test_a_tolerance_out_of_reach_says_what_was_reached():
    model = KernelRidge(1e-3, kernel=Gaussian(50.0)).fit(X, NUMBERS)
    with pytest.raises(InputError, match=r"than 120 centres; got tol=1e-08; 119 .* reach 0\."):
        compress(model, tol=1e-8)


def test_models_that_cannot_be_compressed():
    for model, told in [
        (3, "must be an estimator of mercer"),
        (make_pipeline(StandardScaler(), SVC()), "last step of a pipeline"),
        (GramTransformer().fit(X), "must be an estimator of mercer that points carry"),
        (KernelNeighborsRegressor().fit(X, NUMBERS), "classifier.*KernelRidge"),
        (KernelRidge(kernel=Linear()).fit(X, NUMBERS), "features of an exact finite map"),
        (SVC(kernel="precomputed").fit(G(X), THREE), "precomputed kernel matrix"),
        (KernelNeighborsClassifier(kernel="precomputed").fit(G(X), THREE), "precomputed"),
        (SVR(epsilon=100.0).fit(X, NUMBERS), "must have support vectors"),
    ]:
        with pytest.raises(InputError, match=told):
            compress(model, n_centers=1)
    with pytest.raises(NotFittedError):
        compress(SVC(), n_centers=1)


def test_neighbours_refuse_what_is_about_functions():
    model = KernelNeighborsClassifier(3, G).fit(X, THREE)
    with pytest.raises(InputError, match="X must be left out for neighbours"):
        compress(model, n_centers=10, X=X)
    with pytest.raises(InputError, match="at least n_neighbors = 3; got 2"):
        compress(model, n_centers=2)


def test_memory_for_the_centres_is_asked_for():
    with pytest.raises(MemoryLimitError, match=r"memory_limit must be at least .* for 50 centres"):
        compress(FITTED["SVC"], n_centers=50, memory_limit=20_000)
