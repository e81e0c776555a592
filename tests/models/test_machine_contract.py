"""Functions with any convex loss in scikit-learn's hands: any input, refusals, stops."""

import pickle

import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_checks

import mercer
from mercer import InputError, KernelError, KernelMachineClassifier, KernelMachineRegressor
from mercer.kernels import Categorical, Gaussian, Polynomial, Spectrum
from mercer.losses import Huber, SmoothedHinge

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

# --- scikit-learn's contract, any input -------------------------------------------------------


@estimator_checks.parametrize_with_checks(
    [
        KernelMachineClassifier(),
        KernelMachineClassifier("hinge"),
        KernelMachineClassifier("squared_hinge", solver="nystrom"),
        KernelMachineRegressor(),
        KernelMachineRegressor("huber"),
        KernelMachineRegressor("quantile"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


MODELS = {
    "two": (KernelMachineClassifier(), TWO),
    "three": (KernelMachineClassifier(SmoothedHinge(0.2)), THREE),
    "hinge": (KernelMachineClassifier("hinge"), THREE),
    "huber": (KernelMachineRegressor(Huber(0.5)), TARGET),
    "poisson": (KernelMachineRegressor("poisson"), COUNTS),
    "two outputs": (KernelMachineRegressor(), np.column_stack([TARGET, COUNTS])),
}


def values(model, points):
    return getattr(model, "decision_function", model.predict)(points)


@pytest.mark.parametrize("solver", ["auto", "nystrom", "primal"])
@pytest.mark.parametrize("name", MODELS)
def test_copies_and_files_predict_the_same(name, solver, tmp_path):
    if name == "hinge" and solver != "auto":
        pytest.skip("solved by its dual")
    model, y = MODELS[name]
    kernel = Polynomial(2) if solver == "primal" else KERNEL
    model = clone(model).set_params(kernel=kernel, solver=solver).fit(X, y)
    mercer.save(model, tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(model)), mercer.load(tmp_path / "model")):
        assert np.array_equal(values(other, NEW), values(model, NEW))
        assert np.array_equal(other.predict(NEW), model.predict(NEW))
        assert other.get_params() == model.get_params()
        assert other.certificate_ == model.certificate_


@pytest.mark.parametrize("name", MODELS)
def test_every_container_gives_the_same_model(name):
    model, y = MODELS[name]
    model = clone(model).set_params(kernel=KERNEL, tol=1e-10)
    wanted = values(clone(model).fit(X, y), NEW)
    for points, new in (
        (X.tolist(), NEW.tolist()),
        (scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(NEW)),
        (pd.DataFrame(X, columns=list("abc")), pd.DataFrame(NEW, columns=list("abc"))),
    ):
        assert np.allclose(values(clone(model).fit(points, y), new), wanted, rtol=0, atol=1e-5)
    given = clone(model).set_params(kernel="precomputed").fit(K, y)
    assert np.allclose(values(given, KERNEL(NEW, X)), wanted, rtol=0, atol=1e-5)
    function = clone(model).set_params(kernel=KERNEL.formula).fit(X, y)
    assert np.allclose(values(function, NEW), wanted, rtol=0, atol=1e-5)


def test_objects_and_tables():
    words = ["".join(random.choice(list("ab" if i % 2 else "bc"), 7)) for i in range(40)]
    kinds = np.arange(40) % 2
    G = oracles.gram(lambda u, v: oracles.spectrum(u, v, 3), words)
    for name in ("logistic", "hinge"):
        found = KernelMachineClassifier(name, kernel=Spectrum(3), tol=1e-10).fit(
            words[:30], kinds[:30]
        )
        wanted = KernelMachineClassifier(name, kernel="precomputed", tol=1e-10).fit(
            G[:30, :30], kinds[:30]
        )
        new = found.decision_function(words[30:]), wanted.decision_function(G[30:, :30])
        assert np.allclose(*new, rtol=0, atol=1e-4)
    frame = pd.DataFrame({"size": random.normal(size=40) + kinds, "side": ["l", "r"] * 20})
    kernel = Gaussian(0.5).on("size") + Categorical().on("side")
    assert KernelMachineClassifier(kernel=kernel).fit(frame, kinds).score(frame, kinds) == 1.0


def test_the_same_again_with_any_number_of_threads():
    fits = [
        KernelMachineClassifier(kernel=KERNEL, n_jobs=jobs, random_state=3).fit(X, THREE)
        for jobs in (1, 1, 2)
    ]
    assert np.array_equal(fits[0].dual_coef_, fits[1].dual_coef_)
    assert np.allclose(fits[0]._scores(NEW), fits[2]._scores(NEW), rtol=0, atol=1e-6)


def test_weights_count_as_repetitions_and_zeros_leave_out():
    counts = np.arange(N) % 3
    repeated = np.repeat(np.arange(N), counts)
    model = KernelMachineClassifier(kernel=KERNEL, tol=1e-12)
    weighed = clone(model).fit(X, THREE, sample_weight=counts)
    wanted = clone(model).fit(X[repeated], THREE[repeated])
    assert np.allclose(weighed._scores(NEW), wanted._scores(NEW), rtol=0, atol=1e-6)
    assert set(weighed.support_) <= set(np.flatnonzero(counts))
    balanced = clone(model).set_params(class_weight="balanced").fit(X, THREE)
    sizes = np.array([np.sum(label == THREE) for label in THREE])
    by_hand = clone(model).fit(X, THREE, sample_weight=N / 3 / sizes)
    assert np.allclose(balanced._scores(NEW), by_hand._scores(NEW), rtol=0, atol=1e-7)


# --- refused, stopped -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "y", "told"),
    [
        (KernelMachineClassifier("huber"), TWO, "loss must be one of 'squared', 'logistic'"),
        (KernelMachineRegressor("hinge"), TARGET, "loss must be one of 'squared'"),
        (KernelMachineClassifier(object()), TWO, "a loss must be one of squared, logistic"),
        (KernelMachineClassifier(alpha=0), TWO, "alpha must be a finite number above 0; got 0"),
        (KernelMachineRegressor(alpha=-1), TARGET, "alpha must be a finite number above 0"),
        (KernelMachineRegressor("poisson"), TARGET, "y must not be negative for the Poisson"),
        (KernelMachineClassifier(tol=0), TWO, "tol must be a finite number above 0"),
        (KernelMachineClassifier(solver="cg"), TWO, "solver must be one of 'auto', 'newton'"),
        (KernelMachineClassifier(n_centers=0), TWO, "n_centers must be a whole number"),
        (KernelMachineClassifier(max_iter=0), TWO, "max_iter must be a whole number"),
        (KernelMachineClassifier(), ["one"] * N, "y must have at least two classes"),
        (KernelMachineClassifier(), TWO[:-1], "y must have 50 labels; got 49"),
        (KernelMachineRegressor(), TARGET[:-1], "y must have one row for each of the 50 points"),
    ],
)
def test_bad_input(model, y, told):
    with pytest.raises(ValueError, match=told) as caught:
        model.fit(X, y)
    assert str(caught.value).startswith(type(model).__name__)


def test_bad_weights_and_points():
    for weight, told in (
        (np.arange(N) - 3.0, "sample_weight must be at least 0; got -3 at index 0"),
        (np.zeros(N), "sample_weight must be above 0 for at least one"),
        ((TWO == "yes").astype(float), "every class must have a sample with a positive weight"),
    ):
        with pytest.raises(InputError, match=f"KernelMachineClassifier: {told}"):
            KernelMachineClassifier().fit(X, TWO, sample_weight=weight)
    spoiled = X.copy()
    spoiled[3, 1] = np.nan
    with pytest.raises(InputError, match="NaN in row 3, column 1"):
        KernelMachineRegressor().fit(spoiled, TARGET)


def test_ways_that_do_not_fit_are_refused():
    for model, told in (
        (KernelMachineClassifier("hinge", solver="newton"), "a loss with a kink, Hinge"),
        (KernelMachineClassifier(solver="dual"), "solver='dual' is for losses with a kink"),
        (KernelMachineClassifier(solver="primal"), "needs a kernel with a finite feature map"),
    ):
        with pytest.raises(KernelError, match=told):
            model.fit(X, TWO)


@pytest.mark.parametrize("name", ["two", "three", "huber"])
def test_a_fit_that_is_stopped_is_usable(name):
    model, y = MODELS[name]
    records = []

    def stop(record):
        records.append(record)
        return len(records) == 2

    stopped = clone(model).set_params(kernel=KERNEL, alpha=0.01, callback=stop)
    with pytest.warns(ConvergenceWarning, match=r"got .* \(cancelled, .* steps\)"):
        stopped.fit(X, y)
    assert stopped.certificate_.status == "cancelled"
    assert np.isfinite(values(stopped, NEW)).all()
    assert stopped.certificate_.gap > 0
    assert records[1]["primal"] < records[0]["primal"]
    with pytest.warns(ConvergenceWarning, match="time limit"):
        clone(model).set_params(kernel=KERNEL, time_limit=1e-9).fit(X, y).predict(NEW)
    with pytest.warns(ConvergenceWarning, match=r"iteration limit, .*Raise max_iter"):
        few = clone(model).set_params(kernel=KERNEL, alpha=1e-4, max_iter=1).fit(X, y)
    assert few.certificate_.gap > few.certificate_.tol * few.certificate_.primal
