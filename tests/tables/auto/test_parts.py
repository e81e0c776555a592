"""Intervals, baselines, leaks, leaderboards and members, each by itself."""

import numpy as np
import pandas as pd
import pytest

from mercer import AutoKernelRegressor, InputError, KernelRidge, TableEncoder
from mercer.tables import Leaderboard, Member, Placed
from mercer.tables.auto.baselines import leaking_columns
from mercer.tables.auto.intervals import fit_intervals
from mercer.tables.auto.rows import CLASS_ROWS, group_numbers, kept_weights, sample_rows
from mercer.tables.auto.scoring import measure_of
from mercer.tables.race.tasks import ClassTask, NumberTask

RANDOM = np.random.default_rng(0)


# --- intervals ---------------------------------------------------------------------------------


def test_ends_of_intervals_by_hand():
    """Of 19 errors 1, ..., 19 the first and the last leave out a share of 1/20 at either end."""
    errors = RANDOM.permutation(np.arange(1.0, 20.0)) - 10.0
    found = fit_intervals(errors[:, None], np.zeros((19, 1)))
    assert found.ratio == (False,)
    assert found.errors[:, 0].tolist() == list(np.arange(-9.0, 10.0))
    low, high = found.around(np.array([[100.0]]), 0.9)
    assert (low[0, 0], high[0, 0]) == (91.0, 109.0)
    low, high = found.around(np.array([[100.0]]), 0.5)
    assert (low[0, 0], high[0, 0]) == (95.0, 105.0)
    low, high = found.around(np.array([[0.0]]), 0.999)  # more than the rows can tell
    assert (low[0, 0], high[0, 0]) == (-9.0, 9.0)


def test_ratios_are_taken_where_they_make_shorter_intervals():
    values = RANDOM.uniform(1, 100, size=(500, 1))
    truth = values * np.exp(0.1 * RANDOM.normal(size=(500, 1)))
    found = fit_intervals(np.hstack([truth, -truth]), np.hstack([values, -values]))
    assert found.ratio == (True, False)
    low, high = found.around(np.array([[1.0, 0.0], [100.0, 0.0]]), 0.9)
    np.testing.assert_allclose(low[1, 0], 100 * low[0, 0])
    np.testing.assert_allclose(high[1, 1], high[0, 1])
    equal = fit_intervals(values + 5 + RANDOM.normal(size=(500, 1)), values + 5)
    assert equal.ratio == (False,)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_coverage_of_new_rows(coverage):
    hits = []
    for seed in range(4):
        random = np.random.default_rng(seed)
        X = random.uniform(-2, 2, size=(600, 2))
        y = np.sin(2 * X[:, 0]) + X[:, 1] + (0.2 + 0.2 * (X[:, 1] > 0)) * random.normal(size=600)
        model = AutoKernelRegressor(max_candidates=3).fit(X[:200], y[:200])
        low, high = model.predict_interval(X[200:], coverage)
        hits.append(((low <= y[200:]) & (y[200:] <= high)).mean())
    assert abs(np.mean(hits) - coverage) < 0.05


# --- what a column gives away ------------------------------------------------------------------


def leaks(frame, task):
    encoder = TableEncoder()
    return leaking_columns(encoder, encoder.fit_transform(frame), task)


def test_columns_that_determine_the_target_are_named():
    y = RANDOM.normal(size=40)
    frame = pd.DataFrame({"same": 3 - 2 * y, "near": y + 0.01 * RANDOM.normal(size=40)})
    assert leaks(frame, NumberTask(y=y[:, None])) == ["same"]
    codes = RANDOM.integers(3, size=40)
    frame = pd.DataFrame(
        {
            "name": np.array(["red", "green", "blue"])[codes],
            "code": codes * 1.0,
            "nearly": np.where(np.arange(40) == 3, (codes + 1) % 3, codes),
            "key": [f"{row}" for row in range(40)],  # of which each value is seen once
            "number": RANDOM.normal(size=40),
        }
    )
    assert leaks(frame, ClassTask(codes=codes, count=3)) == ["name", "code"]
    assert leaks(frame[:3], ClassTask(codes=codes[:3], count=3)) == []


# --- the leaderboard ---------------------------------------------------------------------------


def placed(name, loss):
    return Placed(name=name, loss=loss, weight=0.5, seconds=1.25, kernel="Linear()", penalty=1.0)


def test_a_leaderboard_prints_as_a_table():
    board = Leaderboard(measure="log loss", lines=(placed("a <b>", 0.25), placed("c", 1.5)))
    assert str(board).splitlines() == [
        "log loss  weight  seconds  candidate",
        "  0.2500    0.50     1.25  a <b>",
        "  1.5000    0.50     1.25  c",
    ]
    assert len(board) == 2
    assert board[1].name == "c"
    assert [line.loss for line in board] == [0.25, 1.5]
    page = board._repr_html_()
    assert "a &lt;b&gt;" in page
    assert page.count("<tr>") == 3


def test_names_of_losses():
    assert measure_of(None, "log loss") == "log loss"
    assert measure_of("roc_auc", "log loss") == "-roc_auc"
    assert measure_of("neg_mean_absolute_error", "squared error") == "mean_absolute_error"
    assert measure_of(lambda model, X, y: 0.0, "squared error") == "-score"


# --- members and baselines ---------------------------------------------------------------------


def test_an_ensemble_is_the_weighted_mean_of_its_members():
    X = pd.DataFrame({"a": RANDOM.normal(size=60), "b": RANDOM.normal(size=60)})
    y = np.sin(2 * X.a) * X.b
    model = AutoKernelRegressor(max_candidates=6).fit(X, y)
    assert len(model.members_) > 1
    assert np.isclose(sum(member.weight for member in model.members_), 1.0)
    weights = [member.weight for member in model.members_]
    assert weights == sorted(weights, reverse=True)
    total = 0.0
    for member in model.members_:
        assert isinstance(member, Member)
        assert isinstance(member.model, KernelRidge)
        encoded = model.encoders_[member.view].transform(X).astype(np.float32)
        values = y.mean() + y.std(ddof=0) * member.model.predict(encoded)[:, 0]
        total += member.weight * np.clip(values, y.min(), y.max())
    np.testing.assert_allclose(model.predict(X), total, rtol=1e-6)
    assert model.kernel_ == model.members_[0].model.kernel_
    told = {line.name: line for line in model.leaderboard_}
    for member in model.members_:
        assert told[member.name].weight == member.weight


def test_baselines_are_judged_on_the_same_rows():
    X = RANDOM.normal(size=(80, 2))
    y = X @ [1.0, -2.0] + 0.01 * RANDOM.normal(size=80)
    model = AutoKernelRegressor(
        time_limit=None, n_jobs=1, callback=lambda r: "trees" in r["candidate"]
    )
    model.fit(X, y)
    assert set(model.baselines_) == {"constant", "linear", "trees"}
    assert 0.9 < model.baselines_["constant"] < 1.1
    assert model.baselines_["linear"] < 0.01 < model.baselines_["trees"] < 1.0
    assert not any("trees" in member.name for member in model.members_)


def test_the_probability_of_an_interval_is_checked():
    model = AutoKernelRegressor(max_candidates=1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
    for wrong in (0, 1, 1.5, -0.1, float("nan")):
        with pytest.raises(InputError, match="coverage must be a finite number above 0"):
            model.predict_interval([[0.0]], wrong)


# --- rows --------------------------------------------------------------------------------------


def test_a_sample_of_rows_has_all_classes():
    kept, codes = np.arange(5, 500), np.zeros(500, dtype=int)
    codes[[7, 100]], codes[200:240] = 1, 2
    some = sample_rows(kept, codes, 50, "auto", 0)
    assert np.array_equal(some, np.unique(some))
    assert set(some) <= set(kept)
    counts = np.bincount(codes[some])
    assert counts[1] == 2
    assert counts[2] >= CLASS_ROWS
    assert 50 <= len(some) <= 50 + 3 * CLASS_ROWS
    assert len(sample_rows(kept, None, 50, "auto", 0)) == 50
    assert np.array_equal(sample_rows(kept, None, 50, "time", 0), np.arange(450, 500))


def test_groups_become_numbers_and_weights_have_mean_1():
    assert group_numbers("who", ["b", "a", "b"], 3, "auto").tolist() == [1, 0, 1]
    assert group_numbers("who", None, 3, "time") is None
    assert kept_weights(None, np.arange(2)) is None
    assert kept_weights(np.array([0.0, 1.0, 3.0]), np.array([1, 2])).tolist() == [0.5, 1.5]
