"""Searches whose results must not depend on the processes that they run in."""

import numpy as np
from sklearn.model_selection import cross_val_score

from mercer import SVC, AutoKernelClassifier, AutoKernelRegressor, KernelRidge, KernelRidgeCV, tune
from mercer.kernels import Gaussian, Linear

_random = np.random.default_rng(0)
X = _random.normal(size=(80, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1]
CLASSES = (Y > 0).astype(int)
KERNELS = [Linear(), Gaussian(0.1), Gaussian(1.0), Gaussian(3.0)]


def grid():
    """Several C on one matrix of each kernel, which is one task."""
    space = {"C": [0.1, 10.0], "kernel": KERNELS[1:]}
    return _tuned(tune(SVC(), X, CLASSES, space, cv=3))


def drawn_until_late():
    """Single candidates, each a task; there is time for all."""
    space = {"alpha": (1e-3, 1.0), "kernel__gamma": (0.1, 1.0)}
    options = {"method": "random", "n_iter": 5, "cv": 3, "time_limit": 600.0}
    return _tuned(tune(KernelRidge(kernel=Gaussian(1.0)), X, Y, space, random_state=0, **options))


def _tuned(found):
    return found.table["mean_test_score"], found.params


def kernels_and_alphas():
    model = KernelRidgeCV([0.01, 0.1, 1.0], kernel=KERNELS, cv=3, scoring=_minus_error).fit(X, Y)
    return model.cv_results_["mean_test_score"], (model.kernel_, model.alpha_)


def _minus_error(model, rows, y):
    return -float(np.abs(model.predict(rows) - y).mean())


def folds():
    return cross_val_score(KernelRidge(0.1, kernel=Gaussian(1.0)), X, Y, cv=4), None


def race_of_classes():
    return _raced(AutoKernelClassifier(max_candidates=5, random_state=0).fit(X, CLASSES))


def race_of_numbers():
    return _raced(AutoKernelRegressor(max_candidates=3, random_state=0).fit(X, Y))


def _raced(model):
    lines = model.leaderboard_.lines
    scores = [one.loss for one in lines] + [one.weight for one in lines]
    scores += model.predict(X[:5]).astype(float).tolist()
    return np.array(scores), [one.name for one in model.members_]


SEARCHES = [grid, drawn_until_late, kernels_and_alphas, folds, race_of_classes, race_of_numbers]
NAMES = [one.__name__ for one in SEARCHES]


def are_equal(found, wanted):
    """Whether scores agree to 1e-8, and all else is the same."""
    return np.allclose(found[0], wanted[0], rtol=0, atol=1e-8) and found[1] == wanted[1]
