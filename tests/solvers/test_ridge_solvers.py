"""Solvers of ridge problems: accuracy on every kind of Gram matrix, certificates, leaving out."""

import itertools

import numpy as np
import oracles
import pytest
import scipy.sparse

from mercer import gram
from mercer.grams.maps.passing import KeptRows
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial
from mercer.monitor import Monitor
from mercer.solvers import (
    Cholesky,
    ConjugateGradients,
    FeatureRidge,
    Nystrom,
    RidgeProblem,
    TileCholesky,
)
from mercer.solvers.ridge import nystrom
from mercer.solvers.ridge import whole as ridge
from mercer.solvers.ridge.problem import assess

random = np.random.default_rng(8)
N = 50
X = random.normal(size=(N, 3))
Y = np.column_stack([np.sin(X[:, 0]) + 2.0, X[:, 1] * X[:, 2], random.normal(size=N)])
ALPHAS = np.array([0.2, 4.0, 0.2])
WEIGHT = random.uniform(0.3, 2.5, size=N)
WEIGHTS = pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weights"])
INTERCEPTS = pytest.mark.parametrize("intercept", [False, True], ids=["through zero", "offset"])
KERNEL = Laplacian(0.3)


def laplacian(x, y):
    return oracles.laplacian(x, y, 0.3, 0.3, 0.3)


K = oracles.gram(laplacian, X)


def relative_residual(K, problem, found):
    """The largest |y - b - (K + alpha / W) a|, weighted, relative to y: from the definition."""
    weight = np.ones(len(K)) if problem.weight is None else problem.weight
    a = found.coefficients
    left = problem.targets - found.intercept - K @ a - problem.alpha * a / weight[:, None]
    roots = np.sqrt(weight)[:, None]
    sizes = [np.linalg.norm(roots * part, axis=0) for part in (left, problem.targets)]
    return (sizes[0] / sizes[1]).max()


# --- the problem ------------------------------------------------------------------------------


def test_outputs_of_one_alpha_are_one_group():
    alphas = np.array([2.0, 0.5, 2.0])
    plain = RidgeProblem(targets=Y, alpha=alphas).groups()
    assert [(alpha, own.tolist()) for alpha, own in plain] == [(0.5, [1]), (2.0, [0, 2])]
    offset = RidgeProblem(
        targets=Y, alpha=alphas, weight=None, intercept=True
    ).groups()  # the last right side is that of ones
    assert [(alpha, own.tolist()) for alpha, own in offset] == [(0.5, [1, 3]), (2.0, [0, 2, 3])]


def test_the_bound_counts_the_error_of_the_intercept():
    # f = 0 and b = 0, far from the points: all that is wrong is the intercept.
    problem = RidgeProblem(targets=Y + 3.0, alpha=np.full(3, 500.0), weight=WEIGHT, intercept=True)
    _, b = oracles.ridge(K, Y + 3.0, 500.0, WEIGHT, True)
    ones = np.linalg.inv(K + np.diag(500.0 / WEIGHT)).sum()
    nothing = np.zeros((N, 3))
    found = assess(problem, nothing, np.zeros(3), np.full(3, ones), nothing)
    assert found["bound"] < np.abs(b).max() <= found["bound"] + found["offset"]
    assert found["residual"] == 1.0


# --- direct -----------------------------------------------------------------------------------


@WEIGHTS
@INTERCEPTS
def test_a_single_precision_factor_is_refined_to_double(intercept, weight, monkeypatch):
    kinds = noted_factors(monkeypatch)
    problem = RidgeProblem(targets=Y, alpha=ALPHAS, weight=weight, intercept=intercept)
    found = Cholesky(1e-10, single_from=20).solve(gram(KERNEL, X), problem, Monitor())
    a, b = oracles.ridge(K, Y, ALPHAS, weight, intercept)
    assert kinds == [np.float32] * 2  # one for each alpha
    assert np.abs(found.coefficients - a).max() <= 1e-10 * np.abs(a).max()
    assert np.allclose(found.intercept, b, rtol=0, atol=1e-10)
    assert found.status == "exact"


def test_where_single_precision_has_no_factor_a_double_one_is_made(monkeypatch):
    kinds = noted_factors(monkeypatch)
    problem = RidgeProblem(targets=Y, alpha=np.full(3, 1e-7))
    found = Cholesky(1e-6, single_from=20).solve(gram(Gaussian(0.01), X), problem, Monitor())
    assert kinds == [np.float32, np.float64]
    assert found.status == "exact"
    wide = oracles.gram(lambda x, y: oracles.gaussian(x, y, 0.01, 0.01, 0.01), X)
    assert relative_residual(wide, problem, found) <= 1e-6


def test_where_refinement_is_too_slow_a_double_factor_is_made(monkeypatch):
    kinds = noted_factors(monkeypatch)
    monkeypatch.setattr(ridge, "REFINEMENTS", 1)
    problem = RidgeProblem(targets=Y, alpha=ALPHAS)
    found = Cholesky(1e-10, single_from=20).solve(gram(KERNEL, X), problem, Monitor())
    assert kinds == [np.float32, np.float64] * 2
    assert found.status == "exact"
    assert relative_residual(K, problem, found) <= 1e-10


def noted_factors(monkeypatch):
    """Take small tiles; return the list of the precisions that are factored in."""
    kinds = []

    class Noted(TileCholesky):
        def __init__(self, bands, dtype, monitor, shift):
            kinds.append(np.dtype(dtype))
            super().__init__(bands, dtype, monitor, shift)

    monkeypatch.setattr(ridge, "TileCholesky", Noted)
    monkeypatch.setattr(ridge, "TILE", 16)
    return kinds


def test_a_goal_that_rounding_forbids_is_not_claimed():
    found = Cholesky(1e-18).solve(gram(KERNEL, X), RidgeProblem(targets=Y, alpha=ALPHAS), Monitor())
    assert found.status == "stagnated"
    assert "Rounding limits the accuracy" in found.status.advice("ridge")
    assert 0 < found.residual < 1e-14
    found = ConjugateGradients(tol=1e-18, max_iter=200, rank=10, random_state=0).solve(
        gram(KERNEL, X), RidgeProblem(targets=Y, alpha=ALPHAS), Monitor()
    )
    assert found.status == "stagnated"
    assert found.residual < 1e-14


# --- leaving one out --------------------------------------------------------------------------


@WEIGHTS
@INTERCEPTS
def test_leaving_one_out_is_fitting_without_it(intercept, weight):
    problem = RidgeProblem(targets=Y, alpha=ALPHAS, weight=weight, intercept=intercept)
    found = Cholesky(1e-10, leave_one_out=True).solve(gram(KERNEL, X), problem, Monitor())
    wanted = Y - oracles.left_out(K, Y, ALPHAS, weight, intercept)
    assert np.allclose(found.keep["leave_one_out"], wanted, rtol=0, atol=1e-9)


@WEIGHTS
@INTERCEPTS
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_leaving_one_out_in_a_space_of_features(intercept, weight, sparse):
    problem = RidgeProblem(targets=Y, alpha=ALPHAS, weight=weight, intercept=intercept)
    quadratic = oracles.gram(lambda x, y: oracles.polynomial(x, y, 2, 1.0, 1.0), X)
    Z = Polynomial(2, 1.0, 1.0).features(X)
    Z = scipy.sparse.csr_array(Z) if sparse else Z
    cuts = [slice(0, 20), slice(20, N)]
    features = FeatureRidge(KeptRows([(cut, Z[cut]) for cut in cuts]), problem, Monitor())
    errors = features.leave_one_out(features.solve(1e-10).keep["errors"])
    wanted = Y - oracles.left_out(quadratic, Y, ALPHAS, weight, intercept)
    assert np.allclose(errors, wanted, rtol=0, atol=1e-9)


@WEIGHTS
@INTERCEPTS
def test_leaving_one_out_of_few_centres(intercept, weight):
    problem = RidgeProblem(targets=Y, alpha=ALPHAS, weight=weight, intercept=intercept)
    cross, own = K[:, :9], K[:9, :9]
    solver = Nystrom(1e-10, 100, leave_one_out=True)
    lower = np.linalg.cholesky(own)
    found = solver.solve(gram(KERNEL, X, X[:9]), lower, problem, Monitor())
    weights = np.ones(N) if weight is None else weight
    for i in range(N):
        less = oracles.without(weights, i)
        t, b = oracles.centred_ridge(cross, own, Y, ALPHAS, less, intercept)
        wanted = Y[i] - cross[i] @ t - b
        assert np.allclose(found.keep["leave_one_out"][i], wanted, rtol=0, atol=1e-9)


# --- conjugate gradients, however K is kept ---------------------------------------------------

MANY = random.normal(size=(700, 3))
MANY_Y = np.column_stack([np.sin(2 * MANY[:, 0]), MANY[:, 1] ** 2 + 1.0])
MANY_K = Gaussian(0.5).formula(MANY, MANY)
KEPT = {
    "stored": ({"store": True}, None),
    "half": ({"store": "half"}, None),
    "on the fly": ({"store": False}, None),
    "32 bits": ({"store": "half", "dtype": np.float32}, {"store": False}),
    "16 bits": ({"store": "16 bit", "dtype": np.float32}, {"store": False}),
    "16 bits of float64": ({"store": "16 bit"}, {"store": False}),
    "a part": ({"store": "part", "memory_limit": 400_000}, {"store": False}),
}


@pytest.mark.parametrize(("options", "exact"), KEPT.values(), ids=KEPT)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights"])
@INTERCEPTS
def test_the_residual_is_small_however_the_matrix_is_kept(options, exact, weighted, intercept):
    weight = np.linspace(0.3, 2.5, 700) if weighted else None
    problem = RidgeProblem(
        targets=MANY_Y, alpha=np.array([0.1, 2.0]), weight=weight, intercept=intercept
    )
    solver = ConjugateGradients(tol=1e-8, max_iter=300, rank=60, random_state=0)
    kept = gram(Gaussian(0.5), MANY, **options)
    reference = None if exact is None else gram(Gaussian(0.5), MANY, **exact)
    found = solver.solve(kept, problem, Monitor(), reference)
    assert found.status == "converged"
    assert found.rank == 60
    measured = relative_residual(MANY_K, problem, found)
    assert measured <= 1.01e-8
    assert found.residual == pytest.approx(measured, rel=0.1)
    if intercept:
        assert np.allclose(found.coefficients.sum(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize(
    "solver", [Cholesky(1e-6), ConjugateGradients(tol=1e-6, max_iter=300, rank=60, random_state=0)]
)
def test_a_single_precision_matrix_has_a_double_precision_residual(solver):
    # Native products of single-precision tiles sum in single precision, which is not enough.
    rows = MANY.astype(np.float32)
    problem = RidgeProblem(
        targets=MANY_Y,
        alpha=np.array([0.01, 0.1]),
        weight=np.linspace(0.3, 2.5, 700),
        intercept=True,
    )
    found = solver.solve(gram(Gaussian(0.5), rows, store="half"), problem, Monitor())
    assert found.status in ("exact", "converged")
    single = gram(Gaussian(0.5), rows, store=False).dense().astype(np.float64)
    assert found.residual == pytest.approx(relative_residual(single, problem, found), rel=0.1)


def test_refinement_counts_iterations_on():
    told = []
    problem = RidgeProblem(targets=MANY_Y, alpha=np.array([0.1, 2.0]))
    kept = gram(Gaussian(0.5), MANY, store="16 bit", dtype=np.float32)
    exact = gram(Gaussian(0.5), MANY, store=False)
    solver = ConjugateGradients(tol=1e-8, max_iter=300, rank=60, random_state=0)
    found = solver.solve(kept, problem, Monitor(callback=told.append), exact)
    assert [record["iteration"] for record in told] == list(range(1, found.iterations + 1))
    residuals = [record["residual"] for record in told]  # of the problem, not of what is left of it
    assert residuals[-1] <= 1e-8
    assert all(after < 30 * before for before, after in itertools.pairwise(residuals))
    assert told[-1]["fraction"] == 1.0
    few = ConjugateGradients(tol=1e-8, max_iter=found.iterations // 2, rank=60, random_state=0)
    stopped = few.solve(kept, problem, Monitor(), exact)
    assert stopped.status == "iteration limit"
    assert stopped.iterations == found.iterations // 2


def test_a_preconditioner_saves_iterations():
    problem = RidgeProblem(targets=MANY_Y, alpha=np.array([0.01, 0.01]))
    made = gram(Gaussian(0.5), MANY)
    counts = [
        ConjugateGradients(tol=1e-6, max_iter=1000, rank=rank, random_state=0)
        .solve(made, problem, Monitor())
        .iterations
        for rank in (1, 60, 300)
    ]
    assert counts[0] > 2 * counts[1] > 4 * counts[2]


# --- few centres ------------------------------------------------------------------------------


@WEIGHTS
@INTERCEPTS
@pytest.mark.parametrize("direct", [True, False], ids=["direct", "conjugate gradients"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_few_centres_are_their_own_dense_system(intercept, weight, direct, dtype, monkeypatch):
    monkeypatch.setattr(nystrom, "DIRECT", 100 if direct else 5)
    problem = RidgeProblem(targets=Y, alpha=ALPHAS, weight=weight, intercept=intercept)
    rows = X.astype(dtype)
    own, cross = oracles.gram(laplacian, rows[:12]), oracles.gram(laplacian, rows, rows[:12])
    single = dtype == np.float32
    tol = 1e-5 if single else 1e-10
    found = Nystrom(tol, 200).solve(
        gram(KERNEL, rows, rows[:12]), np.linalg.cholesky(own), problem, Monitor()
    )
    t, b = oracles.centred_ridge(cross, own, Y, ALPHAS, weight, intercept)
    assert found.status == ("exact" if direct else "converged")
    assert (found.iterations > 0) != direct
    assert found.rank == 12
    # Single precision: kernel values are off by some eps, and the tolerance is larger.
    near = 3e-4 if single else 1e-7
    assert np.abs(cross @ (found.coefficients - t) + found.intercept - b).max() <= near
    assert np.allclose(found.intercept, b, rtol=0, atol=near)


def test_few_centres_do_not_claim_what_single_precision_forbids(monkeypatch):
    monkeypatch.setattr(nystrom, "DIRECT", 5)
    rows = X.astype(np.float32)
    own = oracles.gram(laplacian, rows[:12])
    problem = RidgeProblem(targets=Y, alpha=ALPHAS, weight=WEIGHT, intercept=True)
    cross, lower = gram(KERNEL, rows, rows[:12]), np.linalg.cholesky(own)
    # What passes in single precision leave is found in double precision, and solved for again.
    found = Nystrom(1e-10, 50).solve(cross, lower, problem, Monitor())
    assert found.residual <= 1e-10
    assert found.status == "converged"
    found = Nystrom(1e-17, 500).solve(cross, lower, problem, Monitor())
    assert found.residual > 1e-17
    assert found.status == "stagnated"


@pytest.mark.parametrize("alpha", [0.05, 30.0])
@INTERCEPTS
@pytest.mark.parametrize("steps", [1, 3])
def test_what_few_centres_certify_holds_before_the_end(alpha, intercept, steps, monkeypatch):
    monkeypatch.setattr(nystrom, "DIRECT", 5)
    problem = RidgeProblem(
        targets=Y + 5.0,
        alpha=np.array([alpha, 3 * alpha, alpha]),
        weight=WEIGHT,
        intercept=intercept,
    )
    cross, own = K[:, :12], K[:12, :12]
    lower = np.linalg.cholesky(own)
    found = Nystrom(1e-12, steps).solve(gram(KERNEL, X, X[:12]), lower, problem, Monitor())
    assert found.status == "iteration limit"
    t, b = oracles.centred_ridge(cross, own, Y + 5.0, problem.alpha, WEIGHT, intercept)
    new = oracles.gram(laplacian, random.normal(size=(200, 3)) * 2, X[:12])
    gaps = np.abs(new @ (found.coefficients - t) + found.intercept - b)
    assert gaps.max() <= found.bound + found.offset

    def objective(t, b):
        losses = WEIGHT @ (Y + 5.0 - cross @ t - b) ** 2
        return (losses + problem.alpha * (t * (own @ t)).sum(axis=0)).sum()

    true_gap = objective(found.coefficients, found.intercept) - objective(t, b)
    assert 0 < true_gap <= found.gap
    # The residual is that of the gradient, in coordinates where the penalty is the identity.
    weighted = WEIGHT[:, None] * (Y + 5.0 - cross @ found.coefficients - found.intercept)
    pull = problem.alpha * (own @ found.coefficients)
    gradient = np.linalg.solve(lower, cross.T @ weighted - pull)
    centred = Y + 5.0 - (WEIGHT @ (Y + 5.0) / WEIGHT.sum() if intercept else 0.0)
    start = np.linalg.solve(lower, cross.T @ (WEIGHT[:, None] * centred))
    sizes = np.linalg.norm(gradient, axis=0) / np.linalg.norm(start, axis=0)
    assert found.residual == pytest.approx(sizes.max(), rel=1e-6)


def test_an_intercept_may_double_the_error(monkeypatch):
    # Points far from the origin in one direction, little spread there: at -x the errors of slope
    # and intercept add up.
    monkeypatch.setattr(nystrom, "DIRECT", 1)
    points = np.random.default_rng(0).normal(size=(N, 2)) * [0.01, 1.0] + [10.0, 0.0]
    target = 50 * (points[:, :1] - 10.0)
    cross, own = points @ points[:2].T, points[:2] @ points[:2].T
    problem = RidgeProblem(targets=target, alpha=np.array([10.0]), weight=None, intercept=True)
    made = gram(Linear(), points, points[:2])
    found = Nystrom(1e-14, 1).solve(made, np.linalg.cholesky(own), problem, Monitor())
    t, b = oracles.centred_ridge(cross, own, target, 10.0, intercept=True)
    new = np.array([[-10.0, 0.0]])
    gap = np.abs(new @ points[:2].T @ (found.coefficients - t) + found.intercept - b).max()
    largest = np.linalg.norm(points, axis=1).max()
    assert found.bound * largest / 2 < gap <= found.bound * largest


def test_a_preconditioner_whose_alpha_rounding_hides_is_made_in_double(monkeypatch):
    monkeypatch.setattr(nystrom, "DIRECT", 5)
    problem = RidgeProblem(targets=Y, alpha=np.full(Y.shape[1], 1e-9), weight=None, intercept=True)
    cross, lower = gram(KERNEL, X, X[:9]), np.linalg.cholesky(K[:9, :9])
    solver = Nystrom(1e-8, 200)
    wanted = solver.solve(cross, lower, problem, Monitor()).coefficients
    tried = []

    def second_moments(self, dtype):
        tried.append(dtype)
        found = real(self, np.float64)
        return found if dtype == np.float64 else (found - np.eye(9)).astype(np.float32)

    real = nystrom._Centres._second_moments
    monkeypatch.setattr(nystrom._Centres, "_second_moments", second_moments)
    monkeypatch.setattr(nystrom._Centres, "_precision", lambda self: np.float32)
    found = solver.solve(cross, lower, problem, Monitor())
    assert tried == [np.float32, np.float64]
    assert np.allclose(found.coefficients, wanted, rtol=1e-4)
