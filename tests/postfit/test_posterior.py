"""How sure predictions of ridge regression are: formulas, units, coverage of new points."""

import pickle

import numpy as np
import oracles
import pytest
import samples
from costed import costed
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LinearRegression

from mercer import InputError, KernelRidge, KernelRidgeCV, load, save
from mercer.fitting.ridge import fit as ridge_fit
from mercer.inputs import RowBlocks
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial
from mercer.postfit import posterior
from mercer.solvers.ridge import nystrom

random = np.random.default_rng(11)
N = 30
X, NEW = samples.rows(N, 3, seed=5), samples.rows(9, 3, seed=6)
Y = np.column_stack([np.sin(X[:, 0]) + 3.0, X @ [1.0, -2.0, 0.5], random.normal(size=N)])
WEIGHTS = {
    "plain": None,
    "weights": random.uniform(0.2, 3.0, size=N),
    "zeros": np.arange(N) % 4 * 0.7,
}
ALPHAS = [0.3, 5.0, 0.3]
KERNELS = {
    "gaussian": (Gaussian(0.4), lambda x, y: oracles.gaussian(x, y, 0.4, 0.4, 0.4)),
    "linear": (Linear(), oracles.dot),
    "quadratic": (Polynomial(2, 0.5, 1.0), lambda x, y: oracles.polynomial(x, y, 2, 0.5, 1.0)),
    "laplacian": (Laplacian(0.3), lambda x, y: oracles.laplacian(x, y, 0.3, 0.3, 0.3)),
}
WAYS = [(s, k) for s in ("cholesky", "cg", "nystrom") for k in ("gaussian", "laplacian")] + [
    ("primal", "linear"),
    ("primal", "quadratic"),
]
GRAMS = {name: oracles.gram(k, X) for name, (_, k) in KERNELS.items()}
CROSSES = {name: oracles.gram(k, NEW, X) for name, (_, k) in KERNELS.items()}


def fitted(solver, name, alpha, intercept, weight, y=Y):
    options = {"fit_intercept": intercept, "solver": solver, "n_centers": N, "tol": 1e-10}
    model = KernelRidge(alpha, kernel=KERNELS[name][0], **options)
    return model.fit(X, y, sample_weight=weight)


def deviation(model, points=NEW):
    return model.predict(points, return_std=True)[1]


# --- what it is -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("solver", "name"), WAYS)
@pytest.mark.parametrize("intercept", [False, True], ids=["through zero", "offset"])
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_it_is_that_of_the_dense_system_times_a_scale(solver, name, intercept, weight):
    used = np.arange(N) if weight is None else np.flatnonzero(weight)
    share = np.ones(N) if weight is None else weight
    diagonal = np.array([KERNELS[name][1](x, x) for x in NEW])
    model = fitted(solver, name, ALPHAS, intercept, weight)
    values, found = model.predict(NEW, return_std=True)
    assert np.array_equal(values, model.predict(NEW))
    assert found.shape == values.shape
    for j, alpha in enumerate(ALPHAS):
        K, cross = GRAMS[name][np.ix_(used, used)], CROSSES[name][:, used]
        v = oracles.process_variance(K, cross, diagonal, alpha / share[used], intercept)
        scale = oracles.process_scale(GRAMS[name], Y[:, j], alpha, weight, intercept)
        noise = alpha / share[used].mean()
        assert np.allclose(found[:, j] ** 2, scale * (noise + v), rtol=1e-6)


@pytest.mark.parametrize("solver", ["cholesky", "cg", "nystrom"])
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_it_is_the_gaussian_process_of_scikit_learn(solver, weight):
    """With the scale as the variance of the process, and the noise added to what is predicted."""
    used = np.arange(N) if weight is None else np.flatnonzero(weight)
    share = (np.ones(N) if weight is None else weight)[used]
    scale = oracles.process_scale(GRAMS["gaussian"], Y[:, 0], 0.3, weight)
    noise = 0.3 * scale / share
    kernel = ConstantKernel(scale) * RBF(0.8**-0.5)
    process = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None)
    mean, of_f = process.fit(X[used], Y[used, 0]).predict(NEW, return_std=True)
    wanted = np.sqrt(of_f**2 + 0.3 * scale / share.mean())
    values, found = fitted(solver, "gaussian", 0.3, False, weight, Y[:, 0]).predict(NEW, True)
    assert np.allclose(values, mean, rtol=0, atol=1e-7)
    assert np.allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("solver", ["cholesky", "cg", "nystrom", "primal"])
def test_the_same_model_is_as_sure(solver):
    """Weights and alpha times a number change nothing about f, and nothing about the deviation."""
    name = "quadratic" if solver == "primal" else "laplacian"
    weight = WEIGHTS["weights"]
    one = fitted(solver, name, np.array(ALPHAS), True, weight)
    other = fitted(solver, name, 7 * np.array(ALPHAS), True, 7 * weight)
    assert np.allclose(one.predict(NEW), other.predict(NEW), rtol=0, atol=1e-7)
    assert np.allclose(deviation(one), deviation(other), rtol=1e-6)


def test_few_centres_keep_what_they_do_not_explain():
    weight, alpha = WEIGHTS["weights"], 0.3
    noise = alpha / weight.mean()
    model = KernelRidge(
        alpha, kernel=Gaussian(0.4), fit_intercept=True, solver="nystrom", n_centers=7
    ).fit(X, Y[:, 0], sample_weight=weight)
    own, cross = GRAMS["gaussian"][:, model.support_], CROSSES["gaussian"][:, model.support_]
    assert own.shape == (N, 7)
    own_own = own[model.support_]

    def variance(at, weight):
        # f = t' k_z has covariance K_zz**-1; what k_z does not explain of k is added.
        features = np.hstack([own, np.ones((N, 1))])
        precision = features.T @ (weight[:, None] * features) / alpha
        precision[:7, :7] += own_own
        both = np.hstack([at, np.ones((len(at), 1))])
        rest = 1 - (at * np.linalg.solve(own_own, at.T).T).sum(axis=1)
        return rest + (both * np.linalg.solve(precision, both.T).T).sum(axis=1)

    total = 0.0
    others = np.setdiff1d(np.arange(N), model.support_)
    for i in others:
        less = np.where(np.arange(N) == i, 0.0, weight)
        t, b = oracles.centred_ridge(own, own_own, Y[:, 0], alpha, less, True)
        error = Y[i, 0] - own[i] @ t[:, 0] - b[0]
        total += weight[i] * error**2 / (noise + variance(own[i : i + 1], less)[0])
    wanted = total / weight[others].sum() * (noise + variance(cross, weight))
    assert np.allclose(deviation(model) ** 2, wanted, rtol=1e-6)


def test_least_squares_has_the_deviation_of_the_textbook():
    """alpha = 0: s**2 (1 + x' (X' X)**-1 x), s**2 the mean of r_i**2 / (1 - h_i), unbiased."""
    model = KernelRidge(0.0, kernel=Linear(), fit_intercept=True).fit(X, Y[:, 2])
    F, at = np.hstack([X, np.ones((N, 1))]), np.hstack([NEW, np.ones((9, 1))])
    inverse = np.linalg.inv(F.T @ F)
    r = Y[:, 2] - LinearRegression().fit(X, Y[:, 2]).predict(X)
    square = np.mean(r**2 / (1 - np.einsum("ij,jk,ik->i", F, inverse, F)))
    wanted = square * (1 + np.einsum("ij,jk,ik->i", at, inverse, at))
    assert np.allclose(deviation(model) ** 2, wanted, rtol=1e-9)


def test_interpolation_is_sure_at_its_points_and_unsure_far_away():
    model = KernelRidge(0.0, kernel=Gaussian(0.4)).fit(X, Y[:, 0])
    far = deviation(model, X + 100)
    assert np.allclose(far, far[0], rtol=1e-9)
    assert deviation(model, X).max() < 1e-3 * far[0]


@pytest.mark.parametrize("solver", ["cholesky", "cg", "nystrom", "primal"])
def test_it_has_the_units_of_y(solver):
    name = "quadratic" if solver == "primal" else "gaussian"
    wanted = deviation(fitted(solver, name, 0.3, True, None))
    for factor in (1e-3, 1e3):
        found = deviation(fitted(solver, name, 0.3, True, None, factor * Y))
        assert np.allclose(found, factor * wanted, rtol=1e-6)
    column = deviation(fitted(solver, name, 0.3, True, None, Y[:, :1]))
    flat = deviation(fitted(solver, name, 0.3, True, None, Y[:, 0]))
    assert column.shape == (9, 1)
    assert flat.shape == (9,)
    assert np.allclose(column[:, 0], flat, rtol=1e-9)


# --- how it is computed ---------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True], ids=["through zero", "offset"])
def test_many_points_are_asked_for_in_parts_and_by_conjugate_gradients(intercept, monkeypatch):
    def model(**costs):
        return costed(
            fitted("cholesky", "laplacian", ALPHAS, intercept, WEIGHTS["weights"]), **costs
        )

    wanted = deviation(model())
    monkeypatch.setattr(posterior, "AT_ONCE", 4)
    assert np.allclose(deviation(model()), wanted, rtol=1e-12)
    monkeypatch.setattr(posterior, "AT_ONCE", N)
    assert np.allclose(deviation(model(exact_rows=N - 1)), wanted, rtol=1e-6)


@pytest.mark.parametrize("solver", ["primal", "nystrom", "cg"])
def test_of_many_points_some_are_left_out(solver, monkeypatch):
    points, targets = random.normal(size=(600, 2)), random.normal(size=600)
    kernel = Linear() if solver == "primal" else Gaussian(0.5)
    model = KernelRidge(1.0, kernel=kernel, solver=solver, n_centers=60)
    wanted = deviation(model.fit(points, targets), points[:50])
    monkeypatch.setattr(posterior, "AT_ONCE", 300)
    costed(model, exact_rows=599)
    monkeypatch.setattr(posterior._some, "__defaults__", (300,))
    found = deviation(model.fit(points, targets), points[:50])
    assert np.allclose(found, wanted, rtol=0.1)
    assert not np.allclose(found, wanted, rtol=1e-6)
    assert np.array_equal(deviation(model.fit(points, targets), points[:50]), found)


def test_every_container_and_a_matrix_handed_in():
    wanted = KernelRidge(0.2, kernel=Gaussian(0.4), solver="nystrom", n_centers=12).fit(X, Y)
    blocks = KernelRidge(0.2, kernel=Gaussian(0.4), n_centers=12).fit(RowBlocks.split(X, 7), Y)
    assert np.allclose(deviation(blocks), deviation(wanted), rtol=1e-6)
    for solver in ("cholesky", "nystrom"):
        given = KernelRidge(0.2, kernel="precomputed", solver=solver)
        given.fit(GRAMS["gaussian"], Y)  # has no k(x, x) of new points, and needs none to fit
        assert given.predict(CROSSES["gaussian"]).shape == (9, 3)


@pytest.mark.parametrize("asked", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("solver", ["cholesky", "cg", "nystrom", "primal"])
def test_a_saved_model_is_as_sure(solver, asked, tmp_path):
    name = "quadratic" if solver == "primal" else "gaussian"
    model = fitted(solver, name, ALPHAS, True, WEIGHTS["weights"])
    if asked:
        deviation(model)
    save(model, tmp_path / "model.mercer")
    copies = [load(tmp_path / "model.mercer"), pickle.loads(pickle.dumps(model))]
    for copy in copies:
        assert np.allclose(deviation(copy), deviation(model), rtol=1e-12)


def test_a_refused_or_stopped_fit_has_none(monkeypatch):
    with pytest.warns(Warning, match="time limit|stopped"):
        stopped = KernelRidge(time_limit=1e-9, solver="cholesky").fit(X, Y)
    with pytest.raises(InputError, match="return_std needs a fit that came to a solution"):
        deviation(stopped)
    alone = KernelRidge(fit_intercept=True, kernel=Gaussian(1.0)).fit(X[:1], Y[:1])
    with pytest.raises(InputError, match="return_std needs points that can be left out"):
        deviation(alone)
    for module in (nystrom, posterior, ridge_fit):
        monkeypatch.setattr(module, "DIRECT", 5)
    model = KernelRidge(kernel=Gaussian(0.4), solver="nystrom", n_centers=9).fit(X, Y)
    assert model.certificate_.iterations > 0
    with pytest.raises(InputError, match="return_std needs at most 5 features or centres"):
        deviation(model)


# --- coverage -------------------------------------------------------------------------------------


def smooth(random, n):
    x = random.uniform(-3, 3, (n, 1))
    return x, np.sin(2 * x[:, 0]) + 0.1 * random.normal(size=n)


def friedman(random, n):
    return make_friedman1(n, noise=1.0, random_state=int(random.integers(1000)))


def line(random, n):
    points = random.normal(size=(n, 5))
    return points, points @ [1, 2, 3, -1, 0] + random.normal(size=n)


def diabetes(random, n):
    points, targets = load_diabetes(return_X_y=True)
    order = random.permutation(len(targets))
    return points[order], targets[order]


def uneven(random, n):
    """Noise that grows from 0.1 to 1."""
    x = random.uniform(-3, 3, (n, 1))
    return x, np.sin(2 * x[:, 0]) + (0.1 + 0.3 * np.abs(x[:, 0])) * random.normal(size=n)


def noisy(random, n):
    points = random.uniform(-3, 3, (n, 2))
    return points, np.sin(points[:, 0]) + 5 * random.normal(size=n)


MODELS = {
    "search": KernelRidgeCV(),
    "search of kernels": KernelRidgeCV(
        kernel=[Gaussian(), Linear(), Laplacian()], fit_intercept=True, cv=5
    ),
    "fixed": KernelRidge(0.1),
    "offset": KernelRidge(1.0, fit_intercept=True),
    "conjugate gradients": KernelRidge(0.1, solver="cg"),
    "centres": KernelRidge(0.1, solver="nystrom", n_centers=60),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("data", [smooth, friedman, line, diabetes, uneven, noisy])
def test_two_deviations_cover_new_points(data, model):
    """For 95 in 100 Gaussian errors; 90 to 99 with all else that may be wrong."""
    shares = []
    for seed, factor in enumerate([1.0, 1e-3, 1e3]):
        points, targets = data(np.random.default_rng(seed), 1300)
        train, test = slice(0, 300), slice(300, None)
        model.fit(points[train], factor * targets[train])
        values, deviations = model.predict(points[test], return_std=True)
        shares.append(np.mean(np.abs(factor * targets[test] - values) <= 2 * deviations))
    assert 0.9 <= np.mean(shares) <= 0.99
    assert min(shares) >= 0.87


def test_two_deviations_cover_new_points_with_weights_and_several_outputs():
    points, targets = friedman(np.random.default_rng(0), 1300)
    both = np.column_stack([targets, 1e3 * np.sin(targets / 3)])
    weight = 10 * np.random.default_rng(1).integers(0, 4, 400)
    for model in MODELS.values():
        model.fit(points[:400], both[:400], sample_weight=weight)
        values, deviations = model.predict(points[400:], return_std=True)
        shares = np.mean(np.abs(both[400:] - values) <= 2 * deviations, axis=0)
        assert (shares >= 0.9).all()
        assert (shares <= 0.99).all()
