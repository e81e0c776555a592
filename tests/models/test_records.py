"""Records at logging.getLogger("mercer"), and warnings at the user's line."""

import logging
import subprocess
import sys
import warnings

import numpy as np
import pytest
from estimators import ESTIMATORS, LABELS, NUMBERS, X, target
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, KernelKMeans, KernelPCA, KernelPerceptron, KernelRidge
from mercer.checks import InputError
from mercer.features import GramTransformer
from mercer.kernels import Gaussian, Spectrum

MANY = np.random.default_rng(1).normal(size=(300, 2))


@pytest.fixture
def records(caplog):
    caplog.set_level(logging.DEBUG, logger="mercer")
    return lambda: [(r.levelname, r.getMessage()) for r in caplog.records if r.name == "mercer"]


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_fit_leaves_its_start_and_its_end(kind, records):
    model = kind().fit(X, target(kind))
    who = kind.__name__
    starts = [r for r in records() if r[1].startswith(f"{who}: fit starts")]
    ends = [r for r in records() if r[1].startswith(f"{who}: fit ends")]
    assert [level for level, _ in starts] == ["DEBUG"]
    usual = getattr(kind(), "kernel", None)
    assert starts[0][1] == f"{who}: fit starts: X 14 x 2, kernel {usual!r}"
    assert [level for level, _ in ends] == ["INFO"]
    told = ends[0][1]
    assert model.certificate_.status in told
    assert model.certificate_.plan in told
    assert repr(model.kernel_) in told
    assert "X 14 x 2" in told
    assert " s, " in told


def test_the_plan_of_the_matrix_is_recorded(records):
    KernelRidge(kernel=Gaussian(0.5)).fit(X, NUMBERS)
    plans = [told for level, told in records() if told.startswith("plan of K") and level == "DEBUG"]
    assert plans
    assert plans[0].startswith("plan of K, 14 x 14, of Gaussian(gamma=0.5): ")


def test_fits_by_another_name_are_recorded_once(records):
    KernelPCA(2).fit_transform(X)
    KernelKMeans(2).fit_transform(X)
    KernelKMeans(2).fit_predict(X)
    GramTransformer().fit_transform(X)
    KernelPerceptron().partial_fit(X, LABELS, classes=[0, 1])
    ends = [told.partition(":")[0] for _, told in records() if "fit ends" in told]
    assert ends == [
        "KernelPCA",
        "KernelKMeans",
        "KernelKMeans",
        "GramTransformer",
        "KernelPerceptron",
    ]


def test_objects_are_counted(records):
    SVC(kernel=Spectrum(1)).fit(["ab", "ba", "bb", "aa"], [0, 1, 1, 0])
    assert ("DEBUG", f"SVC: fit starts: X 4 items, kernel {Spectrum(1)!r}") in records()


def test_a_failed_fit_is_recorded(records):
    with pytest.raises(InputError):
        SVC(C=-1).fit(X, LABELS)
    level, told = records()[-1]
    assert level == "INFO"
    assert told.startswith("SVC: fit failed after ")
    assert "InputError: SVC: C must be" in told


def test_a_warning_is_recorded_and_points_at_the_user(records):
    with pytest.warns(ConvergenceWarning) as caught:
        SVC(C=1e3, max_iter=1).fit(X, LABELS)
    assert [warning.filename for warning in caught] == [__file__]
    told = str(caught[0].message)
    assert ("INFO", f"warning: {told}") in records()
    ends = [told for _, told in records() if "fit ends" in told]
    assert "iteration limit" in ends[0]


@pytest.mark.parametrize(
    "fit",
    [
        lambda: KernelPerceptron(max_iter=1).fit(X, LABELS),
        lambda: KernelPCA(13, kernel="linear").fit(X),
        lambda: KernelPCA(13, kernel="linear").fit(X, None),
        lambda: KernelKMeans(9, max_iter=1, n_init=1).fit(MANY),
        lambda: KernelRidge(1e-9, solver="cg", max_iter=1, tol=1e-12).fit(X, NUMBERS),
        lambda: SVC(kernel="precomputed").fit(-np.eye(14), LABELS),
    ],
)
def test_warnings_point_at_the_user(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}


def test_nothing_is_shown_and_no_handler_is_installed_but_one_that_is_silent():
    code = """
import logging, warnings
import numpy as np
import mercer
warnings.simplefilter("ignore")
mercer.SVC(C=1e3, max_iter=1).fit(np.random.default_rng(0).normal(size=(20, 2)), [0, 1] * 10)
logger = logging.getLogger("mercer")
print([type(h).__name__ for h in logger.handlers], logger.level, logger.propagate)
print(logging.getLogger().handlers)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['NullHandler'] 0 True\n[]\n"
    assert done.stderr == ""
