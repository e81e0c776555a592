"""What the automatic learners refuse, and frames that are not quite those of the fit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from mercer import AutoKernelClassifier, AutoKernelRegressor, InputError
from mercer.checks import InputTypeError, MercerError

RANDOM = np.random.default_rng(0)
N = 40
FRAME = pd.DataFrame({"a": RANDOM.normal(size=N), "b": RANDOM.choice(["x", "y"], N)})
NUMBERS = np.sin(FRAME["a"]).to_numpy()
LABELS = np.where(NUMBERS + 0.3 * RANDOM.normal(size=N) > 0, "up", "down")
CLASSES = AutoKernelClassifier(max_candidates=2)
NUMERIC = AutoKernelRegressor(max_candidates=2)


def holed(values, hole):
    return [hole if row in (7, 9) else value for row, value in enumerate(values)]


# --- targets -----------------------------------------------------------------------------------


def test_a_target_with_one_value():
    with pytest.raises(InputError, match="y must have at least two classes; got 1 class, 'a'"):
        CLASSES.fit(FRAME, ["a"] * N)
    with pytest.raises(InputError, match="y must have at least two different values; got 3 in"):
        NUMERIC.fit(FRAME, [3.0] * N)
    late = np.r_[np.zeros(10), np.ones(30)]
    with pytest.raises(InputError, match="at least two different values; got 1 in every row"):
        NUMERIC.fit(FRAME, late, sample_weight=late)


@pytest.mark.parametrize("hole", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_classes_are_named_by_their_rows(hole):
    with pytest.raises(InputError, match=r"a class for every point; got .* in row 7 \(2 such rows"):
        CLASSES.fit(FRAME, holed(LABELS, hole))


def test_missing_numbers_are_named_by_their_rows():
    with pytest.raises(InputError, match=r"finite numbers only; got NaN in row 7 \(2 such entries"):
        NUMERIC.fit(FRAME, holed(NUMBERS, float("nan")))
    with pytest.raises(InputError, match="y must have finite numbers only; got inf"):
        NUMERIC.fit(FRAME, holed(NUMBERS, float("inf")))


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_a_class_for_each_row():
    with pytest.raises(InputError, match="at least one class must have two rows; got 40 classes"):
        CLASSES.fit(FRAME, [f"row {row}" for row in range(N)])
    few = CLASSES.fit(FRAME, [f"pair {row // 2}" for row in range(N)])
    assert few.predict_proba(FRAME).shape == (N, N // 2)


def test_targets_of_another_kind_or_length():
    with pytest.raises(InputError, match=r"y must have one .* for each of the 40 points"):
        NUMERIC.fit(FRAME, NUMBERS[:5])
    with pytest.raises(InputError, match="Unknown label type"):
        CLASSES.fit(FRAME, NUMBERS)
    with pytest.raises(MercerError, match="y must"):
        NUMERIC.fit(FRAME, LABELS)


# --- weights and groups ------------------------------------------------------------------------


def test_weights_and_groups_of_another_length():
    for model, y in ((CLASSES, LABELS), (NUMERIC, NUMBERS)):
        with pytest.raises(InputError, match=r"groups must have one entry for each of the 40 rows"):
            model.fit(FRAME, y, groups=np.arange(N - 1))
        with pytest.raises(InputError, match="groups must name at least two groups; got one"):
            model.fit(FRAME, y, groups=np.ones(N))
        with pytest.raises(InputError, match="groups must be numbers or texts, all of one kind"):
            model.fit(FRAME, y, groups=[None, *"ab" * 19, "a"])
        with pytest.raises(InputError, match="sample_weight must"):
            model.fit(FRAME, y, sample_weight=np.ones(N - 1))
        with pytest.raises(InputError, match="sample_weight"):
            model.fit(FRAME, y, sample_weight=-np.ones(N))


def test_groups_and_time_do_not_go_together():
    with pytest.raises(InputError, match='groups must be left out with split="time"'):
        AutoKernelRegressor(split="time").fit(FRAME, NUMBERS, groups=np.arange(N))


def test_a_class_or_a_table_without_weight():
    weight = (LABELS == "up").astype(float)
    with pytest.raises(InputError, match="positive weight; got class 'down' without one"):
        CLASSES.fit(FRAME, LABELS, sample_weight=weight)
    with pytest.raises(InputError, match="at least two rows with a weight; got 1 sample"):
        NUMERIC.fit(FRAME, NUMBERS, sample_weight=np.eye(N)[0])


# --- tables ------------------------------------------------------------------------------------


def test_no_column_is_left():
    with pytest.raises(InputError, match="Column 'a' is left out: all its values are the same"):
        NUMERIC.fit(pd.DataFrame({"a": [1.0] * N}), NUMBERS)
    with pytest.raises(InputError, match="at least one column must tell rows apart"):
        AutoKernelRegressor(types={"a": "drop", "b": "drop"}).fit(FRAME, NUMBERS)


def test_columns_of_types_without_a_code_are_named():
    odd = FRAME.assign(parts=[{1, 2}] * N)
    with pytest.raises(InputTypeError, match="got objects of type set in 'parts'"):
        NUMERIC.fit(odd, NUMBERS)
    AutoKernelRegressor(max_candidates=1, types={"parts": "drop"}).fit(odd, NUMBERS)


def test_a_column_that_equals_the_target_is_named():
    with pytest.warns(UserWarning, match="'copy', which determines y. This looks like a leak"):
        NUMERIC.fit(FRAME.assign(copy=1 - 3 * NUMBERS), NUMBERS)
    with pytest.warns(UserWarning, match="'copy', which determines y. This looks like a leak"):
        CLASSES.fit(FRAME.assign(copy=LABELS), LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NUMERIC.fit(FRAME, NUMBERS)
        CLASSES.fit(FRAME, LABELS)


@pytest.mark.parametrize("rows", [2, 3])
def test_very_few_rows(rows):
    model = AutoKernelRegressor(max_candidates=2).fit(FRAME[:rows], NUMBERS[:rows])
    assert np.isfinite(model.predict(FRAME)).all()
    low, high = model.predict_interval(FRAME)
    assert (low <= high).all()
    with pytest.raises(InputError, match="at least two rows"):
        NUMERIC.fit(FRAME[:1], NUMBERS[:1])


# --- prediction --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    return AutoKernelClassifier(max_candidates=2).fit(FRAME, LABELS)


def test_columns_in_another_order(fitted):
    wanted = fitted.predict_proba(FRAME)
    assert np.array_equal(fitted.predict_proba(FRAME[["b", "a"]]), wanted)


def test_columns_that_the_fit_did_not_see(fitted):
    with pytest.warns(UserWarning, match="did not see, which are ignored: 'new'") as told:
        found = fitted.predict_proba(FRAME.assign(new=1.0))
    assert len(told) == 1
    assert np.array_equal(found, fitted.predict_proba(FRAME))


def test_columns_that_are_missing(fitted):
    with pytest.raises(InputError, match="must have the columns of fit; got none called 'a', 'b'"):
        fitted.predict(FRAME[[]].assign(c=1.0))
    with pytest.raises(InputError, match="got none called 'b'"):
        fitted.predict(FRAME[["a"]])


def test_columns_of_another_type(fitted):
    written = FRAME.assign(a=FRAME["a"].map(repr))
    assert np.array_equal(fitted.predict(written), fitted.predict(FRAME))
    with pytest.raises(InputError, match="column 'a': every value must be a number; got 'many'"):
        fitted.predict(FRAME.assign(a="many"))


def test_values_that_the_fit_did_not_see(fitted):
    odd = pd.DataFrame({"a": [np.nan, 1e9, 0.0], "b": ["z", "x", None]})
    chances = fitted.predict_proba(odd)
    assert np.isfinite(chances).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_before_the_fit(method):
    with pytest.raises(NotFittedError):
        getattr(AutoKernelClassifier(), method)(FRAME)


def test_intervals_before_the_fit():
    with pytest.raises(NotFittedError):
        AutoKernelRegressor().predict_interval(FRAME)


# --- parameters --------------------------------------------------------------------------------

WRONG = {
    "time_limit": [-1, 0, "long", float("nan")],
    "max_candidates": [0, -1, 1.5, "all"],
    "scoring": ["acc", 3, int],
    "split": ["random", None, 4],
    "types": [3, {"a": "colour"}, {"c": "number"}],
    "allow_trees": ["yes", 2],
    "refit": ["no", 3],
    "memory_limit": [-1, "much"],
    "callback": [3, "stop", int],
    "n_jobs": [0, 0.5, -2],
    "random_state": ["seed", -1, 0.5],
    "verbose": ["loud", -1],
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("kind", [AutoKernelClassifier, AutoKernelRegressor])
def test_wrong_parameters_are_named(kind, name):
    y = LABELS if kind is AutoKernelClassifier else NUMBERS
    for value in WRONG[name]:
        with pytest.raises(MercerError, match=name) as told:
            kind(**{"max_candidates": 2, name: value}).fit(FRAME, y)
        assert "must" in str(told.value)


def test_wrong_class_weights_and_all_parameters_are_tried():
    for wrong in ("bal", 3, {"up": -1}, {"sideways": 1.0}):
        with pytest.raises(MercerError, match="class_weight"):
            AutoKernelClassifier(max_candidates=2, class_weight=wrong).fit(FRAME, LABELS)
    assert set(AutoKernelRegressor().get_params()) == set(WRONG)
    assert set(AutoKernelClassifier().get_params()) == {*WRONG, "class_weight"}


def test_scores_that_do_not_fit_the_target():
    three = np.where(NUMBERS > 0.5, "far", LABELS)
    with pytest.raises(
        InputError, match="scoring must be one for targets of this kind; got 'roc_a"
    ):
        AutoKernelClassifier(max_candidates=2, scoring="roc_auc").fit(FRAME, three)
    with pytest.raises(InputError, match="scoring must be one for targets of this kind"):
        AutoKernelRegressor(max_candidates=2, scoring="neg_mean_squared_log_error").fit(
            FRAME, NUMBERS - 3
        )
    with pytest.raises(InputError, match="the scorer must return a number"):
        AutoKernelRegressor(max_candidates=2, scoring=lambda model, X, y: "good").fit(
            FRAME, NUMBERS
        )
