"""Kernel ridge regression: every solver against one dense system, lecture identities."""

import numpy as np
import oracles
import pytest
import samples
from sklearn.linear_model import LinearRegression, Ridge

from mercer import KernelRidge
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial

random = np.random.default_rng(11)
N = 30
X, NEW = samples.rows(N, 3, seed=5), samples.rows(9, 3, seed=6)
Y = np.column_stack([np.sin(X[:, 0]) + 3.0, X @ [1.0, -2.0, 0.5], random.normal(size=N)])
WEIGHTS = {
    "plain": None,
    "weights": random.uniform(0.2, 3.0, size=N),
    "zeros": np.arange(N) % 4 * 0.7,
}
ALPHAS = {"one alpha": 0.3, "alphas": [0.3, 5.0, 0.3]}

KERNELS = {
    "gaussian": (Gaussian(0.4), lambda x, y: oracles.gaussian(x, y, 0.4, 0.4, 0.4)),
    "linear": (Linear(), oracles.dot),
    "quadratic": (Polynomial(2, 0.5, 1.0), lambda x, y: oracles.polynomial(x, y, 2, 0.5, 1.0)),
    "laplacian": (Laplacian(0.3), lambda x, y: oracles.laplacian(x, y, 0.3, 0.3, 0.3)),
    "sum": (
        0.5 * Gaussian(0.4) + Linear(),
        lambda x, y: 0.5 * oracles.gaussian(x, y, 0.4, 0.4, 0.4) + oracles.dot(x, y),
    ),
}
WAYS = [(s, k) for s in ("cholesky", "cg", "nystrom") for k in KERNELS] + [
    ("primal", "linear"),
    ("primal", "quadratic"),
]
GRAMS = {name: oracles.gram(k, X) for name, (_, k) in KERNELS.items()}
CROSSES = {name: oracles.gram(k, NEW, X) for name, (_, k) in KERNELS.items()}


def fitted(solver, name, alpha, intercept, weight, dtype=np.float64, y=Y):
    model = KernelRidge(
        alpha,
        kernel=KERNELS[name][0],
        fit_intercept=intercept,
        solver=solver,
        n_centers=N,
        tol=1e-10 if dtype == np.float64 else 1e-6,
    )
    return model.fit(X.astype(dtype), y, sample_weight=weight)


# --- every solver is the dense system -----------------------------------------------------------


@pytest.mark.parametrize(("solver", "name"), WAYS)
@pytest.mark.parametrize("alpha", ALPHAS.values(), ids=ALPHAS)
@pytest.mark.parametrize("intercept", [False, True], ids=["through zero", "offset"])
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_every_solver_is_the_dense_system(solver, name, alpha, intercept, weight):
    a, b = oracles.ridge(GRAMS[name], Y, alpha, weight, intercept)
    model = fitted(solver, name, alpha, intercept, weight)
    wanted = CROSSES[name] @ a + b
    assert np.abs(model.predict(NEW) - wanted).max() <= 1e-7 * np.abs(wanted).max()
    assert np.abs(model.intercept_ - b).max() <= 1e-7 * np.abs(wanted).max()
    assert model.certificate_.solver == solver
    assert model.certificate_.status == ("converged" if solver == "cg" else "exact")
    if solver != "nystrom":
        assert np.abs(model.dual_coef_ - a[model.support_]).max() <= 1e-7 * np.abs(a).max()
        used = np.arange(N) if weight is None else np.flatnonzero(weight)
        assert np.array_equal(model.support_, used)


@pytest.mark.parametrize(("solver", "name"), WAYS)
@pytest.mark.parametrize("intercept", [False, True], ids=["through zero", "offset"])
@pytest.mark.parametrize("weight", [WEIGHTS["plain"], WEIGHTS["zeros"]], ids=["plain", "zeros"])
def test_every_solver_is_the_dense_system_in_single_precision(solver, name, intercept, weight):
    rows, new = X.astype(np.float32), NEW.astype(np.float32)
    _, kernel = KERNELS[name]
    K, cross = oracles.gram(kernel, rows.astype(float)), oracles.gram(kernel, new, rows)
    a, b = oracles.ridge(K, Y, 0.3, weight, intercept)
    wanted = cross @ a + b
    model = fitted(solver, name, 0.3, intercept, weight, np.float32)
    # K is off by E with |E| <= n eps max K, which moves f at the points by |E| |a| in length, times
    # |k_x| / alpha elsewhere; the solver stops at |r| = 1e-6 |y|, which moves f as E a does.
    moved = N * np.finfo(np.float32).eps * K.max() * np.linalg.norm(a) + 1e-6 * np.linalg.norm(Y)
    assert np.abs(model.predict(new) - wanted).max() <= moved * max(1.0, np.sqrt(K.max() / 0.3))
    assert model.predict(new).dtype == np.float64


@pytest.mark.parametrize("solver", ["cholesky", "cg", "nystrom", "primal"])
def test_weights_are_repetition(solver):
    weight = np.arange(N) % 3
    name = "quadratic" if solver == "primal" else "laplacian"
    weighted = fitted(solver, name, ALPHAS["alphas"], True, weight)
    repeated = KernelRidge(
        ALPHAS["alphas"], kernel=KERNELS[name][0], fit_intercept=True, solver="cholesky"
    ).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    assert np.allclose(weighted.predict(NEW), repeated.predict(NEW), rtol=0, atol=1e-7)


def test_a_vector_and_a_column_have_their_own_shapes():
    for kernel in (Gaussian(0.4), Linear()):
        flat = KernelRidge(kernel=kernel, fit_intercept=True).fit(X, Y[:, 0])
        column = KernelRidge(kernel=kernel, fit_intercept=True).fit(X, Y[:, :1])
        assert flat.predict(NEW).shape == (9,)
        assert column.predict(NEW).shape == (9, 1)
        assert flat.dual_coef_.shape == (N,)
        assert column.dual_coef_.shape == (N, 1)
        assert isinstance(flat.intercept_, float)
        assert column.intercept_.shape == (1,)
        assert np.array_equal(flat.predict(NEW), column.predict(NEW)[:, 0])


def test_fitting_again_forgets():
    model = KernelRidge(kernel=Linear()).fit(X, Y[:, 0])
    assert model.coef_.shape == (3,)
    model.set_params(kernel=Gaussian(0.4)).fit(X, Y)
    assert not hasattr(model, "coef_")
    assert np.allclose(
        model.predict(NEW), KernelRidge(kernel=Gaussian(0.4)).fit(X, Y).predict(NEW), rtol=1e-12
    )


def test_the_training_points_may_change_afterwards():
    points = X.copy()
    for solver, kernel in (("cholesky", Gaussian(0.4)), ("primal", Linear())):
        model = KernelRidge(kernel=kernel, solver=solver).fit(points, Y)
        wanted = model.predict(NEW)
        points += 1.0
        assert np.array_equal(model.predict(NEW), wanted)


# --- lecture identities -----------------------------------------------------------------------


def test_the_dual_solution_of_the_lecture_and_its_errors():
    penalty = 0.02  # lambda; the lecture's n lambda is alpha
    model = KernelRidge(N * penalty, kernel=Gaussian(0.4)).fit(X, Y[:, 0])
    wanted = np.linalg.inv(N * penalty * np.eye(N) + GRAMS["gaussian"]) @ Y[:, 0]
    assert np.allclose(model.dual_coef_, wanted, rtol=1e-9)
    assert np.allclose(N * penalty * model.dual_coef_, Y[:, 0] - model.predict(X), atol=1e-12)


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_without_penalty_it_interpolates(solver):
    model = KernelRidge(0, kernel=Gaussian(2.0), solver=solver, tol=1e-10).fit(X[:-1], Y[:-1])
    assert np.allclose(model.predict(X), Y[[*range(N - 1), 0]], rtol=0, atol=1e-8)
    assert model.certificate_.status in ("exact", "converged")
    assert model.certificate_.error_bound >= 0  # infinite, or nothing was left


@pytest.mark.parametrize("intercept", [False, True])
def test_without_penalty_few_features_are_least_squares(intercept):
    model = KernelRidge(0, kernel=Linear(), fit_intercept=intercept).fit(X, Y)
    wanted = LinearRegression(fit_intercept=intercept).fit(X, Y)
    assert model.certificate_.solver == "primal"
    assert np.allclose(model.predict(NEW), wanted.predict(NEW), rtol=0, atol=1e-10)
    assert np.isnan(model.dual_coef_).all()  # no combination of errors gives it


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("intercept", [False, True])
def test_primal_and_dual_agree(shape, intercept):
    A, target = random.normal(size=shape), random.normal(size=shape[0])
    found = {}
    for solver in ("primal", "cholesky"):
        model = KernelRidge(0.7, kernel=Linear(), solver=solver, fit_intercept=intercept)
        found[solver] = model.fit(A, target)
    wanted = Ridge(0.7, fit_intercept=intercept).fit(A, target)
    for model in found.values():
        assert np.allclose(model.predict(A), wanted.predict(A), rtol=0, atol=1e-10)
        # The weights of the features are the points, each times its dual coefficient.
        assert np.allclose(model.dual_coef_ @ A, wanted.coef_, rtol=0, atol=1e-10)
        assert model.intercept_ == pytest.approx(wanted.intercept_, abs=1e-10)
    assert np.allclose(found["primal"].coef_, wanted.coef_, rtol=0, atol=1e-10)
    assert np.allclose(found["primal"].dual_coef_, found["cholesky"].dual_coef_, atol=1e-10)


def test_a_narrow_gaussian_only_shrinks():
    points, y = X[:-1], Y[:-1, 0]
    model = KernelRidge(0.25, kernel=Gaussian(1e6)).fit(points, y)
    assert np.allclose(model.predict(points), y / 1.25, rtol=1e-12)
    assert np.allclose(model.predict(NEW[1:-1]), 0.0, atol=1e-12)


def test_a_wide_gaussian_is_linear_ridge_with_an_intercept():
    # k = 1 - gamma |x - y|**2 + ... = 1 + 2 gamma x.y + functions of one side: in the limit the
    # constant is free and alpha = 2 gamma lambda is the penalty lambda of the slopes.
    penalty = 3.0
    wanted = Ridge(penalty).fit(X, Y[:, 1] + 2.0).predict(NEW)
    gaps = []
    for gamma in (1e-4, 1e-5):
        model = KernelRidge(2 * gamma * penalty, kernel=Gaussian(gamma)).fit(X, Y[:, 1] + 2.0)
        gaps.append(np.abs(model.predict(NEW) - wanted).max())
    assert gaps[0] < 1e-2
    assert gaps[0] / gaps[1] == pytest.approx(10.0, rel=0.05)  # the error is proportional to gamma


def test_a_narrow_gaussian_has_the_sign_of_the_nearest_neighbour():
    points, signs = X[:-1], np.where(Y[:-1, 1] > 0, 1.0, -1.0)
    model = KernelRidge(1e-3, kernel=Gaussian(60.0)).fit(points, signs)
    gaps = ((NEW[:, None] - points[None]) ** 2).sum(axis=2)
    assert np.array_equal(np.sign(model.predict(NEW)), signs[gaps.argmin(axis=1)])
