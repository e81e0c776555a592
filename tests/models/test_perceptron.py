"""The kernel perceptron: the lecture's algorithm, visit by visit, whatever is done to be quick."""

import warnings

import numpy as np
import oracles
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, KernelPerceptron
from mercer.fitting import rows as svm_rows
from mercer.kernels import Gaussian, Intersection, Laplacian, Linear, Polynomial
from mercer.solvers.perceptron import passes as walks

KERNELS = {
    "gaussian": (Gaussian(0.7), lambda x, y: oracles.gaussian(x, y, 0.7, 0.7)),
    "laplacian": (Laplacian(0.5), lambda x, y: oracles.laplacian(x, y, 0.5, 0.5)),
    "linear": (Linear(), oracles.dot),
    "cubic": (Polynomial(3, 0.5, 1.0), lambda x, y: oracles.polynomial(x, y, 3, 0.5, 1.0)),
}


def lecture(K, y, passes, order=None):
    """The algorithm of lecture A, word for word: counts and mistakes in their order."""
    n = len(y)
    alpha, mistakes, by_pass = [0] * n, [], []
    for turn in range(passes):
        by_pass.append(0)
        for t in range(n) if order is None else order[turn]:
            total = 0.0
            for i in range(n):
                if alpha[i]:
                    total += alpha[i] * y[i] * (K[i][t] + 1)
            if y[t] * total <= 0:
                alpha[t] += 1
                mistakes.append(t)
                by_pass[-1] += 1
        if by_pass[-1] == 0:
            break
    return alpha, mistakes, by_pass


def several(K, codes, k, passes):
    """Scores of k classes: beta after every visit, and the mistakes."""
    n = len(codes)
    beta, mistakes, history = np.zeros((n, k)), [], []
    for _ in range(passes):
        before = len(mistakes)
        for t in range(n):
            scores = [sum(beta[i, c] * (K[i][t] + 1) for i in range(n)) for c in range(k)]
            others = [c for c in range(k) if c != codes[t]]
            rival = max(others, key=lambda c: scores[c])  # the first of equal ones
            if scores[codes[t]] <= scores[rival]:
                beta[t, codes[t]] += 1
                beta[t, rival] -= 1
                mistakes.append(t)
            history.append(beta.copy())
        if len(mistakes) == before:
            break
    return beta, mistakes, history


def fit(model, X, y):
    """Fit, whether it converges or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def sample(seed, n=60, d=2, classes=2):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    target = np.sin(2 * X[:, 0]) + X[:, -1] + 0.2 * random.normal(size=n)
    return X, np.digitize(target, np.quantile(target, np.arange(1, classes) / classes))


@pytest.fixture(params=["whole", "parts", "rows", "few rows"])
def way(request, monkeypatch):
    """Ways to the same mistakes: K whole or rows in single precision, and sizes of blocks."""
    sizes = {
        "whole": {},
        "parts": {"AT_ONCE": 7},
        "rows": {"BLOCK": 16, "BATCH": 5, "UNPACKED": 4},
        "few rows": {"BLOCK": 5, "BATCH": 40},
    }[request.param]
    for name, value in sizes.items():
        monkeypatch.setattr(walks, name, value)
    if "rows" in request.param:
        monkeypatch.setattr(svm_rows, "DENSE", 10)
    if request.param == "few rows":
        monkeypatch.setattr(svm_rows, "LEAST", 6)
        return {"memory_limit": 20_000}
    return {}


# --- by hand ----------------------------------------------------------------------------------


def test_three_points_by_hand(way):
    """Linear kernel, x = 1, 2, -1 with y = +, -, +: (theta, theta_0) after each mistake is

    (1,1) (-1,0) | (0,1) (-2,0) | (-1,1) | (0,2) (-2,1) | (-1,2) (-3,1) | (-2,2) | (-1,3) (-3,2) |
    (-2,3), and the ninth pass makes none; three of the mistakes after the first are ties.
    """
    model = KernelPerceptron(Linear(), **way).fit([[1.0], [2.0], [-1.0]], [1, -1, 1])
    assert model.alpha_.tolist() == [8, 5, 0]
    assert model.alpha_.dtype.kind == "i"
    assert model.mistakes_.tolist() == [0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0]
    assert model.n_mistakes_ == 13
    assert model.certificate_.by_pass == (2, 2, 1, 2, 2, 1, 2, 1, 0)
    assert model.n_iter_ == 9
    assert model.converged_
    assert model.support_.tolist() == [0, 1]
    assert model.dual_coef_.tolist() == [[8.0, -5.0]]
    assert model.intercept_.tolist() == [3.0]
    assert model.decision_function([[0.0], [1.0], [2.0]]).tolist() == [3.0, 1.0, -1.0]
    assert model.predict([[0.0], [1.5], [2.0]]).tolist() == [1, -1, -1]  # f(1.5) = 0
    assert model.certificate_.margin == pytest.approx(1 / np.sqrt(13))
    assert model.certificate_.bound == pytest.approx(5 * 13)


def test_three_classes_by_hand(way):
    """Unit vectors: votes (1,-1,0), (-1,1,0), (-1,0,1), then once more (1,0,-1) for the first."""
    model = KernelPerceptron(Linear(), **way).fit(np.eye(3), ["a", "b", "c"])
    assert model.mistakes_.tolist() == [0, 1, 2, 0]
    assert model.alpha_.tolist() == [2, 1, 1]
    assert model.dual_coef_.T.tolist() == [[2, -1, -1], [-1, 1, 0], [-1, 0, 1]]
    assert model.intercept_.tolist() == [0, 0, 0]
    assert model.certificate_.by_pass == (3, 1, 0)
    assert model.decision_function(np.eye(3)).shape == (3, 3)
    assert model.predict(np.eye(3)).tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("last", [-1, 1])
@pytest.mark.parametrize("kernel", [Gaussian(3.0), Laplacian(2.0), Gaussian(50.0)])
def test_a_tie_that_rounding_hides_is_a_mistake(kernel, last, way):
    """0.2 lies between 0.1 and 0.3, though not for a computer: f(0.2) = 0 is wrong for any y."""
    X = np.array([[0.1], [0.3], [0.2]])
    assert X[2] - X[0] != X[1] - X[2]
    model = fit(KernelPerceptron(kernel, max_iter=1, **way), X, [1, -1, last])
    assert model.mistakes_.tolist() == [0, 1, 2]


# --- the order of the mistakes ----------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", range(4))
def test_every_update_is_that_of_the_lecture(name, seed, way):
    kernel, pair = KERNELS[name]
    X, codes = sample(seed, n=45)
    if seed == 3:  # whole numbers: many sums are exactly 0
        X = np.round(2 * X)
    y = np.where(codes, 1, -1)
    alpha, mistakes, by_pass = lecture(oracles.gram(pair, X), y, 12)
    model = fit(KernelPerceptron(kernel, max_iter=12, **way), X, y)
    assert model.mistakes_.tolist() == mistakes
    assert model.alpha_.tolist() == alpha
    assert list(model.certificate_.by_pass) == by_pass
    assert model.converged_ == (by_pass[-1] == 0)
    assert model.support_.tolist() == np.flatnonzero(alpha).tolist()
    assert np.array_equal(model.dual_coef_[0], (y * alpha)[model.support_])
    assert model.intercept_[0] == y @ alpha


@pytest.mark.parametrize("name", ["gaussian", "linear"])
@pytest.mark.parametrize("k", [3, 5])
def test_every_update_of_several_classes(name, k, way):
    kernel, pair = KERNELS[name]
    X, codes = sample(k, n=30, classes=k)
    X = np.round(X) if name == "linear" else X
    beta, mistakes, _ = several(oracles.gram(pair, X), codes, k, 6)
    model = fit(KernelPerceptron(kernel, max_iter=6, **way), X, codes)
    assert model.mistakes_.tolist() == mistakes
    assert np.array_equal(model.dual_coef_.T, beta[model.support_])
    assert np.array_equal(model.intercept_, beta.sum(axis=0))


def test_several_classes_of_which_there_are_two_are_the_lecture():
    X, codes = sample(8, n=40)
    K = Gaussian(0.7).formula(X, X)
    beta, mistakes, _ = several(K, codes, 2, 8)
    alpha, same, _ = lecture(K, np.where(codes, 1, -1), 8)
    assert mistakes == same
    assert np.abs(beta[:, 1]).tolist() == alpha


def test_shuffled_visits(way):
    X, codes = sample(5)
    y = np.where(codes, 1, -1)
    orders, model = [], KernelPerceptron(Gaussian(0.7), max_iter=6, shuffle=True, random_state=3)
    model.set_params(**way)
    random = np.random.default_rng((3, 0))
    orders = [random.permutation(len(y)) for _ in range(6)]
    assert not np.array_equal(orders[0], orders[1])
    _, mistakes, _ = lecture(Gaussian(0.7).formula(X, X), y, 6, orders)
    assert fit(model, X, y).mistakes_.tolist() == mistakes


def test_long_walks_do_not_drift(way):
    """Hundreds of passes with thousands of mistakes; labels without sense."""
    random = np.random.default_rng(4)
    X, y = random.normal(size=(25, 2)), random.choice([-1, 1], 25)
    _, mistakes, _ = lecture(Gaussian(0.5).formula(X, X), y, 300)
    assert len(mistakes) > 2000
    model = fit(KernelPerceptron(Gaussian(0.5), max_iter=300, **way), X, y)
    assert model.mistakes_.tolist() == mistakes


def test_close_scores_are_examined(monkeypatch):
    monkeypatch.setattr(svm_rows, "DENSE", 10)
    X = np.round(2 * sample(2, n=80)[0])
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    model = fit(KernelPerceptron(Linear(), max_iter=9), X, y)
    assert model.mistakes_.tolist() == lecture((X @ X.T).tolist(), y, 9)[1]
    assert model.certificate_.examined > 1


# --- what theory says -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_distinct_points_always_separate(seed):
    """Lecture A: with the RBF kernel any labels of distinct points can be learnt."""
    random = np.random.default_rng(seed)
    far = 3.0 * np.stack(np.meshgrid(np.arange(8), np.arange(8)), axis=-1).reshape(-1, 2)
    for X in (random.normal(size=(70, 10)), far):
        y = random.choice([-1, 1], len(X))
        model = KernelPerceptron(Gaussian(0.5)).fit(X, y)
        assert model.converged_
        assert model.certificate_.by_pass[-1] == 0
        assert np.array_equal(model.predict(X), y)
        assert (y * model.decision_function(X)).min() > 0


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Polynomial(2, 1.0, 1.0)])
def test_mistakes_stay_below_the_bound(kernel):
    """Novikoff: at most (R / margin)**2 mistakes, in the space of k + 1 where all is linear."""
    X = np.random.default_rng(1).normal(size=(60, 3))
    X = X[np.abs(X.sum(axis=1)) > 0.4]
    y = np.where(X.sum(axis=1) > 0, 1, -1)
    machine = SVC(1e7, kernel=kernel + 1, fit_intercept=False, tol=1e-9).fit(X, y)
    widest = (y * machine.decision_function(X)).min() * machine.certificate_.margin
    radius = np.sqrt(kernel.diag(X).max() + 1)
    for seed in range(3):
        found = KernelPerceptron(kernel, shuffle=True, random_state=seed).fit(X, y)
        assert found.n_mistakes_ <= (radius / widest) ** 2
        certificate = found.certificate_
        assert certificate.margin <= widest * (1 + 1e-6)
        assert certificate.bound == pytest.approx((radius / certificate.margin) ** 2)
        f = y * found.decision_function(X)
        beta = found.dual_coef_[0]
        norm = np.sqrt(beta @ (kernel(X[found.support_]) + 1) @ beta)
        assert certificate.margin == pytest.approx(f.min() / norm)


def test_the_margin_of_several_classes_bounds_their_mistakes():
    X, codes = sample(2, n=50, classes=3)
    model = KernelPerceptron(Gaussian(2.0)).fit(X, codes)
    certificate = model.certificate_
    scores = model.decision_function(X)
    own = scores[np.arange(50), codes].copy()
    scores[np.arange(50), codes] = -np.inf
    W = model.dual_coef_
    norm = np.sqrt(np.trace(W @ (Gaussian(2.0)(X[model.support_]) + 1) @ W.T))
    assert certificate.margin == pytest.approx((own - scores.max(axis=1)).min() / norm / np.sqrt(2))
    assert model.n_mistakes_ <= certificate.bound == pytest.approx(2 / certificate.margin**2)


# --- the mean of all functions ----------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
def test_the_mean_over_all_visits(k, way):
    X, codes = sample(6, n=30, classes=k)
    _, _, history = several(Gaussian(0.7).formula(X, X), codes, k, 4)
    plain = fit(KernelPerceptron(Gaussian(0.7), max_iter=4, **way), X, codes)
    model = fit(KernelPerceptron(Gaussian(0.7), max_iter=4, average=True, **way), X, codes)
    wanted = np.mean(history, axis=0)[model.support_]
    wanted = wanted[:, 1:] if k == 2 else wanted
    assert np.allclose(model.dual_coef_.T, wanted, rtol=1e-12, atol=0)
    assert np.allclose(model.intercept_, wanted.sum(axis=0), rtol=1e-12, atol=1e-12)
    assert np.array_equal(model.mistakes_, plain.mistakes_)
    assert np.array_equal(model.alpha_, plain.alpha_)


# --- a budget ---------------------------------------------------------------------------------


def projected(K, codes, k, passes, budget):
    """The perceptron that projects updates on the first points with mistakes."""
    kept, beta, mistakes, dropped = [], np.zeros((0, k)), [], 0.0
    history = []
    for _ in range(passes):
        for t in range(len(codes)):
            scores = sum((b * (K[i, t] + 1) for i, b in zip(kept, beta, strict=True)), np.zeros(k))
            others = [c for c in range(k) if c != codes[t]]
            rival = max(others, key=lambda c: scores[c])
            if scores[codes[t]] <= scores[rival]:
                mistakes.append(t)
                if t not in kept and len(kept) < budget:
                    kept.append(t)
                    beta = np.vstack([beta, np.zeros(k)])
                own = K[np.ix_(kept, kept)] + 1
                d = np.linalg.solve(own, K[kept, t] + 1)
                dropped += np.sqrt(max(K[t, t] + 1 - d @ own @ d, 0)) if t not in kept else 0.0
                beta[:, codes[t]] += d
                beta[:, rival] -= d
            history.append((list(kept), beta.copy()))
    return kept, beta, mistakes, dropped, history


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("budget", [1, 8])
def test_a_budget_projects(k, budget, way):
    X, codes = sample(7, n=40, classes=k)
    K = Gaussian(0.7).formula(X, X)
    kept, beta, mistakes, dropped, history = projected(K, codes, k, 3, budget)
    model = KernelPerceptron(Gaussian(0.7), max_iter=3, budget=budget, **way)
    fit(model, X, codes)
    assert model.mistakes_.tolist() == mistakes
    assert sorted(model.support_) == sorted(kept)
    assert len(model.support_) == budget
    order = np.argsort(kept)
    wanted = beta[order][:, 1:] if k == 2 else beta[order]
    assert np.allclose(model.dual_coef_.T, wanted, rtol=0, atol=1e-9)
    assert model.certificate_.dropped == pytest.approx(dropped)
    assert dropped > 1
    mean = np.zeros((budget, k))
    for points, votes in history:
        mean[: len(points)] += votes / len(history)
    model = fit(model.set_params(average=True), X, codes)
    mean = mean[order][:, 1:] if k == 2 else mean[order]
    assert np.allclose(model.dual_coef_.T, mean, rtol=0, atol=1e-9)


def test_a_budget_that_is_large_enough_changes_nothing(way):
    X, codes = sample(3, n=50)
    free = KernelPerceptron(Gaussian(2.0), **way).fit(X, codes)
    model = KernelPerceptron(Gaussian(2.0), budget=50, **way).fit(X, codes)
    assert np.array_equal(model.mistakes_, free.mistakes_)
    assert np.allclose(model.dual_coef_, free.dual_coef_, rtol=0, atol=1e-9)
    assert model.certificate_.dropped == 0
    assert model.certificate_.margin == pytest.approx(free.certificate_.margin, rel=1e-6)


def test_points_in_the_span_need_no_room():
    """In the plane k + 1 has three dimensions: three points carry every linear perceptron."""
    X, _ = sample(3, n=50)
    y = np.where(X @ [1.0, -2.0] > 0.3, 1, -1)
    free = KernelPerceptron(Linear()).fit(X, y)
    model = KernelPerceptron(Linear(), budget=30).fit(X, y)
    assert len(free.support_) > 3
    assert len(model.support_) == 3
    assert np.array_equal(model.mistakes_, free.mistakes_)
    assert np.allclose(model.decision_function(X), free.decision_function(X), atol=1e-9)
    assert model.certificate_.dropped < 1e-4


def test_histograms_and_other_kernels_of_the_library():
    X = np.random.default_rng(2).random((40, 4))
    y = np.where(X[:, 0] + X[:, 1] > X[:, 2] + X[:, 3], 1, -1)
    kernel = 2.0 * Intersection() + Gaussian(1.0) * Linear() ** 2
    K = oracles.gram(
        lambda a, b: (
            2 * oracles.intersection(a, b)
            + oracles.gaussian(a, b, 1, 1, 1, 1) * oracles.dot(a, b) ** 2
        ),
        X,
    )
    model = fit(KernelPerceptron(kernel, max_iter=10), X, y)
    assert model.mistakes_.tolist() == lecture(K, y, 10)[1]
