"""scikit-learn estimators, thin: check, prepare, solve, store, return."""

from .base import Certificate, KernelEstimator
from .discriminant import DiscriminantCertificate, KernelFisherDiscriminant
from .kmeans import KernelKMeans, KMeansCertificate
from .machine import KernelMachineClassifier, KernelMachineRegressor, MachineCertificate
from .neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from .paths import enclosing_radius, svm_path, vc_bound
from .pca import KernelPCA, PcaCertificate
from .perceptron import KernelPerceptron, PerceptronCertificate
from .prototype import KernelPrototypeClassifier, PrototypeCertificate
from .ridge import KernelRidge, RidgeCertificate
from .ridge_classifier import KernelRidgeClassifier
from .ridge_cv import KernelRidgeClassifierCV, KernelRidgeCV
from .svm import SvmCertificate
from .svm_classifier import SVC, NuSVC
from .svm_regressor import SVR, NuSVR, OneClassSVM
from .transformer import GramTransformer

__all__ = [
    "SVC",
    "SVR",
    "Certificate",
    "DiscriminantCertificate",
    "GramTransformer",
    "KMeansCertificate",
    "KernelEstimator",
    "KernelFisherDiscriminant",
    "KernelKMeans",
    "KernelMachineClassifier",
    "KernelMachineRegressor",
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "KernelPCA",
    "KernelPerceptron",
    "KernelPrototypeClassifier",
    "KernelRidge",
    "KernelRidgeCV",
    "KernelRidgeClassifier",
    "KernelRidgeClassifierCV",
    "MachineCertificate",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PcaCertificate",
    "PerceptronCertificate",
    "PrototypeCertificate",
    "RidgeCertificate",
    "SvmCertificate",
    "enclosing_radius",
    "svm_path",
    "vc_bound",
]
