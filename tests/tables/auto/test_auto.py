"""The automatic learners from end to end, on small tables."""

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from mercer import AutoKernelClassifier, AutoKernelRegressor, FileError, compress, load, save
from mercer.tables.race.splits import HELD_SHARE, WHOLE

RANDOM = np.random.default_rng(0)
N = 120
WORDS = ["red", "green", "blue", "quick", "lazy", "fox", "dog", "over", "moon", "tree"]
FRAME = pd.DataFrame(
    {
        "size": RANDOM.normal(size=N),
        "town": RANDOM.choice(["Bern", "Oslo", "Rome"], N),
        "sold": pd.date_range("2020-01-01", periods=N, freq="9D"),
        "rate": np.where(RANDOM.random(N) < 0.2, np.nan, RANDOM.normal(size=N)),
        "told": [" ".join(RANDOM.choice(WORDS, 6)) for _ in range(N)],
        "land": ["x"] * N,
    }
)
NUMBERS = np.sin(2 * FRAME["size"]) + (FRAME["town"] == "Bern") + 0.1 * RANDOM.normal(size=N)
TWO = np.where(NUMBERS > 0.5, "dear", "cheap")
THREE = np.where(NUMBERS > 1, "dear", np.where(NUMBERS < 0, "cheap", "usual"))
PLAIN = FRAME[["size", "town", "rate"]]  # quicker than the whole frame


def classifier(**parameters):
    return AutoKernelClassifier(**{"max_candidates": 3} | parameters)


def regressor(**parameters):
    return AutoKernelRegressor(**{"max_candidates": 3} | parameters)


# --- a messy frame -----------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_classes_of_a_messy_frame(labels):
    model = classifier(max_candidates=6).fit(FRAME, labels)
    assert model.classes_.tolist() == sorted(set(labels))
    chances = model.predict_proba(FRAME)
    assert chances.shape == (N, len(model.classes_))
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.array_equal(model.predict(FRAME), model.classes_[chances.argmax(axis=1)])
    assert model.score(FRAME, labels) > 0.9
    assert model.certificate_.loss < model.baselines_["constant"]
    assert model.n_features_in_ == 6
    assert model.feature_names_in_.tolist() == list(FRAME)
    assert any("'land' is left out" in note for note in model.notes_)


def test_numbers_of_a_messy_frame():
    model = regressor(max_candidates=6).fit(FRAME[:90], NUMBERS[:90])
    assert model.score(FRAME[90:], NUMBERS[90:]) > 0.4
    assert model.certificate_.loss < 0.6
    assert model.certificate_.candidates == len(model.leaderboard_) == 6
    low, high = model.predict_interval(FRAME[90:])
    assert (low < high).all()
    assert model.predict(FRAME).min() >= NUMBERS[:90].min()


def test_libraries_agree():
    wanted = classifier().fit(PLAIN, TWO).predict_proba(PLAIN)
    other = pl.DataFrame({name: PLAIN[name].to_list() for name in PLAIN})
    found = classifier().fit(other, TWO).predict_proba(other)
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    rows = PLAIN.to_dict("records")
    np.testing.assert_allclose(classifier().fit(rows, TWO).predict_proba(rows), wanted, atol=1e-6)


def test_several_outputs():
    y = np.column_stack([NUMBERS, -2 * NUMBERS, PLAIN["size"]])
    model = regressor().fit(PLAIN, y)
    assert model.predict(PLAIN).shape == (N, 3)
    low, high = model.predict_interval(PLAIN[:5])
    assert low.shape == high.shape == (5, 3)
    one = regressor().fit(PLAIN, y[:, :1]).predict(PLAIN)
    assert one.shape == (N, 1)
    flat = regressor().fit(PLAIN, y[:, 0]).predict(PLAIN)
    np.testing.assert_allclose(one[:, 0], flat)


def test_a_long_tail_is_fitted_by_logarithms():
    y = np.exp(2 * NUMBERS)
    model = regressor(max_candidates=8).fit(PLAIN, y)
    assert any(line.name.endswith("log") for line in model.leaderboard_)
    assert any(member.target == "log" for member in model.members_)
    found = model.predict(PLAIN)
    assert y.min() <= found.min()
    assert found.max() <= y.max()
    assert model.score(PLAIN, y) > 0.8


def test_probabilities_are_honest():
    """What the fit says of its log loss is what new rows show."""
    random = np.random.default_rng(1)
    X = random.normal(size=(1200, 2))
    y = (random.random(1200) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    model = classifier().fit(X[:200], y[:200])
    found = log_loss(y[200:], model.predict_proba(X[200:]))
    assert abs(found - model.certificate_.loss) < 0.08


# --- the same each time ------------------------------------------------------------------------


def test_a_number_of_candidates_makes_fits_the_same():
    first, second = (classifier(max_candidates=4).fit(PLAIN, THREE) for _ in range(2))
    assert np.array_equal(first.predict_proba(PLAIN), second.predict_proba(PLAIN))
    assert [(m.name, m.weight) for m in first.members_] == [
        (m.name, m.weight) for m in second.members_
    ]
    one, two = (regressor(n_jobs=jobs).fit(PLAIN, NUMBERS) for jobs in (1, 2))
    np.testing.assert_allclose(one.predict(PLAIN), two.predict(PLAIN), atol=1e-4)


def test_a_seed_is_one_of_folds_and_bags():
    first = regressor(random_state=1).fit(PLAIN, NUMBERS)
    again = clone(first).fit(PLAIN, NUMBERS)
    other = regressor(random_state=2).fit(PLAIN, NUMBERS)
    assert np.array_equal(first.predict(PLAIN), again.predict(PLAIN))
    assert not np.array_equal(first.predict(PLAIN), other.predict(PLAIN))
    drawn = regressor(random_state=np.random.default_rng(1)).fit(PLAIN, NUMBERS)
    assert np.isfinite(drawn.predict(PLAIN)).all()


# --- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (AutoKernelClassifier(time_limit=1e-6), THREE),
        (AutoKernelRegressor(time_limit=1e-6), NUMBERS),
    ],
    ids=["classes", "numbers"],
)
def test_next_to_no_time_gives_a_linear_model_and_says_so(model, y):
    with pytest.warns(UserWarning, match="time_limit must be long enough for one candidate"):
        model.fit(PLAIN, y)
    assert model.certificate_.status == "time limit"
    assert [member.name.split()[1] for member in model.members_] == ["linear"]
    assert any("There was no time for all of: " in note for note in model.notes_)
    assert len(model.predict(PLAIN)) == N


def test_a_callback_ends_the_race():
    records = []

    def stop(record):
        records.append(record)
        return len(records) == 3

    model = classifier(max_candidates=None, time_limit=None, n_jobs=1, callback=stop).fit(
        PLAIN, TWO
    )
    assert len(model.leaderboard_) == len(records) == 3
    assert set(records[0]) >= {"candidate", "loss", "judged"}
    assert model.certificate_.status == "cancelled"
    assert "The callback ended the race." in model.notes_


def test_a_callback_that_ends_a_learned_metric_leaves_it_in_the_ensemble():
    model = regressor(
        max_candidates=None,
        time_limit=None,
        n_jobs=1,
        callback=lambda r: r["candidate"].startswith("rfm"),
    ).fit(PLAIN[:60], NUMBERS[:60])
    assert any(line.name.startswith("rfm") for line in model.leaderboard_)
    assert model.certificate_.status == "cancelled"


def test_all_candidates_have_their_turn_without_a_limit():
    model = classifier(max_candidates=None, time_limit=None, n_jobs=1).fit(PLAIN[:40], TWO[:40])
    kinds = {line.name.split()[0] for line in model.leaderboard_}
    assert kinds == {"ridge", "rfm", "svm", "logistic", "boosted"}
    assert model.certificate_.status == "complete"
    assert model.certificate_.skipped == ()


def test_trees_are_members_only_where_they_are_allowed():
    random = np.random.default_rng(2)
    X = random.normal(size=(150, 30))
    y = np.where(X[:, 0] > 0, "above", "below")  # one step in one of many columns

    def fitted(allow):
        stop = {"callback": lambda r: "trees" in r["candidate"]}
        return classifier(
            max_candidates=None, time_limit=None, n_jobs=1, allow_trees=allow, **stop
        ).fit(X, y)

    model = fitted(True)
    assert any(member.name == "boosted trees" for member in model.members_)
    assert np.isfinite(model.predict_proba(X)).all()
    with pytest.raises(FileError, match=r"HistGradientBoosting.*allow_trees=False"):
        save(model, io.BytesIO())
    kernels = fitted(False)
    assert not any(member.name == "boosted trees" for member in kernels.members_)
    assert any("Boosted trees reached a log loss of" in note for note in kernels.notes_)


# --- weights, groups, time ---------------------------------------------------------------------


def test_rows_of_weight_zero_are_left_out():
    weight = np.r_[np.zeros(20), np.ones(100)]
    found = regressor().fit(FRAME, NUMBERS, weight)
    wanted = regressor().fit(FRAME[20:], NUMBERS[20:])
    assert np.array_equal(found.predict(FRAME), wanted.predict(FRAME))


def test_the_unit_of_weights_does_not_matter():
    weight = RANDOM.random(N) + 0.1
    one, other = (regressor().fit(PLAIN, NUMBERS, w).predict(PLAIN) for w in (weight, 1e6 * weight))
    np.testing.assert_allclose(one, other, atol=1e-4)
    plain = regressor().fit(PLAIN, NUMBERS).predict(PLAIN)
    np.testing.assert_allclose(
        regressor().fit(PLAIN, NUMBERS, 7.0).predict(PLAIN), plain, atol=1e-4
    )


def test_heavy_rows_are_fitted_better():
    noisy = NUMBERS + 0.5 * RANDOM.normal(size=N)
    weight = np.where(np.arange(N) < 30, 50.0, 1.0)
    plain, heavy = (regressor().fit(PLAIN, noisy, w) for w in (None, weight))
    errors = [np.abs(m.predict(PLAIN[:30]) - noisy[:30]).mean() for m in (plain, heavy)]
    assert errors[1] < errors[0]


def test_balanced_classes_move_probabilities_to_the_rare_class():
    random = np.random.default_rng(3)
    X = random.normal(size=(200, 1))
    y = (X[:, 0] + 0.5 * random.normal(size=200) > 1.3).astype(int)
    plain, fair = (classifier(class_weight=w).fit(X, y) for w in (None, "balanced"))
    assert fair.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.1
    named = classifier(class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    assert named.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()


def test_groups_keep_copies_apart():
    """Each row is there four times: folds of rows see copies of what they judge, groups do not."""
    random = np.random.default_rng(4)
    X = np.repeat(random.normal(size=(40, 3)), 4, axis=0)
    y = np.repeat(random.normal(size=40), 4)
    groups = np.repeat([f"group {number}" for number in range(40)], 4)
    fooled = regressor().fit(X, y)
    honest = regressor().fit(X, y, groups=groups)
    assert fooled.certificate_.loss < 0.1
    assert honest.certificate_.loss > 0.8
    assert honest.certificate_.plan.endswith("in 4 folds")
    labelled = classifier().fit(X, y > 0, groups=groups)
    assert labelled.certificate_.loss > 0.5


def test_time_judges_the_last_rows():
    random = np.random.default_rng(5)
    X = np.linspace(0, 1, 100)[:, None]
    y = np.where(X[:, 0] > 0.8, 5.0, 0.0) + 0.1 * random.normal(size=100)
    model = regressor(split="time").fit(X, y)
    assert model.certificate_.plan.endswith("on 20 rows kept aside")
    assert model.certificate_.loss > 1.0 > regressor().fit(X, y).certificate_.loss
    assert model.members_[0].model._prepared.points.values.shape[0] == 100
    early = regressor(split="time", refit=False).fit(X, y)
    assert np.isfinite(early.predict(X)).all()


@pytest.mark.parametrize("y", [np.r_[TWO[:55], ["new"] * 5], np.r_[["old"] * 55, ["new"] * 5]])
def test_classes_that_come_late(y):
    model = classifier(split="time", max_candidates=None, time_limit=None, n_jobs=1).fit(
        PLAIN[:60], y
    )
    assert "new" in model.classes_
    assert np.isfinite(model.predict_proba(PLAIN)).all()
    assert {line.name.split()[0] for line in model.leaderboard_} == {"ridge", "rfm"}


def test_classes_that_are_groups():
    model = classifier(max_candidates=None, time_limit=None, n_jobs=1)
    model.fit(PLAIN[:40], TWO[:40], groups=TWO[:40])
    assert model.certificate_.loss > 0.6  # nothing can be known of a class that was never seen


# --- other scores ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scoring", "y", "measure"),
    [
        ("roc_auc", TWO, "-roc_auc"),
        ("accuracy", THREE, "-accuracy"),
        ("roc_auc_ovr", THREE, "-roc_auc_ovr"),
        ("neg_log_loss", THREE, "log_loss"),
    ],
)
def test_scores_of_classes(scoring, y, measure):
    model = classifier(scoring=scoring).fit(PLAIN, y)
    assert model.leaderboard_.measure == measure
    assert str(model.leaderboard_).split()[0] == measure
    assert model.certificate_.loss < model.baselines_["constant"]
    if scoring != "neg_log_loss":
        assert -1.0 <= model.certificate_.loss < -0.6


def test_scores_of_numbers():
    model = regressor(scoring="neg_mean_absolute_error").fit(PLAIN, NUMBERS, np.ones(N))
    assert model.leaderboard_.measure == "mean_absolute_error"
    middle = np.abs(NUMBERS - NUMBERS.mean()).mean()
    assert abs(model.baselines_["constant"] - middle) < 0.05 * middle
    assert model.certificate_.loss < 0.7 * middle

    def own(known, X, y):
        return -np.abs(known.predict(X) - y).max()

    assert regressor(scoring=own).fit(PLAIN, NUMBERS).leaderboard_.measure == "-score"


def test_bags_without_a_class_do_not_count():
    rare = TWO.astype(object)
    rare[[3, 50]] = "rare"
    model = classifier(scoring="neg_log_loss").fit(PLAIN, rare)
    assert np.isfinite(model.certificate_.loss)


# --- rows kept aside ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    random = np.random.default_rng(6)
    n = WHOLE + 100
    X = random.normal(size=(n, 2))
    y = np.sin(X[:, 0]) + 0.1 * random.normal(size=n)
    return X, y, AutoKernelRegressor(max_candidates=2, scoring="r2").fit(X, y)


def test_rows_are_kept_aside_of_many(large):
    X, y, model = large
    held = int(HELD_SHARE * len(X))
    assert model.certificate_.plan == f"2 candidates, on {held} rows kept aside"
    assert -1.0 < model.certificate_.loss < -0.9
    assert model.score(X, y) > 0.95
    assert len(model.intervals_.errors) == held


def test_members_are_fitted_to_all_rows_in_the_end(large):
    X, _, model = large
    for member in model.members_:
        assert member.name.endswith(f"({len(X) - int(HELD_SHARE * len(X))} rows)")
        assert len(member.model._prepared) == len(X)


# --- copies ------------------------------------------------------------------------------------


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = regressor().fit(PLAIN, NUMBERS)
    before = model.predict(PLAIN)
    with pytest.raises(ValueError, match="at least two different values"):
        model.fit(PLAIN, np.ones(N))
    assert np.array_equal(model.predict(PLAIN), before)


def test_pickles_and_files_give_the_same_answers(tmp_path):
    model = regressor(max_candidates=6).fit(FRAME, np.exp(NUMBERS))
    save(model, tmp_path / "model.mercer")
    for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.mercer")):
        assert np.array_equal(copy.predict(FRAME), model.predict(FRAME))
        for one, other in zip(
            copy.predict_interval(FRAME), model.predict_interval(FRAME), strict=True
        ):
            assert np.array_equal(one, other)
        assert str(copy.leaderboard_) == str(model.leaderboard_)
        assert copy.notes_ == model.notes_


# --- smaller models ----------------------------------------------------------------------------


def test_compression_of_each_member(tmp_path):
    model = regressor().fit(PLAIN, NUMBERS)
    small = compress(model, n_centers=30)
    assert type(small) is type(model)
    assert [len(member.model._prepared) for member in model.members_] == [N] * len(model.members_)
    assert all(len(member.model._prepared) <= 30 for member in small.members_)
    assert [member.weight for member in small.members_] == [m.weight for m in model.members_]
    away = np.abs(small.predict(PLAIN) - model.predict(PLAIN)).mean()
    assert 0 < away < 0.3 * np.std(NUMBERS)
    save(small, tmp_path / "small.mercer")
    assert np.array_equal(load(tmp_path / "small.mercer").predict(PLAIN), small.predict(PLAIN))


def test_compression_of_classes_at_given_rows():
    model = classifier().fit(PLAIN, THREE)
    small = compress(model, n_centers=30, X=PLAIN)
    assert (small.predict(PLAIN) == model.predict(PLAIN)).mean() > 0.8
    whole = compress(model, n_centers=10 * N)  # more than there are
    np.testing.assert_allclose(whole.predict_proba(PLAIN), model.predict_proba(PLAIN), atol=0.01)


def test_compression_is_refused_where_it_cannot_be():
    with pytest.raises(NotFittedError):
        compress(regressor(), n_centers=3)
    model = regressor().fit(PLAIN, NUMBERS)
    with pytest.raises(ValueError, match="either tol or n_centers must be given"):
        compress(model)
    with pytest.raises(ValueError, match="n_centers must be a whole number at least 1; got 0"):
        compress(model, n_centers=0)
