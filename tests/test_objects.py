"""Kernels of objects at work: in scikit-learn's tools, in expressions, in files, under limits."""

import pickle
import re
from pathlib import Path

import numpy as np
import oracles
import pandas as pd
import polars
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

import mercer
from mercer import SVC, KernelPCA, KernelRidge, KernelRidgeClassifier, gram
from mercer.checks import InputTypeError, KernelError
from mercer.features import GramTransformer
from mercer.grams import prepare
from mercer.kernels import (
    Fisher,
    FunctionKernel,
    Gaussian,
    GlobalAlignment,
    Graph,
    Graphlet,
    Mismatch,
    PartialTree,
    PyramidMatch,
    RandomWalk,
    SetIntersection,
    ShortestPath,
    SpatialPyramid,
    Spectrum,
    Subsequence,
    SubsetTree,
    Substring,
    Subtree,
    Tree,
    WeisfeilerLehman,
)
from mercer.monitor import Monitor, Stopped

random = np.random.default_rng(5)
N = 40
SIDE = np.arange(N) % 2
WORDS = ["".join(random.choice(list("abc" if side else "bcd"), 7)) for side in SIDE]
TREES = [
    Tree.parse(f"(S (A {w[0]}) ({'B' if s else 'C'} {w[1]}))")
    for w, s in zip(WORDS, SIDE, strict=True)
]


def ring(side):
    n = int(random.integers(4, 9))
    edges = [(i, (i + 1) % n) for i in range(n if side else n - 1)]
    return Graph(n, edges, node_labels=random.choice(list("xy"), n).tolist())


GRAPHS = [ring(side) for side in SIDE]
SERIES = [np.cumsum(random.normal(side, 1, (int(random.integers(3, 9)), 2)), 0) for side in SIDE]
MAPS = [random.integers(0, 3 + 2 * side, (6, 5)) for side in SIDE]
VECTORS = [random.normal(3 * side, 2, (int(random.integers(1, 7)), 2)) for side in SIDE]
MIXTURE = ("mixture", (0.5, 0.5), ((0.0, 0.0), (3.0, 3.0)), ((2.0, 2.0), (2.0, 2.0)))

KINDS = {
    "strings": (Spectrum(2), WORDS),
    "mismatches": (Mismatch(2, 1, "abcd"), WORDS),
    "substrings": (Substring(0.5), WORDS),
    "subsequences": (Subsequence(2, 0.5), WORDS),
    "complete subtrees": (Subtree(), TREES),
    "trees": (SubsetTree(), TREES),
    "partial trees": (PartialTree(), TREES),
    "graphs": (WeisfeilerLehman(2), GRAPHS),
    "assigned graphs": (WeisfeilerLehman(2, "assignment"), GRAPHS),
    "paths": (ShortestPath(), GRAPHS),
    "graphlets": (Graphlet(4), GRAPHS),
    "walks": (RandomWalk(0.05), GRAPHS),
    "series": (GlobalAlignment(), SERIES),
    "images": (SpatialPyramid(1), MAPS),
    "sets of vectors": (PyramidMatch(2), VECTORS),
    "Fisher vectors": (Fisher(MIXTURE), VECTORS),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


# --- scikit-learn --------------------------------------------------------------------------------


@each_kind
def test_cross_validation_of_lists(kind):
    """Lecture B4 (strings), B5 (graphs), B6 (trees), B7 (images): any learner takes them."""
    kernel, objects = KINDS[kind]
    scores = cross_val_score(SVC(kernel=kernel.normalized(), C=10), objects, SIDE, cv=4)
    assert scores.mean() > 0.6


def test_objects_go_to_other_processes():
    model = SVC(kernel=WeisfeilerLehman(1) * ShortestPath())
    found = cross_val_predict(model, GRAPHS, SIDE, n_jobs=2)
    assert_array_equal(found, cross_val_predict(model, GRAPHS, SIDE))


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        ("strings", "n", [1, 2, 3]),
        ("subsequences", "decay", [0.3, 0.9]),
        ("trees", "decay", [0.2, 1.0]),
        ("graphs", "rounds", [0, 1, 2]),
        ("graphs", "base", ["subtree", "assignment"]),
        ("walks", "decay", [0.01, 0.1]),
        ("series", "gamma", [0.01, 0.1]),
        ("images", "levels", [0, 2]),
    ],
)
def test_a_search_reaches_the_parameters_of_a_kernel(kind, name, values):
    kernel, objects = KINDS[kind]
    steps = Pipeline([("machine", SVC(kernel=kernel.normalized()))])
    search = GridSearchCV(steps, {f"machine__kernel__{name}": values}, cv=3).fit(objects, SIDE)
    assert search.best_params_[f"machine__kernel__{name}"] in values
    best = search.best_estimator_["machine"].kernel_
    assert best.get_params()[name] == search.best_params_[f"machine__kernel__{name}"]
    found = mercer.tune(SVC(kernel=kernel), objects, SIDE, {f"kernel__{name}": values}, cv=3)
    assert found.params[f"kernel__{name}"] in values


@pytest.mark.parametrize("kind", ["strings", "trees", "graphs", "walks", "series", "images"])
def test_calibration_stacking_and_pipelines(kind):
    kernel, objects = KINDS[kind]
    machine = SVC(kernel=kernel.normalized())
    chances = CalibratedClassifierCV(machine, cv=3).fit(objects, SIDE).predict_proba(objects)
    assert_allclose(chances.sum(axis=1), 1)
    pair = [("machine", machine), ("ridge", KernelRidgeClassifier(kernel=kernel.normalized()))]
    assert StackingClassifier(pair, cv=3).fit(objects, SIDE).score(objects, SIDE) > 0.6
    reversed_twice = FunctionTransformer(lambda X: X[::-1][::-1])
    piped = make_pipeline(reversed_twice, machine).fit(objects, SIDE)
    plain = machine.fit(objects, SIDE)
    assert_allclose(piped.decision_function(objects[:9]), plain.decision_function(objects[:9]))
    linear = make_pipeline(GramTransformer(kernel.normalized()), LogisticRegression())
    assert linear.fit(objects, SIDE).score(objects, SIDE) > 0.6


@each_kind
def test_explicit_features_feed_linear_models(kind):
    kernel, objects = KINDS[kind]
    kernel = kernel.resolve(objects)
    if not kernel.has_map():
        with pytest.raises(KernelError, match="finite feature map"):
            kernel.features(objects)
        return
    basis = kernel.basis(objects[:30])
    train, new = (kernel.features(part, basis) for part in (objects[:30], objects[30:]))
    assert train.shape[1] == new.shape[1] == basis.width
    size = np.abs(kernel.diag(objects)).max()
    assert_allclose(
        (new @ train.T) + np.zeros((10, 30)), kernel(objects[30:], objects[:30]), atol=1e-12 * size
    )
    assert LinearSVC().fit(train, SIDE[:30]).predict(new).shape == (10,)


@each_kind
def test_nystrom_and_every_way_to_a_ridge_fit(kind):
    kernel, objects = KINDS[kind]
    kernel, y = kernel.normalized(), SIDE + 0.1 * np.arange(N)
    exact = KernelRidge(0.1, kernel=kernel).fit(objects, y).predict(objects)
    whole = KernelRidge(0.1, kernel=kernel, solver="nystrom", n_centers=N, random_state=0)
    assert_allclose(whole.fit(objects, y).predict(objects), exact, atol=1e-5)
    few = KernelRidge(0.1, kernel=kernel, solver="nystrom", n_centers=10, random_state=0)
    assert np.isfinite(few.fit(objects, y).predict(objects)).all()


# --- files ---------------------------------------------------------------------------------------


@each_kind
def test_models_are_saved_and_loaded(kind, tmp_path):
    kernel, objects = KINDS[kind]
    for model in (SVC(kernel=kernel.normalized()), KernelPCA(2, kernel=kernel)):
        fitted = model.fit(objects[:30], SIDE[:30])
        mercer.save(fitted, tmp_path / "model.mercer")
        again = mercer.load(tmp_path / "model.mercer")
        assert again.kernel_ == fitted.kernel_
        way = "decision_function" if isinstance(model, SVC) else "transform"
        wanted = getattr(fitted, way)(objects[30:])
        assert_array_equal(getattr(again, way)(objects[30:]), wanted)


@pytest.mark.parametrize("kind", ["series", "images", "sets of vectors", "Fisher vectors"])
def test_a_model_does_not_change_with_the_arrays_it_was_fitted_on(kind):
    kernel, objects = KINDS[kind]
    for model in (SVC(kernel=kernel), KernelRidge(kernel=kernel), KernelPCA(2, kernel=kernel)):
        given = [item.copy() for item in objects[:30]]
        fitted = model.fit(given, SIDE[:30])
        for item in given:
            item += 1
        way = "transform" if isinstance(model, KernelPCA) else "predict"
        found = getattr(fitted, way)(objects[30:])
        again = clone(model).fit(objects[:30], SIDE[:30])
        assert_allclose(found, getattr(again, way)(objects[30:]), rtol=1e-9, atol=1e-12)


# --- one expression ------------------------------------------------------------------------------


def test_every_kind_of_object_in_one_frame():
    """Lecture B8: sums, products and normalised kernels, across kinds of data."""
    frame = pd.DataFrame({"size": random.normal(SIDE, 1), "word": WORDS})
    columns = {"tree": TREES, "graph": GRAPHS, "series": SERIES, "map": MAPS, "vectors": VECTORS}
    for name, objects in columns.items():
        frame[name] = pd.Series(objects, dtype=object)
    kernel = (
        Gaussian(0.5).on(["size"]) * Subsequence(2, 0.5).normalized().on("word")
        + SubsetTree().normalized().on("tree")
        + 0.5 * (WeisfeilerLehman(1) + RandomWalk(0.05)).normalized().on("graph")
        + GlobalAlignment(0.1).on("series") * SpatialPyramid(1).normalized().on("map")
        + PyramidMatch(2).normalized().on("vectors").exp()
        + Fisher(MIXTURE).normalized().on("vectors") ** 2
    )
    some = frame.iloc[:12]
    assert_allclose(kernel(some), kernel.formula(some), rtol=1e-12, atol=1e-14)
    assert_allclose(kernel(some, frame), kernel(frame)[:12], rtol=1e-12, atol=1e-14)
    assert mercer.parse(repr(kernel)) == kernel
    model = SVC(kernel=kernel).fit(frame[:30], SIDE[:30])
    assert model.score(frame[30:], SIDE[30:]) > 0.6


@each_kind
def test_sums_and_products_of_kernels_of_one_kind(kind):
    kernel, objects = KINDS[kind]
    kernel = kernel.resolve(objects).normalized()
    K = kernel(objects[:9])
    assert_allclose((0.5 * kernel**2 + kernel * kernel + 1)(objects[:9]), 1.5 * K**2 + 1)
    assert mercer.check_kernel(kernel, objects).is_psd


@pytest.mark.parametrize(
    ("kernel", "make"), [(Spectrum(1), list), (SetIntersection(), set)], ids=["lists", "sets"]
)
def test_a_model_does_not_change_with_the_lists_it_was_fitted_on(kernel, make):
    items = [make(word) for word in ("aab", "abb", "ccd", "cdd")]
    model = SVC(kernel=kernel).fit(items, [0, 0, 1, 1])
    before = model.decision_function([make("ab")])
    for item in items:
        item.clear()
    again = pickle.loads(pickle.dumps(model))  # without what was worked out before
    assert_array_equal(again.decision_function([make("ab")]), before)


# --- limits, progress, stopping ------------------------------------------------------------------


@each_kind
def test_k_is_the_same_however_it_is_computed(kind):
    kernel, objects = KINDS[kind]
    kernel = kernel.resolve(objects)
    wanted = kernel(objects)
    size = np.abs(wanted).max()
    V = random.normal(size=(N, 2))
    for options in ({}, {"store": False}, {"memory_limit": 60_000}, {"store": True}):
        K = gram(kernel, objects, **options)
        assert_allclose(K.dense(), wanted, rtol=1e-13, atol=1e-14 * size)
        assert_allclose(K @ V, wanted @ V, rtol=1e-12, atol=1e-11 * size)
        assert_allclose(K.rows([3, 1]), wanted[[3, 1]], rtol=1e-13, atol=1e-14 * size)
        assert_allclose(K.diag(), np.diag(wanted), rtol=1e-13)
    new = prepare(kernel, objects[:25]).gram(objects[25:])
    assert_allclose(new.dense(), wanted[25:, :25], rtol=1e-13, atol=1e-14 * size)


CHAIN = Tree.from_preorder(["a"] * 6000, [1] * 5999 + [0])


@pytest.mark.parametrize(
    ("kernel", "item"),
    [
        (Subsequence(8, 0.5), "ab" * 8000),
        (SubsetTree(), CHAIN),
        (PartialTree(), CHAIN),
        (PartialTree(), Tree("a", [Tree("b")] * 15_000)),
    ],
    ids=["Subsequence", "SubsetTree", "PartialTree", "wide"],
)
def test_one_long_pair_can_be_stopped_in_the_midst_of_it(kernel, item):
    asked = []
    only, out = np.zeros(1, dtype=np.int64), np.empty((1, 1))
    job = kernel.job(kernel.encode([item]), kernel.encode([item]))
    # Asked only once the pair is done, it would be asked once.
    done = job.store(only, only, False, 0, 1, out, lambda: asked.append(1) or len(asked) == 3)
    assert not done
    assert len(asked) == 3


def test_pairs_tell_how_far_they_have_come_and_can_be_stopped():
    words = ["".join(random.choice(list("abcd"), 60)) for _ in range(60)]
    heard = []
    watch = Monitor(progress=lambda what, done: heard.append((what, done)))
    gram(Subsequence(4, 0.5), words, store=False, monitor=watch).dense()
    shares = [done for what, done in heard if what == "Subsequence"]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    stopped = Monitor()
    stopped.cancel()
    with pytest.raises(Stopped):
        gram(Subsequence(4, 0.5), words, monitor=stopped).dense()
    late = Monitor(progress=lambda what, done: late.cancel() if done > 0 else None)
    with pytest.raises(Stopped):
        gram(Subsequence(4, 0.5), words * 4, monitor=late).dense()


def test_explain_tells_what_the_core_computes():
    frame = pd.DataFrame({"words": WORDS, "sizes": np.arange(float(N))})
    texts = Subsequence(2, 0.5)
    told = gram(texts.normalized(), WORDS).explain()
    assert (told.statistics, told.numpy) == (("Subsequence(2, 0.5)",), ())
    told = gram(texts.on("words").normalized(), frame).explain()
    assert (told.statistics, told.numpy) == (("Subsequence(2, 0.5) on words",), ())
    told = gram(texts.on("words") + Gaussian(1.0).on("sizes"), frame).explain()
    assert set(told.statistics) == {"Subsequence(2, 0.5) on words", "squared distance on sizes"}
    assert told.numpy == ()
    told = gram(FunctionKernel(texts.pair, pairwise=True), WORDS[:3]).explain()
    assert told.statistics == ()
    assert told.numpy[0].endswith("(pair by pair in Python)")


# --- what is no object ---------------------------------------------------------------------------


@each_kind
def test_what_is_no_object_is_named_with_its_index(kind):
    kernel, objects = KINDS[kind]
    for wrong in (None, 3.5, {"a": 1}):
        with pytest.raises(InputTypeError, match=r"every item must be .* at index 2\."):
            SVC(kernel=kernel).fit([*objects[:2], wrong, *objects[3:]], SIDE)
    model = SVC(kernel=kernel.normalized()).fit(objects, SIDE)
    with pytest.raises(InputTypeError, match="at index 1"):
        model.predict([objects[0], None])
    with pytest.raises((InputTypeError, TypeError), match="must be"):
        model.predict("one string" if kind != "strings" else 3)


@pytest.mark.parametrize(
    ("kernel", "single"),
    [
        (SetIntersection(), {1, 2}),
        (Spectrum(1), [1, 2]),
        (SubsetTree(), Tree.parse("(S a)")),
        (WeisfeilerLehman(), Graph(2, [(0, 1)])),
        (GlobalAlignment(1.0), [1.0, 2.0]),
        (GlobalAlignment(1.0), np.zeros(3)),
        (PyramidMatch(1), [[1, 2], [3, 4]]),
        (PyramidMatch(1), np.zeros((2, 3))),
        (SpatialPyramid(1), np.zeros((2, 3), int)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_single_object_belongs_into_a_list(kernel, single):
    with pytest.raises(InputTypeError, match="Put a single one into a list"):
        kernel(single)
    assert kernel([single]).shape == (1, 1)


def test_the_advice_fits_what_was_given():
    with pytest.raises(InputTypeError, match=r"index 1\. Drop it, or replace it by an empty one"):
        Spectrum(1)(["a", float("nan")])
    with pytest.raises(InputTypeError, match=r"index 1\. Make it one: text\.split"):
        Spectrum(1)(["a", 5])
    with pytest.raises(InputTypeError, match=r"index 0\. Make it one with set"):
        SetIntersection()(["abc"])
    with pytest.raises(InputTypeError, match=r"index 0. .* an empty one is np.zeros\(\(0, d\)\)"):
        PyramidMatch(1)([[], np.zeros((2, 2))])


@pytest.mark.parametrize("library", [pd, polars], ids=["pandas", "polars"])
def test_columns_and_frames_are_series_vectors_and_tokens(library):
    series = [np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0])]
    kernel = GlobalAlignment(0.5)
    assert_array_equal(kernel([library.Series(one) for one in series]), kernel(series))
    sets = [np.array([[1, 2], [3, 4]]), np.array([[1, 2]])]
    for kernel in (GlobalAlignment(0.5), PyramidMatch(2), SpatialPyramid(1)):
        frames = [library.DataFrame({"a": one[:, 0], "b": one[:, 1]}) for one in sets]
        assert_array_equal(kernel(frames), kernel(sets))
    words = [["to", "be"], ["be"]]
    assert_array_equal(Spectrum(1)([library.Series(one) for one in words]), Spectrum(1)(words))
    with pytest.raises(InputTypeError, match="at index 0"):
        GlobalAlignment(0.5)([library.Series(["a", "b"])])


def test_numbers_that_no_double_holds_are_refused():
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        with pytest.raises(InputTypeError, match="finite numbers"):
            GlobalAlignment(1.0)([np.array([np.finfo(np.longdouble).max])])
    assert GlobalAlignment(1.0)([np.zeros(3, np.longdouble)]) == 1.0


def test_the_oracles_do_not_import_what_they_judge():
    for oracle in (oracles, *oracles.OBJECTS):
        assert not re.search("^(import|from) mercer", Path(oracle.__file__).read_text(), re.M)
