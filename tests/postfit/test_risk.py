"""Bounds on the risk hold, and hard margins exist where the classes are separable."""

import warnings

import numpy as np
import pytest
from scipy.optimize import linprog

from mercer import SVC, SVR, InputError, NuSVC, enclosing_radius, vc_bound
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial

random = np.random.default_rng(2)
X = random.normal(size=(80, 2))
y = np.where(X[:, 0] + 0.5 * random.normal(size=80) > 0, 1, -1)
KERNELS = [
    Linear(),
    100 * Linear(),
    Polynomial(2),
    Gaussian(0.5),
    1e-3 * Gaussian(2.0),
    Laplacian(),
]


# --- the bound holds ------------------------------------------------------------------------------


def coin_flips(draw):
    """Return points whose labels are coin flips, so that every function has a risk of one half."""
    random = np.random.default_rng(draw)
    n = int(random.choice([20, 60, 200, 400, 1000, 3000], p=[0.2, 0.2, 0.2, 0.2, 0.1, 0.1]))
    points = random.normal(size=(n, int(random.choice([1, 2, 5, 50]))))
    labels = random.integers(0, 2, n)
    labels[:2] = 0, 1
    kernel = KERNELS[random.integers(len(KERNELS))]
    C = 10.0 ** random.integers(-7, 2)
    offset = bool(random.random() < 0.8)
    model = SVC(C, kernel=kernel, fit_intercept=offset, max_iter=20_000)
    return model, points, labels


# It holds for every function, so also for machines that have not converged.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_bound_is_above_the_risk_of_coin_flips():
    """Lecture E3: a bound with delta = 0.05 may fail in 5 of 100 draws; this one is wider."""
    bounds = []
    for draw in range(100):
        model, points, labels = coin_flips(draw)
        bounds.append(vc_bound(model.fit(points, labels), points, labels))
    bounds = np.array(bounds)
    assert (bounds >= 0.5).sum() >= 95
    assert (bounds < 0.7).sum() >= 10  # and not because it never says anything


@pytest.mark.parametrize("seed", range(3))
def test_many_columns_of_noise_promise_nothing(seed):
    """No training errors and hardly any norm: the formula with h = |w|^2 R^2 + 1 gives 0.17."""
    random = np.random.default_rng(seed)
    points, labels = random.normal(size=(400, 4000)), random.permutation(np.repeat([0, 1], 200))
    model = SVC(1e-7, kernel=Linear()).fit(points, labels)
    record = model.certificate_
    h = record.norm**2 * enclosing_radius(model, points) ** 2 + 1
    printed = record.training_error + np.sqrt((h * (np.log(800 / h) + 1) - np.log(0.05 / 4)) / 400)
    assert printed < 0.2
    assert vc_bound(model, points, labels) >= 0.5
    assert vc_bound(model, points, labels, norm=record.norm * 1.01) >= 0.5


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Laplacian(0.3), Linear()], ids=repr)
def test_noisy_labels_have_a_known_risk(kernel):
    """One label in five is turned: the risk follows from how often the machine finds the rule."""
    random = np.random.default_rng(4)
    new = random.normal(size=(4000, 2))
    for _ in range(5):
        points = random.normal(size=(1500, 2))
        labels = np.where((points[:, 0] > 0) ^ (random.random(1500) < 0.2), 1, -1)
        for C in (1e-4, 1e-2, 1.0):
            model = SVC(C, kernel=kernel).fit(points, labels)
            right = np.mean((model.predict(new) > 0) == (new[:, 0] > 0))
            assert vc_bound(model, points, labels) > 0.2 * right + 0.8 * (1 - right)


# --- the bound says something ---------------------------------------------------------------------


def two_clouds(n):
    return random.normal(size=(n, 2)) * 0.3 + np.where(np.arange(n) % 2, 1, -1)[:, None]


def test_many_separable_points_bring_the_bound_down():
    bounds = {}
    for n in (200, 1000, 5000, 20_000):
        points, labels = two_clouds(n), np.arange(n) % 2
        for kernel in (Linear(), Gaussian(0.5)):
            model = SVC(0.01, kernel=kernel).fit(points, labels)
            bounds[n, kernel] = vc_bound(model, points, labels)
    for kernel in (Linear(), Gaussian(0.5)):
        found = [bounds[n, kernel] for n in (200, 1000, 5000, 20_000)]
        assert found == sorted(found, reverse=True)
    assert bounds[1000, Gaussian(0.5)] < 0.5
    assert bounds[20_000, Gaussian(0.5)] < 0.15
    assert bounds[20_000, Linear()] < 0.05
    assert (
        vc_bound(
            NuSVC(0.1, kernel=Gaussian(0.5)).fit(two_clouds(3000), np.arange(3000) % 2),
            two_clouds(3000),
            np.arange(3000) % 2,
        )
        < 0.5
    )


# --- what it is -----------------------------------------------------------------------------------


def by_margin(model, points, labels, delta, norm, offset):
    """Return the bound by margin, written out, with a norm fixed beforehand."""
    n = len(labels)
    slack = np.maximum(0, 1 - labels * model.decision_function(points))
    radius = enclosing_radius(model, points)
    diagonal = np.ones(n)  # of a Gaussian
    complexity = (2 * norm * radius + 1) if offset else norm * np.sqrt(diagonal.mean())
    rest = 3 * np.sqrt(np.log(2 / delta) / (2 * n))
    return np.minimum(1, slack).mean() + 2 * complexity / np.sqrt(n) + rest


@pytest.mark.parametrize("offset", [True, False])
def test_the_bound_by_margin(offset):
    points = two_clouds(3000)
    labels = np.where(np.arange(3000) % 2, 1, -1)
    model = SVC(0.01, kernel=Gaussian(0.5), fit_intercept=offset).fit(points, labels)
    norm = model.certificate_.norm
    given = vc_bound(model, points, labels, delta=0.1, norm=2.0)
    assert given == pytest.approx(by_margin(model, points, labels, 0.1, 2.0, offset), rel=1e-3)
    prices = {j: 2 / (3 * (abs(j) + 1) * (abs(j) + 2)) for j in range(-9999, 10_000)}
    assert sum(prices.values()) < 1
    wanted = min(
        by_margin(model, points, labels, 0.1 * prices[j], 2 ** (j / 4), offset)
        for j in range(-4, 12)
        if 2 ** (j / 4) >= norm
    )
    assert vc_bound(model, points, labels, delta=0.1) == pytest.approx(wanted, rel=1e-3)


def test_the_bound_by_dimension_is_that_of_the_lecture():
    """Lecture E3: with h known beforehand, here three coefficients."""
    labels = np.where(random.random(80) < 0.05, -y, y)
    model = SVC(kernel=Linear()).fit(X, labels)
    wrong = np.mean(model.predict(X) != labels)
    assert wrong == model.certificate_.training_error
    term = np.sqrt((3 * (np.log(160 / 3) + 1) - np.log(0.1 / 2 / 4)) / 80)
    assert vc_bound(model, X, labels, delta=0.1) == pytest.approx(wrong + term + 1 / 80)


def test_a_bound_that_says_nothing_is_one():
    model = SVC(1e4, kernel=Gaussian(50.0)).fit(X, y)
    assert vc_bound(model, X, y) == 1.0
    assert vc_bound(SVC(kernel=Linear()).fit(X[:4], [0, 1, 0, 1]), X[:4], [0, 1, 0, 1]) == 1.0


def test_names_of_classes_do_not_matter():
    names = np.where(y > 0, "up", "down")
    points = two_clouds(1000)
    labels = np.arange(1000) % 2
    words = np.array(["no", "yes"])[labels]
    by_words = vc_bound(SVC(0.01, kernel=Gaussian(0.5)).fit(points, words), points, words)
    assert by_words == vc_bound(SVC(0.01, kernel=Gaussian(0.5)).fit(points, labels), points, labels)
    with pytest.raises(InputError, match=r"vc_bound: y must have the classes of the model.*got -1"):
        vc_bound(SVC().fit(X, names), X, y)


def test_what_is_refused():
    model = SVC(kernel=Gaussian(0.5)).fit(X, y)
    for other in (SVC(), None, SVR(), "linear"):
        with pytest.raises(InputError, match="must be a fitted support vector machine"):
            vc_bound(other, X, y)
    for other in (SVC().fit(X, np.digitize(X[:, 0], [-0.5, 0.5])), SVR().fit(X, X[:, 0])):
        with pytest.raises(InputError, match="support vector classifier of two classes"):
            vc_bound(other, X, y)
    with pytest.raises(InputError, match="delta"):
        vc_bound(model, X, y, delta=0.0)
    with pytest.raises(InputError, match="y must have a class for each of the 80 points"):
        vc_bound(model, X, y[:-1])
    with pytest.raises(InputError, match="norm must be at least that of the machine"):
        vc_bound(model, X, y, norm=1e-3)
    with pytest.raises(InputError, match="norm must be"):
        vc_bound(model, X, y, norm=0)


# --- hard margins ---------------------------------------------------------------------------------


def separable(features, labels):
    """Return whether a plane has all points on their sides, by linear programming."""
    n, p = features.shape
    rows = -labels[:, None] * np.hstack([features, np.ones((n, 1))])
    free = [(None, None)] * (p + 1)
    return linprog(np.zeros(p + 1), A_ub=rows, b_ub=-np.ones(n), bounds=free).status == 0


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2)], ids=repr)
def test_a_hard_margin_is_found_exactly_where_the_classes_are_separable(kernel):
    """Lecture E4: C = inf."""
    found = {True: 0, False: 0}
    for draw in range(60):
        random = np.random.default_rng(draw)
        points = random.normal(size=(random.integers(4, 40), random.integers(1, 9)))
        labels = np.where(random.random(len(points)) < 0.5, 1, -1)
        labels[:2] = 1, -1
        exists = separable(np.asarray(kernel.features(points)), labels)
        found[exists] += 1
        if not exists:
            with pytest.raises(InputError, match="the classes must be separable"):
                SVC(np.inf, kernel=kernel).fit(points, labels)
            continue
        model = SVC(np.inf, kernel=kernel).fit(points, labels)
        assert (labels * model.decision_function(points)).min() > 1 - 1e-3
    assert min(found.values()) >= 10


def test_coefficients_say_on_which_side_of_the_margin_a_point_lies():
    """Lecture E4: a = 0 has y f >= 1, 0 < a < C has y f = 1, a = C has y f <= 1."""
    for C in (0.01, 1.0, 100.0):
        for kernel in (Linear(), Gaussian(0.5)):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model = SVC(C, kernel=kernel, tol=1e-6).fit(X, y)
            a = np.zeros(80)
            a[model.support_] = np.abs(model.dual_coef_[0])
            margins = y * model.decision_function(X)
            zero, bound = a == 0, a == C
            free = ~zero & ~bound
            record = model.certificate_
            assert (record.zero, record.free, record.bound) == (zero.sum(), free.sum(), bound.sum())
            assert (margins[zero] >= 1 - 1e-5).all()
            assert (margins[bound] <= 1 + 1e-5).all()
            assert np.allclose(margins[free], 1, atol=1e-5)
            assert record.violation <= 1e-6
            assert record.gap <= 1e-4 * record.primal
