"""Every estimator, found by its class, and small data that each of them can be fitted on."""

import numpy as np
from sklearn.base import is_classifier

from mercer import features, models
from mercer.models.adaptive.base import KernelLearner

ESTIMATORS = [
    kind
    for room in (models, features)
    for kind in (getattr(room, name) for name in room.__all__)
    if isinstance(kind, type) and issubclass(kind, models.KernelEstimator) and hasattr(kind, "fit")
]
# Those that take any kernel; maps of a kind are of the kernels that they belong to.
OF_ANY_KERNEL = [kind for kind in ESTIMATORS if kind.__name__ not in ("RandomFourier",)]
CLASSIFIERS = [kind for kind in ESTIMATORS if is_classifier(kind())]
REGRESSORS = [kind for kind in ESTIMATORS if hasattr(kind, "predict") and "Regressor" in str(kind)]
REGRESSORS += [models.KernelRidge, models.KernelRidgeCV, models.SVR, models.NuSVR]

X = np.random.default_rng(0).normal(size=(14, 2))
LABELS = np.arange(14) % 2
NUMBERS = 2.0 * X[:, 0] + X[:, 1]


def target(kind):
    """What an estimator can be fitted to on X; those without a target leave it alone."""
    return LABELS if kind in CLASSIFIERS else NUMBERS


def with_kernel(kind, kernel):
    """The parameter of an estimator that gives it this kernel; those that learn it take a list."""
    if not issubclass(kind, KernelLearner):
        return {"kernel": kernel}
    given = isinstance(kernel, str) and kernel == "precomputed"
    return {"kernels": kernel if given else [kernel]}
