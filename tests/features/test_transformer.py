"""The Gram matrix as features: what it is, in pipelines, in scikit-learn's hands."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.svm
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer
from sklearn.utils import estimator_checks

import mercer
from mercer.checks import InputError, MemoryLimitError
from mercer.features import GramTransformer
from mercer.inputs import RowBlocks
from mercer.kernels import Categorical, Gaussian, Linear, Polynomial, SetIntersection, Spectrum

random = np.random.default_rng(41)
X, NEW = random.normal(size=(30, 3)), random.normal(size=(11, 3))
LABELS = np.where(X[:, 0] ** 2 + X[:, 1] > 0.5, "in", "out")


def test_two_points_by_hand():
    model = GramTransformer(Linear()).fit([[1.0, 2.0], [0.0, 3.0]])
    assert model.transform([[2.0, 1.0]]).tolist() == [[4.0, 3.0]]
    # Around the mean (0.5, 2.5): (1.5, -1.5) . (0.5, -0.5) and . (-0.5, 0.5).
    model.set_params(center=True).fit([[1.0, 2.0], [0.0, 3.0]])
    assert model.transform([[2.0, 1.0]]).tolist() == [[1.5, -1.5]]
    assert model.column_means_.tolist() == [5.5, 7.5]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [Gaussian(0.4), Linear(), Polynomial(2), "rbf"], ids=repr)
def test_it_is_the_gram_matrix_centred_or_not(kernel, dtype):
    points, new = X.astype(dtype), NEW.astype(dtype)
    plain = GramTransformer(kernel)
    K = plain.fit_transform(points)
    cross = plain.transform(new)
    k = plain.kernel_
    rounding = {"rtol": 0, "atol": 2e-15 if dtype == np.float64 else 3e-6}
    size = np.abs(K).max()
    assert np.allclose(K / size, k.formula(points) / size, **rounding)
    assert np.allclose(cross / size, k.formula(new, points) / size, **rounding)
    assert np.array_equal(K, K.T)
    centred = GramTransformer(kernel, center=True)
    wanted = KernelCenterer().fit(K)
    assert np.allclose(centred.fit_transform(points) / size, wanted.transform(K) / size, **rounding)
    assert np.allclose(centred.transform(new) / size, wanted.transform(cross) / size, **rounding)
    for found in (K, cross, centred.transform(new)):
        assert found.dtype == dtype
        assert isinstance(found, np.ndarray)


def test_centred_features_are_those_of_the_centred_map():
    k = Polynomial(2)
    F, G = k.features(X), k.features(NEW)
    found = GramTransformer(k, center=True).fit(X).transform(NEW)
    assert np.allclose(found, (G - F.mean(axis=0)) @ (F - F.mean(axis=0)).T, rtol=1e-11, atol=1e-12)


# --- pipelines --------------------------------------------------------------------------------

WORDS = ["".join(random.choice(list("ab" if i % 2 else "bc"), 7)) for i in range(40)]
KINDS = np.arange(40) % 2


def test_words_for_scikit_learn_machines():
    pipe = make_pipeline(GramTransformer(Spectrum(3)), sklearn.svm.SVC(kernel="precomputed"))
    folds = StratifiedKFold(4)
    found = cross_val_score(pipe, WORDS, KINDS, cv=folds)
    wanted = cross_val_score(mercer.SVC(kernel=Spectrum(3)), WORDS, KINDS, cv=folds)
    assert np.allclose(found, wanted)
    assert found.mean() > 0.8
    grid = GridSearchCV(pipe, {"gramtransformer__kernel__n": [2, 3], "svc__C": [0.1, 1.0]}, cv=3)
    grid.fit(WORDS, KINDS)
    assert grid.best_estimator_[0].kernel.n in (2, 3)
    assert grid.predict(["ababab", "bcbcbc"]).tolist() == [1, 0]


def test_rows_for_any_estimator():
    kernel = Gaussian(0.4)
    pipe = make_pipeline(GramTransformer(kernel), sklearn.svm.SVC(kernel="precomputed"))
    wanted = sklearn.svm.SVC(gamma=0.4).fit(X, LABELS)
    assert np.allclose(
        pipe.fit(X, LABELS).decision_function(NEW), wanted.decision_function(NEW), atol=1e-3
    )
    assert (
        make_pipeline(GramTransformer(), LogisticRegression()).fit(X, LABELS).score(X, LABELS) > 0.8
    )
    # The pipeline splits a given matrix by rows and columns, since its first step says so.
    given = make_pipeline(GramTransformer("precomputed"), sklearn.svm.SVC(kernel="precomputed"))
    assert given.__sklearn_tags__().input_tags.pairwise
    assert not pipe.__sklearn_tags__().input_tags.pairwise
    scores = cross_val_score(given, kernel(X), LABELS, cv=3)
    assert np.array_equal(scores, cross_val_score(pipe, X, LABELS, cv=3))


def test_names_of_columns_and_frames():
    model = GramTransformer(Gaussian(1.0)).fit(X)
    names = model.get_feature_names_out()
    assert names.tolist() == [f"gramtransformer{i}" for i in range(30)]
    frame = model.set_output(transform="pandas").transform(NEW)
    assert frame.columns.tolist() == names.tolist()
    assert np.array_equal(frame.to_numpy(), GramTransformer(Gaussian(1.0)).fit(X).transform(NEW))


@estimator_checks.parametrize_with_checks([GramTransformer(), GramTransformer(center=True)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- any input --------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
def test_every_container_gives_the_same_rows(center):
    model = GramTransformer(Gaussian(), center=center)
    wanted = model.fit(X).transform(NEW)
    frames = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(NEW, columns=list("abc"))
    K = model.kernel_
    for points, new, kernel in (
        (X.tolist(), NEW.tolist(), None),
        (scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(NEW), Gaussian()),
        (RowBlocks.split(X, 8), RowBlocks.split(NEW, 4), Gaussian()),
        (*frames, Gaussian()),
        (*frames, Gaussian().on(["a", "b", "c"])),
        (K(X), K(NEW, X), "precomputed"),
        (X, NEW, lambda A, B: K(A, B)),
    ):
        other = GramTransformer(kernel, center=center)
        assert np.allclose(other.fit(points).transform(new), wanted, rtol=0, atol=1e-13)
        assert np.allclose(other.fit_transform(points), model.fit_transform(X), rtol=0, atol=1e-13)


def test_sets_words_and_tables():
    sets = [{1, 2}, {2, 3}, {4}]
    assert GramTransformer(SetIntersection()).fit(sets).transform([{2, 4}]).tolist() == [[1, 1, 1]]
    words = GramTransformer(Spectrum(1), center=True).fit_transform(WORDS)
    assert np.abs(words.sum(axis=0)).max() < 1e-10
    table = pd.DataFrame({"word": WORDS, "side": ["l", "r"] * 20})
    kernel = Spectrum(2).on("word") + Categorical(1.0).on("side")
    rows = GramTransformer(kernel).fit(table).transform(table[:3])
    assert np.allclose(rows, kernel.formula(table[:3], table), rtol=1e-14)


# --- kept, refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
def test_copies_and_files_transform_the_same(center, tmp_path):
    model = GramTransformer(Gaussian(), center=center).fit(X)
    mercer.save(model, tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(model)), mercer.load(tmp_path / "model")):
        assert np.array_equal(other.transform(NEW), model.transform(NEW))
        assert other.certificate_ == model.certificate_
    assert model.certificate_.kernel_entries == (900 if center else 0)


def test_bad_input():
    with pytest.raises(InputError, match=r"GramTransformer: .*Did you mean 'rbf'"):
        GramTransformer("rdf").fit(X)
    with pytest.raises(InputError, match="GramTransformer: a precomputed Gram must be square"):
        GramTransformer("precomputed").fit(X)
    with pytest.raises(InputError, match="NaN in row 0, column 0"):
        GramTransformer().fit(np.full((3, 2), np.nan))
    with pytest.raises(ValueError, match="X has 2 features"):
        GramTransformer().fit(X).transform(NEW[:, :2])
    tight = GramTransformer(Gaussian(1.0), memory_limit=25_000).fit(X)
    assert tight.transform(NEW[:2]).shape == (2, 30)
    with pytest.raises(MemoryLimitError, match=r"transform fewer points at a time\.$"):
        tight.transform(np.tile(NEW, (9, 1)))
