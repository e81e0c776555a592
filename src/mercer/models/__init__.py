"""scikit-learn estimators, thin: check, prepare, solve, store, return."""

from .base import Certificate, KernelEstimator
from .prototype import KernelPrototypeClassifier, PrototypeCertificate
from .ridge import KernelRidge, RidgeCertificate
from .ridge_classifier import KernelRidgeClassifier
from .ridge_cv import KernelRidgeClassifierCV, KernelRidgeCV

__all__ = [
    "Certificate",
    "KernelEstimator",
    "KernelPrototypeClassifier",
    "KernelRidge",
    "KernelRidgeCV",
    "KernelRidgeClassifier",
    "KernelRidgeClassifierCV",
    "PrototypeCertificate",
    "RidgeCertificate",
]
