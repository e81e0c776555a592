"""What all feature maps promise: containers, precision, names, copies, files, scikit-learn."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import estimator_checks

import mercer
from mercer import features
from mercer.checks import InputError, MemoryLimitError
from mercer.features import (
    AdditiveMap,
    ExplicitMap,
    GaussianTaylor,
    Nystrom,
    PolynomialSketch,
    RandomBinning,
)
from mercer.features.base import FeatureMap
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Laplacian, Linear, NormalizedIntersection, Polynomial

random = np.random.default_rng(8)
X, NEW = np.abs(random.normal(size=(40, 3))), np.abs(random.normal(size=(11, 3)))
MAPS = [
    Nystrom(Gaussian(0.4), 8),
    Nystrom(Laplacian(0.4), 8, centers="uniform"),
    Nystrom(Gaussian(), 8, centers="kmeans"),
    ExplicitMap(Polynomial(3)),
    GaussianTaylor(5, gamma=0.2),
    PolynomialSketch(Polynomial(2), 32),
    AdditiveMap(),
    AdditiveMap(NormalizedIntersection(), 8),
    RandomBinning(n_components=20),
]
SPARSE = {"RandomBinning"}  # always
of_map = pytest.mark.parametrize("phi", MAPS, ids=lambda phi: type(phi).__name__)


def dense(found):
    return found.toarray() if scipy.sparse.issparse(found) else np.asarray(found)


def test_all_maps_are_here():
    kinds = [getattr(features, name) for name in features.__all__]
    mine = {kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, FeatureMap)}
    assert {type(phi) for phi in MAPS} <= mine


@of_map
def test_products_of_features_are_near_the_kernel(phi):
    F = dense(clone(phi).fit_transform(X))
    k = phi.fit(X).kernel_
    size = k.diag(np.vstack([X, NEW])).max()
    assert np.abs(F @ F.T - k.formula(X)).mean() < 0.1 * size
    assert np.allclose(F, dense(phi.transform(X)), rtol=0, atol=1e-9)
    cross = F @ dense(phi.transform(NEW)).T
    assert np.abs(cross - k.formula(X, NEW)).mean() < 0.1 * size


@of_map
def test_every_container_gives_the_same_features(phi):
    wanted = dense(clone(phi).fit(X).transform(NEW))
    names = ["a", "b", "c"]
    for points, new in (
        (X.tolist(), NEW.tolist()),
        (np.asfortranarray(X), np.asfortranarray(NEW)),
        (pd.DataFrame(X, columns=names), pd.DataFrame(NEW, columns=names)),
        (pl.DataFrame(X, schema=names), pl.DataFrame(NEW, schema=names)),
        (scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(NEW)),
        (RowBlocks.split(X, 9), RowBlocks.split(NEW, 4)),
        (RowBlocks([X[:3], X[3:]]), NEW),
    ):
        found = clone(phi).fit(points).transform(new)
        assert np.allclose(dense(found), wanted, rtol=1e-10, atol=1e-10)
        assert scipy.sparse.issparse(found) or type(phi).__name__ not in SPARSE


@of_map
def test_single_precision_stays(phi):
    wanted = dense(clone(phi).fit(X).transform(NEW))
    small = clone(phi).fit(X.astype(np.float32))
    for new in (NEW.astype(np.float32), scipy.sparse.csr_array(NEW.astype(np.float32))):
        assert small.transform(new).dtype == np.float32
    assert small.transform(RowBlocks.split(NEW.astype(np.float32), 4)).dtype == np.float32
    assert small.transform(NEW).dtype == np.float64
    assert phi.fit(X).transform(NEW.astype(np.float32)).dtype == np.float64
    found = dense(small.transform(NEW.astype(np.float32)))
    if type(phi).__name__ != "RandomBinning":  # whose cells have edges
        products, exact = found @ found.T, wanted @ wanted.T
        assert np.allclose(products, exact, rtol=0, atol=1e-4 * np.abs(exact).max())


@of_map
def test_names_of_columns_and_frames(phi):
    phi = clone(phi).fit(X)
    names = phi.get_feature_names_out()
    assert len(names) == phi.transform(NEW).shape[1]
    assert names[0] == f"{type(phi).__name__.lower()}0"
    if type(phi).__name__ not in SPARSE:
        frame = phi.set_output(transform="pandas").transform(NEW)
        assert frame.columns.tolist() == names.tolist()
        assert np.array_equal(frame.to_numpy(), clone(phi).fit(X).transform(NEW))


@of_map
def test_copies_and_files_transform_the_same(phi, tmp_path):
    phi = clone(phi).fit(X)
    mercer.save(phi, tmp_path / "map")
    wanted = dense(phi.transform(NEW))
    for other in (
        pickle.loads(pickle.dumps(phi)),
        mercer.load(tmp_path / "map"),
        clone(phi).fit(X.copy()),
    ):
        assert np.array_equal(dense(other.transform(NEW)), wanted)
    assert mercer.load(tmp_path / "map").certificate_ == phi.certificate_
    pipe = make_pipeline(MinMaxScaler(clip=True), clone(phi)).fit(X)
    mercer.save(pipe, tmp_path / "pipe")
    found = mercer.load(tmp_path / "pipe").transform(NEW)
    assert np.array_equal(dense(found), dense(pipe.transform(NEW)))


@of_map
def test_points_that_change_afterwards_do_not_matter(phi):
    points = X.copy()
    phi = clone(phi).fit(points)
    wanted = dense(phi.transform(NEW))
    points[:] = 7.0
    assert np.array_equal(dense(phi.transform(NEW)), wanted)


@of_map
def test_bad_points_are_named(phi):
    phi, who = clone(phi).fit(X), type(phi).__name__
    with pytest.raises(InputError, match=f"X has 2 features, but {who} is expecting 3"):
        phi.transform(NEW[:, :2])
    with pytest.raises(InputError, match="NaN in row 1, column 2"):
        phi.transform([[0.0, 0.0, 0.0], [0.0, 0.0, float("nan")]])
    with pytest.raises(InputError, match=r"got 0 sample\(s\)"):
        phi.fit(X[:0])


@pytest.mark.parametrize(
    "phi", [Nystrom(Gaussian(1.0), 8), ExplicitMap(), GaussianTaylor(3), AdditiveMap()], ids=repr
)
def test_features_that_do_not_fit_are_refused(phi):
    phi.fit(X)
    tight = phi.set_params(memory_limit=20_000)
    assert tight.transform(NEW[:2]).shape[0] == 2
    who = type(phi).__name__
    with pytest.raises(MemoryLimitError, match=rf"{who}: .*transform fewer points at a time\.$"):
        tight.transform(np.tile(NEW, (100, 1)))


def test_in_a_pipeline():
    y = (X[:, 0] + X[:, 1] > 1.5).astype(int)
    for phi in MAPS:
        pipe = make_pipeline(clone(phi), RidgeClassifier(alpha=1e-3)).fit(X, y)
        assert pipe.score(X, y) > 0.8
    pipe = make_pipeline(Nystrom(Gaussian(1.0), 5), RidgeClassifier())
    grid = {"nystrom__kernel__gamma": [0.1, 1.0], "nystrom__n_components": [3, 9]}
    found = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert found.best_estimator_[0].kernel.gamma in (0.1, 1.0)
    kernel = Gaussian(0.3).of(Nystrom(Linear(), 2).fit(X))
    assert kernel(NEW).shape == (11, 11)


@estimator_checks.parametrize_with_checks(
    [
        Nystrom(),
        Nystrom(n_components=3, centers="uniform"),
        Nystrom(n_components=3, centers="kmeans"),
        ExplicitMap(),
        GaussianTaylor(2),
        PolynomialSketch(),
        AdditiveMap(),
        RandomBinning(n_components=5),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
