"""Every estimator, found by its class, and small data that each of them can be fitted on."""

import numpy as np
from sklearn.base import is_classifier

from mercer import features, models
from mercer.kernels import Gaussian, Intersection, Laplacian, Polynomial
from mercer.models.adaptive.base import KernelLearner
from mercer.tables import AutoKernelClassifier, AutoKernelRegressor, TableEncoder

ESTIMATORS = [
    kind
    for room in (models, features)
    for kind in (getattr(room, name) for name in room.__all__)
    if isinstance(kind, type) and issubclass(kind, models.KernelEstimator) and hasattr(kind, "fit")
]
ENCODERS = [TableEncoder]  # which have no kernel to begin with
AUTOMATIC = [AutoKernelClassifier, AutoKernelRegressor]  # which find kernels themselves
CLASSIFIERS = [kind for kind in ESTIMATORS if is_classifier(kind())]
REGRESSORS = [kind for kind in ESTIMATORS if hasattr(kind, "predict") and "Regressor" in str(kind)]
REGRESSORS += [models.KernelRidge, models.KernelRidgeCV, models.SVR, models.NuSVR]

# Maps and machines of some kernels only, with one that each can take in the place of any other.
OF_SOME = {
    features.ExplicitMap: Polynomial(2),
    features.PolynomialSketch: Polynomial(2),
    features.AdditiveMap: Intersection(),
    features.RandomFourier: Gaussian(0.7),
    models.RFMClassifier: Laplacian(0.7),
    models.RFMRegressor: Laplacian(0.7),
}
# Parameters with which those that search are fitted in little time.
QUICK = {kind: {"steps": 1, "width": 1.0} for kind in (models.RFMClassifier, models.RFMRegressor)}
OF_GAMMA = (features.GaussianTaylor, features.RandomBinning)  # which have no other parameter of it

X = np.abs(np.random.default_rng(0).normal(size=(14, 2)))
LABELS = np.arange(14) % 2
NUMBERS = 2.0 * X[:, 0] + X[:, 1]


def target(kind):
    """What an estimator can be fitted to on X; those without a target leave it alone."""
    return LABELS if kind in CLASSIFIERS else NUMBERS


def with_kernel(kind, kernel):
    """The parameter of an estimator that gives it this kernel; those that learn it take a list."""
    if kind in OF_GAMMA:
        return {"gamma": kernel if isinstance(kernel, str) else getattr(kernel, "gamma", 0.7)}
    if kind in OF_SOME and not isinstance(kernel, str):
        return {"kernel": OF_SOME[kind]}
    if not issubclass(kind, KernelLearner):
        return {"kernel": kernel}
    given = isinstance(kernel, str) and kernel == "precomputed"
    return {"kernels": kernel if given else [kernel]}
