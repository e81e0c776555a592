"""Patching scikit-learn: who gets whose classes, and when."""

import pickle
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
import sklearn.metrics
import sklearn.metrics.pairwise
import sklearn.svm
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
import mercer.sklearn as ours
from mercer.sklearn.patching import ESTIMATORS, FUNCTIONS, HOMES

THEIR_SVC = sklearn.svm.SVC
THEIR_RBF = sklearn.metrics.pairwise.rbf_kernel
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "mercer.sklearn", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_is_exchanged_and_given_back(name):
    place = ESTIMATORS[name][0]
    module = import_module(place)
    own = getattr(module, name)
    mercer.patch_sklearn()
    try:
        assert name in dir(module)
        assert getattr(module, name) is getattr(ours, name)
        assert issubclass(getattr(module, name), own)
        assert getattr(module, name).__name__ == own.__name__
    finally:
        mercer.unpatch_sklearn()
    assert getattr(module, name) is own
    assert "__getattr__" not in vars(module)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_are_scikit_learns(name):
    own, mine = getattr(import_module(ESTIMATORS[name][0]), name), getattr(ours, name)
    assert mine().get_params() == own().get_params()
    assert repr(mine()) == repr(own())
    assert mine.__doc__ == own.__doc__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_exchanged_and_given_back(name):
    own = {place: getattr(sys.modules[place], name, None) for place in HOMES}
    ours.patch_sklearn()
    try:
        assert getattr(sklearn.metrics.pairwise, name) is getattr(ours, name)
    finally:
        ours.unpatch_sklearn()
    assert {place: getattr(sys.modules[place], name, None) for place in HOMES} == own


def test_tables_of_metrics_follow(patched):
    assert sklearn.metrics.pairwise.PAIRWISE_KERNEL_FUNCTIONS["rbf"] is ours.rbf_kernel
    ours.unpatch_sklearn()
    assert sklearn.metrics.pairwise.PAIRWISE_KERNEL_FUNCTIONS["rbf"] is THEIR_RBF
    ours.patch_sklearn()


def test_patching_twice_is_patching_once():
    ours.unpatch_sklearn()
    assert not ours.is_patched()
    ours.patch_sklearn()
    ours.patch_sklearn()
    assert ours.is_patched()
    ours.unpatch_sklearn()
    assert sklearn.svm.SVC is THEIR_SVC


def test_names_that_are_not_there(patched):
    with pytest.raises(AttributeError, match=r"module 'sklearn\.svm' has no attribute 'nonsense'"):
        sklearn.svm.nonsense  # noqa: B018
    with pytest.raises(AttributeError, match="nonsense"):
        ours.nonsense  # noqa: B018
    assert "SVC" in dir(ours)


def test_what_was_pickled_before_is_loaded_after():
    before = pickle.dumps(THEIR_SVC().fit(X, Y))
    ours.patch_sklearn()
    try:
        loaded = pickle.loads(before)
        assert type(loaded) is THEIR_SVC
        during = pickle.dumps(sklearn.svm.SVC().fit(X, Y))
    finally:
        ours.unpatch_sklearn()
    mine = pickle.loads(during)
    assert type(mine) is ours.SVC
    np.testing.assert_array_equal(mine.predict(X), loaded.predict(X))


def test_pipelines_searches_and_workers(patched):
    model = make_pipeline(StandardScaler(), sklearn.svm.SVC())
    search = GridSearchCV(model, {"svc__C": [0.1, 1.0]}, cv=2, n_jobs=2).fit(X, Y)
    assert isinstance(search.best_estimator_[-1], ours.SVC)
    assert isinstance(clone(model)[-1], ours.SVC)
    kinds = Parallel(n_jobs=2)(delayed(kind_of)(sklearn.svm.SVC()) for _ in range(2))
    assert kinds == ["mercer.sklearn.machines"] * 2


def kind_of(model):
    return type(model.fit(X, Y)).__module__


def test_a_program_runs_unchanged(tmp_path):
    (tmp_path / "helper.py").write_text("VALUE = 7\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom helper import VALUE\nfrom sklearn.svm import SVC\n"
        "if __name__ == '__main__':\n    print(SVC.__module__, VALUE, sys.argv[1:])\n"
    )
    done = run(str(script), "--flag", "x")
    assert done.stdout == "mercer.sklearn.machines 7 ['--flag', 'x']\n", done.stderr


def test_modules_are_loaded_when_a_program_asks_for_them():
    code = (
        "import sys; assert 'sklearn.decomposition' not in sys.modules; "
        "from sklearn.decomposition import KernelPCA, PCA; "
        "import mercer, sklearn.decomposition as d; "
        "print(KernelPCA.__module__, PCA.__module__.partition('.')[0]); mercer.unpatch_sklearn(); "
        "print(d.KernelPCA.__module__); import sklearn.neighbors as n; "
        "print(n.KNeighborsClassifier.__module__)"
    )
    done = run("-c", code)
    lines = ["mercer.sklearn.kernel_pca sklearn", "sklearn.decomposition._kernel_pca"]
    assert done.stdout.splitlines() == [*lines, "sklearn.neighbors._classification"], done.stderr


def test_code_and_modules_run_as_well():
    code = "from sklearn.svm import SVR; print(SVR.__module__, __name__)"
    assert run("-c", code).stdout == "mercer.sklearn.machines __main__\n"
    assert "Zen" in run("-m", "this").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ((), 2, "usage: python -m mercer.sklearn"),
        (("--help",), 0, "usage: python -m mercer.sklearn"),
        (("-c",), 2, "-c needs a value"),
        (("missing.py",), 2, "there is no file missing.py"),
    ],
)
def test_usage(arguments, code, text):
    done = run(*arguments)
    assert done.returncode == code
    assert text in done.stdout + done.stderr
