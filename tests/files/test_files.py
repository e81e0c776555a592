"""Model files: every estimator, every kind of input, labels, functions, parameters."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from estimators import AUTOMATIC, ENCODERS, ESTIMATORS
from forgery import LABELS, X, content, prototype, round_trip, same, same_model
from samples import (
    frame_columns,
    sets,
    strings,
)
from sklearn.base import is_classifier, is_regressor

from mercer import KernelPrototypeClassifier
from mercer.checks import FileError
from mercer.features import AdditiveMap
from mercer.files import load, save
from mercer.files.records import estimators
from mercer.inputs import RowBlocks
from mercer.kernels import (
    Categorical,
    FunctionKernel,
    Gaussian,
    Linear,
    Polynomial,
    SetIntersection,
    Spectrum,
)

# --- every estimator ---------------------------------------------------------------------------

# Estimators that cannot be made and fitted in the usual way: name -> (factory, X, y).
SPECIAL = {"AdditiveMap": (AdditiveMap, np.abs(X), None)}


def entry(name):
    kind = estimators()[name]
    if name in SPECIAL:
        return SPECIAL[name]
    if is_classifier(kind()):
        return kind, X, LABELS
    if is_regressor(kind()):
        return kind, X, X[:, 0] + np.arange(12)
    if hasattr(kind, "transform") or hasattr(kind, "predict"):
        return kind, X, None
    return pytest.fail(f"add an entry for {name} to SPECIAL")


@pytest.mark.filterwarnings("ignore:KernelPerceptron. not converged")
@pytest.mark.parametrize("name", estimators())
def test_every_estimator(name, tmp_path):
    factory, points, y = entry(name)
    model = factory()
    round_trip(model.fit(points) if y is None else model.fit(points, y), tmp_path, points)


@pytest.mark.parametrize("name", estimators())
def test_every_estimator_before_its_fit(name, tmp_path):
    model = entry(name)[0]()
    save(model, tmp_path / "new.mercer")
    found = load(tmp_path / "new.mercer")
    assert same_model(found, model)
    assert vars(found) == model.get_params(deep=False)


def test_the_list_of_estimators_is_that_of_the_models():
    known = {kind.__name__ for kind in (*ESTIMATORS, *ENCODERS, *AUTOMATIC)}
    assert set(estimators()) == known
    assert "KernelPrototypeClassifier" in known
    assert not {"KernelEstimator", "Certificate"} & set(estimators())


# --- every kind of input -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("change", [np.asarray, np.asfortranarray], ids=["C", "Fortran"])
def test_dense_rows(dtype, change, tmp_path):
    found = prototype(Gaussian(), change(X.astype(dtype)), tmp_path)
    assert found._prepared.points.dtype == dtype


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows(kind, dtype, tmp_path):
    found = prototype(Polynomial(2), kind(np.maximum(X, 0).astype(dtype)), tmp_path, LABELS)
    assert isinstance(found._prepared.points.values, kind)


def test_named_columns(tmp_path):
    found = prototype(Gaussian(), pd.DataFrame(X, columns=["a", "b", "é"]), tmp_path)
    assert found._prepared.points.names == ("a", "b", "é")
    assert found.feature_names_in_.tolist() == ["a", "b", "é"]


def test_strings(tmp_path):
    prototype(Spectrum(2), strings(), tmp_path)


def test_strings_of_numpy(tmp_path):
    found = prototype(Spectrum(2), np.array(strings()), tmp_path)
    assert isinstance(found._prepared.points.raw[0], np.str_)


def test_a_long_list_of_strings_is_two_tensors(tmp_path):
    words = strings() * 200
    prototype(Spectrum(2), words, tmp_path, np.arange(len(words)) % 2)
    manifest, tensors = content(tmp_path / "model.mercer")
    text = tensors["state._prepared.points"].tobytes().decode()
    starts = tensors["state._prepared.points.offsets"]
    assert text == "".join(words)
    assert starts.dtype == np.int64
    assert len(starts) == len(words) + 1
    assert len(str(manifest)) < 5000


def test_tokens(tmp_path):
    points = [list(word) for word in strings()] + [[1, "a", (2, None)], [b"x", 2.5]]
    prototype(Spectrum(1), points, tmp_path)


def test_sets(tmp_path):
    prototype(SetIntersection(), sets(), tmp_path)


def test_arrays_of_different_shapes(tmp_path):
    series = [np.arange(float(n * 2)).reshape(n, 2) for n in (3, 0, 1, 5)] + [np.ones(3)]
    kernel = FunctionKernel(total, pairwise=True)
    prototype(kernel, [*series, [1.0, 2.0]], tmp_path, functions={"total": total})


def total(x, y):
    return float(np.sum(x) * np.sum(y))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_precomputed_gram_keeps_no_entries(dtype, tmp_path):
    K = Gaussian(0.3)(X).astype(dtype)
    found = prototype("precomputed", K, tmp_path)
    assert len(found._prepared) == 12
    names = set(content(tmp_path / "model.mercer")[1])
    assert "state._prepared.points.columns" in names
    assert "state._prepared.points" not in names


def test_points_in_blocks(tmp_path):
    model = KernelPrototypeClassifier(Gaussian(0.5)).fit(RowBlocks.split(X, 5), LABELS)
    found = round_trip(model, tmp_path, X)
    assert found._prepared.points.lengths == (5, 5, 2)


# --- data frames -------------------------------------------------------------------------------

MIXED = Spectrum(2).on("dna") + Gaussian().on(["age", "dose"]) + Categorical(1.0).on("colour")


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, arrow])
def test_mixed_frames(make, tmp_path):
    frame = make(frame_columns())
    found = prototype(MIXED, frame, tmp_path)
    assert type(found._prepared.points.raw) is type(frame)


def test_columns_that_the_kernel_does_not_use_are_kept_as_they_are(tmp_path):
    columns = {
        "age": [1.0, 2.0, 4.0],
        "small": np.array([1, 2, 3], np.int8),
        "single": np.array([1, 2, 3], np.float32),
        "gone": pl.Series([1, None, 3], dtype=pl.Int8),
        "flag": [True, None, False],
        "word": ["a", None, "ü"],
        "nothing": [None, None, None],
        "day": np.array(["2026-01-01", "NaT", "2026-01-03"], "datetime64[ms]"),
        "lists": [["a"], [], ["b", "c"]],
        "content": [b"a", b"", b"\xff"],
        "pairs": [{"a": 1}, {"a": 2}, {"a": 3}],
    }
    frame = pl.DataFrame(columns, strict=False).with_columns(
        kind=pl.Series(["u", "v", "u"], dtype=pl.Categorical), big=pl.Series([2**63 + 1, 1, None])
    )
    found = prototype(Gaussian(1.0).on("age"), frame, tmp_path, [0, 1, 0])._prepared.points.raw
    assert found.drop("kind", "nothing").equals(frame.drop("kind", "nothing"))
    assert found.drop("kind", "nothing").schema == frame.drop("kind", "nothing").schema
    assert found["kind"].to_list() == ["u", "v", "u"]


def test_a_pandas_frame_with_anything_in_it(tmp_path):
    frame = pd.DataFrame(
        {
            "age": [1.0, 2.0, np.nan],
            3: pd.array([1, None, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "kind": pd.Categorical([5, 6, 5]),
            "word": ["a", None, "b"],
            "text": pd.array(["a", None, "b"], dtype="string"),
            "sets": [{1, "a"}, frozenset(), (1, 2)],
            "when": pd.to_datetime(["2026-01-01", None, "2026-01-03"]),
            "id": [1, 2, 3],
        },
        index=[7, 7, 8],
    )
    model = KernelPrototypeClassifier(Linear().on("id")).fit(frame, [0, 1, 0])
    save(model, tmp_path / "model.mercer")
    loaded = load(tmp_path / "model.mercer")
    assert same(loaded.decision_function(frame), model.decision_function(frame))
    found = loaded._prepared.points.raw
    assert list(found.columns) == list(frame.columns)
    assert found["age"].equals(frame["age"].reset_index(drop=True))
    assert found[3].tolist()[::2] == [1.0, 3.0]
    assert found[3].isna().tolist() == found["flag"].isna().tolist() == [False, True, False]
    assert found["text"].tolist()[::2] == ["a", "b"]
    assert found["kind"].tolist() == [5, 6, 5]
    assert found["sets"].tolist() == frame["sets"].tolist()
    assert found["when"].tolist()[0] == frame["when"].tolist()[0]


def test_a_frame_of_a_library_that_is_not_installed(tmp_path, monkeypatch):
    import narwhals.stable.v2 as narwhals

    make = narwhals.new_series

    def without_pandas(name, values, dtype=None, *, backend):
        if backend == "pandas":
            raise ModuleNotFoundError("pandas")
        return make(name, values, dtype, backend=backend)

    frame = pd.DataFrame(frame_columns())
    model = KernelPrototypeClassifier(MIXED).fit(frame, LABELS[:6])
    save(model, tmp_path / "model.mercer")
    monkeypatch.setattr(narwhals, "new_series", without_pandas)
    found = load(tmp_path / "model.mercer")
    assert isinstance(found._prepared.points.raw, pl.DataFrame)
    assert same(found.predict(frame), model.predict(frame))


def test_a_frame_with_a_column_that_no_file_can_hold(tmp_path):
    frame = pd.DataFrame({"age": [1.0, 2.0], "odd": [object(), object()]})
    model = KernelPrototypeClassifier(Linear().on("age")).fit(frame, [0, 1])
    with pytest.raises(FileError, match=r"points\.odd must be something that a model file can"):
        save(model, tmp_path / "model.mercer")
    assert os.listdir(tmp_path) == []


# --- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pair",
    [
        np.array(["a", "Straße"]),
        np.array(["a", "日本"], dtype=object),
        np.array([True, False]),
        np.array([-1, 7], dtype=np.int8),
        np.array([1.0, 2.0], dtype=np.float32),
    ],
    ids=lambda pair: str(pair.dtype),
)
def test_labels(pair, tmp_path):
    labels = np.tile(pair, 6)
    found = prototype(Gaussian(), X, tmp_path, labels)
    assert found.classes_.dtype == pair.dtype
    assert set(found.predict(X).tolist()) <= set(pair.tolist())
