"""The automatic learners as estimators of scikit-learn, and their files."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from forgery import content, forge
from samples import table_columns
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import AutoKernelClassifier, AutoKernelRegressor, FileError, load, save

TABLE = pd.DataFrame(table_columns())
Y = np.arange(12.0) % 5
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a row of weight two is one row of a fold, and two rows may be in two folds"
    ),
}


@pytest.mark.filterwarnings("ignore:.*looks like a leak")  # so some of their data does
@parametrize_with_checks(
    [AutoKernelClassifier(max_candidates=3), AutoKernelRegressor(max_candidates=3)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_within_folds_and_pipelines():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.sin(X[:, 0])
    model = make_pipeline(StandardScaler(), AutoKernelRegressor(max_candidates=2))
    assert cross_val_score(model, X, y, cv=3).min() > 0.5


# --- files -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def manifest_of(tmp_path_factory):
    """A file of each kind, taken apart."""
    folder = tmp_path_factory.mktemp("files")
    models = {
        "classes": AutoKernelClassifier(max_candidates=2).fit(TABLE, Y.astype(int) % 3),
        "numbers": AutoKernelRegressor(max_candidates=2).fit(TABLE, Y),
    }
    found = {}
    for name, model in models.items():
        save(model, folder / name)
        manifest, tensors = content(folder / name)
        found[name] = (json.dumps(manifest), tensors)
    return found


def members(state):
    return state["members_"]["items"]


def weigh(state):
    members(state)[0]["fields"]["weight"] = 0.9


def see(state):
    members(state)[0]["fields"]["view"] = "other"


def aim(state):
    members(state)[0]["fields"]["target"] = "log"


def link(state):
    members(state)[0]["fields"]["link"] = "steep"


def unfit(state):
    members(state)[0]["fields"]["model"]["state"] = {}


def replaced(state):
    members(state)[0]["fields"]["model"] = state["encoders_"]["items"]["standard"]


def unencoded(state):
    state["encoders_"]["items"]["rank"]["state"] = {}


def narrower(state):
    state["n_features_in_"] = 3


def renamed(state):
    state["feature_names_in_"]["items"]["texts"] = ["x"] * 7


def silent(state):
    state["notes_"]["items"] = []


def unplaced(state):
    state["leaderboard_"]["fields"]["lines"]["items"][0]["fields"]["loss"] = "good"


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize(
    "change", [weigh, see, aim, link, unfit, replaced, unencoded, narrower, silent, unplaced]
)
def test_files_made_to_deceive_are_refused(kind, change, manifest_of, tmp_path):
    text, tensors = manifest_of[kind]
    manifest = json.loads(text)
    change(manifest["state"])
    used = {name: one for name, one in tensors.items() if json.dumps(name) in json.dumps(manifest)}
    with pytest.raises(FileError, match=r"must|used once"):
        load(forge(tmp_path / "odd.mercer", manifest, used))


def test_units_and_intervals_must_fit(manifest_of, tmp_path):
    text, tensors = manifest_of["numbers"]
    manifest = json.loads(text)
    path = tmp_path / "odd.mercer"
    units = manifest["state"]["units_"]["fields"]
    spread, low = (units["spreads"]["items"]["plain"]["tensor"], units["low"]["tensor"])
    errors = manifest["state"]["intervals_"]["fields"]["errors"]["tensor"]
    for name, odd in (
        (spread, np.zeros(1)),
        (spread, np.ones(2)),
        (low, np.array([np.nan])),
        (low, np.array([1e9])),
        (errors, tensors[errors][::-1].copy()),
        (errors, np.hstack([tensors[errors]] * 2)),
    ):
        with pytest.raises(FileError, match="must"):
            load(forge(path, manifest, tensors | {name: odd}))


def test_a_model_without_a_fit_is_saved():
    stream = io.BytesIO()
    save(AutoKernelClassifier(max_candidates=7, class_weight={"a": 1.0}), stream)
    stream.seek(0)
    found = load(stream)
    assert found.max_candidates == 7
    assert found.class_weight == {"a": 1.0}
