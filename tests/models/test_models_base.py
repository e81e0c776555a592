"""scikit-learn's contract, on the smallest model: its own checks, parameters, any kind of input."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    train_test_split,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import estimator_checks, get_tags

from mercer import KernelPrototypeClassifier
from mercer.checks import InputError
from mercer.kernels import (
    Categorical,
    Chi2,
    FunctionKernel,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    SetIntersection,
    Spectrum,
    Tanimoto,
)
from mercer.models.base import _check_gram


def dense_linear(X, Y):
    return linear_kernel(X, Y, dense_output=True)


KERNELS = [
    None,
    "linear",
    "rbf",
    "precomputed",
    Gaussian(0.3) + 0.5 * Polynomial(2),
    Chi2(1.0),
    Categorical(1.0),
    FunctionKernel(dense_linear),
]


@estimator_checks.parametrize_with_checks([KernelPrototypeClassifier(k) for k in KERNELS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


API_CHECKS = [
    "check_estimator_cloneable",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_no_attributes_set_in_init",
    "check_mixin_order",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_do_not_raise_errors_in_init_or_set_params",
]


@pytest.mark.parametrize("name", API_CHECKS)
@pytest.mark.parametrize("kernel", [Spectrum(2), SetIntersection(), Gaussian().on("a")], ids=repr)
def test_scikit_learn_checks_for_objects(name, kernel):
    model = KernelPrototypeClassifier(kernel)
    getattr(estimator_checks, name)(type(model).__name__, model)


# --- parameters --------------------------------------------------------------------------------


def test_kernel_parameters_are_reached_through_the_model():
    model = KernelPrototypeClassifier(0.5 * Gaussian(2.0) + Polynomial(2))
    assert model.get_params()["kernel__k1__gamma"] == 2.0
    kernel = model.kernel
    assert model.set_params(kernel__k1__gamma=3.0, kernel__k2__degree=4) is model
    assert model.kernel == 0.5 * Gaussian(3.0) + Polynomial(4)
    assert kernel == 0.5 * Gaussian(2.0) + Polynomial(2)  # kernels are values
    model.set_params(kernel__k1__coef=0.25, kernel__k2=Linear())
    assert model.kernel == 0.25 * Gaussian(3.0) + Linear()
    model.set_params(kernel=Gaussian(1.0), kernel__gamma=7.0, memory_limit="1GB")
    assert model.kernel == Gaussian(7.0)
    assert model.memory_limit == "1GB"


def test_the_default_kernel_and_names_have_parameters_too():
    assert KernelPrototypeClassifier().set_params(kernel__gamma=2.0).kernel == Gaussian(2.0)
    named = KernelPrototypeClassifier("poly").set_params(kernel__degree=2)
    assert named.kernel == Polynomial(2, "auto", 1.0)
    piped = make_pipeline(StandardScaler(), KernelPrototypeClassifier())
    piped.set_params(kernelprototypeclassifier__kernel__gamma=0.5)
    assert piped[-1].kernel == Gaussian(0.5)
    assert set(KernelPrototypeClassifier().get_params()) == {
        "kernel",
        "n_prototypes",
        "shrinkage",
        "memory_limit",
        "random_state",
    }


def test_wrong_parameters_are_named():
    model = KernelPrototypeClassifier(Gaussian(1.0))
    with pytest.raises(InputError, match="Did you mean 'gamma'"):
        model.set_params(kernel__gama=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'kern'"):
        model.set_params(kern=1)
    with pytest.raises(InputError, match="its terms are k1, k2"):
        KernelPrototypeClassifier(Linear() + Gaussian(1.0)).set_params(kernel__gamma=1.0)
    assert model.kernel == Gaussian(1.0)


def test_clone_keeps_the_kernel():
    model = KernelPrototypeClassifier(Gaussian(0.3) * Linear(), memory_limit=10**8)
    again = clone(model)
    assert again is not model
    assert again.kernel is model.kernel
    assert again.memory_limit == 10**8


def test_text():
    assert repr(KernelPrototypeClassifier(Gaussian(0.3))) == (
        "KernelPrototypeClassifier(kernel=Gaussian(gamma=0.3))"
    )


# --- any kind of input -------------------------------------------------------------------------

random = np.random.default_rng(4)
N = 36
LABELS = np.arange(N) % 3
STRINGS = ["".join(random.choice(list(letters), 8)) for letters in ["aabc", "abbd", "accd"] * 12]
SETS = [set(random.choice(8, 4)) | {10 + int(c)} for c in LABELS]
ROWS = random.normal(size=(N, 3)) + 2 * np.eye(3)[LABELS]
COLUMNS = {"text": STRINGS, "a": ROWS[:, 0], "b": ROWS[:, 1], "site": [f"s{c}" for c in LABELS]}
MIXED = Spectrum(2).normalized().on("text") + Gaussian(0.5).on(["a", "b"])


def as_objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


INPUTS = {
    "strings": (Spectrum(2).normalized(), STRINGS),
    "string tuple": (Spectrum(2).normalized(), tuple(STRINGS)),
    "string array": (Spectrum(2).normalized(), np.array(STRINGS)),
    "object array": (Spectrum(2).normalized(), as_objects(STRINGS)),
    "series": (Spectrum(2).normalized(), pd.Series(STRINGS, index=np.arange(N) // 2)),
    "polars series": (Spectrum(2).normalized(), pl.Series(STRINGS)),
    "sets": (Tanimoto(), SETS),
    "pairs": (FunctionKernel(lambda s, t: float(len(set(s) & set(t))), pairwise=True), STRINGS),
    "pandas": (MIXED, pd.DataFrame(COLUMNS, index=np.arange(N)[::-1])),
    "polars": (MIXED, pl.DataFrame(COLUMNS)),
    "words": (Categorical(1.0).on(["site"]), pd.DataFrame(COLUMNS)),
    "rows": (Gaussian(0.5), ROWS),
    "precomputed": ("precomputed", ROWS @ ROWS.T),
}
MORE = [name for name in INPUTS if name not in ("rows", "precomputed")]


@pytest.fixture(params=INPUTS)
def task(request):
    kernel, X = INPUTS[request.param]
    return KernelPrototypeClassifier(kernel), X


def test_cross_validation(task):
    model, X = task
    scores = cross_val_score(model, X, LABELS, cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0.6
    assert cross_val_predict(model, X, LABELS, cv=3).shape == (N,)


def test_learning_curve_and_split(task):
    model, X = task
    sizes, train, test = learning_curve(model, X, LABELS, cv=3, train_sizes=[12, 24])
    assert sizes.tolist() == [12, 24]
    assert np.isfinite(train).all()
    assert np.isfinite(test).all()
    if isinstance(X, list):
        left, _ = train_test_split(X, random_state=0)
        assert type(left) is list
        assert type(model.fit(X, LABELS)._prepared.points.raw) is list


@pytest.mark.parametrize("name", MORE)
def test_other_estimators_around_it(name):
    kernel, X = INPUTS[name]
    model = KernelPrototypeClassifier(kernel)
    logistic = LogisticRegression()
    for around in (
        make_pipeline(FunctionTransformer(), model),
        CalibratedClassifierCV(model, cv=3),
        OneVsRestClassifier(model),
        StackingClassifier([("one", model), ("two", clone(model))], logistic, cv=3),
        VotingClassifier([("one", model), ("two", clone(model))]),
    ):
        predicted = around.fit(X, LABELS).predict(X)
        assert (predicted == LABELS).mean() > 0.6


def test_grid_search_over_kernels_and_their_parameters():
    search = GridSearchCV(
        KernelPrototypeClassifier(Spectrum(1)), {"kernel__n": [1, 2, 3]}, cv=3
    ).fit(STRINGS, LABELS)
    assert search.best_params_["kernel__n"] in (1, 2, 3)
    assert search.best_estimator_.kernel == Spectrum(search.best_params_["kernel__n"])
    grid = {"kernel": [MIXED, Gaussian(0.5).on("a")], "memory_limit": ["auto", 10**8]}
    search = GridSearchCV(KernelPrototypeClassifier(), grid, cv=3).fit(
        pd.DataFrame(COLUMNS), LABELS
    )
    assert search.best_params_["kernel"] == MIXED
    search = GridSearchCV(KernelPrototypeClassifier(), {"kernel__gamma": [1e-3, 0.5]}, cv=3)
    assert search.fit(ROWS, LABELS).best_estimator_.kernel in (Gaussian(1e-3), Gaussian(0.5))


def test_pickle(task):
    model, X = task
    if model.kernel != INPUTS["pairs"][0]:  # a lambda cannot be pickled by anybody
        model.fit(X, LABELS)
        wanted = model.decision_function(X)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.decision_function(X), wanted)
        assert again.kernel_ == model.kernel_


# --- tags, names -------------------------------------------------------------------------------


def tags_of(kernel):
    return get_tags(KernelPrototypeClassifier(kernel)).input_tags


def test_tags_follow_the_kernel():
    assert tags_of(None).two_d_array
    assert tags_of(None).sparse
    assert not tags_of(None).pairwise
    for kernel in ("precomputed", Precomputed(), 2.0 * Precomputed()):
        assert tags_of(kernel).pairwise
    words = tags_of(Spectrum(2))
    assert words.one_d_array
    assert words.string
    assert not words.two_d_array
    assert not tags_of(SetIntersection()).string
    for kernel in (Chi2(1.0), "chi2", Intersection() + Linear(), Tanimoto().on([0])):
        assert tags_of(kernel).positive_only
    assert not tags_of(Laplacian()).positive_only
    # A wrong kernel is for `fit` to refuse; tags exist before.
    for bad in ("nonsense", Gaussian, 3):
        assert tags_of(bad).two_d_array


def test_precomputed_matrices_are_cut_by_rows_and_columns():
    direct = cross_val_score(KernelPrototypeClassifier(Linear()), ROWS, LABELS, cv=4)
    given = cross_val_score(KernelPrototypeClassifier("precomputed"), ROWS @ ROWS.T, LABELS, cv=4)
    assert np.array_equal(direct, given)


def test_feature_names_and_widths():
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    model = KernelPrototypeClassifier().fit(frame, LABELS)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["c", "a", "b"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(ROWS)
    with pytest.raises(ValueError, match="X has 2 features, but KernelPrototypeClassifier"):
        KernelPrototypeClassifier().fit(ROWS, LABELS).predict(ROWS[:, :2])
    model.fit(ROWS, LABELS)
    assert not hasattr(model, "feature_names_in_")


def test_frames_with_chosen_columns_may_change_their_order():
    frame = pd.DataFrame(COLUMNS)
    model = KernelPrototypeClassifier(MIXED).fit(frame, LABELS)
    assert model.feature_names_in_.tolist() == ["text", "a", "b", "site"]
    wanted = model.decision_function(frame)
    assert np.array_equal(model.decision_function(frame[["b", "text", "a"]]), wanted)
    assert np.array_equal(model.decision_function(pl.DataFrame(COLUMNS)), wanted)
    with pytest.raises(InputError, match="X must have the column 'b'; got columns text, a"):
        model.predict(frame[["text", "a"]])


def test_not_fitted():
    with pytest.raises(sklearn.exceptions.NotFittedError):
        KernelPrototypeClassifier(Spectrum(2)).predict(STRINGS)


def test_a_transformer_inside_the_kernel():
    scaler = StandardScaler().fit(ROWS)
    inside = KernelPrototypeClassifier(Matern(1.5).of(scaler)).fit(ROWS, LABELS)
    before = make_pipeline(StandardScaler(), KernelPrototypeClassifier(Matern(1.5)))
    before.fit(ROWS, LABELS)
    assert np.allclose(inside.decision_function(ROWS), before.decision_function(ROWS), rtol=1e-12)


# --- a Gram matrix as input --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("pair", [(3, 5), (5, 3), (0, 699), (300, 301), (699, 255), (256, 512)])
def test_the_worst_pair_of_a_gram_that_is_not_symmetric_is_named(pair, dtype):
    points = np.random.default_rng(0).normal(size=(700, 3)).astype(dtype)
    K = points @ points.T
    K = np.triu(K) + np.triu(K, 1).T
    K[1, 2] += 1.0  # asymmetric as well, and less so
    i, j = pair
    K[i, j] += 5.0
    low, high = min(pair), max(pair)
    told = rf"K\[{low}, {high}\] = {K[low, high]:g} but K\[{high}, {low}\] = {K[high, low]:g}"
    with pytest.raises(InputError, match=told.replace("+", r"\+")):
        KernelPrototypeClassifier("precomputed").fit(K, np.arange(700) % 2)


def test_symmetry_is_checked_without_another_matrix():
    n = 2000
    K = np.eye(n, dtype=np.float64)
    tracemalloc.start()
    try:
        _check_gram("K", K)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < K.nbytes / 10


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 600])
def test_symmetric_matrices_of_any_size_pass(n):
    points = np.random.default_rng(1).normal(size=(n, 2))
    K = points @ points.T
    _check_gram("K", (K + K.T) / 2)
    _check_gram("K", K + 1e-7 * np.triu(np.abs(K).max() * np.ones((n, n)), 1))  # rounding
