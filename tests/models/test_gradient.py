"""The gradient of every function model, against central differences of its function."""

import numpy as np
import pytest
import scipy.sparse

from mercer import (
    SVC,
    SVR,
    InputError,
    KernelError,
    KernelFisherDiscriminant,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
)
from mercer.kernels import Gaussian, Intersection, Linear, Polynomial, Spectrum

random = np.random.default_rng(8)
X = random.normal(size=(60, 3))
NEW = random.normal(size=(5, 3))
NUMBERS = np.sin(X[:, 0]) + X[:, 1] ** 2
BOTH = np.column_stack([NUMBERS, X[:, 2]])
TWO = np.where(NUMBERS > 0.8, "in", "out")
THREE = np.digitize(NUMBERS, [0.0, 1.0])


def differences(f, points, step=1e-5):
    found = []
    for c in range(points.shape[1]):
        move = np.zeros(points.shape[1])
        move[c] = step
        found.append((f(points + move) - f(points - move)) / (2 * step))
    return np.stack(found, axis=1)


def agrees(model, f, points=NEW):
    wanted = differences(f, points)
    found = model.gradient(points)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= 1e-6 * max(1.0, np.abs(wanted).max())


KERNEL = Gaussian(0.5) + 0.1 * Polynomial(2)
REGRESSORS = [
    KernelRidge(0.1, kernel=KERNEL),
    KernelRidge(0.1, kernel=KERNEL, fit_intercept=True),
    KernelRidge(0.1, kernel=KERNEL, solver="nystrom", n_centers=20),
    KernelRidge(0.1, kernel=Polynomial(2), solver="primal"),
    KernelRidge(0.1, kernel=(Linear() + 1).normalized(), solver="primal"),
    KernelRidge(0.1, kernel=Linear(), solver="primal"),
    KernelRidgeCV(alphas=[0.1, 1.0], kernel=KERNEL),
    KernelMachineRegressor("huber", alpha=0.1, kernel=KERNEL),
]


@pytest.mark.parametrize("y", [NUMBERS, BOTH], ids=["one", "two"])
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: repr(m)[:60])
def test_regressors(model, y):
    model.fit(X, y)
    agrees(model, model.predict)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "model",
    [
        KernelRidgeClassifier(0.1, kernel=KERNEL),
        KernelRidgeClassifierCV(alphas=[0.1, 1.0], kernel=KERNEL),
        KernelMachineClassifier("logistic", alpha=0.1, kernel=KERNEL),
        KernelMachineClassifier("squared_hinge", alpha=0.1, kernel=Polynomial(2)),
        SVC(kernel=KERNEL, decision_function_shape="ovo"),
        SVC(kernel=KERNEL, multiclass="ovr"),
        NuSVC(0.1, kernel=KERNEL, decision_function_shape="ovo"),
    ],
    ids=lambda m: repr(m)[:60],
)
def test_classifiers(model, y):
    model.fit(X, y)
    agrees(model, model.decision_function)


@pytest.mark.parametrize("model", [SVR(kernel=KERNEL), NuSVR(kernel=KERNEL)], ids=repr)
def test_support_vector_regression(model):
    agrees(model.fit(X, NUMBERS), model.predict)


def test_one_class_and_directions():
    model = OneClassSVM(kernel=Gaussian(0.5)).fit(X)
    agrees(model, model.decision_function)
    directions = KernelFisherDiscriminant(kernel=KERNEL).fit(X, THREE)
    agrees(directions, directions.transform)


def test_a_tube_that_holds_every_point_is_flat():
    model = SVR(kernel=KERNEL, epsilon=100.0).fit(X, NUMBERS)
    assert np.array_equal(model.gradient(NEW), np.zeros((5, 3)))


def test_kinds_of_rows():
    model = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X, NUMBERS)
    wanted = model.gradient(NEW)
    assert np.allclose(model.gradient(scipy.sparse.csr_array(NEW)), wanted, atol=1e-12)
    single = KernelRidge(0.1, kernel=Gaussian(0.5)).fit(X.astype(np.float32), NUMBERS)
    assert np.allclose(single.gradient(NEW.astype(np.float32)), wanted, atol=1e-4)


def test_what_has_no_gradient():
    words = ["abra", "cadabra", "xyz", "zyx"]
    model = KernelRidge(kernel=Spectrum(2)).fit(words, [0.0, 0.0, 1.0, 1.0])
    with pytest.raises(InputError, match="KernelRidge: a gradient is by the columns of rows"):
        model.gradient(words)
    kinked = SVC(kernel=Intersection()).fit(np.abs(X), TWO)
    with pytest.raises(KernelError, match="Intersection"):
        kinked.gradient(np.abs(X))
    given = KernelRidge(kernel="precomputed").fit(np.eye(4), np.arange(4.0))
    with pytest.raises(InputError, match="rows of numbers"):
        given.gradient(np.eye(4))
    with pytest.raises(InputError, match="features"):
        KernelRidge().fit(X, NUMBERS).gradient(X[:, :2])
