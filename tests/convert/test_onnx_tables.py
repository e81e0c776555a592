"""Automatic learners and encoders of tables as ONNX, where all columns are numbers."""

import numpy as np
import onnxruntime
import pandas
import pytest
from sklearn.pipeline import make_pipeline

from mercer import SVR, AutoKernelClassifier, AutoKernelRegressor, TableEncoder, compress
from mercer.checks import InputError
from mercer.convert import to_onnx
from mercer.convert.onnx.graph import Graph, Output
from mercer.convert.onnx.tables import encoded


def table(n, seed=0):
    """Numbers of several kinds, some of them missing, some far from 0, some always the same."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.normal(size=n),
            random.integers(0, 5, n),
            2000.0 + random.normal(size=n),
            random.exponential(size=n),
            np.full(n, 3.0),
        ]
    )
    X[::9, 0] = np.nan
    return X


X, NEW = table(150), table(60, seed=1).astype(np.float32)
NUMBERS = np.exp(0.5 * np.nan_to_num(X[:, 0]) + 0.3 * X[:, 3])
CLASSES = np.digitize(X[:, 3], [0.4, 1.2])


def run(model, points, dtype):
    session = onnxruntime.InferenceSession(to_onnx(model, dtype=dtype))
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": points.astype(dtype)}), strict=True))


@pytest.fixture(scope="module")
def regressor():
    return AutoKernelRegressor(max_candidates=12, random_state=0).fit(X, NUMBERS)


@pytest.fixture(scope="module")
def classifier():
    return AutoKernelClassifier(max_candidates=12, random_state=0).fit(X, CLASSES)


@pytest.mark.parametrize(("dtype", "close"), [("float32", 1e-5), ("float64", 1e-6)])
def test_an_automatic_regression(regressor, dtype, close):
    # Its members work in single precision, whatever the precision of the graph.
    assert len(regressor.members_) > 1
    for model in (regressor, compress(regressor, n_centers=40)):
        found = run(model, NEW, dtype)
        wanted = model.predict(NEW.astype(float))
        assert list(found) == ["variable"]
        assert np.abs(found["variable"][:, 0] - wanted).max() <= close * np.abs(wanted).max()


def test_an_automatic_regression_of_logarithms_and_of_several_numbers(regressor):
    from dataclasses import replace

    model = compress(regressor, n_centers=30)
    units = model.units_
    model.units_ = replace(
        units,
        means=units.means | {"log": np.array([0.2])},
        spreads=units.spreads | {"log": np.array([0.7])},
    )
    model.members_ = tuple(replace(one, target="log", link=1.3) for one in model.members_)
    wanted = model.predict(NEW.astype(float))
    found = run(model, NEW, "float32")["variable"][:, 0]
    assert np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()
    both = np.column_stack([NUMBERS, X[:, 2]])
    several = AutoKernelRegressor(max_candidates=3, random_state=0).fit(X, both)
    wanted = several.predict(NEW.astype(float))
    assert np.abs(run(several, NEW, "float32")["variable"] - wanted).max() <= 1e-5 * 2000


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_automatic_classification(classifier, dtype):
    found = run(classifier, NEW, dtype)
    points = NEW.astype(float)
    assert list(found) == ["label", "probabilities"]
    assert found["label"].tolist() == classifier.predict(points).tolist()
    assert np.abs(found["probabilities"] - classifier.predict_proba(points)).max() <= 1e-5


def test_scores_that_state_chances(classifier):
    from dataclasses import replace

    kinds = {member.target for member in classifier.members_}
    assert kinds <= {"plain", "chances"}
    for kind in ("plain", "chances"):
        model = compress(classifier, n_centers=40)
        model.members_ = tuple(replace(one, target=kind) for one in model.members_)
        wanted = model.predict_proba(NEW.astype(float))
        assert np.abs(run(model, NEW, "float32")["probabilities"] - wanted).max() <= 1e-5


def test_two_classes():
    words = np.array(["low", "high"])[(X[:, 3] > 0.8).astype(int)]
    model = AutoKernelClassifier(max_candidates=8, random_state=0).fit(X, words)
    found = run(model, NEW, "float32")
    points = NEW.astype(float)
    assert found["label"].tolist() == model.predict(points).tolist()
    assert np.abs(found["probabilities"] - model.predict_proba(points)).max() <= 1e-5


@pytest.mark.parametrize("method", ["standard", "rank", "robust"])
def test_every_code_of_numbers(method):
    encoder = TableEncoder(numbers=method).fit(X)
    points = np.vstack([NEW.astype(float), np.array([[-99.0, 99.0, 0.0, 1e4, 3.0]])])
    wanted = encoder.transform(points)
    graph = Graph(np.dtype(np.float64), 5)
    output = Output(
        name="out", tensor=encoded(graph, encoder, "X"), dtype=graph.dtype, columns=wanted.shape[1]
    )
    session = onnxruntime.InferenceSession(graph.finished([output], None, {}))
    (found,) = session.run(None, {"X": points})
    assert np.allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("missing", [False, True])
def test_truth_values_are_0_and_1(missing):
    truths = [True, False, True, True, False, False, True, False] * 5
    values = pandas.array([None if missing and i % 7 == 0 else one for i, one in enumerate(truths)])
    frame = pandas.DataFrame({"flag": values, "size": np.arange(40.0)})
    model = make_pipeline(TableEncoder(), SVR()).fit(frame, np.arange(40.0) % 3)
    numbers = frame.astype({"flag": "Float64"}).to_numpy(dtype=float, na_value=np.nan)
    found = run(model, numbers, "float32")["variable"][:, 0]
    assert np.abs(found - model.predict(frame)).max() <= 1e-5


def test_other_columns_are_refused():
    frame = pandas.DataFrame({"colour": ["red", "blue"] * 20, "size": np.arange(40.0)})
    model = AutoKernelRegressor(max_candidates=1).fit(frame, np.arange(40.0) % 3)
    with pytest.raises(InputError, match=r"must be numbers.*got column 'colour', of kind category"):
        to_onnx(model)


def test_trees_are_refused(regressor):
    from dataclasses import replace

    from sklearn.ensemble import HistGradientBoostingRegressor

    model = compress(regressor, n_centers=30)
    trees = HistGradientBoostingRegressor()
    model.members_ = (replace(model.members_[0], model=trees), *model.members_[1:])
    with pytest.raises(InputError, match="Fit with allow_trees=False"):
        to_onnx(model)


def test_a_member_alone(regressor):
    member = regressor.members_[0]
    rows = regressor.encoders_[member.view].transform(NEW.astype(float)).astype(np.float32)
    wanted = member.model.predict(rows.astype(float)).ravel()
    found = run(member.model, rows, "float32")["variable"][:, 0]
    assert np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()
