"""Data and models of the tests of reports; what takes a second is made once."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from report_samples import flats, rows

from mercer import AutoKernelClassifier, AutoKernelRegressor, KernelRidge
from mercer.kernels import Gaussian
from mercer.monitor import Monitor
from mercer.report import make_report
from mercer.report.clock import Clock


@pytest.fixture
def clock():
    return Clock(monitor=Monitor(), parts=1)


@pytest.fixture(scope="session")
def automatic():
    """A regression on a table, found by mercer, and its report."""
    X, y = flats()
    model = AutoKernelRegressor(max_candidates=8, random_state=0).fit(X, y)
    return model, X, y, make_report(model, X, y, time_limit=None, source="flats.csv")


@pytest.fixture(scope="session")
def classes():
    """A classification into three classes on a table, and its report with test rows."""
    X, rent = flats(240)
    y = pd.Series(np.digitize(rent, [950, 1300]), name="price").map({0: "low", 1: "mid", 2: "top"})
    y = y.astype(object)
    train, test = slice(0, 180), slice(180, 240)
    model = AutoKernelClassifier(max_candidates=6, random_state=0).fit(X[train], y[train])
    options = {"X_test": X[test], "y_test": y[test], "time_limit": None}
    return model, X, y, make_report(model, X[train], y[train], **options)


@pytest.fixture(scope="session")
def ridge():
    """A kernel ridge regression on rows of numbers, and its report."""
    X, y, _ = rows()
    model = KernelRidge(0.05, kernel=Gaussian(gamma=0.5)).fit(X, y)
    return model, X, y, make_report(model, X, y, time_limit=None)


@pytest.fixture(scope="session")
def facts(automatic):
    """Facts of a good model in which the rules of findings find little, to be changed by tests."""
    return dataclasses.replace(automatic[3].facts, findings=(), edges=(), alone={})
