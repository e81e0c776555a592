"""Functions with any convex loss: the optimum, its certificate, every way."""

from dataclasses import dataclass

import numpy as np
import pytest
from costed import costed
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, PoissonRegressor

import mercer
from mercer import (
    SVC,
    SVR,
    InputError,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelRidge,
    MemoryLimitError,
)
from mercer.fitting import loss as machine_fit
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Quantile,
    SmoothedHinge,
    Softmax,
    Squared,
    SquaredHinge,
)

random = np.random.default_rng(31)
N = 50
X, NEW = random.normal(size=(N, 3)), random.normal(size=(12, 3))
TARGET = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * random.normal(size=N)
COUNTS = np.round(np.exp(TARGET))
TWO = np.where(TARGET + 0.5 * random.normal(size=N) > 0, "yes", "no")
THREE = np.array(["low", "mid", "top"])[np.digitize(TARGET, [-0.5, 0.5])]
WEIGHTS = random.uniform(0.2, 2.0, N)
KERNEL = Gaussian(0.5)
K = KERNEL(X)

CLASSES = {
    "logistic": Logistic(),
    "squared": Squared(),
    "squared_hinge": SquaredHinge(),
    "smoothed_hinge": SmoothedHinge(),
    "hinge": Hinge(),
}
NUMBERS = {
    "squared": Squared(),
    "huber": Huber(),
    "poisson": Poisson(),
    "epsilon_insensitive": EpsilonInsensitive(),
    "quantile": Quantile(),
}


def objective(model, loss, targets, weight, K=K):
    """The objective by its definition, from the coefficients alone."""
    a = np.zeros((len(K), targets.shape[1]))
    a[model.support_] = model.dual_coef_
    F = K @ a + model.intercept_
    return float(weight @ loss.value(F, targets).sum(axis=1)) + model.alpha / 2 * np.sum(
        a * (K @ a)
    )


def lowest(loss, targets, weight, alpha, offset, K=K):
    """The minimum by a general optimiser, in the coordinates of a square root of K."""
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    shape = root.shape[1], targets.shape[1]

    def function(z):
        t = z[: shape[0] * shape[1]].reshape(shape)
        b = z[shape[0] * shape[1] :] if offset else np.zeros(shape[1])
        F = root @ t + b
        u = weight[:, None] * loss.gradient(F, targets)
        value = weight @ loss.value(F, targets).sum(axis=1) + alpha / 2 * (t**2).sum()
        slopes = [(root.T @ u + alpha * t).ravel()] + ([u.sum(axis=0)] if offset else [])
        return value, np.concatenate(slopes)

    start = np.zeros(shape[0] * shape[1] + (shape[1] if offset else 0))
    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30}
    return minimize(function, start, jac=True, method="L-BFGS-B", options=options).fun


def signs(labels):
    classes = np.unique(labels)
    members = labels[:, None] == classes
    return 2.0 * (members[:, 1:] if len(classes) == 2 else members) - 1.0


# --- the optimum ------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [False, True], ids=["through zero", "offset"])
@pytest.mark.parametrize("alpha", [2.0, 0.05])
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", [name for name in CLASSES if name != "hinge"])
def test_classes_reach_the_minimum(name, labels, alpha, offset):
    model = KernelMachineClassifier(name, alpha, kernel=KERNEL, fit_intercept=offset, tol=1e-9)
    model.fit(X, labels, sample_weight=WEIGHTS)
    loss, targets = CLASSES[name], signs(labels)
    if name == "logistic" and len(model.classes_) == 3:
        loss, targets = Softmax(), (targets + 1) / 2
    check_optimum(model, loss, targets, WEIGHTS, alpha, offset)


@pytest.mark.parametrize("offset", [False, True], ids=["through zero", "offset"])
@pytest.mark.parametrize("alpha", [2.0, 0.05])
@pytest.mark.parametrize("name", ["squared", "huber", "poisson"])
def test_numbers_reach_the_minimum(name, alpha, offset):
    y = COUNTS if name == "poisson" else np.column_stack([TARGET, 3 - TARGET**2])
    model = KernelMachineRegressor(name, alpha, kernel=KERNEL, fit_intercept=offset, tol=1e-9)
    model.fit(X, y, sample_weight=WEIGHTS)
    check_optimum(model, NUMBERS[name], y.reshape(N, -1), WEIGHTS, alpha, offset)


def check_optimum(model, loss, targets, weight, alpha, offset):
    record = model.certificate_
    assert record.status == "converged"
    value = objective(model, loss, targets, weight)
    assert record.primal == pytest.approx(value, rel=1e-10)
    best = lowest(loss, targets, weight, alpha, offset)
    assert value <= best + 1e-8 * abs(best)
    assert value - best <= record.gap + 1e-8 * abs(value)
    assert record.gap <= 1e-9 * abs(value)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_a_loose_tolerance_keeps_what_the_certificate_says(name, tol):
    if name == "hinge":
        pytest.skip("the quadratic problem is polished to the last digits")
    loose = KernelMachineClassifier(name, 0.02, kernel=KERNEL, tol=tol).fit(X, TWO)
    exact = KernelMachineClassifier(name, 0.02, kernel=KERNEL, tol=1e-12).fit(X, TWO)
    above = loose.certificate_.primal - exact.certificate_.primal
    assert -1e-9 <= above <= loose.certificate_.gap + 1e-9
    assert loose.certificate_.gap <= tol * loose.certificate_.primal
    difference = loose._scores(NEW) - loose.intercept_ - exact._scores(NEW) + exact.intercept_
    assert np.abs(difference).max() <= loose.certificate_.error_bound + 1e-5


def test_squared_is_ridge_regression():
    """Lecture D1: the squared loss."""
    for offset in (False, True):
        ridge = KernelRidge(0.3, kernel=KERNEL, fit_intercept=offset).fit(X, TARGET, WEIGHTS)
        model = KernelMachineRegressor(
            "squared", 0.3, kernel=KERNEL, fit_intercept=offset, tol=1e-13
        ).fit(X, TARGET, WEIGHTS)
        assert np.allclose(model.predict(NEW), ridge.predict(NEW), rtol=0, atol=1e-6)
        assert model.n_iter_ == 1
    ridge, model = KernelRidge(0.3, kernel=KERNEL), KernelMachineRegressor(alpha=0.3, kernel=KERNEL)
    assert (ridge.fit_intercept, model.fit_intercept) == (False, True)  # as docs/losses.md says
    found, wanted = (m.fit(X, TARGET + 5).predict(NEW) for m in (model, ridge))
    assert not np.allclose(found, wanted, rtol=0, atol=0.1)


def test_without_an_offset_it_is_the_problem_of_the_lecture():
    """Lecture D1: min over a of sum loss([K a]_i, y_i) + lambda a' K a, with alpha = 2 lambda."""
    K, penalty = KERNEL(X), 0.15
    signs = np.where(np.unique(TWO)[1] == TWO, 1.0, -1.0)
    options = {"kernel": KERNEL, "fit_intercept": False, "tol": 1e-12}
    huber = KernelMachineRegressor("huber", 2 * penalty, **options).fit(X, TARGET)
    logistic = KernelMachineClassifier("logistic", 2 * penalty, **options).fit(X, TWO)

    def lecture(a, loss):
        f = K @ a
        return loss(f) + penalty * a @ f

    losses = {
        huber: lambda f: np.where(
            np.abs(f - TARGET) <= 1, (f - TARGET) ** 2 / 2, np.abs(f - TARGET) - 0.5
        ).sum(),
        logistic: lambda f: np.logaddexp(0, -signs * f).sum(),
    }
    for model, loss in losses.items():
        a = model.dual_coef_.ravel()
        assert np.all(model.intercept_ == 0)
        least = lecture(a, loss)
        directions = np.random.default_rng(0).normal(size=(20, len(X)))
        assert all(lecture(a + 1e-2 * d, loss) > least for d in directions)
        assert model.certificate_.primal == pytest.approx(least, rel=1e-9)


def test_hinge_types_are_support_vector_machines():
    """Lecture D1: the hinge."""
    machine = SVC(4.0, kernel=KERNEL, tol=1e-9).fit(X, TWO, sample_weight=WEIGHTS)
    model = KernelMachineClassifier("hinge", 0.25, kernel=KERNEL, tol=1e-9)
    model.fit(X, TWO, sample_weight=WEIGHTS)
    wanted = machine.decision_function(NEW)
    assert np.allclose(model.decision_function(NEW), wanted, rtol=0, atol=1e-8)
    assert np.array_equal(model.support_, np.sort(machine.support_))
    assert model.certificate_.solver == "dual"
    assert model.certificate_.primal == pytest.approx(machine.certificate_.primal / 4, rel=1e-8)
    several = KernelMachineClassifier("hinge", 0.25, kernel=KERNEL, tol=1e-9).fit(X, THREE)
    rest = SVC(4.0, kernel=KERNEL, tol=1e-9, multiclass="ovr").fit(X, THREE)
    wanted = rest.decision_function(NEW)
    assert np.allclose(several.decision_function(NEW), wanted, rtol=0, atol=1e-7)
    tube = SVR(4.0, epsilon=0.2, kernel=KERNEL, tol=1e-9).fit(X, TARGET)
    model = KernelMachineRegressor(EpsilonInsensitive(0.2), 0.25, kernel=KERNEL, tol=1e-9)
    found = model.fit(X, TARGET).predict(NEW)
    assert np.allclose(found, tube.predict(NEW), rtol=0, atol=1e-8)


@pytest.mark.parametrize("offset", [False, True], ids=["through zero", "offset"])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.8])
def test_quantiles(q, offset):
    model = KernelMachineRegressor(Quantile(q), 0.5, kernel=KERNEL, fit_intercept=offset, tol=1e-9)
    model.fit(X, TARGET, sample_weight=WEIGHTS)
    value = objective(model, Quantile(q), TARGET[:, None], WEIGHTS)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-9)
    assert model.certificate_.gap <= 1e-8 * value
    again = np.random.default_rng(0)
    for _ in range(20):  # no function near it is better
        a = np.zeros(N)
        a[model.support_] = model.dual_coef_[:, 0]
        a += 0.01 * again.normal(size=N)
        f = K @ a + model.intercept_[0] + (0.01 * again.normal() if offset else 0.0)
        other = WEIGHTS @ Quantile(q).value(f, TARGET) + 0.25 * a @ K @ a
        assert other >= value - 1e-9
    if offset:
        plain = KernelMachineRegressor(Quantile(q), 0.5, kernel=KERNEL).fit(X, TARGET)
        below = np.mean(plain.predict(X) - 1e-6 > TARGET)
        at_most = np.mean(plain.predict(X) + 1e-6 >= TARGET)
        assert below <= q <= at_most


def test_linear_models_of_scikit_learn():
    binary = LogisticRegression(C=2.0, tol=1e-12, max_iter=10000)
    for labels in (TWO, THREE):
        wanted = clone(binary).fit(X, labels, sample_weight=WEIGHTS).predict_proba(NEW)
        for solver in ("primal", "newton", "nystrom"):
            model = KernelMachineClassifier(alpha=0.5, kernel=Linear(), solver=solver, tol=1e-12)
            found = model.fit(X, labels, sample_weight=WEIGHTS).predict_proba(NEW)
            assert np.allclose(found, wanted, rtol=0, atol=1e-6)
            assert np.allclose(np.exp(model.predict_log_proba(NEW)), found)
    wanted = PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=10000).fit(X, COUNTS).predict(NEW)
    model = KernelMachineRegressor("poisson", 0.1 * N, kernel=Linear(), tol=1e-12).fit(X, COUNTS)
    assert np.allclose(model.predict(NEW), wanted, rtol=1e-5)
    assert model.certificate_.solver == "primal"


@dataclass(frozen=True)
class LogCosh:
    """A loss of a user: log cosh (f - y)."""

    wrong: float = 0.0

    def value(self, f, y):
        return np.logaddexp(f - y, y - f) - np.log(2)

    def gradient(self, f, y):
        return np.tanh(f - y) + self.wrong

    def curvature(self, f, y):
        return 1 - np.tanh(f - y) ** 2


def test_a_loss_of_ones_own(tmp_path):
    model = KernelMachineRegressor(LogCosh(), 0.1, kernel=KERNEL, tol=1e-10).fit(X, TARGET)
    check_optimum_of(model, LogCosh(), TARGET[:, None])
    classes = KernelMachineClassifier(LogCosh(), 0.1, kernel=KERNEL, tol=1e-10).fit(X, THREE)
    check_optimum_of(classes, LogCosh(), signs(THREE))
    assert not hasattr(classes, "predict_proba")
    told = "KernelMachineRegressor: the gradient of a loss must be the derivative of its value"
    with pytest.raises(InputError, match=told):
        KernelMachineRegressor(LogCosh(0.1)).fit(X, TARGET)
    with pytest.raises(mercer.FileError, match="LogCosh"):
        mercer.save(model, tmp_path / "model")


def check_optimum_of(model, loss, targets):
    ones = np.ones(N)
    value = objective(model, loss, targets, ones)
    assert value <= lowest(loss, targets, ones, model.alpha, True) * (1 + 1e-8)


# --- the ways ---------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("offset", [False, True], ids=["through zero", "offset"])
def test_every_way_gives_the_same_function(labels, offset):
    """All points as centres, and a map of few features, are all of the space."""
    options = {"alpha": 0.05, "kernel": Polynomial(2), "fit_intercept": offset, "tol": 1e-10}
    wanted = KernelMachineClassifier(solver="newton", **options).fit(X, labels)
    for solver in ("primal", "nystrom"):
        found = KernelMachineClassifier(solver=solver, n_centers=N, **options).fit(X, labels)
        assert found.certificate_.solver == solver
        assert np.allclose(found._scores(NEW), wanted._scores(NEW), rtol=0, atol=2e-4)
        assert found.certificate_.primal == pytest.approx(wanted.certificate_.primal, rel=1e-9)


def test_the_way_is_chosen_by_kernel_and_memory(monkeypatch):
    def way(**options):
        return KernelMachineClassifier(**options).fit(X, TWO).certificate_

    assert way(kernel=KERNEL).solver == "newton"
    assert way(kernel=Linear()).solver == "primal"
    assert way(kernel=KERNEL, loss="hinge").solver == "dual"
    wanted = KernelMachineClassifier(kernel=KERNEL, tol=1e-10).fit(X, TWO).decision_function(NEW)
    monkeypatch.setattr(machine_fit, "RANK", 1)
    monkeypatch.setattr(
        machine_fit.MachineFit, "_whole", lambda self, *_, **__: self.prepared.gram(store=False)
    )
    anew = KernelMachineClassifier(kernel=KERNEL, tol=1e-10).fit(X, TWO)
    assert "computed anew" in anew.certificate_.plan
    assert np.allclose(anew.decision_function(NEW), wanted, rtol=0, atol=1e-4)
    assert anew.certificate_.kernel_entries == anew.certificate_.products * N**2
    few = KernelMachineClassifier(kernel=KERNEL, n_centers=20)
    costed(few, machine_pass_seconds=0).fit(X, TWO)
    assert few.certificate_.solver == "nystrom"
    assert "does not fit" in few.certificate_.plan
    assert len(few.support_) == len(few.dual_coef_) == 20


def test_small_limits():
    points = np.random.default_rng(1).normal(size=(1500, 4))
    labels = points[:, 0] * points[:, 1] > 0
    model = KernelMachineClassifier(kernel=KERNEL, memory_limit="4MB").fit(points, labels)
    assert model.certificate_.solver == "nystrom"
    assert model.certificate_.bytes <= 4_000_000
    assert model.score(points, labels) > 0.95
    told = r"Newton's method on 1500 points must fit memory_limit; .* the limit is 4.0 MB"
    with pytest.raises(MemoryLimitError, match=told):
        KernelMachineClassifier(kernel=KERNEL, memory_limit="4MB", solver="newton").fit(
            points, labels
        )


def test_single_precision_is_certified_in_its_own_kernel_matrix():
    wanted = KernelMachineClassifier(alpha=0.1, kernel=KERNEL).fit(X, THREE)
    single = KernelMachineClassifier(alpha=0.1, kernel=KERNEL).fit(X.astype(np.float32), THREE)
    assert single.certificate_.status == "converged"
    assert np.allclose(single._scores(NEW), wanted._scores(NEW), rtol=0, atol=0.02)
    assert single.certificate_.primal == pytest.approx(wanted.certificate_.primal, rel=1e-5)


def test_hard_cases_converge():
    """Separable classes and tiny penalties, outliers beyond every curvature, repeated points."""
    far = KernelMachineRegressor(Huber(0.1), 0.01, kernel=KERNEL).fit(X, TARGET + 1e4)
    assert np.abs(far.predict(X) - 1e4).max() < 10
    separable = KernelMachineClassifier(alpha=1e-6, kernel=Gaussian(5.0)).fit(X, TWO)
    assert separable.score(X, TWO) == 1.0
    twice = KernelMachineClassifier("squared_hinge", 1e-4, kernel=KERNEL)
    opposite = np.concatenate([TWO, np.where(TWO == "yes", "no", "yes")])
    found = twice.fit(np.vstack([X, X]), opposite)
    assert np.allclose(found.decision_function(NEW), 0, atol=1e-3)
    nothing = KernelMachineRegressor("poisson", kernel=KERNEL).fit(X, np.zeros(N))
    assert nothing.predict(NEW).max() < 1e-3
    for model in (far, separable, found, nothing):
        assert model.certificate_.status == "converged"
