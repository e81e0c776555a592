"""Targets, weights and groups from lists, arrays and columns of data frames."""

from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from estimators import CLASSIFIERS, ESTIMATORS, LABELS, NUMBERS, REGRESSORS, X, target
from sklearn.model_selection import GroupKFold

from mercer import SVC, KernelPerceptron, KernelRidge, KernelRidgeClassifier, KernelRidgeCV
from mercer.checks import InputError, InputTypeError

N = len(X)
WORDS = np.array(["cat", "dog"])[LABELS].tolist()


def arrow(values):
    return pytest.importorskip("pyarrow").array(values)


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "pandas": lambda values: pd.Series(values, index=range(5, 5 + len(values))),
    "pandas nullable": lambda values: pd.Series(values).convert_dtypes(),
    "pandas categories": lambda values: pd.Series(values, dtype="category"),
    "objects": lambda values: np.array(values, dtype=object),
    "polars": pl.Series,
    "polars frame": lambda values: pl.DataFrame({"y": values}),
    "arrow": arrow,
}


def fitted(kind, *args, **options):
    return kind().fit(X, *args, **options)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_classes_from_any_container(kind, container):
    make = CONTAINERS[container]
    for values in (WORDS, LABELS.tolist()):
        found = fitted(kind, make(values))
        wanted = fitted(kind, np.array(values))
        assert found.classes_.tolist() == wanted.classes_.tolist()
        assert np.array_equal(found.predict(X), wanted.predict(X))


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("container", [c for c in CONTAINERS if "categories" not in c])
@pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)
def test_numbers_from_any_container(kind, container):
    found = fitted(kind, CONTAINERS[container](NUMBERS.tolist())).predict(X)
    assert np.array_equal(found.reshape(-1), fitted(kind, NUMBERS).predict(X))


@pytest.mark.parametrize("container", [pd.Series, pl.Series, arrow, list])
def test_weights_and_groups_from_any_container(container):
    weight = np.linspace(0.5, 2.0, N)
    weighted = [kind for kind in ESTIMATORS if "sample_weight" in signature(kind.fit).parameters]
    assert len(weighted) > 10
    for kind in weighted:
        found = kind().fit(X, target(kind), sample_weight=container(weight.tolist()))
        wanted = kind().fit(X, target(kind), sample_weight=weight)
        use = "predict" if hasattr(kind, "predict") else "transform"
        assert np.array_equal(getattr(found, use)(X), getattr(wanted, use)(X))
    groups = np.arange(N) % 4
    model = KernelRidgeCV(cv=GroupKFold(4)).fit(X, NUMBERS, groups=container(groups.tolist()))
    wanted = KernelRidgeCV(cv=GroupKFold(4)).fit(X, NUMBERS, groups=groups)
    assert model.best_score_ == wanted.best_score_
    with pytest.raises(InputError, match="groups must have one entry for each of the 14 points"):
        KernelRidgeCV(cv=GroupKFold(4)).fit(X, NUMBERS, groups=container([1, 2]))


MISSING = {
    "None": [*WORDS[:-1], None],
    "NaN in a list": [*WORDS[:-1], float("nan")],
    "objects": np.array([*WORDS[:-1], None], dtype=object),
    "pandas": pd.Series([*WORDS[:-1], None]),
    "pandas string": pd.Series([*WORDS[:-1], None], dtype="string"),
    "pandas category": pd.Series([*WORDS[:-1], None], dtype="category"),
    "polars": pl.Series([*WORDS[:-1], None]),
    "numbers": [*LABELS[:-1].tolist(), float("nan")],
    "polars numbers": pl.Series([*LABELS[:-1].tolist(), None]),
    "polars truth values": pl.Series([*(LABELS[:-1] > 0).tolist(), None]),
    "dates": np.array(["2024-01-01", "2024-01-02"] * 6 + ["2024-01-01", "NaT"], dtype="M8[D]"),
}


@pytest.mark.parametrize("name", MISSING)
@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_a_missing_class_is_named_by_its_row(kind, name):
    told = rf"{kind.__name__}: y must have a class for every point; got .* in row 13 \(1 such row\)"
    with pytest.raises(InputError, match=told):
        fitted(kind, MISSING[name])


@pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)
def test_a_missing_number_is_named_by_its_row(kind):
    values = [*NUMBERS[:-1].tolist(), None]
    for y in (values, pd.Series(values), pd.Series(values, dtype="Float64"), pl.Series(values)):
        with pytest.raises(InputError, match=r"y must have finite numbers only; got NaN in row 13"):
            fitted(kind, y)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS], ids=lambda kind: kind.__name__)
def test_complex_targets_are_refused(kind):
    for y in (target(kind) + 0j, (target(kind) + 0j).tolist(), pd.Series(target(kind) + 0j)):
        with pytest.raises(
            InputTypeError, match=f"{kind.__name__}: y must hold .*Complex data not"
        ):
            fitted(kind, y)
    with pytest.raises(InputTypeError, match=f"{kind.__name__}: "):
        fitted(kind, np.array([1j, 2j] * 7, dtype=object))


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_complex_points_are_refused(kind):
    for points in (X + 0j, (X + 0j).tolist(), scipy.sparse.csr_array(X + 0j), pd.DataFrame(X + 0j)):
        with pytest.raises(InputTypeError, match="Complex data not supported"):
            kind().fit(points, target(kind))
    model = kind().fit(X, target(kind))
    for name in ("predict", "transform", "decision_function"):
        if hasattr(model, name):
            with pytest.raises(InputTypeError, match="Complex data not supported"):
                getattr(model, name)(X + 0j)


def test_complex_weights_and_matrices_are_refused():
    with pytest.raises(InputTypeError, match="sample_weight must be 14 numbers; got dtype complex"):
        KernelRidge().fit(X, NUMBERS, sample_weight=np.ones(N) + 0j)
    with pytest.raises(InputTypeError, match="Complex data not supported"):
        SVC(kernel="precomputed").fit(X @ X.T + 0j, LABELS)
    with pytest.raises(InputTypeError, match="fn must return a matrix of real numbers"):
        SVC(kernel=lambda left, right: left @ right.T * 1j).fit(X, LABELS)


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("y", "told"),
    [
        ([*WORDS[:-1], 3], r"got 'cat' \(str\) in row 0 and 3 \(int\) in row 13"),
        (np.array([*WORDS[:-1], 3], dtype=object), r"3 \(int\) in row 13.*str\(c\) for c in y"),
        ([[1], [1, 2]] * 7, "lists of several lengths"),
        (np.zeros((14, 1, 1)), r"must be 1-D.*got shape \(14, 1, 1\)"),
        (np.array([["a", "b"]] * 14), r"must be 1-D.*got shape \(14, 2\)"),
        ("cat", "got 'cat'. Hand in a list"),
        ({"a": 1}, "Hand in a list"),
        (NUMBERS, "y must hold classes; got .* in row 0, dtype float64. Unknown label type"),
        (["cat"] * 14, "at least two classes; got 1 class, 'cat'"),
        ([0, 1], "y must have 14 labels; got 2"),
        (None, "requires y to be passed"),
    ],
    ids=range(11),
)
def test_what_is_no_class_is_refused(kind, y, told):
    with pytest.raises(InputError, match=told):
        fitted(kind, y)


@pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("y", "told"),
    [
        ([*NUMBERS[:-1].tolist(), "a"], "y must hold real numbers; got 'a' in row 13"),
        (WORDS, "y must hold real numbers; got dtype <U3"),
        (np.array(["2024-01-01"] * 14, dtype="M8[D]"), r"got dtype datetime64.*total_seconds"),
        ([[1], [1, 2]] * 7, "lists of several lengths"),
        (np.zeros((14, 1, 1)), "one row for each of the 14 points"),
        (np.zeros((14, 0)), "y must have a column"),
        (3.0, "Hand in a list"),
        (None, "requires y to be passed"),
    ],
    ids=range(8),
)
def test_what_is_no_number_is_refused(kind, y, told):
    with pytest.raises(InputError, match=told):
        fitted(kind, y)


def test_several_labels_from_frames_and_sparse_matrices():
    table = np.column_stack([LABELS, 1 - LABELS, X[:, 0] > 0]).astype(int)
    wanted = KernelRidgeClassifier().fit(X, table).predict(X)
    columns = {name: table[:, j] for j, name in enumerate("abc")}
    for y in (pd.DataFrame(columns), pl.DataFrame(columns), scipy.sparse.csr_array(table)):
        assert np.array_equal(KernelRidgeClassifier().fit(X, y).predict(X), wanted)
    with pytest.raises(InputError, match="y must have 14 rows; got 3"):
        KernelRidgeClassifier().fit(X, table[:3])
    holed = table.astype(float)
    holed[4, 1] = np.nan
    with pytest.raises(InputError, match="NaN in row 4, column 1"):
        KernelRidgeClassifier().fit(X, holed)


def test_streams_name_what_is_missing():
    model = KernelPerceptron().partial_fit(X, pl.Series(WORDS), classes=pl.Series(["cat", "dog"]))
    assert model.classes_.tolist() == ["cat", "dog"]
    with pytest.raises(InputError, match="got None in row 1"):
        model.partial_fit(X[:2], ["cat", None])
    with pytest.raises(InputError, match="classes must be a list of words, or of numbers"):
        KernelPerceptron().partial_fit(X, WORDS, classes=["cat", 3])


def test_a_model_does_not_change_with_the_target_it_was_given():
    y = NUMBERS.copy()
    for kind in REGRESSORS:
        model = kind().fit(X, y)
        before = model.predict(X)
        y += 1.0
        assert np.array_equal(model.predict(X), before)
