"""The learners of docs/how-to/large-data.md that read points in passes, with what they learn."""

import numpy as np

from mercer import (
    KernelKMeans,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
)
from mercer.features import ExplicitMap, Nystrom, RandomFourier
from mercer.kernels import Gaussian, Polynomial

ROWS, BLOCK = 240, 50
_random = np.random.default_rng(0)
X = _random.normal(size=(ROWS, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1]
CLASSES = np.digitize(Y, [-0.5, 0.5])
NEW = _random.normal(size=(20, 3))

KERNEL = Gaussian(0.4)
ALPHAS = [0.01, 1.0]
CENTRES = {"solver": "nystrom", "n_centers": 40, "random_state": 0}
MAP = RandomFourier(KERNEL, 32, random_state=0)

LEARNERS = {
    "ridge": (KernelRidge(0.1, kernel=Gaussian(), **CENTRES), Y),
    "ridge with an exact map": (KernelRidge(0.1, kernel=Polynomial(2)), Y),
    "ridge with a random map": (KernelRidge(0.1, approximation=MAP), Y),
    "ridge with a map of few centres": (
        KernelRidge(0.1, approximation=Nystrom(KERNEL, 30, random_state=0)),
        Y,
    ),
    "ridge classes": (KernelRidgeClassifier(0.1, kernel=KERNEL, **CENTRES), CLASSES),
    "search over alpha": (KernelRidgeCV(ALPHAS, kernel=KERNEL, **CENTRES), Y),
    "search over alpha in folds": (KernelRidgeCV(ALPHAS, approximation=MAP, cv=3), Y),
    "search over gamma": (
        KernelRidgeCV(ALPHAS, kernel=[Gaussian(0.1), KERNEL, Gaussian(2.0)], cv=3, **CENTRES),
        Y,
    ),
    "search for classes": (
        KernelRidgeClassifierCV(ALPHAS, kernel=[Gaussian(0.1), KERNEL], **CENTRES),
        CLASSES,
    ),
    "machine": (KernelMachineRegressor("huber", kernel=KERNEL, tol=1e-9, **CENTRES), Y),
    "machine with a random map": (KernelMachineRegressor("huber", approximation=MAP, tol=1e-9), Y),
    "machine for classes": (KernelMachineClassifier(kernel=KERNEL, tol=1e-9, **CENTRES), CLASSES),
    "components": (
        KernelPCA(3, kernel=KERNEL, eigen_solver="nystrom", n_centers=40, random_state=0),
        None,
    ),
    "clusters": (KernelKMeans(3, KERNEL, n_centers=40, random_state=0), None),
    "random features": (MAP, None),
    "features of few centres": (Nystrom(KERNEL, 30, random_state=0), None),
    "features of an exact map": (ExplicitMap(Polynomial(2)), None),
}


def answers(model, points):
    """Return everything that a fitted model says of points, by the name of the method."""
    names = ("predict", "decision_function", "predict_proba", "transform")
    found = {name: getattr(model, name)(points) for name in names if hasattr(model, name)}
    found = {name: np.asarray(getattr(one, "values", one)) for name, one in found.items()}
    if isinstance(model, RandomFourier):  # which turns with the mean of the first block
        found["transform"] = found["transform"] @ found["transform"].T
    return found


def differences(model, others, points):
    """Return how far the answers of a model are from those of others, and its scores from theirs.

    others: what `state` returned for another fit.
    """
    values, scores = state(model, points)
    assert values.keys() == others[0].keys()
    gaps = [np.abs(values[name] - others[0][name]).max() for name in values]
    gaps += [np.abs(scores - others[1]).max()] if len(scores) else []
    return max(gaps)


def state(model, points):
    """Return the answers of a model for points, and the scores of its search."""
    return answers(model, points), getattr(model, "cv_results_", {}).get("mean_test_score", [])
