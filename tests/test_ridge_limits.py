"""Kernel ridge regression under limits: which solver, memory, time, stopping, certificates."""

import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import oracles
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelRidge, KernelRidgeClassifier, monitor
from mercer.kernels import FunctionKernel, Gaussian, Linear, Polynomial
from mercer.models import ridge_fit
from mercer.solvers import ADVICE

N = 60
random = np.random.default_rng(21)
X = random.normal(size=(N, 3))
Y = np.column_stack([np.sin(X[:, 0]) + 2.0, X[:, 1] * X[:, 2]])
WEIGHT = random.uniform(0.3, 2.5, size=N)
LARGE = random.normal(size=(1500, 3))
LARGE_Y = np.sin(2 * LARGE[:, 0]) + LARGE[:, 1]


def gaussian(x, y):
    return oracles.gaussian(x, y, 0.4, 0.4, 0.4)


NEW = np.vstack([X, random.normal(size=(200, 3)) * 2])
K, CROSS = oracles.gram(gaussian, X), oracles.gram(gaussian, NEW, X)


# --- the choice -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "points", "solver", "plan"),
    [
        (Linear(), X, "primal", "primal: an exact map with 3 features is smaller than 60 points"),
        (Polynomial(2), X, "primal", "primal: an exact map with 13 features is smaller"),
        (Linear(), X[:3], "cholesky", "Cholesky factor, K .*: 3 points, at most 12000"),
        (Polynomial(9), X, "cholesky", "Cholesky factor"),
        (Gaussian(0.4), X, "cholesky", "Cholesky factor, K stored: 60 points, at most 12000"),
        (Gaussian(0.4), LARGE, "cholesky", "Cholesky factor, K half stored: 1500 points"),
    ],
)
def test_auto_chooses_by_size(kernel, points, solver, plan):
    model = KernelRidge(kernel=kernel).fit(points, points[:, 0])
    assert model.certificate_.solver == solver
    assert re.match(plan, model.certificate_.plan)
    assert model.certificate_.status == "exact"


def test_auto_uses_conjugate_gradients_beyond_a_number_of_points(monkeypatch):
    monkeypatch.setattr(ridge_fit, "CHOLESKY_ROWS", N)
    assert KernelRidge(kernel=Gaussian(0.4)).fit(X, Y).certificate_.solver == "cholesky"
    monkeypatch.setattr(ridge_fit, "CHOLESKY_ROWS", N - 1)
    found = KernelRidge(kernel=Gaussian(0.4)).fit(X, Y).certificate_
    assert found.solver == "cg"
    assert found.plan.startswith("conjugate gradients, K stored: K needs 28.8 kB")
    # A factor that would take longer than may be is not begun.
    monkeypatch.setattr(ridge_fit, "CHOLESKY_ROWS", 12_000)
    found = KernelRidge(kernel=Gaussian(0.4), time_limit=0.1).fit(LARGE, LARGE_Y).certificate_
    assert found.solver == "cg"


def test_auto_uses_centres_where_a_pass_takes_too_long_or_nothing_fits(monkeypatch):
    model = KernelRidge(kernel=Gaussian(0.4), memory_limit="5MB").fit(LARGE, LARGE_Y)
    told = "Nyström with 353 centres, K(x, z) on the fly: conjugate gradients need more than"
    assert model.certificate_.plan.startswith(told)
    monkeypatch.setattr(ridge_fit, "PASS_SECONDS", 0)
    model = KernelRidge(kernel=Gaussian(0.4), memory_limit="9MB").fit(LARGE, LARGE_Y)
    assert re.search(r"K does not fit 9.0 MB and one pass over it would", model.certificate_.plan)
    assert model.score(LARGE, LARGE_Y) > 0.99
    asked = KernelRidge(kernel=Gaussian(0.4), memory_limit="9MB", solver="cg").fit(LARGE, LARGE_Y)
    assert asked.certificate_.solver == "cg"


@pytest.mark.parametrize(
    ("limit", "plan"),
    [
        ("25MB", "K half stored: as asked (half of K needs 12.6 MB"),
        ("17MB", "K half stored: as asked (half of K needs 6.3 MB, .* 32 bits a number, refined"),
        ("13MB", "K half stored in 16 bits: as asked (.* 16 bits a number, refined with exact"),
        ("10MB", "K on the fly: as asked (K does not fit 10.0 MB and is computed anew in every"),
    ],
)
@pytest.mark.parametrize("intercept", [False, True], ids=["through zero", "offset"])
def test_every_memory_plan_reaches_the_tolerance(limit, plan, intercept):
    model = KernelRidge(
        0.1,
        kernel=Gaussian(0.4),
        solver="cg",
        memory_limit=limit,
        tol=1e-8,
        fit_intercept=intercept,
    ).fit(LARGE, LARGE_Y)
    assert re.match(f"conjugate gradients, {plan}".replace("(", r"\("), model.certificate_.plan)
    assert model.certificate_.status == "converged"
    assert model.certificate_.bytes <= int(limit[:-2]) * 1e6
    a = model.dual_coef_
    left = LARGE_Y - model.intercept_ - Gaussian(0.4).formula(LARGE, LARGE) @ a - 0.1 * a
    measured = np.linalg.norm(left) / np.linalg.norm(LARGE_Y)
    assert measured <= 1.01e-8
    assert model.certificate_.residual == pytest.approx(measured, rel=0.1)


MEASURE = """
import sys, numpy
from scipy.linalg import blas
from mercer import KernelRidge
from mercer.kernels import Gaussian

points = numpy.random.default_rng(0).normal(size=(4000, 5))
y = numpy.sin(3 * points[:, 0]) + points[:, 1]

def high():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

def fit(limit, rows, solver):
    model = KernelRidge(0.1, kernel=Gaussian(0.2), memory_limit=limit, solver=solver)
    model.fit(points[:rows], y[:rows])

for solver in ("cholesky", "cg", "nystrom"):
    fit("1GB", 300, solver)
for dtype in (numpy.float32, numpy.float64):  # the buffers of BLAS are not ours
    A = numpy.ones((600, 600), dtype)
    A @ A, blas.dgemm(1.0, A, A), blas.sgemm(1.0, A, A)
del A
before = high()
fit(sys.argv[1], 4000, sys.argv[2])
print((high() - before) * 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize(("limit", "solver"), [("60MB", "auto"), ("20MB", "nystrom")])
def test_the_process_keeps_the_limit(limit, solver):
    # K would be 128 MB; what native code allocates is seen by the operating system only.
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, limit, solver], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) <= 1.1 * int(limit[:-2]) * 1e6


# --- certificates -----------------------------------------------------------------------------

WAYS = [
    ("cholesky", {}),
    ("cg", {}),
    ("cg", {"max_iter": 1}),
    ("cg", {"max_iter": 2, "tol": 1e-13}),
]


@pytest.mark.parametrize(("solver", "options"), WAYS)
@pytest.mark.parametrize("alpha", [0.02, 1.0, [30.0, 0.5]], ids=repr)
@pytest.mark.parametrize("intercept", [False, True], ids=["through zero", "offset"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_certified_holds(solver, options, alpha, intercept, weight):
    model = KernelRidge(
        alpha, kernel=Gaussian(0.4), solver=solver, fit_intercept=intercept, **options
    ).fit(X, Y, sample_weight=weight)
    found = model.certificate_
    a, b = oracles.ridge(K, Y, alpha, weight, intercept)
    share = np.ones(N) if weight is None else weight
    left = Y - model.intercept_ - K @ model.dual_coef_ - alpha * model.dual_coef_ / share[:, None]
    roots = np.sqrt(share)[:, None]
    sizes = np.linalg.norm(roots * left, axis=0), np.linalg.norm(roots * Y, axis=0)
    residual = (sizes[0] / sizes[1]).max()
    assert found.residual == pytest.approx(residual, rel=0.1, abs=1e-14)
    assert (found.residual <= found.tol) == (found.status in ("exact", "converged"))
    if "max_iter" in options:
        assert found.status == "iteration limit"
    best = oracles.ridge_objective(K, Y, alpha, a, b, weight)
    gap = oracles.ridge_objective(K, Y, alpha, model.dual_coef_, model.intercept_, weight) - best
    assert gap <= found.objective_gap + 1e-13 * best
    error = np.abs(model.predict(NEW) - (CROSS @ a + b)).max()
    assert error <= found.error_bound + 1e-12
    assert found.error_bound <= 200 * max(error, 1e-9)


def test_a_fit_that_is_not_finished_warns_and_advises():
    model = KernelRidge(0.01, kernel=Gaussian(0.4), solver="cg", max_iter=2)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, Y)
    told = str(caught[0].message)
    assert re.fullmatch(
        r"KernelRidge: the relative residual must reach tol = 1e-06; got [\d.e-]+ \(iteration "
        r"limit, 2 iterations\)\. " + re.escape(ADVICE["iteration limit"]),
        told,
    )
    assert caught[0].filename == __file__
    assert model.n_iter_ == 2
    assert model.certificate_.iterations == 2
    assert set(ADVICE) == {
        "exact",
        "converged",
        "iteration limit",
        "time limit",
        "cancelled",
        "stagnated",
    }


def test_the_bound_scales_with_the_kernel():
    with pytest.warns(ConvergenceWarning):
        one = KernelRidge(0.1, kernel=Gaussian(0.4), solver="cg", max_iter=2).fit(X, Y)
    with pytest.warns(ConvergenceWarning):
        four = KernelRidge(0.4, kernel=4 * Gaussian(0.4), solver="cg", max_iter=2).fit(X, Y)
    assert np.allclose(one.predict(X), four.predict(X), rtol=1e-4)
    assert four.certificate_.error_bound == pytest.approx(one.certificate_.error_bound, rel=1e-3)


# --- stopping ---------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """The clock of time limits, which only the kernel below moves: a millisecond for ten pairs."""
    start, calls = time.monotonic(), []
    ticking = SimpleNamespace(calls=calls, monotonic=lambda: start + 1e-4 * sum(calls))
    monkeypatch.setattr(monitor, "time", ticking)

    def values(A, B):
        calls.append(len(A) * len(B))
        return np.exp(-0.4 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    ticking.kernel = FunctionKernel(values)
    return ticking


@pytest.mark.parametrize("solver", ["cg", "cholesky", "nystrom"])
def test_a_time_limit_ends_a_fit_between_two_blocks(solver, clock):
    points, y = LARGE[:150], LARGE_Y[:150]
    exact = KernelRidge(0.01, kernel=Gaussian(0.4)).fit(points, y).predict(points)
    seen = set()
    for seconds in (1e-3, 0.3, 1.0, 2.0, 3.0, 4.5, 6.0, 8.0, 12.0, 16.0, 24.0, 1e4):
        clock.calls.clear()
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
            late = begun > seconds + 0.1
            assert pairs[late].max(initial=0) <= 32**2  # only blocks of the diagonal
        else:
            assert not caught
        if found.iterations > 0:
            assert model.score(points, y) > 0
            assert np.abs(model.predict(points) - exact).max() <= found.error_bound < np.inf
    ends = {"cg": "converged", "cholesky": "exact", "nystrom": "exact"}[solver]
    assert {("time limit", False), (ends, solver == "cg")} <= seen
    assert (("time limit", True) in seen) == (solver == "cg")


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
    with pytest.warns(ConvergenceWarning, match=re.escape(ADVICE["cancelled"])):
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
