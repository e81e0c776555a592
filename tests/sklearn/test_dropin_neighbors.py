"""Neighbours under scikit-learn's names: the same points in the same order, also of equals."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.neighbors as theirs

import mercer.sklearn as ours
from mercer.sklearn import neighbors

RANDOM = np.random.default_rng(0)
X, Z = RANDOM.normal(size=(400, 20)), RANDOM.normal(size=(350, 20))
Y = RANDOM.integers(0, 3, 400)
OUTPUTS = RANDOM.integers(0, 3, (400, 2))
WHOLE, ASKED = RANDOM.integers(0, 50, (400, 20)), RANDOM.integers(0, 50, (350, 20))
FEW = RANDOM.integers(0, 3, (400, 16))  # of which many are as far from each other
CASES = [
    ("city blocks", {"p": 1}, X, Z),
    ("single precision", {"metric": "manhattan"}, X.astype(np.float32), Z.astype(np.float32)),
    ("whole numbers", {}, WHOLE, ASKED),
    ("bytes", {}, WHOLE.astype(np.uint8), ASKED.astype(np.uint8)),
    ("ties of city blocks", {"p": 1}, FEW.astype(float), FEW[::-1].astype(float)),
    ("ties of whole numbers", {}, FEW, FEW[:350]),
]


def both(name, options, points, targets):
    pair = getattr(theirs, name)(**options), getattr(ours, name)(**options)
    return [model.fit(points, targets) for model in pair]


@pytest.mark.parametrize(
    ("options", "points", "asked"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
@pytest.mark.parametrize("k", [1, 5, 12])
def test_neighbours_are_scikit_learns(options, points, asked, k, engine, fallbacks):
    options = {"algorithm": "brute", "n_neighbors": k, **options}
    one, other = both("KNeighborsClassifier", options, points, Y)
    found, expected = other.kneighbors(asked), one.kneighbors(asked)
    assert fallbacks() == []
    np.testing.assert_array_equal(found[1], expected[1])
    tolerance = 1e-6 if asked.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found[0], expected[0], rtol=tolerance)
    assert [part.dtype for part in found] == [part.dtype for part in expected]
    np.testing.assert_array_equal(other.predict(asked), one.predict(asked))
    np.testing.assert_array_equal(other.predict_proba(asked), one.predict_proba(asked))
    assert fallbacks() == []


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1.0 / (1.0 + d)])
@pytest.mark.parametrize("targets", [Y, OUTPUTS], ids=["one", "two"])
@pytest.mark.parametrize("name", ["KNeighborsClassifier", "KNeighborsRegressor"])
def test_predictions_of_one_and_several_outputs(name, targets, weights, engine, fallbacks):
    one, other = both(name, {"p": 1, "weights": weights}, X, targets)
    np.testing.assert_allclose(other.predict(Z), one.predict(Z), rtol=1e-12)
    if name == "KNeighborsClassifier":
        np.testing.assert_allclose(other.predict_proba(Z), one.predict_proba(Z), rtol=1e-12)
    if targets is Y:
        assert other.score(Z, one.predict(Z)) == 1.0
    assert fallbacks() == []
    assert sorted(vars(one)) == sorted(vars(other))


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graphs(mode, engine, fallbacks):
    one, other = both("KNeighborsClassifier", {"p": 1}, X, Y)
    found, expected = (model.kneighbors_graph(Z, mode=mode) for model in (other, one))
    assert fallbacks() == []
    assert type(found) is type(expected)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=1e-12)
    alone, theirs_alone = (model.kneighbors_graph(mode=mode) for model in (other, one))
    np.testing.assert_array_equal(alone.toarray(), theirs_alone.toarray())


def test_auto_means_brute_force_for_many_columns(fallbacks):
    one, other = both("KNeighborsRegressor", {"p": 1}, X, Y)
    points = np.tile(Z, (3, 1))
    np.testing.assert_array_equal(other.predict(points), one.predict(points))
    assert fallbacks() == []  # without being forced


def test_frames(engine, fallbacks):
    frame, asked = pd.DataFrame(X).add_prefix("c"), pd.DataFrame(Z).add_prefix("c")
    one, other = both("KNeighborsClassifier", {"p": 1}, frame, Y)
    np.testing.assert_array_equal(other.predict(asked), one.predict(asked))
    assert fallbacks() == []
    with pytest.raises(ValueError, match="feature names"):
        other.predict(asked.rename(columns={"c0": "other"}))


@pytest.mark.parametrize(
    ("options", "points", "asked"),
    [
        ({}, X, Z),  # by matrix products
        ({"p": 3}, X, Z),
        ({"p": 1, "algorithm": "kd_tree"}, X, Z),
        ({"p": 1}, sp.csr_array(X), sp.csr_array(Z)),
        ({"p": 1}, X, None),
        ({"p": 1}, X, Z.tolist()),
    ],
)
def test_what_is_not_served(options, points, asked, engine, fallbacks):
    one, other = both("KNeighborsRegressor", options, points, Y)
    np.testing.assert_array_equal(other.predict(asked), one.predict(asked))
    assert "another" in fallbacks()[0]


def test_many_ties_are_left_to_scikit_learn(fallbacks):
    one, other = both("KNeighborsClassifier", {}, FEW, Y)
    np.testing.assert_array_equal(
        other.predict(np.tile(FEW, (3, 1))), one.predict(np.tile(FEW, (3, 1)))
    )
    assert "as far" in fallbacks()[0]


def test_little_to_compute(fallbacks):
    one, other = both("KNeighborsClassifier", {"p": 1}, X, Y)
    np.testing.assert_array_equal(other.kneighbors(Z[:5])[1], one.kneighbors(Z[:5])[1])
    assert "little to compute" in fallbacks()[0]


@pytest.mark.parametrize("n", [200, 5000])
def test_strategies(n):
    assert neighbors.strategy_for(np.empty(n), np.empty(9000)) in ("parallel_on_X", "parallel_on_Y")
    assert neighbors.strategy_for(np.empty(n), np.empty(100)) == "parallel_on_X"


@pytest.mark.parametrize(
    ("asked", "k"), [(Z, 0), (Z, -1), (Z, 401), (Z, 2.5), (Z[0], 3), (Z[:, :3], 3), (Z * np.nan, 3)]
)
def test_bad_input_gets_the_same_error(asked, k, engine):
    one, other = both("KNeighborsClassifier", {"p": 1}, X, Y)
    with pytest.raises((ValueError, TypeError)) as its:
        one.kneighbors(asked, k)
    with pytest.raises(type(its.value)) as mine:
        other.kneighbors(asked, k)
    assert str(mine.value) == str(its.value)
