"""Kernel ridge regression that is stopped: time limits, callbacks, progress, Ctrl-C."""

import re
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelRidge, KernelRidgeClassifier, monitor
from mercer.kernels import FunctionKernel, Gaussian, Linear
from mercer.status import Status

random = np.random.default_rng(21)
X = random.normal(size=(60, 3))
Y = np.column_stack([np.sin(X[:, 0]) + 2.0, X[:, 1] * X[:, 2]])
WEIGHT = random.uniform(0.3, 2.5, size=60)
LARGE = random.normal(size=(150, 3))
LARGE_Y = np.sin(2 * LARGE[:, 0]) + LARGE[:, 1]
K = Gaussian(0.4).formula(X, X)


class Clock:
    """The clock of time limits, which only its kernel moves: a millisecond for ten pairs."""

    def __init__(self):
        self.kernel = FunctionKernel(self.values)
        self.reset()

    def reset(self):
        self.start, self.calls = time.monotonic(), []

    def values(self, A, B):
        self.calls.append(len(A) * len(B))
        return np.exp(-0.4 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    def monotonic(self):
        return self.start + 1e-4 * sum(self.calls)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(monitor, "time", made)
    return made


@pytest.mark.parametrize("solver", ["cg", "cholesky", "nystrom"])
def test_a_time_limit_ends_a_fit_between_two_blocks(solver, clock):
    points, y = LARGE, LARGE_Y
    exact = KernelRidge(0.01, kernel=Gaussian(0.4)).fit(points, y).predict(points)
    seen = set()
    whole = {"cg": 60.0, "cholesky": 5.0, "nystrom": 4.0}[solver]
    for seconds in [*np.linspace(1e-3, 1.0, 60) * whole, 1e4]:
        clock.reset()
        model = KernelRidge(
            0.01,
            kernel=clock.kernel,
            solver=solver,
            time_limit=seconds,
            memory_limit="2MB" if solver == "cholesky" else "800kB",
            n_centers=60,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(points, y)
        found, pairs = model.certificate_, np.array(clock.calls)
        seen.add((found.status, found.iterations > 0))
        assert np.isfinite(model.predict(points)).all()
        if found.status == "time limit":
            assert "Raise time_limit" in str(caught[0].message)
            begun = 1e-4 * (np.cumsum(pairs) - pairs)
            late = begun > seconds + 0.05
            assert pairs[late].max(initial=0) <= 32**2  # only blocks of the diagonal
        else:
            assert not caught
        if found.iterations > 0:
            assert model.score(points, y) > 0
            assert np.abs(model.predict(points) - exact).max() <= found.error_bound < np.inf
    ends = {"cg": "converged", "cholesky": "exact", "nystrom": "exact"}[solver]
    assert {("time limit", False), (ends, solver == "cg")} <= seen
    assert (("time limit", True) in seen) == (solver == "cg")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_classifier_is_finished_only_with_its_probabilities(clock):
    points, y = LARGE, LARGE_Y > 0
    options = {"kernel": clock.kernel, "solver": "cg", "memory_limit": "5MB"}
    wanted = KernelRidgeClassifier(0.1, **options).fit(points, y)
    whole, stopped = 1e-4 * sum(clock.calls), 0
    for seconds in np.linspace(0.1, 1.1, 16) * whole:
        clock.reset()
        model = KernelRidgeClassifier(0.1, time_limit=seconds, **options).fit(points, y)
        chances = model.predict_proba(points)
        assert np.array_equal(chances.argmax(axis=1), model.predict(points))
        same = np.allclose(model.slopes_, wanted.slopes_, rtol=1e-6)
        assert same == (model.certificate_.status == "converged")
        assert same or model.slopes_.tolist() == [1.0]  # nothing is known of them
        stopped += not same and model.certificate_.residual <= 1e-6
    assert same
    assert stopped > 0  # after the solution was found


@pytest.mark.parametrize("solver", ["primal", "cholesky", "cg", "nystrom"])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_fit_without_time_is_the_mean(solver, intercept):
    options = {"kernel": Linear(), "solver": solver, "fit_intercept": intercept}
    with pytest.warns(ConvergenceWarning, match="got nan .time limit, 0 iterations"):
        model = KernelRidge(time_limit=1e-9, **options).fit(X, Y, sample_weight=WEIGHT)
    mean = WEIGHT @ Y / WEIGHT.sum() if intercept else np.zeros(2)
    assert np.allclose(model.predict(X), mean, rtol=1e-12)
    assert model.certificate_.status == "time limit"
    assert model.certificate_.solver == solver
    with pytest.warns(ConvergenceWarning, match="Raise time_limit"):
        classes = KernelRidgeClassifier(time_limit=1e-9, **options).fit(X, Y[:, 1] > 0)
    chances = classes.predict_proba(X)
    assert np.isfinite(chances).all()
    assert np.array_equal(classes.classes_[chances.argmax(axis=1)], classes.predict(X))


def test_a_callback_hears_of_iterations_and_can_end_them():
    told = []

    def stop(record):
        told.append(dict(record))
        return len(told) == 3

    model = KernelRidge(0.01, kernel=Gaussian(0.4), solver="cg", callback=stop, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match=re.escape(Status.CANCELLED.advice("ridge"))):
        model.fit(X, Y)
    assert [record["iteration"] for record in told] == [1, 2, 3]
    assert told[2]["residual"] < told[0]["residual"]
    assert model.n_iter_ == 3
    assert model.certificate_.status == "cancelled"
    residual = Y - K @ model.dual_coef_ - 0.01 * model.dual_coef_
    sizes = np.linalg.norm(residual, axis=0) / np.linalg.norm(Y, axis=0)
    assert model.certificate_.residual == pytest.approx(sizes.max(), rel=0.1)
    # The answer of a callback counts, not that there is one.
    calm = KernelRidge(0.01, kernel=Gaussian(0.4), solver="cg", callback=lambda record: None)
    assert calm.fit(X, Y).certificate_.status == "converged"


@pytest.mark.parametrize("solver", ["cholesky", "cg", "nystrom"])
def test_progress_goes_to_stderr_and_only_when_asked_for(solver, capfd):
    KernelRidge(kernel=Gaussian(0.4), solver=solver).fit(X, Y)
    assert capfd.readouterr() == ("", "")
    KernelRidge(kernel=Gaussian(0.4), solver=solver, verbose=True).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == ""
    assert re.search(r"\rKernelRidge: \w+ +100 %", err)


INTERRUPTED = """
import signal, sys
import numpy as np
from mercer import KernelRidge
from mercer.kernels import Gaussian
X = np.random.default_rng(0).random((5000, 20))
y = np.sin(5 * X[:, 0])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
for solver in ("cholesky", "cg", "nystrom"):
    model = KernelRidge(1e-4, kernel=Gaussian(0.5), solver=solver, tol=1e-12)
    print("ready", flush=True)
    try:
        while True:
            model.fit(X, y)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
print(model.fit(X[:50], y[:50]).certificate_.status)
"""


def test_ctrl_c_ends_a_fit_and_the_next_one_works():
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True
    ) as process:
        patience = threading.Timer(60, process.kill)
        patience.start()
        try:
            for _ in range(3):
                assert process.stdout.readline() == "ready\n"
                time.sleep(0.4)
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == "interrupted\n"
            assert process.stdout.read() == "exact\n"
        finally:
            patience.cancel()
            process.kill()
