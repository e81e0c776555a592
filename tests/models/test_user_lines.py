"""Warnings are about the line of the user that led to them, whatever lies in between."""

import ast
import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest
from estimators import LABELS, NUMBERS, X
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    SVC,
    SVR,
    KernelMachineClassifier,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    KernelRidgeCV,
    svm_path,
    tune,
)

pandas = pytest.importorskip("pandas")
TABLE = pandas.DataFrame(X, columns=["a", "b"])
NOT_MERCER = np.where(np.eye(14) > 0, 0.0, 1.0)  # K of no kernel: its trace is 0
HARD = SVC(C=1e3, max_iter=1)


def slow(record):
    return True  # stop at once


ENTRIES = {
    "fit": lambda: HARD.fit(X, LABELS),
    "refit": lambda: KernelRidge(solver="cg", max_iter=1, tol=1e-12).fit(X, NUMBERS),
    "fit_transform": lambda: KernelPCA(13, kernel="linear").fit_transform(X),
    "partial_fit": lambda: KernelPerceptron(callback=slow).partial_fit(X, LABELS, [0, 1]),
    "column of numbers": lambda: SVR().fit(X, NUMBERS[:, None]),
    "column of classes": lambda: SVC().fit(X, LABELS[:, None]),
    "a search": lambda: KernelRidgeCV(callback=slow).fit(X, NUMBERS),
    "predict without names": lambda: SVC().fit(TABLE, LABELS).predict(X),
    "predict with names": lambda: SVC().fit(X, LABELS).predict(TABLE),
    "score": lambda: SVC().fit(TABLE, LABELS).score(X, LABELS),
    "tune": lambda: tune(HARD, X, LABELS, {"tol": [1e-3, 1e-2]}, cv=2),
    "tune in threads": lambda: tune(
        SVC(kernel="precomputed"), NOT_MERCER, LABELS, {"C": [1, 2]}, cv=2
    ),
    "svm_path": lambda: svm_path(X, LABELS, Cs=[1e3, 1e4], max_iter=1),
    "cross_val_score": lambda: cross_val_score(HARD, X, LABELS, cv=2),
    "GridSearchCV": lambda: GridSearchCV(HARD, {"tol": [1e-3, 1e-2]}, cv=2).fit(X, LABELS),
    "Pipeline": lambda: make_pipeline(StandardScaler(), HARD).fit(X, LABELS),
    "BaggingClassifier": lambda: BaggingClassifier(HARD, 2).fit(X, LABELS),
    "MultiOutputRegressor": lambda: MultiOutputRegressor(
        KernelRidge(solver="cg", max_iter=1, tol=1e-12)
    ).fit(X, np.c_[NUMBERS, NUMBERS**2]),
    "Newton": lambda: KernelMachineClassifier(alpha=1e-8, max_iter=1).fit(X, LABELS),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_warnings_are_about_the_line_of_the_user(entry):
    work = ENTRIES[entry]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
    lines, first = inspect.getsourcelines(work)
    assert all(first <= warning.lineno < first + len(lines) for warning in caught)


def test_only_one_function_warns():
    source = Path(mercer.__file__).parent
    calls = []
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name = ast.unparse(node.func)
                calls += [(path.name, name)] if name.startswith("warnings.warn") else []
    assert calls == [("monitor.py", "warnings.warn_explicit")]
