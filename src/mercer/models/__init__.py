"""scikit-learn estimators, thin: check, prepare, solve, store, return."""

from .base import Certificate, KernelEstimator
from .prototype import KernelPrototypeClassifier, PrototypeCertificate

__all__ = [
    "Certificate",
    "KernelEstimator",
    "KernelPrototypeClassifier",
    "PrototypeCertificate",
]
