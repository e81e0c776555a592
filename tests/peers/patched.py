"""A pytest plugin for a process of its own: patches scikit-learn, and writes down what happened.

The environment variable MERCER_OUTCOMES names the file of outcomes: JSON, by the id of each test.
"""

import json
import os
from pathlib import Path

from mercer.sklearn import serving
from mercer.sklearn.patching import patch_sklearn

serving.ALWAYS = True  # scikit-learn's tests are small
patch_sklearn()  # before the test files are imported

outcomes = {}


def pytest_runtest_logreport(report):
    test = report.nodeid.partition("::")[2]
    if report.failed:
        outcomes[test] = "failed"
    elif report.when == "call" or report.skipped:
        outcomes.setdefault(test, report.outcome)


def pytest_collectreport(report):
    if report.failed:
        outcomes[report.nodeid] = "failed"


def pytest_sessionfinish():
    Path(os.environ["MERCER_OUTCOMES"]).write_text(json.dumps(outcomes))
