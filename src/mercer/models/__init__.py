"""scikit-learn estimators, thin: check, prepare, solve, store, return."""

from .base import Certificate, KernelEstimator
from .paths import enclosing_radius, svm_path, vc_bound
from .prototype import KernelPrototypeClassifier, PrototypeCertificate
from .ridge import KernelRidge, RidgeCertificate
from .ridge_classifier import KernelRidgeClassifier
from .ridge_cv import KernelRidgeClassifierCV, KernelRidgeCV
from .svm import SvmCertificate
from .svm_classifier import SVC, NuSVC
from .svm_regressor import SVR, NuSVR, OneClassSVM

__all__ = [
    "SVC",
    "SVR",
    "Certificate",
    "KernelEstimator",
    "KernelPrototypeClassifier",
    "KernelRidge",
    "KernelRidgeCV",
    "KernelRidgeClassifier",
    "KernelRidgeClassifierCV",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PrototypeCertificate",
    "RidgeCertificate",
    "SvmCertificate",
    "enclosing_radius",
    "svm_path",
    "vc_bound",
]
