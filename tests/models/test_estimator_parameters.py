"""Every parameter of every estimator with values it must not have; estimators before their fit."""

import inspect

import numpy as np
import pytest
from estimators import ESTIMATORS, LABELS, QUICK, X, target
from sklearn.exceptions import NotFittedError

from mercer import SVC, KernelRidgeClassifier, KernelRidgeClassifierCV, KernelRidgeCV, NuSVC
from mercer.checks import InputError, InputTypeError, MercerError

BAD = {
    "text": "nonsense",
    "empty text": "",
    "bytes": b"x",
    "negative": -7,
    "negative float": -0.5,
    "zero": 0,
    "half": 0.5,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "huge": 10**400,
    "complex": 1j,
    "None": None,
    "True": True,
    "vector": np.array([1.0, np.nan, 3.0]),
    "matrix": np.ones((2, 2)),
    "list": [1, "a"],
    "empty list": [],
    "empty tuple": (),
    "mapping": {"a": 1},
    "class": int,
    "object": object(),
}

# What some of these values stand for: parameters that may be so, and are then fitted.
GOOD = {
    "text": {"checkpoint"},
    "zero": {
        *("alpha", "alphas", "coef0", "epsilon", "shrinkage", "random_state", "tol", "verbose"),
        *("average", "break_ties", "center", "fit_intercept", "fit_inverse_transform"),
        *("phase", "probability", "remove_zero_eig", "share", "shuffle", "degree"),
        *("overlap", "steps"),
    },
    "True": {
        *("average", "break_ties", "center", "fit_intercept", "fit_inverse_transform", "verbose"),
        *("phase", "probability", "remove_zero_eig", "shuffle", "coef0"),
    },
    "half": {
        *("C", "alpha", "alphas", "epsilon", "gamma", "gap_tol", "nu", "share", "shrinkage"),
        *("overlap", "time_limit", "tol", "width"),
    },
    "infinity": {"C"},
    "matrix": {"centers"},  # two points of two columns
    "class": {"weights"},  # a class is a function of the distances, if an odd one
}
OPTIONAL = {
    *(
        "alphas",
        "approximation",
        "budget",
        "callback",
        "checkpoint",
        "class_weight",
        "cv",
        "gamma",
        "kernel",
        "kernels",
        "leaf_rows",
    ),
    *("max_iter", "n_centers", "n_components", "n_jobs", "priors", "random_state", "scaling"),
    *("kernels", "scoring", "time_limit"),
}
CASES = [(kind, name) for kind in ESTIMATORS for name in kind().get_params(deep=False)]


@pytest.mark.filterwarnings("ignore")  # values that are no good but allowed may not converge
@pytest.mark.parametrize(("kind", "name"), CASES, ids=lambda c: getattr(c, "__name__", c))
def test_a_bad_value_is_refused_by_its_name(kind, name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where a text may become a file
    for what, value in BAD.items():
        try:
            kind(**QUICK.get(kind, {}) | {name: value}).fit(X, target(kind))
        except MercerError as error:
            told = str(error)
            assert name in told, (what, told)
            assert "must" in told, (what, told)
        else:
            fine = name in OPTIONAL if value is None else name in GOOD.get(what, ())
            assert fine, f"{kind.__name__}({name}={value!r}) was fitted"


def test_the_table_of_good_values_is_used():
    names = {name for _, name in CASES}
    assert names >= OPTIONAL
    assert set().union(*GOOD.values()) <= names


def test_costs_of_machines():
    for C in ("a", None, [1.0], 1j):
        with pytest.raises(InputTypeError, match=r"SVC: C must be a finite number above 0; got"):
            SVC(C=C).fit(X, LABELS)
    with pytest.raises(InputError, match="C must be a finite number above 0; got -1"):
        SVC(C=-1).fit(X, LABELS)


@pytest.mark.parametrize("kind", [KernelRidgeCV, KernelRidgeClassifierCV])
def test_folds_and_scorers_are_named(kind):
    y = target(kind)
    for cv, told in (
        (1, r"cv must be .*k-fold"),
        ("five", "cv must be a number of folds"),
        ([([0, 1], [99])], "rows from 99 to 99 of 14"),
        ([([0.5, 1], [2])], "are no rows"),
    ):
        with pytest.raises(InputError, match=told):
            kind(cv=cv).fit(X, y)
    with pytest.raises(
        InputError, match=r"scoring must .*got 'accurracy'.*Did you mean 'accuracy'"
    ):
        kind(scoring="accurracy").fit(X, y)


def test_class_weights_are_named():
    with pytest.raises(InputError, match=r"class_weight must .*classes \[0, 1\]; got \{'a': 1\}"):
        SVC(class_weight={"a": 1}).fit(X, LABELS)
    with pytest.raises(InputError, match=r"class_weight\[1\] must be a finite number at least 0"):
        SVC(class_weight={0: 1.0, 1: -2.0}).fit(X, LABELS)
    with pytest.raises(InputTypeError, match="Did you mean 'balanced'"):
        SVC(class_weight="balance").fit(X, LABELS)


# --- before a fit --------------------------------------------------------------------------------

NOT_YET = {"partial_fit"}  # it needs no fit


def calls(method):
    """Arguments that a method takes, as far as X and y go."""
    needed = [
        parameter
        for parameter in inspect.signature(method).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    return [X, LABELS][: len(needed)]


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_an_unfitted_estimator_says_so(kind):
    model = kind()
    if "probability" in model.get_params():
        model.set_params(probability=True)
    tried = 0
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        if (
            name.startswith("__")
            or name in NOT_YET
            or "mercer" not in str(getattr(getattr(found, "fget", found), "__module__", ""))
        ):
            continue
        if isinstance(found, property):
            with pytest.raises(NotFittedError):
                getattr(model, name)
            tried += 1
        elif not name.startswith(("_", "fit", "set_")) and callable(getattr(model, name)):
            method = getattr(model, name)
            with pytest.raises(NotFittedError):
                method(*calls(method))
            tried += 1
    assert tried >= 1


@pytest.mark.parametrize("name", ["support_vectors_", "coef_"])
def test_attributes_of_an_unfitted_machine_do_not_exist(name):
    assert not hasattr(SVC(kernel="linear"), name)
    assert hasattr(SVC(kernel="linear").fit(X, LABELS), name)


@pytest.mark.parametrize("kind", [SVC, NuSVC, KernelRidgeClassifier, KernelRidgeClassifierCV])
def test_probability_set_after_the_fit(kind):
    model = kind(probability=False).fit(X, LABELS)
    assert not hasattr(model, "predict_proba")
    model.set_params(probability=True)
    with pytest.raises(NotFittedError, match=f"{kind.__name__}: probability must be True when"):
        model.predict_proba(X)
    assert model.fit(X, LABELS).predict_proba(X).shape == (14, 2)
    model.set_params(probability=False).fit(X, LABELS).set_params(probability=True)
    with pytest.raises(NotFittedError, match="fitted with probability=False"):  # no former slopes
        model.predict_proba(X)
