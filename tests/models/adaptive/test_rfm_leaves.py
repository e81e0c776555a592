"""Recursive feature machines in the leaves of a tree."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from mercer import InputError, RFMClassifier, RFMRegressor, compress, load, save
from mercer.checks import FileError

random = np.random.default_rng(8)
N = 700
X = random.normal(size=(N, 4))
NEW = random.normal(size=(300, 4))


def signal(rows):
    """Another column matters on either side of 0."""
    return np.where(rows[:, 0] > 0, 3 + np.sin(3 * rows[:, 1]), np.sin(3 * rows[:, 2]))


NUMBERS = signal(X)
THREE = np.digitize(NUMBERS, [0.0, 3.0])
GIVEN = {"width": 1.0, "alpha": 0.01, "steps": 2, "leaf_rows": 200}


@pytest.fixture(scope="module")
def model():
    return RFMRegressor(**GIVEN).fit(X, NUMBERS)


@pytest.fixture(scope="module")
def classifier():
    return RFMClassifier(**GIVEN).fit(X, THREE)


def test_leaves_have_metrics_of_their_own(model):
    assert len(model.leaves_) == model.tree_.n_leaves >= 4
    assert all(len(leaf.support_) <= 200 for leaf in model.leaves_)
    assert model.tree_.directions[0].tolist() == [1.0, 0.0, 0.0, 0.0]
    best = {int(np.argmax(leaf.feature_importances_)) for leaf in model.leaves_}
    assert {1, 2} <= best
    wanted = np.mean([leaf.metric_ for leaf in model.leaves_], axis=0)
    np.testing.assert_allclose(model.metric_, wanted)
    assert np.array_equal(model.kernel_.matrix.values, model.metric_)
    assert not hasattr(model, "dual_coef_")
    assert model.score(NEW, signal(NEW)) > 0.95


def test_predictions_are_the_mean_of_leaves_by_shares(model):
    shares = model.tree_.shares(NEW, model.temperature_)
    each = np.column_stack([leaf.predict(NEW)[:, 0] for leaf in model.leaves_])
    found = model.predict(NEW)
    assert found.shape == (300,)
    # Leaves with less than a hundredth of the largest share are not asked.
    assert np.abs(found - (shares * each).sum(axis=1)).max() < 0.05 * np.ptp(each)
    asked = np.where(shares < 0.01 * shares.max(axis=1, keepdims=True), 0.0, shares)
    asked /= asked.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, (asked * each).sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(model.predict(NEW[:1]), found[:1], atol=1e-9)


def test_one_function_where_there_are_few_points_or_none_are_wanted():
    for given in ({"leaf_rows": None}, {"leaf_rows": N}):
        one = RFMRegressor(**GIVEN | given).fit(X, NUMBERS)
        assert not hasattr(one, "leaves_")
        assert len(one.support_) == N


def test_points_without_weight_are_in_no_leaf():
    weight = np.r_[np.ones(250), np.zeros(N - 250)]
    wild = np.r_[NUMBERS[:250], np.full(N - 250, 1e6)]
    found = RFMRegressor(**GIVEN).fit(X, wild, weight)
    assert len(found.leaves_) == 2
    assert np.abs(found.predict(NEW)).max() < 10
    few = RFMRegressor(**GIVEN | {"leaf_rows": 250}).fit(X, wild, weight)
    assert not hasattr(few, "leaves_")


def test_outputs_of_any_unit():
    both = np.column_stack([NUMBERS, 1e6 * X[:, 3]])
    found = RFMRegressor(**GIVEN).fit(X, both)
    assert found.predict(NEW).shape == (300, 2)
    assert found.score(NEW, np.column_stack([signal(NEW), 1e6 * NEW[:, 3]])) > 0.85


def test_classes(classifier):
    truth = np.digitize(signal(NEW), [0.0, 3.0])
    assert classifier.score(NEW, truth) > 0.8
    chances = classifier.predict_proba(NEW)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert log_loss(truth, chances) < 0.6
    assert all(isinstance(leaf, RFMRegressor) for leaf in classifier.leaves_)
    two = RFMClassifier(**GIVEN).fit(X, THREE == 1)
    assert two.decision_function(NEW).shape == (300,)
    several = RFMClassifier(**GIVEN).fit(X, np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int))
    assert several.predict(NEW).shape == several.predict_proba(NEW).shape == (300, 2)
    assert several.slopes_.shape == (2,)


def test_single_precision_and_a_wider_overlap():
    found = RFMRegressor(**GIVEN, overlap=0.3).fit(X.astype(np.float32), NUMBERS.astype(np.float32))
    assert sum(len(leaf.support_) for leaf in found.leaves_) > 0.9 * N
    answers = found.predict(NEW.astype(np.float32))
    assert answers.dtype == np.float32
    assert np.mean((answers - signal(NEW)) ** 2) < 0.1 * signal(NEW).var()


def test_constant_columns():
    rows = np.column_stack([np.ones(N), X[:, 0] > 0])
    found = RFMRegressor(**GIVEN).fit(rows, 2.0 * rows[:, 1])
    np.testing.assert_allclose(found.predict(rows), 2.0 * rows[:, 1], atol=0.01)
    same = RFMRegressor(**GIVEN).fit(np.ones((N, 2)), NUMBERS)
    np.testing.assert_allclose(same.predict(np.ones((2, 2))), NUMBERS.mean(), atol=0.2)


def test_what_needs_one_function_is_refused(model):
    for ask in (
        lambda: model.gradient(NEW),
        lambda: model.predict(NEW, return_std=True),
        lambda: compress(model, n_centers=10),
    ):
        with pytest.raises(InputError, match=r"one function for all points; got \d leaves"):
            ask()
    assert model.leaves_[0].gradient(NEW).shape == (300, 4, 1)


def test_time_that_is_up_leaves_a_model():
    with pytest.warns(ConvergenceWarning, match="RFMRegressor: the .*time") as told:
        found = RFMRegressor(leaf_rows=200, time_limit=1e-6).fit(X, NUMBERS)
    assert len(told) <= 3
    assert np.isfinite(found.predict(NEW)).all()


def test_certificates_are_of_the_worst_leaf(model):
    worst = max(leaf.certificate_.residual for leaf in model.leaves_)
    assert model.certificate_.residual == worst
    entries = sum(leaf.certificate_.kernel_entries for leaf in model.leaves_)
    assert model.certificate_.kernel_entries == entries


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model", "classifier"])
def test_files_keep_leaves(name, request, tmp_path):
    found = request.getfixturevalue(name)
    save(found, tmp_path / "model.mercer")
    again = load(tmp_path / "model.mercer")
    assert np.array_equal(again.predict(NEW), found.predict(NEW))
    assert again.get_params() == found.get_params()
    assert again.certificate_ == found.certificate_
    assert len(again.leaves_) == len(found.leaves_)
    if name == "classifier":
        assert np.array_equal(again.predict_proba(NEW), found.predict_proba(NEW))


@pytest.mark.parametrize(
    "children",
    [
        [[0, -1], [-2, -3]],  # a circle
        [[1, 1], [-1, -2]],  # two parents
        [[-1, 1], [-1, -3]],  # a leaf twice
        [[-1, -2], [-3, -4]],  # a split that nothing leads to
        [[1, -1], [2, -2]],  # a split that is not there
    ],
)
def test_a_tree_that_is_none_is_not_saved(children, tmp_path):
    given = GIVEN | {"leaf_rows": 300, "overlap": 0.0}
    found = RFMRegressor(**given).fit(X[:660], NUMBERS[:660])
    save(found, tmp_path / "good.mercer")
    found.tree_ = replace(
        found.tree_,
        directions=np.ones((2, 4)),
        thresholds=np.zeros(2),
        spreads=np.ones(2),
        children=np.array(children),
    )
    with pytest.raises(FileError, match="tree_ of RFMRegressor must be a tree of splits"):
        save(found, tmp_path / "bad.mercer")


def test_leaves_that_do_not_fit_are_not_saved(model, tmp_path):
    found = RFMRegressor(**GIVEN).fit(X, NUMBERS)
    for wrong in (found.leaves_[:-1], [*found.leaves_], (*found.leaves_[:-1], model)):
        found.leaves_ = wrong
        with pytest.raises(FileError, match="leaves_ of RFMRegressor must be a fitted RFMRegre"):
            save(found, tmp_path / "bad.mercer")
        found.leaves_ = model.leaves_
