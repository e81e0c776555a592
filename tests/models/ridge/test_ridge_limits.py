"""Kernel ridge regression: which solver is chosen, memory limits, what the certificate says."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import oracles
import pytest
from costed import costed
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.status import Status

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
        (Linear(), X[:3], "cholesky", "Cholesky factor, K .*: a factor of 3 points is quick"),
        (Polynomial(9), X, "cholesky", "Cholesky factor"),
        (Gaussian(0.4), X, "cholesky", "Cholesky factor, K stored: a factor of 60 points is"),
        (Gaussian(0.4), LARGE, "cholesky", "Cholesky factor, K half stored: a factor of 1500"),
    ],
)
def test_auto_chooses_by_size(kernel, points, solver, plan):
    model = KernelRidge(kernel=kernel).fit(points, points[:, 0])
    assert model.certificate_.solver == solver
    assert re.match(plan, model.certificate_.plan)
    assert model.certificate_.status == "exact"


def test_auto_uses_conjugate_gradients_where_they_cost_less():
    assert KernelRidge(kernel=Gaussian(0.4)).fit(X, Y).certificate_.solver == "cholesky"
    # Small steps with little to do beside a factor that takes a second.
    dear = {"quick": 0.0, "single": 1e4, "double": 1e4}
    found = costed(KernelRidge(10.0, kernel=Gaussian(0.4)), **dear).fit(X, Y).certificate_
    assert found.solver == "cg"
    assert found.plan.startswith("conjugate gradients, K stored: K needs 28.8 kB")
    # A factor that would take longer than may be is not begun.
    late = costed(KernelRidge(kernel=Gaussian(0.4), time_limit=60), quick=1e9, double=1e6)
    assert late.fit(LARGE, LARGE_Y).certificate_.solver == "cg"


def test_many_outputs_are_worth_a_factor():
    # A step is made for each output, a factor once.
    costs = {"quick": 0.0, "bytes": 1e12, "rounds": 1e12}
    outputs = np.sin(LARGE[:, :1] * np.arange(1, 61))
    for count, solver in ((1, "cg"), (60, "cholesky")):
        model = costed(KernelRidge(10.0, kernel=Gaussian(0.4)), **costs)
        assert model.fit(LARGE, outputs[:, :count]).certificate_.solver == solver
    assert "where a factor costs less than iterations" in model.certificate_.plan


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_auto_changes_over_to_a_factor_where_iterations_get_nowhere(dtype):
    # Of the cost of a dozen iterations, where some hundred are needed.
    costs = {"quick": 0.0, "per_digit": 0.0, "single": 5e10, "double": 5e10, "rounds": 1e12}
    points = LARGE.astype(dtype)
    model = KernelRidge(1e-3, kernel=Gaussian(3.0))
    found = costed(model, **costs).fit(points, LARGE_Y).certificate_
    assert found.solver == "cholesky"
    assert found.plan.endswith("K half stored: conjugate gradients got on too slowly")
    assert found.status == "exact"
    wanted = KernelRidge(1e-3, kernel=Gaussian(3.0), solver="cholesky").fit(points, LARGE_Y)
    assert np.array_equal(model.dual_coef_, wanted.dual_coef_)
    # Who asks for them gets them; and so does who has no room for a factor.
    asked = costed(KernelRidge(1e-3, kernel=Gaussian(3.0), solver="cg"), **costs)
    assert asked.fit(points, LARGE_Y).certificate_.iterations > 50
    few = costed(KernelRidge(1e-3, kernel=Gaussian(3.0), memory_limit="20MB"), **costs)
    assert few.fit(points, LARGE_Y).certificate_.solver == "cg"


def test_errors_left_out_are_exact_up_to_a_number_of_points():
    labels = LARGE_Y > 0
    for rows, solver in ((1500, "cholesky"), (1499, "cg")):
        model = KernelRidgeClassifier(10.0, kernel=Gaussian(0.4))
        costed(model, quick=0.0, exact_rows=rows, single=1e4, double=1e4).fit(LARGE, labels)
        assert model.certificate_.solver == solver


def test_auto_uses_centres_where_a_pass_takes_too_long_or_nothing_fits():
    model = KernelRidge(kernel=Gaussian(0.4), memory_limit="5MB").fit(LARGE, LARGE_Y)
    told = "Nyström with 353 centres, K(x, z) on the fly: conjugate gradients need more than"
    assert model.certificate_.plan.startswith(told)
    model = KernelRidge(kernel=Gaussian(0.4), memory_limit="9MB")
    costed(model, pass_seconds=0).fit(LARGE, LARGE_Y)
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
import sys, numpy, mercer
from scipy.linalg import blas
from mercer.kernels import Gaussian

limit, solver, name = sys.argv[1:]
points = numpy.random.default_rng(0).normal(size=(4000, 5))
y = numpy.sin(3 * points[:, 0]) + points[:, 1]
y = y > 0 if name.endswith("Classifier") else y

def high():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

def fit(limit, rows, solver):
    model = getattr(mercer, name)(0.1, kernel=Gaussian(0.2), memory_limit=limit, solver=solver)
    model.fit(points[:rows], y[:rows])

for warm in ("cholesky", "cg", "nystrom"):
    fit("1GB", 300, warm)
for dtype in (numpy.float32, numpy.float64):  # the buffers of BLAS are not ours
    A = numpy.ones((600, 600), dtype)
    A @ A, blas.dgemm(1.0, A, A), blas.sgemm(1.0, A, A)
del A
before = high()
fit(limit, 4000, solver)
print((high() - before) * 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("limit", "solver", "model"),
    [
        ("60MB", "auto", "KernelRidge"),
        ("20MB", "nystrom", "KernelRidge"),
        ("100MB", "auto", "KernelRidgeClassifier"),
    ],
)
def test_the_process_keeps_the_limit(limit, solver, model):
    # K would be 128 MB; what native code allocates is seen by the operating system only.
    command = [sys.executable, "-c", MEASURE, limit, solver, model]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
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


def test_the_bound_has_a_part_for_the_intercept():
    with pytest.warns(ConvergenceWarning):
        model = KernelRidge(
            200.0, kernel=Gaussian(0.4), solver="cg", max_iter=1, fit_intercept=True, tol=1e-12
        ).fit(X, Y)
    left = Y - model.intercept_ - K @ model.dual_coef_ - 200.0 * model.dual_coef_
    bound = np.linalg.norm(left, axis=0).max() / np.sqrt(200.0)
    ones = np.linalg.inv(K + 200.0 * np.eye(N)).sum()
    wanted = bound + bound / np.sqrt(ones)
    assert model.certificate_.error_bound == pytest.approx(wanted, rel=0.01)


def test_a_fit_that_is_not_finished_warns_and_advises():
    model = KernelRidge(0.01, kernel=Gaussian(0.4), solver="cg", max_iter=2)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, Y)
    told = str(caught[0].message)
    assert re.fullmatch(
        r"KernelRidge: the relative residual must reach tol = 1e-06; got [\d.e-]+ \(iteration "
        r"limit, 2 iterations\)\. " + re.escape(Status.ITERATION_LIMIT.advice("ridge")),
        told,
    )
    assert caught[0].filename == __file__
    assert model.n_iter_ == 2
    assert model.certificate_.iterations == 2


def test_the_bound_scales_with_the_kernel():
    with pytest.warns(ConvergenceWarning):
        one = KernelRidge(0.1, kernel=Gaussian(0.4), solver="cg", max_iter=2).fit(X, Y)
    with pytest.warns(ConvergenceWarning):
        four = KernelRidge(0.4, kernel=4 * Gaussian(0.4), solver="cg", max_iter=2).fit(X, Y)
    assert np.allclose(one.predict(X), four.predict(X), rtol=1e-4)
    assert four.certificate_.error_bound == pytest.approx(one.certificate_.error_bound, rel=1e-3)
