"""Model files with the preprocessors of scikit-learn, in a pipeline and within a kernel."""

import io
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from forgery import LABELS, X, content, forge
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from mercer import SVC, KernelPCA, KernelPrototypeClassifier, KernelRidge
from mercer.checks import FileError, InputTypeError
from mercer.files import load, save
from mercer.files.scikit_learn.preprocessing import BY_KIND
from mercer.kernels import Gaussian, Linear

HOLES = np.where(np.arange(36).reshape(12, 3) % 7 == 0, np.nan, X)
WORDS = np.array([["a", "u"], ["b", "v"], ["c", "u"], ["a", "w"]] * 3, dtype=object)
GAPS = np.where(np.arange(24).reshape(12, 2) % 9 == 0, None, WORDS)
POSITIVE = np.abs(X) + 0.1

NUMBERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MinMaxScaler(),
    MinMaxScaler((-1, 2), clip=True),
    MaxAbsScaler(),
    RobustScaler(),
    RobustScaler(with_centering=False, quantile_range=(10.0, 90.0)),
    RobustScaler(with_scaling=False, unit_variance=True),
    Normalizer(),
    Normalizer("l1"),
    QuantileTransformer(n_quantiles=5),
    QuantileTransformer(n_quantiles=5, output_distribution="normal", random_state=3),
    PowerTransformer(),
    PowerTransformer(standardize=False),
    PCA(2),
    PCA(whiten=True, svd_solver="full"),
    PCA(0.9),
    PolynomialFeatures(2),
    PolynomialFeatures((2, 3), interaction_only=True, include_bias=False),
    SimpleImputer(),
    OneHotEncoder(handle_unknown="ignore"),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    KernelPCA(2),
    make_pipeline(StandardScaler(), "passthrough", PCA(2)),
    ColumnTransformer([("a", StandardScaler(), [0, 2])], remainder="passthrough"),
    ColumnTransformer([("a", PCA(1), slice(0, 2)), ("b", "drop", [2])]),
    ColumnTransformer([("a", Normalizer(), [True, False, True])], remainder=MinMaxScaler()),
    ColumnTransformer(
        [("a", make_pipeline(StandardScaler(), PCA(1)), [0, 1]), ("b", "passthrough", [-1])],
        transformer_weights={"a": 2.0},
    ),
]
OTHERS = [
    (PowerTransformer("box-cox"), POSITIVE),
    (SimpleImputer(strategy="median"), HOLES),
    (SimpleImputer(strategy="constant", fill_value=2.5), HOLES),
    (SimpleImputer(add_indicator=True), HOLES),
    (StandardScaler(), HOLES),
    (OneHotEncoder(), WORDS),
    (OneHotEncoder(drop="first", sparse_output=False, dtype=np.float32), WORDS),
    (OneHotEncoder(drop="if_binary", handle_unknown="ignore"), WORDS),
    (OneHotEncoder(min_frequency=4, handle_unknown="infrequent_if_exist"), WORDS),
    (OneHotEncoder(max_categories=2, drop=["a", "u"]), WORDS),
    (OneHotEncoder(categories=[["c", "b", "a"], ["w", "v", "u"]]), WORDS),
    (OneHotEncoder(), WORDS.astype(str)),
    (OneHotEncoder(), GAPS),
    (OrdinalEncoder(), WORDS),
    (OrdinalEncoder(max_categories=2, dtype=np.int32), WORDS),
    (OrdinalEncoder(encoded_missing_value=-2), GAPS),
    (SimpleImputer(strategy="most_frequent", missing_values=None), GAPS),
    (MaxAbsScaler(), scipy.sparse.csr_matrix(X)),
    (StandardScaler(with_mean=False), scipy.sparse.csr_array(X)),
]
TABLE = pd.DataFrame(
    {"age": X[:, 0], "dose": HOLES[:, 1], "colour": ["red", "blue", "green"] * 4, "x": X[:, 2]}
)
MIXED = ColumnTransformer(
    [
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["age", "dose"]),
        ("words", OneHotEncoder(handle_unknown="ignore"), ["colour"]),
    ],
    remainder="passthrough",
)


def back(model):
    """The model after a way through bytes, which a second one does not change."""
    first, second = io.BytesIO(), io.BytesIO()
    save(model, first)
    found = load(first.getvalue())
    save(found, second)
    assert second.getvalue() == first.getvalue()
    return found


def scores(model, points):
    return model.decision_function(points)


def name(one):
    return repr(one[0] if isinstance(one, tuple) else one)[:60].replace("\n", " ")


# --- pipelines ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [*((one, X) for one in NUMBERS), *OTHERS], ids=name)
def test_a_pipeline_of_any_preprocessor_comes_back(case):
    step, points = case
    words = isinstance(step, SimpleImputer) and step.strategy == "most_frequent"
    end = [OneHotEncoder()] if words else [SimpleImputer()] if points is HOLES else []
    model = make_pipeline(sklearn.clone(step), *end, SVC(kernel=Gaussian(0.3)))
    model.fit(points, LABELS)
    found = back(model)
    assert np.array_equal(scores(found, points), scores(model, points))
    assert [name for name, _ in found.steps] == [name for name, _ in model.steps]
    assert repr(found) == repr(model) or "slice" in repr(model) or "True" in repr(model)


def test_a_pipeline_of_a_table_comes_back():
    model = Pipeline([("prepare", sklearn.clone(MIXED)), ("model", SVC())]).fit(TABLE, LABELS)
    found = back(model)
    shuffled = TABLE[["x", "colour", "dose", "age"]].assign(more=1)
    for points in (TABLE, shuffled):
        assert np.array_equal(scores(found, points), scores(model, points))
    assert found.feature_names_in_.tolist() == list(TABLE.columns)
    wanted = model["prepare"].get_feature_names_out().tolist()
    assert found["prepare"].get_feature_names_out().tolist() == wanted
    assert found["prepare"].output_indices_ == model["prepare"].output_indices_


def test_columns_that_a_function_chose_are_those_it_chose():
    chosen = ColumnTransformer([("n", StandardScaler(), make_column_selector(dtype_include=float))])
    model = make_pipeline(chosen, SimpleImputer(), SVC()).fit(TABLE, LABELS)
    found = back(model)
    assert np.array_equal(scores(found, TABLE), scores(model, TABLE))
    assert found[0].transformers_[0][2] == ["age", "dose", "x"]


def test_the_output_of_steps_as_frames_comes_back():
    model = make_pipeline(StandardScaler(), SVC()).set_output(transform="pandas")
    model.fit(TABLE[["age", "x"]], LABELS)
    found = back(model)
    assert found[-1].feature_names_in_.tolist() == ["age", "x"]
    assert np.array_equal(scores(found, TABLE[["age", "x"]]), scores(model, TABLE[["age", "x"]]))


def test_a_pipeline_before_its_fit_comes_back():
    model = make_pipeline(MIXED, PCA(2), KernelRidge(alpha=0.3))
    found = back(model)
    assert repr(found) == repr(model)
    assert not hasattr(found[0], "transformers_")


def test_a_mercer_model_in_the_middle_and_at_the_end():
    model = make_pipeline(StandardScaler(), KernelPCA(2), KernelRidge()).fit(X, X[:, 0])
    assert np.array_equal(back(model).predict(X), model.predict(X))


def test_what_is_not_in_the_table_is_refused(tmp_path):
    for step in (KBinsDiscretizer(3), FunctionTransformer(np.abs)):
        model = make_pipeline(step, SVC()).fit(X, LABELS)
        with pytest.raises(FileError, match=r"StandardScaler, .*OneHotEncoder.*Pipeline; got"):
            save(model, tmp_path / "model.mercer")
        within = KernelPrototypeClassifier(Gaussian(1.0).of(step))
        with pytest.raises(FileError, match=r"one of StandardScaler, .*saved by its name"):
            save(within, tmp_path / "model.mercer")
    inside = make_pipeline(ColumnTransformer([("a", KBinsDiscretizer(3), [0])]), SVC())
    with pytest.raises(FileError, match=r"StandardScaler, .*; got KBins"):
        save(inside, tmp_path / "model.mercer")
    ends = make_pipeline(SVC(), StandardScaler())
    for model in (make_pipeline(StandardScaler(), PCA()), ends, Pipeline([("a", "passthrough")])):
        with pytest.raises(InputTypeError, match="or a Pipeline that ends in one"):
            save(model, tmp_path / "model.mercer")
    assert list(tmp_path.iterdir()) == []


# --- within a kernel ---------------------------------------------------------------------------


@pytest.mark.parametrize("case", [*((one, X) for one in NUMBERS), OTHERS[0]], ids=name)
def test_a_kernel_of_any_transformer_comes_back(case):
    step, points = case
    kernel = Gaussian(0.5).of(sklearn.clone(step).fit(points)) + Linear()
    model = SVC(kernel=kernel).fit(points, LABELS)
    found = back(model)
    assert np.array_equal(scores(found, points), scores(model, points))
    assert found.kernel == found.kernel_ == found._prepared.kernel


def test_two_transformers_of_one_class_are_told_apart():
    first, second = StandardScaler().fit(X), StandardScaler().fit(X**3)
    kernel = Gaussian(0.5).of(first) + Gaussian(0.2).of(second) + Linear().of(first)
    model = SVC(kernel=kernel).fit(X, LABELS)
    found = back(model)
    assert np.array_equal(scores(found, X), scores(model, X))
    terms = found.kernel.terms
    assert terms[0].phi is terms[2].phi
    assert np.array_equal(terms[1].phi.mean_, second.mean_)


def test_a_transformer_of_a_kernel_of_a_transformer():
    inner = KernelPCA(2, kernel=Gaussian(0.3).of(StandardScaler().fit(X))).fit(X)
    model = SVC(kernel=Gaussian(1.0).of(inner)).fit(X, LABELS)
    assert np.array_equal(scores(back(model), X), scores(model, X))


def test_a_transformer_of_the_user_goes_by_the_name_of_its_class(tmp_path):
    class Halver:
        def transform(self, X):
            return X / 2

    halver = Halver()
    model = SVC(kernel=Gaussian(1.0).of(halver)).fit(X, LABELS)
    save(model, tmp_path / "model.mercer")
    with pytest.raises(FileError, match=r"functions=\{'Halver': …\}"):
        load(tmp_path / "model.mercer")
    found = load(tmp_path / "model.mercer", {"Halver": halver})
    assert np.array_equal(scores(found, X), scores(model, X))


# --- versions ----------------------------------------------------------------------------------


def test_the_version_of_scikit_learn_is_noted(tmp_path):
    save(SVC().fit(X, LABELS), tmp_path / "plain.mercer")
    plain = content(tmp_path / "plain.mercer")[0]
    assert "scikit-learn" not in plain
    assert plain["min_reader"] == "1.0"
    save(make_pipeline(StandardScaler(), SVC()).fit(X, LABELS), tmp_path / "model.mercer")
    manifest, tensors = content(tmp_path / "model.mercer")
    assert manifest["scikit-learn"] == sklearn.__version__
    assert (manifest["min_reader"], manifest["format"]) == ("1.1", "1.2")
    older = forge(tmp_path / "old.mercer", manifest | {"scikit-learn": "1.2.3"}, tensors)
    with pytest.warns(InconsistentVersionWarning, match=r"1\.2\.3"):
        load(older)


# --- what is not whole -------------------------------------------------------------------------

FITTED = make_pipeline(StandardScaler(), PCA(2), SVC()).fit(X, LABELS)


def pieces(model, folder):
    save(model, folder / "good.mercer")
    manifest, tensors = content(folder / "good.mercer")
    return json.loads(json.dumps(manifest)), tensors


def refused(manifest, tensors, folder, match):
    with pytest.raises(FileError, match=match):
        load(forge(folder / "odd.mercer", manifest, tensors))


def test_steps_must_fit_each_other(tmp_path):
    manifest, tensors = pieces(FITTED, tmp_path)
    scaler, pca, model = manifest["steps"]
    swapped = manifest | {"steps": [pca, scaler, model]}
    refused(swapped, tensors, tmp_path, "must take the columns that step 'pca' makes, 2; got 3")
    twice = manifest | {"steps": [scaler, ["standardscaler", pca[1]], model]}
    refused(twice, tensors, tmp_path, "names of their own")
    for steps in ([], [scaler], [scaler, pca], [model, scaler], ["a"], [["a", 3]], 3):
        refused(manifest | {"steps": steps}, tensors, tmp_path, "test|must")
    unfitted = json.loads(json.dumps(manifest))
    unfitted["steps"][1][1]["state"] = {}
    names = [key for key in tensors if not key.startswith("steps.pca")]
    kept = {key: tensors[key] for key in names}
    refused(unfitted, kept, tmp_path, "fitted all, or none of them")


WITH_ARRAYS = [
    (one, points)
    for one, points in [*((one, X) for one in NUMBERS), *OTHERS]
    if type(one) in BY_KIND and type(one) is not Normalizer
]


@pytest.mark.parametrize("case", WITH_ARRAYS, ids=name)
def test_no_attribute_of_a_preprocessor_can_be_missing(case, tmp_path):
    step, points = case
    fitted = sklearn.clone(step).fit(points)
    rules = BY_KIND[type(step)].schema.attributes
    for key in [key for key, rule in rules.items() if rule.needed is True]:
        less = sklearn.clone(step)
        vars(less).update({name: value for name, value in vars(fitted).items() if name != key})
        with pytest.raises(FileError, match=f"must have the attribute {key}"):
            save(make_pipeline(less, SVC()), tmp_path / "model.mercer")


def test_arrays_of_a_preprocessor_are_checked(tmp_path):
    manifest, tensors = pieces(FITTED, tmp_path)
    mean = "steps.standardscaler.state.mean_"
    for wrong in (np.zeros(4), np.array([0, np.nan, 0]), np.zeros(3, int), np.zeros((3, 1))):
        refused(manifest, tensors | {mean: wrong}, tmp_path, "mean_ of StandardScaler must be")
    scale = "steps.standardscaler.state.scale_"
    refused(manifest, tensors | {scale: np.zeros(3)}, tmp_path, "numbers above 0")


def test_a_polynomial_of_too_many_features_is_refused(tmp_path):
    manifest, tensors = pieces(
        make_pipeline(PolynomialFeatures(2), KernelRidge()).fit(X, X[:, 0]), tmp_path
    )
    state = manifest["steps"][0][1]["state"]
    for key, value in (("_max_degree", 40), ("_max_degree", 2**53), ("_n_out_full", 2**40)):
        changed = json.loads(json.dumps(manifest))
        changed["steps"][0][1]["state"] = state | {key: value}
        refused(changed, tensors, tmp_path, "PolynomialFeatures must be")


def span(start, stop):
    return {"type": "dict", "items": {"start": start, "stop": stop}}


def test_the_parts_of_a_table_know_its_columns(tmp_path):
    model = Pipeline([("prepare", sklearn.clone(MIXED)), ("model", SVC())]).fit(TABLE, LABELS)
    manifest, tensors = pieces(model, tmp_path)
    fitted = manifest["steps"][0][1]["fitted"]
    for columns, match in (
        (["colour"], "fitted on as many"),
        (["dose", "age"], "know its columns by their names"),
        (["age", "height"], "among those that the ColumnTransformer was fitted on"),
        (["age", 1], "columns must be names or numbers"),
        (span(0, 10**15), "among those that the ColumnTransformer was fitted on"),
        (span(1, 1), "among those that the ColumnTransformer was fitted on"),
        (span(0, True), "columns must be names or numbers"),
    ):
        changed = json.loads(json.dumps(manifest))
        changed["steps"][0][1]["fitted"] = [[*fitted[0][:2], columns], *fitted[1:]]
        refused(changed, tensors, tmp_path, match)
    for parts in (fitted[:1], fitted[::-1], [*fitted, fitted[0]], [], [3], [["numbers"]]):
        changed = json.loads(json.dumps(manifest))
        changed["steps"][0][1]["fitted"] = parts
        refused(changed, tensors, tmp_path, "must")


def test_an_imputer_and_its_indicator_agree(tmp_path):
    model = make_pipeline(SimpleImputer(add_indicator=True), SVC()).fit(HOLES, LABELS)
    manifest, tensors = pieces(model, tmp_path)
    imputer = manifest["steps"][0][1]
    changed = json.loads(json.dumps(manifest))
    changed["steps"][0][1]["parameters"] = imputer["parameters"] | {"add_indicator": False}
    refused(changed, tensors, tmp_path, "must take the columns that step 'simpleimputer' makes")
    changed = json.loads(json.dumps(manifest))
    changed["steps"][0][1]["state"]["indicator_"]["state"]["_precomputed"] = False
    refused(changed, tensors, tmp_path, "indicator_ of SimpleImputer must be")
